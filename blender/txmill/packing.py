# SPDX-License-Identifier: GPL-3.0-or-later
"""Unpacks the packed images of shaders beside the .blend file, where they can have tx files, and packs them again."""
import os
import re

import bpy

from . import blend, jobs, operators, status

FOLDER = "//textures"  # where Blender's own operators unpack images to
ROWS = 6
_MAGIC = ((b"\x89PNG", ".png"), (b"\xff\xd8\xff", ".jpg"), (b"\x76\x2f\x31\x01", ".exr"), (b"II*\0", ".tif"), (b"MM\0*", ".tif"))
_MARK = "txmill_packed_as"  # of an image that was unpacked: its path before, and those of its packed files


def packed():
    """(images that can be unpacked, [(image name, why not)])"""
    good, not_these = [], []
    for image in blend.node_images():
        if not image.packed_files:
            continue
        if image.library:
            not_these.append((image.name, "packed into the library %s: unpack it there" % os.path.basename(image.library.filepath)))
        elif not image.is_editable:
            not_these.append((image.name, "packed, and cannot be changed here"))
        elif image.is_dirty:
            not_these.append((image.name, "packed, and changed since: save or pack the image first"))
        else:
            good.append(image)
    return good, not_these


def unpacked():
    """Images that were unpacked here, and may be packed again."""
    return [image for image in bpy.data.images if image.is_editable and _MARK in image and not image.packed_files]


def pixel_bytes(images):
    """How much memory the pixels of images take in a render without the texture cache."""
    return sum(image.size[0] * image.size[1] * 4 * (4 if image.is_float else 1) for image in images)


def gain(images):
    """What unpacking gains, as lines of text."""
    return ["%d packed image%s no tx files: Cycles keeps all of their pixels in memory, %.0f MB" % (
        len(images), " has" if len(images) == 1 else "s have", pixel_bytes(images) / 1e6),
        "Unpacked, Cycles loads only the tiles that the render needs",
        "The files are written to %s" % os.path.join(os.path.dirname(bpy.data.filepath), "textures")]


def _name(image, file):
    """The name of the file that Blender would write, without its folder."""
    name = re.split(r"[/\\]", file.filepath)[-1]
    if name:
        return name
    name = bpy.path.clean_name(image.name) or "image"
    if image.source == "TILED":
        name += ".%d" % file.tile_number
    head = bytes(file.packed_file.data[:4])
    return name + next((extension for magic, extension in _MAGIC if head.startswith(magic)), "")


def _free_name(folder, name, data):
    """(a name under which no other file is lost, whether the same file is there already)"""
    stem, extension = os.path.splitext(name)
    for number in range(1000):
        tried = "%s.%03d%s" % (stem, number, extension) if number else name
        path = os.path.join(folder, tried)
        if not os.path.lexists(path):
            return tried, False
        try:
            with open(path, "rb") as file:
                if os.path.getsize(path) == len(data) and file.read() == data:
                    return tried, True
        except OSError:
            pass
    raise OSError("%s: a thousand files have this name" % os.path.join(folder, name))


def unpack(image):
    """Unpacks one image by Blender's own function, which would replace another file of the same name. OSError, RuntimeError."""
    folder = bpy.path.abspath(FOLDER)
    before = [image.filepath_raw] + [file.filepath for file in image.packed_files]
    there = []
    for file in image.packed_files:
        data = bytes(file.packed_file.data)
        name, same = _free_name(folder, _name(image, file), data)
        if image.source == "TILED" and name != _name(image, file):
            raise OSError("%s: another file has the name of a tile; move it away" % os.path.join(folder, _name(image, file)))
        file.filepath = "//" + name
        there.append(same)
    os.makedirs(folder, exist_ok=True)
    try:
        image.unpack(method="USE_LOCAL" if all(there) else "WRITE_LOCAL")
    finally:
        if image.packed_files:
            for file, path in zip(image.packed_files, before[1:]):
                file.filepath = path
    if image.packed_files:
        raise OSError("%s: Blender could not write it to %s" % (image.name, folder))
    image[_MARK] = before


def pack(image):
    """Packs an image again, under the paths that it had. OSError, RuntimeError."""
    before = list(image[_MARK])
    image.pack()
    if not image.packed_files:
        raise OSError("%s: Blender could not read its file" % image.name)
    for file, path in zip(image.packed_files, before[1:]):
        file.filepath = path
    image.filepath_raw = before[0]
    del image[_MARK]


class _Packing:
    """Base of both operators: all images at once, and one question before."""
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not bpy.data.filepath:
            cls.poll_message_set("Save the scene first: the files are beside it")
            return False
        return operators.Making.poll.__func__(cls, context)

    def invoke(self, context, event):
        return context.window_manager.invoke_props_dialog(self, width=500, confirm_text=self.bl_label)

    def draw(self, context):
        lines = self.question()
        for line in lines[:ROWS]:
            self.layout.label(text=jobs.shown(line))
        if len(lines) > ROWS:
            self.layout.label(text="and %d more" % (len(lines) - ROWS))

    def each(self, images, change, said):
        """Changes all images and reports; what fails stays as it was."""
        done, failed = [], []
        for image in images:
            try:
                change(image)
                done.append(image)
            except (OSError, RuntimeError) as error:
                failed.append((image.name, str(error).strip()))
        for line in operators.once(failed):
            self.report({"ERROR"}, jobs.shown(line))
        if done:
            self.report({"INFO"}, jobs.shown(said(done)))
            status.refresh()
        return {"FINISHED"} if done else {"CANCELLED"}


class TXMILL_OT_unpack(_Packing, bpy.types.Operator):
    bl_idname = "txmill.unpack"
    bl_label = "Unpack"
    bl_description = "Write the packed images of this scene's shaders beside it, so that they can have tx files"

    def question(self):
        images, not_these = packed()
        return (gain(images) if images else []) + operators.once(not_these)

    def execute(self, context):
        images, not_these = packed()
        for line in operators.once(not_these):
            self.report({"WARNING"}, jobs.shown(line))
        if not images:
            self.report({"WARNING"}, "No image of a shader is packed into this scene")
            return {"CANCELLED"}
        memory = pixel_bytes(images) / 1e6
        return self.each(images, unpack, lambda done: "%d image%s unpacked, of %.0f MB in memory: save the scene, then press Make" % (
            len(done), "" if len(done) == 1 else "s", memory))


class TXMILL_OT_pack(_Packing, bpy.types.Operator):
    bl_idname = "txmill.pack"
    bl_label = "Pack Again"
    bl_description = "Pack the images again that Unpack has written beside the scene; their files stay"

    def question(self):
        images = unpacked()
        return ["%d image%s packed into the scene again" % (len(images), " is" if len(images) == 1 else "s are"),
                "Cycles does not use their tx files then; the files stay"]

    def execute(self, context):
        images = unpacked()
        if not images:
            self.report({"WARNING"}, "Unpack has written no image of this scene")
            return {"CANCELLED"}
        return self.each(images, pack, lambda done: "%d image%s packed again" % (len(done), "" if len(done) == 1 else "s"))


def register():
    bpy.utils.register_class(TXMILL_OT_unpack)
    bpy.utils.register_class(TXMILL_OT_pack)


def unregister():
    bpy.utils.unregister_class(TXMILL_OT_pack)
    bpy.utils.unregister_class(TXMILL_OT_unpack)
