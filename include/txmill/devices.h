/* SPDX-License-Identifier: Apache-2.0
 *
 * What this machine can compute with: the vector code of its CPU, and its GPUs with the reason where one is of no use.
 */
#ifndef TXMILL_DEVICES_H
#define TXMILL_DEVICES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/export.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Room for the kinds of vector code, the NULL at their end included. */
enum { TXM_MAX_ISAS = 8 };

/* The CPU as this process may use it. */
typedef struct txm_cpu_info {
    unsigned cores;                 /* that this process may use */
    const char *isa;                /* vector code in use: "scalar", "avx2", "avx512", "neon" */
    const char *isas[TXM_MAX_ISAS]; /* all that run here, ends with NULL; every one gives the same bits */
    uint64_t reserved[4];
} txm_cpu_info;

/* Fills in *out; its strings are the library's. */
TXM_API void txm_cpu_describe(txm_cpu_info *out);

/* A device beside the CPU. Texts are "" where nothing is known. */
typedef struct txm_device_info {
    char backend[16]; /* what drives it: "cuda" */
    char label[32];   /* what txm_context_options.device and --device call it: "cuda:0" */
    uint32_t index;   /* among the devices of its back-end, from 0 */
    char name[256];   /* the maker's */
    uint64_t memory_bytes, free_bytes;
    uint32_t processors;   /* of which it consists: CUDA's multiprocessors */
    char architecture[32]; /* as the back-end numbers it: "9.0", CUDA's compute capability */
    char driver[32];       /* the newest version of the back-end that its driver knows: "12.4" */
    bool usable;
    char reason[256]; /* why not; "" when usable */
    uint64_t reserved[4];
} txm_device_info;

/* All devices of all back-ends: *out is to be freed with free(), NULL when there are none. DEVICE with the reason when
 * there is no plug-in, no driver or no device: that is no fault of this machine. NO_MEMORY. Loads the drivers. */
TXM_API txm_status txm_device_list(txm_device_info **out, size_t *count, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
