# SPDX-License-Identifier: Apache-2.0
# Does what a user does who has only the wheel. check.sh runs this in a clean chroot.
cd /opt/wheel
begin=$(date +%s%N)
python3 -m pip install --no-index --break-system-packages --root-user-action=ignore ./txmill-*.whl
PATH=/usr/local/bin:$PATH
mkdir textures
cp golden/rgb8.png textures/wood_color.png
cp golden/tile64.png textures/wood_normal.png
cp golden/light.hdr textures/sky.hdr
cp golden/half-rgb.exr textures/glow.exr
cp golden/rgba8.tga textures/leaf.tga
txmill make textures --preset pbr | tee made
echo "from nothing to tx files: $((($(date +%s%N) - begin) / 1000000)) ms"
[ "$(grep -c ': created' made)" -eq 5 ]
txmill check textures --preset pbr
txmill info textures/blender_tx/glow.exr*
txmill make --json --force --colorspace ACEScg golden/rgb8.png -o converted.tx >converted.json
grep -q '"converted":1,"exact":true' converted.json
txmill verify textures/blender_tx
# An estimate traces rays in txmill-stream.
cp golden/rgb8.png scene.png
txmill make --colorspace sRGB --alpha-type straight scene.png
txmill stream budget room scene.png --size 64x36 --json | grep -q '"action":"budget"'

# In Python: a batch, its tiles, and the command without PATH.
cp golden/rgb8.png golden/rgba8.tga golden/half-rgba.exr .
python3 stranger.py
python3 -m txmill --version

# The manual is where man(1) looks for it: beside the folder of the command.
grep -q "^\.Dt TXMILL-MAKE 1" /usr/local/share/man/man1/txmill-make.1
grep -q "^\.Dt TXMILL-TX 5" /usr/local/share/man/man5/txmill-tx.5

txmill devices | grep "exactly Blender's"
txmill doctor
txmill doctor | grep "^library *OpenImageIO *3\.1\."
! txmill doctor | grep "also here"

# Another txmill is reported, whether it comes later in PATH or first.
mkdir other
printf '#!/bin/sh\n' >other/txmill
chmod 755 other/txmill
PATH=$PATH:$PWD/other txmill doctor | grep "other/txmill is another txmill, later in PATH"
PATH=$PWD/other:$PATH /usr/local/bin/txmill doctor | grep "other/txmill is another txmill, first in PATH"

# If the installation has lost its program, one line says what to do.
rm "$(python3 -c "import txmill, os; print(os.path.dirname(txmill.__file__))")/bin/txmill"
if txmill --version 2>said; then exit 1; fi
cat said
[ "$(wc -l <said)" -eq 1 ]
grep -q "pip install --force-reinstall txmill" said
