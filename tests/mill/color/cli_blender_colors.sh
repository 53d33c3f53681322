#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Colour spaces with the built-in config, compared with those of Blender 5.2 in testdata/color/blender.tsv.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
table=$TXM_TESTDATA/color/blender.tsv
cp "$TXM_TESTDATA"/color/files/* .

# One run resolves every row: image, space and alpha go in, name and SHA-1 come out. A row that needs Blender's tables
# fails if there is no Blender in PATH. ACES 2.0 is computed with functions of the C library, whose last bits changed with
# glibc 2.41: the row has those of a Blender with that one.
compare() {
    TXMILL=$TXMILL python3 - "$table" <<'EOF'
import json, os, re, subprocess, sys
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1], encoding="utf-8") if not line.startswith("#")]
with open("images", "w", encoding="utf-8") as out:
    for image, space, alpha, *_ in rows:
        out.write(json.dumps({"path": image, "colorspace": space, "alpha": alpha}) + "\n")
made = subprocess.run([os.environ["TXMILL"], "make", "--strict", "--json", "@images"], capture_output=True, text=True)
libc = tuple(map(int, os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")))
refused = {json.loads(line)["error"]["message"].split('"')[1] for line in made.stdout.splitlines()
           if '"state":"failed"' in line}
wrong = 0
for image, space, alpha, name, digest, who in rows:
    path = os.path.join("blender_tx", name)
    missing = who == "tables"
    if not os.path.exists(path):
        canonical = "Luminance Compensation Rec.2020" if space.startswith("Luminance") else space
        fault = "" if missing and canonical in refused else "no " + name
    else: # with the tables of a Blender in PATH, too
        data = open(path, "rb").read()
        found = re.search(rb"oiio:SHA-1(?:=|\0string\0....)([0-9A-F]{40})", data, re.S)
        same = (found.group(1).decode() if found else "-") == digest
        fault = "" if same or space == "ACES 2.0 sRGB" and libc < (2, 41) else "other pixels"
    if fault:
        wrong += 1
        print("%s, %s, %s: %s" % (image, space, alpha, fault))
print(len(rows), "rows,", wrong, "wrong")
sys.exit(wrong != 0 or len(rows) < 300)
EOF
}
run compare
check as-blender-makes-them rc_is 0

# An Exif directory without entries takes no memory. Pillow writes such files.
gives empty-exif 0 -- make --strict --force empty_exif_ifd.tif

# 4:2:2 has two samples for each pixel. A file that ends before the last one is truncated.
head -c -1 dpx422_10bit.dpx >cut.dpx
gives cut-film 3 says "the file is truncated: 3583 bytes, its pixels end at 3584" -- make --strict cut.dpx

# Blender treats a name that it does not know as unset, and so does txmill.
txm make --strict -c lin_displayp3 plain.png
check not-blenders says 'colour space "lin_displayp3" is not in the OCIO config built-in'

# In a scene whose working space is ACEScg, `auto` becomes the id that the file gives, and encoded pixels keep their
# own.
txm make --strict --working-space ACEScg -c auto -o working.tx plain.png
gives auto-by-its-word 0 prints '"detected":"srgb_rec709_scene"' -- info --json working.tx
txm make --strict --working-space ACEScg -c srgb_ap1_scene -o encoded.tx ap0.exr
check encoded-id grep -qa "colorInteropID.string.....srgb_ap1_scene" encoded.tx
finish
