#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What tx files say as Blender's do, beyond tests/test_golden.c: names of colour spaces and channels; warnings of sources.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
real=$repo/testdata/real

# A JPEG without its end marker is whole; one without its last rows is not.
txm make -o jpeg.tx "$real/no-eoi.jpg"
check no-end-marker-exit rc_is 0
check no-end-marker-warns says "no-eoi.jpg: its end marker is missing, but all its rows are there"
head -c 2700 "$real/no-eoi.jpg" >cut.jpg
txm make -o cut.tx cut.jpg
check cut-jpeg-exit rc_is 3
check cut-jpeg-says says "truncated: the file ends inside the image"
check cut-jpeg-makes-nothing test ! -e cut.tx

# What a converted space is called in the file is what was asked for; an alias is found again by its meaning.
cp "$golden/half-rgb.exr" .
for space in ACEScg lin_ap1 acescg; do
    txm make --colorspace "$space" half-rgb.exr
    made=$(sed -n 's/.*created  *\([^ ]*\).*/\1/p' "$work/out")
    txm info "$made"
    check "$space-as-asked" prints "detected as   $space"
    txm verify --deep "$made"
    check "$space-verifies" rc_is 0
done

# Channels as Blender's files have them.
txm info "$made"
check exr-container prints OpenEXR
check exr-channels grep -qaF "channels" "$made"
check exr-channel-names grep -qaP 'chlist\x00.{4}R\x00.{16}channel1\x00.{16}channel2\x00.{16}channel3\x00' "$made"

# Aspect and resolution, in both containers, as Blender wrote them; what no image has is dropped.
density=$repo/testdata/density
mkdir made
while IFS=$'\t' read -r file space _; do
    [[ $file == \#* ]] || "$TXMILL" make -q --colorspace "$space" -o "made/$file.$space.tx" "$density/$file" || true
done <"$density/blender.tsv"
said_as_in_table() {
    python3 - "$density/blender.tsv" out <<'EOF'
import json, sys
names = ("pixelAspectRatio", "xDensity", "XResolution", "YResolution", "ResolutionUnit")
said = {}
for line in open(sys.argv[2], encoding="utf-8"):
    tx = json.loads(line)
    values = {m["name"]: m["value"] for m in tx["metadata"]}
    said[tx["file"]] = tx["container"], " ".join(f"{n}={values[n]}" for n in names if n in values) or "-"
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], encoding="utf-8") if not line.startswith("#")]
wrong = 0
for file, space, container, blender, own in rows:
    want, got = (container, blender if own == "=" else own), said.get(f"made/{file}.{space}.tx")
    if got != want:
        wrong += 1
        print(f"{file} as {space}: {got}, not {want}")
sys.exit(wrong > 0 or len(rows) < 70)
EOF
}
txm info --json --all made/*.tx
check density-read rc_is 0
check density-as-in-table said_as_in_table
txm verify --deep made/*.tx
check density-verifies rc_is 0
TXMILL_READER=oiio txm verify --deep made/*.tx
check density-verifies-by-openimageio rc_is 0
finish
