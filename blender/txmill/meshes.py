# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes meshes as the PLY files of txmill-scene(5), and formats the words of its text."""
import json

import numpy as np


def quoted(text):
    """A JSON string, since names and paths may contain any character."""
    return json.dumps(text, ensure_ascii=False)


def numbers(values):
    return " ".join("%.9g" % v for v in values)


def matrix(m):
    """The upper three rows."""
    return numbers(m[row][column] for row in range(3) for column in range(4))


def triangles(mesh):
    """(triangles as corner indices, material slot of each, [(property, values per corner)], names of the UV maps)"""
    count, corners = len(mesh.loop_triangles), len(mesh.loops)
    tris = np.empty(count * 3, np.int32)
    mesh.loop_triangles.foreach_get("loops", tris)
    slots = np.empty(count, np.int32)
    mesh.loop_triangles.foreach_get("material_index", slots)
    places = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", places)
    vertex = np.empty(corners, np.int32)
    mesh.loops.foreach_get("vertex_index", vertex)
    normals = np.empty(corners * 3, np.float32)
    mesh.corner_normals.foreach_get("vector", normals)
    columns = list(zip("x y z nx ny nz".split(), [*places.reshape(-1, 3)[vertex].T, *normals.reshape(-1, 3).T]))
    # The map that is active for rendering comes first, because nodes without a map name use it.
    maps = sorted(mesh.uv_layers, key=lambda layer: not layer.active_render)
    for index, layer in enumerate(maps):
        uv = np.empty(corners * 2, np.float32)
        layer.uv.foreach_get("vector", uv)
        suffix = str(index) if index else ""
        columns += [("u" + suffix, uv[0::2]), ("v" + suffix, uv[1::2])]
    return tris.reshape(-1, 3), slots, columns, [layer.name for layer in maps]


def write_ply(path, columns, tris, uv_maps):
    """Writes a binary little-endian PLY file with float vertex properties and triangles. Equal corners become one vertex."""
    used, flat = np.unique(tris.ravel(), return_inverse=True)
    table = np.stack([values[used] for _, values in columns], axis=1).astype("<f4")
    rows, merged = np.unique(table.view("V%d" % (4 * table.shape[1])).ravel(), return_inverse=True)
    faces = np.empty(len(tris), dtype=[("n", "u1"), ("i", "<i4", 3)])
    faces["n"] = 3
    faces["i"] = merged.ravel()[flat.ravel()].reshape(-1, 3)
    header = ["ply", "format binary_little_endian 1.0"]
    header += ["comment uv %d %s" % (index, quoted(name)) for index, name in enumerate(uv_maps)]
    header += ["element vertex %d" % len(rows)] + ["property float %s" % name for name, _ in columns]
    header += ["element face %d" % len(faces), "property list uchar int vertex_indices", "end_header\n"]
    with open(path, "wb") as out:
        out.write("\n".join(header).encode("utf-8", "surrogateescape"))
        out.write(rows.tobytes())
        out.write(faces.tobytes())
