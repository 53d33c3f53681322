/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPUs that a context may use: which file goes to which of them, and which stays on the CPU, with the reason.
 *
 * With `auto` nothing is loaded until it can pay: starting a device costs a process about as long as it takes to
 * convert a few large images, so devices are started once the CPU has spent that much on what they would have taken
 * over.
 */
#ifndef TXM_CONVERT_GPUS_H
#define TXM_CONVERT_GPUS_H
#include "mill/gpu/gpu_jobs.h"
#include "tile/ops/ops.h"

typedef struct txm_gpus txm_gpus;

typedef struct txm_gpus_options {
    const char *device;    /* "auto", "cpu", "cuda", "opencl:N"; NULL: auto */
    uint64_t memory_bytes; /* of each device that may be used; 0: what is free */
    unsigned threads;
    const txm_ops *ops;
} txm_gpus_options;

/* *out stays NULL where the CPU does everything; `why` then says so for auto ("" for cpu). DEVICE when a device was
 * asked for by name and cannot be used. */
txm_status txm_gpus_new(const txm_gpus_options *options, txm_gpus **out, char why[TXM_MESSAGE_BYTES], txm_error *err);
void txm_gpus_free(txm_gpus **gpus); /* NULL-safe; all leases must be back */

/* A place on a device. */
typedef struct txm_gpu_lease {
    txm_gpus *gpus;
    const txm_gpu_jobs *jobs;
    uint32_t device;
    uint64_t device_bytes;
    txm_gpu_plan plan;
    char label[16]; /* "opencl:0" */
} txm_gpu_lease;

typedef enum txm_gpu_choice {
    TXM_GPU_LEASED,
    TXM_GPU_NONE,   /* the CPU is the better place, or every device has enough to do */
    TXM_GPU_REFUSED /* a device was asked for by name and cannot take this image: worth a warning */
} txm_gpu_choice;

/* Looks for a device for one image. `wanted` lacks chunk_rows and slots; they are chosen to fit. pinned_limit_bytes
 * bounds the machine's memory (0: no bound). `why` says why it is this device, or the CPU. Thread-safe. */
txm_gpu_choice txm_gpus_lease(txm_gpus *gpus, const txm_gpu_plan *wanted, uint64_t pinned_limit_bytes,
                              txm_gpu_lease *out, char why[TXM_MESSAGE_BYTES]);
/* `failed`: the device failed and gets nothing more to do. */
void txm_gpus_return(txm_gpu_lease *lease, bool failed);
#endif
