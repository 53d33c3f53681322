#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a Ptex file and its mesh as OBJ and PLY: a wavy sheet of quads, each turned at random, of sizes drawn from a list, whose
texels are one smooth picture over the sheet.

    ptex_asset.py FOLDER/NAME [--columns N] [--rows N] [--sizes 3,4,5] [--type u8|u16|half|float] [--channels N] [--alpha]
                  [--flat] [--blocks N] [--seed N] [--square] [--meta whole|index|minus|corners|count|nan|type|lacks]

--sizes are log2 of texels a side; with --square both sides are the same. --blocks N: only N different blocks of texels, for files of
a million faces. Positions and texels do not depend on each other: the mesh is z = 0 with --flat. --meta: the mesh is in the
metadata, too, whole or with this damage."""
import argparse
import math
import random
import struct
import zlib

args = argparse.ArgumentParser()
args.add_argument("name")
args.add_argument("--columns", type=int, default=8)
args.add_argument("--rows", type=int, default=8)
args.add_argument("--sizes", default="3,4,5")
args.add_argument("--type", default="u8")
args.add_argument("--channels", type=int, default=3)
args.add_argument("--alpha", action="store_true")
args.add_argument("--flat", action="store_true")
args.add_argument("--square", action="store_true")
args.add_argument("--blocks", type=int, default=0)
args.add_argument("--seed", type=int, default=1)
args.add_argument("--meta", choices=("whole", "index", "minus", "corners", "count", "nan", "type", "lacks"))
args = args.parse_args()
random.seed(args.seed)
TYPE = ("u8", "u16", "half", "float").index(args.type)
CODE, ONE = "BHef"[TYPE], (255, 65535, 1, 1)[TYPE]
COLUMNS, ROWS = args.columns, args.rows
sizes = [int(s) for s in args.sizes.split(",")]


def value(x, y, channel):
    """0 to 1, at x, y from 0 to 1 over the sheet; without a step anywhere."""
    if args.alpha and channel == args.channels - 1:
        return 0.6 + 0.4 * math.sin(9 * x) * math.cos(7 * y)
    return 0.5 + 0.4 * math.sin((5 + 3 * channel) * x + 4 * channel) * math.cos((6 - channel) * y + channel)


def canonical(turn, u, v):
    return ((u, v), (1 - v, u), (1 - u, 1 - v), (v, 1 - u))[turn]


def block(i, j, turn, u_log2, v_log2):
    planes = []
    for c in range(args.channels):
        for y in range(1 << v_log2):
            for x in range(1 << u_log2):
                s, t = canonical(turn, (x + 0.5) / (1 << u_log2), (y + 0.5) / (1 << v_log2))
                f = value((i + s) / COLUMNS, (j + t) / ROWS, c)
                planes.append(int(f * ONE + 0.5) if TYPE < 2 else f)
    data = struct.pack("<%d%s" % (len(planes), CODE), *planes)
    mean = [sum(planes[c << (u_log2 + v_log2):(c + 1) << (u_log2 + v_log2)]) / (1 << (u_log2 + v_log2)) for c in range(args.channels)]
    pixel = struct.pack("<%d%s" % (args.channels, CODE), *[int(m) if TYPE < 2 else m for m in mean])
    return zlib.compress(data, 1 if args.blocks else 6), pixel


turns = [random.randrange(4) for _ in range(COLUMNS * ROWS)]
shapes = []
for _ in turns:
    u = random.choice(sizes)
    shapes.append((u, u if args.square else random.choice(sizes)))
kept = {}
infos, pixels, words, blocks = [], [], [], []
for face, (turn, (u_log2, v_log2)) in enumerate(zip(turns, shapes)):
    i, j = face % COLUMNS, face // COLUMNS
    key = (face % args.blocks, u_log2, v_log2) if args.blocks else None
    if key in kept:
        data, pixel = kept[key]
    else:
        data, pixel = block(i, j, turn, u_log2, v_log2)
        if key:
            kept[key] = data, pixel
    neighbours, edges = [], 0
    for e in range(4):
        k = (e + turn) % 4
        at = (i + (0, 1, 0, -1)[k], j + (-1, 0, 1, 0)[k])
        if 0 <= at[0] < COLUMNS and 0 <= at[1] < ROWS:
            other = at[1] * COLUMNS + at[0]
            neighbours.append(other)
            edges |= (k + 2 - turns[other]) % 4 << 2 * e
        else:
            neighbours.append(-1)
    infos.append(struct.pack("<bbBB4i", u_log2, v_log2, edges, 0, *neighbours))
    pixels.append(pixel)
    words.append(struct.pack("<I", len(data) | 1 << 30))
    blocks.append(data)
info = zlib.compress(b"".join(infos), 1)
constants = zlib.compress(b"".join(pixels), 1)
level_head = zlib.compress(b"".join(words), 1)
level_data = sum(map(len, blocks)) + len(level_head)


def vertex(i, j):
    x, y = i / COLUMNS * 2 - 1, (j / ROWS * 2 - 1) * ROWS / COLUMNS
    return x, y, 0 if args.flat else 0.15 * math.sin(5 * x) * math.cos(4 * y)


vertices = [vertex(i, j) for j in range(ROWS + 1) for i in range(COLUMNS + 1)]
corners = []
for face, turn in enumerate(turns):
    i, j = face % COLUMNS, face // COLUMNS
    first = j * (COLUMNS + 1) + i
    around = (first, first + 1, first + COLUMNS + 2, first + COLUMNS + 1)
    corners.append([around[(turn + k) % 4] for k in range(4)])
def record(key, kind, data):
    return struct.pack("<B", len(key) + 1) + key + struct.pack("<BBI", 0, kind, len(data)) + data


def mesh_records():
    counts, indices, positions = [4] * len(corners), [c for four in corners for c in four], [x for v in vertices for x in v]
    if args.meta in ("index", "minus"):
        indices[5] = len(vertices) if args.meta == "index" else -1
    if args.meta in ("corners", "count"):
        counts[3] = 2 if args.meta == "corners" else 0x7FFFFFFF
    if args.meta == "nan":
        positions[4] = math.nan
    return (record(b"PtexFaceVertCounts", 3, struct.pack("<%di" % len(counts), *counts))
            + record(b"PtexFaceVertIndices", 4 if args.meta == "type" else 3, struct.pack("<%di" % len(indices), *indices))
            + (b"" if args.meta == "lacks" else record(b"PtexVertPositions", 4, struct.pack("<%df" % len(positions), *positions))))


records = mesh_records() if args.meta else b""
meta = zlib.compress(records) if records else b""
with open(args.name + ".ptx", "wb") as out:
    out.write(struct.pack("<4sIIIiHHIIIIIIQII", b"Ptex", 1, 1, TYPE, args.channels - 1 if args.alpha else -1, args.channels, 1,
                          len(turns), 40, len(info), len(constants), 16, 4, level_data, len(meta), len(records)))
    out.write(struct.pack("<HHHHIIQQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0))
    out.write(info + constants + struct.pack("<QII", level_data, len(level_head), len(turns)) + level_head)
    for data in blocks:
        out.write(data)
    out.write(meta + bytes(8) if meta else b"")
with open(args.name + ".obj", "w", encoding="ascii") as out:
    out.write("# a sheet\no sheet\n")
    out.writelines("v %.9g %.9g %.9g\n" % v for v in vertices)
    out.writelines("f %d %d %d %d\n" % tuple(c + 1 for c in four) for four in corners)
with open(args.name + ".ply", "wb") as out:
    out.write(b"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
              b"element face %d\nproperty list uchar int vertex_indices\nend_header\n" % (len(vertices), len(corners)))
    out.write(b"".join(struct.pack("<3f", *v) for v in vertices))
    out.write(b"".join(struct.pack("<B4i", 4, *four) for four in corners))
