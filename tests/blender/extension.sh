#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The extension in a Blender without an interface: extension.sh ZIP BLENDER...
# Installs ZIP into a separate user folder, on a machine that has nothing else of txmill and no network, then runs operators,
# and a render whose handler makes the tx files.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
zip=$(realpath "$1")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$zip" "$folder/"
zip=$folder/${zip##*/}
export BLENDER_USER_RESOURCES=$folder/user TXM_ALONE=$folder:$here
unset TXMILL
status=0
check() { # NAME COMMAND...
  local name=$1
  shift
  if "$@" >"$folder/log" 2>&1; then echo "pass $name"; else echo "FAIL $name"; tail -n 30 "$folder/log"; status=1; fi
}
check validate "$@" --command extension validate "$zip"
check install "$@" --command extension install-file -r user_default -e "$zip"
timeout 1200 "$@" -b --python-exit-code 1 --python "$here/extension.py" -- "$folder" >"$folder/out" 2>&1
code=$?
grep -E '^(pass|FAIL|skip) ' "$folder/out"
check no-traceback sh -c "! grep -A20 Traceback '$folder/out'"
if [ $code -ne 0 ] || ! grep -q '^pass gaps-named: smoke' "$folder/out"; then
  status=1
  grep -n -A20 'Traceback' "$folder/out" || tail -n 20 "$folder/out"
fi

# Tests the handler: no files exist before, and Cycles makes none itself.
scene=$folder/handler/scene.blend
render() { timeout 300 "$@" -b "$scene" -o "$folder/handler/frame_####" --render-frame 2 >"$folder/render" 2>&1; }
check render render "$@"
check handler-says grep -q 'txmill: 21 tx files made, 0 up to date, 1 failed: .*gone.png' "$folder/render"
check handler-names-packed grep -q 'txmill: packed.png: no tx file, the image is packed' "$folder/render"
[ "$(find "$folder/handler/textures/blender_tx" -name '*.tx' | wc -l)" = 21 ]
check handler-made-them [ $? = 0 ]
check handler-rendered test -s "$folder/handler/frame_0002.exr"
exit $status
