#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a folder as a wheel: wheel.py VERSION ROOT DATA DEPS OUT. auditwheel then completes it. DATA is for the prefix.

The wheel is for any Python from 3.9 on: nothing in it is linked with Python. The command is a script that replaces
itself by the program; pip, pipx and uv put it into their folders of programs.
"""
import base64
import hashlib
import pathlib
import subprocess
import sys
import zipfile

# `python -m txmill` does the same, where that folder is not in PATH.
COMMAND = """#!python
import importlib.util
import os
import sys

found = importlib.util.find_spec("txmill")
folder = os.path.dirname(found.origin) if found and found.origin else "txmill"
program = os.path.join(folder, "bin", "txmill")
if sys.executable and importlib.util.find_spec("pxr"):
    os.environ.setdefault("TXMILL_PYTHON", sys.executable)  # USD scenes are read in this Python
try:
    os.execv(program, sys.argv)
except OSError as problem:
    sys.exit("txmill: error: %s: %s; run: pip install --force-reinstall txmill" % (program, problem.strerror))
"""

METADATA = """Metadata-Version: 2.4
Name: txmill
Version: {version}
Summary: Makes and inspects the tx files of Blender's texture cache, without Blender
License-Expression: Apache-2.0
{licenses}Keywords: blender,cycles,texture,tx,mipmap
Classifier: Environment :: Console
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Multimedia :: Graphics :: 3D Rendering
Classifier: Typing :: Typed
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Provides-Extra: usd
Requires-Dist: usd-core; extra == "usd"
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """Wheel-Version: 1.0
Generator: txmill (scripts/wheel.py)
Root-Is-Purelib: false
Tag: py3-none-linux_x86_64
"""


def debian_notes():
    """The licence notes of the Debian packages that own the libraries which auditwheel will copy."""
    notes = {}
    done = subprocess.run(["ldd", *BINARIES], capture_output=True, text=True, check=True).stdout
    for line in done.splitlines():
        words = line.split()
        if "=>" not in words or not words[2].startswith("/") or str(DEPS) in words[2]:
            continue
        for path in (words[2], str(pathlib.Path(words[2]).resolve()), "/usr" + words[2]):
            owner = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True).stdout
            if owner:
                package = owner.split(":")[0]
                notes[package] = pathlib.Path("/usr/share/doc/%s/copyright" % package)
                break
    # These are linked statically, so no library of theirs is listed.
    for package in ("libchafa-dev", "libglib2.0-dev", "libpcre2-dev", "libfmt-dev"):
        notes[package] = pathlib.Path("/usr/share/doc/%s/copyright" % package)
    outside = ("libc6", "libstdc++6", "libgcc-s1")  # not copied
    return {name: path for name, path in notes.items() if path.exists() and name not in outside}


def licenses():
    """Names inside the wheel's licenses folder -> files."""
    found = {"LICENSE": pathlib.Path("LICENSE")}
    for source in sorted((DEPS / "licenses").iterdir()):
        for path in sorted(source.iterdir()):
            found["%s/%s" % (source.name, path.name)] = path
    for package, path in sorted(debian_notes().items()):
        found["debian/%s" % package] = path
    return found


def add(wheel, records, name, data, mode):
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    wheel.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    records.append("%s,sha256=%s,%d" % (name, digest, len(data)))


def main():
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.whl"):
        old.unlink()
    info, notes, records = "txmill-%s.dist-info" % version, licenses(), []
    with zipfile.ZipFile(out / ("txmill-%s-py3-none-linux_x86_64.whl" % version), "w") as wheel:
        for path in sorted(p for p in root.rglob("*") if p.is_file()):
            content = path.read_bytes()
            add(wheel, records, str(path.relative_to(root)), content, 0o755 if content.startswith(b"\x7fELF") else 0o644)
        add(wheel, records, "txmill-%s.data/scripts/txmill" % version, COMMAND.encode(), 0o755)
        for path in sorted(p for p in data.rglob("*") if p.is_file()):
            add(wheel, records, "txmill-%s.data/data/%s" % (version, path.relative_to(data)), path.read_bytes(), 0o644)
        for name, path in notes.items():
            add(wheel, records, "%s/licenses/%s" % (info, name), path.read_bytes(), 0o644)
        metadata = METADATA.format(version=version, licenses="".join("License-File: %s\n" % n for n in notes),
                                   readme=pathlib.Path("README.md").read_text(encoding="utf-8"))
        add(wheel, records, info + "/METADATA", metadata.encode(), 0o644)
        add(wheel, records, info + "/WHEEL", WHEEL.encode(), 0o644)
        wheel.writestr(info + "/RECORD", "\n".join(records + [info + "/RECORD,,", ""]))


if __name__ == "__main__":
    version, root, data, DEPS, out = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    BINARIES = [str(p) for p in root.rglob("*") if p.is_file() and p.open("rb").read(4) == b"\x7fELF"]
    main()
