#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-avx512: compares AVX-512 with scalar C on a machine without AVX-512. Bochs emulates a processor that has it,
# Linux boots on that, and its only program, tests/tile/ops/isa_main.c, compares row operations and lookups bit for bit.
# There is one exception: Bochs 2.7 rounds ties up instead of to even when it converts floats to halves. The program
# recognises that from AVX2, which test_ops tests on real processors, and accepts no other difference. The kernel comes
# from Debian's package of a cloud kernel, which is unpacked and not installed. This takes minutes.
# Needs the packages of the set "bochs" (scripts/setup.sh bochs). Environment: ROUNDS of lookups (40), MINUTES to wait
# (60).
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
rounds=${ROUNDS:-40} minutes=${MINUTES:-60}
objects=${TXMILL%/txmill}/src

needs=()
for program in bochs xorriso cpio dpkg-deb apt-get; do
    command -v $program >/dev/null || needs+=("$program")
done
for file in /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 /usr/share/bochs/BIOS-bochs-latest \
    /usr/share/bochs/VGABIOS-lgpl-latest; do
    [ -e $file ] || needs+=("$file")
done
if [ ${#needs[@]} -gt 0 ]; then
    skip avx512 "missing: ${needs[*]}; scripts/setup.sh bochs installs it"
    finish
fi

# ---- the program, alone on its machine -------------------------------------------------------------------------------
cd "$repo" || exit 1
linked=()
for source in src/tile/ops/*.c src/tile/ops/x86/*.c src/tile/sample/s[ac]*.c src/tile/sample/x86/*.c src/tile/sample/simd/*.c \
    src/tile/terms/{pixel,status}.c src/base/{fail,text,bytes}.c; do
    object=$objects/${source#src/}
    linked+=("${object%.c}.o")
done
mkdir -p "$work/initrd" "$work/disc" "$work/kernel"
run cc -O2 -std=c11 -D_GNU_SOURCE -static -Iinclude -Isrc -Itests/util tests/tile/ops/isa_main.c tests/util/util_isa.c tests/util/util_sample.c \
    "${linked[@]}" -lm -lpthread -o "$work/initrd/init"
check program-links rc_is 0
(cd "$work/initrd" && echo init | cpio -o -H newc --quiet) >"$work/disc/initrd"

package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p' | head -n 1)
(cd "$work/kernel" && apt-get download "$package" >/dev/null 2>&1 && dpkg-deb -x linux-image-*.deb .)
cp "$work"/kernel/boot/vmlinuz-* "$work/disc/vmlinuz" 2>/dev/null
if [ ! -e "$work/disc/vmlinuz" ]; then
    skip avx512 "no kernel: apt-get cannot fetch linux-image-cloud-amd64"
    finish
fi

cp /usr/lib/ISOLINUX/isolinux.bin /usr/lib/syslinux/modules/bios/ldlinux.c32 "$work/disc/"
cat >"$work/disc/isolinux.cfg" <<EOF
default test
prompt 0
label test
  kernel /vmlinuz
  append initrd=/initrd rdinit=/init console=ttyS0 mitigations=off tsc=reliable clearcpuid=321,323 -- avx512 $rounds avx2
EOF
xorriso -as mkisofs -quiet -o "$work/disc.iso" -b isolinux.bin -c boot.cat -no-emul-boot -boot-load-size 4 \
    -boot-info-table "$work/disc" 2>/dev/null
check disc-is-made test -s "$work/disc.iso"

# ---- the machine -----------------------------------------------------------------------------------------------------
cat >"$work/bochsrc" <<EOF
cpu: model=corei7_skylake_x, count=1, ips=50000000, reset_on_triple_fault=0
megs: 512
romimage: file=/usr/share/bochs/BIOS-bochs-latest
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
ata0-master: type=cdrom, path=$work/disc.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=$work/said
display_library: rfb, options="timeout=0"
sound: driver=dummy
log: $work/log
EOF
# Nobody looks at the display. Debian's Bochs has a debugger, which gets the command to continue.
echo continue >"$work/debugger"
bochs -q -f "$work/bochsrc" -rc "$work/debugger" </dev/null >/dev/null 2>&1 &
machine=$!
for ((second = 0; second < minutes * 60; second++)); do
    grep -q 'exitcode=\|end Kernel panic' "$work/said" 2>/dev/null && break
    kill -0 $machine 2>/dev/null || break
    sleep 1
done
pkill -f "$work/bochsrc" 2>/dev/null
wait $machine 2>/dev/null
tr -d '\r' <"$work/said" | grep -av '^\[' >"$work/out" # the program's output, which a failed check shows
tail -n 20 "$work/said" >"$work/err"
check avx512-row-operations grep -aq "row operations of avx512: equal to scalar" "$work/said"
check avx512-lookups grep -aq "lookups of avx512: equal to scalar" "$work/said"
finish
