/* SPDX-License-Identifier: Apache-2.0
 * The tables of jobs of the device plug-ins in this process. */
#ifndef TXM_GPU_GPU_JOBS_H
#define TXM_GPU_GPU_JOBS_H
#include "mill/gpu/gpu_abi.h"

/* A plug-in's table of jobs; NULL with DEVICE if it has none, or one of another build. */
const txm_gpu_jobs *txm_gpu_jobs_of(const txm_device_plugin *plugin, txm_error *err);
#endif
