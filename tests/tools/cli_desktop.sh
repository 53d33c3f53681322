#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tx files on the desktop: their MIME type, and the command with which file managers make thumbnails of them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# ---- the level for a size --------------------------------------------------------------------------------------------
cp "$golden"/{rgb8.png,half-rgb.exr,wide.png,one.png} .
for i in rgb8.png half-rgb.exr wide.png one.png; do "$TXMILL" make -q -o "${i%.*}.tx" "$i"; done
fits() { # NAME TX PIXELS: no side of the level that --fit selects is longer, but one of the next larger level is
    rm -f fit.ppm
    gives "fit-$1" 0 -- extract --json --fit "$3" -o fit.ppm "$2"
    "$TXMILL" info --json "$2" >info.json
    check "fit-$1-is-largest" python3 - out info.json "$3" <<'PY'
import json, sys
made, info = (json.loads(open(name).readline()) for name in sys.argv[1:3])
px = int(sys.argv[3])
sizes = [(level["width"], level["height"]) for level in info["levels"]]
first = next(i for i, size in enumerate(sizes) if max(size) <= px)
assert made["level"] == first and (made["width"], made["height"]) == sizes[first], (made, sizes)
PY
}
fits smaller rgb8.tx 128
fits exact rgb8.tx 300
fits one-less rgb8.tx 299
fits all rgb8.tx 65536
fits one-pixel rgb8.tx 1
fits wide wide.tx 64
fits half half-rgb.tx 20
gives fit-and-level 2 -- extract --fit 64 -l 1 -o x.png rgb8.tx
gives fit-and-atlas 2 -- extract --fit 64 --atlas -o x.png rgb8.tx
gives fit-zero 2 -- extract --fit 0 -o x.png rgb8.tx
check nothing-written test ! -e x.png
# One name has no extension and the other a wrong one: --format gives the output's format.
txm extract -l 3 --format png -o plain rgb8.tx
check format-plain test "$(head -c 4 plain | tail -c 3)" = PNG
txm extract -l 3 --format png -o other.exr rgb8.tx
check format-other test "$(head -c 4 other.exr | tail -c 3)" = PNG
txm extract -l 3 --format png -o viewed half-rgb.tx && "$TXMILL" extract -l 3 -o viewed.png half-rgb.tx 2>/dev/null
check format-is-encoded-for-it cmp viewed viewed.png

# ---- the thumbnailer's command line ----------------------------------------------------------------------------------
entry=$repo/desktop/txmill.thumbnailer
key() { sed -n "s/^$1=//p" "$entry"; }
check entry-group grep -qx '\[Thumbnailer Entry\]' "$entry"
check entry-has-try-exec test "$(key TryExec)" = txmill
check entry-mime-type test "$(key MimeType)" = 'image/x-tx;'
mkdir bin && ln -s "$TXMILL" bin/txmill
export TXMILL_PLUGINS=${TXMILL_PLUGINS:-$(dirname "$TXMILL")}
# Does what a file manager does: splits the words, then replaces %i, %o, %s and %u, without a shell. The output exists
# before and is empty.
thumbnail() { # TX PIXELS
    local words=() w
    for w in $(key Exec); do
        case $w in %i) w=$1 ;; %u) w=file://$1 ;; %o) w=$work/.thumbnail.XYZ ;; %s) w=$2 ;; esac
        words+=("$w")
    done
    : >"$work/.thumbnail.XYZ"
    run env -i PATH="$work/bin:/usr/bin:/bin" TXMILL_PLUGINS="$TXMILL_PLUGINS" ASAN_OPTIONS="${ASAN_OPTIONS:-}" \
        timeout 60 "${words[@]}"
}
png_size() {
    python3 -c 'import struct, sys
d = open(sys.argv[1], "rb").read()
assert d[:8] == b"\x89PNG\r\n\x1a\n"
print("%dx%d" % struct.unpack(">II", d[16:24]))' "$work/.thumbnail.XYZ"
}
mkdir -- '-a folder' && cp rgb8.tx './-a folder/-x %s $(id) é.tx'
# An OpenEXR file has another name than Cycles gives, as in the sandboxes of file managers.
cp half-rgb.tx "$work/gnome-desktop-file-to-thumbnail.tx"
thumbnail "$work/rgb8.tx" 256
check thumbnail-exit rc_is 0
check thumbnail-size test "$(png_size)" = 150x100
thumbnail "$work/-a folder/-x %s \$(id) é.tx" 128
check thumbnail-of-odd-name test "$(png_size)" = 75x50
(cd -- '-a folder' && thumbnail '-x %s $(id) é.tx' 128)
check thumbnail-of-name-like-option test "$(png_size)" = 75x50
thumbnail "$work/gnome-desktop-file-to-thumbnail.tx" 1024
check thumbnail-of-exr test "$(png_size)" = 190x110
thumbnail "$work/one.tx" 32
check thumbnail-of-one-pixel test "$(png_size)" = 1x1

# An incomplete file gives no picture, and fails soon; only the necessary part is read.
fails_cleanly() { { [ "$rc" -eq 3 ] || [ "$rc" -eq 4 ]; } && [ ! -s .thumbnail.XYZ ]; }
head -c 300 rgb8.tx >cut.tx && thumbnail "$work/cut.tx" 128
check thumbnail-of-cut-file fails_cleanly
: >empty.tx && thumbnail "$work/empty.tx" 128
check thumbnail-of-empty-file fails_cleanly
cp rgb8.png image.tx && thumbnail "$work/image.tx" 128
check thumbnail-of-other-format fails_cleanly
thumbnail "$work/absent.tx" 128
check thumbnail-of-absent-file fails_cleanly
mkfifo pipe.tx && thumbnail "$work/pipe.tx" 128
check thumbnail-of-pipe fails_cleanly
bad=0
for f in "$TXM_TESTDATA"/tx/bad-*.tx; do
    thumbnail "$f" 128
    if [ "$rc" -eq 0 ]; then png_size >/dev/null; else fails_cleanly; fi || { bad=$((bad + 1)); echo "    rc=$rc $f"; }
done
check thumbnail-of-hostile-files test $bad -eq 0
# Levels are not computed here: a file with only one large level gets no thumbnail.
if command -v maketx >/dev/null && maketx --nomipmap -d uint8 rgb8.png -o alone.tx >/dev/null 2>&1; then
    thumbnail "$work/alone.tx" 128
    check thumbnail-of-one-large-level fails_cleanly
    check thumbnail-says-sizes says "no level fits into 128 x 128 px: the smallest is 300 x 200"
else
    skip thumbnail-of-one-large-level "maketx is not installed"
fi
check no-temporaries no_temporaries

# ---- the MIME type -----------------------------------------------------------------------------------------------------
if command -v update-mime-database >/dev/null && command -v gio >/dev/null && [ -e /usr/share/mime/packages/freedesktop.org.xml ]; then
    mkdir -p share/mime/packages && cp "$repo/desktop/txmill.xml" share/mime/packages/
    cp /usr/share/mime/packages/freedesktop.org.xml share/mime/packages/
    run update-mime-database -V share/mime
    check mime-exit rc_is 0
    check mime-no-complaint test -z "$(grep -i 'txmill\|x-tx' err)"
    check mime-glob grep -qx 'image/x-tx:\*.tx' share/mime/globs
    type_of() { XDG_DATA_HOME=$work/none XDG_DATA_DIRS=$work/share gio info -a standard::content-type "$1" | sed -n 's/.*content-type: //p'; }
    check mime-of-tiff test "$(type_of rgb8.tx)" = image/x-tx
    check mime-of-exr test "$(type_of half-rgb.tx)" = image/x-tx
    check mime-of-others test "$(type_of rgb8.png) $(type_of half-rgb.exr)" = "image/png image/x-exr"
else
    skip mime "shared-mime-info or gio is not installed"
fi
finish
