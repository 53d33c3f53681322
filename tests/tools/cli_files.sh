#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill files: what scenes need, in all forms of the list.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
scenes=$work/scenes
cp -r "$TXM_TESTDATA/blend" "$scenes"
find "$scenes" -type f -exec touch -d '2020-02-02 02:02:02' {} +
"$TXMILL" make -q "$scenes/materials.blend" "$scenes/linked.blend" "$scenes/frames.blend" 2>/dev/null

# ---- what is in the list -----------------------------------------------------------------------------------------------
gives exit 5 -- files --json "$scenes/materials.blend" "$scenes/linked.blend"
if has_jsonschema; then check schema valid_json files out; fi
check counts json out 'o[0]["type"] == "files" and o[0]["files"] == sum(x.get("state") in ("ready", "fresh") for x in o) and o[0]["missing"] > 0 and o[0]["outside"] == 0'
check scenes json out '[x["path"].split("/")[-1] for x in o if x.get("role") == "scene"] == ["materials.blend", "linked.blend"]'
check libraries json out '{x["path"].split("/")[-1] for x in o if x.get("role") == "library"} == {"library.blend", "far.blend"}'
check tiles-missing json out '[x["number"] for x in o if x.get("role") == "image" and "brick." in x["path"] and x["state"] == "missing"] == [1013]'
check tiles json out '[x["number"] for x in o if x.get("role") == "image" and "brick." in x["path"]] == [1001, 1002, 1012, 1013]'
check once json out 'len({x["path"] for x in o[1:]}) == len(o) - 1'
check tx-of json out 'all(x["of"] in {y["path"] for y in o[1:]} for x in o if x.get("role") == "tx") and any(x.get("role") == "tx" for x in o)'
check key json out '[x["key"] for x in o[1:] if x["path"].endswith("/materials.blend")] == ["88231:5d8618d3b80d9b4e9a76fd9201e455e5"]'
check time json out '{x["time"] for x in o[1:] if "time" in x} == {int(sys.argv[3])}' "$(stat -c %Y "$scenes/materials.blend")"
check missing-named says "no such file.png: this image is missing"
gives role 0 -- files --json --sha256 --role scene "$scenes/materials.blend"
check sha256 json out 'len(o) == 2 and o[1]["sha256"] == sys.argv[3]' "$(sha256sum <"$scenes/materials.blend" | cut -d' ' -f1)"

# Of a sequence what the render shows. frames.tsv has what Blender shows in each node and frame.
shown() { # FRAME...: the files of these frames
    python3 -SEc 'import sys
rows = [line.split() for line in open(sys.argv[1]) if line[0] != "#"]
print(sorted({r[2] for r in rows if r[1] in sys.argv[2:]}))' "$scenes/frames.tsv" "$@"
}
frames() { # NAME EXPECTED OPTION...: existing and missing files
    local name=$1 expected=$2
    shift 2
    txm files --json --role image "$@"
    check "frames-$name" json out 'sorted(x["path"].split("/")[-1] for x in o[1:]) == eval(sys.argv[3]) and all(__import__("os").path.exists(x["path"]) == (x["state"] == "ready") for x in o[1:])' "$expected"
}
frames range "$(shown 0 1 2 3 4 5 6 7 8 9 10 11 12)" "$scenes/frames.blend"
check frames-of json out '[x["frames"] for x in o[1:] if x.get("number") == 11] == ["1-11:5"]'
check frames-exit rc_is 5
check frames-named says "frame_0003.png: this image is missing, and 6 other frames are, up to frame_0009.png"
frames one "$(shown 6)" --frames 6 "$scenes/frames.blend"
frames step "$(shown 1 4 7 10)" --frames 1-10:3 "$scenes/frames.blend"
frames before "$(shown -2 1 2)" --frames=-2,1..2 "$scenes/frames.blend"
whole="['frame_0001.png', 'frame_0002.png', 'frame_0010.png']"
frames driven "$whole" --frames 1 "$scenes/frames-driven.blend"
frames keyed "$whole" --frames 1 "$scenes/frames-keyed.blend"
check frames-silent rc_is 0
# A number that needs more digits is a frame of the sequence too.
cp -p "$scenes/textures/seq/frame_0001.png" "$scenes/textures/seq/frame_10000.png"
frames wider "$(shown 2)" --frames 2 "$scenes/frames.blend"
check frames-wider-there json out '[x["state"] for x in o[1:] if x.get("number") == 10000] == ["ready"]'
for wrong in "" x 1- 5-1 1,,2 1-5:0 1-5:x 9999999 1.5 "1 2"; do
    gives "frames-wrong-'$wrong'" 2 -- files --frames "$wrong" "$scenes/frames.blend"
done

# ---- forms -------------------------------------------------------------------------------------------------------------
gives relative 0 prints "lib/library.blend" -- files --root "$scenes" "$scenes/linked.blend"
check relative-tx test "$(grep -c '^textures/lib/blender_tx/.*\.tx$' out)" -ge 1
cp out list && mkdir copy && tar -C "$scenes" -chf copy.tar -T list && tar -C copy -xf copy.tar
check tar test "$(cd copy && find . -type f | wc -l)" -eq "$(wc -l <list)"
if command -v zip >/dev/null; then
    (cd "$scenes" && zip -q -@ "$work/copy.zip" <"$work/list")
    check zip test "$(python3 -c 'import zipfile; print(len(zipfile.ZipFile("copy.zip").namelist()))')" -eq "$(wc -l <list)"
else skip zip "zip is missing"; fi
if command -v rsync >/dev/null; then
    rsync -a --files-from=list "$scenes/" synced/
    check rsync test "$(find synced -type f | wc -l)" -eq "$(wc -l <list)"
else skip rsync "rsync is missing"; fi
gives outside 5 says "$scenes/linked.blend: outside of $scenes/lib, so it is not in the list" \
    -- files --root "$scenes/lib" "$scenes/linked.blend"
ln -s scenes byname
gives linked-root 0 prints "lib/far.blend" -- files --root byname "$scenes/lib/far.blend"
txm files --role scene --root byname "$scenes/lib/far.blend" byname/lib/far.blend
check linked-once test "$(cat out)" = lib/far.blend
# Anything may be called an image in a scene, but only images are listed.
mkdir private && echo secret >private/key && cp "$golden/rgb8.png" private/wood && mkdir private/folder.png && mkfifo private/pipe.png && echo no >private/film
cat >private/s.xml <<'END'
<cycles><shader name="m"><image_texture name="a" filename="key"/><image_texture name="b" filename="wood"/><image_texture
  name="c" filename="folder.png"/><image_texture name="d" filename="pipe.png"/></shader></cycles>
END
txm files --root private private/s.xml
check private eval 'rc_is 5 && [ "$(cat out)" = "$(printf "s.xml\nwood")" ]'
check private-named says "private/key: a scene uses it as an image, but it is not one, so it is not in the list"
txm files --zip private.zip private/s.xml
check private-zip eval 'rc_is 5 && ! grep -qa secret private.zip'
txm files --json private/s.xml
if has_jsonschema; then check private-schema valid_json files out; fi
check private-json json out '[x["state"] for x in o if x.get("role") == "image"].count("no-image") == 3'
# Names that programs would take for something else, and bytes that are not text.
odd=$work/odd
mkdir "$odd" && cp "$scenes/lint.blend" "$odd/#a.blend" && cp "$scenes/lint.blend" "$odd/-b.blend" &&
    cp "$scenes/lint.blend" "$odd"/$'c\nd.blend' && cp "$scenes/lint.blend" "$odd"/$'e\xe9.blend'
gives odd 5 prints "./#a.blend" prints "./-b.blend" -- files --root "$odd" --role scene "$odd"
check odd-bytes grep -qax $'e\xe9.blend' out
check odd-line says "c\nd.blend: its name has a line end, so lines cannot hold it; use --null"
gives null 0 -- files -0 --root "$odd" --role scene "$odd"
check null test "$(tr -cd '\0' <out | wc -c)" -eq 4
tar -C "$odd" -cf odd.tar --null -T out
check null-tar test "$(tar -tf odd.tar | wc -l)" -eq 4
txm files --json --root "$odd" --role scene "$odd"
if has_jsonschema; then check odd-schema valid_json files out; fi
check odd-encoded json out '"e%E9.blend" in [x.get("path_encoded") for x in o]'

# ---- manifests ---------------------------------------------------------------------------------------------------------
txm files --manifest m.jsonl "$scenes/linked.blend"
check manifest-quiet test ! -s out
if has_jsonschema; then check manifest-schema valid_json files m.jsonl; fi
check manifest json m.jsonl 'o[0]["type"] == "manifest" and o[0]["files"] == len(o) - 1 and not any(x["path"].startswith(("/", ".")) for x in o[1:]) and all("key" in x for x in o[1:])'
check manifest-root says "below $scenes; where they arrive, run: txmill restore --root FOLDER m.jsonl"
cp m.jsonl before.jsonl
txm files --manifest m.jsonl "$scenes/linked.blend"
check manifest-again cmp -s m.jsonl before.jsonl
# A project is a root of its own; without one, files that have only / in common are below the scene.
touch .txmill
txm files --manifest m.jsonl "$scenes/linked.blend"
check manifest-project json m.jsonl 'all(x["path"].startswith("scenes/") for x in o[1:])'
rm .txmill
gives manifest-guard 2 -- files --manifest "$scenes/materials.blend" "$scenes/linked.blend"
txm files --manifest no/such.jsonl "$scenes/linked.blend"
check manifest-folder test "$rc" -ne 0
head -c 5000 "$scenes/lint.blend" >cut.blend
gives manifest-incomplete 3 -- files --manifest cut.jsonl "$scenes/linked.blend" cut.blend
check manifest-incomplete test ! -e cut.jsonl
check no-temporaries no_temporaries

# ---- archives ----------------------------------------------------------------------------------------------------------
mkdir zip && cp -r "$scenes/"{linked.blend,lib,textures} zip && cp -p zip/textures/lib/lib.png $'zip/b\u00fccher.png'
find zip -type f -exec touch -d '2020-02-02 02:02:03' {} +
"$TXMILL" make -q zip/linked.blend 2>/dev/null
ln -sf ../lib.png zip/textures/lib/blender_tx/link
gives zip 0 -- files --zip shot.zip zip/linked.blend
check zip-quiet test ! -s out
unpack() { # FOLDER: as Python and, if it is there, unzip read it
    rm -rf "$1" && python3 -SEc 'import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None and all(i.compress_type == 0 and i.create_system == 3 for i in z.infolist())
print(len(z.namelist()))
z.extractall(sys.argv[2])' "$2" "$1"
}
check zip-python unpack unzipped shot.zip
find unzipped -name '*.tx' -exec touch -d '2024-01-02' {} +
gives zip-python-stale 5 -- check unzipped/linked.blend
gives zip-restore 0 -- restore unzipped/txmill.manifest
gives zip-restored 0 -- check unzipped/linked.blend
if command -v unzip >/dev/null; then
    rm -r unzipped && run unzip -q shot.zip -d unzipped
    check zip-unzip rc_is 0
    gives zip-unzip-fresh 0 -- check unzipped/linked.blend
    txm restore unzipped/txmill.manifest
    check zip-unzip-times prints ": $(($(unzip -Z1 shot.zip | wc -l) - 1)) unchanged"
else skip zip-unzip "unzip is missing"; fi
if command -v bsdtar >/dev/null; then
    rm -r unzipped && mkdir unzipped && run bsdtar -C unzipped -xf shot.zip
    check zip-bsdtar rc_is 0
    gives zip-bsdtar-fresh 0 -- check unzipped/linked.blend
else skip zip-bsdtar "bsdtar is missing"; fi
gives zip-again 0 -- files --zip shot.zip zip/linked.blend
printf x >>shot.zip
gives zip-changed 2 says "a zip archive, not an archive that txmill wrote; nothing was written" \
    -- files --zip shot.zip zip/linked.blend
gives zip-overwrite 0 -- files --overwrite --zip shot.zip zip/linked.blend
for name in "$scenes/lint.blend" "$golden/rgb8.png" -; do
    [ "$name" = - ] || cp "$name" .
    gives "zip-guard-${name##*/}" 2 -- files --overwrite --zip "${name##*/}" zip/linked.blend
done
# Names in UTF-8 say so, and bytes that are none do not; what a link leads to is stored.
mkdir names && cp "$scenes/lint.blend" names/$'b\u00fccher.blend' && cp "$scenes/lint.blend" names/$'e\xe9.blend' && ln -s $'b\u00fccher.blend' names/link.blend
gives zip-names 0 -- files --role scene --zip names.zip names
check zip-names python3 -SEc 'import sys, zipfile
z = {i.filename: i for i in zipfile.ZipFile("names.zip").infolist()}
assert z["b\u00fccher.blend"].flag_bits & 0x800 and not any(i.flag_bits & 0x800 for n, i in z.items() if n[0] == "e")
assert z["link.blend"].file_size == z["b\u00fccher.blend"].file_size and z["link.blend"].external_attr >> 16 == 0o100644' 
check zip-links-silent test "$(grep -c 'symbolic link' err)" -eq 0
txm files --role scene names
check links-named says "names/link.blend: a symbolic link; copy what it leads to, as rsync -L and tar -h do"
touch -d '1975-05-05' names/link.blend
gives zip-1975 0 says "zip has no times before 1980" -- files --role scene --zip names.zip names
txm restore --root names - < <(python3 -SEc 'import zipfile; print(zipfile.ZipFile("names.zip").read("txmill.manifest").decode(), end="")')
check zip-1975-manifest rc_is 0
touch names/txmill.manifest && cp "$scenes/lint.blend" manifest.blend && mv manifest.blend names/txmill.manifest
gives zip-manifest-name 2 -- files --role scene --zip names.zip names/txmill.manifest
if thorough; then # more than 4 GiB, and a file after it
    truncate -s 4300M "$scenes/textures/film.mp4"
    txm files -q --role movie --role scene --zip large.zip "$scenes/materials.blend" "$scenes/linked.blend"
    check zip-large python3 -SEc 'import zipfile
z = zipfile.ZipFile("large.zip")
assert [i.file_size for i in z.infolist()][1] == 4300 << 20 and z.read("linked.blend")[:4] and z.testzip() is None'
    rm large.zip "$scenes/textures/film.mp4"
fi
check zip-no-temporaries no_temporaries

gives two-forms 2 -- files --null --json "$scenes/linked.blend"
gives none 2 -- files
gives image 3 -- files "$golden/rgb8.png"

finish
