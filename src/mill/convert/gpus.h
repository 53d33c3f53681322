/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices that a context may use: which of them takes a file, or why the CPU does. With `auto` no driver is loaded
 * until that pays: starting a device takes about as long as converting a few large images, so devices are started once
 * the CPU has spent that much on work that they would have taken over.
 */
#ifndef TXM_CONVERT_GPUS_H
#define TXM_CONVERT_GPUS_H
#include "mill/gpu/gpu_jobs.h"
#include "tile/ops/ops.h"

typedef struct txm_gpus txm_gpus;

typedef struct txm_gpus_options {
    const char *device;    /* "auto", "cpu", "cuda", "opencl:N"; NULL: auto */
    uint64_t memory_bytes; /* bound of each device's memory for all files at once; 0: its free memory */
    unsigned threads;
    const txm_ops *ops;
} txm_gpus_options;

/* *out is NULL if the CPU does everything; for auto, `why` then says why ("" for cpu). DEVICE if a device was chosen by
 * name and cannot be used. */
txm_status txm_gpus_new(const txm_gpus_options *options, txm_gpus **out, char why[TXM_MESSAGE_BYTES], txm_error *err);
void txm_gpus_free(txm_gpus **gpus); /* NULL-safe; all leases must have been returned */

/* The number of images with which a device of so many processors is busy. */
uint32_t txm_gpus_ahead(uint32_t processors);

/* Says that so many files are to be converted, as many at once as can be. Returns how many of them may wait for devices
 * while as many others as there are threads are computed. 0 if `gpus` is NULL. */
unsigned txm_gpus_expect(txm_gpus *gpus, size_t files);

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
    TXM_GPU_NONE,   /* the CPU is faster, or every device is busy */
    TXM_GPU_REFUSED /* a device was chosen by name and cannot take this image: warn */
} txm_gpu_choice;

/* Looks for a device for one image. chunk_rows and slots of `wanted` are ignored and chosen to fit. pinned_limit_bytes
 * bounds the machine's memory (0: no bound). `why` receives the reason for this device, or for the CPU. Thread-safe. */
txm_gpu_choice txm_gpus_lease(txm_gpus *gpus, const txm_gpu_plan *wanted, uint64_t pinned_limit_bytes,
                              txm_gpu_lease *out, char why[TXM_MESSAGE_BYTES]);
/* Returns a lease. After NO_MEMORY the device gets less to do, and after another failure nothing. */
void txm_gpus_return(txm_gpu_lease *lease, txm_status failed);
/* Whether this is the first failure of the device that is told. The lease may have been returned. */
bool txm_gpus_is_news(const txm_gpu_lease *lease);
/* Returns a problem of the plug-in that did not stop it. Each is returned once: NULL afterwards, or if there was none.
 */
const char *txm_gpus_note(txm_gpus *gpus);
#endif
