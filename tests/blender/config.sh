#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A config without CIE XYZ: txmill must write the same files as Blender, under the same names and with the same interop
# ids: config.sh TXMILL CHROOTS blender|python. TXMILL may be a command with arguments.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
read -r -a txmill <<<"$1"
chroots=$2 which=$3
folder=$(mktemp -d -p "$PWD")
trap 'rm -rf "$folder"' EXIT
status=0
cp "$here"/../../testdata/golden/{rgb8.png,half-rgb.exr,half-rgba.exr,float-gray.exr} "$folder"
cp "$here/../../testdata/color/no-interchange.ocio" "$folder/config.ocio"
chmod -R u+w "$folder"
export OCIO=$folder/config.ocio
spaces=(auto sRGB Pale Raw Linear __builtin_srgb)
for space in "${spaces[@]}"; do
  for image in "$folder"/*.png "$folder"/*.exr; do printf '%s\t%s\tauto\t\n' "$image" "$space"; done
done >"$folder/list"
maketx=("$here/maketx.py" convert "$folder/list" "$folder/results")
if [ "$which" = blender ]; then
  "$chroots" blender -b --factory-startup --python-exit-code 1 --python "${maketx[0]}" -- "${maketx[@]:1}" >"$folder/log" 2>&1
else
  "$chroots" python "${maketx[@]}" >"$folder/log" 2>&1
fi
# OpenColorIO converts Pale, and versions differ by half a step of a half.
id_of() { "${txmill[@]}" info --all "$1" | sed -n 's/^ *colorInteropID: //p'; }
while IFS=$'\t' read -r image space _; do
  name=${image##*/}-$space
  tx=$("${txmill[@]}" make --ocio "$OCIO" -f --json -d ours -c "$space" -a auto "$image" 2>>"$folder/log" |
    sed -n 's/.*"type":"file".*"tx":"\([^"]*\)".*/\1/p')
  theirs=$folder/blender_tx/${tx##*/}
  if [ ! -f "$theirs" ]; then
    echo "FAIL $name: Blender has made no ${tx##*/}"; status=1
  elif [ "$(id_of "$theirs")" != "$(id_of "$tx")" ]; then
    echo "FAIL $name: colorInteropID '$(id_of "$theirs")' and '$(id_of "$tx")'"; status=1
  elif [ "$space" != Pale ] && ! "${txmill[@]}" diff --max-error 0.001 "$theirs" "$tx" >>"$folder/log" 2>&1; then
    echo "FAIL $name: other pixels"; "${txmill[@]}" diff "$theirs" "$tx" | tail -n 12; status=1
  else
    echo "pass $name"
  fi
done <"$folder/list"
[ "$status" = 0 ] || tail -n 20 "$folder/log"
exit $status
