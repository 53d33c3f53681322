# SPDX-License-Identifier: Apache-2.0
"""The package's structs and functions are those of the C headers, it refuses another library, and no struct that programs
allocate can grow unnoticed."""
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from txmill import _abi, _tiles

REPO = pathlib.Path(__file__).resolve().parents[2]
HEADERS = {"txtile": "tile", "txmill": "mill"}
sys.path.insert(0, str(REPO / "scripts"))
# Debian's pycparser is for Debian's Python, which may not be the one that runs this.
PYTHON = next((p for p in (sys.executable, "/usr/bin/python3")
               if subprocess.run([p, "-c", "import pycparser"], stderr=subprocess.DEVNULL).returncode == 0), None)
needs_pycparser = unittest.skipUnless(PYTHON, "pycparser is not installed (python3-pycparser)")

# Prints what the headers do with each struct: "NAME USE", where USE is what a function or another struct has of it.
USES = r"""
import sys
sys.path.insert(0, sys.argv[1])
import bindings
from pycparser import c_ast
headers = bindings.Headers("txtile", "txmill")


def show(node, place):
    stars = ""
    while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        stars += "*" if isinstance(node, c_ast.PtrDecl) else ""
        node = node.type
    if isinstance(node, c_ast.TypeDecl) and " ".join(getattr(node.type, "names", [])) in headers.structs:
        print(node.type.names[0], place + ("const" if "const" in node.quals else "") + stars)


for name, members in headers.structs.items():
    print(name, "begins:" + members[0].name)
    for member in members:
        show(member.type, "member:")
for function in headers.functions.values():
    show(function.type, "result:")
    for parameter in function.args.params:
        show(parameter.type, "parameter:")
"""


SCRATCH = tempfile.TemporaryDirectory()
unittest.addModuleCleanup(SCRATCH.cleanup)


def compiled(source, *options):
    """Compiles C source and returns the path."""
    made = tempfile.mktemp(dir=SCRATCH.name)
    subprocess.run(["cc", "-xc", "-D_GNU_SOURCE", "-w", "-I", str(REPO / "include"), "-", "-o", made, *options], input=source,
                   text=True, check=True)
    return made


class Layout(unittest.TestCase):
    @needs_pycparser
    def test_generated_file_is_current(self):
        made = subprocess.run([PYTHON, str(REPO / "scripts" / "bindings.py")], capture_output=True, text=True, check=True).stdout
        self.assertEqual(made, (REPO / "python/txmill/_abi.py").read_text(),
                         "run: scripts/bindings.py > python/txmill/_abi.py")

    def test_every_member_is_where_the_compiler_has_it(self):
        lines, expected = [], []
        for name, (struct, _) in _abi.STRUCTS.items():
            lines.append('printf("%s %%zu %%zu\\n", (size_t)0, sizeof(%s));' % (name, name))
            expected.append("%s 0 %d" % (name, ctypes.sizeof(struct)))
            for member, _type in struct._fields_:
                lines.append('printf("%s.%s %%zu %%zu\\n", offsetof(%s, %s), sizeof ((%s *)0)->%s);' % (
                    name, member, name, member, name, member))
                at = getattr(struct, member)
                expected.append("%s.%s %d %d" % (name, member, at.offset, at.size))
        includes = "".join('#include "%s/%s"\n' % (p.parent.name, p.name) for p in sorted((REPO / "include/txtile").glob("*.h")))
        made = compiled(includes + "#include <stdio.h>\nint main(void) { %s return 0; }" % " ".join(lines), "-Wl,-z,lazy",
                        "-Wl,--unresolved-symbols=ignore-all")
        self.assertEqual(subprocess.run([made], capture_output=True, text=True, check=True).stdout.splitlines(), expected)


class Interface(unittest.TestCase):
    """The lists in src/*/abi/sizes.c, of which the compiler checks the sizes, agree with the headers."""

    @needs_pycparser
    def test_every_struct_has_its_kind(self):
        said = subprocess.run([PYTHON, "-c", USES, str(REPO / "scripts")], capture_output=True, text=True, check=True).stdout
        uses = {}
        for line in said.splitlines():
            name, use = line.split()
            uses.setdefault(name, set()).add(use)
        kinds = {}
        for folder in HEADERS.values():
            kinds.update(self.kinds(folder))
        self.assertEqual(set(kinds), set(uses), "src/*/abi/sizes.c must list every struct of the headers")
        for name, found in uses.items():
            self.assertEqual(kinds[name] == "sized", "begins:struct_size" in found, name)
            # Programs allocate what they pass to be filled in, what has no star at all, and what they get arrays of.
            own = {"member:", "parameter:", "result:", "parameter:const", "parameter:*", "parameter:**", "member:*"} & found
            if kinds[name] == "returned":
                self.assertFalse(own, f"programs allocate {name}: it must be FIXED in sizes.c")
        self.assertIn("parameter:*", uses["txm_lookup_state"])
        self.assertEqual(kinds["txm_lookup_state"], "fixed")

    @staticmethod
    def kinds(folder):
        code = "import json, sys; sys.path.insert(0, sys.argv[1]); import bindings; print(json.dumps(bindings.kinds(sys.argv[2])))"
        return json.loads(subprocess.run([PYTHON, "-c", code, str(REPO / "scripts"), folder], capture_output=True, text=True,
                                         check=True).stdout)


class Library(unittest.TestCase):
    def test_library_of_this_build(self):
        library = ctypes.CDLL(os.environ["TXTILE"])
        self.assertIsNone(_tiles._declare(library))
        for name, (struct, _) in _abi.STRUCTS.items():
            self.assertEqual(library.txm_sizeof(name.encode()), ctypes.sizeof(struct), name)

    def test_library_with_other_structs_is_refused(self):
        sizes = "".join('if (!strcmp(n, "%s")) return %d;' % (name, ctypes.sizeof(struct))
                        for name, (struct, _) in _abi.STRUCTS.items())
        stub = compiled("""#include <stdlib.h>
                           #include <string.h>
                           size_t txm_sizeof(const char *n)
                           { if (!strcmp(n, getenv("STRUCT"))) return atoi(getenv("BYTES")); %s return 0; } %s""" % (
            sizes, "".join("void %s(void) {}\n" % name for name in _abi.FUNCTIONS)), "-shared", "-fPIC")
        library = ctypes.CDLL(stub)
        self.addCleanup(os.environ.pop, "STRUCT")
        self.addCleanup(os.environ.pop, "BYTES")
        for name, (struct, kind) in _abi.STRUCTS.items():
            own = ctypes.sizeof(struct)
            for there in (0, own - 8, own, own + 8):
                os.environ["STRUCT"], os.environ["BYTES"] = name, str(there)
                refused = _tiles._declare(library)
                fits = there == own or kind == "sized" or (kind == "returned" and there > own)
                self.assertEqual(refused, None if fits else "%s has %d bytes there, and %d in this package" % (name, there, own))
        os.environ["STRUCT"], os.environ["BYTES"] = "txm_lookup_state", "24"
        for library, why in ((stub, "txm_lookup_state has 24 bytes there, and 40"), (compiled("int x;", "-shared"), "lacks a function")):
            code = "import txmill\ntry:\n    txmill.open('none.tx')\nexcept txmill.LibraryMissing as e:\n    print(e)\n"
            said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                                  env={**os.environ, "TXTILE": library}).stdout
            self.assertIn(why, said)
            self.assertIn("install package and library of the same version", said)


if __name__ == "__main__":
    unittest.main()
