#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-gpu: what `make check` proves on the CPU, on the GPUs of this machine. check_gpu.sh BUILD
# The last line counts: "N passed, N failed, N skipped".
set -u
build=$1
skip() {
    echo "skip check-gpu ($1)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
}
[ -e "$build/txmill-cuda.so" ] || skip "$build/txmill-cuda.so was not built: nvcc is missing, or CUDA=no"
reason=$(TXMILL_PLUGINS=$PWD/$build "$build/txmill" devices --json | python3 -c 'import json, sys
cuda = json.load(sys.stdin)["cuda"]
usable = [d["name"] for d in cuda["devices"] if d["usable"]]
print("" if usable else cuda["reason"] or "; ".join(d["reason"] for d in cuda["devices"]))')
[ -z "$reason" ] || skip "$reason"
"$build/txmill" devices
export TXM_GPU_PLUGIN=$PWD/$build/txmill-cuda.so TXM_GPU_FOLDER=$PWD/$build TXM_BUILD=$PWD/$build
log=$(mktemp)
trap 'rm -f "$log"' EXIT
tests/run.sh "$build" "$build/tests/device/test_gpu" tests/device/cli_gpu.sh | tee "$log" | sed '$d'
read -r passed _ failed _ skipped _ <<<"$(tail -n 1 "$log")"
for tool in memcheck racecheck; do
    if ! command -v compute-sanitizer >/dev/null; then
        echo "skip $tool (compute-sanitizer is not installed)"
        skipped=$((skipped + 1))
    elif compute-sanitizer --tool $tool --error-exitcode 9 "$build/tests/device/test_gpu" >"$log" 2>&1; then
        echo "pass $tool"
        passed=$((passed + 1))
    else
        echo "FAIL $tool"
        tail -n 60 "$log"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
