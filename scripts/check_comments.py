#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the comments of the public headers: check_comments.py HEADER...

Every declaration and macro must have a comment before or after it, or be in a group (no blank lines) that begins with
a comment. Headings (---- ... ----) and comments of members do not count.

A name txm_... or TXM_... in a comment, and text in backquotes that looks like a name, must be declared in one of the
headers. A name that ends with ... or * stands for several and is not checked."""
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
OWN_LINES, BESIDE_CODE = "\b", "\a"  # in place of comments while declarations are looked for


def unknown_names(path, text, names):
    for comment in COMMENT.finditer(text):
        for m in re.finditer(r"\b(?:txm|TXM)_\w+(?:\*|\.\.\.)?|`\w+`", comment[0]):
            name = m[0].strip("`")
            if name.endswith(("*", ".", "_")) or name in names:
                continue
            line = text.count("\n", 0, comment.start() + m.start()) + 1
            yield f"{path}:{line}: a comment names {name}, which is not declared"


def marked(text):
    """The text with marks instead of comments; lines keep their numbers."""

    def mark(comment):
        breaks = comment[0].count("\n")
        if text[: comment.start()].rpartition("\n")[2]:
            return BESIDE_CODE + "\n" * breaks
        if re.match(r"/\* ?-{4}", comment[0]):
            return "\n" * breaks
        return "\n".join(OWN_LINES * (breaks + 1))

    return COMMENT.sub(mark, text)


def declarations(text):
    """For each declaration and each macro with a value: its line, its first line of code, and whether it has a comment."""
    commented, lines, start = False, [], 0
    for number, line in enumerate(marked(text).split("\n"), 1):
        if not lines:
            if line == OWN_LINES or not line.strip():
                commented = line == OWN_LINES
                continue
            if line.startswith("#"):
                if re.match(r"#\s*define \w+(\(|\s+[^\s\a])", line):
                    yield number, line, commented or BESIDE_CODE in line
                continue
            if line in ('extern "C" {', "}"):
                continue
            start = number
        lines.append(line)
        code = "\n".join(lines).replace(BESIDE_CODE, "").rstrip()
        if code.endswith((";", "}")) and code.count("{") == code.count("}"):
            yield start, lines[0], commented or line.endswith(BESIDE_CODE)
            lines = []


def uncommented(path, text):
    for line, code, commented in declarations(text):
        if not commented:
            yield f"{path}:{line}: no comment: {code.strip().replace(BESIDE_CODE, '')}"


texts = {path: open(path, encoding="utf-8").read() for path in sys.argv[1:]}
declared = {name for text in texts.values() for name in re.findall(r"\w+", COMMENT.sub(" ", text))}
found = [
    problem
    for path, text in texts.items()
    for problem in (*unknown_names(path, text, declared), *uncommented(path, text))
]
for problem in found:
    print(problem, file=sys.stderr)
sys.exit(1 if found else 0)
