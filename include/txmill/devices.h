/* SPDX-License-Identifier: Apache-2.0
 *
 * What this machine can compute with: the vector code of its CPU, and its devices, with the reason where one cannot be
 * used. */
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

/* Room for the names of all kinds of vector code and the NULL that ends them. */
enum { TXM_MAX_ISAS = 8 };

/* The CPU as this process may use it. */
typedef struct txm_cpu_info {
    unsigned cores;                 /* number of cores that this process may use */
    const char *isa;                /* vector code in use: "scalar", "avx2", "avx512", "neon" */
    const char *isas[TXM_MAX_ISAS]; /* every kind that this CPU runs, NULL-terminated; all give the same bits */
    uint64_t reserved[4];
} txm_cpu_info;

/* Fills in *out; its strings are static. */
TXM_API void txm_cpu_describe(txm_cpu_info *out);

/* A device other than the CPU. Texts are "" if unknown. */
typedef struct txm_device_info {
    char backend[16];                  /* what drives it: "cuda", "opencl" */
    char label[32];                    /* its name for txm_context_options.device and --device: "cuda:0" */
    uint32_t index;                    /* its number among the devices of its back-end, from 0 */
    char name[256];                    /* the maker's name for it */
    uint64_t memory_bytes, free_bytes; /* OpenCL does not report free memory: there both are equal */
    uint32_t processors;               /* number of multiprocessors (CUDA) or compute units (OpenCL) */
    char architecture[32];             /* "9.0", CUDA's compute capability; "3.0", the version of OpenCL */
    char driver[32]; /* the version of CUDA that the driver supports, "12.4"; of an OpenCL driver, its own version */
    bool usable;
    char reason[256]; /* why it cannot be used; "" if it can */
    uint64_t reserved[4];
} txm_device_info;

/* The back-ends, "cuda" and "opencl", in the order in which devices are listed; NULL beyond the last. */
TXM_API const char *txm_device_backend(size_t index);

/* Lists all devices of all back-ends and loads their drivers. Free *out with free(); it is NULL if there are none.
 * DEVICE, with the reason in `err`, if there is no plug-in, no driver or no device, as on most machines; NO_MEMORY. */
TXM_API txm_status txm_device_list(txm_device_info **out, size_t *count, txm_error *err);

/* The same for one back-end; USAGE if its name is unknown. */
TXM_API txm_status txm_device_list_of(const char *backend, txm_device_info **out, size_t *count, txm_error *err);

/* The cost of a kind of image in nanoseconds per pixel of level 0, for the work that a device would take over: on the
 * device with several images at once, on one thread of the CPU, and of processor time that the driver takes (host_ns).
 */
typedef struct txm_device_rate {
    txm_type type;
    uint32_t channels; /* 1 or 4 */
    double device_ns, cpu_ns, host_ns;
    uint64_t reserved[1];
} txm_device_rate;

/* The number of kinds that are measured: uint8 and uint16, each with one channel and with four. Devices convert no half
 * or float images. */
enum { TXM_DEVICE_RATES = 4 };

/* Measures a usable device, which takes seconds, and stores the result for this user ($XDG_CACHE_HOME/txmill or
 * ~/.cache/txmill). The device "auto" is chosen by stored results, and is the CPU if there are none. DEVICE, and the
 * failures of writing a file (IO, DENIED, DISK_FULL, NO_MEMORY). */
TXM_API txm_status txm_device_measure(const txm_device_info *device, txm_device_rate rates[TXM_DEVICE_RATES],
                                      txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
