# SPDX-License-Identifier: GPL-3.0-or-later
"""What the extension is if Blender could not unpack its wheel: a sentence in the preferences."""
import os

import bpy

REASON = "Blender could not unpack the txmill that this extension brings: %s. Make room there, or allow writing, and install the extension again"


def reason():
    return REASON % os.path.join(bpy.utils.user_resource("EXTENSIONS"), ".local")


class TxmillPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    def draw(self, context):
        self.layout.label(text=reason(), icon="ERROR")


def register():
    bpy.utils.register_class(TxmillPreferences)
    print("txmill: error: %s" % reason())


def unregister():
    bpy.utils.unregister_class(TxmillPreferences)
