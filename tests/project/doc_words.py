# SPDX-License-Identifier: Apache-2.0
"""Checks what documents name: doc_words.py TXMILL PAGE.md... Prints each link that leads nowhere, each command that does not exist, and
each option that its command does not have, or that no command has if it stands alone, and each file of the source tree that is not there."""
import pathlib
import re
import subprocess
import sys

TXMILL, PAGES = sys.argv[1], [pathlib.Path(p) for p in sys.argv[2:]]
# Options of other programs, which the documents mention alone: git and Slurm, pkg-config, make's scripts.
OTHERS = set("--kill-on-invalid-dep --signal --requeue --array --cflags --libs --seed --replay --only --faults --command --rooms".split())


REPO = pathlib.Path(__file__).resolve().parents[2]
TREE = re.compile(r"(?:src|tools|stream|include|tests|scripts|bench|farm|man|usd|docs|examples|python|blender|desktop|testdata)/[\w./*-]+")


def asked(*words):
    return subprocess.run([TXMILL, *words], capture_output=True, text=True, check=True).stdout


def anchors(page):
    """Those of its headings, as to_html.py and GitHub make them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in re.findall(r"^#+ (.*)", text, re.M)}


COMMANDS = re.findall(r"^  ([a-z]+)  .*", asked("--help"), re.M)
OPTIONS = {c: set(re.findall(r"(?<![\w-])--?[a-zA-Z][a-z-]*", asked(c, "--help", "--all"))) | {"--all"} for c in COMMANDS}
EVERY = set().union(*OPTIONS.values(), OTHERS, {"--version", "-V"})
for page in PAGES:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, part = target.partition("#")
        file = page.parent / path if path else page
        if "://" in target:
            continue
        if not file.exists():
            print("%s: %s leads nowhere" % (page.name, target))
        elif part and part not in anchors(file):
            print("%s: %s has no such heading" % (page.name, target))
    fenced = [b for language, b in re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S) if not language]
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for code in fenced + re.findall(r"(?:^    .*\n)+", text, re.M) + [c.replace("\n", " ") for c in re.findall(r"`([^`]+)`", text)]:
        # Comments and output end a command, and so do the signs of the shell; names of files hold dots or slashes.
        for line in re.sub(r"#.*", "", code.replace("\\\n", " ")).splitlines():
            for command, rest in re.findall(r"(?:^|[\s(])txmill ([a-z]+)((?: [^|;&]*)?)", line):
                if command not in COMMANDS and command != "help":
                    print("%s: no command: txmill %s" % (page.name, command))
                for option in re.findall(r"(?<=\s)--?[a-zA-Z][a-z-]*(?![\w.])", rest) if command in COMMANDS else ():
                    short = re.fullmatch(r"-[a-zA-Z]", option)
                    if option not in OPTIONS[command] and (short or option.startswith("--")):
                        print("%s: txmill %s has no %s" % (page.name, command, option))
        if TREE.fullmatch(code.rstrip("/")) and "NAME" not in code and not any(REPO.glob(code.rstrip("/"))):
            print("%s: no file is called %s" % (page.name, code))
        for option in re.findall(r"^(--[a-z][a-z-]*)", code.strip()):
            if option not in EVERY:
                print("%s: no command has %s" % (page.name, option))
