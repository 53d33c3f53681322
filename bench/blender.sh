#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares Blender's generate_texture_cache with txmill make, and the first render with auto-generate with make and render:
# bench/blender.sh TXMILL CHROOTS, TXMILL built in the chroot of make check-blender. Uses the images of make bench, which
# are made if they are missing. Prints "pass", "skip" and "note" lines; docs/blender.md has the tables.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
program=$(realpath "$1") chroots=$(realpath "$2")
if ! command -v oiiotool >/dev/null || [ ! -d /usr/share/wallpapers/Volna ]; then
  echo "skip times: no images: openimageio-tools and plasma-workspace-wallpapers are not installed (scripts/setup.sh bench)"
  exit 0
fi
bench/images.sh bench-images textures || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$chroots" blender -b --factory-startup --python-exit-code 1 --python bench/blender.py -- "$program" "$PWD/bench-images" "$folder"
