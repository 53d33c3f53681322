#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A farm submitter that sends no shot with missing or stale textures.

    submit_shot.py SHOT.blend -- COMMAND...      e.g.  submit_shot.py shot10.blend -- sbatch render.sbatch shot10.blend

Makes the tx files that a render of the shot uses, then runs the farm's own submit command. Exit codes: 0 submitted,
3 an image cannot be used (fix it), 4 a temporary failure (try again), else that of the submit command.
"""
from __future__ import annotations

import subprocess
import sys
from typing import List

import txmill


def shown(text: str) -> str:
    """For a terminal, which would obey control characters in the names of files."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def textures_ready(shot: str) -> int:
    """0 if every image of the shot has its tx file, else the exit code of this program."""
    missing: List[str] = []
    for image in txmill.list_scene(shot).images:
        if image["source"] in ("file", "sequence", "tiled") and image["state"] == "missing":
            missing.append(shown(f'{image["name"]}: {image["path"] or image["stored_path"]}'))
    if missing:
        print("Images that are not there:\n  " + "\n  ".join(missing), file=sys.stderr)
        return 3

    def show(progress: txmill.Progress) -> None:
        print(f"\rtextures: {progress.percent} %", end="", file=sys.stderr, flush=True)

    run = txmill.make(shot, progress=show)
    print(f"\rtextures: {len(run.created)} made, {len(run.failed)} failed", file=sys.stderr)
    for failure in run.failed:
        print(f"  {shown(failure.error.message)}", file=sys.stderr)
    if run.failed:
        return 4 if all(f.error.retryable for f in run.failed) else 3
    return 0


def main(arguments: List[str]) -> int:
    if len(arguments) < 3 or arguments[1] != "--":
        print(__doc__, file=sys.stderr)
        return 2
    try:
        code = textures_ready(arguments[0])
    except txmill.TxmillError as error:
        print(shown(str(error)), file=sys.stderr)
        return 3
    return code or subprocess.call(arguments[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
