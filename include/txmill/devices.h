/* SPDX-License-Identifier: Apache-2.0
 *
 * What this machine can compute with: the vector code of its CPU, and its devices with the reason where one is of no
 * use.
 */
#ifndef TXMILL_DEVICES_H
#define TXMILL_DEVICES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/export.h"
#include "txtile/pixel.h"
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
    char backend[16];                  /* what drives it: "cuda", "opencl" */
    char label[32];                    /* what txm_context_options.device and --device call it: "cuda:0" */
    uint32_t index;                    /* among the devices of its back-end, from 0 */
    char name[256];                    /* the maker's */
    uint64_t memory_bytes, free_bytes; /* OpenCL does not tell what is free: all of it */
    uint32_t processors;               /* of which it consists: CUDA's multiprocessors, OpenCL's compute units */
    char architecture[32];             /* "9.0", CUDA's compute capability; "3.0", the version of OpenCL */
    char driver[32];                   /* the version of CUDA that its driver knows, "12.4"; an OpenCL driver's own */
    bool usable;
    char reason[256]; /* why not; "" when usable */
    uint64_t reserved[4];
} txm_device_info;

/* What can drive devices, "cuda" and "opencl", in the order in which they are listed; NULL beyond the last. */
TXM_API const char *txm_device_backend(size_t index);

/* All devices of all back-ends: *out is to be freed with free(), NULL when there are none. DEVICE with the reason when
 * there is no plug-in, no driver or no device: that is no fault of this machine. NO_MEMORY. Loads the drivers. */
TXM_API txm_status txm_device_list(txm_device_info **out, size_t *count, txm_error *err);

/* The same of one back-end; USAGE if there is none of that name. */
TXM_API txm_status txm_device_list_of(const char *backend, txm_device_info **out, size_t *count, txm_error *err);

/* What a kind of image costs, in nanoseconds a pixel of level 0: everything that a device takes over, there and on one
 * thread of the CPU. */
typedef struct txm_device_rate {
    txm_type type;
    uint32_t channels; /* 1 or 4 */
    double device_ns, cpu_ns;
    uint64_t reserved[2];
} txm_device_rate;

/* How many kinds are measured: four types with one channel and with four. */
enum { TXM_DEVICE_RATES = 8 };

/* Measures a usable device, which takes seconds, and remembers the result for this user ($XDG_CACHE_HOME/txmill or
 * ~/.cache/txmill): the device "auto" chooses by what is remembered, and is the CPU where nothing is. DEVICE; what
 * comes of writing a file. */
TXM_API txm_status txm_device_measure(const txm_device_info *device, txm_device_rate rates[TXM_DEVICE_RATES],
                                      txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
