#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The terminal on which other tests run txmill (tests/util/terminal.py), and what they do if none is available.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
if has_terminal; then
    on_terminal 61x17 sh -c 'stty size; test -t 0 && test -t 1 && test -t 2 && exit 7'
    check exit-code rc_is 7
    check size prints "17 61"
    on_terminal 80x24 sh -c 'kill -TERM $$'
    check signal rc_is 143
    on_terminal --timeout 0.5 80x24 sleep 30
    check timeout rc_is 124
    # A process is left behind that keeps the terminal open.
    on_terminal --timeout 30 80x24 sh -c 'trap "" HUP; sleep 40 & echo said'
    check left-behind rc_is 0
    check left-behind-output prints said
    on_terminal --screen 80x24 printf 'gone\r\033[Kshown\nnext'
    check screen test "$(tr -d '\r' <out | tr '\n' '|')" = "shown|next|widest 5|lines 2|exit 0|"
    seq 20000 >numbers
    on_terminal 80x24 cat numbers
    check nothing-lost test "$(tr -d '\r' <out | cksum)" = "$(cksum <numbers)"
else
    skip terminal "no pseudo-terminal here"
fi

# As in a fresh chroot, there are devices, but no terminals.
mkdir pts
# shellcheck disable=SC2016
without='mount --bind "$1" /dev/pts && mount --bind /dev/null /dev/ptmx && shift && exec "$@"'
if unshare -m sh -c "$without" sh "$work/pts" true 2>/dev/null; then
    run unshare -m sh -c "$without" sh "$work/pts" python3 "$repo/tests/util/terminal.py" 80x24 true
    check none-exit rc_is 125
    check none-says says "no pseudo-terminal here"
    check none-known test "$(unshare -m sh -c "$without" sh "$work/pts" bash -c \
        ". '$repo/tests/lib.sh'; has_terminal && echo some || echo none")" = none
else
    skip none "hiding /dev/pts is not permitted"
fi
finish
