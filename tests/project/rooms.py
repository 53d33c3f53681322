#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the dependencies between rooms: rooms.py BUILD includes|headers|symbols

A room is src/base, tools, or a folder of src/tile, src/mill or src/device. Prints lines "FROM TO", once each:
  includes   by #include lines that name a private header
  headers    by #include lines that name a public header, which belongs to the room that defines its functions
  symbols    by symbols that objects import from each other
"""
import collections
import pathlib
import re
import subprocess
import sys

build, what = pathlib.Path(sys.argv[1]), sys.argv[2]
# Public headers whose functions do not identify their room: pixel.h and status.h are for all, though their functions are
# elsewhere, and the lowest room of the cache knows the types of cache.h.
PLAIN = {"txtile/export.h": "tile/terms", "txtile/pixel.h": "tile/terms", "txtile/status.h": "base", "txtile/ray.h": "tile/sample",
         "txtile/cache.h": "tile/cache/tiles"}
NAMES = r"(?:txm|gpu)_[a-z0-9_]+"


def room(path):
    parts = pathlib.Path(path).parts
    if parts[:2] == ("src", "base") or (parts[0] == "base" and pathlib.Path("src", path).exists()):
        return "base"
    if parts[0] == "src":
        parts = parts[1:]
    if parts[:2] == ("tile", "cache") and len(parts) > 3:  # three rooms in one
        return "/".join(parts[:3])
    return "/".join(parts[:2]) if parts[0] in ("tile", "mill", "device") else parts[0]


def sources():
    for top in ("src", "tools"):
        for path in sorted(pathlib.Path(top).rglob("*")):
            if path.suffix in (".c", ".h", ".cpp", ".cu"):
                yield path


def definitions():
    """Functions, and the room that defines each."""
    made = {}
    for path in sources():
        if path.suffix in (".c", ".cpp") and path.parts[0] == "src":
            for name in re.findall(rf"^[a-z][\w *]*?\b({NAMES})\([^;]*?\)\n\{{", path.read_text(), re.M):
                made[name] = room(path)
    return made


def owners():
    """Public headers and their rooms; one with functions of two rooms belongs to "A and B", which no rule allows."""
    made, owned = definitions(), dict(PLAIN)
    for path in pathlib.Path("include").glob("*/*.h"):
        name = "/".join(path.parts[1:])
        rooms = {made[f] for f in re.findall(rf"TXM_API\s[^;]*?\b({NAMES})\(", path.read_text()) if f in made}
        if name not in owned:
            owned[name] = " and ".join(sorted(rooms)) or "nobody"
    return owned


edges = collections.defaultdict(set)
if what == "symbols":
    made, used, objects = {}, collections.defaultdict(set), {}
    for path in build.rglob("*.o"):
        inside = path.relative_to(build)
        if inside.parts[0] not in ("src", "tools") or "worker" in inside.parts:
            continue
        if any(inside.with_suffix(kind).exists() for kind in (".c", ".cpp", ".cu")):  # else the file was moved
            objects[str(path)] = inside
    for line in subprocess.run(["nm", "-A", *objects], capture_output=True, text=True).stdout.splitlines():
        path, symbol = line.split(":", 1)
        inside, fields = objects[path], symbol.split()
        if re.fullmatch(NAMES, fields[-1]):
            if fields[-2] == "U":
                used[room(inside)].add(fields[-1])
            elif fields[-2] in "TDBRW" and "cuda" not in inside.parts:
                made[fields[-1]] = room(inside)
    for name, taken in used.items():
        edges[name] |= {made[s] for s in taken if s in made}
else:
    owned = owners()
    for path in sources():
        for header in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            if what == "includes" and header.startswith(("base/", "tile/", "mill/", "device/", "tools/")):
                edges[room(path)].add(room(header))
            if what == "headers" and header in owned:
                edges[room(path)].add(owned[header])
for source in sorted(edges):
    for target in sorted(edges[source] - {source}):
        print(source, target)
