# SPDX-License-Identifier: Apache-2.0
"""txmill in Blender: the state of a scene's texture cache, and buttons that make it, explain it and export the scene."""
from . import before_render, blend, estimate, export_scene, jobs, operators, panel, preferences, status

_modules = (preferences, blend, jobs, status, operators, export_scene, estimate, panel, before_render)


def register():
    for module in _modules:
        module.register()


def unregister():
    for module in reversed(_modules):
        module.unregister()
