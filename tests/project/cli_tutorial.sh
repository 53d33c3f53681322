#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tutorial in docs/project.md: its commands are run one after the other, and must print what it shows. "..." matches anything.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir -p film/textures && cd film || exit 1
cp "$golden/rgb8.png" textures/wood_color.png && cp "$golden/tile64.png" textures/wood_normal.png
cp "$golden/photo.jpg" textures/bark.jpg
python3 - "$repo/docs/project.md" <<'EOF2' >../steps.py
import re, sys
text = open(sys.argv[1]).read()
block = re.search(r"## An artist's day\n.*?```\n(.*?)```", text, re.S).group(1)
steps = []
for line in block.splitlines():
    if line.startswith("$ "):
        steps.append([line[2:], []])
    elif steps:
        steps[-1][1].append(line)
print(repr(steps))
EOF2
check found-steps test -s ../steps.py
PATH=$(dirname "$TXMILL"):$PATH python3 - <<'EOF2' >../result
import re, subprocess
steps = eval(open("../steps.py").read())
for n, (command, expected) in enumerate(steps, 1):
    got = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    shown = (got.stdout + got.stderr).splitlines()
    def fits(expected, shown):
        pattern = "\n".join(".*".join(map(re.escape, line.split("..."))) for line in expected if line.strip())
        return re.fullmatch(pattern, "\n".join(l for l in shown if l.strip()), re.S) if pattern else not shown
    # Several images are made at once, so their lines may come in any order.
    same = fits(expected, shown) or fits(sorted(expected), sorted(shown))
    print(("ok" if same else "not ok") + f" step-{n} {command}")
    if not same:
        print("    " + "\n    ".join(shown))
print(f"ok steps-{len(steps)}" if len(steps) >= 8 else "not ok too-few-steps")
EOF2
cat ../result
failures=$((failures + $(grep -c '^not ok' ../result)))
finish
