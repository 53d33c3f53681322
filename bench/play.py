#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the claims of Disney's texture streamer with `txmill stream play`: tables and plots of docs/streaming.md.

    bench/play.py TXMILL DOCUMENT [--quick]

Figures in virtual time are the same on every machine; those of real time are of this one, with the processor time of each
frame beside that of the same frame without textures."""
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stream import mb, plot, share, table, write_noise, write_png  # noqa: E402

EDGE, PICTURES, SMALL = 8192, 4500, 1000  # edge of a texture; pictures in the large gallery and in the usual one
PRICES = ["--frame-ms", "16", "--tile-ms", "0.2", "--texel-ns", "1", "--request-ns", "20"]
CUT, AFTER = 40, 60  # frames before the cut to another place, and after it
RUNS = 3  # in real time


class Play:
    def __init__(self, txmill, folder, quick):
        self.txmill, self.folder, self.quick = os.path.abspath(txmill), folder, quick
        self.size = "160x90" if quick else "320x180"
        self.edge, self.count = (512, 300) if quick else (EDGE, PICTURES)
        self.small = 200 if quick else SMALL
        self.text, self.claims = [], []
        write_png(os.path.join(folder, "t.png"), self.edge)
        write_noise(os.path.join(folder, "noise.png"), 512, 3)
        self.run("make", "-q", "-c", "sRGB", "-a", "straight", "-o", "t.tx", "t.png")
        self.run("make", "-q", "-c", "Linear", "-a", "straight", "-o", "noise.tx", "noise.png")
        self.gallery("gallery", self.small)
        self.gallery("large", self.count)
        self.gallery("fine", self.count, part=0.02)

    def run(self, *words):
        return subprocess.run([self.txmill, *words], cwd=self.folder, check=True, stdout=subprocess.PIPE).stdout

    def play(self, *words, scene=("gallery",), prices=True):
        return json.loads(self.run("stream", "play", *scene, "--json", "--size", self.size, "--no-coalesce", "--bounces", "1",
                                   *(PRICES if prices else []), *words))

    def gallery(self, name, count, part=1):
        """A hall whose walls are full of pictures, each with a file of its own, of which it shows a part: the camera flies along it, then
        jumps elsewhere."""
        os.makedirs(os.path.join(self.folder, name))
        lines = ["txmill-scene 1", "size 480 270",
                 "camera perspective half 0.8 0.45 shift 0 0 clip 0.01 1000 to-world 1 0 0 0 0 0 -1 0 0 1 0 10"]
        length = 2 * (count // 20)
        for frame, y, cut in ((0, 0, ""), (CUT - 1, length * 0.15, ""), (CUT, length * 0.5, " cut"), (CUT + AFTER, length * 0.5, "")):
            lines.append("keyframe %d to-world 1 0 0 0 0 0 -1 %g 0 1 0 10%s" % (frame, y, cut))
        for i in range(count):
            os.link(os.path.join(self.folder, "t.tx"), os.path.join(self.folder, name, "%d.tx" % i))
            side, row, column = i % 2, i // 2 % 10, i // 20
            lines += ['image i%d "%d.tx" colorspace "sRGB" alpha straight extension repeat interpolation linear' % (i, i),
                      "material m%d diffuse 1 1 1" % i,
                      'texture m%d i%d input "Base Color" uv "" transform %g 0 0 0 %g 0' % (i, i, part, part),
                      "quad m%d %g %g %g 0 1.9 0 0 0 1.9" % (i, -4 if side else 4, 2 * column, 2 * row)]
        lines.insert(3, "light point power 90000 90000 90000 at 0 %g 60 radius 1" % (length / 2))
        with open(os.path.join(self.folder, name, "scene.txt"), "w") as f:
            f.write("\n".join(lines) + "\n")

    def add(self, *parts):
        self.text += parts

    def claim(self, words, disney, here, holds):
        self.claims.append([words, disney, here, holds])


def until(r, name):
    frames = r["totals"]["frames_until_" + name]
    return frames if frames is not None else "not in %d" % AFTER


def whole(p):
    """Plays with memory for all tiles, as the reference for the others. The working set is that of the place at the start."""
    r = p.play("--cache", "0", "--rest", "0")
    still = p.play("--cache", "0", "--path", "rest", "--frames", "60")
    textures = p.count * 4 / 3 * p.edge * p.edge * 4
    return r, still["frames"][-1]["resident_bytes"], textures


def frame_times(p, r, working):
    t = r["totals"]
    plain = p.play("--cache", "0", "--untextured")["totals"]
    ratio, stall = plain["ms"] / t["ms"], t["longest_ms"] / t["median_ms"]
    p.claim("frame rate, of untextured: virtual time", "> 95 % on average", "%.1f %% on a virtual device" % (100 * ratio), "yes" if ratio > 0.95 else "**no**")
    p.claim("no stall: the longest frame over the median: virtual time", "none", "%.2f" % stall, "yes" if stall < 1.1 else "**no**")
    rows = []
    kinds = [("at rest, all in memory", ["--cache", "0", "--path", "rest", "--warm-up", "40", "--frames", "100"]),
             ("the same, 3 bounces", ["--cache", "0", "--path", "rest", "--warm-up", "40", "--frames", "60", "--bounces", "3"]),
             ("in flight, no bound", ["--cache", "0", "--frames", str(CUT)])]
    kinds += [("in flight, %d %%" % part, ["--cache", str(int(working * part / 100 * 1.2) + (1 << 20)), "--frames", str(CUT)]) for part in (100, 50, 25)]
    for name, words in kinds:
        runs = [p.play(*words, "--compare", prices=False)["totals"] for _ in range(1 if p.quick else RUNS)]
        plain = [p.play(*words, "--untextured", prices=False)["totals"] for _ in runs]

        def middle(value, of=runs):
            return statistics.median(value(t) for t in of)
        rows.append([name] + ["%.1f" % middle(lambda t, n=n: t[n] / t["frames"]) for n in ("untextured_cpu_ms", "trace_cpu_ms", "load_cpu_ms")]
                    + ["%.3f" % middle(lambda t: t["trace_cpu_ms"] / t["untextured_cpu_ms"]), "%.3f" % middle(lambda t: (t["trace_cpu_ms"] + t["load_cpu_ms"]) / t["untextured_cpu_ms"]),
                       "%.1f" % middle(lambda t: t["median_ms"]), "%.1f" % middle(lambda t: t["within_ms"]),
                       "%.2f" % middle(lambda t: t["longest_ms"] / t["median_ms"]), "%.2f" % middle(lambda t: t["longest_ms"] / t["median_ms"], plain)])
    rest, flight = rows[0], rows[2]
    p.claim("processor time of a frame, of untextured: real time, two cores", "at most 1.05", "%s at rest, %s in flight, %s with loading" % (rest[4], flight[4], flight[5]),
            "yes" if float(rest[4]) <= 1.05 and float(flight[5]) <= 1.10 else "**no**")
    p.claim("longest frame over the median, by the clock", "none", "%s at rest, %s in flight" % (rest[8], flight[8]), "yes" if float(rest[8]) <= 1.2 and float(flight[8]) <= 1.5 else "**no**")
    p.add("### Real time\n\nProcessor time of each frame in milliseconds, without textures and with them, each pair of frames with the same paths one after the other (`--compare`), and of loading; then how "
          "many times as much the frames with textures take, without and with loading. %s px, 1 sample, 1 bounce, on two cores. In flight, caches have a part of what the place at the start needs, and a fifth and 1 MB more. "
          "The last four columns are by the clock of the same runs: the median frame, the time of 99 of 100 frames, and the longest as a multiple of the median, which other programs on the machine "
          "disturb. Median of %d runs.\n" % (p.size, len(runs)),
          table(["", "untextured", "textured", "loading", "times", "with loading", "median", "99 of 100", "longest", "longest untextured"], rows))


def budgets(p, working):
    rows, curves = [], []
    for part in (None, 1.0, 0.5, 0.25, 0.1):
        r = p.play("--cache", str(int(working * part * 1.2) + (1 << 20)) if part else "0")
        t, frames = r["totals"], r["frames"]
        after = frames[CUT:]
        rows.append(["no bound" if part is None else "%g %%" % (100 * part), until(r, "half"), until(r, "most"), until(r, "all"),
                     share(sum(f["sharp"] for f in after), sum(f["texels"] for f in after)), t["loaded"], t["reloaded"], t["evicted"], t["cut"],
                     "%.2f" % (t["longest_ms"] / t["median_ms"])])
        curves.append(("no bound" if part is None else "%g %%" % (100 * part), [(i + 1, 100 * f["sharp"] / max(1, f["texels"])) for i, f in enumerate(after)]))
    plot(os.path.join(p.pictures, "play-budget.svg"), "Sharpness after a cut, by the cache's size", "frames after the cut", "texels that are there, %", curves)
    p.add("### Until it is sharp\n\nA flight of %d frames, then a cut to another place, at which the camera rests. Frames after the cut until 50, 95 and 100 %% of the texels that lookups "
          "need are in memory, with caches for parts of the %s of tiles that the place at the start takes, and a fifth and 1 MB more for tables and open files. Virtual time.\n" % (CUT, mb(working)),
          table(["cache", "50 %", "95 %", "100 %", "of all texels since", "tiles loaded", "again", "evicted", "cut", "longest frame"], rows),
          "![Sharpness after a cut](images/play-budget.svg)\n")
    return rows


def lists(p):
    rows = []
    for bits in ((8, 12, 16) if p.quick else range(8, 17)):
        row = ["2^%d" % bits]
        for how in ("none", "unique", "spread"):
            r = p.play("--cache", "0", "--requests", str(1 << bits), "--reject", how, "--frames", str(CUT + 60))
            after = r["frames"][CUT:]
            t = r["totals"]
            wasted = sum(f["accepted"] for f in r["frames"])
            row += [t["frames_until_most"] or "-", share(sum(f["sharp"] for f in after), sum(f["texels"] for f in after)), share(t["unique"], max(1, wasted))]
        rows.append(row)
    p.add("### The list of requests\n\nVirtual time. Frames after the cut until 95 % of the texels are in memory, the share of all texels in the 60 frames after it, and how much of the list was different tiles, by the size of the "
          "list: without rejection, with Disney's (1 - unique/total of the last frame), and with as many left out as do not fit.\n",
          table(["list", "none: 95 %", "texels", "different", "unique: 95 %", "texels", "different", "spread: 95 %", "texels", "different"], rows))


def waves(p):
    rows, first = [], None
    for lanes in (0, 8, 16, 32):
        t = p.play("--cache", "0", "--wave", str(lanes), "--requests", "65536", "--frames", str(CUT))["totals"]
        first = first or t["requested"]
        rows.append([lanes or "none", t["missed"], t["requested"], "%.1f" % (t["missed"] / max(1, t["requested"])), t["unique"]])
    p.add("### Waves\n\nVirtual time. Requests written if only one of the lanes of a wave that miss the same tile writes its request; the whole key of 64 bits is compared.\n",
          table(["lanes", "missed", "written", "fewer by", "different"], rows))
    p.claim("waves write fewer requests (Vulkan streamer)", "no figure", "%s times fewer with 16 lanes" % rows[2][3], "yes")


def compared(p, samples, play, render):
    p.run("stream", "play", "room", "noise.tx", "--size", "160x90", "--virtual", "--path", "rest", "--warm-up", "40", "--frames", str(samples), "-q", "-o", "played.exr", *play)
    p.run("stream", "render", "room", "noise.tx", "--size", "160x90", "--samples", str(samples), "-q", "-o", "rendered.exr", *render)
    out = subprocess.run([p.txmill, "diff", "--json", "played.exr", "rendered.exr"], cwd=p.folder, stdout=subprocess.PIPE).stdout
    return json.loads(out)["levels"][0]


def converged(p):
    """Without bias, four times as many samples halve the remaining error: 6 dB."""
    same = compared(p, 64, ["--sampling", "scene", "--mode", "stochastic"], ["--mode", "stochastic"])["different"] == 0
    p.claim("frames end in the picture of a render, with its filter and levels", "convergence time is unchanged", "the same bits" if same else "other bits", "yes" if same else "**no**")
    few, many = (compared(p, n, [], ["--mode", "stochastic-full"])["psnr"] for n in (32, 512))
    p.claim("the same with single texels of both levels, on average", "the same", "%.1f dB apart with 32 frames, %.1f dB with 512; noise alone would gain 12 dB" % (few, many), "yes" if many - few > 10 else "**no**")


def terabytes(p, textures):
    """The hall as it is, with coarse tiles, and with pictures so large that each needs tiles of its finest levels."""
    rows, lasts, pictures = [], [], []
    for scene in ("large", "fine"):
        for size, name in ((2 << 30, "2 GB"), (200 << 20, "200 MB"), (20 << 20, "20 MB")):
            r = p.play("--cache", str(size), scene=(scene,))
            t, last = r["totals"], r["frames"][-1]
            picture = json.loads(p.run("stream", "render", scene, "-q", "--json", "--size", p.size, "--no-coalesce", "--bounces", "1", "--samples", "1", "--cache", str(size),
                                       "--overwrite", "-o", "%s-%d.ppm" % (scene, size)))
            with open(os.path.join(p.folder, "%s-%d.ppm" % (scene, size)), "rb") as f:
                pictures.append(f.read())
            lasts.append("%s of all texels, %s in the last frame" % (share(t["sharp"], t["texels"]), share(last["sharp"], last["texels"])))
            rows.append(["whole pictures" if scene == "large" else "magnified", name, share(t["sharp"], t["texels"]), share(last["sharp"], last["texels"]),
                         until(r, "most"), t["loaded"], t["evicted"], mb(max(f["resident_bytes"] for f in r["frames"])), picture["tiles_loaded"],
                         picture["tiles_reloaded"], mb(picture["peak_bytes"]), "yes" if pictures[-1] == pictures[len(pictures) - 1 - (len(pictures) - 1) % 3] else "**no**"])
    p.add("### %.2f TB\n\nVirtual time. The gallery: %d textures of %d px, each a file of its own; the flight and the cut, through caches that are up to %d times smaller; then a picture that is rendered. "
          "Either each painting shows a whole texture, or a part that needs its finest levels.\n" % (textures / 1e12, p.count, p.edge, textures / (20 << 20)),
          table(["paintings", "cache", "texels there, all frames", "in the last", "95 % after the cut", "tiles loaded", "evicted", "most in memory", "rendered: tiles loaded", "again",
                 "most in memory", "the same bits"], rows))
    p.claim("1.5 TB through 2 GB", "final detail", "%.2f TB: %s; magnified, %s; through 200 MB %s" % (textures / 1e12, lasts[0], lasts[3], lasts[4]),
            "yes" if all(r[3] == "100.0 %" for r in (rows[0], rows[3])) else "nearly" if all(float(r[3].split()[0]) > 95 for r in (rows[0], rows[3])) else "**no**")


def main():
    txmill, document = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory(prefix="txmill-play-") as folder:
        p = Play(txmill, folder, "--quick" in sys.argv)
        p.pictures = os.path.join(os.path.dirname(os.path.abspath(document)), "images")
        r, working, textures = whole(p)
        frame_times(p, r, working)
        terabytes(p, textures)
        rows = budgets(p, working)
        p.claim("textures sharpen while the picture rests", "more latency rather than a lower frame rate", "95 %% of the texels %s frames after a cut, all after %s" % (rows[0][2], rows[0][3]), "yes")
        lists(p)
        waves(p)
        converged(p)
    claims = table(["claim", "Disney", "here", "holds"], p.claims)
    text = "\n".join(["## Frames that do not wait\n\nWhat Disney says about its streamer (SIGGRAPH 2025), and the results of `txmill stream play`. A virtual device: 16 ms for the rays of a frame, "
                      "1 ns a texel, 20 ns a request, 0.2 ms a tile. %s px, 1 sample a frame, 1 bounce.\n" % p.size, claims] + p.text)
    begin, end = "<!-- begin: bench-play -->\n", "<!-- end: bench-play -->\n"
    head, rest = open(document).read().split(begin)
    with open(document + ".new", "w") as f:
        f.write(head + begin + "\n" + text + "\n" + end + rest.split(end)[1])
    os.replace(document + ".new", document)


if __name__ == "__main__":
    main()
