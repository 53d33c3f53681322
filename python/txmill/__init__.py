# SPDX-License-Identifier: Apache-2.0
"""Texture caches for Blender's Cycles: make, inspect and explain tx files with the txmill program.

    import txmill

    run = txmill.make(["textures"], preset="pbr", progress=print)
    for failure in run.failed:
        print(failure.input, failure.error.message)

    if not txmill.check("shot10.blend").ready:
        ...

    for image in txmill.list_scene("shot10.blend").images:
        print(image["path"], image["state"])

    with txmill.open("wood.png.0-....tx") as texture:
        small = numpy.asarray(texture[3])
        colours = texture.sample(u, v)

Most functions run the program and parse its JSON lines. The program is `program=` if given, else $TXMILL, else the one
installed with this package, else the first on PATH. `open` and `tiles` read tx files in this process, through libtxtile.

The package is pure Python 3.9 or newer without dependencies; numpy is used if it is installed.
"""
__version__ = "0.1.0"

from ._program import Cancel, ProgramMissing, TxmillError, find_program, version
from ._commands import (
    Checked,
    CheckRun,
    ErrorInfo,
    Fact,
    Failed,
    GcRun,
    Info,
    Made,
    MakeRun,
    Needed,
    Progress,
    Removed,
    Resolved,
    Restored,
    Scene,
    Setting,
    Verdict,
    check,
    doctor,
    files,
    gc,
    info,
    iter_make,
    list_scene,
    make,
    refresh,
    resolve,
    restore,
    settings,
    stream_budget,
    verify,
    write_page,
)
from ._words import READY, STATES, Check, State, Use
from ._tiles import Level, LibraryMissing, Tile, Tiles, tiles
from ._texture import Pixels, Texture, open

__all__ = [
    "Cancel",
    "Check",
    "CheckRun",
    "Checked",
    "ErrorInfo",
    "Fact",
    "Failed",
    "GcRun",
    "Info",
    "Level",
    "LibraryMissing",
    "Made",
    "MakeRun",
    "Needed",
    "ProgramMissing",
    "Pixels",
    "Progress",
    "READY",
    "Removed",
    "Resolved",
    "Restored",
    "STATES",
    "Scene",
    "Setting",
    "State",
    "Texture",
    "Tile",
    "Tiles",
    "TxmillError",
    "Use",
    "Verdict",
    "check",
    "doctor",
    "files",
    "find_program",
    "gc",
    "info",
    "iter_make",
    "list_scene",
    "make",
    "open",
    "refresh",
    "resolve",
    "restore",
    "settings",
    "stream_budget",
    "tiles",
    "verify",
    "version",
    "write_page",
]
