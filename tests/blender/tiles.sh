#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tiles that Cycles asks for, from the offsets of its reads in txmill's tx files, against those that `txmill stream budget`
# names: tiles.sh TXMILL CHROOTS blender|python. Camera rays agree to 95 % on each level, three bounces to 80 %; what is left
# are rims, which rays reach by chance: both draw their own random numbers.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
txmill=$(realpath "$1") chroots=$2 which=$3
if ! strace -f -y -o /dev/null true 2>/dev/null; then
  echo "skip tiles: strace is not installed, or may trace nothing here"
  exit 0
fi
folder=$(mktemp -d -p "$PWD")
trap 'rm -rf "$folder"' EXIT
status=0
if [ "$which" = blender ]; then
  inside=("$chroots" blender -b --factory-startup --python-exit-code 1 --python "$here/tiles.py" --)
else
  inside=("$chroots" python "$here/tiles.py")
fi
# Where something fails, the end of what it printed.
step() { timeout 600 "$@" >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; return 1; }; }
cycles_reads() { # FILTER
  step strace -f -y -s 0 -o "$folder/trace" -e trace=lseek,pread64,read,close "${inside[@]}" render "$folder" "$1"
}
agree() { # NAME FLOOR OPTION...: the last render and a budget
  local name=$1 floor=$2
  shift 2
  if step "$txmill" stream budget "$folder" --samples 4 --force --tiles "$folder/tiles.tsv" "$@" &&
    python3 "$here/tiles.py" compare "$folder" "$folder/trace" "$folder/tiles.tsv" "$floor"; then
    echo "pass $name"
  else
    echo "FAIL $name"
    status=1
  fi
}
scene() { # KIND
  rm -rf "$folder"/*
  step "${inside[@]}" scene "$folder" "$1" && (cd "$folder" && step "$txmill" make -q -c sRGB -a straight tex*.png)
}
failed() { echo "FAIL $1"; status=1; }
if scene camera && cycles_reads 1; then agree camera-rays 0.95 --bounces 0; else failed camera-rays; fi
if scene bounces && cycles_reads 1; then agree three-bounces 0.80 --bounces 3; else failed three-bounces; fi
# With Filter Glossy 0 Cycles widens nothing. It shades what is hit after the last bounce as well.
if cycles_reads 0; then agree three-bounces-not-widened 0.80 --bounces 4 --no-widen; else failed three-bounces-not-widened; fi
# What artists make of shaders, as the extension exports it: one Blender evaluates the scene, another renders it.
if [ "$which" = blender ]; then
  if scene shaders && step "$chroots" blender -b --factory-startup "$folder/scene.blend" --python-exit-code 1 \
    --python "$here/../../blender/txmill/exporter.py" -- "$folder/request" "$folder/answer" && cycles_reads 1; then
    agree exported-shaders 0.80 --bounces 3
  else
    failed exported-shaders
  fi
fi
exit $status
