#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the tiles that Cycles reads, known from the offsets of its reads in txmill's tx files, with those that `txmill
# stream budget` lists: tiles.sh TXMILL CHROOTS blender|python. For camera rays 95 % agree on each level, for three
# bounces 80 %, and 85 % of all tiles in scenes that the extension exports, 88 % in rooms at random. The rest are at edges, which rays reach by chance,
# because both programs draw their own random numbers.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
txmill=$(realpath "$1") chroots=$2 which=$3
if ! strace -f -y -o /dev/null true 2>/dev/null; then
  echo "skip tiles: strace is not installed, or tracing is not permitted"
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
# If something fails, shows the end of its output.
step() { timeout 600 "$@" >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; return 1; }; }
cycles_reads() { # FILTER
  step strace -f -y -s 0 -o "$folder/trace" -e trace=lseek,pread64,read,close "${inside[@]}" render "$folder" "$1"
}
agree() { # NAME FLOOR each|all OPTION...: compares the last render with a budget, by level or altogether
  local name=$1 floor=$2 what=$3
  shift 3
  if step "$txmill" stream budget "$folder" --overwrite --tiles "$folder/tiles.tsv" "$@" &&
    python3 "$here/tiles.py" compare "$folder" "$folder/trace" "$folder/tiles.tsv" "$floor" "$what"; then
    echo "pass $name"
  else
    echo "FAIL $name"
    status=1
  fi
}
scene() { # KIND
  rm -rf "$folder"/*
  step "${inside[@]}" scene "$folder" "$1" && (cd "$folder" && step "$txmill" make -q -c sRGB -a straight tex*.png &&
    if [ -e normals.png ]; then step "$txmill" make -q -c Non-Color -a straight normals.png; fi)
}
failed() { echo "FAIL $1"; status=1; }
if scene camera && cycles_reads 1; then agree camera-rays 0.95 each; else failed camera-rays; fi
# Filter Glossy is the factor by which rays are widened. Cycles also shades the hit after the last bounce, which is
# visible if nothing is widened.
if scene bounces; then
  for filter in 1 0.25 0; do
    if cycles_reads $filter; then
      agree "three-bounces, Filter Glossy $filter" 0.80 each --filter-glossy $filter --samples 4
    else
      failed "three-bounces, Filter Glossy $filter"
    fi
  done
fi
# Shaders as artists make them, exported by the extension: one Blender evaluates the scene, another renders it. The scene
# says how it is rendered, so budgets have no options but the render's samples where levels are compared one by one.
exported() { # KIND FLOOR each|all OPTION...
  if scene "$1" && step "${inside[@]}" export "$folder" && cycles_reads 1; then
    agree "exported-$1" "${@:2}"
  else
    failed "exported-$1"
  fi
}
exported shaders 0.80 each --samples 4
for kind in normals grove hall; do exported $kind 0.85 all; done
# The same hall without widening.
if cycles_reads 0; then agree "exported-hall, Filter Glossy 0" 0.85 all --filter-glossy 0; else failed "exported-hall, Filter Glossy 0"; fi
for kind in room1 room2 room3; do exported $kind 0.88 all; done
exit $status
