# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program needs from the open scene: a .blend file, and the settings on which the names of tx files depend."""
import contextlib
import ctypes
import os
import tempfile

import bpy
from bpy.app.handlers import persistent


_VERSION = "%d.%d" % bpy.app.version[:2]


def _project_root():
    """The folder of the Blender project that the scene is in: the nearest one with a folder .blender_project."""
    folder = os.path.dirname(bpy.data.filepath)
    while folder and not os.path.isdir(os.path.join(folder, ".blender_project")):
        folder = "" if os.path.dirname(folder) == folder else os.path.dirname(folder)
    return folder


def _config():
    """The OpenColorIO config that Blender uses. Blender 5.3 tells; before, the program looks where a variable leads, since it
    may lead to a config that Blender could not load."""
    used = getattr(bpy.data.colorspace, "ocio_config_path", None)
    if used:
        return used.replace("{project_root}", _project_root().rstrip("/"))
    if used is None and os.environ.get("BLENDER_OCIO", os.environ.get("OCIO")):
        return None
    return os.path.join(bpy.utils.system_resource("DATAFILES", path="colormanagement"), "config.ocio")


def color_options():
    """Cache folder, OpenColorIO config, working space and version of this Blender."""
    return {
        "cache_dir": bpy.context.preferences.filepaths.texture_cache_directory or None,
        "ocio": _config(),
        "working_space": bpy.data.colorspace.working_space,
        "blender": _VERSION,
    }


def colorspace(image):
    """The colour space that Cycles uses for the name of an image's tx file, as a value of `txmill make -c`. It is read from
    memory, because Python only gets the config's own name for it, while an alias or role, saved by another version, leads to
    another tx file."""
    stored = (ctypes.c_char * 64).from_address(image.colorspace_settings.as_pointer()).value.decode("utf-8", "surrogateescape")
    return "=" + stored if stored in ("", "auto", "default") else stored


opened = 0  # how many files were opened, to detect that another scene was opened
copying = False  # a copy is being written: save handlers must ignore it


def save_copy(path):
    """Saves the scene as it is now to another file; relative paths lead to the same images. Main thread only."""
    global copying
    copying = True
    try:
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, relative_remap=True, check_existing=False)
    finally:
        copying = False


def is_saved():
    """Whether the file contains the scene as it is now. Without an interface Blender does not register changes by scripts."""
    return bool(bpy.data.filepath) and not bpy.data.is_dirty and not bpy.app.background


@contextlib.contextmanager
def as_file(save=save_copy):
    """Path of a .blend file with the scene as it is now: its own, or a copy that `save(path)` makes."""
    if is_saved():
        yield bpy.data.filepath
        return
    with tempfile.TemporaryDirectory(prefix="txmill-", dir=bpy.app.tempdir) as folder:
        path = os.path.join(folder, os.path.basename(bpy.data.filepath) or "untitled.blend")
        save(path)
        yield path


def named(text, path):
    """A message of the program, with the path of the scene's copy replaced by the scene's own."""
    return text.replace(path, bpy.data.filepath or "the unsaved scene")


PACKED = "packed into the .blend file"


def node_images():
    """The images of shader nodes, which Cycles may look up."""
    trees = [group for group in bpy.data.node_groups if group.bl_idname == "ShaderNodeTree"]
    for owners in (bpy.data.materials, bpy.data.worlds, bpy.data.lights, bpy.data.linestyles):
        trees += [owner.node_tree for owner in owners if owner.node_tree]
    images = {}
    for tree in trees:
        for node in tree.nodes:
            image = getattr(node, "image", None)
            if image is not None and node.bl_idname in ("ShaderNodeTexImage", "ShaderNodeTexEnvironment"):
                images[image.name_full] = image
    return list(images.values())


def left_out():
    """[(image name, why Cycles neither makes nor uses a tx file for it)]"""
    reasons = []
    for image in node_images():
        if image.packed_files:
            reasons.append((image.name, "packed into the library %s" % os.path.basename(image.library.filepath) if image.library else
                            PACKED))
        elif image.is_dirty:
            reasons.append((image.name, "changed and not saved"))
        elif image.source == "GENERATED":
            reasons.append((image.name, "generated"))
        elif image.source == "MOVIE":
            reasons.append((image.name, "a movie"))
    return reasons


@persistent
def _loaded(*_):
    global opened
    opened += 1


def register():
    bpy.app.handlers.load_post.append(_loaded)


def unregister():
    bpy.app.handlers.load_post.remove(_loaded)
