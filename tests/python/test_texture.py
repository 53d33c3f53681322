# SPDX-License-Identifier: Apache-2.0
"""Tests txmill.open: levels as buffers, with numpy and without, and colours against the program's."""
import array
import ctypes
import gc
import json
import os
import random
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


def python_with_numpy():
    """Debian's packages are for Debian's Python, which may not be the one that runs this."""
    return next((p for p in (sys.executable, "/usr/bin/python3")
                 if subprocess.run([p, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode == 0), None)


class TextureTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        cls.tx = {}
        for name in ("rgb8.png", "half-rgba.exr", "rgb16.png", "gray8.png", "float-rgb.exr"):
            shutil.copy(TESTDATA / "golden" / name, cls.folder)
            cls.tx[name] = txmill.make([cls.folder / name], program=PROGRAM).created[0].tx

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    # ---- levels ----

    def test_levels_are_their_tiles(self):
        kinds = {"rgb8.png": "uint8", "half-rgba.exr": "half", "rgb16.png": "uint16", "gray8.png": "uint8", "float-rgb.exr": "float"}
        for name, path in self.tx.items():
            with txmill.open(path) as t:
                self.assertEqual(len(t), len(t.levels))
                for level, pixels in enumerate(t):
                    shape = t.levels[level]
                    self.assertEqual((pixels.width, pixels.height, pixels.channels), (shape.width, shape.height, t.channels))
                    self.assertEqual(pixels.type, kinds[name])
                    view = pixels.view
                    self.assertEqual(view.shape, (shape.height, shape.width, t.channels))
                    tile = t.tile(level, shape.tiles_x - 1, shape.tiles_y - 1)
                    left, top = (shape.tiles_x - 1) * t.tile_width, (shape.tiles_y - 1) * t.tile_height
                    for y, row in enumerate(tile.pixels.tolist()):
                        for x, pixel in enumerate(row):
                            got = [view[top + y, left + x, c] for c in range(t.channels)]
                            self.assertEqual(got, pixel, (name, level, x, y))
                self.assertEqual(bytes(t[-1]), bytes(t[len(t) - 1]))
                for wrong in (len(t), -len(t) - 1):
                    with self.assertRaises(IndexError):
                        t[wrong]

    def test_buffers(self):
        with txmill.open(self.tx["rgb8.png"]) as t:
            level = t[2]
        plain = memoryview(level)
        self.assertEqual((plain.nbytes, plain.ndim, plain.shape, plain.readonly), (75 * 50 * 4, 3, (50, 75, 4), False))
        self.assertEqual(len(bytes(level)), 75 * 50 * 4)
        # Both views share memory: a change through one is visible in the other.
        level.view[3, 4, 1] = 77
        self.assertEqual(plain.tobytes()[(3 * 75 + 4) * 4 + 1], 77)
        self.assertEqual(level[3][4][1], 77)
        self.assertEqual(repr(level), "<txmill.Pixels 50 x 75 x 4 uint8>")
        self.assertIsInstance(level, txmill.Pixels)
        address = ctypes.addressof((ctypes.c_char * 1).from_buffer(level))
        self.assertEqual(ctypes.string_at(address, 4), bytes(level)[:4])

    def test_numpy(self):
        python = python_with_numpy()
        if not python:
            self.skipTest("numpy is not installed (python3-numpy)")
        code = (
            "import json, sys, numpy, txmill\n"
            "for path in sys.argv[1:]:\n"
            "    with txmill.open(path) as t:\n"
            "        level = t[1]\n"
            "        a = numpy.asarray(level)\n"
            "        u, v = numpy.meshgrid(numpy.linspace(0, 1, 5), numpy.linspace(0, 1, 3))\n"
            "        c = numpy.asarray(t.sample(u, v[:, :], dudx=numpy.float64(0.1)))\n"
            "        half = numpy.asarray(t.sample(u.astype('e'), v.astype('>f4')))\n"
            "        thin = numpy.asarray(t.sample(u[:, ::2], v[:, ::2], dudx=0.1))\n"
            "    assert numpy.array_equal(thin, c[:, ::2]) and half.shape == c.shape\n"
            "    a[0, 0, 0] = 1\n"
            "    assert level.view[0, 0, 0] == 1\n"
            "    print(json.dumps([a.dtype.name, a.shape, a.flags.owndata, c.dtype.name, c.shape, a.sum(dtype='f8')]))\n")
        kinds = {"rgb8.png": "uint8", "half-rgba.exr": "float32", "rgb16.png": "uint16", "gray8.png": "uint8",
                 "float-rgb.exr": "float32"}
        out = subprocess.run([python, "-c", code, *self.tx.values()], check=True, stdout=subprocess.PIPE).stdout
        printed = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(len(printed), len(self.tx))
        for (name, path), got in zip(self.tx.items(), printed):
            with txmill.open(path) as t:
                shape = [t.levels[1].height, t.levels[1].width, t.channels]
                level = t[1]
                level.view[0, 0, 0] = 1
                total = sum(memoryview(level.view).cast("B").cast(level.view.format))
            self.assertEqual(got[:5], [kinds[name], shape, False, "float32", [3, 5, 4]], name)
            self.assertAlmostEqual(got[5], total, delta=1e-6 * abs(total), msg=name)

    def test_without_numpy(self):
        code = ("import sys\nsys.modules['numpy'] = None\nimport txmill\n"
                "for path in sys.argv[1:]:\n"
                "    with txmill.open(path) as t:\n"
                "        print(t[3].view.shape, t.sample(0.5, 0.5) == tuple(t.sample([0.5], [0.5]).view.tolist()[0]))\n")
        out = subprocess.run([sys.executable, "-c", code, *self.tx.values()], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(out.count("True"), len(self.tx))

    # ---- colours ----

    def shown(self, path, u, v, **options):
        arguments = [f"--{name}={value}" for name, value in options.items() if value is not True]
        arguments += [f"--{name}" for name, value in options.items() if value is True]
        out = subprocess.run([PROGRAM, "sample", "--json", f"--u={u!r}", f"--v={v!r}", *arguments, path],
                             check=True, stdout=subprocess.PIPE).stdout
        return json.loads(out)["color"]

    def test_colours_are_the_programs(self):
        random.seed(7)
        ways = [{}, {"filter": "cubic", "extension": "mirror"}, {"mode": "floor", "dudx": 0.07, "dvdy": 0.02},
                {"filter": "closest", "extension": "clip"}, {"rule": "probes", "dudx": 0.3, "dvdx": 0.1, "dvdy": 0.05},
                {"extension": "extend", "srgb": True, "unassociate": True}, {"mip-bias": 2.5, "anisotropy": 4, "dudy": 0.01}]
        for name, path in self.tx.items():
            with txmill.open(path) as t:
                for way in ways:
                    u, v = random.uniform(-1.5, 2.5), random.uniform(-1.5, 2.5)
                    u, v = array.array("f", [u])[0], array.array("f", [v])[0]
                    want = self.shown(path, u, v, **{"mode": "trilinear", **way})
                    got = t.sample(u, v, **{key.replace("-", "_"): value for key, value in way.items()})
                    for a, b in zip(got, want):
                        self.assertAlmostEqual(a, b, delta=1e-6 * max(1, abs(b)), msg=(name, way, u, v))

    def test_arrays_are_their_elements(self):
        random.seed(3)
        u = array.array("f", [random.uniform(-1, 2) for _ in range(70000)])
        v = array.array("f", [random.uniform(-1, 2) for _ in range(70000)])
        du = [random.uniform(0, 0.2) for _ in u]
        with txmill.open(self.tx["half-rgba.exr"]) as t:
            all_at_once = t.sample(u, v, dudx=du)
            self.assertEqual((all_at_once.shape, all_at_once.type), ((70000, 4), "float"))
            for i in (0, 1, 65535, 65536, 69999):
                self.assertEqual(tuple(all_at_once.view[i, c] for c in range(4)), t.sample(u[i], v[i], dudx=du[i]))
            grid = memoryview(u).cast("B").cast("f", (700, 100))
            self.assertEqual(t.sample(grid, 0.5).shape, (700, 100, 4))
            doubles = t.sample(array.array("d", u[:10]), v[:10], dudx=du[:10])
            self.assertEqual(bytes(doubles), bytes(all_at_once)[:160])
            self.assertEqual(t.sample([], 0.5).shape, (0, 4))

    def test_seeds(self):
        with txmill.open(self.tx["rgb8.png"]) as t:
            u = [i / 999 for i in range(999)]
            drawn = [bytes(t.sample(u, u, dudx=0.01, dvdy=0.015, mode="stochastic", seed=seed)) for seed in (0, 0, 2)]
            self.assertEqual(drawn[0], drawn[1])
            self.assertNotEqual(drawn[0], drawn[2])
            # Tiles that were missing at first do not change the result.
            with txmill.open(self.tx["rgb8.png"]) as cold:
                self.assertEqual(bytes(cold.sample(u, u, dudx=0.01, dvdy=0.015, mode="stochastic", seed=2)), drawn[2])

    def test_numbers_that_are_none(self):
        with txmill.open(self.tx["rgb8.png"]) as t:
            for u in (float("nan"), float("inf"), -float("inf"), 1e30, -1e30):
                self.assertEqual(len(t.sample(u, 0.5)), 4)
                self.assertEqual(len(t.sample(0.5, 0.5, dudx=u)), 4)

    def test_wrong_arguments(self):
        with txmill.open(self.tx["rgb8.png"]) as t:
            for wrong in ({"filter": "cubik"}, {"mode": ""}, {"rule": "x"}, {"extension": "wrap"}, {"anisotropy": 17},
                          {"anisotropy": 0}, {"seed": -1}, {"mip_bias": float("nan")}):
                with self.assertRaises(ValueError, msg=wrong):
                    t.sample(0.5, 0.5, **wrong)
            with self.assertRaisesRegex(ValueError, "different shapes: u .3,., v .2,."):
                t.sample([0.1, 0.2, 0.3], [0.1, 0.2])
            for wrong in (None, "text", ["a"], object()):
                with self.assertRaises(TypeError, msg=wrong):
                    t.sample(wrong, 0.5)

    # ---- faults and lifetimes ----

    def test_damaged_files_raise(self):
        for path in (self.folder / "absent.tx", self.folder):
            with self.assertRaises(txmill.TxmillError):
                txmill.open(path)
        good = Path(self.tx["rgb8.png"]).read_bytes()
        refused = 0
        for at in range(1000, len(good) - 1000, len(good) // 30):
            bad = self.folder / "bad.tx"
            bad.write_bytes(good[:at] + bytes(b ^ 0x5A for b in good[at:at + 400]) + good[at + 400:])
            try:
                with txmill.open(bad) as t:
                    for level in t:
                        bytes(level)
                    t.sample([i / 50 for i in range(50)], 0.5)
            except txmill.TxmillError as error:
                self.assertIn("bad.tx", str(error))
                refused += 1
        self.assertGreater(refused, 10)
        cut = self.folder / "cut.tx"
        cut.write_bytes(good[:len(good) // 3])
        with self.assertRaises(txmill.TxmillError):
            with txmill.open(cut) as t:
                t.sample([i / 50 for i in range(50)], [i / 50 for i in range(50)])

    def test_hostile_files(self):
        for path in sorted((TESTDATA / "tx").glob("bad-*.tx")):
            try:
                with txmill.open(path) as t:
                    for level in range(len(t)):
                        if t.levels[level].width * t.levels[level].height < 1 << 24:
                            bytes(t[level])
                    t.sample([0.1, 0.9], [0.9, 0.1])
            except txmill.TxmillError:
                pass

    def test_buffers_outlive_the_file(self):
        t = txmill.open(self.tx["rgb8.png"])
        level, colours = t[0], t.sample([0.25, 0.5], 0.5)
        exported, expected = memoryview(level), bytes(level)
        t.close()
        t.close()
        for use in (lambda: t[0], lambda: t.sample(0.5, 0.5), lambda: t.tile(0, 0, 0), lambda: t.metadata):
            with self.assertRaisesRegex(ValueError, "closed"):
                use()
        del t, level
        gc.collect()
        self.assertEqual(exported.tobytes(), expected)
        self.assertEqual(len(colours.view.tolist()), 2)
        self.assertFalse(txmill.open(self.tx["rgb8.png"])._closed)  # freed without being closed

    def test_closing_while_others_look_up(self):
        u = [i / 2000 for i in range(2000)]
        with txmill.open(self.tx["rgb8.png"]) as t:
            expected = bytes(t.sample(u, u, filter="cubic"))
        for _ in range(20):
            t = txmill.open(self.tx["rgb8.png"])
            started, wrong, refused = threading.Barrier(5), [], []

            def look_up():
                started.wait()
                try:
                    while True:
                        if bytes(t.sample(u, u, filter="cubic")) != expected:
                            wrong.append(1)
                        bytes(t[4])
                except ValueError as error:
                    refused.append(str(error))

            threads = [threading.Thread(target=look_up) for _ in range(4)]
            for thread in threads:
                thread.start()
            started.wait()
            t.close()
            for thread in threads:
                thread.join()
            self.assertEqual((wrong, refused), ([], [f"{t.path}: closed"] * 4))
            self.assertFalse(t._sets)
            self.assertFalse(t._handle)


if __name__ == "__main__":
    unittest.main()
