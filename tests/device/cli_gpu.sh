#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Conversions through a device plug-in from end to end must give the CPU's bytes, whatever the device does. `make check`
# runs them over a runtime on the CPU (tests/device/gpu_runtime.c) and over OpenCL (cli_gpu_opencl.sh). For make
# check-gpu, TXM_GPU_FOLDER is the folder of real plug-ins, and TXM_GPU_BACKEND selects one of them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}
real=${TXM_GPU_FOLDER:-}
backend=${TXM_GPU_BACKEND:-cuda}
[ -n "$real" ] || export XDG_CACHE_HOME=$work/cache
gpus=${real:-$build/tests/gpu}
on_gpu() { run env TXMILL_PLUGINS="$gpus" "$@"; }
# Makes the image on the CPU, and on a device with more options and variables: the file must be the same, and the device
# must have made it.
reference() { "$TXMILL" make -q --device cpu "${@:2}" -o cpu.tx "$1" || not_ok reference "$*"; }
same() { # NAME IMAGE ENVIRONMENT... -- OPTION...
    local name=$1 image=$2 environment=()
    shift 2
    while [ "$1" != -- ]; do environment+=("$1"); shift; done
    shift
    rm -f gpu.tx
    on_gpu env "${environment[@]}" "$TXMILL" make --json --device "$backend" "$@" -o gpu.tx "$image"
    check "same-$name" cmp cpu.tx gpu.tx
}
# Which device made the only file, without a Python for each.
on_device() { head -n 1 out | grep -q "\"device\":\"$backend:"; }
on_cpu() { head -n 1 out | grep -q '"device":"cpu"'; }

# High rather than wide: the rows decide how many chunks there are.
python3 - <<'END'
import random, struct, zlib
random.seed(3)
def png(name, w, h, color, depth, pixel):
    rows = b"".join(b"\0" + b"".join(pixel(x, y) for x in range(w)) for y in range(h))
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, color, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))
noise = [random.randbytes(8) for _ in range(4096)]
n = lambda x, y: noise[(x * 7 + y * 131) % 4096]
png("rgba.png", 75, 777, 6, 8, lambda x, y: bytes([x & 255, (x + y) & 255, n(x, y)[0], (255, 0, n(y, x)[1])[x % 3]]))
png("even.png", 160, 640, 2, 8, lambda x, y: bytes([x & 255, y & 255, (x * y) >> 8 & 255]))
png("deep.png", 70, 300, 6, 16, lambda x, y: n(x, y))
png("grey.png", 66, 500, 2, 8, lambda x, y: bytes([(x + y) & 255]) * 3)
png("late.png", 66, 500, 2, 8, lambda x, y: bytes([(x + y) & 255, (x + y) & 255, (x + y + (y > 490)) & 255]))
png("sky.png", 66, 500, 2, 8, lambda x, y: b"\x40\x50\x60" if y < 200 else n(x, y)[:3])
png("noise.png", 200, 200, 2, 8, lambda x, y: n(x * 31, y * 17)[:3])
END

# ---- every type, in one chunk and in many -----------------------------------------------------------------------------
images=("$golden"/{rgb8.png,rgba8.png,rgb16.png,gray8.png,graya8.png,gray-in-rgb.png,wide.png,narrow.png,tile64.png,tile65.png}
    "$golden"/{rgba16-straight.tif,photo.jpg}
    "$PWD"/{rgba,even,deep,grey,late,sky,noise}.png)
# All images of a type and number of channels take the same path; one is enough for a quick run.
if ! thorough; then
    images=("$golden"/{rgba8.png,gray8.png,graya8.png,narrow.png,rgba16-straight.tif}
        "$PWD"/{deep,late,sky}.png)
fi
for image in "${images[@]}"; do
    name=$(basename "$image")
    reference "$image" --tile 16
    same "$name" "$image" -- --tile 16
    check "on-device-$name" on_device
    case $name in
    rgb16.png) memory=1800k ;;
    *) memory=700k ;;
    esac
    same "$name-small" "$image" -- --tile 16 --device-memory $memory
    check "on-device-$name-small" on_device
done
reference "$golden/constant.png"
same constant "$golden/constant.png" --
check constant-on-cpu on_cpu

# ---- settings ---------------------------------------------------------------------------------------------------------
settings() { # NAME IMAGE OPTION...
    reference "${@:2}"
    same "$1" "$2" TXM_FAKE_EAGER=1 -- "${@:3}"
    check "on-device-$1" on_device
    same "$1-small" "$2" -- --device-memory 3M "${@:3}"
    check "on-device-$1-small" on_device
}
settings none rgba.png --compression none
settings zstd deep.png --compression zstd
settings strict grey.png --strict
settings packed rgba.png --alpha-type channel_packed
settings packed-5.2 rgba.png --alpha-type channel_packed --blender 5.2
settings opaque rgba.png --alpha-type none
settings data rgba.png --colorspace Non-Color
settings linear even.png --colorspace "Linear Rec.709"
settings tile-128 even.png --tile 128 -j 4
settings one-thread sky.png -j 1
reference rgba.png --envlatl
same equiangular rgba.png -- --envlatl -v
check equiangular-on-cpu on_cpu
check equiangular-says says "latitude-longitude images are filtered there"

for image in half-rgba float-gray; do
    reference "$golden/$image.exr"
    same "$image" "$golden/$image.exr" -- -v
    check "$image-on-cpu" on_cpu
    check "$image-says" says "half and float images are converted there"
done

reference rgba.png --colorspace ACEScg
same converted rgba.png -- --colorspace ACEScg
check converted-on-cpu on_cpu # it is stored as half

# ---- a batch: many images in flight -----------------------------------------------------------------------------------
# Images of all types and of many sizes, each more than once under other names, so that buffers of all sizes take turns.
mkdir batch
for i in 1 2 3; do
    for image in "$golden"/{rgb8.png,gray8.png,graya8.png,rgba16-straight.tif,photo.jpg,half-rgba.exr,constant.png} \
        "$PWD"/{rgba,even,late,deep}.png; do
        cp "$image" "batch/$i-$(basename "$image")"
    done
done
"$TXMILL" make -q --device cpu batch
mv batch/blender_tx batch_tx
files=$(find batch_tx -type f | wc -l)
batch() { # NAME ENVIRONMENT... -- OPTION...: makes the folder; the files must be those of the CPU
    local name=$1 environment=()
    shift
    while [ "$1" != -- ]; do environment+=("$1"); shift; done
    shift
    rm -rf batch/blender_tx report
    on_gpu env TXM_FAKE_REPORT="$PWD/report" "${environment[@]}" "$TXMILL" make --json --device "$backend" "$@" batch
    check "batch-$name-exit" rc_is 0
    check "batch-$name-same" diff -r batch/blender_tx batch_tx
}
warnings() { grep -c "on the CPU" err; }
of_report() { sed -nE "s/.* $1=([0-9]+) .*/\1/p" report | sort -n | tail -n 1; }
check batch-is-many test "$files" -eq 33
for j in 1 2 4; do
    batch "$j-threads" -- -j $j
    check "batch-$j-on-device" test "$(grep -c "\"device\":\"$backend:" out)" -ge 2
done
check batch-no-message test ! -s err

# ---- wording ---------------------------------------------------------------------------------------------------------
on_gpu "$TXMILL" make --device "$backend:99" --dry-run rgba.png
check no-such-device-exit rc_is 4
check no-such-device says "counted from 0"
on_gpu "$TXMILL" make --force -v -o gpu.tx grey.png
check auto-says-why says "no device was measured on this machine"
on_gpu "$TXMILL" make --device "$backend" -v -o gpu.tx even.png
check cuda-says-so says "on $backend:0: as requested"
run env TXMILL_PLUGINS="$build/tests/gpu-old" "$TXMILL" make --device cuda --dry-run rgba.png
check other-build-exit rc_is 4
check other-build says "is from another build"
mkdir plugins && echo "no library" >plugins/txmill-cuda.so
run env TXMILL_PLUGINS="$PWD/plugins" "$TXMILL" make --device cuda --dry-run rgba.png
check broken-plugin says "device cuda:"
check broken-plugin-exit rc_is 4
run env TXMILL_PLUGINS="$PWD/plugins" "$TXMILL" make --device cpu --dry-run rgba.png
check cpu-loads-nothing rc_is 0
[ -z "$real" ] || finish

# ---- memory -----------------------------------------------------------------------------------------------------------
reference even.png
peak_of() { sed -nE 's/.* peak=([0-9]+) .*/\1/p' report | sort -n | tail -n 1; }
for bound in 2000000 1500000 1350000; do
    rm -f report
    same "bound-$bound" even.png TXM_FAKE_REPORT="$PWD/report" -- --device-memory $bound
    check "bound-$bound-on-device" on_device
    # The curve's tables, less than 0.8 MB for each device, do not count towards the limit.
    check "bound-$bound-kept" test "$(peak_of)" -le $((bound + 800000))
done
same free-memory even.png TXM_FAKE_MEMORY=5000000 --
check free-memory-on-device on_device
same too-little even.png -- --device-memory 100k
check too-little-on-cpu on_cpu
check too-little-says says "on the CPU: it would take"
rm -f report
reference "$golden/photo.jpg"
same pinned "$golden/photo.jpg" TXM_FAKE_REPORT="$PWD/report" -- --max-memory 78M -j 4
check pinned-on-device on_device
check left-nothing grep -q "pinned_left=0" report

# In a batch, too, the bound is that of all images together. With one thread, others begin while the first ones wait.
for bound in 4000000 30000000; do
    batch "bound-$bound" TXM_FAKE_PROCESSORS=132 -- -j 4 --device-memory $bound
    check "batch-bound-$bound-kept" test "$(of_report peak)" -le $((bound + 800000))
    check "batch-bound-$bound-left" grep -q "pinned_left=0" report
done
streams_of_one=3
batch one-thread TXM_FAKE_PROCESSORS=132 -- -j 1
check batch-one-thread-in-flight test "$(of_report streams)" -gt $((2 * streams_of_one))
# What fails in the middle of a batch is said once, and the rest is made on the CPU.
for j in 1 4; do
    batch "lost-$j" TXM_FAKE_LOSE=500 TXM_FAKE_PROCESSORS=132 -- -j $j
    check "batch-lost-$j-says-once" test "$(warnings)" -eq 1
    check "batch-lost-$j-says" says "the device was lost; starting again on the CPU"
    check "batch-lost-$j-in-the-middle" test "$(grep -c '"device":"cuda:' out)" -ge 1
    batch "no-memory-$j" TXM_FAKE_FAIL_FROM=9 -- -j $j
    check "batch-no-memory-$j-says-once" test "$(warnings)" -eq 1
    check "batch-no-memory-$j-says" says "out of memory"
done
batch short-of-memory TXM_FAKE_FAIL_ALLOC=9 -- -j 2
check batch-short-goes-on test "$(grep -c '"device":"cuda:' out)" -ge 4
check batch-short-says-once test "$(warnings)" -eq 1
check batch-no-temporaries no_temporaries

# ---- failures: the same file, and a message ----------------------------------------------------------------------------
reference rgba.png
for n in 1 2 3; do
    same "no-memory-$n" rgba.png TXM_FAKE_FAIL_ALLOC=$n -- --device-memory 1600k
    check "no-memory-$n-exit" rc_is 0
    check "no-memory-$n-on-cpu" on_cpu
    check "no-memory-$n-says" says "out of memory"
done
for n in 1 2 5 17 40 60; do
    same "lost-$n" rgba.png TXM_FAKE_LOSE=$n -- --device-memory 1600k
    check "lost-$n-exit" rc_is 0
    check "lost-$n-on-cpu" on_cpu
    check "lost-$n-says" says "the device was lost; starting again on the CPU"
done
reference late.png
same lost-grey late.png TXM_FAKE_LOSE=30 -- --device-memory 1200k
check no-temporaries no_temporaries

# A device that is lost gets no more work. The other devices and the CPU go on.
mkdir many
copies=5
for ((i = 1; i <= copies; i++)); do cp even.png "many/a$i.png"; cp rgba.png "many/b$i.png"; done
"$TXMILL" make -q --device cpu many/*.png
mv many/blender_tx reference_tx
all_same() { [ "$(ls many/blender_tx | wc -l)" -eq $((2 * copies)) ] && diff -r many/blender_tx reference_tx; }
on_gpu env TXM_FAKE_DEVICES=3 TXM_FAKE_REPORT="$PWD/spread" "$TXMILL" make --json -j 6 --device cuda many/*.png
check spread-exit rc_is 0
check spread-same all_same
check spread-over-all test "$(grep -cE 'kernels=[1-9]' spread)" -eq 3
rm -r many/blender_tx
on_gpu env TXM_FAKE_DEVICES=2 TXM_FAKE_LOSE=60 "$TXMILL" make --json -j 3 --device cuda many/*.png
check one-lost-exit rc_is 0
check one-lost-same all_same
check one-lost-says says "starting again on the CPU"
check one-lost-other-works json out "len({x['device'] for x in o if x['type'] == 'file'} - {'cpu'}) >= 1"
rm -r many/blender_tx
on_gpu env TXM_FAKE_DEVICES=2 "$TXMILL" make --json -j 2 --device cuda:1 many/*.png
check chosen-same all_same
check chosen json out "{x['device'] for x in o if x['type'] == 'file'} - {'cpu'} == {'cuda:1'}"

if has_jsonschema; then check json-schema valid_json make out; else skip json-schema "python3-jsonschema is missing"; fi
finish
