#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Completion in live shells: the right kinds of files for each option and command, colour spaces, all options.
# Plain builds only: it looks at the completion of shells
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
bin=$(dirname "$TXMILL") scripts=$(dirname "$TXMILL")/completion
mkdir place && cd place || exit 1
cp "$golden/rgb8.png" wood.png && touch UPPER.EXR notes.txt shot.blend run.jsonl page.html old.tx config.ocio && mkdir folder
all="UPPER.EXR config.ocio folder/ notes.txt old.tx page.html run.jsonl shot.blend wood.png"
images="UPPER.EXR folder/ shot.blend wood.png"
aces=$("$TXMILL" colorspaces --names | sed -n '/^ACES/{s/ /\\ /g;p}' | sort -u | xargs) # one more with OpenColorIO 2.4
both="UPPER.EXR folder/ old.tx wood.png" # tx files, or the images they were made from

# LINE|WORDS: the completions at the end of the line.
cat >"$work/cases" <<CASES
txmill make |$images
txmill check |$images
txmill plan |$images
txmill resolve |$images
txmill refresh |$images
txmill watch |folder/
txmill info |$both
txmill verify |$both
txmill borders |folder/ old.tx
txmill tile |$both
txmill sample |$both
txmill extract |$both
txmill view |$both
txmill gc |folder/ old.tx
txmill diff |$all
txmill list |folder/ shot.blend
txmill report |folder/ run.jsonl
txmill make --log |folder/ run.jsonl
txmill stream |budget play render view
txmill stream r|render
txmill make --ocio |config.ocio folder/
txmill make --cache-dir |folder/
txmill make --rules |$all
txmill view --html |folder/ page.html
txmill verify --source |$images
txmill gc --keep-for |$images
txmill make --colorspace ACES|$aces
txmill make --working-space ACES|$aces
txmill make --compression |none zip zstd
txmill make --device |auto cpu cuda opencl
txmill check --ignore out|outdated
txmill make --preset |none pbr
txmill make --color |always auto never
txmill make --help --|--all
txmill stream play -h --a|--all
txmill help make --|--all
CASES
commands=$("$TXMILL" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
options_of() { "$TXMILL" "$1" --help --all | grep -oE -- '^  (-.,|   ) --[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' | sort | xargs; }
name_of() { echo "$1" | sed 's/^txmill //; s/ *$//; s/[ -]\+/-/g'; }

if command -v bash >/dev/null; then
    bash_offers() {
        # shellcheck disable=SC2016
        env "PATH=$bin:$PATH" bash -c '. "$1/txmill.bash"; read -ra COMP_WORDS <<<"$2"; [[ $2 != *" " ]] || COMP_WORDS+=("")
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _txmill; for w in "${COMPREPLY[@]}"; do [ -d "$w" ] && w+=/; echo "$w"; done' \
            sh "$scripts" "$1" | sort -u | xargs
    }
    while IFS='|' read -r line want; do
        got=$(bash_offers "$line")
        check "bash-$(name_of "$line")" test "$got" = "$want"
        [ "$got" = "$want" ] || echo "    got: $got"
    done <"$work/cases"
    # Names of a stranger's config become words of the command line, and nothing in them is run.
    mkdir "$work/fake" && printf '%s\n' 'a;touch RAN' 'b$(touch RAN)' 'c`touch RAN`' "d';touch RAN;'" 'e "f"' 'g\h' >"$work/names"
    printf '#!/bin/sh\ncase $* in *--names*) exec cat "%s" ;; esac\nexec "%s" "$@"\n' "$work/names" "$TXMILL" >"$work/fake/txmill" && chmod +x "$work/fake/txmill"
    # shellcheck disable=SC2016
    env "PATH=$work/fake:$PATH" bash -c '. "$1/txmill.bash"; COMP_WORDS=(txmill make --colorspace ""); COMP_CWORD=3; _txmill
        eval "words=(${COMPREPLY[*]})"; printf "%s\n" "${words[@]}"' sh "$scripts" >"$work/offered"
    check bash-hostile-names cmp -s "$work/offered" "$work/names"
    check bash-hostile-nothing-run test ! -e RAN
fi

if command -v fish >/dev/null; then
    fish_offers() { env "PATH=$bin:$PATH" fish -c "source '$scripts/txmill.fish'; complete -C '$1'" | cut -f1 | sort -u | xargs; }
    while IFS='|' read -r line want; do
        got=$(fish_offers "$line")
        # Shells quote blanks in different ways, so the order differs.
        check "fish-$(name_of "$line")" test "$(xargs -n 1 <<<"$got" | sort)" = "$(xargs -n 1 <<<"$want" | sort)"
        [ "$got" = "$want" ] || echo "    got: $got"
    done <"$work/cases"
    for c in $commands; do
        check "fish-$c-options" test "$(fish_offers "txmill $c --")" = "$(options_of "$c")"
    done
    check fish-commands test "$(fish_offers "txmill ")" = "$(printf '%s\n' $commands help | sort | xargs)"
else
    skip fish "fish is not installed"
fi

if command -v zsh >/dev/null && has_terminal; then
    { cut -d'|' -f1 "$work/cases"; for c in $commands; do echo "txmill $c --"; done; echo "txmill "; } >"$work/lines"
    timeout 120 zsh "$repo/tests/tools/complete.zsh" "$scripts" "$bin" <"$work/lines" 2>"$work/zsh.err" |
        sed 's/\x1b\[[0-9;?]*[A-Za-z]//g; s/\r/\n/g' >"$work/zsh.out"
    # Completes a line and prints the result as words.
    zsh_shows() { awk -v line="=== $1" '$0 == line { on = 1; next } /^=== / { on = 0 } on' "$work/zsh.out" | tr -s ' ' '\n' | sed 's/=$//; s/\\$//'; }
    while IFS='|' read -r line want; do
        zsh_shows "$line" >"$work/shown"
        missing='' extra=''
        for w in $want; do grep -qxF -e "$w" "$work/shown" || missing="$missing $w"; done
        case $line in *" ") for w in $all; do
            [[ " $want " == *" $w "* ]] || ! grep -qxF -e "$w" "$work/shown" || extra="$extra $w"
        done ;; esac
        check "zsh-$(name_of "$line")" test -z "$missing$extra"
        [ -z "$missing$extra" ] || echo "    missing:$missing, too many:$extra"
    done <"$work/cases"
    for c in $commands; do
        zsh_shows "txmill $c --" >"$work/shown"
        missing=''
        for w in $(options_of "$c"); do grep -qxF -e "$w" "$work/shown" || missing="$missing $w"; done
        check "zsh-$c-options" test -z "$missing"
        [ -z "$missing" ] || echo "    missing:$missing"
    done
    zsh_shows "txmill " >"$work/shown"
    missing=''
    for c in $commands; do grep -qxF "$c" "$work/shown" || missing="$missing $c"; done
    check zsh-commands test -z "$missing"
else
    skip zsh "zsh or a pseudo-terminal is missing"
fi
finish
