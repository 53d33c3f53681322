#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a Ptex file and its mesh as OBJ and PLY: a wavy sheet of quads, each turned at random, of sizes drawn from a list, whose
texels are one smooth picture over the sheet.

    ptex_asset.py FOLDER/NAME [--columns N] [--rows N] [--sizes 3,4,5] [--type u8|u16|half|float] [--channels N] [--alpha]
                  [--flat] [--blocks N] [--seed N] [--square] [--cut N]
                  [--meta whole|index|minus|corners|count|nan|type|lacks]

--sizes are log2 of texels a side; with --square both sides are the same. --blocks N: only N different blocks of texels, for files of
a million faces. Positions and texels do not depend on each other: the mesh is z = 0 with --flat. --cut N: every Nth quad of the sheet is two
triangles, each of three subfaces. --meta: the mesh is in the
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
args.add_argument("--cut", type=int, default=0)
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


def block(corners_on_sheet, u_log2, v_log2):
    """Texels of a face whose corners are at these places of the sheet."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners_on_sheet
    planes = []
    for c in range(args.channels):
        for y in range(1 << v_log2):
            for x in range(1 << u_log2):
                u, v = (x + 0.5) / (1 << u_log2), (y + 0.5) / (1 << v_log2)
                k = ((1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v)
                f = value((k[0] * ax + k[1] * bx + k[2] * cx + k[3] * dx) / COLUMNS, (k[0] * ay + k[1] * by + k[2] * cy + k[3] * dy) / ROWS, c)
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
polygons, firsts, opposite, faces = [], [], {}, 0
for cell, turn in enumerate(turns):
    i, j = cell % COLUMNS, cell // COLUMNS
    around = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
    around = tuple(around[(turn + k) % 4] for k in range(4))
    is_cut = args.cut and cell % args.cut == args.cut - 1
    for corners in ((around[:3], around[2:] + around[:1]) if is_cut else (around,)):
        for e in range(len(corners)):
            opposite[corners[e], corners[(e + 1) % len(corners)]] = len(polygons), e
        polygons.append((cell, corners))
        firsts.append(faces)
        faces += 3 if is_cut else 1


def beyond(corners, e, end):
    """The face over the first half of an edge, or the second one, and that face's edge."""
    p, j = opposite.get((corners[(e + 1) % len(corners)], corners[e]), (None, 0))
    if p is None:
        return -1, 0
    sides = len(polygons[p][1])
    return (firsts[p], j) if sides == 4 else (firsts[p] + j, 0) if end else (firsts[p] + (j + 1) % sides, 3)


def middle(*places):
    return tuple(sum(c) / len(places) for c in zip(*places))


kept = {}
infos, pixels, words, blocks = [], [], [], []
for (cell, corners), first in zip(polygons, firsts):
    n, centre = len(corners), middle(*corners)
    for k in range(1 if n == 4 else n):
        if n == 4:
            places, flags, log2 = corners, 0, shapes[cell]
            around = [beyond(corners, e, False) for e in range(4)]
        else:
            places = corners[k], middle(corners[k], corners[(k + 1) % n]), centre, middle(corners[k], corners[k - 1])
            flags, log2 = 8, (shapes[cell][0] - 1, shapes[cell][0] - 1)
            around = [beyond(corners, k, False), (first + (k + 1) % n, 2), (first + (k - 1) % n, 1), beyond(corners, (k - 1) % n, True)]
        key = (len(infos) % args.blocks, *log2) if args.blocks else None
        if key not in kept:
            kept[key] = block(places, *log2)
        data, pixel = kept[key]
        edges = sum(a[1] << 2 * e for e, a in enumerate(around))
        infos.append(struct.pack("<bbBB4i", *log2, edges, flags, *[a[0] for a in around]))
        pixels.append(pixel)
        words.append(struct.pack("<I", len(data) | 1 << 30))
        blocks.append(data)
        if not args.blocks:
            kept.clear()
info = zlib.compress(b"".join(infos), 1)
constants = zlib.compress(b"".join(pixels), 1)
level_head = zlib.compress(b"".join(words), 1)
level_data = sum(map(len, blocks)) + len(level_head)


def vertex(i, j):
    x, y = i / COLUMNS * 2 - 1, (j / ROWS * 2 - 1) * ROWS / COLUMNS
    return x, y, 0 if args.flat else 0.15 * math.sin(5 * x) * math.cos(4 * y)


vertices = [vertex(i, j) for j in range(ROWS + 1) for i in range(COLUMNS + 1)]
corners = [[j * (COLUMNS + 1) + i for i, j in around] for _, around in polygons]


def record(key, kind, data):
    return struct.pack("<B", len(key) + 1) + key + struct.pack("<BBI", 0, kind, len(data)) + data


def mesh_records():
    counts, indices, positions = [len(c) for c in corners], [v for c in corners for v in c], [x for v in vertices for x in v]
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
                          len(infos), 40, len(info), len(constants), 16, 4, level_data, len(meta), len(records)))
    out.write(struct.pack("<HHHHIIQQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0))
    out.write(info + constants + struct.pack("<QII", level_data, len(level_head), len(infos)) + level_head)
    for data in blocks:
        out.write(data)
    out.write(meta + bytes(8) if meta else b"")
with open(args.name + ".obj", "w", encoding="ascii") as out:
    out.write("# a sheet\no sheet\n")
    out.writelines("v %.9g %.9g %.9g\n" % v for v in vertices)
    out.writelines("f %s\n" % " ".join(str(v + 1) for v in around) for around in corners)
with open(args.name + ".ply", "wb") as out:
    out.write(b"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
              b"element face %d\nproperty list uchar int vertex_indices\nend_header\n" % (len(vertices), len(corners)))
    out.write(b"".join(struct.pack("<3f", *v) for v in vertices))
    out.write(b"".join(struct.pack("<B%di" % len(around), len(around), *around) for around in corners))
