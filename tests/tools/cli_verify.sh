#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill verify: exit codes, text, JSON, its manual page, files of other programs and hostile ones.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}

cp "$golden"/{rgb8.png,half-rgb.exr,gray8.png} .
"$TXMILL" make -q rgb8.png half-rgb.exr gray8.png
rgb=$(echo blender_tx/rgb8*.tx) half=$(echo blender_tx/half*.tx) grey=$(echo blender_tx/gray8*.tx)

gives good 0 -- verify "$rgb" "$half" "$grey"
check good-text test "$(grep -c ': good$' out)" -eq 3
gives deep 0 -- verify --deep --json "$rgb" "$half" "$grey"
check deep-json json out 'len(o) == 3 and all(x["good"] and x["deep"] and not x["findings"] for x in o)'
check deep-leaves-nothing test -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name '.*txmill-verify*' -user "$(id -u)" -newer "$rgb" 2>/dev/null)"
if has_jsonschema; then check schema valid_json verify out; fi

# Blender stores level 0 with the bits of its source, and takes the SHA-1 before it cuts bits off.
gives odd-bits-verified 0 -- verify "$TXM_TESTDATA"/tx/good-blender-*.tx
check odd-bits-not-recomputed test "$(grep -c TXM-205 out)" -eq 7

# ---- findings --------------------------------------------------------------------------------------------------------
touch -d '2020-01-02' rgb8.png
gives stale 5 prints "TXM-401 warning" prints "2020-01-02 00:00:00" -- verify "$rgb" "$half"
check findings-are-no-failure test ! -s err
gives stale-but-equal 5 reports '[f["id"] for f in o[0]["findings"]] == ["TXM-401"]' -- verify --deep --json "$rgb"
touch -r "$rgb" rgb8.png

cp "$rgb" broken.tx
printf 'XXXX' | dd of=broken.tx bs=1 seek=2000 conv=notrunc status=none
gives flipped 5 reports 'any(f["severity"] == "error" and f["level"] is not None for f in o[0]["findings"])' \
    reports 'any(f["id"] == "TXM-302" for f in o[0]["findings"])' -- verify --json broken.tx
if has_jsonschema; then check schema-findings valid_json verify out; fi
txm verify -q "$rgb" broken.tx
check quiet test "$(grep -c good out)" -eq 0

image=$("$TXMILL" info --json "$rgb" | python3 -c 'import json,sys; print(json.load(sys.stdin)["image_bytes"])')
head -c "$image" "$rgb" >cut.tx && touch -r "$rgb" cut.tx
gives cut-at-section 0 prints "TXM-504 note" -- verify cut.tx
head -c "$((image + 100))" "$rgb" >cut.tx
gives cut-in-section 5 prints "TXM-501 warning" -- verify cut.tx

mv "$rgb" "${rgb/926BDA85/00000000}"
gives misfit 5 prints "TXM-301 warning" -- verify "${rgb/926BDA85/00000000}"
mv "${rgb/926BDA85/00000000}" "$rgb"

# Names in an absolute cache folder contain the path from there to the image, so the files match wherever they are moved
# later.
mkdir -p far/away
for how in --borders=yes --strict; do
    for space in sRGB Non-Color ACEScg; do
        "$TXMILL" make -q --force "$how" -c $space -d "$work/far/away/cache" rgb8.png
    done
    mkdir "put$how" && mv far/away/cache/*.tx "put$how"
    for f in "put$how"/*.tx; do touch -r rgb8.png "$f"; done
    txm verify --json "put$how"/*.tx
    check "moved-out-of-absolute-folder$how" json out 'len(o) == 3 and all(x["good"] and not any(f["id"].startswith("TXM-30") for f in x["findings"]) for x in o)'
done
# Under the name of other settings they do not match.
names=(put--strict/*.tx)
mv "${names[0]}" kept.tx && mv "${names[1]}" "${names[0]}" && mv kept.tx "${names[1]}"
txm verify --json "${names[0]}" "${names[1]}"
check exchanged-names json out 'all([f["id"] for f in x["findings"] if f["severity"] == "warning"] == ["TXM-301"] for x in o)'

# ---- sources elsewhere -----------------------------------------------------------------------------------------------
mkdir moved && mv gray8.png moved/ && mkdir moved/blender_tx && mv "$grey" moved/blender_tx/
gives moved-project 0 reports 'o[0]["good"] and not o[0]["findings"]' -- verify --json moved/blender_tx/*.tx
mv moved/gray8.png elsewhere.png
gives missing-source 0 reports '[f["id"] for f in o[0]["findings"]] == ["TXM-402"]' -- verify --json moved/blender_tx/*.tx
gives missing-source-deep 5 -- verify --deep moved/blender_tx/*.tx
gives source-given 0 -- verify --deep --source elsewhere.png moved/blender_tx/*.tx
gives source-of-many 2 -- verify --source a.png "$rgb" "$half"
gives no-file 2 -- verify

# ---- files of other programs, hostile files --------------------------------------------------------------------------
bad=0
openexr=$("$TXMILL" doctor | sed -n 's/^library  *OpenEXR  *//p')
for f in "$TXM_TESTDATA"/tx/*.tx; do
    "$TXMILL" verify --json "$f" >one 2>&1
    rc=$?
    case $(basename "$f") in
        good-directory-loop* | good-*-zstd-*) [ $rc -eq 5 ] ;; # Blender's libtiff has no zstd
        good-*) [ $rc -eq 0 ] ;;
        # These are tiled images, which Blender uses as they are.
        *-dwaa-*) if [[ $openexr == 3.1.? ]]; then [ $rc -eq 5 ]; else [ $rc -eq 0 ]; fi ;;
        unsupported-five-channels* | unsupported-rip-map* | unsupported-rounded-up* | unsupported-uint32*) [ $rc -eq 0 ] ;;
        *) [ $rc -eq 5 ] ;;
    esac || { bad=$((bad + 1)); echo "    rc=$rc $f"; }
    cat one >>all
done
check corpus test $bad -eq 0
if has_jsonschema; then check corpus-schema valid_json verify all; fi
gives unreadable 3 last_line_is "TXMILL-ERROR code=3 failed=1 total=2" -- verify missing.tx "$rgb"
gives unreadable-json 3 reports 'o[0]["error"]["status"] == "not-found"' -- verify --json missing.tx
if has_jsonschema; then check schema-error valid_json verify out; fi

blender=${TXM_GOLDEN_TX:-}
if [ -n "$blender" ] && [ -d "$blender" ]; then
    # One of them has the name of a colour space that no config knows, so nothing is known about its name.
    gives blender 0 -- verify --blender 5.2 --json "$blender"/*.tx
    check blender-notes json out 'len(o) > 90 and all({f["id"] for f in x["findings"]} <= {"TXM-304", "TXM-402", "TXM-504"} for x in o)'
    check blender-names json out 'sum(f["id"] == "TXM-304" for x in o for f in x["findings"]) == 1'
else
    skip blender "Blender's files are missing: set TXM_GOLDEN_TX"
fi

# The page lists the same findings as the table.
check page-lists-findings test "$(grep -c '^\.It TXM-' "$build/man/txmill-verify.1")" -eq "$(grep -c '^FINDING' "$repo/src/mill/inspect/finding_table.h")"
# If there is no place to convert the source again, nothing is reported about the file.
: >plain-file
TMPDIR=$PWD/plain-file txm verify --deep "$rgb"
check deep-without-tmpdir rc_is 3
check deep-without-tmpdir-says says "no temporary file can be made in" "plain-file" "TMPDIR"
check deep-without-tmpdir-no-verdict test ! -s out -o "$(grep -c 'TXM-60' out)" -eq 0
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir closed && cp "$golden/rgb8.png" closed/hidden.png && txm make -q -d "$PWD/open" closed/hidden.png
    chmod 700 closed && chmod 755 . open
    copy_program own && for c in info verify; do
        run setpriv --reuid 65534 --regid 65534 --clear-groups env LSAN_OPTIONS=detect_leaks=0 "$PWD/own/txmill" $c open/*.tx
        check "closed-folder-$c" prints "cannot be examined"
        check "closed-folder-$c-not-missing" test "$(grep -c -e 'not there' -e 'no file at' out)" -eq 0
    done
else
    skip closed-folder "needs root and setpriv"
fi
finish
