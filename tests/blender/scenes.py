# SPDX-License-Identifier: Apache-2.0
"""Makes scenes with Blender's Python. every_way(folder) uses images in every way that a Cycles scene can."""
import ctypes
import os
import re
import shutil

import bpy
import numpy as np

WAYS = ("repeat", "extend", "clip", "mirror")


def picture(path, width=96, height=64, seed=0, float_buffer=False, colorspace=None):
    """Writes an image of smooth noise; the format follows the extension."""
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
    scene.render.resolution_x, scene.render.resolution_y = 480, 320
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


def every_way(folder):
    """Saves folder/scene.blend (and folder/library.blend) and returns its path."""
    textures = os.path.join(folder, "textures")

    def file(name, **options):
        return picture(os.path.join(textures, name), seed=sum(name.encode()), **options)

    # A library whose material and image the scene links.
    empty()
    linked = material("linked")
    feed(linked, node(linked.node_tree, "ShaderNodeTexImage", load(file("linked.png"))))
    linked.use_fake_user = True
    library = save(os.path.join(folder, "library.blend"))

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

    return save(os.path.join(folder, "scene.blend"))


def save(path):
    """Saves the open scene with paths relative to it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.file.make_paths_relative()
    bpy.ops.wm.save_mainfile()
    return path


def shown(name, image, at=0, **settings):
    """Makes a plane with a material of one image node."""
    made = material(name)
    texture = node(made.node_tree, "ShaderNodeTexImage", image, **settings)
    feed(made, texture)
    plane(name, made, at % 6, at // 6)
    return texture


def overrides(folder):
    """Makes library overrides: objects, a slot with another material, a library of a library."""
    empty()
    shown("inner", load(picture(os.path.join(folder, "deep", "inner.png"), seed=1)))
    bpy.data.materials["inner"].use_fake_user = True
    deepest = save(os.path.join(folder, "deep", "inner.blend"))

    empty()
    shown("thing", load(picture(os.path.join(folder, "lib", "thing.png"), seed=2), "Non-Color"))
    shown("other", load(picture(os.path.join(folder, "lib", "before.png"), seed=3)))
    with bpy.data.libraries.load(deepest, link=True) as (_, wanted):
        wanted.materials = ["inner"]
    plane("deep", wanted.materials[0], 2, 0)
    library = save(os.path.join(folder, "lib", "assets.blend"))

    scene = empty()
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = ["thing", "other", "deep"]
    for thing in wanted.objects:
        scene.collection.objects.link(thing)
    for name in ("thing", "deep"):
        bpy.data.objects[name].override_create(remap_local_usages=True).location.z = 1
    # In this file the overridden object gets a material of its own; the library's material keeps its image.
    local = bpy.data.objects["other"].override_create(remap_local_usages=True)
    after = material("after")
    feed(after, node(after.node_tree, "ShaderNodeTexImage", load(picture(os.path.join(folder, "shot", "after.png"), seed=4))))
    local.material_slots[0].link = "OBJECT"
    local.material_slots[0].material = after
    return save(os.path.join(folder, "shot", "shot.blend")), {}


def nested(folder):
    """Makes groups in groups, of a material and of the world: one is used twice, one is not used, one node is muted."""
    empty()

    def group(name, inner):
        made = bpy.data.node_groups.new(name, "ShaderNodeTree")
        made.interface.new_socket("Color", in_out="OUTPUT", socket_type="NodeSocketColor")
        if isinstance(inner, str):
            source = node(made, "ShaderNodeTexImage", load(picture(os.path.join(folder, inner), seed=len(inner))))
        else:
            source = made.nodes.new("ShaderNodeGroup")
            source.node_tree = inner
        made.links.new(source.outputs[0], made.nodes.new("NodeGroupOutput").inputs[0])
        return made

    outer = group("outer", group("middle", group("inner", "inner image.png")))
    for name in ("one", "two"):
        made = material(name)
        used = made.node_tree.nodes.new("ShaderNodeGroup")
        used.node_tree = outer
        feed(made, used)
        plane(name, made, len(name), 0)
    group("unused", "unused.png").use_fake_user = True
    world = bpy.context.scene.world = bpy.data.worlds.new("world")
    world.use_nodes = True
    used = world.node_tree.nodes.new("ShaderNodeGroup")
    used.node_tree = group("sky", "sky.png")
    background = next(n for n in world.node_tree.nodes if n.bl_idname == "ShaderNodeBackground")
    world.node_tree.links.new(used.outputs[0], background.inputs[0])
    shown("muted", load(picture(os.path.join(folder, "muted.png"), seed=9)), 1).mute = True
    kept = material("kept by a fake user")
    feed(kept, node(kept.node_tree, "ShaderNodeTexImage", load(picture(os.path.join(folder, "kept.png"), seed=10))))
    kept.use_fake_user = True
    hidden = load(picture(os.path.join(folder, "hidden.png"), seed=11))
    shown("hidden", hidden, 2)
    bpy.data.objects["hidden"].hide_render = True
    return save(os.path.join(folder, "nested.blend")), {}


def packed(folder):
    """Makes packed tiles and a packed sequence beside ones on disk."""
    empty()
    for name in ("packed", "kept"):
        for number in (1001, 1002):
            picture(os.path.join(folder, "%s.%d.png" % (name, number)), seed=number)
        tiled = load(os.path.join(folder, "%s.1001.png" % name), source="TILED")
        tiled.tiles.new(1002)
        shown(name, tiled)
        if name == "packed":
            tiled.pack()
            left = tiled.name
    return save(os.path.join(folder, "packed.blend")), {left: "packed"}


def offsets(folder):
    """Makes sequences: an offset, a start, a cycle, one image in two ranges, an image user that is a single frame."""
    empty()
    for frame in range(1, 15):
        picture(os.path.join(folder, "frames", "f.%03d.png" % frame), seed=frame, width=32, height=32)
    image = load(os.path.join(folder, "frames", "f.001.png"), source="SEQUENCE")
    for at, (duration, start, offset, cyclic) in enumerate(((4, 3, 5, False), (2, 1, 0, True), (3, -4, 9, False))):
        user = shown("range %d" % at, image, at).image_user
        user.frame_duration, user.frame_start, user.frame_offset, user.use_cyclic = duration, start, offset, cyclic
        user.use_auto_refresh = at != 1
    other = load(picture(os.path.join(folder, "frames", "g0007.png"), seed=7, width=32, height=32), source="SEQUENCE")
    shown("one frame", other, 4).image_user.frame_duration = 1
    return save(os.path.join(folder, "offsets.blend")), {}


def elsewhere(folder):
    """Makes images that Cycles does not look up: of the compositor, of geometry nodes, of brushes, and of another
    scene."""
    empty()
    shown("looked up", load(picture(os.path.join(folder, "looked up.png"), seed=1)))
    tree = bpy.data.node_groups.new("compositor", "CompositorNodeTree")
    tree.nodes.new("CompositorNodeImage").image = load(picture(os.path.join(folder, "compositor.png"), seed=2))
    bpy.context.scene.compositing_node_group = tree
    geometry = bpy.data.node_groups.new("geometry", "GeometryNodeTree")
    geometry.nodes.new("GeometryNodeImageTexture").inputs["Image"].default_value = load(picture(os.path.join(folder, "geometry.png"), seed=3))
    bpy.data.objects["looked up"].modifiers.new("geometry", "NODES").node_group = geometry
    texture = bpy.data.textures.new("legacy", "IMAGE")
    texture.image = load(picture(os.path.join(folder, "brush.png"), seed=4))
    texture.use_fake_user = True
    load(picture(os.path.join(folder, "reference.png"), seed=5)).use_fake_user = True
    second = bpy.data.scenes.new("second")
    shown("of the second", load(picture(os.path.join(folder, "second.png"), seed=6)), 3)
    thing = bpy.data.objects["of the second"]
    second.collection.objects.link(thing)
    bpy.context.scene.collection.objects.unlink(thing)
    return save(os.path.join(folder, "elsewhere.blend")), {}


def studio(folder):
    """Makes a scene as real projects have them: umlauts, blanks and signs in names, a library beside the scene with
    a node group and tiles of its own, one file as colour and as data, links, backslashes of Windows, extensions
    in capitals, tiles and frames with gaps."""
    folder = os.path.join(folder, "Prüfung & Größe #1")
    textures = os.path.join(folder, "assets", "Möbel", "tex")

    def file(name, **options):
        return picture(os.path.join(textures, name), seed=sum(name.encode()), **options)

    empty()
    group = bpy.data.node_groups.new("Holz gebürstet", "ShaderNodeTree")
    group.interface.new_socket("Color", in_out="OUTPUT", socket_type="NodeSocketColor")
    inner = node(group, "ShaderNodeTexImage", load(file("Eiche geölt.png"), "Non-Color"))
    group.links.new(inner.outputs[0], group.nodes.new("NodeGroupOutput").inputs[0])
    group.use_fake_user = True
    for number in (1001, 1002, 1003, 1012):
        file("Stoff %d.png" % number)
    tiled = load(os.path.join(textures, "Stoff 1001.png"), source="TILED")
    tiled.filepath = os.path.join(textures, "Stoff <UDIM>.png")  # Blender does not guess this from a number after a blank
    for number in (1002, 1003, 1012):
        tiled.tiles.new(number)
    shown("Stoff", tiled)
    bpy.data.materials["Stoff"].use_fake_user = True
    os.remove(os.path.join(textures, "Stoff 1003.png"))
    library = save(os.path.join(folder, "assets", "Möbel", "Stuhl.blend"))

    empty()
    with bpy.data.libraries.load(library, link=True, relative=True) as (_, wanted):
        wanted.node_groups, wanted.materials = ["Holz gebürstet"], ["Stoff"]
    made = material("Tisch")
    used = made.node_tree.nodes.new("ShaderNodeGroup")
    used.node_tree = wanted.node_groups[0]
    feed(made, used)
    plane("Tisch", made, 0, 0)
    plane("Stuhl", wanted.materials[0], 1, 0)

    shot = os.path.join(folder, "shots", "010")
    both = picture(os.path.join(shot, "both ways.png"), seed=1)
    shown("colour", load(both), 2)
    shown("data", bpy.data.images.load(both, check_existing=False), 3)
    bpy.data.materials["data"].node_tree.nodes["Image Texture"].image.colorspace_settings.name = "Non-Color"
    picture(os.path.join(shot, "lower.png"), seed=2)
    os.rename(os.path.join(shot, "lower.png"), os.path.join(shot, "SCAN.PNG"))
    shown("capitals", load(os.path.join(shot, "SCAN.PNG")), 4)
    os.symlink("both ways.png", os.path.join(shot, "link.png"))
    shown("link", load(os.path.join(shot, "link.png")), 5)
    shown("absolute", load(picture(os.path.join(folder, "scans", "absolute.jpg"), seed=4)), 6)
    for frame in (998, 999, 1000, 1001):
        picture(os.path.join(shot, "plate", "plate-%d.png" % frame), seed=frame, width=32, height=32)
    user = shown("plate", load(os.path.join(shot, "plate", "plate-998.png"), source="SEQUENCE"), 7).image_user
    user.frame_duration, user.frame_start, user.frame_offset = 5, 1, 997
    scene = save(os.path.join(shot, "shot 010.blend"))
    absolute = next(image for image in bpy.data.images if image.name == "absolute.jpg")
    absolute.filepath = os.path.join(folder, "scans", "absolute.jpg")
    windows = load(picture(os.path.join(shot, "from windows", "brick.png"), seed=5))
    windows.filepath_raw = "//from windows\\brick.png"
    shown("windows", windows, 8)
    up = load(picture(os.path.join(folder, "shots", "shared.png"), seed=6))
    up.filepath_raw = "//../shared.png"
    shown("up", up, 9)
    bpy.ops.wm.save_mainfile()
    return scene, {}


def stored(image, name, interop_id=""):
    """Makes an image with this name of a colour space as files store it; Python can set only the interface's names.
    Since 5.3 an interop id of 64 bytes follows the name."""
    where = image.colorspace_settings.as_pointer()
    (ctypes.c_char * 64).from_address(where).value = name.encode()
    if bpy.app.version >= (5, 3):
        (ctypes.c_char * 64).from_address(where + 64).value = interop_id.encode()
    return image


def spaces(folder, config):
    """Makes an image for each colour space, alias and role of a config, in other spellings, and for names that it
    does not have. Returns the scene, and {image: name}."""
    with open(config, encoding="utf-8") as f:
        text = f.read()
    found = re.findall(r"^ {4}name: (.*)$", text, re.M) + re.findall(r"^  (\w+): .*$", text.split("\nroles:")[1].split("\n\ndisplays:")[0], re.M)
    for aliases in re.findall(r"^ {4}aliases: \[(.*)\]$", text, re.M):
        found += [alias.strip(' "') for alias in aliases.split(",")]
    found += [name.upper() for name in ("sRGB", "Linear Rec.709", "scene_linear", "lin_rec2020")]
    found += ["", "auto", "sRGB ", " sRGB", "__builtin_srgb", "Gamma 2.2", "Nobody's", "x" * 63]
    names = dict(("%03d.png" % at, name) for at, name in enumerate(dict.fromkeys(name for name in found if len(name) < 64)))
    empty()
    first = picture(os.path.join(folder, "first.png"), 48, 32)
    for at, (file, name) in enumerate(names.items()):
        shutil.copy(first, os.path.join(folder, file))
        shown(file, stored(load(os.path.join(folder, file)), name), at)
    return save(os.path.join(folder, "spaces.blend")), names


def names(folder):
    """Makes images whose colour spaces have other names than in the interface: aliases and roles, as other versions
    of Blender save them, none, one that no config has, and an override that differs from its library."""
    library = os.path.join(folder, "lib", "lib.blend")
    empty()
    load(picture(os.path.join(folder, "lib", "own.png"), seed=1), "ACEScg").use_fake_user = True
    save(library)
    empty()
    for at, name in enumerate(("Linear", "Raw", "scene_linear", "texture_paint", "default", "SRGB", "Linear ACEScg", "", "Nobody's", "auto")):
        shown("shown %d" % at, stored(load(picture(os.path.join(folder, "%d.png" % at), seed=at)), name), at)
    with bpy.data.libraries.load(library, link=True, relative=True) as (_, wanted):
        wanted.images = ["own.png"]
    shown("own", wanted.images[0], 10)
    own = wanted.images[0].override_create(remap_local_usages=True)
    own.colorspace_settings.name = "Non-Color"
    return save(os.path.join(folder, "names.blend")), {}


def corners(folder):
    """Returns {name: (scene, {image that is left out: its state in txmill list})}."""
    return {make.__name__: make(os.path.join(folder, make.__name__)) for make in (overrides, nested, packed, offsets, elsewhere, studio, names)}


def tx_files(folder):
    """Returns {path below folder: bytes} of all tx files."""
    found = {}
    for parent, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".tx"):
                path = os.path.join(parent, name)
                with open(path, "rb") as f:
                    found[os.path.relpath(path, folder)] = f.read()
    return found
