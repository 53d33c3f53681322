#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares texture lookups with OpenImageIO's: lookup.sh [BUILD [IMAGES [RESULTS]]]. Prints tables, see
# bench/bench_lookup.c, and replaces those in RESULTS, by default bench/results.md; "-": replaces nothing. With the default
# the table by stages is also written to docs/performance.md.
set -eu
build=${1:-build}
images=${2:-bench-images}
results=${3:-bench/results.md}
. bench/photo4k.sh
{
    echo "## Texture lookups (make bench-lookup)"
    echo
    echo "photo4k.tx, RGBA8, all tiles in memory, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(date -u +%F); load"
    echo "before and after $(cut -d ' ' -f 1 /proc/loadavg) and @AFTER@. Trilinear by Cycles' footprint. Ratios are of one run, both sides in turn."
    echo
    "$build/bench_lookup" "$out/photo4k.tx"
    "$build/bench_lookup" -j 2 "$out/photo4k.tx"
} >"$out/tables"
sed -i "s/@AFTER@/$(cut -d ' ' -f 1 /proc/loadavg)/" "$out/tables"
cat "$out/tables"
[ "$results" != - ] || exit 0
# The section is replaced in place, or appended.
awk -v tables="$out/tables" '
    function put() { while ((getline line < tables) > 0) print line; done = 1 }
    /^## / { inside = /^## Texture lookups \(make bench-lookup\)/; if (inside) { put(); next } if (done == 1) { print ""; done = 2 } }
    !inside { print }
    END { if (!done) { print ""; put() } }' "$results" >"$out/results.md"
cp "$out/results.md" "$results"
[ "$results" = bench/results.md ] || exit 0
awk -v tables="$out/tables" '
    /^\| ns of CPU a lookup/ {
        while ((getline line < tables) > 0) {
            if (line ~ /^\| ns of CPU a lookup/) inside = 1
            else if (line !~ /^\|/) inside = 0
            if (inside) print line
        }
        old = 1
    }
    !/^\|/ { old = 0 }
    !old { print }' docs/performance.md >"$out/performance.md"
cp "$out/performance.md" docs/performance.md
