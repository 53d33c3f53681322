#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-blender: txmill beside real Blenders, which are set up in Debian chroots (root, network, 6 GB, minutes the first
# time). What cannot be had here is named and skipped. Environment: N and SEED of the random images (500, 1), JOBS.
# The last line counts: "N passed, N failed, N skipped".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
extension=$1
chroots=tests/blender/chroots.sh
build="build-blender"
jobs=${JOBS:-$(nproc)}
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1

pass() { echo "pass $*"; passed=$((passed + 1)); }
skip() { echo "skip $*"; skipped=$((skipped + 1)); }
# result NAME COMMAND...: one thing that works or not, with the end of what it printed.
result() {
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then pass "$name"; else echo "FAIL $name"; failed=$((failed + 1)); tail -n 40 "$work/log"; fi
}
# counted NAME COMMAND...: a program that prints "pass NAME", "FAIL NAME" and "note ..." lines itself.
counted() {
  local name=$1 code
  shift
  "$@" >"$work/log" 2>&1
  code=$?
  grep -E '^(pass|FAIL|note) ' "$work/log"
  passed=$((passed + $(grep -c '^pass ' "$work/log"))) failed=$((failed + $(grep -c '^FAIL ' "$work/log")))
  if [ $code -ne 0 ] && ! grep -q '^FAIL ' "$work/log"; then
    echo "FAIL $name (exit status $code)"
    failed=$((failed + 1))
    tail -n 40 "$work/log"
  fi
}
differential() { # NAME BLENDER ARGUMENT...
  local name=$1 blender=$2
  shift 2
  PATH=/usr/bin:$PATH tests/differential/differential.py --blender "$chroots $blender" \
    --txmill "$chroots run debian $PWD/$build/txmill" --jobs "$jobs" --work "$build/differential-$blender" "$@" >"$work/log" 2>&1
  local code=$?
  if [ $code = 0 ]; then pass "$name"; else echo "FAIL $name"; failed=$((failed + 1)); fi
  cat "$work/log"
}
summary() {
  echo "$passed passed, $failed failed, $skipped skipped"
  exit $((failed != 0))
}
# Sets up one of the chroots; false, and a line that says why, where that cannot be done.
ready() {
  "$chroots" make "$1" 2>"$work/why" && return
  [ $? = 77 ] || { cat "$work/why"; failed=$((failed + 1)); return 1; }
  skip "$1: $(tail -n 1 "$work/why")"
  return 1
}
no_warnings() { "$@" 2>&1 | tee "$work/build" && ! grep -E 'warning:|error:' "$work/build"; }

ready debian || summary
result "build with newer OpenImageIO and OpenColorIO, no warnings" no_warnings "$chroots" run debian make -s -j"$jobs" B=$build all
"$chroots" run debian make -s -j"$jobs" B=$build check >"$work/log" 2>&1
read -r p f s < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$work/log" | tail -n 1)
if [ -n "${p-}" ]; then
  grep -A20 '^FAIL' "$work/log"
  echo "note tests built with them: $p passed, $f failed, $s skipped"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
else
  result "tests built with them" false
fi
counted extension tests/blender/extension.sh "$extension" "$build/txmill" "$chroots" blender
counted scenes "$chroots" blender -b --factory-startup --python-exit-code 1 --python tests/blender/loop.py -- "$PWD/$build/txmill" "$work"
if ! /usr/bin/python3 -c 'import numpy, OpenImageIO' 2>/dev/null; then
  skip "differential: python3-numpy and python3-openimageio are not installed (scripts/setup.sh blender)"
  summary
fi
differential "every setting, Debian's Blender" blender -n 0 --every-setting testdata/golden
differential "random images, Debian's Blender" blender -n "${N:-500}" --seed "${SEED:-1}"
ready official || summary
differential "random images and testdata, the official Blender" python -n "${N:-500}" --seed "${SEED:-1}" testdata
summary
