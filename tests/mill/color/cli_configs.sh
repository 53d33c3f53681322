#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Projects with OpenColorIO configs of their own in one run. Each image is converted with the config that its .txmill
# names, as in a separate run, and a config that cannot be used fails only its own images.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
unset OCIO TXMILL_CACHE_DIR TXMILL_OCIO TXMILL_WORKING_SPACE TXMILL_PRESET TXMILL_RULE TXMILL_RULES TXMILL_THREADS

# a and b disagree on what sRGB is and on the working space; both have a colour space that the built-in config lacks.
small=$TXM_TESTDATA/color/small.ocio
film='  - !<ColorSpace>
    name: Film
    to_scene_reference: !<ExponentTransform> {value: [1.8, 1.8, 1.8, 1]}'
mkdir -p show/a/deep show/b
for d in show show/a show/a/deep show/b; do cp "$golden/rgb8.png" $d/wood.png; done
{ cat "$small" && echo "$film"; } >show/a/a.ocio
{ sed 's/gamma: 2.4/gamma: 2.0/' "$small" && echo "$film"; } >show/b/b.ocio
printf 'ocio = a.ocio\n' >show/a/.txmill
printf 'ocio = b.ocio\nworking-space = ACES2065-1\nrule = wood.*=Film\n' >show/b/.txmill
good=(show/wood.png show/a show/b)

# The tx files that `show` makes go to a folder of their own; everything else stays in show.
keep() {
    mkdir "$1"
    (cd show && find . -name '*.tx' -exec cp --parents -t "../$1" {} + && find . -name '*.tx' -delete)
}
same() { diff -r "$1" "$2" >differences && [ "$(find "$1" -name '*.tx' | wc -l)" -eq "$3" ]; }

none_made() { [ -z "$(find show -name '*.tx')" ]; }

# ---- one run, and a run for each -------------------------------------------------------------------------------------
for path in "${good[@]}"; do txm make "$path"; done
keep apart
gives one-run 0 -- make --json "${good[@]}"
check one-run-json json out '[x["type"] for x in o] == ["file"] * 4 + ["summary"] and (o[-1]["inputs"], o[-1]["created"], o[-1]["failed"], o[-1]["exit_code"]) == (4, 4, 0, 0)'
check one-run-spaces json out '{x["input"]: x["colorspace"]["requested"] for x in o[:-1]} == {"show/wood.png": "sRGB", "show/a/wood.png": "sRGB", "show/a/deep/wood.png": "sRGB", "show/b/wood.png": "Film"}'
if has_jsonschema; then check one-run-schema valid_json make out; fi
keep together
check one-run-same-files same apart together 4
check configs-differ test "$(find together -name '*.tx' -exec md5sum {} + | cut -d' ' -f1 | sort -u | wc -l)" -ge 3
# One folder above all, and the work divided among machines.
txm make --shard 1/2 show
txm make --shard 2/2 show
keep below
check shards-same-files same apart below 4
# Settings of an outer .txmill are inherited, however the images are named.
printf 'ocio = a/a.ocio\nworking-space = ACES2065-1\ncache-dir = outer\n' >show/.txmill
mkdir show/bad && cp "$golden/tile64.png" show/bad/grey.png && printf 'rule = grey.*=Non-Color\n' >show/bad/.txmill
for path in "${good[@]}" show/bad; do txm make "$path"; done
keep outer-apart
txm make show
keep outer-together
check nearest-counts same outer-apart outer-together 5
check nearest-folder test -n "$(find outer-together/bad/outer -name '*.tx')"
rm show/.txmill

# ---- a config that cannot be used --------------------------------------------------------------------------------------
printf 'ocio = gone.ocio\n' >show/bad/.txmill
gone="$work/show/bad/.txmill:1: $work/show/bad/gone.ocio: the OCIO config cannot be opened: No such file or directory; name another config there, or none for the built-in one"
gives bad 3 -- make show
check bad-said-once test "$(grep -cF "$gone" err)" -eq 1
check bad-sum says "4 created"
check bad-one-sum test "$(grep -c ' created (' err)" -eq 1
keep beside-bad
check bad-costs-its-own same apart beside-bad 4
txm make --json --log run.jsonl show
check bad-json json out '[(x["input"], x["error"]["message"]) for x in o if x.get("state") == "failed"] == [("show/bad/grey.png", sys.argv[3])] and (o[-1]["created"], o[-1]["failed"], o[-1]["exit_code"]) == (4, 1, 3)' "$gone"
check bad-one-summary json out '[x["type"] for x in o].count("summary") == 1'
if has_jsonschema; then check bad-schema valid_json make out; fi
check bad-log cmp out run.jsonl
# The working space is looked up in the project's own config.
printf 'ocio = ../a/a.ocio\nworking-space = ACEScg\n' >show/bad/.txmill
gives bad-space 2 \
    says "$work/show/bad/.txmill:2: working space \"ACEScg\" is not in the OCIO config $work/show/bad/../a/a.ocio" \
    says "4 up to date" -- make show
printf 'ocio = ../a/a.ocio\nrule = grey.*=ACEScg\n' >show/bad/.txmill
gives bad-rule 2 \
    says "$work/show/bad/.txmill:2 'grey.*': colour space \"ACEScg\" is not in the OCIO config $work/show/bad/../a/a.ocio" \
    says "4 up to date" -- make show
rm -r show/bad

# That also holds if it is set in the operands' own .txmill: images below with another config are converted.
mkdir lone && cp -r show/a show/wood.png lone/ && find lone -name '*.tx' -delete
echo 'root = true' >>lone/a/.txmill
for line in 'ocio = gone.ocio' 'working-space = Nowhere'; do
    printf '%s\n' "$line" >lone/.txmill
    name=${line%% *}
    txm make --json --force lone
    check "own-$name-costs-its-own" json out '{x["input"]: x["state"] for x in o if x["type"] == "file"} == {"lone/wood.png": "failed", "lone/a/wood.png": "created", "lone/a/deep/wood.png": "created"}'
    check "own-$name-said-once" test "$(grep -c 'error: ' err)" -eq 1
    for command in check resolve "plan -N 2"; do
        # shellcheck disable=SC2086
        txm $command --json lone
        check "own-$name-${command%% *}" json out '[x for x in o if "error" in x or x.get("failed") == 1] != []'
        check "own-$name-${command%% *}-others" json out '[x.get("state") or x.get("id") or x.get("to_create") for x in o].count("fresh") == 2 or o[-1].get("to_create") == 0'
    done
    txm make lone/wood.png
    check "own-$name-alone" test "$rc $(grep -c 'error: ' err)" = "$([ "$name" = ocio ] && echo 3 || echo 2) 1"
done
# The last line names the .txmill file in which another config can be set, because no option was given.
printf 'ocio = gone.ocio\n' >lone/.txmill
txm make lone
check own-advice says "1 failed: the OCIO config cannot be used; name another OpenColorIO config in $work/lone/.txmill, or none for the built-in one"
printf 'ocio = gone2.ocio\n' >lone/a/.txmill
txm make lone
check advice-of-several says "3 failed: the OCIO config cannot be used; name another OpenColorIO config in the files that the messages name, or none for the built-in one"
txm make --ocio gone.ocio lone
check said-fails-the-run test "$rc $(grep -c 'error: ' err)" = "3 1"
check said-is-no-advice-for-a-file test "$(grep -c 'txmill, or' err)" -eq 0
rm -r lone

# ---- tx files belong to their image's project ------------------------------------------------------------------------
#
# Their folder may be anywhere: names are judged with the config that the image's .txmill sets.
mkdir -p film/tex elsewhere && cp "$golden/rgb8.png" film/tex/ && cp show/b/b.ocio film/
printf 'ocio = b.ocio\nrule = rgb8.*=Film\ncache-dir = %s\n' "$work/elsewhere" >film/.txmill
txm make -q film/tex/rgb8.png
for command in info verify "verify --deep"; do
    # shellcheck disable=SC2086
    gives "place-${command// /}" 0 -- $command --json elsewhere
    check "place-${command// /}-verdict" json out 'o[0].get("use", "loaded") == "loaded" and o[0].get("findings", []) == []'
done
gives place-view 0 -- view --json --html page.html elsewhere
sed -i 's/Film/sRGB/' film/.txmill
gives place-rules 0 reports '"Film" in str(o[0]["findings"]) and "sRGB" in str(o[0]["findings"])' -- verify --json elsewhere
printf 'ocio = gone.ocio\n' >film/.txmill
for command in info verify "view --html page.html --overwrite"; do
    # shellcheck disable=SC2086
    txm $command --json elsewhere show/a
    check "place-bad-${command%% *}" json out '[("gone.ocio" in x["error"]["message"]) for x in o if "error" in x] == [True] and len(o) > 1'
done
rm -r film elsewhere page.html

# ---- all commands that look up names agree ---------------------------------------------------------------------------
gives check-agrees 0 -- check show
gives check-json 0 reports 'o[-1]["ready"] and o[-1]["fresh"] == 4' -- check --json show
gives resolve-agrees 0 reports '[x["state"] for x in o] == ["fresh"] * 4' -- resolve --json show
gives plan-agrees 0 reports '(o[-1]["inputs"], o[-1]["to_create"]) == (4, 0)' -- plan --shards 2 --json show
gives verify 0 reports '[x["findings"] for x in o] == [[]] * 4' -- verify --deep --json show
gives gc-agrees 0 says "would remove 0 of 4 files" -- gc --keep-for show show
# A scene's images belong to the scene's project, wherever they are.
mkdir shot && cp "$TXM_TESTDATA"/blend/materials.blend shot/ && cp -r "$TXM_TESTDATA"/blend/textures shot/ && chmod -R u+w shot
cp show/b/b.ocio shot/ && printf 'ocio = b.ocio\n' >shot/.txmill
txm make -q shot/materials.blend
find shot -name '*.tx' -printf '%P\n' | sort >shot.apart
find shot -name '*.tx' -delete
txm make -q show/a shot/materials.blend
find shot -name '*.tx' -printf '%P\n' | sort >shot.together
run diff shot.apart shot.together
check scene-same-names test "$rc" -eq 0 -a -s shot.apart
txm list --json shot/materials.blend
cp out list.apart
mkdir other && cp shot/materials.blend other/ && cp -r shot/textures other/ && find other -name '*.tx' -delete
txm list --json shot/materials.blend other/materials.blend
head -n "$(wc -l <list.apart)" out >list.together
run diff list.apart list.together
check list-agrees rc_is 0
check list-fresh grep -q '"fresh"' list.together
printf 'ocio = gone.ocio\n' >shot/.txmill
txm make --json --force show/a shot/materials.blend
check scene-bad-exit test "$rc" -ge 3
check scene-bad-json json out '{x["state"] for x in o if x["type"] == "file" and x["input"].startswith("show")} == {"created"} and {x["state"] for x in o if x["type"] == "file" and not x["input"].startswith("show")} == {"failed"}'
rm -r shot other

# ---- settings for all projects ---------------------------------------------------------------------------------------
find show -name '*.tx' -delete
rm show/b/.txmill && printf 'ocio = b.ocio\n' >show/b/.txmill
for path in "${good[@]}"; do txm make --ocio "$small" "$path"; done
keep said-apart
for how in option variable; do
    case $how in
        option) txm make --ocio "$small" show ;;
        variable) TXMILL_OCIO=$small txm make show ;;
    esac
    keep "said-$how"
    check "$how-wins" same said-apart "said-$how" 4
done
OCIO=$small txm make show/a show/b
keep env
for path in show/a show/b; do txm make "$path"; done
keep no-env
check environment-is-weaker same no-env env 3
txm make --ocio none.ocio show
check said-bad test "$rc $(grep -c error: err)" = "3 1"
check said-bad-makes-nothing none_made
# A colour space on the command line must exist in the configs that are used; others do not matter.
gives space-of-projects 0 -- make -c Film show/a show/b
keep film
txm make -c Filn show/a show/b
check space-misspelt-exit rc_is 2
check space-misspelt-says says "--colorspace: colour space \"Filn\" is not in the OCIO config $work/show/b/b.ocio; did you mean \"Film\"?"
check space-misspelt-makes-nothing none_made
gives space-of-run 2 -- make -c Film show
check space-of-run-once test "$(grep -c 'error:' err)" -eq 1
gives option-space 2 says "--working-space: working space \"ACEScg\" is not in the OCIO config $work/show/a/a.ocio" \
    -- make --working-space ACEScg -n show
txm make --working-space ACES2065-1 -n --json show
check option-space-for-all json out '(o[-1]["would_create"], o[-1]["failed"]) == (4, 0)'
finish
