# SPDX-License-Identifier: GPL-3.0-or-later
"""Background jobs: a thread that runs the program, and a timer that passes its results to the main thread.

The timer always runs, because jobs may be started in threads that must not touch Blender's timers. Without an interface
(`blender -b`) a job runs at once in the thread that starts it.
"""
import contextlib
import functools
import threading
import traceback

import bpy
import txmill as client
from bpy.app.handlers import persistent

POLL_SECONDS = 0.1  # while something runs
IDLE_SECONDS = 0.5

_running = []
_errands = []  # functions of other threads, to be called in the main one


def shown(text, most=1000):
    """A text that Blender can show on one line: file names and output of programs may have any bytes and any length."""
    plain = str(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    plain = "".join(c if c.isprintable() else " " for c in plain[:most + 1])
    return plain if len(plain) <= most else plain[:most - 1] + "…"


def say(text):
    """Prints a line."""
    print("txmill: %s" % shown(text))


def fault(error):
    """A sentence about an exception that nobody expected."""
    if bpy.app.debug_python:
        traceback.print_exception(error)
    return ("This is a fault of the extension, or txmill is of another version (%s: %s). Blender shows where if it is started with "
            "--debug-python" % (type(error).__name__, error))


class Job:
    """`work(job)` runs in a thread and must not touch bpy; `done(job)` runs in the main thread afterwards, with
    job.result or job.error set. `work` passes job.cancel on and sets job.factor (0..1) and job.text."""

    def __init__(self, title, work, done=None):
        self.title, self.work, self.done = title, work, done
        self.cancel = client.Cancel()
        self.factor, self.text = 0.0, title
        self.result, self.error = None, None
        self.finished = threading.Event()
        self.awaited = False  # one of Blender's threads waits for its end

    def _run(self):
        try:
            self.result = self.work(self)
        except (client.TxmillError, OSError) as error:
            self.error = str(error)
        except Exception as error:  # shown to the user like the others
            self.error = fault(error)
        finally:
            self.finished.set()

    def start(self):
        _running.append(self)
        if bpy.app.background:
            self._run()
            poll()
            return self
        threading.Thread(target=self._run, name="txmill", daemon=True).start()
        return self

    def run_here(self):
        """Runs the job in this thread, which is not the main one; the panel shows it and can cancel it."""
        self.awaited = True
        _running.append(self)
        self._run()
        return self

    def progress(self, news):
        """For client.make."""
        self.factor = news.percent / 100
        self.text = "%d of %d files, %.0f of %.0f MP" % (news.files_done, news.files, news.megapixels_done, news.megapixels)


def later(function):
    """Has the main thread call a function at the next tick of the timer."""
    if not bpy.app.background:
        _errands.append(function)


def in_main_thread(function, seconds=30):
    """Has the main thread call a function, and waits for it in another thread. Returns False if the function failed or was
    not called in time."""
    called, good = threading.Event(), []

    def errand():
        try:
            function()
            good.append(True)
        except (RuntimeError, OSError) as error:
            say(error)
        finally:
            called.set()

    _errands.append(errand)
    if not called.wait(seconds):
        with contextlib.suppress(ValueError):
            _errands.remove(errand)
    return bool(good)


def poll():
    """Called by the timer: runs errands, ends finished jobs and redraws panels. Returns the seconds until the next call."""
    calls = [_errands.pop(0) for _ in range(len(_errands))]
    ended = [job for job in _running if job.finished.is_set()]
    for job in ended:
        _running.remove(job)
        if job.done:
            calls.append(functools.partial(job.done, job))
    for call in calls:
        try:
            call()
        except Exception as error:  # the timer must keep running
            say(fault(error))
    if not (ended or _running):
        return IDLE_SECONDS
    redraw()
    return POLL_SECONDS


def redraw():
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("PROPERTIES", "PREFERENCES"):
                area.tag_redraw()


def current():
    """The job that the panel shows, or None."""
    return _running[0] if _running else None


@persistent
def _loading(*_):
    """Before Blender opens another file it waits for the render, and so for the jobs that the render waits for."""
    for job in _running:
        if job.awaited:
            job.cancel.cancel()


@persistent
def _leaving(*_):
    for job in _running:
        job.cancel.cancel()


def register():
    bpy.app.handlers.load_pre.append(_loading)
    bpy.app.handlers.exit_pre.append(_leaving)
    if not bpy.app.background:
        # Persistent, so that it keeps running when another file is opened.
        bpy.app.timers.register(poll, first_interval=IDLE_SECONDS, persistent=True)


def unregister():
    bpy.app.handlers.load_pre.remove(_loading)
    bpy.app.handlers.exit_pre.remove(_leaving)
    _leaving()
    for job in list(_running):
        job.finished.wait(30)
    _running.clear()
    if bpy.app.timers.is_registered(poll):
        bpy.app.timers.unregister(poll)
