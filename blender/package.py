#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""package.py ZIP WHEEL: builds the extension for Blender, which bundles the wheel as it is: Blender unpacks it, and its
package `txmill` is what the extension imports. The bytes of ZIP depend only on the sources and the wheel."""
import os
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def add(out, name, content, method=zipfile.ZIP_DEFLATED):
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = method
    entry.external_attr = 0o100644 << 16
    out.writestr(entry, content)


def main(target, wheel):
    target, wheel = pathlib.Path(target), pathlib.Path(wheel)
    # Blender looks for wheels of its platform by their names alone.
    if not (wheel.name.startswith("txmill-") and wheel.name.endswith("_x86_64.whl") and zipfile.is_zipfile(wheel)):
        sys.exit("package.py: %s is not a wheel of txmill for x86-64 Linux: `make wheel` builds one" % wheel)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".tmp")
    bundled = "wheels/" + wheel.name
    with zipfile.ZipFile(temporary, "w") as out:
        for path in sorted(p for p in (HERE / "txmill").iterdir() if p.suffix in (".py", ".toml")):
            content = path.read_text(encoding="utf-8")
            if path.name == "blender_manifest.toml":
                content = content.replace("\n[permissions]", '\nwheels = ["./%s"]\n\n[permissions]' % bundled, 1)
            add(out, path.name, content)
        add(out, "LICENSE", (HERE / "LICENSE").read_bytes())
        add(out, bundled, wheel.read_bytes(), zipfile.ZIP_STORED)  # compressed already
    os.replace(temporary, target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
