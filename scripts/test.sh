#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests of continuous integration, on Debian 12 or 13: installs missing packages, builds, runs the checks with GCC, and
# with Clang under AddressSanitizer and UBSan, injects faults for 25 seconds, compiles for CUDA if nvcc is installed, and
# runs the seeds of every fuzz target. `make check-all` also runs what is slow, and fuzzes for a minute a target.
# Environment: FUZZ_SECONDS, for each fuzz target (0: only its seeds); FAULT_SECONDS (25; 0: none); SANITIZED=no leaves
# out the sanitized build and fuzzing; JOBS, compilers at once (2).
# After a minute it says how long it will take. Each room of tests is one line, and failures are printed whole. The last line
# counts the checks of all parts: "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
jobs=${JOBS:-2}
fault_seconds=${FAULT_SECONDS:-25}
export OPT="-O2 -g1" BY_ROOM=yes
passed=0 failed=0 skipped=0
logs=$(mktemp -d)
log=$logs/last
declare -A begun
trap 'kill "${begun[@]}" 2>/dev/null; rm -rf "$logs"' EXIT

# How long all will take, said after a minute, and again a minute into the build if packages were installed before: what is
# left of the build at its pace, and then as long as the rest took in the last run on this machine, which is in this file; in
# the first run as long as with two idle processors, or longer by as much as the build is slower than there.
past=build/test.seconds build_usual=60 rest_usual=540
estimate() {
    local planned before compiled build=0 rest=$rest_usual seconds why="a guess from the pace of the build"
    sleep 60 >/dev/null 2>&1
    if [ ! -e "$logs/start" ]; then
        read -r rest 2>/dev/null <"$past" || :
        printf '\n---- This will take about %d minutes when the packages are installed.\n\n' $(((build_usual + rest + 59) / 60))
        until [ -e "$logs/start" ]; do sleep 1 >/dev/null 2>&1; done
        sleep 60 >/dev/null 2>&1
    fi
    read -r planned before <"$logs/start"
    seconds=$(($(date +%s) - $(stat -c %Y "$logs/start")))
    compiled=$(find build -name '*.o' -newer "$logs/start" | wc -l)
    [ "$planned" -eq 0 ] || build=$((seconds * planned / (compiled + 1)))
    read -r build 2>/dev/null <"$logs/build" || :
    if read -r rest 2>/dev/null <"$past"; then
        why="the last run took $((rest / 60)) minutes after its build"
    else
        rest=$rest_usual
        [ "$build" -le "$build_usual" ] || rest=$((rest_usual * build / build_usual))
    fi
    printf '\n---- This will take about %d minutes in all: %s.\n\n' $(((before + build + rest + 59) / 60)) "$why"
}

part() { printf '\n==== %s\n' "$*"; }
# Runs a command that succeeds or fails as one check: result NAME COMMAND...
result() {
    local name=$1
    shift
    if "$@" >"$log" 2>&1; then
        passed=$((passed + 1))
        echo "pass $name"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        tail -n 60 "$log"
    fi
}
# begin NAME COMMAND...: starts what will be one check, at low priority, so that it runs while tests wait. result NAME
# end NAME: waits for it.
begin() {
    nice -n 19 "${@:2}" >"$logs/$1" 2>&1 &
    begun[$1]=$!
}
end() {
    local rc
    wait "${begun[$1]}"
    rc=$?
    unset "begun[$1]"
    cat "$logs/$1"
    return $rc
}
# A run of tests/run.sh, whose last line has the counts.
counted() {
    "$@" 2>&1 | tee "$log"
    local counts
    # After a failed check, the last line is make's.
    counts=$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
    if [ -z "$counts" ]; then
        failed=$((failed + 1))
        echo "FAIL $* (no result)"
    else
        read -r p f s <<<"$counts"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    fi
}

part "packages"
estimate &
begun[estimate]=$!
scripts/setup.sh test || exit 1

part "plain build and checks"
packages_seconds=$SECONDS
echo "$(make -n 2>/dev/null | grep -c -- ' -c ') $SECONDS" >"$logs/start.new"
mv "$logs/start.new" "$logs/start"
result build make -s -j"$jobs"
build_seconds=$SECONDS
echo $((SECONDS - packages_seconds)) >"$logs/build"
# Clang takes a fifth less time with -O1, and sanitized tests are not slower. They take several times as long as plain
# ones, so the time limit of a test is raised.
for_clang=(env OPT="-O1 -g1" CK_DEFAULT_TIMEOUT=1200)
sanitized=("${for_clang[@]}" make -s "-j$jobs" CC=clang CXX=clang++ "SANITIZE=address,undefined")
[ "${SANITIZED:-yes}" != yes ] || begin build-sanitized "${sanitized[@]}"
counted make -s -j"$jobs" check

part "faults, $fault_seconds s"
if [ "$fault_seconds" -gt 0 ]; then
    counted make -s -j"$jobs" check-faults FAULT_SECONDS="$fault_seconds"
else
    skipped=$((skipped + 1))
    echo "skip faults (FAULT_SECONDS=0)"
fi

part "CUDA"
if command -v "${NVCC:-nvcc}" >/dev/null; then
    result build-cuda make -s -j"$jobs" CUDA=yes
    # Without a device of NVIDIA's it would only repeat the checks of OpenCL.
    if [ -e /dev/nvidiactl ]; then
        counted make -s -j"$jobs" CUDA=yes check-gpu
    fi
else
    skipped=$((skipped + 1))
    echo "skip build-cuda (nvcc is not installed)"
fi

if [ "${SANITIZED:-yes}" = yes ]; then
    part "Clang, AddressSanitizer and UBSan"
    result build-sanitized end build-sanitized
    begin fuzz "${for_clang[@]}" FUZZ_SECONDS="${FUZZ_SECONDS:-0}" tests/fuzz.sh
    counted "${sanitized[@]}" check

    part "fuzz targets"
    result fuzz end fuzz
fi

# A run that left parts out says nothing about the next.
if [ "${SANITIZED:-yes}" = yes ]; then echo $((SECONDS - build_seconds)) >"$past"; fi
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
