#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds Debian packages of this tree: scripts/deb.sh BUILD [FOLDER]. They are for the version of Debian that
# builds them, and use its OpenColorIO and OpenImageIO (DEPS=system).
#
#   txmill          the program with its manual, completion and farm scripts
#   txmill-stream   the program that txmill stream and txmill replay start
#   libtxtile0      the library that renderers link
#   libtxtile-dev   its headers, manual, guide, examples, static library and pkg-config
#   libtxmill0      the library that makes tx files, with its modules
#   libtxmill-dev   its headers, manual, example, static library and pkg-config
#   python3-txmill  the Python package
set -euo pipefail
cd "$(dirname "$0")/.."
repo=$PWD
build=$1 out=$(realpath -m "${2:-$1/deb}")
for tool in dpkg-deb dpkg-shlibdeps dpkg-architecture; do
    command -v "$tool" >/dev/null || { echo "make deb: $tool is missing (apt-get install dpkg-dev)" >&2; exit 1; }
done
version=$(sed -n 's/^VERSION *:= *//p' Makefile) arch=$(dpkg-architecture -qDEB_HOST_ARCH)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libdir=/usr/lib/$triplet

# Everything is installed once, and each package then takes its part.
make -s DEPS=system PREFIX=/usr LIBDIR="$libdir" PYTHONDIR=/usr/lib/python3/dist-packages DESTDIR="$work/all" B="$build" CUDA="${CUDA:-no}" install
take() { # PACKAGE PATTERN...: moves installed files into the package
    local package=$1 pattern path
    shift
    for pattern in "$@"; do
        for path in "$work"/all$pattern; do # shellcheck disable=SC2231
            [ -e "$path" ] || [ -L "$path" ] || { echo "make deb: nothing was installed as $pattern" >&2; exit 1; }
            path=${path#"$work/all"}
            mkdir -p "$work/$package$(dirname "$path")"
            mv "$work/all$path" "$work/$package$(dirname "$path")/"
        done
    done
}
take libtxtile0 "$libdir/libtxtile.so.*"
[ ! -e "$work/all$libdir/txmill/txmill-sdl.so" ] || take txmill-stream "$libdir/txmill/txmill-sdl.so"
take txmill-stream "$libdir/txmill/txmill-stream" "/usr/share/man/man1/txmill-stream.1" "/usr/share/man/man1/txmill-replay.1" \
    "/usr/share/doc/txmill/stream.schema.json" "/usr/share/doc/txmill/replay.schema.json"
take libtxmill0 "$libdir/libtxmill.so.*" "$libdir/txmill"
take libtxmill-dev /usr/include/txmill /usr/share/man/man3/txmill.3 /usr/share/doc/txmill/examples/convert_folder.c "$libdir/pkgconfig/txmill.pc" "$libdir/pkgconfig/txmill-static.pc" \
    "$libdir"/libtxmill.{a,so}
take libtxtile-dev /usr/include/txtile /usr/share/man/man3 /usr/share/doc/txmill/{examples,texture-cache.md} "$libdir/pkgconfig" "$libdir/cmake" "$libdir"/libtxtile.{a,so}
take python3-txmill /usr/lib/python3
take txmill /usr
cd "$work"
find . -type d -name __pycache__ -prune -exec rm -rf {} +

# ---- what Debian requires of every package ----
strip_all() { # PACKAGE: programs and libraries without their debugging symbols
    find "$work/$1" -type f \( -name '*.so*' -o -path '*/bin/*' -o -name '*-worker' -o -name 'txmill-stream' \) -print0 |
        while IFS= read -r -d '' f; do
            case $(head -c 4 "$f" | tail -c 3) in ELF) strip --strip-unneeded --remove-section=.comment --remove-section=.note "$f" ;; esac
        done
    find "$work/$1" -name '*.a' -exec strip --strip-debug --enable-deterministic-archives {} +
}
docs() { # PACKAGE: copyright and changelog
    local at=$work/$1/usr/share/doc/$1
    mkdir -p "$at"
    cat >"$at/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: txmill

Files: *
Copyright: 2026 The txmill authors
License: Apache-2.0
 On Debian systems, the full text of the Apache License, Version 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
END
    printf 'txmill (%s) unstable; urgency=medium\n\n  * Packages made by "make deb".\n\n -- %s  %s\n' "$version" \
        "$maintainer" "$(date -u -R -d "@$(git -C "$repo" log -1 --format=%ct 2>/dev/null || date +%s)")" |
        gzip -9n >"$at/changelog.gz"
    find "$work/$1/usr/share/man" -type f -name '*.[1-9]' -exec gzip -9n {} + 2>/dev/null || true
    find "$work/$1" -type d -exec chmod 755 {} +
    find "$work/$1/usr/lib" -type f -name '*.so*' -exec chmod 644 {} +
}
# The maintainer is whoever builds the packages, from the variables of Debian's tools (DEBFULLNAME, DEBEMAIL). Mail to the
# default address is not read.
maintainer="${DEBFULLNAME:-txmill maintainers} <${DEBEMAIL:-maintainers@txmill.invalid}>"
# The window of `txmill stream view` is suggested only: SDL brings X11, Wayland and sound, which servers do not want.
needs() { # PACKAGE: what its programs and libraries are linked with
    mkdir -p "$work/shlibs/debian"
    printf 'Source: txmill\n\nPackage: %s\nArchitecture: any\n' "$1" >"$work/shlibs/debian/control"
    find "$work/$1" -type f ! -name txmill-sdl.so -print0 | while IFS= read -r -d '' f; do
        case $(head -c 4 "$f" | tail -c 3) in ELF) printf '%s\0' "$f" ;; esac
    done >"$work/binaries"
    (cd "$work/shlibs" && xargs -0 dpkg-shlibdeps -O -l"$work/libtxtile0$libdir" -l"$work/libtxmill0$libdir" \
        -x"$1" -xlibtxtile0 -xlibtxmill0 --ignore-missing-info -e <"$work/binaries" 2>/dev/null ||
        xargs -0 dpkg-shlibdeps -O --ignore-missing-info -xlibtxtile0 -xlibtxmill0 <"$work/binaries") | sed -n 's/^shlibs:Depends=//p'
}
# OpenEXRCore is loaded when a file needs it, which no tool detects.
openexr=$(strings -a "$work/libtxtile0$libdir"/libtxtile.so.0 | grep '^libOpenEXRCore.*\.so\.' | sed -n 1p)
openexr=$(dpkg -S "*/$openexr" | sed -n '1s/:.*//p')

pack() { # PACKAGE ARCHITECTURE SECTION DEPENDS SUMMARY, the description on stdin
    local root=$work/$1
    docs "$1"
    mkdir -p "$root/DEBIAN"
    {
        printf 'Package: %s\nSource: txmill\nVersion: %s\nArchitecture: %s\nSection: %s\nPriority: optional\n' "$1" "$version" "$2" "$3"
        printf 'Maintainer: %s\nInstalled-Size: %s\n' "$maintainer" "$(du -sk --apparent-size "$root" | cut -f1)"
        case $1 in lib*) echo 'Multi-Arch: same' ;; esac
        [ -z "$4" ] || echo "Depends: $4"
        case $1 in
            txmill) echo "Recommends: txmill-stream" ;;
            txmill-stream) echo "Suggests: libsdl2-ttf-2.0-0, libfontconfig1" ;;
        esac
        echo "Description: $5"
        sed 's/^$/./; s/^/ /'
    } >"$root/DEBIAN/control"
    case $1 in
        libtxtile0) echo "libtxtile 0 libtxtile0 (>= $version)" >"$root/DEBIAN/shlibs" ;;
        libtxmill0) echo "libtxmill 0 libtxmill0 (>= $version)" >"$root/DEBIAN/shlibs" ;;
    esac
    case $1 in lib*0) echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers" ;; esac
    (cd "$root" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    chmod 644 "$root"/DEBIAN/*
    if [ "$1" = python3-txmill ]; then
        cat >"$root/DEBIAN/postinst" <<'END'
#!/bin/sh
set -e
if [ "$1" = configure ] && command -v py3compile >/dev/null; then
    py3compile -p python3-txmill
fi
END
        cat >"$root/DEBIAN/prerm" <<'END'
#!/bin/sh
set -e
if command -v py3clean >/dev/null; then
    py3clean -p python3-txmill
fi
END
        chmod 755 "$root"/DEBIAN/p*
    fi
    mkdir -p "$out"
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out/$1_${version}_$2.deb" >/dev/null
    echo "$out/$1_${version}_$2.deb"
}

for p in txmill txmill-stream libtxtile0 libtxtile-dev libtxmill0 libtxmill-dev; do strip_all "$p"; done
tile_needs=$(needs libtxtile0) mill_needs=$(needs libtxmill0) program_needs=$(needs txmill) stream_needs=$(needs txmill-stream)
pack libtxtile0 "$arch" libs "$tile_needs, $openexr" "reads and samples the tx files of Blender's texture cache" <<'END'
Renderers and tools link libtxtile to open the tiled, mip-mapped tx files
that Cycles renders from: levels, tiles with the pixels around them, metadata,
and exact texture lookups. Plain C over the codecs alone.
END
pack libtxmill0 "$arch" libs "$mill_needs, libtxtile0 (= $version)" "library that makes the tx files of Blender's texture cache" <<'END'
Tools link libtxmill to convert images into the tiled, mip-mapped tx files
that Cycles renders from, to list the images of a scene, and to verify files.
Images that it does not read itself go through a worker with OpenImageIO.
END
pack txmill "$arch" graphics "$program_needs, libtxmill0 (= $version), libtxtile0 (= $version), python3:any" "makes and inspects the tx files of Blender's texture cache" <<'END'
Cycles renders large scenes from tiled, mip-mapped copies of the textures.
txmill makes them without Blender, ahead of the render, on all cores, and
looks into those that are there: the same names, the same pixels, the same
metadata as Blender's own.
END
pack txmill-stream "$arch" graphics "$stream_needs, txmill (= $version), libtxmill0 (= $version), libtxtile0 (= $version)" "renders scenes through Blender's texture cache" <<'END'
What the commands txmill stream and txmill replay start: a small path tracer
that estimates how much texture memory a scene needs, plays frames that do not
wait for textures, and replays recorded lookups with other caches.
END
pack libtxtile-dev "$arch" libdevel "libtxtile0 (= $version), libdeflate-dev, libisal-dev, libzstd-dev, libxxhash-dev" \
    "headers and static library of libtxtile" <<'END'
What programs are built with that read and sample tx files (pkg-config txtile).
END
pack libtxmill-dev "$arch" libdevel "libtxmill0 (= $version), libtxtile-dev (= $version)" "headers and static library of libtxmill" <<'END'
What programs are built with that make tx files (pkg-config txmill).
END
pack python3-txmill all python "python3 (>= 3.9), txmill (>= $version), libtxtile0 (>= $version)" "makes and inspects Blender's tx files from Python" <<'END'
A typed package without dependencies over the program txmill: make, info,
verify, resolve, list scenes with progress and cancel; tiles as numpy arrays
or memory through libtxtile.
END
