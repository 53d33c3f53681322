# SPDX-License-Identifier: Apache-2.0
"""Compares the tiles that Cycles reads with those that `txmill stream budget` lists, in one scene. Inside Blender:

    scene FOLDER KIND          saves FOLDER/scene.blend, and the same scene as txmill-scene(5); KIND: `bounces`, or `camera`,
                               in which all surfaces are emissive, so that paths end where the camera's rays do, or
                               `shaders`: artists' ones, in a scene that the extension is to export, as FOLDER/request says;
                               `normals`: such a one with normal maps, rough and clear glass, mirrors and instances; `hall`:
                               another, a pillared hall with a sun and a sky, which is seen from outside; `grove`: instances
                               with partly transparent leaves; `room1`, `room2`...: rooms at random, with mirrors, glass and
                               instances, and Blender's own numbers of bounces
    export FOLDER              exports it with the extension, as FOLDER/request says
    render FOLDER FILTER       renders it; FILTER is the setting Filter Glossy, at 0 of which Cycles widens no differentials

Outside:

    compare FOLDER TRACE TABLE FLOOR each|all    compares strace's output for a render with the table of --tiles: the
                                        intersection over the union of both sets must be at least FLOOR, on each level
                                        or in total; and txmill must name 95 to 110 % as many (each: 90)

The scene is a room with six walls, each with its own image, and balls with each kind of surface."""
import collections
import math
import os
import re
import struct
import sys
import types
import zlib

EDGE, TILE = 4096, 64
WALLS = [((0, 0, 0), (4, 0, 0), (0, 4, 0)), ((0, 0, 2.8), (4, 0, 0), (0, 4, 0)), ((0, 0, 0), (4, 0, 0), (0, 0, 2.8)),
         ((0, 4, 0), (4, 0, 0), (0, 0, 2.8)), ((0, 0, 0), (0, 4, 0), (0, 0, 2.8)), ((4, 0, 0), (0, 4, 0), (0, 0, 2.8))]
# Place, radius, kind, roughness as Blender's nodes have it (alpha is its square); each has the next image.
BALLS = [((1.1, 2.6, 0.5), 0.5, "diffuse", 0), ((2.2, 3.0, 0.6), 0.6, "mirror", 0), ((3.2, 2.4, 0.45), 0.45, "glossy", 0.45),
         ((1.8, 1.7, 0.3), 0.3, "glass", 0), ((2.6, 1.9, 1.5), 0.3, "glossy", 0.7), ((1.3, 3.3, 1.7), 0.35, "diffuse", 0)]
# For `shaders`: the walls' and the balls'.
PRINCIPLED = [{"Roughness": 0.3}, {}, {"Coat Weight": 1.0}, {"Metallic": 1.0, "Roughness": 0.25}, {"Metallic": 0.4}, {"Alpha": 0.9},
              {"Metallic": 1.0, "Roughness": 0.0}, {"Transmission Weight": 1.0, "Roughness": 0.0}, {"Alpha": 0.5},
              {"Transmission Weight": 0.5, "Roughness": 0.0}, {"Specular IOR Level": 1.0, "Roughness": 0.1}, "glass and diffuse"]
# For `normals`: the walls', the balls' and the instances'; "Normal" is the strength of a normal map.
NORMALS = [{"Roughness": 0.2, "Normal": 1.0}, {}, {"Roughness": 0.5, "Normal": 0.7}, {"Metallic": 1.0, "Roughness": 0.15},
           {"Metallic": 0.4, "Normal": 1.0}, {"Coat Weight": 0.5},
           {"Metallic": 1.0, "Roughness": 0.0, "Normal": 0.4}, {"Metallic": 1.0, "Roughness": 0.0},
           {"Transmission Weight": 1.0, "Roughness": 0.0}, {"Transmission Weight": 1.0, "Roughness": 0.3},
           {"Transmission Weight": 1.0, "Roughness": 0.0, "Normal": 0.5}, {"Roughness": 0.4, "Normal": 1.0},
           {"Roughness": 0.35, "Normal": 0.8}]
# For `hall`: floor, pillars, roof, mirror, pane, statue, bowl.
HALL = [{"Roughness": 0.3, "Normal": 1.0}, {"Roughness": 0.6, "Normal": 0.5}, {}, {"Metallic": 1.0, "Roughness": 0.0},
        {"Transmission Weight": 1.0, "Roughness": 0.05}, {"Metallic": 1.0, "Roughness": 0.2, "Normal": 0.3},
        {"Transmission Weight": 1.0, "Roughness": 0.0}]
CAMERA = {"from": (0.4, 0.3, 1.5), "to": (2.4, 3.0, 0.9), "half": 0.8}
SAMPLES = 4


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path):
    """Makes an image of one bit per pixel, because only the places of texels matter."""
    rows = b"".join(b"\0" + ((b"\xaa\x33" if y // TILE % 2 else b"\x33\xaa") * (EDGE // 16)) for y in range(EDGE))
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", EDGE, EDGE, 1, 0, 0, 0, 0)) +
                  chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))


def write_normals(path, edge=1024, waves=24):
    """Makes waves in both directions, as a normal map."""
    rows = bytearray()
    for y in range(edge):
        rows.append(0)
        b = math.cos(2 * math.pi * waves * y / edge)
        for x in range(edge):
            a = math.cos(2 * math.pi * waves * x / edge)
            length = math.sqrt(a * a + b * b + 4)
            rows += bytes(int(127.5 * (1 + v / length) + 0.5) for v in (a, b, 2))
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0)) +
                  chunk(b"IDAT", zlib.compress(bytes(rows), 1)) + chunk(b"IEND", b""))


# ---- the scene, inside Blender ----

def bump(tree, shader, strength, path):
    import bpy
    image, normal = tree.nodes.new("ShaderNodeTexImage"), tree.nodes.new("ShaderNodeNormalMap")
    if not os.path.exists(path):
        write_normals(path)
    image.image = bpy.data.images.load(path, check_existing=True)
    image.image.colorspace_settings.name = "Non-Color"
    normal.inputs["Strength"].default_value = strength
    tree.links.new(image.outputs["Color"], normal.inputs["Color"])
    tree.links.new(normal.outputs["Normal"], shader.inputs["Normal"])


def artists_shader(tree, out, settings, path):
    """Makes a Principled shader, or one in which glass and a diffuse shader are mixed by Fresnel."""
    import bpy
    image = tree.nodes.new("ShaderNodeTexImage")
    image.image = bpy.data.images.load(path)
    if isinstance(settings, dict):
        shader = tree.nodes.new("ShaderNodeBsdfPrincipled")
        for name, value in settings.items():
            if name == "Normal":
                bump(tree, shader, value, os.path.join(os.path.dirname(path), "normals.png"))
            else:
                shader.inputs[name].default_value = value
        tree.links.new(image.outputs["Color"], shader.inputs["Base Color"])
    else:
        shader, glass, diffuse = (tree.nodes.new("ShaderNode" + name) for name in ("MixShader", "BsdfGlass", "BsdfDiffuse"))
        glass.inputs["Roughness"].default_value = 0
        tree.links.new(tree.nodes.new("ShaderNodeFresnel").outputs[0], shader.inputs[0])
        tree.links.new(image.outputs["Color"], diffuse.inputs["Color"])
        tree.links.new(diffuse.outputs[0], shader.inputs[1])
        tree.links.new(glass.outputs[0], shader.inputs[2])
    tree.links.new(shader.outputs[0], out.inputs["Surface"])


def hall(folder):
    """Makes pillars in two rows over a floor, as instances of one collection, under a sun and a sky."""
    import bpy
    import mathutils
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = [here]
    import scenes
    made = scenes.empty()
    made.cycles.samples = 16
    made.cycles.caustics_reflective = made.cycles.caustics_refractive = True
    made.render.resolution_x, made.render.resolution_y = 400, 240
    made.render.threads_mode, made.render.threads = "FIXED", 1
    camera = made.camera
    camera.data.type, camera.data.lens = "PERSP", 28
    camera.location = (7.5, -9, 2.2)
    camera.rotation_euler = (mathutils.Vector((0, 1, 1.2)) - camera.location).to_track_quat("-Z", "Y").to_euler()

    def textured(index, thing):
        path = os.path.join(folder, "tex%d.png" % index)
        write_png(path)
        nodes = bpy.data.materials.new("m%d" % index)
        nodes.use_nodes = True
        nodes.node_tree.nodes.clear()
        artists_shader(nodes.node_tree, nodes.node_tree.nodes.new("ShaderNodeOutputMaterial"), HALL[index], path)
        thing.data.materials.append(nodes)
        return thing

    def added(make, index, **where):
        make(**where)
        return textured(index, bpy.context.object)

    mesh = bpy.ops.mesh
    added(mesh.primitive_plane_add, 0, size=24)
    pillar = added(mesh.primitive_cylinder_add, 1, radius=0.35, depth=4, location=(0, 0, 2))
    added(mesh.primitive_cube_add, 2, location=(0, 0, 4.2)).scale = (3.5, 6, 0.2)
    added(mesh.primitive_cube_add, 3, location=(-3.2, 0, 2)).scale = (0.05, 4, 1.5)
    added(mesh.primitive_cube_add, 4, location=(1.5, -3, 1.2)).scale = (0.9, 0.04, 1.2)
    added(mesh.primitive_monkey_add, 5, location=(0, 0, 1.5))
    bpy.ops.object.shade_smooth()
    added(mesh.primitive_uv_sphere_add, 6, radius=0.7, location=(1.4, 1.5, 0.7))
    bpy.ops.object.shade_smooth()
    pillars = bpy.data.collections.new("pillars")
    made.collection.objects.unlink(pillar)
    pillars.objects.link(pillar)
    for i in range(10):
        thing = bpy.data.objects.new("pillar", None)
        thing.instance_type, thing.instance_collection = "COLLECTION", pillars
        thing.location, thing.rotation_euler = (-2.5 + 5 * (i % 2), -5 + 2.5 * (i // 2), 0), (0, 0, 0.5 * i)
        made.collection.objects.link(thing)
    sky = os.path.join(folder, "tex%d.png" % len(HALL))
    write_png(sky)
    made.world = bpy.data.worlds.new("sky")
    made.world.use_nodes = True
    tree = made.world.node_tree
    image = tree.nodes.new("ShaderNodeTexEnvironment")
    image.image = bpy.data.images.load(sky)
    background = next(node for node in tree.nodes if node.bl_idname == "ShaderNodeBackground")
    tree.links.new(image.outputs["Color"], background.inputs["Color"])
    made.world.cycles.sampling_method = "NONE"  # a budget lists the tiles of its map separately
    save(folder, made)


def grove(folder):
    """Makes instances of a tree whose leaves are partly transparent, over a floor whose texture is scaled and
    turned, with a mirror and glass."""
    import random

    import bpy
    import mathutils
    sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
    import scenes
    made, chance = scenes.empty(), random.Random(7)
    made.cycles.samples = 16
    made.render.resolution_x, made.render.resolution_y = 420, 260
    made.render.threads_mode, made.render.threads = "FIXED", 1
    camera = made.camera
    camera.data.type, camera.data.lens = "PERSP", 32
    camera.location = (6, -10, 2.6)
    camera.rotation_euler = (mathutils.Vector((0, 2, 1.6)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    names = iter("tex%d.png" % i for i in range(10))

    def picture(tree):
        path = os.path.join(folder, next(names))
        write_png(path)
        node = tree.nodes.new("ShaderNodeTexImage")
        node.image = bpy.data.images.load(path)
        return node

    def added(make, shader, alpha=False, scale=None, **where):
        make(**where)
        thing = bpy.context.object
        nodes = bpy.data.materials.new("m")
        nodes.use_nodes = True
        tree = nodes.node_tree
        principled = next(node for node in tree.nodes if node.bl_idname == "ShaderNodeBsdfPrincipled")
        for name, value in shader.items():
            principled.inputs[name].default_value = value
        color = picture(tree)
        tree.links.new(color.outputs["Color"], principled.inputs["Base Color"])
        if alpha:
            tree.links.new(picture(tree).outputs["Color"], principled.inputs["Alpha"])
        if scale:
            mapping = tree.nodes.new("ShaderNodeMapping")
            mapping.inputs["Scale"].default_value = (scale, scale, 1)
            mapping.inputs["Rotation"].default_value = (0, 0, 0.3)
            tree.links.new(tree.nodes.new("ShaderNodeTexCoord").outputs["UV"], mapping.inputs[0])
            tree.links.new(mapping.outputs[0], color.inputs[0])
        thing.data.materials.append(nodes)
        return thing

    mesh = bpy.ops.mesh
    added(mesh.primitive_plane_add, {"Roughness": 0.9}, scale=3, size=40)
    leaf = added(mesh.primitive_plane_add, {"Roughness": 0.6}, alpha=True, size=1.6, location=(0, 0, 2.4))
    leaf.rotation_euler = (1.2, 0, 0)
    other = leaf.copy()
    other.rotation_euler = (1.2, 0, 2.1)
    trunk = added(mesh.primitive_cylinder_add, {"Roughness": 0.8}, radius=0.15, depth=2.4, location=(0, 0, 1.2))
    tree = bpy.data.collections.new("tree")
    for part in (leaf, other, trunk):
        tree.objects.link(part)
        if part != other:
            made.collection.objects.unlink(part)
    for _ in range(40):
        thing = bpy.data.objects.new("tree", None)
        thing.instance_type, thing.instance_collection = "COLLECTION", tree
        thing.location = (chance.uniform(-9, 5), chance.uniform(-4, 16), 0)
        thing.rotation_euler = (0, 0, chance.uniform(0, 6))
        thing.scale = [chance.uniform(0.6, 1.5)] * 3
        made.collection.objects.link(thing)
    added(mesh.primitive_uv_sphere_add, {"Metallic": 1, "Roughness": 0}, radius=0.9, location=(2.6, -4, 0.9))
    bpy.ops.object.shade_smooth()
    added(mesh.primitive_ico_sphere_add, {"Transmission Weight": 1, "Roughness": 0}, radius=0.6, location=(4.2, -5.5, 0.6))
    bpy.ops.object.shade_smooth()
    save(folder, made)


def room(folder, seed):
    """Makes a closed room whose things, kinds of surface and instances are drawn at random."""
    import random

    import bpy
    import mathutils
    sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
    import scenes
    made, chance = scenes.empty(), random.Random(seed)
    for thing in list(made.collection.objects):
        if thing.type == "LIGHT":
            bpy.data.objects.remove(thing)
    made.cycles.samples = 16 << seed % 3
    made.render.resolution_x, made.render.resolution_y = 400, 225
    made.render.threads_mode, made.render.threads = "FIXED", 1
    camera = made.camera
    camera.data.type, camera.data.lens = "PERSP", 24
    camera.location = (0.5, 0.5, 1.6)
    camera.rotation_euler = (mathutils.Vector((3.5, 4, 1.1)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    for place in ((1.5, 3, 2.7), (4, 2, 2.7)):
        lamp = bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "AREA"))
        lamp.data.energy, lamp.data.size, lamp.location = 60, 0.5, place
        made.collection.objects.link(lamp)
    mirror, glass = {"Metallic": 1.0, "Roughness": 0.0}, {"Transmission Weight": 1.0, "Roughness": 0.0}
    kinds = [mirror, glass, {"Metallic": 1.0, "Roughness": 0.2}, {"Transmission Weight": 1.0, "Roughness": 0.2}, {"Roughness": 0.4},
             {"Coat Weight": 1.0, "Roughness": 0.6}]
    count = iter(range(99))

    def textured(thing, settings):
        path = os.path.join(folder, "tex%d.png" % next(count))
        write_png(path)
        nodes = bpy.data.materials.new("m")
        nodes.use_nodes = True
        nodes.node_tree.nodes.clear()
        artists_shader(nodes.node_tree, nodes.node_tree.nodes.new("ShaderNodeOutputMaterial"), settings, path)
        thing.data.materials.append(nodes)
        return thing

    def added(make, settings, **where):
        make(**where)
        return textured(bpy.context.object, settings)

    def smooth(thing):
        bpy.context.view_layer.objects.active = thing
        bpy.ops.object.shade_smooth()
        return thing

    mesh = bpy.ops.mesh
    turned = math.pi / 2
    for at, (place, turn, sides) in enumerate((((2.5, 2.5, 0), (0, 0, 0), (5, 5)), ((2.5, 2.5, 3), (0, 0, 0), (5, 5)),
                                               ((2.5, 0, 1.5), (turned, 0, 0), (5, 3)), ((2.5, 5, 1.5), (turned, 0, 0), (5, 3)),
                                               ((0, 2.5, 1.5), (0, turned, 0), (3, 5)), ((5, 2.5, 1.5), (0, turned, 0), (3, 5)))):
        wall = added(mesh.primitive_plane_add, {"Roughness": 0.3} if at == 0 else {}, size=1, location=place, rotation=turn)
        wall.scale = (*sides, 1)
    for place, turn in (((2.8, 4.9, 1.5), (turned, 0, 0.1)), ((4.9, 2.6, 1.5), (turned, 0, turned - 0.1))):
        added(mesh.primitive_plane_add, mirror, size=1, location=place, rotation=turn).scale = (1.6, 1.8, 1)
    added(mesh.primitive_cube_add, glass, size=1, location=(1.9, 1.9, 0.9), rotation=(0, 0, 0.6)).scale = (1.2, 0.05, 1.4)
    for at in range(6):
        place = (chance.uniform(1.3, 4.3), chance.uniform(1.3, 4.3), chance.uniform(0.3, 1.8))
        make = chance.choice((mesh.primitive_uv_sphere_add, mesh.primitive_torus_add, mesh.primitive_monkey_add))
        thing = smooth(added(make, kinds[at % len(kinds)], location=place))
        thing.scale = [chance.uniform(0.25, 0.4)] * 3
    things = [smooth(added(mesh.primitive_monkey_add, chance.choice(kinds), location=(1, 4, 0.3))),
              added(mesh.primitive_cube_add, chance.choice(kinds), location=(4, 1, 0.3)),
              smooth(added(mesh.primitive_uv_sphere_add, chance.choice(kinds), location=(4, 4, 0.3)))]
    for thing in things:
        thing.scale = [0.15] * 3
        for _ in range(12):
            other = thing.copy()
            other.location = (chance.uniform(0.8, 4.7), chance.uniform(0.8, 4.7), chance.uniform(0.15, 2.5))
            other.rotation_euler = [chance.uniform(0, 6) for _ in range(3)]
            made.collection.objects.link(other)
    save(folder, made)


def save(folder, made):
    """Makes the scene and the request for the extension."""
    import json

    import bpy
    with open(os.path.join(folder, "request"), "w") as out:
        json.dump({"folder": folder, "at_once": True, "scene": made.name, "layer": bpy.context.view_layer.name, "frame": 1,
                   "subframe": 0.0}, out)
    bpy.ops.wm.save_as_mainfile(filepath=os.path.join(folder, "scene.blend"), compress=False)


def scene(folder, kind_of_scene):
    import bpy
    import mathutils
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = [here]
    extension = sys.modules["extension"] = types.ModuleType("extension")  # its modules, without what registers them
    extension.__path__ = [os.path.join(here, "..", "..", "blender", "txmill")]
    import scenes
    shaded, artists = kind_of_scene != "camera", kind_of_scene in ("shaders", "normals")
    from extension.meshes import matrix, numbers, quoted, triangles, write_ply

    made = scenes.empty()
    for thing in list(made.collection.objects):
        if thing.type == "LIGHT":
            bpy.data.objects.remove(thing)
    cycles = made.cycles
    cycles.max_bounces = cycles.diffuse_bounces = cycles.glossy_bounces = cycles.transmission_bounces = 3
    cycles.transparent_max_bounces = 8
    cycles.min_light_bounces = cycles.min_transparent_bounces = 3  # so that no path ends at random
    cycles.samples = SAMPLES
    cycles.caustics_reflective = cycles.caustics_refractive = True
    w, h = (480, 270) if shaded else (960, 540)
    made.render.resolution_x, made.render.resolution_y = w, h
    made.render.threads_mode, made.render.threads = "FIXED", 1
    camera = made.camera
    camera.data.type = "PERSP"
    camera.data.angle = 2 * math.atan(CAMERA["half"])
    camera.data.clip_start, camera.data.clip_end = 0.01, 100
    direction = mathutils.Vector(CAMERA["to"]) - mathutils.Vector(CAMERA["from"])
    camera.location = CAMERA["from"]
    camera.rotation_euler = direction.to_track_quat("-Z", "Y").to_euler()
    lamp = bpy.data.objects.new("lamp", bpy.data.lights.new("lamp", "POINT"))
    lamp.data.energy, lamp.data.shadow_soft_size, lamp.location = 100, 0.1, (2, 2, 2.5)
    made.collection.objects.link(lamp)
    bpy.context.view_layer.update()

    lines = ["txmill-scene 1", "size %d %d" % (w, h), "samples %d" % SAMPLES, "bounces %d" % (3 if shaded else 0)]
    lines.append("camera perspective half %s shift 0 0 clip 0.01 100 to-world %s" % (
        numbers((CAMERA["half"], CAMERA["half"] * h / w)), matrix(camera.matrix_world)))
    lines.append("light point power 100 100 100 at 2 2 2.5 radius 0.1")

    def material(index, kind, roughness):
        name = "m%d" % index
        path = os.path.join(folder, "tex%d.png" % index)
        kind = kind if shaded else "emission"
        textured = artists or kind not in ("mirror", "glass")
        if textured:
            write_png(path)
        nodes = bpy.data.materials.new(name)
        nodes.use_nodes = True
        tree = nodes.node_tree
        tree.nodes.clear()
        out = tree.nodes.new("ShaderNodeOutputMaterial")
        if artists:
            artists_shader(tree, out, (PRINCIPLED if kind_of_scene == "shaders" else NORMALS)[index], path)
            return nodes
        shader = tree.nodes.new({"diffuse": "ShaderNodeBsdfDiffuse", "glass": "ShaderNodeBsdfGlass", "emission": "ShaderNodeEmission",
                                 "glossy": "ShaderNodeBsdfAnisotropic", "mirror": "ShaderNodeBsdfAnisotropic"}[kind])
        shader.inputs["Color"].default_value = (0.9, 0.9, 0.9, 1)
        if kind in ("glossy", "mirror", "glass"):
            shader.inputs["Roughness"].default_value = roughness
            shader.distribution = "GGX"
        if kind == "glass":
            shader.inputs["IOR"].default_value = 1.45
        tree.links.new(shader.outputs[0], out.inputs["Surface"])
        lines.append("material %s %s 0.9 0.9 0.9%s" % (name, kind, " roughness %g" % roughness ** 2 if kind == "glossy" else
                                                       " ior 1.45" if kind == "glass" else ""))
        if textured:
            image = tree.nodes.new("ShaderNodeTexImage")
            image.image = bpy.data.images.load(path)
            tree.links.new(image.outputs["Color"], shader.inputs["Color"])
            lines.append('image t%d "tex%d.png" colorspace "sRGB" alpha straight extension repeat interpolation linear' % (index, index))
            lines.append('texture %s t%d input "Color" uv "" transform 1 0 0 0 1 0' % (name, index))
        return nodes

    for i, (corner, u, v) in enumerate(WALLS):
        place = [mathutils.Vector(x) for x in (corner, u, v)]
        mesh = bpy.data.meshes.new("wall")
        mesh.from_pydata([place[0], place[0] + place[1], place[0] + place[1] + place[2], place[0] + place[2]], [], [(0, 1, 2, 3)])
        mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", [0, 0, 1, 0, 1, 1, 0, 1])
        mesh.materials.append(material(i, "diffuse", 0))
        made.collection.objects.link(bpy.data.objects.new("wall", mesh))
        lines.append("quad m%d %s" % (i, numbers([*corner, *u, *v])))
    for i, (center, radius, kind, roughness) in enumerate(BALLS, len(WALLS)):
        bpy.ops.mesh.primitive_uv_sphere_add(segments=96, ring_count=48, radius=radius, location=center)
        thing = bpy.context.object
        bpy.ops.object.shade_smooth()
        thing.data.materials.append(material(i, kind, roughness))
        if artists:  # rendered as round as the others are
            thing.modifiers.new("finer", "SUBSURF").levels = 0
            continue
        bpy.context.view_layer.update()
        evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
        corners, _, columns, names = triangles(evaluated.to_mesh())
        write_ply(os.path.join(folder, "ball%d.ply" % i), columns, corners, names)
        lines.append("mesh ball%d %s" % (i, quoted("ball%d.ply" % i)))
        lines.append("instance ball%d m%d %s" % (i, i, matrix(thing.matrix_world)))
    if kind_of_scene == "normals":
        bpy.ops.mesh.primitive_monkey_add(size=0.35, location=(0.9, 1.2, 0.25))
        first = bpy.context.object
        bpy.ops.object.shade_smooth()
        first.data.materials.append(material(len(WALLS) + len(BALLS), "glossy", 0.35))
        for i in range(1, 12):
            thing = first.copy()
            thing.location = (0.7 + 0.6 * (i % 6), 1.3 + 0.25 * (i % 4), 0.25 + 0.35 * (i // 3))
            thing.rotation_euler = (0.3 * i, 0.2 * i, 0.7 * i)
            made.collection.objects.link(thing)
    if not artists:
        with open(os.path.join(folder, "scene.txt"), "w") as out:
            out.write("\n".join(lines) + "\n")
    save(folder, made)


def export(folder):
    import runpy

    import bpy
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "scene.blend"))
    sys.argv = ["exporter.py", "--", os.path.join(folder, "request"), os.path.join(folder, "answer")]
    exporter = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../blender/txmill/exporter.py")
    runpy.run_path(exporter, run_name="__main__")


def render(folder, filter_glossy):
    import bpy
    bpy.ops.wm.open_mainfile(filepath=os.path.join(folder, "scene.blend"))
    bpy.context.scene.cycles.blur_glossy = filter_glossy
    bpy.context.scene.render.filepath = os.path.join(folder, "picture")
    bpy.ops.render.render(write_still=True)


# ---- reads ----

def tiles_of(path):
    """Returns {offset of its pixels in a TIFF file: (level, column, row)}, and [(columns, rows)] of the levels."""
    data = open(path, "rb").read()
    big = data[2] == 43
    assert data[:2] == b"II" and data[2] in (42, 43)
    at = struct.unpack_from("<Q" if big else "<I", data, 8 if big else 4)[0]
    found, levels = {}, []
    while at:
        count = struct.unpack_from("<Q" if big else "<H", data, at)[0]
        entry, size = at + (8 if big else 2), 20 if big else 12
        tags = {}
        for i in range(count):
            tag, kind = struct.unpack_from("<HH", data, entry + i * size)
            n = struct.unpack_from("<Q" if big else "<I", data, entry + i * size + 4)[0]
            field = entry + i * size + (12 if big else 8)
            letter = {3: "H", 4: "I", 16: "Q"}.get(kind)
            if letter and tag in (256, 257, 322, 324):
                if n * struct.calcsize(letter) > (8 if big else 4):
                    field = struct.unpack_from("<Q" if big else "<I", data, field)[0]
                tags[tag] = struct.unpack_from("<%d%s" % (n, letter), data, field)
        across, down = (-(-tags[t][0] // TILE) for t in (256, 257))
        for i, offset in enumerate(tags[324]):
            found[offset] = (len(levels), i % across, i // across)
        levels.append((across, down))
        at = struct.unpack_from("<Q" if big else "<I", data, entry + count * size)[0]
    return found, levels


def reads_of(trace):
    """Returns [(path, offset)] of the reads in strace's output, in order; -y names descriptors."""
    where = collections.defaultdict(int)
    reads = []
    begun = {}
    for line in open(trace, errors="replace"):
        thread, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            begun[thread] = call[:-len("<unfinished ...>")]
            continue
        if call.startswith("<..."):
            call = begun.pop(thread, "") + call.partition("resumed>")[2]
        m = re.match(r"(\w+)\((\d+)<([^>]*)>", call)
        if not m or not m[3].endswith(".tx"):
            continue
        result = int(re.search(r"= (-?\d+)", call[call.rindex(")"):])[1])
        if result < 0:
            continue
        key = (m[2], m[3])
        if m[1] in ("lseek", "_llseek"):
            where[key] = result
        elif m[1] == "pread64":
            reads.append((m[3], int(re.search(r", (\d+)\)\s*=", call)[1])))
        elif m[1] == "read":
            reads.append((m[3], where[key]))
            where[key] += result
        elif m[1] == "close":
            where.pop(key, None)
    return reads


def requests_of(reads, folder):
    """Returns {(image, level, column, row)} of the tiles that were requested. A padded tile is read as the tile,
    then its neighbours, row by row from the top left. Neighbours that are the tile itself are not read again."""
    files, by_file = {}, collections.defaultdict(list)
    for path, offset in reads:
        path = os.path.basename(path)  # the process may have been in a chroot
        if path not in files:
            files[path] = tiles_of(os.path.join(folder, "blender_tx", path))
        tile = files[path][0].get(offset)
        if tile:
            by_file[path].append(tile)
    asked, odd = set(), 0
    for path, tiles in by_file.items():
        name = path.split(".png")[0] + ".png"
        at = 0
        while at < len(tiles):
            level, x, y = tiles[at]
            across, down = files[path][1][level]
            asked.add((name, level, x, y))
            at += 1
            for dy in (-1, 0, 1):
                for dx in (-1, 0, 1):
                    near = (level, (x + dx) % across, (y + dy) % down)
                    if (dx or dy) and near != (level, x, y):
                        if at < len(tiles) and tiles[at] == near:
                            at += 1
                        else:
                            odd += 1
    return asked, odd


def compare(folder, trace, table, floor, what):
    cycles, odd = requests_of(reads_of(trace), folder)
    ours = set()
    for line in open(table):
        if not line.startswith("#"):
            image, _, level, x, y = line.rstrip("\n").split("\t")
            ours.add((image, int(level), int(x), int(y)))
    print("note %d tiles asked for by Cycles, %d by txmill, %d by both" % (len(cycles), len(ours), len(cycles & ours)))
    share = len(cycles & ours) / max(1, len(cycles | ours))
    print("note intersection over union of all: %.3f" % share)
    good = len(cycles) > 100 and odd == 0 and share >= floor and (0.9 if what == "each" else 0.95) <= len(ours) / len(cycles) <= 1.1
    for level in sorted({t[1] for t in cycles | ours}):
        a, b = ({t for t in s if t[1] == level} for s in (cycles, ours))
        share = len(a & b) / len(a | b)
        print("note level %d: Cycles %d, txmill %d, intersection over union %.3f" % (level, len(a), len(b), share))
        good = good and (share >= floor or what == "all")
    if odd:
        print("%d reads are not in the order of padded tiles" % odd)
    return good


if __name__ == "__main__":
    what, *words = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    if what == "scene":
        make, number = re.fullmatch(r"([a-z]+)(\d*)", words[1]).groups()
        {"hall": hall, "grove": grove, "room": lambda folder: room(folder, int(number))}.get(
            make, lambda folder: scene(folder, make))(words[0])
    elif what == "export":
        export(words[0])
    elif what == "render":
        render(words[0], float(words[1]))
    else:
        sys.exit(not compare(words[0], words[1], words[2], float(words[3]), words[4]))
