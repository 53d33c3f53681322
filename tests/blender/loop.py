# SPDX-License-Identifier: Apache-2.0
"""Compares Blender and txmill on whole scenes: sets of file names, and renders from txmill's files.

    blender -b --factory-startup --python-exit-code 1 --python loop.py -- TXMILL FOLDER [quick] [names] [spaces] [corners] [percent] [renders] [limits]
    python loop.py TXMILL FOLDER [...]      with a Python that has the package bpy

TXMILL is a command, "chroot /host /path/txmill" for one. Prints `pass NAME` or `FAIL NAME: why` for each check."""
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenes

failed = []
# Of 480 x 320 pixels, this many may differ by more than 1e-4, and one by at most this much.
PIXELS, WORST = 27, 6e-4


def check(name, good, why=""):
    print("pass %s" % name if good else "FAIL %s: %s" % (name, why), flush=True)
    if not good:
        failed.append(name)


class Txmill:
    """The program with Blender's own OpenColorIO config; it may see other system folders than Blender."""

    def __init__(self, command, folder):
        self.command = shlex.split(command)
        config = os.path.join(folder, "colormanagement")
        shutil.copytree(bpy.utils.system_resource("DATAFILES", path="colormanagement"), config)
        self.config = os.path.join(config, "config.ocio")

    def run(self, *args, expected=(0, 3)):
        environment = {name: value for name, value in os.environ.items() if name != "OCIO"}
        done = subprocess.run([*self.command, *args], capture_output=True, text=True, env=environment)
        if done.returncode not in expected:
            sys.exit("%s: exit status %d\n%s" % (" ".join(self.command), done.returncode, done.stderr))
        return done

    def built_in(self, *args):
        """The program with its own config."""
        return self.run(args[0], "--blender", "%d.%d" % bpy.app.version[:2], *args[1:])

    def __call__(self, *args):
        return self.run(args[0], "--ocio", self.config, "--blender", "%d.%d" % bpy.app.version[:2], *args[1:])


def said(work):
    """Returns what Blender itself prints while it works, also from Python's buffer."""
    sys.stdout.flush()
    kept = os.dup(1)
    with tempfile.TemporaryFile("w+", errors="replace") as printed:
        os.dup2(printed.fileno(), 1)
        try:
            work()
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)
        printed.seek(0)
        return printed.read()


def remove_tx(folder):
    for parent, folders, files in os.walk(folder):
        for name in files:
            if name.endswith(".tx"):
                os.remove(os.path.join(parent, name))


def same_names(txmill, scene, folder, label, cache, expected=None, more=()):
    """Blender makes the tx files, txmill makes them, and txmill's must be fresh for Blender. txmill also makes those of the images
    `more`. Returns txmill's run."""
    bpy.context.preferences.filepaths.texture_cache_directory = cache
    remove_tx(folder)
    report = said(bpy.ops.render.generate_texture_cache)
    theirs = scenes.tx_files(folder)
    # Blender does not even count the images that it leaves out.
    check("Blender says how many it made, %s" % label, "Generated %d tx files, 0 failed" % len(theirs) in report, report)
    remove_tx(folder)
    done = txmill("make", "--json", *(["--cache-dir", cache] if cache else []), scene)
    ours = scenes.tx_files(folder)
    check("names %s" % label, set(ours) >= set(theirs) and len(theirs) == (expected or len(theirs)) > 0 and
          sorted(os.path.basename(path).split(".0-")[0] for path in set(ours) - set(theirs)) == sorted(more),
          "%d, %d: %s" % (len(ours), len(theirs), sorted(set(ours) ^ set(theirs))))
    inodes = {path: os.stat(os.path.join(folder, path)).st_ino for path in ours}
    bpy.ops.render.generate_texture_cache()
    check("Blender makes none again, %s" % label,
          {path: os.stat(os.path.join(folder, path)).st_ino for path in scenes.tx_files(folder)} == inodes)
    remove_tx(folder)
    bpy.context.preferences.filepaths.texture_cache_directory = ""
    return done


def states(txmill, scene):
    """Returns {image name: state} from `txmill list`."""
    records = [json.loads(line) for line in txmill("list", "--json", scene).stdout.splitlines()]
    return {record["name"]: record["state"] for record in records if record["type"] == "image"}


def names(txmill, folder, quick):
    """Compares the sets of tx files over working spaces and cache folders. Images that are left out are reported."""
    scene = scenes.every_way(folder)
    for space in ("ACEScg",) if quick else ("Linear Rec.709", "Linear Rec.2020", "ACEScg"):
        for cache in ("", "cache/of tx", os.path.join(folder, "store")):
            bpy.ops.wm.open_mainfile(filepath=scene)
            bpy.ops.wm.set_working_color_space(working_space=space)
            bpy.ops.wm.save_mainfile()
            kind = "absolute" if os.path.isabs(cache) else "relative" if cache else "default"
            done = same_names(txmill, scene, folder, "%s, %s folder" % (space, kind), cache, 21)
    failures = [json.loads(line) for line in done.stdout.splitlines() if '"failed"' in line]
    check("txmill names the missing image", any("gone.png" in f.get("input", "") for f in failures), done.stdout[-500:])
    check("txmill says that a packed image is left out", "1 packed image is left out" in done.stderr, done.stderr)
    listed = states(txmill, scene)
    check("txmill says that a generated image is left out", "1 generated image is left out" in done.stderr, done.stderr)
    check("txmill names what is left out", (listed.get("packed.png"), listed.get("generated"), listed.get("gone.png")) ==
          ("packed", "no-file", "missing"), listed)


def corners(txmill, folder, quick):
    """Overrides, nested groups, packed tiles, offsets, and images that only the compositor uses."""
    for name, (scene, left_out) in scenes.corners(folder).items():
        bpy.ops.wm.open_mainfile(filepath=scene)
        # Blender's operator leaves out frames whose numbers have more digits than the first file's. A render makes their tx files.
        longer = {1000: "plate-1000.png", 1001: "plate-1001.png"} if name == "studio" else {}
        for cache in ("", "../tx of %s" % name):
            same_names(txmill, scene, folder, "%s, %s folder" % (name, "relative" if cache else "default"), cache, more=longer.values())
        for number, image in longer.items():
            def of_image():
                return [path for path in scenes.tx_files(folder) if os.path.basename(path).startswith(image + ".")]
            txmill("make", scene)
            ours = of_image()
            remove_tx(folder)
            bpy.context.scene.render.use_auto_generate_texture_cache = True
            bpy.context.scene.frame_set(number - 997)
            render(os.path.join(folder, "frame.exr"))
            check("name of %s in a render, %s" % (image, name), len(ours) == 1 and of_image() == ours, (ours, of_image()))
            remove_tx(folder)
        if longer:
            bpy.ops.wm.open_mainfile(filepath=scene)
        listed = states(txmill, scene)
        check("left out, %s" % name, all(listed.get(image) == state for image, state in left_out.items()), listed)


# The built-in config takes these from a Blender in PATH, if txmill finds one. The interop id is a name since Blender 5.3.
NOT_BUILT_IN = {"Filmic sRGB", "AgX Base sRGB", "Khronos PBR Neutral sRGB", "Luminance Compensation Rec.2020",
                "Luminance Compensation BT.2020", "blender:luminancecompensation_rec2020_scene"}


def spaces(txmill, folder, quick):
    """Tests every name that a scene may have for a colour space: file names and pixels, by Blender's config and by
    the built-in one."""
    scene, names = scenes.spaces(folder, txmill.config)
    bpy.ops.wm.open_mainfile(filepath=scene)
    bpy.ops.render.generate_texture_cache()
    theirs, ours = (os.path.join(folder, name) for name in ("theirs", "blender_tx"))
    os.rename(ours, theirs)
    check("a tx file for each of %d names" % len(names), len(os.listdir(theirs)) == len(names) > 290)
    for config, run in (("Blender's config", txmill), ("the built-in config", txmill.built_in)):
        remove_tx(ours)
        run("make", "-q", scene)
        made, wanted = ({name.split(".0-")[0]: name for name in os.listdir(path)} for path in (ours, theirs))
        lacking = {names[image] for image in wanted if image not in made}
        check("made with %s" % config, not lacking or
              run == txmill.built_in and lacking - {"ACES 2.0 sRGB"} == NOT_BUILT_IN.intersection(names.values()), lacking)
        print("note %d of %d made with %s" % (len(made), len(names), config))
        check("names with %s" % config, all(wanted[image] == made[image] for image in made),
              [names[image] for image in made if wanted[image] != made[image]])
        pairs = os.path.join(folder, "pairs")
        shutil.rmtree(pairs, ignore_errors=True)
        os.mkdir(pairs)
        for image in made:
            shutil.copy2(os.path.join(theirs, wanted[image]), pairs)
        records = [json.loads(line) for line in txmill.run("diff", "--json", "--max-error", "0.0005", pairs, ours,
                                                           expected=(0, 5)).stdout.splitlines()]
        others = [names[os.path.basename(record["a"]).split(".0-")[0]] for record in records if not record["within"]]
        check("pixels with %s" % config, len(records) == len(made) and not others, others)


def percent(txmill, folder, quick):
    """OpenImageIO takes % in a path for digits of a temporary name: Blender makes no tx file there, and uses
    txmill's."""
    folder = os.path.join(folder, "100 %")
    scenes.empty()
    scenes.shown("a", scenes.load(scenes.picture(os.path.join(folder, "a.png"))))
    scene = scenes.save(os.path.join(folder, "scene.blend"))
    try:
        bpy.ops.render.generate_texture_cache()
        print("note Blender makes tx files below a folder with % by now")
    except RuntimeError as error:
        print("note Blender, below a folder with %%: %s" % str(error).splitlines()[0])
    remove_tx(folder)
    txmill("make", scene)
    ours = {path: os.stat(os.path.join(folder, path)).st_ino for path in scenes.tx_files(folder)}
    bpy.ops.render.generate_texture_cache()
    check("used below a folder with %", len(ours) == 1 and
          {path: os.stat(os.path.join(folder, path)).st_ino for path in scenes.tx_files(folder)} == ours, ours)


def render(path):
    """Returns the pixels of a render (height, width, 4)."""
    bpy.context.scene.render.filepath = path
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(path)
    pixels = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    shape = (image.size[1], image.size[0], 4)
    bpy.data.images.remove(image)
    return pixels.reshape(shape)


def differing(a, b):
    """Returns the number of pixels that differ by more than 1e-4, and the largest difference."""
    difference = np.abs(a - b).max(axis=2)
    return int((difference > 1e-4).sum()), float(difference.max())


def renders(txmill, folder, quick):
    """For all repeat modes and interpolations, the picture from txmill's files equals the one from Blender's, and a
    render does not rewrite any."""
    scene = scenes.every_way(folder)
    bpy.ops.wm.open_mainfile(filepath=scene)
    bpy.ops.render.generate_texture_cache()
    theirs = render(os.path.join(folder, "theirs.exr"))
    # Only the files are compared. Cycles renders with random numbers, so two renders of one set differ, too.
    bpy.ops.wm.open_mainfile(filepath=scene)
    pixels, worst = differing(render(os.path.join(folder, "again.exr")), theirs)
    print("note render, Blender's files twice: %d of %d pixels differ by more than 1e-4, at most %.2g" % (
        pixels, theirs.shape[0] * theirs.shape[1], worst))
    allowed = max(PIXELS, pixels), max(WORST, worst)
    for options in (["--strict"], []):
        label = "strict" if options else "grey as one channel, borders"
        remove_tx(folder)
        txmill("make", *options, scene)
        before = {path: hashlib.sha256(data).digest() for path, data in scenes.tx_files(folder).items()}
        stats = {path: os.stat(os.path.join(folder, path)).st_mtime_ns for path in before}
        bpy.ops.wm.open_mainfile(filepath=scene)
        ours = render(os.path.join(folder, "ours.exr"))
        after = {path: hashlib.sha256(data).digest() for path, data in scenes.tx_files(folder).items()}
        check("no file rewritten, %s" % label, before == after and len(after) == 21 and
              stats == {path: os.stat(os.path.join(folder, path)).st_mtime_ns for path in after})
        pixels, worst = differing(ours, theirs)
        check("picture equal, %s" % label, pixels <= allowed[0] and worst <= allowed[1], "%d pixels, at most %g" % (pixels, worst))
        print("note render, %s: %d pixels differ by more than 1e-4, at most %.2g" % (label, pixels, worst))
    # Without tx files the picture must differ; otherwise the comparison shows nothing.
    bpy.context.scene.render.use_texture_cache = False
    check("the texture cache is what was rendered", differing(render(os.path.join(folder, "plain.exr")), theirs)[0] > PIXELS)


def limits(txmill, folder, quick):
    """Blender keeps tx files that are smaller than their images, and shows them at the right places: the picture equals the one of
    images that were made smaller before."""
    scenes.empty()
    images = [scenes.picture(os.path.join(folder, name), 512, 384, seed) for seed, name in enumerate(("a.png", "b.exr", "bg/c.png"))]
    for at, path in enumerate(images):
        scenes.shown("image %d" % at, scenes.load(path), at)
    scene = scenes.save(os.path.join(folder, "scene.blend"))
    txmill("make", scene)
    whole = render(os.path.join(folder, "whole.exr"))
    txmill("make", "--limit", "16", scene)
    bpy.ops.wm.open_mainfile(filepath=scene)
    small = {path: os.stat(os.path.join(folder, path)).st_ino for path in scenes.tx_files(folder)}
    ours = render(os.path.join(folder, "limited.exr"))
    bpy.ops.render.generate_texture_cache()
    check("limited files are kept", len(small) == len(images) and
          {path: os.stat(os.path.join(folder, path)).st_ino for path in scenes.tx_files(folder)} == small, small)
    check("pictures of whole and of limited files differ", differing(ours, whole)[0] > PIXELS)
    for path in images:
        tx, = [os.path.join(folder, name) for name in small if os.path.basename(name).startswith(os.path.basename(path) + ".")]
        before = os.stat(path)
        extracted = os.path.join(folder, "level0" + os.path.splitext(path)[1])
        txmill.run("extract", "--overwrite", "--level", "0", "-o", extracted, tx)
        os.replace(extracted, path)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns - 10 ** 10))
    remove_tx(folder)
    bpy.ops.wm.open_mainfile(filepath=scene)
    txmill("make", scene)
    theirs = render(os.path.join(folder, "smaller.exr"))
    pixels, worst = differing(ours, theirs)
    check("picture of limited files", pixels <= PIXELS and worst <= WORST, "%d pixels, at most %g" % (pixels, worst))
    print("note render, limited: %d pixels differ by more than 1e-4, at most %.2g" % (pixels, worst))


def main():
    args = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    folder = os.path.abspath(args[1])
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    txmill = Txmill(args[0], folder)
    only = [word for word in args[2:] if word != "quick"]
    for test in (names, spaces, corners, percent, renders, limits):
        if only and test.__name__ not in only:
            continue
        own = os.path.join(folder, test.__name__)
        os.makedirs(own)
        test(txmill, own, "quick" in args[2:])
    print("loop.py: %d failed" % len(failed))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
