# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes missing tx files before a Cycles render, if this is enabled in the preferences. Cycles renders even if this fails;
failures are printed, and reported in the interface if there is one."""
import contextlib
import os
import threading

import bpy
import txmill as client
from bpy.app.handlers import persistent

from . import blend, jobs, operators, preferences, status


@persistent
def before_render(scene, *_):
    if not preferences.get().before_render or scene.render.engine != "CYCLES" or not scene.render.use_texture_cache:
        return
    for line in operators.left_out():
        jobs.say(line)
    options = {**blend.color_options(), **preferences.run_options()}
    if threading.current_thread() is threading.main_thread():
        # This blocks the interface, but only the main thread can save a copy of the scene as it is now.
        try:
            with blend.as_file() as path:
                text = operators.make(path, **options)[2]
        except (client.TxmillError, OSError, RuntimeError) as error:
            jobs.say("error: %s; Cycles renders without it" % error)
        else:
            jobs.say(text)
        return
    # A thread of the render. If the file is not up to date, the main thread saves a copy.
    with contextlib.ExitStack() as keep:
        path = keep.enter_context(blend.as_file(_save_from_here))
        if not os.path.exists(path):
            path = bpy.data.filepath
            jobs.say("the scene could not be saved: making the tx files of its last saved state" if path else
                     "the scene could not be saved: no tx files are made")
            if not path:
                return

        def work(job):
            return operators.make(path, progress=job.progress, cancel=job.cancel, **options)

        def done(job):
            operators.report(*(job.result[1:] if job.result else ("ERROR", "%s; Cycles renders without it" % job.error)))
            status.refresh()

        jobs.Job("Making tx files before the render", work, done).run_here()


def _save_from_here(path):
    jobs.in_main_thread(lambda: blend.save_copy(path))


def register():
    bpy.app.handlers.render_init.append(before_render)


def unregister():
    bpy.app.handlers.render_init.remove(before_render)
