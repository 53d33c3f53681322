# SPDX-License-Identifier: Apache-2.0
"""Where the program is and what it may use. All else comes from Blender's own settings."""
import os
import re
import threading

import bpy

from . import client, jobs


def _look_again():
    """Another program: what the panel shows came from the one before."""
    from . import status  # which asks for these preferences

    forget()
    status.refresh()


class TxmillPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    program: bpy.props.StringProperty(
        name="Program", subtype="FILE_PATH", description="Path of the txmill program; empty: the one on PATH",
        update=lambda self, context: _look_again())
    threads: bpy.props.IntProperty(
        name="Threads", min=0, max=1024, default=0, description="Threads that convert; 0: one a processor")
    memory: bpy.props.IntProperty(
        name="Memory", min=0, default=0, description="Megabytes that a conversion stays below; 0: no bound")
    before_render: bpy.props.BoolProperty(
        name="Make before Rendering", default=False,
        description="Before a Cycles render begins, make the tx files that it lacks; in background mode, too")

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "program")
        found, text = version(self.program)
        layout.label(text=text, icon="TIME" if found is None else "CHECKMARK" if found else "ERROR")
        layout.prop(self, "threads")
        layout.prop(self, "memory")
        layout.prop(self, "before_render")


_ANSWER_SECONDS = 10
_OLDEST = "0.1.0"  # of the program, that this extension knows how to ask
_versions = {}  # program: (found, text); drawing must not start a process each time


def _parts(number):
    return [int(part) for part in re.findall(r"\d+", number)[:3]]


def _ask(program):
    try:
        path = client.find_program(os.path.expanduser(program) or None)
        number = client.version(path, timeout=_ANSWER_SECONDS)
        if _parts(number) < _parts(_OLDEST):
            _versions[program] = False, "txmill %s, %s: this extension needs %s or newer" % (number, path, _OLDEST)
        else:
            _versions[program] = True, "txmill %s, %s" % (number, path)
    except (client.TxmillError, OSError) as error:
        _versions[program] = False, str(error)
    jobs.later(jobs.redraw)


def forget():
    """The programs are asked again: one that was missing or too old may have been put right where it is."""
    _versions.clear()


def require(program):
    """Raises TxmillError, which says why, unless the program is there and new enough. In a job's thread: it may take its
    time to answer."""
    key = program or ""
    if not _versions.get(key, (None,))[0]:
        _ask(key)
    found, text = _versions[key]
    if not found:
        raise client.TxmillError(text)


def version(program):
    """(whether it is there, what it says of itself or why not); (None, text) until it is known: a program, or the drive that
    it is on, may not answer, and drawing must not wait for it."""
    if program not in _versions:
        _versions[program] = None, "Asking for its version"
        if bpy.app.background:
            _ask(program)
        else:
            threading.Thread(target=_ask, args=(program,), name="txmill version", daemon=True).start()
    return _versions[program]


def get():
    return bpy.context.preferences.addons[__package__].preferences


def run_options():
    """Arguments of client.make that come from here."""
    own = get()
    return {
        "program": os.path.expanduser(own.program) or None,
        "threads": own.threads or None,
        "max_memory": "%dM" % own.memory if own.memory else None,
    }


def register():
    bpy.utils.register_class(TxmillPreferences)


def unregister():
    bpy.utils.unregister_class(TxmillPreferences)
    forget()
