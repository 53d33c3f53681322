#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill resolve: every state, other names and the setting in which they differ, restoring times.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$golden"/{rgb8.png,half-rgb.exr,one.png} .
gives missing 5 -- resolve --json rgb8.png
check missing json out 'o[0]["state"] == "missing" and o[0]["others"] == [] and o[0]["tx_time"] is None and o[0]["colorspace"] == "sRGB"'
if has_jsonschema; then check schema-missing valid_json resolve out; fi
nothing=$(find . -name '*.tx' | wc -l)
check makes-nothing test "$nothing" -eq 0

"$TXMILL" make -q rgb8.png half-rgb.exr
tx=$(echo blender_tx/rgb8*.tx)
gives fresh 0 prints "rgb8.png: fresh: $tx" prints "one.png: source: one.png" -- resolve rgb8.png half-rgb.exr one.png
txm resolve -q rgb8.png
check quiet test ! -s out
cp "$tx" itself.tx
gives tx-itself 0 reports 'o[0]["state"] == "source"' -- resolve --json itself.tx

# ---- other names: each setting is reported -------------------------------------------------------------------------------
other() { # NAME EXPECTED OPTION...
    local name=$1 expected=$2
    shift 2
    gives "$name" 5 prints "$expected" -- resolve "$@" rgb8.png
}
other other-space "found: $tx: colour space sRGB, not data" -c Non-Color
other other-alpha "alpha type straight, not none" -a none
other other-format "format plain, not lat-long" --envlatl
other other-working-space "working space Linear Rec.709, not this one" --working-space ACEScg
# A file that was moved into an absolute cache folder is not used there; beside the image it would be.
mkdir cache && cp -p "$tx" cache/
gives default-folder-serves 0 -- resolve -d "$work/cache" rgb8.png
mv blender_tx away
other other-place "named for a cache folder beside the image" -d "$work/cache"
mv away blender_tx
# Cycles also looks beside the image, so a file there under another name is reported for any cache folder.
rm -r cache
other other-beside "/$tx: colour space sRGB, not data" -d "$work/cache" -c Non-Color "$work/rgb8.png"
other other-beside-relative "found: blender_tx" -d elsewhere -a none
if has_jsonschema; then
    txm resolve --json -c Non-Color rgb8.png
    check schema-others valid_json resolve out
fi
mv "$tx" "${tx/926BDA85/00000000}"
gives unknown-name 5 prints "settings that this config does not have" -- resolve rgb8.png
mv "${tx/926BDA85/00000000}" "$tx"

# ---- times -----------------------------------------------------------------------------------------------------------
touch -d '2020-01-02 03:04:05' rgb8.png
touch -d '2021-01-02 03:04:05' "$tx"
gives outdated 5 prints "the image has the time 2020-01-02 03:04:05, the tx file 2021-01-02 03:04:05" -- resolve rgb8.png
gives touch 0 reports 'o[0]["refreshed"] and o[0]["state"] == "fresh"' -- refresh --json rgb8.png
check refreshed-time test "$(stat -c %Y "$tx")" -eq "$(stat -c %Y rgb8.png)"
if has_jsonschema; then check schema-refreshed valid_json refresh out; fi
# Another image under the old name must not be called fresh.
cp "$golden/rgba8.png" rgb8.png
touch -d '2022-01-02 03:04:05' rgb8.png
before=$(stat -c %Y "$tx")
gives touch-refused 5 prints "not refreshed: the image has other content than when the file was made" -- refresh rgb8.png
check touch-refused-time test "$(stat -c %Y "$tx")" -eq "$before"

# ---- unusable or unreadable files ------------------------------------------------------------------------------------
head -c 500 "$tx" >short && cp short "$tx" && touch -r rgb8.png "$tx"
gives unusable 5 reports 'o[0]["state"] == "unusable" and o[0]["reason"]' -- resolve --json rgb8.png
if has_jsonschema; then check schema-unusable valid_json resolve out; fi
# The file is complete, but Cycles does not use it: it comes from another program, or from a later version of Blender.
cp "$TXM_TESTDATA/tx/good-directory-loop.tx" "$tx" && touch -r rgb8.png "$tx"
gives unusable-shape 5 prints "it has 1 level; 2 are needed" -- resolve rgb8.png
mkdir project && cp "$golden/rgb8.png" project && "$TXMILL" make -q project/rgb8.png
later=$(echo project/blender_tx/*.tx)
sed -i 's/Blender maketx v0/Blender maketx v1/' "$later" && touch -r project/rgb8.png "$later"
gives unusable-later 5 prints "made by a newer format" -- refresh project/rgb8.png
# A project was copied without its times, and the path in the file leads nowhere any more.
"$TXMILL" make -q --force project/rgb8.png && mv project copied && touch -d '2023-03-04 05:06:07' copied/blender_tx/*.tx
gives touch-copied 0 reports 'o[0]["refreshed"] and o[0]["state"] == "fresh"' -- refresh --json copied/rgb8.png

# Renamed images keep their tx files: nothing is converted, replaced, or taken from an image that still exists.
mkdir shot && cp "$golden"/{rgb8,rgba8,gray8}.png shot && cp "$golden/rgb8.png" shot/twin.png
touch -d '2024-01-02 03:04:05' shot/*.png && "$TXMILL" make -q shot
files() { (cd shot && find . -name '*.tx' -printf '%f %i %T@\n' | sed 's/.0-[0-9A-F]*.tx//' | sort | tr '\n' ';'); }
inode=$(stat -c %i shot/blender_tx/rgb8*)
gives adopt-nothing 0 -- resolve --adopt shot
mv shot/rgb8.png "shot/the wood.png" && cp -p shot/twin.png shot/second.png
gives renamed 5 prints "the wood.png: missing: the image seems to have been renamed: shot/blender_tx/rgb8.png." \
    prints "; 2 seem renamed, and need no conversion: run first: txmill resolve --adopt shot" -- check shot
txm resolve --json "shot/the wood.png"
check renamed-json json out 'o[0]["state"] == "missing" and not o[0]["adopted"] and "rgb8.png" in o[0]["former"]'
if has_jsonschema; then check schema-former valid_json resolve out; fi
txm resolve "shot/the wood.png"
check renamed-resolve prints "  the image seems to have been renamed; its tx file: shot/blender_tx/rgb8.png"
txm resolve --adopt --json "shot/the wood.png" shot/second.png
check adopted json out 'o[0]["adopted"] and o[0]["state"] == "fresh" and "the wood.png" in o[0]["path"] and "rgb8" in o[0]["former"]'
check adopted-once json out 'not o[1]["adopted"] and o[1]["state"] == "missing" and o[1]["former"] is None'
if has_jsonschema; then check schema-adopted valid_json resolve out; fi
check adopted-same-file test "$(stat -c %i shot/blender_tx/the*)" -eq "$inode"
check adopted-old-gone test ! -e "$(echo shot/blender_tx/rgb8*)"
rm shot/second.png
gives adopted-ready 0 prints "ready to render: 4 of 4 textures fresh" -- check shot
gives adopted-verify 0 -- verify --deep shot
gives adopted-kept 0 says "would remove 0 of 4 files" -- gc shot
# Copied without its time, then changed: other pixels of the same size and time.
cp shot/gray8.png shot/grey.png && rm shot/gray8.png
txm check shot
check copied-not-said test "$(grep -c 'seems to have been renamed' out)" -eq 0
gives copied-adopted 0 -- resolve --adopt shot
check copied-time test "$(stat -c %Y shot/blender_tx/grey*)" -eq "$(stat -c %Y shot/grey.png)"
rm shot/rgba8.png && python3 - <<'PY'
import struct, zlib
w, h = struct.unpack(">II", open("shot/twin.png", "rb").read(24)[16:])
def chunk(kind, data): return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open("shot/other.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) +
                                   chunk(b"IDAT", zlib.compress((b"\0" + b"\x21\x43\x65" * w) * h)) + chunk(b"IEND", b""))
PY
rm shot/twin.png && touch -d '2024-01-02 03:04:05' shot/other.png
before=$(files)
gives other-pixels 5 prints "not adopted: TXM-602" -- resolve --adopt shot/other.png
check other-pixels-not-its test "$(grep -c 'seems to have been renamed' out)" -eq 0
check other-pixels-kept test "$(files)" = "$before"
# A cache folder elsewhere, whose names contain the image's folder.
"$TXMILL" make -q -d "$work/store" shot/other.png && mv shot/other.png shot/last.png
gives elsewhere-adopted 0 -- resolve --adopt -d "$work/store" shot/last.png
check elsewhere-one test "$(find store -name '*.tx' | wc -l)" -eq 1
# Its folder moved, and then the image was renamed in it.
mv shot place && mv place/last.png place/end.png
gives moved-said 5 prints "the image seems to have been renamed; its tx file: " -- resolve -d "$work/store" place/end.png
gives moved-adopted 0 -- resolve --adopt -d "$work/store" place/end.png
check moved-one test "$(find store -name 'end.png*.tx' | wc -l)" -eq 1 -a "$(find store -name '*.tx' | wc -l)" -eq 1
mv place shot && mv shot/end.png shot/last.png
# A folder that cannot be written.
mv shot/last.png shot/locked.png
if [ "$(id -u)" != 0 ]; then
    chmod a-w store
    gives locked 3 says "cannot be renamed to locked.png." -- resolve --adopt -d "$work/store" shot/locked.png
    chmod u+w store
fi

echo text >text.png
gives unreadable 3 -- resolve --json missing.png text.png half-rgb.exr
check unreadable-others json out '["error" in x for x in o] == [True, True, False]'
if has_jsonschema; then check schema-error valid_json resolve out; fi
gives no-image 2 -- resolve

# ---- content -----------------------------------------------------------------------------------------------------------
# Times differ after git and unzip; the content says whether anything changed. The same time may hide another image.
mkdir film && cp "$golden"/{rgb8.png,gray8.png,half-rgb.exr} film && touch -d '2024-01-02 03:04:05' film/*.*
"$TXMILL" make -q film
cp -r film clone # all times are new, and all files are outdated or, within one second, fresh
touch -d '2024-05-06 07:08:09' clone/*.* && touch -d '2024-05-06 07:08:11' clone/blender_tx/*
gives clone 5 prints "but has the same content: 'txmill refresh' restores the time" -- check clone
sums=$(md5sum clone/*.* clone/blender_tx/*)
txm refresh --json clone
check clone-refreshed json out 'all(x["refreshed"] and x["state"] == "fresh" for x in o) and len(o) == 3'
gives clone-ready 0 -- check clone
check clone-bytes test "$(md5sum clone/*.* clone/blender_tx/*)" = "$sums"
touch -d '2025-05-06 07:08:09' clone/*.*
gives clone-not-converted 0 reports 'all(x["state"] == "up-to-date" for x in o if x["type"] == "file")' -- make --json clone
check clone-make-refreshed test "$(stat -c %Y clone/blender_tx/* | sort -u)" = "$(stat -c %Y clone/gray8.png)"
# Another size is seen at once, the same size by reading the image; make converts it again.
changed() { # FILE: other content and the same time
    touch -r "$1" stamp && cat >"$1" && touch -r stamp "$1"
}
{ cat film/gray8.png; echo; } >longer && changed film/gray8.png <longer
txm check --json film
check stale json out '[x["id"] for x in o[:-1]].count("stale") == 1 and o[-1]["stale"] == 1 and not o[-1]["ready"]'
if has_jsonschema; then check schema-stale valid_json check out; fi
python3 -c 'import sys; d = bytearray(open("film/half-rgb.exr", "rb").read()); d[-1] ^= 1; sys.stdout.buffer.write(d)' >flipped
changed film/half-rgb.exr <flipped
gives stale-by-size 5 prints "1 stale" -- check film
gives stale-by-content 5 prints "2 stale" -- check --content film
gives verify-finds-content 5 prints "TXM-403" -- verify film/blender_tx/half-rgb*
gives refresh-leaves-stale 5 -- refresh film
gives made-again-by-size 0 reports '[x["state"] for x in o if x["type"] == "file"].count("created") == 1' -- make --json film
gives advice-reads-content 5 prints "run: txmill make --content film" -- check --content film
txm make --json --content film
check made-again-by-content json out '[x["state"] for x in o if x["type"] == "file"].count("created") == 1'
gives fresh-by-content 0 -- check --content film
# A key is text from a file: what is none counts as not recorded, and a source cannot bring its own.
for key in '0:' '1:00000000000000000000000000000000' '99999999999999999999:11111111111111111111111111111111'; do
    python3 - clone/blender_tx/rgb8* "$key" <<'PY'
import re, sys
data = open(sys.argv[1], "rb").read()
at = re.search(rb'txmill:Content="([0-9]+:[0-9a-f]{32})"', data)
key = sys.argv[2].encode()[:len(at[1])].ljust(len(at[1]), b"x")
open(sys.argv[1], "wb").write(data[:at.start(1)] + key + data[at.end(1):])
PY
    touch -d '2020-01-01' clone/blender_tx/rgb8*
    txm refresh clone/rgb8.png
    check "odd-key-$key" test "$rc" -eq 0 -o "$rc" -eq 5
done
txm make -q --force --attrib 'ImageDescription=txmill:Content="7:00000000000000000000000000000000" a painter' clone/gray8.png
gives source-key-is-not-ours 0 -- check --content clone/gray8.png
# Only its owner may set the time of a file; whoever may write to the folder replaces it.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    shared=$(mktemp -d /tmp/txmill-shared-XXXXXX) && mkdir "$shared/tex" && cp "$golden"/{rgb8,gray8}.png "$shared/tex"
    "$TXMILL" make -q "$shared/tex" && chmod -R a+rwX "$shared"
    other() { run setpriv --reuid=65534 --regid=65534 --clear-groups env HOME="$shared" "$TXMILL" "$@"; }
    if other --version && [ "$rc" -eq 0 ]; then
        for command in refresh make; do
            touch -d "$((2020 + ${#command}))-01-02" "$shared"/tex/*.png
            other $command "$shared/tex"
            check "others-file-$command" rc_is 0
            check "others-file-$command-time" test "$(stat -c %Y "$shared"/tex/*.png "$shared"/tex/blender_tx/* | sort -u | wc -l)" -eq 1
            chown -R 0:0 "$shared/tex"
        done
    else
        skip others-file "another user cannot run the program here"
    fi
    rm -rf "$shared"
fi
finish
