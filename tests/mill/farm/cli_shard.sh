#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shards of a batch, and the plan that shows them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_STEP
python3 "$repo/tests/util/batch_images.py" small 40 24
python3 "$repo/tests/util/batch_images.py" large 6 200
cp "$golden/rgb8.png" "$golden/half-rgb.exr" large/
: >large/broken.png
listed=49

# ---- the plan --------------------------------------------------------------------------------------------------------
gives plan 3 says broken.png reports '[x["shard"] for x in o if x["type"] == "shard"] == [1, 2, 3, 4]' \
    reports "len([x for x in o if x['type'] == 'file']) == $listed and o[-1]['inputs'] == $listed" \
    reports 'all(sum(x[m] for x in o if x["type"] == "shard") == o[-1][m] for m in ("inputs", "to_create", "failed"))' \
    reports 'o[-1]["balance"] < 1.15' -- plan --shards 4 --files --json small large
check plan-makes-nothing nothing_in .
if has_jsonschema; then check plan-schema valid_json plan out; else skip plan-schema "python3-jsonschema is missing"; fi
cp out plan.json
key=$(python3 -c 'import json; print(json.loads(open("plan.json").read().splitlines()[-1])["list_key"])')
rm large/broken.png
txm plan --shards 3 small large
check plan-table test "$(wc -l <out)" -eq 5
check plan-table-all prints "all         48         48"
gives plan-needs-a-number 2 -- plan small
gives plan-none 2 -- plan --shards 0 small
: >large/broken.png

# ---- the shards ------------------------------------------------------------------------------------------------------
# The state of tx files must not matter: each shard runs after others have made theirs, and from other arguments.
"$TXMILL" make --shard 2/4 --json small large >s2.json 2>s2.err
"$TXMILL" make --shard 1/4 --json large small >s1.json 2>s1.err
"$TXMILL" make --shard 4/4 --json "./large" small >s4.json 2>s4.err
SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=4 "$TXMILL" make --json small large >s3.json 2>s3.err
cat s?.json >all.json
check shards-each-once json all.json \
    "(lambda names: len(names) == $listed and len(set(names)) == $listed)([x['input'].removeprefix('./') for x in o if x['type'] == 'file'])"
check shards-all-made json all.json 'sum(x["created"] for x in o if x["type"] == "summary") == 48'
check shards-one-failure json all.json 'sum(x["failed"] for x in o if x["type"] == "summary") == 1'
check shards-as-planned json all.json \
    "(lambda plan: all(plan[x['input'].removeprefix('./')] == s['shard']['index'] for n in '1234' for r in [[__import__('json').loads(l) for l in open(f's{n}.json')]] for s in [r[-1]] for x in r[:-1]))({x['input']: x['shard'] for x in map(__import__('json').loads, open('plan.json')) if x['type'] == 'file'})"
check shards-say-what-they-saw json all.json "all(x['shard']['listed'] == $listed and x['shard']['list_key'] == '$key' and x['shard']['count'] == 4 for x in o if x['type'] == 'summary')"
check shards-say-it-to-people grep -q "shard 2 of 4: [0-9]* of $listed inputs, list $key" s2.err
if has_jsonschema; then check shards-schema valid_json make all.json; else skip shards-schema "python3-jsonschema is missing"; fi

# ---- shards with different lists -------------------------------------------------------------------------------------
cp small/000000.png small/late.png
txm make --shard 1/4 --json small large
check list-change-is-seen json out "o[-1]['shard']['listed'] == $listed + 1 and o[-1]['shard']['list_key'] != '$key'"
# Images that no shard has made because of that are made when the same job runs again.
for i in 1 2 3 4; do "$TXMILL" make -q --shard $i/4 small large 2>/dev/null; done
check list-change-made-up-for test "$(find . -name '*.tx' | wc -l)" -eq 49

# ---- invalid shard numbers -------------------------------------------------------------------------------------------
SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3 txm make small
check array-with-gaps rc_is 2
check array-with-gaps-says says "--shard I/N"
SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3 txm make --shard 1/1 small
check array-overruled says "41 up to date"
gives shard-beyond 2 -- make --shard 5/4 small/000000.png
# A failure in another shard does not stop this one.
other=$(python3 -c 'import json
print(*["%d/4" % (x["shard"] % 4 + 1) for x in map(json.loads, open("plan.json")) if x.get("input", "").endswith("broken.png")])')
rm small/late.png
txm make -n --fail-fast --force --json --shard "$other" small large
check others-failure-stops-nothing json out 'o[-1]["not_started"] == 0 and o[-1]["would_create"] == o[-1]["inputs"] > 0'
finish
