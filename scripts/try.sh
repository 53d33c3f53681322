#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The first command for a new user, on Debian 12 or 13: installs what the program needs, builds it and the libraries, converts
# the sample images, and shows the result.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh program
echo "Building ..."
make -s -j"$(nproc)" program

samples=build/samples
rm -rf "$samples"
mkdir -p "$samples/textures"
sample() { cp "testdata/golden/$1" "$samples/textures/$2"; }
sample rgb8.png wood_color.png
sample tile64.png wood_normal.png
sample gray-in-rgb.png wood_roughness.png
sample rgba8.tga leaf.tga
sample photo.jpg wall.jpg
sample half-rgb.exr glow.exr
sample light.hdr sky.hdr
PATH=$PWD/build:$PATH
cd "$samples"
show() {
    printf '\n$ %s\n' "$*"
    "$@"
}
show txmill make textures --preset pbr
show txmill check textures --preset pbr
show txmill info textures/blender_tx/wood_normal.png* textures/blender_tx/glow.exr*
cat <<EOF

The tx files are in $samples/textures/blender_tx, under the names that Cycles looks up.
The program is build/txmill. 'scripts/setup.sh build' installs what 'make' needs for streaming and the GPU as well, and
'make install PREFIX=...' installs all.
EOF
