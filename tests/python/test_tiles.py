# SPDX-License-Identifier: Apache-2.0
"""Tests tiles through libtxtile, with numpy and without, against the program's output."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import txmill

TESTDATA = Path(os.environ["TXM_TESTDATA"])
PROGRAM = os.environ["TXMILL"]


class TilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.tx = {}
        for name in ("rgb8.png", "half-rgba.exr", "rgb16.png"):
            source = TESTDATA / "golden" / name
            if not source.exists():
                continue
            shutil.copy(source, cls.folder)
            made = txmill.make([cls.folder / name], program=PROGRAM)
            cls.tx[name] = made.created[0].tx

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def shown(self, path, level, x, y, padding, extension):
        """Returns the same window as the program prints it."""
        out = subprocess.run(
            [PROGRAM, "tile", "--json", "--level", str(level), "--tile", f"{x},{y}", "--padding", str(padding),
             "--extension", extension, path],
            check=True, stdout=subprocess.PIPE).stdout
        return json.loads(out)["values"]

    def test_shape_and_metadata(self):
        with txmill.tiles(self.tx["rgb8.png"]) as t:
            self.assertEqual((t.width, t.height, t.type, t.compression), (300, 200, "uint8", "zip"))
            self.assertEqual(len(t.levels), 9)
            self.assertEqual(t.levels[0], txmill.Level(300, 200, 5, 4))
            self.assertTrue(any(v.startswith("Blender maketx") for v in t.metadata.values()))
            count = sum(level.tiles_x * level.tiles_y for level in t.levels)
            self.assertEqual(sum(1 for _ in t), count)

    def test_pixels_as_the_program_prints_them(self):
        for name, path in self.tx.items():
            with txmill.tiles(path) as t:
                for padding, extension in ((0, "repeat"), (2, "repeat"), (3, "mirror"), (1, "clip")):
                    tile = t.tile(0, t.levels[0].tiles_x - 1, 0, padding, extension)
                    expected = self.shown(path, 0, tile.x, tile.y, padding, extension)
                    flat = [float(v) for row in tile.pixels.tolist() for pixel in row for v in pixel]
                    want = [float(v) for v in expected]
                    self.assertEqual(len(flat), len(want), name)
                    for a, b in zip(flat, want):
                        self.assertAlmostEqual(a, b, delta=1e-6 * max(1, abs(b)), msg=name)

    def test_numpy_is_optional(self):
        code = (
            "import sys\nsys.modules['numpy'] = None\nimport txmill\n"
            f"with txmill.tiles({str(self.tx['rgb8.png'])!r}, padding=2) as t:\n"
            "    p = t.tile(0, 0, 0).pixels\n    print(type(p).__name__, p.shape, p.format, p[2, 2, 0])\n")
        out = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.split("\n")[0]
        with txmill.tiles(self.tx["rgb8.png"], padding=2) as t:
            p = t.tile(0, 0, 0).pixels
            self.assertEqual(out, f"memoryview {tuple(p.shape)} B {p[2, 2, 0]}")

    def test_numpy_arrays(self):
        # Debian's packages are for Debian's Python, which may not be the one that runs this.
        python = next((p for p in (sys.executable, "/usr/bin/python3")
                       if subprocess.run([p, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0), None)
        if not python:
            self.skipTest("numpy is not installed (python3-numpy)")
        code = (
            "import json, sys, txmill\n"
            "for path in sys.argv[1:]:\n"
            "    with txmill.tiles(path, padding=2) as t:\n"
            "        p = t.tile(0, 0, 0).pixels\n"
            "        print(json.dumps([type(p).__name__, p.dtype.name, p.shape, p.flags.writeable, p.tolist()]))\n")
        plain = ("import sys\nsys.modules['numpy'] = None\n" + code).replace(
            "type(p).__name__, p.dtype.name, p.shape, p.flags.writeable, p.tolist()", "p.shape, p.tolist()")

        def run(text):
            out = subprocess.run([python, "-c", text, *self.tx.values()], check=True, stdout=subprocess.PIPE).stdout
            printed = [json.loads(line) for line in out.splitlines()]
            self.assertEqual(len(printed), len(self.tx))
            return printed

        kinds = {"rgb8.png": "uint8", "half-rgba.exr": "float16", "rgb16.png": "uint16"}
        for name, arrays, views in zip(self.tx, run(code), run(plain)):
            kind, dtype, shape, writeable, values = arrays
            self.assertEqual((kind, dtype, writeable), ("ndarray", kinds[name], True), name)
            self.assertEqual([shape, values], views, name)

    def test_wrong_requests(self):
        with txmill.tiles(self.tx["rgb8.png"]) as t:
            for level, x, y in ((0, 5, 0), (0, 0, 4), (9, 0, 0), (-1, 0, 0), (0, -1, 0)):
                with self.assertRaises(ValueError):
                    t.tile(level, x, y)
            with self.assertRaises(ValueError):
                t.tile(0, 0, 0, padding=9)
        with self.assertRaises(ValueError):
            t.tile(0, 0, 0)
        with self.assertRaises(ValueError):
            txmill.tiles(self.tx["rgb8.png"], extension="wrap")

    def test_failures_have_the_librarys_message(self):
        with self.assertRaisesRegex(txmill.TxmillError, "absent.tx"):
            txmill.tiles(self.folder / "absent.tx")
        bad = self.folder / "bad.tx"
        bad.write_bytes(b"II*\0" + bytes(60))
        with self.assertRaisesRegex(txmill.TxmillError, "bad.tx"):
            txmill.tiles(bad)

    def test_library_missing(self):
        code = "import txmill\ntry:\n    txmill.tiles('x.tx')\nexcept txmill.LibraryMissing as e:\n    print('missing', e)\n"
        out = subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "TXTILE": "/nowhere/libtxtile.so.0"}).stdout
        self.assertIn("/nowhere/libtxtile.so.0", out)

    def test_threads(self):
        with txmill.tiles(self.tx["rgb8.png"], padding=2) as t:
            first = [tile.pixels.tobytes() for tile in t]
            results = [None] * 4

            def read(i):
                results[i] = [tile.pixels.tobytes() for tile in t]

            threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(results, [first] * 4)

    def test_closing_while_others_read(self):
        """A read that has begun ends normally, and a later one raises an exception. Memory of a closed file is not
        used."""
        expected = {}
        with txmill.tiles(self.tx["rgb8.png"]) as t:
            for tile in t:
                expected[tile[:3]] = tile.pixels.tobytes()
        for _ in range(30):
            t = txmill.tiles(self.tx["rgb8.png"])
            started = threading.Barrier(5)
            wrong, refused = [], []

            def read():
                started.wait()
                try:
                    while True:
                        for tile in t:
                            if tile.pixels.tobytes() != expected[tile[:3]]:
                                wrong.append(tile[:3])
                        t.metadata
                except ValueError as error:
                    refused.append(str(error))

            threads = [threading.Thread(target=read) for _ in range(4)]
            for thread in threads:
                thread.start()
            started.wait()
            t.close()
            t.close()
            for thread in threads:
                thread.join()
            self.assertEqual((wrong, refused), ([], [f"{t.path}: closed"] * 4))
            self.assertFalse(t._handle)  # the last user frees it


if __name__ == "__main__":
    unittest.main()
