#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill sample: colours, explanations, patches, JSON, errors.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$golden"/{rgb8.png,half-rgb.exr,gray-in-rgb.png} .
"$TXMILL" make -q -o rgb.tx rgb8.png && "$TXMILL" make -q -o half.tx half-rgb.exr && "$TXMILL" make -q -o grey.tx gray-in-rgb.png

# The centre of a pixel is that pixel: column 70, row 50 from the top of 300 x 200.
txm sample rgb.tx -u 0.235 -v 0.7475 --filter closest
check pixel python3 - out "$("$TXMILL" tile -t 1,0 rgb.tx | awk '$1 == 70 && $2 == 50 { print $3, $4, $5, $6 }')" <<'PY'
import sys
got = [float(x) for x in open(sys.argv[1]).read().split()]
assert got and all(abs(g * 255 - int(w)) < 1e-4 for g, w in zip(got, sys.argv[2].split())), (got, sys.argv[2])
PY
txm sample rgb.tx --u 0.01 --v 0.99 --dudx 0.02 --dvdy 0.02 --rule probes --mode trilinear --json
check json-adds-up json out 'all(abs(sum(t["weight"] * t["value"][c] for t in o[0]["taps"]) - o[0]["color"][c]) < 1e-5 for c in range(4)) and len(o[0]["taps"]) == 8 and abs(o[0]["level"] - 2) < 0.01'
if has_jsonschema; then check json-schema valid_json sample out; fi
txm sample rgb.tx --u 0.5 --v 0.5 --dudx 0.02 --dvdy 0.005 --rule probes --json
check json-probes json out 'o[0]["probes"] > 3 and {t["probe"] for t in o[0]["taps"]} == set(range(o[0]["probes"]))'
txm sample rgb.tx --u 1.5 -e clip --explain
check clipped grep -q clipped out
check clipped-colour grep -qx '0 0 0 0' out
txm sample half.tx --filter cubic --explain
check explained grep -q '^level .*: 0; 1 probe, 16 pixels$' out
check rows test "$(grep -c '^ *0 *0 ' out)" -eq 16
txm sample grey.tx --json
check grey json out 'o[0]["color"][0] == o[0]["color"][1] == o[0]["color"][2] and o[0]["color"][3] == 1'
# A locale with a decimal comma changes nothing.
txm sample rgb.tx --u 0.25 --filter smart
cp out plain
LC_ALL=de_DE.UTF-8 "$TXMILL" sample rgb.tx --u 0.25 --filter smart >comma
check locale cmp -s plain comma
# The same seed draws the same pixels, and another seed draws others.
"$TXMILL" sample rgb.tx --filter gaussian --seed 7 >a; "$TXMILL" sample rgb.tx --filter gaussian --seed 7 >b
check seed cmp -s a b
for s in 8 9 10 11 12; do "$TXMILL" sample rgb.tx --filter mitchell --seed $s; done | sort --u >others
check seeds test "$(wc -l <others)" -gt 1

# A patch of the whole image, pixel by pixel, is level 0.
gives patch 0 -- sample rgb.tx --grid 300x200 --filter closest -o patch.ppm
"$TXMILL" extract -q rgb.tx -o level.ppm 2>/dev/null || "$TXMILL" extract rgb.tx -o level.ppm >/dev/null
check patch-is-level cmp -s patch.ppm level.ppm
gives patch-small 0 -- sample rgb.tx --grid 64x64 -o small.png --rule probes --mode trilinear
for isa in scalar avx2; do
    TXMILL_ISA=$isa "$TXMILL" sample rgb.tx --grid 90x70 -o $isa.ppm --mode stochastic --filter cubic
done
check patch-isas cmp scalar.ppm avx2.ppm

# UDIM: the integer part selects the tile, holes are magenta, and one picture shows all of them.
cp rgb.tx wall.1001.tx; cp half.tx wall.1002.tx; cp grey.tx wall.1011.tx
gives udim 0 -- sample 'wall.<UDIM>.tx' --u 1.3 --v 0.6 --explain
check udim-one-line-of-colour test "$(head -n 1 out)" = "$("$TXMILL" sample half.tx --u 0.29999995 --v 0.6)"
check udim-named grep -q '^UDIM tile 1002: .*wall.1002.tx, at 0.299999952 0.6' out
txm sample 'wall.<UDIM>.tx' --u 2.3 --v 0.6 --explain
check udim-hole grep -qx '1 0 1 1' out
check udim-hole-named grep -qx 'UDIM tile 1003: no file' out
txm sample 'wall.<UDIM>.tx' -u -3 --explain
check udim-outside grep -qx 'no UDIM tile is possible here' out
txm sample 'wall.<UDIM>.tx' rgb.tx --v 1.5 --json
check udim-json json out 'len(o) == 2 and o[0]["udim"]["number"] == 1011 and o[0]["udim"]["file"].endswith("wall.1011.tx") and "udim" not in o[1]'
if has_jsonschema; then check udim-schema valid_json sample out; fi
gives udim-patch 0 -- sample 'wall.<UDIM>.tx' --grid 64x64 -o all.ppm
# Bottom left and bottom right are tiles; top right is magenta.
check udim-patch-tiles python3 - all.ppm <<'PY'
import sys
data = open(sys.argv[1], "rb").read()[-64 * 64 * 3:]
at = lambda x, y: data[3 * (64 * y + x):3 * (64 * y + x) + 3]
assert all(at(x, y) == b"\xff\0\xff" for x in range(32, 64) for y in range(32))
assert not any(at(x, y) == b"\xff\0\xff" for x in range(32) for y in range(64))
PY
mv wall.1001.tx wall.u1_v1.tx; mv wall.1002.tx wall.u2_v1.tx
txm sample 'wall.<UVTILE>.tx' --u 1.3 --v 0.6 --explain
check uvtile grep -q '^UDIM tile 1002: .*wall.u2_v1.tx' out

# These are refused with a reason.
refuses() { txm sample "${@:2}"; check "refuses-$1" rc_is 2; }
refuses no-file
refuses two-files rgb.tx half.tx --grid 4x4 -o patch.png
refuses grid-without-file rgb.tx --grid 10x10
refuses grid-of-two rgb.tx half.tx --grid 10x10 -o x.png
refuses file-without-grid rgb.tx -o x.png
refuses grid-of-nothing rgb.tx --grid 0x5 -o x.png
refuses grid-of-words rgb.tx --grid 5 -o x.png
refuses json-of-grid rgb.tx --grid 5x5 -o x.png --json
refuses no-seed rgb.tx --filter lanczos
refuses no-number rgb.tx --u abc
refuses anisotropy rgb.tx --anisotropy 17
refuses nan-bias rgb.tx --mip-bias nan
txm sample rgb.tx --grid 10x10 -o rgb.tx
check keeps-its-input test $rc -ne 0 -a "$("$TXMILL" info rgb.tx >/dev/null; echo $?)" -eq 0
txm sample missing.tx
check missing test $rc -ne 0
check missing-named grep -q missing.tx err
crashed=0
for f in "$TXM_TESTDATA"/tx/bad-*.tx; do
    "$TXMILL" sample --dudx 0.01 --dvdy 0.01 --mode trilinear "$f" >/dev/null 2>&1
    bad=$?
    [ $bad -eq 0 ] || [ $bad -eq 3 ] || { crashed=$((crashed + 1)); echo "    rc=$bad $f"; }
done
check hostile test $crashed -eq 0
# The manual has what every filter means: the text is cut where it does not fit.
check filters-described grep -q 'random pixels need' <<<"$("$TXMILL" --generate man-options sample | tr '\n' ' ')"
finish
