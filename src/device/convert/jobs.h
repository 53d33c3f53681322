/* SPDX-License-Identifier: Apache-2.0
 * The jobs of conversion, for the plug-in's table. */
#ifndef TXM_CONVERT_JOBS_H
#define TXM_CONVERT_JOBS_H
#include "mill/gpu/gpu_abi.h"

extern const txm_gpu_jobs txm_gpu_jobs_table;
#endif
