#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the instructions of the x86 variants. AVX-512 runs on few machines, and no emulator for it is packaged, so this
# checks on every machine what can be seen in the code: the operations are those of AVX2, only wider, which the tests
# compare with scalar C bit for bit. Nothing is contracted or approximated, divisions and roots are exact, and floors
# round downwards.
# Plain builds only: it looks at what compilers make
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
objects=$(dirname "$TXMILL")/src/tile
if [ "$(uname -m)" != x86_64 ] || ! command -v objdump >/dev/null || [ ! -e "$objects/sample/x86/sample_avx512.o" ]; then
    skip simd-code "no objects of x86-64 back-ends, or no objdump"
    finish
fi
for isa in avx2 avx512; do
    for f in "$objects"/sample/x86/*_$isa.o "$objects"/ops/x86/*_$isa.o; do
        name=$(basename "$f" .o)
        objdump -d --no-show-raw-insn "$f" >"$name.s"
        run grep -cE '\bv?(fn?m(add|sub)|rcp|rsqrt|getexp|getmant|range|reduce|fixupimm)[a-z0-9]*[ps][sdh]\b' "$name.s"
        check "$name-exact" prints 0
    done
done
for isa in avx2 avx512; do
    check $isa-divides grep -q vdivps sample_$isa.s
    check $isa-roots grep -qE 'vsqrt[ps]s' sample_$isa.s
done
# MXCSR's rounding mode "towards minus infinity" is 1 in an instruction, and 9 when it also suppresses the inexact
# exception.
check avx2-wide grep -qE 'vroundps \$0x[19],%ymm' sample_avx2.s
check avx512-wide grep -qE 'vrndscaleps \$0x[19],%zmm' sample_avx512.s
run grep -cE 'v(round|rndscale)[ps]s \$0x[^19]' sample_avx512.s
check avx512-floors-only prints 0
finish
