#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill info: figures, text and JSON, files of other programs, files that are not images.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$golden"/{rgb8,constant,gray-in-rgb}.png "$golden"/half-rgb.exr .
"$TXMILL" make -q --strict rgb8.png constant.png half-rgb.exr
"$TXMILL" make -q gray-in-rgb.png
rgb=$(echo blender_tx/rgb8*.tx)
const=$(echo blender_tx/constant*.tx)
half=$(echo blender_tx/half*.tx)
grey=$(echo blender_tx/gray*.tx)

gives text 0 prints "300 x 200 px, 9 levels, tiles of 64 x 64" prints "uint8 RGBA" prints "Cycles        uses it" \
    prints "$work/rgb8.png" prints "scene_linear_srgb" prints "Linear Rec.709" prints "straight" -- info "$rgb"
check text-levels test "$(grep -cE '^ +[0-9]+  [0-9]+ x [0-9]+ ' out)" -eq 9
check text-silent test ! -s err

gives json 0 -- info --json "$rgb" "$const" "$half" "$grey"
check json-lines test "$(wc -l <out)" -eq 4
if has_jsonschema; then check json-schema valid_json info out; else skip json-schema "python3-jsonschema is missing"; fi
check json-container json out '[x["container"] for x in o] == ["tiff", "tiff", "exr", "tiff"]'
check json-size json out '(o[0]["width"], o[0]["height"], len(o[0]["levels"])) == (300, 200, 9)'
check json-type json out '[x["data_type"] for x in o] == ["uint8", "uint8", "half", "uint8"]'
check json-channels json out '[x["channels"] for x in o] == [4, 4, 4, 1]'
check json-name json out 'o[0]["name"] == {"source": "rgb8.png", "version": 0, "md5": "926BDA8569F1F2504902F06ABA51E46D"}'
check json-constant json out 'o[0]["constant"] is None and len(o[1]["constant"]) == 4'
check json-sha1 json out 'o[0]["sha1"] == "716B430976BC0C1A51CE3BCE6730E059041FEF91"'
check json-average json out 'abs(o[0]["average"][1] - 0.710803) < 2e-6'
check json-source-fresh json out 'all(x["source"]["state"] == "fresh" for x in o)'
check json-accepted json out 'all(x["cycles"] == {"accepted": True, "reason": None, "shows": "uses it for scenes that set " + x["colorspace"]["requested"]} for x in o)'
check json-alpha json out '[x["alpha"] for x in o] == ["straight", "straight", "premultiplied", "straight"]'
check json-working-space json out 'all(x["colorspace"]["working_space"] == "Linear Rec.709" for x in o)'
check json-bytes json out 'all(sum(l["stored_bytes"] for l in x["levels"]) < x["image_bytes"] <= x["file_bytes"] for x in o)'
check json-pixel-bytes json out 'o[0]["levels"][1] == dict(o[0]["levels"][1], width=150, height=100, tiles_x=3, tiles_y=2, pixel_bytes=60000)'
check json-section json out 'o[0]["border_section"]["state"] == "none" and o[3]["border_section"]["state"] == "valid" and o[3]["border_section"]["bytes"] == o[3]["file_bytes"] - o[3]["image_bytes"]'
check json-no-metadata-unasked json out 'all("metadata" not in x for x in o)'
txm info --json --all "$rgb"
check json-all json out 'any(m["name"] == "Software" and m["value"] == "Blender maketx v0" for m in o[0]["metadata"])'
if has_jsonschema; then check json-all-schema valid_json info out; fi

txm info --tiles --json "$rgb" "$const"
check json-tiles json out 'all([t["tiles"] for t in x["tiles"]["levels"]] == [l["tiles_x"] * l["tiles_y"] for l in x["levels"]] and [t["bytes"] for t in x["tiles"]["levels"]] == [l["stored_bytes"] for l in x["levels"]] for x in o)'
check json-tiles-constant json out 'o[0]["tiles"]["levels"][0]["constant"] == 0 and all(t["constant"] == t["tiles"] for t in o[1]["tiles"]["levels"])'
check json-tiles-histogram json out 'all(sum(h["tiles"] for h in x["tiles"]["histogram"]) == sum(t["tiles"] for t in x["tiles"]["levels"]) for x in o)'
if has_jsonschema; then check json-tiles-schema valid_json info out; fi
check json-tiles-each json out 'all(len(t["tile_bytes"]) == t["tiles"] and sum(t["tile_bytes"]) == t["bytes"] and len(t["tile_constant"]) == t["constant"] and t["tile_damaged"] == [] for x in o for t in x["tiles"]["levels"])'
gives text-tiles 0 prints "one colour" -- info --tiles "$rgb"
rows() { grep -cE '^ +[0-9]+  [0-9]+,[0-9]+ +[0-9]+ +[0-9]+\.[0-9]{2}' out; }
# There are 5x4, 3x2 and 2x1 tiles, and one in each of the six levels above.
check text-tile-rows test "$(rows)" -eq 34
check text-tile-ratio grep -qE '^ +8  0,0 +[0-9]+ +[0-9.]+  one colour$' out
# A damaged tile is shown as damaged, and the others are listed.
python3 - "$rgb" "$work/damaged.tx" <<'EOF'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, = struct.unpack_from("<I", data, 4)
for n in range(struct.unpack_from("<H", data, at)[0]):
    tag, kind, count, value = struct.unpack_from("<HHII", data, at + 2 + 12 * n)
    if tag == 324: # TileOffsets
        offsets = struct.unpack_from("<%dI" % count, data, value)
data[offsets[7]:offsets[7] + 8] = b"\xff" * 8
open(sys.argv[2], "wb").write(data)
EOF
txm info --tiles damaged.tx
check text-tile-damaged grep -qE '^ +0  2,1 .* damaged$' out
gives json-tile-damaged 0 reports 'o[0]["tiles"]["levels"][0]["tile_damaged"] == [7]' -- info --tiles --json damaged.tx
# If a file has many tiles, the largest ones are listed.
txm make -q --tile 16 -o small.tx rgb8.png
txm info --tiles small.tx
check text-tiles-largest test "$(rows)" -eq 200
check text-tiles-largest-first test "$(grep -oE '^ +[0-9]+  [0-9]+,[0-9]+ +[0-9]+' out | awk '{ print $3 }' | sort -rnc 2>&1)" = ""
check text-tiles-others-told prints "largest of 349 tiles; --tiles=all"
txm info --tiles=all small.tx
check text-tiles-all test "$(rows)" -eq 349

touch -d '2020-01-02' rgb8.png && rm constant.png
gives source 0 reports 'o[0]["source"]["state"] == "outdated"' reports 'o[1]["source"]["state"] == "missing"' \
    -- info --json "$rgb" "$const"
gives text-source 0 prints "changed since" prints "(missing)" -- info "$rgb" "$const"

# ---- working spaces and lat-long -------------------------------------------------------------------------------------
for space in "Linear Rec.2020" ACEScg; do
    "$TXMILL" make -q -d ws --working-space "$space" half-rgb.exr
    gives "working-space-${space// /-}" 0 reports "o[0]['colorspace']['working_space'] == '$space'" -- info --json ws/half*.tx
    rm -r ws
done
"$TXMILL" make -q -d ll --envlatl half-rgb.exr
gives envlatl 0 reports 'o[0]["format"] == "equiangular"' -- info --json ll/half*.tx

# ---- files of other programs -----------------------------------------------------------------------------------------
blender=${TXM_GOLDEN_TX:-}
if [ -n "$blender" ] && [ -d "$blender" ]; then
    gives blender 0 reports 'all(x["cycles"]["accepted"] for x in o)' -- info --json "$blender"/*.tx
    check blender-described json out 'all(x["sha1"] and x["average"] and x["alpha"] and x["colorspace"]["detected"] and x["source"]["path"].startswith("/golden/src/") for x in o)'
    if has_jsonschema; then check blender-schema valid_json info out; fi
else
    skip blender "Blender's files are missing: set TXM_GOLDEN_TX"
fi
if command -v maketx >/dev/null; then
    maketx -o oiio.tx half-rgb.exr >/dev/null 2>&1
    gives maketx-read 0 reports 'o[0]["width"] == 190 and o[0]["name"] is None' -- info --json oiio.tx
    # Cycles loads small tiles joined together. Files that do not need that get no such line.
    check maketx-not-joined json out 'o[0]["loaded_tile_width"] == 64'
    maketx --tile 32 32 -o small.tx half-rgb.exr >/dev/null 2>&1
    gives maketx-joined-json 0 reports 'o[0]["tile_width"] == 32 and o[0]["loaded_tile_width"] == 64' -- info --json small.tx
    gives maketx-joined 0 prints "Cycles joins its tiles into 64 x 64" -- info small.tx
    txm info oiio.tx
    check maketx-not-joined-text test -z "$(grep joins out)"
    maketx --tile 48 64 -o odd.tx half-rgb.exr >/dev/null 2>&1
    gives maketx-odd-tiles 0 reports '"error" in o[0] or not o[0]["cycles"]["accepted"]' -- info --json odd.tx
    if has_jsonschema; then check maketx-schema valid_json info out; fi
else
    skip maketx "openimageio-tools is not installed"
fi

# ---- files that are not images ---------------------------------------------------------------------------------------
: >empty.tx
echo "no tx file" >text.tx
head -c 2000 "$rgb" >cut.tx
mkdir folder.tx
printf 'x' >$'bad\nname\xe9.tx'
gives bad 3 last_line_is "TXMILL-ERROR code=3 failed=5 total=6" prints "300 x 200" \
    -- info empty.tx text.tx cut.tx folder.tx missing.tx $'bad\nname\xe9.tx' "$rgb"
for f in empty.tx text.tx cut.tx folder.tx missing.tx; do check "bad-names-$f" says "$f"; done
check bad-name-one-line test "$(wc -l <err)" -eq "$((7 + $(grep -c "^txmill: [0-9]* failed: " err)))" -a "$(grep -c "^txmill: error: " err)" -eq 5
gives bad-json 3 reports '[("error" in x) for x in o] == [True, True, True, False]' \
    reports 'o[1]["error"]["status"] == "not-found"' reports 'o[2]["file_encoded"] == "bad%0Aname%E9.tx"' \
    -- info --json empty.tx missing.tx $'bad\nname\xe9.tx' "$rgb"
if has_jsonschema; then check bad-json-schema valid_json info out; fi

# Every file that was cut short gives an error or is shown without its border section; nothing crashes.
size=$(stat -c %s "$grey")
crashed=0
for cut in $(seq 0 997 "$size"); do
    head -c "$cut" "$grey" >cut.tx
    "$TXMILL" info cut.tx >/dev/null 2>&1
    rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 3 ] || crashed=$((crashed + 1))
done
check truncation-anywhere test $crashed -eq 0

# This never loads OpenImageIO.
if command -v strace >/dev/null; then
    strace -f -e trace=openat "$TXMILL" info "$rgb" 2>&1 | grep -q OpenImageIO
    check info-without-openimageio test $? -ne 0
else
    run env LD_DEBUG=files "$TXMILL" info "$rgb"
    check info-without-openimageio test "$(grep -c OpenImageIO err)" -eq 0
fi
finish
