#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a job bundle of Open Job Description: bundle.py [--frames 1-100] [--shards N] -o BUNDLE SCENE

    bundle.py --frames 1-100 -o shot10.job shot10.blend
    deadline bundle submit shot10.job
    openjd run shot10.job/template.yaml -p file://shot10.job/parameters.json

The bundle has the template, the values of its parameters, the manifest by which tx files become fresh on workers, and, for
job attachments, all files that the scene's textures need (`txmill files`), with the folders where more tx files will appear.
Other files of the scene, such as caches of simulations, can be named with --also. The bundle appears complete or not at all.

Exit codes are those of txmill: 2 the command line, 3 the scene or its files, 4 the disk; 143 after SIGTERM.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

LONGEST = 1024  # characters of a parameter's value


def printable(text):
    """Names may contain anything, and a terminal must not see it."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def stop(code, text):
    print("bundle.py: " + printable(text), file=sys.stderr)
    sys.exit(code)


def value(what, text):
    if re.search("[\ud800-\udfff\0]", text):
        stop(2, "%s: %r: a job holds only UTF-8; rename it" % (what, text))
    if len(text) > LONGEST:
        stop(2, "%s: %.60r...: a job holds at most %d characters of a path" % (what, text, LONGEST))
    return text


def path(what, text):
    return value(what, os.path.abspath(text))


def files(args, *options):
    """What `txmill files` prints."""
    command = [args.txmill, "files", *options, "--frames", re.sub(r"\s", "", args.frames), "--cache-dir=" + args.cache_dir, "--", args.scene]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    except OSError as failed:
        stop(4, "%s: %s; --txmill names the program" % (args.txmill, failed.strerror))
    if done.returncode not in (0, 5):
        sys.exit(done.returncode if done.returncode > 0 else 128 - done.returncode)
    return done.stdout


def root(args):
    """The deepest folder that has all files."""
    return os.path.commonpath([os.path.dirname(os.fsdecode(name)) for name in files(args, "-q", "--null").split(b"\0")[:-1]] or ["/"])


def attachments(args, manifest):
    """Writes the manifest. The files that a worker needs, and the folders of tx files that it makes."""
    lines = [json.loads(line) for line in files(args, "-q", "--json", "--manifest", manifest, "--root", args.root).decode().splitlines()]
    if any(line.get("outside") for line in lines):
        stop(3, "files lie outside of %s, see above: name a folder that has them all with --root" % args.root)
    sent, made = [], set()
    for line in lines:
        if line["type"] != "file":
            continue
        if "path_encoded" in line:
            stop(3, "%s: a job holds only names in UTF-8; rename it" % line["path"])
        if line["state"] == "missing" and line["role"] != "tx":
            stop(3, "%s is missing; without it the job would fail" % line["path"])
        name = os.path.join(args.root, line["path"])
        if line["role"] == "tx":
            made.add(os.path.dirname(name))
        # Other tx files stay behind: Convert makes them, and only a file that is new on a worker counts as one that it made.
        if line["role"] != "tx" or line["state"] == "fresh":
            sent.append(name)
    return sent, made


def write(args):
    """The bundle appears complete or not at all."""
    parent = os.path.dirname(args.bundle)
    new = None
    try:
        os.makedirs(parent, exist_ok=True)
        new = tempfile.mkdtemp(prefix=".bundle-", dir=parent)
        mask = os.umask(0o077)
        os.umask(mask)
        os.chmod(new, 0o777 & ~mask)
        sent, made = attachments(args, os.path.join(new, "manifest.json"))
        manifest = os.path.join(args.bundle, "manifest.json")
        values = {
            "JobName": re.sub("[^ -~\u00a1-\ud7ff]", "_", args.name or os.path.basename(args.scene))[:128], "Scene": args.scene,
            "Manifest": path("-o", manifest), "Root": args.root, "Frames": args.frames, "Shards": args.shards, "Logs": args.logs,
            "Output": args.output, "Format": args.format, "CacheDir": args.cache_dir, "Txmill": args.worker_txmill, "Blender": args.blender}
        # Deadline Cloud adds the scene, the manifest, and the folders of frames and logs, since they are parameters.
        references = {"inputs": {"filenames": sorted(sent + args.also), "directories": []}, "outputs": {"directories": sorted(made)},
                      "referencedPaths": []}
        shutil.copyfile(os.path.join(os.path.dirname(os.path.abspath(__file__)), "template.yaml"), os.path.join(new, "template.yaml"))
        for name, what in (("parameter_values", {"parameterValues": [{"name": k, "value": v} for k, v in values.items()]}),
                           ("parameters", values), ("asset_references", {"assetReferences": references})):
            with open(os.path.join(new, name + ".json"), "w", encoding="utf-8") as out:
                json.dump(what, out, indent=1)
                out.write("\n")
        os.rename(new, args.bundle)
    except OSError as failed:
        stop(4, "%s: %s; nothing was made" % (args.bundle, failed.strerror))
    finally:
        if new:
            shutil.rmtree(new, ignore_errors=True)
    print(printable("%s: %d files, %d tasks that convert" % (args.bundle, len(sent) + len(args.also), args.shards)))


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene")
    parser.add_argument("-o", dest="bundle", required=True, metavar="BUNDLE", help="folder to make, which must not exist")
    parser.add_argument("--name", default="", help="of the job (default: that of the scene)")
    parser.add_argument("--frames", default="1", help="such as 1-100, 1-9:2 or 7,9 (default: 1)")
    parser.add_argument("--shards", type=int, default=8, help="tasks that convert (default: 8)")
    parser.add_argument("--root", help="folder that has all files (default: the deepest one that does)")
    parser.add_argument("--also", action="append", default=[], metavar="FILE", help="attach this file, too (repeatable)")
    parser.add_argument("--logs", default="txmill-runs", help="folder of the logs")
    parser.add_argument("--output", default="render", help="folder of the frames")
    parser.add_argument("--format", default="PNG", help="of the frames (default: PNG)")
    parser.add_argument("--cache-dir", default="blender_tx", help="folder of the tx files (default: blender_tx)")
    parser.add_argument("--txmill", default="txmill", help="the program here")
    parser.add_argument("--worker-txmill", default="txmill", help="the program on the workers")
    parser.add_argument("--blender", default="blender", help="Blender on the workers")
    args = parser.parse_args(argv)
    for what in ("scene", "logs", "output", "bundle"):
        setattr(args, what, path(what, getattr(args, what)))
    args.also = [path("--also", name) for name in args.also]
    for what in ("cache_dir", "format", "worker_txmill", "blender"):
        if not value("--" + what.replace("_", "-"), getattr(args, what)):
            parser.error("--%s is empty" % what.replace("_", "-"))
    if not re.fullmatch(r"\s*-?\d+(\s*-\s*-?\d+(\s*:\s*\d+)?)?(\s*,\s*-?\d+(\s*-\s*-?\d+(\s*:\s*\d+)?)?)*\s*", args.frames, re.ASCII):
        parser.error("--frames %s: such as 1-100, 1-9:2 or 7,9" % ascii(args.frames))
    if not 1 <= args.shards <= 1000:
        parser.error("--shards %d: 1 to 1000" % args.shards)
    if os.path.lexists(args.bundle):
        parser.error("%s is there already; remove it, or choose another with -o" % ascii(args.bundle))
    args.root = path("--root", args.root or root(args))
    return args


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # removes what is half made
    write(parse())
