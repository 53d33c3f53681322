#!/usr/bin/env bash
# Runs test programs and scripts and counts their checks: run.sh BUILD_DIR TEST...
# Check programs end with "N%: Checks: C, Failures: F, Errors: E". Scripts print "ok NAME" or "not ok NAME" for each check,
# and "skip NAME (why)" if this machine cannot run it. TEST_JOBS of them run at a time (default: one more than there are
# processors, because some wait), and their output is printed in the order of the arguments. With BY_ROOM=yes, one line is
# printed for each folder, besides failures and what was skipped.
set -u
build=$1
shift
export TXMILL="$PWD/$build/txmill" TXM_BUILD="$PWD/$build" TXM_TESTDATA="$PWD/testdata"
export TXMILL_PLUGINS="$PWD/$build" TXMILL_CHECK_JSON=yes CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT:-300}
if [ -z "${TXM_GOLDEN_TX:-}" ] && [ -d ../shared/golden/tx ]; then
    TXM_GOLDEN_TX=$(cd ../shared/golden/tx && pwd)
    export TXM_GOLDEN_TX
fi
if [ -z "${TXM_REAL_TX:-}" ] && [ -d ../shared/golden/real/tx ]; then
    TXM_REAL_TX=$(cd ../shared/golden/real/tx && pwd)
    export TXM_REAL_TX
fi
# A version manager's python3 is a script that takes 0.1 s to find the interpreter, which scripts call a thousand times.
python=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))' 2>/dev/null)
if [ -x "$python/python3" ] && ! [ "$(command -v python3)" -ef "$python/python3" ]; then export PATH="$python:$PATH"; fi
# The programs of OpenImageIO that belong to the library of this build.
tools=$(dirname "$(dirname "$(readlink -f "$build/libOpenImageIO.so")")")/bin
if [ -x "$tools/maketx" ]; then export PATH="$tools:$PATH"; fi
# Scripts test these for what they do differently under sanitizers.
case $build in *sanitize* | *tsan*) export SANITIZED=yes ;; esac
# A sanitizer finds errors of memory and undefined behaviour. Scripts with a line "# Plain builds only: REASON" have
# nothing to find: they examine sources, the output of compilers, or the layout of text.
plain_only() { [ -n "${SANITIZED:-}" ] && sed -n 's/^# Plain builds only: //p' "$1" | grep .; }
# Leaks in OpenImageIO and its 258 libraries do not count, nor does the way in which its texture system is deleted.
# GCC's LeakSanitizer misreads the place of thread-local memory of libraries that are loaded late, and
# crashes: intercept_tls_get_addr=0 ignores that memory. GCC 14 does not align vectors on the stack that
# detect_stack_use_after_return keeps (GCC bug 110027).
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1:new_delete_type_mismatch=0:intercept_tls_get_addr=0:detect_stack_use_after_return=0}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:suppressions=$PWD/tests/tsan.supp}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}
passed=0 failed=0 skipped=0
jobs=${TEST_JOBS:-$(($(nproc) + 1))}
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Runs test number $1, which is $2. Its output is in $1.log, and its exit code, microseconds, and seconds of processor time
# are in $1.rc once it has ended.
run() {
    local start=${EPOCHREALTIME/[.,]/} reason rc
    case $2 in
        *.sh)
            if reason=$(plain_only "$2"); then
                echo "skip $(basename "$2" .sh) ($reason)" >"$logs/$1.log"
            else
                bash "$2" >"$logs/$1.log" 2>&1
            fi ;;
        *) "$2" >"$logs/$1.log" 2>&1 ;;
    esac
    rc=$?
    # The user's and the system's time of this process's children: "0m1.234s 0m0.567s" in the second line.
    times >"$logs/$1.part"
    awk -F '[ms ]+' -v rc=$rc -v time=$((${EPOCHREALTIME/[.,]/} - start)) \
        'NR == 2 { printf "%d %d %.1f\n", rc, time, ($1 + $3) * 60 + $2 + $4 }' "$logs/$1.part" >"$logs/$1.times"
    mv "$logs/$1.times" "$logs/$1.part"
    mv "$logs/$1.part" "$logs/$1.rc"
}

report() {
    local log=$logs/$1.log rc time processor name p f s
    read -r rc time processor <"$logs/$1.rc"
    time=$((time / 1000000)).$((time / 100000 % 10))
    name=$(basename "$2")
    case $2 in
        *.sh)
            p=$(grep -c '^ok ' "$log"); f=$(grep -c '^not ok ' "$log"); s=$(grep -c '^skip ' "$log") ;;
        *)
            line=$(grep -E '^[0-9]+%: Checks:' "$log" | tail -n 1)
            c=$(sed -nE 's/.*Checks: ([0-9]+).*/\1/p' <<<"$line")
            f=$(sed -nE 's/.*Failures: ([0-9]+), Errors: ([0-9]+).*/\1+\2/p' <<<"$line")
            f=$(( ${f:-0} )) p=$(( ${c:-0} - f )) s=$(grep -c '^skip ' "$log") ;;
    esac
    # A program that crashed or ran no checks failed, whatever it counted.
    if [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    if [ $((p + f + s)) -eq 0 ]; then f=1; fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [ "$f" -ne 0 ]; then
        echo "FAIL $name ($p passed, $f failed, $time s)"
        cat "$log"
    elif [ -n "${BY_ROOM:-}" ]; then
        grep '^skip ' "$log"
    else
        echo "pass $name ($p, $time s, $processor s of processor time)"
        grep -E '^(skip|note) ' "$log"
    fi
    rm "$log"
    if [ -n "${BY_ROOM:-}" ]; then report_room "$(room_of "$2")" "$p" "$f" "$s" "$processor"; fi
}

room_of() {
    local folder=${1#"$build"/}
    folder=${folder%/*}
    echo "${folder#tests/}"
}

# Adds a test to its room, and prints the room's line after its last test.
declare -A waits tests_of checks_of failures_of skips_of seconds_of
report_room() { # ROOM PASSED FAILED SKIPPED SECONDS
    tests_of[$1]=$((${tests_of[$1]:-0} + 1)) checks_of[$1]=$((${checks_of[$1]:-0} + $2))
    failures_of[$1]=$((${failures_of[$1]:-0} + $3)) skips_of[$1]=$((${skips_of[$1]:-0} + $4))
    seconds_of[$1]=$(awk -v a="${seconds_of[$1]:-0}" -v b="$5" 'BEGIN { print a + b }')
    [ "${tests_of[$1]}" -eq "${waits[$1]}" ] || return 0
    local word=pass
    [ "${failures_of[$1]}" -eq 0 ] || word=FAIL
    echo "$word $1 (${tests_of[$1]} tests: ${checks_of[$1]} passed, ${failures_of[$1]} failed, ${skips_of[$1]} skipped;" \
        "${seconds_of[$1]} s of processor time)"
}

tests=("$@")
for t in "$@"; do
    room=$(room_of "$t")
    waits[$room]=$((${waits[$room]:-0} + 1))
done
reported=0
report_ended() {
    while [ "$reported" -lt ${#tests[@]} ] && [ -e "$logs/$reported.rc" ]; do
        report "$reported" "${tests[$reported]}"
        reported=$((reported + 1))
    done
}
for i in "${!tests[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    report_ended
    run "$i" "${tests[$i]}" &
done
while [ "$reported" -lt ${#tests[@]} ]; do
    wait -n
    report_ended
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
