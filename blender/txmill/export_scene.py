# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports the scene as a folder that txmill reads without Blender, txmill-scene(5). A Blender in the background evaluates a
copy of the open file as a render does, so that the open scene does not change and the interface stays responsive."""
import contextlib
import fnmatch
import json
import os
import subprocess
import tempfile

import bpy
import txmill as client
from bpy_extras.io_utils import ExportHelper

from . import blend, jobs, operators


def scripts_allowed():
    """Whether the open file was loaded with its scripts allowed: drivers with Python expressions, and registered texts. Blender
    5.3 says so. Until then it says only whether it held something back when the file was opened; something that was appended
    since, from a file of somebody else, is not a part of that. So there the scripts may run if the preferences, or the command
    line, allow those of all files in this folder."""
    app, preferences = bpy.app, bpy.context.preferences
    if app.autoexec_fail:
        return False
    if hasattr(app, "autoexec"):
        return app.autoexec
    override = getattr(app, "autoexec_override", None)
    if override is not None:
        return override
    if not preferences.filepaths.use_scripts_auto_execute:
        return False
    path = bpy.data.filepath
    return not any(fnmatch.fnmatchcase(path, entry.path) if entry.use_glob else path.startswith(entry.path)
                   for entry in preferences.autoexec_paths if entry.path)


class Export:
    """An export. It is created in the main thread, which has access to the scene, and can run in any."""

    def __init__(self, context, folder, at_once=False):
        scene = context.scene
        self.request = {"folder": folder, "at_once": at_once, "scene": scene.name, "layer": context.view_layer.name,
                        "frame": scene.frame_current, "subframe": scene.frame_subframe, "scripts": scripts_allowed()}
        if not bpy.app.binary_path:
            raise OSError("a scene cannot be exported from the module bpy: the export needs the Blender program")
        self.keep = contextlib.ExitStack()
        file = self.keep.enter_context(blend.as_file())
        self.scratch = self.keep.enter_context(tempfile.TemporaryDirectory(prefix="txmill-", dir=bpy.app.tempdir))
        self.argv = [bpy.app.binary_path, "--background", "--factory-startup",
                     "--enable-autoexec" if self.request["scripts"] else "--disable-autoexec", file,
                     "--python-exit-code", "1", "--python", os.path.join(os.path.dirname(__file__), "exporter.py"), "--"]

    def close(self):
        self.keep.close()

    def run(self, cancel):
        """Runs the exporter and returns its answer: `warnings`, numbers of `images`, `meshes`, `instances`, `triangles`."""
        request, answer, log = (os.path.join(self.scratch, name) for name in ("request", "answer", "log"))
        with open(request, "w", encoding="utf-8") as file:
            json.dump(self.request, file)
        # Factory settings enable no extension, and Blender removes the unpacked wheels of those that are not enabled.
        environment = {**os.environ, "BLENDER_USER_EXTENSIONS": os.path.join(self.scratch, "extensions")}
        with open(log, "wb") as output:
            process = subprocess.Popen([*self.argv, request, answer], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       env=environment)
        while True:
            try:
                code = process.wait(jobs.POLL_SECONDS)
                break
            except subprocess.TimeoutExpired:
                if cancel.cancelled:
                    process.kill()  # it writes temporary files, which are renamed at the end
        if cancel.cancelled:
            raise client.TxmillError("Cancelled: the scene was not exported")
        try:
            with open(answer, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError):
            with open(log, encoding="utf-8", errors="replace") as file:
                lines = [line for line in file.read().splitlines() if line.strip() and line != "Blender quit"]
            raise client.TxmillError("Blender in the background could not export the scene (exit code %d): %s" % (
                code, lines[-1] if lines else "it printed no message")) from None
        if "error" in found:
            raise client.TxmillError(found["error"])
        return found


class TXMILL_OT_export_scene(operators.Making, bpy.types.Operator, ExportHelper):
    bl_idname = "txmill.export_scene"
    bl_label = "Export Scene"
    bl_description = "Write camera, lights, instances, meshes and image nodes into a folder that txmill reads without Blender"

    filename_ext = ""
    filepath: bpy.props.StringProperty(name="Folder", subtype="DIR_PATH", options={"SKIP_SAVE"})

    def execute(self, context):
        folder = os.path.abspath(bpy.path.abspath(self.filepath))
        if os.path.isdir(folder) and os.listdir(folder) and not os.path.exists(os.path.join(folder, "scene.txt")):
            self.report({"ERROR"}, jobs.shown("%s contains other files: choose an empty folder" % folder))
            return {"CANCELLED"}
        try:
            export = Export(context, folder)
        except (OSError, RuntimeError) as error:
            self.report({"ERROR"}, jobs.shown(error))
            return {"CANCELLED"}

        def done(job):
            export.close()
            if job.error:
                operators.report("WARNING" if job.cancel.cancelled else "ERROR", job.error)
                return
            text = "%(instances)d instances of %(meshes)d meshes, %(triangles)d triangles, %(images)d images" % job.result
            if job.result["warnings"]:
                operators.show("Export Scene", [text, *job.result["warnings"]])
            operators.report("INFO", text)

        job = jobs.Job("Exporting the scene", lambda job: export.run(job.cancel), done).start()
        return {"CANCELLED"} if bpy.app.background and job.error else {"FINISHED"}


def menu(self, context):
    self.layout.operator(TXMILL_OT_export_scene.bl_idname, text="txmill Scene (folder)")


def register():
    bpy.utils.register_class(TXMILL_OT_export_scene)
    bpy.types.TOPBAR_MT_file_export.append(menu)


def unregister():
    bpy.types.TOPBAR_MT_file_export.remove(menu)
    bpy.utils.unregister_class(TXMILL_OT_export_scene)
