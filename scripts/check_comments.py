#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Comments of the public headers that name what is not there: check_comments.py HEADER...

What a comment calls txm_... or TXM_..., and what it puts in backquotes where that is a name, is a name in the code of one
of the headers. One that is cut with ... or * stands for many."""
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)


def problems(path, text, names):
    for comment in COMMENT.finditer(text):
        for m in re.finditer(r"\b(?:txm|TXM)_\w+(?:\*|\.\.\.)?|`\w+`", comment[0]):
            name = m[0].strip("`")
            if name.endswith(("*", ".", "_")) or name in names:
                continue
            line = text.count("\n", 0, comment.start() + m.start()) + 1
            yield f"{path}:{line}: a comment names {name}, which is not declared"


texts = {path: open(path, encoding="utf-8").read() for path in sys.argv[1:]}
declared = {name for text in texts.values() for name in re.findall(r"\w+", COMMENT.sub(" ", text))}
found = [problem for path, text in texts.items() for problem in problems(path, text, declared)]
for problem in found:
    print(problem, file=sys.stderr)
sys.exit(1 if found else 0)
