#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares the texture cache with OpenImageIO's: cache.sh [BUILD [IMAGES]]. Prints tables; see bench/bench_cache.c.
set -eu
build=${1:-build}
images=${2:-bench-images}
. bench/photo4k.sh
"$build/bench_cache" "$out/photo4k.tx"
