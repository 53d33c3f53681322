#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes testdata/blend again with Debian's Blender (3.4.1; overrides: 5.2): make_scenes.sh FOLDER. This is not part of
# `make check`, which reads the results. Addresses and times in the scenes change with each run; the .json files should
# not.
set -eu
folder=$(mkdir -p "${1:?usage: make_scenes.sh FOLDER}" && cd "$1" && pwd)
script=$(cd "$(dirname "$0")" && pwd)/make_scenes.py
run() {
    SOURCE_DATE_EPOCH=0 blender -b --factory-startup --python-exit-code 1 --python "$script" -- "$@" >"$folder/log" 2>&1 ||
        { cat "$folder/log"; exit 1; }
}
rm -f "$folder"/circle_*.blend "$folder/overrides.blend"
for scene in materials packed lib/far lib/library linked lib/gone missing inside circle_a circle_b circle_a lint lib/graph graph \
    lib/images lib/images_2 overrides lib/images_2; do
    echo "$scene"
    run make "$folder" "$scene"
done
rm "$folder/lib/gone.blend"
for scene in materials packed lib/far lib/library linked missing inside circle_a circle_b lint graph overrides; do
    run list "$folder" "$scene.blend"
done
rm -f "$folder/log" "$folder"/*.blend1 "$folder"/lib/*.blend1
