#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The package of the extension: its content, without a Blender. `make judge` and `make check-blender` install and run it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# A real wheel takes minutes to build; the package takes any as it is.
wheel=txmill-0.1.0-py3-none-manylinux_2_34_x86_64.whl
python3 -c "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w').writestr('txmill/__init__.py', '')" "$wheel"
run "$repo/blender/package.py" one.zip "$wheel"
check package rc_is 0
run "$repo/blender/package.py" two.zip "$wheel"
check package-reproducible cmp one.zip two.zip
cp "$wheel" other-1-py3-none-any.whl
for other in other-1-py3-none-any.whl one.zip missing.whl; do
    run "$repo/blender/package.py" three.zip "$other"
    check "package-refuses-$other" test "$rc" = 1 -a ! -e three.zip
done
run python3 - "$repo" one.zip "$wheel" "$("$TXMILL" --version | cut -d' ' -f2)" <<'EOF'
import ast, pathlib, re, sys, tomllib, zipfile
repo, wheel, version = pathlib.Path(sys.argv[1]), sys.argv[3], sys.argv[4]
package = zipfile.ZipFile(sys.argv[2])
names = set(package.namelist())
sources = {p.name for p in (repo / "blender/txmill").glob("*.py")}
assert sources | {"blender_manifest.toml", "LICENSE", "wheels/" + wheel} == names, names
assert package.read("wheels/" + wheel) == pathlib.Path(wheel).read_bytes(), "the wheel was changed"
manifest = tomllib.loads(package.read("blender_manifest.toml").decode())
assert manifest["version"] == version and manifest["wheels"] == ["./wheels/" + wheel], manifest
assert manifest["platforms"] == ["linux-x64"] and manifest["license"] == ["SPDX:GPL-3.0-or-later"], manifest
for text in (manifest["tagline"], *manifest["permissions"].values()):
    assert len(text) <= 64 and text[-1].isalnum(), text
assert "network" not in manifest["permissions"], manifest
assert "GNU GENERAL PUBLIC LICENSE\n                       Version 3" in package.read("LICENSE").decode()
licence = "SPDX-License-Identifier: GPL-3.0-or-later"
for path in (repo / "blender").rglob("*"):
    assert path.is_dir() or path.name == "LICENSE" or path.suffix == ".pyc" or licence in path.read_text(), path
# What the rules of the platform forbid: paths of modules, programs of this system, the network.
forbidden = re.compile(r"sys\.path|sys\.executable|os\.system|shell=True|import (urllib|socket|requests|http)|https?://|\beval\(|\bexec\(")
for name in names:
    if name.endswith(".py"):
        text = package.read(name).decode()
        ast.parse(text, name)
        assert not forbidden.search(text), (name, forbidden.search(text))
        assert "import subprocess" not in text or "self.argv = [bpy.app.binary_path, " in text, name
EOF
check package-contents rc_is 0
# Blender's own validator needs no Blender; the folder of chroots has it once `make judge` has run.
validator=$(find "${TXM_CHROOTS:-$repo/build/chroots}"/official/opt/bpy-*/ -name blender_ext.py -path '*/cli/*' 2>/dev/null | sort | tail -n 1)
if [ -n "$validator" ]; then
    tags=${validator%/addons_core/*}/modules/_bpy_internal/extensions/tags.py
    for what in one.zip "$repo/blender/txmill"; do
        run python3 "$validator" validate --valid-tags "$tags" "$what"
        check "validates-$(basename "$what")" sh -c "[ $rc = 0 ] && grep -q 'Success parsing' out"
    done
    cp -R "$repo/blender/txmill" source && mkdir source/wheels built && cp "$wheel" source/wheels/
    sed -i "s|^platforms.*|&\nwheels = [\"./wheels/$wheel\"]|" source/blender_manifest.toml
    run python3 "$validator" build --source-dir source --output-dir built --split-platforms
    check builds sh -c "[ $rc = 0 ] && python3 -m zipfile -l built/txmill-0.1.0-linux_x64.zip | grep -q wheels/$wheel"
else
    skip validates "no Blender is set up under \$TXM_CHROOTS"
fi

# With a stand-in for Blender: the Blender that exports runs scripts of the file only if this one may. The real ones are
# asked by tests/blender/scripts.py.
export PYTHONPATH="$repo/python" PYTHONDONTWRITEBYTECODE=1
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
for name in ("blend", "jobs", "operators"):
    sys.modules["extension." + name] = Any(name)
    setattr(package, name, sys.modules["extension." + name])
package.blend.as_file = lambda: contextlib.nullcontext("/shots/a.blend")
export = importlib.import_module("extension.export_scene")
bpy.data = types.SimpleNamespace(filepath="/shots/a.blend", is_dirty=False)
def passed(preference=False, fail=False, excluded=(), **app):
    bpy.app = types.SimpleNamespace(binary_path="/bin/true", tempdir="/tmp", autoexec_fail=fail, **app)
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

# The extension reads no member of the program's JSON that the schemas do not have. The answers are real ones.
cp -r "$TXM_TESTDATA/blend" textures && cp "$TXM_TESTDATA/golden/rgb8.png" textures/
cat >textures/scene.txt <<'EOF'
txmill-scene 1
size 64 36
camera perspective half 0.36 0.2025 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 5
image wood "rgb8.png" colorspace "sRGB" alpha straight extension repeat interpolation linear
material floor diffuse 0.8 0.8 0.8
texture floor wood input "Base Color" uv "" transform 2 0 0 0 2 0
quad floor -1 -1 0 2 0 0 0 2 0
EOF
run env TXMILL="$TXMILL" python3 - "$repo" "${TXM_BUILD:-$repo/build}" <<'EOF'
import importlib, json, os, sys, types
import txmill
from txmill import _program
repo = sys.argv[1]
class Any(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *a, **k: None}) if name[:1].isupper() else lambda *a, **k: a[0] if a else None
def parts(schemas, root):
    for schema in schemas:
        if "$ref" in schema:
            found = root
            for word in schema["$ref"].lstrip("#/").split("/"):
                found = found[word]
            yield from parts([found], root)
        yield schema
        for word in ("oneOf", "anyOf", "allOf"):
            yield from parts(schema.get(word, []), root)
        if isinstance(schema.get("items"), dict):
            yield from parts([schema["items"]], root)
class Strict(dict):
    """An object that has only the members which its schema has, and [] only those that are always there; `reads` collects
    those that were read."""
    reads = set()
    def __init__(self, pairs, schemas, root):
        self.known, self.always = {}, set()
        for part in parts(schemas, root):
            self.always.update(part.get("required", []))
            for name, schema in part.get("properties", {}).items():
                self.known.setdefault(name, []).append(schema)
        super().__init__({name: strict(value, self.known.get(name, []), root) for name, value in pairs.items()})
    def look(self, name):
        # Texts have NAME_encoded where they are not UTF-8.
        assert name in self.known or name.endswith("_encoded"), "no schema has %r beside %s" % (name, sorted(self.known))
        self.reads.add(name)
    def __getitem__(self, name):
        self.look(name)
        assert name in self.always, "%r may be absent" % name
        return super().__getitem__(name)
    def __contains__(self, name):
        self.look(name)
        return super().__contains__(name)
    def get(self, name, otherwise=None):
        self.look(name)
        return super().get(name, otherwise)
def strict(value, schemas, root):
    if isinstance(value, list):
        return [strict(item, schemas, root) for item in value]
    return Strict(value, schemas, root) if isinstance(value, dict) else value
def loads(line):
    plain = json.loads(line)
    with open("%s/schema/%s.schema.json" % (sys.argv[2], plain["schema"].split(".")[1])) as file:
        root = json.load(file)
    return Strict(plain, [root], root)
_program.json = types.SimpleNamespace(loads=loads)
bpy, package = Any("bpy"), types.ModuleType("extension")
for name in ("types", "props", "path", "app", "utils", "data"):
    setattr(bpy, name, Any(name))
bpy.app.handlers, bpy.app.version, bpy.data.filepath = Any("handlers"), (5, 2, 3), ""
package.__path__ = [repo + "/blender/txmill"]
sys.modules.update({"bpy": bpy, "bpy.app": bpy.app, "bpy.app.handlers": bpy.app.handlers, "bpy_extras": Any("e"),
                    "bpy_extras.io_utils": Any("u"), "extension": package})
operators, status, estimate = (importlib.import_module("extension." + name) for name in ("operators", "status", "estimate"))
os.chdir("textures")
txmill.make("rgb8.png", colorspace="sRGB", alpha_type="straight")
lines = [line for space in ("sRGB", "Non-Color") for found in txmill.resolve("rgb8.png", colorspace=space, alpha_type="straight")
         for line in operators.explanation(found)]
assert any(line.startswith("rgb8.png is missing") for line in lines), lines
assert "difference" in Strict.reads and any(".tx: " in line for line in lines), lines
found = status.from_scene(txmill.list_scene("materials.blend"))
assert found.scene and found.files and found.lost and {"exists", "tx", "lookup", "alpha"} <= Strict.reads, vars(found)
said = estimate.lines_of(txmill.stream_budget("."))
assert any(line.startswith("rgb8.png: ") for line in said), said
made = operators.make("materials.blend")
assert made[1] in ("INFO", "WARNING", "ERROR") and made[2], made
EOF
check reads-what-the-schemas-have rc_is 0
finish
