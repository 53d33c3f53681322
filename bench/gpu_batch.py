# SPDX-License-Identifier: Apache-2.0
"""A folder of images made on the CPU and on each device, with 1 and 4 threads: gpu_batch.py BUILD FOLDER KERNELS
SECONDS BACKEND... KERNELS is the output of bench_gpu, from which the model follows; it may be empty. After so many
SECONDS nothing further begins. Each run is a process of its own, which starts the driver."""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

build, folder, kernels = sys.argv[1:4]
until, backends = time.monotonic() + float(sys.argv[4]), sys.argv[5:]


def make(device, threads, target):
    """Makes all files in `target`; returns seconds, processor seconds, and the lines of the report."""
    command = [build + "/txmill", "make", "--json", "--device", device, "-j", str(threads), "--cache-dir", target, folder]
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+") as report:
        status, usage = os.wait4(subprocess.Popen(command, stdout=report).pid, 0)[1:]
        seconds = time.monotonic() - begin
        if status:
            sys.exit(f"{' '.join(command)}: failed")
        report.seek(0)
        return seconds, usage.ru_utime + usage.ru_stime, [json.loads(line) for line in report]


def rates_of(title):
    """Seconds for a byte of level 0 of each step of a device, measured on chunks of uint8 RGBA."""
    rates, rows, device = {}, 0, False
    for line in open(kernels, encoding="utf-8"):
        if re.match(r"\w+:\d+ ", line):
            device = line.startswith(title + ":0")
        shape = re.match(r"(\w+) RGBA, (\d+) x (\d+)", line)
        if shape:
            rows = int(shape[2]) * int(shape[3]) * 4 if device and shape[1] == "uint8" else 0
        cells = [cell.strip() for cell in line.split("|")]
        if rows and len(cells) > 5 and re.fullmatch(r"[\d.]+", cells[4]):
            rates[cells[1]] = float(cells[4]) * 1e-3 / rows
    return rates


def same(a, b):
    compared = filecmp.dircmp(a, b)
    names = compared.common_files
    return not compared.left_only and not compared.right_only and not filecmp.cmpfiles(a, b, names, shallow=False)[1]


work = tempfile.mkdtemp()
rows, truth = [], work + "/cpu"
try:
    for backend in backends:
        make(backend, 1, work + "/first")  # may compile kernels
        shutil.rmtree(work + "/first")
    for threads in (1, 4):
        usual = None
        for device in ["cpu"] + backends:
            if time.monotonic() > until:
                print("stop (the time is over)")
                break
            target = work + "/" + device
            shutil.rmtree(target, ignore_errors=True)
            seconds, processor, report = make(device, threads, target)
            usual = usual or (seconds, processor)
            files = [o for o in report if o["type"] == "file"]
            if not same(truth, target):
                sys.exit(f"{device}: files differ from those of the CPU")
            there = sum(o["device"].startswith(device) for o in files)
            rows.append(
                f"| {device} | {threads} | {there} | {seconds:.2f} | {processor:.2f} | {usual[0] / seconds:.2f} "
                f"| {processor / usual[1]:.2f} |"
            )
    done = report[-1]
    print(f"\nA batch of {len(files)} images. Counted: {done['pixel_bytes'] / 1e6:.0f} MB of pixels, which a device gets")
    print(f"(a quarter less of images without alpha), and {done['tx_bytes'] / 1e6:.0f} MB of files, of which it returns nearly all.\n")
    for backend in backends:
        rates = rates_of(backend)
        if rates:
            bus = done["pixel_bytes"] * rates["upload"] + done["tx_bytes"] * rates["download"]
            steps = sum(t * (4 / 3 if "tiles" in step or "compress" in step else 1) for step, t in rates.items()
                        if step not in ("upload", "download", "copy"))
            print(f"Model for {backend}, from bytes counted and rates measured above: copies {bus:.2f} s, kernels "
                  f"{done['pixel_bytes'] * steps:.2f} s if none overlap.\n")
    print("Measured; ratios are those to the CPU's path with as many threads:\n")
    print("| device | threads | images there | s | processor s | times as fast | processor time, of the CPU's |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(rows))
finally:
    shutil.rmtree(work)
