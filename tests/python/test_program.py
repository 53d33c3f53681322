# SPDX-License-Identifier: Apache-2.0
"""Tests the package with the real program: every function, its failures, progress and cancel."""
import inspect
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing
import unittest
from pathlib import Path

import txmill

PROGRAM = os.environ["TXMILL"]
DATA = Path(os.environ["TXM_TESTDATA"])


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("rgb8.png", "gray8.png", "half-rgb.exr"):
            shutil.copy(DATA / "golden" / name, self.folder)

    def images(self):
        return sorted(p for p in self.folder.iterdir() if p.is_file())


class Make(Case):
    def test_makes_then_finds_up_to_date(self):
        run = txmill.make(self.images())
        self.assertTrue(run.ok)
        self.assertEqual(len(run.created), 3)
        self.assertEqual(run.summary["created"], 3)
        for made in run.created:
            self.assertTrue(os.path.isfile(made.tx))
            self.assertIsNone(made.error)
        again = txmill.make(self.folder)
        self.assertEqual({f.state for f in again.files}, {"up-to-date"})

    def test_subfolders(self):
        for folder in ("deep", "deep/er", "blender_tx"):
            (self.folder / folder).mkdir()
        shutil.copy(self.folder / "rgb8.png", self.folder / "deep")
        shutil.copy(self.folder / "rgb8.png", self.folder / "deep/er")
        shutil.move(self.folder / "half-rgb.exr", self.folder / "deep/er")

        def names(run):
            return sorted(os.path.relpath(f.input, self.folder) for f in run.files)

        self.assertEqual(names(txmill.make(self.folder, recursive=False)), ["gray8.png", "rgb8.png"])
        self.assertEqual(txmill.check(self.folder, recursive=False).summary["textures"], 2)
        self.assertEqual(len(txmill.make(self.folder).files), 5)
        self.assertEqual(txmill.check(self.folder).summary["textures"], 5)

    def test_settings_reach_the_program(self):
        run = txmill.make(self.folder / "rgb8.png", colorspace="Non-Color", alpha_type="none", cache_dir="elsewhere",
                          threads=1, extra=["--tile=128"])
        self.assertEqual(run.files[0].data["colorspace"]["requested"], "Non-Color")
        self.assertEqual(run.files[0].data["alpha"], "none")
        self.assertEqual(run.files[0].data["tile_px"], 128)
        self.assertEqual(Path(run.files[0].tx).parent, self.folder / "elsewhere")

    def test_failures_are_results(self):
        (self.folder / "damaged.png").write_bytes(b"no picture")
        run = txmill.make([self.folder / "rgb8.png", self.folder / "damaged.png", self.folder / "gone.png"])
        self.assertFalse(run.ok)
        self.assertEqual(len(run.created), 1)
        failed = {os.path.basename(f.input): f.error for f in run.failed}
        self.assertEqual(set(failed), {"damaged.png", "gone.png"})
        self.assertEqual(failed["gone.png"].status, "not-found")
        self.assertFalse(failed["gone.png"].retryable)
        self.assertIn("gone.png", failed["gone.png"].message)

    def test_a_misspelt_option_names_the_function(self):
        for function in (txmill.make, txmill.check, txmill.gc):
            with self.assertRaisesRegex(TypeError, rf"{function.__name__}\(\) got an unexpected keyword argument 'presett'"):
                function(self.images(), presett="pbr")

    def test_what_makes_no_sense_is_an_exception(self):
        with self.assertRaises(txmill.TxmillError) as caught:
            txmill.make(self.images(), extra=["--no-such-option"])
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertIn("no-such-option", str(caught.exception))

    def test_what_stops_the_whole_run_is_an_exception(self):
        self.images()
        image, config = self.folder / "rgb8.png", self.folder / "none.ocio"
        for call in (txmill.make, txmill.resolve):
            with self.assertRaises(txmill.TxmillError) as caught:
                call(image, ocio=config)
            self.assertIn("none.ocio: the OCIO config cannot be opened", str(caught.exception))
            self.assertEqual(caught.exception.exit_code, 3)

    def test_the_cause_is_said_and_not_the_count(self):
        with self.assertRaises(txmill.TxmillError) as caught:
            txmill.resolve("textures\\wood.png")
        self.assertIn("textures\\wood.png: is a Windows path", str(caught.exception))

    def test_odd_names(self):
        names = [b"-dash.png", b"@list.png", b"line\nbreak.png", b"caf\xe9.png", "Stra\u00dfe \u6728.png".encode()]
        for name in names:
            shutil.copy(self.folder / "rgb8.png", os.fsencode(self.folder) + b"/" + name)
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            run = txmill.make([os.fsdecode(n) for n in names])
        finally:
            os.chdir(before)
        self.assertTrue(run.ok, run.failed)
        self.assertEqual({os.fsencode(os.path.basename(f.input)) for f in run.files}, set(names))

    def test_many_files_go_through_a_list(self):
        """More than fit into a command line, by each function, with line breaks in their names."""
        paths = []
        for i in range(250):
            paths.append(self.folder / f"copy\n{i}.png")
            os.link(self.folder / "gray8.png", paths[-1])
        run = txmill.make(paths)
        self.assertTrue(run.ok, run.failed[:1])
        self.assertEqual(len(run.files), 250)
        tx = [f.tx for f in run.files]
        self.assertEqual([i.error for i in txmill.info(tx)], [None] * 250)
        self.assertTrue(all(v.good for v in txmill.verify(tx)))
        self.assertEqual({r.state for r in txmill.resolve(paths)}, {"fresh"})
        self.assertEqual(txmill.check(paths).summary["fresh"], 250)
        self.assertEqual(len({s.path for s in txmill.settings(paths)}), 250)
        self.assertEqual(txmill.gc(self.folder, keep_for=paths).files, [])
        self.assertEqual(len(txmill.gc(self.folder, keep_for=paths[:230]).files), 20)
        os.chdir(os.path.dirname(self.folder))
        missing = [f"{'folder/' * 10}{i}.tx" for i in range(65000)]  # 5 MB of names
        self.assertEqual(len(txmill.info(missing)), 65000)

    def test_progress(self):
        seen = []
        txmill.make(self.images(), progress=seen.append)
        self.assertTrue(seen)
        self.assertEqual(seen[-1].percent, 100)
        self.assertEqual((seen[-1].files_done, seen[-1].files), (3, 3))
        self.assertEqual(sorted(p.percent for p in seen), [p.percent for p in seen])

    def test_progress_of_a_long_run(self):
        """Progress lines that include speed and remaining time, as they do after a second, are parsed as well."""
        self.large_images(8)
        with subprocess.Popen([txmill.find_program(), "make", "-j1", "--progress", self.folder], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True) as run:
            said = run.stderr.readline()
            run.send_signal(signal.SIGSTOP)
            time.sleep(1.1)
            run.send_signal(signal.SIGCONT)
            said += run.stderr.read()
        lines = [line for line in said.splitlines() if line.startswith("txmill: progress")]
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, txmill._commands._PROGRESS)

    def test_results_come_as_they_are_made(self):
        items = list(txmill.iter_make(self.images()))
        self.assertEqual([type(i) for i in items[:-1]], [txmill.Made] * 3)
        self.assertEqual(items[-1]["type"], "summary")

    def large_images(self, count=60):
        """Makes enough work to be stopped in the middle of it."""
        (self.folder / "large0.ppm").write_bytes(b"P6\n1024 1024\n255\n" + os.urandom(1024 * 1024 * 3))
        for i in range(1, count):
            os.link(self.folder / "large0.ppm", self.folder / f"large{i}.ppm")
        return sorted(self.folder.glob("large*.ppm"))

    def test_cancel(self):
        images = self.large_images()
        cancel = txmill.Cancel()
        made = []
        for item in txmill.iter_make(images, threads=1, cancel=cancel):
            made.append(item)
            cancel.cancel()
        self.assertTrue(cancel.cancelled)
        self.assertLess(made[-1]["created"], len(images))
        self.assertIn(made[-1]["exit_code"], (130, 143))
        left = [p.name for p in (self.folder / "blender_tx").iterdir() if not p.name.endswith(".tx")]
        self.assertEqual(left, [])
        whole = txmill.verify(sorted((self.folder / "blender_tx").glob("*.tx")))
        self.assertTrue(whole and all(v.good for v in whole))

    def test_cancel_from_another_thread(self):
        cancel = txmill.Cancel()
        images = self.large_images()
        timer = threading.Timer(0.2, cancel.cancel)
        timer.start()
        run = txmill.make(images, threads=1, cancel=cancel)
        timer.join()
        self.assertTrue(run.cancelled)
        self.assertFalse(run.ok)

    def test_cancelled_before_it_began(self):
        cancel = txmill.Cancel()
        cancel.cancel()
        run = txmill.make(self.large_images(20), threads=1, cancel=cancel)
        self.assertTrue(run.cancelled)

    def test_second_cancel_kills_what_does_not_react(self):
        deaf = self.folder / "deaf"
        deaf.write_text("#!/usr/bin/env python3\nimport os, signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                        "open(os.path.join(os.path.dirname(__file__), 'begun'), 'w').close()\ntime.sleep(600)\n")
        deaf.chmod(0o755)
        cancel, ended = txmill.Cancel(), []

        def work():
            ended.append(txmill.make(self.folder / "rgb8.png", program=deaf, cancel=cancel).cancelled)

        thread = threading.Thread(target=work)
        thread.start()
        while not (self.folder / "begun").exists():
            time.sleep(0.02)
        cancel.cancel()
        cancel.cancel()  # too early: it may be about to end
        thread.join(0.3)
        self.assertTrue(thread.is_alive())
        cancel._since -= cancel._PATIENCE_SECONDS
        cancel.cancel()
        thread.join()
        self.assertEqual(ended, [True])

    def test_closing_the_iterator_ends_the_program(self):
        results = txmill.iter_make(self.large_images(), threads=1)
        next(results)
        begin = time.monotonic()
        results.close()
        self.assertLess(time.monotonic() - begin, 20)
        made = len(list((self.folder / "blender_tx").glob("*.tx")))
        self.assertLess(made, 60)


class Inspect(Case):
    def setUp(self):
        super().setUp()
        self.tx = [f.tx for f in txmill.make(self.images()).created]

    def test_info(self):
        found = txmill.info(self.tx)
        self.assertEqual([i.file for i in found], self.tx)
        sizes = {os.path.basename(i.file).split(".")[0]: (i.data["width"], i.data["height"]) for i in found}
        self.assertEqual(sizes["rgb8"], (300, 200))

    def test_info_of_what_cannot_be_read(self):
        found = txmill.info([self.tx[0], self.folder / "gone.tx"])
        self.assertIsNone(found[0].error)
        self.assertEqual(found[1].error.status, "not-found")

    def test_write_page(self):
        page = self.folder / "textures.html"
        txmill.write_page(page, self.tx)
        self.assertIn("rgb8.png", page.read_text())
        with self.assertRaises(txmill.TxmillError):
            txmill.write_page(self.folder, self.tx)

    def test_verify(self):
        self.assertTrue(all(v.good for v in txmill.verify(self.tx, deep=True)))
        times = os.stat(self.tx[0])
        with open(self.tx[0], "r+b") as f:
            f.seek(2000)
            f.write(b"\xff" * 64)
        os.utime(self.tx[0], ns=(times.st_atime_ns, times.st_mtime_ns))
        verdicts = txmill.verify(self.tx)
        self.assertEqual([v.good for v in verdicts], [False, True, True])
        self.assertTrue(verdicts[0].findings)
        self.assertIn("renders magenta where tile", verdicts[0].shows)

    def test_resolve(self):
        image = self.folder / "rgb8.png"
        self.assertEqual(txmill.resolve(image)[0].state, "fresh")
        self.assertEqual(txmill.resolve(image, colorspace="Non-Color")[0].state, "missing")
        os.utime(image, (1, 1))
        outdated = txmill.resolve(image)[0]
        self.assertEqual(outdated.state, "outdated")
        self.assertTrue(outdated.reason)
        self.assertIn("reads the source image instead", outdated.shows)
        self.assertEqual({r.shows for r in txmill.resolve(image, blender="5.3")}, {outdated.shows})
        with self.assertRaises(txmill.TxmillError):
            txmill.resolve(image, blender="4.2")
        self.assertEqual(txmill.resolve(self.folder / "gone.png")[0].state, "failed")

    def test_adopt(self):
        renamed = (self.folder / "rgb8.png").rename(self.folder / "wood.png")
        self.assertEqual(txmill.resolve(renamed)[0].state, "missing")
        adopted = txmill.resolve(renamed, adopt=True)[0]
        self.assertEqual((adopted.state, adopted.data["adopted"]), ("fresh", True))


class Whole(Case):
    """Tests functions for folders and the machine: check, settings, gc, doctor."""

    def test_check(self):
        (self.folder / "broken.png").write_bytes(b"not a picture")
        before = txmill.check(self.folder)
        self.assertFalse(before.ready)
        states = {os.path.basename(t.image): t.id for t in before.textures}
        self.assertEqual((states["rgb8.png"], states["broken.png"]), ("missing", "damaged"))
        (self.folder / "broken.png").unlink()
        made = {os.path.realpath(f.tx) for f in txmill.make(self.folder).created}
        after = txmill.check(self.folder)
        self.assertTrue(after.ready)
        self.assertEqual({os.path.realpath(t.tx) for t in after.textures}, made)
        self.assertEqual({(t.id, t.severity) for t in after.textures}, {("fresh", "note")})
        self.assertEqual(after.summary["textures"], 3)
        self.assertFalse(txmill.check(self.folder / "rgb8.png", rules=["*.png=Non-Color"]).ready)
        self.assertFalse(txmill.check(self.folder / "rgb8.png", colorspace="Non-Color", alpha_type="straight").ready)

    def test_limits(self):
        image = self.folder / "rgb8.png"
        made = txmill.make(image, limits=["*.none 16", "64"]).created[0]
        self.assertEqual((made.data["width"], made.data["image_width"]), (37, 300))
        self.assertEqual(txmill.info(made.tx)[0].data["limit_px"], 64)
        self.assertTrue(txmill.check(image, limits=["64"]).ready)
        self.assertFalse(txmill.check(image).ready)
        self.assertEqual(txmill.resolve(image, limits=["64"])[0].state, "fresh")

    def test_check_decodes_where_asked_to(self):
        made = txmill.make(self.folder / "rgb8.png").created[0]
        with open(made.tx, "r+b") as f:
            f.seek(2000)
            f.write(b"\xff" * 64)
        image = os.stat(self.folder / "rgb8.png")
        os.utime(made.tx, (image.st_atime, image.st_mtime))
        self.assertTrue(txmill.check(self.folder / "rgb8.png").ready)
        self.assertFalse(txmill.check(self.folder / "rgb8.png", deep=True).ready)

    def test_check_of_what_is_not_there(self):
        run = txmill.check(self.folder / "no such.blend")
        self.assertFalse(run.ready)
        self.assertEqual([(t.id, t.severity) for t in run.textures], [("failed", "error")])

    def test_settings(self):
        (self.folder / ".txmill").write_text("preset = pbr\n")
        found = {s.setting: s for s in txmill.settings(self.folder)}
        self.assertEqual(found["preset"].value, "pbr")
        self.assertIn(".txmill:1", found["preset"].origin)
        self.assertEqual(found["cache-dir"].origin, "default")

    def test_gc(self):
        made = txmill.make(self.folder)
        self.assertEqual(len(made.created), 3)
        (self.folder / "gray8.png").unlink()
        found = txmill.gc(self.folder)
        self.assertEqual([(f.state, f.reason) for f in found.files], [("would-remove", "orphan")])
        self.assertTrue(os.path.exists(found.files[0].path))
        removed = txmill.gc(self.folder, delete=True)
        self.assertTrue(removed.ok)
        self.assertEqual(removed.summary["removed"], 1)
        self.assertEqual(removed.files[0].state, "removed")
        self.assertFalse(os.path.exists(removed.files[0].path))
        unused = txmill.gc(self.folder, keep_for=[self.folder / "rgb8.png"], delete=True)
        self.assertEqual([f.reason for f in unused.files], ["unused"])
        self.assertEqual(len(list((self.folder / "blender_tx").iterdir())), 1)

    def test_gc_of_a_store(self):
        store = self.folder / "store"
        store.mkdir()
        txmill.make(self.images(), extra=[f"--store={store}"])
        shutil.rmtree(self.folder / "blender_tx")  # its files are links to those of the store and take no space
        trimmed = txmill.gc(store=store, max_size="1", delete=True)
        self.assertEqual({f.reason for f in trimmed.files}, {None})
        self.assertGreater(trimmed.summary["removed"], 0)

    def test_doctor(self):
        facts = txmill.doctor()
        self.assertEqual([f.value for f in facts if f.name == "txmill"], [txmill.version()])
        self.assertIn("OpenColorIO", {f.name for f in facts if f.part == "library"})


class Scenes(unittest.TestCase):
    def test_list_scene(self):
        scene = txmill.list_scene(DATA / "blend" / "materials.blend")
        self.assertTrue(scene.images)
        self.assertIn("file_version", scene.data)
        self.assertTrue(all("state" in image for image in scene.images))

    def test_lint(self):
        scene = txmill.list_scene(DATA / "blend" / "lint.blend", lint=True)
        self.assertTrue(scene.findings)

    def test_paths_of_another_machine(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        shutil.copy(DATA / "golden" / "rgb8.png", folder.name)
        scene = Path(folder.name) / "s.xml"
        scene.write_text('<cycles><shader name="m"><image_texture filename="P:\\tex\\rgb8.png" colorspace="sRGB"/></shader></cycles>')
        maps = [f"P:\\tex {folder.name}"]
        self.assertFalse(txmill.check(scene).ready)
        self.assertEqual(len(txmill.make(scene, path_map=maps, every_variant=True).created), 1)
        self.assertTrue(txmill.check(scene, path_map=maps).ready)
        listed = txmill.list_scene(scene, path_map=maps).images[0]
        self.assertEqual(listed["path"], os.path.join(folder.name, "rgb8.png"))

    def test_files_that_travel(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        film, copy = Path(folder.name) / "film", Path(folder.name) / "copy"
        film.mkdir()
        shutil.copy(DATA / "golden" / "rgb8.png", film)
        (film / "s.xml").write_text('<cycles><shader name="m"><image_texture filename="rgb8.png" colorspace="sRGB"/></shader></cycles>')
        txmill.make(film / "s.xml")
        found = txmill.files(film / "s.xml", manifest=film / "film.manifest", archive=film / "film.zip", sha256=True)
        self.assertEqual([(f.role, f.state) for f in found], [("scene", "ready"), ("image", "ready"), ("tx", "fresh")])
        self.assertTrue(all(len(f.data["sha256"]) == 64 and not f.path.startswith("/") for f in found))
        self.assertEqual([f.path for f in txmill.files(film / "s.xml", roles=["scene"])], [str(film / "s.xml")])
        copy.mkdir()
        for f in found:
            (copy / f.path).parent.mkdir(exist_ok=True)
            shutil.copyfile(film / f.path, copy / f.path)
            os.utime(copy / f.path, (1e9, 1e9))
        (copy / "s.xml").write_text("<cycles/>")
        states = [r.state for r in txmill.restore(film / "film.manifest", root=copy, dry_run=True)]
        self.assertEqual(states, ["different", "would-restore", "would-restore"])
        self.assertEqual(txmill.restore(film / "film.manifest", root=copy)[2].state, "restored")
        self.assertEqual((copy / found[2].path).stat().st_mtime, (film / "rgb8.png").stat().st_mtime // 1)
        for wrong in (film / "rgb8.png", film / "none"):
            with self.assertRaises(txmill.TxmillError):
                txmill.restore(wrong)
        with self.assertRaises(txmill.TxmillError):
            txmill.files(film / "none.blend")

    def test_no_scene(self):
        with self.assertRaises(txmill.TxmillError) as caught:
            txmill.list_scene("no such.blend")
        self.assertIn("no such.blend", str(caught.exception))


class Budget(Case):
    def test_stream_budget(self):
        self.images()
        txmill.make(self.folder / "rgb8.png", colorspace="sRGB", alpha_type="straight")
        (self.folder / "scene.txt").write_text(
            "txmill-scene 1\nsize 64 36\n"
            "camera perspective half 0.36 0.2025 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 5\n"
            "image wood \"rgb8.png\" colorspace \"sRGB\" alpha straight extension repeat interpolation linear\n"
            "material floor diffuse 0.8 0.8 0.8\ntexture floor wood input \"Base Color\" uv \"\" transform 2 0 0 0 2 0\n"
            "quad floor -1 -1 0 2 0 0 0 2 0\n")
        budget = txmill.stream_budget(self.folder)
        self.assertEqual([os.path.basename(image["image"]) for image in budget["images"]], ["rgb8.png"])
        self.assertEqual([entry["resolution"] for entry in budget["resolutions"]][:2], [1, 0.5])
        shutil.rmtree(self.folder / "blender_tx")  # always found
        for cache in ("beside", self.folder / "elsewhere"):
            with self.assertRaises(txmill.TxmillError):
                txmill.stream_budget(self.folder, cache_dir=cache)
            txmill.make(self.folder / "rgb8.png", colorspace="sRGB", alpha_type="straight", cache_dir=cache)
            again = txmill.stream_budget(self.folder, cache_dir=cache, threads=1, tile=0, bounces=1,
                                         path_map=[r"P:\tex /srv/tex"])
            self.assertEqual(again["images"], budget["images"])

    def test_what_is_no_scene(self):
        with self.assertRaises(txmill.TxmillError) as caught:
            txmill.stream_budget(self.folder)
        self.assertIn("scene.txt", str(caught.exception))


class Program(unittest.TestCase):
    def test_version(self):
        said = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(txmill.version(), said.split()[1])

    def test_words_are_those_of_the_program(self):
        said = subprocess.run([PROGRAM, "--generate", "python"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(Path(txmill.__file__).with_name("_words.py").read_text(), said,
                         "txmill --generate python > python/txmill/_words.py")
        self.assertIn(txmill.State.FRESH, txmill.READY)
        self.assertNotIn(txmill.State.OUTDATED, txmill.READY)

    def test_version_of_the_package(self):
        self.assertEqual(txmill.__version__, txmill.version())
        self.assertEqual(subprocess.run([PROGRAM, "-V"], capture_output=True, text=True, check=True).stdout,
                         f"txmill {txmill.__version__}\n")

    def test_program_missing(self):
        with self.assertRaises(txmill.ProgramMissing):
            txmill.version(program="/nowhere/txmill")
        kept = dict(os.environ)
        try:
            os.environ["TXMILL"] = "/nowhere/txmill"
            with self.assertRaises(txmill.ProgramMissing):
                txmill.make("image.png")
            del os.environ["TXMILL"]
            os.environ["PATH"] = "/nowhere"
            if "python3" not in txmill.__file__:  # only if it is not installed there
                with self.assertRaises(txmill.ProgramMissing):
                    txmill.find_program()
        finally:
            os.environ.clear()
            os.environ.update(kept)

    def found(self, package, path, **variables):
        """The program that a copy of the package finds, or the error's text, in an environment with this PATH."""
        code = "import txmill\ntry:\n    print(txmill.find_program())\nexcept txmill.ProgramMissing as e:\n    print(e)\n"
        environment = {"PATH": os.pathsep.join(map(str, path)), "PYTHONPATH": str(package.parent), **variables}
        return subprocess.run([sys.executable, "-c", code], cwd="/", env=environment, capture_output=True, text=True,
                              check=True).stdout.strip()

    def test_programs_of_others_are_not_run(self):
        with tempfile.TemporaryDirectory() as temporary:
            top = Path(temporary)
            top.chmod(0o755)

            def program(*parts):
                path = top.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("#!/bin/sh\n")
                path.chmod(0o755)
                return path

            def package(*parts):
                folder = top.joinpath(*parts, "txmill")
                shutil.copytree(Path(txmill.__file__).parent, folder, ignore=shutil.ignore_patterns("bin", "lib", "__pycache__"))
                return folder

            above, on_path = program("bin", "txmill"), program("path", "txmill")
            program("home", "bin", "txmill")
            for parts in (("home", "python"), ("home", "site-packages"), ("home", "lib", "packages"),
                          ("home", "lib", "python3", "deeper", "site-packages"), ("python3.9",), ("home", "python3x", "site-packages")):
                self.assertEqual(self.found(package(*parts), [on_path.parent]), str(on_path), parts)
            # Its own prefix, and the package itself.
            installed = package("usr", "lib", "python3.11", "dist-packages")
            of_prefix = program("usr", "bin", "txmill")
            self.assertEqual(self.found(installed, [on_path.parent]), str(of_prefix))
            multiarch = package("usr", "lib", "x86_64-linux-gnu", "python3", "dist-packages")
            self.assertEqual(self.found(multiarch, [on_path.parent]), str(of_prefix))
            inside = package("wheel", "site-packages")
            beside = program("wheel", "site-packages", "txmill", "bin", "txmill")
            self.assertEqual(self.found(inside, [on_path.parent]), str(beside))
            # Folders that everybody may write to.
            of_prefix.parent.chmod(0o777)
            self.assertEqual(self.found(installed, [on_path.parent]), str(on_path))
            self.assertIn("belongs to another user", self.found(installed, ["/nowhere"]))
            self.assertEqual(self.found(installed, ["/nowhere"], TXMILL=str(of_prefix)), str(of_prefix))
            of_prefix.parent.chmod(0o755)
            if os.geteuid() != 0:
                self.skipTest("files of another user can be made by root alone")
            for path in (of_prefix, of_prefix.parent):
                os.chown(path, 65534, 65534)
                self.assertEqual(self.found(installed, [on_path.parent]), str(on_path), path)
                os.chown(path, 0, 0)
            link = of_prefix.with_name("link")
            link.symlink_to(on_path)
            os.chown(link, 65534, 65534, follow_symlinks=False)
            os.replace(link, of_prefix)
            self.assertEqual(self.found(installed, [on_path.parent]), str(on_path))
            of_prefix.unlink()
            program("usr", "bin", "txmill")
            # In PATH, the user chose the folder.
            alone = top / "home" / "python" / "txmill"
            os.chown(above, 65534, 65534)
            self.assertEqual(self.found(alone, [above.parent, on_path.parent]), str(above))
            above.parent.chmod(0o1777)
            self.assertEqual(self.found(alone, [above.parent, on_path.parent]), str(on_path))
            for named in ({}, {"TXMILL": "txmill"}):
                self.assertIn(f"{above}: not run", self.found(alone, [above.parent], **named))
                self.assertEqual(self.found(alone, [above.parent, on_path.parent], **named), str(on_path))
            # Who owns the package decides anyway.
            for path in (installed, *installed.iterdir()):
                os.chown(path, 65534, 65534)
            os.chown(of_prefix, 65534, 65534)
            self.assertEqual(self.found(installed, [on_path.parent]), str(of_prefix))

    def test_libraries_of_others_are_not_loaded(self):
        with tempfile.TemporaryDirectory() as temporary:
            top = Path(temporary)
            for parts, own in ((("python3.9", "home"), False), (("python3-mine", "dist-packages"), False),
                               (("lib", "python3", "dist-packages"), True)):
                folder = top.joinpath(*parts, "txmill")
                shutil.copytree(Path(txmill.__file__).parent, folder, ignore=shutil.ignore_patterns("bin", "lib", "__pycache__"))
                code = "from txmill import _tiles\nprint(*_tiles._candidates())"
                for place in (top, top / "lib"):
                    place.mkdir(exist_ok=True)
                    (place / "libtxtile.so.0").touch()
                said = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(folder.parent)}, cwd="/",
                                      capture_output=True, text=True, check=True).stdout.split()
                self.assertEqual(said, [str(top / "lib" / "libtxtile.so.0")] * own + ["libtxtile.so.0"], parts)
            (top / "lib").chmod(0o777)
            said = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(folder.parent)}, cwd="/",
                                  capture_output=True, text=True, check=True).stdout.split()
            self.assertEqual(said, ["libtxtile.so.0"])

    def test_program_that_does_not_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            silent = Path(folder) / "silent"
            # The second one's child keeps the pipe open; the third one closes its output and stays.
            for body in ("exec sleep 600", "sleep 600 & sleep 600", "exec sleep 600 >&- 2>&-"):
                silent.write_text(f"#!/bin/sh\n{body}\n")
                silent.chmod(0o755)
                with self.assertRaisesRegex(txmill.TxmillError, "silent: does not answer"):
                    txmill.version(silent, timeout=0.2)

    def test_program_of_a_wheel_that_was_unpacked_without_permissions(self):
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "txmill"
            shutil.copytree(Path(txmill.__file__).parent, package, ignore=shutil.ignore_patterns("bin", "lib", "__pycache__"))
            own, worker, library = package / "bin" / "txmill", package / "lib" / "txmill" / "a-worker", package / "lib" / "txmill" / "a.so"
            for path in (own, worker, library):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("#!/bin/sh\necho txmill 9.9.9\n")
                path.chmod(0o640)
            said = subprocess.run([sys.executable, "-c", "import txmill\nprint(txmill.find_program(), txmill.version())"],
                                  env={"PYTHONPATH": folder, "PATH": "/bin:/usr/bin"}, capture_output=True, text=True, check=True).stdout
            self.assertEqual(said, f"{own} 9.9.9\n")
            self.assertEqual([path.stat().st_mode & 0o777 for path in (own, worker, library)], [0o750, 0o750, 0o640])

    def test_what_is_no_program_of_ours(self):
        with tempfile.TemporaryDirectory() as folder:
            odd = Path(folder) / "odd"
            for text, said in (("#!/bin/sh\necho '<html>'\n", "not JSON: <html>"), ("#!/bin/sh\necho '[1]'\n", "not a JSON object: .1."),
                               ("#!/bin/sh\nkill -SEGV $$\n", "killed by signal 11"), ("#!/nowhere/sh\n", "odd: cannot be run"),
                               ("#!/bin/sh\necho '{\"type\": \"error\"}'\n", "txmill failed")):
                odd.write_text(text)
                odd.chmod(0o755)
                with self.assertRaisesRegex(txmill.TxmillError, said):
                    txmill.make(DATA / "golden" / "rgb8.png", program=odd)
            for text, said in (("yes '<'", "does not run here$"), ("yes >&2", "does not run here: y$"),
                               ("echo 'libc.so.6: version GLIBC_9 not found' >&2; exit 1", "does not run here: libc.so.6: version GLIBC_9 not found$")):
                odd.write_text(f"#!/bin/sh\n{text}\n")
                with self.assertRaisesRegex(txmill.TxmillError, said):
                    txmill.version(odd, timeout=20)
            with self.assertRaisesRegex(txmill.TxmillError, "cannot be run"):
                odd.write_text("#!/nowhere/sh\n")
                txmill.version(odd)

    def test_another_program(self):
        with self.assertRaises(txmill.TxmillError):
            txmill.version(program=sys.executable)
        with self.assertRaises(txmill.TxmillError):
            txmill.make("image.png", program=shutil.which("true"))

    def test_everything_public_is_typed(self):
        for name in txmill.__all__:
            member = getattr(txmill, name)
            if inspect.isfunction(member):
                hints = typing.get_type_hints(member)
                self.assertEqual(set(inspect.signature(member).parameters) - set(hints), set(), name)
                self.assertIn("return", hints, name)
                self.assertTrue(member.__doc__, name)


if __name__ == "__main__":
    unittest.main()
