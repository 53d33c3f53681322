# SPDX-License-Identifier: GPL-3.0-or-later
"""Run by export_scene in a separate Blender: blender -b SCENE.blend --python exporter.py -- REQUEST ANSWER

Only a render engine gets the scene as it is evaluated for a render: with the subdivision and the modifiers of renders, and
with objects that are hidden in the viewport. So this is a render engine, which makes no picture. REQUEST and ANSWER are
files with a JSON object.
"""
import json
import os
import sys
import traceback
import types

import bpy

# In a Blender with factory settings the extension is not enabled, so this folder is made a package of its own.
__package__ = "txmill_exporter"
sys.modules[__package__] = types.ModuleType(__package__)
sys.modules[__package__].__path__ = [os.path.dirname(os.path.abspath(__file__))]
from . import scene_writer  # noqa: E402

request, answer = {}, {"error": "Blender did not render the scene"}


class Exporter(bpy.types.RenderEngine):
    bl_idname = "TXMILL_EXPORT"
    bl_label = "txmill export"

    def render(self, depsgraph):
        if depsgraph.view_layer.name != request["layer"]:
            return
        writer = scene_writer.Writer(request["folder"], depsgraph, request["at_once"], request["camera"])
        answer.clear()
        try:
            writer.write()
            answer.update(warnings=([] if request["scripts"] else held_back()) + writer.warnings(), images=len(writer.images),
                          meshes=sum(len(parts) for parts in writer.meshes.values()), **writer.counts)
        except OSError as error:
            answer["error"] = str(error)
        except Exception as error:
            traceback.print_exc()
            answer["error"] = "%s: %s" % (type(error).__name__, error)


def some(names, shown=3):
    names = sorted(set(names))
    return ", ".join(names[:shown]) + (" and %d more" % (len(names) - shown) if len(names) > shown else "")


def held_back():
    """What is missing because the scripts of the file did not run, as warnings."""
    owners = [owner for kind in bpy.data.bl_rna.properties if kind.type == "COLLECTION"
              for owner in getattr(bpy.data, kind.identifier)]
    drivers = []
    for owner in owners:
        for data in (owner, getattr(owner, "node_tree", None)):
            animation = getattr(data, "animation_data", None)
            drivers += ["%s of %s" % (curve.data_path, owner.name) for curve in (animation.drivers if animation else ())
                        if curve.driver.type == "SCRIPTED" and not curve.driver.is_simple_expression]
    texts = [text.name for text in bpy.data.texts if text.use_module]
    missing = ["the Python drivers of " + some(drivers)] * bool(drivers) + ["the registered text " + some(texts)] * bool(texts)
    if not missing:
        return []
    return ["Scripts did not run, because this file was not opened with scripts allowed. What they change is missing, and driven "
            "values are as they were saved: %s. If you trust the file, turn on Preferences > Save & Load > Auto Run Python "
            "Scripts, open it again and repeat this" % "; ".join(missing)]


def main():
    request_path, answer_path = sys.argv[sys.argv.index("--") + 1:][:2]
    with open(request_path, encoding="utf-8") as file:
        request.update(json.load(file))
    scene = bpy.data.scenes[request["scene"]]
    bpy.utils.register_class(Exporter)
    scene.render.engine = Exporter.bl_idname
    scene.render.use_compositing = scene.render.use_sequencer = False
    scene.view_layers[request["layer"]].use = True
    request["camera"] = scene.camera is not None
    if not request["camera"]:  # Blender does not render without one
        scene.camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    scene.frame_set(request["frame"], subframe=request["subframe"])
    bpy.ops.render.render(scene=scene.name, layer=request["layer"])
    with open(answer_path + ".part", "w", encoding="utf-8") as file:
        json.dump(answer, file)
    os.replace(answer_path + ".part", answer_path)


main()
