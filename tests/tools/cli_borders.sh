#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill borders and txmill tile with files of all programs.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
tx=$TXM_TESTDATA/tx
digest() { sha256sum <"$1" | cut -d' ' -f1; }
times() { stat -c '%y %a %U' "$1"; }

# ---- add and strip, on files of other programs -----------------------------------------------------------------------
for name in good-maketx-rgba8-zip-16.tx good-maketx-rgb8-lzw-16.tx good-maketx-gray16-none-16.tx \
    good-maketx-rgbfloat-zip-16.tx good-maketx-rgbahalf-zip-16.exr.tx good-maketx-rgbfloat-piz-32.exr.tx; do
    cp "$tx/$name" a.tx
    chmod 640 a.tx
    touch -d '2020-02-03 04:05:06.123456789' a.tx
    before=$(digest a.tx) then=$(times a.tx)
    "$TXMILL" tile a.tx -t 1,0 -p 2 -e mirror >gathered
    gives "add-$name" 0 -- borders --add a.tx
    check "add-keeps-time-and-mode-$name" test "$(times a.tx)" = "$then"
    check "image-untouched-$name" cmp -s -n "$(stat -c %s "$tx/$name")" a.tx "$tx/$name"
    check "same-pixels-$name" cmp -s gathered <("$TXMILL" tile a.tx -t 1,0 -p 2 -e mirror)
    gives check 0 prints "sound" -- borders --check a.tx
    gives "info-$name" 0 reports 'o[0]["border_section"]["state"] == "valid"' -- info --json a.tx
    added=$(digest a.tx)
    gives "add-again-$name" 0 prints "unchanged" -- borders --add a.tx
    check "add-again-leaves-$name" test "$(digest a.tx)" = "$added"
    gives "strip-$name" 0 -- borders --strip a.tx
    check "strip-restores-$name" test "$(digest a.tx)" = "$before"
    check "strip-keeps-time-$name" test "$(times a.tx)" = "$then"
done
check no-temporaries no_temporaries

# The section does not depend on the number of threads, nor on whether make or borders wrote it.
cp "$tx/good-txmill-rgba8-zip-borders-16.tx" a.tx
cp a.tx b.tx
"$TXMILL" borders --strip -q a.tx
for j in 1 2 5; do
    cp a.tx c.tx
    "$TXMILL" borders --add -q -j $j c.tx
    check "same-bytes-$j-threads" cmp -s b.tx c.tx
done

# ---- findings --------------------------------------------------------------------------------------------------------
cp "$tx/good-maketx-rgba8-zip-16.tx" a.tx
gives missing 5 says "no border section" -- borders --check a.tx
"$TXMILL" borders --add -q a.tx
size=$(stat -c %s "$tx/good-maketx-rgba8-zip-16.tx")
cp a.tx border.tx
printf '\xff\xff\xff\xff' | dd of=border.tx bs=1 seek=$((size + 200)) conv=notrunc status=none
gives damaged-border 5 says "border is damaged" -- borders --check border.tx
head -c $(($(stat -c %s a.tx) - 5)) a.tx >cut.tx
gives cut 5 reports 'o[0]["found"] == "damaged" and "cut off" in o[0]["finding"]' -- borders --check --json cut.tx
if has_jsonschema; then check json-schema valid_json borders out; else skip json-schema "python3-jsonschema is missing"; fi
txm borders --add cut.tx
check cut-is-replaced cmp -s cut.tx a.tx
sed 's/maketx rgba/maketx RGBA/' a.tx >stale.tx
gives stale 5 says "made for another image part" -- borders --check stale.tx
txm borders --strip stale.tx
check stale-strips test "$(stat -c %s stale.tx)" -eq "$size"

# ---- failures --------------------------------------------------------------------------------------------------------
gives no-action 2 -- borders a.tx
gives two-actions 2 -- borders --add --strip a.tx
gives no-file 2 -- borders --add
gives some-fail 3 last_line_is "TXMILL-ERROR code=3 failed=2 total=3" \
    -- borders --add --json nowhere.tx "$tx/unsupported-scanlines.tx" a.tx
check some-fail-json json out 'sum("error" in i for i in o) == 2 and len(o) == 3'
mkdir ro
cp "$tx/good-maketx-rgba8-zip-16.tx" ro/a.tx
if [ "$(id -u)" -eq 0 ] && id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
    chmod 755 ro
    run setpriv --reuid nobody --clear-groups "$TXMILL" borders --add ro/a.tx
    check unwritable-folder test "$rc" -ne 0
    check unwritable-folder-untouched cmp -s ro/a.tx "$tx/good-maketx-rgba8-zip-16.tx"
else
    skip unwritable-folder "needs root and setpriv"
fi
cp "$tx/good-maketx-rgba8-zip-16.tx" real.tx
ln -s real.tx link.tx
txm borders --add link.tx
check link-stays test -L link.tx
check link-target-changed test "$(stat -c %s real.tx)" -gt "$size"

# A killed run leaves the old file or the new one, complete.
for i in 1 2 3 4 5 6 7 8; do
    cp "$tx/good-maketx-rgba8-zip-16.tx" k.tx
    "$TXMILL" borders --add k.tx >/dev/null 2>&1 &
    pid=$!
    sleep "0.00$i"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    cmp -s k.tx "$tx/good-maketx-rgba8-zip-16.tx" || cmp -s k.tx a.tx || not_ok "killed-$i"
done
ok killed-runs-leave-a-whole-file
rm -f ./.k.tx.*.txm-tmp

# ---- the example, which uses only libtiff and zstd -------------------------------------------------------------------
run ${CC:-cc} -O1 -Wall -Werror "$repo/examples/read_padded_tile.c" -ltiff -lzstd -o example
check example-builds rc_is 0
for place in 0,0 3,0 1,1 0,2 3,2; do
    "$TXMILL" tile "$tx/good-txmill-rgba8-zip-borders-16.tx" -t $place -p 2 >want
    run ./example "$tx/good-txmill-rgba8-zip-borders-16.tx" ${place/,/ }
    check "example-$place" cmp -s want out
done
run ./example "$tx/good-maketx-rgba8-zip-16.tx" 0 0
check example-without-section rc_is 1

# ---- tile ------------------------------------------------------------------------------------------------------------
t=$tx/good-maketx-rgba8-zip-16.tx
gives tile 0 -- tile "$t"
check tile-lines test "$(wc -l <out)" -eq 256
check tile-line grep -qE '^15 15( [0-9]+){4}$' out
txm tile "$t" -t 3,2 -p 2
check edge-tile-lines test "$(wc -l <out)" -eq $(((2 + 4) * (4 + 4)))
check edge-tile-corner grep -qE '^46 30 ' out
txm tile "$t" -p 1 -e clip
check clip grep -qx -- '-1 -1 0 0 0 0' out
txm tile "$t" -o t.raw
check raw test "$(stat -c %s t.raw)" -eq 1024
txm tile "$t" --format raw
check raw-stdout cmp -s out t.raw
txm tile --json -l 5 "$t"
check tile-json json out 'o[0]["width"] == 1 and len(o[0]["values"]) == 4 and o[0]["data_type"] == "uint8"'
if has_jsonschema; then check tile-json-schema valid_json tile out; fi
gives picture-png 0 -- tile "$t" -p 2 -o t.png
gives picture 0 -- tile "$t" -p 2 -o t.tif
if command -v oiiotool >/dev/null; then
    oiiotool t.tif --cut 16x16+2+2 -d uint8 -o cut.tif >/dev/null 2>&1
    oiiotool "$t" --cut 16x16+0+0 -d uint8 -o want.tif >/dev/null 2>&1
    check picture-pixels oiiotool --fail 0 cut.tif want.tif --diff
else
    skip picture-pixels "oiiotool is missing"
fi
txm tile "$t" -o t.nosuchformat
check unknown-format test "$rc" -ne 0
check unknown-format-leaves-nothing test ! -e t.nosuchformat
gives outside 2 -- tile "$t" -t 9,9
gives no-place 2 -- tile "$t" -t 9
gives too-much-padding 2 -- tile "$t" -p 9
run env OCIO=/nowhere/config.ocio "$TXMILL" borders --check "$t"
check borders-need-no-config test "$rc" -ne 3
gives damaged-tile 3 says "level 0, tile 0,0" -- tile "$tx/bad-lzw-data.tx"
finish
