# SPDX-License-Identifier: Apache-2.0
"""Texture caches for Blender's Cycles: make, inspect and explain tx files with the txmill program.

    import txmill

    run = txmill.make(["textures"], recursive=True, preset="pbr", progress=print)
    for failure in run.failed:
        print(failure.input, failure.error.message)

    if not txmill.check("shot10.blend").ready:
        ...

    for image in txmill.list_scene("shot10.blend").images:
        print(image["path"], image["state"])

Every function runs the program and reads its JSON lines; nothing here computes a pixel. The program is the one that
`program=` names, else $TXMILL, else the one installed beside this package, else the first on PATH. `tiles` alone reads tx
files in this process, through the library.

Pure Python 3.9 or newer, without dependencies; numpy is used by `tiles` where it is installed.
"""
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
    Progress,
    Removed,
    Resolved,
    Scene,
    Setting,
    Verdict,
    check,
    doctor,
    gc,
    info,
    iter_make,
    list_scene,
    make,
    resolve,
    settings,
    stream_budget,
    verify,
    write_page,
)
from ._tiles import Level, LibraryMissing, Tile, Tiles, tiles

__all__ = [
    "Cancel",
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
    "ProgramMissing",
    "Progress",
    "Removed",
    "Resolved",
    "Scene",
    "Setting",
    "Tile",
    "Tiles",
    "TxmillError",
    "Verdict",
    "check",
    "doctor",
    "find_program",
    "gc",
    "info",
    "iter_make",
    "list_scene",
    "make",
    "resolve",
    "settings",
    "stream_budget",
    "tiles",
    "verify",
    "version",
    "write_page",
]
