# SPDX-License-Identifier: GPL-3.0-or-later
"""The buttons: make, make and render, explain, report."""
import contextlib
import os
import pathlib

import bpy
import txmill as client

from . import blend, jobs, preferences, status


def report(kind, text):
    """Shows a report at the end of a job, by an operator for this purpose, because the one that started the job has ended."""
    jobs.say("%s: %s" % (kind.lower(), text))
    windows = bpy.context.window_manager.windows
    if windows and not bpy.app.background:  # in the background there are windows too, but they are not visible
        with bpy.context.temp_override(window=windows[0]):
            bpy.ops.txmill.report("INVOKE_DEFAULT", kind=kind, text=jobs.shown(text))


def make_job(done):
    """A job that makes the scene's missing and outdated tx files. Its result is (client.MakeRun, kind of report, text);
    `done(job)` as in jobs.Job."""
    options = {**blend.color_options(), **preferences.run_options()}
    keep = contextlib.ExitStack()  # keeps the copy of an unsaved scene until the job ends
    path = keep.enter_context(blend.as_file())

    def work(job):
        return make(path, progress=job.progress, cancel=job.cancel, **options)

    def end(job):
        keep.close()
        done(job)

    return jobs.Job("Making tx files", work, end)


def make(path, **options):
    """Runs client.make for a .blend file and returns (client.MakeRun, kind of report, text). If the file is a copy of the
    scene, the text has the path of the scene."""
    preferences.require(options.get("program"))
    try:
        run = client.make(path, **options)
    except client.TxmillError as error:
        raise client.TxmillError(blend.named(str(error), path), error.exit_code) from error
    kind, text = summary(run)
    return run, kind, blend.named(text, path)


def tx_files(count):
    return "%d tx file%s" % (count, "" if count == 1 else "s")


def about(made):
    """(path, sentence) of a file that failed; most messages are about the file, and begin with its path."""
    error = made.error
    if error and error.subject == made.input:
        return made.input, error.message[len(error.subject) + len(": "):]
    return "", error.message if error else "failed"


def once(pairs):
    """Lines of text for pairs (what, sentence): a sentence that applies to several is one line, with their number."""
    groups = {}
    for what, sentence in pairs:
        groups.setdefault(sentence, []).append(what)
    lines = []
    for sentence, whats in groups.items():
        named = list(dict.fromkeys(what for what in whats if what))
        line = "%s: %s" % (named[0], sentence) if named else sentence
        lines.append(line if len(whats) == 1 else "%s (%d times)" % (line, len(whats)) if len(named) < 2 else
                     "%s and %d more: %s" % (named[0], len(named) - 1, sentence))
    return lines


def left_out():
    """Lines of text about images without a tx file."""
    return once((name, "no tx file, the image is %s%s" % (reason, "; Unpack Images writes it beside the scene" if reason == blend.PACKED else ""))
                for name, reason in blend.left_out())


def summary(run):
    """(kind of report, text) about a client.MakeRun."""
    failed = once(about(f) for f in run.failed)
    if run.cancelled:
        return "WARNING", "Cancelled: %s made before that" % tx_files(len(run.created))
    counts = "%s made, %d up to date" % (tx_files(len(run.created)), len(run.up_to_date))
    if failed:
        more = ", and %d more" % (len(failed) - 3) if len(failed) > 3 else ""
        # Missing images are only a warning, since they were missing before and the other images are made.
        only_missing = all(f.error and f.error.status == "not-found" for f in run.failed) and len(run.failed) < len(run.files)
        return "WARNING" if only_missing else "ERROR", "%s, %d failed: %s%s" % (
            counts, len(run.failed), "; ".join(failed[:3]), more)
    return "INFO", counts


class Making:
    """Base of the operators that start a job; there is one job at a time."""

    @classmethod
    def poll(cls, context):
        if jobs.current():
            cls.poll_message_set("txmill is already running")
            return False
        return True

    def begin(self, job):
        """Starts the job and returns the operator's result."""
        for line in left_out():
            self.report({"WARNING"}, jobs.shown(line))
        job.start()
        if not bpy.app.background:
            return {"FINISHED"}
        run, kind, _ = job.result or (None, "ERROR", None)
        return {"FINISHED"} if run and not run.cancelled and kind != "ERROR" else {"CANCELLED"}


class TXMILL_OT_make(Making, bpy.types.Operator):
    bl_idname = "txmill.make"
    bl_label = "Make"
    bl_description = "Make the missing and outdated tx files of this scene"

    def execute(self, context):
        def done(job):
            report(*(job.result[1:] if job.result else ("ERROR", job.error)))
            status.refresh()

        try:
            return self.begin(make_job(done))
        except (RuntimeError, OSError) as error:
            self.report({"ERROR"}, jobs.shown(error))
            return {"CANCELLED"}


class TXMILL_OT_make_and_render(Making, bpy.types.Operator):
    bl_idname = "txmill.make_and_render"
    bl_label = "Make and Render"
    bl_description = "Make the missing and outdated tx files of this scene, then render the picture"

    animation: bpy.props.BoolProperty(name="Animation", description="Render the animation instead of a picture", options={"SKIP_SAVE"})

    def execute(self, context):
        animation, opened = self.animation, blend.opened

        def done(job):
            status.refresh()
            run, kind, text = job.result or (None, "ERROR", job.error)
            if not run or not run.ok:
                report(kind, text)
            if not run or run.cancelled:
                return
            if blend.opened != opened:
                report("WARNING", "Another file was opened in the meantime: nothing is rendered")
                return
            # If some tx files could not be made, Cycles renders without them.
            if bpy.app.background:
                bpy.ops.render.render(animation=animation, write_still=not animation)
            else:
                bpy.ops.render.render("INVOKE_DEFAULT", animation=animation)

        try:
            return self.begin(make_job(done))
        except (RuntimeError, OSError) as error:
            self.report({"ERROR"}, jobs.shown(error))
            return {"CANCELLED"}


class TXMILL_OT_cancel(bpy.types.Operator):
    bl_idname = "txmill.cancel"
    bl_label = "Cancel"
    bl_description = "Stop txmill; tx files that are complete stay"

    @classmethod
    def poll(cls, context):
        return jobs.current() is not None

    def execute(self, context):
        jobs.current().cancel.cancel()
        return {"FINISHED"}


class TXMILL_OT_refresh(bpy.types.Operator):
    bl_idname = "txmill.refresh"
    bl_label = "Refresh"
    bl_description = "Look again which tx files of the saved scene are there"

    def execute(self, context):
        preferences.forget()
        status.refresh()
        if status.current.error:
            self.report({"WARNING"}, jobs.shown(status.current.error))
        return {"FINISHED"}


class TXMILL_OT_explain(bpy.types.Operator):
    bl_idname = "txmill.explain"
    bl_label = "Explain"
    bl_description = "Show which tx file Cycles looks for, and why it does not use an existing one"

    path: bpy.props.StringProperty(name="Image", subtype="FILE_PATH", options={"SKIP_SAVE", "PATH_SUPPORTS_BLEND_RELATIVE"})
    colorspace: bpy.props.StringProperty(name="Colour Space", default="default", options={"SKIP_SAVE"})
    alpha: bpy.props.StringProperty(name="Alpha", default="default", options={"SKIP_SAVE"})

    def execute(self, context):
        options, program = blend.color_options(), preferences.run_options()["program"]
        path, colorspace, alpha = bpy.path.abspath(self.path), self.colorspace, self.alpha

        def work(job):
            preferences.require(program)
            found = client.resolve(path, colorspace=colorspace, alpha_type=alpha, program=program, cancel=job.cancel, **options)
            return [line for resolved in found for line in explanation(resolved)]

        def done(job):
            show("Explain", [job.error] if job.error else job.result or ["txmill printed nothing about %s" % path])

        job = jobs.Job("Explaining", work, done).start()
        return {"CANCELLED"} if bpy.app.background and job.error else {"FINISHED"}


def explanation(resolved):
    """Lines of text about a client.Resolved."""
    lines = ["%s is %s" % (os.path.basename(resolved.image), resolved.state)]
    if resolved.tx:
        lines.append("Cycles looks for %s" % resolved.tx)
    if resolved.reason:
        lines.append(resolved.reason)
    if resolved.shows:
        lines.append("Cycles %s" % resolved.shows)
    if resolved.error:
        lines.append(resolved.error.message)
    for other in resolved.data.get("others") or []:
        lines.append("%s: %s" % (other["path"], other["difference"]))
    return lines


def show(title, lines):
    lines = [jobs.shown(line) for line in lines]
    print("\n".join(["txmill: %s" % title] + lines))
    if bpy.app.background:
        return

    def draw(menu, context):
        for line in lines:
            menu.layout.label(text=line)

    bpy.context.window_manager.popup_menu(draw, title=title)


class TXMILL_OT_open_report(bpy.types.Operator):
    bl_idname = "txmill.open_report"
    bl_label = "Open Report"
    bl_description = "Show the tx files of this scene in the browser: levels, tiles, sizes"

    filepath: bpy.props.StringProperty(name="Page", subtype="FILE_PATH", options={"SKIP_SAVE", "PATH_SUPPORTS_BLEND_RELATIVE"},
                                       description="Path of the page; empty: a temporary file")

    def execute(self, context):
        shown = (client.State.FRESH, client.State.SOURCE, client.State.OUTDATED)
        files = [file[6] for file in status.current.files if file[2] in shown and file[6]]
        if not files:
            self.report({"WARNING"}, "The scene has no tx files yet: press Make, or Refresh if there are some")
            return {"CANCELLED"}
        page = bpy.path.abspath(self.filepath) or os.path.join(bpy.app.tempdir, "txmill-textures.html")
        program = preferences.run_options()["program"]

        def work(job):
            preferences.require(program)
            return client.write_page(page, files, program=program, cancel=job.cancel)

        def done(job):
            if job.error:
                report("ERROR", job.error)
            elif not bpy.app.background:
                bpy.ops.wm.url_open(url=pathlib.Path(page).as_uri())

        job = jobs.Job("Writing the report", work, done).start()
        return {"CANCELLED"} if bpy.app.background and job.error else {"FINISHED"}


class TXMILL_OT_report(bpy.types.Operator):
    """Blender shows reports only of operators that run in its event loop, not of those that Python calls. This one therefore
    waits for the loop."""
    bl_idname = "txmill.report"
    bl_label = "txmill"
    bl_options = {"INTERNAL"}

    kind: bpy.props.StringProperty(default="INFO")
    text: bpy.props.StringProperty()

    def invoke(self, context, event):
        self.timer = context.window_manager.event_timer_add(0.01, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        context.window_manager.event_timer_remove(self.timer)
        self.report({self.kind}, self.text)
        return {"FINISHED", "PASS_THROUGH"}


_classes = (TXMILL_OT_make, TXMILL_OT_make_and_render, TXMILL_OT_cancel, TXMILL_OT_refresh, TXMILL_OT_explain,
            TXMILL_OT_open_report, TXMILL_OT_report)


def register():
    for cls in _classes:
        bpy.utils.register_class(cls)


def unregister():
    for cls in reversed(_classes):
        bpy.utils.unregister_class(cls)
