#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A config changes while its names stay the same: files that were made with the old one are recognised and made again.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
unset OCIO TXMILL_OCIO
mkdir luts tex
cp "$golden/rgb8.png" tex/wood.png
cp "$golden/half-rgba.exr" tex/sky.exr
cp "$golden/gray8.png" tex/bump.png
cat >film.ocio <<'E'
ocio_profile_version: 2
search_path: luts
strictparsing: false
roles: {scene_linear: Linear, default_float: Linear, default_byte: sRGB, data: Raw, aces_interchange: Aces}
file_rules:
  - !<Rule> {name: Default, colorspace: default_byte}
displays: {Screen: [!<View> {name: Plain, colorspace: sRGB}]}
colorspaces:
  - !<ColorSpace> {name: Linear}
  - !<ColorSpace> {name: Raw, isdata: true}
  - !<ColorSpace>
    name: sRGB
    to_scene_reference: !<ExponentWithLinearTransform> {gamma: 2.4, offset: 0.055}
  - !<ColorSpace>
    name: Film
    to_scene_reference: !<ExponentTransform> {value: [1.5, 1.5, 1.5, 1]}
  - !<ColorSpace>
    name: Print
    to_scene_reference: !<FileTransform> {src: print.cube, interpolation: linear}
  - !<ColorSpace>
    name: Aces
    to_scene_reference: !<MatrixTransform> {matrix: [2.5, -1.1, -0.4, 0, -0.3, 1.4, -0.1, 0, 0, -0.2, 1.2, 0, 0, 0, 0, 1]}
E
cp film.ocio film.keep
cube() { # RED of one corner
    echo LUT_3D_SIZE 2
    printf '%s\n' "0 0 0" "0.9 0 0" "0 0.9 0" "$1 0.9 0" "0 0 0.9" "0.9 0 0.9" "0 0.9 0.9" "0.9 0.9 0.9"
}
cube 0.9 >luts/print.cube
printf 'ocio = ../film.ocio\nrule = wood.*=Film\nrule = sky.*=Print\nrule = bump.*=Raw\n' >tex/.txmill
states() { "$TXMILL" resolve --json tex/bump.png tex/sky.exr tex/wood.png | grep -o '"state":"[a-z]*","adopted' | cut -d'"' -f4 | xargs; }
found() { "$TXMILL" verify --json tex | grep -c TXM-308; }

gives made 0 -- make -q tex/*.png tex/*.exr
gives class-is-recorded 0 prints 'txmill:Config="data"' -- info --all tex/blender_tx/bump.png.*.tx
gives verify-good 0 -- verify tex
check fresh test "$(states)" = "fresh fresh fresh"

# ---- changes that leave pixels as they are ---------------------------------------------------------------------------
sed -i '1a # a comment' film.ocio
sed -i 's/name: Plain/name: Other/' film.ocio
{ echo '# another comment'; cube 0.90; } >luts/print.cube
check harmless test "$(states)" = "fresh fresh fresh"
gives harmless-check 0 -- check tex

# ---- a transform, a table in another file, a class ------------------------------------------------------------------------
sed -i 's/1.5, 1.5, 1.5/1.5, 1.51, 1.5/' film.ocio
check transform test "$(states)" = "fresh fresh unusable"
gives transform-says 5 prints "made with another OCIO config" -- resolve tex/wood.png
gives transform-check 5 prints "made with another OCIO config" -- check tex
check transform-verify test "$(found)" = 1
gives transform-make 0 reports '[x["state"] for x in o if x["type"] == "file"] == ["created"]' -- make --json tex/wood.png
check transform-made test "$(states)" = "fresh fresh fresh"
cube 0.88 >luts/print.cube
check table test "$(states)" = "fresh unusable fresh"
check table-verify test "$(found)" = 1
txm make tex/sky.exr
check table-made test "$(states)" = "fresh fresh fresh"
sed -i 's/1.5, 1.51, 1.5/1, 1, 1/' film.ocio
check class test "$(states)" = "fresh fresh unusable"

# ---- files that record nothing -----------------------------------------------------------------------------------------------
cp film.keep film.ocio
cube 0.9 >luts/print.cube
txm make -q -f tex/wood.png tex/sky.exr
for tx in tex/blender_tx/wood.png.*.tx tex/blender_tx/sky.exr.*.tx; do
    touch -r "$tx" time
    LC_ALL=C sed -i 's/txmill:Config/txmill:Former/' "$tx"
    touch -r time "$tx"
done
sed -i 's/1.5, 1.5, 1.5/2, 2, 2/' film.ocio
cube 0.5 >luts/print.cube
check without-record test "$(states)" = "fresh fresh fresh"
check without-record-verify test "$(found)" = 0

# ---- the built-in config ------------------------------------------------------------------------------------------------------
rm -r tex
mkdir tex && cp "$golden/half-rgba.exr" tex/sky.exr
txm make -q -c ACEScg tex/sky.exr
gives built-in 0 -- verify tex
finish
