#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The claims of Cycles' texture cache, put to the test with `txmill stream`: tables and plots of docs/streaming.md.

    bench/stream.py TXMILL DOCUMENT [--quick]

Counts of tiles and bytes are the same on every machine; times are of this one, and are given as ratios of one run."""
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

TEXTURES, EDGE = 30, 8192


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, edge):
    """RGB stripes: what is in the texels does not matter, only where they are."""
    row = bytes((x // 64 * 37 + c * 80) % 256 for x in range(edge) for c in range(3))
    data = zlib.compressobj(1)
    body = b"".join(data.compress(b"\0" + row) for _ in range(edge)) + data.flush()
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0)) + chunk(b"IDAT", body) +
                chunk(b"IEND", b""))


class Bench:
    def __init__(self, txmill, folder):
        self.txmill = os.path.abspath(txmill)
        self.folder = folder
        write_png(os.path.join(folder, "t.png"), EDGE)
        self.run("make", "-q", "-c", "sRGB", "-a", "straight", "-o", "t0.tx", "t.png")
        for i in range(1, TEXTURES):
            os.link(os.path.join(folder, "t0.tx"), os.path.join(folder, "t%d.tx" % i))
        self.images = ["t%d.tx" % i for i in range(TEXTURES)]

    def run(self, *words):
        return subprocess.run([self.txmill, *words], cwd=self.folder, check=True, stdout=subprocess.PIPE).stdout

    def stream(self, action, scene, *words):
        return json.loads(self.run("stream", action, scene, *self.images, "--json", *words))


def mb(n):
    return "%.1f MB" % (n / 1e6)


def share(part, of):
    percent = 100 * part / of
    return "%.*f %%" % (3 if percent < 1 else 1, percent)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]) + "\n"


def plot(path, title, x_name, y_name, series):
    """Curves with points on logarithmic x: a small SVG."""
    import math
    w, h, left, bottom = 560, 320, 64, 44
    xs = [x for _, points in series for x, _ in points]
    top = max(y for _, points in series for _, y in points) * 1.08
    low, high = math.log(min(xs)), math.log(max(xs))

    def at(x, y):
        return (left + (math.log(x) - low) / (high - low) * (w - left - 20), h - bottom - y / top * (h - bottom - 40))
    colors = ["#1b6ca8", "#c8553d", "#588157", "#8e5ea2"]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (w, h),
           '<rect width="100%" height="100%" fill="#fff"/>',
           '<text x="%d" y="20" font-size="14">%s</text>' % (left, title),
           '<text x="%d" y="%d" text-anchor="middle">%s</text>' % ((w + left) // 2, h - 8, x_name),
           '<text x="14" y="%d" transform="rotate(-90 14 %d)" text-anchor="middle">%s</text>' % (h // 2, h // 2, y_name)]
    for i in range(5):
        y = top * i / 4
        _, py = at(xs[0], y)
        out.append('<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.3g</text>' % (left, py, w - 20, left - 6, py + 4, y))
    for x in sorted(set(xs)):
        px, _ = at(x, 0)
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%g</text>' % (px, h - bottom + 16, x))
    for i, (name, points) in enumerate(series):
        places = [at(x, y) for x, y in points]
        out.append('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>' % (colors[i % 4], " ".join("%.1f,%.1f" % p for p in places)))
        out += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (*p, colors[i % 4]) for p in places]
        out.append('<text x="%d" y="%d" fill="%s">%s</text>' % (left + 12, 40 + 16 * i, colors[i % 4], name))
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n</svg>\n")


def experiments(b, quick, pictures):
    size, samples = ("240x136", "2") if quick else ("960x540", "4")
    at = ["--size", size, "--samples", samples, "--tile", "0"]
    text = []
    base = b.stream("budget", "room", *at)
    camera = b.stream("budget", "room", *at, "--bounces", "0")
    narrow = b.stream("budget", "room", *at, "--no-widen")
    text.append("## What is loaded\n\nThe room: %d textures of %d px, %s of level 0, %s of all levels; %s px, %s samples, 3 bounces.\n" %
                (TEXTURES, EDGE, mb(base["all_bytes"]), mb(base["virtual_bytes"]), size, samples))
    text.append(table(["", "tiles used", "of all levels"], [
        ["camera rays alone", mb(camera["touched_bytes"]), share(camera["touched_bytes"], base["virtual_bytes"])],
        ["3 bounces, widened", mb(base["touched_bytes"]), share(base["touched_bytes"], base["virtual_bytes"])],
        ["3 bounces, not widened", mb(narrow["touched_bytes"]), share(narrow["touched_bytes"], base["virtual_bytes"])]]))
    text.append("Only what is needed is loaded: **%s** of all bytes. Widening differentials where rays scatter saves **%s** "
                "(Cycles: around 30 %%).\n" % (share(base["touched_bytes"], base["virtual_bytes"]),
                                              share(narrow["touched_bytes"] - base["touched_bytes"], narrow["touched_bytes"])))
    text.append("## Texture resolution\n\n" + table(["resolution", "tiles used", "of 100 %"], [
        ["%g %%" % (100 * r["resolution"]), mb(r["used_bytes"]), share(r["used_bytes"], base["resolutions"][0]["used_bytes"])]
        for r in base["resolutions"]]))
    tiles = b.stream("budget", "room", "--size", size, "--samples", samples, "--tile", "128")
    text.append("## Render tiles\n\nBefore a render tile starts, what the last one did not use goes.\n\n" + table(
        ["render tile", "most at once", "of the whole", "loaded", "of it again"],
        [["%d px" % t["px"] if t["px"] else "none", mb(t["peak_bytes"]), share(t["peak_bytes"], base["touched_bytes"]), mb(t["loaded_bytes"]),
          share(t["loaded_bytes"] - tiles["touched_bytes"], t["loaded_bytes"])] for t in tiles["render_tiles"]]))
    widths = [120, 240, 480] if quick else [480, 960, 1920]
    curves, rows = [], []
    for kind in ("compact", "full", "cone"):
        points = []
        for width in widths:
            r = b.stream("budget", "room", "--size", "%dx%d" % (width, width * 9 // 16), "--samples", samples, "--tile", "128", "--differentials", kind)
            points.append((width, r["render_tiles"][1]["peak_bytes"] / 1e6))
        curves.append((kind, points))
        rows.append([kind] + ["%.1f MB" % y for _, y in points])
    plot(os.path.join(pictures, "stream-resolution.svg"), "Memory of textures while the picture grows", "width of the picture, px", "most at once, MB", curves)
    text.append("## Is memory constant in the resolution?\n\nMost memory at once with render tiles of 128 px, by the kind of ray differentials.\n\n" +
                table(["differentials"] + ["%d px wide" % w for w in widths], rows))
    text.append("![Memory while the picture grows](images/stream-resolution.svg)\n\nWith Cycles' compact differentials it grows while mirror "
                "balls are in view: they carry the camera's fine rays to the whole room. The curvature term of cones and of full "
                "differentials widens those rays.\n")
    need = b.stream("budget", "room", "--size", "240x136" if quick else "480x270", "--samples", "2")["touched_bytes"]
    size2 = ["--size", "240x136" if quick else "480x270", "--samples", "2", "--lanes", "4096", "-j", "1", "--no-coalesce"]
    rows, curves = [], []
    for policy in ("lru", "clock4", "render-tiles"):
        points = []
        for part in (2.0, 1.0, 0.5, 0.25, 0.1):
            r = b.stream("render", "room", *size2, "--cache", str(int(need * part)), "--policy", policy, "--tile", "128")
            loaded = r["tiles_loaded"]
            first = sum(l["used"] for i in r["images"] for l in i["levels"])
            points.append((100 * part, loaded / first))
            rows.append([policy, "%g %%" % (100 * part), loaded, "%.2f" % (loaded / first), share(r["counts"]["relaunches"], r["counts"]["steps"])])
        curves.append((policy, points))
    plot(os.path.join(pictures, "stream-budget.svg"), "Tiles loaded, against memory", "budget, % of the tiles that are used", "loads of each tile", curves)
    text.append("## Budgets\n\nThe picture in a fixed budget, as a share of the tiles that it uses. It is the same to the bit in every row.\n\n" +
                table(["policy", "budget", "tiles loaded", "loads a tile", "steps run again"], rows))
    text.append("![Tiles loaded against memory](images/stream-budget.svg)\n")
    return "\n".join(text)


def main():
    txmill, document = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="txmill-stream-") as folder:
        text = experiments(Bench(txmill, folder), "--quick" in sys.argv, os.path.join(os.path.dirname(document), "images"))
    begin, end = "<!-- begin: bench-stream -->\n", "<!-- end: bench-stream -->\n"
    old = open(document).read()
    head, rest = old.split(begin)
    with open(document + ".new", "w") as f:
        f.write(head + begin + "\n" + text + "\n" + end + rest.split(end)[1])
    os.replace(document + ".new", document)


main()
