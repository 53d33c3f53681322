# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the nodes of a shader that affect the picture. As in Cycles, links are followed upstream from the output: through
reroutes, through muted nodes as Blender bypasses them, and into and out of groups.

A node inside a group counts once for each use of the group: `groups` are the group nodes around it, outermost first.
"""
import typing

import bpy
from mathutils import Euler, Matrix


class Use(typing.NamedTuple):
    node: bpy.types.Node
    groups: tuple
    input: str  # name of the shader input to which it is connected directly, or ""


def linked(socket):
    """The link into an input that is in effect, or None."""
    return next((link for link in socket.links if link.is_valid and not link.is_muted), None)


def _counterpart(sockets, socket):
    return next((other for other in sockets if other.identifier == socket.identifier), None)


def origin(socket, groups=()):
    """(the output that feeds an input, the groups around its node), or None if the input is not connected."""
    while socket is not None:
        link = linked(socket)
        if link is None:
            return None
        node, output = link.from_node, link.from_socket
        if node.bl_idname == "NodeReroute":
            socket = node.inputs[0]
        elif node.mute:
            socket = next((inner.from_socket for inner in node.internal_links if inner.to_socket == output), None)
        elif node.bl_idname == "ShaderNodeGroup":
            inside = node.node_tree.nodes if node.node_tree else ()
            end = next((n for n in inside if n.bl_idname == "NodeGroupOutput" and n.is_active_output), None)
            socket, groups = end and _counterpart(end.inputs, output), groups + (node,)
        elif node.bl_idname == "NodeGroupInput":
            if not groups:
                return None
            socket, groups = _counterpart(groups[-1].inputs, output), groups[:-1]
        else:
            return output, groups
    return None


def value(socket, groups=()):
    """The value of an input, through reroutes and groups and from value nodes; None if it varies."""
    found = origin(socket, groups)
    if found:
        return found[0].default_value if found[0].node.bl_idname in ("ShaderNodeValue", "ShaderNodeRGB") else None
    while socket is not None and linked(socket):
        node, output = linked(socket).from_node, linked(socket).from_socket
        if node.bl_idname == "NodeReroute":
            socket = node.inputs[0]
        elif node.bl_idname == "NodeGroupInput" and groups:
            socket, groups = _counterpart(groups[-1].inputs, output), groups[:-1]
        elif node.bl_idname == "ShaderNodeGroup" and not node.mute:
            inside = node.node_tree.nodes if node.node_tree else ()
            end = next((n for n in inside if n.bl_idname == "NodeGroupOutput" and n.is_active_output), None)
            socket, groups = end and _counterpart(end.inputs, output), groups + (node,)
        else:
            return None
    return socket.default_value if socket else None


def _matrix_of(mapping):
    """The transformation of a Mapping node whose settings are constant."""
    rotation, scale = (mapping.inputs[name].default_value for name in ("Rotation", "Scale"))
    turn = Euler(rotation).to_matrix().to_4x4()
    if mapping.vector_type == "VECTOR":  # has no location
        return turn @ Matrix.Diagonal((*scale, 1))
    location = mapping.inputs["Location"].default_value
    if mapping.vector_type == "POINT":
        return Matrix.Translation(location) @ turn @ Matrix.Diagonal((*scale, 1))
    # The type Texture is the inverse. As in Blender, a division by 0 gives 0.
    shrink = Matrix.Diagonal((*(1 / s if s else 0 for s in scale), 1))
    return shrink @ turn.transposed() @ Matrix.Translation([-x for x in location])


def coordinates(socket, groups=()):
    """(the output that feeds a Vector input or None, the groups around its node, the matrix of all Mapping nodes in between);
    None if there is no such matrix, or it varies."""
    transform = Matrix.Identity(4)
    found = origin(socket, groups)
    while found and found[0].node.bl_idname == "ShaderNodeMapping":
        mapping, groups = found[0].node, found[1]
        if mapping.vector_type == "NORMAL" or any(
                origin(socket, groups) for socket in mapping.inputs if socket.enabled and socket.name != "Vector"):
            return None
        transform = transform @ _matrix_of(mapping)
        found = origin(mapping.inputs["Vector"], groups)
    return (*found, transform) if found else (None, groups, transform)


def upstream(start, groups=()):
    """Every Use that reaches the node `start`, except itself, nearest first."""
    uses, todo = {}, [(start, groups)]
    for node, around in todo:
        for socket in node.inputs:
            found = origin(socket, around) if socket.enabled else None
            if found is None:
                continue
            source, outer = found[0].node, found[1]
            key = (source.as_pointer(), *(group.as_pointer() for group in outer))
            direct = socket.name if node.bl_idname.startswith("ShaderNodeBsdf") else ""
            if key not in uses:
                todo.append((source, outer))
                uses[key] = Use(source, outer, direct)
            elif direct and not uses[key].input:
                uses[key] = Use(source, outer, direct)
    return list(uses.values())


def feeds(use, socket, groups):
    """Whether the colour of an image node is connected to an input directly."""
    found = origin(socket, groups)
    return bool(found) and found[0].node == use.node and found[1] == use.groups and found[0].name == "Color"


def output(tree):
    """The output node that Cycles uses, or None."""
    return tree.get_output_node("CYCLES") if tree else None
