# SPDX-License-Identifier: Apache-2.0
"""Runs a batch and reads its tiles with the installed Python package, without any settings."""
import pathlib
import shutil

import txmill

folder = pathlib.Path("python-textures")
folder.mkdir()
for name in ("rgb8.png", "rgba8.tga", "half-rgba.exr"):
    shutil.copy(name, folder)
run = txmill.make([folder])
assert not run.failed and len(run.created) == 3, run
for made in run.created:
    with txmill.tiles(made.tx, padding=2) as texture:
        count = sum(1 for _ in texture)
        print(made.input, texture.width, "x", texture.height, texture.type, count, "tiles")
