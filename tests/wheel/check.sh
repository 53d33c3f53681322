#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make check-wheel: installs the wheel in clean chroots of Debian 12, 13 and unstable that have only Python's pip, and
# does there, without a network, what README's first lines describe. Needs root and network; chroots are kept in $TXM_CHROOTS (default: build/chroots).
#   check.sh FOLDER [SUITE...]       FOLDER contains the wheel
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
root=${TXM_CHROOTS:-$repo/build/chroots}
export TXM_CHROOTS=$root
wheel=$(realpath "$1"/txmill-*.whl)
shift
[ $# -gt 0 ] || set -- bookworm trixie unstable
# The functions bootstrap and run come from the chroots with Blender.
# shellcheck source=tests/blender/chroots.sh
. "$repo/tests/blender/chroots.sh" library
say() { echo "check-wheel: $*"; }
fail() { echo "check-wheel: $*" >&2; exit 1; }

use_wheel() { # SUITE
    local suite=$1 base=wheel-base-$1 at=$root/wheel-clean-$1
    mkdir -p "$root"
    if [ ! -e "$root/$base/ready" ]; then
        say "$suite: setting up the clean chroot"
        bootstrap "$base" "$suite"
        apt_install "$base" python3-pip ca-certificates
        touch "$root/$base/ready"
    fi
    rm -rf --one-file-system "$at" && cp -a "$root/$base" "$at"
    mkdir -p "$at/opt/wheel"
    cp "$wheel" "$repo/tests/deb/stranger.py" "$here/stranger.sh" "$at/opt/wheel/"
    cp -R "$repo/testdata/golden" "$at/opt/wheel/golden"
    cp -R "$repo/examples" "$at/opt/wheel/examples"
    say "$suite: installing and using"
    # There is no network: only the wheel is needed.
    (run "wheel-clean-$suite" unshare -n env -i HOME=/var/home PATH=/usr/bin:/bin LC_ALL=C.UTF-8 \
        sh -eu /opt/wheel/stranger.sh) ||
        fail "$suite: a stranger's commands failed"
    rm -rf --one-file-system "$at"
    say "$suite: ok"
}

for suite in "$@"; do use_wheel "$suite"; done
say "$(stat -c %s "$wheel") bytes, installed and used: $*"
