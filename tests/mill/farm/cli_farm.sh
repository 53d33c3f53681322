#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The scripts for schedulers, as far as they can be tested without one: the Flamenco job type with its compile function,
# and its tasks, which are run; the Slurm task script with Slurm's programs replaced; OpenCue, Deadline, OpenJD, GNU parallel,
# make, systemd; all of them with hostile names (farm_names.py). make check-slurm and check-farm run real schedulers.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_STEP
farm=$repo/farm
export TXMILL
cp -r "$TXM_TESTDATA/blend" scenes
python3 "$repo/tests/util/batch_images.py" tex 12 30

# ---- Flamenco ----------------------------------------------------------------------------------------------------------
job() { # NAME=JSON... : settings that differ from the usual ones
    python3 - "$work" "$@" <<'EOF2'
import json, sys
work = sys.argv[1]
settings = {"frames": "1-5, 9", "chunk_size": 2, "shards": 3, "render_output_root": work, "format": "OPEN_EXR",
            "render_output_path": work + "/frames/{timestamp}/######", "blendfile": work + "/scenes/lint.blend"}
for word in sys.argv[2:]:
    name, value = word.split("=", 1)
    settings[name] = json.loads(value)
print(json.dumps({"name": "shot <10>", "created": "2026-11-21T07:00:00Z", "settings": settings}))
EOF2
}
compile_job() { job "$@" >job.json && run node "$repo/tests/mill/farm/flamenco.js" "$farm/flamenco/render_with_tx.js" job.json; }
if command -v node >/dev/null; then
    compile_job
    check flamenco-compiles rc_is 0
    check flamenco-tasks json out '[t["name"] for t in o] == ["convert-1", "convert-2", "convert-3", "verify-1", "verify-2", "verify-3", "report", "render-1-2", "render-3-4", "render-5,9"]'
    check flamenco-types json out 'all(t["type"] == ("blender" if t["name"].startswith("render") else "misc") for t in o)'
    check flamenco-verify-waits json out 'all(t["dependencies"] == ["convert" + t["name"][6:]] for t in o if t["name"].startswith("verify"))'
    check flamenco-render-waits-for-all json out 'all(t["dependencies"] == ["verify-1", "verify-2", "verify-3"] for t in o if t["name"].startswith("render"))'
    check flamenco-ranges json out '[t["commands"][0]["parameters"]["args"][-1] for t in o if t["name"].startswith("render")] == ["1..2", "3..4", "5,9"]'
    check flamenco-time-is-filled-in json out 'all("{timestamp}" not in json.dumps(t) for t in o)'
    # Runs the commands of the tasks in order.
    python3 - "$TXMILL" out >flamenco.sh <<'EOF2'
import json, shlex, sys
for line in open(sys.argv[2]):
    for command in json.loads(line)["commands"]:
        if command["name"] == "exec":
            p = command["parameters"]
            print(shlex.join([p["exe"].replace("{txmill}", sys.argv[1])] + p["args"]) + " >/dev/null || exit")
EOF2
    run bash flamenco.sh
    check flamenco-tasks-run rc_is 0
    check flamenco-scene-is-ready test "$("$TXMILL" list --json scenes/lint.blend | grep -c '"state":"missing"')" -eq 0
    check flamenco-report test -n "$(find frames -name report.html)"
    compile_job verify=false shards=1 'cache_dir="/tx"' 'ocio="/c.ocio"' 'max_memory="4G"' 'scene="Main"'
    check flamenco-without-verify json out '[t["name"] for t in o][:3] == ["convert-1", "report", "render-1-2"] and o[-1]["dependencies"] == ["convert-1"]'
    check flamenco-settings-arrive json out '(lambda a: a[a.index("--cache-dir") + 1] == "/tx" and a[a.index("--ocio") + 1] == "/c.ocio" and a[a.index("--max-memory") + 1] == "4G" and a[-2] == "--")(o[0]["commands"][0]["parameters"]["args"])'
    check flamenco-scene-arrives json out 'o[-1]["commands"][0]["parameters"]["args"][:2] == ["--scene", "Main"]'
    compile_job 'format="FFMPEG"'
    check flamenco-refuses-video says "renders images, not FFMPEG"
    compile_job 'shards="many"'
    check flamenco-form-is-typed says "is no int32"
    compile_job 'blendfile=7'
    check flamenco-form-is-typed-text says "is no string"
else
    skip flamenco "node is not installed"
fi

# ---- the Slurm task script -------------------------------------------------------------------------------------------
# A fake squeue and scontrol: the job is running, and a request to requeue it is recorded and ends the wait, as Slurm would.
mkdir bin
cat >bin/scontrol <<'EOF2'
#!/bin/sh
echo "$@" >>"$NOTED"
EOF2
printf '#!/bin/sh\necho "${STATE:-RUNNING}"\n' >bin/squeue
printf '#!/bin/sh\n' >bin/sleep
chmod +x bin/*
task() { # RESTART COMMAND...
    local restart=$1
    shift
    : >noted
    NOTED=$work/noted PATH=$work/bin:$PATH TXMILL_RUNS=$work/runs SLURM_JOB_ID=8 SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=2 \
        SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_RESTART_COUNT=$restart run bash "$farm/slurm/task.sbatch" "$@"
}
requeued() { grep -qx "requeue 7_2" noted; }
task 0 convert tex
check slurm-convert rc_is 0
check slurm-convert-its-shard json runs/convert.7.2.000.jsonl 'o[-1]["shard"]["index"] == 2 and o[-1]["shard"]["count"] == 3 and o[-1]["created"] == 4'
task 0 verify 7
check slurm-verify rc_is 0
check slurm-verify-its-shard json runs/verify.7.2.jsonl 'len(o) == 4'
task 0 report 7
check slurm-report test -s runs/report.7.html
task 0 convert no-such-image.png
check slurm-permanent-is-not-requeued test "$rc" -ne 4 -a ! -s noted
task 0 convert --store /dev/null/x --log /dev/full tex
check slurm-retryable-is-requeued requeued
task 3 convert --log /dev/full tex
check slurm-retries-end rc_is 4
check slurm-retries-end-not-requeued test ! -s noted
STATE=COMPLETING task 0 convert --log /dev/full tex
check slurm-cancelled-is-not-requeued test "$(grep -c requeue noted)" -eq 0
task 0 nonsense
check slurm-usage rc_is 2
# The time limit is reached: the script alone gets SIGTERM.
# A sanitizer takes as long for a quarter of the pixels.
python3 "$repo/tests/util/batch_images.py" large 40 "$([ -z "${SANITIZED:-}" ] && echo 700 || echo 350)"
: >noted
NOTED=$work/noted PATH=$work/bin:$PATH TXMILL_RUNS=$work/runs SLURM_JOB_ID=8 SLURM_ARRAY_JOB_ID=9 SLURM_ARRAY_TASK_ID=1 \
    SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=1 bash "$farm/slurm/task.sbatch" convert -j 1 large >out 2>err &
pid=$!
until [ -n "$(find large -name '*.tx')" ]; do kill -0 $pid 2>/dev/null || break; done
kill -TERM $pid
wait $pid
rc=$?
check slurm-time-is-up rc_is 143
check slurm-time-is-up-requeued grep -qx "requeue 9_1" noted
check slurm-time-is-up-nothing-left test -z "$(find large -name '.*.txm-*')"
check slurm-time-is-up-some-left test "$(find large -name '*.tx' | wc -l)" -lt 40
# txmill itself gets SIGTERM and right after it SIGKILL. The next run sweeps what is left.
for wait in 0.00 0.01 0.03; do
    "$TXMILL" make -q -j 2 --force large 2>/dev/null &
    pid=$!
    sleep 0.15
    kill -TERM $pid && sleep $wait
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
done
gives killed-twice 0 -- make large
check killed-twice-all-there test "$(find large -name '*.tx' | wc -l)" -eq 40
check killed-twice-nothing-left test -z "$(find large -name '.*.txm-*')"
gives killed-twice-all-whole 0 -- verify -q large/blender_tx/*.tx
cat >bin/sbatch <<'EOF2'
#!/bin/sh
printf '%s\n' "$*" >>"$NOTED"
wc -l <"$NOTED"
EOF2
chmod +x bin/sbatch
: >noted
NOTED=$work/noted PATH=$work/bin:$PATH run "$farm/slurm/submit.sh" -n 4 -l runs2 -s --partition=cpu -r "$farm/slurm/render.sbatch" -- tex
check slurm-submit rc_is 0
check slurm-submit-jobs test "$(cut -d' ' -f1 out | xargs)" = "convert verify report render"
check slurm-submit-dependencies test "$(grep -oE 'dependency=[a-z]+:[0-9]+' noted | xargs)" = "dependency=aftercorr:1 dependency=afterany:1 dependency=afterok:2"
check slurm-submit-options test "$(grep -c -- '--partition=cpu' noted)" -eq 4
run "$farm/slurm/submit.sh" -n 4
check slurm-submit-usage rc_is 2

# ---- the other schedulers --------------------------------------------------------------------------------------------
run python3 "$farm/opencue/submit.py" --dry-run --shards 5 --frames 1-20 --logs runs --make=--preset --make=pbr shot.blend
check opencue-layers json out '[x["layer"] for x in o] == ["convert", "verify", "render"] and [x["after"] for x in o] == [None, "convert:frame", "verify"]'
check opencue-shards json out 'o[0]["command"][:4] == ["txmill", "make", "--shard", "#IFRAME#/5"] and o[0]["frames"] == "1-5" and o[0]["command"][-4:] == ["--preset", "pbr", "--", "shot.blend"]'
sed 's/#IFRAME#/2/g' out | python3 -c 'import json, shlex, sys
o = [json.loads(line) for line in sys.stdin]
print(shlex.join(o[0]["command"]).replace("txmill", sys.argv[1], 1).replace("shot.blend", "scenes/lint.blend"))' "$TXMILL" >opencue.sh
run bash opencue.sh
check opencue-command-runs rc_is 0
bundle() { run "$farm/openjd/bundle.py" --txmill "$TXMILL" --shards 3 "$@"; }
listed='{f.rsplit("/scenes/")[-1] for f in o[0]["assetReferences"]["inputs"]["filenames"]}'
bundle --frames 1-3 -o ojd scenes/lint.blend
check openjd-bundle rc_is 0
check openjd-files test "$(cd ojd && echo *)" = "asset_references.json manifest.json parameter_values.json parameters.json template.yaml"
tr -d '\n' <ojd/asset_references.json >references
check openjd-attachments json references "'lint.blend' in $listed and sum(f.endswith('.tx') for f in $listed) > 0"
check openjd-outputs json references 'any(d.endswith("/blender_tx") for d in o[0]["assetReferences"]["outputs"]["directories"])'
run "$TXMILL" restore --root scenes ojd/manifest.json
check openjd-manifest-is-there rc_is 0
bundle --root scenes -o ojd scenes/lint.blend
check openjd-keeps-what-is-there rc_is 2
for frames in 1-100x '' '1;2' 1--; do
    bundle --frames="$frames" -o ojd2 scenes/lint.blend
    check "openjd-frames-'$frames'" rc_is 2
done
mkdir ojd3 && cp -r scenes ojd3 && find ojd3 -name '*.png' -delete
bundle --root ojd3 -o ojd2 ojd3/scenes/lint.blend
check openjd-missing-image rc_is 3
check openjd-missing-image-named says "is missing; without it the job would fail"
mkdir ojd3/other
bundle --root ojd3/other -o ojd2 ojd3/scenes/lint.blend
check openjd-outside rc_is 3
(ulimit -f 1 && bundle --root scenes -o ojd2 scenes/lint.blend; exit $rc)
rc=$?
check openjd-full-disk rc_is 4
printf '#!/bin/sh\nkill -TERM $PPID\nsleep 1\n' >stopping && chmod +x stopping
bundle --txmill ./stopping --root scenes -o ojd2 scenes/lint.blend
check openjd-stopped rc_is 143
check openjd-nothing-half-made test ! -e ojd2 -a -z "$(find . -maxdepth 1 -name '.bundle-*')"
run "$farm/deadline/submit.sh" -n 4 -l "$work/deadline" -p scenes/lint.blend --preset pbr
check deadline-jobs rc_is 0
check deadline-arguments grep -q 'Arguments=<QUOTE>make<QUOTE> <QUOTE>--shard<QUOTE> <QUOTE><STARTFRAME>/4<QUOTE>' deadline/convert.plugin
check deadline-waits grep -qx 'JobDependencies=convert-id' deadline/verify.job
sed -n 's/^Arguments=//p' deadline/convert.plugin | sed 's/<STARTFRAME>/3/g; s/<QUOTE>/"/g' | run xargs "$TXMILL"
check deadline-arguments-run rc_is 0
check deadline-log json deadline/convert-3.jsonl 'o[-1]["shard"]["index"] == 3'
if command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q 'GNU parallel'; then
    rm -rf tex/blender_tx
    run "$farm/parallel/convert.sh" -n 3 -l pruns -- tex
    check parallel-exit rc_is 0
    check parallel-all-made test "$(find tex -name '*.tx' | wc -l)" -eq 12
    check parallel-report test -s pruns/report.html
    : >"tex/br oken'\$(touch x).png"
    run "$farm/parallel/convert.sh" -n 3 -l pruns2 -- tex
    check parallel-permanent-exit rc_is 3
    check parallel-permanent-once test "$(cat pruns2/convert-*.jsonl | grep 'br oken' | grep -c '"error"')" -eq 1 -a ! -e x
    rm tex/br*
    # Logs of an earlier run with more shards do not count.
    run "$farm/parallel/convert.sh" -n 1 -l pruns2 -- tex
    check parallel-again rc_is 0
    check parallel-again-report test "$(grep -c 'br oken' pruns2/report.html)" -eq 0
else
    skip parallel "GNU parallel is not installed"
fi
rm -rf tex/blender_tx
run make -f "$farm/make/textures.mk" TXMILL="$TXMILL" TEXTURES=tex textures-verify
check make-recipe rc_is 0
check make-recipe-made test "$(find tex -name '*.tx' | wc -l)" -eq 12
run make -f "$farm/make/textures.mk" TXMILL="$TXMILL" TEXTURES=tex textures-clean
check make-recipe-clean rc_is 0
if command -v systemd-analyze >/dev/null; then
    mkdir units
    for unit in "$farm"/systemd/*; do sed "s|/usr/local/bin/txmill|$TXMILL|" "$unit" >"units/$(basename "$unit")"; done
    SYSTEMD_LOG_LEVEL=warning run systemd-analyze verify --man=no --recursive-errors=no units/txmill-watch.service units/txmill-convert.path
    check systemd-units test "$rc" -eq 0 -a -z "$(grep 'units/\|txmill' err)"
else
    skip systemd-units "systemd-analyze is not installed"
fi

# ---- hostile names ---------------------------------------------------------------------------------------------------
if [ -z "${SANITIZED:-}" ]; then
    mkdir names
    (cd names && python3 "$repo/tests/mill/farm/farm_names.py" "$repo") || not_ok hostile-names "see above"
fi

# ---- a share that disappears during a run and returns ----------------------------------------------------------------
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    mkdir share && rm -rf large/blender_tx
    cat >share.sh <<'EOF2'
mount --make-rprivate / && mount -t tmpfs -o size=200M none share || exit 9
cp large/*.png share/
mkdir mover && mount --bind share mover
"$TXMILL" make -q -j 1 share 2>first.err &
pid=$!
until [ -n "$(find mover -name '*.tx')" ]; do sleep 0.01; done
umount -l share
wait $pid; echo "first=$? made=$(find mover -name '*.tx' | wc -l)"
tail -n 1 first.err >&2
"$TXMILL" make -q share/000001.png; echo "away=$?"
mount --bind mover share
"$TXMILL" make -q share; echo "back=$? made=$(find share -name '*.tx' | wc -l) left=$(find share -name '.*.txm-*' | wc -l)"
"$TXMILL" verify -q share/blender_tx/*.tx; echo "verified=$?"
EOF2
    unshare -m bash share.sh >out 2>err
    if grep -q '^back=' out; then
        check share-vanished-is-retryable prints "first=4 "
        check share-vanished-last-line grep -q '^TXMILL-ERROR code=' err
        check share-back prints "back=0 made=40 left=0"
        check share-all-whole prints "verified=0"
    else
        skip share "mounting is not permitted here"
    fi
else
    skip share "mounting takes root"
fi
finish
