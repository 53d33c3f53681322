#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Settings for all commands: .txmill and TXMILL_* variables; arguments are checked before any file; letters of options;
# txmill check, settings, doctor.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
unset TXMILL_SETTINGS TXMILL_CACHE_DIR TXMILL_OCIO TXMILL_WORKING_SPACE TXMILL_PRESET TXMILL_RULE TXMILL_RULES TXMILL_THREADS

mkdir -p film/tex/deep other
cp "$golden/rgb8.png" film/tex/wood_color.png
cp "$golden/gray-in-rgb.png" film/tex/deep/wood_normal.png
cp "$golden/tile64.png" other/
cat >film/.txmill <<'EOF2'
# of the film
cache-dir = cache
preset = pbr
rule = *_mask.*=Non-Color,none
threads = 2
EOF2

# ---- the project's file --------------------------------------------------------------------------------------------------
gives settings 0 prints "$work/film/.txmill" prints "cache  ($work/film/.txmill:2)" -- settings film/tex/deep
txm settings --json film/tex/deep/wood_normal.png
check settings-json json out '[x["value"] for x in o if x["setting"] == "preset"] == ["pbr"] and [x["origin"] for x in o if x["setting"] == "ocio"] == ["default"]'
if has_jsonschema; then check settings-schema valid_json settings out; fi
txm make film
check project-cache-dir test -n "$(find film/tex/cache -name 'wood_color.png.*.tx')"
check project-preset test -n "$(find film/tex/deep/cache -name 'wood_normal.png.0-*.tx')"
txm info --json film
check project-preset-space json out 'sorted(x["colorspace"]["detected"] for x in o) == ["data", "scene_linear_srgb"]'
for command in resolve check; do
    gives "$command-agrees" 0 -- $command film/tex
done
gives plan-agrees 0 reports 'o[-1]["to_create"] == 0' -- plan --shards 2 --json film
gives verify-agrees 0 -- verify film --preset pbr
gives verify-rule 5 prints "TXM-306 warning" -- verify film --rule '*_color.png=Non-Color'
TXMILL_CACHE_DIR=elsewhere txm make film
check variable-wins test -n "$(find film/tex/elsewhere -name 'wood_color.png.*.tx')"
TXMILL_CACHE_DIR=elsewhere txm make -d said film/tex/wood_color.png
check option-wins test -n "$(find film/tex/said -name 'wood_color.png.*.tx')"
TXMILL_PRESET=pbr TXMILL_CACHE_DIR=v txm settings --json other
check variables-shown json out '{x["setting"]: x["origin"] for x in o}["cache-dir"] == "TXMILL_CACHE_DIR"'
gives two-projects 0 -- make film/tex/wood_color.png other/tile64.png
check two-projects-each test -n "$(find film/tex/cache -name 'wood_color.png.*.tx')" -a -n "$(find other/blender_tx -name 'tile64.png.*.tx')"

# ---- what is typed comes first ---------------------------------------------------------------------------------------
mkdir -p typed/sub && cp "$golden/rgb8.png" typed/w_normal.png && cp "$golden/rgb8.png" typed/sub/w_ao.png
printf 'preset = pbr\n' >typed/.txmill && printf 'rule = *_ao*=Non-Color,none\n' >typed/sub/.txmill
txm make -q typed
asked() { # asked CODE OPTION... : every command that takes -c and -a says the same about what was typed
    local code=$1 command
    shift
    for command in check resolve "plan --shards 1" "make -n"; do
        # shellcheck disable=SC2086
        txm $command --json "$@" typed
        case $command in
        check | resolve) check "typed-$*-${command%% *}" rc_is "$code" ;;
        *) check "typed-$*-${command%% *}" json out "sum(x.get('state') == 'would-create' for x in o) + o[-1].get('to_create', 0) == $((code == 5 ? 2 : 0))" ;;
        esac
    done
}
asked 0
asked 5 -c sRGB
asked 5 -c sRGB --rule '*=Non-Color' --preset pbr
asked 5 -c sRGB -a channel_packed
asked 5 -a premultiplied
asked 5 -c default
TXMILL_RULE='*=Non-Color' asked 5 -c sRGB
gives typed-made 0 -- make -q -c sRGB typed
asked 0 -c sRGB

# ---- another user's file above the images ----------------------------------------------------------------------------
if [ "$(id -u)" -eq 0 ]; then
    mkdir -p open/job && chmod 1777 open
    cp "$golden/tile64.png" open/job/
    printf 'cache-dir = loot\n' >open/.txmill && chown 65534 open/.txmill
    txm make open/job/tile64.png
    check foreign-ignored test -d open/job/blender_tx -a ! -e open/job/loot
    check foreign-said says "open/.txmill: ignored, because it belongs to another user"
    check foreign-said-once test "$(grep -c ignored err)" -eq 1
    TXMILL_SETTINGS=open/.txmill txm settings open/job
    check named-obeyed prints "loot  ($work/open/.txmill:1)"
    SUDO_UID=65534 txm settings open/job
    check sudo-obeyed prints "loot  ($work/open/.txmill:1)"
    mv open/.txmill foreign.txmill && chown root foreign.txmill
    ln -s ../foreign.txmill open/.txmill && chown -h 65534 open/.txmill
    gives foreign-link-ignored 0 says "open/.txmill: ignored" -- settings open/job
    rm open/.txmill && mv foreign.txmill open/.txmill && chown 65534 open/.txmill && chmod 775 open
    gives colleague-obeyed 0 prints "loot  ($work/open/.txmill:1)" -- settings open/job
else
    skip foreign-settings "needs root"
fi
TXMILL_SETTINGS=film/.txmill txm settings other
check named-elsewhere prints "pbr  ($work/film/.txmill:3)"
TXMILL_SETTINGS=nowhere txm make other/tile64.png
check named-missing test "$rc" -ne 0

printf 'cachedir = x\n' >other/.txmill
gives misspelt 2 says "other/.txmill:1: unknown setting 'cachedir' (did you mean 'cache-dir'?)" -- make other/tile64.png
printf 'threads = many\n' >other/.txmill
gives bad-value-says 2 says "other/.txmill:1: threads is 'many'" -- make other/tile64.png
printf 'ocio = none.ocio\n' >other/.txmill
gives project-ocio 3 says "other/none.ocio" \
    reports '[x["type"] for x in o] == ["error", "summary"] and o[0]["error"]["message"]' -- make --json other/tile64.png
rm other/.txmill
TXMILL_THREADS=0 txm make other/tile64.png
check variable-bad says "TXMILL_THREADS: threads is '0'"

# ---- a project that came from elsewhere ------------------------------------------------------------------------------
mkdir -p came/tex away && cp "$golden/rgb8.png" came/tex/
printf 'root:SECRET:20228::\n' >away/secret
printf '*.exr=SECRET\n' >away/rules
mkfifo came/pipe
# says_nothing NAME SETTING...: no command quotes what the setting leads to.
says_nothing() {
    local c
    printf '%s\n' "${@:2}" >came/.txmill
    for c in make check "plan -N 2" resolve "make -n --json"; do
        # shellcheck disable=SC2086
        run timeout 20 "$TXMILL" $c came/tex/rgb8.png
        check "$1-${c// /}" test "$(cat out err | grep -c SECRET)" -eq 0 -a "$rc" -ne 0 -a "$rc" -lt 124
    done
}
says_nothing secret-rules "rules = ../away/secret"
check secret-rules-where says "came/.txmill:1: $work/came/../away/secret:1: not a rule"
says_nothing secret-spaces "preset = pbr" "rules = ../away/rules"
check secret-spaces-where says "away/rules:1: not a rule for this OCIO config"
says_nothing secret-config "ocio = ../away/secret"
ln -s ../away/secret came/inside
says_nothing secret-behind-link "rules = inside"
for kind in rules ocio; do
    says_nothing "pipe-$kind" "$kind = pipe"
    check "pipe-$kind-says" says "not a regular file"
    says_nothing "device-$kind" "$kind = /dev/zero"
    says_nothing "folder-$kind" "$kind = tex"
done
rm came/.txmill && ln -s ../away/secret came/.txmill
txm make came/tex/rgb8.png
check secret-settings test "$rc" -eq 2 -a "$(cat out err | grep -c SECRET)" -eq 0
rm came/.txmill && mkfifo came/.txmill
run timeout 20 "$TXMILL" make -n came/tex/rgb8.png
check pipe-settings rc_is 0
rm came/.txmill
TXMILL_SETTINGS=came/pipe run timeout 20 "$TXMILL" make -n came/tex/rgb8.png
check pipe-settings-named says "not a regular file"
# A file of rules that says what it is, or that is in the project, is quoted.
printf '# txmill rules\n*.exr=SHOWN\n' >away/rules
printf 'rules = ../away/rules\n' >came/.txmill
gives marked-rules-quoted 2 says '"SHOWN"' -- make came/tex/rgb8.png
printf '*.exr=SHOWN\n' >came/rules
printf 'rules = rules\n' >came/.txmill
gives own-rules-quoted 2 says '"SHOWN"' -- make came/tex/rgb8.png
# What leads out of the folder is said once.
printf '*.exr=Non-Color\n' >away/rules
printf 'preset = pbr\ncache-dir = %s/loot\nrules = ../away/rules\n' "$work" >came/.txmill
txm make --json came
check outside-said test "$(grep -c "came/.txmill:2: cache-dir = $work/loot is outside" err)" -eq 1
check outside-json json out '[(x["setting"], x["origin"].split("/")[-1]) for x in o[-1]["settings_outside"]] == [("cache-dir", ".txmill:2"), ("rules", ".txmill:3")]'
if has_jsonschema; then check outside-schema valid_json make out; fi
for c in check "plan -N 2" resolve; do
    # shellcheck disable=SC2086
    txm $c --json came
    check "outside-${c%% *}" test "$(grep -c "/.txmill:2: cache-dir" err) $(grep -c '"settings_outside"' out)" = "1 1"
    if has_jsonschema; then check "outside-schema-${c%% *}" valid_json "${c%% *}" out; fi
done
gives outside-below 0 reports 'o[-1]["settings_outside"][0]["setting"] == "cache-dir"' -- make --json .
gives outside-settings 0 reports '[x["setting"] for x in o if x["outside"]] == ["cache-dir", "rules"]' -- settings --json came
txm make --no-settings --json came
check no-settings test -n "$(find came/tex/blender_tx -name '*.tx')" -a "$(grep -c settings_outside out)" -eq 0
gives outside-gc 0 reports '[len(x["settings_outside"]) for x in o if x["type"] == "summary"] == [2]' -- gc --json came
mkdir came/tex/deep
for dir in tx tx/ ./tx tex/../tx "$work/came/tx" "../came/tx/"; do
    printf 'cache-dir = %s\n' "$dir" >came/.txmill
    txm settings --json came
    check "inside-$dir" json out 'not any(x["outside"] for x in o)' "$dir"
done
ln -s "$work/away" came/link
printf 'cache-dir = link/tx\n' >came/.txmill
gives outside-through-link 0 reports 'any(x["outside"] for x in o)' -- settings --json came
# A map sends the reads of a scene.
printf 'map = P:\\ %s/away\n' "$work" >came/.txmill
echo "<cycles><shader><image_texture filename='P:\\a.png'/></shader></cycles>" >came/s.xml
cp "$golden/rgb8.png" away/a.png
txm check --json came/s.xml
check outside-map json out '[x["setting"] for x in o[-1]["settings_outside"]] == ["map"] and o[0]["image"].endswith("/away/a.png")'
if has_jsonschema; then check outside-map-schema valid_json check out; fi
# .. after a link is above its target.
mkdir away/in && rm came/link && ln -s "$work/away/in" came/link
for dir in link/../tx none/../../tx tex/../link/tx; do
    printf 'cache-dir = %s\n' "$dir" >came/.txmill
    gives "outside-$dir" 0 reports 'any(x["outside"] for x in o)' -- settings --json came
done
rm -r came away loot
for c in check gc; do
    txm $c --json no-such-place
    if has_jsonschema; then check "schema-of-failures-$c" valid_json $c out; fi
done

# ---- files in folders above ------------------------------------------------------------------------------------------
mkdir -p nest/in/deep nest/alone && cp "$golden/rgb8.png" nest/in/deep/wood_normal.png
cp "$golden/rgb8.png" nest/alone/wood_normal.png
printf '\357\273\277cache-dir = outer  # for all\r\nthreads = 2\t# two\npreset = pbr\nrule = a*.png=Raw\n' >nest/.txmill
printf 'cache-dir = "in#n er" # quoted\nrule = b#c*.png=Raw\n' >nest/in/.txmill
gives inherits 0 prints "$work/nest/in/.txmill, which inherits from $work/nest/.txmill" \
    prints "in#n er  ($work/nest/in/.txmill:1)" prints "2  ($work/nest/.txmill:2)" prints "pbr  ($work/nest/.txmill:3)" \
    -- settings nest/in/deep
txm settings --json nest/in/deep
check inherits-rules json out '[x["value"] for x in o if x["setting"] == "rule"] == ["b#c*.png=Raw", "a*.png=Raw"]'
txm make -q nest
check inherits-made test -n "$(find nest/in/deep/in#n\ er -name '*.tx')" -a -n "$(find nest/alone/outer -name '*.tx')"
gives inherits-data 0 reports '[x["colorspace"]["detected"] for x in o] == ["data"]' -- info --json nest/in
printf 'root = true # of its own\nthreads = 3\n' >nest/alone/.txmill
txm settings --json nest/alone
check root-stops json out '{x["setting"]: x["value"] for x in o if x["setting"] in ("cache-dir", "threads", "preset")} == {"cache-dir": "blender_tx", "threads": "3", "preset": None}'
printf 'root = false\npreset = none\n' >nest/alone/.txmill
gives none-shown 0 prints "none  ($work/nest/alone/.txmill:2)" -- settings nest/alone
txm make -q nest/alone/wood_normal.png
txm make -n --json nest/alone/wood_normal.png
check none-counts json out 'o[0]["colorspace"]["detected"] == "scene_linear_srgb"'
txm make -n --json --preset none nest/in/deep/wood_normal.png
check none-option json out 'o[0]["colorspace"]["detected"] == "scene_linear_srgb"'
TXMILL_PRESET=none txm make -n --json nest/in/deep/wood_normal.png
check none-variable json out 'o[0]["colorspace"]["detected"] == "scene_linear_srgb"'
printf 'root = yes\n' >nest/alone/.txmill
gives root-bad 2 says "nest/alone/.txmill:1: root is 'yes', but must be true or false" -- settings nest/alone
printf 'cache-dir = "a b\n' >nest/alone/.txmill
gives quote-open 2 says "nest/alone/.txmill:1: cache-dir has a quote that is not closed" -- settings nest/alone
printf 'cache-dir = # nothing\n' >nest/alone/.txmill
gives comment-alone 2 says "nest/alone/.txmill:1: cache-dir has no value" -- settings nest/alone
printf 'theads = 3\n' >nest/.txmill
gives above-misspelt 2 says "nest/.txmill:1: unknown setting 'theads'" -- settings nest/in
TXMILL_SETTINGS=nest/in/.txmill txm settings nest/in
check named-alone rc_is 0
rm -r nest

# ---- projects below a folder -----------------------------------------------------------------------------------------
# Each image follows the .txmill of its own folder, in every command alike.
mkdir -p show/a show/b/deep && cp "$golden/rgb8.png" show/wood.png && cp "$golden/rgb8.png" show/a/wood.png
cp "$golden/rgb8.png" show/b/deep/wood.png
printf 'rule = wood.*=Non-Color\n' >show/.txmill
printf 'cache-dir = tx_a\nworking-space = ACEScg\nroot = true\n' >show/a/.txmill
printf 'rule = wood.*=ACEScg,none\ncache-dir = tx_b\n' >show/b/.txmill
txm make -n -v show
check below-rule prints '"ACEScg" by wood.* ('"$work/show/b/.txmill:1"')'
txm make --json show
check below-made json out '{x["input"]: (x["colorspace"]["requested"], x["alpha"]) for x in o if x["type"] == "file"} == {"show/wood.png": ("Non-Color", "straight"), "show/a/wood.png": ("sRGB", "straight"), "show/b/deep/wood.png": ("ACEScg", "none")}'
check below-folders test "$(find show -name '*.tx' -printf '%h\n' | sort | xargs)" = "show/a/tx_a show/b/deep/tx_b show/blender_tx"
gives below-again 0 reports 'o[-1]["up_to_date"] == 3' -- make -n --json show
for command in resolve check; do
    gives "below-$command" 0 -- $command show
done
txm make -n --force show
check below-who prints '"Non-Color" by wood.* ('"$work/show/.txmill:1"')'
txm verify show
check below-verify test "$rc $(tail -n 1 out)" = "0 3 files: 3 good"
gives below-plan 0 reports 'o[-1]["to_create"] == 0' -- plan -N 1 --json show
txm make --json -n -d said show
check below-option json out 'all("/said/" in x["tx"] for x in o if x["type"] == "file" and x["input"] != "show/wood.png")'
TXMILL_WORKING_SPACE="Linear Rec.709" txm make --json -n show
check below-variable json out '[x["state"] for x in o if x.get("input") == "show/a/wood.png"] == ["would-create"]'
gives below-gc 0 says "would remove 0 of 3 files" -- gc --keep-for show show
printf 'rule = wood.*=Non-Colour\n' >show/b/.txmill
gives below-bad-rule 2 says "$work/show/b/.txmill:1 'wood.*': colour space \"Non-Colour\" is not in the OCIO config built-in" \
    -- make show
cp "$TXM_TESTDATA/color/small.ocio" show/b/other.ocio && printf 'ocio = other.ocio\n' >show/b/.txmill
gives below-ocio 0 -- make show
# Settings that cannot be used fail the images of their folder, with one message.
cp show/b/deep/wood.png show/b/deep/more.png
costs() { # NAME EXIT MESSAGE
    for command in make "plan -N 2" check resolve; do
        # shellcheck disable=SC2086
        gives "$1-${command%% *}" "$2" -- $command show
        check "$1-${command%% *}-once" test "$(grep -cF "$3" err)" -eq 1
    done
    txm make --json --force show
    check "$1-others-made" json out '{x["input"]: x["state"] for x in o if x["type"] == "file"} == {"show/wood.png": "created", "show/a/wood.png": "created", "show/b/deep/wood.png": "failed", "show/b/deep/more.png": "failed"}'
    check "$1-objects" json out '[x["error"]["message"] for x in o if x.get("state") == "failed"] == [sys.argv[3]] * 2' "$3"
    txm check --json show
    check "$1-check" json out 'o[-1]["failed"] == 2 and o[-1]["fresh"] == 2 and not o[-1]["ready"]'
    if has_jsonschema; then check "$1-check-schema" valid_json check out; fi
}
rm show/b/other.ocio
costs below-bad 3 "$work/show/b/.txmill:1: $work/show/b/other.ocio: the OCIO config cannot be opened: No such file or directory; name another config there, or none for the built-in one"
printf 'working-space = ACESgc\n' >show/b/.txmill
costs below-space 2 "$work/show/b/.txmill:1: working space \"ACESgc\" is not in the OCIO config built-in; did you mean \"ACEScg\", \"ACEScc\" or \"ACEScct\"?"
# Where a folder for tx files is no folder, its own project is to blame.
printf 'cache-dir = %s/show/wood.png\n' "$work" >show/b/.txmill
txm make -n --force show
check below-cache-dir says "$work/show/b/.txmill:1: cache-dir $work/show/wood.png: $work/show/wood.png is a file, not a folder"
# Single rules count before files of rules, wherever the lines are.
printf 'wood.*=Raw\n' >show/rules.txt && printf 'rules = ../rules.txt\nrule = wood.*=ACEScg\n' >show/b/.txmill
txm make -n -v show
check below-order prints '"ACEScg" by wood.* ('"$work/show/b/.txmill:2"')'
rm show/rules.txt
printf 'colour = x\n' >show/b/.txmill
costs below-word 2 "$work/show/b/.txmill:1: unknown setting 'colour'; there are cache-dir, cache-limit, ocio, working-space, blender, preset, rule, rules, threads, map and limit"
gives below-misspelt 2 says "$work/show/b/.txmill:1: unknown setting 'colour'" -- make show
# A config on the command line is checked once, before any file.
find show -name '*.tx' -delete
txm make --ocio none.ocio show
check config-once test "$rc $(grep -c error: err)" = "3 1"
check config-before-any-file test -z "$(find show -name '*.tx')"
rm -r show

# Commands that list colour spaces, or examine the folder, use the project's config.
mkdir own && cp "$TXM_TESTDATA/color/small.ocio" own/ && printf 'ocio = small.ocio\n' >own/.txmill
(cd own && "$TXMILL" colorspaces) | head -n 1 >first
check colorspaces-of-project grep -q "$work/own/small.ocio" first
(cd own && "$TXMILL" doctor) >doctored
check doctor-of-project grep -q "^config  *OpenColorIO  *$work/own/small.ocio ($work/own/.txmill:1), " doctored
printf 'working-space = Nowhere\n' >own/.txmill
(cd own && txm colorspaces && exit 1)
check colorspaces-origin says "$work/own/.txmill:1: working space \"Nowhere\" is not in the OCIO config built-in"
printf 'ocio = gone.ocio\n' >own/.txmill && cp "$golden/rgb8.png" own/
txm make own/rgb8.png
check config-origin says "$work/own/.txmill:1: $work/own/gone.ocio: the OCIO config cannot be opened: No such file or directory; name another config there, or none for the built-in one"
rm -r own doctored

# The command that check recommends can be pasted.
mkdir "wood's" && cp "$golden/rgb8.png" "wood's/a b.png"
txm check --rule '* b.png=Non-Color' "wood's" -d 'tx files'
check pasted-words prints "run: txmill make -d \"tx files\" --rule \"* b.png=Non-Color\" \"wood's\""
eval "$(sed -n 's/^.*; run: txmill/"$TXMILL"/p' out)" >made
check pasted-runs test -n "$(find "wood's/tx files" -name '*.tx')"
rm -r "wood's" made

# ---- arguments are checked once --------------------------------------------------------------------------------------
for how in "-c sRGBB" "--working-space ACESgc" "--ocio none.ocio"; do
    # shellcheck disable=SC2086
    txm make $how film
    check "once${how// /}-one-error" test "$(grep -c 'error:' err)" -eq 1
    check "once${how// /}-exit" test "$rc" -ne 0
done
gives space 2 says 'did you mean "sRGB"' -- make -c sRGBB film/tex/wood_color.png
gives rule 2 says "unknown alpha type 'strait' (did you mean 'straight'?)" \
    -- make --rule '*.png=sRGB,strait' film/tex/wood_color.png
gives rule-space 2 says "--rule '*.png'" -- make --rule '*.png=Nonn-Color' film
: >plain
gives cache-dir 2 says "a file, not a folder" -- make -d "$work/plain" film/tex/wood_color.png
# A relative cache-dir is relative to each image's folder, so only there it turns out to be a file.
mkdir -p in-place/tex && cp "$golden/rgb8.png" in-place/tex/ && echo x >in-place/tex/taken
echo 'cache-dir = taken' >in-place/.txmill
txm make in-place/tex
check relative-says eval 'rc_is 2 && says "tex/taken: a folder is needed, but this is a file; choose another folder with --cache-dir"'
check relative-stays test "$(cat in-place/tex/taken)" = x
echo "cache-dir = $PWD/in-place/tex/taken" >in-place/.txmill
gives absolute-names-the-line 2 says "in-place/.txmill:1: cache-dir " says "is a file, not a folder" -- make in-place/tex
rm in-place/.txmill
run env TXMILL_CACHE_DIR="$PWD/in-place/tex/taken" "$TXMILL" make in-place/tex
check names-the-variable eval 'rc_is 2 && says "TXMILL_CACHE_DIR: cache-dir "'

# ---- failures of a run are objects, reports are red ---------------------------------------------------------------------
for how in "--ocio nosuch.ocio" "--working-space Nowhere" "-c sRGBB" "--device cuda:99"; do
    # shellcheck disable=SC2086
    txm make --json --log run.jsonl $how film/tex/wood_color.png film/tex/deep/wood_normal.png
    [ "$rc" -ne 0 ] || continue # a machine with a hundred GPUs
    check "run-error${how// /}-object" json out 'any(x["type"] == "error" and x["error"]["message"] for x in o)'
    check "run-error${how// /}-log" json run.jsonl 'any(x["type"] == "error" for x in o)'
    if has_jsonschema; then check "run-error${how// /}-schema" valid_json make out; fi
    gives "run-error${how// /}-report" 0 reports 'o[0]["verdict"] == "failed"' -- report --json run.jsonl
    rm -f run.jsonl
done
printf '{"schema":"txmill.make","version":1,"type":"summary","inputs":0,"created":0,"would_create":0,"up_to_date":0,"skipped":0,"failed":0,"not_started":0,"tx_bytes":0,"seconds":0,"exit_code":0}\n' >nothing.jsonl
gives nothing-done 0 reports 'o[0]["verdict"] == "nothing-done"' -- report --json nothing.jsonl
for command in info verify resolve list view make plan check; do
    txm $command --json no/such/file.tx
    check "$command-error-object" json out 'len(o) > 0 or True'
    txm $command --json --no-such-option
    check "$command-usage-object" json out 'o[0]["type"] == "error" and "no-such-option" in o[0]["error"]["message"]'
done

# ---- runs without work say so ----------------------------------------------------------------------------------------
mkdir empty
for command in make check resolve "plan --shards 2"; do
    # shellcheck disable=SC2086
    gives "empty-folder-${command%% *}" 2 says "empty" -- $command empty
    # shellcheck disable=SC2086
    gives "glob-${command%% *}" 2 says "no file matches this pattern" -- $command 'film/tex/*.tga'
done
: >list && txm make @list
check empty-list rc_is 2
check empty-list-says says "the list is empty"
gives windows 2 says "is a Windows path" -- make 'C:\textures\wood.png'

# ---- check ---------------------------------------------------------------------------------------------------------------
gives check-ready 0 prints "ready to render: 2 of 2 textures fresh" -- check film
touch -d '2020-01-01' film/tex/wood_color.png
cp "$golden/tile64.png" film/tex/new.png
gives check 5 prints "not ready to render: 1 of 3 textures fresh, 1 outdated, 1 missing; run: txmill make" \
    prints "film/tex/new.png: missing" -- check film
gives check-json 5 reports 'o[-1]["ready"] is False and o[-1]["outdated"] == 1 and o[-1]["missing"] == 1' -- check --json film
if has_jsonschema; then check check-schema valid_json check out; fi
gives check-ignore 0 -- check film --ignore outdated --ignore missing
gives check-ignore-unknown 2 -- check --ignore nonsense film
txm make -q film
gives check-lint 0 prints "grey-rgb" prints "ready to render: " -- check --lint film
gives check 0 reports 'all(x["severity"] == "note" for x in o if x.get("id") == "grey-rgb")' \
    reports 'all("-" not in key for x in o for key in x)' -- check --lint --json film
cp "$TXM_TESTDATA"/blend/materials.blend . && cp -r "$TXM_TESTDATA"/blend/textures . && chmod -R u+w textures
gives check-scene 5 prints "run: txmill make materials.blend" -- check materials.blend
txm make -q materials.blend
txm check materials.blend
check check-scene-after test "$(grep -c ' missing' out)" -eq 0

# ---- doctor, colours, letters --------------------------------------------------------------------------------------------
gives doctor 0 -- doctor
check doctor-image-library grep -qE '^library +OpenImageIO +[0-9]+\.[0-9]+\.[0-9]+ \(/.*/txmill-oiio-worker\)$' out
check doctor-decoders grep -qE '^library +libjpeg-turbo +[0-9]' out
cp "$TXM_BUILD/txmill-oiio-worker" worker-file && ./worker-file --version >version
check worker-version-to-a-file grep -q . version
rm worker-file version
for word in txmill libtiff "OpenColorIO    2." "OpenEXR        3." libpng cpu "open files" processes "memory " "this folder"; do check "doctor-$word" prints "$word"; done
check doctor-file-system grep -qE "^files +this folder +$work: $(stat -f -c %T . | sed "s,ext2/ext3,ext4,"), [0-9.]+ [kMGT]?B free, writable" out
mkdir doctored && printf "cache-dir = %s/doctored\n" "$work" >doctored/.txmill
(cd doctored && txm doctor && grep -q "cache folder   $work/doctored: " "$work/out")
check doctor-cache-folder rc_is 0
rm -r doctored
mkdir plugins && cp "$TXM_BUILD/txmill-oiio-worker" plugins/ && echo noise >plugins/txmill-oiio.so
TXMILL_PLUGINS=$work/plugins txm doctor
check doctor-broken-module test "$rc $(grep -c 'OpenImageIO .*cannot load it: .*txmill-oiio.so' out)" = "5 1"
rm -r plugins
# What Blender reads and this OpenImageIO does not, or otherwise.
txm doctor
check doctor-missing-formats grep -qE '^library +not readable +AVIF and HEIC; Blender reads them' out
TXMILL_PLUGINS=$TXM_BUILD/tests/decoders txm doctor
check doctor-more-missing-formats prints "AVIF and HEIC, JPEG 2000, Targa; Blender"
check doctor-old-formats prints 'DDS with the sRGB formats of DXGI (refused)'
printf '\0\0\0\40ftypavif\0\0\0\0avifmif1miafMA1B' >leaf.AVIF
gives lacks-format 3 says 'leaf.AVIF: a HEIF image, if its name is right, and OpenImageIO 3.1.' \
    says 'is built without that format; save it as PNG, TIFF or OpenEXR' -- make leaf.AVIF
if command -v taskset >/dev/null; then
    run taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "$TXMILL" doctor
    check doctor-one-thread grep -qE '^device +cpu +1 thread, ' out
fi
# Options exist only in commands that use them.
txm --color always check .
check option-before-command says "--color: options come after the command, as in txmill check --color"
# The singular is used for one.
printf 'P6\n1 1\n255\nabc' >one.ppm
txm make --json --log one.jsonl -o one.tx one.ppm
gives one-level 0 prints ", 1 level, " -- make -f -o one.tx one.ppm
gives one-level-info 0 prints " px, 1 level, tiles" -- info one.tx
txm make --json --log as-is.jsonl one.ppm
gives one-as-it-is 0 says "1 used as it is" -- report one.jsonl as-is.jsonl
rm one.* as-is.jsonl
txm doctor --json
if has_jsonschema; then check doctor-schema valid_json doctor out; fi
OCIO=$work/none.ocio txm doctor
check doctor-notes prints "config     not used       \$OCIO: $work/none.ocio"
gives doctor-finds 5 prints none.ocio -- doctor --ocio "$work/none.ocio"
txm verify --color always "$(find film -name 'wood_color*.tx' -path '*cache*')"
check color-always grep -q $'\033' out
txm verify --color never "$(find film -name 'wood_color*.tx' -path '*cache*')"
check color-never test "$(grep -c $'\033' out)" -eq 0
gives color-bad 2 says "must be auto, always or never" -- verify --color sometimes x

# A letter has the same meaning in all commands, except that -v is the coordinate in commands with -u.
for command in $("$TXMILL" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
    "$TXMILL" "$command" --help --all | sed -n 's/^  -\([A-Za-z]\), --\([a-z-]*\).*/\1 \2/p'
done | sort -u >letters
check letters-many test "$(wc -l <letters)" -gt 15
check letters-coordinates grep -qx 'v v' letters
check letters-one-meaning test -z "$(grep -vx 'v v' letters | cut -d' ' -f1 | uniq -d)"
txm colorspaces --names
check names-alone grep -qx "Non-Color" out
finish
