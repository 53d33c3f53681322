# SPDX-License-Identifier: Apache-2.0
"""Scenes made by Blender's Python. every_way(folder) uses images in every way that a Cycles scene can."""
import os

import bpy
import numpy as np

WAYS = ("repeat", "extend", "clip", "mirror")


def picture(path, width=96, height=64, seed=0, float_buffer=False, colorspace=None):
    """An image file of smooth noise; the format follows the extension."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.ones((height, width, 4), np.float32)
    for c in range(3):
        pixels[:, :, c] = 0.5 + 0.3 * np.sin(x * rng.uniform(0.05, 0.6) + y * rng.uniform(0.05, 0.6)) + rng.uniform(-.15, .15, (height, width))
    image = bpy.data.images.new("picture", width, height, float_buffer=float_buffer, alpha=False)
    image.pixels.foreach_set(np.clip(pixels, 0, 1).ravel())
    image.filepath_raw = path
    image.file_format = {"png": "PNG", "jpg": "JPEG", "tga": "TARGA", "exr": "OPEN_EXR", "hdr": "HDR", "tif": "TIFF"}[path.rsplit(".", 1)[1]]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    image.save()
    bpy.data.images.remove(image)
    return path


def node(tree, kind, image=None, **settings):
    made = tree.nodes.new(kind)
    made.image = image
    for name, value in settings.items():
        setattr(made, name, value)
    return made


def load(path, colorspace=None, alpha=None, **settings):
    image = bpy.data.images.load(path)
    for name, value in settings.items():
        setattr(image, name, value)
    if colorspace:
        image.colorspace_settings.name = colorspace
    if alpha:
        image.alpha_mode = alpha
    return image


def material(name, tree=None):
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    return made


def feed(made, texture, socket="Base Color"):
    principled = next(n for n in made.node_tree.nodes if n.bl_idname == "ShaderNodeBsdfPrincipled")
    made.node_tree.links.new(texture.outputs[0], principled.inputs[socket])


def plane(name, made, x, y, size=0.9):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x, y, 0), (x + size, y, 0), (x + size, y + size, 0), (x, y + size, 0)], [], [(0, 1, 2, 3)])
    layer = mesh.uv_layers.new(name="UVMap")
    layer.uv.foreach_set("vector", [0, 0, 2, 0, 2, 2, 0, 2])
    mesh.materials.append(made)
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def empty():
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = 4
    scene.cycles.seed = 0
    scene.cycles.use_denoising = False
    scene.cycles.use_adaptive_sampling = False
    scene.render.resolution_x, scene.render.resolution_y = 320, 240
    scene.render.use_texture_cache = True
    scene.render.use_auto_generate_texture_cache = False
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type = "ORTHO"
    camera.data.ortho_scale = 6
    camera.location = (2.5, 2, 5)
    scene.collection.objects.link(camera)
    scene.camera = camera
    light = bpy.data.lights.new("sun", "SUN")
    light.energy = 3
    lamp = bpy.data.objects.new("sun", light)
    lamp.rotation_euler = (0.3, 0.2, 0)
    scene.collection.objects.link(lamp)
    return scene


def every_way(folder, absolute=False):
    """Saves folder/scene.blend (and folder/library.blend) and returns its path."""
    textures = os.path.join(folder, "textures")

    def file(name, **options):
        return picture(os.path.join(textures, name), seed=sum(name.encode()), **options)

    # A library whose material and image the scene links.
    empty()
    linked = material("linked")
    feed(linked, node(linked.node_tree, "ShaderNodeTexImage", load(file("linked.png"))))
    linked.use_fake_user = True
    library = os.path.join(folder, "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.file.make_paths_relative()
    bpy.ops.wm.save_mainfile()

    scene = empty()
    at = 0
    for extension in ("REPEAT", "EXTEND", "CLIP", "MIRROR"):
        for interpolation in ("Linear", "Closest", "Cubic", "Smart"):
            made = material("%s %s" % (extension, interpolation))
            image = load(file("%s.png" % extension.lower())) if interpolation == "Linear" else image
            feed(made, node(made.node_tree, "ShaderNodeTexImage", image, extension=extension, interpolation=interpolation))
            plane(made.name, made, at % 4, at // 4)
            at += 1

    def place(made):
        nonlocal at
        plane(made.name, made, 4 + (at - 16) % 2, (at - 16) // 2)
        at += 1

    for name, space, alpha, socket in (("normal.png", "Non-Color", None, "Roughness"), ("grey.tga", "sRGB", "CHANNEL_PACKED", "Base Color"),
                                       ("photo.jpg", "ACEScg", None, "Base Color"), ("deep.exr", "Linear Rec.709", "PREMUL", "Base Color"),
                                       ("wide.tif", "AgX Base sRGB", "NONE", "Base Color")):
        made = material(name)
        feed(made, node(made.node_tree, "ShaderNodeTexImage", load(file(name, float_buffer=name.endswith("exr")), space, alpha)), socket)
        place(made)

    for number in (1001, 1002, 1011):
        file("tiles.%d.png" % number)
    made = material("udim")
    tiled = load(os.path.join(textures, "tiles.1001.png"), source="TILED")
    tiled.tiles.new(1002)
    tiled.tiles.new(1011)
    feed(made, node(made.node_tree, "ShaderNodeTexImage", tiled))
    place(made)

    for frame in (1, 2, 3):
        file("frames_%04d.png" % frame)
    made = material("sequence")
    texture = node(made.node_tree, "ShaderNodeTexImage", load(os.path.join(textures, "frames_0001.png"), source="SEQUENCE"))
    texture.image_user.frame_duration = 3
    texture.image_user.frame_start = 1
    texture.image_user.use_auto_refresh = True
    feed(made, texture)
    place(made)

    group = bpy.data.node_groups.new("group", "ShaderNodeTree")
    group.interface.new_socket("Color", in_out="OUTPUT", socket_type="NodeSocketColor")
    inner = node(group, "ShaderNodeTexImage", load(file("group.png")))
    group.links.new(inner.outputs[0], group.nodes.new("NodeGroupOutput").inputs[0])
    made = material("group")
    used = made.node_tree.nodes.new("ShaderNodeGroup")
    used.node_tree = group
    feed(made, used)
    place(made)

    made = material("unconnected")
    node(made.node_tree, "ShaderNodeTexImage", load(file("unconnected.png")))
    place(made)

    made = material("box")
    feed(made, node(made.node_tree, "ShaderNodeTexImage", load(file("box.png")), projection="BOX"))
    place(made)

    made = material("packed")
    packed = load(file("packed.png"))
    packed.pack()
    feed(made, node(made.node_tree, "ShaderNodeTexImage", packed))
    place(made)
    made = material("generated")
    feed(made, node(made.node_tree, "ShaderNodeTexImage", bpy.data.images.new("generated", 16, 16)))
    place(made)
    made = material("missing")
    gone = load(file("gone.png"))
    feed(made, node(made.node_tree, "ShaderNodeTexImage", gone))
    place(made)
    os.remove(os.path.join(textures, "gone.png"))

    scene.world = bpy.data.worlds.new("world")
    scene.world.use_nodes = True
    background = next(n for n in scene.world.node_tree.nodes if n.bl_idname == "ShaderNodeBackground")
    sky = node(scene.world.node_tree, "ShaderNodeTexEnvironment", load(file("sky.hdr", width=128, height=64, float_buffer=True)))
    scene.world.node_tree.links.new(sky.outputs[0], background.inputs[0])

    lamp = bpy.data.lights.new("gobo", "POINT")
    lamp.use_nodes = True
    emission = next(n for n in lamp.node_tree.nodes if n.bl_idname == "ShaderNodeEmission")
    lamp.node_tree.links.new(node(lamp.node_tree, "ShaderNodeTexImage", load(file("gobo.png"))).outputs[0], emission.inputs[0])
    thing = bpy.data.objects.new("gobo", lamp)
    thing.location = (2, 2, 3)
    scene.collection.objects.link(thing)

    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.materials = ["linked"]
    plane("linked", wanted.materials[0], 5.5, 4)

    path = os.path.join(folder, "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    if not absolute:
        bpy.ops.file.make_paths_relative()
        bpy.ops.wm.save_mainfile()
    return path


def tx_files(folder):
    """{path below folder: bytes} of all tx files."""
    found = {}
    for parent, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".tx"):
                path = os.path.join(parent, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, folder)] = f.read()
    return found
