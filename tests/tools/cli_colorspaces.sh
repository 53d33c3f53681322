#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill colorspaces: the list, where the config comes from, and the messages if it cannot be used.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

newer=$TXM_TESTDATA/color/newer-2.9.ocio
matrix=3.241_-1.537_-0.4986_0_-0.9692_1.876_0.04155_0_0.05563_-0.204_1.057_0

# ---- the built-in config ---------------------------------------------------------------------------------------------
gives built-in 0 -- colorspaces
check built-in-silent-on-stderr test ! -s err
check built-in-named prints "built-in"
check built-in-matrix prints "$matrix"
check built-in-alias prints "srgb_rec709_scene"
run env PATH=/none "$TXMILL" colorspaces
check built-in-unavailable prints "not available: a view transform"
run env PATH=/none "$TXMILL" colorspaces --json
cp out built-in.json
check json-one-line test "$(wc -l <built-in.json)" -eq 1
check json-spaces json built-in.json "len(o[0]['colorspaces']) == 64 and sum(s['available'] for s in o[0]['colorspaces']) == 60"
check json-classes json built-in.json "[s['class'] for s in o[0]['colorspaces'] if s['name'] in ('Linear Rec.709', 'Non-Color', 'sRGB', 'ACEScg')] == ['scene_linear_srgb', 'scene_linear', 'other', 'data']"
check json-nothing-left-out json built-in.json "o[0]['left_out'] is None and o[0]['config'] == 'built-in'"

# Spaces that the built-in config lacks come from the Blender in PATH, whether it was unpacked or installed with a link.
cp "$golden/rgb8.png" . && chmod u+w rgb8.png
of_filmic() { run env "PATH=$1:/none" "$TXMILL" make -q -c "Filmic sRGB" -d "$2" rgb8.png; }
for place in unpacked/5.2 installed/share/blender; do
    mkdir -p "$place/datafiles/colormanagement"
    { cat "$golden/config.ocio" && printf '  - !<ColorSpace>\n    name: Filmic sRGB\n    to_scene_reference: !<CDLTransform> {slope: [2, 3, 4]}\n'; } \
        >"$place/datafiles/colormanagement/config.ocio"
done
mkdir -p links installed/bin
touch unpacked/blender
of_filmic "$work/unpacked" none
check blender-is-a-program rc_is 2
chmod +x unpacked/blender && cp unpacked/blender installed/bin/blender && ln -s ../installed/bin/blender links/blender
of_filmic "$work/unpacked" unpacked-tx
check blender-unpacked rc_is 0
of_filmic "$work/links" linked-tx
check blender-linked rc_is 0
txm make -q --ocio unpacked/5.2/datafiles/colormanagement/config.ocio -c "Filmic sRGB" -d named-tx rgb8.png
check blender-same-file cmp unpacked-tx/*.tx named-tx/*.tx
check blender-same-link cmp linked-tx/*.tx named-tx/*.tx
cp -r unpacked "of [5] ?*ä"
of_filmic "$work/of [5] ?*ä" odd-tx
check blender-in-odd-folder cmp odd-tx/*.tx named-tx/*.tx
of_filmic unpacked relative-tx
check blender-not-relative rc_is 2
echo "roles: [" >unpacked/5.2/datafiles/colormanagement/config.ocio
of_filmic "$work/unpacked" broken-tx
check blender-broken-exit rc_is 2
check blender-broken-says says "the one in PATH cannot be used, see 'txmill colorspaces --ocio $work/unpacked/5.2/datafiles/colormanagement/config.ocio'"
check blender-broken-advises-no-option-twice test "$(grep -c -- "leave out --ocio" err)" -eq 0

# ---- working spaces --------------------------------------------------------------------------------------------------
for row in "Linear Rec.709=lin_rec709_scene" "Linear Rec.2020=lin_rec2020_scene" "ACEScg=lin_ap1_scene"; do
    name=${row%=*} id=${row#*=}
    txm colorspaces --json --working-space "$name"
    check "working-space-$id" json out "o[0]['working_space']['name'] == '$name' and o[0]['working_space']['interop_id'] == '$id' and [s['name'] for s in o[0]['colorspaces'] if s['class'] == 'scene_linear'] == ['$name']"
done
gives working-space-unknown 2 says 'did you mean "Linear Rec.2020"' -- colorspaces --working-space "Linear Rec.20202"
for name in sRGB Non-Color "Filmic sRGB"; do
    gives "working-space-refused-${name// /-}" 2 says "cannot be the working space" -- colorspaces --working-space "$name"
done

# ---- sources of the config -------------------------------------------------------------------------------------------
gives option 0 prints "$golden/config.ocio" prints "$matrix" -- colorspaces --ocio "$golden/config.ocio"
OCIO="$golden/config.ocio" txm colorspaces
check environment prints "$golden/config.ocio"
OCIO=no-such.ocio txm colorspaces --ocio "$golden/config.ocio"
check option-before-environment rc_is 0
OCIO='' txm colorspaces
check empty-environment prints "built-in"
OCIO=no-such.ocio txm colorspaces
check broken-environment-exit rc_is 0
check broken-environment-says says "\$OCIO: no-such.ocio: the OCIO config cannot be opened: No such file or directory; as in Blender, the config that is used instead is the built-in one"
check broken-environment-lists prints "built-in"

# ---- configs newer than OpenColorIO ----------------------------------------------------------------------------------
txm colorspaces --ocio "$newer" --json
cp out newer.json
check newer-exit rc_is 0
check newer-version json newer.json "o[0]['profile_version'] == '2.9'"
check newer-left-out json newer.json "all(w in o[0]['left_out'] for w in ('displays', 'looks', 'ARRI LogC4', 'ACES 2.0', 'future'))"
check newer-unavailable json newer.json "[s['name'] for s in o[0]['colorspaces'] if not s['available']] == ['Display P3 HDR - Display', 'ARRI LogC4', 'Half Known', 'Behind LogC4']"
check newer-reason json newer.json "all('OpenColorIO' in s['reason'] or 'LogC4' in s['reason'] for s in o[0]['colorspaces'] if not s['available'])"
cp "$golden/rgb8.png" .
txm make -v --ocio "$newer" rgb8.png
check newer-make-says-once test "$(grep -c 'newer than the library; left out' err)" -eq 1
txm make --force --ocio "$newer" rgb8.png
check newer-make-silent-without-v test ! -s err
check newer-interop-ids json newer.json "[s['name'] for s in o[0]['colorspaces'] if 'srgb_rec709_scene' in s['aliases']] == ['sRGB - Texture']"

# ---- broken configs --------------------------------------------------------------------------------------------------
broken() { # NAME MESSAGE-PART FILE
    gives "$1" 3 says "$2" says "$3" -- colorspaces --ocio "$3"
}
: >empty.ocio
broken empty "empty" empty.ocio
echo "this is no config" >text.ocio
broken text "not a usable OCIO config" text.ocio
head -c 900 "$golden/config.ocio" >cut.ocio
broken truncated "not a usable OCIO config" cut.ocio
mkdir folder.ocio
broken folder "not a regular file" folder.ocio
mkfifo pipe.ocio
broken pipe "not a regular file" pipe.ocio
printf 'ocio_profile_version: 3\n' >three.ocio
broken major-version "profile version is 3.0" three.ocio
printf 'ocio_profile_version: 2.1\nx: %s\n' "$(head -c 100000 /dev/zero | tr '\0' '[')" >deep.ocio
broken nested "nested deeper" deep.ocio
{
    printf 'ocio_profile_version: 2.1\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n'
    for i in {1..40}; do
        printf 'a%d: &a%d [*a%d,*a%d,*a%d,*a%d]\n' "$i" "$i" $((i - 1)) $((i - 1)) $((i - 1)) $((i - 1))
    done
} >bomb.ocio
broken alias-bomb "more entries than any OCIO config has" bomb.ocio
head -c 5000000 /dev/zero | tr '\0' 'x' >huge.ocio
broken huge "larger than 4 MiB" huge.ocio
head -c 3000 /dev/urandom >noise.ocio
broken noise "not a usable OCIO config" noise.ocio
cp "$golden/config.ocio" unreadable.ocio && chmod 000 unreadable.ocio
if [ -r unreadable.ocio ]; then
    skip unreadable "this user can read everything"
else
    broken unreadable "Permission denied" unreadable.ocio
fi
txm colorspaces --ocio empty.ocio --json
check error-as-json json out "o[0]['error']['status'] == 'config' and 'colorspaces' not in o[0]"
cp out error.json

gives stray-argument 2 -- colorspaces stray

if has_jsonschema; then
    check json-schema valid_json colorspaces built-in.json
    check json-schema-newer valid_json colorspaces newer.json
    check json-schema-error valid_json colorspaces error.json
else
    skip json-schema "python3-jsonschema is missing"
fi
finish
