# shellcheck shell=sh
# SPDX-License-Identifier: Apache-2.0
# Sourced by the benchmarks of lookups, with $build and $images set: makes $out/photo4k.tx in a folder of its own.
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bench/images.sh "$images" photo4k.png
TXMILL_PLUGINS=$PWD/$build
export TXMILL_PLUGINS
"$build/txmill" make -q "$images/photo4k.png" -o "$out/photo4k.tx"
