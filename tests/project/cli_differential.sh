#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The guards around converters and comparisons in the differential script: an image that takes too much memory, loops or
# crashes its program is reported, and the others are still compared.
# Plain builds only: it tests a script
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >program.py <<'END'
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
import limits
for item, answer in limits.pending(*sys.argv[2:]):
    if item == "hungry":
        hoard = []
        while True:
            hoard.append(bytearray(b"x" * (8 << 20)))
    if item == "looping":
        time.sleep(600)
    if item == "crashing":
        os.kill(os.getpid(), signal.SIGSEGV)
    answer("did " + item)
END
cat >guard.py <<'END'
import os, sys
sys.path.insert(0, sys.argv[1])
import limits
items = sys.argv[2:]
command = [sys.executable, "program.py", sys.argv[1]]
for item, line in zip(items, limits.for_each(command, items, "list", "results", limits.Limits(256 << 20, 4))):
    print(item, "=", line.replace("\t", ": "))
END
export PYTHONDONTWRITEBYTECODE=1
guard() { run python3 guard.py "$repo/tests/differential" "$@"; }
guard first hungry second crashing looping last
printf '%s\n' "first = did first" "hungry = KILLED: needs more than 0.2 GiB of memory" "second = did second" "crashing = CRASH" \
  "looping = KILLED: no progress in 4 s" "last = did last" >expected
check images-that-kill-a-program diff expected out
guard first crashing
check the-last-one-crashes grep -qx "crashing = CRASH" out
guard
check no-images rc_is 0
echo 'raise SystemExit("no such module")' >program.py
guard first
check a-program-that-never-works grep -q "RuntimeError: no such module" err
finish
