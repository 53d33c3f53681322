# SPDX-License-Identifier: Apache-2.0
"""One function per command: arguments in, typed results out."""
from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any, Callable, Iterator, List, Optional, Sequence, Union

from . import _words
from ._program import Cancel, Json, Run, StrPath, TxmillError, list_file, path_arguments, text_of

_CANCELLED = (129, 130, 143, 152)
# Globs with a slash at their beginning are relative to the given folder.
_NO_SUBFOLDERS = "--exclude=/*/*"
_PROGRESS = re.compile(r"^txmill: progress (\d+)% \((\d+) of (\d+) files, ([\d.]+) of ([\d.]+) MP\b")

Paths = Union[StrPath, Sequence[StrPath]]


@dataclass(frozen=True)
class ErrorInfo:
    """Why something failed. `status` is a stable word, such as "not-found"; if `retryable` is set, a retry may succeed.
    The message begins with its subject, which is most often a path, and ends with its advice, if it has them."""

    status: str
    message: str
    retryable: bool
    subject: Optional[str] = None
    advice: Optional[str] = None


@dataclass(frozen=True)
class Progress:
    """The progress of a run of `make`."""

    percent: int
    files_done: int
    files: int
    megapixels_done: float
    megapixels: float


@dataclass(frozen=True)
class Made:
    """The result of `make` for one input. `data` is the JSON object, described by make.schema.json."""

    input: str
    state: str  # a word of _words.Made
    tx: Optional[str]
    error: Optional[ErrorInfo]
    data: Json = field(repr=False)


@dataclass(frozen=True)
class Failed(Made):
    """An input for which `make` failed."""

    error: ErrorInfo


@dataclass(frozen=True)
class MakeRun:
    """The results of a run of `make`."""

    files: List[Made]
    summary: Json
    cancelled: bool

    @property
    def created(self) -> List[Made]:
        return [f for f in self.files if f.state == _words.Made.CREATED]

    @property
    def up_to_date(self) -> List[Made]:
        return [f for f in self.files if f.state == _words.Made.UP_TO_DATE]

    @property
    def failed(self) -> List[Failed]:
        return [f for f in self.files if isinstance(f, Failed)]

    @property
    def ok(self) -> bool:
        """Whether no input failed and the run was not cancelled."""
        return not self.failed and not self.cancelled


@dataclass(frozen=True)
class Info:
    """What is inside one tx file, described by info.schema.json, or why it cannot be read."""

    file: str
    error: Optional[ErrorInfo]
    data: Json = field(repr=False)


class _Shown:
    data: Json

    @property
    def shows(self) -> Optional[str]:
        """What Cycles does, as "uses it" or "renders magenta where tile 3,2 of level 0 is damaged". None: not known."""
        return text_of(self.data, "shows")


@dataclass(frozen=True)
class Verdict(_Shown):
    """The result of `verify` for one tx file."""

    file: str
    good: bool
    findings: List[Json]
    error: Optional[ErrorInfo]
    data: Json = field(repr=False)


@dataclass(frozen=True)
class Resolved(_Shown):
    """The tx file that Cycles would load for one image. `state` is one of STATES, or "failed"."""

    image: str
    state: str
    tx: Optional[str]
    reason: Optional[str]
    error: Optional[ErrorInfo]
    data: Json = field(repr=False)


@dataclass(frozen=True)
class Checked(_Shown):
    """The result of `check` for one texture. `id` is a word of Check, or the id of a lint finding. `message` is None if `id` needs no explanation."""

    image: str
    id: str
    severity: str  # "note", "warning" or "error"
    ignored: bool
    tx: Optional[str]
    message: Optional[str]
    data: Json = field(repr=False)


@dataclass(frozen=True)
class CheckRun:
    """Whether a scene or folder is ready to render, with its textures. `summary` counts the textures by state."""

    ready: bool
    textures: List[Checked]
    summary: Json


@dataclass(frozen=True)
class Setting:
    """A setting that applies to `path`. `origin`: "default", the variable, or the `.txmill` file and line that set it."""

    path: str
    setting: str
    value: Optional[str]
    origin: str


@dataclass(frozen=True)
class Removed:
    """A file that `gc` removed, or would remove (`state`: "removed" or "would-remove"). Files of a store have no
    `reason`, because they are removed by age and size."""

    path: str
    state: str
    reason: Optional[str]
    bytes: int
    data: Json = field(repr=False)


@dataclass(frozen=True)
class GcRun:
    """The results of a run of `gc`. `summary` counts the files that were found, kept and removed."""

    files: List[Removed]
    summary: Json

    @property
    def ok(self) -> bool:
        """Whether no removal failed."""
        return not self.summary.get("failed")


@dataclass(frozen=True)
class Fact:
    """One line of `doctor`. `health`: "good", "note" or "bad"."""

    part: str
    name: str
    value: str
    health: str


@dataclass(frozen=True)
class Needed:
    """A file that scenes need. `role`: "scene", "library", "image", "movie" or "tx"; `state`: "ready", "missing" or, of a tx
    file, a word of _words.State; `frames`: those of the render that need it, such as "1-10,20", None: all."""

    path: str
    role: str
    state: str
    frames: Optional[str]
    data: Json = field(repr=False)


@dataclass(frozen=True)
class Restored:
    """A file of a manifest. `state`: "unchanged", "restored", "would-restore", "different", "missing", "refused" or
    "failed"."""

    path: str
    state: str
    reason: Optional[str]
    error: Optional[ErrorInfo]
    data: Json = field(repr=False)


@dataclass(frozen=True)
class Scene:
    """The images of one .blend file, as list.schema.json describes them."""

    scene: str
    data: Json = field(repr=False)
    images: List[Json] = field(repr=False)
    libraries: List[Json] = field(repr=False)
    findings: List[Json] = field(repr=False)


def _error_of(o: Json) -> Optional[ErrorInfo]:
    e = o.get("error")
    if not isinstance(e, dict):
        return None
    return ErrorInfo(str(e.get("status", "")), text_of(e, "message") or "", bool(e.get("retryable", False)),
                     text_of(e, "subject"), text_of(e, "advice"))


def _made_of(o: Json) -> Made:
    image, state, tx, error = text_of(o, "input") or "", str(o.get("state", "")), text_of(o, "tx"), _error_of(o)
    if state == _words.Made.FAILED:
        return Failed(image, state, tx, error or ErrorInfo("failed", f"{image}: failed", False), o)
    return Made(image, state, tx, error, o)


# Parameters of a function that are not options of its command, and options that have another name than their parameter.
_OWN = {"recursive", "extra", "progress", "cancel", "program", "keep_for"}
_NAMES = {"threads": "jobs", "rules": "rule", "limits": "limit", "roles": "role", "archive": "zip"}


def _run(command: str, given: Json, paths: str, *, words: Sequence[str] = (),
         on_error_line: Optional[Callable[[str], None]] = None) -> Run:
    """A run of a command with the arguments of the function that calls this, its `locals()`, of which `paths` has the paths.
    True is a flag, None and False are left out, and a sequence gives an option for each of its items."""
    options = [*words, "--json"]
    for name, value in given.items():
        option = "--" + _NAMES.get(name, name).replace("_", "-")
        if name in _OWN or name == paths or value is None or value is False:
            continue
        if value is True:
            options.append(option)
        elif hasattr(value, "__iter__") and not isinstance(value, str):
            options += [f"{option}={item}" for item in value]
        else:
            options.append(f"{option}={value}")
    if not given.get("recursive", True):
        options.append(_NO_SUBFOLDERS)
    options += given.get("extra", ())
    return Run(command, options, path_arguments(given[paths]) if paths else [], program=given["program"], cancel=given["cancel"],
               on_error_line=on_error_line)


def iter_make(
    paths: Paths,
    *,
    recursive: bool = True,
    colorspace: Optional[str] = None,
    alpha_type: Optional[str] = None,
    cache_dir: Optional[StrPath] = None,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    path_map: Sequence[str] = (),
    every_variant: bool = False,
    preset: Optional[str] = None,
    rules: Sequence[str] = (),
    limits: Sequence[str] = (),
    force: bool = False,
    dry_run: bool = False,
    strict: bool = False,
    threads: Optional[int] = None,
    max_memory: Optional[str] = None,
    shard: Optional[str] = None,
    extra: Sequence[str] = (),
    progress: Optional[Callable[[Progress], None]] = None,
    cancel: Optional[Cancel] = None,
    program: Optional[StrPath] = None,
) -> Iterator[Union[Made, Json]]:
    """Like `make`, but yields each `Made` as soon as it is done, and the summary, a dict, at the end.

    Closing the iterator early stops the program.
    """
    given = dict(locals())

    def on_error_line(line: str) -> None:
        found = _PROGRESS.match(line)
        if found and progress is not None:
            progress(Progress(int(found[1]), int(found[2]), int(found[3]), float(found[4]), float(found[5])))

    run = _run("make", given, "paths", words=["--progress"] if progress is not None else [],
               on_error_line=on_error_line if progress is not None else None)
    summary: Optional[Json] = None
    for o in run:
        if o.get("type") == "summary":
            summary = o
        elif o.get("type") == "file":
            yield _made_of(o)
    if summary is None and cancel is not None and cancel.cancelled:
        # Stopped before the program started to work.
        yield {"type": "summary", "inputs": 0, "created": 0, "failed": 0, "exit_code": 143}
        return
    # With 3 and 4 some inputs failed; they are among the results.
    run.expect(0, 3, 4, *_CANCELLED)
    if summary is None:
        raise TxmillError("txmill make printed no summary", run.code)
    yield summary


def make(
    paths: Paths,
    *,
    recursive: bool = True,
    colorspace: Optional[str] = None,
    alpha_type: Optional[str] = None,
    cache_dir: Optional[StrPath] = None,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    path_map: Sequence[str] = (),
    every_variant: bool = False,
    preset: Optional[str] = None,
    rules: Sequence[str] = (),
    limits: Sequence[str] = (),
    force: bool = False,
    dry_run: bool = False,
    strict: bool = False,
    threads: Optional[int] = None,
    max_memory: Optional[str] = None,
    shard: Optional[str] = None,
    extra: Sequence[str] = (),
    progress: Optional[Callable[[Progress], None]] = None,
    cancel: Optional[Cancel] = None,
    program: Optional[StrPath] = None,
) -> MakeRun:
    """Converts images, folders (with their subfolders, unless `recursive=False`), UDIM or frame patterns, and .blend scenes
    into tx files.

    `extra` is a list of further arguments, `progress` is called with a `Progress` from another thread, and `cancel` is a
    `Cancel` that stops the run. Inputs that fail are in the result (`failed`); `TxmillError` is raised only if the run
    fails as a whole.
    """
    items = iter_make(**locals())
    files: List[Made] = []
    summary: Json = {}
    for item in items:
        if isinstance(item, Made):
            files.append(item)
        else:
            summary = item
    return MakeRun(files, summary, summary.get("exit_code") in _CANCELLED)


def info(paths: Paths, *, program: Optional[StrPath] = None, cancel: Optional[Cancel] = None) -> List[Info]:
    """Shows what is inside tx files, in the order given."""
    run = _run("info", locals(), "paths")
    found = [Info(text_of(o, "file") or "", _error_of(o), o) for o in run if "file" in o]
    run.expect(0, 3, 4, 5)
    return found


def verify(
    paths: Paths,
    *,
    deep: bool = False,
    ocio: Optional[StrPath] = None,
    blender: Optional[str] = None,
    threads: Optional[int] = None,
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> List[Verdict]:
    """Checks tx files; `deep` converts their sources again and compares."""
    run = _run("verify", locals(), "paths")
    verdicts = [
        Verdict(text_of(o, "file") or "", bool(o.get("good", False)), list(o.get("findings", [])), _error_of(o), o)
        for o in run
        if "file" in o
    ]
    run.expect(0, 3, 4, 5)
    return verdicts


def _resolved(run: Run) -> List[Resolved]:
    found = [
        Resolved(text_of(o, "image") or "", "failed" if "error" in o else str(o.get("state", "")), text_of(o, "path"),
                 text_of(o, "reason"), _error_of(o), o)
        for o in run
        if "image" in o
    ]
    run.expect(0, 3, 4, 5)
    return found


def resolve(
    images: Paths,
    *,
    colorspace: Optional[str] = None,
    alpha_type: Optional[str] = None,
    cache_dir: Optional[StrPath] = None,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    path_map: Sequence[str] = (),
    every_variant: bool = False,
    limits: Sequence[str] = (),
    adopt: bool = False,
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> List[Resolved]:
    """Finds the tx file that Cycles would load for each image with these settings, and says why if there is none. `adopt`
    renames the tx files of renamed images, if they have the same pixels."""
    return _resolved(_run("resolve", locals(), "images"))


def refresh(
    paths: Paths,
    *,
    deep: bool = False,
    colorspace: Optional[str] = None,
    alpha_type: Optional[str] = None,
    cache_dir: Optional[StrPath] = None,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    path_map: Sequence[str] = (),
    every_variant: bool = False,
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> List[Resolved]:
    """Gives tx files the times of their images again, where the images have the content of which the files were made.
    `data["refreshed"]` says of which."""
    return _resolved(_run("refresh", locals(), "paths"))


def check(
    paths: Paths,
    *,
    recursive: bool = True,
    deep: bool = False,
    lint: bool = False,
    ignore: Sequence[str] = (),
    colorspace: Optional[str] = None,
    alpha_type: Optional[str] = None,
    cache_dir: Optional[StrPath] = None,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    path_map: Sequence[str] = (),
    every_variant: bool = False,
    preset: Optional[str] = None,
    rules: Sequence[str] = (),
    limits: Sequence[str] = (),
    threads: Optional[int] = None,
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> CheckRun:
    """Checks whether scenes, folders (with their subfolders, unless `recursive=False`) or images are ready to render; `deep`
    decodes every tile.

    If a texture is not ready, no exception is raised: `ready` is False, and the texture has the reason.
    """
    run = _run("check", locals(), "paths")
    textures: List[Checked] = []
    summary: Json = {}
    for o in run:
        if o.get("type") == "summary":
            summary = o
        elif "image" in o:
            textures.append(Checked(text_of(o, "image") or "", str(o.get("id", "")), str(o.get("severity", "")),
                                    bool(o.get("ignored", False)), text_of(o, "tx"), text_of(o, "message"), o))
    run.expect(0, 3, 4, 5)
    if not summary:
        raise TxmillError("txmill check printed no summary", run.code)
    return CheckRun(bool(summary.get("ready", False)), textures, summary)


def settings(
    paths: Paths = os.curdir, *, program: Optional[StrPath] = None, cancel: Optional[Cancel] = None
) -> List[Setting]:
    """The settings that apply to each path, and where each was set."""
    run = _run("settings", locals(), "paths")
    found = [
        Setting(text_of(o, "path") or "", str(o["setting"]), text_of(o, "value"), text_of(o, "origin") or "")
        for o in run
        if "setting" in o
    ]
    run.expect(0)
    return found


def gc(
    folders: Paths = (),
    *,
    keep_for: Sequence[StrPath] = (),
    delete: bool = False,
    missing_folders: bool = False,
    store: Optional[StrPath] = None,
    older_than: Optional[str] = None,
    max_size: Optional[str] = None,
    cache_dir: Optional[StrPath] = None,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    path_map: Sequence[str] = (),
    every_variant: bool = False,
    preset: Optional[str] = None,
    rules: Sequence[str] = (),
    limits: Sequence[str] = (),
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> GcRun:
    """Finds unneeded tx files, or with `store` the least recently used ones of a store.

    Nothing is removed without `delete=True`. With `keep_for`, a list of scenes and image folders, files that none of them
    uses count as unneeded too. `older_than` is an age such as "30d", `max_size` a size such as "200G".
    """
    given = dict(locals())
    files: List[Removed] = []
    summary: Json = {}
    with list_file(keep_for) as kept:
        run = _run("gc", given, "folders", words=[f"--keep-for={name}" for name in kept])
        for o in run:
            if o.get("type") == "summary":
                summary = o
            elif o.get("type") == "file":
                files.append(Removed(text_of(o, "path") or "", str(o.get("state", "")), text_of(o, "reason"),
                                     int(o.get("bytes", 0)), o))
    run.expect(0, 3, 4)
    if not summary:
        raise TxmillError("txmill gc printed no summary", run.code)
    return GcRun(files, summary)


def doctor(
    *,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> List[Fact]:
    """Information for bug reports: versions, libraries, devices, the OpenColorIO config, limits."""
    run = _run("doctor", locals(), "")
    found = [
        Fact(str(o.get("part", "")), str(o["name"]), text_of(o, "value") or "", str(o.get("health", "")))
        for o in run
        if "name" in o
    ]
    run.expect(0, 3, 4, 5)
    return found


def write_page(
    page: StrPath,
    paths: Paths,
    *,
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> None:
    """Writes a page for the browser with the levels, tiles, values and sizes of tx files (`txmill view --html`)."""
    run = Run("view", ["--json", f"--html={os.fspath(page)}"], path_arguments(paths), program=program, cancel=cancel)
    for _ in run:
        pass
    run.expect(0)


def stream_budget(
    scene: StrPath,
    *,
    size: Optional[str] = None,
    tile: Optional[int] = None,
    bounces: Optional[int] = None,
    cache_dir: Optional[StrPath] = None,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    threads: Optional[int] = None,
    path_map: Sequence[str] = (),
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> Json:
    """Estimates the texture memory of a render of a scene folder, txmill-scene(5), and returns the object that
    stream.schema.json describes.

    `size` is that of the picture, such as "1920x1080"; `tile` the edge of a render tile, 0 for none; `bounces` the number of
    bounces of a path. The tx files must exist.
    """
    run = _run("stream", locals(), "scene", words=["budget"])
    found = list(run)
    run.expect(0)
    if not found:
        raise TxmillError(f"{scene}: txmill stream printed no result", run.code)
    return found[0]


def list_scene(
    scene: StrPath,
    *,
    lint: bool = False,
    cache_dir: Optional[StrPath] = None,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    path_map: Sequence[str] = (),
    every_variant: bool = False,
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> Scene:
    """The images of a .blend file, their settings, and the state of their tx files."""
    run = _run("list", locals(), "scene")
    kinds: dict[str, List[Json]] = {"scene": [], "image": [], "library": [], "finding": []}
    for o in run:
        kinds.get(str(o.get("type")), []).append(o)
    failed = [e for e in map(_error_of, kinds["scene"]) if e is not None]
    if failed:
        raise TxmillError(failed[0].message, run.code)
    run.expect(0, 5)
    if not kinds["scene"]:
        raise TxmillError(f"{scene}: txmill list printed no result", run.code)
    first = kinds["scene"][0]
    return Scene(text_of(first, "scene") or "", first, kinds["image"], kinds["library"], kinds["finding"])


def files(
    scenes: Paths,
    *,
    root: Optional[StrPath] = None,
    frames: Optional[str] = None,
    roles: Sequence[str] = (),
    manifest: Optional[StrPath] = None,
    archive: Optional[StrPath] = None,
    sha256: bool = False,
    cache_dir: Optional[StrPath] = None,
    ocio: Optional[StrPath] = None,
    working_space: Optional[str] = None,
    blender: Optional[str] = None,
    path_map: Sequence[str] = (),
    every_variant: bool = False,
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> List[Needed]:
    """Every file that the textures of scenes need, with size, time and key in `data`, as files.schema.json describes it.
    `manifest` writes the list for `restore`, `archive` a zip archive of all files; paths are then relative."""
    run = _run("files", locals(), "scenes")
    found, failed = [], []
    for o in run:
        if o.get("type") == "file":
            found.append(Needed(text_of(o, "path") or "", str(o.get("role", "")), str(o.get("state", "")), text_of(o, "frames"), o))
        elif "error" in o:
            failed.append(_error_of(o))
    if failed and failed[0] is not None:
        raise TxmillError(failed[0].message, run.code)
    run.expect(0, 5)
    return found


def restore(
    manifest: StrPath,
    *,
    root: Optional[StrPath] = None,
    dry_run: bool = False,
    program: Optional[StrPath] = None,
    cancel: Optional[Cancel] = None,
) -> List[Restored]:
    """Checks the copies of the files of a manifest, in its folder or in `root`, and makes their tx files fresh."""
    run = _run("restore", locals(), "manifest")
    found = [Restored(text_of(o, "path") or "", str(o["state"]), text_of(o, "reason"), _error_of(o), o) for o in run if "state" in o]
    run.expect(*((0, 3, 4, 5) if found else (0,)))
    return found
