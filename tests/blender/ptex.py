# SPDX-License-Identifier: Apache-2.0
"""Ptex assets in Cycles: `txmill make --mesh` unwraps an asset, Blender renders the pages on the new mesh from their tx
files, and `txmill stream render` renders the Ptex file itself on the old one. The surface emits its texture, so the only
noise in the pictures comes from the places in a pixel that are looked up.

    blender -b --factory-startup --python-exit-code 1 --python ptex.py -- TXMILL FOLDER
    python ptex.py TXMILL FOLDER            with a Python that has the package bpy

Prints `pass NAME` or `FAIL NAME: why` for each check."""
import glob
import os
import shutil
import subprocess
import sys

import bpy
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
import scenes
from loop import Txmill, check, failed

ASSET = os.path.join(here, "..", "util", "ptex_asset.py")
PX, SAMPLES, HALF = 192, 64, 0.9
# Values are from 0 to 1 in scene-linear light. The two renderers look up different places of a pixel, which differ by
# texels of a thirtieth of the sheet. An error of a face or a border is tens of times as large.
MEAN, WORST = 0.002, 0.015

SCENE = """txmill-scene 1
size %d %d
samples %d
camera orthographic half %g %g shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 5
ptex skin "%s.ptx" colorspace "%s"
material matter emission 1 1 1
texture matter skin input "Base Color"
mesh sheet "%s.ply"
instance sheet matter 1 0 0 0 0 1 0 0 0 0 1 0
"""


def read(path):
    image = bpy.data.images.load(path, check_existing=False)
    image.colorspace_settings.name = "Non-Color"
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)[:, :, :3]


def import_mesh(path):
    if path.endswith(".obj"):
        bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z")
    else:
        bpy.ops.wm.ply_import(filepath=path, forward_axis="Y", up_axis="Z")
    return bpy.context.object


def render(mesh_path, pages, folder, colorspace):
    """Returns the picture that Cycles makes of the unwrapped mesh. The image's settings are those with which Blender
    loads it."""
    scene = scenes.empty()
    scene.cycles.samples = SAMPLES
    scene.render.resolution_x = scene.render.resolution_y = PX
    scene.camera.location = (0, 0, 5)
    scene.camera.data.ortho_scale = 2 * HALF
    thing = import_mesh(mesh_path)
    made = bpy.data.materials.new("matter")
    made.use_nodes = True
    tree = made.node_tree
    tree.nodes.clear()
    out, emission = tree.nodes.new("ShaderNodeOutputMaterial"), tree.nodes.new("ShaderNodeEmission")
    image = scenes.load(pages[0], colorspace, source="TILED")
    for number in range(1002, 1001 + len(pages)):
        image.tiles.new(number)
    texture = scenes.node(tree, "ShaderNodeTexImage", image, extension="EXTEND")
    tree.links.new(texture.outputs["Color"], emission.inputs["Color"])
    tree.links.new(emission.outputs[0], out.inputs["Surface"])
    thing.data.materials.clear()
    thing.data.materials.append(made)
    before = {path: os.stat(path).st_ino for path in glob.glob(folder + "/blender_tx/*.tx")}
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "scene.blend"))
    bpy.ops.render.generate_texture_cache()
    after = {path: os.stat(path).st_ino for path in glob.glob(folder + "/blender_tx/*.tx")}
    # The pages are overwritten, so that the picture can only come from the tx files.
    for page in pages:
        at = os.stat(page)
        with open(page, "r+b") as file:
            file.write(bytes(at.st_size))
        os.utime(page, ns=(at.st_atime_ns, at.st_mtime_ns))
    scene.render.filepath = os.path.join(folder, "cycles.exr")
    bpy.ops.render.render(write_still=True)
    return read(scene.render.filepath), before == after and len(after) == len(pages)


def differences(a, b):
    """Returns mean and maximum. Pixels at the picture's edge are left out, because their neighbours differ."""
    apart = np.abs(a - b)[1:-1, 1:-1]
    return float(apart.mean()), float(apart.max())


def asset(txmill, folder, name, kind, mesh_kind, colorspace, asset_options, make_options=()):
    folder = os.path.join(folder, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    base = os.path.join(folder, "sheet")
    subprocess.run([sys.executable, ASSET, base, "--type", kind, *asset_options], check=True)
    txmill("make", "-c", colorspace, "--mesh", base + "." + mesh_kind, *make_options, base + ".ptx")
    pages = sorted(glob.glob(folder + "/sheet.1*.*"))
    with open(os.path.join(folder, "scene.txt"), "w", encoding="ascii") as out:
        out.write(SCENE % (PX, PX, SAMPLES, HALF, HALF, "sheet", colorspace, "sheet"))
    txmill.run("stream", "render", "--samples", str(SAMPLES), "--overwrite", "-o", os.path.join(folder, "stream.exr"), folder, expected=(0,))
    theirs, kept = render(base + ".uv." + mesh_kind, pages, folder, colorspace)
    ours = read(os.path.join(folder, "stream.exr"))
    check("%s: Blender takes the tx files of %d pages for its own" % (name, len(pages)), kept)
    mean, worst = differences(ours, theirs)
    print("note %s: pictures differ by %.5f on average, %.4f at most; light from %.3f to %.3f" % (
        name, mean, worst, theirs.min(), theirs.max()))
    check("%s: Cycles' picture is stream's" % name, mean < MEAN and worst < WORST, "mean %g, at most %g" % (mean, worst))
    # The same comparison notices a face that is turned or missing.
    check("%s: the comparison finds differences" % name, differences(ours, theirs[::-1])[0] > 10 * MEAN)
    return len(pages)


def main():
    command, folder = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    txmill = Txmill(command, folder)
    asset(txmill, folder, "bytes, OBJ", "u8", "obj", "sRGB", [])
    asset(txmill, folder, "bytes, PLY", "u8", "ply", "sRGB", ["--seed", "2"])
    asset(txmill, folder, "words", "u16", "obj", "Non-Color", ["--channels", "1"])
    asset(txmill, folder, "half", "half", "obj", "Linear Rec.709", ["--seed", "3"])
    asset(txmill, folder, "subfaces", "u8", "ply", "sRGB", ["--seed", "6", "--cut", "3"])
    asset(txmill, folder, "floats", "float", "ply", "Linear Rec.709", ["--flat"])
    pages = asset(txmill, folder, "many pages", "u8", "obj", "sRGB", ["--columns", "16", "--rows", "16", "--sizes", "3,4", "--seed", "4"],
                  ["--page-size", "64"])
    check("many pages are more than a row of UDIM tiles", pages > 10, str(pages))
    # Texels are smaller than pixels, so levels 1 and 2 are shown. Faces of twice the size have twice as wide borders for this.
    # This leaves out bytes, because Ptex truncates at each halving, by half a value on average.
    asset(txmill, folder, "far", "u16", "obj", "Non-Color", ["--columns", "12", "--rows", "12", "--sizes", "5,6", "--seed", "5"])
    # Level 2 is shown of faces of 16 texels, and level 3 of those of 32.
    asset(txmill, folder, "farther", "u8", "obj", "sRGB", ["--columns", "24", "--rows", "24", "--seed", "4"], ["--padding", "4"])
    sys.exit(bool(failed))


main()
