#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The texture cache beside OpenImageIO: cache.sh [BUILD [IMAGES]]. Prints tables; see bench/bench_cache.c.
set -eu
build=${1:-build}
images=${2:-bench-images}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bench/images.sh "$images" photo4k.png
TXMILL_PLUGINS=$PWD/$build
export TXMILL_PLUGINS
"$build/txmill" make -q "$images/photo4k.png" -o "$out/photo4k.tx"
"$build/bench_cache" "$out/photo4k.tx"
