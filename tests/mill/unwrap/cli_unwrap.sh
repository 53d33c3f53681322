#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill make --mesh: files and messages, errors, dry runs, JSON, a second run, and runs that are stopped.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
asset() { python3 "$repo/tests/util/ptex_asset.py" "$@"; }
asset hero
asset wide --type half --seed 2
asset soft --channels 4 --alpha --seed 3

# ---- the files that are written --------------------------------------------------------------------------------------

gives dry 0 prints "would-create hero.uv.obj  (64 faces in 1 page, hero.<UDIM>.png, borders of at least 1 px," \
    -- make hero.ptx --mesh hero.obj --dry-run
check dry-writes-nothing test ! -e hero.uv.obj -a ! -e hero.1001.png -a ! -e blender_tx
txm make hero.ptx --mesh hero.obj --plan --json
check plan-json json out '[x["type"] for x in o] == ["mesh", "summary"] and o[0]["state"] == "would-create" and o[1]["would_create"] == o[0]["pages"] == 1'
gives exit 0 -- make hero.ptx --mesh hero.obj --json
cp out made
if has_jsonschema; then check schema valid_json make made; else skip schema "python3-jsonschema is missing"; fi
check json json made '[x["type"] for x in o] == ["mesh", "file", "summary"] and o[0]["faces"] == o[0]["polygons"] == 64 and o[0]["edges"] == 224 and o[0]["edges_apart"] == 0'
check json-file json made 'o[1]["input"] == "hero.1001.png" and o[1]["pattern"] == "hero.<UDIM>.png" and o[1]["state"] == "created" and o[1]["colorspace"]["requested"] == "sRGB"'
check json-waste json made '0 <= 1 - o[0]["block_pixels"] / o[0]["page_pixels"] <= 0.15'
gives tx-good 0 -- verify --deep blender_tx
check mesh-keeps-what-it-had test "$(grep -c -E '^(o|v) ' hero.uv.obj)" = "$(grep -c -E '^(o|v) ' hero.obj)"
check mesh-has-coordinates test "$(grep -c '^vt ' hero.uv.obj)" = 256
txm make soft.ptx --mesh soft.ply --json
check alpha json out 'o[1]["alpha"] == "straight" and o[1]["channels"] == 4'
txm make wide.ptx --mesh wide.ply --json
check half json out 'o[1]["input"] == "wide.1001.exr" and o[1]["data_type"] == "half" and o[1]["alpha"] == "premultiplied"'
check ply-head grep -aq '^property float s$' wide.uv.ply
txm make wide.ptx --mesh wide.ply -c Non-Color
check other-colour-space prints "wide.1001.exr: created"
check other-colour-space-keeps-pages test "$(find blender_tx -name 'wide.1001*' | wc -l)" = 2

# Every third quad is two triangles, which Ptex divides into three subfaces each.
asset parts --cut 3 --meta whole
txm make parts.ptx --mesh parts.ply --json
check parts json out 'o[0]["polygons"] == 85 and o[0]["faces"] == 169'
check parts-mesh grep -aq '^element face 169$' parts.uv.ply

# ---- the mesh in the file's own metadata ------------------------------------------------------------------------------

asset told --meta whole
gives given 0 -- make told.ptx --mesh told.obj --pages given
gives own-mesh 0 prints "told.ptx: created      own-mesh/told.uv.obj  (64 faces" -- make told.ptx --pages own-mesh
for word in f vt; do
    check "own-mesh-$word" test "$(grep "^$word " given/told.uv.obj)" = "$(grep "^$word " own-mesh/told.uv.obj)"
done
check own-mesh-points python3 - <<'PY'
def points(path):
    return [tuple(map(float, line.split()[1:])) for line in open(path) if line.startswith("v ")]
given, own = points("given/told.uv.obj"), points("own-mesh/told.uv.obj")
assert len(given) == len(own) == 81 and all(abs(a - b) < 1e-6 for p, q in zip(given, own) for a, b in zip(p, q))
PY
txm make told.ptx --pages own-mesh
check own-mesh-again says "1 up to date"
txm make hero.ptx --mesh told.ptx --pages lent -q
check own-mesh-of-another test -e lent/told.uv.obj
mkdir scene-told
for mesh in told.ply told.ptx; do
    printf '%s\n' 'txmill-scene 1' 'size 64 64' 'camera orthographic half 1 1 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 1 0 0 0 0 1 5' \
        'ptex p "../told.ptx" colorspace "sRGB"' 'material m emission 1 1 1' 'texture m p input "Base Color"' \
        "mesh s \"../$mesh\"" 'instance s m 1 0 0 0 0 1 0 0 0 0 1 0' >scene-told/scene.txt
    gives "scene-$mesh" 0 -- stream render scene-told --samples 2 --overwrite -o "$mesh.ppm"
done
check scene-same cmp told.ply.ppm told.ptx.ppm
# Nothing is written for a mesh that is damaged.
while read -r damage words; do
    asset "bad-$damage" --meta "$damage"
    txm make "bad-$damage.ptx" --pages no
    check "bad-$damage" eval 'rc_is 3 && says "$words" && test ! -e no'
done <<'END'
index a corner is at vertex 81 of 81
minus a corner is at vertex -1 of 81
corners polygon 3 has 2 corners
count 2147483899 corners, 256 indices and 243 coordinates
nan vertex 1 is nowhere
type PtexFaceVertIndices has the type float
lacks its metadata have no mesh: there is no PtexVertPositions; give its mesh with --mesh FILE
END

# ---- a second run ----------------------------------------------------------------------------------------------------

find . -newermt @0 -type f ! -name out ! -name err ! -name before ! -name after -printf '%p %i %T@\n' | sort >before
gives again 0 says "1 up to date" -- make hero.ptx --mesh hero.obj
txm make -v hero.ptx --mesh hero.obj
check again-verbose prints "hero.ptx: up-to-date"
find . -newermt @0 -type f ! -name out ! -name err ! -name before ! -name after -printf '%p %i %T@\n' | sort >after
check again-touches-nothing diff before after
# If there are fewer pages than before, the others are removed.
gives many 0 -- make hero.ptx --mesh hero.obj --page-size 64 --pages many -q
check many test "$(find many -name '*.png' | wc -l)" -gt 2
txm make hero.ptx --mesh hero.obj --pages many -q
check fewer test "$(find many -name '*.png' | wc -l)" = 1
txm verify --deep many
check fewer-good test "$(grep -c 'good' out)" -ge 1

# ---- files that were edited ------------------------------------------------------------------------------------------

# What somebody changed is kept: as long as nothing has to be written again it is used as it is, otherwise nothing is
# written, and a further page of an earlier run is not removed either.
edit() { python3 -c "import sys; d = bytearray(open(sys.argv[1], 'rb').read()); d[len(d) // 2] ^= 1; open(sys.argv[1], 'wb').write(d)" "$1"; }
for mesh in hero.obj wide.ply; do
    name=${mesh%.*} extension=${mesh#*.}
    for part in page mesh; do
        folder=edited-$name-$part
        txm make "$name.ptx" --mesh $mesh --pages "$folder" -q
        case $part in page) file=$(echo "$folder/$name".1001.*) ;; mesh) file=$folder/$name.uv.$extension ;; esac
        edit "$file"
        sums=$(find "$folder" -maxdepth 1 -type f -exec md5sum {} + | sort)
        [ $part = page ] || { txm make "$name.ptx" --mesh $mesh --pages "$folder" -q; check "$folder-is-used" rc_is 0; }
        for options in "-f" "--padding 2"; do
            # shellcheck disable=SC2086
            txm make "$name.ptx" --mesh $mesh --pages "$folder" $options
            check "$folder$options-refused" eval 'rc_is 2 && says "$file: the file was changed after txmill wrote it"'
        done
        check "$folder-kept" test "$(find "$folder" -maxdepth 1 -type f -exec md5sum {} + | sort)" = "$sums"
    done
done
txm make hero.ptx --mesh hero.obj --page-size 64 --pages surplus -q
edit surplus/hero.1003.png
kept=$(md5sum <surplus/hero.1003.png)
gives surplus 0 -- make hero.ptx --mesh hero.obj --pages surplus -q
check surplus-kept test "$(md5sum <surplus/hero.1003.png)" = "$kept"

# ---- several processes -----------------------------------------------------------------------------------------------

# They take turns: one writes, the others find everything up to date, and convert the pages one after the other.
for round in 1 2 3; do
    jobs='' bad=0
    for _ in 1 2 3; do
        "$TXMILL" make -q hero.ptx --mesh hero.obj --pages "together$round" 2>>together.err &
        jobs="$jobs $!"
    done
    for job in $jobs; do wait "$job" || bad=$((bad + 1)); done
    check "together-$round" test $bad -eq 0
    txm make hero.ptx --mesh hero.obj --pages "together$round" --json
    check "together-$round-whole" json out 'o[0]["state"] == "up-to-date" and o[1]["state"] == "up-to-date"'
    check "together-$round-clean" test -z "$(find "together$round" -name '.*.txm-*')"
done

# ---- errors ----------------------------------------------------------------------------------------------------------

refused() { # NAME WORDS ARGUMENT...
    txm make "${@:3}"
    check "$1-exit" test "$rc" -ne 0
    check "$1-says" says "$2"
    check "$1-nothing" test ! -e no -a ! -e no.uv.obj
}
refused no-mesh "give its mesh with --mesh FILE" hero.ptx
refused pages-alone "--pages needs a Ptex file" --pages no hero.1001.png
refused several "name it alone to unwrap its mesh" hero.ptx wide.ptx
refused no-mesh-output "hero.ptx cannot be combined with --output" hero.ptx -o no
refused two "name one Ptex file" --mesh hero.obj hero.ptx wide.ptx
refused image "name one Ptex file" --mesh hero.obj hero.1001.png
refused output "--mesh cannot be combined with --output" --mesh hero.obj -o no hero.ptx
refused shard "--mesh cannot be combined with --shard" --mesh hero.obj --shard 1/2 --pages no hero.ptx
refused gone "gone.obj: cannot be examined: No such file" --mesh gone.obj --pages no hero.ptx
refused not-a-mesh "OBJ or PLY files" --mesh hero.1001.png --pages no hero.ptx
sed '/^f/{x;s/^/x/;/^x\{3\}$/{x;d};x}' hero.obj >few.obj
refused few "few.obj has 63 polygons, which are 63 faces of Ptex, but hero.ptx has 64" --mesh few.obj --pages no hero.ptx
sed '0,/^f/s/^\(f [0-9]* [0-9]* [0-9]*\) .*/\1/' hero.obj >three.obj
refused three "not all of them quads, which are 66 faces of Ptex, but hero.ptx has 64" --mesh three.obj --pages no hero.ptx
refused triangles "polygon 0 has 4 corners, but the faces of $TXM_TESTDATA/ptex/triangles.ptx are triangles" --mesh hero.obj --pages no \
    "$TXM_TESTDATA/ptex/triangles.ptx"
head -c 900 hero.ptx >cut.ptx
refused damaged "cut.ptx: damaged Ptex file" --mesh hero.obj --pages no cut.ptx
printf 'a painting' >hero.1001.png.keep
mkdir own && cp hero.1001.png.keep own/hero.1001.png
gives own 2 says "own/hero.1001.png: the file already exists and txmill did not write it" \
    -- make hero.ptx --mesh hero.obj --pages own --force
check own-kept cmp own/hero.1001.png hero.1001.png.keep
check own-alone test ! -e own/hero.uv.obj
(grep -v '^f' hero.obj; grep '^f' hero.obj | sort -R --random-source=hero.ptx) >mixed.obj
txm make hero.ptx --mesh mixed.obj --pages mixed
check mixed-warns says "do not share vertices in the mesh"
check mixed-made test -e mixed/mixed.uv.obj
if [ "$(id -u)" -ne 0 ]; then
    mkdir -m 555 locked
    txm make hero.ptx --mesh hero.obj --pages locked
    check locked test "$rc" -ne 0 -a -z "$(ls locked)"
fi

# ---- runs that end early ---------------------------------------------------------------------------------------------

run sh -c 'trap "" XFSZ; ulimit -f 20; exec "$0" "$@"' "$TXMILL" make hero.ptx --mesh hero.obj --pages full
check full-exit test "$rc" -ne 0
check full-nothing test -z "$(find full -type f 2>/dev/null)"
# The run is stopped while it writes pages: files that were there stay, and the next run makes all.
asset large --columns 10 --rows 10 --sizes 8 --blocks 1 --type half
mkdir stopped
"$TXMILL" make -j 1 --progress large.ptx --mesh large.obj --pages stopped 2>err >out &
job=$!
for _ in $(seq 500); do
    grep -q pages err && break
    sleep 0.01
done
kill -INT $job
wait $job
rc=$?
check stopped-exit test "$rc" = 130
check stopped-nothing test -z "$(find stopped -name 'large.*' -type f)"
check no-temporaries no_temporaries
txm make -q large.ptx --mesh large.obj --pages stopped
check stopped-then-whole test "$rc" = 0 -a -e stopped/large.uv.obj
finish
