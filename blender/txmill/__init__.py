# SPDX-License-Identifier: GPL-3.0-or-later
"""txmill in Blender: a panel that shows the state of the scene's tx files, with buttons that make and explain them."""
try:
    from . import before_render, blend, estimate, export_scene, jobs, operators, packing, panel, preferences, status
except ModuleNotFoundError as missing:
    if missing.name != "txmill":
        raise
    from . import not_unpacked

    _modules = (not_unpacked,)
else:
    _modules = (preferences, blend, jobs, status, operators, packing, export_scene, estimate, panel, before_render)


def register():
    for module in _modules:
        module.register()


def unregister():
    for module in reversed(_modules):
        module.unregister()
