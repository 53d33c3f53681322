#!/bin/sh
# make bench: makes the images, measures, prints and writes bench/results.md. BENCH="speed memory" runs only these groups.
set -eu
build=${1:-build}
scripts/setup.sh bench
bench/images.sh bench-images
exec python3 bench/bench.py "$build" bench-images ${BENCH:-}
