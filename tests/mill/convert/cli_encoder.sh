#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Encoders that run out of memory or threads: the picture is complete or not made, and the exit code means "try again".
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
if [ -n "${SANITIZED:-}" ]; then
    skip encoders "a sanitizer replaces the allocator"
    finish
    exit
fi
run ${CC:-cc} -O1 -Wall -Wextra -Werror -fPIC -shared "$repo/tests/mill/convert/encoder_preload.c" -o lack.so
check preload-compiles rc_is 0
"$TXMILL" make -q -o a.tx "$golden/half-rgb.exr" || not_ok tx

# lacking WHAT FORMAT: a picture of that name already exists.
lacking() {
    echo old >"a.$2"
    run env LACK="$1" LD_PRELOAD="$work/lack.so" timeout 60 "$TXMILL" extract --overwrite -l 3 -o "a.$2" a.tx
}

# Under a limit of address space some library cannot be mapped, or a thread cannot be started: the image is not to blame for it.
python3 -c "import struct, os; open('a.tga', 'wb').write(struct.pack('<BBBHHBHHHHBB', 0, 0, 2, 0, 0, 0, 0, 0, 40, 40, 24, 0) + os.urandom(4800))"
for megabytes in 60 150 300 400; do
    for command in "make -f -o b.tx a.tga" "extract --overwrite -o b.png a.tx"; do
        run bash -c "ulimit -v $((megabytes << 10)); exec '$TXMILL' $command"
        check "$megabytes-MB-for-libraries-${command%% *}" eval '[ $rc -eq 0 ] || { rc_is 4 && grep -qi "memory\|temporarily" err; }'
    done
done

# Each try starts OpenImageIO.
step=83 least=8
thorough || { step=251 least=2; }
for format in exr jpg; do
    lacking "" $format
    check "whole-$format" rc_is 0
    mv "a.$format" "whole.$format"
    bad='' met=0 n=1
    while lacking $n $format && [ $n -lt 3000 ]; do
        # Fails calls beyond the last one that the encoder makes, too.
        cmp -s "a.$format" "whole.$format" && [ $rc -eq 0 ] && [ $n -gt 500 ] && break
        if [ $rc -eq 4 ] && says memory && [ "$(cat "a.$format")" = old ]; then
            met=$((met + 1))
        elif [ $rc -ne 0 ] || ! cmp -s "a.$format" "whole.$format"; then
            bad="$bad $n: rc=$rc $(head -n 1 err);"
        fi
        n=$((n + step))
    done
    check "memory-$format" test -z "$bad" -a $met -ge $least
    [ -z "$bad" ] || echo "    $bad"
done
lacking threads exr
check threads eval '{ rc_is 4 && says "Resource temporarily unavailable" && [ "$(cat a.exr)" = old ]; } || cmp -s a.exr whole.exr'
finish
