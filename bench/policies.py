#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what each policy of the texture cache reads: bench/policies.py TXMILL DOCUMENT

Traces of built-in scenes with 30 textures of 8192 px, path by path on one thread, are replayed with caches of fractions
of the memory that each uses. Counts are the same on every machine. Writes the table of docs/streaming.md."""
import json
import os
import subprocess
import sys
import tempfile
import zlib
import struct

TEXTURES, EDGE = 30, 8192
PARTS = (1.0, 0.5, 0.25, 0.1)
POLICIES = ("tiles", "lru", "opt")
SCENES = (("room", ["--size", "1920x1080"]), ("fly", ["--size", "7680x4320", "--bounces", "1"]),
          ("grid", ["--size", "7680x4320", "--bounces", "1"]), ("plane", ["--size", "7680x4320", "--bounces", "1"]))
BEGIN, END = "<!-- begin: bench-policies -->\n", "<!-- end: bench-policies -->\n"


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path):
    """RGB stripes: only the places of texels matter."""
    row = b"\0" + bytes((x // 64 * 37 + c * 80) % 256 for x in range(EDGE) for c in range(3))
    packer = zlib.compressobj(1)
    body = b"".join(packer.compress(row) for _ in range(EDGE)) + packer.flush()
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", EDGE, EDGE, 8, 2, 0, 0, 0)) + chunk(b"IDAT", body) +
                chunk(b"IEND", b""))


def measure(run, folder):
    write_png(os.path.join(folder, "t.png"))
    run("make", "-q", "-c", "sRGB", "-a", "straight", "-o", "t0.tx", "t.png")
    images = ["t%d.tx" % i for i in range(TEXTURES)]
    for name in images[1:]:
        os.link(os.path.join(folder, "t0.tx"), os.path.join(folder, name))
    rows = []
    for scene, how in SCENES:
        trace = scene + ".trace"
        run("stream", "render", scene, *images, *how, "-q", "--samples", "1", "--engine", "blocking", "-j", "1", "--no-coalesce",
            "--tile", "256", "--cache", "0", "--policy", "none", "--trace", trace)
        whole = json.loads(run("replay", trace, "--json", "--policy", "none", "--cache", "1G"))
        sizes = [int(whole["working_set_bytes"] * part) for part in PARTS]
        played = json.loads(run("replay", trace, "--json", "--policy", ",".join(POLICIES), "--cache", ",".join(map(str, sizes))))
        runs = {(r["cache_bytes"], r["policy"]): r for r in played["runs"]}
        for part, size in zip(PARTS, sizes):
            rows.append([scene, "%d tiles, %.0f MB" % (whole["tiles"], whole["working_set_bytes"] / 1e6), "%g %%" % (100 * part),
                         *(runs[size, policy]["reads"] for policy in POLICIES)])
    head = ["scene", "uses", "budget", *POLICIES]
    return "\n".join("| " + " | ".join(str(x) for x in row) + " |" for row in [head, ["---"] * len(head), *rows])


def main():
    txmill, document = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="txmill-policies-") as folder:
        def run(*words):
            return subprocess.run([txmill, *words], cwd=folder, check=True, stdout=subprocess.PIPE).stdout
        table = measure(run, folder)
    with open(document) as f:
        head, rest = f.read().split(BEGIN)
    with open(document + ".new", "w") as f:
        f.write(head + BEGIN + "\n" + table + "\n\n" + END + rest.split(END)[1])
    os.replace(document + ".new", document)


main()
