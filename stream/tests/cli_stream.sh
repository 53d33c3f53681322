#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill stream: pictures that do not depend on the engine, budgets, the tiles that Cycles requested, errors.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

cp "$golden"/{rgb8.png,rgba8.png} . && "$TXMILL" make -q -c sRGB -a straight rgb8.png rgba8.png
small=(--size 64x36 --samples 2)

# Every engine gives the same bits.
"$TXMILL" stream render room rgb8.png rgba8.png "${small[@]}" -q --engine reference -o reference.exr
for way in "--engine wave" "--engine wave --lanes 100 --cache 1M --policy lru" "--engine blocking -j 3" "--engine blocking --cache 512K --policy render-tiles --tile 20"; do
    # shellcheck disable=SC2086
    gives "runs $way" 0 -- stream render room rgb8.png rgba8.png "${small[@]}" -q $way -o way.exr
    gives "same bits $way" 0 -- diff reference.exr way.exr
done
# Lookups on devices; a plug-in for tests makes two devices from the processor.
for way in "--device cuda" "--device cuda:0,cuda:1 --cache 1M --lanes 100 --policy lru" "--device cuda:1 --device-memory 300K"; do
    # shellcheck disable=SC2086
    TXM_FAKE_DEVICES=2 TXMILL_PLUGINS=${TXM_BUILD:-$repo/build}/tests/gpu txm stream render room rgb8.png rgba8.png "${small[@]}" --json $way -o way.exr
    check "runs $way" rc_is 0
    check "copies $way" json out 'all(d["tile_copies"] <= d["launches"] and d["table_copies"] <= d["launches"] == d["syncs"] and not d["lost"] for d in o[0]["devices"]) and sum(d["tiles_copied"] for d in o[0]["devices"])'
    gives "same bits $way" 0 -- diff reference.exr way.exr
done
txm stream render room rgb8.png rgba8.png "${small[@]}" -q --engine blocking --device cuda -o way.exr
check device-needs-wave says "wave engine"
# The world is sampled by its brightness. Engines, and any number of lanes, give the same picture.
"$TXMILL" stream render sphere rgb8.png "${small[@]}" -q --engine reference -o world.exr
for way in "--lanes 1 --cache 300K" "--lanes 1048576" "--engine blocking -j 2 --tile 16 --cache 300K" "--trace world.trace --trace-lookups"; do
    # shellcheck disable=SC2086
    gives "world runs $way" 0 -- stream render sphere rgb8.png "${small[@]}" -q $way -o way.exr
    gives "world same bits $way" 0 -- diff world.exr way.exr
done
# Images of one pixel have no tx files, because Cycles uses them as they are. Theirs are made for the run only.
cp "$golden/one.png" pixel.png
mkdir none
within() { TMPDIR=$PWD/none txm "$@"; }
TMPDIR=$PWD/none "$TXMILL" stream render room pixel.png rgb8.png "${small[@]}" -q --engine reference -o pixel-reference.exr
within stream render room pixel.png rgb8.png "${small[@]}" -q --cache 300K -o pixel.exr
check pixel-runs rc_is 0
gives pixel-bits 0 -- diff pixel-reference.exr pixel.exr
within stream budget room rgb8.png pixel.png "${small[@]}" --json
check pixel-budget json out 'o[0]["images"][1]["image"].endswith("pixel.png") and 0 < o[0]["images"][1]["used_bytes"] <= 400'
check pixel-leaves-nothing test -z "$(ls -A none)"
TMPDIR=$PWD/pixel.png txm stream budget room rgb8.png pixel.png "${small[@]}"
check pixel-no-folder test "$rc" -ne 0
check pixel-no-folder-says says "pixel.png: cannot make a tx file of its pixel in TMPDIR: Not a directory"
txm stream budget sphere rgb8.png "${small[@]}" --json
used=$(python3 -c 'import json; print(json.load(open("out"))["images"][0]["used_bytes"])')
txm stream render sphere rgb8.png "${small[@]}" --json
check world-budget json out 'o[0]["images"][0]["used_bytes"] == '"$used"
txm stream render room rgb8.png rgba8.png "${small[@]}" --json --html page.html --heat-level level.png --heat-misses misses.png --heat-tiles tiles.png -o room.png
check json-engine json out 'o[0]["engine"] == "wave" and o[0]["counts"]["paths"] == 64 * 36 * 2 and len(o[0]["images"]) == 2'
if has_jsonschema; then check json-schema valid_json stream out; fi
check json-memory json out 'o[0]["memory"][-1]["samples"] == 64 * 36 * 2 and 0 < max(m["tile_bytes"] for m in o[0]["memory"]) <= o[0]["peak_bytes"]'
check json-cache json out '(lambda c: len(c["texture_stats"]) == c["textures"] == 2 and sum(t["loads"] for t in c["texture_stats"]) == c["tiles_loaded"] == o[0]["tiles_loaded"] and all(t["path"].endswith(".tx") and len(t["levels"]) and sum(l["loads"] for l in t["levels"]) == t["loads"] for t in c["texture_stats"]) and "working set" in c["verdict"] and c["policy"] == "render-tiles" and c["max_bytes"] > 0)(o[0]["cache"])'
check json-touched json out 'all(len(i["touched"]) == sum(l["used"] for l in i["levels"]) > 0 for i in o[0]["images"])'
check json-cost json out 'sum(i["loads"] for i in o[0]["images"]) == o[0]["tiles_loaded"] and all(i["load_seconds"] > 0 and i["failures"] == 0 and i["failure"] is None for i in o[0]["images"])'
cp out render.json
run python3 "$repo/tests/util/page_data.py" page.html
check page json out '(lambda r, i: r["counts"] == i["counts"] and len(r["images"]) == 2 and not any("touched" in x for x in r["images"]))(o[0]["report"], json.load(open("render.json")))'
check page-maps json out '[p["place"] for p in o[0]["pictures"]] == ["picture"] + ["maps"] * 3 + ["tiles"] * 2'
check heat test -s level.png -a -s misses.png -a -s room.png -a -s tiles.png
txm stream render room rgb8.png rgba8.png "${small[@]}"
check text prints "million per second"

# A world's strength multiplies its image; the default is 1.
mkdir sky
for strength in "" " strength 1" " strength 2"; do
  printf '%s\n' 'txmill-scene 1' 'size 48 27' 'camera perspective half 0.5 0.3 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 0 -1 0 0 1 0 0' \
    'image sky "../rgb8.png" colorspace "sRGB" alpha straight extension repeat interpolation linear' "world sky projection latlong$strength" >sky/scene.txt
  "$TXMILL" stream render sky -q -o "sky${strength// /-}.exr"
done
gives world-strength-default 0 -- diff sky.exr sky-strength-1.exr
oiiotool sky.exr --mulc 2,2,2,1 -o doubled.exr
gives world-strength 0 -- diff doubled.exr sky-strength-2.exr

# A mesh that its matrix flattens is rendered flat, and rays are not sent into directions that do not exist.
mkdir flat && python3 - <<'PY'
import struct
corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
faces = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
open("flat/m.ply", "wb").write(b"ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
                               b"element face 4\nproperty list uchar int vertex_indices\nend_header\n" +
                               b"".join(struct.pack("<3f", *c) for c in corners) + b"".join(struct.pack("<B3i", 3, *f) for f in faces))
PY
flat() { # NAME MATRIX: renders the mesh with this matrix, from above
  printf '%s\n' 'txmill-scene 1' 'size 48 48' 'camera orthographic half 2 2 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 5' \
    'world color 0 0 0' 'material white emission 1 1 1' 'mesh m "m.ply"' "instance m white $2" >flat/scene.txt
  gives "flat-$1" 0 -- stream render flat --bounces 0 -q --overwrite -o "$1.exr"
}
flat solid '1 0 0 0 0 1 0 0 0 0 1 0'
flat thin '1 0 0 0 0 1 0 0 0 0 0 0'
flat tiny '1 0 0 0 0 1 0 0 0 0 1e-30 0'
flat skewed '1 0 0 0.02 -1.2 0 1 0 0 0 0 1'
flat huge '1e38 1e38 0 0 0 1e38 1e38 1e38 0 0 1e38 0'
for same in thin tiny; do
  gives "flat-$same-is-seen" 0 -- diff solid.exr "$same.exr"
done

# Tiles that Cycles reads in addition to sample the world's light: as many as Blender 5.2.3 read for maps of these
# sizes, by the offsets of its reads.
mkdir hdri && python3 - <<'PY'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\0" + b"\xaa\x33" * 256 for y in range(2048))
open("hdri/sky.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4096, 2048, 1, 0, 0, 0, 0)) +
                                 chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))
PY
"$TXMILL" make -q -c sRGB -a straight hdri/sky.png
world_map() { # NAME SAMPLING TEST
  printf '%s\n' 'txmill-scene 1' 'size 64 36' 'camera perspective half 0.36 0.2 shift 0 0 clip 0.1 1000 to-world 1 0 0 0 0 1 0 0 0 0 1 5' \
    'image sky "sky.png" colorspace "sRGB" alpha straight extension repeat interpolation linear' "world sky projection latlong$2" \
    'material floor diffuse 0.8 0.8 0.8' 'quad floor -50 -50 0 100 0 0 0 100 0' >hdri/scene.txt
  txm stream budget hdri --json
  check "world-map-$1" json out "$3"
}
at='o[0]["world_map"]'
world_map automatic '' "$at == dict(columns=4096, rows=2048, tiles=2048+64+32+16+2, bytes=$at['bytes'], extra_bytes=$at['extra_bytes']) and 0 < $at['extra_bytes'] < $at['bytes']"
if has_jsonschema; then check world-map-schema valid_json stream out; fi
world_map 256 ' sampling manual 256' "$at['tiles'] == 32 + 2 and sum(l['used'] for l in o[0]['images'][0]['levels'][:4]) == 0"
world_map 1024 ' sampling manual 1024' "$at['tiles'] == 512 + 32 + 16 + 2"
world_map 2048 ' sampling manual 2048' "$at['tiles'] == 2048 + 64 + 32 + 16 + 2"
world_map none ' sampling none' "$at is None"
if has_jsonschema; then check world-map-schema-none valid_json stream out; fi
world_map mapped ' mapping 0 1 0 0 -1 0 0 0 0 0 1 0 sampling manual 1024' "$at['tiles'] == 512 + 32 + 16 + 2"
txm stream budget hdri
check world-map-text prints "562 tiles of its image, which Cycles samples in 1024 x 512 directions"

# A budget reads no tile and names the textures that the picture uses.
gives budget-rc 0 -- stream budget plane rgb8.png --size 128x72 --bounces 0 --samples 2 --json --tiles tiles.tsv
if has_jsonschema; then check budget-schema valid_json stream out; fi
check budget-adds-up json out 'sum(l["used"] for l in o[0]["images"][0]["levels"]) == sum(1 for t in open("tiles.tsv")) - 1 and o[0]["render_tiles"][0]["peak_bytes"] == o[0]["touched_bytes"]'
check budget-by-image json out 'all(sum(i["resolutions"][r]["used_bytes"] for i in o[0]["images"]) == o[0]["resolutions"][r]["used_bytes"] for r in range(3)) and o[0]["images"][0]["resolutions"][0]["used_bytes"] == o[0]["images"][0]["used_bytes"]'
txm stream budget plane rgb8.png --size 128x72
check budget-text prints "with the cache"

# The tiles that Cycles 5.2.2 requested in a scene of six quads, 960 x 540, four samples. It draws positions in pixels
# with other random numbers, so edges differ.
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
walls=(cycles/tex?.png)
[ -z "${SANITIZED:-}" ] || walls=(cycles/tex0.png)
"$TXMILL" make -q -c sRGB -a straight "${walls[@]}"
if [ -n "${SANITIZED:-}" ]; then
  skip cycles "the plain pass compares the tiles"
else
  gives cycles-rc 0 -- stream budget cycles --samples 4 --bounces 0 --tiles ours.tsv
  check cycles-tiles python3 - cycles/requests.tsv ours.tsv <<'PY'
import sys
cycles = {tuple(l.split("\t")) for l in open(sys.argv[1]).read().splitlines() if not l.startswith("#")}
ours = {(f[0], f[2], f[3], f[4]) for f in (l.split("\t") for l in open(sys.argv[2]).read().splitlines() if not l.startswith("#"))}
assert len(cycles) == 826 and len(cycles & ours) / len(cycles | ours) > 0.95, (len(cycles), len(ours), len(cycles & ours))
for level in "1234":
    a, b = ({t for t in s if t[1] == level} for s in (cycles, ours))
    assert len(a & b) / len(a | b) > 0.95, (level, len(a), len(b), len(a & b))
PY
fi

# Without --samples a budget stops when further samples would find hardly anything new, also if a scene has fewer, and
# reports how certain it is.
mirror() { # LINE...: a scene of one wall, seen in a slightly rough mirror
  mkdir -p mirror && printf '%s\n' 'txmill-scene 1' "$@" 'size 192 108' \
    'camera perspective half 0.5 0.28 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 0' \
    'image t "../cycles/tex0.png" colorspace "sRGB" alpha straight extension repeat interpolation linear' \
    'material wall diffuse 1 1 1' 'texture wall t input "Base Color" uv "" transform 1 0 0 0 1 0' \
    'material shiny glossy 1 1 1 roughness 0.01' 'quad shiny -5 -5 -3 10 0 0 0 10 0' 'quad wall -20 -20 2 40 0 0 0 40 0' >mirror/scene.txt
}
budget_of() { # NAME LINE...: the budget of that scene
  mirror "${@:2}"
  txm stream budget mirror --json
  cp out "$1.json"
}
budget_of samples-few 'samples 3'
still_growing() { # FILE DOUBLINGS: what the last doubling found, for each of those that are left until so many
  json "$1" "3 < o[0]['samples'] <= 64 and (o[0]['samples'] == 64 or o[0]['growth'] * ($2 - o[0]['samples'].bit_length() + 1) < 0.03)"
}
check samples-more-than-the-scene still_growing samples-few.json 5
check samples-of-scene json samples-few.json 'o[0]["scene_samples"] == 3 and o[0]["missing_tiles"] == 0'
mirror 'samples 4096'
txm stream budget mirror --json --samples 2
check samples-missing json out 'o[0]["samples"] == 2 and o[0]["growth"] > 0.02 and o[0]["missing_tiles"] > 0 and o[0]["missing_bytes"] > 0'
if [ -z "${SANITIZED:-}" ]; then
  budget_of samples-many 'samples 4096'
  check samples-until-enough still_growing samples-many.json 8
  # The estimate of missing tiles is close to what many samples find.
  enough=$(python3 -c 'import json; print(json.load(open("samples-many.json"))["tiles"])')
  txm stream budget mirror --json --samples 8
  check samples-expected json out "abs(o[0]['tiles'] + o[0]['missing_tiles'] - $enough) < 0.25 * $enough"
fi
txm stream budget mirror --json --samples 1
check samples-one json out 'o[0]["growth"] is None'
txm stream budget mirror --samples 1
check samples-one-text prints "one sample does not show"
txm stream budget mirror --samples 4
check samples-text prints "the second half of the samples found"

# All missing tx files are named at once, with the command that makes them as the scene uses them, also with a cache
# folder.
mkdir -p lacking/set && cp rgb8.png lacking/a.png && cp rgba8.png lacking/b.png
cp rgb8.png lacking/set/u.1001.png && cp rgb8.png lacking/set/u.1002.png
printf '%s\n' 'txmill-scene 1' 'size 8 8' 'camera orthographic half 1 1 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 5' \
  'image a "a.png" colorspace "sRGB" alpha straight extension repeat interpolation linear' \
  'image a2 "a.png" colorspace "sRGB" alpha straight extension clip interpolation cubic' \
  'image n "a.png" colorspace "Non-Color" alpha none extension repeat interpolation linear' \
  'image b "b.png" colorspace "Non-Color" alpha channel_packed extension repeat interpolation linear' \
  'image u "set/u.<UDIM>.png" colorspace "sRGB" alpha straight extension repeat interpolation linear udim 1001 1002' \
  'material m diffuse 1 1 1' 'texture m a input "Base Color" uv "" transform 1 0 0 0 1 0' 'quad m -1 -1 0 2 0 0 0 2 0' >lacking/scene.txt
for verb in budget render; do
  gives "lacking-$verb" 3 -- stream $verb lacking
  check "lacking-all-$verb" test "$(grep -c 'its tx file is missing' err)" -eq 5
  check "lacking-says-$verb" says "lacking: 5 of its tx files are missing or outdated; make them with 'txmill make lacking'"
done
txm make --help
check lacking-make-help prints "a folder with scene.txt"
gives lacking-make 0 -- make lacking
gives lacking-made 0 -- stream budget lacking -q
check lacking-made-5 test "$(ls lacking/blender_tx/*.tx lacking/set/blender_tx/*.tx | wc -l)" -eq 5
rm lacking/blender_tx/b.png.*
txm stream budget lacking
check lacking-one says "1 of its tx files is missing or outdated; make it with"
# Files that do not exist at all cannot be made; a built-in scene without images has no texture.
mkdir gone && sed 's/"[^"]*\.png"/"gone.tx"/' mirror/scene.txt >gone/scene.txt
txm stream render gone
check gone says " of the files that it names do"
check gone-is-not-made eval 'rc_is 3 && says "check its paths" && ! says "txmill make"'
txm stream budget room
check budget-needs-images eval 'rc_is 2 && says "as in '"'txmill stream budget room wood.png'"'"'
txm stream budget lacking --cache-dir "$PWD/other"
check lacking-elsewhere says "txmill make -d $PWD/other lacking"
txm make -d "$PWD/other" lacking
gives lacking-elsewhere-made 0 -- stream budget lacking --cache-dir "$PWD/other"
# Paths of the machine that exported the scene.
mkdir windows && sed 's|"a.png"|"P:\\\\tex\\\\a.png"|; s|"set/u|"p:/tex/set/u|; s|"b.png"|"/Volumes/b.png"|' lacking/scene.txt >windows/scene.txt
maps=(--path-map "P:\\tex $PWD/lacking" --path-map "/Volumes $PWD/lacking")
txm stream budget windows "${maps[@]:0:2}" --cache-dir "$PWD/other"
check paths-one-missing says "windows: 1 of the files that it names does not exist"
gives paths-option 0 -- stream budget windows "${maps[@]}" --cache-dir "$PWD/other"
printf 'map = p:/ %s/nowhere\n' "$PWD" >windows/.txmill
TXMILL_MAP="P:\\tex $PWD/lacking" txm stream render windows --path-map "/Volumes $PWD/lacking" --cache-dir "$PWD/other"
check paths-variable rc_is 0
printf 'map = P:\\tex\\ %s/lacking\nmap = /Volumes %s/lacking\n' "$PWD" "$PWD" >windows/.txmill
for command in "stream budget windows" "make -n windows" "check windows"; do
  # shellcheck disable=SC2086
  gives "paths-setting $command" 0 -- $command --cache-dir "$PWD/other"
done
printf 'some notes' >lacking/set/scene.txt
gives folder-with-notes 0 -- make lacking/set -c sRGB -a straight
printf 'txmill-scene 1\nimage' >lacking/set/scene.txt
gives folder-bad-scene 3 says "scene.txt:2" -- make lacking/set

# A magnified image does not take more at a lower resolution, if both of its finest levels are drawn. The figures are
# those of the requested resolution.
printf '%s\n' 'txmill-scene 1' 'samples 4' 'size 192 108' \
  'camera perspective half 0.5 0.28 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 1' \
  'image t "../rgb8.png" colorspace "sRGB" alpha straight extension repeat interpolation linear' \
  'image u "../cycles/tex0.png" colorspace "sRGB" alpha straight extension repeat interpolation linear' \
  'material wall diffuse 1 1 1' 'texture wall t input "Base Color" uv "" transform 1 0 0 0 1 0' \
  'texture wall u input "Roughness" uv "" transform 1 0 0 0 1 0' 'quad wall -0.5 -0.4 -0.2 1 0 0 0 0.8 -0.5' >mirror/scene.txt
txm stream budget mirror --json
cp out full.json
check half-is-no-more json full.json 'all(i["resolutions"][r]["used_bytes"] <= i["resolutions"][r-1]["used_bytes"] for i in o[0]["images"] for r in (1, 2))'
check half-adds-up json full.json 'all(sum(i["resolutions"][r]["used_bytes"] for i in o[0]["images"]) == o[0]["resolutions"][r]["used_bytes"] for r in range(3))'
txm stream budget mirror --json --resolution 50
check half-asked-for json out '[r["resolution"] for r in o[0]["resolutions"]] == [0.5, 0.25, 0.125] and o[0]["touched_bytes"] == o[0]["resolutions"][0]["used_bytes"]'
check half-asked-for-less json out "o[0]['touched_bytes'] < $(python3 -c 'import json; print(json.load(open("full.json"))["touched_bytes"])')"
txm stream budget mirror --resolution 50
check half-text prints "  12.5 %"

# A budget's page has a verdict, all textures with the largest first, and what each would save at half its size.
mkdir '<b>' && cp rgb8.png '<b>/&.png' && "$TXMILL" make -q -c sRGB -a straight '<b>/&.png'
sed 's,"../rgb8.png","../<b>/\&.png",' mirror/scene.txt >'<b>/scene.txt'
gives budget-page 0 says "budget.html: wrote the page" -- stream budget '<b>' --json --html budget.html
cp out budget.json
run python3 "$repo/tests/util/page_data.py" budget.html
check budget-page json out 'o[0]["report"]["resolutions"] == json.load(open("budget.json"))["resolutions"] and o[0]["render_tile"] == 2048'
txm stream budget plane rgb8.png "${small[@]}" --tile 0 -q --html whole.html
printf '%s\n' 'txmill-scene 1' 'size 8 8' 'camera orthographic half 1 1 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 5' \
  'material m diffuse 1 1 1' 'quad m -1 -1 0 2 0 0 0 2 0' >'<b>/scene.txt'
txm stream budget '<b>' -q --html none.html
txm stream play room rgb8.png rgba8.png --size 40x24 --frames 3 --virtual -q --html play.html --strip strip.png
txm stream render plane rgb8.png "${small[@]}" -q --trace page.trace --html traced.html
if python3 "$repo/tests/util/browser.py" >/dev/null 2>&1; then
    python3 "$repo/stream/tests/stream_pages.py" page.html traced.html budget.html whole.html none.html play.html || failures=$((failures + 1))
else
    skip pages-in-browser "chromium is not installed"
fi

# Filter Glossy is the factor by which rays are widened. It comes from the option, otherwise from the scene, otherwise
# it is 1.
tiles_with() { # LINE OPTION...
  [ -z "$1" ] || mirror "$1"
  txm stream budget mirror --samples 4 --json "${@:2}"
  python3 -c 'import json; print(json.load(open("out"))["tiles"])'
}
none=$(tiles_with 'filter-glossy 0') some=$(tiles_with 'filter-glossy 0.25') all=$(tiles_with 'filter-glossy 1')
check filter-glossy test "$none" -gt "$some" -a "$some" -gt "$all"
check filter-glossy-above-1 test "$(tiles_with 'filter-glossy 7')" = "$all"
check filter-glossy-unsaid test "$(tiles_with 'samples 4')" = "$all"
check filter-glossy-option test "$(tiles_with '' --filter-glossy 0) $(tiles_with '' --filter-glossy 0.25) $(tiles_with '' --no-widen)" = "$none $some $none"
txm stream render mirror --samples 4 --filter-glossy 0.25 --json
check filter-glossy-render json out "sum(l['used'] for i in o[0]['images'] for l in i['levels']) == $some"
gives filter-glossy-negative 2 -- stream budget mirror --filter-glossy=-1

# Bounces are limited in total and by kind; transparency counts only for its own limit.
bounces() { # LINE: prints the levels of the wall that were used
  budget_of bounces 'samples 4' "$1"
  python3 -c 'import json; print(json.load(open("bounces.json"))["tiles"] > 0)'
}
check bounces-some test "$(bounces 'bounces 1')" = True
check bounces-none test "$(bounces 'bounces 0')" = False
check bounces-no-glossy test "$(bounces 'bounces 3 diffuse 3 glossy 0')" = False
txm stream budget mirror --bounces 1 --json
check bounces-kind-holds json out 'o[0]["tiles"] == 0'

# Cycles joins small tiles to tiles of 64 px when it loads them: the same lookups take as many tiles as in files with 64
# px tiles.
if command -v maketx >/dev/null; then
  mirror 'samples 4'
  mkdir small && oiiotool --pattern checker:width=3:height=5 1024x1024 3 -d uint8 -o small/t.png
  maketx --tile 16 16 -o small/t.tx small/t.png >/dev/null 2>&1
  sed 's,"../cycles/tex0.png","t.tx",' mirror/scene.txt >small/scene.txt
  gives joined-rc 0 -- stream budget small --samples 4 --bounces 3 --tiles joined.tsv
  maketx --tile 64 64 -o small/t.tx small/t.png >/dev/null 2>&1
  txm stream budget small --samples 4 --bounces 3 --tiles large.tsv
  check joined-tiles eval 'cmp joined.tsv large.tsv && [ "$(wc -l <large.tsv)" -gt 20 ]'
else
  skip joined "openimageio-tools is not installed"
fi

# A normal map changes what a mirror shows: rays that went straight back to the camera hit the walls beside it.
mkdir bumpy && oiiotool --pattern constant:color=1.0,0.5,0.5 64x64 3 -d uint8 -o bumpy/turned.png &&
  "$TXMILL" make -q -c Non-Color -a straight bumpy/turned.png
bumpy() { # NORMAL: prints which walls are visible
  printf '%s\n' 'txmill-scene 1' 'size 8 8' 'camera orthographic half 0.5 0.5 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 0' \
    'image n "turned.png" colorspace "Non-Color" alpha straight extension repeat interpolation linear' \
    'image t "../cycles/tex0.png" colorspace "sRGB" alpha straight extension repeat interpolation linear' \
    'image s "../rgb8.png" colorspace "sRGB" alpha straight extension repeat interpolation linear' \
    'material back diffuse 1 1 1' 'texture back t input "Base Color" uv "" transform 1 0 0 0 1 0' \
    'material side diffuse 1 1 1' 'texture side s input "Base Color" uv "" transform 1 0 0 0 1 0' \
    'material shiny mirror 1 1 1' "texture shiny n input \"Normal\" uv \"\" transform 1 0 0 0 1 0$1" 'quad shiny -5 -5 -3 10 0 0 0 10 0' \
    'quad back -20 -20 2 40 0 0 0 40 0' 'quad side 5 -20 -40 0 0 80 0 40 0' >bumpy/scene.txt
  txm stream budget bumpy --samples 1 --bounces 1 --json
  python3 -c 'import json; print([i["used_bytes"] > 0 for i in json.load(open("out"))["images"]])'
}
check normal-none test "$(bumpy '')" = "[True, True, False]"
check normal-map test "$(bumpy ' normal 0.7')" = "[True, False, True]"
budgeted=$(python3 -c 'import json; print([i["used_bytes"] for i in json.load(open("out"))["images"]])')
for engine in wave blocking reference; do
  txm stream render bumpy --samples 1 --bounces 1 --engine $engine --json -q --overwrite -o "bumpy-$engine.exr"
  check "normal-budget-$engine" json out "[i['used_bytes'] for i in o[0]['images']] == $budgeted"
done
gives normal-bits 0 -- diff bumpy-wave.exr bumpy-reference.exr
gives normal-bits-blocking 0 -- diff bumpy-blocking.exr bumpy-reference.exr

# Tiles that cannot be read are magenta. The picture is there, and the exit code and the texture's name report the
# failure.
cp -p blender_tx/rgb8.png.*.tx whole.tx
python3 - blender_tx/rgb8.png.*.tx <<'PY'
import os, sys
times = os.stat(sys.argv[1])
with open(sys.argv[1], "r+b") as f:
    f.seek(1000)
    f.write(b"X" * 120000)
os.utime(sys.argv[1], ns=(times.st_atime_ns, times.st_mtime_ns))
PY
txm stream render room rgb8.png rgba8.png --size 240x136 --samples 1 --json -o damaged.png
check damaged-rc test "$rc" -eq 3 -a -s damaged.png
check damaged-says says "rgb8.png: $(python3 -c 'import json; print(json.load(open("out"))["images"][0]["failures"])') of its tiles could not be read and are magenta: "
check damaged-json json out 'o[0]["images"][0]["failures"] > 1 and "rgb8.png" in o[0]["images"][0]["failure"] and o[0]["images"][1]["failures"] == 0'
check damaged-advice eval 'says "make damaged tx files again" && ! says "save or copy"'
check damaged-last last_line_is "TXMILL-ERROR code=3 failed=1 total=1"
cp -p whole.tx "$(echo blender_tx/rgb8.png.*.tx)"

# These are refused with a reason.
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

# A render that is stopped leaves an earlier trace as it was.
before=$(sha1sum <blocking.trace)
"$TXMILL" stream render room rgb8.png -q -s 4000x4000 --samples 64 --trace blocking.trace -o stopped.exr 2>/dev/null &
stopped=$!
for i in {1..100}; do
    compgen -G "*blocking.trace?*" >/dev/null || compgen -G ".*blocking.trace*" >/dev/null && break
    sleep 0.1
done
kill -TERM $stopped
wait $stopped
check stopped-render test $? = 143
check stopped-trace test "$(sha1sum <blocking.trace)" = "$before"
check stopped-leaves-nothing test -z "$(compgen -G '.*trace*'; compgen -G 'blocking.trace?*')"
# With --keep-partial, the trace so far is kept, and every reader reports that it is not complete.
"$TXMILL" stream render room rgb8.png -q -s 4000x4000 --samples 64 --trace part.trace --keep-partial -o stopped.exr 2>partial.err &
stopped=$!
for i in {1..100}; do
    compgen -G ".*part.trace*" >/dev/null && break
    sleep 0.1
done
sleep 0.3
kill -TERM $stopped
wait $stopped
check partial-render test $? = 143
check partial-leaves-no-temporary test -z "$(compgen -G '.*trace*')"
check partial-trace test -s part.trace
check partial-is-named grep -q '^txmill: error: stopped; the trace so far is in part.trace$' partial.err
check partial-picture test ! -e stopped.exr
txm replay part.trace --plot part.svg
check partial-is-said prints "partial     the render was not finished: "
check partial-in-the-plot grep -q 'partial: the render was not finished' part.svg
txm replay part.trace --json
check partial-in-json json out 'o[0]["partial"]'
txm replay blocking.trace --json
check whole-in-json json out 'o[0]["partial"] is None'
txm stream render room rgb8.png "${small[@]}" -q --engine blocking --trace blocking.trace --keep-partial
check partial-not-of-a-whole test $rc = 0
txm replay blocking.trace --json
check still-whole json out 'o[0]["partial"] is None'
refuses partial-of-nothing 2 render room rgb8.png --keep-partial
refuses over-input 2 render room rgb8.png -o rgb8.png
cp "$golden/rgb8.png" unmade.png
refuses missing-tx 3 render room unmade.png
check names-command says "txmill make"
# Files that exist but cannot be used are reported with the reason and the command that helps.
"$TXMILL" make -q --force --compression zstd -c sRGB -a straight unmade.png 2>/dev/null
refuses unusable-tx 3 budget room unmade.png
check unusable-why says "unmade.png: its tx file is unusable: "
check unusable-zstd says "zstd, which the official Blender's libtiff is built without; Cycles renders magenta in the official Blender; builds whose libtiff has the codec use it; make it with 'txmill make -c sRGB -a straight unmade.png'"
# The cache folder comes from an option or from the project, and so does the suggested command.
mkdir project && cp "$golden/rgb8.png" project/wood.png && printf 'cache-dir = tx files\n' >project/.txmill
refuses project-missing 3 budget room project/wood.png
check project-command says "make it with 'txmill make -c sRGB -a straight -d \"tx files\" project/wood.png'"
"$TXMILL" make -q project/wood.png
gives project-found 0 -- stream budget room "${small[@]}" project/wood.png
mv project/.txmill . && txm stream budget room "${small[@]}" -d 'tx files' project/wood.png
check option-found rc_is 0
rm .txmill
# Rules of the images' projects choose the tx file, as in make: here data, and beside it a colour.
mkdir -p ruled/sub && cp "$golden/rgb8.png" ruled/wall_normal.png && cp "$golden/rgb8.png" ruled/wall.png
cp "$golden/rgb8.png" ruled/sub/x.png && printf 'preset = pbr\n' >ruled/.txmill && printf 'rule = x.*=Non-Color,none\n' >ruled/sub/.txmill
"$TXMILL" make -q ruled
gives rules-found 0 -- stream budget room "${small[@]}" ruled/wall_normal.png ruled/wall.png ruled/sub/x.png
rm -r ruled/blender_tx ruled/sub/blender_tx
txm stream budget room "${small[@]}" ruled/wall_normal.png ruled/sub/x.png
check rules-command says "make it with 'txmill make -c Non-Color -a straight ruled/wall_normal.png'"
# Similar names are suggested. Files that are not scenes are refused.
refuses near-name 3 budget rom
check near-says says "rom: neither a folder nor a built-in scene (did you mean 'room'?)"
refuses picture-as-scene 3 render rgb8.png
check picture-as-scene-says says "rgb8.png: is a PNG image, but a scene is a folder with a file scene.txt"

# Every output is guarded against replacing an input, a file of another kind, or another output.
sums() { md5sum rgb8.png rgba8.png unmade.png notes.txt; }
echo notes >notes.txt
before=$(sums)
guards() { # NAME OPTION-AND-FILE... : refused with exit code 2 and a message, and nothing is lost
    local name=$1
    shift
    txm stream "$@" room rgb8.png "${small[@]}"
    check "guard-$name" test "$rc" -eq 2 -a "$(sums)" = "$before"
    check "guard-$name-says" says "nothing was written"
}
for option in -o --heat-level --heat-misses --heat-passes --heat-tiles --html; do
    guards "input$option" render $option rgb8.png
    guards "forced$option" render --overwrite $option rgb8.png
    guards "other$option" render $option rgba8.png
    guards "text$option" render $option notes.txt
done
guards trace render --engine blocking --trace rgba8.png
guards tiles budget --tiles rgba8.png
guards budget-page budget --html rgb8.png
guards budget-page-forced budget --overwrite --html rgb8.png
guards budget-page-text budget --html notes.txt
txm stream render room rgb8.png "${small[@]}" -o twice.png --heat-level twice.png
check guard-twice test "$rc" -eq 2 -a ! -e twice.png
check guard-twice-says says "--heat-level twice.png: -o already writes this file; give each a different name"
for _ in 1 2; do
    txm stream render room rgb8.png "${small[@]}" --engine blocking --trace again.trace -o again.png --heat-passes passes.png --html again.html
    check again-render rc_is 0
    check again-says test "$(grep -c ': wrote the ' err)" -eq 4
    gives again-budget 0 -- stream budget room rgb8.png "${small[@]}" --tiles again.tsv
done
printf 'txmill-scene 1\nsize 5 5\nquad x 0 0 0 1 0 0 0 1 0\n' >bad.txt && mkdir bad && mv bad.txt bad/scene.txt
refuses bad-scene 3 render bad
check names-line says "scene.txt:3: there is no material 'x' above"
check no-temporaries no_temporaries
finish
