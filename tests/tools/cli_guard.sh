#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Outputs are guarded: an argument that was forgotten before a glob must not cost a texture.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir tex && cp "$golden"/{rgb8,tile64,rgba8}.png tex/
txm make -q tex/*.png
sums() { find tex -type f -exec md5sum {} + | sort; }
before=$(sums)

# spares NAME OPTION ARGUMENT...: the command ends with exit code 2, names the option and the file, says what to do, and
# changes nothing.
spares() {
    local name=$1 option=$2
    shift 2
    gives "$name" 2 says "$option" says "another name" -- "$@"
    check "$name-nothing-lost" test "$(sums)" = "$before"
}

# shellcheck disable=SC2211 # a glob takes the place of a name that was forgotten, which is the mistake under test
{
spares view-glob --html view --html tex/blender_tx/*.tx
check view-glob-kind says "is a tx file, not a page that txmill wrote"
check view-glob-example says "as in --html page.html"
spares log-glob --log make --force --log tex/*.png
spares log-glob-plain --log make --log tex/*.png
check log-glob-kind says "is an image with a tx file in blender_tx, a texture"
spares make-output -o make -o tex/rgba8.png tex/rgb8.png
check make-output-kind says "is an image with a tx file in blender_tx, a texture"
set -- tex/blender_tx/*.tx
spares make-glob -o make -o "$1" "$2"
check make-glob-says says "-o $1: is the tx file of rgb8.png, which would be lost"
spares make-other -o make -o tex/blender_tx/rgb8.png.*.tx tex/rgba8.png
printf '{"path": "tex/rgba8.png", "output": "%s"}\n' "$1" >list
spares make-list output make @list
rm list
spares diff-glob -o diff -o tex/*.png
spares diff-operand -o diff -o tex/rgb8.png tex/rgb8.png tex/rgba8.png
}
tx=$(echo tex/blender_tx/rgb8.png.*.tx)
spares extract-source -o extract -o tex/rgb8.png "$tx"
check extract-source-says says "is the image that $tx was made from"
spares extract-input -o extract --overwrite -o "$tx" "$tx"
check extract-input-says says "is an input of this command"
spares extract-other -o extract -o tex/tile64.png "$tx"
spares tile-source -o tile -o tex/rgb8.png "$tx"
spares tile-other -o tile --format raw -o tex/rgba8.png "$tx"
spares sample-source -o sample --grid 8x8 -o tex/rgb8.png "$tx"
spares sample-other -o sample --grid 8x8 -o tex/tile64.png "$tx"
spares sample-input -o sample --overwrite --grid 8x8 -o "$tx" "$tx"
spares sheet-other -o tile --all -o tex/rgba8.png "$tx"
txm make --log - tex/rgb8.png
check log-dash test "$rc $(cat err)" = "2 txmill: error: --log -: the log cannot go to standard output; use --json, which prints the same objects there
TXMILL-ERROR code=2 failed=0 total=0"
gives output-dash 2 says "--output -: a tx file cannot go to standard output; name a file" -- make -o - tex/rgb8.png
check no-file-dash test ! -e -
ln tex/rgb8.png tex/hard.png && ln -s rgb8.png tex/soft.png
before=$(sums)
spares hard-link -o extract -o tex/hard.png "$tx"
spares symbolic-link -o extract -o tex/soft.png "$tx"
rm tex/hard.png tex/soft.png
before=$(sums)
gives folder 2 says "a folder; name a file in it" -- tile -o tex "$tx"
gives folder-image 2 says "-o tex/rgb8.png: is the image that $tx was made from" -- extract -o tex "$tx"

# Reports: the log itself, and a scene or page of another program.
txm make --json tex/*.png --log run.jsonl
log=$(md5sum <run.jsonl)
gives report-forgotten 2 -- report -o run.jsonl
gives report-input 2 says "is an input of this command" -- report -o run.jsonl run.jsonl
check report-log-untouched test "$(md5sum <run.jsonl)" = "$log"
echo '<!doctype html><p>mine' >index.html
gives report-other-page 2 says "is an HTML page, not a page that txmill wrote" -- report -o index.html run.jsonl
check report-other-page-untouched grep -q mine index.html

# Entries of a list fail one by one.
printf '%s\n' '{"path": "tex/rgb8.png", "output": "tex/rgba8.png"}' '{"path": "tex/tile64.png", "output": "new.tx"}' >list
gives list 2 reports '[x["state"] for x in o if x["type"] == "file"].count("failed") == 1' says "list:1" -- make --json @list
check list-other-made test -s new.tx
check list-nothing-lost test "$(sums)" = "$before"

# ---- files that may be replaced --------------------------------------------------------------------------------------
# These are files that txmill wrote, empty files and, with -f, all files that are not inputs.
allows() {
    local name=$1
    shift
    gives "$name" 0 -- "$@"
}
for f in picture.png picture.jpg picture.tif picture.exr; do
    allows "first-$f" extract -o $f "$tx"
    allows "again-$f" extract -l 1 -o $f "$tx"
done
# This format cannot record its writer, so the existing file may be a texture.
allows first-picture.ppm extract -o picture.ppm "$tx"
cp picture.ppm first.ppm
txm extract --overwrite -l 1 -o picture.ppm "$tx"
check again-picture.ppm-refused test "$rc" -eq 2
check again-picture.ppm-kept cmp -s picture.ppm first.ppm
allows page view --html page.html "$tx"
allows page-again view --html page.html "$tx"
allows report report -o report.html run.jsonl
allows report-again report -o report.html run.jsonl
allows report-over-view report -o page.html run.jsonl
allows log-again make --log run.jsonl tex/rgb8.png
allows tx make -o mine.tx tex/rgb8.png
allows tx-again make -o mine.tx tex/tile64.png
allows text tile -o tile.txt "$tx"
allows text-again tile -o tile.txt -t 1,0 "$tx"
: >made-by-mktemp
allows empty make --log made-by-mktemp tex/rgb8.png
allows device make --log /dev/null tex/rgb8.png
for f in page.html notes.png; do
    echo mine >$f
    case $f in page.html) set -- view --html $f "$tx" ;; *) set -- extract -o $f "$tx" ;; esac
    txm "$@"
    check "$f-refused" eval "rc_is 2 && says '--overwrite to replace the file'"
    allows "$f-overwritten" "$@" --overwrite
done
check nothing-lost-at-last test "$(sums)" = "$before"

# ---- files that no option replaces -----------------------------------------------------------------------------------
mkdir lone && cp tex/rgba8.png lone/ && cp "$tx" lone/a.tx && printf 'P5\n2 1\n255\nab' >lone/p.pgm && cp run.jsonl lone/
printf 'BLENDER-v500' >lone/shot.blend
kept=$(md5sum lone/*)
for f in lone/rgba8.png lone/a.tx lone/p.pgm lone/run.jsonl lone/shot.blend; do
    for c in "view --html" "tile --format text -o"; do
        # shellcheck disable=SC2086
        gives "${c%% *}-never-${f#lone/}" 2 says "or remove the file" -- $c $f --overwrite "$tx"
    done
    txm make -f -o $f tex/rgb8.png
    [ $f = lone/a.tx ] || check "make-never-${f#lone/}" rc_is 2
done
cp "$tx" lone/a.tx
gives extract-never 2 -- extract --overwrite -o lone/rgba8.png "$tx"
gives report-never 2 -- report --overwrite -o lone/run.jsonl run.jsonl
check kept test "$(md5sum lone/*)" = "$kept"
# A picture that txmill wrote became a texture; its format has no mark.
"$TXMILL" extract -q -o lone/own.png "$tx" 2>/dev/null || "$TXMILL" extract -o lone/own.png "$tx" 2>/dev/null
"$TXMILL" make -q lone/own.png lone/p.pgm
kept=$(md5sum lone/*.p*)
for f in own.png p.pgm; do
    gives "texture-$f" 2 says "is an image with a tx file in blender_tx" -- extract --overwrite -o lone/$f "$tx"
done
check textures-kept test "$(md5sum lone/*.p*)" = "$kept"
# Only make has -f.
gives no-force-elsewhere 2 says "--overwrite replaces a file that txmill did not write" -- view -f --html page.html "$tx"

# ---- options that take a folder ------------------------------------------------------------------------------------------
before=$(sums)
# shellcheck disable=SC2211
for c in "check --cache-dir" "make --cache-dir" "make -d" "make --store" "make --packed" "gc --store" "list -d" "stream render -d"; do
    # shellcheck disable=SC2086
    gives "folder-${c// /}" 2 says "tex/rgb8.png: a file, not a folder" -- $c tex/*.png
done
check folder-nothing-made test "$(sums)" = "$before" -a ! -e tex/tex
for glob in include exclude; do
    txm make --$glob '*.exr' tex/rgb8.png
    check $glob-without-folder eval 'rc_is 2 && says "--$glob: applies to files in folders"'
    gives "$glob-without-folder-info" 2 -- info --$glob '*.exr' "$tx"
done
gives glob-with-folder 0 -- make -n --exclude 'tile*' tex

# ---- outputs that were edited ------------------------------------------------------------------------------------------
# A picture, page or plot that txmill wrote is written again without asking, but not if one byte of it was changed, wherever
# that is: programs that edit pictures keep their metadata. One of an earlier version, without a digest, counts as changed.
mkdir edited
# change FILE HOW: near its end, in its middle, appended, cut, or the digest is gone.
change() {
    python3 - "$@" <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
how = sys.argv[2]
at = data.find(b"txmill-seal:")
place = {"end": len(data) - 1, "middle": len(data) // 2, "mark": at - 2}.get(how)
if place is not None:
    data[place] ^= 1
elif how == "appended":
    data += b"\n"
elif how == "cut":
    del data[-1]
elif how == "earlier":
    data[at:at + 12] = b"software 1.0"
open(sys.argv[1], "wb").write(data)
PY
}
# again NAME FILE COMMAND...: the command writes the file, and again; not over a changed one.
again() {
    local name=$1 file=$2 how sum
    shift 2
    gives "$name-written" 0 -- "$@"
    check "$name-has-a-digest" eval 'grep -aq "txmill-seal:" "$file" && ! grep -aq "txmill-seal:0000000000000000" "$file"'
    cp "$file" whole
    gives "$name-again" 0 -- "$@"
    for how in end middle mark appended cut earlier; do
        cp whole "$file"
        change "$file" $how
        sum=$(md5sum <"$file")
        gives "$name-$how-refused" 2 says "changed after txmill wrote it" -- "$@"
        check "$name-$how-kept" test "$(md5sum <"$file")" = "$sum"
    done
    rm "$file"
}
for format in png jpg tif exr; do again "picture-$format" edited/p.$format extract -o edited/p.$format "$tx"; done
again page edited/v.html view --html edited/v.html "$tx"
# What decoders check is right after the digest was written.
txm extract -o edited/p.png "$tx"
check png-checksums python3 - edited/p.png <<'PY'
import struct, sys, zlib
data, at = open(sys.argv[1], "rb").read(), 8
while at < len(data):
    length, = struct.unpack(">I", data[at:at + 4])
    assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(data[at + 4:at + 8 + length]), at
    at += 12 + length
PY
gives png-converts 0 -- make -q -d edited/c edited/p.png
check no-temporaries no_temporaries
finish
