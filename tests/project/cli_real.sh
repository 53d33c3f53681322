#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Metadata of tx files equal Blender's, in addition to tests/mill/convert/test_golden.c: names of colour spaces and channels;
# and warnings about sources.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
real=$repo/testdata/real

# A JPEG without its end marker is complete; one without its last rows is not.
gives no-end-marker 0 says "no-eoi.jpg: its end marker is missing, but all its rows are there" \
    -- make -o jpeg.tx "$real/no-eoi.jpg"
head -c 2700 "$real/no-eoi.jpg" >cut.jpg
gives cut-jpeg 3 says "truncated: the file ends inside the image" -- make -o cut.tx cut.jpg
check cut-jpeg-makes-nothing test ! -e cut.tx

# The file stores the requested name of a converted space; an alias is recognised by its transform.
cp "$golden/half-rgb.exr" .
for space in ACEScg lin_ap1 acescg; do
    txm make --colorspace "$space" half-rgb.exr
    made=$(sed -n 's/.*created  *\([^ ]*\).*/\1/p' "$work/out")
    gives "$space-as-asked" 0 prints "detected as   $space" -- info "$made"
    gives "$space-verifies" 0 -- verify --deep "$made"
done

# A grey image of 2 x 2 halves, defined by their bits, with an interop id.
grey_exr() {
    python3 - "$@" <<'EOF'
import struct, sys
def attribute(name, kind, value):
    return name + b"\0" + kind + b"\0" + struct.pack("<I", len(value)) + value
bits = [int(b, 16) for b in sys.argv[2:]]
box, one = struct.pack("<4i", 0, 0, 1, 1), struct.pack("<f", 1)
head = (attribute(b"channels", b"chlist", b"Y\0" + struct.pack("<4I", 1, 0, 1, 1) + b"\0") +
        attribute(b"colorInteropID", b"string", sys.argv[1].encode()) + attribute(b"compression", b"compression", b"\0") +
        attribute(b"dataWindow", b"box2i", box) + attribute(b"displayWindow", b"box2i", box) +
        attribute(b"lineOrder", b"lineOrder", b"\0") + attribute(b"pixelAspectRatio", b"float", one) +
        attribute(b"screenWindowCenter", b"v2f", bytes(8)) + attribute(b"screenWindowWidth", b"float", one) + b"\0")
at = 8 + len(head) + 16
lines = [struct.pack("<iI2H", y, 4, bits[2 * y], bits[2 * y + 1]) for y in (0, 1)]
sys.stdout.buffer.write(struct.pack("<II", 20000630, 2) + head + struct.pack("<2Q", at, at + len(lines[0])) + b"".join(lines))
EOF
}

# The literal auto takes the file's interop id as the name of the space, as Blender does.
grey_exr lin_ap1_scene 3400 3800 3c00 3400 >auto.exr
gives auto 0 -- make --colorspace auto -o auto.tx auto.exr
gives auto-name 0 prints "detected as   lin_ap1_scene" -- info auto.tx

# A half that is NaN becomes 0, whatever a curve does with NaN.
grey_exr data 7e00 fe00 7c01 7fff >nan.exr
gives nan 0 -- make --colorspace "CanonLog3 CinemaGamut D55" -o nan.tx nan.exr
gives nan-is-zero 0 prints '"average":[0]' -- info --json nan.tx

# Channels have the names of those in Blender's files.
gives exr-container 0 prints OpenEXR -- info "$made"
check exr-channels grep -qaF "channels" "$made"
check exr-channel-names grep -qaP 'chlist\x00.{4}R\x00.{16}channel1\x00.{16}channel2\x00.{16}channel3\x00' "$made"

# Aspect and resolution are those that Blender wrote, in both containers; impossible values are dropped.
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
gives density-read 0 -- info --json --all made/*.tx
check density-as-in-table said_as_in_table
gives density-verifies 0 -- verify --deep made/*.tx
TXMILL_READER=oiio txm verify --deep made/*.tx
check density-verifies-by-openimageio rc_is 0
finish
