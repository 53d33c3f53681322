# shellcheck shell=bash
# For tests with a real OpenCL driver: $plugins has the plug-in, and kernels are compiled into caches in the build
# folder. Without a plug-in or a driver, the script ends and prints the reason.
build=${TXM_BUILD:-$repo/build}
plugins=${TXM_GPU_FOLDER:-$build}
export XDG_CACHE_HOME=$build/tests/opencl/cache POCL_CACHE_DIR=$build/tests/opencl/pocl
mkdir -p "$XDG_CACHE_HOME" "$POCL_CACHE_DIR"
if [ ! -e "$plugins/txmill-opencl.so" ]; then
    skip opencl "txmill-opencl.so was not built: the ICD loader is missing, or OPENCL=no"
    finish
fi
TXMILL_PLUGINS=$plugins "$TXMILL" devices --json >devices.json
reason=$(python3 -c 'import json
o = json.load(open("devices.json"))["opencl"]
print("" if any(d["usable"] for d in o["devices"]) else o["reason"] or "; ".join(d["reason"] for d in o["devices"]))')
if [ -n "$reason" ]; then
    skip opencl "$reason"
    finish
fi
