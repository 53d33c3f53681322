# SPDX-License-Identifier: Apache-2.0
"""Writes the scenes of testdata/blend, and what Blender itself says is in them.

    blender -b --factory-startup --python make_scenes.py -- make FOLDER SCENE
    blender -b --factory-startup --python make_scenes.py -- list FOLDER FILE.blend

make_scenes.sh calls it: a process a scene, so that nothing of one scene leaks into the next.
"""
import json
import os
import struct
import sys
import tempfile
import zlib

import bpy


def png(color):
    """A 2x2 RGBA picture."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes(color) * 2) * 2
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


PICTURES = ["wood.png", "wood_normal.png", "mask.png", "rough.png", "sky.png", "gobo.png", "stroke.png", "deep.png",
            "group.png", "brick.1001.png", "brick.1002.png", "brick.1012.png", "cloth_u1_v1.png", "cloth_u2_v1.png",
            "seq/frame_0001.png", "seq/frame_0002.png", "seq/frame_0010.png", "seq/frame_00003.png",
            "seq/frame_0004.jpg", "lib/lib.png", "lib/object.png", "lib/unused.png", "lib/world.png", "lib/far.png",
            "single.1001.png"]


def make_pictures(folder):
    for i, name in enumerate(PICTURES):
        path = os.path.join(folder, "textures", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(png((i * 10 % 256, 255 - i, i, 255)))


def image(name, path, colorspace=None, alpha=None, source="FILE"):
    im = bpy.data.images.new(name, 1, 1)
    im.source = source
    im.filepath = path
    if colorspace:
        im.colorspace_settings.name = colorspace
    if alpha:
        im.alpha_mode = alpha
    return im


def texture(tree, im, extension="REPEAT", interpolation="Linear", kind="ShaderNodeTexImage"):
    node = tree.nodes.new(kind)
    node.image = im
    node.interpolation = interpolation
    if kind == "ShaderNodeTexImage":
        node.extension = extension
    return node


def material(name):
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    m.use_fake_user = True
    return m, m.node_tree, m.node_tree.nodes["Principled BSDF"]


def group(name):
    g = bpy.data.node_groups.new(name, "ShaderNodeTree")
    g.use_fake_user = True
    return g


def call(tree, g):
    node = tree.nodes.new("ShaderNodeGroup")
    node.node_tree = g
    return node


def make_materials():
    m, t, bsdf = material("wood")
    wood = image("wood", "//textures/wood.png")
    t.links.new(texture(t, wood).outputs[0], bsdf.inputs["Base Color"])
    normal = image("wood normal", "//textures/wood_normal.png", "Non-Color")
    bump = t.nodes.new("ShaderNodeNormalMap")
    t.links.new(texture(t, normal, "EXTEND", "Cubic").outputs[0], bump.inputs["Color"])
    t.links.new(bump.outputs[0], bsdf.inputs["Normal"])
    m, t, bsdf = material("modes")
    texture(t, image("mask", "//textures/mask.png", "Non-Color", "CHANNEL_PACKED"), "CLIP", "Closest")
    texture(t, image("rough", "//textures/../textures/rough.png", "Raw", "NONE"), "REPEAT", "Smart")
    texture(t, image("premul", "//textures\\wood.png", "Linear", "PREMUL"))
    texture(t, wood)
    texture(t, image("missing", "//textures/no such file.png"))
    texture(t, image("missing set", "//textures/nothing.<UDIM>.png", source="TILED"))
    texture(t, image("generated", "", source="GENERATED"))
    texture(t, image("movie", "//textures/film.mp4", source="MOVIE"))
    texture(t, image("no path", ""))
    texture(t, None)
    m, t, bsdf = material("sets")
    brick = image("brick", "//textures/brick.<UDIM>.png", source="TILED")
    for number in (1002, 1012, 1013):
        brick.tiles.new(number)
    texture(t, brick)
    cloth = image("cloth", "//textures/cloth_<UVTILE>.png", source="TILED")
    cloth.tiles.new(1002)
    texture(t, cloth)
    texture(t, image("frames", "//textures/seq/frame_0001.png", source="SEQUENCE"))
    texture(t, image("single tile", "//textures/single.1001.png", source="TILED"))
    world = bpy.data.worlds.new("sky")
    world.use_nodes = True
    texture(world.node_tree, image("sky", "//textures/sky.png"), kind="ShaderNodeTexEnvironment",
            interpolation="Closest")
    world.use_fake_user = True
    lamp = bpy.data.lights.new("lamp", "SPOT")
    lamp.use_nodes = True
    lamp.use_fake_user = True
    texture(lamp.node_tree, image("gobo", "//textures/gobo.png"), "CLIP")
    style = bpy.data.linestyles.new("style")
    style.use_nodes = True
    style.use_fake_user = True
    texture(style.node_tree, image("stroke", "//textures/stroke.png"))
    inner, outer = group("inner"), group("outer")
    texture(inner, image("deep", "//textures/deep.png"))
    texture(outer, image("group", "//textures/group.png"))
    call(outer, inner)
    m, t, bsdf = material("grouped")
    call(t, outer)
    # These are not shader trees, so their images do not count.
    comp = bpy.data.node_groups.new("compositing", "CompositorNodeTree")
    comp.use_fake_user = True
    comp.nodes.new("CompositorNodeImage").image = image("composited", "//textures/wood.png")
    image("unused", "//textures/wood.png").use_fake_user = True


def make_packed():
    m, t, bsdf = material("packed")
    packed = image("packed wood", "//textures/wood.png")
    packed.pack()
    texture(t, packed)
    tiles = image("packed brick", "//textures/brick.<UDIM>.png", source="TILED")
    for number in (1002, 1012):
        tiles.tiles.new(number)
    tiles.pack()
    texture(t, tiles)
    painted = bpy.data.images.new("painted: a/b", 2, 2)
    painted.pixels[0] = 0.5
    painted.pack()
    texture(t, painted)
    texture(t, image("not packed", "//textures/rough.png"))


def make_far():
    m, t, bsdf = material("far")
    texture(t, image("far", "//../textures/lib/far.png", "Non-Color"))


def add_object(name, m):
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [(0, 1, 2)])
    mesh.materials.append(m)
    return bpy.data.objects.new(name, mesh)


def link(path, **names):
    with bpy.data.libraries.load(path, link=True, relative=True) as (there, here):
        for kind, items in names.items():
            setattr(here, kind, items)


def make_library(folder):
    m, t, bsdf = material("lib material")
    texture(t, image("lib", "//../textures/lib/lib.png"), "EXTEND")
    m.use_fake_user = True
    m, t, bsdf = material("object material")
    texture(t, image("object", "//../textures/lib/object.png"))
    collection = bpy.data.collections.new("things")
    collection.use_fake_user = True
    thing = add_object("thing", m)
    collection.objects.link(thing)
    inner = bpy.data.collections.new("more things")
    collection.children.link(inner)
    link(os.path.join(folder, "lib", "far.blend"), materials=["far"])
    inner.objects.link(add_object("far thing", bpy.data.materials["far"]))
    m, t, bsdf = material("unused material")
    texture(t, image("unused", "//../textures/lib/unused.png"))
    world = bpy.data.worlds.new("lib world")
    world.use_nodes = True
    world.use_fake_user = True
    texture(world.node_tree, image("world", "//../textures/lib/world.png"), kind="ShaderNodeTexEnvironment")


def make_linked(folder):
    lib = os.path.join(folder, "lib", "library.blend")
    link(lib, materials=["lib material"], collections=["things"], worlds=["lib world"])
    scene = bpy.context.scene
    scene.world = bpy.data.worlds["lib world"]
    instance = bpy.data.objects.new("instance", None)
    instance.instance_type = "COLLECTION"
    instance.instance_collection = bpy.data.collections["things"]
    scene.collection.objects.link(instance)
    linked = bpy.data.materials["lib material"]
    scene.collection.objects.link(add_object("user", linked))
    override = linked.override_create()
    override.name = "overridden"
    scene.collection.objects.link(add_object("override user", override))
    m, t, bsdf = material("local")
    texture(t, image("local", "//textures/wood.png"))


def override(library, name, **changes):
    """An override of a library's image, changed; a material shows it."""
    linked = next(im for im in bpy.data.images if im.name == name and im.library and im.library.filepath.endswith(library))
    local = linked.override_create()
    for key, value in changes.items():
        if key == "colorspace":
            local.colorspace_settings.name = value
        else:
            setattr(local, key, value)
    m, t, bsdf = material(name)
    texture(t, local)


def make_base_images():
    for name in ("far", "deep"):
        image(name, "//../textures/lib/far.png", "ACEScg", "NONE").use_fake_user = True


def make_base_overrides(folder):
    link(os.path.join(folder, "lib", "images.blend"), images=["far", "deep"])
    override("images.blend", "deep", alpha_mode="CHANNEL_PACKED", colorspace="sRGB")
    # The second time, the overrides exist. They take values that they do not override from the library as it is then.
    again = os.path.exists(os.path.join(folder, "overrides.blend"))
    for name in ("colour", "alpha", "path", "all", "none", "source"):
        image(name, "//../textures/lib/lib.png", "ACES2065-1" if again else "ACEScg", "PREMUL" if again else "NONE").use_fake_user = True


def make_overrides(folder):
    names = ["colour", "alpha", "path", "all", "none", "source", "deep"]
    link(os.path.join(folder, "lib", "images_2.blend"), images=names)
    override("images_2.blend", "colour", colorspace="Non-Color")
    override("images_2.blend", "alpha", alpha_mode="CHANNEL_PACKED")
    override("images_2.blend", "path", filepath="//textures/wood.png")
    override("images_2.blend", "all", colorspace="Non-Color", alpha_mode="PREMUL", filepath="//textures/mask.png")
    override("images_2.blend", "none")
    override("images_2.blend", "source", source="SEQUENCE")
    override("images_2.blend", "deep", colorspace="Non-Color", filepath="//textures/rough.png")


def make_missing(folder):
    lib = os.path.join(folder, "lib", "gone.blend")
    link(lib, materials=["far"])
    bpy.context.scene.collection.objects.link(add_object("lost", bpy.data.materials["far"]))
    m, t, bsdf = material("local")
    texture(t, image("local", "//textures/wood.png"))


def simple_material(name):
    m, t, bsdf = material(name)
    m.use_fake_user = False
    texture(t, image(name, "//../textures/lib/%s.png" % name))
    return m


def make_graph_library():
    """Materials that an object uses in other ways than through its mesh."""
    nodes = bpy.data.node_groups.new("nodes", "GeometryNodeTree")
    nodes.outputs.new("NodeSocketGeometry", "Geometry")
    nodes.nodes.new("NodeGroupOutput")
    nodes.nodes.new("GeometryNodeSetMaterial").inputs["Material"].default_value = simple_material("nodes")
    thing = add_object("thing", simple_material("slot"))
    thing.modifiers.new("nodes", "NODES").node_group = nodes
    particle = add_object("particle", None)
    particle.material_slots[0].link = "OBJECT"
    particle.material_slots[0].material = simple_material("particle")
    thing.modifiers.new("particles", "PARTICLE_SYSTEM")
    thing.particle_systems[0].settings.render_type = "OBJECT"
    thing.particle_systems[0].settings.instance_object = particle
    curve = bpy.data.curves.new("curve", "CURVE")
    curve.materials.append(simple_material("curve"))
    target = bpy.data.objects.new("target", curve)
    target.parent = thing
    thing.constraints.new("COPY_LOCATION").target = target
    for item in (thing, particle, target, add_object("apart", simple_material("apart"))):
        bpy.context.scene.collection.objects.link(item)


def make_graph(folder):
    link(os.path.join(folder, "lib", "graph.blend"), objects=["thing"])
    bpy.context.scene.collection.objects.link(bpy.data.objects["thing"])


def make_inside(folder):
    """A packed library: the scene keeps it when it is gone."""
    link(os.path.join(folder, "lib", "gone.blend"), materials=["far"])
    bpy.context.scene.collection.objects.link(add_object("packed", bpy.data.materials["far"]))
    bpy.ops.file.pack_libraries()


def make_circle(folder, own, other):
    """Called twice for the first file: its partner must exist before it can be linked."""
    m, t, bsdf = material("of " + own)
    texture(t, image(own, "//textures/wood.png"))
    path = os.path.join(folder, "circle_%s.blend" % other)
    if os.path.exists(path):
        link(path, materials=["of " + other])
        bpy.context.scene.collection.objects.link(add_object("o", bpy.data.materials["of " + other]))


def make_lint():
    m, t, bsdf = material("normal as colour")
    normal = t.nodes.new("ShaderNodeNormalMap")
    reroute = t.nodes.new("NodeReroute")
    t.links.new(texture(t, image("bad normal", "//textures/wood_normal.png")).outputs[0], reroute.inputs[0])
    t.links.new(reroute.outputs[0], normal.inputs["Color"])
    m, t, bsdf = material("good")
    normal = t.nodes.new("ShaderNodeNormalMap")
    node = texture(t, image("good normal", "//textures/rough.png", "Non-Color"))
    t.links.new(node.outputs["Color"], normal.inputs["Color"])
    good = texture(t, image("good colour", "//textures/wood.png"))
    t.links.new(good.outputs["Color"], bsdf.inputs["Base Color"])
    t.links.new(good.outputs["Alpha"], bsdf.inputs["Alpha"])
    m, t, bsdf = material("both")
    both = texture(t, image("both", "//textures/mask.png"))
    t.links.new(both.outputs["Color"], bsdf.inputs["Base Color"])
    t.links.new(both.outputs["Color"], bsdf.inputs["Roughness"])
    g = group("takes a normal")
    g.inputs.new("NodeSocketColor", "Diffuse")
    g.inputs.new("NodeSocketColor", "Bumps")
    g.outputs.new("NodeSocketColor", "Plain")
    inside, outside = g.nodes.new("NodeGroupInput"), g.nodes.new("NodeGroupOutput")
    normal = g.nodes.new("ShaderNodeNormalMap")
    g.links.new(inside.outputs["Bumps"], normal.inputs["Color"])
    g.links.new(inside.outputs["Diffuse"], outside.inputs["Plain"])
    m, t, bsdf = material("through a group")
    node = call(t, g)
    t.links.new(texture(t, image("grouped normal", "//textures/deep.png")).outputs[0], node.inputs["Bumps"])
    t.links.new(texture(t, image("grouped colour", "//textures/group.png")).outputs[0], node.inputs["Diffuse"])
    t.links.new(node.outputs["Plain"], bsdf.inputs["Base Color"])
    holder = group("holds a map")
    holder.outputs.new("NodeSocketColor", "Map")
    outside = holder.nodes.new("NodeGroupOutput")
    holder.links.new(texture(holder, image("held", "//textures/gobo.png")).outputs[0], outside.inputs["Map"])
    m, t, bsdf = material("uses what a group holds")
    t.links.new(call(t, holder).outputs["Map"], bsdf.inputs["Roughness"])
    t.links.new(call(t, holder).outputs["Map"], bsdf.inputs["Base Color"])
    texture(t, image("same file", "//textures/wood.png", "Non-Color"))


def library_of(item, folder):
    return relative(bpy.path.abspath(item.library.filepath), folder) if item.library else ""


def relative(path, folder):
    return os.path.relpath(os.path.normpath(path), folder)


def owners():
    yield from (("material", m, m.node_tree) for m in bpy.data.materials if m.node_tree)
    yield from (("world", w, w.node_tree) for w in bpy.data.worlds if w.node_tree)
    yield from (("light", l, l.node_tree) for l in bpy.data.lights if l.node_tree)
    yield from (("line style", s, s.node_tree) for s in bpy.data.linestyles if s.node_tree)
    yield from (("node group", g, g) for g in bpy.data.node_groups if g.type == "SHADER")


def list_images(folder):
    """What Blender knows about every image that a shader node uses."""
    images = {}
    for kind, owner, tree in owners():
        for node in tree.nodes:
            im = getattr(node, "image", None)
            if im is None:
                continue
            lib = library_of(im, folder)
            entry = images.setdefault((im.name, lib), {
                "name": im.name, "library": lib, "stored_path": im.filepath_raw, "source": im.source.lower(),
                "colorspace": im.colorspace_settings.name, "alpha": im.alpha_mode.lower(),
                "packed": [{"name": os.path.basename(p.filepath), "bytes": p.packed_file.size} for p in im.packed_files],
                "tiles": [tile.number for tile in im.tiles] if im.source == "TILED" else [],
                "path": relative(bpy.path.abspath(im.filepath_raw, library=im.library).replace("\\", "/"), folder)
                        if im.filepath_raw else "",
                "users": []})
            entry["users"].append({
                "node": node.name, "owner": owner.name, "owner_type": kind, "library": library_of(owner, folder),
                "extension": getattr(node, "extension", "REPEAT").lower(),
                "interpolation": node.interpolation.lower(),
                "environment": node.bl_idname == "ShaderNodeTexEnvironment"})
    for entry in images.values():
        entry["users"].sort(key=lambda u: (u["owner_type"], u["owner"], u["library"], u["node"]))
    return [images[key] for key in sorted(images)]


def unpacked_names():
    """The files that Blender makes of what the open scene has packed."""
    with tempfile.TemporaryDirectory() as folder:
        bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "copy.blend"), relative_remap=False)
        bpy.ops.file.unpack_all(method="WRITE_LOCAL")
        return sorted(os.listdir(os.path.join(folder, "textures")))


def dump(path, what):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(what, f, indent=1, sort_keys=True)
        f.write("\n")


MAKERS = {"materials": lambda f: make_materials(), "packed": lambda f: make_packed(), "lib/far": lambda f: make_far(),
          "lib/library": make_library, "linked": make_linked, "lib/gone": lambda f: make_far(),
          "missing": make_missing, "inside": make_inside, "circle_a": lambda f: make_circle(f, "a", "b"),
          "circle_b": lambda f: make_circle(f, "b", "a"), "lint": lambda f: make_lint(),
          "lib/graph": lambda f: make_graph_library(), "graph": make_graph,
          "lib/images": lambda f: make_base_images(), "lib/images_2": make_base_overrides, "overrides": make_overrides}


def main():
    command, folder, what = sys.argv[sys.argv.index("--") + 1:][:3]
    folder = os.path.abspath(folder)
    if command == "make":
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.preferences.filepaths.use_file_compression = True
        bpy.context.preferences.filepaths.file_preview_type = "NONE"
        make_pictures(folder)
        path = os.path.join(folder, what + ".blend")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # A relative path can be made only after the file has a place.
        bpy.ops.wm.save_as_mainfile(filepath=path, compress=True)
        MAKERS[what](folder)
        for brush in list(bpy.data.brushes): # half of an empty file
            bpy.data.brushes.remove(brush)
        bpy.ops.wm.save_as_mainfile(filepath=path, compress=True)
    else:
        bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, what), load_ui=False)
        base = os.path.join(folder, what[:-len(".blend")])
        dump(base + ".json", list_images(folder))
        if any(im.packed_file for im in bpy.data.images):
            dump(base + "_names.json", unpacked_names())


main()
