#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the claims of Cycles' texture cache with `txmill stream`: tables and plots of docs/streaming.md.

    bench/stream.py TXMILL DOCUMENT [--quick]

Counts of tiles and bytes are the same on every machine; times are of this one, and are given as ratios of one run."""
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import zlib

TEXTURES, EDGE = 30, 8192
LOADERS = 16  # threads that load, where waiting is calculated


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, edge):
    """RGB stripes: the values of texels do not matter, only their places."""
    row = bytes((x // 64 * 37 + c * 80) % 256 for x in range(edge) for c in range(3))
    data = zlib.compressobj(1)
    body = b"".join(data.compress(b"\0" + row) for _ in range(edge)) + data.flush()
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0)) + chunk(b"IDAT", body) +
                chunk(b"IEND", b""))


def write_noise(path, edge, seed):
    """RGB noise: here the values of texels matter."""
    noise = random.Random(seed).randbytes(3 * edge * edge)
    rows = b"".join(b"\0" + noise[3 * edge * y:3 * edge * (y + 1)] for y in range(edge))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


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
        images = [] if os.path.isdir(os.path.join(self.folder, scene)) else self.images
        return json.loads(self.run("stream", action, scene, *images, "--json", *words))

    def chain(self, depth):
        """A room whose walls and balls have textures that `depth` others warp, one after the other; its name."""
        name = "chain%d" % depth
        os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        lines = ["txmill-scene 1", "size 960 540",
                 "camera perspective half 0.8 0.45 shift 0 0 clip 0.01 100 to-world 0.8 0.2 -0.56 0.4 -0.6 0.3 -0.74 0.3 0 0.93 0.37 1.5",
                 "light point power 200 200 200 at 2 2 2.5 radius 0.1"]
        lines += ['image i%d "../t%d.tx" colorspace "sRGB" alpha straight extension repeat interpolation linear' % (i, i) for i in range(TEXTURES)]
        walls = ["0 0 0 4 0 0 0 4 0", "0 0 2.8 4 0 0 0 4 0", "0 0 0 4 0 0 0 0 2.8", "0 4 0 4 0 0 0 0 2.8", "0 0 0 0 4 0 0 0 2.8", "4 0 0 0 4 0 0 0 2.8"]
        shapes = ["quad m%d " + w for w in walls] + ["sphere m%d 2.6 2.4 0.5 0.5"]
        for i, shape in enumerate(shapes):
            lines.append("material m%d diffuse 0.8 0.8 0.8" % i)
            for k in range(depth + 1):
                lines.append('texture m%d i%d input "%s" uv "" transform 1 0 0 0 1 0%s' % (
                    i, i * (depth + 1) + k, "Base Color" if k == depth else "", " warp 0.2" if k else ""))
            lines.append(shape % i)
        with open(os.path.join(self.folder, name, "scene.txt"), "w") as f:
            f.write("\n".join(lines) + "\n")
        return name


def mb(n):
    return "%.1f MB" % (n / 1e6)


def share(part, of):
    percent = 100 * part / of
    return "%.*f %%" % (3 if percent < 1 else 1, percent)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in row) + " |" for row in rows]) + "\n"


def plot(path, title, x_name, y_name, series, log_y=False):
    """A small SVG of curves with points, with logarithmic x, and y on request."""
    w, h, left, bottom = 560, 320, 64, 44
    xs = [x for _, points in series for x, _ in points]
    ys = [y for _, points in series for _, y in points]
    top, floor = max(ys) * 1.08, 0.0
    if log_y:  # from the power of ten below to that above, all in logarithms
        floor, top = math.floor(math.log10(min(ys) * 1.001)), math.log10(max(ys)) + 0.08
    low, high = math.log(min(xs)), math.log(max(xs))

    def at(x, y):
        y = (math.log10(y) if log_y else y) - floor
        return (left + (math.log(x) - low) / (high - low) * (w - left - 20), h - bottom - y / (top - floor) * (h - bottom - 40))
    colors = ["#1b6ca8", "#c8553d", "#588157", "#8e5ea2", "#555555"]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (w, h),
           '<rect width="100%" height="100%" fill="#fff"/>',
           '<text x="%d" y="20" font-size="14">%s</text>' % (left, title),
           '<text x="%d" y="%d" text-anchor="middle">%s</text>' % ((w + left) // 2, h - 8, x_name),
           '<text x="14" y="%d" transform="rotate(-90 14 %d)" text-anchor="middle">%s</text>' % (h // 2, h // 2, y_name)]
    marks = [top * i / 4 for i in range(5)]
    if log_y:
        marks = [m * 10 ** p for p in range(floor, math.ceil(top) + 1) for m in (1, 2, 5) if floor <= math.log10(m * 10 ** p) <= top]
    for y in marks:
        _, py = at(xs[0], y)
        out.append('<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.3g</text>' % (left, py, w - 20, left - 6, py + 4, y))
    for x in sorted(set(xs)):
        px, _ = at(x, ys[0])
        out.append('<text x="%.1f" y="%d" text-anchor="middle">%g</text>' % (px, h - bottom + 16, x))
    for i, (name, points) in enumerate(series):
        places = [at(x, y) for x, y in points]
        out.append('<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>' % (colors[i % 5], " ".join("%.1f,%.1f" % p for p in places)))
        out += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (*p, colors[i % 5]) for p in places]
        out.append('<text x="%d" y="%d" fill="%s">%s</text>' % (left + 12, 40 + 16 * i, colors[i % 5], name))
    with open(path, "w") as f:
        f.write("\n".join(out) + "\n</svg>\n")


class Document:
    """The text of the document, and the claims with their results."""

    def __init__(self, bench, quick, pictures):
        self.bench, self.quick, self.pictures = bench, quick, pictures
        self.text, self.claims = [], []
        self.size, self.samples = ("240x136", "2") if quick else ("960x540", "4")
        self.small = "240x136" if quick else "480x270"

    def add(self, *parts):
        self.text += parts

    def claim(self, number, words, figure, holds):
        """`holds`: True, False, or a text that says why it is undecided."""
        self.claims.append([number, words, figure, {True: "yes", False: "**no**"}.get(holds, holds)])

    def plot(self, name, *arguments, **options):
        plot(os.path.join(self.pictures, name), *arguments, **options)

    def budget(self, *words, scene="room", size=None):
        return self.bench.stream("budget", scene, "--size", size or self.size, "--samples", self.samples, *words)

    def difference(self, one, other):
        """The mean difference of two pictures' pixels, and their signal-to-noise ratio in decibels."""
        for name, way in (("one.exr", one), ("other.exr", other)):
            self.bench.run("stream", "render", "room", *self.bench.images, "--size", self.small, "--samples", self.samples, "-q", "--overwrite", "-o", name, *way)
        report = subprocess.run([self.bench.txmill, "diff", "--json", "one.exr", "other.exr"], cwd=self.bench.folder, stdout=subprocess.PIPE).stdout
        level = json.loads(report)["levels"][0]
        return level["mean_error"], level["psnr"]

    def render(self, *words, scene="room", size=None, samples="2"):
        return self.bench.stream("render", scene, "--size", size or self.small, "--samples", samples, *words)


def working(r):
    """Seconds of a render without opening files and building trees: tracing, and waiting for tiles."""
    return r["trace_seconds"] + (r["load_seconds"] if r["engine"] == "wave" else 0)


def best(runs):
    """The fastest of several equal runs, since the others were disturbed."""
    return min(runs, key=working)


def what_is_loaded(d):
    base, camera, narrow = (d.budget("--tile", "0", *more) for more in ([], ["--bounces", "0"], ["--no-widen"]))
    saved = narrow["touched_bytes"] - base["touched_bytes"]
    error = d.difference(["--no-widen"], [])
    half_level = [sum(i["used_bytes"] for i in d.render(*more, "--tile", "0", "--no-coalesce", size=d.size, samples=d.samples)["images"])
                  for more in ([], ["--resolution", "70.7107"])]
    d.add("## What is loaded\n\nThe room: %d textures of %d px, %s of level 0, %s of all levels; %s px, %s samples, 3 bounces.\n" %
          (TEXTURES, EDGE, mb(base["all_bytes"]), mb(base["virtual_bytes"]), d.size, d.samples),
          table(["", "tiles used", "of all levels"], [
              [name, mb(r["touched_bytes"]), share(r["touched_bytes"], base["virtual_bytes"])] for name, r in
              (("camera rays alone", camera), ("3 bounces, widened", base), ("3 bounces, not widened", narrow))]),
          "Widening changes the picture, %s px, by %.5f on average, a signal-to-noise ratio of %.1f dB.\n" % (d.small, *error),
          "## Texture resolution\n\n" + table(["resolution", "tiles used", "of 100 %"], sorted([
              ["%.3g %%" % (100 * r["resolution"]), mb(r["used_bytes"]), share(r["used_bytes"], base["resolutions"][0]["used_bytes"])]
              for r in base["resolutions"]] + [["70.7 %", mb(half_level[1]), share(half_level[1], half_level[0])]],
              key=lambda row: -float(row[0][:-2]))))
    d.claim(1, "only the tiles and levels that a picture needs are loaded", share(base["touched_bytes"], base["virtual_bytes"]) + " of all bytes",
            base["touched_bytes"] < 0.01 * base["virtual_bytes"])
    d.claim(5, "widening differentials where rays scatter saves around 30 %", share(saved, narrow["touched_bytes"]),
            saved >= 0.25 * narrow["touched_bytes"])
    half, quarter = (r["used_bytes"] / base["resolutions"][0]["used_bytes"] for r in base["resolutions"][1:])
    d.claim(6, "a lower texture resolution takes less", "%.1f %% at 50 %%, %.1f %% at 25 %%" % (100 * half, 100 * quarter),
            half < 0.5 and quarter < 0.25)
    d.claim(6.5, "half a level of bias halves what is used (OptiX Toolkit)", share(half_level[1], half_level[0]),
            0.45 * half_level[0] <= half_level[1] <= 0.55 * half_level[0])
    return base


def exactness(d):
    """One picture rendered by every engine: a hash of its bits for each."""
    ways = [["--engine", "reference"], ["--engine", "blocking"], ["--lanes", "1024"], ["--lanes", "1048576"],
            ["--cache", "1M", "--policy", "lru", "--tile", "64"], ["--engine", "blocking", "--cache", "1M", "--policy", "render-tiles"]]
    images = [os.path.join(d.bench.folder, "p%d.png" % i) for i in range(2)]
    for image, seed in zip(images, (1, 2)):
        write_noise(image, 256, seed)
        d.bench.run("make", "-q", "-c", "sRGB", "-a", "straight", image)
    for i, way in enumerate(ways):
        d.bench.run("stream", "render", "room", *images, "--size", "96x54", "-q", "--overwrite", "-o", "way%d.exr" % i, *way)
    different = sum(subprocess.run([d.bench.txmill, "diff", "-q", "way0.exr", "way%d.exr" % i], cwd=d.bench.folder,
                                   stdout=subprocess.DEVNULL).returncode != 0 for i in range(1, len(ways)))
    d.claim(2, "results are exact in spite of misses", "%d of %d pictures differ from the reference" % (different, len(ways) - 1), different == 0)


def relaunches(d):
    """Launches until no path misses: in the room, and where lookups depend on others."""
    rows, chains, most, within = [], [], 0, True
    for bounces in ("0", "1", "3"):
        for lanes in (1 << 10, 1 << 14, 1 << 20):
            way = ["--bounces", bounces, "--lanes", str(lanes), "--tile", "0", "--no-coalesce"]
            r, known = d.render(*way), d.render(*way, "--open-first")
            most = max(most, r["counts"]["longest"] - 1)
            within &= known["counts"]["longest"] <= 2
            rows.append([bounces, lanes, r["counts"]["launches"], r["counts"]["passes"], r["counts"]["longest"] - 1,
                         known["counts"]["longest"] - 1, share(r["counts"]["relaunches"], r["counts"]["steps"])])
    for depth in range(4):
        scene = d.bench.chain(depth)
        for lanes in (1 << 10, 1 << 20):
            way = ["--lanes", str(lanes), "--tile", "0", "--no-coalesce"]
            r, known = d.render(*way, scene=scene), d.render(*way, "--open-first", scene=scene)
            within &= known["counts"]["longest"] <= 2 + depth
            chains.append([depth, lanes, r["counts"]["longest"] - 1, known["counts"]["longest"] - 1,
                           known["counts"]["passes"], share(known["counts"]["relaunches"], known["counts"]["steps"])])
    d.add("## Passes until nothing is missed\n\nThe wave engine with an empty cache and memory for everything: how often a step is launched again until none "
          "of its paths misses. The first lookup in a texture opens its file, the next one gives the level its entries, and further "
          "ones request tiles; with `--open-first` files and levels are known before the first ray, as in Cycles.\n",
          table(["bounces", "lanes", "launches", "of these again", "most for one step", "with --open-first", "steps run again"], rows),
          "A lookup may depend on another: in this room the places at which each wall is textured are moved by d more textures, one "
          "after the other, and every ray takes 3 bounces.\n",
          table(["d", "lanes", "again, most for one step", "with --open-first", "of all steps", "steps run again"], chains))
    d.claim(3, "a step is launched at most 1 + d times more, if lookups depend on d others in a row",
            "1 + d for d = 0 to 3 if files and levels are known" if within else "more than 1 + d, though files and levels are known",
            "yes; up to %d for d = 0 if lookups have to request files and levels, too" % most if within else False)


def hiding(d):
    """Waiting by the number of lanes: measured, and for slower tiles by calculation."""
    size = "240x136" if d.quick else "960x540"
    costs = (0.1e-3, 1e-3, 5e-3)
    rows, warm, curves = [], [], [("%g ms a tile" % (1e3 * c), []) for c in costs]
    for power in (10, 12, 14, 16, 18, 20):
        way = ["--lanes", str(1 << power), "--tile", "0", "--no-coalesce"]
        r, more = d.render(*way, size=size), d.render(*way, size=size, samples="6")
        loading, all_ = (f(more) - f(r) for f in (lambda p: p["load_seconds"], working))
        warm.append(100 * max(loading, 0) / max(all_, 1e-9))
        waits = [100 * stall / (stall + r["trace_seconds"]) for stall in
                 ((r["counts"]["passes"] + r["tiles_loaded"] / LOADERS) * c for c in costs)]
        for (_, points), wait in zip(curves, waits):
            points.append((1 << power, wait))
        rows.append(["2^%d" % power, r["counts"]["passes"], "%.1f %%" % (100 * r["load_seconds"] / working(r)), "%.1f %%" % warm[-1],
                     *("%.1f %%" % w for w in waits)])
    d.plot("stream-lanes.svg", "Waiting for tiles, by the number of paths that run together", "lanes", "share of the time, %", curves)
    d.add("## Does a wavefront hide loading?\n\nThe share of the time in which paths wait, %s px, 2 samples, from an empty cache: as measured; for "
          "four more samples, after those two have warmed it up; and calculated for slower tiles that %d threads load, if each batch "
          "waits for its last tile once.\n" % (size, LOADERS),
          table(["lanes", "batches", "measured", "warmed up"] + [name for name, _ in curves], rows), "![Waiting for tiles](images/stream-lanes.svg)\n")
    falls = all(points[0][1] >= points[-1][1] for _, points in curves)
    d.claim(4, "a wavefront of many paths hides loading", "from %s to %s waiting, 2^10 to 2^20 lanes; %.1f %% once warmed up" % (
        rows[0][2], rows[-1][2], warm[-1]),
            True if falls and warm[-1] < 5 else "in part: more lanes make fewer batches; the tiles have to be loaded all the same")


def render_tiles(d, base):
    tiles = d.budget("--tile", "128")
    times = [working(best([d.render("--tile", str(t["px"]), "--cache", "0", "--no-coalesce", size=d.size, samples=d.samples)
                           for _ in range(1 if d.quick else 2)])) for t in tiles["render_tiles"]]
    rows = [["%d px" % t["px"] if t["px"] else "none", mb(t["peak_bytes"]), share(t["peak_bytes"], base["touched_bytes"]), mb(t["loaded_bytes"]),
             share(t["loaded_bytes"] - tiles["touched_bytes"], t["loaded_bytes"]), "%.2f" % (time / times[0])]
            for t, time in zip(tiles["render_tiles"], times)]
    d.add("## Render tiles\n\nBefore a render tile starts, tiles that the last one did not use are evicted. Time is tracing and loading, as a multiple of that "
          "without render tiles.\n",
          table(["render tile", "most at once", "of the whole", "loaded", "of it again", "time"], rows))
    peaks = [t["peak_bytes"] for t in tiles["render_tiles"]]
    d.claim(7, "smaller render tiles take less memory, at some cost", "%s at once with 32 px; of what is loaded, %s again; %s times as long" % (
        rows[-1][2], rows[-1][4], rows[-1][5]), peaks == sorted(peaks, reverse=True))


def growth(d):
    widths = [120, 240, 480] if d.quick else [480, 960, 1920, 3840]
    curves, rows, grows = [], [], {}
    for kind in ("compact", "full", "cone"):
        points = []
        for width in widths:
            r = d.budget("--tile", "128", "--differentials", kind, "--samples", "1", size="%dx%d" % (width, width * 9 // 16))
            points.append((width, r["render_tiles"][1]["peak_bytes"] / 1e6))
        curves.append((kind, points))
        grows[kind] = points[-1][1] / points[0][1]
        rows.append([kind] + ["%.1f MB" % y for _, y in points])
    d.plot("stream-resolution.svg", "Memory of textures while the picture grows", "width of the picture, px", "most at once, MB", curves)
    d.add("## Is memory constant in the resolution?\n\nPeak memory with render tiles of 128 px and one sample per pixel, by the kind of ray differentials.\n",
          table(["differentials"] + ["%d px wide" % w for w in widths], rows),
          "![Memory while the picture grows](images/stream-resolution.svg)\n\nWith Cycles' compact differentials it grows while mirror "
          "balls are in view: they carry the camera's fine rays to the whole room. The curvature term of cones and of full "
          "differentials widens those rays.\n")
    figure = "%.1f times from %d to %d px with Cycles' differentials; %.1f with cones that know curvature" % (
        grows["compact"], widths[0], widths[-1], grows["cone"])
    d.claim(8, "texture memory is roughly constant in the render resolution", figure,
            True if grows["compact"] < 1.5 else "**no** while mirror balls are in view" + ("; yes with cones" if grows["cone"] < 1.5 else ""))


def price(d):
    rows = []
    for name, bounces in (("camera rays", "0"), ("3 bounces", "3")):
        for engine in ("wave", "blocking"):
            way = ["--bounces", bounces, "--engine", engine, "--tile", "0", "--no-coalesce"]
            rounds = [(d.render(*way, size=d.size, samples=d.samples), d.render(*way, "--untextured", size=d.size, samples=d.samples))
                      for _ in range(1 if d.quick else 3)]
            with_, without = (best([pair[i] for pair in rounds]) for i in range(2))
            speed = [r["counts"]["rays"] / working(r) for r in (with_, without)]
            rows.append([name, engine, "%.2f" % (speed[0] / 1e6), "%.2f" % (speed[1] / 1e6), share(speed[0], speed[1]),
                         share(with_["load_seconds"], working(with_)) if engine == "wave" else "-",
                         share(with_["counts"]["relaunches"], with_["counts"]["steps"])])
    d.add("## The price of textures\n\nMillions of rays per second, %s px, %s samples, from an empty cache, with a lookup at every hit and with none; best of "
          "%s.\n" % (d.size, d.samples, "one round" if d.quick else "three rounds"),
          table(["", "engine", "textured", "untextured", "of it", "time in loading", "steps run again"], rows))


def budgets(d):
    """Policies for several sizes: what is loaded, and how long it takes. The optimum is known only from a trace."""
    size = ["--lanes", "4096", "-j", "1", "--no-coalesce", "--tile", "128"]
    whole = d.render(*size, "--cache", "0", "--policy", "none", "--trace", "room.trace", "--overwrite")
    need, first = whole["peak_bytes"], whole["tiles_loaded"]
    parts = (2.0, 1.0, 0.5, 0.25, 0.1)
    optimum = json.loads(d.bench.run("replay", "room.trace", "--json", "--policy", "opt", "--cache", ",".join(str(int(need * p)) for p in parts)))
    reads = {run["cache_bytes"]: run["reads"] for run in optimum["runs"]}
    rows, loads, times = [], [], []
    for name, way in (("lru", ["--policy", "lru"]), ("render-tiles", ["--policy", "render-tiles"]),
                      ("lru, blocking", ["--policy", "lru", "--engine", "blocking"])):
        results = [best([d.render(*size, "--cache", str(int(need * part)), *way) for _ in range(1 if d.quick else 2)]) for part in parts]
        for part, r in zip(parts, results):
            rows.append([name, "%g %%" % (100 * part), r["tiles_loaded"], "%.2f" % (r["tiles_loaded"] / first),
                         share(r["counts"]["relaunches"], r["counts"]["steps"]), "%.2f" % (working(r) / working(results[0]))])
        loads.append((name, [(100 * part, r["tiles_loaded"] / first) for part, r in zip(parts, results)]))
        times.append((name, [(100 * part, working(r) / working(results[0])) for part, r in zip(parts, results)]))
    for part in parts:
        rows.append(["optimum", "%g %%" % (100 * part), reads[int(need * part)], "%.2f" % (reads[int(need * part)] / first), "-", "-"])
    loads.append(("optimum", [(100 * part, reads[int(need * part)] / first) for part in parts]))
    d.plot("stream-budget.svg", "Tiles loaded, against memory", "budget, % of the tiles that are used", "loads of each tile", loads, log_y=True)
    d.plot("stream-budget-time.svg", "Time, against memory", "budget, % of the tiles that are used", "times that of 200 %", times, log_y=True)
    d.add("## Budgets\n\nThe picture rendered with a fixed budget, a share of the tiles that it uses: %s px, 2 samples, one thread, render tiles of 128 px. It is the same to the bit in "
          "every row. Time is tracing and loading, as a multiple of that with 200 %%. The budget also pays for the "
          "page table and the open files; the optimum, which knows the whole trace of the waves, has it for tiles alone.\n" % d.small,
          table(["policy", "budget", "tiles loaded", "loads a tile", "steps run again", "time"], rows),
          "![Tiles loaded against memory](images/stream-budget.svg)\n\n![Time against memory](images/stream-budget-time.svg)\n")
    (wave, blocking), (wave_loads, blocking_loads) = ((curves[0][1][-1][1], curves[3][1][-1][1]) for curves in (times, loads))
    d.claim(9, "below the working set, performance falls off a cliff",
            "at 10 %%: waves load each tile %.1f times and take %.1f times as long; single lookups %.1f and %.1f times" % (
                wave_loads, wave, blocking_loads, blocking),
            True if wave > 3 else "for single lookups, not for waves" if blocking > 3 else "**no**: loads multiply, but tracing takes longer than they do")


def experiments(b, quick, pictures):
    d = Document(b, quick, pictures)
    base = what_is_loaded(d)
    exactness(d)
    relaunches(d)
    hiding(d)
    render_tiles(d, base)
    growth(d)
    price(d)
    budgets(d)
    claims = table(["", "claim", "here", "holds"], [[int(c[0]) if c[0] % 1 == 0 else "", *c[1:]] for c in sorted(d.claims, key=lambda c: c[0])])
    return "\n".join(["## The claims\n\nWhat Cycles' developers say about its texture cache, and the results in this room.\n", claims] + d.text)


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


if __name__ == "__main__":
    main()
