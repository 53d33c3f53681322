#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# txmill devices: the CPU, CUDA devices of the plug-in over a runtime on the CPU, and the messages if there are none.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
build=${TXM_BUILD:-$repo/build}

# ---- the CPU ----------------------------------------------------------------------------------------------------------
gives exit 0 -- devices
check quiet test ! -s err
check cpu prints "vector code"
txm devices --json
cp out here.json
check json-cpu json here.json "o[0]['cpu']['threads'] >= 1 and o[0]['cpu']['isas'][0] == 'scalar' and o[0]['cpu']['isa'] in o[0]['cpu']['isas']"
check json-cuda json here.json "bool(o[0]['cuda']['reason']) != bool(o[0]['cuda']['devices'])"
TXMILL_ISA=scalar txm devices --json
check forced-isa json out "o[0]['cpu']['isa'] == 'scalar'"
if command -v taskset >/dev/null; then
    run taskset -c 0 "$TXMILL" devices --json
    check affinity json out "o[0]['cpu']['threads'] == 1"
fi

# ---- colours ----------------------------------------------------------------------------------------------------------
txm devices --json
check json-color json out "o[0]['color']['exact'] and o[0]['color']['library'].startswith('2.5.')"
txm devices
check colours prints "exactly Blender's"
run "$TXMILL" make -v --force --colorspace ACEScg "$golden/rgb8.png" -o colours.tx
check colours-need-no-words test "$(grep -c 'converted by OpenColorIO' err)" = 0

# ---- devices ----------------------------------------------------------------------------------------------------------
fake() { run env TXMILL_PLUGINS="$build/tests/gpu" "$@"; }
fake env TXM_FAKE_DEVICES=2 TXM_FAKE_MEMORY=3000000000 "$TXMILL" devices
check two prints "cuda:1   Imaginary 1, compute capability 9.0, 1 multiprocessors, 3.0 GB, 3.0 GB free, driver for CUDA 13.0"
fake env TXM_FAKE_DEVICES=2 "$TXMILL" devices --json
cp out two.json
check two-json json two.json "[d['index'] for d in o[0]['cuda']['devices']] == [0, 1] and o[0]['cuda']['reason'] is None"
fake env TXM_FAKE_DEVICES=2 TXM_FAKE_BROKEN=1 "$TXMILL" devices --json
cp out broken.json
check broken-json json broken.json "[d['usable'] for d in o[0]['cuda']['devices']] == [True, False]"
check broken-exit rc_is 0
fake env TXM_FAKE_DEVICES=2 TXM_FAKE_BROKEN=1 "$TXMILL" devices
check broken-says prints "not usable: the device was lost"
fake env TXM_FAKE_DEVICES=2 TXM_FAKE_BROKEN=1 "$TXMILL" make --device cuda:1 --dry-run "$golden/rgb8.png"
check broken-refused-exit rc_is 4
check broken-refused says "device cuda:1: CUDA device 1: the device was lost"
fake env TXM_FAKE_DEVICES=0 "$TXMILL" devices --json
cp out none.json
check none json none.json "o[0]['cuda'] == {'reason': 'there is no CUDA device', 'devices': []}"
check none-exit rc_is 0
mkdir plugins && echo "no library" >plugins/txmill-cuda.so
run env TXMILL_PLUGINS="$PWD/plugins" "$TXMILL" devices
check damaged-plugin prints "cuda     none:"
run env TXMILL_PLUGINS="$build/tests/gpu-old" "$TXMILL" devices
check other-build prints "is from another build"

gives stray-argument 2 -- devices stray
if has_jsonschema; then
    for list in here two broken none; do check "json-schema-$list" valid_json devices $list.json; done
else
    skip json-schema "python3-jsonschema is missing"
fi
finish
