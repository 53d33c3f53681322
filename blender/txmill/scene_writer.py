# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the evaluated scene as a folder that txmill reads without Blender: txmill-scene(5)."""
import os
import re

import bpy
import numpy as np
from mathutils import Matrix

from . import blend, nodes, surfaces
from .meshes import matrix, numbers, quoted, triangles, write_ply

VERSION = 1
SOLID = {"MESH", "CURVE", "SURFACE", "FONT", "META"}
NOT_SOLID = {"CURVES": "hair curves", "POINTCLOUD": "a point cloud", "VOLUME": "a volume", "GREASEPENCIL": "grease pencil"}
ALPHA = {"STRAIGHT": "straight", "PREMUL": "premultiplied", "CHANNEL_PACKED": "channel_packed", "NONE": "none"}


def uv_transform(use):
    """(UV map name or "", six numbers of the affine map from uv to the texture) for the Vector input of an image node, through
    any number of Mapping nodes; None if they do not come from a UV map."""
    vector = use.node.inputs["Vector"]
    if nodes.linked(vector) is None:
        return "", (1, 0, 0, 0, 1, 0)
    found = nodes.coordinates(vector, use.groups)
    source = found[0] if found else None
    if source is None or getattr(source.node, "from_instancer", False):
        return None
    transform = tuple(found[2][row][column] for row in (0, 1) for column in (0, 1, 3))
    if source.node.bl_idname == "ShaderNodeUVMap":
        return source.node.uv_map, transform
    if source.node.bl_idname == "ShaderNodeTexCoord" and source.name == "UV":
        return "", transform
    return None


def frame_of(user, frame):
    """The frame of a sequence that an image node shows, computed here because Blender updates it only with Auto Refresh."""
    count = max(1, user.frame_duration)
    at = frame - user.frame_start
    return (at % count if user.use_cyclic else min(max(at, 0), count - 1)) + 1 + user.frame_offset


def of_frame(path, frame):
    """The file of another frame: the last number in the name is replaced, with as many digits."""
    folder, name = os.path.split(path)
    stem, extension = os.path.splitext(name)
    found = re.search(r"\d+(?=\D*$)", stem)
    if found is None:
        return path
    return os.path.join(folder, "%s%0*d%s%s" % (stem[:found.start()], len(found[0]), frame, stem[found.end():], extension))


class Writer:
    """Writes the scene that a depsgraph has evaluated into a folder. The paths of images are relative to it, so that both can
    be moved together. With `at_once`, for folders that are read on this machine and then removed, paths are absolute and
    missing images are left out."""

    def __init__(self, folder, depsgraph, at_once=False, has_camera=True):
        self.at_once, self.has_camera = at_once, has_camera
        # The real path, so that relative paths out of the folder are right.
        self.folder, self.depsgraph = os.path.realpath(folder), depsgraph
        self.lines = ["txmill-scene %d" % VERSION]
        self.images, self.materials, self.meshes = {}, {}, {}
        self.left_out = []  # (what, why)
        self.counts = {"instances": 0, "triangles": 0}

    def warnings(self):
        """A line for each part of the scene that a scene folder cannot describe."""
        return ["%s is left out: %s" % left for left in dict.fromkeys(self.left_out)]

    def add(self, *words):
        self.lines.append(" ".join(str(w) for w in words))

    def path(self, path):
        """The path relative to the folder if both are on the same drive."""
        if self.at_once:
            return path
        try:
            return os.path.relpath(path, self.folder).replace(os.sep, "/")
        except ValueError:
            return path

    def paths(self, scene):
        """Settings for the number of rays and their width."""
        cycles = getattr(scene, "cycles", None)  # absent if Cycles is disabled
        if cycles is None:
            return
        self.add("samples", cycles.samples)
        self.add("bounces", cycles.max_bounces, "diffuse", cycles.diffuse_bounces, "glossy", cycles.glossy_bounces,
                 "transmission", cycles.transmission_bounces, "transparent", cycles.transparent_max_bounces)
        self.add("filter-glossy", numbers((cycles.blur_glossy,)))

    def camera(self, scene):
        render = scene.render
        self.add("size", int(render.resolution_x * render.resolution_percentage / 100),
                 int(render.resolution_y * render.resolution_percentage / 100))
        camera = scene.camera if self.has_camera else None
        if camera is None or camera.type != "CAMERA":
            self.left_out.append(("camera", "the scene has none"))
            return
        camera = camera.evaluated_get(self.depsgraph)
        data = camera.data
        # Blender's own projection matrix includes sensor fit, shift and pixel aspect.
        projection = camera.calc_matrix_camera(
            self.depsgraph, x=render.resolution_x, y=render.resolution_y,
            scale_x=render.pixel_aspect_x, scale_y=render.pixel_aspect_y)
        if data.type == "PANO":
            self.left_out.append((camera.name, "a panoramic camera"))
            return
        kind = "perspective" if data.type == "PERSP" else "orthographic"
        # Half extents of the picture, at distance 1 for perspective, and its centre in halves of the picture.
        self.add("camera", kind, "half", numbers((1 / projection[0][0], 1 / projection[1][1])), "shift",
                 numbers((projection[0][2], projection[1][2]) if kind == "perspective" else
                         (-projection[0][3], -projection[1][3])),
                 "clip", numbers((data.clip_start, data.clip_end)), "to-world", matrix(camera.matrix_world))
        if data.dof.use_dof and kind == "perspective":
            distance = data.dof.focus_distance
            if data.dof.focus_object:
                offset = data.dof.focus_object.evaluated_get(self.depsgraph).matrix_world.translation - camera.matrix_world.translation
                distance = -(camera.matrix_world.to_3x3().inverted() @ offset).z
            self.add("lens", numbers((data.lens * 1e-3 / (2 * data.dof.aperture_fstop), distance)))

    def image(self, node):
        """Name of the image statement for an image node, one for each combination of image and settings; None if there is no
        file."""
        image = node.image
        if image is None:
            return None
        if image.source not in ("FILE", "TILED", "SEQUENCE") or image.packed_files:
            self.left_out.append((image.name, "the image is packed" if image.packed_files else
                                  "the image is not a file (%s)" % image.source.lower()))
            return None
        environment = node.bl_idname == "ShaderNodeTexEnvironment"
        extension = "repeat" if environment else node.extension.lower()
        path = bpy.path.abspath(image.filepath_raw, library=image.library)
        if image.source == "SEQUENCE":  # the file of this frame
            path = of_frame(path, frame_of(node.image_user, self.depsgraph.scene.frame_current))
        key = (image.name_full, path, extension, node.interpolation, environment)
        tiles = [tile.number for tile in image.tiles] if image.source == "TILED" else []
        if self.at_once:
            gone = [tile for tile in tiles or [1001] if not os.path.exists(path.replace("<UDIM>", str(tile)))]
            self.left_out += [("%s %d" % (image.name, tile) if tiles else image.name, "the file is missing") for tile in gone]
            tiles = [tile for tile in tiles if tile not in gone]
            if gone and not tiles:
                return None
        if key not in self.images:
            name = "image%d" % len(self.images)
            self.images[key] = name
            self.add("image", name, quoted(self.path(os.path.normpath(path))), "colorspace", quoted(blend.colorspace(image)),
                     "alpha", ALPHA[image.alpha_mode], "extension", extension, "interpolation", node.interpolation.lower(),
                     *(["udim", *tiles] if tiles else []))
        return self.images[key]

    def material(self, material):
        """Name of a material. Images that colour lobes are written with these lobes, all others with the first."""
        key = material.name_full if material else ""
        if key in self.materials:
            return self.materials[key]
        name = self.materials[key] = "material%d" % len(self.materials)
        surface = surfaces.of(material, self.left_out)
        lobes = surfaces.lobes(surface)
        textures = [[] for lobe in lobes]
        bumps = {id(part): [] for part in surfaces.parts(surface) if part.normal}
        output = nodes.output(material.node_tree if material else None)
        for use in nodes.upstream(output) if output else ():
            node = use.node
            if node.bl_idname == "ShaderNodeTexEnvironment" and node.image:
                self.left_out.append(("%s: %s" % (key, node.name), "its coordinates are not a UV map"))
            if node.bl_idname != "ShaderNodeTexImage":
                continue
            image, uv = self.image(node), uv_transform(use)
            if image and (uv is None or node.projection != "FLAT"):
                self.left_out.append(("%s: %s" % (key, node.name), "its coordinates are not a UV map"))
            elif image:
                bumpy = [part for part in surfaces.parts(surface) if part.normal and nodes.feeds(use, *part.normal[:2])]
                for part in bumpy:
                    bumps[id(part)] = [(image, "Normal", *uv, part.normal[2])]
                if bumpy:
                    continue
                colored = [index for index, lobe in enumerate(lobes) if lobe.tint and nodes.feeds(use, *lobe.tint)]
                for index in colored or (0,):
                    textures[index].append((image, "Base Color" if colored else use.input, *uv))
        self.surface(surface, name, quoted(key), iter(textures), bumps)
        return name

    def surface(self, surface, name, title, textures, bumps):
        """Writes the statements of a surface, after those of its parts. `textures` yields the textures of each lobe, `bumps` has
        the normal maps of the parts that have one."""
        own = []
        if isinstance(surface, surfaces.Mix):
            self.surface(surface.first, name + "a", title, textures, bumps)
            self.surface(surface.second, name + "b", title, textures, bumps)
            self.add("material", name, "mix", name + "a", name + "b", "share", numbers((surface.share,)), "title", title)
        else:
            self.add("material", name, surface.kind, numbers(surface.color), *([surface.settings] if surface.settings else []), "title", title)
            own = next(textures)
        for image, socket, uv_map, transform, *strength in own + bumps.get(id(surface), []):
            self.add("texture", name, image, "input", quoted(socket), "uv", quoted(uv_map), "transform", numbers(transform),
                     *(["normal", numbers(strength)] if strength else []))

    def mesh(self, instance):
        """[(mesh name, material, triangles)] of an evaluated object: a mesh for each material slot that has triangles."""
        thing = instance.object
        key = (thing.data.as_pointer() if thing.type == "MESH" else thing.as_pointer(),
               tuple(slot.material.name_full if slot.material else "" for slot in thing.material_slots))
        if key in self.meshes:
            return self.meshes[key]
        parts = []
        mesh = thing.to_mesh()
        if mesh is not None and len(mesh.loop_triangles):
            corners, of_slot, columns, names = triangles(mesh)
            for slot in np.unique(of_slot):
                name = "mesh%d_%d" % (len(self.meshes), len(parts))
                file = "meshes/%s.ply" % name
                chosen = corners[of_slot == slot]
                write_ply(os.path.join(self.folder, file), columns, chosen, names)
                material = thing.material_slots[slot].material if slot < len(thing.material_slots) else None
                material = self.depsgraph.view_layer.material_override or material
                parts.append((name, self.material(material), len(chosen)))
                self.add("mesh", name, quoted(file), "title", quoted(thing.name))
        thing.to_mesh_clear()
        self.meshes[key] = parts
        return parts

    def instances(self):
        for instance in self.depsgraph.object_instances:
            thing = instance.object
            if not instance.show_self or thing.original.hide_render:
                continue
            if thing.type in NOT_SOLID:
                self.left_out.append((thing.name, NOT_SOLID[thing.type]))
            if any(system.settings.type == "HAIR" and system.settings.render_type == "PATH" for system in thing.particle_systems):
                self.left_out.append(("the hair of %s" % thing.name, "strands have no mesh"))
            if thing.type not in SOLID:
                continue
            for mesh, material, count in self.mesh(instance):
                self.add("instance", mesh, material, matrix(instance.matrix_world))
                self.counts["instances"] += 1
                self.counts["triangles"] += count

    def lights(self):
        for instance in self.depsgraph.object_instances:
            thing = instance.object
            if thing.type != "LIGHT" or thing.original.hide_render:
                continue
            light, to_world = thing.data, instance.matrix_world
            for node in light.node_tree.nodes if light.node_tree else ():
                if getattr(node, "image", None):
                    self.left_out.append(("%s of the light %s" % (node.image.name, thing.name), "lights have no images"))
            tint = light.temperature_color if light.use_temperature else (1, 1, 1)
            power = numbers(light.energy * 2 ** light.exposure * c * t for c, t in zip(light.color, tint))
            place = numbers(to_world.translation)
            forward = numbers(-to_world.to_3x3().col[2].normalized())
            if light.type == "SUN":
                self.add("light sun power", power, "direction", forward, "angle", numbers((light.angle,)))
            elif light.type == "AREA":
                self.add("light area power", power, "to-world", matrix(to_world), "size",
                         numbers((light.size, light.size_y if light.shape in ("RECTANGLE", "ELLIPSE") else light.size)))
            elif light.type == "SPOT":
                self.add("light spot power", power, "at", place, "direction", forward, "radius", numbers((light.shadow_soft_size,)),
                         "angle", numbers((light.spot_size,)), "blend", numbers((light.spot_blend,)))
            else:
                self.add("light point power", power, "at", place, "radius", numbers((light.shadow_soft_size,)))

    def world(self, scene):
        """One Background with a colour or an image; without a world Cycles renders black."""
        world = scene.world
        output = nodes.output(world.node_tree if world else None)
        if output is None:
            self.add("world color", numbers(world.color if world and world.node_tree is None else (0, 0, 0)))
            return
        uses = nodes.upstream(output)
        images = [use.node for use in uses if use.node.bl_idname in ("ShaderNodeTexEnvironment", "ShaderNodeTexImage") and use.node.image]
        found = nodes.origin(output.inputs["Surface"])
        background = next((use.node for use in uses if use.node.bl_idname == "ShaderNodeBackground"), None)
        color, strength, source, groups = (0, 0, 0), 1, None, ()
        if background:
            groups = next(use.groups for use in uses if use.node == background)
            color, strength = background.inputs["Color"].default_value[:3], background.inputs["Strength"].default_value
            source = nodes.origin(background.inputs["Color"], groups)
            if nodes.origin(background.inputs["Strength"], groups):
                self.left_out.append(("the input of the strength of the world %s" % world.name,
                                      "the strength is exported as %g" % strength))
        if found and found[0].node != background:
            self.left_out.append(("a part of the world %s" % world.name, "it has more than a Background node"))
        if source and source[0].node not in images:
            self.left_out.append(("the input of the colour of the world %s" % world.name,
                                  "its image is exported unchanged" if images else "a world has a colour or an image"))
        taken = next((node for node in images if node.bl_idname == "ShaderNodeTexEnvironment"), None)
        for node in images:
            if node != taken:
                self.left_out.append(("%s of the world %s" % (node.image.name, world.name), "a world has one Environment Texture"))
        image = taken and self.image(taken)
        if image is None:
            self.add("world color", numbers(c * strength for c in color))
            return
        self.add("world", image, "projection", "latlong" if taken.projection == "EQUIRECTANGULAR" else "mirror-ball",
                 "strength", numbers((strength,)), *self.world_mapping(world, next(use for use in uses if use.node == taken)),
                 *self.world_sampling(world))

    @staticmethod
    def world_sampling(world):
        """The words for the map with which Cycles samples the world's light."""
        settings = getattr(world, "cycles", None)  # absent if Cycles is disabled
        method = settings.sampling_method if settings else "AUTOMATIC"
        return ["sampling", method.lower(), *([settings.sample_map_resolution] if method == "MANUAL" else [])]

    def world_mapping(self, world, use):
        """The words for the mapping of the directions of the world's image."""
        vector = use.node.inputs["Vector"]
        if nodes.linked(vector) is None:
            return []
        found = nodes.coordinates(vector, use.groups)
        source = found[0] if found else None
        if source is None or source.node.bl_idname != "ShaderNodeTexCoord" or source.name != "Generated":
            self.left_out.append(("the mapping of the world %s" % world.name, "its image is exported without it"))
            return []
        return ["mapping", matrix(found[2])] if found[2] != Matrix.Identity(4) else []

    def write(self):
        scene = self.depsgraph.scene
        os.makedirs(os.path.join(self.folder, "meshes"), exist_ok=True)
        self.add("title", quoted(scene.name), "frame", scene.frame_current)
        self.paths(scene)
        self.camera(scene)
        self.world(scene)
        self.lights()
        self.instances()
        temporary = os.path.join(self.folder, ".scene.txt.tmp")
        with open(temporary, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as out:
            out.write("\n".join(self.lines) + "\n")
        os.replace(temporary, os.path.join(self.folder, "scene.txt"))


