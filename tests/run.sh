#!/usr/bin/env bash
# Runs test programs and scripts and counts their checks: run.sh BUILD_DIR TEST...
# Check programs close with "N%: Checks: C, Failures: F, Errors: E"; scripts print "ok NAME" or "not ok NAME" a check and
# "skip NAME (why)" for what this machine cannot run.
set -u
build=$1
shift
export TXMILL="$PWD/$build/txmill" TXM_BUILD="$PWD/$build" TXM_TESTDATA="$PWD/testdata"
export TXMILL_PLUGINS="$PWD/$build" CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT:-300}
if [ -z "${TXM_GOLDEN_TX:-}" ] && [ -d ../shared/golden/tx ]; then
    TXM_GOLDEN_TX=$(cd ../shared/golden/tx && pwd)
    export TXM_GOLDEN_TX
fi
# OpenImageIO and its 258 libraries are not ours to check for leaks.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for t in "$@"; do
    name=$(basename "$t")
    case $t in
        *.sh) bash "$t" >"$log" 2>&1; rc=$? ;;
        *) "$t" >"$log" 2>&1; rc=$? ;;
    esac
    case $t in
        *.sh)
            p=$(grep -c '^ok ' "$log"); f=$(grep -c '^not ok ' "$log"); s=$(grep -c '^skip ' "$log") ;;
        *)
            line=$(grep -E '^[0-9]+%: Checks:' "$log" | tail -n 1)
            c=$(sed -nE 's/.*Checks: ([0-9]+).*/\1/p' <<<"$line")
            f=$(sed -nE 's/.*Failures: ([0-9]+), Errors: ([0-9]+).*/\1+\2/p' <<<"$line")
            f=$(( ${f:-0} )) p=$(( ${c:-0} - f )) s=$(grep -c '^skip ' "$log") ;;
    esac
    # A program that crashed or ran nothing failed, whatever it counted.
    if [ $rc -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    if [ $((p + f + s)) -eq 0 ]; then f=1; fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [ "$f" -ne 0 ]; then
        echo "FAIL $name ($p passed, $f failed)"
        cat "$log"
    else
        echo "pass $name ($p)"
        grep -E '^(skip|note) ' "$log"
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
