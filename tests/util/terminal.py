# SPDX-License-Identifier: Apache-2.0
"""terminal.py [--screen] [--shrink COLUMNS] [--timeout SECONDS] COLUMNSxROWS COMMAND...

Runs a command on a pseudo-terminal of its own and passes on what it writes there; with --screen shows what the screen
held, line by line, and the widest line, the number of lines and the exit code; with --shrink the terminal gets narrower
while the first percentage is shown. Ends as the command does: with its exit
code, 128 + N for signal N (of --screen too), 124 when the time is up (60 s), 125 where no pseudo-terminal can be had.
"""
import argparse
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unicodedata

TIMED_OUT, NO_TERMINAL = 124, 125


def open_terminal(columns, rows):
    """Both ends of a pseudo-terminal, whose size is set before the command starts."""
    try:
        ours, theirs = os.openpty()
    except OSError as e:
        print(f"terminal.py: no pseudo-terminal here: {e}", file=sys.stderr)
        sys.exit(NO_TERMINAL)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    return ours, theirs


def pieces(fd, command, deadline):
    """What the command writes, until it has ended or the time is up."""
    while time.monotonic() < deadline:
        # A process that the command left behind may keep the terminal open, but the command's output has ended.
        ended = command.poll() is not None
        if not select.select([fd], [], [], 0.2)[0]:
            if ended:
                return
            continue
        try:
            piece = os.read(fd, 65536)
        except OSError:  # on Linux this means that the other end was closed
            return
        if not piece:
            return
        yield piece


def end(command, deadline):
    """The exit code of a command whose output has ended."""
    try:
        code = command.wait(max(0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        os.killpg(command.pid, signal.SIGKILL)
        command.wait()
        print(f"terminal.py: the time is up: {' '.join(command.args)}", file=sys.stderr)
        return TIMED_OUT
    return code if code >= 0 else 128 - code


def screen(data):
    """The visible lines, without text that was overwritten or erased."""
    lines, line, at = [], [], 0
    for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|.|\n", data.decode("utf-8", "replace"), re.S):
        if token == "\n":
            lines.append("".join(line))
            line, at = [], 0
        elif token == "\r":
            at = 0
        elif token == "\x1b[K":
            line = line[:at]
        elif not token.startswith("\x1b"):
            line[at:at + 1] = [token]
            at += 1
    if line:
        lines.append("".join(line))
    return lines


def columns_of(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--screen", action="store_true")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--shrink", type=int)
    parser.add_argument("size")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    ours, theirs = open_terminal(*map(int, args.size.split("x")))
    deadline = time.monotonic() + args.timeout
    command = subprocess.Popen(args.command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(theirs)
    data = b""
    for piece in pieces(ours, command, deadline):
        if args.shrink and b"% " in piece:
            fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, args.shrink, 0, 0))
        if args.screen:
            data += piece
        else:
            sys.stdout.buffer.write(piece)
    code = end(command, deadline)
    if args.screen:
        lines = screen(data)
        print(*lines, f"widest {max(map(columns_of, lines), default=0)}", f"lines {len(lines)}", f"exit {code}", sep="\n")
    return code


sys.exit(main())
