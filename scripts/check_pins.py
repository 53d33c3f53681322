#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares pinned versions with a list of published holes: check_pins.py [DEPS.TXT [ADVISORIES.TSV]]

Exit code 1 if a pinned version is affected and the list does not say why it is kept, or if the pins are inconsistent."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent


def number(version):
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("-")[0]))


def lines(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def is_affected(version, since, fixes):
    """A fix counts for the versions of its series, which is what its first two numbers say, and for later series if it is
    the last."""
    if version < since:
        return False
    own = [fix for fix in fixes if fix[:2] == version[:2]]
    return version < (own[0] if own else max(fixes))


def main(pins, advisories):
    pinned, problems = {}, []
    for line in lines(pins):
        kind, package, digest = line.split()
        name, _, version = package.partition("==")
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            problems.append("%s: %s has no SHA-256" % (pins.name, package))
        if pinned.setdefault(name, version) != version:
            problems.append("%s: %s is pinned as %s and as %s" % (pins.name, name, pinned[name], version))
    known = [(line + "\t" * 5).split("\t")[:6] for line in lines(advisories)]
    kept = []
    for package, since, fixes, name, what, why in known:
        version = pinned.get(package)
        if version is None:
            problems.append("%s: %s is about %s, which is not pinned" % (advisories.name, name, package))
        elif is_affected(number(version), number(since), [number(fix) for fix in fixes.split()]):
            text = "%s %s: %s: %s (fixed in %s)" % (package, version, name, what, ", ".join(fixes.split()))
            if why:
                kept.append("%s; kept, because %s" % (text, why))
            else:
                problems.append(text)
    for package, version in pinned.items():
        if package not in {row[0] for row in known}:
            problems.append("%s: has nothing about %s %s; look for its holes" % (advisories.name, package, version))
    print(*kept, *problems, sep="\n", end="\n" if kept or problems else "")
    reviewed = re.search(r"^# Reviewed: (\S+)$", advisories.read_text(encoding="utf-8"), re.M)
    print("check-pins: %s; %d known holes, reviewed %s; %d of them in a pinned version and kept, %d problems" % (
        ", ".join("%s %s" % pin for pin in pinned.items()), len(known), reviewed[1] if reviewed else "never", len(kept), len(problems)))
    return bool(problems)


if __name__ == "__main__":
    paths = [pathlib.Path(path) for path in sys.argv[1:]]
    sys.exit(main(*paths, *[HERE / "deps.txt", HERE / "advisories.tsv"][len(paths):]))
