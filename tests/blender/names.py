# SPDX-License-Identifier: Apache-2.0
"""Names of tx files for colour spaces as scenes store them, by Blender. With a Python that has the package bpy:

    names.py rows CONFIG ROWS               writes rows for a config: [[stored name, stored interop id or null], ...]
    names.py scene ROWS FOLDER              saves FOLDER/scene.blend, in which each row has an image of its own
    names.py answers SCENE ANSWERS          opens a scene, and writes the names of the tx files that Blender makes:
                                            {name of the image: [names]}

ROWS and ANSWERS are JSON files. Interop ids are stored by releases that have them; others leave them out."""
import itertools
import json
import os
import random
import re
import shutil
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import scenes

WRONG = ["", "auto", "sRGB ", " sRGB", "__builtin_srgb", "__builtin_raw", "Gamma 2.2", "Nobody's", "x" * 63, "Größe", "Utility", "sRGB\\", "None"]
SEED = 5  # of the pairs of names and ids


def names_of(config):
    """Returns the names of a config's spaces, its aliases and its roles with their spaces, and the interop ids."""
    with open(config, encoding="utf-8") as f:
        text = f.read()
    spaces = [name.strip(' "') for name in re.findall(r"^ {4}name: (.*)$", text, re.M)]
    aliases = [alias.strip(' "') for line in re.findall(r"^ {4}aliases: \[(.*)\]$", text, re.M) for alias in line.split(",")]
    roles = re.findall(r"^  (\w+): (.*)$", text.split("\nroles:")[1].split("\n\ndisplays:")[0], re.M)
    ids = [name.strip(' "') for name in re.findall(r"^ {4}interop_id: (.*)$", text, re.M)]
    blocks = [(re.search(r"^ {4}name: (.*)$", block, re.M), re.search(r"^ {4}interop_id: (.*)$", block, re.M),
               re.search(r"^ {4}aliases: \[([^,\]]*)", block, re.M)) for block in text.split("- !<ColorSpace>")]
    meaning = {name[1].strip(' "'): [found[1].strip(' "') for found in (name, interop_id, alias) if found]
               for name, interop_id, alias in blocks if name}
    return spaces, [a for a in aliases if a], {role: meaning.get(space.strip(' "'), []) for role, space in roles}, ids


def rows(config, path):
    spaces, aliases, roles, ids = names_of(config)
    known, chance = [*spaces, *aliases, *roles, *ids], random.Random(SEED)
    # A role and what else its space is called.
    of_roles = [(role, word) for role, words in roles.items() for name in words for word in (name, name.upper())]
    cases = [name.upper() for name in known] + [name.lower() for name in known] + [name.swapcase() for name in roles]
    out = [(name, None) for name in [*known, *cases, *WRONG]]
    some = [*chance.sample(known, 12), *WRONG[:4], "Nobody's"]
    some_ids = [*chance.sample(ids or aliases, min(8, len(ids or aliases))), *chance.sample(aliases, 4), *chance.sample(spaces, 2),
                *chance.sample(list(roles), 4), "data", "unknown", "", "nobody_scene", "SRGB_REC709_SCENE"]
    out += [*of_roles, *itertools.product(some, some_ids)]
    fits = [row for row in dict.fromkeys(out) if all(len(word.encode()) < 64 for word in row if word)]
    with open(path, "w", encoding="utf-8") as f:
        json.dump(fits, f)


def scene(rows_path, folder):
    with open(rows_path, encoding="utf-8") as f:
        stored = json.load(f)
    scenes.empty()
    first = scenes.picture(os.path.join(folder, "first.png"), 8, 8)
    for at, (name, interop_id) in enumerate(stored):
        path = os.path.join(folder, "%04d.png" % at)
        shutil.copy(first, path)
        scenes.shown("%04d" % at, scenes.stored(scenes.load(path), name, interop_id or ""), at)
    scenes.save(os.path.join(folder, "scene.blend"))


def answers(scene_path, path):
    bpy.ops.wm.open_mainfile(filepath=scene_path)
    bpy.ops.render.generate_texture_cache()
    made = {}
    for folder, _, names in os.walk(os.path.dirname(scene_path)):
        if os.path.basename(folder) == "blender_tx":
            for name in names:
                made.setdefault(re.sub(r"\.\d+-[0-9A-F]{32}\.tx$", "", name), []).append(name)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(made, f)


if __name__ == "__main__":
    {"rows": rows, "scene": scene, "answers": answers}[sys.argv[1]](*sys.argv[2:])
