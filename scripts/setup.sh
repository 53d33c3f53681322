#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs missing packages: scripts/setup.sh program|build|test|system|bench|slurm|bochs|library|blender.
# If nothing is missing, it does nothing and needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."
sets=${1:-build}
case $sets in
    build) sets='program|build' ;;
    test) sets='program|build|test' ;;
esac
wanted=$(awk -v sets="^($sets)\$" '$1 ~ sets { print $2 }' scripts/packages)
missing=()
for p in $wanted; do
    dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "Installing: ${missing[*]}"
sudo=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
        echo "Not root and no sudo: as root, run 'apt-get install ${missing[*]}', then again." >&2
        exit 1
    }
    sudo=(sudo)
fi
"${sudo[@]}" apt-get update -q
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
