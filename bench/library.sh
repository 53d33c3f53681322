#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make bench-library: the cost of linking the libraries, and padded tiles per second. library.sh [BUILD [IMAGES [OLD]]];
# with OLD, the build of another version (with its bench_padded), both versions are measured in one run.
set -eu
build=${1:-build}
images=${2:-bench-images}
old=${3:-}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
TXMILL_PLUGINS=$PWD/$build "$build/txmill" make -q testdata/golden/rgb8.png -o "$out/rgb8.tx"
python3 bench/library.py "$build" "$out/rgb8.tx" ${old:+"$old"}
bench/padded.sh "$build" "$images" ${old:+"$old"}
