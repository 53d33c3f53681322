#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies objects into an archive in which the library's private functions are no longer hidden: unhide.py OBJECT... ARCHIVE
Tests call private functions, and are linked with a shared library, which cannot export what is hidden. No tool of binutils
before version 2.44 changes the visibility of symbols in an object file."""
import os
import struct
import sys

SYMTAB, HIDDEN = 2, 2


def unhide(data):
    """Sets the visibility of hidden txm_ symbols to the default; of ELF64 with little-endian numbers."""
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit("unhide.py: only objects of 64-bit little-endian machines are understood")
    sections_at, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, sections_at + i * size) for i in range(count)]
    for _, kind, _, _, at, length, link, _, _, _ in sections:
        if kind == SYMTAB:
            names = sections[link][4]
            for entry in range(at, at + length, 24):
                name, = struct.unpack_from("<I", data, entry)
                if data[entry + 5] & 3 == HIDDEN and data.startswith(b"txm_", names + name):
                    data[entry + 5] &= ~3
    return data


def member(name, data):
    """An archive's member; names of 15 bytes and less suffice, because the linker only reads the objects."""
    return b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name, 0, 0, 0, 0o644, len(data)) + data + b"\n" * (len(data) % 2)


def main(archive, objects):
    with open(archive + ".tmp", "wb") as out:
        out.write(b"!<arch>\n")
        for i, path in enumerate(objects):
            with open(path, "rb") as file:
                out.write(member(b"%d.o/" % i, unhide(bytearray(file.read()))))
    os.replace(archive + ".tmp", archive)


main(sys.argv[-1], sys.argv[1:-1])
