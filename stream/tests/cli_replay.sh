#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill replay: the counts of a run, other caches, the plot, the page of a render, errors.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../tests/lib.sh"

# A picture uses many tiles of these textures.
python3 - <<'PY'
import random, struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
random.seed(1)
for name in "ab":
    rows = b"".join(b"\0" + random.randbytes(3 * 64) * 32 for y in range(2048))
    open(name + ".png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2048, 2048, 8, 2, 0, 0, 0)) +
                                    chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b""))
PY
"$TXMILL" make -q -c sRGB -a straight a.png b.png
picture=(render room a.png b.png --size 400x225 --samples 1 --tile 80 --bounces 1)

# The replay of a run with one thread reads exactly what the run read, under each policy.
for policy in lru render-tiles; do
    txm stream "${picture[@]}" --engine blocking -j 1 --cache 1M --policy $policy --json --trace $policy.trace
    cp out render.json
    txm replay $policy.trace --cache 1M --policy $policy --json
    check "counts-$policy" json out '(lambda p, r: r["reads"] == o[0]["traced"]["reads"] == p["tiles_loaded"] and r["reads_again"] == p["tiles_reloaded"] > 0)(json.load(open("render.json")), o[0]["runs"][0])'
done
if has_jsonschema; then check schema valid_json replay out; fi

# This holds for waves, too. The optimum reads least of all policies, and never more with more memory.
txm stream "${picture[@]}" --trace waves.trace -q
gives waves-rc 0 -- replay waves.trace --cache 600K,700K,1M,2M,4M --policy lru,tiles,opt --json --plot plot.svg
check waves-bound json out 'len(o[0]["runs"]) == 15 and all(r["reads"] >= next(x["reads"] for x in o[0]["runs"] if x["policy"] == "opt" and x["cache_bytes"] == r["cache_bytes"]) for r in o[0]["runs"])'
check waves-monotone json out '(lambda n: all(a >= b for a, b in zip(n, n[1:])) and n[0] > n[-1] == o[0]["tiles"])([r["reads"] for r in o[0]["runs"] if r["policy"] == "opt"])'
check plot-is-xml python3 -c 'import xml.dom.minidom as x; d = x.parse("plot.svg"); assert len(d.getElementsByTagName("polyline")) == 3 and len(d.getElementsByTagName("circle")) == 15'

# The same lookups with any number of threads give the same trace.
txm stream "${picture[@]}" --trace other.trace -q -j 3 --cache 700K --policy lru
for t in waves other; do "$TXMILL" replay $t.trace --cache 1M --policy lru,opt --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][1]["reads"])' >$t.reads; done
check same-work cmp waves.reads other.reads

# Lookups alone give the same tiles.
txm stream "${picture[@]}" --trace lookups.trace --trace-lookups -q
txm replay lookups.trace --cache 1M --policy opt --json
check lookups json out 'o[0]["runs"][0]["reads"] == int(open("waves.reads").read())'

txm replay waves.trace
check text prints "traced run" && check text-verdict prints "verdict     the working set is" && check text-columns prints "tiles"
check text-80 test "$(awk 'length > 80' out | grep -c '^ .*[0-9] s$')" -eq 0
txm replay waves.trace --cache 1M,1M --policy lru,lru --read-time 1000000 --json
check once json out 'len(o[0]["runs"]) == 1 and o[0]["runs"][0]["seconds"] == o[0]["runs"][0]["reads"]'
txm replay waves.trace -q
check quiet test ! -s out

# The page of a render shows the plot.
txm stream "${picture[@]}" -q --trace page.trace --html page.html
run python3 "$repo/tests/util/page_data.py" page.html
check page json out '"<polyline" in o[0]["replay"]["plot"] and "working set is" in o[0]["replay"]["verdict"]'
gives written-over 0 -- stream "${picture[@]}" -q --trace page.trace --html page.html

# On a terminal every phase shows its progress, and nothing of that remains.
if has_terminal; then
    on_terminal 100x24 "$TXMILL" stream "${picture[@]}" --trace page.trace --overwrite --html page.html -o page.png
    for phase in 'preparing the scene' '100%  [0-9.]* of [0-9.]* million samples' 'writing pictures' 'reading the trace for the page' \
        '100%  [0-9]* of [0-9]* caches for the page' 'writing the page'; do
        check "progress: $phase" grep -aq "$phase" out
    done
    on_terminal 100x24 "$TXMILL" stream "${picture[@]}" -q --trace page.trace --overwrite --html page.html
    check progress-quiet test "$(grep -c 'the scene\|caches\|the page' out)" -eq 0
else
    skip progress "no terminals here"
fi

refuses() { txm replay "${@:3}"; check "refuses-$1" rc_is "$2"; }
refuses nothing 2
refuses two 2 waves.trace other.trace
refuses missing 3 nowhere.trace
refuses other 3 a.png
check names-kind says "not a trace"
head -c 500 waves.trace >cut.trace
refuses cut 3 cut.trace
check says-incomplete says incomplete
refuses size 2 waves.trace --cache 16M,0
refuses sizes 2 waves.trace --cache 16M,,1M
refuses policy 2 waves.trace --policy lru,best
check names-policies says "tiles lru none opt"
refuses over-input 2 waves.trace --plot waves.trace
refuses over-picture 2 waves.trace --plot a.png
gives over-plot 0 -- replay waves.trace -q --plot plot.svg
check no-temporaries no_temporaries
finish
