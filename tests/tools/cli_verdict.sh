#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whether Cycles uses a tx file: the words, files made with other settings, scenes and guesses, the condition of an answer.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$TXM_TESTDATA"/blend/materials.blend . && cp -r "$TXM_TESTDATA"/blend/textures . && chmod -R u+w .
cp "$golden/rgb8.png" textures/wood.png
"$TXMILL" make -q materials.blend
# Finds the scene's first image that uses the file, and how it does.
read -r image tx space alpha < <("$TXMILL" list --json materials.blend | python3 -c '
import json, sys
o = [json.loads(line) for line in sys.stdin]
x, f = next((x, f) for x in o if x["type"] == "image" for f in x["files"] if f["path"].endswith("wood.png"))
print(f["path"], f["tx"]["path"], x["colorspace"]["lookup"].replace(" ", "_"), x["alpha"])')
settings=(-c "${space//_/ }" -a "$alpha")
check scene-has-the-image test -f "$tx"
cp -p "$tx" good.keep

# cli_verdicts.sh compares what each command says in each state; here are the words around it.
TERM=xterm txm view -F symbols -s 20x4 "$tx"
check view-says grep -qE "Cycles +uses it for scenes" out
restore() { rm -f "$tx" && cp -p good.keep "$tx"; }

touch -d '2020-01-02' "$tx"
gives outdated-in-words 0 prints "Cycles        reads the source image instead" -- info "$tx"
check outdated-relative grep -qE 'is newer than the tx file by [0-9]+ (years|days|hours)' out
restore

# A byte inside a tile is changed, so the header is as before.
python3 - "$tx" <<'EOF2'
import os, sys
st = os.stat(sys.argv[1])
data = bytearray(open(sys.argv[1], "rb").read())
for i in range(600, 640):
    data[i] ^= 0xFF
open(sys.argv[1], "wb").write(data)
os.utime(sys.argv[1], ns=(st.st_atime_ns, st.st_mtime_ns))
EOF2
TERM=xterm txm view -F symbols -s 20x4 "$tx"
check view-of-damaged test "$(grep -cE 'Cycles +uses it for scenes' out)" -eq 0
txm info --deep "$tx"
check damaged-in-words grep -qE "renders magenta where tile [0-9],[0-9] of level 0 is damaged" out
gives quick-reads-no-pixel 0 prints "Cycles        uses it" -- info "$tx"
restore

"$TXMILL" make -q --force --compression zstd "${settings[@]}" "$image"
gives zstd-in-words 0 prints "official Blender's libtiff is built without" -- info "$tx"
gives zstd-asked-for-stays 0 prints up-to-date -- make -v "${settings[@]}" --compression zstd "$image"
gives zstd-is-remade 0 prints created -- make "${settings[@]}" "$image"
restore

# The file has the name of other settings, so its pixels are not those that Cycles looks up.
other=$("$TXMILL" make --dry-run --json -c Non-Color -a straight "$image" | python3 -c 'import json,sys; print(json.loads(sys.stdin.readline())["tx"])')
cp -p "$tx" "$other"
gives misnamed-info 0 reports 'o[0]["use"] == "name" and not o[0]["cycles"]["accepted"]' -- info --json "$other"
rm "$other"
"$TXMILL" make -q --envlatl -d ll "$image"
txm info --json "$(find . -path '*ll/*.tx')"
check envlatl json out 'o[0]["use"] == "name" and "equiangular" in o[0]["cycles"]["reason"]'
cp -p "$tx" direct.tx
gives direct 0 prints "uses it where a scene names this file as its image" -- info direct.tx

# ---- made with other settings ------------------------------------------------------------------------------------------
gives otherwise 0 prints "made with other settings" prints "compression zip, not none" prints "--force rewrites" \
    -- make "${settings[@]}" --compression none "$image"
gives otherwise-strict 0 prints "with a border section" -- make "${settings[@]}" --strict "$image"
txm make "${settings[@]}" --tile 32 "$image"
check otherwise-tile prints "tiles of 64 px, not 32"
txm make "${settings[@]}" "$image"
check otherwise-only-if-asked test "$(grep -c "other settings" out)" -eq 0
# A file that Blender does not accept causes a warning.
for how in "--compression zstd" "--envlatl" "--tile 128"; do
    # shellcheck disable=SC2086
    gives "warns-of${how// /-}" 0 says "${how%% *}" says "Blender" -- make --force $how -d odd "$image"
done

# ---- folders, lists ----------------------------------------------------------------------------------------------------
gives info-recursive 0 -- info .
check info-recursive-sums grep -qE '^[0-9]+ files: [0-9]+ used' out
find . -name '*.tx' -path '*blender_tx*' >list
txm verify @list
check verify-list grep -qE '^[0-9]+ files: ' out
run "$TXMILL" verify --json - <list
check verify-standard-input json out "len(o) == $(wc -l <list)"
mkdir empty
gives empty-folder 2 says "no tx file in this folder" -- info empty
gives image-for-tx 0 says "its tx file is" -- info "$image"

# ---- scenes, and images without known settings -----------------------------------------------------------------------
txm resolve --json materials.blend "$image"
check resolve-scene-image json out "len(o) >= 1 and all(x['image'].endswith('/wood.png') for x in o) and '$tx' in [x['path'] for x in o]"
cp "$golden/rgb8.png" stranger.png
gives resolve-scene-stranger 3 says "stranger.png: none of the scenes uses this image" -- resolve materials.blend stranger.png
mkdir pbr
cp "$golden/rgb8.png" pbr/oak_color.png && cp "$golden/rgb8.png" pbr/oak_normal.png && cp "$golden/gray8.png" pbr/oak_rough.png
txm make pbr
check guess-make-names-them grep -qE 'look like data by their names \(oak_(normal|rough).png, oak_(normal|rough).png\)' err
check guess-make-advice says "--preset pbr"
gives guess-check 5 prints "oak_normal.png: data-as-color" \
    prints "3 of 3 textures fresh, 2 look like data by their names: add --preset pbr, or name the scene" -- check pbr
gives guess-accepted 0 -- check pbr --ignore data-as-color
gives guess-said 0 prints "ready to render: 3 of 3 textures fresh" -- check -c sRGB -a straight pbr
gives other-space 5 prints "there is one with colour space sRGB" prints "run: txmill make -c Non-Color pbr/oak_normal.png" \
    -- check -c Non-Color pbr/oak_normal.png
# The tx file was made as data and is requested as colour: make would leave a file that no scene looks up.
rm -r pbr/blender_tx
"$TXMILL" make -q --preset pbr pbr
gives made-as-data 5 prints "there is one with colour space" -- check pbr
check made-as-data-no-make test "$(grep -c 'run: txmill make' out)" -eq 0
gives made-as-data-preset 0 prints "ready to render: 3 of 3 textures fresh" -- check --preset pbr pbr

# ---- one answer, with its condition ----------------------------------------------------------------------------------
# The same image, used as colour and as data: each tx file is right for the scenes that set its space. A preset guesses
# by the name, so it decides nothing about a file that a scene loads.
mkdir one && cp "$golden/rgb8.png" one/wall_ao.png
cat >one/shot.xml <<'XML'
<cycles><shader name="m"><image_texture name="i" filename="wall_ao.png" colorspace="sRGB"/><diffuse_bsdf name="d"/>
<connect from="i color" to="d color"/><connect from="d bsdf" to="output surface"/></shader></cycles>
XML
printf 'preset = pbr\n' >one/.txmill
gives one-made 0 -- make -q --log one.jsonl one/shot.xml
srgb=$(echo one/blender_tx/*.tx)
for rule in '' '--preset pbr' "--rule *_ao.png=Non-Color"; do
    # shellcheck disable=SC2086
    gives "one-run${rule:+-${rule// /-}}" 0 -- verify --run one.jsonl $rule
done
txm gc one
check one-alone test "$(grep -c left-over out)" -eq 0
"$TXMILL" make -q one/wall_ao.png
data=$(ls one/blender_tx/*.tx | grep -v "$(basename "$srgb")")
conditions() { # conditions COMMAND... : both files are used, each by its scenes
    txm "$@" --json
    check "one-${1}-condition" json out '{x["file"]: (x.get("cycles") or x)["shows"] for x in o} == {
        "'"$srgb"'": "uses it for scenes that set sRGB and alpha type auto", "'"$data"'": "uses it for scenes that set Non-Color"}'
}
conditions info "$srgb" "$data"
conditions verify "$srgb" "$data"
gives one-verify 0 prints "TXM-309 note" -- verify one
gives one-rule 5 prints "Cycles uses it, but it has findings" -- verify --rule '*_ao.png=Non-Color' one
for set in "sRGB auto: and alpha type auto" "Non-Color straight:"; do
    use="-c ${set%% *} -a $(cut -d' ' -f2 <<<"${set%%:*}")"
    shows="uses it for scenes that set ${set%% *}${set#*:}"
    # shellcheck disable=SC2086
    txm resolve --json $use one/wall_ao.png
    check "one-resolve${use// /}" json out "[(x['state'], x['shows']) for x in o] == [('fresh', '$shows')]"
    # shellcheck disable=SC2086
    txm check --json $use one/wall_ao.png
    check "one-check${use// /}" json out "(o[0]['id'], o[0]['shows']) == ('fresh', '$shows')"
done
gives one-scene 0 -- check one/shot.xml
gives one-gc 0 prints "$srgb: kept: left-over" \
    prints "Cycles uses it for scenes that set sRGB and alpha type auto; preset pbr says Non-Color" -- gc --delete one
check one-gc-kept test -e "$srgb" -a -e "$data"
gives one-gc-json 0 reports '[x.get("reason") for x in o if x["type"] == "file"] == ["left-over"]' -- gc --json one
if has_jsonschema; then check one-gc-schema valid_json gc out; fi
rm one/.txmill
gives one-gc-by-name 0 prints "its image's name says Non-Color" -- gc one
txm gc one --preset none
check one-gc-no-guess test "$(grep -c left-over out)" -eq 0
txm gc --delete --keep-for one/shot.xml one
check one-gc-scene test -e "$srgb" -a ! -e "$data"

# ---- aliases -----------------------------------------------------------------------------------------------------------
for command in "make -n" check resolve; do
    # shellcheck disable=SC2086
    txm $command -c srgb_display stranger.png
    check "alias-${command// /}" says '-c srgb_display: an alias of "sRGB"'
    # shellcheck disable=SC2086
    txm $command -c sRGB stranger.png
    check "no-alias-${command// /}" test "$(grep -c 'an alias' err)" -eq 0
done
finish
