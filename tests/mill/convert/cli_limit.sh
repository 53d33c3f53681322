#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Size limits: --limit and the setting limit, and what each command says of tx files that are smaller than their images.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
unset OCIO BLENDER_OCIO TXMILL_BLENDER TXMILL_LIMIT

mkdir -p film/bg film/hero
cat >png.py <<'E2'
import struct, sys, zlib
name, width, height, kind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
def pixel(x, y):
    if kind == "flat" or kind == "late" and y < height - 3:
        return bytes((10, 200, 30, 255))
    v = (x * 3 + y * 5 + x * y // 7) & 255
    return bytes((v, v, v, 255)) if kind == "grey" else bytes((v, x & 255, y & 255, 255 if kind == "rgb" else v))
rows = b"".join(b"\0" + b"".join(pixel(x, y) for x in range(width)) for y in range(height))
def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
with open(name, "wb") as out:
    out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
              chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
E2
python3 png.py film/bg/a.png 301 203 rgb
python3 png.py film/bg/b.png 256 128 rgba
python3 png.py film/bg/flat.png 300 200 flat
python3 png.py film/bg/late.png 300 200 late
python3 png.py film/bg/grey.png 300 200 grey
python3 png.py film/hero/h.png 200 200 rgb
cp "$TXM_TESTDATA/golden/half-rgba.exr" film/bg/sky.exr
tx_of() { local tx; for tx in film/*/blender_tx/"$1".*.tx; do echo "$tx"; done; }
size_in() { sed 's/^[^[]*"width":\([0-9]*\),"height":\([0-9]*\).*/\1x\2/;q'; }
size_of() { "$TXMILL" info --json "$(tx_of "$1")" | size_in; }
digest() { sha1sum <"$(tx_of "$1")"; }

# ---- values -------------------------------------------------------------------------------------------------------------
for value in 0 -1 2k2 15 'bg/*' 'bg/* 0' 99999999999 ''; do
    gives "refused '$value'" 2 says "must be a size, such as 2048 or 2k, from 16 to 1024k, or none" \
        -- make --limit="$value" film
    printf 'limit = %s\n' "$value" >film/.txmill
    gives refused 2 says "film/.txmill:1" -- check film
done
rm film/.txmill
check refused-nothing nothing_in film

# ---- making ---------------------------------------------------------------------------------------------------------------
txm make -d whole film
printf 'limit = bg/* 90\nlimit = *.none 2k\n' >film/.txmill
gives made 0 -- make --json film
if has_jsonschema; then check made-schema valid_json make out; fi
check made-json json out '{o["input"].split("/")[-1]: (o["width"], o.get("image_width")) for o in o if o["type"] == "file"} == {"a.png": (75, 301), "b.png": (64, 256), "flat.png": (64, None), "late.png": (75, 300), "grey.png": (75, 300), "sky.exr": (48, 96), "h.png": (200, None)}'
check made-sum json out 'o[-1]["limited"] == 5 and o[-1]["pixel_bytes"] == (2 * 75 * 50 + 64 * 32 + 64 * 50 + 200 * 200) * 4 + 75 * 50 + 48 * 48 * 8'
check size-a test "$(size_of a.png)" = 75x50
check size-b test "$(size_of b.png)" = 64x32
check size-flat test "$(size_of flat.png)" = 64x50
check size-late test "$(size_of late.png)" = 75x50
check size-grey test "$(size_of grey.png)" = 75x50
check size-hero test "$(size_of h.png)" = 200x200
gives verified 0 prints "7 files: 7 good" -- verify --deep film/*/blender_tx
# Level 0 is the level of the whole file, to the bit.
for name in a.png:2 b.png:2 late.png:2 grey.png:2 sky.exr:1; do
    image=${name%:*}
    txm extract --level "${name#*:}" -o level.tif film/bg/whole/"$image".*.tx
    txm extract --overwrite --level 0 -o level0.tif "$(tx_of "$image")"
    gives "level-0 $image" 0 -- diff --max-error 0 level.tif level0.tif
done

# A record that no limit could have made counts as none.
cp -p "$(tx_of a.png)" kept
for record in 0 9x -9 15 'x '; do
    LC_ALL=C sed "s/txmill:Limit=\"90\"/txmill:Limit=\"$(printf '%-2s' "$record")\"/" kept >"$(tx_of a.png)"
    touch -r film/bg/a.png "$(tx_of a.png)"
    gives "record '$record'" 5 prints "made at full size, where the limit is now 90 px" -- check film/bg/a.png
done
cp -p kept "$(tx_of a.png)"

# ---- what commands say ------------------------------------------------------------------------------------------------------
gives fresh 0 says "with limited sizes of 6 images" -- check film
gives fresh-sizes 0 prints "film/bg/a.png: fresh: 75x50 of 301x203" -- check -v film
txm check --json film
if has_jsonschema; then check fresh-schema valid_json check out; fi
check fresh-json json out '{o["image"].split("/")[-1]: o.get("limited") for o in o if o["type"] == "texture"}["a.png"] == "75x50 of 301x203"'
gives info 0 prints "  limited       to 90 px: the image is larger" prints "uses it for scenes that set sRGB" \
    -- info "$(tx_of a.png)"
txm info --json "$(tx_of a.png)" "$(tx_of h.png)"
if has_jsonschema; then check info-schema valid_json info out; fi
check info-json json out '[o.get("limit_px") for o in o] == [90, None]'
gives again-none 0 says "0 created" -- make film
gives settings 0 prints "bg/* 90" -- settings film
txm settings --json film
if has_jsonschema; then check settings-schema valid_json settings out; fi
txm budget --json film
if has_jsonschema; then check budget-schema valid_json budget out; fi
check budget json out '[(o["width"], o["whole_bytes"]) for o in o if o.get("image", "").endswith("/a.png")] == [(75, 301 * 203 * 4)]'

# ---- other limits ---------------------------------------------------------------------------------------------------------
before=$(digest a.png)
printf 'limit = bg/* 80\n' >film/.txmill # the same sizes
gives same-sizes 0 -- check film
printf 'limit = bg/* 40\n' >film/.txmill
gives other 5 \
    prints "film/bg/a.png: unusable: made with a limit of 90 px, where it is now 40 px; Cycles uses it, at another size than the settings say" \
    prints "film/bg/flat.png: unusable" -- check film
gives other 5 prints "TXM-312 warning" -- verify film
gives other-info 0 prints "uses it, at another size than the settings say" -- info "$(tx_of a.png)"
gives other-resolve 5 prints "unusable" -- resolve film/bg/a.png
gives option-wins 0 -- check --limit 80 film/bg
gives none 5 prints "made with a limit of 90 px, where there is none now" \
    prints "run: txmill make --limit none --limit 50 film/bg/a.png" -- check --limit none --limit 50 film/bg/a.png
TXMILL_LIMIT='a.png 80' txm check film/bg/a.png
check variable-wins rc_is 0
gives no-settings 5 prints "where there is none now" -- check --no-settings film/bg/a.png
gives no-settings-verify 0 -- verify --no-settings "$(tx_of a.png)"
txm make -q film
check other-made test "$(size_of a.png)" = 37x25 -a "$(size_of sky.exr)" = 24x24
rm film/.txmill
txm make -q film
check whole-made test "$(size_of a.png)" = 301x203
gives whole-record 0 reports '"limit_px" not in o[0]' -- info --json "$(tx_of a.png)"
printf 'limit = 90\n' >film/.txmill
gives whole-stale 5 prints "a.png: unusable: made at full size, where the limit is now 90 px" \
    prints "sky.exr: unusable: made at full size, where the limit is now 90 px" -- check film/bg/a.png film/bg/sky.exr
txm make -q film
check again-same test "$(digest a.png)" = "$before"
# Each project limits its own images, and those that a scene or a list names.
mkdir -p film/hero/sub && cp film/hero/h.png film/hero/sub/s.png
printf 'root = true\n' >film/hero/sub/.txmill
txm make -q film
check own-project test "$("$TXMILL" info --json film/hero/sub/blender_tx/s.png.*.tx | grep -c limit_px)" = 0
check own-limited test "$(size_of h.png)" = 50x50

# ---- tiles, scenes, keys, the store ------------------------------------------------------------------------------------------
mkdir tiles
python3 png.py tiles/t.1001.png 128 128 rgb
python3 png.py tiles/t.1002.png 30 20 rgb
txm make --json --limit 64 'tiles/t.<UDIM>.png'
check tiles json out 'sorted((o["width"], o["height"]) for o in o if o["type"] == "file") == [(30, 20), (64, 64)]'
cat >scene.xml <<'E2'
<cycles><shader name="m"><image_texture name="t" filename="tiles/t.1001.png" colorspace="sRGB" alpha_type="unassociated"/></shader></cycles>
E2
gives scene 0 reports '[o["width"] for o in o if o["type"] == "file"] == [32]' -- make --json --limit 32 scene.xml
gives scene-fresh 0 -- check --limit 32 scene.xml
gives scene-stale 5 -- check scene.xml
gives scene-list 0 prints "1 texture: 1 unusable" -- list scene.xml
gives scene-list-limited 0 prints "1 texture: 1 fresh" -- list --limit 32 scene.xml
key() { "$TXMILL" make --key "$@" | cut -d ' ' -f 1; }
check keys-differ test "$(key film/hero/h.png --limit 100)" != "$(key film/hero/h.png --limit 50)"
check keys-same test "$(key film/hero/h.png --limit 100)" = "$(key film/hero/h.png --limit 150)"
check keys-whole test "$(key film/hero/h.png --limit none)" = "$(key film/hero/h.png --limit 200)"
cp film/bg/b.png tiles/stored.png
txm make -q -f --store store --limit 64 film/bg/b.png -d x
txm make --json --store store --limit 64 tiles/stored.png
check store json out '[(o["width"], o["via"] != "converted") for o in o if o["type"] == "file"] == [(64, True)]'
txm make --json --store store --limit 32 tiles/stored.png
check store-other json out '[(o["width"], o["via"]) for o in o if o["type"] == "file"] == [(32, "converted")]'
mv tiles/stored.png tiles/renamed.png
gives adopted 0 -- resolve --adopt --limit 32 tiles/renamed.png
gives adopted-fresh 0 -- check --limit 32 tiles/renamed.png
# Memory is that of the halved image and a few rows of the image.
python3 png.py wide.png 20000 20 rgb
txm make -q --limit 64 wide.png
check wide test "$("$TXMILL" info --json blender_tx/wide.png.*.tx | size_in)" = 39x1
gives too-little 3 -- make --limit 64 --max-memory 1M -f wide.png
need=$(sed -n 's/.*--max-memory \([0-9]*M\) would suffice.*/\1/p' err)
gives enough 0 -- make --limit 64 --max-memory "$need" -f wide.png
# Blender makes tx files of images of more than 131,071 px a side too; for look-ups they have to be limited.
python3 - <<'E2'
row = bytes(((x * 7 + c * 5) ^ (x >> 8)) & 255 for x in range(300000) for c in range(3))
open("vast.ppm", "wb").write(b"P6 300000 2 255\n" + row + row[::-1])
E2
gives vast 0 -- make -q vast.ppm
gives vast-fresh 0 -- check vast.ppm
gives vast-verified 0 prints ": good" -- verify vast.ppm
check vast-levels test "$("$TXMILL" info --json blender_tx/vast.ppm.*.tx | sed 's/.*"levels":\[//' | grep -o '"width":' | wc -l)" = 19
gives vast-diff 0 -- diff --max-error 0 blender_tx/vast.ppm.*.tx blender_tx/vast.ppm.*.tx
txm sample blender_tx/vast.ppm.*.tx
check vast-sample says "cannot be looked up, at most 131071 a side: make the tx file with --limit 64k"
txm make -q --limit 128k vast.ppm
check vast-limited test "$("$TXMILL" info --json blender_tx/vast.ppm.*.tx | size_in)" = 75000x1
check no-temporaries no_temporaries
finish
