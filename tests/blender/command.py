#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The part of Blender's command line that tests use, for the package bpy, which has none:

    command.py [--factory-startup] [SCENE.blend] [-o PATH] [--python FILE] [--render-frame N] [--python-exit-code N] [-- ...]
    command.py --command extension ...
    command.py --version

Arguments count in their order, as they do in Blender. `python3` must be one that has bpy."""
import os
import runpy
import sys
import traceback

import bpy

# Blender's own path is empty in a module, and scripts may set it.
bpy.app.binary_path = os.path.abspath(__file__)


def render(frame):
    scene = bpy.context.scene
    scene.frame_start = scene.frame_end = int(frame)
    bpy.ops.render.render(animation=True)


def main(words):
    if words[0] == "--version":
        print("Blender", bpy.app.version_string)
        return 0
    bpy.ops.wm.read_userpref()
    if words[0] == "--command":
        import addon_utils
        addon_utils.enable("bl_pkg")
        import bl_pkg
        return bl_pkg.cli_extension(words[2:])
    status = 0
    words = iter(words)
    for word in words:
        if word == "--":
            break
        if word == "--factory-startup":
            bpy.ops.wm.read_factory_settings()
        elif word == "--python-exit-code":
            status = int(next(words))
        elif word in ("--python", "-P"):
            try:
                runpy.run_path(next(words), run_name="__main__")
            except SystemExit as end:
                if end.code:
                    raise
            except Exception:
                traceback.print_exc()
                if status:
                    return status
        elif word == "-o":
            bpy.context.scene.render.filepath = next(words)
        elif word in ("-f", "--render-frame"):
            render(next(words))
        elif not word.startswith("-"):
            bpy.ops.wm.open_mainfile(filepath=word, use_scripts="--enable-autoexec" in sys.argv)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
