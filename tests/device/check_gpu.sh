#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-gpu: checks on this machine's devices what `make check` checks on the CPU: check_gpu.sh BUILD
# The last line counts: "N passed, N failed, N skipped". After GPU_SECONDS (240), what has not begun is skipped, and
# compute-sanitizer is ended.
set -u
limit=${GPU_SECONDS:-240}
build=$1
export TXM_GPU_FOLDER=$PWD/$build TXM_BUILD=$PWD/$build TXM_THOROUGH=yes
usable() { # BACKEND: prints why it cannot be used
    [ -e "$build/txmill-$1.so" ] || { echo "$build/txmill-$1.so was not built"; return; }
    TXMILL_PLUGINS=$TXM_GPU_FOLDER "$build/txmill" devices --json | python3 -c 'import json, sys
b = json.load(sys.stdin)[sys.argv[1]]
usable = any(d["usable"] for d in b["devices"])
print("" if usable else b["reason"] or "; ".join(d["reason"] for d in b["devices"]))' "$1"
}
"$build/txmill" devices
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0 cuda=
for backend in cuda opencl; do
    reason=$(usable $backend)
    if [ -n "$reason" ]; then
        echo "skip $backend ($reason)"
        skipped=$((skipped + 1))
        continue
    fi
    if [ $SECONDS -ge "$limit" ]; then
        echo "skip $backend ($limit s have passed)"
        skipped=$((skipped + 1))
        continue
    fi
    lookups=$build/tests/tile/device/test_device
    tests=("$build/tests/device/test_gpu" tests/device/cli_gpu.sh "$lookups")
    if [ $backend = opencl ]; then
        tests=(tests/device/cli_gpu_opencl.sh tests/device/cli_opencl.sh tests/tile/device/cli_lookups_opencl.sh)
    else
        cuda=yes
    fi
    TXM_DEVICE=$backend TXM_GPU_BACKEND=$backend TXM_GPU_PLUGIN=$TXM_GPU_FOLDER/txmill-$backend.so tests/run.sh "$build" "${tests[@]}" | tee "$log" | sed '$d'
    read -r p _ f _ s _ <<<"$(tail -n 1 "$log")"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
# Tests conversion and lookups, including the processes that the tests fork. No kernel has memory that its threads share,
# so racecheck would find nothing. The blocks that the host receives have gaps that nothing writes, hence the option.
watched() { # PROGRAM OPTION...
    TXM_GPU_PLUGIN=$TXM_GPU_FOLDER/txmill-cuda.so TXMILL_PLUGINS=$TXM_GPU_FOLDER TXM_DEVICE=cuda \
        timeout $((limit > SECONDS ? limit - SECONDS : 1)) compute-sanitizer "${@:2}" --target-processes all --error-exitcode 9 "$1" >"$log" 2>&1
}
for tool in memcheck "initcheck --check-api-memory-access no"; do
    [ -n "$cuda" ] || continue
    name=${tool%% *}
    if ! command -v compute-sanitizer >/dev/null; then
        echo "skip $name (compute-sanitizer is not installed)"
        skipped=$((skipped + 1))
        continue
    fi
    for program in tests/device/test_gpu tests/tile/device/test_device; do
        # shellcheck disable=SC2086
        watched "$build/$program" --tool $tool
        rc=$?
        if [ $rc -eq 124 ]; then
            echo "skip $name ${program##*/} ($limit s have passed)"
            skipped=$((skipped + 1))
        elif [ $rc -eq 0 ]; then
            echo "pass $name ${program##*/}"
            passed=$((passed + 1))
        else
            echo "FAIL $name ${program##*/}"
            tail -n 60 "$log"
            failed=$((failed + 1))
        fi
    done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
