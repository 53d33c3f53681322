#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill watch: files that appear, change, move and disappear; folders that disappear and return.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
pid=
stop_watch() { [ -z "$pid" ] || { kill -9 "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; }; }
trap 'stop_watch; clean_up' EXIT

# Waits for a condition, generously, because a busy machine is not a failure.
soon() {
    local until=$((SECONDS + 60))
    until "$@" 2>/dev/null; do
        [ $SECONDS -lt $until ] || return 1
        sleep 0.05
    done
}
tx_files() { find "$1" -name '*.tx' | wc -l; }
has_tx() { [ "$(tx_files "$1")" -eq "$2" ]; }
has() { [ -n "$(find . -path "./$1")" ]; }
created() { grep -c '"state":"created"' events; }
start() { # OPTION... : files settle at once, so that a test need not wait
    rm -f messages
    "$TXMILL" watch --json --settle 0 "$@" >events 2>messages &
    pid=$!
    soon grep -q "watching" messages
}
end() { # the exit code in $rc
    kill -TERM "$pid"
    wait "$pid"
    rc=$?
    pid=
}

# ---- files that exist, appear, change --------------------------------------------------------------------------------
python3 "$repo/tests/util/batch_images.py" pool 12 24
mkdir -p tex/sub
cp pool/000000.png tex/
cp pool/000001.png tex/sub/
start tex --exclude 'draft*'
check start-converts-what-is-there soon has_tx tex 2
cp pool/000002.png tex/
check appears soon has "tex/blender_tx/000002.png.*.tx"
# Many programs save a file elsewhere and rename it into place. A link appears in the same way.
cp pool/000003.png tex/.new && mv tex/.new tex/000003.png
ln pool/000004.png tex/000004.png
check renamed-into-place soon has "tex/blender_tx/000003.png.*.tx"
check linked-into-place soon has "tex/blender_tx/000004.png.*.tx"
# Folders appear together with their content, however fast.
mkdir -p tex/a/b/c && cp pool/000005.png tex/a/b/c/
cp -r tex/sub tex/sub2
mkdir away && cp pool/000006.png away/ && mv away tex/
check new-folders soon has "tex/a/b/c/blender_tx/000005.png.*.tx"
check copied-folder soon has "tex/sub2/blender_tx/000001.png.*.tx"
check moved-folder soon has "tex/away/blender_tx/000006.png.*.tx"
mv tex/away tex/renamed && cp pool/000007.png tex/renamed/
check renamed-folder-is-watched soon has "tex/renamed/blender_tx/000007.png.*.tx"
sleep 1.1 # tx files have their image's time, to the second
before=$(created)
cp pool/000008.png tex/000002.png
more() { [ "$(created)" -gt "$1" ]; }
check changed-is-made-anew soon more "$before"
# An image that has another time and the same content gets its tx file back with that time.
touch -d '2020-01-01' tex/000003.png
restored() { [ -n "$(find tex/blender_tx -name '000003.png.*.tx' ! -newer tex/000003.png)" ]; }
check new-time-is-restored soon restored
# These files are ignored: hidden, excluded, not images, and txmill's own tx files.
echo text >tex/notes.txt && cp pool/000009.png tex/.hidden.png && cp pool/000009.png tex/draft1.png
cp pool/000010.png tex/last.png
check others-later soon has "tex/blender_tx/last.png.*.tx"
check passes-over test -z "$(find tex -name '*hidden*.tx' -o -name 'draft*.tx' -o -name 'notes*.tx')"
# A file that cannot be converted does not stop the watch.
echo broken >tex/broken.png
check failure-is-reported soon grep -q '"input":"tex/broken.png","state":"failed"' events
cp pool/000011.png tex/after.png
check failure-stops-nothing soon has "tex/blender_tx/after.png.*.tx"
end
check ends-by-sigterm rc_is 143
check nothing-left no_temporaries
if has_jsonschema; then check json-schema valid_json make events; else skip json-schema "python3-jsonschema is missing"; fi

# ---- settling --------------------------------------------------------------------------------------------------------
mkdir slow
"$TXMILL" watch --json --settle 2 slow >events 2>messages &
pid=$!
soon grep -q "watching" messages
# A slow writer opens and closes the file again and again, so that it never settles for two seconds.
pause=$(python3 - "$golden/rgb8.png" slow/growing.png <<'EOF2'
import sys, time
data = open(sys.argv[1], "rb").read()
last, longest = time.monotonic(), 0
for part in range(6):
    with open(sys.argv[2], "ab") as f:
        f.write(data[part * len(data) // 6:(part + 1) * len(data) // 6])
    longest, last = max(longest, time.monotonic() - last), time.monotonic()
    time.sleep(0.3)
print(int(longest * 1000))
EOF2
)
check debounced soon has_tx slow 1
if [ "$pause" -gt 1700 ]; then
    skip debounced-one-try "this machine paused the writer for $pause ms"
else
    check debounced-one-try soon json events "[x['state'] for x in o if x['type'] == 'file'] == ['created']"
fi
end

# ---- limits ----------------------------------------------------------------------------------------------------------
# More changes happen at once than are remembered: everything is examined, and nothing is missed. They are hard links,
# so 5000 files cost nothing.
mkdir many
start many
python3 - <<'EOF2'
import os
for i in range(5000):
    os.link("pool/000000.png", f"many/{i:04d}.exr~.txt") if i % 50 else os.link("pool/000000.png", f"many/{i:04d}.png")
EOF2
check many-all-made soon has_tx many 100
end

# ---- a share that disappears and returns -----------------------------------------------------------------------------
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    mkdir -p share backing && cp pool/000000.png backing/
    cat >share.sh <<'EOF2'
mount --make-rprivate / && mount --bind backing share || exit 9
"$TXMILL" watch --json --settle 0 share >events 2>messages &
echo $! >pid
wait_for() { for _ in $(seq 600); do "$@" && return; sleep 0.1; done; return 1; }
made() { [ "$(find backing -name '*.tx' | wc -l)" -eq "$1" ]; }
said() { grep -q "$1" messages; }
wait_for made 1; echo "first=$?"
umount -l share; wait_for said "has taken its place\|is gone"; echo "gone=$?"
cp pool/000001.png backing/
mount --bind backing share; wait_for made 2; echo "back=$?"
cp pool/000002.png backing/; wait_for made 3; echo "watched=$?"
kill -TERM $(cat pid); wait $(cat pid); echo "rc=$?"
EOF2
    TXMILL=$TXMILL unshare -m bash share.sh >out 2>err
    if grep -q '^rc=' out; then
        check share-first prints first=0
        check share-vanishes prints gone=0
        check share-returns prints back=0
        check share-watched-again prints watched=0
        check share-ends prints rc=143
    else
        skip share "mounting is not permitted here"
    fi
else
    skip share "mounting takes root"
fi
mkdir gone
start gone
rmdir gone
check removed-is-said soon grep -q "is gone" messages
mkdir gone && cp pool/000000.png gone/
check made-again-is-watched soon has_tx gone 1
end

# ---- usage --------------------------------------------------------------------------------------------------------------
gives needs-a-folder 2 -- watch
gives missing-folder 3 -- watch no-such-folder
txm watch pool/000000.png
check no-folder test "$rc" -ne 0
gives no-list 3 -- watch @list
finish
