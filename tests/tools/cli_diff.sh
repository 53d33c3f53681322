#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill diff: figures for known changes, thresholds, the picture, plain images, failures.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# Two images of 200x100 that differ in one red sample by 51 of 255.
pnm() { python3 - "$1" "$2" <<'EOF'
import sys
w, h, change = 200, 100, int(sys.argv[2])
data = bytearray(((x * 3 + y * 5 + c * 40) // 4) % 200 for y in range(h) for x in range(w) for c in range(3))
data[3 * (70 * w + 130)] += change
open(sys.argv[1], "wb").write(b"P6\n%d %d\n255\n" % (w, h) + bytes(data))
EOF
}
pnm a.ppm 0 && pnm b.ppm 51
"$TXMILL" make -q -o a.tx a.ppm && "$TXMILL" make -q -o b.tx b.ppm && "$TXMILL" make -q --tile 16 -o a16.tx a.ppm
cp "$golden/gray8.png" . && "$TXMILL" make -q -o grey.tx gray8.png && "$TXMILL" make -q --mono no --borders no -o rgba.tx gray8.png

gives same 0 -- diff a.tx a.tx
# The stored values are compared: no colour config is needed, and a broken one does not matter.
run env OCIO=/nowhere/config.ocio "$TXMILL" diff a.tx a.tx
check needs-no-config rc_is 0
gives one-sample 5 -- diff --json a.tx b.tx
check one-sample json out 'o[0]["levels"][0]["different"] == 1 and abs(o[0]["levels"][0]["max_error"] - 0.2) < 1e-6'
check one-sample-place json out '(lambda l: (l["worst_x"], l["worst_y"], l["worst_tile_x"], l["worst_tile_y"]))(o[0]["levels"][0]) == (130, 70, 2, 1)'
# 200 * 100 pixels of 4 channels; mean square 0.04 / 80000 is 63.01 dB.
check one-sample-figures json out 'abs(o[0]["levels"][0]["mean_error"] - 0.2 / 80000) < 1e-9 and abs(o[0]["levels"][0]["psnr"] - 63.0103) < 1e-3'
check all-levels json out 'len(o[0]["levels"]) == 8 and all(l["compared"] for l in o[0]["levels"])'
check metadata json out 'any(m["name"] == "oiio:SHA-1" and m["a"] != m["b"] for m in o[0]["metadata"])'
if has_jsonschema; then check schema valid_json diff out; fi
gives text 5 prints "tile 2,1 (pixel 130,70)" -- diff a.tx b.tx

# The one sample is within the first threshold, but not within the second.
threshold() { # OPTION PASSES FAILS
    gives "$1-pass" 0 -- diff "--$1" "$2" a.tx b.tx
    gives "$1-fail" 5 -- diff "--$1" "$3" a.tx b.tx
}
threshold max-error 0.21 0.19
threshold max-mean 0.1 0.0000001
threshold min-psnr 30 100
threshold max-share 100 0.001
gives threshold-not-a-number 2 -- diff --max-error x a.tx b.tx

# ---- other tile sizes, channels and sizes, plain images --------------------------------------------------------------
gives other-tiles 0 reports 'any(m["name"] == "tiles" for m in o[0]["metadata"])' -- diff --json a.tx a16.tx
gives metadata-decides 5 -- diff -m a.tx a16.tx
gives mono-is-grey 0 -- diff grey.tx rgba.tx
gives other-size 5 reports 'not o[0]["levels"][0]["compared"]' -- diff --json a.tx grey.tx
if has_jsonschema; then check schema-sizes valid_json diff out; fi
gives plain-image 0 -- diff a.tx a.ppm
txm diff --json b.ppm a.tx
check plain-image-differs json out 'len(o[0]["levels"]) == 1 and o[0]["levels"][0]["different"] == 1 and o[0]["metadata"] == []'

# Figures and picture do not depend on the number of threads. A plain image is read in order by one thread.
cp "$golden"/{half-rgb.exr,rgb8.png,wide.png} .
"$TXMILL" make -q -o half.tx half-rgb.exr && "$TXMILL" make -q -a none -c "Linear Rec.709" --tile 16 -o other.tx half-rgb.exr &&
    "$TXMILL" make -q -c Non-Color -o data.tx rgb8.png
for pair in "half.tx other.tx" "a.tx b.tx" "rgb8.png data.tx" "wide.png wide.png"; do
    for j in 1 2 7; do
        # shellcheck disable=SC2086
        rm -f "threads$j.ppm"
        "$TXMILL" diff --json -j $j -o "threads$j.ppm" $pair >threads$j
        rc=$?; [ $rc -eq 0 ] || [ $rc -eq 5 ] || echo "rc=$rc" >>threads$j
    done
    check "threads-${pair// /-}" cmp threads1 threads2
    check "threads-more-${pair// /-}" cmp threads1 threads7
    check "threads-picture-${pair// /-}" cmp threads1.ppm threads7.ppm
done

# ---- the picture -----------------------------------------------------------------------------------------------------
gives map 5 -- diff -o heat.ppm a.tx b.tx
check map python3 - <<'EOF'
data = open("heat.ppm", "rb").read()
assert data[:2] == b"P6" and data.split()[1:3] == [b"200", b"100"], data[:20]
pixels = data[-200 * 100 * 3:]
lit = [i // 3 for i in range(0, len(pixels), 3) if any(pixels[i:i + 3])]
assert lit == [70 * 200 + 130] and pixels[3 * lit[0]:3 * lit[0] + 3] == b"\xff\xff\xff", lit
EOF
txm diff -o nowhere/heat.ppm a.tx b.tx
check map-nowhere test "$rc" -ge 3

# ---- failures --------------------------------------------------------------------------------------------------------
gives one-file 2 -- diff a.tx
gives missing 3 -- diff --json a.tx missing.tx
if has_jsonschema; then check schema-error valid_json diff out; fi
head -c 3000 a.tx >cut.tx
gives cut 3 -- diff a.tx cut.tx
crashed=0
for f in "$TXM_TESTDATA"/tx/bad-*.tx; do
    "$TXMILL" diff a.tx "$f" >/dev/null 2>&1
    rc=$?
    [ $rc -eq 3 ] || [ $rc -eq 5 ] || { crashed=$((crashed + 1)); echo "    rc=$rc $f"; }
done
check hostile test $crashed -eq 0
finish
