#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-deb: for Debian 12 and 13, builds the packages in one chroot and installs them in another, clean one. There
# three programs as users write them (C converts, C++ reads tiles, Python runs a batch) must work without further
# settings. Then the packages are removed, and nothing may be left. Needs root and network; chroots are kept in $TXM_CHROOTS (default: build/chroots).
#   check.sh [SUITE...]       TXM_DEBS=FOLDER: uses the packages in FOLDER/SUITE and builds none
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
root=${TXM_CHROOTS:-$repo/build/chroots}
export TXM_CHROOTS=$root
# The functions bootstrap and run come from the chroots with Blender.
# shellcheck source=tests/blender/chroots.sh
. "$repo/tests/blender/chroots.sh" library
say() { echo "check-deb: $*"; }
fail() { echo "check-deb: $*" >&2; exit 1; }

check_suite() {
    local suite=$1 debs
    mkdir -p "$root"
    debs=${TXM_DEBS:+$TXM_DEBS/$suite}
    [ -n "$debs" ] || build_suite "$suite"
    debs=${debs:-$root/deb-$suite/txmill/build/deb}
    use_packages "$suite" "$debs"
}

build_suite() {
    local suite=$1 packages
    # The build chroot has the packages that scripts/packages lists, and lintian.
    packages=$(awk '$1 ~ /^(program|build|system)$/ { print $2 }' "$repo/scripts/packages" | tr '\n' ' ')
    if [ ! -e "$root/deb-build-$suite/ready" ]; then
        say "$suite: setting up the chroot that builds"
        bootstrap "deb-build-$suite" "$suite"
    fi
    if [ "$(cat "$root/deb-build-$suite/ready" 2>/dev/null)" != "$packages" ]; then
        apt_install "deb-build-$suite" "$packages" dpkg-dev lintian git mandoc
        echo "$packages" >"$root/deb-build-$suite/ready"
    fi
    say "$suite: building"
    rm -rf "$root/deb-$suite" && mkdir -p "$root/deb-$suite"
    git -C "$repo" archive --prefix=txmill/ HEAD | tar -x -C "$root/deb-$suite"
    # The host's /var is not visible under its own path, and TXM_CHROOTS may be there.
    (run "deb-build-$suite" sh -c "cd '/host$root/deb-$suite/txmill' && make -s -j\$(nproc) DEPS=system CUDA=no OPENCL=no B=build PREFIX=/usr \
        LIBDIR=/usr/lib/\$(dpkg-architecture -qDEB_HOST_MULTIARCH) deb") >"$root/deb-$suite/log" 2>&1 ||
        { tail -n 20 "$root/deb-$suite/log" >&2; fail "$suite: make deb failed"; }
    say "$suite: lintian"
    (run "deb-build-$suite" sh -c "lintian --fail-on error '/host$root/deb-$suite'/txmill/build/deb/*.deb") ||
        fail "$suite: lintian found errors"
}

use_packages() {
    local suite=$1 debs=$2 at leftovers
    mkdir -p "$root/deb-$suite"

    # Makes a clean chroot from an unused copy.
    if [ ! -e "$root/deb-base-$suite/ready" ]; then
        say "$suite: setting up the clean chroot"
        bootstrap "deb-base-$suite" "$suite"
        touch "$root/deb-base-$suite/ready"
    fi
    at=$root/deb-clean-$suite
    rm -rf --one-file-system "$at" && cp -a "$root/deb-base-$suite" "$at"
    mkdir -p "$at/opt/debs" "$at/opt/stranger"
    cp "$debs"/*.deb "$at/opt/debs/"
    cp "$repo"/examples/{convert_folder.c,read_tiles.c,read_tiles.cpp,view_texture.c} "$here/stranger.py" "$at/opt/stranger/"
    cp "$repo"/testdata/golden/{rgb8.png,rgba8.tga,half-rgba.exr} "$at/opt/stranger/"
    # Users choose compilers themselves; apt resolves everything else from the packages alone.
    inside "deb-clean-$suite" "packages cannot be installed" "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y gcc g++ libc6-dev pkg-config python3"
    snapshot "$at" >"$root/deb-$suite/before"
    say "$suite: installing"
    inside "deb-clean-$suite" "packages cannot be installed" "DEBIAN_FRONTEND=noninteractive apt-get install -y /opt/debs/*.deb"
    say "$suite: a stranger's programs"
    (run "deb-clean-$suite" env -i HOME=/var/home PATH=/usr/bin:/bin sh -euc '
        cd /opt/stranger
        cc -Wall -Werror convert_folder.c $(pkg-config --cflags --libs txmill) -o convert_folder
        c++ -std=c++17 -Wall -Werror read_tiles.cpp $(pkg-config --cflags --libs txtile) -o read_tiles
        cc -Wall -Werror view_texture.c $(pkg-config --cflags --libs txtile) -o view_texture
        mkdir textures && cp rgb8.png rgba8.tga half-rgba.exr textures
        ./convert_folder textures | tee converted
        [ "$(grep -c created converted)" -eq 3 ]
        ./read_tiles textures/blender_tx/rgb8.png.*.tx | tee tiles
        [ "$(grep -c ^level tiles)" -eq 9 ]
        ./view_texture textures/blender_tx/rgb8.png.*.tx 0 rgb8.ppm
        head -c 15 rgb8.ppm | grep -q "^P6"
        python3 stranger.py
        txmill --version
        txmill info textures/blender_tx/rgba8.tga.*.tx
        txmill stream budget plane textures/rgb8.png --size 64x36 --samples 1 | grep "with the cache"
    ') || fail "$suite: a stranger's program failed"
    say "$suite: removing"
    rm -rf "$at/opt/stranger"
    inside "deb-clean-$suite" "the packages cannot be removed" "DEBIAN_FRONTEND=noninteractive apt-get purge -y txmill txmill-stream libtxtile0 libtxtile-dev libtxmill0 libtxmill-dev python3-txmill &&
        DEBIAN_FRONTEND=noninteractive apt-get purge -y --autoremove"
    leftovers=$(snapshot "$at" | LC_ALL=C comm -13 "$root/deb-$suite/before" - | grep -iE 'txmill|txtile' || true)
    [ -z "$leftovers" ] || fail "$suite: left behind: $leftovers"
    rm -rf --one-file-system "$at"
    say "$suite: ok"
}

# Lists every path of a chroot, except those that packages never own.
snapshot() {
    (cd "$1" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./opt/debs -o -path ./var/cache -o \
        -path ./var/lib/apt -o -path ./var/log \) -prune -o -print | LC_ALL=C sort)
}

[ $# -gt 0 ] || set -- bookworm trixie
for suite in "$@"; do check_suite "$suite"; done
say "installed, used and removed without leftovers: $*"
