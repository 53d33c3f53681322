#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench-gpu: compares kernels with plain copies, lookups with the CPU's, and counts the bytes that lookups copy (the
# tables of docs/devices.md); then a batch of images on the CPU and on the devices of each back-end with 1 and 4 threads,
# with a model from the bytes that it copies; and single conversions with 1, 4 and 16 threads, and the share of each stage.
# Before that come figures that need no GPU: what the compiler says of the kernels. gpu.sh [BUILD [IMAGES]];
# WHAT="model kernels lookups batch conversions" runs only some parts. BATCH is a folder of images; otherwise the batch has
# COPIES (6) of each of IMAGES. After GPU_SECONDS (150) no further conversion begins.
set -eu
build=${1:-build}
images=${2:-bench-images}
TXMILL_PLUGINS=${TXMILL_PLUGINS:-$PWD/$build}
export TXMILL_PLUGINS
what=" ${WHAT:-model kernels lookups batch conversions} "
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# Counts the instructions in the code of each kernel, and reads the registers that ptxas reports for compute capability 9.0.
model() { # PROGRAM WORDS
    local code=$out/code
    mkdir -p "$code"
    "$nvcc" -O3 -std=c++17 -fmad=false -Iinclude -Isrc -arch=compute_75 -x cu -ptx "src/device/$1/program.c" -o "$code/code.ptx"
    "$nvcc" -arch=sm_90 -cubin -Xptxas -v "$code/code.ptx" -o "$code/cubin" >"$code/said" 2>&1
    printf '\nModel, not measured: kernels of %s, of the threads of a multiprocessor those that 65,536 registers allow\n\n' "$2"
    echo '| kernel | instructions of PTX, functions that it calls excluded | registers | bytes of stack | threads of 2048 |'
    echo '|---|---|---|---|---|'
    awk 'FNR == NR {
            if ($0 ~ /^\.visible \.entry/) { split($3, word, "("); kernel = word[1] }
            else if ($0 ~ /^}/) kernel = ""
            else if (kernel && $0 ~ /^\t[@a-z].*;$/ && $0 !~ /^\t\./) n[kernel]++
            next
        }
        /Compiling entry function/ { split($0, word, "\047"); kernel = word[2]; stack = "" }
        /bytes stack frame/ { if (stack == "") stack = $1 }
        /Used [0-9]+ registers/ {
            match($0, /Used [0-9]+/); used = substr($0, RSTART + 5, RLENGTH - 5)
            warps = int(65536 / (int((used + 7) / 8) * 8 * 32)); warps = warps > 64 ? 64 : warps
            print "| " kernel " | " n[kernel] " | " used " | " stack " | " 32 * warps " |"
        }' "$code/code.ptx" "$code/said"
}
nvcc=${NVCC:-nvcc}
case $what in
    *" model "*)
        if command -v "$nvcc" >/dev/null; then
            model lookup lookups
            model convert conversion
        else
            echo "skip model ($nvcc is not installed)"
        fi ;;
esac
: >"$out/kernels"
case $what in *" kernels "*) "$build/bench_gpu" | tee "$out/kernels" ;; esac
devices=$("$build/txmill" devices --json | python3 -c 'import json, sys
o = json.load(sys.stdin)
print(*(b for b in ("cuda", "opencl") if any(d["usable"] for d in o[b]["devices"])))')
[ -n "$devices" ] || exit 0
case $what in
    *" lookups "*)
        (
            # shellcheck source=bench/photo4k.sh
            . bench/photo4k.sh
            "$build/bench_device" "$out/photo4k.tx"
        ) ;;
esac
names=${IMAGES:-photo8k.jpg rgba4k.png}
# shellcheck disable=SC2086
make_images() { bench/images.sh "$images" $names; }
case $what in
    *" batch "*)
        if [ -z "${BATCH:-}" ]; then
            make_images
            mkdir "$out/batch"
            for image in $names; do
                for ((i = 1; i <= ${COPIES:-6}; i++)); do cp "$images/$image" "$out/batch/$i-$image"; done
            done
        fi
        # shellcheck disable=SC2086
        python3 bench/gpu_batch.py "$build" "${BATCH:-$out/batch}" "$out/kernels" $((${GPU_SECONDS:-150} - SECONDS)) $devices ;;
esac
case $what in *" conversions "*) make_images ;; *) exit 0 ;; esac
printf '\n| image | device | threads | s | processor s | decode | conform | pyramid | hash | encode | borders | write |\n'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|'
for image in $names; do
    for threads in ${THREADS:-1 4 16}; do
        [ $SECONDS -lt "${GPU_SECONDS:-150}" ] || { echo "stop (more than ${GPU_SECONDS:-150} s have passed)"; exit 0; }
        # The least of three runs, each of which includes starting the device; devices and the CPU take turns. The
        # first, which may compile kernels, does not count.
        for round in 0 1 2 3; do
            for device in cpu $devices; do
                [ $round != 0 ] || [ $device != cpu ] || continue
                TIMEFORMAT='%U %S'
                { time "$build/txmill" make --json --device $device -j "$threads" -o "$out/$device.tx" "$images/$image" \
                    >"$out/json" 2>"$out/said" || cat "$out/said" >&2; } 2>"$out/time"
                [ $round = 0 ] || echo "$(cat "$out/time") $(grep '"type":"file"' "$out/json")"
            done
        done | python3 -c 'import json, sys
runs = {}
for line in sys.stdin:
    user, system, text = line.split(" ", 2)
    o = json.loads(text)
    o["processor"] = float(user) + float(system)
    runs.setdefault(o["device"], []).append(o)
for device, made in runs.items():
    best = min(made, key=lambda o: o["processor"])
    stages = best["stage_seconds"]
    print("| %s | %s | %s | %.2f | %.2f | %s |" % (sys.argv[1], device, sys.argv[2], best["seconds"], best["processor"],
          " | ".join("%.2f" % stages[s] for s in "decode conform pyramid hash encode borders write".split())))' \
            "$image" "$threads"
    done
    for device in $devices; do cmp "$out/cpu.tx" "$out/$device.tx"; done
done
