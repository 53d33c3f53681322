/* SPDX-License-Identifier: Apache-2.0
 *
 * What pixels cost on a device and on this CPU. It is measured on request (txmill devices --measure) and stored in the
 * user's cache folder; the device `auto` is chosen by these rates alone.
 */
#ifndef TXM_CONVERT_GPU_RATES_H
#define TXM_CONVERT_GPU_RATES_H
#include "mill/gpu/gpu_jobs.h"
#include "tile/ops/ops.h"

enum { TXM_GPU_TYPES = 2, TXM_GPU_LABEL_BYTES = 16 };

/* Seconds per pixel of level 0 for the work that a device takes over. */
typedef struct txm_gpu_rate {
    double device; /* with several images at once, as in a batch */
    double host;   /* of processors meanwhile: drivers for the CPU compute there, and others may wait there */
    double cpu;    /* without the device, on one thread */
} txm_gpu_rate;

typedef struct txm_gpu_rates {
    char label[TXM_GPU_LABEL_BYTES];     /* "opencl:0" */
    char name[256], driver[32];          /* identify the device: another one may get its number */
    double start;                        /* seconds to load the driver and to run the first job */
    txm_gpu_rate rate[TXM_GPU_TYPES][2]; /* rates for one channel and for four */
} txm_gpu_rates;

/* Runs jobs of every kind on the device, `at_once` of them in a batch, and on one thread of the CPU. Fills in `start`
 * and `rate`. */
txm_status txm_gpu_rates_measure(const txm_gpu_jobs *jobs, uint32_t device, unsigned at_once, const txm_ops *ops,
                                 txm_gpu_rates *out, txm_error *err);

/* Reads the rates that were measured on this machine into *out, which is to be freed. Returns their number, 0 if there
 * are none or the file is malformed. */
size_t txm_gpu_rates_read(txm_gpu_rates **out);
/* Replaces the rates with this label and keeps the others. */
txm_status txm_gpu_rates_write(const txm_gpu_rates *rates, txm_error *err);
#endif
