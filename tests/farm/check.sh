#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-farm: farm/openjd with the real openjd-cli, and farm/bat with the real Blender Asset Tracer, which it takes from PyPI
# into its scratch folder. A worker has copies of the attachments in another folder and with other times, as job attachments
# give it, and the runner maps the paths; names are hostile. Then the hostile names of farm_names.py.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
if ! "$repo/tests/blender/packages.sh" "$work/packages" 2>"$work/why"; then
    skip farm "$(tail -n 1 "$work/why")"
    finish
fi
export PYTHONPATH=$work/packages OPENJD=$work/packages/bin/openjd
here="$work/here -{{Param.Shards}} \"it's\""
there="$work/-there; \$(touch RAN) \`touch RAN\`"
mkdir "$here" "$there"
cp "$TXM_TESTDATA/blend/small/lint.blend" "$here/a b.blend"
cp -r "$TXM_TESTDATA/blend/textures" "$here"
find "$here" -type f -exec touch -d '2020-02-02 02:02:02' {} +

# Blender renders a frame if every tx file is ready by then.
cat >blender <<'EOF2'
#!/bin/bash
"$TXMILL" check --quiet -- "$2" && printf '%s\n' "$@" >"${4%####}$8.exr"
EOF2
chmod +x blender
export TXMILL

bundle() { # NAME
    run "$repo/farm/openjd/bundle.py" --txmill "$TXMILL" --worker-txmill "$TXMILL" --blender "$work/blender" --frames 2-4:2 --shards 2 \
        --output "$here/out" --logs "$here/out" --root "$here" -o "$here/$1" "$here/a b.blend"
}
# The files of a bundle arrive on a worker; its folder becomes another for each name.
arrives() { # BUNDLE FOLDER
    mkdir -p "$2/$1" && cp "$here/$1/manifest.json" "$2/$1" && mv "$here/$1" "$work"
    python3 - "$1" "$here" "$2" <<'EOF2'
import json, os, shutil, sys
bundle, home, place = sys.argv[1:]
for path in json.load(open(bundle + "/asset_references.json"))["assetReferences"]["inputs"]["filenames"]:
    copy = os.path.join(place, os.path.relpath(path, home))
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    shutil.copyfile(path, copy)
    os.utime(copy, (2000000000 + len(copy), 2000000000 + len(copy)))
json.dump({"version": "pathmapping-1.0", "path_mapping_rules": [
    {"source_path_format": "POSIX", "source_path": home, "destination_path": place}]}, open(bundle + "/rules.json", "w"))
EOF2
}
job() { run "$OPENJD" run "$1/template.yaml" -p "file://$1/parameters.json" --path-mapping-rules "file://$1/rules.json"; }

run "$OPENJD" check "$repo/farm/openjd/template.yaml"
check openjd-template rc_is 0

# The tx files are made on the worker, then they travel.
for way in made travel; do
    bundle "$way"
    check "openjd-$way-bundle" rc_is 0
    arrives "$way" "$there/$way"
    job "$way"
    check "openjd-$way-runs" rc_is 0
    check "openjd-$way-progress" prints "openjd_progress: 100"
    check "openjd-$way-frames" test "$(cd "$there/$way/out" && echo *.exr)" = "2.exr 4.exr"
    check "openjd-$way-images-have-their-times" test "$(stat -c %y "$there/$way/textures/gobo.png" | cut -c1-19)" = "2020-02-02 02:02:02"
    cat "$there/$way"/out/convert-*.jsonl >converted
    check "openjd-$way-shards" json converted '{x["shard"]["index"] for x in o if x.get("shard")} == {1, 2}'
    "$TXMILL" make -q -- "$here/a b.blend"
done
check openjd-nothing-is-made-again json converted 'sum(x.get("created", 0) for x in o if x.get("shard")) == 0 and sum(x.get("up_to_date", 0) for x in o if x.get("shard")) > 0'

# Another image arrived than the one of the manifest.
bundle other
arrives other "$there/other"
printf x | dd of="$there/other/textures/gobo.png" conv=notrunc status=none
job other
check openjd-other-content test "$rc" -ne 0
check openjd-other-content-named prints "has other content"
check openjd-does-not-render test ! -e "$there/other/out"

# Somebody stops the job: the program on the worker ends as well.
cat >blender <<'EOF2'
#!/bin/bash
echo $$ >"$PIDS"
exec sleep 300
EOF2
bundle stopped
arrives stopped "$there/stopped"
PIDS=$work/pid "$OPENJD" run stopped/template.yaml -p file://stopped/parameters.json --path-mapping-rules file://stopped/rules.json >stopped.log 2>&1 &
runner=$!
for _ in $(seq 300); do [ ! -s pid ] || break; sleep 0.1; done
kill -TERM $runner
wait $runner
rc=$?
check openjd-stopped test "$rc" -ne 0 -a -s pid
check openjd-stops-the-program test ! -e "/proc/$(cat pid)"
check openjd-nothing-ran test -z "$(find "$work" -name 'RAN*')"

# ---- Blender Asset Tracer ------------------------------------------------------------------------------------------------
pack() { run python3 "$repo/farm/bat/pack.py" -p "$here" "$here/a b.blend" "$1"; }
fresh() { [ "$("$TXMILL" files --role tx -q -- "$1" | wc -l)" -eq 1 ]; }
tx() { find "$1" -name '*.tx'; }
pack "$there/pack"
check bat-folder rc_is 0
check bat-fresh fresh "$there/pack/a b.blend"
# Copying takes longer than a second.
touch -d '2021-01-01' "$(tx "$there/pack")"
pack "$there/pack"
check bat-again rc_is 0
check bat-fresh-again fresh "$there/pack/a b.blend"
# An earlier pack has newer files of the same size, and other content.
for file in textures/gobo.png "$(cd "$there/pack" && tx textures)"; do
    printf x | dd of="$there/pack/$file" conv=notrunc status=none
    touch "$there/pack/$file"
    pack "$there/pack"
    check "bat-${file##*.}-is-replaced" cmp "$there/pack/$file" "$here/$file"
done
check bat-fresh-then fresh "$there/pack/a b.blend"
pack "$there/pack.zip"
check bat-zip rc_is 0
mkdir "$there/zip" && python3 -m zipfile -e "$there/pack.zip" "$there/zip"
find "$there/zip" -name '*.png' -exec touch {} +
run "$TXMILL" refresh -- "$there/zip/a b.blend"
check bat-zip-fresh fresh "$there/zip/a b.blend"
run python3 "$repo/farm/bat/pack.py" --noop -p "$here" "$here/a b.blend" "$there/none"
check bat-noop test "$rc" -eq 0 -a ! -e "$there/none"
mv "$(tx "$here")" "$work/kept.tx"
pack "$there/without"
check bat-without-tx rc_is 5
check bat-says-so says "not every image has a fresh tx file"
printf '#!/bin/sh\n[ "$1" != refresh ] || { kill -TERM $PPID; sleep 1; }\nexec "%s" "$@"\n' "$TXMILL" >stopping && chmod +x stopping
mkdir tmp
TXMILL=$work/stopping TMPDIR=$work/tmp pack "$there/stopped-pack"
check bat-stopped rc_is 143
check bat-nothing-left test -z "$(ls tmp)"

mkdir names
(cd names && python3 "$repo/tests/mill/farm/farm_names.py" "$repo" openjd) || not_ok hostile-names "see above"
finish
