#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts for docs/architecture.md: lines per file and per function, small files, comments per line of code.

    scripts/sizes.py            src, tools and include, as the document gives them
    scripts/sizes.py FOLDER...  any other tree of C, such as a library to compare with
    scripts/sizes.py --rooms    comments per line of code, room by room

A function counts from the line of its name to its closing brace, a file with its comments. Blank lines count for
neither code nor comments; a line with code and a comment counts for both.
"""
import os
import statistics
import sys

SOURCES = (".c", ".h", ".cpp", ".cu")
SMALL = 60  # lines: a file this short needs a reason


def split_line(line, inside):
    """(code, has_comment, still inside a block comment) of one line."""
    code, comment, i = "", inside, 0
    while i < len(line):
        if inside:
            end = line.find("*/", i)
            if end < 0:
                return code, True, True
            inside, i = False, end + 2
        elif line.startswith("//", i):
            return code, True, False
        elif line.startswith("/*", i):
            inside, comment, i = True, True, i + 2
        elif line[i] in "\"'":
            quote, start = line[i], i
            i += 1
            while i < len(line) and line[i] != quote:
                i += 2 if line[i] == "\\" else 1
            i += 1
            code += line[start:i]
        else:
            code += line[i]
            i += 1
    return code, comment, inside


def measure(path):
    """Lines, code lines, comment lines, and the length of each function of a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    code = comments = 0
    functions = []
    inside, start, name = False, None, None
    for number, line in enumerate(lines):
        was_inside = inside
        text, comment, inside = split_line(line, inside)
        code += bool(text.strip())
        comments += bool(comment and line.strip())
        if was_inside or text.startswith("#"):
            continue
        # A function's brace is alone in the first column, after a line in that column with its name and parameters.
        if text[:1].isalpha() or text[:1] == "_":
            if not text.rstrip().endswith((";", "{", "}")) or "(" in text:
                name = number if "(" in text and "=" not in text else None
        if text.rstrip() == "{":
            start = name
        elif text.startswith("}") and start is not None:
            functions.append(number - start + 1)
            start = name = None
    return len(lines), code, comments, functions


def find(folders):
    for folder in folders:
        for where, below, names in os.walk(folder):
            below.sort()
            for name in sorted(names):
                if name.endswith(SOURCES):
                    yield os.path.join(where, name)


def ratio(rows):
    return sum(r[2] for r in rows) / max(1, sum(r[1] for r in rows))


def main():
    by_room = "--rooms" in sys.argv
    folders = [a for a in sys.argv[1:] if not a.startswith("--")] or ["src", "tools", "include"]
    files = {path: measure(path) for path in find(folders)}
    if not files:
        sys.exit("sizes.py: no C sources in " + " ".join(folders))
    c_files = {p: m for p, m in files.items() if p.endswith(".c")}
    functions = [n for m in files.values() for n in m[3]]
    small = sorted(p for p, m in c_files.items() if m[0] <= SMALL)
    print("lines per .c file:      median %d, longest %d (%s), %d files" % (
        statistics.median(m[0] for m in c_files.values()), max(m[0] for m in c_files.values()),
        max(c_files, key=lambda p: c_files[p][0]), len(c_files)))
    print("lines per function:     median %d, longest %d, %d functions" % (
        statistics.median(functions), max(functions), len(functions)))
    print("files up to %d lines:   %d: %s" % (SMALL, len(small), " ".join(small)))
    for folder in folders:
        rows = [m for p, m in files.items() if p.startswith(folder.rstrip("/") + "/")]
        print("comment lines / code:   %.2f  %s (%d / %d)" % (
            ratio(rows), folder, sum(r[2] for r in rows), sum(r[1] for r in rows)))
    rows = list(files.values())
    print("comment lines / code:   %.2f  in all (%d / %d)" % (ratio(rows), sum(r[2] for r in rows), sum(r[1] for r in rows)))
    if by_room:
        rooms = {}
        for path, m in files.items():
            rooms.setdefault(os.path.dirname(path), []).append(m)
        for room, rows in sorted(rooms.items()):
            print("  %5.2f  %6d code  %s" % (ratio(rows), sum(r[1] for r in rows), room))


main()
