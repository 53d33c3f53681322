#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make bench-library: what linking the libraries costs, and padded tiles a second. library.sh [BUILD [IMAGES [OLD]]]; with
# OLD, the build of another version (with its bench_padded), that one's figures beside ours, from one run.
set -eu
build=${1:-build}
images=${2:-bench-images}
old=${3:-}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
TXMILL_PLUGINS=$PWD/$build "$build/txmill" make -q testdata/golden/rgb8.png -o "$out/rgb8.tx"
python3 bench/library.py "$build" "$out/rgb8.tx" ${old:+"$old"}
bench/padded.sh "$build" "$images" ${old:+"$old"}
