#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The conversions of cli_gpu.sh over OpenCL, with whatever driver there is (PoCL runs on the CPU).
# Plain builds only: a driver's kernels are not sanitized; cli_opencl.sh runs the runtime, and cli_gpu.sh the conversions
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/device/opencl.sh
. "$repo/tests/device/opencl.sh"
cd "$repo" || exit 1
TXM_GPU_FOLDER=$plugins TXM_GPU_BACKEND=opencl bash tests/device/cli_gpu.sh
