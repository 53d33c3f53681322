#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command that reads files takes files, folders, @list and -, and ends with one summary line.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir -p tex/deep && cp "$golden/rgb8.png" tex/wood.png && cp "$golden/gray8.png" tex/deep/grey.png
"$TXMILL" make -q tex
wood=$(echo tex/blender_tx/wood*.tx) grey=$(echo tex/deep/blender_tx/grey*.tx)
printf '%s\n' "$wood" "$grey" >tx.txt && printf 'tex/wood.png\ntex/deep/grey.png\n' >images.txt
echo tex >folders.txt
cp "$TXM_TESTDATA/blend/materials.blend" shot.blend && mkdir scenes && cp shot.blend scenes && echo shot.blend >scenes.txt
"$TXMILL" make --json --force tex/wood.png >run.jsonl && mkdir runs && cp run.jsonl runs && echo run.jsonl >runs.txt

# takes NAME PATTERN COMMAND...: the files, the folder, the list and the list on standard input give the same result,
# and a line of each output, on either stream, matches. The forms are in ${forms[@]}, the list in $list.
takes() {
    local name=$1 pattern=$2 form
    shift 2
    for form in "${forms[@]}" "@$list" @- ${dash--}; do
        # shellcheck disable=SC2086
        run "$TXMILL" "$@" $form <"$list"
        if [ $rc -le 5 ] && [ $rc -ne 2 ] && cat out err | grep -qE "$pattern"; then
            ok "$name-${form// /_}"
        else
            not_ok "$name-${form// /_}" "txmill $* $form" "rc=$rc" "$(head -c 600 out)" "$(head -c 600 err)"
        fi
    done
}
forms=("$wood $grey" tex) list=tx.txt
takes info '^2 files: 2 used$' info
takes verify '^2 files: 2 good$' verify
takes borders '^2 files: 2 sound$' borders --check
takes borders-strip '^2 files: 2 (stripped|unchanged)$' borders --strip
takes borders-add '^2 files: 2 (added|unchanged)$' borders --add
takes tile '^txmill: 2 files: 2 shown$' tile -l 6
takes sample '^txmill: 2 files: 2 sampled$' sample
takes extract '^txmill: 2 pictures: 2 written$' extract --overwrite -o pictures/
takes view '^2 files: 2 shown$' view -F symbols -l 6
takes page '^txmill: page.html: wrote the page, with 2 textures$' view --overwrite --html page.html
forms=("tex/wood.png tex/deep/grey.png" tex) list=images.txt
takes resolve '^2 images: 2 fresh$' resolve
takes check '^ready to render: 2 of 2 textures fresh$' check
takes make '^txmill: 0 created .* 2 up to date' make
takes plan '^all +2 ' plan -N 2
forms=(shot.blend scenes) list=scenes.txt
takes list '^[0-9]+ textures: ' list
forms=(run.jsonl runs) list=runs.txt
dash='' takes report '^txmill: 1 run, 1 image: ' report
forms=(tex tex/ "$wood $grey") list=folders.txt
takes gc '^txmill: would remove 0 of [12] files?, 0 B$' gc

forms=(tex/deep "tex/deep tex/deep/grey.png") list=deep.txt
echo tex/deep >deep.txt
takes settings '^tex/deep: no .txmill' settings
forms=("tex/wood.png tex/deep/grey.png" tex) list=images.txt
takes stream '^room: 16 x 9 px' stream budget room -s 16x9
txm stream budget grid -s 16x9 --json tex
check stream-images json out '[x["image"].split("/")[-1] for x in o[0]["images"]] == ["wood.png", "grey.png"]'
txm stream budget room -s 16x9 --json tex
check stream-folder json out '[x["image"].split("/")[-1] for x in o[0]["images"]] == ["wood.png", "grey.png"]'
gives stream-no-list 3 says "nolist: cannot open the list" -- stream budget room tex/wood.png @nolist
gives stream-no-tile 3 says "tex/w<UDIM>.png: no file matches this pattern" -- stream budget udim 'tex/w<UDIM>.png'
cp tex/wood.png tex/w1001.png && cp tex/wood.png tex/w1002.png && "$TXMILL" make -q tex
txm stream budget udim 'tex/w<UDIM>.png' -s 16x9 --json
check stream-udim json out '[x["image"] for x in o[0]["images"]] == ["tex/w<UDIM>.png"]'
rm tex/w100?.png tex/blender_tx/w100*
# A watch runs until it is stopped, so it is enough that it has found its folders. A name from a list is not a list.
mkdir ./@odd && cp "$golden/rgb8.png" @odd/ && printf 'tex/deep\n@odd\n' >watched.txt
for form in "tex/deep ./@odd" @watched.txt @- -; do
    rm -rf ./@odd/blender_tx err
    # shellcheck disable=SC2086
    "$TXMILL" watch --settle 0 $form <watched.txt >out 2>err &
    for _ in $(seq 600); do
        [ -z "$(find ./@odd -name 'rgb8*.tx')" ] || break
        sleep 0.1
    done
    kill -TERM $! && wait $!
    rc=$?
    check "watch-${form// /_}" test "$rc" -eq 143 -a "$(grep -c '^txmill: watching 2 folders$' err)" -eq 1 -a -n "$(find ./@odd -name 'rgb8*.tx')"
done
rm -r ./@odd
txm watch @nolist
check watch-no-list test "$rc $(head -n 1 err)" = "3 txmill: error: nolist: cannot open the list: No such file or directory"
txm watch tex nowhere
check watch-nowhere test "$rc" -eq 3 -a "$(grep -c 'nowhere: cannot be watched: No such file' err)" -eq 1
txm watch tex/wood.png
check watch-file test "$rc $(head -n 1 err)" = "3 txmill: error: tex/wood.png: a file, not a folder; name the folder that contains it"
txm settings nowhere tex/deep
check settings-goes-on test "$rc $(grep -c '^tex/deep: ' out)" = "3 1"
txm settings --json nowhere tex/deep
check settings-object json out 'o[0]["error"]["status"] == "not-found" and o[1]["path"] == "tex/deep"'
if has_jsonschema; then check settings-schema valid_json settings out; fi

# report reads a log from standard input as the log itself.
txm report - <run.jsonl
check report-stdin says "1 run, 1 image: 0 failed, 1 created"

# Pictures are named after their images, or after their tx files if that name is taken.
check pictures test "$(ls pictures | tr '\n' ' ')" = "grey.png wood.png "
"$TXMILL" make -q -c Non-Color tex/wood.png
txm extract tex --format tif -o two/
check same-image test "$(find two -name 'wood*.tif' | wc -l)" -eq 2
gives many 2 says "-o one.png: 3 tx files need a folder for their pictures; give one, as in -o pictures/" \
    -- extract tex -o one.png
txm extract tex -o tex
check no-image-lost test "$rc" -eq 2 -a "$(cksum <tex/wood.png)" = "$(cksum <"$golden/rgb8.png")"
txm extract --format a/b -o two/ "$wood"
check bad-format says "--format a/b: must be the extension of a picture, such as png or exr"
gives tile-many 2 says "-o takes the tile of a single tx file, but 3 are given" -- tile -o tile.txt tex
gives sample-many 2 says "--grid takes a single texture, but 3 are given" -- sample --grid 4x4 -o patch.png tex
txm sample "$wood" "$grey"
check sample-names grep -q "^$grey: [0-9.]* " out
txm tile -l 6 "$wood" "$grey"
check tile-heads test "$(grep -c '^==> tex/.*\.tx <==$' out)" -eq 2
for c in "tile -l 6" sample "extract --overwrite -o pictures/"; do
    # shellcheck disable=SC2086
    txm $c --json "$wood" missing.tx "$grey"
    check "json-${c%% *}" test "$rc $(wc -l <out)" = "3 3"
    check "json-failed-${c%% *}" json out 'o[1]["file"] == "missing.tx" and o[1]["error"]["status"] == "not-found"'
    if has_jsonschema; then check "schema-${c%% *}" valid_json "${c%% *}" out; fi
done

# Two folders are compared by file names. A file that one of them lacks is a difference.
cp -r tex other && rm other/deep/blender_tx/*.tx && cp "$grey" other/blender_tx/more.tx
gives diff-folders 5 -- diff tex other
check diff-folders-sum grep -qx '4 files: 2 the same, 1 only in the first folder, 1 only in the second folder' out
for pair in "tex tex" "tex/ tex" "./tex tex//" "tex/. $PWD/tex/"; do
    # shellcheck disable=SC2086
    txm diff $pair
    check "diff-same-${pair// /-}" test "$rc $(tail -n 1 out)" = "0 3 files: 3 the same"
done
txm diff --json tex other
check diff-json test "$rc $(wc -l <out)" = "5 4"
if has_jsonschema; then check diff-schema valid_json diff out; fi
printf '%s\n%s\n' "$wood" "$wood" >pair.txt
txm diff @pair.txt
check diff-list test "$rc $(tail -n 1 out)" = "0   the same"
txm diff "$wood" "$grey"
check diff-differs test "$rc $(tail -n 1 out)" = "5   different"
txm diff --max-error 2 --min-psnr 0 "$wood" "$wood"
check diff-equal-within test "$(tail -n 1 out)" = "  the same"
gives diff-map 2 says "-o draws the differences of two files, not of folders" -- diff -o map.png tex other
txm diff --json tex other
check diff-without-r test "$rc $(wc -l <out)" = "5 4"
txm diff tex "$wood"
check diff-folder-and-file eval 'rc_is 2 && says "tex is a folder, but $wood is not"'

# Several images have the same name: there is a picture for each, and a second run gives them the same names.
mkdir -p same/{1,2,3,4}
for i in 1 2 3 4; do printf 'P5\n%d 2\n255\nabcdefgh' $i >same/$i/wood.pgm; done
"$TXMILL" make -q same
txm extract -o kept/ same
check same-name test "$rc $(find kept -type f | wc -l)" = "0 4"
check same-name-sizes test "$(for i in kept/*; do od -An -j 16 -N 4 -t u1 "$i" | tr -d ' '; done | sort | tr '\n' ,)" = 0001,0002,0003,0004,
sum=$(md5sum kept/*)
txm extract -o kept/ same
check same-name-again test "$(md5sum kept/*)" = "$sum"
finish
