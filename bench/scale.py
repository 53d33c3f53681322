#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens up to 100,000 tx files and 20,000 Ptex files, and renders and plays scenes with as many Ptex files: tables of
docs/streaming.md.

    bench/scale.py BUILD DOCUMENT"""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from measure import run  # noqa: E402
from stream import table, write_noise, write_png  # noqa: E402

TX_FILES, PTEX_FILES, TEMPLATES = 100000, 20000, 16
LARGE_FILES, EDGE = 4500, 8192
SIDE, LOG2, CHANNELS = 6, 3, 3  # faces along an edge of a patch, and the size and channels of a face
INSTANCES = 2


def ptex(seed):
    """The bytes of a patch of SIDE x SIDE faces with noise."""
    noise, texels = random.Random(seed), 1 << 2 * LOG2
    faces, constants, blocks = b"", b"", []
    for i in range(SIDE * SIDE):
        x, y = i % SIDE, i // SIDE
        around = (i - SIDE if y else -1, i + 1 if x < SIDE - 1 else -1, i + SIDE if y < SIDE - 1 else -1, i - 1 if x else -1)
        faces += struct.pack("<bbBB4i", LOG2, LOG2, 2 | 3 << 2 | 0 << 4 | 1 << 6, 0, *around)
        planes = bytes(base + noise.randrange(40) for base in (noise.randrange(40, 200) for _ in range(CHANNELS)) for _ in range(texels))
        constants += bytes(sum(planes[c * texels:(c + 1) * texels]) // texels for c in range(CHANNELS))
        blocks.append(zlib.compress(planes))
    words = zlib.compress(struct.pack("<%dI" % len(blocks), *(len(b) | 1 << 30 for b in blocks)))
    faces, constants, level = zlib.compress(faces), zlib.compress(constants), words + b"".join(blocks)
    info = struct.pack("<QII", len(level), len(words), len(blocks))
    head = b"Ptex" + struct.pack("<IIIiHHIIIIIIQII", 1, 1, 0, -1, CHANNELS, 1, len(blocks), 0, len(faces), len(constants), len(info), 4, len(level), 0, 0)
    return head + faces + constants + info + level


def write_patch(path):
    corners = [(x / SIDE, y / SIDE, 0) for y in range(SIDE + 1) for x in range(SIDE + 1)]
    with open(path, "wb") as f:
        f.write(b"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\n"
                b"element face %d\nproperty list uchar int vertex_indices\nend_header\n" % (len(corners), SIDE * SIDE))
        f.write(b"".join(struct.pack("<3f", *c) for c in corners))
        for i in range(SIDE * SIDE):
            at = i // SIDE * (SIDE + 1) + i % SIDE
            f.write(struct.pack("<B4i", 4, at, at + 1, at + SIDE + 2, at + SIDE + 1))


def write_scene(folder, templates):
    """A wall of patches, each with a Ptex file of its own, all of them in view."""
    os.makedirs(folder)
    write_patch(os.path.join(folder, "patch.ply"))
    columns = round((PTEX_FILES * 16 / 9) ** 0.5)
    rows = -(-PTEX_FILES // columns)
    lines = ["txmill-scene 1", "size 480 270",
             "camera perspective half 0.89 0.5 shift 0 0 clip 0.01 100000 to-world 1 0 0 %g 0 1 0 %g 0 0 1 %g" % (columns / 2, rows / 2, rows),
             "light sun power 3 3 3 direction 0 0 -1 angle 0.01", 'mesh patch "patch.ply"']
    for i in range(PTEX_FILES):
        with open(os.path.join(folder, "%d.ptx" % i), "wb") as f:
            f.write(templates[i % len(templates)])
        lines += ['ptex i%d "%d.ptx" colorspace "sRGB"' % (i, i), "material m%d diffuse 1 1 1" % i, 'texture m%d i%d input "Base Color"' % (i, i),
                  "instance patch m%d 1 0 0 %d 0 1 0 %d 0 0 1 0" % (i, i % columns, i // columns)]
    with open(os.path.join(folder, "scene.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")


def turned(rng, x, y, z, size):
    """A matrix: turned at random around all axes, then moved."""
    a, b, c = (rng.uniform(0, 2 * math.pi) for _ in range(3))
    rows = ((math.cos(a) * math.cos(b), math.cos(a) * math.sin(b) * math.sin(c) - math.sin(a) * math.cos(c), math.cos(a) * math.sin(b) * math.cos(c) + math.sin(a) * math.sin(c)),
            (math.sin(a) * math.cos(b), math.sin(a) * math.sin(b) * math.sin(c) + math.cos(a) * math.cos(c), math.sin(a) * math.sin(b) * math.cos(c) - math.cos(a) * math.sin(c)),
            (-math.sin(b), math.cos(b) * math.sin(c), math.cos(b) * math.cos(c)))
    return " ".join("%.4f %.4f %.4f %.4f" % (*(size * v for v in row), at) for row, at in zip(rows, (x, y, z)))


def write_island(folder, wall):
    """A hill of leaves, as in the island scene of Disney: each Ptex file is on INSTANCES instances of one mesh, and seen from the camera they
    are from under a pixel to a quarter of the picture wide."""
    os.makedirs(folder)
    write_patch(os.path.join(folder, "patch.ply"))
    rng = random.Random(1)
    lines = ["txmill-scene 1", "size 480 270", "camera perspective half 0.89 0.5 shift 0 0 clip 0.01 100000 to-world 1 0 0 0 0 0.259 -0.966 -60 0 0.966 0.259 22",
             "light sun power 3 3 3 direction 0.3 0.3 -1 angle 0.01", 'mesh patch "patch.ply"']
    for i in range(PTEX_FILES):
        lines += ['ptex i%d "../%s/%d.ptx" colorspace "sRGB"' % (i, os.path.basename(wall), i), "material m%d diffuse 1 1 1" % i, 'texture m%d i%d input "Base Color"' % (i, i)]
    for i in range(PTEX_FILES * INSTANCES):
        r, a = 50 * rng.random() ** 0.5, rng.uniform(0, 2 * math.pi)
        lines.append("instance patch m%d %s" % (i % PTEX_FILES, turned(rng, r * math.cos(a), r * math.sin(a), 15 * math.exp(-r * r / 400) + rng.uniform(0, 1.5), rng.choice((0.7, 1, 2)))))
    with open(os.path.join(folder, "scene.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")


def played(txmill, scene):
    """A way round the hill in real time, each frame traced a second time without textures."""
    rows = []
    for name, size in (("2 GB", "2G"), ("200 MB", "200M"), ("20 MB", "20M")):
        t = json.loads(subprocess.run([txmill, "stream", "play", scene, "--frames", "30", "--rest", "10", "--bounces", "1", "-q", "--json", "--compare", "--cache", size],
                                      check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[0])["totals"]
        plain, own, loads = (t[key] / t["frames"] for key in ("untextured_cpu_ms", "trace_cpu_ms", "load_cpu_ms"))
        rows.append([name, "%.0f" % plain, "%.0f" % own, "%.0f %%" % (100 * plain / own), "%.1f" % loads, "%.1f %%" % (100 * t["sharp"] / t["texels"]), str(t["loaded"])])
    return rows


def first_pictures(txmill, scene):
    rows = []
    for cache, name in ((2 << 30, "2 GB"), (200 << 20, "200 MB"), (20 << 20, "20 MB")):
        for what, words in (("`render`", ("render", scene, "--samples", "1")), ("`play`, the first frame", ("play", scene, "--frames", "1"))):
            if what == "`render`" and cache < 200 << 20:
                continue  # the descriptions of the textures alone are larger
            clock, cpu, most = run([txmill, "stream", *words, "--bounces", "0", "-q", "--json", "--cache", str(cache)])
            rows.append([what, name, "%.1f" % clock, "%.1f" % cpu, "%.0f MB" % (most / 1e6)])
    return rows


def files(build, kind, path, most):
    """Rows of bench_scale, which writes its copies into a folder that goes with them."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        out = subprocess.run([os.path.join(build, "bench_scale"), kind, path, folder, str(most)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line.strip("| ").split(" | ") for line in out.splitlines()]


def main():
    build, document = os.path.abspath(sys.argv[1]), sys.argv[2]
    txmill = os.path.join(build, "txmill")
    with tempfile.TemporaryDirectory(prefix="txmill-scale-") as folder:
        png, tx, large, ptx, wall = (os.path.join(folder, name) for name in ("t.png", "t.tx", "large.tx", "t.ptx", "wall"))
        for edge, made in ((64, tx), (EDGE, large)):
            (write_noise(png, edge, 1) if edge == 64 else write_png(png, edge))
            subprocess.run([txmill, "make", "-q", "-c", "sRGB", "-a", "straight", "-o", made, png], check=True)
        templates = [ptex(seed) for seed in range(TEMPLATES)]
        with open(ptx, "wb") as f:
            f.write(templates[0])
        rows = files(build, "tx", tx, TX_FILES) + files(build, "ptex", ptx, PTEX_FILES) + files(build, "large", large, LARGE_FILES)
        write_scene(wall, templates)
        pictures = first_pictures(txmill, wall)
        island = os.path.join(folder, "island")
        write_island(island, wall)
        frames = played(txmill, island)
    text = ("## Many files\n\nFiles with a single tile or a few faces, each read from the page cache: microseconds of processor time for each file, the most memory of "
            "the process, and its maps (the kernel allows 65,530). The large files, %.1f TB of texels, are looked up four times each, at random places of random "
            "levels.\n\n" % (
                LARGE_FILES * 4 / 3 * EDGE * EDGE * 4 / 1e12)
            + table(["files", "number", "cache", "registered", "opened", "first lookup", "most in memory", "maps"], rows)
            + "\nThe first picture of a wall of %d Ptex files of %d faces, all of them in view, 480x270 px, from the start of the program, in seconds. 20 MB do not even hold the "
            "descriptions of these textures, so `render` has hardly any room for tiles there and is left out.\n\n" % (PTEX_FILES, SIDE * SIDE)
            + table(["picture", "cache", "by the clock", "of processors", "most in memory"], pictures)
            + "\nA hill of %d leaves, each Ptex file on %d of them, 480x270 px, one bounce: 30 frames of a way round the hill and 10 at rest in `play`, in milliseconds of "
            "processor time for each frame. Without textures, the same frames need less, and the rate is the share.\n\n" % (PTEX_FILES * INSTANCES, INSTANCES)
            + table(["cache", "untextured", "textured", "rate", "loading", "texels that are sharp", "tiles loaded"], frames))
    begin, end = "<!-- begin: bench-scale -->\n", "<!-- end: bench-scale -->\n"
    with open(document) as f:
        head, rest = f.read().split(begin)
    with open(document + ".new", "w") as f:
        f.write(head + begin + "\n" + text + "\n" + end + rest.split(end)[1])
    os.replace(document + ".new", document)
    print(text)


if __name__ == "__main__":
    main()
