"""make bench: compares txmill with Debian's maketx in the same run, as ratios."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from measure import cpu_name, run, side_by_side
from payload import compare

BUILD, IMAGES = sys.argv[1], sys.argv[2]
TXMILL = os.path.join(BUILD, "txmill")
JOBS = "2"
CHROOTS = os.path.join("tests", "blender", "chroots.sh")
FOUR = ["photo4k.png", "rgba4k.png", "hdr4k.exr", "photo8k.jpg"]
WALL_GOAL = {"photo4k.png": 10, "rgba4k.png": 9, "hdr4k.exr": 11, "photo8k.jpg": 7.5}
MEMORY_GOAL = {"photo4k.png": 80, "photo8k.jpg": 110, "rgb16k.png": 250, "grey32k.tif": 250}
os.environ.setdefault("TXMILL_PLUGINS", BUILD)
scratch = tempfile.TemporaryDirectory(prefix="txmill-bench-")
lines = []


def image(name):
    return os.path.join(IMAGES, name)


def output(name):
    return os.path.join(scratch.name, name)


def make(name, *options, jobs=JOBS, out="out.tx"):
    return [TXMILL, "make", "-q", "--force", "-j", jobs, *options, image(name), "-o", output(out)]


def clean():
    """Every run creates its files: to replace an existing one, the file system would first write the new one out."""
    for entry in os.scandir(scratch.name):
        shutil.rmtree(entry) if entry.is_dir() else os.remove(entry)


def report(name, *options, jobs=JOBS):
    """One conversion's JSON object."""
    command = [TXMILL, "make", "--force", "--json", "-j", jobs, *options, image(name), "-o", output("out.tx")]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0])


def say(line=""):
    print(line, flush=True)
    lines.append(line)


def table(title, header, rows):
    say(f"\n## {title}\n")
    say("| " + " | ".join(header) + " |")
    say("|" + "---|" * len(header))
    for row in rows:
        say("| " + " | ".join(str(cell) for cell in row) + " |")


def megabytes(size):
    return f"{size / 1e6:.1f} MB"


def verdict(good):
    return "reached" if good else "**missed**"


def official_blender(name, runs=3):
    """Medians (wall, CPU) of the writer of the official Blender on an image and its version, or a line that says why there
    are none."""
    command = [CHROOTS, "python", "bench/blender.py", "--", "writer", output("scene"), os.path.abspath(image(name)), str(runs)]
    clean()
    done = subprocess.run(command, capture_output=True, text=True)
    clean()
    if done.returncode == 77:
        return done.stderr.strip().splitlines()[-1].removeprefix("chroots.sh: ")
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr[-500:]}")
    times = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("writer ")]
    version = re.search(r"^version (.*)$", done.stdout, re.M)[1]
    return *(statistics.median(float(text) for text in column) for column in zip(*times)), version


def speed():
    rows = []
    missing = None
    for name in FOUR:
        ours, theirs = side_by_side([make(name), ["maketx", image(name), "-o", output("maketx.tx")]], before=clean)
        ratio = theirs[0] / ours[0]
        row = [name, f"{ours[0]:.2f} s", f"{theirs[0]:.2f} s", f"{ratio:.1f}", WALL_GOAL[name],
               verdict(ratio >= WALL_GOAL[name]), f"{theirs[1] / ours[1]:.1f}", f"{theirs[2] / ours[2]:.1f}"]
        official = missing or official_blender(name)
        if isinstance(official, str):
            missing = official
        else:
            version = official[2]
            row += [f"{official[0]:.2f} s", f"{official[0] / ours[0]:.1f}", f"{official[1] / ours[1]:.1f}"]
        rows.append(row)
    columns = [] if missing else [f"official Blender {version}", "times faster", "CPU ratio"]
    table(f"Wall time beside maketx ({JOBS} threads)" + ("" if missing else " and beside the official Blender"),
          ["image", "txmill", "maketx", "times faster", "goal", "", "CPU ratio", "memory ratio", *columns], rows)
    say()
    say(f"No column of the official Blender: {missing}; root, network, 2 GB." if missing else
        "Blender's time is its writer's alone, on all processors; starting it is not counted. txmill's and maketx's include starting.")


def batch():
    files = sorted(os.path.join(IMAGES, "batch", name) for name in os.listdir(os.path.join(IMAGES, "batch")))
    ours = [TXMILL, "make", "-q", "--force", "-j", JOBS, "--cache-dir", output("cache"), *files]
    theirs = ["sh", "-c", f'printf "%s\\n" "$@" | xargs -P {JOBS} -I @ sh -c \'maketx "$1" -o "$2/$(basename "$1").tx"\' '
              f"sh @ {scratch.name}", "sh", *files]
    a, b = side_by_side([ours, theirs], runs=5, before=clean)
    ratio = b[1] / a[1]
    table("A batch of 60 mixed images", ["", "wall", "CPU"],
          [["txmill", f"{a[0]:.2f} s", f"{a[1]:.2f} s"], [f"maketx, {JOBS} processes", f"{b[0]:.2f} s", f"{b[1]:.2f} s"],
           ["ratio", f"{b[0] / a[0]:.1f}", f"{ratio:.1f} (goal 4: {verdict(ratio >= 4)})"]])


def memory():
    rows = []
    for name, goal in MEMORY_GOAL.items():
        peak = run(make(name))[2] / 1e6
        rows.append([name, f"{peak:.0f} MB", f"{goal} MB", verdict(peak <= goal)])
    table("Peak memory", ["image", "peak", "goal", ""], rows)
    rows, previous = [], None
    for height in [2048, 4096, 8192, 16384]:
        peak = run(make(f"tall-{height}.png"))[2]
        size = os.path.getsize(output("out.tx"))
        growth = "" if previous is None else f"{100 * (peak - previous[0]) / (size - previous[1]):.1f} %"
        rows.append([f"4096x{height}", megabytes(peak), megabytes(size), growth])
        previous = (peak, size)
    table("Memory against height (goal: growth at most 10 % of the file's growth)",
          ["image", "peak", "tx file", "growth of memory / growth of file"], rows)


def size():
    def excess(path):
        out = output("out.tx")
        subprocess.run([TXMILL, "make", "-q", "--force", "-j", JOBS, "--borders", "no", path, "-o", out], check=True)
        ours, reference = compare(out, os.path.getsize(out))
        return ours, reference, 100 * (ours / reference - 1)
    rows = []
    for name in FOUR:
        ours, reference, percent = excess(image(name))
        rows.append([name, megabytes(ours), megabytes(reference), f"{percent:+.1f} %", verdict(percent <= 5)])
    photos = [excess(os.path.join(IMAGES, "photos", name))[2] for name in sorted(os.listdir(os.path.join(IMAGES, "photos")))]
    mean = statistics.mean(photos)
    rows.append([f"{len(photos)} photographs", "", "", f"{mean:+.1f} % on average", verdict(mean <= 5)])
    table("Size without border section against zlib level 6, same predictor (goal: at most +5 %)",
          ["image", "txmill", "zlib 6", "difference", ""], rows)


def start():
    run(make("batch/4.png"))
    rows = []
    for what, command in [("txmill --help", [TXMILL, "--help"]), ("txmill info", [TXMILL, "info", output("out.tx")])]:
        wall = side_by_side([command], runs=15)[0][0] * 1000
        rows.append([what, f"{wall:.1f} ms", verdict(wall < 20)])
    table("Start-up (goal: under 20 ms)", ["command", "wall", ""], rows)


def stages():
    names = ["decode", "conform", "color", "pyramid", "hash", "encode", "borders", "write"]
    rows = []
    for name in FOUR:
        best = min((report(name) for _ in range(3)), key=lambda r: r["seconds"])
        spent = best["stage_seconds"]
        total = sum(spent.values())
        rows.append([name, f"{total:.2f} s"] + [f"{100 * spent[n] / total:.0f} %" for n in names])
    table("CPU time by stage", ["image", "CPU"] + names, rows)


def rates():
    rows = []
    for name in ["photo4k.png", "hdr4k.exr"]:
        for codec in ["zip:1", "zip", "zip:12", "none"]:
            cells = [name, codec]
            for jobs in ["1", JOBS]:
                r = report(name, "--compression", codec, jobs=jobs)
                cells.append(f"{r['width'] * r['height'] / 1e6 / r['seconds']:.0f}")
            rows.append(cells + [megabytes(r["tx_bytes"] - r["section_bytes"])])
    table("Megapixels a second by encoder", ["image", "encoder", "1 thread", f"{JOBS} threads", "size"], rows)


def colour():
    rows = []
    # Blender 5.2's own writer on another machine; only the ratio to its own sRGB run can be compared.
    blender = {"sRGB": 6.74, "ACEScg": 4.42, "Rec.1886": 4.48}
    ours = {space: side_by_side([make("photo4k.png", "--colorspace", space)], runs=3, before=clean)[0]
            for space in blender}
    for space, seconds in blender.items():
        rows.append([space, f"{ours[space][0]:.2f} s", f"{ours[space][1]:.2f} s", f"{ours[space][0] / ours['sRGB'][0]:.2f}",
                     f"{seconds} s", f"{seconds / blender['sRGB']:.2f}"])
    table("Colour conversion of photo4k.png", ["colour space", "wall", "CPU", "against sRGB", "Blender's writer",
                                               "against sRGB"], rows)


GROUPS = {f.__name__: f for f in [speed, batch, memory, size, start, stages, rates, colour]}
wanted = sys.argv[3:] or list(GROUPS)
say(f"# txmill beside Debian's maketx\n\n{cpu_name()}, {os.cpu_count()} processors. Medians of at least 5 runs in turn; "
    "absolute times drift between machines, ratios less.")
for group in wanted:
    GROUPS[group]()
if not sys.argv[3:]:
    for other in [["sh", "bench/library.sh", BUILD, IMAGES], [sys.executable, "bench/scenes.py", BUILD]]:
        say()
        say(subprocess.run(other, check=True, capture_output=True, text=True).stdout.rstrip())
    with open("bench/results.md", "w", encoding="utf-8") as results:
        results.write("\n".join(lines) + "\n")
    print("\nwritten to bench/results.md")
