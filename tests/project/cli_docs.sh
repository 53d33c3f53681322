#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Help, manual pages and completion exist for every command, have no faults, and agree.
# Plain builds only: it looks at documents
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}

gives help 0 -- --help
commands=$(sed -n 's/^  \([a-z]*\)  .*/\1/p' out)
check help-lists-commands test "$(wc -w <<<"$commands")" -ge 2
txm --version
check version grep -qE '^txmill [0-9]+\.[0-9]+\.[0-9]+$' out
txm help make
check help-command prints "Usage: txmill make"

# One screen has what most people need; the rest is in --help --all. The name of the manual's page may take a line more.
verbs=$("$TXMILL" stream --help | sed -n 's/^  \([a-z]*\)  .*/stream \1/p')
check verbs test "$(wc -l <<<"$verbs")" -ge 4
while read -r c; do
    # shellcheck disable=SC2086
    txm $c --help
    sed '/^The manual is/,$d' out >lines
    check "one-screen-${c// /-}" eval 'rc_is 0 && test "$(wc -l <lines)" -le 28 && ! grep -q ".\{81\}" lines'
    check "names-the-rest-${c// /-}" eval 'prints "--help --all" && prints "The manual is txmill-${c%% *}(1)"'
done <<<"$commands
$verbs"
txm make --help
check usual-not-rare eval 'prints "--preset" && ! prints "--store"'
check rare-counted test "$(grep -oP 'lists \K[0-9]+(?= more options)' out)" = "$(($("$TXMILL" make --help --all | grep -cE "^  (-.,|   ) --") - $(grep -cE "^  (-.,|   ) --" out)))"
for line in "help make --all" "make --help --all" "make -h x --all"; do
    # shellcheck disable=SC2086
    txm $line
    check "help-all-${line// /}" eval 'rc_is 0 && prints --store'
done
gives help-all 0 prints "Every day:" -- --help --all
gives all-is-no-option 2 -- make --all x

# A verb has the options that it accepts, and those that it refuses are not in its help.
for verb in render budget play view; do
    "$TXMILL" stream "$verb" --help --all >verb
    check "verb-$verb" grep -qF "Usage: txmill stream $verb [OPTION...] SCENE" verb
    for o in --output --heat-level --heat-misses --heat-passes --heat-tiles --strip --html --trace --tiles --path --rest --warm-up --keys --virtual; do
        value=FILE
        case $o in --path) value=orbit ;; --rest | --warm-up | --keys) value=2 ;; --virtual) value= ;; esac
        # shellcheck disable=SC2086
        run "$TXMILL" stream "$verb" no-such-scene $o $value
        refused=no && says "use 'txmill stream" && refused=yes
        listed=yes && { grep -qE -- "^ .* $o( |$)" verb || listed=no; }
        case $verb$o in
            render--path | budget--path | render--[rwkv]* | budget--[rwkv]*) check "verb-$verb$o" test $listed = no ;; # no effect
            *) check "verb-$verb$o" test $refused != $listed ;;
        esac
    done
done
check verb-help-word test "$("$TXMILL" help stream play)" = "$("$TXMILL" stream --help play)"

# The median of five, since a single slow start on a busy machine means nothing.
starts=$(for _ in 1 2 3 4 5; do
    a=$(date +%s%N); "$TXMILL" --help >/dev/null; b=$(date +%s%N)
    echo $(((b - a) / 1000))
done | sort -n | sed -n 3p)
echo "note txmill --help took $starts us"

long_options() { grep -oE -- '--[a-z][a-z0-9-]*' | sort -u; }
for c in $commands; do
    gives "$c-help" 0 -- "$c" --help --all
    long_options <out | grep -vxE -- '--(help)' >options
    check "$c-page" test -s "$build/man/txmill-$c.1"
    if command -v mandoc >/dev/null; then
        # As plain text, without overstrikes.
        mandoc -Tascii "$build/man/txmill-$c.1" | sed 's/.\x08//g' >page
        missing=$(while read -r o; do grep -qF -e "$o" page || echo "$o"; done <options)
        check "$c-page-has-options" test -z "$missing"
        check "$c-page-has-exit-codes" grep -q "TXMILL-ERROR" page
    fi
    check "$c-in-manual" grep -qF "| \`txmill $c\` |" "$repo/docs/index.md"
    check "$c-in-main-page" grep -q "txmill-$c 1" "$build/man/txmill.1"
done
if command -v mandoc >/dev/null; then
    for page in "$build"/man/*.[135]; do
        # mandoc does not find the other pages, because they are not installed.
        mandoc -Tlint -Wstyle "$page" 2>&1 | grep -v 'referenced manual not found\|outdated mandoc.db' >out
        check "lint-$(basename "$page")" test ! -s out
    done
    # The manual for a browser: each command has its page, and no link leads nowhere.
    run "$repo/man/html.sh" html "$build"/man/*.[135]
    check html-man rc_is 0
    check html-commands test "$(for c in $commands; do [ -s "html/txmill-$c.1.html" ] || echo "$c"; done)" = ""
    check html-links test "$(cat html/*.html | grep -oP 'href="\K[^"#]+' | grep -v : | sort -u | while read -r l; do [ -e "html/$l" ] || echo "$l"; done)" = ""
else
    skip lint "mandoc is not installed"
fi

# The manual: every link leads somewhere, every command and option that it names exists, and the index leads to every page.
run python3 "$repo/tests/project/doc_words.py" "$TXMILL" "$repo/README.md" "$repo"/docs/*.md
check manual-words eval 'rc_is 0 && test ! -s out'
for page in "$repo"/docs/*.md; do
    name=$(basename "$page")
    [ "$name" = index.md ] || check "manual-index-$name" grep -qF "($name)" "$repo/docs/index.md"
done
check readme-lines test "$(wc -l <"$repo/README.md")" -le 150
check architecture-lines test "$(wc -l <"$repo/docs/architecture.md")" -le 150
# shellcheck disable=SC2016
printf '# Bad\n[a](none.md) [b](#none) `txmill mkae x` `txmill make --colour x` `--no-such` `src/no.c`\n\n    txmill info -Q x | txmill gc --delete\n' >bad.md
run python3 "$repo/tests/project/doc_words.py" "$TXMILL" bad.md
check manual-mistakes test "$(wc -l <out)" -eq 7
for python in python3 /usr/bin/python3; do "$python" -c 'import markdown' 2>/dev/null && break; python=; done
if [ -n "$python" ]; then
    run "$python" "$repo/docs/to_html.py" doc/manual "$repo"/docs/*.md
    check html-manual rc_is 0
    cp -r "$repo/examples" doc/ && mkdir doc/man
    for page in "$build"/man/*.[135]; do : >"doc/man/$(basename "$page").html"; done
    run python3 - doc/manual <<'PY'
import pathlib, re, sys
for page in pathlib.Path(sys.argv[1]).glob("*.html"):
    for target in re.findall(r'(?:href|src)="([^"]+)"', page.read_text()):
        path, _, part = target.partition("#")
        file = page.parent / path if path else page
        if "://" not in target and (not file.exists() or part and 'id="%s"' % part not in file.read_text()):
            print(page.name, target)
PY
    check html-manual-links test ! -s out
    check html-manual-man grep -qF '<a href="../man/txmill-make.1.html">txmill-make(1)</a>' doc/manual/index.html
else
    skip html-manual "Python-Markdown is not installed"
fi

# The pages of the libraries list every header, and name nothing that does not exist.
for h in $(grep -l '^#define TX' "$repo"/include/*/*.h); do # older names of headers define nothing
    name=${h#"$repo/include/"}
    [ "$name" = txtile/export.h ] || check "$(basename "$h")-in-section-3" \
        grep -qE "^\.It In (.* In )?$name( |\$)" "$build/man/txtile.3" "$build/man/txmill.3"
done
run sh -c "grep -ohE 'txm_[a-z0-9_]+|TXM_[A-Z_]+' '$build'/man/*.3 | sort -u | while read -r n; do
    grep -rqw \"\$n\" '$repo/include' '$build/gen/include' || echo \"\$n\"; done"
check section-3-names-what-is-there test ! -s out

# ---- completion ------------------------------------------------------------------------------------------------------
PATH=$(dirname "$TXMILL"):$PATH
check bash-syntax bash -n "$build/completion/txmill.bash"
# shellcheck disable=SC1091
. "$build/completion/txmill.bash"
completes() { # NAME WORD... -- EXPECTED...: the last WORD is being completed
    local name=$1
    shift
    COMP_WORDS=()
    while [ "$1" != -- ]; do COMP_WORDS+=("$1"); shift; done
    shift
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _txmill
    check "bash-$name" test "$(printf '%s\n' "${COMPREPLY[@]}" | sort | xargs)" = "$(printf '%s\n' "$@" | sort | xargs)"
}
mkdir folder && touch image.png
completes command txmill ma -- make
completes option txmill make --al -- --alpha-type
completes value txmill make --alpha-type pre -- premultiplied
completes value-after-equals txmill make --alpha-type = pre -- premultiplied
completes short-value txmill make -a cha -- channel_packed
completes file txmill make im -- image.png
completes folder txmill make --cache-dir fol -- folder
completes help-command txmill help inf -- info
completes nothing txmill make --attrib x --
for c in $commands; do
    txm "$c" --help --all
    long_options <out >options
    COMP_WORDS=("$TXMILL" "$c" --) COMP_CWORD=2 COMPREPLY=()
    _txmill
    check "bash-$c-all-options" test "$(printf '%s\n' "${COMPREPLY[@]}" | sort -u | xargs)" = "$(sort -u options | xargs)"
done
if command -v zsh >/dev/null; then
    check zsh-syntax zsh -n "$build/completion/_txmill"
else
    skip zsh-syntax "zsh is not installed"
fi
if command -v fish >/dev/null; then
    check fish-syntax fish -n "$build/completion/txmill.fish"
    fish_completes() { # NAME LINE EXPECTED-FIRST-WORDS
        local got
        got=$(fish -c "source '$build/completion/txmill.fish'; complete -C '$2'" | cut -f1 | sort | xargs)
        check "fish-$1" test "$got" = "$3"
    }
    fish_completes command "txmill ma" make
    fish_completes option "txmill make --alph" --alpha-type # fish 4 also offers what has these letters in this order
    fish_completes value "txmill make --alpha-type pre" premultiplied
    fish_completes short-value "txmill make -a cha" channel_packed
    fish_completes file "txmill make im" image.png
    fish_completes folder "txmill make --cache-dir fol" folder/
    fish_completes help-command "txmill help inf" info
else
    skip fish-syntax "fish is not installed"
fi
finish
