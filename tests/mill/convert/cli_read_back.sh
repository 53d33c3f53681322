#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Files are read back before they are published. A file with a wrong header or directory never gets its name, and the
# good file with that name stays.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0

${CC:-cc} -D_GNU_SOURCE -O1 -shared -fPIC "$repo/tests/mill/convert/spoil.c" -o spoil.so -ldl || exit 1
cp "$TXM_TESTDATA/sources/palette-alpha.png" a.png
cp "$TXM_TESTDATA/sources/half-zip.exr" a.exr

hex() { printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n'; }
# spoiled NAME IMAGE FROM TO: the existing file stays, and the new one is dropped.
spoiled() {
    rm -rf blender_tx
    txm make -q -o old.tx "$2"
    cp -p old.tx before.tx
    run env LD_PRELOAD="$work/spoil.so" SPOIL_FROM="$3" SPOIL_TO="$4" "$TXMILL" make --force -o old.tx "$2"
    check "$1-fails" rc_is 4
    check "$1-says" says "read back"
    check "$1-keeps-the-old" cmp old.tx before.tx
    check "$1-leaves-nothing" test "$(find . -name '*.txm-tmp' | wc -l)" -eq 0
    run env LD_PRELOAD="$work/spoil.so" SPOIL_FROM="$3" SPOIL_TO="$4" "$TXMILL" make "$2"
    check "$1-publishes-nothing" test "$rc:$(find blender_tx -name '*.tx' 2>/dev/null | wc -l)" = 4:0
    # So it was the spoiled bytes that failed and nothing else.
    run env LD_PRELOAD="$work/spoil.so" SPOIL_FROM="$3" SPOIL_TO="$3" "$TXMILL" make --force -o old.tx "$2"
    check "$1-unspoiled" rc_is 0
}
# Tag 338, ExtraSamples: one 16-bit value, 0 (unspecified). If it is 1 or 2, some readers multiply by alpha.
spoiled extra-samples a.png 520103000100000000000000 520103000100000002000000
# Tag 262, PhotometricInterpretation: RGB becomes grey.
spoiled photometric a.png 060103000100000002000000 060103000100000001000000
spoiled exr-metadata a.exr "$(hex 'Plain Texture')" "$(hex 'Other Texture')"
finish
