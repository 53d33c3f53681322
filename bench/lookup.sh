#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Texture look-ups beside OpenImageIO: lookup.sh [BUILD [IMAGES]]. Prints tables; see bench/bench_lookup.c.
set -eu
build=${1:-build}
images=${2:-bench-images}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
if [ ! -e "$images/photo4k.png" ]; then
    mkdir -p "$images"
    oiiotool /usr/share/wallpapers/Patak/contents/images/5120x2880.png --resize 4096x4096 --ch R,G,B -d uint8 \
        -o "$out/photo4k.png"
    mv "$out/photo4k.png" "$images/photo4k.png"
fi
TXMILL_PLUGINS=$PWD/$build
export TXMILL_PLUGINS
"$build/txmill" make -q "$images/photo4k.png" -o "$out/photo4k.tx"
"$build/bench_lookup" "$out/photo4k.tx"
"$build/bench_lookup" -j 2 "$out/photo4k.tx"
