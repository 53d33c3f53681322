#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""package.py ZIP: builds the extension for Blender, with the Python package as its module `client`. The bytes depend only on
the sources."""
import os
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PARTS = ((HERE / "txmill", ""), (HERE.parent / "python" / "txmill", "client/"))
KEPT = {".py", ".toml", ".typed"}


def main(target):
    target = pathlib.Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".tmp")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as out:
        for folder, prefix in PARTS:
            for path in sorted(p for p in folder.iterdir() if p.is_file() and p.suffix in KEPT):
                entry = zipfile.ZipInfo(prefix + path.name, (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                out.writestr(entry, path.read_bytes())
        entry = zipfile.ZipInfo("LICENSE", (1980, 1, 1, 0, 0, 0))
        entry.external_attr = 0o644 << 16
        out.writestr(entry, (HERE.parent / "LICENSE").read_bytes())
    os.replace(temporary, target)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
