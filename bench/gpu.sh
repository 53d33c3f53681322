#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make bench-gpu: compares kernels with plain copies, lookups with the CPU's, and counts the bytes that lookups copy (the
# tables of docs/devices.md); then whole conversions on the CPU and on the devices of each back-end with 1, 4 and 16
# threads, and the share of each stage. gpu.sh [BUILD [IMAGES]]; WHAT="kernels lookups conversions" runs only some parts.
set -eu
build=${1:-build}
images=${2:-bench-images}
TXMILL_PLUGINS=${TXMILL_PLUGINS:-$PWD/$build}
export TXMILL_PLUGINS
what=" ${WHAT:-kernels lookups conversions} "
case $what in *" kernels "*) "$build/bench_gpu" ;; esac
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
case $what in *" conversions "*) ;; *) exit 0 ;; esac
bench/images.sh "$images"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
printf '\n| image | device | threads | s | decode | conform | pyramid | hash | encode | borders | write |\n'
echo '|---|---|---|---|---|---|---|---|---|---|---|'
for image in "$images"/{photo8k.jpg,rgba4k.png,hdr4k.exr}; do
    for device in cpu $devices; do
        for threads in 1 4 16; do
            # The best of three runs, each of which includes starting the device.
            for _ in 1 2 3; do
                "$build/txmill" make --json --device $device -j $threads -o "$out/$device.tx" "$image"
            done | python3 -c 'import json, sys
runs = [o for o in map(json.loads, sys.stdin) if o["type"] == "file"]
best = min(runs, key=lambda o: o["seconds"])
stages = best["stage_seconds"]
print("| %s | %s | %s | %.2f | %s |" % (sys.argv[1], best["device"], sys.argv[2], best["seconds"],
      " | ".join("%.2f" % stages[s] for s in "decode conform pyramid hash encode borders write".split())))' \
                "$(basename "$image")" $threads
        done
    done
    for device in $devices; do cmp "$out/cpu.tx" "$out/$device.tx"; done
done
