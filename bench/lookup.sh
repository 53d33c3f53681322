#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Texture look-ups beside OpenImageIO: lookup.sh [BUILD [IMAGES]]. Prints tables; see bench/bench_lookup.c.
set -eu
build=${1:-build}
images=${2:-bench-images}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bench/photo4k.sh "$images"
TXMILL_PLUGINS=$PWD/$build
export TXMILL_PLUGINS
"$build/txmill" make -q "$images/photo4k.png" -o "$out/photo4k.tx"
"$build/bench_lookup" "$out/photo4k.tx"
"$build/bench_lookup" -j 2 "$out/photo4k.tx"
