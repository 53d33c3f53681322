#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Scenes that Blender 5.2.3 and 5.3.0 saved, opened in either: each image's tx file has the name that the official build of the
# release gave it (testdata/blend/names.tsv), in every command that reads scenes.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
unset TXMILL_BLENDER
cp "$TXM_TESTDATA"/blend/names-5.*.blend .
newest=$("$TXMILL" --generate releases | sed "s/.* //")
mkdir t
printf 'P5 2 2 255 abcd' >t/i000.png
for ((i = 1; i < 328; i++)); do ln -s i000.png "t/i$(printf %03d $i).png"; done

# Some of the spaces come from the config of the Blender in PATH.
mkdir -p blender/5.3/datafiles/colormanagement
{
    cat "$golden/config.ocio"
    for name in 'ACES 2.0 sRGB' 'AgX Base sRGB' 'Filmic sRGB' 'Khronos PBR Neutral sRGB' 'Luminance Compensation Rec.2020'; do
        printf '  - !<ColorSpace>\n    name: %s\n    to_scene_reference: !<CDLTransform> {slope: [2, 3, 4]}\n' "$name"
    done
} >blender/5.3/datafiles/colormanagement/config.ocio
printf '#!/bin/sh\n' >blender/blender && chmod +x blender/blender
PATH=$work/blender:$PATH

# The digests in the JSON lines `out` for the images of scene $1, compared with those of release $2.
fits() {
    python3 - "$TXM_TESTDATA/blend/names.tsv" "$1" "$2" <<'END'
import re, sys
table, scene, release = sys.argv[1:]
rows = [line.rstrip("\n").split("\t") for line in open(table, encoding="utf-8") if not line.startswith("#")]
wanted = {(r[1], r[4 if release == "5.2" else 5]) for r in rows if r[0] == scene}
found = set(re.findall(r"(i\d{3}\.png)\.0-([0-9A-F]{32})\.tx", open("out", encoding="utf-8").read()))
for image, digest in sorted(wanted - found):
    print(image, digest, sorted(d for i, d in found if i == image))
sys.exit(not wanted or bool(wanted - found))
END
}
for scene in 5.2 5.3; do
    for release in 5.2 5.3; do
        txm list --json --blender $release names-$scene.blend
        check "list-$scene-in-$release" fits $scene $release
    done
done
txm make -n --json names-5.2.blend
check make-by-default fits 5.2 5.3

# What is made for one release is ready there; where names differ, it is not in the other one.
scene=names-5.3.blend
gives made 0 -- make -q --blender 5.3 $scene
gives ready 0 -- check -q $scene
gives not-ready-in-older 5 -- check -q --blender 5.2 $scene
txm make -q --blender 5.2 $scene
gives ready-in-older 0 -- check -q --blender 5.2 $scene
gives plan 0 -- plan --json --shards 1 --blender 5.3 $scene
gives resolve 0 reports 'o[0]["state"] == "fresh"' -- resolve --json -c 'Linear Rec.709' t/i018.png
names() { find t -name '*.tx' | sort; }
names >both
txm gc --delete --keep-for $scene t
names >newer
check gc-keeps-names-of-any-release cmp -s both newer
check gc-says-what-it-keeps says "kept that only a Blender older than $newest looks for; if $newest renders these scenes, --blender $newest removes such files"
txm gc --delete -q --keep-for $scene --blender 5.3 t
names >newer
check gc-removes-the-older-names test "$(wc -l <newer)" -lt "$(wc -l <both)"
gives gc-keeps-what-is-used 0 -- check -q $scene
txm make -q --blender 5.2 $scene
txm gc -q --delete --keep-for $scene --blender 5.2 t
gives gc-keeps-what-the-older-uses 0 -- check -q --blender 5.2 $scene
finish
