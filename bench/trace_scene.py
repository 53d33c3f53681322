#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a trace of a renderer's lookups: trace_scene.py TXMILL FOLDER [TEXTURES [EDGE]]. Makes textures of noise and their
tx files in FOLDER, renders the built-in room with them, three bounces, path by path on two threads, and writes
FOLDER/room.trace. It is the same on every machine, except for the way in which the threads share paths."""
import os
import random
import struct
import subprocess
import sys
import zlib

TXMILL, FOLDER = os.path.abspath(sys.argv[1]), sys.argv[2]
TEXTURES, EDGE = (int(sys.argv[i]) if len(sys.argv) > i else usual for i, usual in ((3, 30), (4, 4096)))


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, seed):
    """RGB noise along each row, with equal rows: no tile has one colour, no two textures are equal, and compressing them
    is quick, since only lookups are measured."""
    row = b"\0" + random.Random(seed).randbytes(3 * EDGE)
    packer = zlib.compressobj(1)
    body = b"".join(packer.compress(row) for _ in range(EDGE)) + packer.flush()
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", EDGE, EDGE, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", body) + chunk(b"IEND", b""))


def run(*words):
    subprocess.run([TXMILL, *words], cwd=FOLDER, check=True)


os.makedirs(FOLDER, exist_ok=True)
images = []
for i in range(TEXTURES):
    png, tx = "t%d.png" % i, "t%d.tx" % i
    if not os.path.exists(os.path.join(FOLDER, tx)):
        write_png(os.path.join(FOLDER, png), i)
        run("make", "-q", "-c", "sRGB", "-a", "straight", "-o", tx, png)
        os.remove(os.path.join(FOLDER, png))
    images.append(os.path.join(os.path.abspath(FOLDER), tx))
run("stream", "render", "room", *images, "-q", "--engine", "blocking", "-j", "2", "--size", "960x540", "--samples", "1", "--bounces", "3", "--no-widen",
    "--trace", "room.trace", "--trace-lookups", "--overwrite", "-o", "room.exr")
os.remove(os.path.join(FOLDER, "room.exr"))
