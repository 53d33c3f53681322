#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the sizes that a change of the architecture is judged by, with their targets: scripts/sizes.py --targets"""
import collections
import os
import re
import subprocess

SOURCES = (".c", ".h", ".cpp", ".cu")


def find(folders):
    for folder in folders:
        for where, below, names in os.walk(folder):
            below.sort()
            for name in sorted(names):
                if name.endswith(SOURCES):
                    yield os.path.join(where, name)


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


targets()
