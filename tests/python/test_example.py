# SPDX-License-Identifier: Apache-2.0
"""examples/submit_shot.py: submits a shot whose textures are ready, and no other."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "submit_shot.py"
DATA = Path(os.environ["TXM_TESTDATA"])


class SubmitShot(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        shutil.copytree(DATA / "blend", folder.name, dirs_exist_ok=True)
        self.folder = Path(folder.name)

    def submit(self, scene, *command):
        return subprocess.run([sys.executable, str(EXAMPLE), scene, "--", *command], cwd=self.folder,
                              capture_output=True, text=True, check=False)

    def test_a_shot_that_is_ready(self):
        done = self.submit("linked.blend", "echo", "submitted")
        self.assertEqual((done.returncode, done.stdout), (0, "submitted\n"), done.stderr)

    def test_a_missing_image_stops_it(self):
        done = self.submit("materials.blend", "echo", "submitted")
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertIn("not there", done.stderr)

    def test_no_shot(self):
        done = self.submit("none.blend", "echo", "submitted")
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertIn("none.blend", done.stderr)

    def test_the_submit_command_decides(self):
        self.assertEqual(self.submit("linked.blend", "false").returncode, 1)


if __name__ == "__main__":
    unittest.main()
