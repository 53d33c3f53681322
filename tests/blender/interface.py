# SPDX-License-Identifier: Apache-2.0
"""Run in a Blender with an interface and the extension: blender --enable-event-simulate --python interface.py --
PROGRAM FOLDER. Prints `pass NAME` or `FAIL NAME: why` for each check, and quits Blender."""
import importlib
import os
import shutil
import sys
import time
import traceback

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenes

MODULE = "bl_ext.user_default.txmill"
HEART_SECONDS = 0.02
FILES = 12


def part(name):
    return importlib.import_module("%s.%s" % (MODULE, name))


def check(name, good, why=""):
    print("pass %s" % name if good else "FAIL %s: %s" % (name, why), flush=True)


class Heart:
    """Beats while Blender's main loop runs: the longest pause between two beats is the time for which it was
    blocked. Time for which the thread waited for a processor, on a busy machine, does not count."""

    def __init__(self):
        self.reset()
        bpy.app.timers.register(self.beat, persistent=True)

    def reset(self):
        self.beats, self.longest, self.last = 0, 0.0, self.now()

    @staticmethod
    def now():
        """Returns seconds, without those in which the main thread was ready and had no processor."""
        try:
            with open("/proc/%d/task/%d/schedstat" % (os.getpid(), os.getpid())) as f:
                waited = int(f.read().split()[1]) / 1e9
        except OSError:  # the kernel lacks it
            waited = 0.0
        return time.monotonic() - waited

    def beat(self):
        now = self.now()
        self.beats, self.longest, self.last = self.beats + 1, max(self.longest, now - self.last), now
        return HEART_SECONDS


def window():
    return bpy.context.window_manager.windows[0]


def properties():
    """Returns area and region of the render properties."""
    area = max((a for a in window().screen.areas if a.type == "PROPERTIES"), key=lambda a: a.width * a.height)
    return area, next(r for r in area.regions if r.type == "WINDOW")


def until(condition, seconds=90):
    """Steps that wait until the condition holds."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        yield 0.05


def click(x, y):
    win = window()
    win.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x - 2, y=y)
    yield 0.05
    win.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    yield 0.05
    win.event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y)
    yield 0.05
    win.event_simulate(type="LEFTMOUSE", value="RELEASE", x=x, y=y)
    yield 0.2


def reported(words):
    """Steps that wait until one of Blender's reports, which its Info editor lists, contains the words."""
    def found():
        return any(words in report.message for report in bpy.context.window_manager.reports)
    yield from until(found, 10)
    return found(), [report.message for report in bpy.context.window_manager.reports]


def panel_alone():
    """Hides all other panels of the render properties, so that the extension's buttons are where a click finds them."""
    def below(cls):
        for sub in cls.__subclasses__():
            yield sub
            yield from below(sub)
    ours = part("panel").TXMILL_PT_texture_cache
    for cls in {c for c in below(bpy.types.Panel) if getattr(c, "bl_context", "") == "render" and c.is_registered}:
        bpy.utils.unregister_class(cls)
    ours.bl_parent_id = ""
    bpy.utils.register_class(ours)
    area = max(window().screen.areas, key=lambda a: a.width * a.height)
    area.type = "PROPERTIES"
    area.spaces[0].context = "RENDER"


def drawn(cls):
    """Counts in the returned list how often a panel or the preferences are drawn."""
    counts, inner = [], cls.draw

    def draw(self, context):
        inner(self, context)
        counts.append(time.monotonic())

    cls.draw = draw
    return counts


def big_scene(folder):
    """Makes a scene whose tx files take seconds."""
    scenes.empty()
    bpy.context.scene.render.resolution_x = bpy.context.scene.render.resolution_y = 64
    first = scenes.picture(os.path.join(folder, "big00.png"), 2048, 2048)
    for index in range(FILES):
        path = os.path.join(folder, "big%02d.png" % index)
        if index:
            shutil.copyfile(first, path)
        scenes.shown("m%d" % index, scenes.load(path), index)
    path = os.path.join(folder, "big.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def txs(folder):
    """Returns names in the folder's blender_tx: (tx files, others)."""
    cache = os.path.join(folder, "blender_tx")
    names = os.listdir(cache) if os.path.isdir(cache) else []
    return [n for n in names if n.endswith(".tx")], [n for n in names if not n.endswith(".tx")]


def make_button(heart, folder):
    """Make is clicked: there is progress, the main loop runs, and a click cancels it. Complete files stay."""
    jobs = part("jobs")
    draws = drawn(part("panel").TXMILL_PT_texture_cache)
    area, region = properties()
    area.tag_redraw()
    yield from until(lambda: draws)
    check("panel-drawn", draws)
    scale = bpy.context.preferences.system.ui_scale
    row = None
    for below in range(34, 80, 6):
        x, y = region.x + region.width // 4, region.y + region.height - int(below * scale)
        yield from click(x, y)
        if jobs.current() and "Making" in jobs.current().title:
            row = y
            break
    check("make-by-click", row is not None)
    if row is None:
        return
    job = jobs.current()
    heart.reset()
    begun, drawn_before = time.monotonic(), len(draws)
    yield from until(lambda: job.factor > 0.2 or job.finished.is_set())
    check("progress-moves", 0.2 < job.factor < 1 and " of %d files" % FILES in job.text, (job.factor, job.text))
    check("one-at-a-time", not bpy.ops.txmill.make.poll())
    yield from until(lambda: len(draws) > drawn_before + 2, 10)
    check("progress-drawn", len(draws) > drawn_before + 2, len(draws) - drawn_before)
    # This is the X at the end of the row.
    for inset in (30, 22, 38, 46):
        if job.cancel.cancelled or job.finished.is_set():
            break
        yield from click(region.x + region.width - int(inset * scale), row)
    check("cancel-by-click", job.cancel.cancelled)
    yield from until(lambda: jobs.current() is None)
    seconds = time.monotonic() - begun
    check("never-blocked", heart.longest < min(2.0, seconds / 2), "%.2f of %.2f s" % (heart.longest, seconds))
    print("note interface: %d beats in %.1f s, longest pause %.3f s" % (heart.beats, seconds, heart.longest))
    done, rest = txs(folder)
    check("cancelled", len(done) < FILES and not rest, (done, rest))
    check("cancel-reported", *(yield from reported("Cancelled: %d tx file" % len(done))))


def make_and_render(heart, folder):
    """Make and Render is invoked as by a button: it makes the tx files, then renders without disturbing the
    interface."""
    jobs, ended = part("jobs"), []
    bpy.context.preferences.view.render_display_type = "NONE"
    bpy.app.handlers.render_complete.append(lambda *_: ended.append(True))
    result = bpy.ops.txmill.make_and_render("INVOKE_DEFAULT")
    check("make-and-render-begins", result == {"FINISHED"} and jobs.current() is not None, result)
    heart.reset()
    yield from until(lambda: ended)
    check("make-and-render", ended and len(txs(folder)[0]) == FILES, (ended, txs(folder)))
    check("never-blocked-by-render", heart.longest < 2, heart.longest)
    yield from until(lambda: not bpy.app.is_job_running("RENDER"))
    yield 0.5


def refreshed_after_save(folder):
    """The panel counts the files of the saved scene."""
    jobs, status = part("jobs"), part("status")
    yield from until(lambda: jobs.current() is None)
    check("fresh-after-make", status.current.count("fresh") == FILES, [f[2] for f in status.current.files])
    scenes.shown("added", scenes.load(scenes.picture(os.path.join(folder, "added.png"))), 9)
    bpy.ops.wm.save_mainfile()
    yield from until(lambda: status.current.count("missing") == 1, 30)
    check("refreshed-after-save", (status.current.count("fresh"), status.current.count("missing")) == (FILES, 1),
          [f[2] for f in status.current.files])


def before_render(heart, folder):
    """The handler runs for a render that was started by hand: it is shown and cancelled from the panel, and Cycles
    renders nevertheless."""
    jobs, preferences, ended = part("jobs"), part("preferences").get(), []
    for name in txs(folder)[0]:
        os.remove(os.path.join(folder, "blender_tx", name))
    preferences.before_render = True
    bpy.app.handlers.render_complete.append(lambda *_: ended.append(True))
    heart.reset()
    bpy.ops.render.render("INVOKE_DEFAULT")
    yield from until(lambda: jobs.current() is not None and jobs.current().factor > 0, 30)
    shown = jobs.current()
    check("handler-shown", shown is not None and 0 < shown.factor <= 1, shown)
    check("handler-cancel-can-be-clicked", bpy.ops.txmill.cancel.poll())
    if shown is not None:
        bpy.ops.txmill.cancel("INVOKE_DEFAULT")
    yield from until(lambda: ended)
    yield from until(lambda: not bpy.app.is_job_running("RENDER"))
    done, rest = txs(folder)
    check("handler-cancelled", ended and len(done) < FILES and not rest, (ended, done, rest))
    check("handler-never-blocks", heart.longest < 2, heart.longest)
    preferences.before_render = False
    yield from until(lambda: jobs.current() is None)


def before_render_of_what_is_not_saved(heart, folder):
    """A scene was never saved: the main thread saves a copy for the render, which does not appear among recent
    files."""
    jobs, preferences, ended = part("jobs"), part("preferences").get(), []
    bpy.ops.wm.read_homefile(use_factory_startup=False, use_empty=True, load_ui=False)
    yield 0.5
    top = os.path.join(folder, "never saved")
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples = "CYCLES", 1
    scene.render.resolution_x = scene.render.resolution_y = 16
    scene.collection.objects.link(bpy.data.objects.new("camera", bpy.data.cameras.new("camera")))
    scene.camera = scene.objects["camera"]
    for index in range(2):
        scenes.shown("n%d" % index, scenes.load(scenes.picture(os.path.join(top, "n%d.png" % index), 64, 64, index)), index)
    preferences.before_render = True
    bpy.app.handlers.render_complete.append(lambda *_: ended.append(True))
    heart.reset()
    bpy.ops.render.render("INVOKE_DEFAULT")
    yield from until(lambda: ended, 60)
    yield from until(lambda: not bpy.app.is_job_running("RENDER") and jobs.current() is None)
    check("handler-never-saved", ended and len(txs(top)[0]) == 2, (ended, txs(top)))
    check("handler-never-saved-never-blocks", heart.longest < 2, heart.longest)
    recent = bpy.utils.user_resource("CONFIG", path="recent-files.txt")
    listed = open(recent, encoding="utf-8").read() if os.path.exists(recent) else ""
    check("copy-is-no-recent-file", "txmill-" not in listed and bpy.data.filepath == "", listed)
    preferences.before_render = False


def another_file_meanwhile(heart, folder):
    """A run belongs to the file that was open. Another file is not rendered, and has a status of its own."""
    jobs, status, rendered = part("jobs"), part("status"), []
    small = os.path.join(folder, "small", "small.blend")
    scenes.empty()
    scenes.shown("only", scenes.load(scenes.picture(os.path.join(folder, "small", "only.png"), 32, 32)))
    scenes.save(small)
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "big.blend"), load_ui=False)
    yield from until(lambda: jobs.current() is None)
    for name in txs(folder)[0]:
        os.remove(os.path.join(folder, "blender_tx", name))
    bpy.app.handlers.render_init.append(lambda *_: rendered.append(True))
    bpy.ops.txmill.make_and_render("INVOKE_DEFAULT")
    yield from until(lambda: jobs.current() is None or jobs.current().factor > 0.1)
    bpy.ops.wm.open_mainfile(filepath=small, load_ui=False)
    check("another-file-job-goes-on", jobs.current() is not None)
    yield from until(lambda: jobs.current() is None)
    yield from until(lambda: status.current.files, 20)
    yield 0.5
    check("another-file-made", len(txs(folder)[0]) == FILES + 1, txs(folder))  # one was added
    check("another-file-not-rendered", not rendered and bpy.data.filepath == small, rendered)
    check("another-file-said", *(yield from reported("Another file was opened")))
    check("another-file-status", [os.path.basename(f[1]) for f in status.current.files] == ["only.png"], status.current.files)
    for path in (os.path.join(folder, "big.blend"), small):  # the result for the first file arrives when the second one is open
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
    yield from until(lambda: jobs.current() is None)
    yield 0.3
    check("status-of-the-last-file", [os.path.basename(f[1]) for f in status.current.files] == ["only.png"], status.current.files)


def another_file_while_rendering(heart, folder):
    """A file is opened while the handler makes tx files for a render. Blender waits for neither."""
    jobs, preferences = part("jobs"), part("preferences").get()
    big, small = (os.path.join(folder, name) for name in ("big.blend", os.path.join("small", "small.blend")))
    bpy.ops.wm.open_mainfile(filepath=big, load_ui=False)
    yield from until(lambda: jobs.current() is None)
    for name in txs(folder)[0]:
        os.remove(os.path.join(folder, "blender_tx", name))
    preferences.before_render = True
    bpy.ops.render.render("INVOKE_DEFAULT")
    yield from until(lambda: jobs.current() is not None and jobs.current().factor > 0, 30)
    begun = time.monotonic()
    bpy.ops.wm.open_mainfile(filepath=small, load_ui=False)
    seconds = time.monotonic() - begun
    preferences.before_render = False
    yield from until(lambda: jobs.current() is None and not bpy.app.is_job_running("RENDER"))
    done, rest = txs(folder)
    check("another-file-while-rendering", bpy.data.filepath == small and len(done) < FILES and not rest, (len(done), rest, seconds))


def estimate_and_export(heart, folder):
    """A Blender in the background exports, while this one goes on. The run can be cancelled, and leaves no files."""
    jobs, operators, said = part("jobs"), part("operators"), []
    show, operators.show = operators.show, lambda title, lines: said.append((title, lines))
    bpy.ops.txmill.make("INVOKE_DEFAULT")
    yield from until(lambda: jobs.current() is None)
    heart.reset()
    bpy.ops.txmill.estimate("INVOKE_DEFAULT")
    check("estimate-begins", jobs.current() is not None and not bpy.ops.txmill.estimate.poll())
    yield from until(lambda: jobs.current() is None, 60)
    check("estimate-shown", said and said[-1][0] == "Estimate" and "at 50 %" in said[-1][1][0] and "only.png: " in said[-1][1][1], said)
    check("estimate-never-blocks", heart.longest < 2, heart.longest)
    bpy.ops.txmill.estimate("INVOKE_DEFAULT")
    yield 0.3
    bpy.ops.txmill.cancel("INVOKE_DEFAULT")
    yield from until(lambda: jobs.current() is None, 20)
    check("estimate-cancelled", *(yield from reported("Cancelled: nothing was estimated")))
    target = os.path.join(folder, "exported")
    bpy.ops.txmill.export_scene("EXEC_DEFAULT", filepath=target)
    yield from until(lambda: jobs.current() is None, 60)
    check("export-reported", *(yield from reported("1 instances of 1 meshes")))
    check("export-written", os.path.exists(os.path.join(target, "scene.txt")))
    operators.show = show


def program_that_does_not_answer(heart, folder):
    """A program that ignores SIGTERM is killed by the second Cancel. One that does not even print its version blocks
    nothing."""
    jobs, preferences = part("jobs"), part("preferences")
    program, deaf = preferences.get().program, os.path.join(folder, "deaf")
    with open(deaf, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\ntrap '' TERM\nexec sleep 600\n")
    os.chmod(deaf, 0o755)
    heart.reset()
    refresh = part("status").refresh
    part("status").refresh = lambda: None  # otherwise the job that examines the scene would be cancelled
    preferences.get().program = deaf
    check("version-is-asked-for", preferences.version(deaf)[0] is None, preferences.version(deaf))
    area, _ = properties()
    area.tag_redraw()
    bpy.ops.txmill.make("INVOKE_DEFAULT")
    job = jobs.current()
    yield 0.5
    bpy.ops.txmill.cancel("INVOKE_DEFAULT")
    yield 0.5
    check("deaf-goes-on", jobs.current() is job)
    preferences.get().program = program  # the next test needs a program that answers
    part("status").refresh = refresh
    job.cancel._since -= job.cancel._PATIENCE_SECONDS
    bpy.ops.txmill.cancel("INVOKE_DEFAULT")
    yield from until(lambda: jobs.current() is not job, 20)
    check("deaf-is-killed", jobs.current() is not job)
    yield from until(lambda: preferences.version(deaf)[0] is False, 30)
    check("version-not-known", "does not answer" in preferences.version(deaf)[1], preferences.version(deaf))
    check("deaf-never-blocks", heart.longest < 2, heart.longest)
    yield from until(lambda: jobs.current() is None, 30)


def program_missing():
    """With a path that leads nowhere, panel, preferences and reports show a readable error."""
    preferences, jobs = part("preferences").get(), part("jobs")
    program, preferences.program = preferences.program, "/nowhere/txmill"
    draws = drawn(part("preferences").TxmillPreferences)
    bpy.ops.preferences.addon_show(module=MODULE)
    yield from until(lambda: draws, 20)
    check("preferences-drawn", draws)
    yield 0.3
    bpy.ops.txmill.make("INVOKE_DEFAULT")
    yield from until(lambda: jobs.current() is None)
    check("missing-reported", *(yield from reported("/nowhere/txmill: no such program")))
    preferences.program = program
    yield 0.5
    check("version-in-preferences", part("preferences").version(program)[0], part("preferences").version(program))


def all_steps(program, folder):
    heart = Heart()
    part("preferences").get().program = program
    part("preferences").get().threads = 1
    bpy.ops.wm.open_mainfile(filepath=big_scene(folder), load_ui=False)
    yield 1
    panel_alone()
    yield 1
    yield from make_button(heart, folder)
    yield from make_and_render(heart, folder)
    yield from refreshed_after_save(folder)
    yield from before_render(heart, folder)
    yield from before_render_of_what_is_not_saved(heart, folder)
    yield from another_file_meanwhile(heart, folder)
    yield from another_file_while_rendering(heart, folder)
    yield from estimate_and_export(heart, folder)
    yield from program_that_does_not_answer(heart, folder)
    yield from program_missing()
    print("pass end-of-interface", flush=True)


def main():
    steps = all_steps(*sys.argv[sys.argv.index("--") + 1:][:2])

    def step():
        try:
            return next(steps)
        except StopIteration:
            pass
        except Exception:
            traceback.print_exc()
        bpy.context.preferences.is_dirty = False
        bpy.ops.wm.quit_blender()
        return None

    bpy.app.timers.register(step, first_interval=2, persistent=True)


main()
