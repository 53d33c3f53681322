#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What only OpenCL has: refused devices, broken drivers, kernels that cannot be compiled or are cached, memory that runs
# out, lost devices, several devices, and how `auto` uses measurements.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# PoCL's and LLVM's own leaks do not count, and a driver that crashes ends its process under sanitizers, too.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:handle_segv=0
# shellcheck source=tests/device/opencl.sh
. "$repo/tests/device/opencl.sh"
on() { run env TXMILL_PLUGINS="$plugins" "$@"; }
python3 - <<'END'
import random, struct, zlib
random.seed(4)
rows = b"".join(b"\0" + random.randbytes(333 * 4) for _ in range(200))
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
with open("noise.png", "wb") as f:
    f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 333, 200, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))
END
"$TXMILL" make -q --device cpu -o cpu.tx noise.png
# convert NAME ENVIRONMENT...: the file must equal the CPU's, whatever happens.
convert() {
    rm -f gpu.tx
    on env "${@:2}" "$TXMILL" make --json --device opencl -o gpu.tx noise.png
    check "$1-exit" rc_is 0
    check "$1-same" cmp cpu.tx gpu.tx
}
made_on() { json out "o[0]['device'] == '$1'"; }

# ---- every operation against scalar C -------------------------------------------------------------------------------
TXM_BUILD=$build TXM_GPU_PLUGIN=$plugins/txmill-opencl.so run "$build/tests/device/test_gpu"
check operations rc_is 0

# ---- compiled kernels are kept, and checked ---------------------------------------------------------------------------
convert first
check first-on-device made_on opencl:0
kernels() { find "$XDG_CACHE_HOME/txmill/opencl" -type f; }
check cached test "$(kernels | wc -l)" -ge 1
export XDG_CACHE_HOME=$work/own
mkdir -p "$XDG_CACHE_HOME"
cp -rp "$build/tests/opencl/cache/txmill" "$XDG_CACHE_HOME"
# Finds the newest kernel for conversion: lookups have kernels of their own, and older builds had others.
file=$(kernels | xargs grep -la ingest | xargs ls -t | head -n 1)
damage() { # NAME COMMAND...
    cp "$file" good
    "${@:2}"
    convert "$1"
    check "$1-on-device" made_on opencl:0
    check "$1-rebuilt" test "$(stat -c %s "$file")" -gt 10000 -a -z "$(find "$XDG_CACHE_HOME" -name '*.??????')"
    cp good "$file"
    chmod 600 "$file"
}
damage cut truncate -s 5000 "$file"
flip() { printf '\377\376\375' | dd of="$file" bs=1 seek=9000 conv=notrunc 2>/dev/null; }
damage flipped flip
damage others-may-write chmod 666 "$file"
check not-trusted test "$(stat -c %a "$file")" = 600
# A draft that a killed process has left is in nobody's way after a minute.
drafts_are() { test "$(find "$XDG_CACHE_HOME" -name '*.part' | wc -l)" -eq "$1"; }
cp "$file" good
for age in now "2 minutes ago"; do
    rm -f "$file"
    head -c 3000 good >"$file.part"
    touch -d "$age" "$file.part"
    convert "killed-${age%% *}"
    check "killed-${age%% *}-on-device" made_on opencl:0
    check "killed-${age%% *}-kept" eval '[ -s "$file" ] && drafts_are 0 || { [ "$age" = now ] && [ ! -e "$file" ] && drafts_are 1; }'
done
one_warning() { [ "$(grep -c 'txmill: warning:' err)" = 1 ]; }
# A cache that cannot be written: one line, nothing is left behind, and the device converts.
not_kept() { # NAME REASON ENVIRONMENT...
    convert "$1" "${@:3}"
    check "$1-on-device" made_on opencl:0
    check "$1-says" eval '[ "$(grep -c "opencl:0: compiled kernels cannot be kept, and are compiled again next time: .*: $2" err)" = 1 ]'
    check "$1-one-line" one_warning
}
rm "$file"
# Compiled kernels are larger than the file that is converted. Under a limit of that size not even the process that
# compiles them can hand them over, so the CPU converts.
limit=$((($(stat -c %s good) - 1) / 1024))
(
    trap '' XFSZ
    ulimit -f "$limit"
    convert file-limit
    check file-limit-one-line one_warning
    exit "$failures"
)
failures=$((failures + $?))
check file-limit-leaves-nothing eval 'drafts_are 0 && [ ! -e "$file" ]'
# Nor can a cache in place of which there is a file, or that is on a full disk; the driver's own is elsewhere.
touch not-a-folder
not_kept no-folder "Not a directory" XDG_CACHE_HOME="$PWD/not-a-folder"
mkdir small
if unshare -rm mount -t tmpfs -o "size=${limit}k" none small 2>/dev/null; then
    plain=$TXMILL
    printf '#!/bin/sh\nexec unshare -rm sh -c '\''mount -t tmpfs -o size=%sk none "$XDG_CACHE_HOME" && exec "%s" "$@"'\'' sh "$@"\n' "$limit" "$TXMILL" >full
    chmod +x full
    TXMILL=$PWD/full
    not_kept full-disk "No space left on device" XDG_CACHE_HOME="$PWD/small"
    TXMILL=$plain
else
    skip full-disk "no file system can be mounted here"
fi
rm -r "$XDG_CACHE_HOME"
convert no-home HOME=/nonexistent XDG_CACHE_HOME=
check no-home-on-device made_on opencl:0
cp -r "$build/tests/opencl/cache" "$XDG_CACHE_HOME"

# ---- drivers -----------------------------------------------------------------------------------------------------------
mkdir vendors none
on env OCL_ICD_VENDORS="$PWD/none" "$TXMILL" devices
check no-driver prints "opencl   none: there is no OpenCL device"
on env OCL_ICD_VENDORS="$PWD/none" "$TXMILL" make --device opencl --dry-run noise.png
check no-driver-exit rc_is 4
check no-driver-says says "device opencl: there is no OpenCL device; use --device cpu or auto"
if [ -e "$build/tests/opencl/crash.so" ]; then
    echo "$build/tests/opencl/crash.so" >vendors/crash.icd
    broken=(OCL_ICD_VENDORS="$PWD/vendors/crash.icd")
    on env "${broken[@]}" "$TXMILL" devices
    check broken-exit rc_is 0
    check broken prints "opencl   none: no OpenCL driver or device can be used: a driver crashed when it was started (Segmentation fault)"
    on env "${broken[@]}" "$TXMILL" make --device opencl -o gpu.tx noise.png
    check broken-named-exit rc_is 4
    check broken-named says "a driver crashed"
    on env "${broken[@]}" "$TXMILL" make -q -o gpu.tx noise.png
    check broken-auto rc_is 0
    check broken-auto-same cmp cpu.tx gpu.tx
    on env "${broken[@]}" TXM_CL_HANG=1 TXMILL_OPENCL_SECONDS=1 "$TXMILL" devices
    check hangs-exit rc_is 0
    check hangs prints "opencl   none: no OpenCL driver or device can be used: a driver did not answer within 1 s"
    on env "${broken[@]}" TXM_CL_HANG=1 TXMILL_OPENCL_SECONDS=1 "$TXMILL" make --device opencl -o gpu.tx noise.png
    check hangs-named-exit rc_is 4
    check hangs-named-one-line test "$(grep -c 'did not answer' err)" = 1
    on env "${broken[@]}" TXM_CL_HANG=1 "$TXMILL" make -q -o gpu.tx noise.png
    check hangs-auto rc_is 0
    check hangs-auto-same cmp cpu.tx gpu.tx
fi

# ---- faults ------------------------------------------------------------------------------------------------------------
case $build in
*-sanitize) skip faults "a sanitizer's library must be loaded first" ;;
*)
    faults=(LD_PRELOAD="$build/tests/opencl/faults.so")
    for lack in "denormals:it has no denormal numbers" "rounding:its divisions and square roots are not correctly rounded" \
        "doubles:it has no double precision"; do
        on env "${faults[@]}" TXM_CL_LACKS="${lack%%:*}" "$TXMILL" devices
        check "refused-${lack%%:*}" prints "; not usable: ${lack#*:}"
        on env "${faults[@]}" TXM_CL_LACKS="${lack%%:*}" "$TXMILL" make --device opencl --dry-run noise.png
        check "refused-${lack%%:*}-exit" rc_is 4
        check "refused-${lack%%:*}-says" says "${lack#*:}"
    done
    # A compiler that crashes or hangs does so in a process of its own. Kernels that are compiled already need none.
    for how in crash:"its driver crashed while it compiled the kernels (Segmentation fault)" \
        hang:"its driver did not compile the kernels within 20 s"; do
        name=${how%%:*}
        convert "$name-build" "${faults[@]}" "TXM_CL_${name^^}_BUILD=1" TXMILL_OPENCL_SECONDS=20 XDG_CACHE_HOME="$PWD/none"
        check "$name-build-on-cpu" made_on cpu
        check "$name-build-says" says "${how#*:}"
        check "$name-build-one-line" test "$(grep -cF "${how#*:}" err)" = 1
    done
    convert crash-cached "${faults[@]}" TXM_CL_CRASH_BUILD=1
    check crash-cached-on-device made_on opencl:0
    convert no-build "${faults[@]}" TXM_CL_FAIL_BUILD=1
    check no-build-on-cpu made_on cpu
    check no-build-says says "its driver cannot compile the kernels"
    check no-build-one-line test "$(grep -c 'cannot compile' err)" = 1
    for n in 1 2 3; do
        convert "no-memory-$n" "${faults[@]}" TXM_CL_FAIL_BUFFER=$n
        check "no-memory-$n-on-cpu" made_on cpu
        check "no-memory-$n-says" says "the device's memory is exhausted"
    done
    convert memory-midway "${faults[@]}" TXM_CL_FAIL_COPY=2
    check memory-midway-on-cpu made_on cpu
    # In the middle of a batch: it is said once, and all files are those of the CPU.
    mkdir batch
    for i in {1..12}; do cp noise.png "batch/a$i.png"; done
    cp "$golden"/{rgb8,gray8,rgb16}.png batch
    "$TXMILL" make -q --device cpu batch
    mv batch/blender_tx batch_tx
    batch() { # NAME ENVIRONMENT... -- OPTION...
        rm -rf batch/blender_tx
        local name=$1 environment=()
        shift
        while [ "$1" != -- ]; do environment+=("$1"); shift; done
        on env "${faults[@]}" "${environment[@]}" "$TXMILL" make --json --device opencl "${@:2}" batch
        check "batch-$name-exit" rc_is 0
        check "batch-$name-same" diff -r batch/blender_tx batch_tx
    }
    for fault in LOSE=70 FAIL_BUFFER=5 FAIL_COPY=5; do
        for j in 1 4; do
            batch "$fault-$j" "TXM_CL_$fault" -- -j $j
            check "batch-$fault-$j-says-once" test "$(grep -c "on the CPU" err)" -eq 1
            [ $j != 1 ] || check "batch-$fault-in-the-middle" grep -q '"device":"opencl:' out
        done
    done
    batch bound TXM_CL_REPORT="$PWD/peak" -- -j 4 --device-memory 20M
    check batch-bound-on-device test "$(grep -c '"device":"opencl:' out)" -ge 2
    check batch-bound-kept test "$(cat peak)" -le $((20 * 1048576 + 800000)) # the curve's tables do not count
    for n in 1 3 20; do
        convert "lost-$n" "${faults[@]}" TXM_CL_LOSE=$n
        check "lost-$n-on-cpu" made_on cpu
        check "lost-$n-says" says "the device is not available; starting again on the CPU"
    done
    ;;
esac

# ---- several devices ---------------------------------------------------------------------------------------------------
export TXMILL_OPENCL_PARTITION=2
on "$TXMILL" devices --json
if json out "len(o[0]['opencl']['devices']) >= 2"; then
    mkdir many
    for i in {1..6}; do cp noise.png "many/a$i.png"; done
    "$TXMILL" make -q --device cpu many/*.png
    mv many/blender_tx reference
    on "$TXMILL" make --json -j 4 --device opencl many/*.png
    check parts-exit rc_is 0
    check parts-both json out "{'opencl:0', 'opencl:1'} <= {x['device'] for x in o if x['type'] == 'file'}"
    cp out parts.json
    on "$TXMILL" make --json --device opencl:1 --force -o gpu.tx noise.png
    check parts-chosen made_on opencl:1
    check parts-same cmp cpu.tx gpu.tx
    check parts-all-same diff -r many/blender_tx reference
else
    skip parts "no device here can be divided"
fi
unset TXMILL_OPENCL_PARTITION
if two_platforms; then
    count=$(python3 -c 'import json; print(len(json.load(open("platforms.json"))["opencl"]["devices"]))')
    run env "${second[@]}" "$TXMILL" devices
    for ((i = 0; i < count; i++)); do check "platforms-$i" prints "opencl:$i"; done
    for ((i = 0; i < count; i++)); do
        rm -f gpu.tx
        run env "${second[@]}" "$TXMILL" make --json --device "opencl:$i" -o gpu.tx noise.png
        check "platforms-$i-chosen" made_on "opencl:$i"
        check "platforms-$i-same" cmp cpu.tx gpu.tx
    done
    for i in "$count" 99; do
        run env "${second[@]}" "$TXMILL" make --device "opencl:$i" -o gpu.tx noise.png
        check "platforms-no-$i-exit" rc_is 4
        check "platforms-no-$i-says" says "there are $count OpenCL devices, counted from 0"
    done
    mkdir several
    for i in {1..6}; do cp noise.png "several/a$i.png"; done
    "$TXMILL" make -q --device cpu several/*.png
    mv several/blender_tx several-reference
    run env "${second[@]}" "$TXMILL" make --json -j 4 --device opencl several/*.png
    check platforms-both json out "{'opencl:0', 'opencl:1'} <= {x['device'] for x in o if x['type'] == 'file'}"
    check platforms-all-same diff -r several/blender_tx several-reference
else
    skip platforms "a second platform over this machine's driver cannot be used"
fi

# ---- auto --------------------------------------------------------------------------------------------------------------
on "$TXMILL" make -v --force -o gpu.tx noise.png
check unmeasured says "no device was measured on this machine (txmill devices --measure)"
on "$TXMILL" devices --measure --json
cp out measured.json
check measures json measured.json "all(len(d['rates']) == 4 and all(r['device_ns'] > 0 < r['cpu_ns'] and r['host_ns'] > 0 for r in d['rates']) for d in o[0]['opencl']['devices'] if d['usable'])"
check remembered test -s "$XDG_CACHE_HOME/txmill/devices"
# A driver that computes on the processor is not chosen, even if it uses all cores beside one thread.
cpu_driver=$(json measured.json "all(r['host_ns'] > r['cpu_ns'] for d in o[0]['opencl']['devices'] for r in d.get('rates', []))" && echo yes)
if [ -n "$cpu_driver" ]; then
    { printf 'P6\n640 480\n255\n' && head -c 921600 /dev/urandom; } >big.ppm
    on "$TXMILL" make -v --json -j 1 -o big.tx big.ppm
    check auto-on-cpu made_on cpu
    check auto-says says "ns of processor time meanwhile"
fi
if [ -z "${SANITIZED:-}" ]; then
    on "$TXMILL" devices --measure
    check measures-text prints "ns of processor time, on a CPU thread"
fi
if has_jsonschema; then check json-schema valid_json devices measured.json; else skip json-schema "python3-jsonschema is missing"; fi
finish
