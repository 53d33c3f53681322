# SPDX-License-Identifier: Apache-2.0
"""Before a Cycles render, if the preferences say so: makes what is missing, then lets Cycles go on. It renders whatever
happens here; what went wrong is printed."""
import threading

import bpy
from bpy.app.handlers import persistent

from . import blend, client, operators, preferences


@persistent
def before_render(scene, *_):
    if not preferences.get().before_render or scene.render.engine != "CYCLES" or not scene.render.use_texture_cache:
        return
    for name, reason in blend.left_out():
        print("txmill: %s: no tx file, the image is %s" % (name, reason))
    options = {**blend.color_options(), **preferences.run_options()}
    try:
        if threading.current_thread() is threading.main_thread():
            with blend.as_file() as path:
                run = client.make(path, **options)
        elif bpy.data.filepath:  # a copy of the scene can be saved by the main thread alone
            if bpy.data.is_dirty:
                print("txmill: the scene was changed since it was saved: only what the file names is made")
            run = client.make(bpy.data.filepath, **options)
        else:
            print("txmill: the scene was never saved: nothing is made")
            return
    except (client.TxmillError, OSError, RuntimeError) as error:
        print("txmill: error: %s; Cycles renders without it" % error)
        return
    print("txmill: %s" % operators.summary(run)[1])


def register():
    bpy.app.handlers.render_init.append(before_render)


def unregister():
    bpy.app.handlers.render_init.remove(before_render)
