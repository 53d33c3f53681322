#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts a public header for Doxygen: comments before declarations become their documentation, comments after members
that of the members. Their text is escaped, so that nothing in it is a command."""
import re
import sys


def plain(text: str) -> str:
    """A comment's text, escaped so that Doxygen finds no markup in it."""
    return re.sub(r"([\\@<>#&$%])", r"\\\1", text)


def header(text: str) -> str:
    out, at = [], 0
    for comment in re.finditer(r"/\*(.*?)\*/", text, re.S):
        before = text[at : comment.start()]
        out.append(before)
        line = before[before.rfind("\n") + 1 :]
        words = comment[1]
        first = comment.start() == 0
        if first:
            words = re.sub(r"^\s*SPDX-License-Identifier: \S+\n", "\n", words)
            out.append("/** \\file\n" + plain(words) + "*/")
        elif re.match(r" ?-{4}", words):
            out.append(comment[0])
        elif line.strip():
            out.append("/**< " + plain(words.strip()) + " */")
        else:
            out.append("/** " + plain(words.lstrip()) + "*/")
        at = comment.end()
    return "".join(out) + text[at:]


path = sys.argv[1]
content = open(path, encoding="utf-8").read()
sys.stdout.write(header(content) if path.endswith(".h") else content)
