#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill view: formats for the terminal, pages for the browser (tests/tools/view_pages.py tests them), failures.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
unset NO_COLOR TERM_PROGRAM COLORTERM KITTY_PID VTE_VERSION
export PYTHONDONTWRITEBYTECODE=1

cp "$golden"/{rgb8.png,rgba8.png,half-rgb.exr,wide.png} .
"$TXMILL" make -q -o rgb.tx rgb8.png && "$TXMILL" make -q -o rgba.tx rgba8.png && "$TXMILL" make -q -o half.tx half-rgb.exr &&
    "$TXMILL" make -q -o wide.tx wide.png

# ---- the terminal ----------------------------------------------------------------------------------------------------
gives no-terminal 2 says "write a page with --html FILE" -- view rgb.tx
has_bytes() { LC_ALL=C grep -qaF "$(printf '%b' "$1")" out; }
for format in symbols sixel kitty; do
    TERM=xterm-256color txm view -F $format -s 60x16 rgb.tx half.tx
    check "$format-exit" rc_is 0
    check "$format-header" prints "300 x 200 px, 9 levels"
    check "$format-header-of-second" prints "half RGBA"
done
check kitty-sequence has_bytes '\e_Ga=T'
TERM=xterm-256color txm view -F sixel rgb.tx
check sixel-sequence has_bytes '\eP0;1;0q'
TERM=xterm-256color txm view -F symbols -s 60x16 rgb.tx
check symbols-coloured has_bytes '\e['
# 300 x 200 in at most 60 x 16 cells of 8 x 16 px becomes 48 x 16.
NO_COLOR=1 TERM=xterm txm view -F symbols -s 60x16 rgb.tx
check symbols-plain test "$(grep -c $'\e' out)" -eq 0
picture() { sed '/^level /,$d' out; }
check symbols-rows test "$(picture | wc -l)" -eq 16
check symbols-columns test "$(picture | wc -L)" -eq 48
NO_COLOR=1 LC_ALL=C TERM=xterm txm view -F symbols -s 60x16 rgb.tx
check symbols-ascii test "$(picture | LC_ALL=C tr -d '\n -~' | wc -c)" -eq 0
TERM=dumb txm view -F symbols rgb.tx
check symbols-dumb test "$(grep -c $'\e' out)" -eq 0
gives level 0 prints "level 3 of 9: 37 x 25 px" -- view -F symbols -l 3 -s 20x20 rgb.tx
gives level-fits 0 prints "level 1 of 9" -- view -F symbols -s 20x4 rgb.tx
gives level-fits-small 0 prints "level 3 of 9" -- view -F symbols -s 4x2 rgb.tx
# Level 0 is black at its left edge and white at its right one, so the picture is not blank.
gives wide 0 -- view -F symbols -s 30x3 wide.tx
if has_terminal; then
    in_terminal() { # NAME TERM SEQUENCE
        TERM=$2 on_terminal 60x30 "$TXMILL" view rgb.tx
        check "terminal-$1" rc_is 0
        check "terminal-$1-sequence" has_bytes "$3"
    }
    in_terminal kitty xterm-kitty '\e_Ga=T'
    in_terminal sixel foot '\eP'
    in_terminal symbols xterm-256color '\e[38;'
else
    skip terminal "no pseudo-terminal here"
fi

# ---- pages -----------------------------------------------------------------------------------------------------------
gives page 0 -- view --json --html page.html rgb.tx rgba.tx half.tx
check page-json json out '[x["levels"] == list(range(x["level_count"])) for x in o] == [True] * 3'
if has_jsonschema; then check schema valid_json view out; fi
check page-names-no-network test "$(grep -ciE '@import|url\(' page.html)" -eq 0
run python3 "$repo/tests/util/page_data.py" page.html
check page-data json out '[len(f["embedded"]) for f in o[0]["files"]] == [len(f["levels"]) for f in o[0]["files"]]'
"$TXMILL" view --html - rgb.tx rgba.tx half.tx >stdout.html
# Only a file has the digest by which txmill recognises it again.
digestless() { sed 's/txmill-seal:[0-9a-f]\{16\}/txmill-seal:0000000000000000/' "$1"; }
check page-on-stdout cmp <(digestless page.html) stdout.html
for j in 1 3; do
    "$TXMILL" view -j $j --html - rgb.tx rgba.tx half.tx >threads.html
    check "page-threads-$j" cmp stdout.html threads.html
done
gives one-missing 3 -- view --json --html page.html rgb.tx missing.tx
if has_jsonschema; then check schema-error valid_json view out; fi
check one-missing-written grep -q missing.tx page.html
rm page.html
gives all-missing 3 -- view --html page.html missing.tx
check all-missing-nothing-written test ! -e page.html
txm view --html page.html --page-size 20K --json rgb.tx rgba.tx half.tx
check size-shared json out 'sum(x["pixel_bytes"] for x in o) <= 20 << 10 and all(x["levels"] and x["levels"][0] > 0 for x in o)'
check size-bounds-page test "$(stat -c %s page.html)" -lt 150000
echo before >page.html
if [ -e /dev/full ]; then
    "$TXMILL" view --html - rgb.tx >/dev/full 2>err
    rc=$?
    check full-disk rc_is 4
    check full-disk-says says "standard output"
fi
touch file
gives no-folder 2 says "file: a folder is needed, but this is a file" -- view --json --html file/page.html rgb.tx half.tx
check no-folder-json json out 'len(o) == 2 and all("error" in x for x in o)'
check no-folder-last-line grep -q 'failed=2 total=2$' err
if has_jsonschema; then check schema-no-folder valid_json view out; fi
check other-page-untouched grep -qx before page.html
check nothing-left no_temporaries
if python3 "$repo/tests/util/browser.py" >/dev/null 2>&1; then
    mkdir pages
    (cd pages && python3 "$repo/tests/tools/view_pages.py" "$TXMILL" "$golden") >log 2>&1
    rc=$?
    cat log
    failures=$((failures + $(grep -c '^not ok' log)))
    check browser rc_is 0
else
    skip browser "chromium is not installed"
fi

# ---- failures --------------------------------------------------------------------------------------------------------
gives no-file 2 -- view
gives page-and-format 2 -- view --html page.html -F sixel rgb.tx
gives json-without-page 2 -- view --json rgb.tx
for size in 0x5 5 5x 5x5x 9999x9 -1x5; do
    gives "size-$size" 2 -- view -F symbols -s "$size" rgb.tx
done
gives no-level 2 says "rgb.tx: no level 12" -- view -F symbols -l 12 rgb.tx
gives missing 3 prints "300 x 200" -- view -F symbols missing.tx rgb.tx
crashed=0
for f in "$TXM_TESTDATA"/tx/bad-*.tx; do
    for how in "-F symbols" "--html bad.html"; do
        # shellcheck disable=SC2086
        "$TXMILL" view $how "$f" >/dev/null 2>&1
        rc=$?
        [ $rc -eq 0 ] || [ $rc -eq 3 ] || { crashed=$((crashed + 1)); echo "    rc=$rc $how $f"; }
    done
done
check hostile test $crashed -eq 0
finish
