# SPDX-License-Identifier: Apache-2.0
"""Inside Blender: blender -b --factory-startup --python bench/blender.py -- TXMILL IMAGES FOLDER
Measures Blender's own writer and txmill with the images of make bench, in a scene for the large ones and one for the 60.

With the module bpy: python bench/blender.py -- writer FOLDER IMAGE RUNS
Prints "version VERSION", and "writer WALL CPU", the seconds of Blender's writer on one image, for each run after the first; starting Blender is not counted."""
import os
import resource
import shutil
import subprocess
import sys
import time

import bpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "blender"))
import scenes

LARGE = ("photo4k.png", "rgba4k.png", "hdr4k.exr", "photo8k.jpg")


def processor_time():
    """Seconds of this process and of its children."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def timed(work):
    """(wall seconds, CPU seconds)"""
    wall, cpu = time.monotonic(), processor_time()
    work()
    return time.monotonic() - wall, processor_time() - cpu


def remove_tx(folder):
    shutil.rmtree(os.path.join(folder, "blender_tx"), ignore_errors=True)


def scene_of(folder, paths):
    scenes.empty()
    bpy.context.scene.render.resolution_x = bpy.context.scene.render.resolution_y = 64
    bpy.context.scene.cycles.samples = 1
    os.makedirs(folder, exist_ok=True)
    for index, path in enumerate(paths):
        copy = os.path.join(folder, os.path.basename(path))
        try:
            os.link(path, copy)
        except OSError:  # another file system, or another mount of the same one
            shutil.copyfile(path, copy)
        scenes.shown("m%d" % index, scenes.load(copy), index)
    return scenes.save(os.path.join(folder, "scene.blend"))


def measure(title, program, folder, paths):
    scene = scene_of(folder, paths)
    config = os.path.join(bpy.utils.system_resource("DATAFILES", path="colormanagement"), "config.ocio")

    def make():
        subprocess.run([program, "make", "--ocio", config, scene], check=True, capture_output=True)

    def made():
        return len([n for n in os.listdir(os.path.join(folder, "blender_tx")) if n.endswith(".tx")])

    def line(what, theirs, ours):
        print("note %s, %s: Blender %.2f s (CPU %.2f s), txmill %.2f s (CPU %.2f s): %.1f times faster, CPU %.1f; load %.1f of %d" % (
            title, what, *theirs, *ours, theirs[0] / ours[0], theirs[1] / ours[1], os.getloadavg()[0], os.cpu_count()), flush=True)

    make()  # both read from memory
    remove_tx(folder)
    theirs = timed(bpy.ops.render.generate_texture_cache)
    counts = [made()]
    remove_tx(folder)
    ours = timed(make)
    counts.append(made())
    line("all tx files", theirs, ours)

    remove_tx(folder)
    scene_settings = bpy.context.scene.render
    scene_settings.use_auto_generate_texture_cache = True
    theirs = timed(bpy.ops.render.render)
    remove_tx(folder)
    scene_settings.use_auto_generate_texture_cache = False

    def make_and_render():
        make()
        bpy.ops.render.render()

    line("first render", theirs, timed(make_and_render))
    print("%s %s: both make %d tx files" % ("pass" if counts == [len(paths)] * 2 else "FAIL", title, len(paths)), flush=True)


def writer(folder, image, runs):
    scene_of(folder, [image])
    print("version", bpy.app.version_string)
    for run in range(int(runs) + 1):
        remove_tx(folder)
        wall, cpu = timed(bpy.ops.render.generate_texture_cache)
        if len([n for n in os.listdir(os.path.join(folder, "blender_tx")) if n.endswith(".tx")]) != 1:
            raise SystemExit("Blender wrote no tx file of " + image)
        if run:
            print("writer %.3f %.3f" % (wall, cpu), flush=True)


def main():
    arguments = sys.argv[sys.argv.index("--") + 1:]
    if arguments[0] == "writer":
        writer(*arguments[1:])
        return
    program, images, folder = arguments[:3]
    batch = os.path.join(images, "batch")
    measure("4 large images", program, os.path.join(folder, "large"), [os.path.join(images, name) for name in LARGE])
    measure("60 mixed images", program, os.path.join(folder, "sixty"), [os.path.join(batch, n) for n in sorted(os.listdir(batch))])


main()
