#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill make: its files and their places, its messages, and the files that it leaves alone.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cp "$golden"/{rgb8,gray8,rgba8,one,tile64}.png "$golden"/half-rgb.exr "$golden"/photo.jpg .
srgb=blender_tx/rgb8.png.0-926BDA8569F1F2504902F06ABA51E46D.tx

# ---- the plain case ------------------------------------------------------------------------------------------------
gives make 0 -- make rgb8.png
check make-name test -f "$srgb"
check make-prints prints "created      $srgb"
check make-silent-on-stderr test ! -s err
check make-same-time test "$(stat -c %Y.%y "$srgb")" = "$(stat -c %Y.%y rgb8.png)"
check make-mode test "$(stat -c %a "$srgb")" = "$(umask_mode=$(printf '%o' $((0666 & ~$(umask)))); echo "$umask_mode")"
check make-no-temporaries no_temporaries

before=$(stat -c %i "$srgb")
txm make rgb8.png
check up-to-date-is-no-line test ! -s out
check up-to-date-is-counted says "txmill: 0 created (0 B), 1 up to date, 0 skipped, 0 failed"
gives up-to-date-prints 0 prints "up-to-date   $srgb" -- make -v rgb8.png
check up-to-date-once test "$(grep -c 'up to date' err)" -eq 0
check up-to-date-untouched test "$(stat -c %i "$srgb")" = "$before"
txm make --force rgb8.png
chmod 600 "$srgb"
txm make --force rgb8.png
check force-keeps-the-mode test "$(stat -c %a "$srgb")" = 600
chmod 664 "$srgb"
txm extract -o level.png "$srgb" && chmod 640 level.png
txm extract --overwrite -o level.png "$srgb"
check output-keeps-the-mode test "$rc" -eq 0 -a "$(stat -c %a level.png)" = 640
txm make --force rgb8.png
check force-keeps-a-shared-mode test "$(stat -c %a "$srgb")" = 664
check force-writes-again test "$(stat -c %i "$srgb")" != "$before"
touch -d '2020-01-02 03:04:05' rgb8.png
gives dry-run 0 prints would-create prints outdated -- make --dry-run rgb8.png
check dry-run-writes-nothing test "$(stat -c %Y "$srgb")" != "$(stat -c %Y rgb8.png)"
gives outdated-of-the-same-content 0 says "0 created (0 B), 1 up to date" -- make rgb8.png
check outdated-now-fresh test "$(stat -c %Y "$srgb")" = "$(stat -c %Y rgb8.png)"
head -c 3000 "$srgb" >short.tx && touch -r rgb8.png short.tx && cp -p short.tx "$srgb"
gives truncated-is-made-again 0 prints "created      $srgb" -- make rgb8.png

# ---- images that are used as they are --------------------------------------------------------------------------------
gives used-as-is 0 prints "one.png: skipped" prints "$srgb: skipped" -- make one.png "$srgb"
check no-tx-of-tx test ! -e blender_tx/blender_tx

# ---- settings in names -----------------------------------------------------------------------------------------------
expect_name() { # NAME-OF-CHECK TX-NAME ARGUMENT...
    local name=$1 tx=$2
    shift 2
    txm make "$@"
    check "$name" test -f "$tx"
}
expect_name colorspace blender_tx/rgb8.png.0-DE5E0BDFC9051CFBE504AD14563FC03C.tx --colorspace Non-Color rgb8.png
expect_name literal-auto blender_tx/rgb8.png.0-B30E7CBFC8AAF789D08104D249114503.tx -c auto -a auto rgb8.png
expect_name alpha blender_tx/rgba8.png.0-24C6B81FB1805955C3EEE05B89D934DB.tx --alpha-type=premultiplied rgba8.png
expect_name converted blender_tx/rgb8.png.0-852A1764024D88CEB5E3A3678F19CAAC.tx -cACEScg rgb8.png
expect_name exr-default blender_tx/half-rgb.exr.0-DC4C4597331A5A94F7CC35F85726595F.tx half-rgb.exr
# As a fall-back, a fresh file in blender_tx is used, whatever folder is configured. With -f the configured one is
# written.
gives fall-back-serves 0 prints "up-to-date   $srgb" -- make -v -d elsewhere rgb8.png
check fall-back-writes-nothing test ! -e elsewhere
txm make --force -d elsewhere rgb8.png
check force-writes-configured test -f elsewhere/rgb8.png.0-926BDA8569F1F2504902F06ABA51E46D.tx
rm -r blender_tx
expect_name ocio-config cache/rgb8.png.0-926BDA8569F1F2504902F06ABA51E46D.tx --ocio "$golden/config.ocio" -d cache rgb8.png
mkdir src && cp -p rgb8.png src/
expect_name absolute-cache abs-cache/rgb8.png.0-5D2534C9EABB32D4FC4211C651A938F3.tx --cache-dir "$work/abs-cache" src/rgb8.png
OCIO="$golden/config.ocio" expect_name environment-config env/rgb8.png.0-926BDA8569F1F2504902F06ABA51E46D.tx -d env rgb8.png
expect_name output some/where/else.tx -o some/where/else.tx rgb8.png
txm make --envlatl -d latlong rgb8.png
check envlatl-other-name test ! -e latlong/rgb8.png.0-926BDA8569F1F2504902F06ABA51E46D.tx
check envlatl-made prints "created      latlong/rgb8.png.0-"
cp "$golden/half-rgba.exr" .
txm make --envlatl -d latlong half-rgba.exr
for image in rgb8.png half-rgba.exr; do
    "$TXMILL" info --json --all latlong/$image.0-*.tx >info.json
    check "envlatl-wraps-$image" json info.json '{"periodic,clamp"} & {m["value"] for m in o[0]["metadata"]}'
    check "envlatl-verifies-$image" "$TXMILL" verify latlong/$image.0-*.tx
    check "envlatl-verifies-deeply-$image" "$TXMILL" verify --deep latlong/$image.0-*.tx
done
check envlatl-in-exr json info.json '{"name": "envmap", "value": "latlong"} in o[0]["metadata"]'

# ---- settings in content ---------------------------------------------------------------------------------------------
info_json() { "$TXMILL" info --json --all "$@" >info.json; }
txm make --strict rgb8.png gray8.png
info_json "$srgb"
check strict-four-channels json info.json 'o[0]["channels"] == 4 and o[0]["border_section"]["state"] == "none"'
rm -r blender_tx
cp "$golden/gray-in-rgb.png" .
txm make gray-in-rgb.png -d mono
info_json mono/gray-in-rgb*.tx
check mono-default json info.json 'o[0]["channels"] == 1'
txm make gray-in-rgb.png -d four --mono no --tile 128 --compression none --borders no
info_json four/gray-in-rgb*.tx
check mono-no json info.json 'o[0]["channels"] == 4'
check tile-size json info.json 'o[0]["tile_width"] == 128 and o[0]["tile_height"] == 128'
check compression-none json info.json 'o[0]["compression"] == "none"'
check borders-no json info.json 'o[0]["border_section"]["state"] == "none"'
gives zstd-opt-in 0 -- make rgb8.png -d zstd --compression zstd:3
info_json zstd/rgb8*.tx
check zstd-stored json info.json 'o[0]["compression"] == "zstd"'
txm make half-rgb.exr -d zstd --compression zstd
check zstd-no-exr test "$rc" -ne 0
check zstd-no-exr-message says half-rgb.exr
gives zstd-no-exr 2 prints would-create -- make --dry-run half-rgb.exr rgb8.png -d zstd2 --compression zstd
txm make rgb8.png -d meta --redact --attrib project=demo --attrib "Copyright=A. Body"
info_json meta/rgb8*.tx
check redact json info.json 'o[0]["source"]["path"] == "rgb8.png"'
check attribute-stored json info.json '{"name": "project", "value": "demo"} in o[0]["metadata"]'
check copyright-stored json info.json 'any(m["value"] == "A. Body" for m in o[0]["metadata"])'
check requested-space-stored json info.json 'o[0]["colorspace"]["requested"] == "sRGB"'

# ---- files under another file's name ---------------------------------------------------------------------------------
for c in $'\u202e' $'\u2066' $'\u200f' $'\u061c' $'\u2028' $'\u0085' $'\u009b' $'\xed\xa0\xbd'; do
    mkdir poses && cp rgb8.png "poses/x${c}gnp.png"
    name=direction-$(printf %s "$c" | od -An -tx1 | tr -d ' ')
    LC_ALL=C.UTF-8 txm make poses
    check "$name" test "$rc" -eq 0 -a "$(cat out err | grep -caF "$c")" -eq 0 -a "$(grep -c '\\x' out)" -eq 1
    "$TXMILL" check --json poses >checked
    "$TXMILL" view --html page.html poses/blender_tx/*.tx 2>/dev/null
    check "$name-json" python3 -c 'import json, sys, os
name = os.fsencode(sys.argv[1])
text, page = open("checked", "rb").read(), open("page.html", "rb").read()
paths = [o["image"] for o in map(json.loads, text.splitlines()) if "image" in o]
good = all(p == "poses/" + name.decode("utf-8", "replace") for p in paths) and name[1:-7] not in text
sys.exit(not good or not paths or name[1:-7] in page or json.dumps(sys.argv[1][1:-7])[1:-1].encode() in page)' "x${c}gnp.png"
    rm -r poses page.html
done

# ---- several inputs --------------------------------------------------------------------------------------------------
mkdir many
for i in $(seq 24); do cp "$golden/tile64.png" "many/$i.png"; done
gives many 0 -- make -j 4 many/*.png
check many-made test "$(find many/blender_tx -name '*.tx' | wc -l)" -eq 24
check many-summary says "24 created"
check many-alike test "$(for f in many/blender_tx/*; do "$TXMILL" info --json "$f"; done | grep -o '"sha1":"[^"]*"' | sort -u | wc -l)" -eq 1
gives partial 3 says "24 up to date" last_line_is "TXMILL-ERROR code=3 failed=1 total=25" -- make -j 1 many/*.png missing.png
rm -r many/blender_tx
txm make --fail-fast -j 1 missing.png many/*.png
check fail-fast-stops nothing_in many
check fail-fast-says says "24 files were not started"
check fail-fast-last-line last_line_is "TXMILL-ERROR code=3 failed=1 total=25"
txm make --fail-fast --keep-going -j 1 missing.png many/1.png
check keep-going-wins-when-last prints "created      many/blender_tx/1.png"

# The bytes do not depend on the number of threads.
for j in 1 2 5; do "$TXMILL" make -q -j $j -d "threads$j" photo.jpg half-rgb.exr -c ACEScg; done
check threads-same-bytes diff -r threads1 threads2
check threads-same-bytes-5 diff -r threads1 threads5
# They do not depend on the processor's vector instructions either.
"$TXMILL" make -q -d threads1 photo.jpg
for isa in scalar avx2; do
    TXMILL_ISA=$isa "$TXMILL" make -q -d "isa-$isa" photo.jpg half-rgb.exr -c ACEScg
    TXMILL_ISA=$isa "$TXMILL" make -q -d "isa-$isa" photo.jpg
    check "$isa-same-bytes" diff -r threads1 "isa-$isa"
done

# ---- messages --------------------------------------------------------------------------------------------------------
txm make -q --force rgb8.png
check quiet test ! -s out -a ! -s err
gives verbose 0 says "rgb8.png: colour space sRGB (scene_linear_srgb), alpha straight" says "made because forced" \
    -- make -v --force rgb8.png
txm make rgb8.png
gives progress 0 says "txmill: progress 0% (0 of 2 files, " says "txmill: progress 100% (2 of 2 files, " \
    -- make --progress --force rgb8.png tile64.png
check no-colour-without-terminal test -z "$(grep -l $'\033' out err)"
name=$'new\nline \033[31m"quote\' \xe9.png'
cp rgb8.png "$name"
txm make "$name" $'no\nsuch\xe9.png'
check odd-names-made test -f "blender_tx/$name.0-926BDA8569F1F2504902F06ABA51E46D.tx"
check odd-names-one-line test "$(wc -l <out)" -eq 1
check odd-names-no-escape test -z "$(grep -l $'\033' out err)"
check odd-names-error says 'no\nsuch'
gives json 3 -- make --force --json rgb8.png one.png "$name" $'no\nsuch\xe9.png' missing.png
check json-states json out '[x.get("state") for x in o].count("failed") == 2 and any(x.get("state") == "skipped" for x in o)'
check json-exact-bytes json out 'any(x.get("input_encoded", "").endswith("%E9.png") for x in o)'
check json-summary json out 'o[-1]["color"]["exact"] == (o[-1]["color"]["converted"] == 0 or o[-1]["color"]["library"].startswith("2.5.")) and o[-1]["type"] == "summary" and o[-1]["created"] == 2 and o[-1]["failed"] == 2 and o[-1]["exit_code"] == 3'
check json-error json out 'any(x["error"]["status"] == "not-found" and not x["error"]["retryable"] for x in o if "error" in x)'
cp out make.json
"$TXMILL" make --json --dry-run --force rgb8.png >>make.json
if has_jsonschema; then check json-schema valid_json make make.json; else skip json-schema "python3-jsonschema is missing"; fi

# ---- a terminal ------------------------------------------------------------------------------------------------------
if has_terminal; then
    make_two() { on_terminal 80x24 env "$@" "$TXMILL" make --force rgb8.png missing.png; }
    make_two -u NO_COLOR TERM=xterm
    check terminal-exit rc_is 3
    check terminal-colours prints $'\033[1;31merror:'
    check terminal-progress prints $'\r\033[K'
    make_two NO_COLOR=1 TERM=xterm
    check no-color-exit rc_is 3
    check no-color-respected test "$(grep -c $'\033\\[1' out)" -eq 0
    make_two -u NO_COLOR TERM=dumb
    check term-dumb-exit rc_is 3
    check term-dumb-respected test "$(grep -c $'\033' out)" -eq 0
else
    skip terminal "no pseudo-terminal here"
fi

# ---- signals ---------------------------------------------------------------------------------------------------------
# The batch would take minutes, so the signal arrives in the middle of it.
mkdir batch
for i in $(seq 400); do ln -s "$golden/photo.jpg" "batch/$i.jpg"; done
interrupted() { # SIGNAL
    rm -rf batch-cache
    "$TXMILL" make -d "$work/batch-cache" -c ACEScg -j 2 batch/*.jpg >out 2>err &
    local pid=$!
    for _ in $(seq 200); do [ -n "$(find batch-cache -name '*.tx' 2>/dev/null | head -n 1)" ] && break; sleep 0.02; done
    kill "-$1" $pid
    # The system repeats SIGXCPU, and a terminal that is closed may send SIGHUP twice: these do not end it before its last line.
    case $1 in HUP | XCPU) kill "-$1" $pid ;; esac
    wait $pid
    rc=$?
}
# Without job control bash starts background commands with SIGINT ignored; job control switches that off.
set -m
interrupted TERM
check sigterm-exit rc_is 143
check sigterm-last-line test "$(tail -n 1 err | cut -d' ' -f1,2)" = "TXMILL-ERROR code=143"
check sigterm-no-temporaries no_temporaries
check sigterm-stopped test "$(find batch-cache -name '*.tx' | wc -l)" -lt 400
check sigterm-files-whole run "$TXMILL" info "$(find batch-cache -name '*.tx' | head -n 1)"
for signal in INT:130 HUP:129 XCPU:152; do
    interrupted "${signal%:*}"
    check "sig${signal%:*}-exit" rc_is "${signal#*:}"
    check "sig${signal%:*}-last-line" test "$(tail -n 1 err | cut -d' ' -f1,2)" = "TXMILL-ERROR code=${signal#*:}"
    check "sig${signal%:*}-leaves-nothing" test -z "$(find batch-cache -name '.*')"
done
set +m
# A library that computes for long does not know that it should stop: the process ends within a second all the same.
cat >busy.c <<'C'
#include <stdio.h>
int txm_ptex_open(void)
{
    fputs("busy\n", stderr);
    for (volatile int i = 0;; i++)
        ;
}
C
run ${CC:-cc} -shared -fPIC busy.c -o busy.so
check busy-compiles rc_is 0
for signal in TERM:143 HUP:129; do
    LD_PRELOAD="$work/busy.so" "$TXMILL" info "$TXM_TESTDATA/ptex/grid-u16.ptx" >out 2>err &
    pid=$!
    for _ in $(seq 200); do grep -q busy err && break; sleep 0.02; done
    kill "-${signal%:*}" $pid
    for _ in $(seq 100); do kill -0 $pid 2>/dev/null || break; sleep 0.05; done
    check "busy-${signal%:*}-ends" test ! -e "/proc/$pid/exe"
    kill -KILL $pid 2>/dev/null
    wait $pid
    rc=$?
    check "busy-${signal%:*}-exit" rc_is "${signal#*:}"
    check "busy-${signal%:*}-last-line" last_line_is "TXMILL-ERROR code=${signal#*:} failed=1 total=1"
done
# So does one that waits for the process in which an encoder computes.
if [ -f "${TXMILL_PLUGINS:-$repo/build}/txmill-oiio-worker" ]; then
    copy_program slow
    printf '#!/bin/sh\necho $$ >"%s/slow/pid"\nwhile :; do :; done\n' "$work" >slow/txmill-oiio-worker && chmod +x slow/txmill-oiio-worker
    slowly=$(find batch-cache -name '*.tx' | head -n 1)
    TXMILL_PLUGINS="$work/slow" "$TXMILL" extract -o slow.png "$slowly" >out 2>err &
    pid=$!
    for _ in $(seq 200); do [ -s slow/pid ] && break; sleep 0.02; done
    kill -TERM $pid
    for _ in $(seq 40); do kill -0 $pid 2>/dev/null || break; sleep 0.05; done
    check encoder-ends test ! -e "/proc/$pid/exe"
    kill -KILL $pid 2>/dev/null
    wait $pid
    rc=$?
    check encoder-exit rc_is 143
    check encoder-last-line last_line_is "TXMILL-ERROR code=143 failed=1 total=1"
    check encoder-none-left test ! -e "/proc/$(cat slow/pid)/exe"
fi
# What nohup ignores stays ignored.
rm -rf batch-cache
(trap '' HUP; exec "$TXMILL" make -q -d "$work/batch-cache" batch/1.jpg batch/2.jpg) &
pid=$!
for _ in $(seq 200); do [ -d batch-cache ] && break; sleep 0.01; done
kill -HUP $pid
wait $pid
rc=$?
check sighup-ignored rc_is 0
# A limit of file sizes is a write that failed, which may succeed elsewhere. The signal, too, ends nothing.
rm -rf batch-cache
run bash -c "ulimit -f 8; trap - XFSZ; exec '$TXMILL' make -q -d '$work/batch-cache' batch/1.jpg"
check file-size-limit eval 'rc_is 4 && says "ulimit -f shows the limit"'
check file-size-limit-leaves-nothing test -z "$(find batch-cache -type f)"
finish
