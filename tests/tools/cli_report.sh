#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill report: the result of several runs, and its page.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

# ---- logs: two shards, a run that was killed, failures of both kinds, lint, odd names ---------------------------------
python3 "$repo/tests/util/batch_images.py" tex 8 100
cp "$golden/half-rgb.exr" "$golden/gray-in-rgb.png" tex/
: >'tex/bad<script>alert(1)<b>.png'
: >tex/empty.png
for i in 1 2; do "$TXMILL" make --lint --json --shard $i/2 tex >run$i.jsonl 2>/dev/null; done
# One failure may be cured by a retry, one was cured, and one of another run remains.
failure() { # NAME STATUS RETRYABLE
    printf '{"schema":"txmill.make","version":1,"type":"file","input":"%s","state":"failed","error":{"status":"%s","retryable":%s,"message":"%s: went wrong","subject":"%s"}}\n' "$1" "$2" "$3" "$1" "$1"
}
{ failure tex/000003.png disk-full true; failure $'tex/late\x01.png' locked true; } >run0.jsonl
{ echo 'slurmstepd: error: *** JOB 7 ON n1 CANCELLED ***'; grep -m 1 '"created"' run1.jsonl | sed 's/"created"/"up-to-date"/'; printf '{"schema":"txmill.make","vers'; } >killed.jsonl
echo '[1,2' >>run2.jsonl

gives exit 0 reports 'o[0]["images"] == 13 and o[0]["created"] == 10' reports 'o[0]["failed"] == 3 and o[0]["retryable"] == 1' \
    -- report --json run0.jsonl run1.jsonl run2.jsonl killed.jsonl
check reasons json out '[(r["images"], r["retryable"], r["status"]) for r in o[0]["reasons"]] == [(2, False, o[0]["reasons"][0]["status"]), (1, True, "locked")]'
check reason-without-name json out 'o[0]["reasons"][1]["message"] == "went wrong" and "empty.png" not in o[0]["reasons"][0]["message"]'
check made-once json out 'o[0]["made_twice"] == 0'
check shards json out 'o[0]["shards"] == 2 and o[0]["shards_missing"] == 0 and o[0]["lists"] == 1'
check killed json out 'o[0]["incomplete_runs"] == 2 and o[0]["foreign_lines"] == 2'
check bytes json out "o[0]['tx_bytes'] == $(find tex -name '*.tx' -printf '%s\n' | awk '{ n += $1 } END { print n }')"
check memory-full json out "o[0]['texture_memory']['full_bytes'] == 8*100*100*4 + 190*110*4*2 + 192*192"
check memory-levels json out 'all(a > b for a, b in zip(o[0]["texture_memory"]["from_level_bytes"], o[0]["texture_memory"]["from_level_bytes"][1:8]))'
check lint json out 'o[0]["lint"]["grey-rgb"] == 1'
cp out all.json
# In the other order the failure came last, so it remains.
gives order-counts 0 reports 'o[0]["failed"] == 4' -- report --json run1.jsonl run2.jsonl run0.jsonl
cat out >>all.json
"$TXMILL" make --json tex >fresh.jsonl 2>/dev/null
sed '$d' fresh.jsonl >stopped.jsonl
gives killed-alone-says 0 says "stopped, or is still running" -- report stopped.jsonl -o stopped.html
run python3 "$repo/tests/util/page_data.py" stopped.html
check killed-alone-page json out 'o[0]["report"]["unfinished"]'
gives killed-then-finished 0 reports 'not o[0]["unfinished"]' -- report --json stopped.jsonl fresh.jsonl
gives shard-missing 0 reports 'o[0]["shards"] == 2 and o[0]["shards_missing"] == 1' -- report --json run1.jsonl
"$TXMILL" make -q --json --force tex/000001.png >again.jsonl 2>/dev/null
gives made-twice 0 reports 'o[0]["made_twice"] == 1' -- report --json run1.jsonl run2.jsonl again.jsonl
cat out >>all.json
txm report --json fresh.jsonl
check up-to-date-looked-into json out "o[0]['up_to_date'] == 10 and o[0]['texture_memory']['full_bytes'] == 8*100*100*4 + 190*110*4*2 + 192*192"
cat out >>all.json
if has_jsonschema; then check schema valid_json report all.json; else skip schema "python3-jsonschema is missing"; fi

# One image in several runs counts once, however its path was written; a later run makes up for its failure.
mkdir one && : >one/a.png && for path in one/a.png ./one//a.png "$PWD/one/a.png"; do "$TXMILL" make --json "$path"; done >one.jsonl 2>/dev/null
gives one-image 0 reports 'o[0]["images"] == 1 and o[0]["failed"] == 1 and o[0]["runs"] == 3' -- report --json one.jsonl
cp "$golden/rgb8.png" one/a.png && for path in "$PWD/one/a.png" one/a.png; do "$TXMILL" make --json "$path"; done >>one.jsonl 2>/dev/null
txm report --json one.jsonl
check one-image-made json out 'o[0]["images"] == 1 and o[0]["failed"] == 0 and o[0]["created"] == 1'
gives one-image-says 0 says "5 runs, 1 image: 0 failed, 1 created" -- report one.jsonl -o one.html
mkdir no-logs
txm report no-logs -o no-logs.html
check empty-folder eval 'rc_is 2 && says "no-logs: no log found; nothing was done; '"'txmill make --log run.jsonl' writes one"'" && last_line_is "TXMILL-ERROR code=2 failed=0 total=0" && test ! -e no-logs.html'

# Many equal failures are one line and one row.
for i in $(seq 3000); do failure "many/$i.png" damaged false; done >many.jsonl
gives many-equal 0 says "3000 times: went wrong (permanent)" -- report many.jsonl -o many.html
run python3 "$repo/tests/util/page_data.py" many.html
check many-left-out json out '[r["images"] for r in o[0]["report"]["reasons"]] == [3000] and [len(i) for i in o[0]["lists"]["reasons"]] == [1000]'

# ---- the tx files of a run ---------------------------------------------------------------------------------------------
gives verify-run 0 -- verify --json --run run1.jsonl --run run2.jsonl --run killed.jsonl
check verify-run-each-once json out 'len(o) == 10 and len({x["file"] for x in o}) == 10'
mv "$(find tex -name '000001*.tx')" away.tx
txm verify --run run1.jsonl --run run2.jsonl
check verify-run-missing test "$rc" -ne 0
mv away.tx "$(find tex -name '000002*.tx' | sed 's/000002/000001/')"
gives verify-run-no-log 3 -- verify --run no-such.jsonl

# ---- files that are not logs -----------------------------------------------------------------------------------------
gives missing-log 3 reports 'o[0]["runs"] == 1' -- report --json no-such.jsonl run1.jsonl
head -c 300000 /dev/urandom >noise
gives noise 2 reports 'o[0]["images"] == 0' -- report --json noise
python3 -c 'print("[" * 100000); print("{\"a\":" * 100000)' >deep
gives deep 2 reports 'o[0]["images"] == 0 and o[0]["foreign_lines"] == 2' -- report --json deep
head -c 20000000 /dev/zero | tr '\0' x >long
gives long-line 3 says "not a log of txmill" -- report long
cat >odd <<'EOF2'
{"schema":"txmill.make","version":1,"type":"file","input":7,"state":"created"}
{"schema":"txmill.make","version":1,"type":"file","input":"a","state":"created","width":-5,"height":1e99,"levels":99,"channels":7,"data_type":"uint8","tx_bytes":"x","stage_seconds":3,"lint":{"id":1}}
{"schema":"txmill.make","version":1,"type":"file","input":"b","state":"created","width":4000000000,"height":2,"levels":3,"channels":4,"data_type":"octal","seconds":1e400}
{"schema":"txmill.make","version":1,"type":"summary","shard":{"index":4294967295,"count":4294967295,"list_key":5},"exit_code":"no"}
EOF2
gives odd 0 -- report --json odd -o odd.html
check odd-counts json out 'o[0]["images"] == 2 and o[0]["texture_memory"]["images"] == 0 and o[0]["shards"] == 0'
echo '{"schema":"txmill.make","version":2,"type":"file"}' >newer
gives newer-says 3 says newer -- report newer
gives needs-logs 2 -- report
run "$TXMILL" report - -o - <run1.jsonl
check through-pipes prints "</html>"

# ---- the first statement of the page ------------------------------------------------------------------------------------
verdict() { # WORD LOG
    "$TXMILL" report "$2" -o verdict.html 2>err
    run python3 "$repo/tests/util/page_data.py" verdict.html
    check "verdict-$1-${2%.jsonl}" json out "o[0]['report']['verdict'] == '$1'"
}
"$TXMILL" make -n --json --force one/a.png >would.jsonl 2>/dev/null
echo '{"schema":"txmill.make","version":1,"type":"summary","inputs":0,"failed":0,"exit_code":0}' >none.jsonl
verdict done one.jsonl
verdict failed many.jsonl
verdict open would.jsonl
grep -v '"failed"' stopped.jsonl >waiting.jsonl
verdict open waiting.jsonl
verdict nothing-done none.jsonl
# Paths that are not text are told apart by their bytes.
for bytes in %2Fa%FF %2Fa%FE %2Fa%FE; do
    echo '{"schema":"txmill.make","version":1,"type":"file","input":"?","input_encoded":"'$bytes'","state":"created"}'
done >encoded.jsonl
gives encoded 0 reports 'o[0]["images"] == 2' -- report --json encoded.jsonl

# ---- the page ----------------------------------------------------------------------------------------------------------
gives page 0 -- report run0.jsonl run1.jsonl run2.jsonl killed.jsonl --title 'Shot <b>10</b>' -o page.html
run python3 "$repo/tests/util/page_data.py" page.html
check page-alone rc_is 0
txm report run1.jsonl -o no/such/../page.html
check page-folders-made test -f no/page.html -o "$rc" -ne 0
if [ "$(id -u)" -eq 0 ] && unshare -m bash -c 'mkdir -p full && mount -t tmpfs -o size=4k none full && "$1" report run1.jsonl -o full/page.html; echo "rc=$? left=$(ls -A full | wc -l)"' _ "$TXMILL" >out 2>err; then
    check page-full-disk prints "rc=4 left=0"
else
    skip page-full-disk "mounting is not permitted here"
fi
if python3 "$repo/tests/util/browser.py" >/dev/null 2>&1; then
    python3 "$repo/tests/tools/report_page.py" page.html many.html stopped.html one.html || failures=$((failures + 1))
else
    skip page-in-browser "chromium is not installed"
fi
finish
