# SPDX-License-Identifier: GPL-3.0-or-later
"""Converts shaders to the surfaces of txmill-scene(5). Each has one kind, or is a mix of two of which a path chooses one at
random, as in Cycles. The directions and sharpness of reflection and refraction are kept, because they determine which texels a
picture needs. What only affects brightness is approximated: Fresnel by its mean over all directions, varying inputs by one
half.
"""
import typing

from . import nodes

BLACK = (0, 0, 0)
WHITE = (1, 1, 1)
GREY = (0.8, 0.8, 0.8)  # Blender's default
SMOOTH = 1e-4  # with a GGX alpha up to this a surface is a mirror


class Lobe(typing.NamedTuple):
    """A surface of one kind; `tint` is the input that colours it, with the groups around its node, or None."""
    kind: str
    color: tuple
    tint: typing.Optional[tuple] = None
    settings: str = ""  # further words of its statement
    normal: typing.Optional[tuple] = None  # its normal map: the input for the colour, the groups around it, the strength


class Mix(typing.NamedTuple):
    first: typing.Any
    second: typing.Any
    share: float  # of the second
    normal: typing.Optional[tuple] = None


def fresnel(ior):
    """The mean share that a smooth dielectric reflects of light from all directions: Kulla and Conty's fit, "Revisiting
    Physically Based Shading at Imageworks", 2017."""
    if ior >= 1:
        return (ior - 1) / (4.08567 + 1.00071 * ior)
    return 0.997118 + 0.1014 * ior - 0.965241 * ior ** 2 - 0.130607 * ior ** 3


def mixed(first, second, share):
    if share <= 0 or first == second:
        return first
    return second if share >= 1 else Mix(first, second, share)


def layered(layers):
    """One surface from a list [(weight, surface)]; those without weight are left out."""
    layers = [(weight, surface) for weight, surface in layers if weight > 0]
    if not layers:
        return Lobe("emission", BLACK)
    total, surface = layers[-1]
    for weight, above in reversed(layers[:-1]):
        surface, total = mixed(surface, above, weight / (total + weight)), total + weight
    return surface


def number(socket, groups, otherwise=0.5, low=0, high=1):
    """The value of a numeric input; `otherwise` if it varies, or if the node does not have the input."""
    value = nodes.value(socket, groups) if socket else None
    return min(max(otherwise if value is None else value, low), high)


def color(socket, groups):
    value = nodes.value(socket, groups)
    return GREY if value is None else tuple(max(0, c) for c in value[:3])


def glossy(roughness, tone, tint=None):
    alpha = roughness ** 2
    return Lobe("glossy", tone, tint, "roughness %.9g" % alpha) if alpha > SMOOTH else Lobe("mirror", tone, tint)


def glass(ior, tone=WHITE, tint=None, roughness=0):
    alpha = roughness ** 2
    return Lobe("glass", tone, tint, "ior %.9g" % max(ior, 1e-3) + (" roughness %.9g" % alpha if alpha > SMOOTH else ""))


TRANSPARENT = glass(1)  # neither reflects nor bends rays


class Reader:
    """Reads the shaders of one material. `left_out`: [(what, why)], to which it adds."""

    def __init__(self, name, left_out):
        self.name, self.left_out = name, left_out

    def surface(self, socket, groups=()):
        """The surface of a shader input; black if it is not connected."""
        found = nodes.origin(socket, groups)
        if found is None:
            return Lobe("emission", BLACK)
        node, groups = found[0].node, found[1]
        kind = node.bl_idname.removeprefix("ShaderNode")
        read = getattr(self, "_" + kind.lower(), None)
        if read:
            return self._bumpy(read(node, groups), node, groups)
        tint = node.inputs.get("Color")
        if not kind.startswith(("Bsdf", "Subsurface")):
            self.left_out.append(("the shader %s of %s" % (node.name, self.name), "it is exported as a diffuse shader"))
        # Translucent, subsurface, sheen and hair shaders scatter widely, like a diffuse one.
        return self._bumpy(Lobe("diffuse", *self._tinted(tint, groups)), node, groups)

    def _bumpy(self, surface, node, groups):
        """The surface with the shader's normal map, if that is in tangent space; other normal maps are looked up, but have no
        effect."""
        found = nodes.origin(node.inputs.get("Normal"), groups) if surface.normal is None else None
        if found is None or found[0].node.bl_idname != "ShaderNodeNormalMap" or found[0].node.space != "TANGENT":
            return surface
        strength = number(found[0].node.inputs["Strength"], found[1], 1, 0, 10)
        color = found[0].node.inputs["Color"]
        return surface._replace(normal=(color, found[1], strength)) if strength > 0 else surface

    def _tinted(self, socket, groups):
        return (color(socket, groups), (socket, groups)) if socket else (GREY, None)

    def _bsdfprincipled(self, node, groups):
        inputs = node.inputs

        def setting(name, otherwise=0.5, high=1):
            return number(inputs.get(name), groups, otherwise, 0, high)

        base, roughness, ior = self._tinted(inputs["Base Color"], groups), setting("Roughness"), setting("IOR", 1.5, 100)
        metallic, transmission = setting("Metallic"), setting("Transmission Weight")
        # A level of one half stands for the reflection given by the index of refraction.
        reflected = min(1, fresnel(ior) * 2 * setting("Specular IOR Level"))
        below = (1 - metallic) * (1 - transmission)
        layers = [
            (metallic, glossy(roughness, *base)),
            (below * reflected, glossy(roughness, WHITE)),
            (below * (1 - reflected), Lobe("diffuse", *base)),
            ((1 - metallic) * transmission, glass(ior, *base, roughness)),
        ]
        coat = setting("Coat Weight") * fresnel(setting("Coat IOR", 1.5, 100))
        surface = mixed(layered(layers), glossy(setting("Coat Roughness"), WHITE), coat)
        return mixed(TRANSPARENT, surface, setting("Alpha"))

    def _bsdfmetallic(self, node, groups):
        return glossy(number(node.inputs.get("Roughness"), groups), *self._tinted(node.inputs.get("Base Color"), groups))

    def _bsdfanisotropic(self, node, groups):  # the node Glossy has this name too
        return glossy(number(node.inputs.get("Roughness"), groups), *self._tinted(node.inputs.get("Color"), groups))

    def _bsdfglass(self, node, groups):  # also for Refraction, although glass reflects as well
        return glass(number(node.inputs.get("IOR"), groups, 1.5, 0, 100), *self._tinted(node.inputs.get("Color"), groups),
                     number(node.inputs.get("Roughness"), groups))

    _bsdfrefraction = _bsdfglass

    def _bsdftransparent(self, node, groups):
        return glass(1, *self._tinted(node.inputs.get("Color"), groups))

    def _emission(self, node, groups):
        strength = number(node.inputs.get("Strength"), groups, 1, 0, 1e30)
        tone, tint = self._tinted(node.inputs.get("Color"), groups)
        return Lobe("emission", tuple(c * strength for c in tone), tint)

    def _holdout(self, node, groups):
        return Lobe("emission", BLACK)

    def _mixshader(self, node, groups):
        first, second = (self.surface(node.inputs[i], groups) for i in (1, 2))
        return mixed(first, second, self._factor(node.inputs[0], groups))

    def _addshader(self, node, groups):
        return mixed(self.surface(node.inputs[0], groups), self.surface(node.inputs[1], groups), 0.5)

    def _factor(self, socket, groups):
        found = nodes.origin(socket, groups)
        if found and found[0].node.bl_idname == "ShaderNodeFresnel":
            return fresnel(number(found[0].node.inputs.get("IOR"), found[1], 1.5, 0, 100))
        return number(socket, groups)


def of(material, left_out):
    """The surface of a material, or of a slot without one."""
    if material is None:
        return Lobe("diffuse", GREY)
    output = nodes.output(material.node_tree)
    if output is None:
        return Lobe("diffuse", tuple(material.diffuse_color[:3])) if material.node_tree is None else Lobe("emission", BLACK)
    if nodes.origin(output.inputs["Surface"]) is None and nodes.origin(output.inputs["Volume"]):
        return TRANSPARENT
    return Reader(material.name, left_out).surface(output.inputs["Surface"])


def parts(surface):
    """A surface and all its parts."""
    return [surface] if isinstance(surface, Lobe) else [surface] + parts(surface.first) + parts(surface.second)


def lobes(surface):
    """The lobes of a surface, from left to right."""
    return [surface] if isinstance(surface, Lobe) else lobes(surface.first) + lobes(surface.second)
