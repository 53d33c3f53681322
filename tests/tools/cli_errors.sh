#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bad input gives a clear message with file and cause and the documented exit code. No incomplete file is left, an
# existing tx file stays as it was, and other inputs are converted.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$golden"/{rgb8,tile64}.png "$golden"/half-rgb.exr "$golden"/photo.jpg "$golden"/rgba16-straight.tif .
srgb=.0-926BDA8569F1F2504902F06ABA51E46D.tx

# refuses NAME RC MESSAGE-PART FILE [OPTION...]: FILE fails with this error, and tile64.png beside it is converted.
refuses() {
    local name=$1 code=$2 part=$3 file=$4
    shift 4
    rm -rf blender_tx
    gives "$name" "$code" says "$part" -- make "$@" "$file" tile64.png
    check "$name-names-file" says "$(basename -- "$file")"
    check "$name-last-line" last_line_is "TXMILL-ERROR code=$code failed=1 total=2"
    check "$name-others-made" prints "created      blender_tx/tile64.png"
    check "$name-nothing-left" test "$(find . -name '*.tx*' | wc -l)" -eq 1
}

# ---- images ----------------------------------------------------------------------------------------------------------
refuses missing 3 "No such file" no-such.png
: >empty.png
refuses empty 3 "empty" empty.png
mkdir folder.png
gives folder-without-images 2 says "folder.png: no image in this folder" -- make folder.png
echo "this is no image" >text.png
refuses not-an-image 3 "text.png" text.png
mkfifo pipe.png
refuses fifo 3 "pipe.png" pipe.png
ln -s loop.png loop.png
refuses symlink-loop 3 "loop.png" loop.png

for f in rgb8.png half-rgb.exr photo.jpg rgba16-straight.tif; do
    ext=${f##*.}
    size=$(stat -c %s $f)
    head -c $((size / 2)) $f >"cut.$ext"
    rm -rf blender_tx
    txm make "cut.$ext" tile64.png
    # A JPEG that ends early can be decoded with a grey rest: libjpeg warns, and either result is acceptable.
    check "truncated-$ext-fails" rc_is 3
    check "truncated-$ext-names-file" says "cut.$ext"
    check "truncated-$ext-nothing-left" test "$(find . -name '*.tx*' | wc -l)" -eq 1
    rm "cut.$ext"
done
# A flipped byte in the compressed data of a PNG fails its checksum.
cp rgb8.png flipped.png
printf '\xff\x00\xff\x00' | dd of=flipped.png bs=1 seek=60000 conv=notrunc 2>/dev/null
refuses corrupt 3 "flipped.png" flipped.png

# A header claims 2 000 000 x 2 000 000 pixels. The file is refused before memory is allocated.
python3 - <<'EOF'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
for name, w, h in (("huge.png", 2000000, 2000000), ("wide.png", 1400000, 1), ("nothing.png", 0, 5)):
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 6, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b""))
EOF
(
    ulimit -v 4000000
    "$TXMILL" make huge.png
) >out 2>err
rc=$?
case ${TXM_BUILD:-} in *sanitize*) rc=3 ;; esac # AddressSanitizer itself needs more address space
check huge-exit rc_is 3
refuses huge 3 "1048575" huge.png
refuses too-wide 3 "1048575" wide.png
refuses no-width 3 "nothing.png" nothing.png
rm -f huge.png wide.png nothing.png

# This is a volume: its depth is more than 1.
python3 - <<'EOF'
import struct
flags = 0x1 | 0x2 | 0x4 | 0x1000 | 0x800000 # caps, height, width, pixel format, depth
pixel_format = struct.pack("<8I", 32, 0x41, 0, 32, 0xff0000, 0xff00, 0xff, 0xff000000)
header = struct.pack("<7I", 124, flags, 8, 8, 32, 4, 1) + bytes(44) + pixel_format
header += struct.pack("<5I", 0x1008, 0x200000, 0, 0, 0) # complex texture, volume
open("volume.dds", "wb").write(b"DDS " + header + bytes(8 * 8 * 4 * 4))
EOF
refuses volume 3 "volume" volume.dds

# ---- colour ----------------------------------------------------------------------------------------------------------
rm -rf blender_tx
gives unknown-space 2 says "sRGBB" says "sRGB" says --colorspace -- make --colorspace "sRGBB" rgb8.png tile64.png
check unknown-space-said-once test "$(grep -c sRGBB err)" -eq 1
check unknown-space-nothing-made nothing_in .
gives strict-unknown-space-warns 0 says "No Such Space" -- make --strict --colorspace "No Such Space" rgb8.png
check strict-unknown-space-warns-once test "$(grep -c "No Such Space" err)" -eq 1
check strict-unknown-space-made test -f blender_tx/rgb8.png.0-3679B0BFF3405EC327901EFFCB3518C9.tx
rm -rf blender_tx
for view in "AgX Base sRGB" "Filmic sRGB" "Khronos PBR Neutral sRGB"; do
    run env PATH=/none "$TXMILL" make --strict --colorspace "$view" rgb8.png
    check "strict-${view// /-}-exit" rc_is 3
    check "strict-${view// /-}-way-out" says "Blender's own config with --ocio"
    check "strict-${view// /-}-nothing-made" nothing_in .
done
for config in "missing:$work/none.ocio" "broken:$work/broken.ocio" "folder:$work"; do
    printf 'ocio_profile_version: 2\nroles: [\n' >broken.ocio
    txm make --ocio "${config#*:}" rgb8.png tile64.png
    check "config-${config%%:*}-exit" test "$rc" -eq 3 -o "$rc" -eq 4
    check "config-${config%%:*}-names-it" says "${config#*:}"
    check "config-${config%%:*}-last-line" last_line_is "TXMILL-ERROR code=$rc failed=2 total=2"
    check "config-${config%%:*}-nothing-made" nothing_in .
done
OCIO=$work/broken.ocio txm make rgb8.png
check config-environment-as-in-blender rc_is 0
check config-environment-names-it says 'broken.ocio: not a usable OCIO config: line 3'
check config-environment-says-which says "the config that is used instead is the built-in one"
rm -r blender_tx
txm make --working-space "Nowhere" rgb8.png
check unknown-working-space test "$rc" -ne 0
check unknown-working-space-names-it says Nowhere

# ---- files and folders -----------------------------------------------------------------------------------------------
txm make rgb8.png
old=$(md5sum <"blender_tx/rgb8.png$srgb")
as_nobody() { run setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }
# If folders above the program are closed to others, the user nobody cannot run it, but can run a copy in the scratch
# folder.
copy_program program && cp "${TXMILL_PLUGINS:-$repo/build}"/txmill-oiio* program/ 2>/dev/null
if [ "$(id -u)" -eq 0 ] && as_nobody env TXMILL_PLUGINS="$work/program" "$work/program/txmill" --version && rc_is 0; then
    nobody() { as_nobody env TXMILL_PLUGINS="$work/program" ASAN_OPTIONS="${ASAN_OPTIONS:-}" LSAN_OPTIONS= \
        "$work/program/txmill" "$@"; }
    cp rgb8.png secret.png && chmod 600 secret.png
    mkdir -m 777 open
    nobody make -d "$work/open" secret.png tile64.png
    check unreadable-exit rc_is 3
    check unreadable-message says "Permission denied"
    check unreadable-names-file says secret.png
    check unreadable-others-made prints "created      $work/open/tile64.png"
    touch -d '+5 seconds' rgb8.png
    nobody make rgb8.png
    check unwritable-exit rc_is 3
    check unwritable-message says "Permission denied"
    check unwritable-advice says "--cache-dir"
    check unwritable-old-untouched test "$(md5sum <"blender_tx/rgb8.png$srgb")" = "$old"
    mkdir closed && chmod 700 closed && cp rgb8.png closed/
    nobody make closed/rgb8.png
    check unsearchable-exit rc_is 3
    check unsearchable-message says "Permission denied"
    cp "$TXM_TESTDATA"/blend/materials.blend . && cp -r "$TXM_TESTDATA"/blend/textures . && chmod 700 textures
    nobody list materials.blend
    check unsearchable-list-exit rc_is 3
    check unsearchable-list-names says ".png: cannot be opened: Permission denied"
    check unsearchable-list-state prints "    file, not readable, "
else
    skip unreadable "only root can become nobody"
fi
txm make -d /proc/nowhere rgb8.png
check no-folder-there-exit test "$rc" -ne 0
check no-folder-there-names-it says /proc/nowhere
: >plain-file
gives file-for-folder 2 says plain-file -- make -d "$work/plain-file" rgb8.png
mkdir -p "in-the-way/rgb8.png$srgb"
gives folder-in-the-way 3 -- make -d in-the-way rgb8.png
check folder-in-the-way-left test -d "in-the-way/rgb8.png$srgb"

# The output must not be the image itself, under any name.
ln -s rgb8.png link.png && ln rgb8.png hard.png
for name in rgb8.png ./rgb8.png link.png hard.png; do
    sum=$(md5sum <rgb8.png)
    gives "output-is-source-$(basename $name)" 2 says "the image itself" -- make --force -o $name rgb8.png
    check "output-is-source-$(basename $name)-untouched" test "$(md5sum <rgb8.png)" = "$sum"
done

# ---- a full disk -----------------------------------------------------------------------------------------------------
mkdir small
if mount -t tmpfs -o size=128k none small 2>/dev/null; then
    trap 'umount "$work/small" "$work/ro" 2>/dev/null; clean_up' EXIT
    cp tile64.png small/
    txm make small/tile64.png
    old=$(md5sum <small/blender_tx/tile64.png$srgb)
    # The disk has from no space to nearly enough, so that it becomes full at every stage of writing.
    for left in 96 64 48 32 24 16 12 8 4 0; do
        rm -f small/filler
        free=$(df --output=avail small | tail -n 1)
        [ "$free" -gt "$left" ] && dd if=/dev/zero of=small/filler bs=1k count=$((free - left)) 2>/dev/null
        gives "full-disk-$left" 4 says "No space left" -- make --force -d "$work/small" rgb8.png
        check "full-disk-$left-nothing-left" test "$(find small -name '*rgb8*' | wc -l)" -eq 0
    done
    touch -d '+5 seconds' small/tile64.png
    txm make small/tile64.png
    check full-disk-old-untouched test "$(md5sum <small/blender_tx/tile64.png$srgb)" = "$old"
    umount small
    mkdir ro && cp rgb8.png ro.png
    mount -t tmpfs -o size=1m none ro && cp rgb8.png ro/ && mount -o remount,ro ro
    gives read-only 3 says "Read-only file system" says "--cache-dir" -- make ro/rgb8.png
    gives read-only-source-elsewhere 0 -- make -d "$work/elsewhere" ro/rgb8.png
    umount ro
else
    skip full-disk "mounting a small tmpfs is not permitted"
fi
txm make --json --dry-run rgb8.png >/dev/null
"$TXMILL" make --json --dry-run rgb8.png >/dev/full 2>err
rc=$?
mkfifo out.fifo
sleep 0 <out.fifo &
"$TXMILL" make --json --force -d piped rgb8.png tile64.png >out.fifo 2>gone.err
gone=$?
check reader-left-exit test $gone -eq 0
check reader-left-silent test ! -s gone.err
check reader-left-all-made test "$(find piped -name '*.tx' | wc -l)" -eq 2
check full-stdout-exit rc_is 4
check full-stdout-message says "standard output"
check no-temporaries-anywhere no_temporaries
# ---- files that were not downloaded, and Ptex files -------------------------------------------------------------------
lfs() { printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 4194304\n' 7 >"$1"; }
mkdir lfs
for f in a.png a.exr a.psd s.blend s.usda s.xml a.tx a.ptx c.ocio m.obj; do lfs "lfs/$f"; done
advice="pointer of Git LFS in place of the file; run 'git lfs pull' in the repository that they belong to"
while read -r line; do
    # shellcheck disable=SC2086
    txm ${line//@/lfs/}
    [ "$rc" -eq 3 ] && says "'git lfs pull' downloads the file" && [ "$(grep ' failed: ' err | grep -vc "$advice")" -eq 0 ] || not_ok "lfs: $line" "rc=$rc" "$(cat err)"
done <<'LINES'
make -q -c sRGB @a.png @a.exr @a.psd
make -q @s.blend
check @s.usda
list @s.xml
list @s.blend
resolve @a.png
info @a.tx
info @a.ptx
make --ocio @c.ocio rgb8.png
make --mesh @m.obj @a.ptx
extract -o x.png @a.tx
diff @a.png @a.tx
LINES
ok lfs-is-named
gives lfs-own-advice 3 says "$advice" -- info lfs/a.tx
gives lfs-status 3 prints '"status":"not-downloaded","retryable":false' -- info --json lfs/a.tx
# What is to be done fits the failure, and not only its kind.
txm info rgb8.png.none.png rgb8.png
check no-tx-advice eval 'rc_is 3 && says "makes the tx files of images" && ! says "a kind of file"'
printf 'Ptex\1\0\0\0\1' >cut.ptx
printf Pt >short.ptx
for f in cut.ptx short.ptx; do
    txm info "$f"
    check "ptex-advice-$f" test "$rc" -eq 3 -a "$(grep -c -- --force err)" -eq 0
done
finish
