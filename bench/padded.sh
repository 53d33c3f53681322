#!/bin/sh
# Padded tiles a second on photo4k and hdr4k: padded.sh [BUILD [IMAGES]]. Prints a table; see bench/bench_padded.c.
set -eu
build=${1:-build}
images=${2:-bench-images}
make -s B="$build" "$build/bench_padded"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
TXMILL_PLUGINS=$PWD/$build
export TXMILL_PLUGINS
"$build/txmill" make -q "$images/photo4k.png" -o "$out/photo4k.tx"
"$build/txmill" make -q "$images/hdr4k.exr" -o "$out/hdr4k.tx"
"$build/bench_padded" "$out/photo4k.tx" "$out/hdr4k.tx"
for tx in "$out/photo4k.tx" "$out/hdr4k.tx"; do
    "$build/txmill" info --json "$tx" |
        python3 -c 'import json, os, sys
i = json.load(sys.stdin)
total = os.path.getsize(sys.argv[1])
print("section of %s: %.1f %% of the file" % (os.path.basename(sys.argv[1]), 100.0 * i["border_section"]["bytes"] / total))' "$tx"
done
