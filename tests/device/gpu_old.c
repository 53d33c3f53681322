/* SPDX-License-Identifier: Apache-2.0
 * The table of a GPU plug-in whose interface has another number: nothing else in it may be touched. */
#include "mill/gpu/gpu_abi.h"

__attribute__((visibility("default"))) const txm_gpu_plugin txm_gpu_plugin_table = {.abi = TXM_GPU_ABI + 1};
