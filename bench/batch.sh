#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many small files: batch.sh BUILD_DIR [COUNT...] (default: 1000 10000 100000). Time and memory per file
# should not depend on their number: in a first run that makes all of them, and in a second one that finds all fresh.
set -eu
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- 1000 10000 100000
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
measure() { # LABEL COUNT COMMAND...
    local label=$1 count=$2
    shift 2
    python3 - "$label" "$count" "$@" <<'PY'
import os, subprocess, sys, time
label, count, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
begin = time.monotonic()
pid = subprocess.Popen(command).pid
_, status, usage = os.wait4(pid, 0)
seconds = time.monotonic() - begin
cpu = usage.ru_utime + usage.ru_stime
print(f"{count:>7} {label:<6} {seconds:8.2f} s  {cpu / count * 1e6:7.0f} us of CPU a file  {usage.ru_maxrss / 1024:7.1f} MB"
      + ("" if status == 0 else f"  FAILED {status}"), flush=True)
PY
}
for count in "$@"; do
    python3 "$here/tests/util/batch_images.py" "$work/$count" "$count" 16 1000
    measure make "$count" "$build/txmill" make -q "$work/$count"
    measure again "$count" "$build/txmill" make -q "$work/$count"
    rm -rf "${work:?}/$count"
done
