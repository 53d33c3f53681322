#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The package of the extension: its content, without a Blender. `make check-blender` installs and runs it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

run "$repo/blender/package.py" one.zip
check package rc_is 0
run "$repo/blender/package.py" two.zip
check package-reproducible cmp one.zip two.zip
run python3 - "$repo" one.zip "$("$TXMILL" --version | cut -d' ' -f2)" <<'EOF'
import ast, pathlib, re, sys, zipfile
repo, version = pathlib.Path(sys.argv[1]), sys.argv[3]
package = zipfile.ZipFile(sys.argv[2])
names = set(package.namelist())
sources = {p.name for p in (repo / "blender/txmill").glob("*.py")} | {"client/" + p.name for p in (repo / "python/txmill").glob("*.py")}
assert sources | {"blender_manifest.toml", "client/py.typed", "LICENSE"} == names, names
manifest = package.read("blender_manifest.toml").decode()
assert re.search(r'^version = "(.*)"$', manifest, re.M)[1] == version, "version of the manifest"
assert len(re.search(r'^tagline = "(.*)"$', manifest, re.M)[1]) <= 64
for name in names:
    if name.endswith(".py"):
        ast.parse(package.read(name), name)
EOF
check package-contents rc_is 0

# With a stand-in for Blender: the Blender that exports runs scripts of the file only if this one may. The real ones are
# asked by tests/blender/scripts.py.
run python3 - "$repo" <<'EOF'
import contextlib, importlib, sys, types
class Any(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *a, **k: None}) if name[:1].isupper() else lambda *a, **k: None
bpy, package = Any("bpy"), types.ModuleType("extension")
bpy.types, bpy.props, bpy.path = Any("types"), Any("props"), Any("path")
package.__path__ = [sys.argv[1] + "/blender/txmill"]
sys.modules.update({"bpy": bpy, "bpy_extras": Any("e"), "bpy_extras.io_utils": Any("u"), "extension": package})
for name in ("blend", "client", "jobs", "operators"):
    sys.modules["extension." + name] = Any(name)
    setattr(package, name, sys.modules["extension." + name])
package.blend.as_file = lambda: contextlib.nullcontext("/shots/a.blend")
export = importlib.import_module("extension.export_scene")
bpy.data = types.SimpleNamespace(filepath="/shots/a.blend", is_dirty=False)
def passed(preference=False, fail=False, excluded=(), **app):
    bpy.app = types.SimpleNamespace(binary_path="/bin/true", autoexec_fail=fail, **app)
    bpy.context = types.SimpleNamespace(preferences=types.SimpleNamespace(
        filepaths=types.SimpleNamespace(use_scripts_auto_execute=preference),
        autoexec_paths=[types.SimpleNamespace(path=p, use_glob="*" in p) for p in excluded]))
    scene = types.SimpleNamespace(name="Scene", frame_current=1, frame_subframe=0.0)
    made = export.Export(types.SimpleNamespace(scene=scene, view_layer=types.SimpleNamespace(name="Layer")), "/tmp/none")
    made.close()
    return [word for word in made.argv if "autoexec" in word or word in ("-y", "-Y")]
on, off = ["--enable-autoexec"], ["--disable-autoexec"]
assert passed() == off  # also if nothing was held back
assert passed(preference=True) == on
assert passed(preference=True, fail=True) == off
assert passed(autoexec_override=True) == on and passed(autoexec_override=True, fail=True) == off
assert passed(preference=True, autoexec_override=False) == off
assert passed(preference=True, autoexec_override=None, excluded=["", "/other/"]) == on
assert passed(preference=True, excluded=["/shots/"]) == passed(preference=True, excluded=["/other", "*/a.blend"]) == off
assert passed(preference=True, autoexec=False) == off and passed(autoexec=True) == on  # Blender 5.3
EOF
check scripts-run-where-they-may rc_is 0
finish
