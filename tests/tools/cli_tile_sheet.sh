#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill tile --all: the places of tiles on the sheet, which ones are tinted, failures.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$golden"/{rgb8.png,half-rgb.exr} .
"$TXMILL" make -q -o rgb.tx rgb8.png && "$TXMILL" make -q -o half.tx half-rgb.exr
gives exit 0 -- tile --all -p 2 -o sheet.ppm rgb.tx
for t in 0,0 4,3 2,1; do "$TXMILL" tile -t $t -p 2 rgb.tx >"tile-$t.txt"; done
# 5 x 4 tiles of 64 px and 2 px on each side, lines between them, and labels of 7 px above.
check places python3 - <<'EOF'
data = open("sheet.ppm", "rb").read()
w, h = map(int, data.split()[1:3])
assert (w, h) == (5 * 69 + 1, 4 * 76 + 1), (w, h)
pixels = data[-w * h * 3:]
for tx, ty in (0, 0), (4, 3), (2, 1):
    rows = [list(map(int, l.split())) for l in open("tile-%d,%d.txt" % (tx, ty))]
    x0, y0 = min(r[0] for r in rows), min(r[1] for r in rows)
    x1, y1 = max(r[0] for r in rows), max(r[1] for r in rows)
    for x, y, r, g, b, a in rows:
        at = 3 * ((ty * 76 + 8 + y - y0) * w + tx * 69 + 1 + x - x0)
        border = x < x0 + 2 or y < y0 + 2 or x > x1 - 2 or y > y1 - 2
        want = [(v + t) // 2 for v, t in zip((r, g, b), (255, 0, 160))] if border else [r, g, b]
        assert list(pixels[at:at + 3]) == want, (tx, ty, x, y)
# The label of tile 1,0 exists and differs from that of 0,0.
label = lambda tx: [pixels[3 * ((2 + y) * w + tx * 69 + 2 + x):][:3] for y in range(5) for x in range(3)]
assert b"\xff\xd0\x40" in label(0) and b"\xff\xd0\x40" in label(1) and label(0) != label(1)
EOF
gives half-encoded 0 -- tile --all -l 2 -o half.png half.tx
gives needs-file 2 -- tile --all rgb.tx
gives no-json 2 -- tile --all --json -o x.png rgb.tx
gives no-level 2 -- tile --all -l 12 -o x.png rgb.tx
crashed=0
for f in "$TXM_TESTDATA"/tx/bad-*.tx; do
    "$TXMILL" tile --all -p 2 -o bad.png "$f" >/dev/null 2>&1
    rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 3 ] || { crashed=$((crashed + 1)); echo "    rc=$rc $f"; }
done
check hostile test $crashed -eq 0
finish
