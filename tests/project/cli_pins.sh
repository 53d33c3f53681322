#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-pins: the versions that the build takes from PyPI have no published holes, as far as the list knows.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pins=$repo/scripts/deps.txt list=$repo/scripts/advisories.tsv
with() { sed "s/^\(.*  *openimageio\)==[0-9.]*/\1==$1/" "$pins" >pins; run "$repo/scripts/check_pins.py" pins "$list"; }

run "$repo/scripts/check_pins.py"
check pins-without-holes rc_is 0
with 3.1.13.1
check pins-affected rc_is 1
check pins-names-the-hole grep -q '^openimageio 3.1.13.1: CVE-2026-63638: Cineon: .* (fixed in 3.0.21.0, 3.1.16.0, 3.2.0.3)$' out
check pins-older-hole-fixed test -z "$(grep CVE-2026-43909 out)"
for version in 3.1.16.0 3.2.0.3 3.3.0.0; do
    with $version
    check "pins-fixed-in-$version" rc_is 0
done
for version in 3.0.21.0 3.2.0.1 2.5.18.0; do
    with $version
    check "pins-affected-$version" rc_is 1
done
# A hole may be kept with a reason, but only that one.
run "$repo/scripts/check_pins.py" "$pins" "$list"
check pins-kept-with-a-reason grep -q '^opencolorio .*; kept, because ' out
sed 's/\t[^\t]*2\.5\.0; such.*//' "$list" >list
run "$repo/scripts/check_pins.py" "$pins" list
check pins-no-reason rc_is 1
# Lists that do not fit together.
sed '/^headers *openimageio/s/==[0-9.]*/==3.1.18.0/' "$pins" >pins
run "$repo/scripts/check_pins.py" pins "$list"
check pins-two-versions grep -q 'openimageio is pinned as 3.1.18.0 and as ' out
{ cat "$pins" && echo "headers  pillow==11.0.0  $(printf '%064d' 0)" && echo "headers  zlib==1.3  none"; } >pins
run "$repo/scripts/check_pins.py" pins "$list"
check pins-unknown-package grep -q 'nothing about pillow 11.0.0' out
check pins-without-digest grep -q 'zlib==1.3 has no SHA-256' out
finish
