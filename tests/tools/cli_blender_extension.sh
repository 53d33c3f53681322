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
finish
