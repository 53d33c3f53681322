#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs a project with Blender Asset Tracer, and its tx files with it: pack.py [BAT-OPTION...] SCENE.blend TARGET

Takes what `bat pack` takes; the target may be a folder, a .zip file, or a URL of Shaman or S3. Beside each image that the
pack has, the fresh tx files of that image go into the same folder as in the project, usually blender_tx. In a folder, where all
copies have times of their own, `txmill refresh` then makes them fresh. Where the pack travels further, `txmill refresh SCENE.blend`
does so on the other side, because archives and uploads change times. Tiles and frames in the project that Blender Asset Tracer
does not find are packed as well. Exit code 5: the pack is complete, but not every image in it has a fresh tx file.

Needs Python with blender-asset-tracer, for example: python3 -m pip install blender-asset-tracer zstandard. TXMILL names the program.
"""
import filecmp
import json
import os
import pathlib
import signal
import subprocess
import sys
import urllib.parse
import zipfile

from blender_asset_tracer import pack
from blender_asset_tracer.cli import cli_main

TXMILL = os.environ.get("TXMILL", "txmill")
archives = []  # that are written


def path_of(row, key):
    encoded = row.get(key + "_encoded")
    return os.fsdecode(urllib.parse.unquote_to_bytes(encoded)) if encoded else row[key]


def identity(path):
    """What is the same for all names of a file, since Blender Asset Tracer may come to it by another than txmill."""
    status = os.stat(path)
    return status.st_dev, status.st_ino


def files_of(scene):
    """The images of a scene that are there, and their fresh tx files: [image], {identity of an image: [(tx file, the folder in
    which it is, from that of its image)]}"""
    try:
        listed = subprocess.run([TXMILL, "files", "--json", "--role", "image", "--role", "tx", "--", scene],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    except OSError as error:
        sys.exit("pack.py: %s: %s; set TXMILL to the path of txmill" % (TXMILL, error.strerror))
    if listed.returncode not in (0, 3, 5):
        sys.exit("pack.py: the files of %r cannot be listed, as said above" % scene)
    images, tx_files, left = [], {}, 0
    for line in listed.stdout.splitlines():
        row = json.loads(line)
        if row["type"] != "file":
            continue
        path = path_of(row, "path")
        if row["role"] == "image" and row["state"] == "ready":
            images.append(path)
        elif row["role"] == "tx" and row["state"] == "fresh":
            image = path_of(row, "of")
            below = os.path.relpath(os.path.dirname(path), os.path.dirname(image))
            if below.split(os.sep)[0] == os.pardir:
                left += 1
            elif path != image:
                tx_files.setdefault(identity(image), []).append((path, below))
    if left:
        print("pack.py: %d tx files are not below the folders of their images and stay out of the pack" % left, file=sys.stderr)
    return images, tx_files


def extend(packer):
    """Makes a class of packers send tx files wherever it sends their images, and images that it overlooks."""
    strategise, send, execute = packer.strategise, packer._send_to_target, packer.execute

    def strategise_too(self):
        if self.target.lower().endswith(".zip") and not self.noop:
            archives.append(self.target)
        images, self.tx_files = files_of(str(self.blendfile))
        self.tx_sent = set()
        strategise(self)
        known = set()
        for path, action in self._actions.items():
            for file in [path] + [f for usage in action.usages if usage.is_sequence for f in usage.files()]:
                if file.exists():
                    known.add(identity(file))
        for image in map(pathlib.Path, images):
            if identity(image) in known or any(image.match(pattern) for pattern in self._exclude_globs):
                continue
            if image.is_relative_to(self.project):  # its path need not be rewritten
                self._actions[image].new_path = self._target_path / image.relative_to(self.project)
            else:
                print("pack.py: Blender Asset Tracer overlooks %r, which stays out of the pack" % str(image), file=sys.stderr)

    def anew(self, source, target, may_move=False):
        """Blender Asset Tracer keeps a file of an earlier pack that has the same size and is not older, whatever is in it."""
        if is_folder(self) and not may_move and source.is_file() and os.path.isfile(target) and \
                os.path.getsize(source) == os.path.getsize(target) and not filecmp.cmp(source, target, shallow=False):
            os.unlink(target)
        send(self, source, target, may_move)

    def send_too(self, asset_path, target, may_move=False):
        anew(self, asset_path, target, may_move)
        if may_move or not asset_path.is_file():
            return
        for tx, below in self.tx_files.get(identity(asset_path), ()):
            place = target.parent / below / os.path.basename(tx)
            if place not in self.tx_sent:
                self.tx_sent.add(place)
                anew(self, pathlib.Path(tx), place)

    def execute_too(self):
        execute(self)
        if is_folder(self):
            code = subprocess.run([TXMILL, "refresh", "--quiet", "--", str(self.output_path)], stdin=subprocess.DEVNULL, check=False).returncode
            if code in (3, 5):
                print("pack.py: not every image has a fresh tx file; 'txmill check' names them in %r" % str(self.output_path), file=sys.stderr)
                code = 5
            if code:
                sys.exit(code if code > 0 else 128 - code)

    packer.strategise, packer._send_to_target, packer.execute = strategise_too, send_too, execute_too


def check_archive(archive, good):
    """Blender Asset Tracer leaves an archive that was cut off, and does not notice that the disk is full at its end."""
    try:
        with zipfile.ZipFile(archive):
            why = "Blender Asset Tracer failed"
    except FileNotFoundError:
        return
    except (OSError, zipfile.BadZipFile) as error:
        good, why = False, str(error)
    if not good:
        os.unlink(archive)
        sys.exit("pack.py: %r: not written whole (%s), and removed; is the disk full?" % (archive, why))


def is_folder(packer):
    return type(packer) is pack.Packer and not packer.noop


def stop(number, frame):
    raise KeyboardInterrupt  # Blender Asset Tracer then removes its temporary files


if __name__ == "__main__":
    extend(pack.Packer)
    sys.argv.insert(1, "pack")
    signal.signal(signal.SIGTERM, stop)
    done = False
    try:
        cli_main()
        done = True
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGTERM)
    finally:
        for archive in archives:
            check_archive(archive, done)
