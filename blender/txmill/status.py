# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of the open scene's tx files, read with `txmill list` after loading, saving and making."""
import bpy
import txmill as client
from bpy.app.handlers import persistent

from . import blend, jobs, preferences


class Status:
    """`files`: (image name, path, word of client.State, reason, colour space, alpha type, tx path) of every image file;
    `lost`: (image name, path) of missing files; `left_out`: blend.left_out()."""

    def __init__(self):
        self.scene, self.error, self.files, self.lost, self.left_out = None, None, [], [], []

    def count(self, state):
        return sum(file[2] == state for file in self.files)

    def wanting(self):
        return [file for file in self.files if file[2] not in client.READY]

    def summary(self):
        return ", ".join("%d %s" % (self.count(s), s) for s in client.STATES if self.count(s)) or "no image files"


current = Status()


def from_scene(scene):
    """The Status of a client.Scene."""
    status = Status()
    status.scene = scene.data.get("path")
    for image in scene.images:
        space = (image.get("colorspace") or {}).get("lookup") or "default"
        for file in image.get("files") or []:
            tx = file.get("tx")
            if not file["exists"]:
                status.lost.append((image["name"], file["path"]))
            elif tx:
                status.files.append((image["name"], file["path"], tx["state"], tx.get("reason") or "", space, image["alpha"], tx["path"]))
    return status


_asking = None  # the job that runs; results of earlier jobs are ignored


def refresh():
    """Starts a job that runs the program. A scene that was never saved has no status."""
    global current, _asking
    if _asking:
        _asking.cancel.cancel()
        _asking = None
    path = bpy.data.filepath
    if not path:
        current = Status()
        jobs.redraw()
        return
    options, program, left_out = blend.color_options(), preferences.run_options()["program"], blend.left_out()

    def work(job):
        preferences.require(program)
        return from_scene(client.list_scene(path, program=program, cancel=job.cancel, **options))

    def done(job):
        global current, _asking
        if job is not _asking:
            return
        _asking = None
        if job.cancel.cancelled:
            return
        current = Status() if job.error else job.result
        current.error, current.left_out = job.error, left_out

    job = _asking = jobs.Job("Reading the scene", work, done)
    job.start()


@persistent
def _changed(*_):
    if not bpy.app.background and not blend.copying:
        refresh()


def register():
    bpy.app.handlers.save_post.append(_changed)
    bpy.app.handlers.load_post.append(_changed)


def unregister():
    bpy.app.handlers.save_post.remove(_changed)
    bpy.app.handlers.load_post.remove(_changed)
