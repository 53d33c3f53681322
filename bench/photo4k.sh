#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The photo of the look-up benchmarks: photo4k.sh IMAGES makes IMAGES/photo4k.png, unless it is there.
set -eu
[ ! -e "$1/photo4k.png" ] || exit 0
mkdir -p "$1"
part=$(mktemp -d)
trap 'rm -rf "$part"' EXIT
oiiotool /usr/share/wallpapers/Patak/contents/images/5120x2880.png --resize 4096x4096 --ch R,G,B -d uint8 \
    -o "$part/photo4k.png"
mv "$part/photo4k.png" "$1/photo4k.png"
