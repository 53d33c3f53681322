/* SPDX-License-Identifier: Apache-2.0
 *
 * What pixels cost on a device and on this CPU: measured when somebody asks for it (txmill devices --measure), kept in
 * a file of the user's cache, and all that `auto` goes by.
 */
#ifndef TXM_CONVERT_GPU_RATES_H
#define TXM_CONVERT_GPU_RATES_H
#include "mill/gpu/gpu_jobs.h"
#include "tile/ops/ops.h"

enum { TXM_GPU_TYPES = 4, TXM_GPU_LABEL_BYTES = 16 };

/* Seconds a pixel of level 0, for all that a device takes over. */
typedef struct txm_gpu_rate {
    double device, cpu; /* cpu: of one thread */
} txm_gpu_rate;

typedef struct txm_gpu_rates {
    char label[TXM_GPU_LABEL_BYTES];     /* "opencl:0" */
    char name[256], driver[32];          /* whose rates these are: another device may get its number */
    double start;                        /* seconds to load the driver and to run the first job */
    txm_gpu_rate rate[TXM_GPU_TYPES][2]; /* of one channel, of four */
} txm_gpu_rates;

/* Runs small jobs of every kind on the device and on one thread. Fills in `start` and `rate`. */
txm_status txm_gpu_rates_measure(const txm_gpu_jobs *jobs, uint32_t device, const txm_ops *ops, txm_gpu_rates *out,
                                 txm_error *err);

/* What was measured on this machine: *out is to be freed; 0 when nothing was, or the file cannot be understood. */
size_t txm_gpu_rates_read(txm_gpu_rates **out);
/* Replaces the rates of this label and keeps the others. */
txm_status txm_gpu_rates_write(const txm_gpu_rates *rates, txm_error *err);
#endif
