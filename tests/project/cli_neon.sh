#!/usr/bin/env bash
# The NEON back-end, cross-compiled and run under qemu-user, must equal scalar C bit for bit.
# Plain builds only: it compiles and runs a program of its own
# Slow: 25 s in an emulator
set -u
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    if ! command -v $tool >/dev/null; then
        echo "skip neon ($tool is not installed: packages gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)"
        exit 0
    fi
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if aarch64-linux-gnu-gcc -std=c11 -O2 -ffp-contract=off -fno-math-errno -D_GNU_SOURCE -DTXM_VERSION='""' -static -Iinclude -Isrc \
    -Itests/util tests/tile/ops/isa_main.c tests/util/util_isa.c tests/util/util_sample.c src/tile/sample/s[ac]*.c src/tile/sample/arm/*.c src/tile/sample/simd/*.c src/tile/ops/*.c \
    src/tile/ops/arm/*.c src/tile/terms/pixel.c src/tile/terms/status.c src/base/fail.c src/base/text.c src/base/bytes.c -lm -lpthread -o "$dir/isa"; then
    said=$(qemu-aarch64 "$dir/isa" neon 40)
    for what in "row operations" lookups; do
        case $said in
            *"$what of neon: equal to scalar"*) echo "ok neon-${what// /-}-equal-scalar" ;;
            *) echo "not ok neon-${what// /-}-equal-scalar: $said" ;;
        esac
    done
else
    echo "not ok neon-compiles"
fi
