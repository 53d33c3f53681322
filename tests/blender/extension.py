# SPDX-License-Identifier: Apache-2.0
"""Inside Blender, with the extension installed: blender -b --python-exit-code 1 --python extension.py -- PROGRAM FOLDER.
Prints `pass NAME` or `FAIL NAME: why` a check; exit status 1 if one failed."""
import contextlib
import importlib
import io
import json
import os
import sys

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenes

MODULE = "bl_ext.user_default.txmill"
failed = []


def check(name, good, why=""):
    print("pass %s" % name if good else "FAIL %s: %s" % (name, why), flush=True)
    if not good:
        failed.append(name)


def printed(operator, **settings):
    """(result, what was printed) of an operator that ends at once, as all do without an interface."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = operator(**settings)
    return result, out.getvalue()


def part(name):
    return importlib.import_module("%s.%s" % (MODULE, name))


def make_and_explain(program, folder):
    scene = scenes.every_way(os.path.join(folder, "a"))
    bpy.ops.wm.open_mainfile(filepath=scene)
    status = part("status")
    bpy.ops.txmill.refresh()
    now = status.current
    check("status-missing", now.count("missing") == 21 and now.count("fresh") == 0, [f[2] for f in now.files])
    check("status-lost", [os.path.basename(path) for _, path in now.lost] == ["gone.png"], now.lost)
    result, text = printed(bpy.ops.txmill.make)
    made = scenes.tx_files(os.path.join(folder, "a"))
    check("make", len(made) == 21, "%d files, %s %s" % (len(made), result, text))
    check("make-says-what-failed", result == {"CANCELLED"} and "gone.png" in text, (result, text))
    check("make-names-left-out", dict(part("blend").left_out()) == {"packed.png": "packed into the .blend file", "generated": "generated"},
          part("blend").left_out())
    now = status.current
    check("status-fresh", now.count("fresh") == 21 and now.count("missing") == 0, [f[2] for f in now.files])
    before = {path: os.stat(os.path.join(folder, "a", path)).st_ino for path in made}
    bpy.ops.render.generate_texture_cache()
    after = scenes.tx_files(os.path.join(folder, "a"))
    check("blender-finds-them-fresh", set(after) == set(made) and
          all(os.stat(os.path.join(folder, "a", p)).st_ino == i for p, i in before.items()), sorted(set(after) ^ set(made)))

    image = os.path.join(folder, "a", "textures", "repeat.png")
    _, text = printed(bpy.ops.txmill.explain, path=image, colorspace="sRGB", alpha="straight")
    check("explain-fresh", "repeat.png is fresh" in text, text)
    os.utime(image, (1, 1))
    _, text = printed(bpy.ops.txmill.explain, path=image, colorspace="sRGB", alpha="straight")
    check("explain-outdated", "repeat.png is outdated" in text, text)
    bpy.ops.txmill.refresh()
    check("status-outdated", status.current.count("outdated") == 1, [f[2] for f in status.current.files])
    page = os.path.join(folder, "page.html")
    result, text = printed(bpy.ops.txmill.open_report, filepath=page)
    check("report", result == {"FINISHED"} and os.path.getsize(page) > 50000, (result, text))


def unsaved_and_working_space(program, folder):
    scene = scenes.every_way(os.path.join(folder, "b"))
    bpy.ops.wm.open_mainfile(filepath=scene)
    saved = open(scene, "rb").read()
    made = scenes.material("added")
    image = bpy.data.images.load(scenes.picture(os.path.join(folder, "b", "added.png")))
    scenes.feed(made, scenes.node(made.node_tree, "ShaderNodeTexImage", image))
    scenes.plane("added", made, 0, 5)
    bpy.ops.wm.set_working_color_space(working_space="ACEScg")
    preferences = bpy.context.preferences.filepaths
    for cache in (os.path.join(folder, "store"), "cache"):
        preferences.texture_cache_directory = cache
        printed(bpy.ops.txmill.make)
        ours = set(scenes.tx_files(folder))
        bpy.ops.render.generate_texture_cache()
        theirs = set(scenes.tx_files(folder))
        kind = "absolute" if os.path.isabs(cache) else "relative"
        check("unsaved-%s-cache" % kind, ours == theirs and any("added.png" in path and "cache" in path or "store" in path for path in ours),
              sorted(ours ^ theirs))
    check("unsaved-scene-untouched", open(scene, "rb").read() == saved)
    preferences.texture_cache_directory = ""


def cancel(program, folder):
    top = os.path.join(folder, "c")
    scenes.empty()
    for index in range(6):
        made = scenes.material("m%d" % index)
        image = bpy.data.images.load(scenes.picture(os.path.join(top, "big%d.png" % index), 3000, 3000, index))
        scenes.feed(made, scenes.node(made.node_tree, "ShaderNodeTexImage", image))
        scenes.plane("p%d" % index, made, index, 0)
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(top, "c.blend"))
    jobs, operators = part("jobs"), part("operators")
    part("preferences").get().threads = 1
    ended = []
    job = operators.make_job(ended.append)
    news = []

    def progress(what, inner=job.progress):
        inner(what)
        news.append(job.factor)
        if what.percent:
            job.cancel.cancel()

    job.progress = progress
    job.start()
    left = [name for name in os.listdir(os.path.join(top, "blender_tx")) if not name.endswith(".tx")] \
        if os.path.isdir(os.path.join(top, "blender_tx")) else []
    check("cancel", ended and job.error is None and job.result.cancelled and len(job.result.created) < 6, (job.error, job.result))
    check("cancel-leaves-nothing", not left, left)
    check("progress", news and all(0 <= n <= 1 for n in news), news)
    check("nothing-runs", jobs.current() is None)
    part("preferences").get().threads = 0


def program_missing(program, folder):
    preferences = part("preferences").get()
    preferences.program = "/nowhere/txmill"
    found, text = part("preferences").version(preferences.program)
    check("missing-said-in-preferences", not found and "/nowhere/txmill" in text, text)
    result, text = printed(bpy.ops.txmill.make)
    check("missing-make", result == {"CANCELLED"} and "/nowhere/txmill" in text, (result, text))
    bpy.ops.txmill.refresh()
    check("missing-status", "/nowhere/txmill" in (part("status").current.error or ""))
    preferences.before_render = True
    target = os.path.join(folder, "missing.exr")
    bpy.context.scene.render.filepath = target
    bpy.context.scene.render.resolution_x = bpy.context.scene.render.resolution_y = 16
    bpy.ops.render.render(write_still=True)
    check("missing-renders-all-the-same", os.path.exists(target))
    preferences.before_render = False
    preferences.program = program


def ply(path):
    """(vertices as a structured array, triangles, names of the UV maps)"""
    data = open(path, "rb").read()
    stop = data.index(b"end_header\n") + 11
    words = [line.split() for line in data[:stop].decode().splitlines()]
    vertices = next(int(w[2]) for w in words if w[:2] == ["element", "vertex"])
    faces = next(int(w[2]) for w in words if w[:2] == ["element", "face"])
    names = [w[2] for w in words if w[:2] == ["property", "float"]]
    table = np.frombuffer(data, [(n, "<f4") for n in names], vertices, stop)
    tris = np.frombuffer(data, [("n", "u1"), ("i", "<i4", 3)], faces, stop + table.nbytes)
    assert stop + table.nbytes + tris.nbytes == len(data)
    return table, tris["i"], [line for line in data[:stop].decode().splitlines() if line.startswith("comment uv")]


def export(program, folder):
    scene = os.path.join(folder, "a", "scene.blend")
    bpy.ops.wm.open_mainfile(filepath=scene)
    twin = bpy.data.objects.new("twin", bpy.data.objects["udim"].data)
    twin.location = (0, 0, 7)
    bpy.context.scene.collection.objects.link(twin)
    target = os.path.join(folder, "export")
    result = bpy.ops.txmill.export_scene(filepath=target)
    lines = open(os.path.join(target, "scene.txt"), encoding="utf-8").read().splitlines()
    kinds = [line.split()[0] for line in lines]
    check("export", result == {"FINISHED"} and lines[0] == "txmill-scene 1", lines[:1])
    solid = sum(thing.type == "MESH" for thing in bpy.context.scene.objects)
    check("export-instances", kinds.count("instance") == solid and kinds.count("mesh") == solid - 1, (kinds.count("mesh"), solid))
    images = [json.JSONDecoder().raw_decode(line.split(" ", 2)[2])[0] for line in lines if line.startswith("image ")]
    there = [os.path.exists(os.path.join(target, path.replace("<UDIM>", "1001"))) for path in images]
    # 17 files, one of them once a repeat mode and interpolation; the lost one is named as well.
    check("export-images", sum(not t for t in there) == 1 and "gone.png" in images[there.index(False)], list(zip(images, there)))
    interpolations = {line.split()[-1] for line in lines if line.startswith("image ") and "/repeat.png" in line}
    check("export-interpolations", interpolations == {"linear", "closest", "cubic", "smart"}, interpolations)
    table, tris, maps = ply(os.path.join(target, "meshes", "mesh0_0.ply"))
    check("export-ply", len(table) == 4 and len(tris) == 2 and {"u", "v", "nx"} <= set(table.dtype.names) and maps == ['comment uv 0 "UVMap"'],
          (len(table), len(tris), maps))
    check("export-uv", table["u"].max() == 2 and (table["nz"] == 1).all())
    twins = [line.split() for line in lines if line.startswith("instance ")]
    check("export-matrix", any(float(w[-1]) == 7 and w[3:7] == ["1", "0", "0", "0"] for w in twins), twins[-1])
    camera = next(line for line in lines if line.startswith("camera "))
    check("export-camera", camera.startswith("camera orthographic half ") and
          np.allclose([float(v) for v in camera.split()[3:5]], [3, 2]) and camera.split()[5:8] == ["shift", "0", "0"], camera)
    again = os.path.join(folder, "not-ours")
    os.makedirs(again)
    open(os.path.join(again, "file"), "w").close()
    try:
        result = bpy.ops.txmill.export_scene(filepath=again)
    except RuntimeError as error:
        result = str(error)
    check("export-spares-other-folders", "holds other files" in str(result), result)


def estimated(program, folder):
    """What stream budget says of the exported scene; an image without a tx file is an error that says what to do."""
    top = os.path.join(folder, "estimate")
    scenes.empty()
    for index, name in enumerate(("one.png", "two.png")):
        scenes.shown(name, scenes.load(scenes.picture(os.path.join(top, name), 512, 512, index)), index)
    scenes.save(os.path.join(top, "scene.blend"))
    result, text = printed(bpy.ops.txmill.estimate)
    check("estimate-lacks-tx", result == {"CANCELLED"} and "tx file is missing" in text, (result, text))
    printed(bpy.ops.txmill.make)
    result, text = printed(bpy.ops.txmill.estimate)
    check("estimate", result == {"FINISHED"} and "at 100 %" in text and "at 50 %" in text and
          all("%s: " % name in text for name in ("one.png", "two.png")), (result, text))


def export_gaps(program, folder):
    """What a scene folder cannot hold is named: nothing is left out in silence."""
    top = os.path.join(folder, "gaps")
    scene = scenes.empty()
    packed = scenes.load(scenes.picture(os.path.join(top, "packed.png")))
    packed.pack()
    scenes.shown("packed", packed, 0)
    scenes.shown("generated", bpy.data.images.new("drawn", 8, 8), 1)
    scenes.shown("boxed", scenes.load(scenes.picture(os.path.join(top, "boxed.png"))), 2, projection="BOX")
    scenes.shown("kept", scenes.load(scenes.picture(os.path.join(top, "kept.png"))), 3)
    for frame in (1, 2, 3):
        scenes.picture(os.path.join(top, "f_%d.png" % frame), 16, 16, frame)
    user = scenes.shown("sequence", scenes.load(os.path.join(top, "f_1.png"), source="SEQUENCE"), 4).image_user
    user.frame_duration, user.frame_start, user.frame_offset, user.use_auto_refresh = 3, 1, 0, True
    scene.world = bpy.data.worlds.new("mapped")
    scene.world.use_nodes = True
    tree = scene.world.node_tree
    sky = scenes.node(tree, "ShaderNodeTexEnvironment", scenes.load(scenes.picture(os.path.join(top, "sky.png"), 64, 32)))
    tree.links.new(tree.nodes.new("ShaderNodeMapping").outputs[0], sky.inputs["Vector"])
    background = next(n for n in tree.nodes if n.bl_idname == "ShaderNodeBackground")
    tree.links.new(sky.outputs[0], background.inputs[0])
    lamp = bpy.data.lights.new("projector", "SPOT")
    lamp.use_nodes = True
    scenes.node(lamp.node_tree, "ShaderNodeTexImage", scenes.load(scenes.picture(os.path.join(top, "gobo.png"))))
    scene.collection.objects.link(bpy.data.objects.new("projector", lamp))
    scene.collection.objects.link(bpy.data.objects.new("smoke", bpy.data.volumes.new("smoke")))
    scene.camera.data.type = "PANO"
    scene.frame_set(2)
    target = os.path.join(folder, "gaps-export")
    result, text = printed(bpy.ops.txmill.export_scene, filepath=target)
    lines = open(os.path.join(target, "scene.txt"), encoding="utf-8").read().splitlines()
    images = {os.path.basename(json.JSONDecoder().raw_decode(line.split(" ", 2)[2])[0]) for line in lines if line.startswith("image ")}
    check("gaps-images", images == {"kept.png", "boxed.png", "f_2.png", "sky.png"}, images)
    check("gaps-no-camera", not any(line.startswith("camera ") for line in lines))
    for what in ("camera is left out: a panoramic", "packed.png is left out: the image is packed", "drawn is left out: the image is no file",
                 "boxed: Image Texture is left out: its coordinates", "the mapping of the world mapped is left out",
                 "gobo.png of the light projector is left out", "smoke is left out: a volume"):
        check("gaps-named: %s" % what.partition(" is left out")[0], what in text, (result, text))


def main():
    program, folder = sys.argv[sys.argv.index("--") + 1:][:2]
    part("preferences").get().program = program
    found, text = part("preferences").version(program)
    check("program", found and "txmill" in text, text)
    for test in (make_and_explain, unsaved_and_working_space, cancel, program_missing, export, estimated, export_gaps):
        test(program, folder)
    # For the render that follows in a Blender of its own.
    preferences = part("preferences").get()
    preferences.program, preferences.before_render = program, True
    bpy.ops.wm.save_userpref()
    scenes.every_way(os.path.join(folder, "handler"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
