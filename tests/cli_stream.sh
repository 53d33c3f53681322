#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill stream: pictures that do not depend on who renders them, budgets, the tiles that Cycles asked for, what is refused.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/lib.sh"

if [ ! -e "$(dirname "$TXMILL")/txmill-embree.so" ]; then
    skip stream "built without Embree"
    finish
fi
cp "$golden"/{rgb8.png,rgba8.png} . && "$TXMILL" make -q -c sRGB -a straight rgb8.png rgba8.png
small=(--size 64x36 --samples 2)

# The same bits from every engine.
"$TXMILL" stream render room rgb8.png rgba8.png "${small[@]}" -q --engine reference -o reference.exr
for way in "--engine wave" "--engine wave --lanes 100 --cache 1M --policy lru" "--engine blocking -j 3" "--engine blocking --cache 512K --policy clock4 --tile 20"; do
    # shellcheck disable=SC2086
    txm stream render room rgb8.png rgba8.png "${small[@]}" -q $way -o way.exr
    check "runs $way" rc_is 0
    txm diff reference.exr way.exr
    check "same bits $way" rc_is 0
done
txm stream render room rgb8.png rgba8.png "${small[@]}" --json --html page.html --heat-level level.png --heat-misses misses.png -o room.png
check json-engine json out 'o[0]["engine"] == "wave" and o[0]["counts"]["paths"] == 64 * 36 * 2 and len(o[0]["images"]) == 2'
if has_jsonschema; then check json-schema valid_json stream out; fi
check page grep -q 'data:image/png;base64' page.html
check page-no-script test "$(grep -c '<script' page.html)" -eq 0
check heat test -s level.png -a -s misses.png -a -s room.png
txm stream render room rgb8.png rgba8.png "${small[@]}"
check text prints "million per second"

# A budget reads no tile, and names what the picture uses.
txm stream budget plane rgb8.png --size 128x72 --bounces 0 --samples 2 --json --tiles tiles.tsv
check budget-rc rc_is 0
if has_jsonschema; then check budget-schema valid_json stream out; fi
check budget-adds-up json out 'sum(l["used"] for l in o[0]["images"][0]["levels"]) == sum(1 for t in open("tiles.tsv")) - 1 and o[0]["render_tiles"][0]["peak_bytes"] == o[0]["touched_bytes"]'
txm stream budget plane rgb8.png --size 128x72
check budget-text prints "with the cache"

# What Cycles 5.2.2 asked for in a scene of six quads, 960 x 540, four samples. It draws its pixels' places with random
# numbers of its own: rims differ.
cp -r "$TXM_TESTDATA/cycles-tiles" cycles
python3 - <<'PY'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\0" + (b"\xaa\x33" * 256 if y // 64 % 2 else b"\x33\xaa" * 256) for y in range(4096))
for i in range(6):
    open("cycles/tex%d.png" % i, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4096, 4096, 1, 0, 0, 0, 0)) +
                                              chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))
PY
"$TXMILL" make -q -c sRGB -a straight cycles/tex?.png
txm stream budget cycles --samples 4 --bounces 0 --tiles ours.tsv
check cycles-rc rc_is 0
check cycles-tiles python3 - cycles/requests.tsv ours.tsv <<'PY'
import sys
cycles = {tuple(l.split("\t")) for l in open(sys.argv[1]).read().splitlines() if not l.startswith("#")}
ours = {(f[0], f[2], f[3], f[4]) for f in (l.split("\t") for l in open(sys.argv[2]).read().splitlines() if not l.startswith("#"))}
assert len(cycles) == 826 and len(cycles & ours) / len(cycles | ours) > 0.95, (len(cycles), len(ours), len(cycles & ours))
for level in "1234":
    a, b = ({t for t in s if t[1] == level} for s in (cycles, ours))
    assert len(a & b) / len(a | b) > 0.95, (level, len(a), len(b), len(a & b))
PY

# Refused, and why.
refuses() { txm stream "${@:3}"; check "refuses-$1" rc_is "$2"; }
refuses nothing 2
refuses no-scene 2 render
refuses word 2 paint room
refuses unknown 3 render nowhere
check names-scene says nowhere
refuses size 2 render room --size 0x3
refuses percent 2 render room --resolution 0
refuses budget-picture 2 budget room rgb8.png -o x.png
refuses tiles-of-picture 2 render room rgb8.png --tiles x.tsv
refuses images-of-folder 2 render cycles rgb8.png
refuses trace-of-reference 2 render room rgb8.png --engine reference --trace none.trace
txm stream render room rgb8.png "${small[@]}" -q --engine blocking --trace blocking.trace
check trace-has-tiles test "$(stat -c %s blocking.trace)" -gt 100
refuses over-input 2 render room rgb8.png -o rgb8.png
cp "$golden/rgb8.png" unmade.png
refuses missing-tx 3 render room unmade.png
check names-command says "txmill make"
printf 'txmill-scene 1\nsize 5 5\nquad x 0 0 0 1 0 0 0 1 0\n' >bad.txt && mkdir bad && mv bad.txt bad/scene.txt
refuses bad-scene 3 render bad
check names-line says "scene.txt:3: there is no material 'x' above"
check no-temporaries no_temporaries
finish
