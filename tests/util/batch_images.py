#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes many small PNG files: batch_images.py FOLDER COUNT [EDGE [FILES_A_FOLDER]]. No two have the same pixels."""
import os
import random
import struct
import sys
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(number, edge):
    """8-bit RGB: noise, with the file's number in the first pixels."""
    rng = random.Random(number)
    rows = bytearray()
    for y in range(edge):
        row = bytearray(rng.randbytes(3 * edge))
        if y == 0:
            row[:4] = struct.pack(">I", number)[: 3 * edge]
        rows += b"\0" + row
    header = struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 0))
            + chunk(b"IEND", b""))


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    edge = int(sys.argv[3]) if len(sys.argv) > 3 else 16
    per_folder = int(sys.argv[4]) if len(sys.argv) > 4 else count
    for i in range(count):
        sub = folder if per_folder >= count else f"{folder}/{i // per_folder:04d}"
        if i % per_folder == 0:
            os.makedirs(sub, exist_ok=True)
        with open(f"{sub}/{i:06d}.png", "wb") as f:
            f.write(png(i, edge))


main()
