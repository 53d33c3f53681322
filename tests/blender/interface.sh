#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The extension in a Blender with an interface, on a separate screen: interface.sh ZIP TXMILL CHROOTS
# Clicks are simulated events; the interface must respond while txmill works.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
zip=$(realpath "$1") program=$(realpath "$2") chroots=$(realpath "$3")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export BLENDER_USER_RESOURCES=$folder/user LIBGL_ALWAYS_SOFTWARE=1
"$chroots" blender --command extension install-file -r user_default -e "$zip" >"$folder/install" 2>&1 ||
  { echo "FAIL interface-install"; cat "$folder/install"; exit 1; }
timeout 1200 "$chroots" run debian xvfb-run -a -s "-screen 0 1200x1000x24" blender --enable-event-simulate \
  --window-geometry 0 0 1200 1000 --python "$here/interface.py" -- "$program" "$folder" >"$folder/out" 2>&1
grep -E '^(pass|FAIL|note) ' "$folder/out"
status=0
grep -q '^FAIL' "$folder/out" && status=1
if ! grep -q '^pass end-of-interface$' "$folder/out"; then
  echo "FAIL interface: Blender did not finish"
  tail -n 40 "$folder/out"
  status=1
elif sed '/^pass end-of-interface$/q' "$folder/out" | grep -A20 '^Traceback'; then
  echo "FAIL interface: Python errors"
  status=1
fi
exit $status
