# SPDX-License-Identifier: Apache-2.0
"""Runs programs with limits of memory and time, and programs over lists of items of which any may crash them."""
import os
import signal
import subprocess
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
LOOK = 0.1  # seconds between two looks: a processor fills a few hundred megabytes in that time
START = 120  # seconds that a program may take to begin, at least
# If the program died on an item, this becomes the item's line in the results.
CRASH, KILLED = "CRASH", "KILLED"


class Limits:
    """`memory`: resident bytes that a program and its children may have; `idle`: seconds without progress."""

    def __init__(self, memory, idle):
        self.memory, self.idle = memory, idle


def resident(session):
    """Returns the bytes of all processes of a session."""
    total = 0
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as f:
                fields = f.read().rpartition(b")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session:
            total += int(fields[21]) * PAGE
    return total


def size_of(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def run(command, output, limits, watched=None):
    """Runs a command with stdout and stderr in the file `output`. `watched` is the file whose growth shows progress;
    None means the output. Returns (exit status, why it was killed or "")."""
    watched = watched or output
    with open(output, "wb") as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    reason, since, idle = "", time.monotonic(), max(limits.idle, START)
    size = size_of(watched)
    try:
        while child.poll() is None:
            if size_of(watched) != size:
                size, since, idle = size_of(watched), time.monotonic(), limits.idle
            if resident(child.pid) > limits.memory:
                reason = "needs more than %.1f GiB of memory" % (limits.memory / 2**30)
            elif time.monotonic() - since > idle:
                reason = "no progress in %d s" % idle
            if reason:
                break
            time.sleep(LOOK)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
    return child.wait(), reason


def for_each(command, items, listing, results, limits):
    """Returns a line for each item, which is itself a line of text. `command LISTING RESULTS` is a program that, for
    each item without a line in RESULTS, first appends "BEGIN", and then replaces that with the item's line. If it
    dies, it is started again, and the item gets CRASH, or KILLED, a tab and the reason. Raises RuntimeError if it
    dies outside of an item."""
    with open(listing, "w", encoding="utf-8") as f:
        f.writelines(item + "\n" for item in items)
    open(results, "w").close()
    lines = []
    while len(lines) < len(items):
        before = len(lines)
        status, reason = run([*command, listing, results], results + ".log", limits, watched=results)
        with open(results, encoding="utf-8") as f:
            lines = f.read().splitlines()
        if lines and lines[-1] == "BEGIN":
            lines[-1] = "%s\t%s" % (KILLED, reason) if reason else CRASH
            with open(results, "w", encoding="utf-8") as f:
                f.writelines(line + "\n" for line in lines)
        elif reason or len(lines) == before:
            with open(results + ".log", encoding="utf-8", errors="replace") as f:
                raise RuntimeError("%s%s: %s" % (f.read()[-2000:], command[0], reason or "exit status %d" % status))
    return lines


def pending(listing, results):
    """The program's side of for_each: yields an item and a function that takes its line."""
    with open(listing, encoding="utf-8", errors="surrogateescape") as f:
        items = [line.rstrip("\n") for line in f]
    first = 0
    if os.path.exists(results):
        with open(results, "rb") as f:
            first = f.read().count(b"\n")
    with open(results, "ab") as out:
        for item in items[first:]:
            start = out.tell()
            out.write(b"BEGIN")
            out.flush()
            answer = []
            yield item, answer.append
            out.truncate(start)
            out.write(answer[0].encode("utf-8", "surrogateescape") + b"\n")
            out.flush()
