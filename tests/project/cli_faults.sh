#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# System calls that fail: the command succeeds, or fails at once with a message that names the file and the right exit
# code, and leaves no files behind.
# Slow: 400 runs under strace
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# LeakSanitizer does not work under strace.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

cp "$golden"/{rgb8.png,tile64.png,photo.jpg} .
# Commands that take longer than this are considered to hang.
soon() { run timeout 20 "$TXMILL" "$@"; }
can_trace=false
strace -o /dev/null true 2>/dev/null && can_trace=true
# inject FAULT... -- ARGUMENT...: runs txmill with faults in its system calls, in the syntax of strace's inject=.
inject() {
    local faults=()
    while [ "$1" != -- ]; do
        faults+=(-e "inject=$1")
        shift
    done
    shift
    run timeout 60 strace -f -o trace "${faults[@]}" "$TXMILL" "$@"
}

# ---- folders that cannot be reached --------------------------------------------------------------------------------------
mkdir tex && cp tile64.png tex/
for target in ../scratch/blender_tx blender_tx; do
    ln -sfn "$target" tex/blender_tx
    for how in "" --no-claims; do
        # shellcheck disable=SC2086
        soon make $how tex/tile64.png
        check "dangling$how-${target%/*}-exit" rc_is 3
        check "dangling$how-${target%/*}-names-both" says "tex/blender_tx is a link to $target, which cannot be reached"
        check "dangling$how-${target%/*}-advice" says --cache-dir
    done
done
soon make --json -d tex/blender_tx/below tile64.png
check dangling-above test "$rc" -eq 3 -a "$(grep -c 'is a link to blender_tx' err)" -eq 1
mkdir scratch && ln -sfn ../scratch/blender_tx tex/blender_tx && mkdir scratch/blender_tx
soon make tex/tile64.png
check link-that-leads-somewhere test "$rc" -eq 0 -a "$(find scratch -name '*.tx' | wc -l)" -eq 1

# ---- names that are too long ---------------------------------------------------------------------------------------------
long=$(printf 'n%.0s' $(seq 225)).png
cp tile64.png "$long"
for how in "" --no-claims; do
    # shellcheck disable=SC2086
    soon make $how "$long" tile64.png
    check "long-name$how-exit" rc_is 3
    check "long-name$how-says" says "too long"
    check "long-name$how-others-made" test "$(find blender_tx -name 'tile64*.tx' | wc -l)" -eq 1
    check "long-name$how-nothing-left" test "$(find blender_tx -name '*nnn*' | wc -l)" -eq 0
    rm -r blender_tx
done
ln -s loop.png loop.png
soon make loop.png
check loop-exit rc_is 3
if $can_trace; then
    inject write:delay_exit=0 -- make "$long"
    check long-name-before-converting test "$(grep -c 'pwrite64\|copy_file_range' trace)" -eq 0
fi

# ---- files that a walk cannot examine ------------------------------------------------------------------------------------
mkdir -p tree/open tree/shut/inner && cp tile64.png tree/open/ && cp rgb8.png tree/shut/inner/ && echo text >tree/shut/notes.txt
deep=tree/deep
mkdir -p $deep
(
    cd $deep || exit
    for _ in $(seq 25); do
        part=$(printf 'd%.0s' $(seq 200))
        mkdir "$part" && cd "$part" || exit
    done
    cp "$work/tile64.png" .
)
soon make tree
check deep-exit rc_is 3
check deep-named says "File name too long"
check deep-others-made test "$(find tree/open tree/shut -name '*.tx' | wc -l)" -eq 2
rm -r tree/deep tree/open/blender_tx tree/shut/inner/blender_tx
program=program
copy_program $program && cp "${TXMILL_PLUGINS:-$repo/build}"/txmill-oiio* $program/ 2>/dev/null
nobody() {
    run setpriv --reuid 65534 --regid 65534 --clear-groups -- env TXMILL_PLUGINS="$work/$program" LSAN_OPTIONS= \
        "$work/$program/txmill" "$@"
}
if [ "$(id -u)" -eq 0 ] && nobody --version && rc_is 0; then
    # Its names can be listed, but the files cannot be examined.
    chmod 744 tree/shut && chmod 777 tree/open
    nobody make tree
    check unsearchable-exit rc_is 3
    check unsearchable-named says "tree/shut/inner: cannot examine it: Permission denied"
    check unsearchable-no-more test "$(grep -c "error:" err)" -eq 1
    check unsearchable-others-made prints "created      tree/open"
    chmod 755 tree/shut
else
    skip unsearchable "only root can become nobody"
fi
if $can_trace; then
    for error in EIO:4 ESTALE:4 EACCES:3; do
        rm -rf tree/open/blender_tx
        run strace -f -o trace -P tree/shut -e inject=newfstatat:error="${error%:*}" "$TXMILL" make tree
        check "stat-${error%:*}" test "$rc" -eq "${error#*:}" -a "$(grep -c 'tree/shut: cannot examine it' err)" -eq 1
        check "stat-${error%:*}-others" prints "created      tree/open"
    done
fi

# ---- sources that cannot be read -----------------------------------------------------------------------------------------
# A failure of the disk is distinguished from damage, and no other reader is tried.
if $can_trace; then
    cp "$TXM_TESTDATA/sources/strip-lzw.tif" a.tif
    cp "$TXM_TESTDATA/sources/half-zip.exr" a.exr
    cp "$TXM_TESTDATA/oiio/peak100.ppm" a.ppm
    for image in a.tif a.exr a.ppm; do
        for n in 1 2 3 4 6; do
            rm -rf blender_tx
            run timeout 60 strace -f -o trace -P "$work/$image" -e inject=pread64:error=EIO:when=$n "$TXMILL" make "$image"
            check "read-$image-$n" eval 'rc_is 4 && says "$image: cannot be read: Input/output error" || { rc_is 0 && ! grep -q INJECTED trace; }'
        done
        check "read-$image-met" grep -q pread64 trace
    done
    # Libraries that report damage, or continue with what was in memory.
    cp "$TXM_TESTDATA/oiio/uint8.sgi" a.sgi
    cp "$TXM_TESTDATA/oiio/bits10.dpx" a.dpx
    for image in a.sgi a.dpx; do
        for n in 1 2 3; do
            rm -rf blender_tx
            run timeout 60 strace -f -o trace -P "$work/$image" -e inject=read:error=EIO:when=$n "$TXMILL" make -j 1 "$image"
            check "read-$image-$n" eval 'rc_is 4 && says "$image: cannot be read: Input/output error" && nothing_in blender_tx || { rc_is 0 && ! grep -q INJECTED trace; }'
        done
        check "read-$image-met" grep -q read trace
    done
    rm -rf blender_tx
    run timeout 60 strace -f -o trace -P "$work/tile64.png" -e inject=pread64:retval=0:when=1 "$TXMILL" make tile64.png
    check read-ended-early eval 'rc_is 4 && says "tile64.png: ended after 0 of"'
    # A partly read source must not be added to the store.
    run timeout 60 strace -f -o trace -P "$work/tile64.png" -e inject=read:retval=0 "$TXMILL" make --store short tile64.png
    check read-digest-of-beginning test "$rc:$(grep -c 'ended after 0 of .*converted instead' err):$(find short -name '*.tx' 2>/dev/null | wc -l)" = 4:1:0
    rm -rf blender_tx short a.tif a.exr a.ppm a.sgi a.dpx
fi

# ---- what would be left out silently -------------------------------------------------------------------------------------
if $can_trace; then
    cp -r "$TXM_TESTDATA/blend/textures" . && cp "$TXM_TESTDATA/blend/materials.blend" .
    run timeout 60 strace -f -o trace -P "$work/textures/brick.1002.png" -e inject=newfstatat:error=EIO "$TXMILL" make materials.blend
    check tile-of-a-set eval 'grep -q INJECTED trace && rc_is 4 && says "brick.1002.png: cannot be examined: Input/output error"'
    echo 'preset pbr' >.txmill
    run timeout 60 strace -f -o trace -P "$work/.txmill" -e inject=newfstatat:error=EIO "$TXMILL" make tile64.png
    check settings eval 'rc_is 4 && says ".txmill: cannot be examined: Input/output error"'
    rm .txmill
    txm make -q tile64.png
    cp blender_tx/tile64.png.*.tx blender_tx/gone.png.0-00000000000000000000000000000000.tx
    run timeout 60 strace -f -o trace -P "$work/blender_tx/gone.png.0-00000000000000000000000000000000.tx" \
        -e inject=fstat,newfstatat:error=EIO "$TXMILL" gc --delete .
    check garbage eval 'rc_is 4 && says "gone.png.0-00000000000000000000000000000000.tx: cannot "'
    # A file that cannot be examined is neither fresh nor unusable, and the cause is reported where other causes are.
    tx=$(echo blender_tx/tile64.png.*.tx)
    run timeout 60 strace -f -o trace -P "$work/$tx" -P "$tx" -e inject=openat:error=EIO "$TXMILL" check tile64.png
    check checked-unreadable eval 'rc_is 4 && says ": Input/output error" && says "$tx" && prints "not ready to render: 0 of 1 texture fresh, 1 not checked"'
    run timeout 60 strace -f -o trace -P "$work/$tx" -P "$tx" -e inject=openat:error=EIO:when=1 "$TXMILL" check -j 1 tile64.png
    check checked-again eval 'rc_is 0 && grep -q INJECTED trace && prints "ready to render: 1 of 1 texture fresh"'
    # All commands say this of it, and none of them replaces it unasked.
    printf '<cycles><shader name="m"><image_texture name="i" filename="tile64.png" colorspace="sRGB"/></shader></cycles>' >one.xml
    rm -r blender_tx && "$TXMILL" make -q one.xml
    tx=$(echo blender_tx/tile64.png.*.tx)
    before=$(stat -c '%i %Z' "$tx")
    for command in "info $tx" "verify $tx" "resolve -a auto tile64.png" "list one.xml" "plan -N 1 one.xml" "make -n one.xml" "make one.xml" \
        "check one.xml" "check -d elsewhere one.xml"; do
        # shellcheck disable=SC2086
        run timeout 60 strace -f -o trace -P "$work/$tx" -P "$tx" -e inject=openat:error=EIO "$TXMILL" $command
        check "unreadable-$command" eval 'rc_is 4 && cat out err | grep -qF "$tx: cannot open: Input/output error"'
        case $command in info* | verify*) continue ;; esac
        # shellcheck disable=SC2086
        run timeout 60 strace -f -o trace -P "$work/$tx" -P "$tx" -e inject=openat:error=EIO:when=1 "$TXMILL" $command
        check "passes-$command" eval 'rc_is 0 && grep -q INJECTED trace'
    done
    check unreadable-stays test "$(stat -c '%i %Z' "$tx")" = "$before"
    run timeout 60 strace -f -o trace -P "$work/$tx" -P "$tx" -e inject=openat:error=EIO "$TXMILL" make --force one.xml
    check unreadable-forced eval 'rc_is 0 && test "$(stat -c "%i %Z" "$tx")" != "$before"'
    rm one.xml
    cp "$TXM_TESTDATA/blend/small/packed_big_endian.blend" packed.blend
    run timeout 60 strace -f -o trace -P "$work/packed.blend" -e inject=pread64:retval=0:when=4 "$TXMILL" make --packed unpacked packed.blend
    check packed-ended-early eval 'rc_is 4 && says "packed.blend: ended after" && [ ! -e unpacked ]'
    mkdir watched
    run timeout -s TERM 6 strace -f -o trace -P watched -e inject=newfstatat:error=EIO:when=9+ "$TXMILL" watch --settle 0 --rescan 1 watched
    check watched-unreadable says "watched: cannot be examined: Input/output error; waiting"
    rm -rf blender_tx textures materials.blend packed.blend watched
fi
soon make @/dev/zero
check list-of-a-device eval 'rc_is 2 && says "/dev/zero: does not end within"'
soon make --rules /dev/zero tile64.png
check rules-of-a-device eval 'rc_is 2 && says "/dev/zero:1: the line is longer than"'

# ---- claims ------------------------------------------------------------------------------------------------------------
# Whatever fails with a process's own claim, it neither waits for itself nor leaves the claim behind.
if $can_trace; then
    rm -rf blender_tx
    txm make tile64.png
    claim=blender_tx/.$(basename blender_tx/tile64.png.*.tx).txm-claim
    for fault in openat:error={EMFILE,EIO,ESTALE,EINTR,ENOSPC}:when=2 pread64:error={EIO,ESTALE,EINTR}:when=1 pread64:retval=0:when=1 \
        write:error={EIO,ENOSPC,EDQUOT,EINTR}:when=1 write:retval=0:when=1 newfstatat:error={EIO,EACCES,ESTALE,ELOOP,ENOMEM}:when=1+ \
        fstat:error=EIO:when=1+ unlink:error={EIO,EINTR,ESTALE}:when=1 fcntl:error=EMFILE:when=1; do
        rm -rf blender_tx
        run timeout 20 strace -f -o trace -P "$claim" -P "$work/$claim" -e "inject=$fault" "$TXMILL" make tile64.png
        made=$(find blender_tx -name '*.tx' | wc -l) left=$(find blender_tx -name '.*' | wc -l)
        check "claim-$fault" test "$rc:$made:$left" = 0:1:0 -o "$rc:$made:$left" = 4:0:0
    done
    check claim-faults-met grep -q "unlink.*" trace
    rm -rf blender_tx
else
    skip claims "tracing is not permitted"
fi

# ---- lists that never end ------------------------------------------------------------------------------------------------
# With a pipe without a writer, and with one whose writer stays, a signal ends the wait.
mkfifo mute open
sleep 60 >open <open &
keeper=$!
# stopped NAME SIGNAL CODE ARGUMENT...: the command waits, the signal ends it at once with its last line.
stopped() {
    local name=$1 signal=$2 code=$3 pid ticks=0
    shift 3
    "$TXMILL" "$@" <open >out 2>err &
    pid=$!
    sleep 0.7
    check "$name-waits" kill -0 $pid
    kill "-$signal" $pid
    while kill -0 $pid 2>/dev/null && [ $((ticks++)) -lt 50 ]; do sleep 0.1; done
    check "$name-ends" test $ticks -lt 50
    kill -9 $pid 2>/dev/null
    wait $pid
    rc=$?
    check "$name-exit" rc_is "$code"
    check "$name-last-line" test "$(tail -n 1 err | grep -c "^TXMILL-ERROR code=$code ")" -eq 1
}
stopped list-fifo TERM 143 make tile64.png @mute
stopped list-fifo-int INT 130 make @mute
stopped list-stdin TERM 143 make @-
stopped list-stdin-json INT 130 make --json -
check list-stdin-json-is-json python3 -c 'import json; [json.loads(line) for line in open("out")]'
stopped list-open TERM 143 make --dry-run @open
stopped list-verify TERM 143 verify @mute
stopped rules-fifo TERM 143 make --rules mute tile64.png
stopped log-fifo TERM 143 report mute -o report.html
stopped log-stdin INT 130 report - -o report.html
check list-stopped-made-nothing test "$(find blender_tx -name 'tile64*.tx' 2>/dev/null | wc -l)" -eq 0
kill $keeper
# The command waits for a writer that comes late, pauses, and writes half lines.
(sleep 0.7 && printf 'rgb' && sleep 0.7 && printf '8.png\ntile64' && sleep 0.2 && printf '.png') >mute &
soon make -d late @mute
check list-late-writer test "$rc" -eq 0 -a "$(find late -name '*.tx' | wc -l)" -eq 2
: >mute &
soon make @mute
check list-silent-writer says "the list is empty"
rm mute open

# ---- the store ---------------------------------------------------------------------------------------------------------
mkdir one two
cp -p rgb8.png one/a.png && cp -p rgb8.png two/b.png && touch -d '2020-01-01' two/b.png
txm make -q --store store one/a.png
object=$(find store -name '*.tx')
whole=$(md5sum <"$object")
again() {
    rm -rf two/blender_tx
    run timeout 20 strace -f -o trace -e "inject=$1" "$TXMILL" make --store store two/b.png
}
if $can_trace; then
    for fault in copy_file_range:retval=0 copy_file_range:error={EIO,ENOSPC,EXDEV,EINTR}:when=1 ioctl:error=EOPNOTSUPP; do
        again "$fault"
        check "store-copy-$fault" test "$rc" -eq 0 -a "$(stat -c %s two/blender_tx/*.tx)" -gt 100000
        # If the copy failed, the file was converted, and names the other image.
        check "store-copy-$fault-whole" eval 'says "converted instead" || cmp -s two/blender_tx/*.tx "$object"'
    done
    for error in EMFILE ENOMEM ENFILE EIO; do
        for n in 1 2 3; do
            rm -rf two/blender_tx
            run timeout 20 strace -f -o trace -P "$object" -e "inject=openat,mmap,newfstatat,fstat:error=$error:when=$n" \
                "$TXMILL" make --store store two/b.png
            [ "$rc" -eq 0 ] && [ "$(md5sum <"$object")" = "$whole" ] || break
        done
        check "store-$error-keeps-object" test "$rc" -eq 0 -a "$(md5sum <"$object")" = "$whole"
    done
fi
# A name that cannot be removed at first is removed at the second try.
if $can_trace; then
    for n in 1 2 3 4 5 6; do
        rm -rf two/blender_tx fresh
        run timeout 20 strace -f -o trace -e "inject=unlink:error=EIO:when=$n" "$TXMILL" make --store fresh two/b.png
        check "store-unlink-$n" test "$rc:$(find fresh two -name '.*' | wc -l)" = 0:0
    done
    rm -rf fresh
fi
rm "$object" && mkfifo "$object"
soon make --store store --force two/b.png
check store-pipe test "$rc" -eq 0 -a -p "$object"
check store-pipe-said says "not a regular file"

# ---- times of files with two names -------------------------------------------------------------------------------------
rm -rf store one/blender_tx two && mkdir two && cp -p one/a.png two/
txm make -q one/a.png
mkdir two/blender_tx
ln one/blender_tx/*.tx two/blender_tx/
touch -d '2021-01-01' two/a.png
txm refresh two/a.png
check touch-hard-linked test "$rc $(stat -c %Y two/blender_tx/*.tx)" = "0 $(stat -c %Y two/a.png)"
check touch-other-name-untouched test "$(stat -c %Y one/blender_tx/*.tx)" = "$(stat -c %Y one/a.png)"
check touch-same-content cmp one/blender_tx/*.tx two/blender_tx/*.tx
txm resolve one/a.png
check touch-other-image-fresh prints fresh

# ---- looking for tx files ------------------------------------------------------------------------------------------------
# A file that a comparison could not remove is gone after the next run. Only a file without a content key is compared.
txm make -q --force --strict two/a.png
LC_ALL=C sed -i 's/txmill:Content/txmill:Xontent/' two/blender_tx/*.tx
touch -d '2021-02-01' two/blender_tx/*.tx
if $can_trace; then
    mkdir tmp
    TMPDIR=$work/tmp run timeout 60 strace -f -o trace -e inject=unlink:error=EIO "$TXMILL" refresh two/a.png
    check touch-unlink test "$rc:$(find tmp -type f | wc -l)" = 0:1
    TMPDIR=$work/tmp run "$TXMILL" refresh two/a.png
    check touch-unlink-swept test "$rc:$(find tmp -type f | wc -l)" = 0:0
    run timeout 60 strace -f -o trace -P two/blender_tx -e inject=getdents64:error=EIO "$TXMILL" resolve -c Non-Color two/a.png
    check other-names-unreadable eval 'rc_is 4 && says "two/blender_tx: cannot be listed: Input/output error"'
    run timeout 60 strace -f -o trace -e inject=getcwd:error=ENOENT:when=3+ "$TXMILL" resolve -c Non-Color two/a.png
    check other-names-without-folder eval '! says memory && { rc_is 5 || says "No such file or directory"; }'
fi

# ---- messages name what failed -------------------------------------------------------------------------------------------
if $can_trace; then
    rm -rf blender_tx
    for fault in pwrite64:error=EIO:when={1,2,3,4}; do
        inject "$fault" -- make rgb8.png
        check "named-$fault" test "$rc" -eq 0 -o "$(grep -c 'error: blender_tx/rgb8.png.*Input/output error' err)" -eq 1
    done
    txm make -q --borders no -o plain.tx rgb8.png
    inject pwrite64:error=EIO:when=2+ -- borders --add plain.tx
    check named-borders test "$rc" -eq 4 -a "$(grep -c 'error: .*plain.tx: .*Input/output error' err)" -eq 1
fi

# ---- names with control sequences ----------------------------------------------------------------------------------------
# ESC [, the same as U+009B and as the byte 0x9B of Latin-1: none reaches the terminal. Letters beyond ASCII do.
mkdir odd
for name in $'esc\e[31m.png' $'csi\xc2\x9b31m.png' $'byte\x9b31m.png' $'nel\xc2\x85.png' $'blüte.png' $'latin\xfc.png'; do
    cp tile64.png "odd/$name"
    : >"odd/bad-$name"
done
txm make odd
"$TXMILL" resolve odd/* >resolved 2>/dev/null
for file in out err resolved; do
    check "no-controls-$file" env LC_ALL=C python3 - "$file" <<'EOF'
import sys
data = open(sys.argv[1], "rb").read()
assert data, "nothing"
for line in data.split(b"\n"):
    text = line.decode("utf-8", "surrogateescape")
    assert not any(ord(c) < 32 or 0x7F <= ord(c) < 0xA0 or 0xDC80 <= ord(c) < 0xDCA0 for c in text), line
EOF
done
check letters-pass prints "blüte.png"
check escapes-readable prints 'csi\xC2\x9B31m.png'
check byte-escapes-readable prints 'byte\x9B31m.png'
finish
