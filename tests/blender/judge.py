#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make judge: what an official build of Blender does otherwise than txmill. Prints a table: of each part how much is
equal, documented in documented.toml, and new. The smallest case of everything new lies in WORK/VERSION/new: what was
compared, with which settings, and both answers.

    names      names of tx files for all names and interop ids that a scene may store
    random     random conversions, see ../differential/differential.py, which alone serves other Blenders (--blender)
    scenes     scenes in every way: names, pixels and renders, see loop.py; which files Cycles opens for a render
    budget     the tiles that Cycles reads and those of a budget, see tiles.sh
    extension  the extension, see extension.sh
    travel     scenes that git, archives, Blender Asset Tracer and a farm have carried elsewhere, see travel.sh

Exit status: 0 nothing is new, 1 something is new or a part failed, 2 usage, 77 no Blender.
"""
import argparse
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
sys.path.insert(0, os.path.join(HERE, "..", "differential"))
import documented

CHROOTS = os.path.join(HERE, "chroots.sh")
CASES = 20  # of a part, that are kept and printed
DIFFERENTIAL = os.path.join(HERE, "..", "differential", "differential.py")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bpy", default="", help="version of the official build (default: that of chroots.sh)")
    parser.add_argument("--blender", default="", metavar="COMMAND", help="another Blender, for random conversions alone")
    parser.add_argument("-n", type=int, default=2000, help="number of random images (default: 2000)")
    parser.add_argument("--seed", type=int, default=1, help="of the random images (default: 1)")
    parser.add_argument("--only", default="", metavar="PARTS", help="parts to run (default: all)")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="where txmill is")
    parser.add_argument("--extension", metavar="ZIP", help="the extension's package")
    parser.add_argument("--work", help="work folder (default: judge in the build folder)")
    parser.add_argument("--chroots", default=CHROOTS, metavar="PROGRAM", help="what runs the official build (default: chroots.sh)")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", help="images to convert besides the random ones")
    return parser.parse_args()


class Part:
    """Counts of one part, and its new differences: {what: case}. A case has "source", "settings", "blender", "txmill"."""

    def __init__(self, judge, name):
        self.judge, self.name = judge, name
        self.equal, self.documented, self.new, self.skipped = 0, 0, 0, ""
        self.folder = os.path.join(judge.folder, name)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)

    def same(self):
        self.equal += 1

    def differs(self, what, **case):
        """Counts a difference. The first one of its kind is kept as a case."""
        row = documented.find(self.name, what, self.judge.release)
        if row:
            self.documented += 1
            row.setdefault("seen", []).append(what)
            return
        self.new += 1
        self.judge.keep(self.name, what, case)

    def log(self):
        return os.path.join(self.folder, "log")

    def checks(self, command):
        """Runs a program that prints "pass NAME", "FAIL NAME: why" and "skip NAME: why"."""
        with open(self.log(), "w", encoding="utf-8") as out:
            status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=ROOT).returncode
        with open(self.log(), encoding="utf-8", errors="replace") as f:
            lines = f.read().splitlines()
        failed = 0
        for line in lines:
            if line.startswith("pass "):
                self.same()
            elif line.startswith("FAIL "):
                failed += 1
                self.differs(line[5:], settings=shlex.join(command), log=self.log())
            elif line.startswith("skip "):
                self.skipped = line[5:]
            elif line.startswith("note "):
                print(line, flush=True)
        if not (self.equal or failed or self.skipped) or status and not failed:
            self.differs("exit status %d" % status, settings=shlex.join(command), blender="\n".join(lines[-30:]), log=self.log())


class Judge:
    def __init__(self, args):
        self.txmill = os.path.realpath(os.path.join(args.build, "txmill"))
        self.args, self.kinds = args, set()
        if args.bpy:
            os.environ["TXM_BPY"] = args.bpy
        self.version, self.release, self.ready = "blender", "", {}
        work = os.path.abspath(args.work or os.path.join(args.build, "judge"))
        if not args.blender:
            os.makedirs(work, exist_ok=True)
            self.prepare()
        self.folder = os.path.join(work, self.version)
        shutil.rmtree(os.path.join(self.folder, "new"), ignore_errors=True)
        os.makedirs(os.path.join(self.folder, "new"))
        # Inside the chroot, programs of the host run in the host's root.
        self.inside = os.path.join(self.folder, "txmill")
        with open(self.inside, "w", encoding="utf-8") as f:
            f.write('#!/bin/sh\nexec /usr/sbin/chroot /host %s "$@"\n' % shlex.quote(self.txmill))
        os.chmod(self.inside, 0o755)

    def prepare(self):
        made = subprocess.run([self.args.chroots, "make", "official"], stderr=subprocess.PIPE, text=True)
        if made.returncode:
            sys.stderr.write(made.stderr)
            sys.exit(made.returncode)
        said = subprocess.run([self.args.chroots, "command", "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        found = re.search(r"^Blender ((\d+\.\d+)\.\d+)", said.stdout, re.M)
        if not found:
            sys.exit("judge.py: the official build does not start: %s command --version" % self.args.chroots)
        self.version, self.release = found.groups()

    def keep(self, part, what, case):
        """Writes a case to a folder of its own; of the same kind the first one alone."""
        if (part, what) in self.kinds:
            return
        self.kinds.add((part, what))
        if sum(p == part for p, _ in self.kinds) > CASES:
            return
        folder = os.path.join(self.folder, "new", "%s-%02d" % (part, sum(p == part for p, _ in self.kinds)))
        os.makedirs(folder)
        for key in ("source", "blender", "txmill"):
            if isinstance(case.get(key), str) and os.path.isfile(case[key]):
                kept = os.path.join(folder, key if key != "source" else "", os.path.basename(case[key]))
                os.makedirs(os.path.dirname(kept), exist_ok=True)
                case[key] = os.path.relpath(shutil.copy2(case[key], kept), folder)
        with open(os.path.join(folder, "case.json"), "w", encoding="utf-8") as f:
            json.dump({"version": self.version, "part": part, "what": what, **case}, f, indent=1, ensure_ascii=False)
            f.write("\n")
        print("new: %s: %s (%s)" % (part, what, folder), flush=True)

    def python(self, *args):
        done = subprocess.run([self.args.chroots, "python", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode:
            raise RuntimeError("%s: %s" % (" ".join(args), done.stdout[-3000:]))
        return done.stdout

    # ---- parts ----

    def names(self, part):
        script, about = os.path.join(HERE, "names.py"), os.path.join(part.folder, "about")
        os.makedirs(about)
        self.python(os.path.join(HERE, "maketx.py"), "describe", about)
        config = os.path.join(about, "colormanagement", "config.ocio")
        rows_path = os.path.join(part.folder, "rows.json")
        self.python(script, "rows", config, rows_path)
        with open(rows_path, encoding="utf-8") as f:
            rows = json.load(f)
        scene = os.path.join(part.folder, "scene")
        self.python(script, "scene", rows_path, scene)
        self.named(part, config, os.path.join(scene, "scene.blend"),
                   {os.path.join(scene, "%04d.png" % at): "name %r, interop id %r" % tuple(row) for at, row in enumerate(rows)})
        # Scenes that other releases saved; each of their images is a file of its own.
        for saved in sorted(glob.glob(os.path.join(ROOT, "testdata", "blend", "names-*.blend"))):
            scene = os.path.join(part.folder, os.path.basename(saved))
            os.makedirs(os.path.join(scene, "t"))
            shutil.copy(saved, os.path.join(scene, "scene.blend"))
            what = {}
            for record in self.list("--ocio", config, os.path.join(scene, "scene.blend"))[0]:
                shutil.copy(os.path.join(part.folder, "scene", "0000.png"), record["path"])
                what[record["path"]] = "name %r of %s" % (record["colorspace"]["stored"], os.path.basename(saved))
            self.named(part, config, os.path.join(scene, "scene.blend"), what)

    def list(self, *args):
        """Returns the images that txmill lists, and how the program ended."""
        done = subprocess.run([self.txmill, "list", "--json", "--blender", self.release, *args], capture_output=True, text=True)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        return [record for record in records if record.get("type") == "image"], done

    def named(self, part, config, scene, what):
        """Compares the names of the tx files of a scene's images, {path: what it is called in a case}."""
        answers = os.path.join(part.folder, "answers.json")
        self.python(os.path.join(HERE, "names.py"), "answers", scene, answers)
        with open(answers, encoding="utf-8") as f:
            theirs = json.load(f)
        records, done = self.list("--ocio", config, scene)
        ours = {}
        for record in records:
            for file in record["files"]:
                if file["tx"] and file["tx"]["path"]:
                    ours.setdefault(os.path.basename(file["path"]), []).append(os.path.basename(file["tx"]["path"]))
        paths = {os.path.basename(path): path for path in what}
        for name in sorted({*paths, *theirs}):
            blender, txmill = (" ".join(sorted(found.get(name, ["none"]))) for found in (theirs, ours))
            if txmill == blender:
                part.same()
            else:
                part.differs(what.get(paths.get(name), name), source=paths.get(name), settings={"scene": scene}, blender=blender, txmill=txmill)
        if not records:
            part.differs("exit status %d" % done.returncode, settings="txmill list", txmill=done.stderr[-2000:])

    def random(self, part):
        results = os.path.join(part.folder, "results.json")
        command = [DIFFERENTIAL, "-n", str(self.args.n), "--seed", str(self.args.seed), "--txmill", self.txmill, "--work",
                   part.folder, "--blender", self.args.blender or shlex.join([self.args.chroots, "python"]), *self.args.folders]
        # It runs with the Python that has OpenImageIO.
        done = subprocess.run([sys.executable, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with open(os.path.join(os.path.dirname(part.folder), "random.log"), "w", encoding="utf-8") as f:
            f.write(done.stdout)
        if not os.path.exists(results):
            part.differs("exit status %d" % done.returncode, settings=shlex.join(command), blender=done.stdout[-3000:])
            return
        with open(results, encoding="utf-8") as f:
            found = json.load(f)
        part.equal, part.documented, part.new = (found[key] for key in ("equal", "documented", "new"))
        for what, case in found["cases"].items():
            self.keep(part.name, what, case)

    def scenes(self, part):
        command = [self.args.chroots, "python", os.path.join(HERE, "loop.py"), self.inside, os.path.join(part.folder, "loop")]
        part.checks(command)
        self.opens(part)

    def opens(self, part):
        """Cycles must open all tx files that txmill made of a scene, and none of their sources."""
        if not may_trace(part):
            return
        scene = self.every_way(os.path.join(part.folder, "opens"))
        made = subprocess.run([self.txmill, "make", "--json", "--blender", self.release, scene], capture_output=True, text=True)
        records = [json.loads(line) for line in made.stdout.splitlines()]
        ours = {os.path.realpath(os.path.join(ROOT, r["tx"])): os.path.realpath(r["input"]) for r in records
                if r.get("type") == "file" and r.get("tx")}
        self.opens_tx_files(part, scene, ours, "")
        if not ours:
            part.differs("no tx files", settings=scene, txmill=made.stderr[-2000:])

    def every_way(self, folder):
        self.python("-c", "import sys; sys.path.insert(0, %r); import scenes; scenes.every_way(%r)" % (HERE, folder))
        return os.path.join(folder, "scene.blend")

    def opens_tx_files(self, part, scene, ours, where, cache=""):
        """Renders a scene, with this texture cache folder in the preferences: Cycles must open these tx files, {tx file: source}, and
        none of their sources."""
        folder, trace, prefer = os.path.dirname(scene), os.path.join(part.folder, "opens.trace"), os.path.join(part.folder, "prefer.py")
        with open(prefer, "w", encoding="utf-8") as f:
            f.write("import bpy\nbpy.context.preferences.filepaths.texture_cache_directory = %r\n" % cache)
        subprocess.run(["strace", "-f", "-o", trace, "-e", "trace=open,openat", "-s", "4096", self.args.chroots, "command", scene,
                        "--python", prefer, "-o",
                        os.path.join(folder, "frame_####"), "--render-frame", "2"], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, env={name: value for name, value in os.environ.items() if name != "OCIO"})
        opened = set()
        with open(trace, errors="replace") as f:
            for line in f:
                found = re.search(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]*)".*(= \d+|<unfinished)', line)
                if found:
                    opened.add(os.path.realpath(found[1]))
        # A scene is rendered at one frame of its sequence, and one of its nodes leads nowhere.
        unused = {tx for tx, source in ours.items() if re.search(r"frames_\d+\.png|unconnected\.png", source)}
        for tx, source in sorted(ours.items()):
            what = where + os.path.basename(source)
            if source in opened:
                part.differs("opens the source %s" % what, source=source, settings=scene, blender="opens the source", txmill=tx)
            elif tx not in opened and tx not in unused:
                part.differs("does not open the tx file of %s" % what, source=source, settings=scene, blender="opens neither", txmill=tx)
            else:
                part.same()

    def travel(self, part):
        """Scenes that were sent elsewhere in every way are rendered there from the tx files that went along."""
        if not may_trace(part):
            return
        tried = subprocess.run([os.path.join(HERE, "packages.sh"), os.path.join(part.folder, "..", "packages")], stderr=subprocess.PIPE, text=True)
        if tried.returncode:
            part.skipped = tried.stderr.strip().splitlines()[-1]
            return
        home, about = self.every_way(os.path.join(part.folder, "home")), os.path.join(part.folder, "about")
        # Nothing of the scene is missing: neither an image nor Blender's own config.
        shutil.copy(os.path.join(os.path.dirname(home), "textures", "clip.png"), os.path.join(os.path.dirname(home), "textures", "gone.png"))
        os.makedirs(about)
        self.python(os.path.join(HERE, "maketx.py"), "describe", about)
        os.environ["OCIO"] = os.path.join(about, "colormanagement", "config.ocio")
        subprocess.run([self.txmill, "make", "--quiet", "--blender", self.release, home], capture_output=True)
        before = self.fresh(home)
        for way in ("git", "zip", "files-zip", "tar", "bat", "bat-zip", "openjd"):
            there = os.path.join(part.folder, way)
            done = subprocess.run([os.path.join(HERE, "travel.sh"), way, self.txmill, os.path.join(part.folder, "..", "packages"), home, there],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            if done.returncode:
                part.differs("%s: exit status %d" % (way, done.returncode), settings=home, txmill=done.stdout[-3000:])
                continue
            scene = done.stdout.splitlines()[-1]
            after = self.fresh(scene)
            if sorted(map(os.path.basename, after)) != sorted(map(os.path.basename, before)):
                part.differs("%s: %d of %d tx files are fresh" % (way, len(after), len(before)), settings=scene, txmill=done.stdout[-3000:])
            self.opens_tx_files(part, scene, after, way + ": ")
            # An edit that keeps the time and the size is one that only its content shows.
            image = next(source for source in after.values() if source.endswith("clip.png"))
            kept = os.stat(image)
            with open(image, "r+b") as f:
                f.seek(-1, os.SEEK_END)
                last = f.read(1)
                f.seek(-1, os.SEEK_END)
                f.write(bytes([last[0] ^ 1]))
            os.utime(image, ns=(kept.st_atime_ns, kept.st_mtime_ns))
            found = subprocess.run([self.txmill, "check", "--content", "--blender", self.release, scene], capture_output=True, text=True)
            if found.returncode == 5 and re.search(r"clip\.png: stale", found.stdout):
                part.same()
            else:
                part.differs("%s: an edited image is not found" % way, settings=scene, txmill=(found.stdout + found.stderr)[-2000:])
        # A mirror serves the scene alone: the tx files beside its images are gone.
        mirror, there = os.path.join(part.folder, "mirror"), os.path.join(part.folder, "zip", os.path.basename(home))
        made = subprocess.run([self.txmill, "mirror", "--quiet", "--blender", self.release, "--to", mirror, there], capture_output=True, text=True)
        for folder in glob.glob(os.path.join(os.path.dirname(there), "**", "blender_tx"), recursive=True):
            shutil.rmtree(folder)
        after = self.fresh(there, "--cache-dir", mirror)
        if made.returncode or len(after) != len(before):
            part.differs("mirror: %d of %d tx files are fresh" % (len(after), len(before)), settings=there, txmill=made.stderr[-2000:])
        self.opens_tx_files(part, there, after, "mirror: ", mirror)
        del os.environ["OCIO"]

    def fresh(self, scene, *options):
        """The fresh tx files of a scene, {tx file: source}."""
        return {os.path.realpath(file["tx"]["path"]): os.path.realpath(file["path"]) for record in self.list(*options, scene)[0]
                for file in record["files"] if file["tx"] and file["tx"]["state"] == "fresh"}

    def budget(self, part):
        part.checks([os.path.join(HERE, "tiles.sh"), self.txmill, self.args.chroots, "python"])

    def extension(self, part):
        if not self.args.extension:
            part.skipped = "--extension names no package"
            return
        part.checks([os.path.join(HERE, "extension.sh"), self.args.extension, self.args.chroots, "command"])


def may_trace(part):
    if subprocess.run(["strace", "-o", os.devnull, "true"], stderr=subprocess.DEVNULL).returncode:
        part.skipped = "strace is not permitted"
    return not part.skipped


def main():
    args = parse()
    judge = Judge(args)
    parts = ["names", "random", "scenes", "budget", "extension", "travel"]
    wanted = args.only.split() or parts
    if set(wanted) - set(parts):
        sys.exit("judge.py: no part is called %s; there are: %s" % (" ".join(sorted(set(wanted) - set(parts))), " ".join(parts)))
    if args.blender:
        wanted = ["random"]
    rows = []
    for name in wanted:
        print("== %s" % name, flush=True)
        began, part = time.monotonic(), Part(judge, name)
        try:
            getattr(judge, name)(part)
        except RuntimeError as error:
            part.differs("failed", blender=str(error))
        rows.append((name, part, time.monotonic() - began))
    print("\n%-24s%9s%12s%6s%10s" % ("Blender " + judge.version, "equal", "documented", "new", "minutes"))
    for name, part, seconds in rows:
        print("%-24s%9d%12d%6d%7d:%02d%s" % (name, part.equal, part.documented, part.new, seconds // 60, seconds % 60,
                                             "  skipped: " + part.skipped if part.skipped else ""))
    new = sum(part.new for _, part, _ in rows)
    if new:
        print("new cases: %s" % os.path.join(judge.folder, "new"))
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
