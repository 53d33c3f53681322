#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Many processes work on one folder: each file is made once, and processes that are killed leave nothing permanent.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
rounds=$(some_of 64) images=100

# txmill has left no other files than tx files.
nothing_left() { [ -z "$(find "$1" -name '.*.txm-*')" ]; }
made() { find "$1/blender_tx" -name '*.tx' 2>/dev/null | wc -l; }
# The bytes of a tx file depend on the source and the settings alone, so all results must equal those of one undisturbed
# run.
as_made_in_peace() { diff -r crowd/blender_tx crowd/peace >"$work/out" 2>&1; }

# Lists claims that have been written, and not only created.
claims() { find crowd -name '.*.txm-claim' -size +0 2>/dev/null; }
# Prints claims whose tx file is missing. A claim is still there for a moment after its file has appeared.
unmade() { claims | while read -r claim; do [ -e "${claim/.}" ] || echo "$claim"; done; }
# Stops a process while it holds a claim that `$2` lists, so that others can examine and copy the claim.
stop_with_claim() {
    for _ in $(seq 500); do
        kill -STOP "$1" 2>/dev/null || return
        [ -n "$($2)" ] && return
        kill -CONT "$1"
        sleep 0.002
    done
}

# ---- eight processes ---------------------------------------------------------------------------------------------------
python3 "$repo/tests/util/batch_images.py" crowd $images 48
for p in 1 2 3 4 5 6 7 8; do
    "$TXMILL" make -j 2 --json crowd >crowd.$p.json 2>crowd.$p.err &
done
codes=0
for job in $(jobs -p); do wait "$job" || codes=1; done
check crowd-all-succeed test $codes -eq 0
cat crowd.*.json >crowd.json
check crowd-each-made-once json crowd.json \
    "(lambda made: len(made) == $images and len(set(made)) == $images)([x['tx'] for x in o if x.get('state') == 'created'])"
check crowd-all-saw-all json crowd.json "all(x['failed'] == 0 and x['inputs'] == $images for x in o if x['type'] == 'summary')"
check crowd-work-was-shared json crowd.json "sum(x['created'] > 0 for x in o if x['type'] == 'summary') > 1"
check crowd-nothing-left nothing_left crowd
check crowd-complete test "$(made crowd)" -eq $images
"$TXMILL" make -q --force --no-claims -d peace crowd
check crowd-every-file-whole as_made_in_peace
if has_jsonschema; then check crowd-json-schema valid_json make crowd.json; else skip crowd-json-schema "python3-jsonschema is missing"; fi

# Without claims the result is the same files, some of them perhaps made more than once.
rm -r crowd/blender_tx
for p in 1 2 3 4; do "$TXMILL" make -q --no-claims crowd & done
wait
check no-claims-complete test "$(made crowd)" -eq $images
check no-claims-nothing-left nothing_left crowd
check no-claims-every-file-whole as_made_in_peace

# ---- killed ------------------------------------------------------------------------------------------------------------
set +m
killed=0
for i in $(seq $rounds); do
    # The next process always has work left; it sweeps what the others left.
    rm -f crowd/blender_tx/*[02468].png.*.tx
    "$TXMILL" make -q -j 2 crowd 2>/dev/null &
    pid=$!
    sleep "$(printf '0.%03d' $((RANDOM % 50)))"
    kill -9 $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
done
check killed-some test $killed -gt $((rounds / 4))
echo "note $killed of $rounds runs were killed, $(find crowd -name '.*.txm-*' | wc -l) files were left behind"
gives killed-next-run 0 -- make crowd
check killed-next-run-complete test "$(made crowd)" -eq $images
check killed-nothing-left nothing_left crowd
check killed-every-file-whole as_made_in_peace

# A process has died and left a claim and a temporary file, and the tx file is fresh: they are swept although there is
# nothing to make.
tx=$(find crowd -name '*.tx' | sort | head -n 1)
claim="$(dirname "$tx")/.$(basename "$tx").txm-claim"
"$TXMILL" make -q --force crowd 2>/dev/null &
pid=$!
stop_with_claim $pid claims
cp "$(claims | head -n 1)" note
kill -CONT $pid
wait $pid
cp note "$claim" && sed -n 's/^pid //p' note >dead-pid
temporary="$(dirname "$tx")/.x.png.tx.$(sed -n 's/^host //p' note)-$(sed -n 's/^machine //p' note)-$(cat dead-pid)-0123456789abcdef.txm-tmp"
foreign="$(dirname "$tx")/.x.png.tx.elsewhere-00000000-1-0123456789abcdef.txm-tmp"
abandoned="$(dirname "$tx")/.y.png.tx.elsewhere-00000000-1-0123456789abcdef.txm-tmp"
touch "$temporary" "$foreign" && touch -d '3 days ago' "$abandoned"
txm make -n crowd
check dry-run-sweeps-nothing test -e "$claim" -a -e "$temporary" -a -e "$abandoned"
txm make crowd
check dead-claim-swept test -s note -a ! -e "$claim"
check dead-temporary-swept test ! -e "$temporary"
check abandoned-temporary-swept test ! -e "$abandoned"
check others-temporary-kept test -e "$foreign"
rm -f "$foreign"

# ---- wrong clocks ------------------------------------------------------------------------------------------------------
# As far as claims show, there are three hosts. The clock of one is 10 minutes fast, and that of another 10 minutes slow.
# Sanitizers must be loaded first, and so must the library that fakes the clock.
if faketime -f +10m "$TXMILL" --version >/dev/null 2>&1; then
    rm -r crowd/blender_tx
    for offset in +10m -10m +0; do
        # Intervals are not changed, and neither are the times of files, which the kernel sets, as a file server would.
        FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1 faketime -f "$offset" \
            "$TXMILL" make -j 2 --json crowd >"clock$offset.json" 2>"clock$offset.err" &
    done
    wait
    cat clock*.json >clocks.json
    check clocks-each-made-once json clocks.json \
        "(lambda made: len(made) == $images and len(set(made)) == $images)([x['tx'] for x in o if x.get('state') == 'created'])"
    check clocks-no-failures json clocks.json "all(x['failed'] == 0 for x in o if x['type'] == 'summary')"
    check clocks-nothing-left nothing_left crowd
    check clocks-every-file-whole as_made_in_peace
else
    skip clocks "faketime is not installed, or the build is sanitized"
fi

# ---- stopped processes -----------------------------------------------------------------------------------------------
# A process that holds claims is stopped for a while: others leave its files alone and return to them later.
rm -r crowd/blender_tx
"$TXMILL" make -q -j 1 crowd &
pid=$!
stop_with_claim $pid unmade
"$TXMILL" make -q crowd &
other=$!
for _ in $(seq 600); do [ "$(made crowd)" -ge $((images - 1)) ] && break; sleep 0.05; done
check stopped-others-did-the-rest test "$(made crowd)" -ge $((images - 1))
check stopped-others-wait kill -0 $other
kill -CONT $pid
wait $pid
check stopped-went-on test $? -eq 0
wait $other
check stopped-others-end test $? -eq 0
check stopped-nothing-left nothing_left crowd
check stopped-complete test "$(made crowd)" -eq $images
finish
