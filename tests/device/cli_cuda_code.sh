#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the compiler's output for the GPU: nothing is contracted, flushed or approximated, so that the GPU gives the
# same bits as the CPU with the same source; no array is in slow memory; and lookups use few registers.
# Plain builds only: it looks at what nvcc makes
# Slow: 30 s of nvcc
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}
nvcc=${NVCC:-nvcc}
if ! command -v "$nvcc" >/dev/null; then
    skip cuda-code "nvcc is not installed"
    finish
fi
flags=$(sed -nE 's/^NVCC_FLAGS := (.*) \\$/\1/p' "$repo/src/device/module.mk" | sed 's/--threads 2//; s/-cudart static//')
# shellcheck disable=SC2086
run "$nvcc" $flags -I"$repo/include" -I"$repo/src" -arch=compute_75 -x cu -ptx "$repo/src/device/convert/program.c" -o code.ptx
check compiles rc_is 0
exact() { # exact PREFIX FILE
    check "$1has-divisions" grep -qE '(div|rcp)\.rn\.f32' "$2"
    for word in 'fma\.' 'mad\.[a-z.]*f[36][24]' '\.ftz' '\.approx' '\.full\.'; do
        run grep -cE "$word" "$2"
        check "$1no-${word//\\/}" prints 0
    done
}
exact "" code.ptx
run "$nvcc" -arch=sm_75 -cubin -Xptxas -v code.ptx -o code.cubin
check assembles grep -q "0 bytes stack frame" err
check no-stack test -z "$(grep -E '[1-9][0-9]* bytes (stack frame|spill)' err out)"
# Compiles lookups, and ray differentials, whose header is device code as well, without a warning.
for part in lookup:src/device/lookup/program.c ray:tests/device/ray_device.cu; do
    name=${part%%:*}
    # shellcheck disable=SC2086
    run "$nvcc" $flags -I"$repo/include" -I"$repo/src" -arch=compute_75 -x cu -ptx "$repo/${part#*:}" -o "$name.ptx"
    check "$name-compiles" rc_is 0
    check "$name-quiet" test ! -s err
    exact "$name-" "$name.ptx"
    check "$name-has-roots" grep -q 'sqrt\.rn\.f32' "$name.ptx"
done
# A renderer's own kernel, with the header that the build makes.
# shellcheck disable=SC2086
run "$nvcc" $flags -I"$repo/include" -I"$build/gen/include" -arch=compute_75 -ptx "$repo/examples/kernel_cuda.cu" -o kernel.ptx
check kernel-compiles rc_is 0
check kernel-quiet test ! -s err
exact kernel- kernel.ptx
# Half of a multiprocessor's threads, of 64 registers each, are at work in the lookups of the usual kinds; the rest must not
# grow, for example by lookups that are made of several.
for arch in 75 90; do
    run "$nvcc" -arch=sm_$arch -cubin -Xptxas -v lookup.ptx -o lookup.cubin
    check "lookup-assembles-$arch" rc_is 0
    cat out err >resources
    awk -v fits=0 '/Compiling entry function/ { split($0, word, "\x27"); name = word[2]; stack = "none" }
        /bytes stack frame/ { if (stack == "none") stack = $1 }
        /Used [0-9]+ registers/ {
            match($0, /Used [0-9]+/); used = substr($0, RSTART + 5, RLENGTH - 5)
            if (name == "several") next
            if (name == "lookup" ? used > 220 || stack > 512 : used > 64 || stack != 0) print name ": " used " registers, " stack " bytes of stack"
            else if (name ~ /^(linear|pixel)_(u8|u16|half|float)$/) fits++
        }
        END { if (fits != 8) print fits " kernels of bins fit" }' resources >unfit
    check "lookup-fits-$arch" test ! -s unfit
done
finish
