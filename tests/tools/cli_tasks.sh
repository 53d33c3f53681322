#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What an artist types for everyday tasks, and how many words that takes; and what a command says that was given none.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir film film/tex film/none && cp "$TXM_TESTDATA"/blend/materials.blend film/shot.blend && cp -r "$TXM_TESTDATA"/blend/textures film/
chmod -R u+w film && cp "$golden/rgb8.png" film/tex/wood.png && cp "$golden/rgb8.png" film/tex/wood_normal.png
cp "$golden/rgb8.png" film/wood.png && mkdir loose && cp "$golden/rgb8.png" loose/wall.png && cp "$golden/rgb8.png" loose/wall_ao.png
cd film || exit 1

cat >"$work/terminal.py" <<'PY'
import os, pty, subprocess, sys

how, *command = sys.argv[1:]
# Standard output is a terminal too if a picture is shown; else only standard error is, and files open slowly.
slowly = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=openat:delay_enter=1500"]
master, slave = pty.openpty()
child = subprocess.Popen(command if how == "both" else slowly + command, stdout=slave if how == "both" else subprocess.DEVNULL,
                         stderr=slave, env=dict(os.environ, TERM="xterm", COLUMNS="80"))
os.close(slave)
seen = b""
while True:
    try:
        seen += os.read(master, 4096)
    except OSError:
        break
child.wait()
sys.stdout.buffer.write(seen)
print("\nprogress" if b"\r" in seen.replace(b"\r\n", b"") else "\nnone")
PY

typed() { # typed WORDS NAME COMMAND... : the command is no longer than that
    local words=$1 name=$2
    shift 2
    command=("$@")
    check "$name-words" test $((${#command[@]} + 1)) -le "$words"
}
task() { # The same, and it is run.
    typed "$@"
    txm "${command[@]}"
}

# ---- everyday tasks ----------------------------------------------------------------------------------------------------
task 3 make-a-scene make shot.blend
check make-a-scene says "up to date"
check make-a-scene-saves grep -qE '^txmill: [0-9.]+ [kMG]?B of textures; about [0-9.]+ [kMG]?B at half resolution$' "$work/err"
task 2 is-it-ready check
check is-it-ready eval 'says "checking shot.blend" && prints "textures fresh"'
check is-it-ready-saves says "at half resolution"
task 2 make-a-folder make
check make-a-folder says "making the tx files of shot.blend"
"$TXMILL" make -q wood.png
task 3 what-is-inside info wood.png
check what-is-inside prints "Cycles        uses it for scenes that set sRGB"
task 3 why-is-it-not-used resolve tex/wood.png
check why-is-it-not-used prints "tex/wood.png: missing: tex/blender_tx/wood.png.0-"
typed 3 look-at-it view wood.png
python3 "$work/terminal.py" both "$TXMILL" "${command[@]}" >"$work/shown"
check look-at-it grep -q "Cycles uses it for scenes that set sRGB" "$work/shown"
mv wood.png oak.png
task 3 clean-up gc .
check clean-up says "to remove it, run: txmill gc --delete ."
eval "$(sed -n 's/^txmill: to remove it, run: txmill/"$TXMILL"/p' "$work/err")" >/dev/null 2>&1
check clean-up-pasted test ! -e blender_tx/wood.png.*.tx
task 3 what-does-it-save check shot.blend
check what-does-it-save says "at half resolution"
task 3 memory-of-a-shot budget shot.blend
check memory-of-a-shot grep -qE '^[0-9]+ textures: [0-9.]+ [kM]?B whole; about [0-9.]+ [kM]?B with tx files, in a picture of 1920x1080$' "$work/out"
task 2 memory-here budget
check memory-here says "adding up shot.blend"
task 4 farm-job make shot.blend --log=run.jsonl
check farm-job test -s run.jsonl

# ---- nothing was named ----------------------------------------------------------------------------------------------------
cd tex || exit 1
gives images 5 says "no scene here: checking the images of this folder, data maps by their names (--preset pbr)" \
    prints "run: txmill make --preset pbr ." -- check
"$TXMILL" make --preset pbr -q .
gives images-fresh 0 prints "2 of 2 textures fresh" -- check
gives images-typed 5 -- check -c sRGB
txm make
check no-project eval 'rc_is 2 && says "no image given, and no project here" && says "'"'txmill make --preset pbr .'"'"'
touch ../.txmill && rm -r blender_tx
txm make
check project eval 'rc_is 0 && says "making the tx files of the images of this folder" && test "$(ls blender_tx/*.tx | wc -l)" -eq 2'
gives project-checked 0 -- check
cd ../none || exit 1
for command in check make; do
    gives "nothing-$command" 2 -- $command
done
cp ../shot.blend ./b.blend && cp ../shot.blend ./a.blend && echo '<svg/>' >c.xml && cp ../tex/wood.png .
gives two-scenes 5 says "checking a.blend and 1 other scene of this folder" -- check
check not-every-xml test "$(grep -c 'c.xml' "$work/err")" -eq 0
cd "$work" || exit 1
"$TXMILL" make -q loose && cp film/shot.blend 'loose/the scene.blend'
gives names-the-scene 5 prints 'name the scene, as in: txmill check "loose/the scene.blend"' -- check loose

# ---- the budget ---------------------------------------------------------------------------------------------------------
# 300 x 200 RGBA with a fresh tx file and 64 x 64 grey without one, as level 0 and, in a picture of 100 px, from level 1 on.
mkdir sums && cp "$golden/rgb8.png" "$golden/gray8.png" sums/ && "$TXMILL" make -q sums/rgb8.png
txm budget --json --size 100x80 sums
check budget-rgb json out '[(x["width"], x["level"], x["whole_bytes"], x["cached_bytes"], x["fresh"]) for x in o if x.get("image") == "sums/rgb8.png"] == [(300, 1, 240000, 60000 + 20000, True)]'
check budget-sum json out 'o[-1]["whole_bytes"] == sum(x["whole_bytes"] for x in o[:-1]) and o[-1]["cached_bytes"] == sum(x["cached_bytes"] for x in o[:-1]) and o[-1]["not_fresh"] == 1 and o[-1]["now_bytes"] == o[-1]["cached_bytes"] - o[1]["cached_bytes"] + o[1]["whole_bytes"]'
if has_jsonschema; then check budget-schema valid_json budget out; fi
# Data maps count as such by their names, unless something else says how images are used.
cp "$golden/rgb8.png" sums/wood_normal.png && "$TXMILL" make -q --preset pbr sums/wood_normal.png
gives budget-preset 0 says "1 texture is data by its name (--preset pbr); a scene says how it uses them" -- budget sums
txm budget --json sums
check budget-preset-fresh json out '[x["fresh"] for x in o if x.get("image") == "sums/wood_normal.png"] == [True] and o[-1]["data_by_name"] == 1'
# What a rule is called does not matter.
cp "$golden/rgb8.png" "sums/map (preset pbr).png"
gives budget-rule 0 reports 'o[-1]["data_by_name"] == 1' -- budget --rule '*(preset pbr).png=Non-Color' --json sums
rm "sums/map (preset pbr).png"
mkdir sums/own && cp "$golden/rgb8.png" sums/own/leaf_normal.png && echo 'preset = pbr' >sums/own/.txmill
gives budget-own-project 0 reports 'o[-1]["data_by_name"] == 2' -- budget --json sums
rm -r sums/own
txm budget -c sRGB --json sums
check budget-no-preset json out '[x["fresh"] for x in o if x.get("image") == "sums/wood_normal.png"] == [False] and o[-1]["data_by_name"] == 0'
printf 'preset = none\n' >sums/.txmill
txm budget sums
check budget-settings test "$(grep -c preset err)" = 0
rm sums/.txmill sums/wood_normal.png
: >sums/empty.png
gives budget-of-damaged 3 prints "2 textures: " -- budget sums
# What nodes do with images is looked at without being asked.
cp "$TXM_TESTDATA"/blend/lint.blend . && cp -r "$TXM_TESTDATA"/blend/textures . && txm check lint.blend
check normal-map-color says 'image "bad normal" feeds a Normal Map node but is in sRGB: set it to Non-Color'
mkdir 'no scene' && cp "$golden/rgb8.png" 'no scene'
gives list-without-scene 2 says "'txmill resolve \"no scene\"' shows the tx files of its images" -- list 'no scene'
echo '<svg/>' >'no scene/drawing.xml'
txm list 'no scene'
check list-no-cycles-xml eval 'rc_is 2 && says "no scene found; '"'txmill resolve"'" && ! says drawing.xml'
printf '<cycles><shader name="m"><image_texture name="i" filename="rgb8.png" colorspace="sRGB"/></shader></cycles>' >'no scene/set.xml'
txm list 'no scene'
check list-cycles-xml eval 'rc_is 0 && prints "no scene/set.xml: XML of Cycles" && prints "1 texture: 1 missing" && ! says drawing.xml'

# ---- images that only OpenImageIO reads ----------------------------------------------------------------------------------
# If all is fresh, check does not start its worker, and says the same as commands that open the images.
mkdir slow && "$TXMILL" make -q sums/rgb8.png
for e in gif bmp tga hdr; do "$TXMILL" extract -l 0 -o slow/wall_normal.$e sums/rgb8.png 2>/dev/null; done
for settings in '' '--preset pbr' '-a none' '-c ACEScg'; do
    # shellcheck disable=SC2086
    "$TXMILL" make -q $settings slow
    # shellcheck disable=SC2086
    txm make -n --json $settings slow
    grep -o '"tx":"[^"]*"' out | sort -u >opened
    # shellcheck disable=SC2086
    gives "unopened-fresh$settings" 0 -- check --json --ignore data-as-color $settings slow
    check "unopened-same$settings" test "$(grep -o '"tx":"[^"]*"' out | sort -u | comm -23 - opened | wc -l)" -eq 0
    check "unopened-all$settings" test "$(grep -c '"id":"fresh"' out)" -eq 4
    if strace -f -o /dev/null true 2>/dev/null; then
        # shellcheck disable=SC2086
        strace -f -qq -e trace=execve -o calls "$TXMILL" check $settings slow >/dev/null 2>&1
        check "unopened-no-worker$settings" test "$(grep -c oiio-worker calls)" -eq 0
        # shellcheck disable=SC2086
        strace -f -qq -e trace=execve -o calls "$TXMILL" resolve $settings slow >resolved 2>&1
        check "unopened-resolve$settings" eval 'test "$(grep -c oiio-worker calls)" -eq 0 && test "$(grep -c ": fresh: " resolved)" -eq 4 && ! grep -q "does not state" resolved'
    fi
done
if strace -f -o /dev/null true 2>/dev/null; then
    printf '<cycles><shader name="m"><image_texture name="i" filename="slow/wall_normal.gif" colorspace="sRGB"/></shader></cycles>' >slow.xml
    "$TXMILL" make -q slow.xml
    strace -f -qq -e trace=execve -o calls "$TXMILL" list slow.xml >listed 2>&1
    check unopened-list eval 'test "$(grep -c oiio-worker calls)" -eq 0 && grep -q "tx: 1 fresh" listed'
fi
touch slow/wall_normal.gif
gives unopened-outdated 5 prints "slow/wall_normal.gif: outdated" -- check slow
cp sums/rgb8.png slow/wall_normal.tga
gives unopened-other-format 5 prints "slow/wall_normal.tga: outdated" -- check slow

# ---- a damaged image --------------------------------------------------------------------------------------------------------
# check and make do not send the user from one to the other: whatever is left after make, check knows as well.
mkdir broken && cp "$golden/rgb8.png" broken/good.png && head -c 90000 "$golden/rgb8.png" >broken/cut.png
python3 - "$golden/rgb8.png" broken/flipped.png <<'PY'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
for i in range(len(data) // 2, len(data) // 2 + 400):
    data[i] ^= 0x5A
open(sys.argv[2], "wb").write(data)
PY
gives broken-make 3 -- make broken
gives broken-check 3 -- check broken
check broken-names eval 'says "cut.png" && says "flipped.png"'
check broken-no-loop test "$(grep -c 'run: txmill make' out)" -eq 0
check broken-others prints "1 of 3 textures fresh, 2 damaged"
check broken-reasons eval 'says "error: broken/cut.png: damaged: " && ! says "damaged: broken/cut.png"'
txm check --json broken
check broken-json json out '[(x["id"], x["severity"]) for x in o if x["type"] == "texture" and x["image"] == "broken/cut.png"] == [("damaged", "error")] and o[-1]["damaged"] == 2 and o[-1]["failed"] == 0'
if has_jsonschema; then check broken-schema valid_json check out; fi

# An image that takes too long to be read for a check: what the run found is remembered until the image changes.
mkdir long && export XDG_CACHE_HOME=$work/remembered
python3 - long/sky.png <<'PY'
import struct, sys, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
# Its header promises more pixels than its first rows, after which it ends.
pixels = zlib.compress(b"".join(b"\0" + bytes(3 * 12000) for _ in range(64)), 1)
open(sys.argv[1], "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 12000, 12000, 8, 2, 0, 0, 0)) +
                              chunk(b"IDAT", pixels) + chunk(b"tEXt", b"x" * 4000000) + chunk(b"IEND", b""))
PY
gives long-unknown 5 prints "long/sky.png: missing" prints "run: txmill make" -- check long
gives long-made 3 -- make long
for i in 1 2; do
    txm check long
    check "long-known-$i" eval 'rc_is 3 && says "long/sky.png: damaged: " && ! grep -q "run: txmill make" out'
done
gives long-json 3 reports 'o[0]["id"] == "damaged" and not o[-1]["ready"]' -- check --json ./long/../long
(cd long && run "$TXMILL" check sky.png; exit "$rc")
check long-by-another-name test $? -eq 3
check long-bounded test "$(find "$XDG_CACHE_HOME" -type f | wc -l)" -eq 1
XDG_CACHE_HOME=$work/elsewhere txm check long
check long-other-user rc_is 5
# Damage to what is remembered, and folders that cannot be written, are only forgotten.
for slot in "$XDG_CACHE_HOME"/txmill/damaged/*; do cp "$slot" slot.keep && head -c 30 slot.keep >"$slot"; done
gives long-torn-slot 5 -- check long
cp slot.keep "$slot"
gives long-slot-again 3 -- check long
XDG_CACHE_HOME=/proc/none run "$TXMILL" make long
check long-no-cache eval 'rc_is 3 && ! says "/proc/none"'
cp "$golden/rgb8.png" long/sky.png
gives long-repaired 5 prints "run: txmill make long" -- check long
txm make long
gives long-repaired-made 0 -- check long
unset XDG_CACHE_HOME

# ---- how often files are asked ----------------------------------------------------------------------------------------------
# check asks an image and its tx file no more often than make does, in whatever state they are. On a network share each
# question takes a while.
mkdir ask ask/twice && for n in fresh outdated missing cut newer twice/a twice/b u.1001 u.1002 u.1003; do cp "$golden/rgb8.png" "ask/$n.png"; done
printf '\n' >>ask/twice/b.png
cat >ask/shot.xml <<'X'
<cycles><shader name="m"><image_texture name="i" filename="fresh.png" colorspace="sRGB" alpha_type="unassociated"/>
<image_texture name="j" filename="u.&lt;UDIM&gt;.png" colorspace="sRGB" alpha_type="unassociated" tiles="1001 1002 1003"/>
<image_texture name="k" filename="./fresh.png" colorspace="sRGB" alpha_type="unassociated"/><diffuse_bsdf name="d"/>
<connect from="i color" to="d color"/><connect from="d bsdf" to="output surface"/></shader></cycles>
X
cat >questions.py <<'PY'
import collections, os, re, subprocess, sys
program, *commands = sys.argv[1:]
asked = []
for command in commands:
    subprocess.run(["strace", "-f", "-o", "trace", "-s", "4096", "-e", "trace=%file", program, *command.split()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    counts = collections.Counter()
    for line in open("trace", errors="replace"):
        if "execve(" not in line:
            for path in re.findall(r'"([^"]*\.(?:png|tx))"', line):
                counts[os.path.normpath(os.path.join(os.getcwd(), path))] += 1
    asked.append(counts)
check, make = asked
wrong = ["%s: %d, not %d" % (os.path.basename(path), n, make[path]) for path, n in check.items() if n > make[path]]
print("\n".join(wrong))
sys.exit(len(check) < 3 or bool(wrong))
PY
prepare_questions() {
    rm -rf ask/blender_tx ask/twice/blender_tx
    "$TXMILL" make -q ask/*.png ask/twice/a.png
    touch -d '2001-02-03' ask/blender_tx/outdated.png.*.tx
    rm ask/blender_tx/missing.png.*.tx
    head -c 3000 ask/blender_tx/cut.png.*.tx >part && cat part >"$(echo ask/blender_tx/cut.png.*.tx)" && touch -r ask/cut.png ask/blender_tx/cut.png.*.tx
    sed -i 's/Blender maketx v0/Blender maketx v1/' ask/blender_tx/newer.png.*.tx && touch -r ask/newer.png ask/blender_tx/newer.png.*.tx
}
if strace -o /dev/null true 2>/dev/null && [ -z "${SANITIZED:-}" ]; then
    for what in ask "ask/fresh.png ask/fresh.png ./ask/fresh.png ask/missing.png ask/twice/../missing.png" "ask/u.<UDIM>.png ask/u.1001.png" \
        ask/shot.xml "--lint ask" "--deep ask"; do
        prepare_questions
        make=${what/--lint/-n --lint}
        [ "$make" != "$what" ] || make=$what
        run python3 questions.py "$TXMILL" "check $what" "make $make"
        check "asked-as-often-${what// /_}" rc_is 0
    done
else
    skip asked-as-often "strace is not permitted"
fi

# ---- progress inside a file -------------------------------------------------------------------------------------------------
# On a terminal, work on a single file shows after a second what it is and how long it has taken; nothing remains of it.
slowly() { # slowly FILE N COMMAND...: the file's Nth opening takes long
    local file=$1 n=$2
    shift 2
    TERM=xterm on_terminal 80x24 strace -f -o /dev/null -P "$file" -e inject=openat:delay_exit=1700000:when="$n" "$TXMILL" "$@"
}
if has_terminal && strace -o /dev/null true 2>/dev/null && [ -z "${SANITIZED:-}" ]; then
    tx=$(echo sums/blender_tx/rgb8.png.*.tx)
    [ -e "$tx" ] || { "$TXMILL" make -q sums/rgb8.png && tx=$(echo sums/blender_tx/rgb8.png.*.tx); }
    slowly "$tx" 2 verify "$tx"
    check shows-seconds eval 'rc_is 0 && prints "verifying, 1 s"'
    check shows-then-clears eval '! tr "\r" "\n" <out | tail -n 1 | grep -q verifying'
    slowly "$tx" 1 check sums/rgb8.png
    check shows-check prints "checking, 1 s"
    slowly "$tx" 2 verify -q "$tx"
    check quiet-shows-nothing eval '! prints verifying'
    run strace -f -o /dev/null -P "$tx" -e inject=openat:delay_exit=1300000:when=1 "$TXMILL" verify "$tx"
    check pipe-shows-nothing eval 'rc_is 0 && ! says verifying'
else
    skip shows-seconds "there is no terminal, or strace is not permitted"
fi

# ---- answers that agree ---------------------------------------------------------------------------------------------------
# A farm verifies the run of a scene whose images are named like data: the scene decides, whatever the preset guesses.
mkdir agree && cd agree || exit 1
mkdir run && cp "$golden/rgb8.png" run/wall_ao.png && echo 'preset = pbr' >run/.txmill
cat >run/shot.xml <<'X'
<cycles><shader name="m"><image_texture name="i" filename="wall_ao.png" colorspace="sRGB"/><diffuse_bsdf name="d"/>
<connect from="i color" to="d color"/><connect from="d bsdf" to="output surface"/></shader></cycles>
X
txm make -q run/shot.xml --log run.jsonl
gives run-checked 0 -- check run/shot.xml
gives run-verified 0 -- verify --run run.jsonl
# A config without Non-Color: its role data is meant. Files of another config are described in whole phrases.
cat >aces.ocio <<'Y'
ocio_profile_version: 2
roles: {scene_linear: ACEScg, default_byte: Tex, default_float: ACEScg, data: Raw, aces_interchange: ACES2065-1, default: Raw}
displays:
  sRGB:
    - !<View> {name: Raw, colorspace: Raw}
colorspaces:
  - !<ColorSpace> {name: ACES2065-1}
  - !<ColorSpace> {name: ACEScg, to_scene_reference: !<MatrixTransform> {matrix: [0.695452241357, 0.140678696470, 0.163869062173, 0, 0.0447945633720, 0.859671118456, 0.0955343181715, 0, -0.00552588255811, 0.00402521030598, 1.00150067225, 0, 0, 0, 0, 1]}}
  - !<ColorSpace> {name: Tex, to_scene_reference: !<ExponentTransform> {value: [2.2, 2.2, 2.2, 1]}}
  - !<ColorSpace> {name: Raw, isdata: true}
Y
cp "$golden/rgb8.png" wall_normal.png && cp "$golden/rgb8.png" a.png
txm make --ocio aces.ocio --preset pbr wall_normal.png
check role-data eval 'rc_is 0 && test -n "$(ls blender_tx/wall_normal.png.*.tx)"'
txm make -q a.png
txm check --ocio aces.ocio a.png
check other-config eval 'rc_is 5 && prints "there is one" && ! prints "with made with"'
txm make a.png
check own-folder eval 'rc_is 0 && says "0 created (0 B), 1 up to date" && ! says "Cycles looks too"'
txm make -d alt a.png
check other-folder eval 'rc_is 0 && test ! -e alt && says "1 of the files up to date is in blender_tx, where Cycles looks too, and not in alt; --force makes them there"'
cp a.png b.png && "$TXMILL" make -q b.png
txm make -d alt a.png b.png
check other-folders says "2 of the files up to date are in blender_tx, where Cycles looks too, and not in alt"
txm make -d alt --force a.png
check other-folder-forced eval 'prints "a.png: created" && ! says "Cycles looks too" && test -n "$(ls alt/a.png.*.tx)"'
txm make -d alt a.png
check other-folder-made eval 'says "1 up to date" && ! says "Cycles looks too"'
for command in "check $TXM_TESTDATA/ptex/grid-u8.ptx" "diff $TXM_TESTDATA/ptex/grid-u8.ptx $TXM_TESTDATA/ptex/grid-u8.ptx"; do
    # shellcheck disable=SC2086
    txm $command
    check "ptex-${command%% *}" eval '! rc_is 0 && says Ptex && ! says RAW'
done
mkdir empty && : >empty/readme.txt
for command in list report; do
    txm $command empty
    check "empty-$command" eval '! rc_is 0 && ! says "--include"'
done
cd "$work" || exit 1

# ---- progress and interruption ------------------------------------------------------------------------------------------
mkdir many && for ((i = 0; i < 150; i++)); do cp "$golden/tile64.png" "many/$i.png"; done
"$TXMILL" make -q many
if strace -f -o /dev/null true 2>/dev/null; then
    cp -rp many other
    for command in "check many" "gc many" "verify many" "borders --check many" "diff many other" "extract -o pictures/ many"; do
        # shellcheck disable=SC2086
        shown=$(python3 terminal.py progress "$TXMILL" $command | tail -1)
        check "progress-${command%% *}" test "$shown" = progress
    done
fi
python3 - "$TXMILL" >interrupted <<'PY'
import signal, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "check", "many"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
run.send_signal(signal.SIGSTOP)
run.send_signal(signal.SIGINT)
run.send_signal(signal.SIGCONT)
out, err = run.communicate(timeout=60)
print(run.returncode, out.strip(), err.strip())
PY
check interrupted test -s interrupted -a "$(grep -c 'not ready' interrupted)" -eq 0
gives quiet-progress 0 says "txmill: progress 100%" -- make -q --progress many --force
finish
