#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What tx files say as Blender's do, beyond tests/test_golden.c: names of colour spaces and channels; warnings of sources.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"
real=$repo/testdata/real

# A JPEG without its end marker is whole; one without its last rows is not.
txm make -o jpeg.tx "$real/no-eoi.jpg"
check no-end-marker-exit rc_is 0
check no-end-marker-warns says "no-eoi.jpg: its end marker is missing, but all its rows are there"
head -c 2700 "$real/no-eoi.jpg" >cut.jpg
txm make -o cut.tx cut.jpg
check cut-jpeg-exit rc_is 3
check cut-jpeg-says says "truncated: the file ends inside the image"
check cut-jpeg-makes-nothing test ! -e cut.tx

# What a converted space is called in the file is what was asked for; an alias is found again by its meaning.
cp "$golden/half-rgb.exr" .
for space in ACEScg lin_ap1 acescg; do
    txm make --colorspace "$space" half-rgb.exr
    made=$(sed -n 's/.*created  *\([^ ]*\).*/\1/p' "$work/out")
    txm info "$made"
    check "$space-as-asked" prints "detected as   $space"
    txm verify --deep "$made"
    check "$space-verifies" rc_is 0
done

# Channels as Blender's files have them.
txm info "$made"
check exr-container prints OpenEXR
check exr-channels grep -qaF "channels" "$made"
check exr-channel-names grep -qaP 'chlist\x00.{4}R\x00.{16}channel1\x00.{16}channel2\x00.{16}channel3\x00' "$made"
finish
