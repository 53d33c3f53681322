#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill make SCENE.blend: files that list calls missing exist afterwards, under exactly those names.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
scenes=$work/scenes
cp -r "$TXM_TESTDATA/blend" "$scenes"

states() { # for all files that exist, as a list
    "$TXMILL" list --json "$@" | python3 -c 'import json, sys
o = [json.loads(line) for line in sys.stdin]
print(sorted({f["tx"]["state"] for x in o if x["type"] == "image" for f in x["files"] if f["exists"]}))'
}

check before test "$(states "$scenes/lint.blend")" = "['missing']"
gives made 0 -- make --json "$scenes/lint.blend"
check made-states json out 'all(x["state"] == "created" for x in o if x["type"] == "file") and len(o) == 9'
check fresh test "$(states "$scenes/lint.blend")" = "['fresh']"
txm make --json "$scenes/lint.blend"
check again-up-to-date json out 'all(x["state"] == "up-to-date" for x in o if x["type"] == "file")'
if has_jsonschema; then check json-schema valid_json make out; fi

# Sets, sequences, aliases of colour spaces, alpha modes and worlds. A missing image fails, and the others are made.
gives missing 3 last_line_is "TXMILL-ERROR code=3 failed=2 total=21" says 'image "missing" of' says 'image "missing set" of' \
    says "materials.blend: 1 generated image is left out, as in Blender" \
    says "materials.blend: 1 movie is left out, as in Blender" says "materials.blend: 1 image without a file is left out" \
    -- make "$scenes/materials.blend"
check all-others-fresh test "$(states "$scenes/materials.blend")" = "['fresh']"

gives linked 0 -- make -q "$scenes/linked.blend"
check linked-fresh test "$(states "$scenes/linked.blend")" = "['fresh']"
gives missing-library 3 says "gone.blend" -- make -q "$scenes/missing.blend"

gives packed 0 says "3 packed images are left out; --packed DIR unpacks and converts them" -- make "$scenes/packed.blend"
txm make -q --dry-run --packed "$work/unpacked" "$scenes/packed.blend"
check packed-dry-run test ! -e "$work/unpacked"
txm make --packed "$work/unpacked" "$scenes/packed.blend"
check unpacked-exit rc_is 0
check unpacked-says says "once it loads the images from $work/unpacked: give --packed $scenes/textures instead, then in Blender choose File > External Data > Unpack Resources > Use Files in Current Directory, and save"
check unpacked cmp "$work/unpacked/brick.1012.png" "$scenes/textures/brick.1012.png"
check unpacked-own-names test -z "$(grep -F "is another file" "$work/err")"
mkdir taken && printf other >taken/wood.png
txm make --packed taken "$scenes/packed.blend"
check unpacked-other-name says 'is unpacked as taken/wood.001.png, because wood.png is another file, which Blender would use instead'
check unpacked-other-kept test "$(cat taken/wood.png)" = other
check unpacked-converted test "$(find "$work/unpacked/blender_tx" -name '*.tx' | wc -l)" -eq 5
# A scene from elsewhere may give packed files any name. Only files with names of images are written, and none that is
# hidden or that a program would obey.
for name in .txmill .bashrc .w.png wood; do
    python3 - "$scenes/packed.blend" drop.blend "$name" <<'EOF'
import subprocess, sys
source, target, name = sys.argv[1:]
data = open(source, "rb").read()
if data[:4] == b"\x28\xb5\x2f\xfd":
    data = subprocess.run(["zstd", "-dcq"], input=data, stdout=subprocess.PIPE, check=True).stdout
old = b"wood.png\0"
assert old in data
open(target, "wb").write(data.replace(old, name.encode().ljust(len(old), b"\0")))
EOF
    rm -rf dropped
    txm make -q --packed dropped drop.blend
    check "packed-as-$name" test -z "$(find dropped -maxdepth 1 -type f \( -name '.*' -o -not -name '*.png' \))"
    check "packed-as-$name-kept" test "$(find dropped -maxdepth 1 -type f | wc -l)" -ge 4
done
check packed-gets-extension test -f dropped/wood.png
txm make -q --packed "$scenes/packed.blend/no" "$scenes/packed.blend"
check unpack-fails test "$rc" -ne 0

gives lint 0 says 'feeds a Normal Map node but is in sRGB' -- make --lint --dry-run "$scenes/lint.blend"
head -c 3000 "$scenes/lint.blend" >cut.blend
gives broken 3 last_line_is "TXMILL-ERROR code=3 failed=2 total=10" -- make -q cut.blend no.blend "$scenes/lint.blend"

# Blender 5's layout, and that of an old big-endian machine with 4-byte addresses.
cp "$scenes/small/linked_5.blend" "$scenes/small/packed_big_endian.blend" "$scenes"
for name in linked_5 packed_big_endian; do
    gives "$name" 0 -- make -q "$scenes/$name.blend" --packed "$work/$name"
    check "$name-fresh" test "$(states "$scenes/$name.blend")" = "['fresh']"
done
check big-endian-unpacked test "$(find "$work/packed_big_endian/blender_tx" -name '*.tx' | wc -l)" -eq 5

# Lists, folders and patterns may contain scenes.
tx_count() { find "$1" -name '*.tx' | wc -l; }
rm -rf "$scenes/textures/blender_tx"
printf '%s\n' "$scenes/lint.blend" >scenes.txt
gives listed 0 -- make --json --cache-dir "$work/plain" @scenes.txt
check listed test "$(tx_count "$work/plain")" -eq 8
printf '{"path": "%s", "cache_dir": "%s"}\n' "$scenes/lint.blend" "$work/listed" >scenes.txt
txm make --json @scenes.txt
check listed-cache-dir test "$(tx_count "$work/listed")" -eq 8
check listed-origin json out 'all(x["origin"].endswith("lint.blend") for x in o if x["type"] == "file")'
printf '{"path": "%s", "colorspace": "sRGB"}\n{"path": "%s", "working_space": "Linear Rec.2020"}\n' \
    "$scenes/lint.blend" "$scenes/lint.blend" >scenes.txt
gives listed-settings 2 says "scenes.txt:1: $scenes/lint.blend: is a scene, which stores the colour space" \
    -- make --json --cache-dir "$work/wide" @scenes.txt
check listed-working-space test "$(find "$work/wide" -name '*.tx' ! -name '*926BDA8569F1F2504902F06ABA51E46D*' | wc -l)" -eq 8
rm -rf "$scenes/textures/blender_tx"
mkdir project
cp -r "$scenes/lint.blend" "$scenes/textures" project
gives folder 0 -- make -q --include '*.blend' --cache-dir "$work/folder" project
check folder-scene test "$(tx_count "$work/folder")" -eq 8
txm make --json project --dry-run
check folder-images-alone json out 'not any(x["input"].endswith(".blend") or x.get("origin") for x in o if x["type"] == "file")'
cp "$scenes/lint.blend" project/shot_0001.blend
cp "$scenes/lint.blend" project/shot_0002.blend
gives pattern 0 reports 'sum(x["type"] == "file" for x in o) == 16' -- make --json --dry-run 'project/shot_####.blend'
check no-temporaries no_temporaries

# ---- folders of scenes, which are text ---------------------------------------------------------------------------------
mkdir of-text && for image in 'a "b".png' x.1001.png x.1012.png v.u2_v3.png mapped/m.png; do
    mkdir -p "$(dirname "of-text/$image")" && cp "$golden/rgb8.png" "of-text/$image"
done
cat >of-text/scene.txt <<'EOF'
txmill-scene 1
# exported

size 8 8
anything else
image a "a \"b\".png" colorspace "sRGB" alpha straight extension repeat
image m "P:/m.png" colorspace "Non-Color" alpha none
ptex p "p.ptx" colorspace "sRGB"
image u "x.<udim>.png" colorspace "sRGB" alpha premultiplied extension clip interpolation cubic udim 1001 1012
image v "v.<UVTILE>.png" colorspace "Non-Color" alpha none udim 1022
EOF
txm make -n --json --path-map "P: $work/of-text/mapped" of-text
check of-text json out '[(x["input"].split("of-text/")[1], x["colorspace"]["requested"], x["alpha"]) for x in o if x["type"] == "file"] == [("a \"b\".png", "sRGB", "straight"), ("mapped/m.png", "Non-Color", "none"), ("x.1001.png", "sRGB", "premultiplied"), ("x.1012.png", "sRGB", "premultiplied"), ("v.u2_v3.png", "Non-Color", "none")]'
while IFS='|' read -r name says text; do
    printf '%b' "$text" >of-text/scene.txt
    txm make of-text
    check "of-text-$name" eval 'rc_is 3 && says "$says"'
done <<'EOF'
quotes|of-text/scene.txt:3: a text in double quotes is missing|txmill-scene 1\n\nimage a a.png colorspace "s" alpha none\n
newer|needs a newer txmill|txmill-scene 99\n
open|a text in double quotes is missing|txmill-scene 1\nimage a "a.png
space|a text in double quotes|txmill-scene 1\nimage a "a" colorspace 3 alpha none\n
alpha|an image has a name, a path|txmill-scene 1\nimage a "a" colorspace "s" alpha x\n
short|an image has a name, a path|txmill-scene 1\nimage a "a"\n
tile|a UDIM number|txmill-scene 1\nimage a "a" colorspace "s" alpha none udim 12\n
tile-text|a UDIM number|txmill-scene 1\nimage a "a" colorspace "s" alpha none udim 1001x\n
zero|of-text/scene.txt|txmill-scene 1\0x
EOF
rm of-text/scene.txt && mkfifo of-text/scene.txt
txm make of-text
check of-text-pipe rc_is 0 # a folder of images

# ---- packed images are checked where make unpacks them -------------------------------------------------------------------
cp "$TXM_TESTDATA"/blend/packed.blend packed-check.blend
txm check --packed it packed-check.blend
check packed-unmade eval 'rc_is 5 && prints "it/wood.png: missing: packed in the scene, and not unpacked yet"'
check packed-writes-nothing test ! -e it
eval "$(sed -n 's/^.*; run: txmill/"$TXMILL"/p' out)" >/dev/null 2>&1
txm check --packed it packed-check.blend
check packed-made eval 'rc_is 0 || prints "rough.png"'
check packed-counted test "$(grep -c 'packed' err)" -eq 0
finish
