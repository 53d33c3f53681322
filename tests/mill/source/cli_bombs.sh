#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A small file never costs gigabytes: files of every format that claim to be huge, by themselves and with --max-memory, which lifts
# the bounds; and honest images of one colour, which shrink most.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
if [ -n "${SANITIZED:-}" ]; then
    skip bombs "a sanitizer takes memory of its own"
    finish
fi
run python3 "$repo/tests/mill/source/bombs.py" "$TXMILL" 1150
check bombs-cost-little test "$rc" = 0 -a "$(wc -l <out)" = 1 -a "$(sed -n 's/^bombs //p' out)" -gt 40
gives bomb-names-the-option 3 says "--max-memory 30241M decodes it nevertheless" -- make -q bomb.jpg
python3 - <<'PY'
import struct
# An IFF of one tile that says 6000 x 6000 px; Targa of 5000 x 5000 px of one colour, by runs of palette indices.
data = bytearray(open("bomb.iff", "rb").read())
data[20:28] = struct.pack(">II", 6000, 6000)
open("less.iff", "wb").write(data)
row = b"\xff\1" * 39 + b"\x87\1"
open("mask.tga", "wb").write(struct.pack("<BBBHHBHHHHBB", 0, 1, 9, 0, 256, 24, 0, 0, 5000, 5000, 8, 0) + bytes(768) + row * 5000)
PY
gives bomb-refused 3 says "if an honest program wrote it; --max-memory" -- make -q less.iff
txm make -q --max-memory 2G less.iff
check bound-lifted test -z "$(grep honest err)"
rm -r blender_tx
gives bomb-names-the-variable 3 says "in other commands TXMILL_IMAGE_MEGABYTES=" -- check less.iff
run env TXMILL_IMAGE_MEGABYTES=2000 "$TXMILL" resolve less.iff
check bound-lifted-elsewhere test -z "$(grep honest err)"
gives mask-converts 0 -- make -q -c Non-Color mask.tga
# Less than the image needs is free. The image is not to blame, and the option decides again.
run bash -c "ulimit -v 900000; exec '$TXMILL' make -q -f -c Non-Color mask.tga"
check little-memory eval '[ $rc -eq 0 ] || rc_is 4'
finish
