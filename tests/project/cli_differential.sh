#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The guards around converters and comparisons in the differential script: an image that takes too much memory, loops or
# crashes its program is reported, and the others are still compared. And make judge with a program in place of Blender:
# what is equal, documented and new.
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

# In place of chroots.sh: Blender 9.9.1, whose scenes have three names. It makes nothing of scenes that other releases saved.
cat >blender <<'END'
#!/bin/bash
case "$*" in
make*) [ -z "${NO_BLENDER:-}" ] || { echo "chroots.sh: not root" >&2; exit 77; } ;;
"command --version") echo "noise"; echo "Blender 9.9.1 LTS" ;;
python*" describe "*) mkdir -p "$4/colormanagement"; cp "$CONFIG" "$4/colormanagement/config.ocio" ;;
python*" rows "*) echo '[["sRGB", null], ["Größe", null], ["color_picking", "sRGB"]]' >"$5" ;;
python*" scene "*) mkdir -p "$5"; cp "$BLEND" "$5/scene.blend"; for at in 0 1 2; do cp "$IMAGE" "$5/000$at.png"; done ;;
python*" answers "*/scene/*) echo '{"0001.png": ["0001.png.0-AA.tx"], "0002.png": ["0002.png.0-BB.tx"]}' >"$5" ;;
python*" answers "*) echo '{}' >"$5" ;;
*) exit 1 ;;
esac
END
chmod +x blender
judge() {
  run env IMAGE="$golden/rgb8.png" BLEND="$TXM_TESTDATA/blend/materials.blend" CONFIG="$TXM_TESTDATA/color/no-interchange.ocio" python3 "$repo/tests/blender/judge.py" --chroots "$work/blender" --work "$work/judge" \
    --build "$(dirname "$TXMILL")" "$@"
}
judge --only names
check judge-new rc_is 1
check judge-table grep -qE '^names +1 +0 +370 ' out
check judge-version grep -qE '^Blender 9\.9\.1 +equal +documented +new' out
case_is() { # FOLDER EXPRESSION: of the object of a case
  python3 -c 'import json, sys; c = json.load(open(sys.argv[1] + "/case.json")); sys.exit(not eval(sys.argv[2]))' "judge/9.9.1/new/$1" "$2"
}
check judge-case case_is names-02 'c["blender"] == "0002.png.0-BB.tx" and c["txmill"] == "none" and c["what"].endswith("interop id " + repr("sRGB"))'
check judge-scene-of-another-release case_is names-03 'c["what"].endswith(" of names-5.2.blend") and c["blender"] == "none" and c["txmill"].startswith(c["source"] + ".0-")'
check judge-case-has-its-source test -f judge/9.9.1/new/names-01/0001.png
judge --only extension --extension nowhere.zip
check judge-checks-that-fail grep -qE '^new: extension: (validate|exit status)' out
judge --only "names pixels"
check judge-no-such-part grep -q 'no part is called pixels; there are: names random scenes budget extension' err
NO_BLENDER=1 judge
check judge-no-blender rc_is 77
cat >rows.py <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import documented
assert all(row["reason"] and set(row) <= {"part", "what", "source", "releases", "reason"} for row in documented.ROWS)
documented.ROWS = [{"part": "random", "what": documented.re.compile("level .*"), "source": documented.re.compile(r"\.psd"), "releases": ["9.9"]}]
find = documented.find
assert find("random", "level 0: red", "9.9", "a.psd") and find("random", "level 0", "", "a.psd")
assert not find("names", "level 0", "9.9", "a.psd") and not find("random", "no level 0", "9.9", "a.psd")
assert not find("random", "level 0", "9.8", "a.psd") and not find("random", "level 0", "9.9", "a.tif")
END
run python3 rows.py "$repo/tests/differential"
check documented-rows rc_is 0
finish
