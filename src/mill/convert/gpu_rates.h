/* SPDX-License-Identifier: Apache-2.0
 *
 * What a conversion's pixels cost on this machine's CPU and on a device: both are measured, on a small image of the
 * same kind, when the question first comes up.
 */
#ifndef TXM_CONVERT_GPU_RATES_H
#define TXM_CONVERT_GPU_RATES_H
#include "mill/gpu/gpu_plugin.h"
#include "tile/ops/ops.h"

/* CPU seconds per pixel of level 0 for what a device would take over: all levels of the pyramid. 0 when memory is
 * exhausted. */
double txm_cpu_seconds_per_pixel(const txm_ops *ops, const txm_gpu_plan *plan);

typedef struct txm_gpu_rates {
    double per_buffer_byte; /* seconds to get and give back a byte of pinned memory and its like on the device */
    double per_stored_byte; /* to upload, compute and download a byte of level 0 with all that becomes of it */
} txm_gpu_rates;

/* Runs a small job twice; the first one pays for what a device loads once. */
txm_status txm_gpu_rates_measure(const txm_gpu_plugin *plugin, uint32_t device, txm_gpu_rates *out, txm_error *err);

/* Seconds that a job of this plan takes. */
double txm_gpu_seconds(const txm_gpu_plugin *plugin, const txm_gpu_rates *rates, const txm_gpu_plan *plan);
#endif
