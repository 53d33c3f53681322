/* SPDX-License-Identifier: Apache-2.0
 *
 * What this machine can compute with: the vector code of its CPU, and its GPUs with the reason where one is of no use.
 */
#ifndef TXMILL_DEVICES_H
#define TXMILL_DEVICES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txmill/export.h"
#include "txmill/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TXM_MAX_ISAS = 8 };

typedef struct txm_cpu_info {
    unsigned cores;                 /* that this process may use */
    const char *isa;                /* vector code in use: "scalar", "avx2", "avx512", "neon" */
    const char *isas[TXM_MAX_ISAS]; /* all that run here, ends with NULL; every one gives the same bits */
} txm_cpu_info;

TXM_API void txm_cpu_describe(txm_cpu_info *out);

/* A CUDA device; `index` is what --device cuda:N counts. */
typedef struct txm_cuda_info {
    uint32_t index;
    char name[256];
    uint64_t memory_bytes, free_bytes;
    uint32_t compute_major, compute_minor, multiprocessors;
    uint32_t driver_major, driver_minor; /* the newest CUDA that the driver knows */
    bool usable;
    char reason[256]; /* why not; "" when usable */
} txm_cuda_info;

/* All CUDA devices: *out is to be freed with free(), NULL when there are none. DEVICE with the reason when there is no
 * plug-in, no driver or no device: that is no fault of this machine. Loads the driver. */
TXM_API txm_status txm_cuda_list(txm_cuda_info **out, size_t *count, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
