/* SPDX-License-Identifier: Apache-2.0
 * The GPU plug-in of this process. */
#ifndef TXM_CONVERT_GPU_PLUGIN_H
#define TXM_CONVERT_GPU_PLUGIN_H
#include "device/cuda/gpu_abi.h"

/* Loads txmill-cuda.so on first use; it stays loaded. NULL with DEVICE when there is none or it is of another build. */
const txm_gpu_plugin *txm_gpu_plugin_load(txm_error *err);

/* Whether there is a file to load; cheap. */
bool txm_gpu_plugin_exists(void);
#endif
