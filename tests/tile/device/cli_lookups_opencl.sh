#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The lookups of test_device.c over OpenCL, with whatever driver there is (PoCL runs on the CPU), on two devices that one
# is divided into, and on those of two platforms.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=tests/device/opencl.sh
. "$repo/tests/device/opencl.sh"
# PoCL and LLVM keep some memory until the process ends.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
lookups() { # NAME ENVIRONMENT...
    run env TXMILL_PLUGINS="$plugins" TXM_DEVICE=opencl "${@:2}" "$build/tests/tile/device/test_device"
    check "$1" eval 'rc_is 0 && prints "100%: Checks: "'
}
lookups one
if [ -n "${SANITIZED:-}" ]; then
    skip pictures "the plain pass renders them; cli_play.sh renders with the host's code"
    finish
fi
if TXMILL_PLUGINS=$plugins TXMILL_OPENCL_PARTITION=2 "$TXMILL" devices --json >parts.json &&
    json parts.json "sum(d['usable'] for d in o[0]['opencl']['devices']) >= 2"; then
    lookups parts TXM_DEVICES=2 TXMILL_OPENCL_PARTITION=2
else
    skip parts "no device here can be divided"
fi
if two_platforms; then
    lookups platforms TXM_DEVICES=2 "${second[@]}"
else
    skip platforms "a second platform over this machine's driver cannot be used"
fi

# ---- a renderer's own kernel: its picture is that of a renderer on the processor --------------------------------------
cp "$golden/rgb8.png" floor.png && "$TXMILL" make -q floor.png && mv blender_tx/floor.png.*.tx floor.tx && rm floor.png
mkdir -p headers/txtile && cp "$repo"/include/txtile/*.h "$build/gen/include/txtile/kernel.h" headers/txtile
export LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
for name in wavefront kernel_opencl; do
    run "${CC:-cc}" -std=c11 -O1 -Wall -Wextra -Werror -Iheaders "$repo/examples/$name.c" -L"$build" -ltxtile -lOpenCL -lpthread -lm -o "$name"
    check "example-$name-builds" rc_is 0
done
run ./wavefront floor.tx here.ppm
check example-processor rc_is 0
run env TXMILL_PLUGINS="$plugins" ./kernel_opencl opencl:0 floor.tx there.ppm headers
check example-kernel rc_is 0
check example-kernel-bits cmp here.ppm there.ppm
check example-not-black test "$(tail -c 300000 there.ppm | tr -d '\000' | wc -c)" -gt 200000

# ---- pictures ----------------------------------------------------------------------------------------------------------
cp "$golden"/{rgb8.png,rgba8.png} . && "$TXMILL" make -q -c sRGB -a straight rgb8.png rgba8.png
# picture NAME VERB "OPTIONS" ENVIRONMENT...: the picture must equal the processor's, whatever the device does.
made=
picture() {
    # shellcheck disable=SC2086
    [ "$made" = "$2 $3" ] || "$TXMILL" stream "$2" room rgb8.png rgba8.png --size 64x36 $3 -q --overwrite -o here.exr
    made="$2 $3"
    # shellcheck disable=SC2086
    run env TXMILL_PLUGINS="$plugins" "${@:4}" "$TXMILL" stream "$2" room rgb8.png rgba8.png --size 64x36 $3 --json --overwrite -o there.exr \
        --device opencl:0
    cp out device.json
    check "$1-exit" rc_is 0
    run "$TXMILL" diff here.exr there.exr
    check "$1-bits" rc_is 0
}
devices_are() { json device.json "all($1 for d in o[0]['devices'])"; }
kept() { check "$1-kept" devices_are 'not d["lost"] and d["tiles_copied"] and d["launches"] == d["syncs"] >= d["table_copies"]'; }
picture render render "--samples 2"
kept render
picture play play "--frames 8 --frame-ms 10 --tile-ms 0.3 --bounces 1"
kept play
if [ ${#second[@]} -gt 0 ]; then
    both() { # VERB OPTIONS: the picture of both platforms together
        # shellcheck disable=SC2086
        run env "${second[@]}" "$TXMILL" stream "$1" room rgb8.png rgba8.png --size 128x72 $2 --json --overwrite -o there.exr --device opencl:0,opencl:1
        cp out device.json
        check "platforms-$1-exit" rc_is 0
        check "platforms-$1-both" devices_are 'len(o[0]["devices"]) == 2 and d["tiles_copied"] and d["launches"] == d["syncs"] >= d["table_copies"]'
        "$TXMILL" stream "$1" room rgb8.png rgba8.png --size 128x72 $2 -q --overwrite -o here.exr
        run "$TXMILL" diff here.exr there.exr
        check "platforms-$1-bits" rc_is 0
    }
    both render "--samples 2"
    both play "--frames 4 --virtual"
    made=
    run env "${second[@]}" "$TXMILL" stream render room rgb8.png rgba8.png --size 32x18 --device opencl:99
    check platforms-99-exit rc_is 4
    check platforms-99-says says "no device opencl:99: 'txmill devices' lists the devices of this machine; use --device cpu"
fi
picture play-scene play "--frames 6 --virtual --sampling scene --cache 300K --policy render-tiles --marks 0"
kept play-scene
faults=(LD_PRELOAD="$build/tests/opencl/faults.so")
# lost NAME REASON: a device that fails costs one line of output, and the picture is the same.
lost() {
    check "$1-lost" devices_are 'd["lost"] and d["lookups_by_processor"]'
    check "$1-says" says "$2; its work was done by the other devices or by the CPU"
    check "$1-one-line" test "$(grep -c 'by the other devices or by the CPU' err)" = 1
}
again() { run env TXMILL_PLUGINS="$plugins" "${@:2}" "$TXMILL" stream "$1" room rgb8.png rgba8.png --size 32x18 --device opencl:0 --json; cp out device.json; }
for verb in render play; do
    few=$([ $verb = play ] && echo "--frames 4 --virtual" || echo "--samples 2")
    picture "$verb-lost" $verb "$few" "${faults[@]}" TXM_CL_LOSE=12
    check "$verb-lost-late" devices_are 'd["lost"] and d["lookups_by_processor"] and d["launches"]'
    picture "$verb-no-build" $verb "$few" "${faults[@]}" TXM_CL_FAIL_BUILD=1
    check "$verb-no-build-lost" devices_are 'd["lost"]'
    # Both verbs allocate memory alike.
    for n in $(thorough || [ $verb = render ] && echo 6 9 12 || echo 9); do
        picture "$verb-no-memory-$n" $verb "$few" "${faults[@]}" TXM_CL_FAIL_BUFFER=$n
        check "$verb-no-memory-$n-kept" devices_are 'not d["lost"] and d["lookups_by_processor"]'
    done
    picture "$verb-memory-midway" $verb "$few" "${faults[@]}" TXM_CL_FAIL_COPY=4
done
again render "${faults[@]}" TXM_CL_LOSE=12
lost render "opencl:0: launch: the device is not available"
again render "${faults[@]}" TXM_CL_CRASH_BUILD=1 XDG_CACHE_HOME="$PWD/none"
lost crash "opencl:0: launch: its driver crashed while it compiled the kernels (Segmentation fault)"
# Without any memory on it, a device that was named is an error, as a device that does not exist is.
again render "${faults[@]}" TXM_CL_FAIL_BUFFER=1
check no-memory-exit rc_is 4
check no-memory-says says "opencl:0: no memory for tiles"
again render OCL_ICD_VENDORS="$PWD/none"
check no-driver-exit rc_is 4
finish
