#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Submits a conversion and a render to OpenCue through PyOutline: submit.py --shards 16 --frames 1-100 SCENE.blend

There are three layers: "convert", with one frame per shard; "verify", where each frame runs after the same frame of
"convert"; and "render", after all of "verify". OpenCue retries failed frames as often as the job's settings allow; finished
files are kept, so a retry costs little. Cuebot shows the end of a frame's log, and after a failure the last line is
TXMILL-ERROR code=N failed=K total=T.
"""
import argparse
import os


def layers(args):
    """Names, commands and frame ranges of the layers, and what each waits for: "layer:frame" stands for the same frame of
    that layer, "layer" for all of it. OpenCue replaces #IFRAME# by the number of the frame."""
    log = os.path.join(args.logs, "convert-#IFRAME#.jsonl")
    shards = "1-%d" % args.shards
    return [
        ("convert", [args.txmill, "make", "--shard", "#IFRAME#/%d" % args.shards, "--progress", "--log", log]
         + args.make + ["--", args.scene], shards, None),
        ("verify", [args.txmill, "verify", "--quiet", "--run", log], shards, "convert:frame"),
        ("render", [args.blender, "--background", args.scene, "--render-output", args.output,
                    "--render-frame", "#IFRAME#"], args.frames, "verify"),
    ]


def submit(args):
    # Imported here, because the rest of this file works, and is tested, without OpenCue.
    import outline
    import outline.cuerun
    from outline.modules.shell import Shell

    job = outline.Outline(name=os.path.splitext(os.path.basename(args.scene))[0])
    made = {}
    for name, command, frames, after in layers(args):
        layer = Shell(name, command=command, range=frames, chunk=1, threads=args.threads, threadable=True)
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
