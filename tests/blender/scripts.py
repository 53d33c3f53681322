# SPDX-License-Identifier: Apache-2.0
"""Scripts of a file run in an export only if the file was opened with its scripts allowed; else the export says what is
missing.

    blender -b --factory-startup --python-exit-code 1 --python scripts.py -- FOLDER
    python scripts.py FOLDER            with a Python that has the package bpy

Prints `pass NAME` or `FAIL NAME: why` for each check."""
import json
import os
import runpy
import shutil
import sys
import types

import bpy

here = os.path.dirname(os.path.abspath(__file__))
folder = (sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:])[0]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)
sys.path.insert(0, os.path.join(here, "..", "..", "python"))
extension = sys.modules["extension"] = types.ModuleType("extension")
extension.__path__ = [os.path.join(here, "..", "..", "blender", "txmill")]
from extension import export_scene  # noqa: E402

failed = []
SAYS_SO = hasattr(bpy.app, "autoexec")  # Blender 5.3


def check(name, good, why=""):
    print("pass " + name if good else "FAIL %s: %s" % (name, why))
    if not good:
        failed.append(name)


def ran():
    """Whether a script of a file has run since the last call."""
    found = os.path.exists("ran")
    if found:
        os.unlink("ran")
    return found


def chair():
    thing = bpy.data.objects.new("chair", bpy.data.meshes.new("chair"))
    bpy.context.scene.collection.objects.link(thing)
    return thing


def text():
    made = bpy.data.texts.new("script.py")
    made.write("open('ran', 'w')\n")
    made.use_module = True
    return made


def driver(owner, path, expression):
    made = owner.driver_add(path).driver
    made.type, made.expression = "SCRIPTED", expression


def save(name, fill):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    fill()
    bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(name))


def scripted():
    thing = chair()
    driver(thing, "hide_render", "len('')")
    driver(thing, "pass_index", "1 + 1")  # needs no Python
    material = bpy.data.materials.new("wood")
    material.use_fake_user = True
    driver(material.node_tree.nodes.new("ShaderNodeValue").outputs[0], "default_value", "len('ab')")
    text()


def appended():
    with bpy.data.libraries.load(os.path.abspath("theirs.blend")) as (there, here_too):
        here_too.objects = there.objects
    bpy.context.scene.collection.objects.link(bpy.data.objects["chair"])


def opened(name, allowed):
    bpy.ops.wm.open_mainfile(filepath=os.path.abspath(name), use_scripts=allowed)
    return export_scene.scripts_allowed()


def may_run():
    """What the extension allows, for each way to open a file."""
    files = bpy.context.preferences.filepaths
    check("preference is off", not files.use_scripts_auto_execute)
    check("opened without scripts", not opened("scripted.blend", False) and not ran())
    check("opened without scripts, and has none", not opened("plain.blend", False))
    # Before 5.3 Blender does not say that scripts were allowed for one file.
    check("opened with scripts", opened("scripted.blend", True) == SAYS_SO and ran())
    opened("plain.blend", False)
    appended()
    bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath("mine.blend"))
    check("appended", not export_scene.scripts_allowed() and not bpy.app.autoexec_fail, bpy.app.autoexec_fail)
    bpy.ops.wm.open_mainfile(filepath=os.path.abspath("mine.blend"), use_scripts=True)
    check("appended script would run", ran())
    files.use_scripts_auto_execute = True
    check("preference is on", opened("scripted.blend", True) and ran())
    check("preference is on, opened without scripts", not opened("scripted.blend", False) and not ran())
    opened("plain.blend", True)
    excluded = bpy.context.preferences.autoexec_paths.new()
    for path, glob in ((os.path.join(folder, ""), False), (os.path.join(os.path.dirname(folder), "*"), True)):
        excluded.path, excluded.use_glob = path, glob
        bpy.ops.wm.open_mainfile(filepath=os.path.abspath("plain.blend"))
        check("excluded folder, %s" % ("glob" if glob else "path"), not export_scene.scripts_allowed())
    excluded.path = os.path.join(folder, "elsewhere")
    check("another folder is excluded", opened("plain.blend", True))
    bpy.context.preferences.autoexec_paths.remove(excluded)
    files.use_scripts_auto_execute = False


def exported(scripts):
    """The warnings of an export of the open file, in this process."""
    scene = bpy.context.scene
    request = {"folder": os.path.abspath("out"), "at_once": False, "scene": scene.name, "frame": 1, "subframe": 0.0,
               "layer": bpy.context.view_layer.name, "scripts": scripts}
    with open("request", "w", encoding="utf-8") as file:
        json.dump(request, file)
    sys.argv = ["exporter", "--", os.path.abspath("request"), os.path.abspath("answer")]
    runpy.run_path(os.path.join("extension", "txmill", "exporter.py"), run_name="exporter")
    with open("answer", encoding="utf-8") as file:
        return json.load(file)["warnings"]


def says_what_is_missing():
    opened("scripted.blend", False)
    said = " ".join(exported(False))
    for part in ("hide_render of chair", "default_value of wood", "registered text script.py", "Auto Run Python Scripts"):
        check("an export without scripts says: " + part, part in said, said)
    check("no simple driver", "pass_index" not in said, said)
    check("nothing ran", not ran())
    check("with scripts nothing is missing", "Scripts did not run" not in " ".join(exported(True)))
    opened("plain.blend", False)
    check("without any scripts nothing is missing", "Scripts did not run" not in " ".join(exported(False)))


folder = os.path.realpath(folder)
os.chdir(folder)
save("plain.blend", lambda: None)
save("scripted.blend", scripted)
save("theirs.blend", lambda: chair().__setitem__("notes", text()))
may_run()
says_what_is_missing()
sys.exit(bool(failed))
