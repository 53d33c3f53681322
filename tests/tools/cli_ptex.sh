#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ptex files: the output of info, verify, extract and view; damaged files; Ptex files beside tx files.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
cp "$TXM_TESTDATA"/ptex/*.ptx .
cp "$golden"/rgb8.png .
"$TXMILL" make -q -o rgb.tx rgb8.png

# ---- info -------------------------------------------------------------------------------------------------------------

gives info 0 prints "mesh          9 quads" prints "half, 3 channels; 576 texels" prints "8 x 8: 9" prints "levels        2" \
    -- info grid-half.ptx
txm info meta.ptx
check info-text prints "Author  string  somebody else"
check info-numbers prints "large  int32[2000]  0 1 2 3 4 5 6 7 8 9 .."
check info-cut prints "word wor.."
txm info --all meta.ptx
check info-all prints " 1998 1999"
txm info --all edits.ptx
check info-edits prints "3 of faces (2 faces), 1 of metadata"
check info-face prints "1           16 x 16     - - - -  edited"
gives info-json 0 -- info --json --all grid-u8.ptx edits.ptx meta.ptx triangles.ptx
if has_jsonschema; then check info-schema valid_json ptex-info out; else skip info-schema "python3-jsonschema is missing"; fi
check info-json json out '[(x["mesh"], x["faces"], x["channels"], x["levels"]) for x in o] == [("quads", 9, 1, 2), ("quads", 4, 2, 3), ("quads", 1, 1, 1), ("triangles", 4, 2, 3)]'
check info-json-edits json out '(o[1]["edited_faces"], o[1]["face_edits"], o[1]["metadata_edits"], o[1]["constant_faces"]) == (2, 3, 1, 1)'
check info-json-meta json out '{m["key"]: m["value"] for m in o[2]["metadata"]}["shorts"] == [-2, 300]'
# Each neighbour of a face has that face at the same edge.
check info-json-neighbours json out 'all(n < 0 or (o[0]["face_list"][n]["neighbours"][f["edges"][e]], o[0]["face_list"][n]["edges"][f["edges"][e]]) == (i, e) for i, f in enumerate(o[0]["face_list"]) for e, n in enumerate(f["neighbours"]))'
gives info 0 prints "2 files: 1" -- info grid-u8.ptx rgb.tx
mv grid-u8.ptx grid.tx
txm info grid.tx
check info-whatever-its-name prints "9 quads"
mv grid.tx grid-u8.ptx

# ---- verify -----------------------------------------------------------------------------------------------------------

gives verify 0 prints "$(find . -name '*.ptx' | wc -l) files: $(find . -name '*.ptx' | wc -l) good" -- verify ./*.ptx
txm verify --json star5.ptx tiled.ptx
if has_jsonschema; then check verify-schema valid_json ptex-verify out; fi
check verify-json json out '[(x["good"], x["damage"], x["one_sided_edges"]) for x in o] == [(True, None, 0)] * 2 and o[0]["blocks"] == 7 and o[1]["blocks"] == 9'
head -c 1000 sizes-u8.ptx >cut.ptx
gives verify-cut 5 prints "cut.ptx: damaged" -- verify cut.ptx
python3 - <<'EOF'
data = bytearray(open("sizes-float.ptx", "rb").read())
data[-100] ^= 16  # the last face's texels
open("bit.ptx", "wb").write(data)
data = bytearray(open("grid-u8.ptx", "rb").read())
data[4] = 2
open("newer.ptx", "wb").write(data)
EOF
gives verify-bit 5 prints "the texels of a face cannot be read" -- verify bit.ptx
txm verify --quiet bit.ptx star5.ptx
check verify-quiet test -z "$(grep star5 out)" -a -n "$(grep bit.ptx out)"
txm info newer.ptx
check newer-exit test "$rc" -ne 0
check newer-says says "Ptex version 2"
txm info --deep bit.ptx
check info-deep test "$rc" -ne 0
gives info-not-deep 0 -- info bit.ptx
txm verify missing.ptx
check missing says missing.ptx

# ---- extract ----------------------------------------------------------------------------------------------------------

# The expected texels come from the script that wrote the files. Pictures have v = 0 at the bottom.
cat >faces.py <<'EOF'
import sys, zlib
def pnm(path):
    data = open(path, "rb").read()
    kind, w, h, most = data.split(None, 4)[:4]
    w, h, n = int(w), int(h), 1 if kind == b"P5" else 3
    body = data[-w * h * n:]
    return w, h, [body[y * w * n:(y + 1) * w * n] for y in range(h)]
def expected(name, face, u, v):
    here = False
    for line in open(sys.argv[1]):
        words = line.split()
        if words[0] == "file":
            here = words[1] == name
        elif here and words[:4] == ["read", str(face), str(u), str(v)]:
            return int(words[4])
picture, name, face, u, v = sys.argv[2], sys.argv[3], *map(int, sys.argv[4:])
w, h, rows = pnm(picture)
assert (w, h) == (1 << u, 1 << v), (w, h)
assert zlib.crc32(b"".join(reversed(rows))) == expected(name, face, u, v)
EOF
texels() { python3 faces.py "$TXM_TESTDATA/ptex/expected.txt" "$@"; }
gives extract 0 -- extract --face 4 -o four.pgm grid-u8.ptx
check extract-face texels four.pgm grid-u8.ptx 4 3 3
txm extract --face 5 -l 1 --json -o five.ppm sizes-u8.ptx
check extract-level texels five.ppm sizes-u8.ptx 5 2 2
check extract-json json out 'o[0]["width"] == 4 and o[0]["level"] == 1 and o[0]["channels"] == 3 and o[0]["data_type"] == "uint8"'
if has_jsonschema; then check extract-schema valid_json extract out; fi
txm extract --face 0 -o whole.pgm tiled.ptx
check extract-tiled texels whole.pgm tiled.ptx 0 9 9
gives extract-exr 0 -- extract --face 0 -o float.exr sizes-float.ptx
gives sheet 0 -- extract -o sheet.pgm grid-u8.ptx
check sheet-size python3 -c 'assert open("sheet.pgm", "rb").read().split()[1:3] == [b"24", b"24"]'
txm extract --fit 12 --json -o fit.png grid-u8.ptx
check fit json out '(o[0]["width"], o[0]["height"], o[0]["level"]) == (12, 12, 1)'
txm extract --fit 1 -o no.png grid-u8.ptx
check fit-none test "$rc" -ne 0 -a ! -e no.png
txm extract --face 9 -o no.png grid-u8.ptx
check face-missing says "the file has 9, counted from 0"
txm extract --fit 4 --face 9 -o no.png grid-u8.ptx
check fit-face-missing says "the file has 9, counted from 0"
txm extract --face 2 -l 4 -o no.png grid-u8.ptx
check level-missing says "so it has levels 0 to 3"
gives face-no-number 2 -- extract --face x -o no.png grid-u8.ptx
txm extract --face 1 -o no.png rgb.tx
check face-of-tx says "--face is only for Ptex files"
txm extract --atlas -o no.png grid-u8.ptx
check atlas-of-ptex says "with --level"
txm extract --face 6 -l 3 -o no.png bit.ptx
check extract-damaged test "$rc" -ne 0 -a ! -e no.png
txm extract -o star5.ptx --format png --overwrite star5.ptx
check source-is-kept test "$rc" -ne 0
check source-is-whole cmp -s star5.ptx "$TXM_TESTDATA/ptex/star5.ptx"
# A file of another program is protected from every option as well.
txm extract -o star8.ptx --format png --overwrite star5.ptx
check other-is-kept test "$rc" -ne 0
txm view --html star8.ptx --overwrite star5.ptx
check page-is-no-ptex test "$rc" -ne 0
check other-is-whole cmp -s star8.ptx "$TXM_TESTDATA/ptex/star8.ptx"
txm tile -t 0,0 star8.ptx
check other-commands says "star8.ptx: is a Ptex file, not a tx file"
txm extract -o pictures/ grid-u8.ptx rgb.tx
check folder test -s pictures/grid-u8.png -a -s pictures/rgb.png

# ---- view -------------------------------------------------------------------------------------------------------------

gives view 0 prints "grid-u8.ptx: level 0 of 9 faces" -- view --format symbols --size 40x10 grid-u8.ptx
txm view --html page.html --json grid-u8.ptx polygon.ptx cut.ptx
check page json out '[("error" in x) for x in o] == [False, False, True] and o[0]["levels"] == [0]'
if has_jsonschema; then check page-schema valid_json view out; fi
check page-is-there test -s page.html
txm view --html both.html grid-u8.ptx rgb.tx
check page-of-both test "$rc" -eq 2 -a ! -e both.html
txm view --html none.html cut.ptx
check page-of-none test "$rc" -ne 0 -a ! -e none.html
txm view --html small.html --page-size 6 --json tiled.ptx
check page-small json out 'o[0]["levels"] == [9] and o[0]["pixel_bytes"] <= 6'
cat >look.py <<'EOF'
import sys
sys.path.insert(0, sys.argv[1])
import browser
if not browser.find():
    sys.exit(77)
with browser.Browser() as b:
    b.open(sys.argv[2], ready="document.body.dataset.ready")
    assert b.eval("document.querySelectorAll('section').length") == 3
    assert b.eval("document.querySelector('img').naturalWidth") == 24
    b.eval("(() => { const n = document.querySelector('input'); n.value = 4; n.dispatchEvent(new Event('input')); return 1; })()")
    assert b.eval("document.querySelectorAll('section')[0].querySelectorAll('.neighbour').length") == 4
    text = b.eval("document.querySelector('.face').textContent")
    assert text.startswith("face 4: 8 x 8 texels"), text
    assert b.eval("document.querySelectorAll('.error').length") == 1
    assert not b.problems, b.problems
EOF
run python3 look.py "$repo/tests/util" "$work/page.html"
if [ "$rc" -eq 77 ]; then skip page-in-browser "Chromium is missing"; else check page-in-browser rc_is 0; fi
# ---- folders ----------------------------------------------------------------------------------------------------------

mkdir -p folder/below
cp star3.ptx folder
cp star4.ptx rgb.tx folder/below
txm verify folder
check folder-verify prints "3 files: "
check folder-verify-finds prints "2 good"
txm info folder
check folder-info prints "3 files: "

# ---- scenes -----------------------------------------------------------------------------------------------------------

mkdir scene
cp grid-half.ptx triangles.ptx scene
python3 - <<'EOF'
import shutil
import struct
def ply(path, faces):
    with open(path, "wb") as o:
        o.write(b"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
                b"element face %d\nproperty list uchar int vertex_indices\nend_header\n" % (sum(map(len, faces)), len(faces)))
        for f in faces:
            for x, y in f:
                o.write(struct.pack("<3f", x, y, 0))
        at = 0
        for f in faces:
            o.write(struct.pack("<B%di" % len(f), len(f), *range(at, at + len(f))))
            at += len(f)
ply("scene/quads.ply", [[(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)] for y in range(3) for x in range(3)])
ply("scene/triangles.ply", [[(x, 3), (x + 1, 3), (x, 4)] for x in range(4)])
ply("scene/few.ply", [[(0, 0), (1, 0), (1, 1), (0, 1)]])
place = "1 0 0 0 0 1 0 0 0 0 1 0"
good = f"""txmill-scene 1
size 64 64
camera orthographic half 2 2 shift 0 0 clip 0.1 100 to-world 1 0 0 2 0 1 0 2 0 0 1 2
ptex "p" "grid-half.ptx" colorspace "Linear Rec.709"
ptex "t" "triangles.ptx" colorspace "Non-Color"
material "a" emission 1 1 1
texture "a" "p" input "Base Color"
material "b" emission 1 1 1
texture "b" "t" input "Base Color"
mesh "q" "quads.ply"
mesh "r" "triangles.ply"
mesh "few" "few.ply"
instance "q" "a" {place}
instance "r" "b" {place}
"""
open("scene/scene.txt", "w").write(good)
bad = {"count": f'instance "few" "a" {place}\n', "kind": f'instance "q" "b" {place}\n', "shape": 'sphere "a" 0 0 0 1\n',
       "world": 'world "p" projection latlong\n', "space": 'ptex "x" "grid-half.ptx" colorspace "ACEScg"\n',
       "gone": 'ptex "x" "gone.ptx" colorspace "sRGB"\n'}
for name, line in bad.items():
    shutil.copytree("scene", "bad-" + name)
    open(f"bad-{name}/scene.txt", "w").write(good + line)
EOF
gives scene-render 0 -- stream render scene --samples 2 -o wave.ppm --trace scene.trace --cache 1M
"$TXMILL" stream render scene --samples 2 -o blocking.ppm --engine blocking >/dev/null 2>&1
"$TXMILL" stream render scene --samples 2 -o reference.ppm --engine reference >/dev/null 2>&1
check scene-blocking cmp wave.ppm blocking.ppm
check scene-reference cmp wave.ppm reference.ppm
check scene-shows-something python3 -c 'import sys; sys.exit(len(set(open("wave.ppm", "rb").read()[-12288:])) < 50)'
# A process that may have few maps opens the files again for each read, also with few descriptors.
cat >limit.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
FILE *fopen64(const char *path, const char *mode)
{
    FILE *(*really)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen64");
    return strcmp(path, "/proc/sys/vm/max_map_count") ? really(path, mode) : fmemopen("1", 1, "r");
}
C
run ${CC:-cc} -shared -fPIC limit.c -o limit.so
check limit-compiles rc_is 0
(ulimit -n 64 && ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 LD_PRELOAD="$work/limit.so" \
    "$TXMILL" stream render scene --samples 2 -o few-maps.ppm >out 2>err)
check few-maps-picture cmp wave.ppm few-maps.ppm
check few-maps-said-once test "$(grep -c "2 of its Ptex files are opened again for each read" err)" -eq 1
txm replay scene.trace
check scene-replay prints "of 2 textures"
txm stream budget scene --samples 2
check scene-budget prints "grid-half.ptx"
while read -r name words; do
  txm stream budget "bad-$name" --samples 1
  check "scene-bad-$name" test "$rc" -ne 0
  check "scene-bad-$name-says" grep -qF -- "$words" err
done <<'EOF'
count its 9 faces are quads, but mesh "few" has 1 faces
kind its 4 faces are triangles, but mesh "q" has 9 faces
shape a Ptex file needs a mesh
world the world has no faces
space 'ACEScg' is not a colour space for Ptex files
gone gone.ptx
EOF

# ---- polygons of subfaces in scenes ------------------------------------------------------------------------------------

# Polygons are cut around their centre, at coordinates that are exact, so a mesh that is already cut looks the same.
mkdir whole cut order plain
python3 - <<'EOF'
def ply(path, faces):
    with open(path, "w") as o:
        o.write(f"ply\nformat ascii 1.0\nelement vertex {sum(map(len, faces))}\nproperty float x\nproperty float y\n"
                f"property float z\nelement face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n")
        for f in faces:
            o.writelines(f"{x} {y} 0\n" for x, y in f)
        at = 0
        for f in faces:
            print(len(f), *range(at, at + len(f)), file=o)
            at += len(f)
def moved(f, n):
    return [(x + 8 * (n % 4), y + 8 * (n // 4)) for x, y in f]
def cut(f):
    n = len(f)
    middle = [tuple((a + b) / 2 for a, b in zip(f[k], f[(k + 1) % n])) for k in range(n)]
    centre = tuple(sum(c) / n for c in zip(*f))
    return [f] if n == 4 else [[f[k], middle[k], centre, middle[k - 1]] for k in range(n)]
quad, three, five = [(0, 0), (6, 0), (6, 6), (0, 6)], [(0, 0), (6, 0), (0, 6)], [(2, 0), (6, 0), (8, 3), (4, 6), (0, 1)]
whole = [moved(f, i) for i, f in enumerate([quad] * 5 + [three, three, quad, five, quad])]
ply("whole/m.ply", whole)
ply("cut/m.ply", [q for f in whole for q in cut(f)])
ply("order/m.ply", whole[::-1])
ply("plain/m.ply", [five])
scene = """txmill-scene 1
size 64 64
camera orthographic half 16 16 shift 0 0 clip 0.1 100 to-world 1 0 0 15 0 1 0 12 0 0 1 2
material "a" emission 1 1 1
mesh "m" "m.ply"
instance "m" "a" 1 0 0 0 0 1 0 0 0 0 1 0
"""
texture = 'ptex "p" "../disney/sub_u8_mixed.ptx" colorspace "sRGB"\ntexture "a" "p" input "Base Color"\n'
for folder in ("whole", "cut", "order", "plain"):
    lines = scene if folder == "plain" else scene.replace('mesh "m"', texture + 'mesh "m"', 1)
    open(folder + "/scene.txt", "w").write(lines)
EOF
cp -r "$TXM_TESTDATA/ptex/disney" .
for scene in whole cut plain; do
  gives "subfaces-$scene" 0 -- stream render $scene --samples 2 -o $scene.ppm
done
check subfaces-equal cmp whole.ppm cut.ppm
check subfaces-seen python3 -c 'import sys; sys.exit(len(set(open("whole.ppm", "rb").read()[-12288:])) < 50)'
check subfaces-polygon python3 -c 'import sys; sys.exit(max(open("plain.ppm", "rb").read()[-12288:]) < 200)'
txm stream render order --samples 2 -o order.ppm
check subfaces-order eval 'rc_is 3 && says "its polygons are in a different order than when it was painted"'

# ---- lists that deflate has shrunk a thousand times ------------------------------------------------------------------------
python3 - <<'PY'
import struct, zlib
faces, levels = 3000000, 16
pack = lambda n: zlib.compress(bytes(n), 9)
face, constant, level = pack(faces * 20), pack(faces), pack(faces * 4)
infos = struct.pack("<QII", len(level), len(level), faces) * levels
head = struct.pack("<4sIIIiHHIIIIIIQII", b"Ptex", 1, 1, 0, -1, 1, levels, faces, 40, len(face), len(constant), len(infos), 3,
                   len(level) * levels, 0, 0)
open("bomb.ptx", "wb").write(head + bytes(40) + face + constant + infos + level * levels)
PY
printf 'v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n' >quad.obj
gives bomb-verify 5 prints "the lists of its faces would take" -- verify bomb.ptx
for command in info "make --mesh quad.obj" "extract -o bomb.png" "view --html bomb.html"; do
    # shellcheck disable=SC2086
    gives "bomb-${command%% *}" 3 says "the lists of its faces would take" -- $command bomb.ptx
done
megabytes=$(sed -n 's/.*TXMILL_PTEX_MEGABYTES=\([0-9]*\).*/\1/p' err | head -n 1)
run env TXMILL_PTEX_MEGABYTES=1 "$TXMILL" info "$TXM_TESTDATA/ptex/grid-u16.ptx"
check small-is-small rc_is 0
check bomb-names-what-it-needs test "${megabytes:-0}" -gt 600
check no-temporaries no_temporaries
finish
