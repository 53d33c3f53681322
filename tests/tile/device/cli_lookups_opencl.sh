#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The lookups of test_device.c over OpenCL, with whatever driver there is (PoCL runs on the CPU), and on two devices that
# one is divided into.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../../lib.sh"
# shellcheck source=tests/device/opencl.sh
. "$repo/tests/device/opencl.sh"
lookups() { # NAME ENVIRONMENT...
    run env TXMILL_PLUGINS="$plugins" TXM_DEVICE=opencl "${@:2}" "$build/tests/tile/device/test_device"
    check "$1" eval 'rc_is 0 && prints "100%: Checks: "'
}
lookups one
if TXMILL_PLUGINS=$plugins TXMILL_OPENCL_PARTITION=2 "$TXMILL" devices --json >parts.json &&
    json parts.json "sum(d['usable'] for d in o[0]['opencl']['devices']) >= 2"; then
    lookups parts TXM_DEVICES=2 TXMILL_OPENCL_PARTITION=2
else
    skip parts "no device here can be divided"
fi
finish
