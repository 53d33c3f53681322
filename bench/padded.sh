#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Padded tiles per second on photo4k and hdr4k, which it makes if they are missing: padded.sh [BUILD [IMAGES [OLD]]]. Prints
# a table; see bench/bench_padded.c. With OLD, the build of another version, both are measured in turn on the same files.
set -eu
build=${1:-build}
images=${2:-bench-images}
old=${3:-}
make -s B="$build" "$build/bench_padded"
bench/images.sh "$images" photo4k.png hdr4k.exr
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
TXMILL_PLUGINS=$PWD/$build
export TXMILL_PLUGINS
"$build/txmill" make -q "$images/photo4k.png" -o "$out/photo4k.tx"
"$build/txmill" make -q "$images/hdr4k.exr" -o "$out/hdr4k.tx"
if [ -n "$old" ]; then
    for round in 1 2 3; do
        echo "round $round, before:" && "$old/bench_padded" "$out/photo4k.tx" "$out/hdr4k.tx"
        echo "round $round, now:" && "$build/bench_padded" "$out/photo4k.tx" "$out/hdr4k.tx"
    done
else
    "$build/bench_padded" "$out/photo4k.tx" "$out/hdr4k.tx"
fi
for tx in "$out/photo4k.tx" "$out/hdr4k.tx"; do
    "$build/txmill" info --json "$tx" |
        python3 -c 'import json, os, sys
i = json.load(sys.stdin)
total = os.path.getsize(sys.argv[1])
print("section of %s: %.1f %% of the file" % (os.path.basename(sys.argv[1]), 100.0 * i["border_section"]["bytes"] / total))' "$tx"
done
