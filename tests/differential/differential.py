#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts images with a real Blender and with txmill, and compares every name, level and field of the headers.

The images are random ones of all formats, types, sizes, alpha and contents, or those of folders. The table counts
results that are identical, within one code, documented differences (documented.toml lists them) and wrong. Sources and tx
files stay in the work folder, where findings.tsv has a line for each difference, and results.json the counts and, of each
kind of wrong result, the smallest case.

Exit status: 0 nothing is wrong, 1 something is wrong, 2 usage, 77 no Blender.
"""
import argparse
import collections
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys

import numpy as np

import documented
import images
import judge
import limits

HERE = os.path.dirname(os.path.abspath(__file__))
MAKETX = os.path.join(HERE, "..", "blender", "maketx.py")
ALPHAS = ["straight", "premultiplied", "channel_packed", "none", "auto"]
COMMON_SPACES = ["sRGB"] * 6 + ["Non-Color"] * 5 + ["Linear Rec.709"] * 4 + ["auto", "ACEScg", "Raw"]
IMAGE_EXTENSIONS = set("exr tif tiff tx png jpg jpeg tga hdr psd dds fits fit bmp dpx cin iff rla sgi rgb webp ico ppm pgm "
                       "pbm pnm pfm gif jp2 j2k j2c pic heic heif hif avif psb zfile".split())


def default_memory():
    return min(8, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**31)


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="images to convert besides the random ones")
    parser.add_argument("-n", type=int, default=500, help="number of random images (default: 500)")
    parser.add_argument("--seed", type=int, default=1, help="of the random images (default: 1)")
    parser.add_argument("--blender", default="blender", help="command of a Blender, or of a Python that has bpy")
    parser.add_argument("--txmill", default=os.path.join(HERE, "..", "..", "build", "txmill"), help="command of txmill")
    parser.add_argument("--other-blender", metavar="COMMAND", help="compare this Blender with the first, instead of txmill")
    parser.add_argument("--work", default=os.path.join(HERE, "..", "..", "build", "differential"), help="work folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="threads of txmill (default: all processors)")
    parser.add_argument("--memory", type=float, default=default_memory(), metavar="GIB",
                        help="what a program may take for an image before it is killed (default: 8, at most half the machine's)")
    parser.add_argument("--idle", type=float, default=600, metavar="SECONDS",
                        help="how long a program may work on an image before it is killed (default: 600)")
    parser.add_argument("--every-setting", action="store_true",
                        help="images of the folders in every colour space with every alpha type")
    parser.add_argument("--every-space", action="store_true",
                        help="images of the folders in every colour space, each with the next of the alpha types")
    parser.add_argument("--only", metavar="NAME", help="convert only random images whose names contain NAME")
    return parser.parse_args()


def give_up(status, message):
    print("differential.py: " + message, file=sys.stderr)
    sys.exit(status)


class Blender:
    def __init__(self, command):
        self.command = shlex.split(command)
        try:
            version = subprocess.run(self.command + ["--version"], capture_output=True, text=True, timeout=300)
        except OSError as error:
            give_up(77, "no Blender: %s (--blender, BLENDER=)" % error)
        if version.returncode:
            give_up(77, "no Blender: " + version.stderr.strip())
        lines = [line for line in version.stdout.splitlines() if line.startswith(("Blender ", "Python "))]
        if lines and lines[0].startswith("Blender "):
            self.command += ["-b", "--factory-startup", "--python-exit-code", "1", "--python", MAKETX, "--"]
        else:
            self.command += [MAKETX]

    def run(self, *args):
        return subprocess.run(self.command + list(args), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")

    def describe(self, folder):
        """Returns {version, colorspaces}, and writes the OpenColorIO config to folder/colormanagement."""
        done = self.run("describe", folder)
        if done.returncode:
            give_up(1, done.stdout + "Blender failed")
        with open(os.path.join(folder, "blender.json"), encoding="utf-8") as f:
            return json.load(f)

    def convert(self, runs, folder, limit, cache="blender"):
        """Returns a line for each run: the path of the tx file, or ERROR and the message, or the line of
        limits.for_each. `cache` is the name that replaces %s in the cache folders."""
        files = (os.path.join(folder, cache + kind) for kind in (".list", ".results"))
        try:
            return limits.for_each(self.command + ["convert"], ["\t".join((run["path"], run["colorspace"], run["alpha"], run["cache"] % cache))
                                                               for run in runs], *files, limit)
        except RuntimeError as error:
            give_up(1, "Blender failed: %s" % error)


def parts_of(line):
    """Parses a line of Blender.convert as (tx, error)."""
    return (None, line.replace("\t", ": ")) if line.startswith(("ERROR", limits.CRASH, limits.KILLED)) else (line, "")


def txmill_convert(command, indices, runs, folder, limit):
    """Returns {index of the run: (tx, error)}. A run with the tx file of an earlier one is missing, because it
    counts once. If txmill crashes or is killed, each half is tried alone, until the image is found."""
    listing, output = os.path.join(folder, "txmill.list"), os.path.join(folder, "txmill.log")
    with open(listing, "w", encoding="utf-8") as f:
        for index in indices:
            run = runs[index]
            f.write(json.dumps({"path": run["path"], "colorspace": run["colorspace"], "alpha": run["alpha"],
                                "cache_dir": run["cache"] % "txmill"}) + "\n")
    # It examines all images before it prints anything.
    status, reason = limits.run(command + ["@" + listing], output, limits.Limits(limit.memory, limit.idle + len(indices)))
    with open(output, encoding="utf-8", errors="replace") as f:
        lines = f.read().splitlines()
    if reason or status not in (0, 3, 4):
        if status == 2:  # an error of the command line, not of an image
            give_up(1, "txmill: " + "\n".join(lines[-20:]))
        if len(indices) == 1:
            return {indices[0]: (None, "txmill died: " + (reason or "exit status %d" % status))}
        half = len(indices) // 2
        return {**txmill_convert(command, indices[:half], runs, folder, limit),
                **txmill_convert(command, indices[half:], runs, folder, limit)}
    out = {}
    for line in lines:
        record = json.loads(line) if line.startswith("{") else {}
        if record.get("type") != "file":
            continue
        index = indices[int(record["origin"].rpartition(":")[2]) - 1]
        if record["state"] == "failed":
            out[index] = (None, record["error"]["message"])
        else:
            # There is no tx file, because the image is used as it is.
            out[index] = (record["tx"] or record["input"], "")
    return out


def try_less(runs, theirs):
    """Returns the runs and lines without those of an image that Blender refuses in every colour space, of which
    three are enough."""
    count, refused = collections.Counter(), collections.Counter()
    for run, line in zip(runs, theirs):
        count[run["path"]] += 1
        refused[run["path"]] += line.startswith("ERROR")
    seen, kept = collections.Counter(), []
    for run, line in zip(runs, theirs):
        seen[run["path"]] += 1
        if seen[run["path"]] <= 3 or refused[run["path"]] < count[run["path"]]:
            kept.append((run, line))
    return [run for run, _ in kept], [line for _, line in kept]


def once(run, theirs, made):
    """Returns the tx file of a run that txmill did not report, which another run of the source has made."""
    same = [tx for path, tx in made if path == run["path"] and tx and os.path.basename(tx) == os.path.basename(theirs or "")]
    return (same[0], "") if same else (None, "no report")


def random_runs(args, folder, spaces):
    sources = os.path.join(folder, "src")
    os.makedirs(sources)
    for index in range(args.n):
        rng = np.random.default_rng([args.seed, index])
        path = images.draw(rng, os.path.join(sources, "%05d" % index))
        chance = rng.random()
        if chance < 0.75:
            space = str(rng.choice([s for s in COMMON_SPACES if s in spaces or s == "auto"]))
        else:
            space = str(rng.choice(spaces))
        alpha = str(rng.choice(ALPHAS, p=[.4, .2, .15, .1, .15]))
        cache = os.path.join(folder, "%s") if rng.random() < 0.7 else "cache-%s"
        run = {"path": path, "colorspace": space, "alpha": alpha, "cache": cache}
        if not args.only or args.only in os.path.basename(path):
            yield run


def folder_runs(args, folder, spaces):
    """Returns every image as sRGB, as data and in one more way, which depends on the seed; or in every way, or in
    every colour space."""
    rng = random.Random(args.seed)
    images_so_far = 0
    for top in args.folders:
        for parent, folders, files in os.walk(os.path.abspath(top)):
            folders[:] = sorted(f for f in folders if f != "blender_tx" and not f.startswith("."))
            for name in sorted(files):
                if name.rpartition(".")[2].lower() not in IMAGE_EXTENSIONS or "\t" in name:
                    continue
                path = os.path.join(parent, name)
                ways = [("sRGB", "straight"), ("Non-Color", "straight"), (rng.choice(spaces), rng.choice(ALPHAS))]
                if args.every_setting:
                    ways = [(space, alpha) for space in spaces for alpha in ALPHAS]
                elif args.every_space:
                    ways = [(space, ALPHAS[(images_so_far + index) % len(ALPHAS)]) for index, space in enumerate(spaces)]
                images_so_far += 1
                for space, alpha in dict.fromkeys(ways):
                    yield {"path": path, "colorspace": space, "alpha": alpha, "cache": os.path.join(folder, "%s")}


def table(judged):
    counts = collections.defaultdict(collections.Counter)
    for _, findings in judged:
        for aspect in {f.aspect for f in findings}:
            verdict = max((f.verdict for f in findings if f.aspect == aspect), key=judge.ORDER.index)
            counts[aspect][verdict] += 1
        counts["images"][max((f.verdict for f in findings), key=judge.ORDER.index)] += 1
    print("%-14s" % "" + "".join("%17s" % v for v in judge.ORDER))
    for aspect in ["made", "name", "shape", "level 0", "levels 1...", "statistics", "metadata", "images"]:
        print("%-14s" % aspect + "".join("%17d" % counts[aspect][v] for v in judge.ORDER))


def groups(judged, verdict):
    out = collections.defaultdict(list)
    for run, findings in judged:
        for finding in findings:
            if finding.verdict == verdict:
                out["%s: %s" % (finding.aspect, finding.key) if finding.key else finding.aspect].append((run, finding))
    return sorted(out.items(), key=lambda item: -len(item[1]))


def main():
    args = parse()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the processes it has started end as well
    blender = Blender(args.blender)
    folder = os.path.abspath(args.work)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    about = blender.describe(folder)
    config = os.path.join(folder, "colormanagement", "config.ocio")
    runs = list(random_runs(args, folder, about["colorspaces"])) + list(folder_runs(args, folder, about["colorspaces"]))
    print("Blender %s, %d conversions, seed %d" % (about["version"], len(runs), args.seed), flush=True)
    limit = limits.Limits(int(args.memory * 2**30), args.idle)
    runs, theirs = try_less(runs, blender.convert(runs, folder, limit))
    if args.other_blender:
        ours = dict(enumerate(map(parts_of, Blender(args.other_blender).convert(runs, folder, limit, "txmill"))))
    else:
        command = shlex.split(args.txmill) + ["make", "--strict", "--force", "--json", "--ocio", config, "--blender", about["version"].split()[0], "-j", str(args.jobs)]
        ours = txmill_convert(command, range(len(runs)), runs, folder, limit)

    made = [(runs[index]["path"], tx) for index, (tx, _) in ours.items()]
    for index, (run, line) in enumerate(zip(runs, theirs)):
        run["blender_tx"], run["blender_error"] = parts_of(line)
        run["txmill_tx"], run["txmill_error"] = ours[index] if index in ours else once(run, run["blender_tx"], made)
        run["release"] = ".".join(about["version"].split()[0].split(".")[:2])
    judged = list(zip(runs, judge.compare_all(runs, folder, limit)))
    with open(os.path.join(folder, "findings.tsv"), "w", encoding="utf-8") as report:
        report.write("verdict\taspect\tkey\tsource\tcolour space\talpha\tBlender's\tours\tdetail\n")
        for run, findings in judged:
            for f in findings:
                if f.verdict != judge.IDENTICAL:
                    report.write("\t".join((f.verdict, f.aspect, f.key, run["path"], run["colorspace"], run["alpha"],
                                            run["blender_tx"] or run["blender_error"], run["txmill_tx"] or "", f.detail)) + "\n")
    table(judged)
    for verdict in (judge.INTENDED, judge.CLOSE, judge.WRONG):
        for key, cases in groups(judged, verdict):
            run, finding = cases[0]
            print("%-16s%5d  %s" % (verdict, len(cases), key))
            if verdict != judge.INTENDED:
                print("%23s%s (%s, %s) %s" % ("", os.path.relpath(run["path"], folder), run["colorspace"], run["alpha"],
                                             finding.detail))
    verdicts = collections.Counter(max((f.verdict for f in findings), key=judge.ORDER.index) for _, findings in judged)
    wrong = verdicts[judge.WRONG]
    cases = {}
    for what, found in groups(judged, judge.WRONG):
        run, finding = min(found, key=lambda case: os.path.getsize(case[0]["path"]))
        cases[what] = {"source": run["path"], "settings": {"colorspace": run["colorspace"], "alpha": run["alpha"]},
                       "blender": run["blender_tx"] or run["blender_error"], "txmill": run["txmill_tx"] or run["txmill_error"],
                       "detail": finding.detail}
    with open(os.path.join(folder, "results.json"), "w", encoding="utf-8") as out:
        json.dump({"equal": verdicts[judge.IDENTICAL], "documented": verdicts[judge.CLOSE] + verdicts[judge.INTENDED], "new": wrong,
                   "cases": cases}, out)
    if wrong:
        print("%d of %d differ without a reason; see %s" % (wrong, len(runs), os.path.join(folder, "findings.tsv")))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
