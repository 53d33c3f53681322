#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests of continuous integration, on Debian 12 or 13: installs missing packages, builds, runs the checks with GCC, and
# with Clang under AddressSanitizer and UBSan, runs the seeds of every fuzz target, compiles for CUDA if nvcc is installed,
# and injects faults for 25 seconds. `make check-all` also runs what is slow, and fuzzes for a minute a target.
# Environment: FUZZ_SECONDS, for each fuzz target (0: only its seeds); FAULT_SECONDS (25; 0: none); SANITIZED=no leaves
# out the sanitized build and fuzzing; JOBS, compilers at once (2).
# The last line counts the checks of all parts: "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
jobs=${JOBS:-2}
fault_seconds=${FAULT_SECONDS:-25}
# GCC takes 24 s for each file of the vector code of lookups if it records the places of variables, and 15 s if not.
export OPT="-O2 -g1"
passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

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
scripts/setup.sh test || exit 1

part "plain build and checks"
result build make -s -j"$jobs"
counted make -s -j"$jobs" check

if [ "${SANITIZED:-yes}" = yes ]; then
    part "Clang, AddressSanitizer and UBSan"
    clang=(CC=clang CXX=clang++ SANITIZE=address,undefined)
    result build-sanitized make -s -j"$jobs" "${clang[@]}"
    # Sanitized tests are several times slower, so the time limit per test is raised.
    counted env CK_DEFAULT_TIMEOUT=1200 make -s -j"$jobs" "${clang[@]}" check

    part "fuzz targets"
    result fuzz env FUZZ_SECONDS="${FUZZ_SECONDS:-0}" tests/fuzz.sh
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

part "faults, $fault_seconds s"
if [ "$fault_seconds" -gt 0 ]; then
    counted make -s -j"$jobs" check-faults FAULT_SECONDS="$fault_seconds"
else
    skipped=$((skipped + 1))
    echo "skip faults (FAULT_SECONDS=0)"
fi

echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
