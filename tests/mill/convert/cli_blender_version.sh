#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The option --blender: what differs between versions of Blender. The names, interop ids and encoded pixels of 5.2 are
# those that Blender 5.2.2 gave; those of 5.3 are the official 5.3.0's.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
unset OCIO BLENDER_OCIO TXMILL_BLENDER

cp "$golden/rgb8.png" "$golden/half-rgb.exr" "$golden/half-rgba.exr" .
cp "$TXM_TESTDATA"/color/no-interchange.ocio bare.ocio
bare=(--ocio bare.ocio -c sRGB -a auto)
older=(--blender 5.2)
releases=$("$TXMILL" --generate releases) # "5.2 or 5.3"
newest=${releases##* }
next=${newest%.*}.$((${newest#*.} + 1))
id_of() { "$TXMILL" info --all "$1" | sed -n 's/^ *colorInteropID: //p'; }
level0() { "$TXMILL" info --json "$1" | sed -n 's/.*"sha1":"\([0-9A-F]*\)".*/\1/p'; }

# ---- names --------------------------------------------------------------------------------------------------------------
txm make -q "${bare[@]}" "${older[@]}" rgb8.png half-rgb.exr
check name-5.2 test -f blender_tx/rgb8.png.0-4531A7E808B577A1216ED3660A2BF437.tx
txm make -q "${bare[@]}" --blender 5.2.3 rgb8.png
check patch-level test "$(find blender_tx -name 'rgb8*' | wc -l)" = 1
gives other-version 5 prints "for Blender 5.2, not 5.3" \
    prints "  Blender 5.2: fresh, blender_tx/rgb8.png.0-4531A7E808B577A1216ED3660A2BF437.tx" \
    prints "  Blender 5.3: missing, blender_tx/rgb8.png.0-02EB2B272F0A61A9B0C0925F30587539.tx" \
    -- resolve "${bare[@]}" --blender 5.3 rgb8.png
txm make -q "${bare[@]}" --blender 5.3 rgb8.png
check name-5.3 test -f blender_tx/rgb8.png.0-02EB2B272F0A61A9B0C0925F30587539.tx
txm resolve --json "${bare[@]}" rgb8.png
check both-found json out '[(v["blender"], v["state"]) for v in o[0]["versions"]][:2] == [("5.2", "fresh"), ("5.3", "fresh")] and len({v["path"] for v in o[0]["versions"]}) == 2'
if has_jsonschema; then check resolve-schema valid_json resolve out; fi
gives verify-5.3 0 -- verify --ocio bare.ocio --blender 5.3 blender_tx/rgb8.png.0-02EB2B272F0A61A9B0C0925F30587539.tx
txm make -n --json rgb8.png
plain=$(sed -n 's/.*"tx":"\([^"]*\)".*/\1/p' out | head -n 1)
txm make -n --json --blender 5.3 rgb8.png
check same-with-roles test -n "$plain" -a "$plain" = "$(sed -n 's/.*"tx":"\([^"]*\)".*/\1/p' out | head -n 1)"
txm resolve rgb8.png
check same-is-said-once test "$(grep -c Blender out)" = 0

# ---- interop ids --------------------------------------------------------------------------------------------------------
check id-bare test "$(id_of blender_tx/half-rgb.exr.0-4531A7E808B577A1216ED3660A2BF437.tx)" = srgb_rec709_scene
txm make -q -d a -c sRGB "${older[@]}" half-rgb.exr
check id-5.2 test -z "$(id_of a/half-rgb.exr.*.tx)"
txm make -q -d b -c sRGB --blender 5.3 half-rgb.exr
check id-5.3 test "$(id_of b/half-rgb.exr.*.tx)" = srgb_rec709_scene
check id-pixels test "$(level0 a/half-rgb.exr.*.tx)" = "$(level0 b/half-rgb.exr.*.tx)"
txm make -q -d c -c 'Linear Rec.709' --blender 5.3 half-rgb.exr
check id-linear test "$(id_of c/half-rgb.exr.*.tx)" = lin_rec709_scene
txm make -q -d d -c 'sRGB Encoded AP1' --working-space ACEScg half-rgb.exr
check id-ap1 test "$(id_of d/half-rgb.exr.*.tx)" = srgb_ap1_scene

# ---- Cycles' own sRGB -----------------------------------------------------------------------------------------------------
txm make -q -d e --ocio bare.ocio -c __builtin_srgb -a auto "${older[@]}" rgb8.png
check builtin-name test -f e/rgb8.png.0-AF943BC048851841BDBE91F2DA84BBC0.tx
check builtin-encoded test "$(level0 e/rgb8.png.*.tx)" = 91A7B3C718C93AF92E5C100AEFFAC3A8CF1C5775
txm info --json e/rgb8.png.*.tx
check builtin-converted json out 'o[0]["data_type"] == "half" and o[0]["colorspace"]["detected"] == "__builtin_srgb"'
txm make -q -d f --ocio bare.ocio -c __builtin_srgb -a auto --blender 5.3 rgb8.png
txm info --json f/rgb8.png.*.tx
check builtin-decoded json out 'o[0]["data_type"] == "half" and o[0]["colorspace"]["detected"] == "__builtin_srgb" and o[0]["average"][0] < 0.5'
# In another working space, sRGB through the config and sRGB without it must be the same.
txm make -q -d g -c __builtin_srgb -a auto --blender 5.3 --working-space ACEScg rgb8.png
txm make -q -d h -c sRGB -a auto --blender 5.3 --working-space ACEScg rgb8.png
gives builtin-working-space 0 prints "within" -- diff g/rgb8.png.*.tx h/rgb8.png.*.tx --max-error 0.001
gives builtin-case 2 -- make -c __Builtin_srgb rgb8.png
txm colorspaces --names
check builtin-not-listed test "$(grep -c __builtin out)" = 0

# ---- images that a release refuses --------------------------------------------------------------------------------------
cp "$TXM_TESTDATA"/releases/zstd.tif .
for reader in direct oiio; do
    TXMILL_READER=$reader txm make --blender 5.3 -d "$reader" zstd.tif
    check "refused-exit-$reader" rc_is 3
    check "refused-says-$reader" says "Blender 5.3 refuses TIFF files compressed with zstd: save the image with zip or LZW, or convert it with --blender 5.2"
    check "refused-nothing-$reader" test ! -e "$reader"
done
gives refused-planned 3 -- make -n --blender 5.3 zstd.tif
gives refused-older 0 -- make -q --blender 5.2 zstd.tif
# A tx file that exists is used without a look at the image.
gives refused-made-already 0 -- make --blender 5.3 zstd.tif

# ---- another release's pixels --------------------------------------------------------------------------------------------
# Alpha of two and of five channels, and channel-packed levels, have other pixels in 5.3; the rest is the same.
mkdir up
cp "$TXM_TESTDATA"/releases/{la8.png,la16.png,c5-8.tif,half-ya.exr,rgba8.png,rgb8.png} up
printf 'rule = rgba8.png=sRGB,channel_packed\nrule = half-ya.exr=Linear Rec.709,straight\n' >up/.txmill
tx_of() { find up/blender_tx -name "$1.0-*.tx"; }
state_of() { "$TXMILL" check --json --blender "$1" "up/$2" | sed -n 's/.*"id":"\([a-z-]*\)".*/\1/p'; }
for release in 5.2 5.3; do
    other=$([ $release = 5.2 ] && echo 5.3 || echo 5.2)
    age=$([ $release = 5.2 ] && echo old || echo newer)
    txm make --json --blender $release up
    if [ $release = 5.2 ]; then
        check up-made json out 'sorted(x["state"] for x in o if x["type"] == "file") == ["created"] * 6'
    else
        check up-renews json out 'sorted(x["input"].split("/")[-1] for x in o if x["type"] == "file" and x["state"] == "created") == ["c5-8.tif", "half-ya.exr", "la16.png", "la8.png", "rgba8.png"]'
    fi
    gives "up-ready-$release" 0 -- check --blender $release up
    gives "up-verified-$release" 0 -- verify -q --deep --blender $release up/blender_tx
    gives up-check 5 \
        prints "made for Blender $release: Blender $other shows $age pixels; 'txmill make --blender $other' makes it again" \
        prints "1 of 6 textures fresh, 5 unusable" prints "run: txmill make --blender $other" -- check --blender $other up
    check up-state-$release test "$(state_of $other la16.png)" = unusable
    check up-state-same-$release test "$(state_of $other rgb8.png)" = fresh
    txm verify --json --deep --blender $other up/blender_tx
    check up-verify-$release json out '[f["id"] for x in o for f in x.get("findings", []) if f["severity"] != "note"] == ["TXM-310"] * 5'
    if has_jsonschema; then check up-verify-schema-$release valid_json verify out; fi
    gives up-resolve 5 prints "  Blender $release: fresh, $(tx_of la8.png)" \
        prints "  Blender $other: unusable, $(tx_of la8.png)" -- resolve --blender $other up/la8.png
    gives up-info 0 prints "  Cycles        uses it, with colours or alpha other than the scene's: made for Blender $release" \
        prints "  for Blender   $release" -- info --blender $other "$(tx_of la8.png)"
    txm info --json "$(tx_of la8.png)" "$(tx_of rgb8.png)"
    check up-info-json-$release json out "[x['made_for'] and x['made_for'].split()[0] for x in o] == ['$release', None]"
    if has_jsonschema; then check up-info-schema-$release valid_json info out; fi
done
# Full alpha is the same in all releases, and so is grey that is stored as one channel.
cat >up/png.py <<'E'
import struct, sys, zlib
name, colour, pixel = sys.argv[1], int(sys.argv[2]), [bytes.fromhex(t) for t in sys.argv[3:]]
rows = b"".join(b"\0" + b"".join(pixel[(x + y) % len(pixel)] for x in range(70)) for y in range(40))
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
with open(name, "wb") as out:
    out.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 70, 40, 8, colour, 0, 0, 0)) +
              chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
E
python3 up/png.py up/grey.png 4 10ff 80ff f0ff
python3 up/png.py up/packed.png 6 102030ff a0b0c0ff ff0080ff
python3 up/png.py up/nearly.png 6 102030ff a0b0c0ff ff0080fe
txm make -q --blender 5.2 up/grey.png
check up-opaque-grey test "$(state_of 5.3 grey.png)" = fresh
txm make -q --blender 5.2 -a channel_packed -c sRGB up/packed.png up/nearly.png
gives up-opaque-packed 0 -- check --blender 5.3 -a channel_packed -c sRGB up/packed.png
gives up-opaque-nearly 5 -- check --blender 5.3 -a channel_packed -c sRGB up/nearly.png

# Files of an older txmill record nothing, and have the pixels of 5.2. Of Blender's own it is not known until they are
# compared with their image.
without() { # NAME: renames this entry of the tx files of la8.png and rgba8.png
    local image tx
    for image in la8.png rgba8.png; do
        tx=$(tx_of "$image")
        LC_ALL=C sed -i "s/txmill:$1/txmill:X${1:1}/" "$tx"
        touch -r "up/$image" "$tx"
    done
}
txm make -q -f --strict --blender 5.2 up/la8.png up/rgba8.png
without Blender
check up-unrecorded-5.2 test "$(state_of 5.2 la8.png)" = fresh
check up-unrecorded-5.3 test "$(state_of 5.3 la8.png)" = unusable
gives up-unrecorded-levels 0 -- verify -q --blender 5.2 "$(tx_of rgba8.png)"
without ColorSpace
for release in 5.2 5.3; do
    txm check --blender $release up/la8.png
    check up-unknown-$release rc_is 0
    check up-unknown-says-$release prints "up/la8.png: fresh: it does not record which Blender made it: unless $release did, Blender $release shows other pixels"
    gives "up-unknown-verify-$release" 0 prints "TXM-311 note" -- verify --blender $release "$(tx_of la8.png)"
done
gives up-unknown-deep-5.2 0 -- verify --deep --blender 5.2 "$(tx_of la8.png)" "$(tx_of rgba8.png)"
check up-unknown-deep-known test "$(grep -c TXM-311 out)" = 0
gives up-unknown-deep-5.3 5 -- verify --deep --blender 5.3 "$(tx_of la8.png)" "$(tx_of rgba8.png)"
check up-unknown-deep-says test "$(grep -c "its pixels are those of Blender 5.2: Blender 5.3 shows old pixels" out)" = 2
touch -d '1 hour ago' "$(tx_of la8.png)"
gives up-not-touched 5 prints "not refreshed: TXM-310" -- refresh --blender 5.3 up/la8.png

# ---- which config -------------------------------------------------------------------------------------------------------
# testdata/color/configs.tsv: the names that official Blender gave with these configs in $OCIO.
mkdir configs && cp "$golden/rgb8.png" configs/rgb.png && cp "$golden/half-rgb.exr" configs/h.exr && cp "$golden/rgb16.png" configs/u16.png
cp bare.ocio configs
xyz='  - !<ColorSpace>
    name: XYZ65
    from_scene_reference: !<MatrixTransform> {matrix: [0.4123908, 0.3575843, 0.1804808, 0, 0.2126390, 0.7151687, 0.0721923, 0, 0.0193308, 0.1191948, 0.9505322, 0, 0, 0, 0, 1]}'
for role in XYZ cie_xyz_d65_interchange; do
    { sed "s/^roles:/roles:\n  $role: XYZ65/" bare.ocio && echo "$xyz"; } >"configs/$role.ocio"
done
mv configs/XYZ.ocio configs/xyz.ocio && mv configs/cie_xyz_d65_interchange.ocio configs/cie.ocio
printf 'ocio_profile_version: 2\nroles:\n  scene_linear: Nope\ncolorspaces: [\n' >configs/broken.ocio
named() { # CONFIG VALUE
    local release column=5
    awk -F'\t' -v config="$1" '$1 == config { print $2 "\t" $3 }' "$TXM_TESTDATA/color/configs.tsv" >rows
    python3 -c 'import json, sys
for line in open("rows"):
    path, space = line.rstrip("\n").split("\t")
    print(json.dumps({"path": "configs/" + path, "colorspace": space, "alpha": "straight"}))' >images
    for release in 5.2 5.3; do
        OCIO=$2 txm make -n --strict --json --blender $release @images
        check "config-$1-$release" test -s rows -a "$(grep -o '"tx":"[^"]*' out | sed 's|.*/||')" = \
            "$(awk -F'\t' -v config="$1" -v column=$column '$1 == config { print $column }' "$TXM_TESTDATA/color/configs.tsv")"
        column=6
    done
}
for config in bare xyz cie broken; do named $config configs/$config.ocio; done
check broken-is-said says "\$OCIO: configs/broken.ocio: not a usable OCIO config"
named absent configs/none.ocio
check absent-is-said says "as in Blender, the config that is used instead is the built-in one"
if "$TXMILL" doctor | grep -q 'OpenColorIO *2\.5'; then
    for config in cg studio; do named $config ocio://$config-config-latest; done
else
    skip cg-and-studio-configs "this OpenColorIO is older than Blender's"
fi

# A Blender project, which 5.2 ignores: testdata/blend has the names that both gave.
mkdir -p project/.blender_project project/sub/deep
printf 'schema_version = 1\nname = "film"\nocio_config = "{project_root}/bare.ocio"\n' >project/.blender_project/project.toml
cp bare.ocio project && cp rgb8.png project/sub && cp "$TXM_TESTDATA/blend/names-5.3.blend" project/sub
digest_of() { sed -n 's/.*"tx":"[^"]*-\([0-9A-F]*\).tx".*/\1/p' out; }
txm make -n --json project/sub/rgb8.png
check project-name test "$(digest_of)" = 3F37FE133E281E534EB60EBD005DDBF1
txm make -n --json --blender 5.2 project/sub/rgb8.png
check project-ignored test "$(digest_of)" = 926BDA8569F1F2504902F06ABA51E46D
txm make -n --json project/sub/rgb8.png rgb8.png
check project-beside test "$(digest_of | tr '\n' ' ')" = "3F37FE133E281E534EB60EBD005DDBF1 926BDA8569F1F2504902F06ABA51E46D "
gives project-working-space 0 reports 'o[0]["working_space"] == "Linear"' -- list --json project/sub/names-5.3.blend
txm settings --json project/sub/deep
check project-setting json out '[(x["value"], x["origin"]) for x in o if x["setting"] == "ocio"] == [("'"$work"'/project/bare.ocio", "'"$work"'/project/.blender_project/project.toml")]'
BLENDER_OCIO=configs/xyz.ocio OCIO=bare.ocio txm settings --json project/sub
check variable-first json out '[(x["value"], x["origin"]) for x in o if x["setting"] == "ocio"] == [("configs/xyz.ocio", "BLENDER_OCIO")]'
txm doctor --ocio project/.blender_project/project.toml
check doctor-names-the-project prints "project/bare.ocio (project/.blender_project/project.toml)"
txm make -n --json project/sub/rgb8.png
check project-inside test "$(grep -c outside out err | tr '\n' ' ')" = "out:0 err:0 "
cp project/.blender_project/project.toml project/inside.toml
for config in "$work/bare.ocio" '{project_root}/../bare.ocio' '{project_root}/link/bare.ocio'; do
    ln -sfn "$work" project/link
    printf 'schema_version = 1\nname = "film"\nocio_config = "%s"\n' "$config" >project/.blender_project/project.toml
    txm make -n --json project/sub/rgb8.png
    check "project-outside-$config" says "project/.blender_project/project.toml: ocio_config = ${config/'{project_root}'/$work/project} is outside of the folder of this project"
    check "project-outside-json-$config" json out '[(x["setting"], x["origin"]) for x in o[-1]["settings_outside"]] == [("ocio", "'"$work"'/project/.blender_project/project.toml")]'
    if has_jsonschema; then check "project-outside-schema-$config" valid_json make out; fi
    txm settings --json project/sub
    check "project-outside-settings-$config" json out '[x["setting"] for x in o if x["outside"]] == ["ocio"]'
    txm make -n --json --no-settings project/sub/rgb8.png
    check "project-left-out-$config" test "$(digest_of)" = 926BDA8569F1F2504902F06ABA51E46D -a "$(grep -c outside out err | tr '\n' ' ')" = "out:0 err:0 "
done
printf 'schema_version = 1\nname = "film"\nocio_config = "%s"\n' '{project_root}/../../none.ocio' >project/.blender_project/project.toml
gives project-outside-absent 0 reports 'len(o[-1]["settings_outside"]) == 1' -- make -n --json project/sub/rgb8.png
mv project/inside.toml project/.blender_project/project.toml && rm project/link
printf 'ocio = ../configs/xyz.ocio\n' >project/.txmill
txm settings --json project/sub
check txmill-first json out '[x["origin"] for x in o if x["setting"] == "ocio"] == ["'"$work"'/project/.txmill:1"]'
rm project/.txmill && mkdir project/sub/.blender_project
txm make -n --json project/sub/rgb8.png
check inner-hides-outer test "$(digest_of)" = 926BDA8569F1F2504902F06ABA51E46D
check inner-is-said says "project/sub/.blender_project/project.toml"
for kind in mkdir mkfifo; do
    $kind project/sub/.blender_project/project.toml
    txm make -n --json project/sub/rgb8.png
    check inner-hides-outer-$kind test "$(digest_of)" = 926BDA8569F1F2504902F06ABA51E46D
    check inner-is-said-$kind says "project/sub/.blender_project/project.toml: the Blender project is not a regular file"
    rm -r project/sub/.blender_project/project.toml
done

# ---- messages about the version --------------------------------------------------------------------------------------
mkdir film && cp rgb8.png film
printf 'ocio = ../bare.ocio\nblender = 5.3\nrule = *=sRGB,auto\n' >film/.txmill
txm make -q film/rgb8.png
check setting test -f film/blender_tx/rgb8.png.0-02EB2B272F0A61A9B0C0925F30587539.tx
txm make -q --blender 5.2 film/rgb8.png
check option-wins test -f film/blender_tx/rgb8.png.0-4531A7E808B577A1216ED3660A2BF437.tx
rm -r film/blender_tx
TXMILL_BLENDER=5.2 txm make -q film/rgb8.png rgb8.png
check variable-wins test -f film/blender_tx/rgb8.png.0-4531A7E808B577A1216ED3660A2BF437.tx
rm -r film/blender_tx
mkdir -p film/sub/x && cp rgb8.png film/sub && printf 'ocio = ../../bare.ocio\nrule = *=sRGB,auto\n' >film/sub/.txmill
txm make -q rgb8.png film/rgb8.png film/sub/rgb8.png
check each-its-own test -f film/blender_tx/rgb8.png.0-02EB2B272F0A61A9B0C0925F30587539.tx
txm settings --json film
check setting-shown json out '[(x["value"], x["origin"].endswith("film/.txmill:2")) for x in o if x["setting"] == "blender"] == [("5.3", True)]'
gives default-shown 0 prints "blender        $newest  (default)" -- settings rgb8.png
printf 'blender = 4.9\n' >film/.txmill
gives unknown 2 says "film/.txmill:1: blender is '4.9', but must be $releases" -- make film/rgb8.png
for bad in 5 5.2. 5.20 5.2.x 4.9 5.4. 5.4.x 5.44 '' 'blender'; do
    gives "refused-${bad:-empty}" 2 -- make --blender "$bad" rgb8.png
done
for newer in "$next" 6.0 "$next.1"; do
    gives "newer-$newer" 0 says "Blender $newer is newer than this txmill" -- resolve --blender $newer rgb8.png
done
gives doctor 0 prints "5.3" -- doctor --blender 5.3
finish
