# SPDX-License-Identifier: GPL-3.0-or-later
"""Estimates the texture memory of a render: exports the scene into a temporary folder and traces it with `txmill stream
budget`."""
import os
import shutil
import tempfile

import bpy
import txmill as client

from . import blend, export_scene, jobs, operators, preferences


def size(count):
    """The textures of a small picture may take only kilobytes."""
    unit, name = next((unit, name) for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")) if count >= unit or name == "kB")
    return "%.1f %s" % (count / unit, name)


def at_both(entries, key):
    """"X at 100 %, Y at 50 %", from a list with one entry per texture resolution."""
    found = {entry["resolution"]: entry[key] for entry in entries}
    return ", ".join("%s at %d %%" % (size(found[share]), 100 * share) for share in (1, 0.5))


def lines_of(budget, rows=12):
    """Lines of text about what `txmill stream budget` found."""
    lines = ["Texture memory of this render: %s; %s without the cache" % (
        at_both(budget["resolutions"], "peak_bytes"), size(budget["all_bytes"]))]
    light = budget.get("world_map")
    if light and light["extra_bytes"]:
        lines.append("At the start %s more, to sample the light of the world" % size(light["extra_bytes"]))
    images = sorted(budget["images"], key=lambda image: -image["used_bytes"])
    lines += ["%s: %s; whole %s" % (os.path.basename(image["image"]), at_both(image["resolutions"], "used_bytes"),
                                    size(image["virtual_bytes"])) for image in images[:rows]]
    return lines + (["and %d more" % (len(images) - rows)] if len(images) > rows else [])


class TXMILL_OT_estimate(operators.Making, bpy.types.Operator):
    bl_idname = "txmill.estimate"
    bl_label = "Estimate"
    bl_description = "Trace the scene without reading textures, and show how much memory its textures need in this render"

    def execute(self, context):
        folder = None
        try:
            folder = tempfile.mkdtemp(prefix="txmill-", dir=bpy.app.tempdir)
            export = export_scene.Export(context, folder, at_once=True)
        except (OSError, RuntimeError) as error:
            shutil.rmtree(folder or "", ignore_errors=True)
            self.report({"ERROR"}, jobs.shown(error))
            return {"CANCELLED"}
        run = preferences.run_options()
        options = {**blend.color_options(), "program": run["program"], "threads": run["threads"],
                   "tile": context.scene.cycles.tile_size}
        warnings = []

        def work(job):
            preferences.require(run["program"])
            found = export.run(job.cancel)
            warnings.extend(found["warnings"])
            job.text = "Tracing the scene"
            budget = client.stream_budget(folder, cancel=job.cancel, **options)
            return lines_of(budget) + warnings

        def done(job):
            export.close()
            shutil.rmtree(folder, ignore_errors=True)
            if job.cancel.cancelled:
                operators.report("WARNING", "Cancelled: nothing was estimated")
            elif job.error:
                operators.report("ERROR", "; ".join([job.error, *warnings]))
            else:
                operators.show("Estimate", job.result)

        job = jobs.Job("Exporting the scene", work, done).start()
        return {"CANCELLED"} if bpy.app.background and job.error else {"FINISHED"}


def register():
    bpy.utils.register_class(TXMILL_OT_estimate)


def unregister():
    bpy.utils.unregister_class(TXMILL_OT_estimate)
