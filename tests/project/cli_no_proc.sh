#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Without /proc, as in a minimal chroot: modules are found, and files that are otherwise named by /proc have other names.
# Plain builds only: sanitizers read /proc
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
unset TXMILL_PLUGINS
if [ "$(id -u)" -ne 0 ] || ! unshare -m mount -t tmpfs none /proc 2>/dev/null; then
    skip no-proc "mounting takes root"
    finish
fi
python3 - <<'EOF'
import os, struct
for name, n in (("a.tga", 40), ("a?b=c.tga", 40), ("one.tga", 1)):
    open(name, "wb").write(struct.pack("<BBBHHBHHHHBB", 0, 0, 2, 0, 0, 0, 0, 0, n, n, 24, 0) + os.urandom(3 * n * n))
EOF
mkdir tmp
# without NAME ARGUMENT...: the command succeeds, and leaves nothing in TMPDIR. The linker finds the libraries of a build
# through /proc.
without() {
    local name=$1
    shift
    LD_LIBRARY_PATH=$(dirname "$TXMILL") TMPDIR=$work/tmp run unshare -m bash -c 'mount -t tmpfs none /proc && "$@"' _ "$TXMILL" "$@"
    check "$name" test "$rc" -eq 0 -a -z "$(ls tmp)"
}
without make make a.tga 'a?b=c.tga'
check make-both test "$(find blender_tx -name '*.tx' | wc -l)" -eq 2
without again make a.tga
check again-fresh says "1 up to date"
without check check a.tga
for format in png exr iff sgi; do
    without "extract-$format" extract -o "a.$format" blender_tx/a.tga*.tx
    without "make-$format" make "a.$format"
done
without stream stream render room one.tga a.tga -q -s 32x16 -o without.png
txm stream render room one.tga a.tga -q -s 32x16 -o with.png
check stream-same cmp without.png with.png
without claims make --force -j 2 a.tga
without doctor doctor
check doctor-path prints "$(realpath "$TXMILL")"
finish
