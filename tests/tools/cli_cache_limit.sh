#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --cache-limit of gc and make: what leaves, in which order, and what stays.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
unset TXMILL_CACHE_LIMIT

bytes() { find "$1" -name '*.tx' -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }'; }
tx_of() { find "$1" -name "$2.0-*.tx"; }
# The images whose tx files are in a folder.
have() { find "$1" -name '*.0-*.tx' -printf '%f\n' | sed 's/\.png\.0-.*//' | sort | tr '\n' ' '; }
gone() { python3 - "$work/out" <<'EOF2'
import json, os, sys
o = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
print(" ".join(os.path.basename(x["path"]).split(".png")[0] for x in o if "path" in x and x["state"] in ("removed", "would-remove")))
EOF2
}
# Six tx files of the same size; a was read three days ago, f after all others, and d, which nobody read, is new.
fresh_tree() {
    local day=9
    rm -rf tex && mkdir -p tex/more && cp -p img/[abc].png tex && cp -p img/[def].png tex/more && "$TXMILL" make -q tex
    for name in a c e b f; do
        day=$((day - 1))
        touch -a -d "$day days ago" "$(tx_of tex $name.png)"
    done
    one=$(($(bytes tex) / 6 + 64)) # their texts differ a little
}
mkdir img
for name in a b c d e f; do python3 "$repo/tests/util/batch_images.py" img 1 64 && mv img/000000.png img/$name.png; done
touch -d 2021-01-01 img/*.png

# ---- gc ----------------------------------------------------------------------------------------------------------------
fresh_tree
find tex -printf '%p %A@ %C@\n' | sort >before
gives dry 0 -- gc --json --cache-limit $((one * 4)) tex
check dry-order test "$(gone)" = "a c"
check dry-sums json out "o[-1]['would_remove_bytes'] == o[-1]['reasons']['over_limit']['bytes'] == o[0]['bytes'] + o[1]['bytes'] and o[-1]['left_bytes'] + o[-1]['would_remove_bytes'] == $(bytes tex) and o[-1]['limit_bytes'] == $one * 4 and o[-1]['kept']['used']['files'] == 4"
check dry-times json out "all(x['unused_seconds'] > 6 * 86400 for x in o if x['type'] == 'file')"
if has_jsonschema; then check gc-schema valid_json gc out; else skip gc-schema "python3-jsonschema is missing"; fi
find tex -printf '%p %A@ %C@\n' | sort >after
check a-look-is-no-use cmp before after
gives dry-says-how 0 says "to remove them, run: txmill gc --delete --cache-limit" -- gc --cache-limit $((one * 4)) tex
check dry-says-unused grep -q "would-remove: over-limit, .*: unused for 8 " out
gives deleted 0 -- gc --delete --cache-limit $((one * 4)) tex
check deleted test "$(have tex)" = "b d e f "
txm gc --delete --cache-limit $((one * 2)) tex
check deleted-next test "$(have tex)" = "d f "
# What a scene or image needs stays, and what no scene uses goes only as far as the limit asks.
fresh_tree
txm gc --delete --cache-limit $((one * 3)) --keep-for tex/a.png tex
check needed-stays test "$(have tex)" = "a d f "
txm gc --delete --cache-limit 0 --keep-for tex/a.png --keep-for tex/more/d.png tex
check zero test "$(have tex)" = "a d "
check zero-says says "what is left is needed"
# Files that are gone for other reasons go first; links out of the folder are not followed.
fresh_tree
mkdir away && mv tex/b.png away && ln -s "$work/tex/more" tex/link && ln -s "$work/away" tex/more/up
cp -rp tex/more away/ && rm tex/more/up
txm gc --json --delete --cache-limit $((one * 4)) tex
check orphan-first test "$(gone)" = "b a"
txm gc --json --delete --cache-limit 0 tex
check away-stays test "$(have away)" = "d e f "
check hard-empty test "$(have tex)" = ""
rm -r away
# Files that share their blocks with a store free nothing; folders that overlap count once.
rm -rf tex store && mkdir tex && cp -p img/a.png tex && "$TXMILL" make -q --store store tex
if [ -n "$(find tex -name '*.tx' -links +1)" ]; then
    txm gc --json --delete --cache-limit 0 tex
    check linked-stay test "$(have tex)" = "a "
else
    skip linked-stay "the file system shares blocks"
fi
fresh_tree
txm gc --json --cache-limit $((one * 5)) tex tex/more tex
check overlap json out "o[-1]['left_bytes'] + o[0]['bytes'] == $(bytes tex)"
check overlap-order test "$(gone)" = "a"
txm gc --delete --cache-limit $((one * 4)) --older-than 1d tex
check young-stay test "$(have tex)" = "a b c d e f "
if [ "$(id -u)" -eq 0 ]; then
    chown 65534 "$(tx_of tex a.png)"
    txm gc --json --delete --cache-limit $((one * 4)) tex
    check other-user test "$(have tex)" = "a b d f "
    check other-user-named json out "[x['reason'] for x in o if x.get('state') == 'kept'] == ['other-user'] and o[-1]['kept']['other_user']['files'] == 1"
    if has_jsonschema; then check other-schema valid_json gc out; fi
else
    skip other-user "not root"
fi
# Two runs at once do what one does.
fresh_tree
"$TXMILL" gc -q --delete --cache-limit $((one * 3)) tex >one 2>&1 & other=$!
gives beside 0 -- gc -q --delete --cache-limit $((one * 3)) tex
wait $other && ok beside-other || not_ok beside-other "$(cat one)"
check beside-left test "$(have tex)" = "b d f "
for bad in 1e99G -1 G 1X "" 99999999999T 0x10 nan; do
    gives "bad-$bad" 2 -- gc "--cache-limit=$bad" tex
done
gives with-store 2 -- gc --store store --cache-limit 1G

# ---- settings ----------------------------------------------------------------------------------------------------------
fresh_tree
echo "cache-limit = $((one * 5))" >tex/.txmill
gives setting 0 says "the limit is" says "tex/.txmill:1" -- gc tex
check setting-removes-nothing test "$(have tex)" = "a b c d e f "
check setting-shown bash -c '"$1" settings tex | grep -q "^cache-limit .*tex/.txmill:1"' - "$TXMILL"
txm gc --delete tex
check setting-asked test "$(have tex)" = "b c d e f "
echo "cache-limit = much" >tex/.txmill
gives setting-wrong 2 says "tex/.txmill:1: cache-limit is 'much', but must be a number of bytes" -- gc --delete tex

# ---- make --------------------------------------------------------------------------------------------------------------
# A limit that may have come with a project removes nothing before it is allowed.
fresh_tree
echo "cache-limit = $((one * 2))" >tex/.txmill
gives make-setting 0 -- make tex/more/e.png
check make-setting-removes-nothing test "$(have tex)" = "a b c d e f "
check make-setting-shows test "$(grep -c ': would-remove: over the cache limit' out)" -eq 4
check make-setting-says says "txmill make --cache-limit project tex/more/e.png"
txm make --cache-limit project tex/more/e.png
check make-allowed test "$(have tex)" = "d e "
TXMILL_CACHE_LIMIT=1 txm make --no-settings tex/more/e.png
check make-variable test "$(have tex)" = "e "
rm tex/.txmill
gives project-without 2 says "no settings name a cache-limit" -- make --cache-limit project tex
# The run's own files stay, whatever the limit, and the run says so beforehand; a dry run lists what would leave.
fresh_tree
rm "$(tx_of tex b.png)"
txm make -n --json --cache-limit $((one * 5)) tex/b.png tex
check make-dry-removes-nothing test "$(have tex)" = "a c d e f "
txm make --json --cache-limit $((one * 3)) tex/b.png tex/more
check make-order test "$(gone)" = "a c"
check make-left test "$(have tex)" = "b d e f "
check make-too-small says "more than the cache limit"
if has_jsonschema; then check make-schema valid_json make out; else skip make-schema "python3-jsonschema is missing"; fi
gives make-beforehand 0 says "the tx files of this run will take about" -- make --cache-limit 1K tex
check make-needs-all test "$(have tex)" = "a b c d e f "
txm make --cache-limit 1K --cache-dir "$work/cache" img/a.png
check cache-folder test "$(have cache)" = "a "
touch -a -d "2 days ago" cache/*.tx
txm make --cache-limit 1K --cache-dir "$work/cache" img/b.png
check cache-folder-leaves test "$(have cache)" = "b "
check others-stay test "$(have tex)" = "a b c d e f "
gives make-bad 2 -- make --cache-limit 1Z tex

# ---- the disk ----------------------------------------------------------------------------------------------------------
if mkdir small && mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
    cp -p img/a.png small/
    python3 "$repo/tests/util/batch_images.py" big 1 512 2>/dev/null || { mkdir big; python3 "$repo/tests/util/batch_images.py" big 1 512; }
    gives disk 0 says "its disk has only" -- make -n --cache-dir "$work/small" big
    umount small
else
    skip disk "cannot mount"
fi

# ---- a share -----------------------------------------------------------------------------------------------------------
cat >share.c <<'EOF2'
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <dlfcn.h>
#include <sys/vfs.h>
int statfs(const char *path, struct statfs *out)
{
    int (*next)(const char *, struct statfs *) = (int (*)(const char *, struct statfs *))dlsym(RTLD_NEXT, "statfs64");
    int rc = next(path, out);
    out->f_type = 0x6969;
    return rc;
}
EOF2
txm doctor
check doctor-local test -z "$(grep 'slow share' out)"
if [ -z "${SANITIZED:-}" ] && cc -shared -fPIC -o share.so share.c -ldl 2>/dev/null; then
    run env LD_PRELOAD="$work/share.so" "$TXMILL" doctor
    check doctor-share prints "txmill mirror --to /LOCAL/FOLDER SCENE.blend"
else
    skip doctor-share "a sanitized build, or no compiler"
fi
finish
