#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill stream play: frames that do not wait, their figures, how a run ends, and errors.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

cp "$golden"/{rgb8.png,rgba8.png} . && "$TXMILL" make -q -c sRGB -a straight rgb8.png rgba8.png

# Frames have the same bits and the same figures for any number of threads that load and trace.
frames=(--size 64x36 --frames 12 --frame-ms 10 --tile-ms 0.3)
"$TXMILL" stream play fly rgb8.png rgba8.png "${frames[@]}" --json --keys 4 -o play.exr > play.json
for way in "--loaders 1 -j 1" "--loaders 64 -j 3"; do
    # shellcheck disable=SC2086
    gives "play runs $way" 0 -- stream play fly rgb8.png rgba8.png "${frames[@]}" --json --keys 4 -o play2.exr $way
    check "play figures $way" cmp -s out play.json
    gives "play bits $way" 0 -- diff play.exr play2.exr
done
cp play.json out
check play-json json out 'o[0]["action"] == "play" and len(o[0]["frames"]) == 12 and o[0]["path"] == "keyframes" and not o[0]["stopped"]'
check play-asks json out 'o[0]["frames"][0]["sharp"] == 0 and o[0]["frames"][0]["stand_ins"] == o[0]["frames"][0]["texels"] > 0 and o[0]["totals"]["loaded"] > 0'
check play-keys json out 'len(o[0]["frames"][0]["keys"]) == 4 and all(int(k, 16) >> 23 & 1 for f in o[0]["frames"] for k in f["keys"])'
check play-sums json out 'all(sum(f[n] for f in o[0]["frames"]) == o[0]["totals"][n] for n in ("rays", "texels", "sharp", "missed", "requested", "accepted", "unique", "cut", "shown"))'
check play-adds-up json out 'all(f["accepted"] + f["rejected"] + f["full"] == f["requested"] <= f["missed"] and f["unique"] <= f["accepted"] for f in o[0]["frames"])'
if has_jsonschema; then check play-schema valid_json stream out; else skip play-schema "python3-jsonschema is missing"; fi
# With lookups on devices, frames, figures and bits are the same, for every filter, policy and budget. A plug-in for
# tests makes two devices from the processor.
on_devices() { # NAME "OPTIONS" DEVICES ENVIRONMENT...
    # shellcheck disable=SC2086
    "$TXMILL" stream play ${scene:-room} rgb8.png rgba8.png "${frames[@]}" $2 --json --keys 4 --overwrite -o here.exr >here.json
    # shellcheck disable=SC2086
    run env TXM_FAKE_DEVICES=2 TXMILL_PLUGINS="${TXM_BUILD:-$repo/build}/tests/gpu" "${@:4}" "$TXMILL" stream play ${scene:-room} rgb8.png \
        rgba8.png "${frames[@]}" $2 --json --keys 4 --overwrite -o there.exr --device $3
    cp out there.json
    check "device-figures $1" json there.json 'dict(o[0], devices=0) == dict(json.load(open(sys.argv[3])), devices=0)' here.json
    gives "device-bits $1" 0 -- diff here.exr there.exr
}
devices_are() { json there.json "all($1 for d in o[0]['devices'])"; }
on_devices plain "" cuda
check device-copies devices_are 'not d["lost"] and d["tile_copies"] <= d["launches"] >= d["table_copies"] and d["launches"] == d["syncs"] and d["tiles_copied"] and not d["lookups_by_processor"]'
on_devices two "--cache 300K --policy render-tiles --bounces 2 --marks 0" cuda:0,cuda:1
check device-two devices_are 'not d["lost"] and d["lookups"]'
on_devices scene "--sampling scene --mode stochastic --cache 400K --marks 0" cuda:0,cuda:1
scene=sphere on_devices sky "--cache 300K --marks 0 --wave 0" cuda:1
scene=udim on_devices udim "--bounces 1 --requests 8" cuda
on_devices lost "--bounces 1" cuda TXM_FAKE_LOSE=40
check device-lost devices_are 'd["lost"] and d["lookups_by_processor"]'
on_devices one-lost "--bounces 1 --cache 300K" cuda:0,cuda:1 TXM_FAKE_LOSE=60
on_devices small "--bounces 1 --sampling scene" "cuda --device-memory 64K"
check device-small devices_are 'not d["lost"] and d["tiles_in_host_memory"]'
on_devices untextured "--texturing untextured" cuda
check device-idle devices_are 'd["launches"] == 0'
gives device-none 4 -- stream play room rgb8.png rgba8.png "${frames[@]}" --device cuda:9
# Processor time, with and without textures, is in real time only, and what is measured changes no picture.
txm stream play room rgb8.png rgba8.png --size 64x36 --frames 4 --path rest --compare --json
check play-compares json out 'all(f["trace_cpu_ms"] > 0 and f["untextured_cpu_ms"] > 0 and f["load_cpu_ms"] >= 0 for f in o[0]["frames"])'
check play-compares-sums json out 'all(abs(sum(f[n] for f in o[0]["frames"]) - o[0]["totals"][n]) < 1e-3 for n in ("trace_cpu_ms", "load_cpu_ms", "untextured_cpu_ms"))'
check play-within json out 'o[0]["totals"]["median_ms"] <= o[0]["totals"]["within_ms"] == o[0]["totals"]["longest_ms"]'
txm stream play fly rgb8.png rgba8.png "${frames[@]}" --json --keys 4 --compare --overwrite -o play2.exr
check play-compare-figures cmp -s out play.json
gives play-compare-bits 0 -- diff play.exr play2.exr
# When the camera rests, the picture becomes that of a render: with a render's filter and levels, bit for bit.
txm stream play room rgb8.png rgba8.png --size 64x36 --virtual --path rest --warm-up 30 --frames 4 --sampling scene --mode stochastic -q -o rest.exr
check play-rests rc_is 0
"$TXMILL" stream render room rgb8.png rgba8.png --size 64x36 --samples 4 -q -o rendered.exr
gives play-equals-render 0 -- diff rest.exr rendered.exr
# With a list of one request, a cache of one batch, waves without lookups, or a path of one frame, frames go on.
txm stream play room rgb8.png rgba8.png "${frames[@]}" --requests 1 --json
check play-one-request json out 'o[0]["totals"]["accepted"] <= 12 and o[0]["totals"]["loaded"] >= 1 and o[0]["totals"]["rejected"] + o[0]["totals"]["full"] > 0'
txm stream play room rgb8.png rgba8.png "${frames[@]}" --cache 300K --json
check play-small-cache json out 'len(o[0]["frames"]) == 12 and o[0]["totals"]["cut"] > 0 and o[0]["totals"]["evicted"] > 0'
# At rest, where every frame needs the same tiles: batch after batch, the budget is kept.
txm stream play room rgb8.png rgba8.png --size 80x45 --frames 60 --path rest --virtual --cache 300K --json
check play-small-cache-rests json out 'max(f["allocated_bytes"] for f in o[0]["frames"]) < 300 << 10'
# Figures in virtual time do not depend on where the files are.
for folder in near "$(printf 'far%.0s' {1..60})"; do
    mkdir -p "$folder" && cp -rp rgb8.png rgba8.png blender_tx "$folder"
    for size in 180K 300K; do
        txm stream play room "$folder"/rgb8.png "$folder"/rgba8.png "${frames[@]}" --cache $size --json
        python3 -c 'import json, sys; o = json.load(sys.stdin); print(o["totals"], o["frames"])' <out
    done >"$folder.figures"
done
check play-anywhere cmp -s near.figures "$folder.figures"
check play-anywhere-evicts grep -q "'evicted': [1-9]" near.figures
gives play-no-frames 2 says "must be a whole number from 1" -- stream play room rgb8.png --frames 0
txm stream play room rgb8.png rgba8.png "${frames[@]}" --wave 0 --json
check play-no-wave json out 'o[0]["totals"]["requested"] == o[0]["totals"]["missed"] > 0'
gives play-one-frame 0 prints "50 %: never" \
    -- stream play room rgb8.png rgba8.png --size 64x36 --frames 1 --virtual --html one.html
# A cache of one tile, a batch of one, a list of one, no waves and a path of one frame, all at once.
txm stream play room rgb8.png rgba8.png --size 64x36 --frames 1 --rest 20 --cache 20K --batch 1 --requests 1 --wave 0 --json
check play-smallest json out 'len(o[0]["frames"]) == 21 and o[0]["totals"]["accepted"] <= 21 and max(f["resident_tiles"] for f in o[0]["frames"]) <= 1'
txm stream play room rgb8.png rgba8.png "${frames[@]}" --wave 5
check play-wave-divides says "the lanes of a wave must divide 32"
txm stream play room rgb8.png --path keyframes --frames 2
check play-no-keys says "the scene has no keyframes"
txm stream play room rgb8.png --trace t
check play-no-trace says "--trace: use 'txmill stream render'"
txm stream render room rgb8.png --strip t.png
check strip-is-of-play says "--strip: use 'txmill stream play'"
# The page shows the pictures side by side, and these figures.
txm stream play room rgb8.png rgba8.png --size 40x24 --frames 3 --virtual --html play.html --strip strip.png
run python3 "$repo/tests/util/page_data.py" play.html
check play-page json out 'len(o[0]["report"]["frames"]) == 3 and [p["place"] for p in o[0]["pictures"]] == ["picture"] * 2'
check play-strip test "$(python3 -c 'import struct; print(struct.unpack(">II", open("strip.png", "rb").read()[16:24]))')" = "(216, 24)"
for way in "--show missing" "--show levels" "--texturing coarsest" "--untextured"; do
    # shellcheck disable=SC2086
    gives "play $way" 0 -- stream play room rgb8.png rgba8.png "${frames[@]}" -q $way -o shown.exr --overwrite
done
# The scene has keyframes of its own with a cut; they are played in order.
mkdir keyed && cp rgb8.png keyed/ && "$TXMILL" make -q -c sRGB -a straight keyed/rgb8.png
cat > keyed/scene.txt <<'END'
txmill-scene 1
size 64 36
camera perspective half 0.5 0.28 shift 0 0 clip 0.1 100 to-world 1 0 0 0 0 0 -1 -3 0 1 0 1
keyframe 0 to-world 1 0 0 0 0 0 -1 -3 0 1 0 1
keyframe 4 to-world 1 0 0 1 0 0 -1 -3 0 1 0 1
keyframe 6 to-world 1 0 0 0 0 0 -1 -1.2 0 1 0 1 cut
image i "rgb8.png" colorspace "sRGB" alpha straight extension repeat interpolation linear
material m diffuse 1 1 1
texture m i input "Base Color" uv "" transform 1 0 0 0 1 0
quad m -1 0 0 2 0 0 0 0 2
END
txm stream play keyed --virtual --json
check play-keyed json out 'len(o[0]["frames"]) == 7 and [f["accumulated"] for f in o[0]["frames"]] == [1, 1, 1, 1, 1, 2, 1]'
# A camera that looks nowhere, and one beyond all numbers, see nothing.
for matrix in "0 0 0 0 0 0 0 0 0 0 0 0" "1e38 0 0 0 0 1e38 0 0 0 0 1e38 1e38"; do
    mkdir -p nowhere && sed "s/keyframe 4.*/keyframe 4 to-world $matrix/; s/\"rgb8/\"..\/keyed\/rgb8/" keyed/scene.txt >nowhere/scene.txt
    gives "play-nowhere $matrix" 0 -- stream play nowhere --virtual
done
sed -i 's/keyframe 6/keyframe 3/' keyed/scene.txt
txm stream play keyed --virtual
check play-keys-in-order says "keyframes must come in the order of their frames"
# A scene does not decide on frames without end; --frames may ask for as many. The run that plays them ends at once, with all.
unit='1 0 0 0 0 1 0 0 0 0 1 0'
mkdir endless
cat >endless/scene.txt <<EOF
txmill-scene 1
size 8 8
camera perspective half 1 1 shift 0 0 clip 0.1 100 to-world $unit
material m diffuse 1 1 1
quad m -5 -5 -1 10 0 0 0 10 0
keyframe 0 to-world $unit
keyframe 65536 to-world $unit
EOF
gives play-endless 3 says "--frames" -- stream play endless --json
json_valid() { python3 -c 'import json, sys; json.loads(open(sys.argv[1]).read())' "$1"; }
check play-endless-json json_valid out
"$TXMILL" stream play endless --size 8x8 --frames 1000000 --json >out 2>err &
player=$!
sleep 2
from=$(date +%s%N)
kill -TERM $player
wait $player
rc=$?
check play-many-stopped rc_is 143
check play-many-at-once test $((($(date +%s%N) - from) / 1000000)) -lt 30000
check play-many-whole json out 'o[0]["stopped"] and [x["frame"] for x in o[0]["frames"]] == list(range(len(o[0]["frames"])))'
# The run is interrupted: frames that were complete are published.
# A slow machine gets more time for its first frame.
for seconds in 1 5 30; do
    "$TXMILL" stream play room rgb8.png rgba8.png --size 64x36 --frames 100000 --json --overwrite -o cut.exr > cut.json 2> cut.err &
    player=$!
    sleep $seconds
    kill -INT "$player"
    wait "$player"
    rc=$?
    ! json cut.json 'o[0]["frames"]' 2>/dev/null || break
done
check play-stopped rc_is 130
cp cut.json out
check play-stopped-figures json out 'o[0]["stopped"] and 0 < len(o[0]["frames"]) == o[0]["totals"]["frames"] < 100000'
check play-stopped-picture test -s cut.exr
# Textures disappear while frames run: they are magenta, counted and named, and nothing waits for them.
mkdir gone && cp rgb8.png gone/ && cp rgba8.png gone/
"$TXMILL" make -q -c sRGB -a straight gone/*.png
"$TXMILL" stream play room gone/rgb8.png gone/rgba8.png --size 64x36 --path rest --frames 150 --max-open 1 --cache 300K --json > gone.json 2> gone.err &
player=$!
sleep 1
rm gone/blender_tx/*
wait "$player"
rc=$?
check play-gone-ends test "$rc" -eq 0 -o "$rc" -eq 3 -o "$rc" -eq 4
cp gone.json out
check play-gone json out 'len(o[0]["frames"]) == 150 and (o[0]["totals"]["load_failures"] > 0 or o[0]["totals"]["loaded"] > 0)'
check play-no-temporaries no_temporaries
finish
