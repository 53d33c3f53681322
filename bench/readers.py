#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the direct readers gain: processor time of `txmill make` on one thread with them, and with OpenImageIO in their
place, over single large images and over many small ones. The least of the runs counts; readers take turns.

    bench/readers.py BUILD FOLDER [RUNS]    the images of bench/images.sh are in FOLDER, or are made there
"""

import os
import shutil
import subprocess
import sys
import tempfile

import measure

SMALL = 500


def oiiotool(*words):
    subprocess.run(["oiiotool", *words], check=True, stderr=subprocess.DEVNULL)


def derived(folder, work):
    """The images that bench/images.sh does not make: TIFF files, and a folder of small images of each format."""
    photo = os.path.join(folder, "photo4k.png")
    png = os.path.join(work, "small.png")
    for kind in "lzw", "zip":
        oiiotool(photo, "-d", "uint8", "--compression", kind, "-o", os.path.join(work, kind + "4k.tif"))
    oiiotool(photo, "--resize", "256x256", "-d", "uint8", "-o", png)
    oiiotool(png, "--compression", "jpeg:92", "-o", os.path.join(work, "small.jpg"))
    oiiotool(png, "--compression", "lzw", "-o", os.path.join(work, "small.tif"))
    oiiotool(png, "--colorconvert", "sRGB", "linear", "-d", "half", "--compression", "zip", "-o",
             os.path.join(work, "small.exr"))
    for kind in "png", "jpg", "tif", "exr":
        os.mkdir(os.path.join(work, kind))
        for i in range(SMALL):
            shutil.copy(os.path.join(work, "small." + kind), os.path.join(work, kind, f"{i}.{kind}"))


def main():
    build, folder = sys.argv[1:3]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    large = ["photo4k.png", "rgba4k.png", "photo8k.jpg", "hdr4k.exr"]
    subprocess.run(["bench/images.sh", folder, *large], check=True)
    with tempfile.TemporaryDirectory() as work:
        derived(folder, work)
        names = [os.path.join(folder, name) for name in large]
        names += [os.path.join(work, name) for name in ("lzw4k.tif", "zip4k.tif", "png", "jpg", "tif", "exr")]
        print(f"{'images':12} {'direct':>8} {'OpenImageIO':>12} {'ratio':>6}")
        for name in names:
            out = os.path.join(work, "tx")
            command = [os.path.join(build, "txmill"), "make", "-q", "-j", "1", "-d", out, name]
            least = {}
            for reader in ("direct", "oiio") * runs:
                shutil.rmtree(out, ignore_errors=True)
                cpu = measure.run(command, {**os.environ, "TXMILL_READER": reader})[1]
                least[reader] = min(cpu, least.get(reader, cpu))
            print(f"{os.path.basename(name):12} {least['direct']:7.2f} s {least['oiio']:10.2f} s "
                  f"{least['oiio'] / least['direct']:6.2f}", flush=True)


main()
