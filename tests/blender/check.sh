#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-blender: compares txmill with real Blenders, which it sets up in Debian chroots (root, network, 6 GB, ten
# minutes the first time). Parts that are impossible here are reported and skipped. Environment:
#   QUICK=1       takes a fifth of the time: no test suite, few images and settings
#   ONLY="..."    parts to run: build suite extension interface scenes scenes-official config config-official tiles tiles-official ptex ptex-official
#                 scripts scripts-official times settings settings-official random random-official
#   N, SEED       number and seed of the random images (500, 1; quick: 60)
#   JOBS          processors to use
# The run ends with a table of the parts, then "N passed, N failed, N skipped". The output of parts is in build-blender/check.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
extension=$1
host=${2:-build/txmill}
chroots=$PWD/tests/blender/chroots.sh
build=build-blender
jobs=${JOBS:-$(nproc)}
quick=${QUICK:-}
export PYTHONDONTWRITEBYTECODE=1
if ! logs=$(mkdir -p $build/check 2>/dev/null && [ -w $build/check ] && echo $build/check); then
  logs=$(mktemp -d)
fi
declare -a rows=()
passed=0 failed=0 skipped=0
log="" p=0 f=0 s=0 # of the part that is running

wanted() { [ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $1 "* ]]; }

# part NAME FUNCTION ARGUMENT...: runs one row of the table; the function sets p, f and s.
part() {
  local name=$1 started=$SECONDS
  wanted "$name" || return 0
  shift
  echo "== $name"
  log=$logs/$name.log p=0 f=0 s=0
  "$@"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  rows+=("$(printf '%-20s%9d%9d%9d%7d:%02d' "$name" $p $f $s $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)))")
}
pass() { echo "pass $*"; p=$((p + 1)); }
fail() { echo "FAIL $*"; f=$((f + 1)); tail -n 40 "$log"; }
skip() { echo "skip $*"; s=$((s + 1)); }
# Sets up one of the chroots. If that fails, prints the reason and returns false. It is tried once.
declare -A setup=()
ready() {
  if [ -z "${setup[$1]:-}" ]; then
    "$chroots" make "$1" 2>"$logs/$1.why"
    setup[$1]=$?
  fi
  [ "${setup[$1]}" = 0 ] && return
  log=$logs/$1.why
  if [ "${setup[$1]}" = 77 ]; then skip "$1: $(tail -n 1 "$log" | sed 's/^chroots.sh: //')"; else fail "$1: set-up"; fi
  return 1
}

# Runs a program that prints "pass NAME", "FAIL NAME", "skip NAME" and "note ..." lines itself.
counted() { # CHROOT COMMAND...
  ready "$1" || return
  shift
  "$@" >"$log" 2>&1
  local code=$?
  grep -E '^(pass|FAIL|skip|note) ' "$log"
  p=$(grep -c '^pass ' "$log") f=$(grep -c '^FAIL ' "$log") s=$(grep -c '^skip ' "$log")
  if [ $code -ne 0 ] && [ "$f" = 0 ] || [ $((p + f + s)) = 0 ]; then fail "exit status $code"; fi
}

compile() {
  ready debian || return
  "$chroots" run debian sh -c 'dpkg-query -W -f "note built with \${Package} \${Version}\n" libopenimageio-dev libopencolorio-dev'
  "$chroots" run debian make -s -j"$jobs" DEPS=system B=$build all >"$log" 2>&1
  if [ $? = 0 ] && ! grep -E 'warning:|error:' "$log"; then pass "no warnings"; else fail "built without warnings"; fi
}

suite() {
  ready debian || return
  "$chroots" run debian make -s -j"$jobs" DEPS=system B=$build check >"$log" 2>&1
  read -r p f s < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed, ([0-9]+) skipped$/\1 \2 \3/p' "$log" | tail -n 1)
  if [ -z "$p" ]; then p=0 f=0 s=0; fail "the tests did not run"; else grep -A20 '^FAIL' "$log"; fi
  if grep -E '\.(c|h|cpp):[0-9]+:[0-9]+: warning:' "$log"; then fail "tests built without warnings"; fi
}

differential() { # CHROOT COMMAND_OF_CHROOTS ARGUMENT...
  local blender=$2
  ready "$1" || return
  shift 2
  if ! /usr/bin/python3 -c 'import numpy, OpenImageIO' 2>/dev/null; then
    skip "python3-numpy and python3-openimageio are not installed (scripts/setup.sh blender)"
    return
  fi
  PATH=/usr/bin:$PATH tests/differential/differential.py --blender "$chroots $blender" --txmill "$host" \
    --jobs "$jobs" --work "$logs/${log##*/}.d" "$@" >"$log" 2>&1
  if [ $? = 0 ]; then pass "$*"; else fail "$*"; fi
  sed 's/^/note /' "$log"
}

# Parts that run in Debian's chroot use what was built there.
for name in suite extension interface scenes ptex times; do
  if [ -n "${ONLY:-}" ] && wanted $name && [ ! -x $build/txmill ]; then ONLY="build $ONLY"; fi
done
part build compile
inside=$PWD/$build/txmill host=$(realpath "$host")
[ -n "$quick" ] || part suite suite
part extension counted debian tests/blender/extension.sh "$extension" "$chroots" blender
part interface counted debian tests/blender/interface.sh "$extension" "$inside" "$chroots"
part scenes counted debian "$chroots" blender -b --factory-startup --python-exit-code 1 --python tests/blender/loop.py -- \
  "$inside" "$PWD/$logs/scenes" ${quick:+quick}
part scenes-official counted official "$chroots" python tests/blender/loop.py "chroot /host $host" \
  "$PWD/$logs/scenes-official" ${quick:+quick}
part config counted debian tests/blender/config.sh "$host" "$chroots" blender
part config-official counted official tests/blender/config.sh "$host" "$chroots" python
part tiles counted debian tests/blender/tiles.sh "$host" "$chroots" blender
part tiles-official counted official tests/blender/tiles.sh "$host" "$chroots" python
part ptex counted debian "$chroots" blender -b --factory-startup --python-exit-code 1 --python tests/blender/ptex.py -- \
  "$inside" "$PWD/$logs/ptex"
part ptex-official counted official "$chroots" python tests/blender/ptex.py "chroot /host $host" \
  "$PWD/$logs/ptex-official"
part scripts counted debian "$chroots" blender -b --factory-startup --python-exit-code 1 --python tests/blender/scripts.py -- \
  "$PWD/$logs/scripts"
part scripts-official counted official "$chroots" python tests/blender/scripts.py "$PWD/$logs/scripts-official"
if [ -n "$quick" ]; then
  part random differential debian blender -n "${N:-60}" --seed "${SEED:-1}"
  part random-official differential official python -n "${N:-60}" --seed "${SEED:-1}" testdata/golden
else
  part times counted debian bench/blender.sh "$inside" "$chroots"
  part settings differential debian blender -n 0 --every-setting testdata/golden
  part settings-official differential official python -n 0 --every-space testdata
  part random differential debian blender -n "${N:-500}" --seed "${SEED:-1}" testdata
  part random-official differential official python -n "${N:-500}" --seed "${SEED:-1}" testdata
fi
printf '%-20s%9s%9s%9s%10s\n' part passed failed skipped minutes
printf '%s\n' "${rows[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
exit $((failed != 0))
