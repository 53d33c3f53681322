# SPDX-License-Identifier: GPL-3.0-or-later
"""Which program runs, and its limits. All other settings are Blender's own."""
import os
import re
import threading

import bpy
import txmill as client
from txmill._program import trusted

from . import jobs


def _look_again():
    """Refreshes the panel, since its contents came from the previous program."""
    from . import status  # not at the top, because it imports this module

    forget()
    status.refresh()


class TxmillPreferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    program: bpy.props.StringProperty(
        name="Program", subtype="FILE_PATH", description="Whole path of another txmill program; empty: the one that this extension brings",
        update=lambda self, context: _look_again())
    threads: bpy.props.IntProperty(
        name="Threads", min=0, max=1024, default=0, description="Number of threads; 0: one per processor")
    memory: bpy.props.IntProperty(
        name="Memory", min=0, default=0, description="Memory limit of a conversion in megabytes; 0: no limit")
    before_render: bpy.props.BoolProperty(
        name="Make before Rendering", default=False,
        description="Make missing and outdated tx files before each Cycles render, also in background mode")

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "program")
        found, text = version(self.program)
        layout.label(text=jobs.shown(text), icon="TIME" if found is None else "CHECKMARK" if found else "ERROR")
        layout.prop(self, "threads")
        layout.prop(self, "memory")
        layout.prop(self, "before_render")


_ANSWER_SECONDS = 10
_OLDEST = "0.1.0"  # the oldest version of the program that this extension can use
_versions = {}  # program: (found, text), so that drawing does not start a process each time


def _parts(number):
    return [int(part) for part in re.findall(r"\d+", number)[:3]]


def _ask(program):
    try:
        path = _checked(os.path.expanduser(program)) if program else client.find_program()
        number = client.version(path, timeout=_ANSWER_SECONDS)
        if _parts(number) < _parts(_OLDEST):
            _versions[program] = False, "txmill %s, %s: too old, this extension needs %s or newer" % (number, path, _OLDEST)
        else:
            _versions[program] = True, "txmill %s, %s" % (number, path)
    except (client.TxmillError, OSError) as error:
        _versions[program] = False, str(error)
    except Exception as error:
        _versions[program] = False, jobs.fault(error)
    jobs.later(jobs.redraw)


def _checked(program):
    """A path that depends on the current folder, or a file that anybody may replace, is not run."""
    if not os.path.isabs(program) or program.startswith("//"):  # relative to the scene
        raise client.TxmillError("%s: not a whole path; choose the txmill program by its path from / on" % program)
    found = client.find_program(program)
    if not trusted(found, in_path=True):
        raise client.TxmillError("%s: not run, because it is in a folder that everybody may write to; move it to a folder of yours" % found)
    return found


def forget():
    """Forgets the versions, since a program that was missing or too old may have been installed."""
    _versions.clear()


def require(program):
    """Raises TxmillError with the reason unless the program exists and is new enough. Called in the thread of a job, because
    the program may be slow to answer."""
    key = program or ""
    if not _versions.get(key, (None,))[0]:
        _ask(key)
    found, text = _versions[key]
    if not found:
        raise client.TxmillError(text)


def version(program):
    """(whether the program can be used, its version and path or the reason); (None, text) until this is known, because drawing
    must not wait for a program, or a drive, that does not answer."""
    if program not in _versions:
        _versions[program] = None, "Checking the version of the program"
        if bpy.app.background:
            _ask(program)
        else:
            threading.Thread(target=_ask, args=(program,), name="txmill version", daemon=True).start()
    return _versions[program]


def get():
    return bpy.context.preferences.addons[__package__].preferences


def run_options():
    """Arguments of client.make from these preferences."""
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
