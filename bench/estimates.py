# SPDX-License-Identifier: Apache-2.0
"""Compares the estimates of --plan with the cost of conversions: estimates.py BUILD IMAGE... (processor seconds without the
start of the program; memory with it). The constants are in src/mill/farm/cost.c."""

import json
import os
import subprocess
import sys
import tempfile

from measure import run

TXMILL, IMAGES = os.path.join(sys.argv[1], "txmill"), sys.argv[2:]
OPTIONS = [[], ["-c", "ACEScg"], ["--compression", "zip:9"], ["--compression", "none"]]

with tempfile.TemporaryDirectory(prefix="txmill-bench-") as folder:
    make = [TXMILL, "make", "--force", "-j", "1", "-d", folder]
    start = min(run([TXMILL, "make", "-n", "-d", folder, IMAGES[0]])[1] for _ in range(5))
    print("| image | options | estimated | taken | ratio | memory estimated | taken |\n|---|---|---|---|---|---|---|")
    for options in OPTIONS:
        for image in IMAGES:
            plan = subprocess.run([*make, "--plan", "--json", *options, image], check=True, capture_output=True, text=True)
            estimate = json.loads(plan.stdout.splitlines()[0])["estimate"]
            samples = [run([*make, "-q", *options, image]) for _ in range(3)]
            taken = max(min(s[1] for s in samples) - start, 1e-4)
            print(f"| {os.path.basename(image)} | {' '.join(options)} | {estimate['cpu_seconds']:.3f} s | {taken:.3f} s | "
                  f"{estimate['cpu_seconds'] / taken:.2f} | {estimate['memory_bytes'] / 1e6:.0f} MB | "
                  f"{samples[0][2] / 1e6:.0f} MB |", flush=True)
