#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts for docs/architecture.md: lines per file and per function, small files, comments per line of code.

    scripts/sizes.py            src, tools and include, as the document gives them
    scripts/sizes.py FOLDER...  any other tree of C, such as a library to compare with
    scripts/sizes.py --rooms    comments per line of code, room by room
    scripts/sizes.py --targets  the sizes that a change of the architecture is judged by, before and after it

A function counts from the line of its name to its closing brace, a file with its comments. Blank lines count for
neither code nor comments; a line with code and a comment counts for both.
"""
import collections
import os
import re
import statistics
import subprocess
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


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def code_of(path):
    """The text of a file, with its lines, but without comments and with empty strings."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: "\n" * m[0].count("\n") or " ", read(path), flags=re.S)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def lines_of(*folders, kinds=SOURCES, but=None):
    """Lines of the files that git knows below folders."""
    listed = subprocess.run(["git", "ls-files", *folders], capture_output=True, text=True, check=True).stdout.splitlines()
    return sum(read(path).count("\n") for path in listed if path.endswith(kinds) and not (but and path.startswith(but)))


def called_once(paths):
    """(static functions that the rest of their file names once, all of them)."""
    once = total = 0
    for path in paths:
        text = code_of(path)
        names = collections.Counter(re.findall(r"\w+", text))
        for name in set(re.findall(r"^static [^;={}]*?\b(\w+)\((?:[^(){};]|\([^()]*\))*\)\s*\{", text, re.M)):
            declared = len(re.findall(rf"^static [^;={{}}]*?\b{name}\((?:[^(){{}};]|\([^()]*\))*\)\s*[;{{]", text, re.M))
            total += 1
            once += names[name] - declared == 1
    return once, total


def arrows(folder):
    """Which files of a folder use which: (folder or file, the one it uses) by headers and by functions."""
    paths, makers = list(find([folder])), {}
    stem = {path: os.path.splitext(path)[0] for path in paths}
    for path in paths:
        if path.endswith((".c", ".cpp")):
            for name in re.findall(r"^(?!static)[a-z][\w *]*?\b(\w+)\((?:[^(){};]|\([^()]*\))*\)\s*\{", code_of(path), re.M):
                makers[name] = stem[path]
    edges = collections.defaultdict(set)
    for path in paths:
        headers = re.findall(r'^#include "([^"]+)"', read(path), re.M)
        used = {stem["src/" + h] for h in headers if "src/" + h in stem}
        used |= {makers[word] for word in set(re.findall(r"\w+", code_of(path))) if word in makers}
        edges[stem[path]] |= used - {stem[path]}
    return edges


def reached(edges, start):
    seen, left = set(), [start]
    while left:
        for target in edges.get(left.pop(), ()):
            if target not in seen:
                seen.add(target)
                left.append(target)
    return seen


CACHE_ROOMS = ["tiles", "catalog", "flow"]  # a room may use those before it
COMPARES = r"\b(?:strn?(?:case)?cmp|strstr|strr?chr|strpbrk|memcmp|memmem|txm_starts_with|txm_ends_with)"


def targets():
    core = [path for path in find(["src", "tools", "include"])]
    once, statics = called_once(p for p in find(["src", "tools", "stream"]) if p.endswith((".c", ".cpp")) and "/tests/" not in p)
    edges = arrows("src/tile/cache")
    room = {f: os.path.basename(os.path.dirname(f)) for f in edges if os.path.basename(os.path.dirname(f)) in CACHE_ROOMS}
    up = sum(CACHE_ROOMS.index(room[t]) > CACHE_ROOMS.index(room[f]) for f in room for t in edges[f] if t in room)
    circle = max((sum(f in reached(edges, t) for t in reached(edges, f) if f in reached(edges, f)) for f in edges), default=0)
    widest = max((sum(h.startswith('#include "tile/cache/') for h in read(p).splitlines()) for p in find(["src/tile/cache"])
                  if p.endswith(".h")), default=0)
    private = set()
    for path in find(["src"]):
        if path.endswith(".h"):
            private.update(re.findall(r"^TXM_SHARED [^;]*?\b(txm_\w+)\(", read(path), re.M))
    by_text = []
    for path in find(["src", "tools", "stream"]):
        for match in re.finditer(COMPARES + r"\([^;{}]*?\b(?:\w*err(?:or)?|cause|failure)(?:->|\.)(?:message|advice|subject)", code_of(path)):
            if "/tests/" not in path:
                by_text.append("%s:%d" % (path, code_of(path)[:match.start()].count("\n") + 1))
    words = re.findall(r'^ *USE\([A-Z_]+, "([a-z-]+)"', read("src/tile/terms/use_table.h"), re.M)
    lists = [p for p in core if not p.endswith("use_table.h") and
             sum('"%s"' % word in re.sub(r"/\*.*?\*/", "", read(p), flags=re.S) for word in words) >= 4]
    scripts = (".sh", ".py", ".zsh", ".mk", ".js", ".css", ".html", ".txt", ".tsv", ".in")
    rows = [
        ("lines of C in src, tools and include", lines_of("src", "tools", "include"), "90,000"),
        ("lines of C in stream, its tests apart", lines_of("stream", but="stream/tests/"), "17,000"),
        ("lines of C, shell and Python in tests", lines_of("tests", kinds=SOURCES + (".sh", ".py", ".zsh")), "60,000"),
        ("the same in stream/tests", lines_of("stream/tests", kinds=SOURCES + (".sh", ".py", ".zsh")), ""),
        ("lines in scripts", lines_of("scripts", kinds=scripts + ("packages",)), "1,200"),
        ("src/tile/cache: lines of C", lines_of("src/tile/cache"), "5,600"),
        ("src/tile/cache: files of C", len(list(find(["src/tile/cache"]))), ""),
        ("src/tile/cache: dependencies between files", sum(map(len, edges.values())), ""),
        ("src/tile/cache: most files in one circle of them", circle, ""),
        ("src/tile/cache: headers of it in one header", widest, ""),
        ("src/tile/cache: dependencies upwards between rooms", up if room else "no rooms", "0"),
        ("private functions that a library exports", len(private), "under 40"),
        ("static functions named once, per cent", "%.1f (%d of %d)" % (100 * once / statics, once, statics), "under 50"),
        ("comparisons with the text of a failure", " ".join([str(len(by_text))] + by_text), "0"),
        ("lists of the words for \"does Cycles use it\"", " ".join([str(1 + len(lists))] + lists), "1"),
    ]
    for name, value, target in rows:
        print("%-52s %-10s %s" % (name, "{:,}".format(value) if isinstance(value, int) else value, target and "(%s)" % target))


def main():
    if "--targets" in sys.argv:
        targets()
        return
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
