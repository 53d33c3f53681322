# SPDX-License-Identifier: Apache-2.0
"""Which nodes of a shader reach the picture. As in Cycles, links are followed from the output upstream: through reroutes,
through muted nodes the way Blender passes them by, and into and out of groups.

A node inside a group is one lookup for each use of the group: `groups` are the group nodes round it, outermost first.
"""
import typing

import bpy
from mathutils import Euler, Matrix


class Use(typing.NamedTuple):
    node: bpy.types.Node
    groups: tuple
    input: str  # name of the shader input that it feeds without other nodes between, or ""


def linked(socket):
    """The link into an input that counts, or None."""
    return next((link for link in socket.links if link.is_valid and not link.is_muted), None)


def _counterpart(sockets, socket):
    return next((other for other in sockets if other.identifier == socket.identifier), None)


def origin(socket, groups=()):
    """(the output that feeds an input, the groups round its node), or None where nothing does."""
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
    """What an input is set to, through reroutes and groups and from nodes that hold a value; None where that varies."""
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
    """What a Mapping node whose settings are constant does to a point."""
    rotation, scale = (mapping.inputs[name].default_value for name in ("Rotation", "Scale"))
    turn = Euler(rotation).to_matrix().to_4x4()
    if mapping.vector_type == "VECTOR":  # has no location
        return turn @ Matrix.Diagonal((*scale, 1))
    location = mapping.inputs["Location"].default_value
    if mapping.vector_type == "POINT":
        return Matrix.Translation(location) @ turn @ Matrix.Diagonal((*scale, 1))
    # Of type Texture: the other way round. Nothing is divided by 0, it becomes 0.
    shrink = Matrix.Diagonal((*(1 / s if s else 0 for s in scale), 1))
    return shrink @ turn.transposed() @ Matrix.Translation([-x for x in location])


def coordinates(socket, groups=()):
    """(the output that feeds a Vector input or None, the groups round its node, the matrix of all Mapping nodes between);
    None where that matrix varies or there is none."""
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
    """Every Use that reaches the node `start`, itself left out, nearest first."""
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
    """Whether an image node's colour is what an input gets, without other nodes between."""
    found = origin(socket, groups)
    return bool(found) and found[0].node == use.node and found[1] == use.groups and found[0].name == "Color"


def output(tree):
    """The output node that Cycles takes, or None."""
    return tree.get_output_node("CYCLES") if tree else None
