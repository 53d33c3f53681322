#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A tx file is cut short in place while it is read, or its disk fails: that file fails, and nothing else does.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
run ${CC:-cc} -O1 -Wall -Wextra -Werror -fPIC -shared "$repo/tests/tile/reader/cut_preload.c" -o cut.so
check preload-compiles rc_is 0
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0
cp "$golden"/{rgb8.png,half-rgb.exr} .
"$TXMILL" make -q -o one.tx rgb8.png && "$TXMILL" make -q -o three.tx rgb8.png
"$TXMILL" make -q --borders=yes -o rgb8.whole rgb8.png && "$TXMILL" make -q -o half.whole half-rgb.exr
ls *.whole >/dev/null || not_ok wholes

# with_cut HOW AT COMMAND...: two.tx is whole before; `mark` is empty unless it was cut.
with_cut() {
    local how=$1 at=$2
    shift 2
    cp "$whole" two.tx && touch -r "$whole" two.tx && : >mark
    run env CUT_FILE="$work/two.tx" CUT_HOW="$how" CUT_AT="$at" CUT_MARK="$work/mark" LD_PRELOAD="$work/cut.so" \
        timeout 60 "$TXMILL" "$@"
}

# at_all_places NAME HOW COMMAND...: wherever the file is cut, the command fails with an exit code that means "try
# again" and a message that names the file. It may succeed only if the cut comes after its last read; then its output is
# as usual.
at_all_places() {
    local name=$1-$2-${whole%.whole} how=$2 bad=0 failed=0
    shift 2
    with_cut none none "$@"
    mv out out.whole
    [ ! -e out.png ] || mv out.png whole.png
    # Cuts at each of the first reads, then at some later ones.
    for ((at = 0; at < 100; at += at < first ? 1 : step)); do
        rm -f out.png
        with_cut "$how" $at "$@"
        [ -s mark ] || break
        if [ $rc -eq 0 ] && cmp -s out out.whole && { [ ! -e whole.png ] || cmp -s out.png whole.png; }; then continue; fi
        if [ $rc -eq 4 ] && says 'two.tx: ' && [ ! -e out.png ]; then
            failed=$((failed + 1))
            continue
        fi
        bad=$((bad + 1))
        echo "    at $at: rc=$rc $(head -n 3 err)"
    done
    rm -f whole.png
    check "$name" test $bad -eq 0 -a $failed -ge 5
}

first=8 step=23
if thorough; then first=12 step=7; fi
for whole in rgb8.whole half.whole; do
    cp "$whole" same.tx
    for how in short io; do
        at_all_places verify $how verify -j 1 one.tx two.tx three.tx
        at_all_places verify-threads $how verify -j 2 two.tx
        at_all_places info $how info --tiles two.tx
        at_all_places diff $how diff --json same.tx two.tx
        at_all_places extract $how extract --overwrite -o out.png two.tx
    done
done
for at in 0 3; do
    whole=rgb8.whole
    with_cut short $at verify --json -j 1 one.tx two.tx three.tx
    check "others-judged-$at" json out '[x.get("good") for x in o if "good" in x] == [True, True] and len(o) == 3'
    check "error-$at" json out '[x["error"]["status"] for x in o if "error" in x] == ["changed"]'
    check "exit-$at" rc_is 4
    check "says-$at" says "two.tx: became shorter while it was open"
    check "last-line-$at" last_line_is "TXMILL-ERROR code=4 failed=1 total=3"
    with_cut io $at verify --json -j 1 one.tx two.tx three.tx
    check "io-error-$at" json out '[x["error"]["status"] for x in o if "error" in x] == ["io"] and len(o) == 3'
    check "io-says-$at" says "two.tx: a part of it cannot be read"
done
# A SIGBUS that was sent by another process ends the program as usual.
mkfifo list
"$TXMILL" make @list >/dev/null 2>&1 &
exec 3>list
kill -BUS $!
wait $! 2>/dev/null
rc=$?
exec 3>&-
check sent rc_is 135
finish
