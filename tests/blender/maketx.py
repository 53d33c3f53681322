# SPDX-License-Identifier: Apache-2.0
"""Runs Blender's own tx writer over many images in one Blender.

    blender -b --factory-startup --python-exit-code 1 --python maketx.py -- MODE ...
    python maketx.py MODE ...        with a Python that has the package bpy

describe FOLDER       copies Blender's OpenColorIO config into FOLDER and writes FOLDER/blender.json: version, colour spaces
convert LIST RESULTS  LIST has a line for each image: path, colour space, alpha type, cache folder, separated by tabs.
                      RESULTS gets a line for each: the path of the tx file, or ERROR and the message. Images that have a
                      line there already are skipped: see for_each of ../differential/limits.py.
"""
import json
import os
import shutil
import sys

import bpy  # first: it sets up OpenColorIO and OpenImageIO
import _cycles

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "differential"))
import limits

BYTES = {"encoding": "utf-8", "errors": "surrogateescape"}


def describe(folder):
    image = bpy.data.images.new("probe", 1, 1)
    spaces = [item.identifier for item in image.colorspace_settings.bl_rna.properties["name"].enum_items]
    config = bpy.utils.system_resource("DATAFILES", path="colormanagement")
    shutil.copytree(config, os.path.join(folder, "colormanagement"), dirs_exist_ok=True)
    with open(os.path.join(folder, "blender.json"), "w", **BYTES) as out:
        json.dump({"version": bpy.app.version_string, "colorspaces": spaces}, out)


def convert(listing, results):
    for job, answer in limits.pending(listing, results):
        path, colorspace, alpha, cache = job.split("\t")
        try:
            line = _cycles.maketx(path, colorspace=colorspace, alpha_type=alpha, cache_dir=cache)
        except (RuntimeError, ValueError) as error:
            line = "ERROR\t" + " ".join(str(error).split())
        answer(line)


MODES = {"describe": (describe, 1), "convert": (convert, 2)}

if __name__ == "__main__":
    args = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    if not args or args[0] not in MODES or len(args) != 1 + MODES[args[0]][1]:
        sys.exit(__doc__)
    MODES[args[0]][0](*args[1:])
