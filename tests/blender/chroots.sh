#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two Debian systems, each with a Blender, in $TXM_CHROOTS (default: build/chroots):
#   debian     Debian unstable with its Blender 5.2, and packages to build txmill with its OpenImageIO and OpenColorIO
#   official   Debian 13 with versions of the package bpy of PyPI, which are official builds as Python modules
#
#   chroots.sh make debian|official         sets it up unless it exists; needs root and network. $TXM_BPY is the version
#                                           of bpy (default: the newest official build in src/tile/terms/releases.h);
#                                           each has a folder /opt/bpy-VERSION, and stays
#   chroots.sh run debian|official CMD...   runs a command in it, with the host's folders under their own paths; inside
#                                           it, "chroot /host CMD..." runs a program of the host. If $TXM_ALONE is a list
#                                           of folders, with colons, it has these alone, and no network
#   chroots.sh blender                      runs the Blender of `debian` with these arguments
#   chroots.sh python                       runs the Python of `official` that has this bpy
#   chroots.sh command                      runs this bpy with arguments of Blender, see command.py
#
# Exit status 77: not possible here; the last line of stderr says what is missing. If setting up fails, what was done is
# kept, and the next attempt continues from there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=${TXM_CHROOTS:-$(cd "$here/../.." && pwd)/build/chroots}
bpy=${TXM_BPY:-$(sed -nE 's/^ *ROW\(txm_text, official_build,.*"([^"]+)"\).*/\1/p' "$here/../../src/tile/terms/releases.h")}

missing() { echo "chroots.sh: $*" >&2; exit 77; }

need() { # PACKAGE COMMAND...
  local command
  for command in "${@:2}"; do
    command -v "$command" >/dev/null || missing "$command is not installed (apt-get install $1)"
  done
}

# Every chroot needs these, whether they are there already or not.
privileged() {
  [ "$(id -u)" = 0 ] || missing "not root: a chroot cannot be entered"
  need util-linux unshare flock
  need mount mount
  need coreutils chroot
  unshare -m true 2>/dev/null || missing "this system allows no mount namespace (CAP_SYS_ADMIN)"
}

# Runs in its own mount namespace, so that nothing stays mounted, however the command ends.
enter() { # FOLDER COMMAND...
  exec unshare -m ${TXM_ALONE:+-n} bash -euc '
    at=$1 cwd=$2; shift 2
    mount --make-rprivate /
    alone() {
      local folder folders
      mount -t tmpfs tmpfs "$at/tmp"
      IFS=: read -r -a folders <<<"$TXM_ALONE"
      for folder in "${folders[@]}"; do
        mkdir -p "$at$folder"
        mount --rbind "$folder" "$at$folder"
      done
    }
    shared() {
      mkdir -p "$at/host"
      mount --rbind / "$at/host"
      # Programs of the host see the files of bpy, such as its OpenColorIO config, where bpy says they are.
      [ ! -d "$at/host/opt" ] || mount --rbind "$at/opt" "$at/host/opt"
      for host in /*/; do
        host=${host%/}
        case $host in /bin|/boot|/dev|/etc|/lib*|/lost+found|/opt|/proc|/run|/sbin|/sys|/usr|/var) continue ;; esac
        [ -L "$host" ] && continue
        mkdir -p "$at$host"
        mount --rbind "$host" "$at$host"
      done
    }
    mount -t proc proc "$at/proc"
    mount --rbind /dev "$at/dev"
    if [ -n "${TXM_ALONE:-}" ]; then alone; else shared; fi
    export HOME=/var/home TMPDIR=/tmp LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin
    export BLENDER_USER_RESOURCES=${BLENDER_USER_RESOURCES:-$HOME/blender}
    unset LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH
    exec chroot "$at" sh -c '\''cd "$0" 2>/dev/null || cd /; exec "$@"'\'' "$cwd" "$@"' run "$1" "$PWD" "${@:2}"
}

run() { # NAME COMMAND...
  [ -e "$root/$1/ready" ] || missing "no $root/$1: 'tests/blender/chroots.sh make $1' sets it up"
  privileged
  enter "$root/$1" "${@:2}"
}

# The archive of this system's own apt, if it is a Debian. Its security archive does not count, because it has no whole
# suites.
archive() {
  local own=${TXM_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" && $2 !~ /-security/ { uri = $2 } END { sub("/+$", "", uri); print uri }' || :)}
  echo "${own:-http://deb.debian.org/debian}"
}

# Packages that are only recommended are left out, and services are not started.
bootstrap() { # NAME SUITE
  local at=$root/$1
  [ -e "$at/base" ] && return
  local mirror
  mirror=$(archive)
  need debootstrap debootstrap
  need wget wget
  local free
  free=$(df --output=avail -BM "$root" | tail -n 1 | tr -dc 0-9)
  [ "${free:-0}" -ge 4096 ] || missing "$root has ${free:-0} MB of free space; a chroot takes up to 4096"
  wget -q --timeout=30 --tries=2 -O /dev/null "$mirror/dists/$2/InRelease" || missing "no network: $mirror/dists/$2 cannot be read"
  rm -rf --one-file-system "$at.new"
  mkdir -p "$at.new/var/home"
  debootstrap --variant=minbase --include=ca-certificates "$2" "$at.new" "$mirror" >"$root/$1.log" 2>&1 ||
    missing "debootstrap of Debian $2 failed, see $root/$1.log"
  printf '#!/bin/sh\nexit 101\n' >"$at.new/usr/sbin/policy-rc.d"
  chmod 755 "$at.new/usr/sbin/policy-rc.d"
  # A mirror that is somewhat behind is good enough.
  printf '%s\n' 'APT::Install-Recommends "0";' 'Acquire::Check-Valid-Until "0";' >"$at.new/etc/apt/apt.conf.d/90txmill"
  # The host may trust a proxy's certificate.
  cp -L /etc/ssl/certs/ca-certificates.crt "$at.new/etc/ssl/certs/"
  cp -L /etc/resolv.conf "$at.new/etc/resolv.conf"
  rm -rf --one-file-system "$at"
  touch "$at.new/base"
  mv "$at.new" "$at"
}

inside() { # NAME WHAT COMMAND: output into the log
  (enter "$root/$1" sh -c "$3") >>"$root/$1.log" 2>&1 || missing "$2, see $root/$1.log"
}

apt_install() { # NAME PACKAGE...
  inside "$1" "packages of Debian cannot be installed" \
    "apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y ${*:2}"
}

make_debian() {
  # These build txmill, run its tests, serve Blender's own extension module, and give Blender a screen.
  local packages
  packages=$(awk '$1 ~ /^(program|build|system|test)$/ { print $2 }' "$here/../../scripts/packages" |
    grep -v -x -E 'chromium|nodejs|blender-data|gcc-aarch64-linux-gnu|libc6-dev-arm64-cross|qemu-user' | tr '\n' ' ')
  bootstrap debian unstable
  apt_install debian blender python3-cattr python3-requests python3-numpy xvfb xauth libgl1-mesa-dri "$packages"
}

make_official() {
  bootstrap official trixie
  apt_install official python3-venv libx11-6 libxi6 libxfixes3 libxrender1 libxxf86vm1 libxkbcommon0 libsm6 libice6 libgl1 \
    libegl1 libgomp1 libxext6 libxrandr2
}

has_bpy() { # pip writes this file last
  compgen -G "$root/official/opt/bpy-$bpy/lib/python3*/site-packages/bpy-$bpy.dist-info/RECORD" >/dev/null
}
make_bpy() {
  [[ $bpy =~ ^[0-9]+(\.[0-9]+)+$ ]] || missing "TXM_BPY: '$bpy' is not a version such as 5.2.3"
  has_bpy || inside official "PyPI cannot be reached, or has no bpy $bpy for this machine" \
    "python3 -m venv /opt/bpy-$bpy && /opt/bpy-$bpy/bin/pip --cert /etc/ssl/certs/ca-certificates.crt install bpy==$bpy"
}
of_bpy() { # COMMAND...
  has_bpy || missing "no bpy $bpy: 'TXM_BPY=$bpy tests/blender/chroots.sh make official' installs it"
  run official env "PATH=/opt/bpy-$bpy/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$@"
}

usage() { sed -n '3,18s/^# \?//p' "$0" >&2; exit 2; }

case ${1-} in
make)
  case ${2-} in debian | official) ;; *) usage ;; esac
  privileged
  mkdir -p "$root" 2>/dev/null && [ -w "$root" ] || missing "$root cannot be written"
  exec 9>"$root/lock"
  flock 9
  [ -e "$root/$2/ready" ] || { "make_$2"; touch "$root/$2/ready"; }
  [ "$2" = debian ] || make_bpy
  ;;
run) shift; run "$@" ;;
blender) shift; run debian blender "$@" ;;
python) shift; of_bpy python "$@" ;;
command) shift; of_bpy "$here/command.py" "$@" ;;
library) ;; # nothing to run: the script was sourced for bootstrap, inside and run
*) usage ;;
esac
