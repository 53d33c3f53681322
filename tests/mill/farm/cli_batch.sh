#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Batches: inputs, plans, keys, lint, the store, odd names, disks that are full or read-only.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
srgb=.0-926BDA8569F1F2504902F06ABA51E46D.tx
data=.0-DE5E0BDFC9051CFBE504AD14563FC03C.tx

# ---- folders, rules, inputs with the same tx file --------------------------------------------------------------------
mkdir -p tex/sub
cp "$golden/rgb8.png" tex/wall_color.png
cp "$golden/tile64.png" tex/sub/wall_normal.1001.png
cp "$golden/tile65.png" tex/sub/wall_normal.1002.png
cp "$golden/half-rgb.exr" tex/sky.exr
ln -s .. tex/sub/up
gives folder 0 -- make --preset pbr --rule 'sky*=Non-Color' tex ./tex/wall_color.png
check preset-not-color test -f "tex/sub/blender_tx/wall_normal.1001.png$data"
check preset-leaves-colors test -f "tex/blender_tx/wall_color.png$srgb"
check folder-count says "4 created"
check same-file-once prints "./tex/wall_color.png: skipped"
check loop-ended test "$(find tex/ -name '*.tx' | wc -l)" -eq 4
txm make -n tex/sub
check folder-without-r eval 'rc_is 0 && prints tex/sub/wall_normal.1001.png'
gives folder-without-rules 0 says "3 created" -- make tex
txm make --dry-run --force --rule '*_normal*=Non-Color' tex
check rule-is-named prints '"Non-Color" by *_normal* (--rule)' 
gives include 0 prints sky.exr -- make --include '*.exr' --dry-run --force tex
check include-nothing-else test "$(wc -l <out)" -eq 1
gives bad-rule 2 -- make --rule nonsense tex/sky.exr
txm make 'tex/sub/wall_normal.<UDIM>.png' --force --json
check udim json out '[x.get("pattern") for x in o] == ["tex/sub/wall_normal.<UDIM>.png"] * 2 + [None]'
printf '{"path": "tex/sky.exr", "colorspace": "Non-Color"}\ntex/sky.exr\n' | run "$TXMILL" make --dry-run --force @-
check two-spaces-two-files test "$(grep -c would-create out)" -eq 2
check two-spaces-warned says 'two colour spaces, "Non-Color" and'
printf '{"path": "tex/sky.exr", "output": "x.tx"}\n{"path": "tex/wall_color.png", "output": "./x.tx"}\n' >clash
gives clash 2 says "would overwrite" -- make @clash
printf '{"path": "tex/sky.exr", "output": "x.tx", "colorspace": "%s"}\n' Non-Color sRGB >clash
gives clash-of-settings 2 says "would overwrite" -- make @clash
printf '{"path": "tex/sky.exr", "colorspace": "%s"}\n' Non-Color Raw >names
gives names-for-data-are-one 0 -- make --dry-run --force --json @names
check names-for-data-one-file json out '[x.get("same_as") for x in o[:-1]] == [None, "tex/sky.exr"]'
check names-for-data-no-warning test ! -s err
one=$golden/one.png
printf '{"path": "%s", "colorspace": "%s", "alpha": "%s"}\n' "$one" sRGB straight "$one" Non-Color none >one
gives one-pixel-never-clashes 0 -- make --json @one
check one-pixel-no-warning test ! -s err
check one-pixel-serves json out '[x["reason"] for x in o[:-1]] == ["Cycles uses 1x1 images as they are"] * 2'
txm make --plan --force --json tex
check plan-order json out '(lambda s: len(s) == 4 and s == sorted(s, reverse=True))([x["estimate"]["cpu_seconds"] for x in o[:-1]])'
check plan-total json out 'abs(o[-1]["estimate"]["megapixels"] - sum(x["estimate"]["megapixels"] for x in o[:-1])) < 1e-3'
cp out all.json

# ---- keys ------------------------------------------------------------------------------------------------------------
key() { "$TXMILL" make --key"$@" | cut -c1-40; }
wall=tex/wall_color.png
check key-shape test "$(key "" $wall | grep -cE '^[0-9A-F]{40}$')" -eq 1
check key-makes-nothing test -z "$(find . -newer out -name '*.tx')"
check key-same test "$(key "" $wall --tile 128 --compression none --borders no --redact -d elsewhere)" = "$(key "" $wall)"
check key-alias test "$(key "" $wall -c sRGB)" = "$(key "" $wall)"
check key-alpha-without-alpha test "$(key "" $wall -a premultiplied)" = "$(key "" $wall)"
check key-alpha test "$(key "" "$golden/rgba8.png" -a premultiplied)" != "$(key "" "$golden/rgba8.png")"
check key-space test "$(key "" $wall -c Non-Color)" != "$(key "" $wall)"
check key-transforms-differ test "$(key "" $wall -c ACEScg)" != "$(key "" $wall -c 'Linear Rec.2020')"
check key-working-space test "$(key "" $wall -c ACEScg --working-space 'Linear Rec.2020')" != "$(key "" $wall -c ACEScg)"
check key-mono test "$(key "" $wall --mono no)" != "$(key "" $wall)"
check key-environment test "$(key "" $wall --envlatl)" != "$(key "" $wall)"
check key-strict-is-no-mono test "$(key "" $wall --strict)" = "$(key "" $wall --mono no)"
check key-mono-of-one-channel test "$(key "" "$golden/gray8.png" --mono no)" = "$(key "" "$golden/gray8.png")"
check key-not-the-course test "$(key "" $wall -j 1 --max-memory 1G --device cpu --force --no-claims --fail-fast --lint \
    --attrib A=B --store nowhere --ocio "$golden/config.ocio")" = "$(key "" $wall)"
check key-not-the-vectors test "$(TXMILL_ISA=scalar key "" $wall -c ACEScg)" = "$(key "" $wall -c ACEScg)"
cp $wall copy.png
check key-content-is-content test "$(key =content copy.png)" = "$(key =content $wall)"
check key-content-differs test "$(key =content tex/sub/wall_normal.1001.png)" != "$(key =content $wall)"
gives key-word 2 -- make --key=nonsense $wall
"$TXMILL" make --key=content --json $wall >>all.json

# ---- memory ----------------------------------------------------------------------------------------------------------
# What plan states is enough, for the bound and in fact; TGA is read by the worker, whose copy holds the image.
python3 - <<'EOP'
import random, struct, zlib
W, H = 3000, 1500
pixels = random.Random(1).randbytes(W * H * 3)
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
rows = b"".join(b"\0" + pixels[y * W * 3:(y + 1) * W * 3] for y in range(H))
open("many.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))
open("many.tga", "wb").write(struct.pack("<BBBHHBHHHHBB", 0, 0, 2, 0, 0, 0, 0, 0, W, H, 24, 0) + pixels)
tags = [(256, W), (257, H), (258, 8), (259, 1), (262, 2), (273, 8), (277, 3), (278, H), (279, len(pixels))]
open("many.tif", "wb").write(b"II*\0" + struct.pack("<I", 8 + len(pixels)) + pixels + struct.pack("<H", len(tags)) +
    b"".join(struct.pack("<HHII", tag, 4 if tag in (256, 257, 273, 278, 279) else 3, 1, value) for tag, value in tags) + bytes(4))
EOP
cp "$golden/gray8.png" many-small.png
for image in many.png many.tif many.tga many-small.png; do
    name=memory-$image
    "$TXMILL" plan --json --shards 1 "$image" -d mem >out 2>err
    stated=$(sed -n 's/.*"memory_bytes":\([0-9]*\).*/\1/p' out | head -n 1)
    check "$name-stated" test "${stated:-0}" -gt 1000000
    gives "$name-is-enough" 0 -- make -q "$image" -d mem --max-memory "$stated"
    gives "$name-is-needed" 3 says "would suffice" -- make -q "$image" -d mem --force --max-memory $((stated * 3 / 5))
    [ -n "${SANITIZED:-}" ] || check "$name-is-not-exceeded" python3 -c '
import os, sys
child = os.spawnv(os.P_NOWAIT, sys.argv[1], ["txmill", "make", "-q", sys.argv[2], "-d", "mem", "--force"])
_, status, used = os.wait4(child, 0)
sys.exit(status != 0 or used.ru_maxrss * 1024 > int(sys.argv[3]))' "$TXMILL" "$image" "$stated"
done
rm -rf many* mem

# ---- lint ------------------------------------------------------------------------------------------------------------
python3 - <<'EOP'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(name, depth, color, rows):
    h = struct.pack(">IIBBBBB", 70, len(rows), depth, color, 0, 0, 0)
    open(name, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", h) + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + r for r in rows))) + chunk(b"IEND", b""))
png("wide.png", 16, 2, [bytes(v for x in range(70) for c in (x, y, 9) for v in (c, c)) for y in range(130)])
png("honest16.png", 16, 2, [bytes(v for x in range(70) for c in (x, y, 9) for v in (c, c if (x, y) != (69, 129) else 1 ^ c)) for y in range(130)])
png("opaque.png", 8, 6, [bytes(v for x in range(70) for v in (x, y, 7, 255)) for y in range(130)])
png("grey.png", 8, 2, [bytes(v for x in range(70) for v in (x, x, x)) for y in range(130)])
EOP
lint() { "$TXMILL" make --lint --json --dry-run "$@" 2>/dev/null | python3 -c 'import json, sys
print(" ".join(i["id"] for line in sys.stdin for i in json.loads(line).get("lint", [])))'; }
check lint-wide test "$(lint wide.png)" = wide-8-bit
check lint-honest test -z "$(lint honest16.png tex/wall_color.png tex/sky.exr)"
check lint-opaque test "$(lint opaque.png)" = opaque-alpha
check lint-grey test "$(lint grey.png)" = grey-rgb
check lint-normal test "$(lint tex/sub/wall_normal.1001.png)" = data-as-color
check lint-color test "$(lint tex/wall_color.png -c Non-Color)" = color-as-data
gives lint-warns 0 says "warning: opaque.png: its alpha is 1 everywhere (opaque-alpha)" -- make --lint --dry-run opaque.png
"$TXMILL" make --lint --json opaque.png >>all.json 2>/dev/null

# ---- the store -------------------------------------------------------------------------------------------------------
via() { json out "o[0]['via'] in ($1,)"; }
mkdir shot1 shot2 shot3
cp -p copy.png shot1/a.png
cp -p copy.png shot2/b.png
cp copy.png shot3/c.png && touch -d '2020-02-02 02:02:02' shot3/c.png
txm make --store store --json shot1/a.png
check store-first-converts via '"converted"'
check store-object test "$(find store -name '*.tx' | wc -l)" -eq 1
txm make --store store --json shot2/b.png
check store-second-links via '"reflink", "hardlink"'
cat out >>all.json
check store-link-whole cmp shot1/blender_tx/*.tx shot2/blender_tx/*.tx
txm make --store store --json shot3/c.png
check store-other-time-never-hardlinked via '"reflink", "copy"'
check store-other-time test "$(stat -c %Y shot3/blender_tx/*.tx)" = "$(stat -c %Y shot3/c.png)"
check store-first-time-kept test "$(stat -c %Y shot1/blender_tx/*.tx)" = "$(stat -c %Y shot1/a.png)"
gives store-all-fresh 0 says "3 up to date" -- make shot1/a.png shot2/b.png shot3/c.png
txm make --store store --json --tile 128 --force shot1/a.png
check store-other-shape-converts via '"converted"'
check store-two-objects test "$(find store -name '*.tx' | wc -l)" -eq 2
mkdir -m 2775 team
(umask 077 && "$TXMILL" make -q --store team --force shot1/a.png)
check store-umask test "$(find team -mindepth 1 -type d -printf '%m\n')" = 2775
rm -r shot2/blender_tx
for f in $(find store -name '*.tx'); do chmod u+w "$f"; cp --remove-destination /dev/null "$f"; done
txm make --store store --json shot2/b.png
check store-damaged-object-converts via '"converted"'
check store-damaged-object-said says damaged
# One byte of a tile is changed. Neither header nor tables show it, so the next run does not notice it at first.
for force in "" --force; do
    rm -r shot2/blender_tx
    for f in $(find store -name '*.tx'); do
        python3 - "$f" <<'EOF'
import os, sys
d = bytearray(open(sys.argv[1], "rb").read())
d[len(d) // 3] ^= 255
os.remove(sys.argv[1])
open(sys.argv[1], "wb").write(d)
EOF
    done
    # shellcheck disable=SC2086
    txm make $force --store store --json shot2/b.png
    check "store-damaged-tile-converts$force" via '"converted"'
    check "store-damaged-tile-said$force" says "the stored file is damaged and was removed; converted instead"
    check "store-damaged-tile-replaced$force" run "$TXMILL" verify store/*/*.tx shot2/blender_tx/*.tx
done
check store-shot1-untouched run "$TXMILL" info shot1/blender_tx/*.tx
if [ "$(id -u)" -eq 0 ]; then
    skip store-unwritable "root may write everywhere"
else
    mkdir ro && chmod 555 ro
    gives store-unwritable 0 says "not kept in the store" -- make --store ro/store --force shot2/b.png
fi
: >a-file
gives store-broken 0 says "not kept in the store" -- make --store a-file/store --force shot2/b.png

# ---- gc ----------------------------------------------------------------------------------------------------------------
rm -rf store shot1/blender_tx shot3/blender_tx
txm make -q --store store shot3/c.png
rm -r shot3/blender_tx # it has no other name, so the object's whole size is freed
object=$(find store -name '*.tx')
gives gc-young-stays 0 prints "" -- gc --store store --older-than 30d
touch -a -d '40 days ago' "$object"
txm gc --store store --older-than 30d --json
check gc-dry-run test -f "$object"
check gc-dry-run-says json out 'o[0]["state"] == "would-remove" and o[1]["would_remove"] == 1'
if has_jsonschema; then check gc-schema valid_json gc out; else skip gc-schema "python3-jsonschema is missing"; fi
txm make -q --store store shot3/c.png
rm -r shot3/blender_tx
txm gc --store store --older-than 30d --delete
check gc-use-counts test -f "$object"
txm gc --store store --max-size 10M --delete
check gc-small-enough test -f "$object"
txm gc --store store --max-size 1K --delete
check gc-trims test ! -e "$object"
gives gc-refuses-other-folders 2 -- gc --store tex --max-size 1K --delete
check gc-refused-nothing-lost test -f tex/sky.exr
gives gc-needs-a-limit 2 -- gc --store store
gives gc-missing 3 -- gc --store no-such-store --max-size 1

# ---- odd names -------------------------------------------------------------------------------------------------------
mkdir odd
for name in 'with space' "quote'\"s" $'new\nline' 'ünïcode' $'latin\xe9' 'back\slash' '<tag>&' '$(touch x)' '-dash' '%41'; do
    cp "$golden/tile64.png" "odd/$name.png"
done
gives odd-names-made 0 reports 'o[-1]["created"] == 10' -- make --json odd
cat out >>all.json
check odd-names-files test "$(find odd/blender_tx -name '*.tx' | tr -cd '\n' | wc -c)" -eq 11 # one name has a newline
check odd-names-bytes json out 'any(x.get("tx_encoded", "").startswith("odd/blender_tx/latin%E9.png.0-") for x in o)'
find odd -name '*.png' -print0 | run "$TXMILL" make @-
check odd-names-list says "10 up to date"
(cd odd && "$TXMILL" make -v -- -dash.png) >out
check odd-names-dash prints up-to-date
check odd-names-no-shell test ! -e x -a ! -e odd/x

# ---- read-only sources -----------------------------------------------------------------------------------------------
cp -r odd locked && rm -r locked/blender_tx && chmod -R a-w locked
if [ "$(id -u)" -eq 0 ]; then
    # Root ignores permissions, but not a read-only bind mount.
    unshare -m bash -c "mount --bind locked locked && mount -o remount,bind,ro locked && '$TXMILL' make locked; echo rc=\$?; '$TXMILL' make --cache-dir '$work/cache' locked" >out 2>err
else
    { "$TXMILL" make locked; echo rc=$?; "$TXMILL" make --cache-dir "$work/cache" locked; } >out 2>err
fi
if grep -q '^rc=' out; then
    check read-only-exit prints rc=3
    check read-only-advice says "--cache-dir"
    check read-only-elsewhere says "10 created"
    check read-only-nothing-left nothing_in locked
else
    skip read-only "mounting is not permitted here"
fi
chmod -R u+w locked

# ---- full disks ------------------------------------------------------------------------------------------------------
# The file system has a few kilobytes: from too small for a folder to just too small for the file. Whatever does not
# fit, no file is left, the message gives the reason, and a retry may succeed.
cat >full.sh <<'EOF'
mount -t tmpfs -o size=16M none disk || exit 9
make() { "$TXMILL" make -q "$@" -d "$PWD/disk/cache" rgb8.png; }
for inodes in 1 2 3; do
    mount -t tmpfs -o nr_inodes=$inodes none disk && make
    echo "inodes=$inodes rc=$? left=$(find disk -type f | wc -l)"
done
"$TXMILL" make -q -d "$PWD/whole" rgb8.png && whole=$(($(stat -c %s whole/*.tx) / 1024))
for kb in 4 8 12 16 20 32 48 64 96 128 160 $((whole - 12)) $((whole - 1)); do
    mount -t tmpfs -o size=${kb}k none disk && make
    echo "size=$kb rc=$? left=$(find disk -type f | wc -l)"
done
# An earlier file stays as it was.
mount -t tmpfs -o size=300k none disk && make && sum=$(sha1sum disk/cache/*.tx)
make --force
echo "again rc=$? left=$(find disk -type f | wc -l) same=$([ "$sum" = "$(sha1sum disk/cache/*.tx)" ] && echo yes)"
EOF
mkdir disk && cp "$golden/rgb8.png" .
TXMILL=$TXMILL unshare -m bash full.sh >out 2>err
if ! grep -q '^size=' out; then
    skip full-disk "mounting is not permitted here"
else
    check full-disk-always-retryable test "$(grep -cE '^(size|inodes).* rc=4 left=0$' out)" -eq 16
    check full-disk-says-so test "$(grep -c 'No space left' err)" -ge 16
    check full-disk-previous-file-kept prints "again rc=4 left=1 same=yes"
fi

if has_jsonschema; then check json-schema valid_json make all.json; else skip json-schema "python3-jsonschema is missing"; fi
finish
