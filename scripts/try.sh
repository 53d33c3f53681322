#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The first command for a new user, on Debian 12: installs what is missing, builds, converts the sample images, and shows
# what it made.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build
echo "Building (a minute or two) ..."
make -s -j"$(nproc)"

samples=build/samples
rm -rf "$samples"
mkdir -p "$samples"
cp testdata/golden/{rgb8.png,gray-in-rgb.png,rgba8.tga,photo.jpg,rgba16-straight.tif,half-rgb.exr,light.hdr} "$samples"
PATH=$PWD/build:$PATH
cd "$samples"
show() {
    printf '\n$ %s\n' "$*"
    "$@"
}
show txmill make ./*.png ./*.tga ./*.jpg ./*.tif ./*.exr ./*.hdr
show txmill info blender_tx/rgb8.png* blender_tx/half-rgb.exr*
cat <<EOF

The tx files are in $samples/blender_tx, under the names that Cycles looks up.
The program is build/txmill; 'make install PREFIX=...' installs it.
EOF
