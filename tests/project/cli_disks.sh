#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a disk that is mounted read-only, and on one that is full, every command that writes says so, and whether to retry.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir disk
if ! mount -t tmpfs -o size=2m none disk 2>/dev/null; then
    skip disks "mounting a small tmpfs is not permitted"
    finish
fi
trap 'umount "$work/disk" 2>/dev/null; clean_up' EXIT
mkdir disk/tex && cp "$golden"/{rgb8,tile64,gray8,rgba8}.png disk/tex
cp "$TXM_TESTDATA/blend/packed.blend" disk/shot.blend
"$TXMILL" make -q --log disk/run.jsonl disk/tex
rm disk/tex/rgba8.png                           # an orphan for gc
touch -d '2026-01-02 03:04:05' disk/tex/gray8.png # outdated by its time alone
printf x >>disk/tex/tile64.png
touch -d '2026-01-02 03:04:05' disk/tex/tile64.png
tx=$(echo disk/tex/blender_tx/rgb8.png.*.tx) old=$(echo disk/tex/blender_tx/gray8.png.*.tx) changed=$(echo disk/tex/blender_tx/tile64.png.*.tx)
orphan=$(echo disk/tex/blender_tx/rgba8.png.*.tx)
cp disk/run.jsonl run.jsonl
sums() { find disk -type f ! -name fill -exec md5sum {} + | sort | md5sum; }
before=$(sums)

# Each command with a name that its message must contain; "$tx" is an existing tx file.
commands() {
    each make "$tx" make --force disk/tex/rgb8.png
    each make-unclaimed "$tx" make --no-claims --force disk/tex/rgb8.png
    each make-folder "$changed" make disk/tex
    each make-output disk/x.tx make -o disk/x.tx disk/tex/rgb8.png
    each watch-like "$changed" make --json disk/tex
    each extract disk/p.png extract -o disk/p.png "$tx"
    each extract-folder disk/p extract -o disk/p/ "$tx"
    each tile disk/p.png tile -o disk/p.png "$tx"
    each tile-text disk/p.txt tile -o disk/p.txt "$tx"
    each sample disk/p.png sample --grid 64x64 -o disk/p.png "$tx"
    each view disk/p.html view --html disk/p.html "$tx"
    each report disk/p.html report -o disk/p.html run.jsonl
    each diff disk/p.png diff -o disk/p.png "$tx" "$old"
    each borders "$tx" borders --strip "$tx"
    each log disk/x.jsonl make --log disk/x.jsonl disk/tex/rgb8.png
    each files disk/x.manifest files --manifest disk/x.manifest disk/shot.blend
    each files-zip disk/x.zip files --zip disk/x.zip disk/shot.blend
    each packed disk/unpacked make --packed disk/unpacked disk/shot.blend
    each stream disk/p.png stream render room -s 64x64 -o disk/p.png "$tx"
    each stream-page disk/p.html stream render room -s 64x64 --html disk/p.html "$tx"
    each stream-trace disk/p.trace stream render room -s 64x64 --engine blocking --trace disk/p.trace "$tx"
    each budget-page disk/p.html stream budget room -s 64x64 --html disk/p.html "$tx"
    each stream-tiles disk/p.tsv stream budget room -s 64x64 --tiles disk/p.tsv "$tx"
}
each() { # NAME FILE ARGUMENT...
    local name=$1 file=$2
    shift 2
    txm "$@"
    # The message may name the target of an existing link instead of the link.
    if [ "$rc" -eq "$code" ] && grep -F "$cause" err | grep -qF "${file#disk}" && grep -q "$step" err; then
        ok "$how-$name"
    else
        not_ok "$how-$name" "txmill $*" "rc=$rc" "$(head -c 1500 err)"
    fi
    rm -f disk/x.jsonl 2>/dev/null
    check "$how-$name-nothing-changed" test "$(sums)" = "$before"
}

mount -o remount,ro disk
how=read-only code=3 cause="Read-only file system" step="cannot create the folder\|write elsewhere\|write it elsewhere\|--cache-dir"
commands
gives read-only-not-retryable 3 reports 'o[0]["error"]["retryable"] is False' -- make --json --force disk/tex/rgb8.png
gives read-only-gc 3 says "$orphan: cannot be removed: Read-only file system" -- gc --delete disk/tex
gives read-only-touch 3 says "$old: cannot set its time: Read-only file system" -- refresh disk/tex/gray8.png
# Commands that only read still work.
for c in info verify resolve check "plan -N 2" gc list "make -n" settings; do
    # shellcheck disable=SC2086
    txm $c disk/tex
    check "read-only-looks-${c%% *}" test "$rc" -eq 0 -o "$rc" -eq 5 -o "$c $rc" = "list 2" # no scene there
done

mount -o remount,rw disk
how=full code=4 cause="No space left on device" step="free space"
dd if=/dev/zero of=disk/fill bs=1k 2>/dev/null
commands
gives full-retryable 4 reports 'o[0]["error"]["retryable"] is True' -- make --json --force disk/tex/rgb8.png
# The advice in the messages works.
txm gc --delete disk/tex
check full-gc test "$rc" -eq 0 -a ! -e "$orphan"
rm disk/fill
txm make disk/tex
check works-again test "$rc" -eq 0
check no-temporaries no_temporaries
umount disk
finish
