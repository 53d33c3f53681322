#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a job bundle of Open Job Description: bundle.py [--shards N] [--frames 1-100] -o BUNDLE SCENE

    bundle.py --frames 1-100 -o shot10.job shot10.blend
    deadline bundle submit shot10.job
    openjd run shot10.job/template.yaml -p file://shot10.job/parameters.json --step Render --run-dependencies

The bundle has the template, the values of its parameters, the manifest by which tx files become fresh on workers, and, for
job attachments, all files that the scene's textures need (`txmill files`), with the folders where more tx files will appear.
Other files of the scene, such as caches of simulations, can be named with --also. The bundle appears complete or not at all.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))


def text(what, value):
    """The value, or the end of the program if a job cannot carry it: JSON is UTF-8, and paths in jobs are short lines."""
    if not value.isprintable() or len(value) > 1024 or "{{" in value:
        sys.exit("bundle.py: %s: a job carries no control characters, {{, bytes that are not UTF-8 and more than 1024 "
                 "characters; rename %s" % (what, ascii(value)[:200]))
    return value


def run(command):
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    except OSError as error:
        sys.exit("bundle.py: %s: %s; --txmill names the program" % (ascii(command[0]), error.strerror))


def path_of(row):
    encoded = row.get("path_encoded")
    return os.fsdecode(urllib.parse.unquote_to_bytes(encoded)) if encoded else row["path"]


def listed(txmill, scene, frames):
    """The files that are there, and the folders of all tx files, whether these are there or not."""
    result = run([txmill, "files", "--json"] + (["--frames", frames] if frames else []) + ["--", scene])
    if result.returncode not in (0, 5):
        sys.exit("bundle.py: some files of the scene are not there, as said above; nothing was made")
    files, folders = [], set()
    for row in map(json.loads, result.stdout.splitlines()):
        if row["type"] != "file":
            continue
        path = text("a file of the scene", path_of(row))
        if row["role"] == "tx":
            folders.add(os.path.dirname(path))
        if "bytes" in row:  # it is there
            files.append(path)
    return files, sorted(folders)


def values(args, root):
    absolute = {name: os.path.abspath(getattr(args, name)) for name in ("scene", "logs", "output")}
    return {"JobName": text("the name", args.name or os.path.basename(args.scene))[:64], "Scene": text("the scene", absolute["scene"]),
            "Root": text("--root", root), "Manifest": text("-o", os.path.abspath(os.path.join(args.bundle, "manifest.json"))),
            "Frames": args.frames or "1", "Shards": args.shards, "Logs": text("--logs", absolute["logs"]),
            "Output": text("--output", absolute["output"]), "Format": text("--format", args.format),
            "Txmill": text("--worker-txmill", args.worker_txmill), "Blender": text("--blender", args.blender)}


def write(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, ensure_ascii=False)


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene")
    parser.add_argument("-o", dest="bundle", required=True, metavar="BUNDLE", help="folder to make, which must not exist")
    parser.add_argument("--name", default="", help="of the job (default: that of the scene)")
    parser.add_argument("--frames", default="", help="such as 1-100 (default: 1)")
    parser.add_argument("--shards", type=int, default=8, choices=range(1, 1001), metavar="N", help="tasks that convert (8)")
    parser.add_argument("--root", default="", help="folder that has all files (default: the deepest one that does)")
    parser.add_argument("--also", action="append", default=[], metavar="FILE", help="attach this file, too (repeatable)")
    parser.add_argument("--logs", default="txmill-runs", help="folder of the logs")
    parser.add_argument("--output", default="render", help="folder of the frames")
    parser.add_argument("--format", default="PNG", help="of the frames")
    parser.add_argument("--txmill", default="txmill", help="the program here")
    parser.add_argument("--worker-txmill", default="txmill", help="the program on the workers")
    parser.add_argument("--blender", default="blender", help="Blender on the workers")
    return parser.parse_args(argv)


def main(args):
    args.scene = os.path.abspath(args.scene)
    if os.path.lexists(args.bundle):
        sys.exit("bundle.py: %s is there already; remove it, or choose another with -o" % ascii(args.bundle))
    files, folders = listed(args.txmill, args.scene, args.frames)
    root = os.path.abspath(args.root) if args.root else os.path.commonpath([os.path.dirname(f) for f in files])
    parameters = values(args, root)
    above = os.path.dirname(os.path.abspath(args.bundle))
    os.makedirs(above, exist_ok=True)
    new = tempfile.mkdtemp(prefix=".bundle-", dir=above)
    try:
        manifest = [args.txmill, "files", "--manifest", os.path.join(new, "manifest.json"), "--root", root]
        made = run(manifest + (["--frames", args.frames] if args.frames else []) + ["--", args.scene])
        if made.returncode not in (0, 5) or not os.path.exists(os.path.join(new, "manifest.json")):
            sys.exit("bundle.py: there is no manifest, as said above; nothing was made")
        shutil.copyfile(os.path.join(HERE, "template.yaml"), os.path.join(new, "template.yaml"))
        write(new, "parameters.json", parameters)
        write(new, "parameter_values.json", {"parameterValues": [{"name": k, "value": v} for k, v in parameters.items()]})
        also = [text("--also", os.path.abspath(path)) for path in args.also]
        write(new, "asset_references.json", {"assetReferences": {
            "inputs": {"filenames": files + also, "directories": []}, "outputs": {"directories": folders}, "referencedPaths": []}})
        mask = os.umask(0o077)
        os.umask(mask)
        os.chmod(new, 0o777 & ~mask)
        os.rename(new, args.bundle)
    except OSError as error:
        sys.exit("bundle.py: %s: %s; nothing was made" % (ascii(args.bundle), error.strerror))
    finally:
        shutil.rmtree(new, ignore_errors=True)
    print("%s: %d files, %d tasks that convert" % (ascii(args.bundle)[1:-1], len(files) + len(also), args.shards))


if __name__ == "__main__":
    main(parse())
