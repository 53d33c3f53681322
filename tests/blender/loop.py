# SPDX-License-Identifier: Apache-2.0
"""Scenes through Blender and through txmill: blender -b --factory-startup --python-exit-code 1 --python loop.py -- TXMILL FOLDER
Sets of names, renders from our files, times. Prints `pass NAME` or `FAIL NAME: why` a check."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenes

CONFIG = os.path.join(bpy.utils.system_resource("DATAFILES", path="colormanagement"), "config.ocio")
failed = []


def check(name, good, why=""):
    print("pass %s" % name if good else "FAIL %s: %s" % (name, why), flush=True)
    if not good:
        failed.append(name)


def txmill(program, *args):
    return subprocess.run([program, args[0], "--ocio", CONFIG, *args[1:]], capture_output=True, text=True)


def remove_tx(folder):
    for parent, folders, files in os.walk(folder):
        for name in files:
            if name.endswith(".tx"):
                os.remove(os.path.join(parent, name))


def names(program, folder):
    """The sets of tx files, over working spaces and cache folders; what is left out is said by both."""
    scene = scenes.every_way(folder)
    for space in ("Linear Rec.709", "Linear Rec.2020", "ACEScg"):
        for cache in ("", "cache/of tx", os.path.join(folder, "store")):
            bpy.ops.wm.open_mainfile(filepath=scene)
            bpy.ops.wm.set_working_color_space(working_space=space)
            bpy.ops.wm.save_mainfile()
            bpy.context.preferences.filepaths.texture_cache_directory = cache
            bpy.ops.render.generate_texture_cache()
            theirs = scenes.tx_files(folder)
            remove_tx(folder)
            options = ["--cache-dir", cache] if cache else []
            done = txmill(program, "make", "--json", *options, scene)
            ours = scenes.tx_files(folder)
            kind = "absolute" if os.path.isabs(cache) else "relative" if cache else "default"
            check("names %s, %s folder" % (space, kind), set(ours) == set(theirs) and len(ours) == 21, sorted(set(ours) ^ set(theirs)))
            inodes = {path: os.stat(os.path.join(folder, path)).st_ino for path in ours}
            bpy.ops.render.generate_texture_cache()
            check("Blender makes none again, %s, %s folder" % (space, kind),
                  {path: os.stat(os.path.join(folder, path)).st_ino for path in scenes.tx_files(folder)} == inodes)
            remove_tx(folder)
    bpy.context.preferences.filepaths.texture_cache_directory = ""
    failures = [json.loads(line) for line in done.stdout.splitlines() if '"failed"' in line]
    check("txmill names the missing image", any("gone.png" in f.get("input", "") for f in failures), done.stdout[-500:])
    listed = {}
    for line in txmill(program, "list", "--json", scene).stdout.splitlines():
        record = json.loads(line)
        if record["type"] == "image":
            listed[record["name"]] = record["state"]
    check("txmill names what is left out", (listed.get("packed.png"), listed.get("generated"), listed.get("gone.png")) ==
          ("packed", "no-file", "missing"), listed)


def render(path):
    """Pixels of a render (height, width, 4)."""
    bpy.context.scene.render.filepath = path
    started = time.monotonic()
    bpy.ops.render.render(write_still=True)
    seconds = time.monotonic() - started
    image = bpy.data.images.load(path)
    pixels = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    shape = (image.size[1], image.size[0], 4)
    bpy.data.images.remove(image)
    return pixels.reshape(shape), seconds


def renders(program, folder):
    """The picture from our files equals the one from Blender's, and a render rewrites none."""
    scene = scenes.every_way(folder)
    bpy.ops.wm.open_mainfile(filepath=scene)
    bpy.ops.render.generate_texture_cache()
    theirs, _ = render(os.path.join(folder, "theirs.exr"))
    for options in (["--strict"], []):
        label = "strict" if options else "grey as one channel, borders"
        remove_tx(folder)
        txmill(program, "make", *options, scene)
        before = {path: hashlib.sha256(data).digest() for path, data in scenes.tx_files(folder).items()}
        stats = {path: os.stat(os.path.join(folder, path)).st_mtime_ns for path in before}
        bpy.ops.wm.open_mainfile(filepath=scene)
        ours, _ = render(os.path.join(folder, "ours.exr"))
        after = {path: hashlib.sha256(data).digest() for path, data in scenes.tx_files(folder).items()}
        check("no file rewritten, %s" % label, before == after and len(after) == 21 and
              stats == {path: os.stat(os.path.join(folder, path)).st_mtime_ns for path in after})
        # Cycles' own renders of one scene differ from run to run by 2e-5 in a quarter of the pixels, and by more in one
        # of this scene's 76,800.
        difference = np.abs(ours - theirs).max(axis=2)
        pixels, worst = int((difference > 1e-4).sum()), float(difference.max())
        check("picture equal, %s" % label, pixels <= difference.size // 5000, "%d pixels, at most %g" % (pixels, worst))
        print("note render, %s: %d of %d pixels differ by more than 1e-4, at most %g" % (label, pixels, difference.size, worst))
    # Without tx files the picture must differ, or the comparison shows nothing.
    bpy.context.scene.render.use_texture_cache = False
    plain, _ = render(os.path.join(folder, "plain.exr"))
    check("the texture cache is what was rendered", float(np.abs(plain - theirs).max()) > 0)


def times(program, folder):
    """A folder of 60 images of 1024 pixels, on all processors."""
    scene = os.path.join(folder, "sixty.blend")
    scenes.empty()
    bpy.context.scene.render.resolution_x = bpy.context.scene.render.resolution_y = 64
    for index in range(60):
        made = scenes.material("m%d" % index)
        path = scenes.picture(os.path.join(folder, "sixty", "%02d.%s" % (index, "png" if index % 3 else "jpg")), 1024, 1024, index)
        scenes.feed(made, scenes.node(made.node_tree, "ShaderNodeTexImage", scenes.load(path)))
        scenes.plane("p%d" % index, made, index % 6, index // 12)
    bpy.ops.wm.save_as_mainfile(filepath=scene)
    started = time.monotonic()
    bpy.ops.render.generate_texture_cache()
    theirs = time.monotonic() - started
    remove_tx(folder)
    started = time.monotonic()
    txmill(program, "make", scene)
    ours = time.monotonic() - started
    check("sixty images", len(scenes.tx_files(folder)) == 60)
    print("note 60 images of 1024 x 1024: generate_texture_cache %.2f s, txmill make %.2f s" % (theirs, ours))
    _, after = render(os.path.join(folder, "after.exr"))
    remove_tx(folder)
    bpy.ops.wm.open_mainfile(filepath=scene)
    bpy.context.scene.render.use_auto_generate_texture_cache = True
    _, auto = render(os.path.join(folder, "auto.exr"))
    print("note first render: with auto-generate %.2f s, txmill make and render %.2f s" % (auto, ours + after))


def main():
    program, folder = sys.argv[sys.argv.index("--") + 1:][:2]
    for test in (names, renders, times):
        own = os.path.join(folder, test.__name__)
        shutil.rmtree(own, ignore_errors=True)
        os.makedirs(own)
        test(program, own)
    print("loop.py: %d failed" % len(failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
