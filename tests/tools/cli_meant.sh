#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Mistakes of new users: help, names instead of a command, images instead of tx files, patterns in quotes.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir -p tex/deep && cp "$golden"/{rgb8,tile64}.png tex/ && cp "$golden/gray8.png" 'tex/deep/a grey.png'

# ---- help ------------------------------------------------------------------------------------------------------------
txm
check alone-exit rc_is 2
check alone-last last_line_is "TXMILL-ERROR code=2 failed=0 total=0"
check alone-first-group test "$(sed -n '/^Every day:/,/^$/p' out | grep -c '^  [a-z]')" -eq 9
check alone-first test "$(grep -m 1 '^[A-Z][a-z ,]*:$' out)" = "Every day:"
check alone-all test "$(grep -c '^  [a-z]*  *[A-Z]' out)" -eq "$(grep -c '^COMMAND' "$repo/tools/commands.def")"
commands=$(sed -n 's/^COMMAND(\(.*\))$/\1/p' "$repo/tools/commands.def")
for c in $commands; do
    txm "$c" --help
    check "help-$c-examples" test "$(sed -n '/^Examples:/,/^$/p' out | grep -c "^  txmill $c")" -ge 2
    check "help-$c-settings" prints .txmill
    # The commands that help shows must at least be valid: unknown options are refused before any file is read.
    sed -n "s/^  txmill $c */$c /p" out >lines
    while read -r line; do
        # shellcheck disable=SC2086
        run timeout 5 "$TXMILL" $line --help
        check "help-$c-works" rc_is 0
    done <lines
done

# ---- the right command for a file ------------------------------------------------------------------------------------
meant() { # NAME LINE ARGUMENT...
    local name=$1 line=$2
    shift 2
    txm "$@"
    check "$name" eval 'rc_is 2 && grep -qx "txmill: error: .* is not a command; did you mean: $line" err'
}
meant file "txmill make tex/rgb8.png" tex/rgb8.png
meant no-file "txmill make foo.png" foo.png
meant folder "txmill make tex" tex
meant files "txmill make tex/rgb8.png tex/tile64.png -j 2" tex/rgb8.png tex/tile64.png -j 2
meant spaces "txmill make \"tex/deep/a grey.png\"" 'tex/deep/a grey.png'
meant convert "txmill make x.png" convert x.png
meant maketx "txmill make x.png" maketx x.png
meant scene "txmill make shot.blend" shot.blend
meant tx "txmill info a.tx" a.tx
gives unknown 2 says "unknown command frobnicate; 'txmill --help' lists the commands" -- frobnicate

# ---- patterns in quotes ------------------------------------------------------------------------------------------------
gives pattern-make 0 reports 'len([x for x in o if x["type"] == "file"]) == 2' -- make --json 'tex/*.png'
check pattern-exit rc_is 0
txm info --json 'tex/blender_tx/*.tx' 'tex/rgb8.pn?'
check pattern-info test "$rc $(wc -l <out)" = "0 3"
gives pattern-none 2 says "tex/*.tga: no file matches this pattern" -- make 'tex/*.tga'
cp tex/rgb8.png 'tex/[a].png' && cp tex/rgb8.png tex/a.png
txm make --json 'tex/[a].png'
check pattern-is-a-name json out 'o[0]["path"] == "tex/[a].png" if "path" in o[0] else "[a]" in json.dumps(o[0])'
rm tex/*a*.png

# ---- an image instead of its tx file ---------------------------------------------------------------------------------
"$TXMILL" make -q tex
for c in info verify sample "view -F symbols" tile; do
    # shellcheck disable=SC2086
    gives "image-${c%% *}" 0 says "tex/rgb8.png: its tx file is tex/blender_tx/rgb8.png.0-" -- $c tex/rgb8.png
done
gives image-with-space 0 -- info 'tex/deep/a grey.png'
cp tex/rgb8.png lone.png
txm info lone.png
check image-without eval "rc_is 3 && says \"lone.png: is a PNG image without a tx file; 'txmill make lone.png' makes one\""
mkdir show && cp tex/rgb8.png show/ && echo 'cache-dir = elsewhere' >show/.txmill && "$TXMILL" make -q show/rgb8.png
gives image-of-project 0 says "its tx file is show/elsewhere/rgb8.png.0-" -- info show/rgb8.png
# Of several tx files, the one that the settings choose; verify looks at all.
mkdir several && cp "$golden/rgb8.png" several/a.png
for c in sRGB Non-Color "Linear Rec.2020"; do "$TXMILL" make -q -c "$c" several/a.png; done
for c in "info" "extract -o several.png" "tile -l 0 -t 0,0 -o several-tile.png" "sample -u 0 -v 0"; do
    # shellcheck disable=SC2086
    txm $c several/a.png
    check "several-${c%% *}" eval 'rc_is 0 && says "its tx file is several/blender_tx/a.png.0-926BDA" && [ "$(grep -c "for other settings" err)" -eq 2 ]'
done
echo 'rule = a.*=Non-Color' >several/.txmill
gives several-rule 0 says "its tx file is several/blender_tx/a.png.0-DE5E0B" -- info several/a.png
txm verify several/a.png
check several-verify test "$(grep -c ': good' out)" -eq 3
# A tx file under an image's name is accepted.
cp tex/blender_tx/rgb8*.tx pretender.tif
gives image-is-tx 0 -- info pretender.tif

# ---- advice that is pasted ---------------------------------------------------------------------------------------------
# Every command in a message works in a shell, whatever the name is: it makes the tx file that the message is about.
mkdir paste && ln -s "$TXMILL" paste/txmill && pasted() { PATH=$work/paste:$PATH bash -c "$1 -q"; }
for name in 'two words.png' "it's.png" 'a"b$HOME`x`!.png' -c.png '- x.png' $'new\nline.png' $'esc\x1b\xff.png' 'back\slash.png' '#x~*[1].png'; do
    for c in info "view -F symbols" tile check stream; do
        rm -rf blender_tx && cp "$golden/gray8.png" "./$name"
        case $c in
        stream) txm stream budget room "./$name" && advice=$(LC_ALL=C sed -n "s/.*; make it with '\(txmill make .*\)'$/\1/p" err | head -1) ;;
        check) txm check -- "$name" && advice=$(LC_ALL=C sed -n 's/.*; run: //p' out) ;;
        # shellcheck disable=SC2086
        *) txm $c -- "$name" && advice=$(LC_ALL=C sed -n "s/.*; '\(txmill make .*\)' makes one$/\1/p" err) ;;
        esac
        check "paste-${c%% *}-$(printf %q "$name")" eval 'pasted "$advice" && test -n "$(ls blender_tx/*.tx)"'
        rm -f "./$name"
    done
done
rm -rf blender_tx
# A file that begins like an option is named, and never taken for one.
for odd in -entwurf.png -d.png -o.png --force.png; do
    cp "$golden/gray8.png" "./$odd"
    for c in make check info resolve; do
        txm $c "$odd"
        check "dash-$c$odd" eval 'rc_is 2 && says "error: $odd: is a file here, but is read as an option; for the file write ./$odd, or -- before"'
    done
    rm -f "./$odd"
done
for word in "-preset pbr" -force -deep -dry-run -preset=pbr; do
    # shellcheck disable=SC2086
    txm make tex $word
    check "one-dash${word// /}" eval 'rc_is 2 && says "did you mean -$(cut -d" " -f1 <<<"${word%=*}")"'
done

# ---- folders -----------------------------------------------------------------------------------------------------------
for c in info verify resolve "borders --check"; do
    # shellcheck disable=SC2086
    gives "below-${c%% *}" 0 prints "a grey.png" -- $c tex
done
gives below-check 0 prints "3 of 3 textures fresh" -- check tex
gives below-make 0 says "3 up to date" -- make -n tex

# ---- arguments are read in order -------------------------------------------------------------------------------------
"$TXMILL" info tex/rgb8.png lone.png >both 2>&1
check stdout-first test "$(grep -n 'SHA-1\|is a PNG image' both | sed 's/:.*\(SHA-1\|is a PNG\).*/ \1/' | cut -d' ' -f2 | xargs)" = "SHA-1 is"
if has_terminal; then
    on_terminal 80x24 bash -c '"$0" make --force tex | cat' "$TXMILL"
    check no-progress-beside-a-pipe test "$(grep -c 'examining\|% ' out)" -eq 0
    on_terminal 80x24 "$TXMILL" make --force tex
    check progress-otherwise grep -q 'examining' out
fi

# ---- names -------------------------------------------------------------------------------------------------------------
cp tex/rgb8.png tex/Wood.PNG
for c in make check resolve; do
    gives "case-$c" 3 says "Wood.PNG exists, wood.png does not" -- $c tex/wood.png
done
rm tex/Wood.PNG
mkdir other && cp "$TXM_TESTDATA/blend/materials.blend" other/ && cp -r "$TXM_TESTDATA/blend/textures" other/
mv other/textures/wood.png other/textures/Wood.PNG
txm make -n other/materials.blend
check case-in-scene says "does not exist; Wood.PNG does: upper and lower case are different here"
gives output-hint 0 says "-o oak.tx: Cycles does not look for a file of this name" -- make -o oak.tx tex/rgb8.png
txm make -o "copy/$(basename tex/blender_tx/rgb8*.tx)" tex/rgb8.png
check output-no-hint eval '! says "will not look for"'
txm info oak.tx
check made-by-txmill grep -q '^  made by  *txmill, in the format of Blender maketx v0$' out
"$TXMILL" make -q --strict -o strict.tx tex/rgb8.png
txm info strict.tx
check made-by-strict grep -q '^  made by  *txmill, ' out
txm info --json strict.tx
check made-by-json json out 'o[0]["made_by"] == "txmill" and o[0]["software"] == "Blender maketx v0"'

# ---- completion --------------------------------------------------------------------------------------------------------
offers() { # WORD: the completions for an operand of make
    # shellcheck disable=SC1091
    ( . "$(dirname "$TXMILL")/completion/txmill.bash"
      COMP_WORDS=("$TXMILL" "${command:-make}" "$1") COMP_CWORD=2 COMPREPLY=()
      _txmill
      printf '[%s]' "${COMPREPLY[@]}" )
}
check complete-space test "$(offers tex/deep/a)" = "[tex/deep/a grey.png]"
check complete-escaped test "$(offers 'tex/deep/a\ g')" = "[tex/deep/a grey.png]"
check complete-quoted test "$(offers "'tex/deep/a g")" = "[tex/deep/a grey.png]"
check complete-folder-space test "$(mkdir 'two words' && offers two)" = "[two words]"
check complete-stream test "$(command=stream offers '')" = "[render][budget][play][view]"

# ---- advice ------------------------------------------------------------------------------------------------------------
echo text >notes.txt
txm gc notes.txt
check advice-gc test "$(grep -c 'images can be saved' err)" -eq 0
head -c 3000 tex/blender_tx/rgb8*.tx >cut.tx
txm info cut.tx
check advice-cut eval 'rc_is 3 && says "make these tx files again" && ! says "save or copy"'
head -c 3000 tex/rgb8.png >cut.png
gives advice-image 3 says "save or copy these files again" -- make cut.png
finish
