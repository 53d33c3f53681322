#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes python/txmill/_abi.py, the Python package's view of libtxtile, from the C headers: bindings.py > FILE

Layouts and prototypes that are written by hand go out of date without a message, and then Python and the library write
over each other's memory. Run it after a change of the functions below, or of a struct that they use; tests/python/test_abi.py
fails until then. Needs a C compiler and pycparser.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from pycparser import c_ast, c_parser

REPO = pathlib.Path(__file__).resolve().parent.parent
# What the package calls, and the constants that it uses.
FUNCTIONS = """
    txm_version txm_extension_name txm_samples_to_float
    txm_tx_open txm_tx_close txm_tx_info_of txm_tx_level_of txm_tx_metadata_at txm_tx_read_tile
    txm_sampler_init txm_sampler_check txm_level_rule_name txm_level_mode_name txm_filter_name txm_sample_n
    txm_texture_set_new txm_texture_set_free txm_texture_set_add txm_texture_set_load txm_texture_set_view
""".split()
CONSTANTS = "TXM_LOOKUP_HIT TXM_LOOKUP_MISS TXM_AFTER_UNASSOCIATE TXM_AFTER_SRGB TXM_TYPE_HALF".split()

# In place of the C library's headers, which use extensions of compilers. Only sizes matter.
SYSTEM = {
    "stdbool.h": "typedef _Bool bool;",
    "stddef.h": "typedef unsigned long size_t;",
    "stdint.h": "typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short "
                "uint16_t; typedef int int32_t; typedef unsigned uint32_t; typedef long int64_t; typedef unsigned long uint64_t;",
    "time.h": "typedef long time_t; struct timespec { time_t tv_sec; long tv_nsec; };",
    "stdio.h": "typedef struct FILE FILE;",
}
SCALARS = {
    "_Bool": "c_bool", "char": "c_char", "signed char": "c_int8", "unsigned char": "c_uint8", "short": "c_int16",
    "unsigned short": "c_uint16", "int": "c_int32", "unsigned": "c_uint32", "unsigned int": "c_uint32", "long": "c_int64",
    "unsigned long": "c_uint64", "float": "c_float", "double": "c_double",
}


class Headers:
    """The declarations of public headers."""

    def __init__(self, *libraries):
        headers = sorted(h for name in libraries for h in (REPO / "include" / name).glob("*.h"))
        with tempfile.TemporaryDirectory() as folder:
            for header in headers:
                for name in re.findall(r"^#include <(.+)>", header.read_text(), re.M):
                    path = pathlib.Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text("#pragma once\n%s\n" % SYSTEM.get(name, ""))
            text = subprocess.run(
                ["cc", "-E", "-P", "-nostdinc", "-I", str(REPO / "include"), "-I", folder, "-D__attribute__(x)=", "-xc", "-"],
                input="".join('#include "%s/%s"\n' % (h.parent.name, h.name) for h in headers), capture_output=True, text=True,
                check=True).stdout
        self.types, self.structs, self.functions, self.constants = {}, {}, {}, {}
        for found in c_parser.CParser().parse(text).ext:
            self.declare(found)

    def declare(self, found):
        declared = found.decl if isinstance(found, c_ast.FuncDef) else found
        if isinstance(declared.type, c_ast.FuncDecl) and not isinstance(found, c_ast.Typedef):
            self.functions[declared.name] = declared.type
            return
        inner = getattr(declared.type, "type", declared.type)
        if isinstance(declared.type, c_ast.Enum) or isinstance(inner, c_ast.Enum):
            value = -1
            for item in (declared.type if isinstance(declared.type, c_ast.Enum) else inner).values.enumerators:
                value = self.value(item.value) if item.value else value + 1
                self.constants[item.name] = value
        if isinstance(found, c_ast.Typedef):
            self.types[found.name] = found.type
            if isinstance(inner, c_ast.Struct) and inner.decls:
                self.structs[found.name] = inner.decls

    def value(self, node):
        if isinstance(node, c_ast.Constant):
            return int(node.value.rstrip("uUlL"), 0)
        if isinstance(node, c_ast.ID):
            return self.constants[node.name]
        if isinstance(node, c_ast.UnaryOp):
            return -self.value(node.expr)
        left, right = self.value(node.left), self.value(node.right)
        return {"*": left * right, "+": left + right, "-": left - right, "<<": left << right}[node.op]

    def named(self, node):
        """The struct, function pointer or scalar that a type stands for: ("struct", name), ("pointer", None), ..."""
        inner = node.type
        if isinstance(inner, c_ast.Enum):
            return "scalar", "int"
        if isinstance(inner, c_ast.Struct):
            return "struct", inner.name
        name = " ".join(inner.names)
        if name in self.structs:
            return "struct", name
        if name in self.types:
            target = self.types[name]
            if not isinstance(target, c_ast.TypeDecl):
                return "pointer", None
            return ("opaque", name) if isinstance(target.type, c_ast.Struct) else self.named(target)
        return "scalar", name

    def ctype(self, node, member=False):
        """The expression of a type in Python."""
        if isinstance(node, c_ast.ArrayDecl):
            if not member:  # a parameter: a pointer
                return self.pointer(node.type, member)
            return "%s * %d" % (self.ctype(node.type, member), self.value(node.dim))
        if isinstance(node, c_ast.PtrDecl):
            return self.pointer(node.type, member)
        kind, name = self.named(node)
        if kind == "pointer":
            return "ctypes.c_void_p"
        return name if kind == "struct" else "None" if name == "void" else "ctypes." + SCALARS[name]

    def pointer(self, target, member):
        """Members hold addresses. Arguments are typed, except for arrays of samples."""
        if isinstance(target, c_ast.FuncDecl):
            return "ctypes.c_void_p"
        if isinstance(target, c_ast.PtrDecl):
            return "ctypes.POINTER(%s)" % self.pointer(target.type, member) if not member else "ctypes.c_void_p"
        kind, name = self.named(target)
        if kind == "scalar" and name == "char":
            return "ctypes.c_char_p"
        if kind == "struct" and not member:
            return "ctypes.POINTER(%s)" % name
        if kind == "scalar" and name == "unsigned" and not member and "const" not in target.quals:
            return "ctypes.POINTER(ctypes.c_uint32)"
        return "ctypes.c_void_p"

    def used_structs(self, wanted):
        """The structs that the functions use, each after those that it contains."""
        order = []

        def add(name):
            for member in self.structs[name]:
                node = member.type
                while isinstance(node, c_ast.ArrayDecl):
                    node = node.type
                if isinstance(node, c_ast.TypeDecl) and self.named(node)[0] == "struct":
                    add(self.named(node)[1])
            if name not in order:
                order.append(name)

        for function in wanted:
            declared = self.functions[function]
            for node in [declared.type] + [p.type for p in declared.args.params]:
                while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
                    node = node.type
                kind, name = self.named(node)
                if kind == "struct":
                    add(name)
        return order


def kinds(library):
    """What may become of each struct, from the library's own list: "fixed", "sized" or "returned"."""
    text = (REPO / "src" / library / "abi" / "sizes.c").read_text()
    return {name: kind.lower() for kind, name in re.findall(r"^ +(FIXED|SIZED|RETURNED)\((\w+)", text, re.M)}


def wrapped(prefix, items, suffix):
    """One line, or one for each item."""
    line = prefix + ", ".join(items) + suffix
    if len(line) <= 100:
        return line
    indent = " " * (len(prefix) - len(prefix.lstrip()) + 4)
    return prefix + "".join("\n%s%s," % (indent, item) for item in items) + "\n" + indent[4:] + suffix


def main():
    headers, kind = Headers("txtile"), kinds("tile")
    out = ["# SPDX-License-Identifier: Apache-2.0",
           '"""Structs, functions and constants of libtxtile. Made by scripts/bindings.py from its headers; do not edit."""',
           "from __future__ import annotations", "", "import ctypes", "from typing import Any, Dict, List, Tuple", ""]
    structs = headers.used_structs(FUNCTIONS)
    for name in structs:
        members = ['("%s", %s)' % (m.name, headers.ctype(m.type, member=True)) for m in headers.structs[name]]
        out += ["", "class %s(ctypes.Structure):" % name, wrapped("    _fields_ = [", members, "]"), ""]
    out += ["", "#: Whether programs allocate a struct, so that it is \"fixed\"; else it may grow at its end.",
            "STRUCTS: Dict[str, Tuple[Any, str]] = {"]
    out += ['    "%s": (%s, "%s"),' % (name, name, kind[name]) for name in structs]
    out += ["}", "#: The result and the parameters of each function.", "FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {"]
    for name in FUNCTIONS:
        declared = headers.functions[name]
        parameters = [headers.ctype(p.type) for p in declared.args.params]
        parameters = [] if parameters == ["None"] else parameters
        out.append(wrapped('    "%s": (%s, [' % (name, headers.ctype(declared.type)), parameters, "]),"))
    out += ["}", ""] + ["%s = %d" % (name, headers.constants[name]) for name in CONSTANTS]
    print("\n".join(out))


if __name__ == "__main__":
    sys.exit(main())
