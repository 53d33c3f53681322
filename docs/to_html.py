#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual for the browser: to_html.py FOLDER PAGE.md...

Links to pages of the manual lead to their HTML, names of manual pages, as in txmill-make(1), to ../man, where man/html.sh writes
them, and links to examples to ../examples, where they are installed. Links to other files of the source tree become plain text.
"""
import html
import pathlib
import re
import shutil
import sys

try:
    import markdown
except ImportError:
    sys.exit("make docs: Python-Markdown is missing (apt-get install python3-markdown, or pip install markdown)")

HERE = pathlib.Path(__file__).parent
MAN = {p.name.removesuffix(".in") for folder in ("man", "stream/man") for p in (HERE.parent / folder).glob("*.[135]*")}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>%s</title>
<style>
body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
pre, code { font: 14px/1.4 monospace; background: #f3f3f3 }
pre { padding: .6em; overflow-x: auto }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { border: 1px solid #ccc; padding: .2em .6em; text-align: left; vertical-align: top }
img { max-width: 100%% }
@media (prefers-color-scheme: dark) {
body { color: #ddd; background: #1b1b1b }
pre, code { background: #2a2a2a }
a { color: #8bf }
th, td { border-color: #555 }
}
</style></head><body>
%s%s
</body></html>
"""


def anchor(heading, separator):
    """The same as on GitHub, so that links work there too."""
    return re.sub(r"[^\w\- ]", "", html.unescape(heading).lower()).strip().replace(" ", separator)


def link(match):
    target, text = match[1], match[2]
    path, hash_, part = target.partition("#")
    if "://" in target or not path or path.startswith("../examples/"):
        return match[0]
    if "/" not in path and path.endswith(".md"):
        return '<a href="%s">%s</a>' % (path[:-2] + "html" + hash_ + part, text)
    return text


def manual_page(match):
    name = "%s.%s" % (match[1], match[2])
    return '<a href="../man/%s.html">%s</a>' % (name, match[0]) if name in MAN else match[0]


def convert(source):
    body = markdown.markdown(source, extensions=["tables", "fenced_code", "toc"],
                             extension_configs={"toc": {"slugify": anchor}})
    body = re.sub(r'<a href="([^"]*)">(.*?)</a>', link, body, flags=re.S)
    # Not inside of code and links.
    parts = re.split(r"(<(?:pre|code|a|h1)[ >].*?</(?:pre|code|a|h1)>)", body, flags=re.S)
    return "".join(p if i % 2 else re.sub(r"\b(txmill(?:-[a-z]+)?|txtile)\(([135])\)", manual_page, p) for i, p in enumerate(parts))


def main(out, pages):
    new = out.with_name(out.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    for page in pages:
        source = page.read_text(encoding="utf-8")
        start = "" if page.stem == "index" else '<p><a href="index.html">The manual of txmill</a></p>\n'
        title = html.escape(re.match(r"# (.*)", source)[1])
        (new / (page.stem + ".html")).write_text(PAGE % (title, start, convert(source)), encoding="utf-8")
    shutil.copytree(HERE / "images", new / "images")
    shutil.rmtree(out, ignore_errors=True)
    new.rename(out)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), list(map(pathlib.Path, sys.argv[2:])))
