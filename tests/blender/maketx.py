# SPDX-License-Identifier: Apache-2.0
"""Blender's own tx writer, over many images in one Blender.

    blender -b --factory-startup --python-exit-code 1 --python maketx.py -- MODE ...
    python maketx.py MODE ...        with a Python that has the package bpy

describe FOLDER       copies Blender's OpenColorIO config into FOLDER and writes FOLDER/blender.json: version, colour spaces
convert LIST RESULTS  LIST holds a line an image: path, colour space, alpha type, cache folder, separated by tabs.
                      RESULTS gets a line for each: the path of the tx file, or ERROR and the message. Lines that are
                      in RESULTS already are skipped, so that after a crash the next run goes on; the line of the image that
                      it died of becomes CRASH.
"""
import json
import os
import shutil
import sys

import bpy  # first: it sets up OpenColorIO and OpenImageIO
import _cycles

BYTES = {"encoding": "utf-8", "errors": "surrogateescape"}


def describe(folder):
    image = bpy.data.images.new("probe", 1, 1)
    spaces = [item.identifier for item in image.colorspace_settings.bl_rna.properties["name"].enum_items]
    config = bpy.utils.system_resource("DATAFILES", path="colormanagement")
    shutil.copytree(config, os.path.join(folder, "colormanagement"), dirs_exist_ok=True)
    with open(os.path.join(folder, "blender.json"), "w", **BYTES) as out:
        json.dump({"version": bpy.app.version_string, "colorspaces": spaces}, out)


def finished(results):
    """The number of lines in RESULTS; one that was begun and not ended becomes CRASH."""
    if not os.path.exists(results):
        return 0
    with open(results, **BYTES) as f:
        lines = f.read().splitlines()
    if lines and lines[-1] == "BEGIN":
        lines[-1] = "CRASH"
        with open(results, "w", **BYTES) as f:
            f.write("\n".join(lines) + "\n")
    return len(lines)


def convert(listing, results):
    with open(listing, **BYTES) as f:
        jobs = [line.rstrip("\n").split("\t") for line in f if line.strip()]
    first = finished(results)
    with open(results, "ab") as out:
        for path, colorspace, alpha, cache in jobs[first:]:
            start = out.tell()
            out.write(b"BEGIN")
            out.flush()
            try:
                line = _cycles.maketx(path, colorspace=colorspace, alpha_type=alpha, cache_dir=cache)
            except (RuntimeError, ValueError) as error:
                line = "ERROR\t" + " ".join(str(error).split())
            out.truncate(start)
            out.write(line.encode(**BYTES) + b"\n")
            out.flush()


MODES = {"describe": (describe, 1), "convert": (convert, 2)}

if __name__ == "__main__":
    args = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    if not args or args[0] not in MODES or len(args) != 1 + MODES[args[0]][1]:
        sys.exit(__doc__)
    MODES[args[0]][0](*args[1:])
