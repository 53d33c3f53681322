#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill resolve: every state, other names and the setting in which they differ, restoring times.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$golden"/{rgb8.png,half-rgb.exr,one.png} .
txm resolve --json rgb8.png
check missing-exit rc_is 5
check missing json out 'o[0]["state"] == "missing" and o[0]["others"] == [] and o[0]["tx_time"] is None and o[0]["colorspace"] == "sRGB"'
if has_jsonschema; then check schema-missing valid_json resolve out; fi
nothing=$(find . -name '*.tx' | wc -l)
check makes-nothing test "$nothing" -eq 0

"$TXMILL" make -q rgb8.png half-rgb.exr
tx=$(echo blender_tx/rgb8*.tx)
txm resolve rgb8.png half-rgb.exr one.png
check fresh-exit rc_is 0
check fresh-path prints "rgb8.png: fresh: $tx"
check one-pixel prints "one.png: source: one.png"
txm resolve -q rgb8.png
check quiet test ! -s out
cp "$tx" itself.tx
txm resolve --json itself.tx
check tx-itself json out 'o[0]["state"] == "source"'

# ---- other names: each setting is reported -------------------------------------------------------------------------------
other() { # NAME EXPECTED OPTION...
    local name=$1 expected=$2
    shift 2
    txm resolve "$@" rgb8.png
    check "$name" rc_is 5
    check "$name-told" prints "$expected"
}
other other-space "found: $tx: colour space sRGB, not data" -c Non-Color
other other-alpha "alpha type straight, not none" -a none
other other-format "format plain, not lat-long" --envlatl
other other-working-space "working space Linear Rec.709, not this one" --working-space ACEScg
# A file that was moved into an absolute cache folder is not used there; beside the image it would be.
mkdir cache && cp -p "$tx" cache/
txm resolve -d "$work/cache" rgb8.png
check default-folder-serves rc_is 0
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
txm resolve rgb8.png
check unknown-name prints "settings that this config does not have"
mv "${tx/926BDA85/00000000}" "$tx"

# ---- times -----------------------------------------------------------------------------------------------------------
touch -d '2020-01-02 03:04:05' rgb8.png
touch -d '2021-01-02 03:04:05' "$tx"
txm resolve rgb8.png
check outdated-exit rc_is 5
check outdated-times prints "the image has the time 2020-01-02 03:04:05, the tx file 2021-01-02 03:04:05"
txm resolve --touch --json rgb8.png
check touch-exit rc_is 0
check touched json out 'o[0]["touched"] and o[0]["state"] == "fresh"'
check touched-time test "$(stat -c %Y "$tx")" -eq "$(stat -c %Y rgb8.png)"
if has_jsonschema; then check schema-touched valid_json resolve out; fi
# Another image under the old name must not be called fresh.
cp "$golden/rgba8.png" rgb8.png
touch -d '2022-01-02 03:04:05' rgb8.png
before=$(stat -c %Y "$tx")
txm resolve --touch rgb8.png
check touch-refused rc_is 5
check touch-refused-says prints "not touched: TXM-602"
check touch-refused-time test "$(stat -c %Y "$tx")" -eq "$before"

# ---- unusable or unreadable files ------------------------------------------------------------------------------------
head -c 500 "$tx" >short && cp short "$tx" && touch -r rgb8.png "$tx"
txm resolve --json rgb8.png
check unusable-exit rc_is 5
check unusable json out 'o[0]["state"] == "unusable" and o[0]["reason"]'
if has_jsonschema; then check schema-unusable valid_json resolve out; fi
# The file is complete, but Cycles does not use it: it comes from another program, or from a later version of Blender.
cp "$TXM_TESTDATA/tx/good-directory-loop.tx" "$tx" && touch -r rgb8.png "$tx"
txm resolve rgb8.png
check unusable-shape prints "it has 1 level; 2 are needed"
mkdir project && cp "$golden/rgb8.png" project && "$TXMILL" make -q project/rgb8.png
later=$(echo project/blender_tx/*.tx)
sed -i 's/Blender maketx v0/Blender maketx v1/' "$later" && touch -r project/rgb8.png "$later"
txm resolve --touch project/rgb8.png
check unusable-later rc_is 5
check unusable-later-says prints "made by a newer format"
# A project was copied without its times, and the path in the file leads nowhere any more.
"$TXMILL" make -q --force project/rgb8.png && mv project copied && touch -d '2023-03-04 05:06:07' copied/blender_tx/*.tx
txm resolve --touch --json copied/rgb8.png
check touch-copied json out 'o[0]["touched"] and o[0]["tx_time"] == o[0]["image_time"]'

echo text >text.png
txm resolve --json missing.png text.png half-rgb.exr
check unreadable rc_is 3
check unreadable-others json out '["error" in x for x in o] == [True, True, False]'
if has_jsonschema; then check schema-error valid_json resolve out; fi
txm resolve
check no-image rc_is 2
finish
