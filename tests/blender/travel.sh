#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# travel.sh WAY TXMILL PACKAGES SCENE THERE: sends the project of a scene into the folder THERE, makes its tx files fresh as docs/travel.md
# says, and prints the scene's path there. PACKAGES: see packages.sh. Times are those of the arrival, two hours later.
set -euo pipefail
way=$1 txmill=$2 packages=$3 scene=$4 there=$5
home=$(dirname "$scene") name=$(basename "$scene") farm=$(cd "$(dirname "$0")/../../farm" && pwd)
mkdir "$there"
later() { find "$there" -type f -exec touch -d '+2 hours' {} +; }
case $way in
    git)
        git -C "$home" init -q
        git -C "$home" add -A
        git -C "$home" -c user.name=a -c user.email=a@b commit -q -m textures
        git clone -q "$home" "$there/clone"
        scene=$there/clone/$name
        "$txmill" refresh --quiet -- "$scene"
        ;;
    zip)
        (cd "$home" && zip -q -r "$there/project.zip" .)
        unzip -q "$there/project.zip" -d "$there"
        later
        scene=$there/$name
        "$txmill" refresh --quiet -- "$scene"
        ;;
    files-zip)
        "$txmill" files --quiet --zip "$there.zip" --root "$home" -- "$scene"
        unzip -q "$there.zip" -d "$there"
        later
        scene=$there/$name
        "$txmill" restore "$there/txmill.manifest"
        ;;
    tar)
        "$txmill" files --quiet --manifest "$there.manifest" --root "$home" -- "$scene"
        "$txmill" files --null --root "$home" -- "$scene" | tar -c -C "$home" --null -T - | tar -x -m -C "$there"
        scene=$there/$name
        "$txmill" restore --root "$there" "$there.manifest"
        ;;
    bat)
        TXMILL=$txmill PYTHONPATH=$packages python3 "$farm/bat/pack.py" -p "$home" "$scene" "$there/pack"
        scene=$there/pack/$name
        ;;
    bat-zip)
        TXMILL=$txmill PYTHONPATH=$packages python3 "$farm/bat/pack.py" -p "$home" "$scene" "$there/pack.zip"
        unzip -q -o "$there/pack.zip" -d "$there"
        later
        scene=$there/$name
        "$txmill" refresh --quiet -- "$scene"
        ;;
    openjd)
        # As job attachments: the files arrive in folders of the worker, one for each root, and paths in the job are mapped.
        python3 "$farm/openjd/bundle.py" --txmill "$txmill" --worker-txmill "$txmill" --blender true --shards 2 --frames 1-3 \
            --logs "$home/runs" --output "$home/out" --root "$home" -o "$there/bundle" "$scene"
        mkdir "$there/assets" "$there/job"
        python3 - "$there/bundle" "$home" "$there/assets" <<'PYTHON'
import json, os, shutil, sys
bundle, home, assets = sys.argv[1:]
for path in json.load(open(bundle + "/asset_references.json"))["assetReferences"]["inputs"]["filenames"]:
    place = os.path.join(assets, os.path.relpath(path, home))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    shutil.copyfile(path, place)
def rule(a, b):
    return {"source_path_format": "POSIX", "source_path": a, "destination_path": b}
with open(bundle + "/rules.json", "w") as out:
    json.dump({"version": "pathmapping-1.0", "path_mapping_rules": [rule(home, assets), rule(bundle, os.path.dirname(assets) + "/job")]}, out)
PYTHON
        cp "$there/bundle/manifest.json" "$there/job/"
        later
        PYTHONPATH=$packages python3 -m openjd run "$there/bundle/template.yaml" -p "file://$there/bundle/parameters.json" \
            --path-mapping-rules "file://$there/bundle/rules.json" --step Render --run-dependencies
        scene=$there/assets/$name
        ;;
esac
echo "$scene"
