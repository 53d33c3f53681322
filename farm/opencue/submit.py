#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Submits a conversion and a render to OpenCue through PyOutline: submit.py --shards 16 --frames 1-100 SCENE.blend

There are three layers: "convert", with one frame per shard; "verify", where each frame runs after the same frame of
"convert"; and "render", after all of "verify". OpenCue retries failed frames as often as the job's settings allow; finished
files are kept, so a retry costs little. Cuebot shows the end of a frame's log, and after a failure the last line is
TXMILL-ERROR code=N failed=K total=T.

A shell on the worker splits each command, in which OpenCue has replaced its tokens, such as #IFRAME#. Words are therefore
quoted, and what a job's XML cannot carry is refused.
"""
import argparse
import os
import re
import shlex
import sys


def check(what, text):
    """The text, or the end of the program if OpenCue would change it: its XML holds no control characters and only UTF-8."""
    if re.search("[\\x00-\\x1f\\x7f-\\x9f\\ud800-\\udfff\\ufffe\\uffff]", text):
        sys.exit("submit.py: %s: OpenCue cannot carry control characters, line breaks or bytes that are not UTF-8; "
                 "rename %r" % (what, text))
    if re.search("#[A-Z_]+#", text):
        sys.exit("submit.py: %s: OpenCue would replace the token in it; rename %r" % (what, text))
    return text


def path(what, text):
    """The same for a path, which must not look like an option or a list of files."""
    return check(what, "./" + text if text[:1] in "-@" else text)


def layers(args):
    """Names, commands and frame ranges of the layers, and what each waits for: "layer:frame" stands for the same frame of
    that layer, "layer" for all of it. OpenCue replaces #IFRAME# by the number of the frame."""
    log = os.path.join(path("--logs", args.logs), "convert-#IFRAME#.jsonl")
    scene = path("the scene", args.scene)
    txmill, blender = check("--txmill", args.txmill), check("--blender", args.blender)
    shards = "1-%d" % args.shards
    return [
        ("convert", [txmill, "make", "--shard", "#IFRAME#/%d" % args.shards, "--progress", "--log", log]
         + [check("--make", option) for option in args.make] + ["--", scene], shards, None),
        ("verify", [txmill, "verify", "--quiet", "--run", log], shards, "convert:frame"),
        ("render", [blender, "--background", scene, "--render-output", check("--output", args.output),
                    "--render-frame", "#IFRAME#"], args.frames, "verify"),
    ]


def submit(args):
    # Imported here, because the rest of this file works, and is tested, without OpenCue.
    import outline
    import outline.cuerun
    from outline.modules.shell import Shell

    planned = layers(args)
    name = os.path.splitext(os.path.basename(args.scene))[0]
    job = outline.Outline(name=re.sub("[^A-Za-z0-9_.-]", "_", name))
    made = {}
    for name, command, frames, after in planned:
        layer = Shell(name, command=[shlex.quote(word) for word in command], range=frames, chunk=1,
                      threads=args.threads, threadable=True)
        job.add_layer(layer)
        made[name] = layer
        if after and after.endswith(":frame"):
            layer.depend_on(made[after.split(":")[0]])
        elif after:
            layer.depend_all(made[after])
    outline.cuerun.launch(job, use_pycuerun=False)


def parse(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scene")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--frames", default="1-1")
    parser.add_argument("--logs", default="txmill-runs", help="folder of the logs, on a share")
    parser.add_argument("--output", default="//render/####")
    parser.add_argument("--threads", type=int, default=4, help="cores that a frame takes")
    parser.add_argument("--txmill", default="txmill")
    parser.add_argument("--blender", default="blender")
    parser.add_argument("--make", action="append", default=[], help="an option for txmill make (repeatable)")
    parser.add_argument("--dry-run", action="store_true", help="print the layers as JSON")
    return parser.parse_args(argv)


if __name__ == "__main__":
    arguments = parse()
    if arguments.dry_run:
        import json
        for one in layers(arguments):
            print(json.dumps(dict(zip(("layer", "command", "frames", "after"), one))))
    else:
        submit(arguments)
