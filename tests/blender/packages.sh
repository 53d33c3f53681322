#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh FOLDER: fetches packages of PyPI that carry projects to farms into a folder for PYTHONPATH, once.
set -euo pipefail
[ ! -e "$1/complete" ] || exit 0
rm -rf "$1"
mkdir -p "$1"
PYTHONPATH=$(find /usr/share/python-wheels -name 'pip-*.whl' | head -n 1) python3 -m pip install -q --no-input \
    --disable-pip-version-check --no-cache-dir --target "$1" openjd-cli==0.8.0 blender-asset-tracer==1.23 zstandard==0.23.0 >&2 || {
    echo "packages.sh: openjd-cli and blender-asset-tracer cannot be fetched from PyPI" >&2
    exit 1
}
: >"$1/complete"
