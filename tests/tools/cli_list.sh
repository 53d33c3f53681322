#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill list: scenes as text and JSON, states of tx files, findings, failures.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
scenes=$work/scenes
cp -r "$TXM_TESTDATA/blend" "$scenes"

gives text 0 prints "Blender 3.4.6, zstd" prints "19 images, 0 libraries" \
    prints "file, ready, Non-Color, alpha channel_packed" prints 'material "modes", node "Image Texture": clip, closest' \
    prints 'world "sky", node "Environment Texture": repeat, closest, environment' prints "4 UDIM tiles, 1001 to 1013" \
    prints "tiled, missing" prints "3 files, 222 B; tx: 3 missing" -- list "$scenes/materials.blend"
check text-silent test ! -s err

gives json 0 -- list --json "$scenes/materials.blend" "$scenes/packed.blend" "$scenes/linked.blend" "$scenes/missing.blend"
if has_jsonschema; then check json-schema valid_json list out; else skip json-schema "python3-jsonschema is missing"; fi
check json-scenes json out '[(x["images"], x["libraries"]) for x in o if x["type"] == "scene"] == [(19, 0), (4, 0), (5, 2), (1, 1)]'
check json-counts json out 'sum(x["type"] == "image" for x in o) == 29 and sum(x["type"] == "library" for x in o) == 3'
check json-order json out 'o[0]["type"] == "scene" and o[1]["name"] == "brick"'
check json-sequence json out '[f["number"] for x in o if x.get("name") == "frames" for f in x["files"]] == [1, 2, 10]'
check json-packed json out '[p["name"] for x in o if x.get("name") == "packed brick" for p in x["packed"]] == ["brick.1001.png", "brick.1002.png", "brick.1012.png"]'
check json-library json out '[x["state"] for x in o if x["type"] == "library"] == ["read", "read", "missing"]'
check json-alias json out '[x["colorspace"] for x in o if x.get("name") == "premul"] == [{"stored": "Linear", "name": "Linear Rec.709", "lookup": "Linear Rec.709", "known": True, "data": False}]'
check json-data json out 'all(x["colorspace"]["data"] == (x["colorspace"]["name"] == "Non-Color") for x in o if x["type"] == "image")'

# make makes exactly the files that list calls missing, under the same names.
gives made 0 -- make -q -c sRGB -a straight "$scenes/textures/wood.png" "$scenes/textures/rough.png"
txm list --json "$scenes/materials.blend"
check tx-fresh json out '[x["files"][0]["tx"]["state"] for x in o if x.get("name") == "wood"] == ["fresh"]'
check tx-other-settings json out '[x["files"][0]["tx"]["state"] for x in o if x.get("name") == "premul"] == ["missing"]'
touch -d 2001-01-01 "$scenes/textures/wood.png"
txm list --json "$scenes/materials.blend"
check tx-outdated json out '[x["files"][0]["tx"]["state"] for x in o if x.get("name") == "wood"] == ["outdated"]'
txm list --json --cache-dir "$work/elsewhere" "$scenes/materials.blend"
check tx-cache-dir json out '[x["files"][0]["tx"]["path"] for x in o if x.get("name") == "sky"][0].startswith("'"$work/elsewhere/"'")'
txm list --json --working-space "Linear Rec.2020" "$scenes/materials.blend"
check tx-working-space json out '"926BDA8569F1F2504902F06ABA51E46D" not in [x["files"][0]["tx"]["path"] for x in o if x.get("name") == "sky"][0]'

# ---- names of colour spaces: aliases and roles have their own tx files -----------------------------------------------
txm list "$scenes/materials.blend"
check alias-text prints "file, ready, Linear, an alias of Linear Rec.709, alpha premultiplied"
txm make -q "$scenes/materials.blend"
txm list --json "$scenes/materials.blend"
check alias-made json out '[x["files"][0]["tx"]["state"] for x in o if x.get("name") == "premul"] == ["fresh"]'
txm make -q -c "Linear Rec.709" -a premultiplied "$scenes/textures/deep.png"
check alias-is-another-file test "$(find "$scenes/textures/blender_tx" -name "deep.png.*.tx" | wc -l)" = 2
gives override-text 0 prints "file, ready, ACES2065-1, alpha premultiplied" -- list "$scenes/overrides.blend"
# An image of a small scene gets other colour spaces.
python3 - "$TXM_TESTDATA/blend/small/library.blend" <<'EOF'
import re, sys
data = open(sys.argv[1], "rb").read()
for name in ("scene_linear", "Non-Colour Data", "DEFAULT", "default", "Foo", "", "AgX Base sRGB"):
    stored = name.encode() + b"\0"
    changed = re.sub(rb"sRGB\0.{60}", lambda m: stored + m.group()[len(stored):], data, flags=re.S)
    assert changed != data
    open("named %s.blend" % name, "wb").write(changed)
EOF
mkdir textures 2>/dev/null
for name in scene_linear "Non-Colour Data" DEFAULT default Foo ""; do
    txm list "named $name.blend"
    head -8 out >"text $name"
done
check role-text grep -q "scene_linear, a role of Linear Rec.709, alpha" "text scene_linear"
check data-text grep -q "Non-Colour Data, an alias of Non-Color, alpha" "text Non-Colour Data"
check word-text grep -q "default, a role of Linear Rec.709, alpha" "text default"
check unknown-text grep -q "scene-linear, since the OCIO config does not have Foo, alpha" "text Foo"
check unset-text grep -q "scene-linear, since no colour space is stored, alpha" "text "
txm list --json "named default.blend"
check word-lookup json out '{x["colorspace"]["lookup"] for x in o if x["type"] == "image"} == {"=default"}'
txm list --json "named Foo.blend"
check unknown-lookup json out '{x["colorspace"]["lookup"] for x in o if x["type"] == "image"} == {"="}'
rm -rf textures && cp -r "$scenes/textures" textures
mkdir below && mv "named AgX Base sRGB.blend" below/agx.blend && mv "named Foo.blend" below/foo.blend
# Blender treats an image without a colour space as scene-linear and uses the name of auto.
cp "$TXM_TESTDATA/blend/lib/far.blend" below
txm make --json below/foo.blend
check unknown-made json out '[x["colorspace"] for x in o if x["type"] == "file" and x["input"].endswith("/lib.png")] == [{"requested": "=", "detected": "scene_linear"}]'
check unknown-ready "$TXMILL" check -q --deep below/foo.blend
mapfile -t made < <(find textures/lib -name "lib.png.*.tx")
check unknown-verifies "$TXMILL" verify -q --deep "${made[@]}"
gives unknown-info 0 prints "none (=)" -- info "${made[0]}"
txm list --json below/agx.blend
check unbuildable-has-its-name json out '[f["tx"]["path"] for x in o if x["type"] == "image" for f in x["files"] if f["tx"] and f["tx"]["path"].endswith("F1AB52E3F52805C4B8687259AAAEEB6D.tx")]'
cp "$golden/rgb8.png" word.png
txm make -q -c =default word.png
txm make -q -c scene_linear word.png
txm make -q -c default word.png
txm make -q -c sRGB word.png
check word-is-a-name test "$(find blender_tx -name "word.png.*.tx" | wc -l)" = 3
check word-verifies "$TXMILL" verify -q blender_tx/word.png.*.tx

# ---- findings --------------------------------------------------------------------------------------------------------
gives lint 5 prints 'normal-map-color: image "bad normal" feeds a Normal Map node but is in sRGB' \
    -- list --lint "$scenes/lint.blend"
gives lint-json 5 -- list --lint --json "$scenes/lint.blend" "$scenes/missing.blend" "$scenes/materials.blend"
if has_jsonschema; then check lint-json-schema valid_json list out; fi
check lint-ids json out 'sorted({x["id"] for x in o if x["type"] == "finding"}) == ["color-and-data", "data-as-color", "missing-file", "missing-library", "normal-map-color", "opaque-alpha", "two-colorspaces"]'
check lint-images json out '{x["image"] for x in o if x.get("id") == "opaque-alpha"} >= {"bad normal", "brick", "frames"}'
check lint-set json out 'any("3 of 3 files, first" in x["message"] for x in o if x.get("id") == "opaque-alpha" and x["image"] == "brick")'
check lint-by-name json out '[x["image"] for x in o if x.get("id") == "data-as-color"] == ["bad normal", "both"]'
check lint-missing json out '[x["image"] for x in o if x.get("id") == "missing-file"] == ["missing", "missing set"]'
gives lint-opaque 5 -- list --lint "$scenes/lib/far.blend"
cp "$golden/rgb8.png" "$scenes/textures/lib/far.png"
gives lint-clean 0 -- list --lint "$scenes/lib/far.blend"
head -c 50 "$golden/rgb8.png" >"$scenes/textures/lib/far.png"
gives lint-unusable 5 prints 'unusable-file: image "far": ' -- list --lint "$scenes/lib/far.blend"

# ---- failures --------------------------------------------------------------------------------------------------------
head -c 5000 "$scenes/lint.blend" >cut.blend
gives failed 3 last_line_is "TXMILL-ERROR code=3 failed=3 total=4" \
    -- list --json cut.blend "$scenes/lib/far.blend" no.blend "$scenes/textures/sky.png"
check failed-others-listed json out 'any(x.get("name") == "far" for x in o)'
check failed-json json out '[x["error"]["status"] for x in o if "error" in x] == ["corrupt", "not-found", "unsupported"]'
if has_jsonschema; then check failed-json-schema valid_json list out; fi
check failed-says says "cut.blend: the zstd data ends at byte 5000: the file is truncated"
# The content of a library that is cut short is unknown, and a list without it would not be complete.
mkdir -p half/lib && cp "$scenes/graph.blend" half && head -c 3000 "$scenes/lib/graph.blend" >half/lib/graph.blend
gives library-cut 3 says "half/lib/graph.blend: the zstd data ends at byte 3000" -- list half/graph.blend
gives usage 2 -- list
printf 'ocio_profile_version: 2\n' >broken.ocio
txm list --ocio broken.ocio "$scenes/lib/far.blend"
check broken-config test "$rc" -ne 0
finish
