#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill mirror: copies of fresh tx files, under the names that Cycles computes for an absolute cache folder; the share stays
# as it is; nothing half-written is left.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir share local
cp -r "$TXM_TESTDATA"/blend/linked.blend "$TXM_TESTDATA"/blend/lib "$TXM_TESTDATA"/blend/textures share/
txm make share/linked.blend
made=$(find share -name '*.tx' | wc -l)
contents() { find "$1" -name '*.tx' -exec md5sum {} + | cut -c 1-32 | sort; }
share=$(find share -type f -exec md5sum {} + | sort)

gives no-scene 2 says "no scene given" -- mirror
gives no-folder 2 says "name it with --to" -- mirror share/linked.blend
txm mirror -n --to local share/linked.blend
check dry-run eval 'rc_is 0 && says "$made to create" && nothing_in local'
check dry-run-says prints "copied from $work/share/textures"

txm mirror --to local/new share/linked.blend
check made eval 'rc_is 0 && says "$made created"'
check same-bytes test "$(contents local/new)" = "$(contents share)"
check share-untouched test "$(find share -type f -exec md5sum {} + | sort)" = "$share"
gives fresh-there 0 -- check -d "$work/local/new" share/linked.blend
mv share/textures share/hidden && find share/hidden -name blender_tx -exec rm -r {} + && mv share/hidden share/textures
gives serves-alone 0 -- check -d "$work/local/new" share/linked.blend
gives again 0 says "0 created" -- mirror --to local/new share/linked.blend
txm mirror --to local/new --json share/linked.blend
check json valid_json make out

# ---- what is not fresh beside its image is converted, and what has changed is replaced --------------------------------
rm -r local/new
txm mirror --to local/new share/linked.blend
check converted eval 'rc_is 0 && says "$made created" && test -z "$(find share -name "*.tx")"'
txm make share/linked.blend
printf 'x' >>share/textures/wood.png
touch -d '+1 hour' share/textures/wood.png
txm make share/linked.blend
gives newer 0 says "1 created" -- mirror --to local/new share/linked.blend
gives newer-fresh 0 -- check -d "$work/local/new" --content share/linked.blend

# ---- only the levels that a picture needs --------------------------------------------------------------------------------
mkdir sized
cp "$golden"/rgb8.png sized/
txm make sized/rgb8.png
for size in 600x10:300 150x150:150 30x75:75 16x16:18; do
    txm mirror --to local/sized --size "${size%:*}" sized/rgb8.png
    "$TXMILL" budget --json --size "${size%:*}" sized/rgb8.png >budget
    check "size-$size" json budget "o[0]['width'] >> o[0]['level'] == ${size#*:}"
    gives "mirrored-$size" 0 prints "${size#*:} x " -- info local/sized
done
gives size-and-limit 2 says "two ways" -- mirror --to local/sized --size 16x16 --limit 64 sized/rgb8.png

# ---- a limit ------------------------------------------------------------------------------------------------------------
mkdir many
cp share/textures/wood.png many/old.png
txm mirror --to local/new many/old.png
find local/new -name 'old.png*' -exec touch -a -d '-9 days' {} +
txm mirror -n --to local/new --cache-limit 6K share/linked.blend
check limit-dry eval 'prints would-remove && test -n "$(find local/new -name "old.png*")"'
txm mirror --to local/new --cache-limit 6K share/linked.blend
check limit eval 'rc_is 0 && says "removed 1 tx file" && test -z "$(find local/new -name "old.png*")"'
check limit-needed test "$(find local/new -name '*.tx' | wc -l)" -eq "$made"
txm mirror --to local/new --cache-limit 1K share/linked.blend
check limit-too-small test "$(find local/new -name '*.tx' | wc -l)" -eq "$made"
check limit-said says "what is left is needed here"

# ---- another file system ----------------------------------------------------------------------------------------------
mkdir small
if mount -t tmpfs -o size=16k none small 2>/dev/null; then
    trap 'umount "$work/small" 2>/dev/null; clean_up' EXIT
    gives full 4 says "No space left" -- mirror --to small share/linked.blend
    check full-nothing-half test "$(find small -name '*.txm-tmp' | wc -l)" -eq 0
    check full-whole test -z "$(contents small | comm -23 - <(contents local/new))"
    mount -o remount,size=1m small
    gives copies 0 prints '"via":"copy"' -- mirror --to small --json share/linked.blend
    check copies-same test "$(contents small)" = "$(contents local/new)"
    mount -o remount,ro small
    touch -d '+2 hours' share/textures/wood.png
    txm make share/linked.blend
    gives read-only 3 says "Read-only file system" -- mirror --to small share/linked.blend
    umount small
else
    skip small "mounting a small tmpfs is not permitted"
fi

# ---- two at once --------------------------------------------------------------------------------------------------------
"$TXMILL" mirror --to both share/linked.blend 2>one.err &
txm mirror --to both share/linked.blend
wait $!
check both test "$?" -eq 0 -a "$rc" -eq 0
check both-whole test "$(find both -name '*.tx' | wc -l)" -eq "$made"
check no-temporaries no_temporaries
finish
