#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill gc DIR...: what is removed and why, and above all what stays.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# Prints paths and reasons of the files of a --json output, sorted.
found() { python3 - "$work/out" <<'EOF2'
import json, os, sys
o = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(" ".join(sorted(x["reason"] + ":" + os.path.basename(x["path"]).split(".0-")[0] for x in o if x["type"] == "file")))
EOF2
}
kept() { json out "o[-1]['kept']['${1//-/_}']['files'] == $2"; }
tx_of() { find "$1" -name "$2.0-*.tx" | sort | head -n 1; }

# ---- images that are gone ----------------------------------------------------------------------------------------------
python3 "$repo/tests/util/batch_images.py" tex 6 24
mkdir tex/deep && cp tex/000000.png tex/deep/in.png && cp "$golden/half-rgb.exr" tex/
txm make -q tex
check made test "$(find tex -name '*.tx' | wc -l)" -eq 8
gives nothing-to-do 0 says "would remove 0 of 8 files" -- gc tex
rm tex/000001.png tex/deep/in.png
# These files were not made by txmill for an image: other names, other contents, links, folders.
touch tex/blender_tx/notes.txt tex/blender_tx/photo.tx
cp "$(tx_of tex 000001.png)" tex/blender_tx/renamed.tx
echo "no tx file" >tex/blender_tx/text.png.0-0123456789ABCDEF0123456789ABCDEF.tx
ln -s "$(basename "$(tx_of tex 000001.png)")" tex/blender_tx/link.png.0-0123456789ABCDEF0123456789ABCDEF.tx
mkdir tex/blender_tx/folder.png.0-0123456789ABCDEF0123456789ABCDEF.tx
cp "$(tx_of tex 000001.png)" tex/blender_tx/next.png.1-0123456789ABCDEF0123456789ABCDEF.tx
find tex | sort >before
txm gc --json tex
check orphans test "$(found)" = "orphan:000001.png orphan:in.png"
check orphans-image json out "all(x['image'].endswith('.png') and x['age_seconds'] >= 0 for x in o if x['type'] == 'file')"
check unrecognised-counted kept unrecognised 1
check used-counted kept used 6
# If the clock of a server differs, a file that it has just made is not called young unless an age was given.
if faketime -f -10m "$TXMILL" --version >/dev/null 2>&1; then
    run env FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1 faketime -f -10m "$TXMILL" gc --json tex
    check future-is-not-young test "$(found)" = "orphan:000001.png orphan:in.png"
    txm gc --json tex
else
    skip future "faketime is not installed, or the build is sanitized"
fi
check sizes-summed json out "o[-1]['would_remove_bytes'] == sum(x['bytes'] for x in o if x['type'] == 'file') == o[-1]['reasons']['orphan']['bytes'] > 0"
find tex | sort >after
check dry-run cmp before after
if has_jsonschema; then check schema valid_json gc out; else skip schema "python3-jsonschema is missing"; fi
txm gc --older-than 1d --json --delete tex
check young-stay test -z "$(found)" -a "$(find tex -name '000001*.tx')"
check young-counted kept young 2
gives deleted 0 -- gc --delete tex
check deleted-says grep -q "^tex/blender_tx/000001.png.0-.*: removed: orphan, " out
diff before <(find tex | sort) >gone
check deleted-nothing-else test "$(grep -c '^<' gone)" -eq 2 -a "$(grep -c 'in.png.0-\|000001.png.0-' gone)" -eq 2
rm -r tex/blender_tx/{notes.txt,photo.tx,renamed.tx,text.png*,link.png*,folder.png*,next.png*}

# ---- images that cannot be seen ----------------------------------------------------------------------------------------
mkdir -p share/a && cp tex/000002.png tex/000003.png share/a
txm make -q --cache-dir "$work/cache" share/a/000002.png
txm make -q --redact --cache-dir "$work/cache" share/a/000003.png
txm gc --json cache
check absolute-used kept used 1
check redacted-unknown kept unknown-image 1
mv share away
txm gc --json --delete cache
check unmounted-stays kept no-folder 1
check unmounted-nothing-removed test "$(find cache -name '*.tx' | wc -l)" -eq 2
gives unmounted-says 0 says "--missing-folders" -- gc cache
txm gc --json --missing-folders cache
check unmounted-asked-for test "$(found)" = "orphan:000002.png"
mkdir -p share/a
txm gc --json cache
check folder-back-without-image test "$(found)" = "orphan:000002.png"
rm -r share && mv away share

# A project that was moved takes its cache folders along. A copy is not the original.
cp -r tex copy && rm copy/000004.png
txm gc --json copy
check copy-is-its-own test "$(found)" = "orphan:000004.png"
mv copy moved
txm gc --json moved
check moved-images-found kept used 5

# ---- old names ---------------------------------------------------------------------------------------------------------
mkdir -p elsewhere/deeper && mv "$(tx_of cache 000002.png)" elsewhere/deeper/
txm gc --json elsewhere
check old-name test "$(found)" = "old-name:000002.png"
txm gc --delete elsewhere
check old-name-removed nothing_in elsewhere

# ---- files left by dead processes ------------------------------------------------------------------------------------
touch -d '3 days ago' tex/blender_tx/.x.png.tx.elsewhere-00000000-1-0123456789abcdef.txm-tmp \
    tex/blender_tx/.y.tx.txm-claim
touch tex/blender_tx/.z.png.tx.elsewhere-00000000-1-0123456789abcdef.txm-tmp
gives leftovers 0 reports "sorted(x['reason'] for x in o[:-1]) == ['claim', 'temporary']" -- gc --json tex
txm gc -q --delete tex
check leftovers-removed test "$(find tex -name '.*.txm-*' | wc -l)" -eq 1

# A file that is being made again is left to the process that makes it.
rm tex/000005.png
claim=tex/blender_tx/.$(basename "$(tx_of tex 000005.png)").txm-claim
printf 'txmill claim 1\nhost elsewhere\nmachine 00000001\npid 7\nstart 7\nnonce 00000000000000aa\ntime x\n' >"$claim"
txm gc --json --delete tex
check busy-stays kept busy 1
check busy-file test -f "$(tx_of tex 000005.png)"
rm "$claim"
txm gc --json --delete tex
check busy-later test "$(found)" = "orphan:000005.png"

# ---- scenes ------------------------------------------------------------------------------------------------------------
cp -r "$TXM_TESTDATA/blend" scenes
txm make -q scenes/lint.blend scenes/packed.blend --packed scenes/unpacked 2>/dev/null
"$TXMILL" make -q -c ACEScg scenes 2>/dev/null
gives scene 0 -- gc --json --keep-for scenes/lint.blend scenes
cp out lint.json
"$TXMILL" list --json scenes/lint.blend | python3 -c 'import json, sys
for line in sys.stdin:
    for f in json.loads(line).get("files", []):
        if f["tx"]["state"] == "fresh": print(f["tx"]["path"])' | sort -u >used
check scene-uses-some test -s used
check scene-used-stay json lint.json "not set(x['path'] for x in o if x['type'] == 'file') & set(p.replace('$work/', '') for p in open('used').read().split('\n'))"
check scene-others-go json lint.json "len([x for x in o if x.get('reason') == 'unused']) == $(find scenes -name '*.tx' -not -path '*unpacked*' | wc -l) - $(wc -l <used) + $(find scenes/unpacked -name '*.tx' | wc -l)"
gives scene-delete 0 -- gc --delete --keep-for scenes/lint.blend --keep-for scenes/packed.blend scenes
check scene-still-fresh test "$("$TXMILL" list --json scenes/lint.blend | grep -c '"state":"missing"')" -eq 0
check scene-packed-kept test -n "$(find scenes/unpacked -name '*.tx')"
# Nothing is deleted for a scene that cannot be read completely.
txm gc --delete --keep-for scenes/missing.blend tex
check scene-library-missing test "$rc" -ne 0
check scene-library-says says "nothing is removed"
txm gc --delete --keep-for nowhere tex
check keep-nowhere test "$rc" -eq 3 -a "$(find tex -name '*.tx' | wc -l)" -gt 0
mkdir none && txm gc --delete --keep-for none tex
check keep-nothing-exit rc_is 2
check keep-nothing-says says "--keep-for none: contains no image; nothing is removed"
txm gc --delete --keep-for no-such.blend tex
check scene-missing test "$rc" -ne 0
check scene-missing-nothing-removed test "$(find tex -name '*.tx' | wc -l)" -eq 5

# The same holds for a scene whose images may be on a disk that is not mounted, or that was moved away from them.
keep() { find film -name '*.tx' | wc -l; }
cp -r "$TXM_TESTDATA/blend" film && "$TXMILL" make -q film/lint.blend 2>/dev/null && mkdir lost && cp film/lint.blend lost
all=$(keep)
txm gc --delete --keep-for lost/lint.blend film
check scene-moved-refused test "$rc" -eq 3 -a "$(keep)" -eq "$all"
check scene-moved-says says "lost/textures/" "its folder is missing" "nothing is removed" "--missing-folders"
txm gc --delete --missing-folders --keep-for lost/lint.blend film
check scene-no-image-refused test "$rc" -eq 3 -a "$(keep)" -eq "$all"
check scene-no-image-says says "lost/lint.blend: none of its images exists" "nothing is removed"
mkdir lost/textures
txm gc --delete --keep-for lost/lint.blend film
check scene-empty-folder-refused test "$rc" -eq 3 -a "$(keep)" -eq "$all"
gone=$(find film/textures -name '*.tx' | sort | head -n 1) && gone=${gone##*/} && rm "film/textures/${gone%.0-*}"
txm gc --delete --keep-for film/lint.blend film
check scene-one-gone test "$rc" -eq 0 -a "$(keep)" -lt "$all" -a "$(keep)" -gt 0

# ---- usage, folders that cannot be read ------------------------------------------------------------------------------
gives needs-a-folder 2 -- gc
gives store-or-folders 2 -- gc --store store --older-than 1d tex
gives size-is-for-stores 2 -- gc --max-size 1G tex
gives missing-folder 3 says "would remove 0 of 5 files" -- gc no-such-folder tex
# As in make, rules decide which tx file of an image is in use.
mkdir ruled && cp "$golden/rgb8.png" ruled/wood.png
"$TXMILL" make -q ruled/wood.png && "$TXMILL" make -q -c Non-Color ruled/wood.png
txm gc --json --keep-for ruled --rule 'wood.*=Non-Color' ruled
check rules json out '[x["reason"] for x in o if x["type"] == "file"] == ["unused"] and o[-1]["kept"]["used"]["files"] == 1'
txm gc --delete -q --keep-for ruled --rule 'wood.*=Non-Color' ruled
gives rules-kept-the-right-one 0 -- resolve -c Non-Color ruled/wood.png
# The operand is a single tx file.
tx=$(echo ruled/blender_tx/*.tx) && rm ruled/wood.png
gives one-file 0 says "would remove 1 of 1 file," -- gc "$tx"
finish
