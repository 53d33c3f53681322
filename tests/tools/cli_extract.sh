#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill extract: the pixels of levels and of the atlas, encoding for viewing, failures.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$golden"/{rgb8.png,half-rgb.exr,gray8.png} .
"$TXMILL" make -q -o rgb.tx --mono no rgb8.png && "$TXMILL" make -q -o half.tx half-rgb.exr && "$TXMILL" make -q -o grey.tx gray8.png

# Level 0 is the source; every level is what diff sees in the tx file.
gives exit 0 -- extract --json -o zero.tif rgb.tx
check json json out 'o[0]["width"] == 300 and o[0]["height"] == 200 and o[0]["level"] == 0 and not o[0]["encoded"]'
if has_jsonschema; then check schema valid_json extract out; fi
"$TXMILL" diff zero.tif rgb.tx >/dev/null
check level-0 test $? -eq 0
txm extract -o zero.exr half.tx
"$TXMILL" diff zero.exr half.tx >/dev/null
check level-0-half test $? -eq 0
gives grey 0 -- extract -o grey.ppm grey.tx

# Tiles of level 1 are at their places.
txm extract -l 1 -o one.ppm rgb.tx
"$TXMILL" tile -l 1 -t 1,1 rgb.tx >tile.txt
check level-1 python3 - <<'EOF'
data = open("one.ppm", "rb").read()
assert data.split()[:3] == [b"P6", b"150", b"100"], data[:20]
pixels = data[-150 * 100 * 3:]
rows = [list(map(int, line.split())) for line in open("tile.txt")]
assert len(rows) == 64 * 36
for x, y, *rgba in rows:
    assert list(pixels[3 * (y * 150 + x):][:3]) == rgba[:3], (x, y)
EOF
txm extract --atlas --json -o atlas.ppm rgb.tx
check atlas json out 'o[0]["width"] == 450 and o[0]["height"] == 200 and o[0]["level"] is None'
check atlas-pixels python3 - <<'EOF'
def load(name):
    data = open(name, "rb").read()
    w, h = map(int, data.split()[1:3])
    return w, h, data[-w * h * 3:]
w, h, atlas = load("atlas.ppm")
w1, h1, one = load("one.ppm")
for y in range(h1):
    assert atlas[3 * (y * w + 300):][:3 * w1] == one[3 * y * w1:][:3 * w1], y
EOF

# ---- encoding --------------------------------------------------------------------------------------------------------
"$TXMILL" tile half.tx -l 3 >linear.txt
gives encoded 0 reports 'o[0]["encoded"] and o[0]["data_type"] == "uint8"' -- extract --json -l 3 -o view.ppm half.tx
check encoded-values python3 - <<'EOF'
def encode(v):
    v = 12.92 * v if v < 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055
    return int(min(max(v, 0), 1) * 255 + 0.5)
data = open("view.ppm", "rb").read()
w, h = map(int, data.split()[1:3])
pixels = data[-w * h * 3:]
n = 0
for line in open("linear.txt"):
    x, y, *v = line.split()
    for c in range(3):
        assert abs(pixels[3 * (int(y) * w + int(x)) + c] - encode(max(float(v[c]), 0))) <= 1, line
        n += 1
assert n == w * h * 3
EOF
gives raw 0 reports 'not o[0]["encoded"]' -- extract --raw --json -l 3 -o raw.ppm half.tx
check raw-differs test "$(cmp raw.ppm view.ppm >/dev/null; echo $?)" -eq 1

# ---- failures --------------------------------------------------------------------------------------------------------
gives no-output 2 -- extract rgb.tx
gives no-file 2 -- extract -o x.png
gives no-level 2 -- extract -l 12 -o x.png rgb.tx
gives missing 3 -- extract --json -o x.png missing.tx
if has_jsonschema; then check schema-error valid_json extract out; fi
# The object of a failure and the message on stderr say the same, and name the picture that is not written.
echo garbage >other.tx
txm extract --json -o x.png other.tx
check other-file json out 'o[0]["output"] == "x.png" and "not a tx file" in o[0]["error"]["message"]'
check other-file-same grep -qF "$(python3 -c 'import json; print(json.load(open("out"))["error"]["message"])')" err
txm extract -o nowhere/x.png rgb.tx
check nowhere test "$rc" -ge 3
gives unknown-format 3 -- extract -o x.unknown rgb.tx
crashed=0
for f in "$TXM_TESTDATA"/tx/bad-*.tx; do
    "$TXMILL" extract --atlas -o bad.png "$f" >/dev/null 2>&1
    rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 3 ] || { crashed=$((crashed + 1)); echo "    rc=$rc $f"; }
done
check hostile test $crashed -eq 0
finish
