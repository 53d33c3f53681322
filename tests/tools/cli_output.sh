#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Output files of every command are complete or not there: on full disks, if writes fail, if the process is killed, and
# beside another user's links.
# Slow: 100 runs under strace
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# LeakSanitizer and strace cannot both trace a process.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

cp "$golden"/{rgb8.png,gray8.png} .
"$TXMILL" make -q -o a.tx rgb8.png && "$TXMILL" make -q -c Non-Color -o b.tx rgb8.png
"$TXMILL" make --json -o c.tx rgb8.png >run.jsonl
formats="png jpg bmp tga ppm tif exr hdr webp gif jp2 dpx sgi rla"

# The commands that write a file, by name, to $1.
write_extract() { txm extract --overwrite -l 2 -o "$1" a.tx; }
write_tile() { txm tile --overwrite -o "$1" a.tx; }
write_sheet() { txm tile --overwrite --all -l 2 -o "$1" a.tx; }
write_raw() { txm tile --overwrite --format raw -o "$1" a.tx; }
write_text() { txm tile --overwrite --format text -o "$1" a.tx; }
write_diff() { txm diff --overwrite -o "$1" a.tx b.tx; }
write_page() { txm view --overwrite --html "$1" a.tx; }
write_report() { txm report --overwrite -o "$1" run.jsonl; }
name_of() {
    case $1 in raw) echo out.raw ;; text) echo out.txt ;; page | report) echo out.html ;; *) echo out.png ;; esac
}
commands="extract tile sheet raw text diff page report"
only() { [ "$(ls -A "$1")" = "$2" ]; }

# ---- OpenImageIO reads every format as it was written ----------------------------------------------------------------
if command -v oiiotool >/dev/null; then
    for format in $formats; do
        txm extract -o "level.$format" a.tx
        check "format-$format" test "$rc $(oiiotool --info "level.$format" 2>&1 | grep -c '300 x  200, [34] channel')" = "0 1"
    done
else
    skip formats "oiiotool is not installed"
fi
# Alpha is left out only if the format has no place for it.
if command -v oiiotool >/dev/null; then
    for case in png:4 tif:4 exr:4 tga:4 bmp:4 ppm:3 hdr:3 jpg:3; do
        check "alpha-$case" test "$(oiiotool --info "level.${case%:*}" 2>&1 | grep -o '[0-9] channel' | cut -c1)" = "${case#*:}"
    done
fi
for format in null term; do
    txm extract -o "nothing.$format" a.tx
    check "no-file-in-$format" test "$rc" -eq 3 -a ! -e "nothing.$format"
done

# ---- a full disk -----------------------------------------------------------------------------------------------------
# $1 kB are free on a small disk when a command begins.
leave() {
    rm -f small/filler
    local free
    free=$(df --output=avail small | tail -n 1)
    [ "$free" -le "$1" ] || dd if=/dev/zero of=small/filler bs=1k count=$((free - $1)) 2>/dev/null
}
mkdir small
if mount -t tmpfs -o size=1m none small 2>/dev/null; then
    trap 'umount "$work/small" 2>/dev/null; clean_up' EXIT
    for c in $commands; do
        file=small/$(name_of "$c")
        leave 1024
        "write_$c" "$file"
        sum=$(md5sum <"$file") bad=
        size=$(($(stat -c %s "$file") / 1024))
        for left in 0 4 $((size / 2)) $((size - 4)); do
            [ "$left" -le 0 ] || [ "$left" -le $((size - 4)) ] || continue # the file would fit
            leave $((left < 0 ? 0 : left))
            "write_$c" "$file"
            if [ $rc -ne 4 ] || ! says "$file" || ! says "No space left" || [ "$(md5sum <"$file")" != "$sum" ] ||
                ! last_line_is "TXMILL-ERROR code=4 failed=1 total=1" ||
                [ "$(find small -type f | grep -c -v filler)" -ne 1 ]; then
                bad="$bad $left: rc=$rc $(cat err) $(ls -A small)"
            fi
        done
        check "full-disk-$c" test -z "$bad"
        [ -z "$bad" ] || echo "    $bad"
        rm -f small/filler "$file"
    done
    for format in $formats; do
        leave 0
        txm extract -o "small/x.$format" a.tx
        check "full-disk-format-$format" test "$rc" -eq 4 -a "$(ls -A small)" = filler
        rm -f small/filler
    done
    umount small
else
    skip full-disk "mounting a small tmpfs is not permitted"
fi
for c in raw text page report; do
    "write_$c" /dev/full
    check "device-$c" test "$rc" -eq 4
    check "device-$c-says" says "No space left on device"
done

# ---- calls that fail, processes that are killed ----------------------------------------------------------------------
# Like txm, but with a fault in the calls of the process itself, and not of its worker.
if strace -o /dev/null true 2>/dev/null; then
    mkdir faulty
    plain=$(declare -f txm)
    for c in $commands; do
        file=faulty/$(name_of "$c")
        "write_$c" "$file"
        good=$rc bad='' met=0
        cp "$file" whole
        for fault in write:error=EIO write:error=EDQUOT write:retval=0 rename:error=EIO rename:signal=KILL write:signal=KILL; do
            for n in 1 2; do
                echo old >"$file"
                txm() { run strace -o trace -e "trace=write,rename" -e "inject=$fault:when=$n" "$TXMILL" "$@"; }
                "write_$c" "$file" 2>/dev/null
                eval "$plain"
                grep -q 'INJECTED\|killed by SIGKILL' trace && met=$((met + 1))
                # There is the new file or the old one, and after a success the new one.
                if cmp -s "$file" whole; then
                    [ $rc -eq "$good" ] || [ $rc -eq 4 ] || [ $rc -eq 137 ] || bad="$bad $fault $n: rc=$rc, made;"
                elif [ "$(wc -c <"$file")" -eq 4 ]; then
                    [ $rc -eq 4 ] || [ $rc -eq 137 ] || bad="$bad $fault $n: rc=$rc, not made;"
                else
                    bad="$bad $fault $n: rc=$rc, half a file;"
                fi
                # Files that a killed run has left are removed by the next run.
                case $fault in *KILL) "write_$c" "$file" ;; esac
                only faulty "$(basename "$file")" || bad="$bad $fault $n: $(ls -A faulty);"
            done
        done
        rm -f "$file"
        check "faults-$c" test -z "$bad" -a "$met" -ge 6
        [ -z "$bad" ] || echo "    $bad"
    done
    for action in strip add; do
        txm() { run strace -f -o trace -e inject=rename:signal=KILL "$TXMILL" "$@"; }
        txm borders --$action c.tx 2>/dev/null
        eval "$plain"
        check "borders-$action-killed" test "$(find . -maxdepth 1 -name '.c.tx.*.txm-tmp' | wc -l)" -eq 1
        txm borders --$action c.tx
        check "borders-$action-swept" test $rc -eq 0 -a "$(find . -maxdepth 1 -name '.*.txm-tmp' | wc -l)" -eq 0
    done
else
    skip faults "tracing is not permitted"
fi

# ---- links -----------------------------------------------------------------------------------------------------------
# A link of another user beside an output, or under its name, must not lead the writer to one of the caller's files.
mkdir shared
for c in $commands; do
    file=shared/$(name_of "$c")
    echo precious >mine
    for planted in "$file" "$file.txm-tmp" "$file.txm-tmp.${file##*.}" "$file.tmp"; do ln -sf ../mine "$planted"; done
    "write_$c" "$file"
    check "links-$c" test "$(cat mine)" = precious -a -f "$file" -a ! -L "$file"
    rm -f shared/*
done
finish
