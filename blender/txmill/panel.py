# SPDX-License-Identifier: GPL-3.0-or-later
"""Render > Performance > Texture Cache > txmill."""
import os

import bpy

from . import jobs, packing, preferences, status

ROWS = 8  # image files that are listed


class TXMILL_PT_texture_cache(bpy.types.Panel):
    bl_label = "txmill"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "render"
    bl_parent_id = "CYCLES_RENDER_PT_performance_texture_cache"
    COMPAT_ENGINES = {"CYCLES"}

    @classmethod
    def poll(cls, context):
        return context.engine in cls.COMPAT_ENGINES

    def draw(self, context):
        layout = self.layout
        found, text = preferences.version(preferences.get().program)
        if found is False:
            layout.label(text=jobs.shown(text), icon="ERROR")
            row = layout.row()
            row.operator("preferences.addon_show", text="Preferences").module = __package__
            row.operator("txmill.refresh", text="", icon="FILE_REFRESH")
            return
        job = jobs.current()
        if job:
            row = layout.row(align=True)
            row.progress(factor=job.factor, text=jobs.shown(job.text))
            row.operator("txmill.cancel", text="", icon="X")
        else:
            row = layout.row(align=True)
            row.operator("txmill.make")
            row.operator("txmill.make_and_render")
        self.draw_status(layout)
        row = layout.row(align=True)
        row.operator("txmill.open_report")
        row.operator("txmill.estimate")
        row.operator("txmill.export_scene")

    @staticmethod
    def draw_status(layout):
        now = status.current
        row = layout.row()
        if not bpy.data.filepath:
            row.label(text="Save the scene to see its textures", icon="INFO")
            return
        if now.error:
            row.label(text=jobs.shown(now.error), icon="ERROR")
        else:
            row.label(text=now.summary())
        row.operator("txmill.refresh", text="", icon="FILE_REFRESH")
        wanting = now.wanting()
        if wanting or now.lost or now.left_out:
            column = layout.box().column(align=True)
            for name, path, state, _, space, alpha, _ in wanting[:ROWS]:
                row = column.row()
                row.label(text=jobs.shown("%s: %s" % (os.path.basename(path), state)), icon="IMAGE_DATA")
                explain = row.operator("txmill.explain", text="", icon="QUESTION")
                explain.path, explain.colorspace, explain.alpha = path, space, alpha
            for name, path in now.lost[:ROWS]:
                column.label(text=jobs.shown("%s: the image is missing" % os.path.basename(path)), icon="LIBRARY_DATA_BROKEN")
            for name, reason in now.left_out[:ROWS]:
                column.label(text=jobs.shown("%s: no tx file, it is %s" % (name, reason)), icon="PACKAGE")
            rest = sum(max(0, len(rows) - ROWS) for rows in (wanting, now.lost, now.left_out))
            if rest:
                column.label(text="and %d more" % rest)
        if any(reason.startswith("packed") for _, reason in now.left_out) or packing.unpacked():
            row = layout.row(align=True)
            row.operator("txmill.unpack", text="Unpack Images")
            row.operator("txmill.pack")


def register():
    bpy.utils.register_class(TXMILL_PT_texture_cache)


def unregister():
    bpy.utils.unregister_class(TXMILL_PT_texture_cache)
