# SPDX-License-Identifier: Apache-2.0
"""Run inside Blender with the extension installed: blender -b --python-exit-code 1 --python extension.py -- FOLDER. Prints
`pass NAME` or `FAIL NAME: why` for each check. Exit status 1 if one failed."""
import contextlib
import importlib
import io
import json
import os
import re
import subprocess
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
    """Returns the result and the output of an operator that ends at once, as all do without an interface."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        result = operator(**settings)
    return result, out.getvalue()


def part(name):
    return importlib.import_module("%s.%s" % (MODULE, name))


def bundled():
    """The program of the wheel, where Blender has unpacked it."""
    return os.path.join(bpy.utils.user_resource("EXTENSIONS", path=".local"), "lib", "python%d.%d" % sys.version_info[:2],
                        "site-packages", "txmill", "bin", "txmill")


def alone(folder):
    """The bundled program runs without anything else of txmill: no other program, no library of a build tree."""
    found, text = part("preferences").version("")
    check("bundled-program", found and text.endswith(", " + bundled()), text)
    there = [os.path.join(top, "txmill") for top in os.environ["PATH"].split(":") if os.path.exists(os.path.join(top, "txmill"))]
    check("bundled-alone", not there and "TXMILL" not in os.environ and not os.path.exists("/host/bin"), there)
    modules = os.path.join(os.path.dirname(os.path.dirname(bundled())), "lib", "txmill")
    for name in (bundled(), os.path.join(modules, "txmill-oiio-worker"), os.path.join(modules, "txmill-stream")):
        said = subprocess.run([name, "--version"], env={"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True).stdout
        paths = re.findall(r"=> (\S+)", said)
        check("bundled-libraries, %s" % os.path.basename(name), paths and "not found" not in said and
              all(path.startswith(("/lib/", "/usr/lib/", bpy.utils.user_resource("EXTENSIONS"))) for path in paths), said)
    check("bundled-licenses", any("dist-info" in top and "LICENSE" in names for top, _, names in
                                  os.walk(os.path.dirname(os.path.dirname(os.path.dirname(bundled()))))))


def odd_names(folder):
    """Names of files and images with any bytes: each operator works, or says why it does not."""
    top = os.fsencode(os.path.join(folder, "odd names")) + b"/caf\xe9 \n%s {} <b>'\"$(touch here)"
    os.makedirs(top)
    names = [b"caf\xe9.png", b"new\nline.png", b"-c.png", b"@list.png", b"100%d {0}.png", "Größe 木.png".encode(), b"`touch here`;&|.png"]
    scenes.empty()
    plain = scenes.picture(os.path.join(folder, "odd names", "plain.png"), 64, 64)
    for index, name in enumerate(names):
        path = os.fsdecode(os.path.join(top, name))
        with open(plain, "rb") as source, open(path, "wb") as target:
            target.write(source.read())
        scenes.shown("o%d" % index, scenes.load(path), index)
        bpy.data.images[-1].name = "image\t%d\n{}%%s" % index
    packed = scenes.load(plain)
    packed.pack()
    packed.name = "packed\n\x1b[31m"
    scenes.shown("packed", packed, len(names))
    scenes.save(os.path.join(os.fsdecode(top), "sc\udce9ne.blend"))
    said = []
    for operator, settings in ((bpy.ops.txmill.make, {}), (bpy.ops.txmill.refresh, {}), (bpy.ops.txmill.estimate, {}),
                               (bpy.ops.txmill.open_report, {"filepath": os.path.join(folder, "odd names", "page.html")}),
                               *((bpy.ops.txmill.explain, {"path": os.fsdecode(os.path.join(top, name))}) for name in names)):
        try:
            result, text = printed(operator, **settings)
        except RuntimeError as error:  # an operator's report of an error
            result, text = {"CANCELLED"}, str(error)
        said.append((operator.idname_py(), result, text))
        check("odd-names, %s" % operator.idname_py(), "Traceback" not in text and "fault of the extension" not in text and
              "\x1b" not in text and (result == {"FINISHED"} or len(text.strip()) > 20), said[-1])
    made = [name for where, _, found in os.walk(top) for name in found if name.endswith(b".tx")]
    check("odd-names-made", len(made) == len(names), (made, said[0]))
    shown = part("jobs").shown("a\udce9\nb\x1b[0m" + 5000 * "c")
    check("shown", shown.startswith("a\ufffd b [0m") and len(shown) == 1000 and shown.endswith("…"), shown)
    check("odd-names-run-nothing", not [w for w, _, f in os.walk(folder) if "here" in f])


def read_only(folder):
    """Folders in which nothing can be written: the scene's, and the one for temporary files."""
    top = os.path.join(folder, "read-only")
    scenes.empty()
    scenes.shown("a", scenes.load(scenes.picture(os.path.join(top, "a.png"), 64, 64)))
    scenes.save(os.path.join(top, "scene.blend"))

    def closed(path):
        return subprocess.run(["sh", "-c", 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"', "sh", path], capture_output=True).returncode == 0

    for place, path in (("scene", top), ("temporary files", bpy.app.tempdir.rstrip("/"))):
        if not closed(path):
            print("skip read-only, %s: nothing can be mounted" % place)
            continue
        try:
            for operator, settings in ((bpy.ops.txmill.make, {}), (bpy.ops.txmill.make_and_render, {}), (bpy.ops.txmill.estimate, {}),
                                       (bpy.ops.txmill.export_scene, {"filepath": os.path.join(path, "export")}), (bpy.ops.txmill.refresh, {}),
                                       (bpy.ops.txmill.explain, {"path": os.path.join(top, "a.png")})):
                try:
                    result, text = printed(operator, **settings)
                except RuntimeError as error:
                    result, text = {"CANCELLED"}, str(error)
                good = "Read-only file system" in text or "cannot be" in text or "missing" in text or result == {"FINISHED"}
                check("read-only, %s: %s" % (place, operator.idname_py()), good and "Traceback" not in text and
                      "fault of the extension" not in text, (result, text))
        finally:
            subprocess.run(["umount", path], check=True)


def make_and_explain(folder):
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
    check("make-says-what-failed", result == {"FINISHED"} and text.count("does not exist") == 1 and "txmill: warning: 21 tx files made" in text,
          (result, text))
    check("make-names-the-scene", scene in text and "/txmill-" not in text, text)
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
    broken = next(path for path in made if "mirror.png" in path)
    with open(os.path.join(folder, "a", broken), "r+b") as tx:
        tx.truncate(100)
    os.utime(os.path.join(folder, "a", broken), (1, 1))
    os.utime(os.path.join(folder, "a", "textures", "mirror.png"), (1, 1))
    bpy.ops.txmill.refresh()
    check("status-unusable", status.current.count("unusable") == 1, [f[2] for f in status.current.files])
    _, text = printed(bpy.ops.txmill.explain, path=os.path.join(folder, "a", "textures", "mirror.png"), colorspace="sRGB", alpha="straight")
    check("explain-unusable", "mirror.png is unusable" in text and len(text.splitlines()) > 2, text)
    page = os.path.join(folder, "page.html")
    result, text = printed(bpy.ops.txmill.open_report, filepath=page)
    check("report", result == {"FINISHED"} and os.path.getsize(page) > 50000, (result, text))


def unsaved_and_working_space(folder):
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


def setting_wrong(folder):
    """If a run as a whole is impossible, that is an error and not a run that made nothing."""
    os.environ["TXMILL_THREADS"] = "none"
    for operator in (bpy.ops.txmill.make, bpy.ops.txmill.explain):
        result, text = printed(operator, **({"path": bpy.data.filepath} if operator is bpy.ops.txmill.explain else {}))
        check("setting-wrong, %s" % operator.idname_py(), "threads is 'none'" in text, (result, text))
    del os.environ["TXMILL_THREADS"]


def before_render(folder):
    """Tests the handler with a scene that was never saved, an image that was painted and not saved, and an
    animation."""
    top = os.path.join(folder, "handler unsaved")
    scene = scenes.empty()
    scene.render.resolution_x = scene.render.resolution_y = 16
    scenes.shown("plain", scenes.load(scenes.picture(os.path.join(top, "Größe 1.png"))))
    painted = scenes.load(scenes.picture(os.path.join(top, "painted.png")))
    painted.pixels[0] = 1 - painted.pixels[0]
    scenes.shown("painted", painted, 1)
    preferences = part("preferences").get()
    preferences.before_render = True
    _, text = printed(bpy.ops.render.render)
    check("handler-names-unsaved", "painted.png: no tx file, the image is changed and not saved" in text, text)
    made = scenes.tx_files(top)
    check("handler-never-saved", any("Größe 1.png" in path for path in made), (sorted(made), text))
    scene.frame_start, scene.frame_end = 1, 3
    scene.render.filepath = os.path.join(top, "frame_")
    _, text = printed(bpy.ops.render.render, animation=True)
    check("handler-once-for-an-animation", text.count("tx files made") == 1 and "0 tx files made" in text and
          os.path.exists(os.path.join(top, "frame_0003.exr")), text)
    preferences.before_render = False


def cancel(folder):
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
    check("cancel", ended and job.error is None and job.result[0].cancelled and len(job.result[0].created) < 6, (job.error, job.result))
    check("cancel-leaves-nothing", not left, left)
    check("progress", news and all(0 <= n <= 1 for n in news), news)
    check("nothing-runs", jobs.current() is None)
    part("preferences").get().threads = 0


def program_missing(folder):
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
    preferences.program = ""  # the panel notices by itself
    found, text = part("preferences").version("")
    check("missing-corrected", found and part("status").current.error is None and part("status").current.files,
          (text, part("status").current.error))


def odd_programs(folder):
    """Tests programs that crash, print something else, are too old or cannot be run: every button reports it, and
    renders go on."""
    top = os.path.join(folder, "odd programs")
    scene = scenes.empty()
    image = scenes.picture(os.path.join(top, "a.png"), 16, 16)
    scenes.shown("a", scenes.load(image))
    scenes.save(os.path.join(top, "scene.blend"))
    scene.render.resolution_x = scene.render.resolution_y = 16
    preferences, status = part("preferences").get(), part("status")
    preferences.program = odd = os.path.join(top, "odd")
    version = '#!/bin/sh\n[ "$1" = --version ] && exec echo txmill %s\n'
    for name, script, said in (("crash", version % "0.1.0" + "kill -SEGV $$\n", "signal 11"),
                               ("garbage", version % "0.1.0" + "echo '<html>'\n", "<html>"),
                               ("odd JSON", version % "0.1.0" + "echo '[1]'\n", "[1]"),
                               ("interpreter missing", "#!/nowhere/sh\n", "cannot be run")):
        with open(odd, "w", encoding="utf-8") as file:
            file.write(script)
        os.chmod(odd, 0o755)
        part("preferences")._versions.clear()
        results = [printed(bpy.ops.txmill.make), printed(bpy.ops.txmill.explain, path=image), printed(bpy.ops.txmill.estimate),
                   printed(bpy.ops.txmill.make_and_render)]
        check("odd program, %s" % name, all(result == {"CANCELLED"} and said in text for result, text in results), results)
        bpy.ops.txmill.refresh()
        check("odd program, %s: panel" % name, said in (status.current.error or ""), status.current.error)
        preferences.before_render = True
        scene.render.filepath = target = os.path.join(top, name + ".exr")
        _, text = printed(bpy.ops.render.render, write_still=True)
        check("odd program, %s: render" % name, said in text and "Cycles renders without it" in text and os.path.exists(target), text)
        preferences.before_render = False
    with open(odd, "w", encoding="utf-8") as file:
        file.write(version % "0.0.9")
    part("preferences")._versions.clear()
    found, text = part("preferences").version(odd)
    check("odd program, too old", found is False and "0.0.9" in text and "0.1.0 or newer" in text, text)
    results = [printed(bpy.ops.txmill.make), printed(bpy.ops.txmill.explain, path=image), printed(bpy.ops.txmill.estimate),
               printed(bpy.ops.txmill.make_and_render)]
    check("odd program, too old: every button", all(result == {"CANCELLED"} and said.count("needs 0.1.0 or newer") == 1
                                                    for result, said in results), results)
    with open(odd, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\nexec "%s" "$@"\n' % bundled())
    bpy.ops.txmill.refresh()
    check("odd program, put right in its place", part("preferences").version(odd)[0] and status.current.error is None, status.current.error)
    operators = part("operators")
    check("said once", operators.once([("a", "full"), ("b", "full"), ("c", "gone"), ("", "broken"), ("", "broken")]) ==
          ["a and 1 more: full", "c: gone", "broken (2 times)"], operators.once([("a", "full"), ("b", "full")]))
    # Only a whole path is taken, and no file that anybody may replace.
    os.chmod(top, 0o777)
    for path, why in (("odd", "not a whole path"), ("./odd", "not a whole path"), ("//odd", "not a whole path"),
                      (odd, "everybody may write to") if os.stat(odd).st_uid != os.getuid() else ("~nobody/odd", "no such program")):
        found, text = part("preferences").version(path)
        check("program, %s" % why, found is False and why in text, (path, text))
    os.chown(odd, 65534, 65534)
    part("preferences")._versions.clear()
    found, text = part("preferences").version(odd)
    check("program of somebody else", found is False and "everybody may write to" in text, text)
    os.chown(odd, os.getuid(), os.getgid())
    os.chmod(top, 0o755)
    # Objects without the members that they should have, members of other kinds, and endless or unreadable output.
    for name, script in (("scene alone", """echo '{"type": "scene"}'"""), ("image alone", """echo '{"type": "scene"}{"type": "image"}' | sed 's/}{/}\\n{/'"""),
                         ("other kinds", """echo '{"type": "scene", "image": 1, "images": 7, "state": {}, "others": [[1]], "error": 3}'"""),
                         ("summary of nothing", """echo '{"type": "summary", "exit_code": "x"}'"""),
                         ("bytes", "head -c 300000 /dev/zero | tr '\\0' '\\351'"), ("endless", "yes x"), ("endless errors", "yes x | head -c 30000000 >&2"),
                         ("words and failure", "printf 'txmill: error: caf\\351 \\033[31m\\n' >&2; exit 4")):
        with open(odd, "w", encoding="utf-8") as file:
            file.write(version % "0.1.0" + script + "\n")
        part("preferences")._versions.clear()
        answers = []
        for operator, settings in ((bpy.ops.txmill.make, {}), (bpy.ops.txmill.explain, {"path": image}), (bpy.ops.txmill.refresh, {}),
                                   (bpy.ops.txmill.estimate, {}), (bpy.ops.txmill.make_and_render, {})):
            try:
                answers.append(printed(operator, **settings))
            except RuntimeError as error:
                answers.append(({"CANCELLED"}, str(error)))
        check("odd output, %s" % name, all("Traceback" not in said and "\x1b" not in said and len(said) < 6000 for _, said in answers) and
              all(result == {"CANCELLED"} and "txmill: " in said or name == "summary of nothing" for result, said in
                  (answers[0], answers[3], answers[4])), answers)
    preferences.program = ""
    part("preferences")._versions.clear()


def ply(path):
    """Returns vertices as a structured array, triangles, and names of the UV maps."""
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


def export(folder):
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
    # There are 17 files, and one of them has an image for each repeat mode and interpolation. The missing one is listed
    # as well.
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
    check("export-spares-other-folders", "contains other files" in str(result), result)


def estimated(folder):
    """Checks what stream budget reports for the exported scene. An image without a tx file is an error that says
    what to do."""
    top = os.path.join(folder, "estimate")
    scenes.empty()
    for index, name in enumerate(("one.png", "two.png")):
        scenes.shown(name, scenes.load(scenes.picture(os.path.join(top, name), 512, 512, index)), index)
    scenes.save(os.path.join(top, "scene.blend"))
    result, text = printed(bpy.ops.txmill.estimate)
    check("estimate-lacks-tx", result == {"CANCELLED"} and "tx files are missing or outdated" in text, (result, text))
    files = bpy.context.preferences.filepaths
    for cache in ("cache/of tx", os.path.join(folder, "estimate store"), ""):  # the default folder is always searched
        files.texture_cache_directory = cache
        printed(bpy.ops.txmill.make)
        result, text = printed(bpy.ops.txmill.estimate)
        used = [re.search(r"%s: ([0-9.]+) kB at 100 %%, ([0-9.]+) kB at 50 %%; whole ([0-9.]+) MB" % name, text)
                for name in ("one.png", "two.png")]
        check("estimate, %s" % (cache and ("absolute cache folder" if os.path.isabs(cache) else "relative cache folder") or "default"),
              result == {"FINISHED"} and "at 100 %" in text and "at 50 %" in text and
              all(u and 0 < float(u[2]) <= float(u[1]) < 1000 * float(u[3]) for u in used), (result, text))
    files.texture_cache_directory = ""
    bpy.context.scene.camera = None
    result, text = printed(bpy.ops.txmill.estimate)
    check("estimate-no-camera", result == {"CANCELLED"} and "camera is left out: the scene has none" in text, (result, text))


def statements(folder, kind):
    lines = open(os.path.join(folder, "scene.txt"), encoding="utf-8").read().splitlines()
    return [line for line in lines if line.startswith(kind + " ")]


def export_nodes(folder):
    """Tests which image nodes reach the picture, and with which coordinates, as Cycles looks them up."""
    top = os.path.join(folder, "nodes")
    scene = scenes.empty()

    def image(name):
        return scenes.load(scenes.picture(os.path.join(top, name), 32, 32))

    def fed(name, kind="ShaderNodeTexCoord", output="UV"):
        """Makes a plane with an image whose Vector comes from a Mapping."""
        texture = scenes.shown(name, image(name + ".png"), len(bpy.data.materials))
        tree = texture.id_data
        mapping = tree.nodes.new("ShaderNodeMapping")
        mapping.inputs["Scale"].default_value = 2, 3, 1
        if kind:
            tree.links.new(tree.nodes.new(kind).outputs[output], mapping.inputs["Vector"])
        tree.links.new(mapping.outputs[0], texture.inputs["Vector"])
        return tree, mapping, texture

    scenes.shown("plain", image("plain.png"))
    fed("mapped")
    fed("muted mapping")[1].mute = True
    fed("constant", None)
    fed("by object", output="Object")
    tree, mapping, texture = fed("rerouted")
    joint = tree.nodes.new("NodeReroute")
    tree.links.new(mapping.outputs[0], joint.inputs[0])
    tree.links.new(joint.outputs[0], texture.inputs["Vector"])
    idle = bpy.data.materials["plain"].node_tree
    scenes.node(idle, "ShaderNodeTexImage", image("unconnected.png"))
    scenes.shown("unplugged", image("muted.png"), 7).mute = True

    group = bpy.data.node_groups.new("group", "ShaderNodeTree")
    group.interface.new_socket("Vector", in_out="INPUT", socket_type="NodeSocketVector")
    for name in ("Color", "Other"):
        group.interface.new_socket(name, in_out="OUTPUT", socket_type="NodeSocketColor")
    way_in, way_out = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    for index, name in enumerate(("in group.png", "of the other output.png")):
        inner = scenes.node(group, "ShaderNodeTexImage", image(name))
        group.links.new(way_in.outputs[0], inner.inputs["Vector"])
        group.links.new(inner.outputs[0], way_out.inputs[index])
    made = scenes.material("grouped")
    tree = made.node_tree
    shader = next(n for n in tree.nodes if n.bl_idname == "ShaderNodeBsdfPrincipled")
    for scale, socket in ((2, "Base Color"), (5, "Roughness")):
        used, mapping = tree.nodes.new("ShaderNodeGroup"), tree.nodes.new("ShaderNodeMapping")
        used.node_tree = group
        mapping.inputs["Scale"].default_value = scale, scale, 1
        tree.links.new(tree.nodes.new("ShaderNodeUVMap").outputs[0], mapping.inputs["Vector"])
        tree.links.new(mapping.outputs[0], used.inputs[0])
        tree.links.new(used.outputs[0], shader.inputs[socket])
    scenes.plane("grouped", made, 3, 3)

    away = scenes.plane("not in the viewport", bpy.data.materials["plain"], 0, 3)
    away.hide_viewport = True
    hidden = bpy.data.collections.new("not rendered")
    scene.collection.children.link(hidden)
    hidden.hide_render = True
    of_hidden = scenes.plane("of the hidden collection", bpy.data.materials["plain"], 1, 3)
    hidden.objects.link(of_hidden)
    scene.collection.objects.unlink(of_hidden)

    target = os.path.join(folder, "nodes-export")
    result, text = printed(bpy.ops.txmill.export_scene, filepath=target)
    files = {line.split()[1]: os.path.basename(json.JSONDecoder().raw_decode(line.split(" ", 2)[2])[0])
             for line in statements(target, "image")}
    # (image, input, scale by u, by v)
    uses = set()
    for line in statements(target, "texture"):
        words = line.split()
        at = words.index("transform")
        uses.add((files[words[2]], " ".join(words[4:words.index("uv")]).strip('"'), float(words[at + 1]), float(words[at + 5])))
    wanted = {("plain.png", "Base Color", 1, 1), ("mapped.png", "Base Color", 2, 3), ("muted mapping.png", "Base Color", 1, 1),
              ("rerouted.png", "Base Color", 2, 3), ("in group.png", "Base Color", 2, 2), ("in group.png", "Roughness", 5, 5)}
    check("nodes-uses", uses == wanted, sorted(uses ^ wanted))
    check("nodes-idle", not {"unconnected.png", "muted.png", "of the other output.png"} & set(files.values()), files)
    for name in ("constant", "by object"):
        check("nodes-named: %s" % name, "%s: Image Texture is left out: its coordinates" % name in text, text)
    titles = " ".join(statements(target, "mesh"))
    check("nodes-hidden-in-viewport", "not in the viewport" in titles and "viewport" not in text, (titles, text))
    check("nodes-not-rendered", "of the hidden collection" not in titles and "grouped" in titles, titles)


def export_world(folder):
    """Tests the world's strength and colour; a second Background is reported."""
    top = os.path.join(folder, "world")
    scene = scenes.empty()
    scenes.shown("a", scenes.load(scenes.picture(os.path.join(top, "a.png"))))
    lamp = next(thing.data for thing in scene.objects if thing.type == "LIGHT")
    lamp.exposure = 2
    turn = iter(range(100))

    def exported():
        target = os.path.join(folder, "world-export-%d" % next(turn))
        _, text = printed(bpy.ops.txmill.export_scene, filepath=target)
        return statements(target, "world"), text, target

    worlds, text, target = exported()
    check("world-none", worlds == ["world color 0 0 0"], worlds)
    power = [float(word) for word in statements(target, "light")[0].split()[3:6]]
    check("light-exposure", np.allclose(power, 12), power)

    world = scene.world = bpy.data.worlds.new("world")
    tree = world.node_tree
    background = next(n for n in tree.nodes if n.bl_idname == "ShaderNodeBackground")
    background.inputs["Color"].default_value = 0.5, 0.25, 1, 1
    background.inputs["Strength"].default_value = 3
    worlds, text, _ = exported()
    check("world-color", worlds == ["world color 1.5 0.75 3"] and "left out" not in text, (worlds, text))

    def environment(name):
        return scenes.node(tree, "ShaderNodeTexEnvironment", scenes.load(scenes.picture(os.path.join(top, name), 64, 32)))

    idle, sky = environment("idle.png"), environment("sky.png")
    tree.links.new(sky.outputs[0], background.inputs["Color"])
    worlds, text, target = exported()
    check("world-strength", len(worlds) == 1 and worlds[0].endswith(" projection latlong strength 3 sampling automatic") and "left out" not in text and
          any("sky.png" in line for line in statements(target, "image")) and
          not any("idle.png" in line for line in statements(target, "image")), (worlds, text))
    mappings = [tree.nodes.new("ShaderNodeMapping") for _ in range(2)]
    mappings[0].inputs["Rotation"].default_value = 0, 0, np.pi / 2
    mappings[1].vector_type = "TEXTURE"
    mappings[1].inputs["Scale"].default_value = 1, 1, 0.5
    mappings.append(tree.nodes.new("ShaderNodeMapping"))
    mappings[2].vector_type = "VECTOR"
    tree.links.new(tree.nodes.new("ShaderNodeTexCoord").outputs["Generated"], mappings[0].inputs["Vector"])
    tree.links.new(mappings[0].outputs[0], mappings[1].inputs["Vector"])
    tree.links.new(mappings[1].outputs[0], mappings[2].inputs["Vector"])
    tree.links.new(mappings[2].outputs[0], sky.inputs["Vector"])
    worlds, text, _ = exported()
    words = worlds[0].partition(" mapping ")[2].split()[:12]
    check("world-mapping", "left out" not in text and np.allclose([float(w) for w in words], [0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0], atol=1e-6),
          (worlds, text))
    tree.links.remove(sky.inputs["Vector"].links[0])
    world.cycles.sampling_method, world.cycles.sample_map_resolution = "MANUAL", 256
    worlds, text, _ = exported()
    check("world-sampling", worlds[0].endswith(" strength 3 sampling manual 256"), worlds)
    tree.links.new(tree.nodes.new("ShaderNodeValue").outputs[0], background.inputs["Strength"])
    _, text, _ = exported()
    check("world-driven-strength-named", "the input of the strength of the world world is left out" in text, text)
    curves = tree.nodes.new("ShaderNodeRGBCurve")
    tree.links.new(sky.outputs[0], curves.inputs["Color"])
    tree.links.new(curves.outputs[0], background.inputs["Color"])
    worlds, text, _ = exported()
    check("world-changed-colour-named", "the input of the colour of the world world is left out" in text and "latlong" in worlds[0], text)
    mix, second = tree.nodes.new("ShaderNodeMixShader"), tree.nodes.new("ShaderNodeBackground")
    tree.links.new(idle.outputs[0], second.inputs["Color"])
    tree.links.new(background.outputs[0], mix.inputs[1])
    tree.links.new(second.outputs[0], mix.inputs[2])
    tree.links.new(mix.outputs[0], tree.get_output_node("CYCLES").inputs["Surface"])
    _, text, _ = exported()
    check("world-mix-named", "a part of the world world is left out: it has more than a Background" in text and
          ".png of the world world is left out: a world has one" in text, text)


def surfaces(folder):
    """Returns {material of Blender: what an exported scene makes of it}: words of one statement, or ("mix", first,
    second, share)."""
    found, named = {}, {}
    for line in statements(folder, "material"):
        words = line[:line.index(" title ")].split()[1:]
        named[words[0]] = ("mix", named[words[2]], named[words[3]], round(float(words[5]), 3)) if words[1] == "mix" else \
            " ".join([words[1], *("%.4g" % float(w) if w[0].isdigit() else w for w in words[2:])])
        found[json.loads(line[line.index(" title ") + 7:])] = named[words[0]]
    return found


def export_surfaces(folder):
    """Materials that reflect and refract do so in an exported scene, because the path of light decides about tiles."""
    top = os.path.join(folder, "surfaces")
    scenes.empty()

    def shader(name, kind="ShaderNodeBsdfPrincipled", **settings):
        made = scenes.material(name)
        tree = made.node_tree
        tree.nodes.remove(next(n for n in tree.nodes if n.bl_idname == "ShaderNodeBsdfPrincipled"))
        node = tree.nodes.new(kind)
        for setting, value in settings.items():
            node.inputs[setting.replace("_", " ")].default_value = value
        tree.links.new(node.outputs[0], tree.get_output_node("CYCLES").inputs["Surface"])
        scenes.plane(name, made, len(bpy.data.materials), 0)
        return tree, node

    grey = "0.8 0.8 0.8"
    usual = ("mix", "diffuse " + grey, "glossy 1 1 1 roughness 0.25", 0.089)
    wanted = {"usual": usual, "metal": "glossy %s roughness 0.04" % grey, "chrome": "mirror " + grey, "water": "glass %s ior 1.333" % grey,
              "half": ("mix", "diffuse " + grey, "glossy %s roughness 0.25" % grey, 0.5), "thin": ("mix", "glass 1 1 1 ior 1", usual, 0.25),
              "gloss": "glossy %s roughness 0.01" % grey, "frosted": "glass 1 1 1 ior 1.5 roughness 0.25", "clear": "glass 1 1 1 ior 1",
              "lamp": "emission 4 2 1", "nothing": "emission 0 0 0", "cloth": "diffuse " + grey,
              "mixed": ("mix", "glass 1 1 1 ior 1", "mirror " + grey, 0.089), "added": ("mix", "emission 1 1 1", "diffuse " + grey, 0.5)}
    shader("usual")
    shader("metal", Metallic=1, Roughness=0.2)
    shader("chrome", Metallic=1, Roughness=0)
    shader("water", Transmission_Weight=1, Roughness=0, IOR=1.333)
    shader("half", Metallic=0.5, Specular_IOR_Level=0)
    shader("thin", Alpha=0.25)
    shader("gloss", "ShaderNodeBsdfAnisotropic", Roughness=0.1)
    shader("frosted", "ShaderNodeBsdfGlass", Roughness=0.5)
    shader("clear", "ShaderNodeBsdfTransparent")
    shader("lamp", "ShaderNodeEmission", Color=(2, 1, 0.5, 1), Strength=2)
    tree, node = shader("nothing")
    tree.nodes.remove(node)
    shader("cloth", "ShaderNodeBsdfSheen")
    tree, mix = shader("mixed", "ShaderNodeMixShader")
    mirror = tree.nodes.new("ShaderNodeBsdfAnisotropic")
    mirror.inputs["Roughness"].default_value = 0
    painted = scenes.node(tree, "ShaderNodeTexImage", scenes.load(scenes.picture(os.path.join(top, "painted.png"), 32, 32)))
    rough = scenes.node(tree, "ShaderNodeTexImage", scenes.load(scenes.picture(os.path.join(top, "rough.png"), 32, 32)))
    tree.links.new(painted.outputs[0], mirror.inputs["Color"])
    tree.links.new(rough.outputs[0], mirror.inputs["Normal"])
    for index, socket in enumerate((tree.nodes.new("ShaderNodeFresnel").outputs[0], tree.nodes.new("ShaderNodeBsdfTransparent").outputs[0],
                                    mirror.outputs[0])):
        tree.links.new(socket, mix.inputs[index])
    tree, both = shader("added", "ShaderNodeAddShader")
    for index, kind in enumerate(("ShaderNodeEmission", "ShaderNodeBsdfDiffuse")):
        tree.links.new(tree.nodes.new(kind).outputs[0], both.inputs[index])

    bumpy = mirror.id_data.nodes.new("ShaderNodeNormalMap")
    bumpy.inputs["Strength"].default_value = 0.5
    tree = mirror.id_data
    tree.links.new(rough.outputs[0], bumpy.inputs["Color"])
    tree.links.new(bumpy.outputs[0], mirror.inputs["Normal"])
    bpy.context.scene.cycles.blur_glossy = 0.25
    target = os.path.join(folder, "surfaces-export")
    _, text = printed(bpy.ops.txmill.export_scene, filepath=target)
    found = surfaces(target)
    for name in wanted:
        check("surface: %s" % name, found.get(name) == wanted[name], found.get(name))
    check("surface-nothing-left-out", "left out" not in text, text)
    said = [statements(target, word) for word in ("samples", "bounces", "filter-glossy")]
    check("paths", said == [["samples 4"], ["bounces 12 diffuse 4 glossy 4 transmission 12 transparent 8"], ["filter-glossy 0.25"]], said)
    # The colour is that of the mirror; the other image is looked up as well.
    uses = sorted(line.split(" uv ")[0].split(" ", 3)[3] for line in statements(target, "texture"))
    check("surface-textures", uses == ['input "Base Color"', 'input "Normal"'], uses)
    check("surface-normal-map", [line.rsplit(" ", 2)[1:] for line in statements(target, "texture") if "Normal" in line] ==
          [["normal", "0.5"]], statements(target, "texture"))


def export_as_rendered(folder):
    """Subdivision, modifiers and objects are those of renders, and the frame is the current one. The open file is
    not changed. Tests two scenes and view layers."""
    top = os.path.join(folder, "as rendered ß")
    scene = scenes.empty()
    scenes.shown("a", scenes.load(scenes.picture(os.path.join(top, "a.png"))))
    thing = scene.objects["a"]
    finer = thing.modifiers.new("finer", "SUBSURF")
    finer.levels, finer.render_levels = 0, 2
    array = thing.modifiers.new("twice", "ARRAY")
    array.count, array.show_viewport = 2, False
    thing.keyframe_insert("location", index=2, frame=1)
    thing.location.z = 9
    thing.keyframe_insert("location", index=2, frame=10)
    thing.hide_viewport = True
    scenes.save(os.path.join(top, "scene.blend"))
    other = bpy.data.scenes.new("other")
    other.collection.objects.link(scenes.plane("elsewhere", None, 0, 0))
    scene.collection.objects.unlink(bpy.data.objects["elsewhere"])
    scene.frame_set(10)
    target = os.path.join(top, "export")
    printed(bpy.ops.txmill.export_scene, filepath=target)
    table, tris, _ = ply(os.path.join(target, "meshes", "mesh0_0.ply"))
    check("as-rendered-mesh", len(tris) == 2 * 2 * 16, len(tris))
    placed = statements(target, "instance")
    check("as-rendered-frame", len(placed) == 1 and placed[0].split()[-1] == "9", placed)
    check("as-rendered-nothing-changed", (scene.render.engine, finer.levels, thing.hide_viewport, scene.frame_current) == ("CYCLES", 0, True, 10))


def studio(folder):
    """Tests a project with umlauts and blanks: the panel's counts, Estimate and the export agree with the files."""
    scene, _ = scenes.studio(os.path.join(folder, "studio"))
    bpy.ops.wm.open_mainfile(filepath=scene)
    files = bpy.context.preferences.filepaths
    files.texture_cache_directory = "tx nebenan/ü"
    status = part("status")
    printed(bpy.ops.txmill.make)
    bpy.ops.txmill.refresh()
    fresh = status.current.count("fresh")
    check("studio-fresh", fresh == len(status.current.files) == len(scenes.tx_files(folder + "/studio")) > 10,
          [f[1:3] for f in status.current.files])
    _, text = printed(bpy.ops.txmill.explain, path="//both ways.png", colorspace="sRGB", alpha="straight")
    check("studio-explain", "both ways.png is fresh" in text, text)
    _, text = printed(bpy.ops.txmill.explain, path="//no such.png")
    check("studio-explain-missing", "shots/010/no such.png" in text, text)
    bpy.context.scene.frame_set(2)
    target = os.path.join(folder, "studio", "Szene für txmill")
    printed(bpy.ops.txmill.export_scene, filepath=target)
    images = [json.JSONDecoder().raw_decode(line.split(" ", 2)[2])[0] for line in statements(target, "image")]
    there = [os.path.exists(os.path.join(target, path.replace("<UDIM>", "1012"))) for path in images]
    check("studio-images", len(images) == 10 and all(there) and not any(os.path.isabs(path) for path in images), list(zip(images, there)))
    check("studio-frame", any(path.endswith("plate/plate-999.png") for path in images), images)
    result, text = printed(bpy.ops.txmill.estimate)
    check("studio-estimate", result == {"FINISHED"} and "Eiche geölt.png: " in text and "Stoff <UDIM>.png: " in text and
          "Stoff 1001.png 1003 is left out: the file is missing" in text, (result, text))
    files.texture_cache_directory = ""


def export_gaps(folder):
    """If a scene folder cannot hold something, it is reported, so nothing is left out silently."""
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
    for what in ("camera is left out: a panoramic", "packed.png is left out: the image is packed", "drawn is left out: the image is not a file",
                 "boxed: Image Texture is left out: its coordinates", "the mapping of the world mapped is left out",
                 "gobo.png of the light projector is left out", "smoke is left out: a volume"):
        check("gaps-named: %s" % what.partition(" is left out")[0], what in text, (result, text))


def unpacked_and_packed(folder):
    """Packed images get files beside the scene, and tx files; no other file is lost, and Pack Again undoes it."""
    top = os.path.join(folder, "unpack")
    scenes.empty()
    scenes.shown("in the library", scenes.load(scenes.picture(os.path.join(top, "library.png"), seed=5)))
    bpy.data.images[-1].pack()
    library = scenes.save(os.path.join(top, "library.blend"))
    scenes.empty()
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(top, "scene.blend"))
    result, text = printed(bpy.ops.txmill.unpack)
    check("unpack-nothing", result == {"CANCELLED"} and "No image of a shader is packed" in text, (result, text))
    packed = [scenes.load(scenes.picture(os.path.join(top, where, "wood.png"), seed=n)) for n, where in enumerate(("one", "two", "three"))]
    for tile in (1001, 1002):
        scenes.picture(os.path.join(top, "set", "brick.%d.png" % tile), seed=tile)
    tiled = scenes.load(os.path.join(top, "set", "brick.1001.png"), source="TILED")
    tiled.tiles.new(1002)
    tiled.filepath = os.path.join(top, "set", "brick.<UDIM>.png")
    drawn = bpy.data.images.new("drawn: \xe4", 16, 16)
    drawn.pixels[0] = 0.25
    dirty = scenes.load(scenes.picture(os.path.join(top, "dirty.png"), seed=9))
    for image in (*packed, tiled, drawn, dirty):
        image.pack()
    dirty.pixels[0] = 1 - dirty.pixels[0]
    with bpy.data.libraries.load(library, link=True) as (_, into):
        into.materials = ["in the library"]
    scenes.plane("linked", into.materials[0], 5, 1)
    for index, image in enumerate((*packed, tiled, drawn, dirty)):
        scenes.shown("p%d" % index, image, index)
    scenes.picture(os.path.join(top, "textures", "wood.001.png"), seed=77)  # of another image, in the way
    foreign = open(os.path.join(top, "textures", "wood.001.png"), "rb").read()
    os.link(os.path.join(top, "three", "wood.png"), os.path.join(top, "textures", "wood.002.png"))  # it is there already
    before = {image.name: (image.filepath_raw, [file.filepath for file in image.packed_files], list(image.pixels)[:64]) for image in (*packed, tiled, drawn)}
    gain = part("packing").gain(part("packing").packed()[0])
    check("unpack-gain", gain[0].startswith("5 packed images have no tx files") and "0 MB" in gain[0] and gain[2].endswith("unpack/textures"), gain)
    bpy.ops.wm.save_mainfile()
    result, text = printed(bpy.ops.txmill.unpack)
    check("unpack", result == {"FINISHED"} and "5 images unpacked" in text, (result, text))
    check("unpack-names-library", "library.png: packed into the library library.blend: unpack it there" in text, text)
    check("unpack-names-dirty", "dirty.png: packed, and changed since" in text and dirty.packed_files, text)
    names = sorted(os.path.basename(bpy.path.abspath(image.filepath)) for image in packed)
    check("unpack-files", names == ["wood.002.png", "wood.003.png", "wood.png"] and
          not any(image.packed_files for image in (*packed, tiled, drawn)), names)
    check("unpack-keeps-others", open(os.path.join(top, "textures", "wood.001.png"), "rb").read() == foreign)
    check("unpack-tiles", os.path.basename(tiled.filepath) == "brick.<UDIM>.png" and all(
        os.path.exists(os.path.join(top, "textures", "brick.%d.png" % tile)) for tile in (1001, 1002)), tiled.filepath)
    check("unpack-drawn", drawn.filepath.endswith(".png") and os.path.exists(bpy.path.abspath(drawn.filepath)), drawn.filepath)
    check("unpack-pixels", all(list(image.pixels)[:64] == before[image.name][2] for image in (*packed, tiled, drawn)))
    bpy.ops.wm.save_mainfile()
    _, text = printed(bpy.ops.txmill.make)
    made = scenes.tx_files(os.path.join(top, "textures"))
    check("unpack-tx-files", len(made) == 6 and "6 tx files made" in text, (sorted(made), text))
    result, text = printed(bpy.ops.txmill.pack)
    check("pack", result == {"FINISHED"} and "5 images packed again" in text and all(image.packed_files for image in (*packed, tiled, drawn)), (result, text))
    after = {image.name: (image.filepath_raw, [file.filepath for file in image.packed_files], list(image.pixels)[:64]) for image in (*packed, tiled, drawn)}
    check("pack-as-before", after == before, [(before[name][:2], after[name][:2]) for name in after if after[name] != before[name]])
    check("pack-leaves-files", os.path.exists(os.path.join(top, "textures", "wood.png")))
    result, text = printed(bpy.ops.txmill.pack)
    check("pack-nothing", result == {"CANCELLED"} and "Unpack has written no image" in text, (result, text))
    result, text = printed(bpy.ops.txmill.unpack)
    check("unpack-again", result == {"FINISHED"} and sorted(os.listdir(os.path.join(top, "textures"))).count("wood.004.png") == 0, os.listdir(os.path.join(top, "textures")))
    bpy.ops.txmill.pack()
    names = [image.name for image in (*packed, tiled, drawn)]
    bpy.ops.ed.undo_push(message="packed")
    bpy.ops.txmill.unpack()
    bpy.ops.ed.undo_push(message="unpacked")
    bpy.ops.ed.undo()
    images = [bpy.data.images[name] for name in names]
    check("unpack-undone", all(image.packed_files for image in images) and not part("packing").unpacked(), [image.filepath for image in images])
    bpy.ops.txmill.unpack()
    packed = images[:3]
    check("unpack-after-undo", not any(image.packed_files for image in images) and len(part("packing").unpacked()) == 5)
    os.rename(bpy.path.abspath(packed[0].filepath), os.path.join(top, "gone.png"))
    try:
        result, text = printed(bpy.ops.txmill.pack)
    except RuntimeError as error:
        text = str(error)
    check("pack-missing-file", packed[0].name in text and not packed[0].packed_files and packed[1].packed_files, text)


def wheel_missing(folder):
    """Where Blender could not unpack the wheel, the extension says so, and is whole again when it could."""
    import addon_utils

    def enabled():
        addon_utils.disable(MODULE)
        for name in [name for name in sys.modules if name == MODULE or name.startswith(MODULE + ".")]:
            del sys.modules[name]
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            module = addon_utils.enable(MODULE)
        return module, out.getvalue()

    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name == "txmill" or name.startswith("txmill.")}
    sys.modules["txmill"] = None  # cannot be imported
    module, said = enabled()
    check("wheel-missing", module and "could not unpack" in said and ".local" in said and "Traceback" not in said and
          not hasattr(bpy.types, "TXMILL_OT_make"), said)
    sys.modules.update(kept)
    module, said = enabled()
    check("wheel-there-again", module and not said and part("preferences").version("")[0], said)


def main():
    folder = sys.argv[sys.argv.index("--") + 1]
    for test in (alone, wheel_missing, odd_names, read_only, make_and_explain, unsaved_and_working_space, setting_wrong, before_render, cancel, program_missing, odd_programs, export, export_nodes, export_world, export_surfaces, export_as_rendered, estimated, studio, unpacked_and_packed, export_gaps):
        test(folder)
    # The render that follows runs in another Blender.
    part("preferences").get().before_render = True
    bpy.ops.wm.save_userpref()
    scenes.every_way(os.path.join(folder, "handler"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
