/* SPDX-License-Identifier: Apache-2.0
 *
 * The few calls of a device's runtime that conversion and lookups are made of. src/device/cuda makes them with CUDA,
 * src/device/opencl with OpenCL; tests have them on the CPU (tests/device/gpu_runtime.c), with every copy and kernel
 * put off as long as the ordering allows, and with failures on demand.
 *
 * Functions return 0, or a positive code that txm_rt_text turns into a message. The calling thread works on the device
 * that it used last. Memory of a device is a handle; what lies in it is found by a number of bytes from its beginning.
 *
 * Keeping them behind functions is what lets the ordering of copies and kernels be tested without a device: a wait
 * that is missing shows there every time, and on a device once a month.
 */
#ifndef TXM_RUNTIME_RUNTIME_H
#define TXM_RUNTIME_RUNTIME_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile/device/device_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *txm_rt_memory; /* of a device */
typedef void *txm_rt_stream; /* work in order */
typedef void *txm_rt_event;  /* a place in a stream */

/* "cuda", in names of devices; "CUDA", for people. */
extern const char txm_rt_name[], txm_rt_title[];

/* One line; it lives as long as the process. */
const char *txm_rt_text(int code);
bool txm_rt_out_of_memory(int code);

/* *count is 0 where the driver finds none. */
int txm_rt_count(uint32_t *count);
int txm_rt_describe(uint32_t device, txm_device_facts *info);
int txm_rt_use(uint32_t device);

/* Device memory; memory of the machine that kernels read and write in its place (never touched by the CPU); and memory
 * of the machine that a device copies from and to by itself. Freeing accepts NULL. */
int txm_rt_alloc(txm_rt_memory *memory, size_t bytes);
int txm_rt_alloc_host(txm_rt_memory *memory, size_t bytes);
void txm_rt_free(txm_rt_memory memory); /* either of the two */
int txm_rt_alloc_pinned(void **memory, size_t bytes);
void txm_rt_free_pinned(void *memory);

int txm_rt_stream_new(txm_rt_stream *stream);
void txm_rt_stream_free(txm_rt_stream stream); /* waits; NULL-safe */
int txm_rt_event_new(txm_rt_event *event);
void txm_rt_event_free(txm_rt_event event); /* NULL-safe */
int txm_rt_record(txm_rt_event event, txm_rt_stream stream);
/* What is queued in `stream` from now on runs after the event. */
int txm_rt_follow(txm_rt_stream stream, txm_rt_event event);
/* Waits for a recorded event, or (wait = false) looks whether it has come. */
int txm_rt_reach(txm_rt_event event, bool wait, bool *reached);
/* Seconds between two reached events. */
int txm_rt_elapsed(txm_rt_event begin, txm_rt_event end, double *seconds);

int txm_rt_upload(txm_rt_memory to, uint64_t at, const void *pinned, size_t bytes, txm_rt_stream stream);
int txm_rt_download(void *pinned, txm_rt_memory from, uint64_t at, size_t bytes, txm_rt_stream stream);
int txm_rt_copy(txm_rt_memory to, uint64_t to_at, txm_rt_memory from, uint64_t from_at, size_t bytes,
                txm_rt_stream stream);

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

enum { TXM_RT_MEMORIES = 6, TXM_RT_MAX_ARGS_BYTES = 768 };

typedef struct txm_rt_kernel {
    const char *name;
    uint32_t block;       /* threads of a block, as in its TXM_ENTRY */
    const void *function; /* CUDA's, or the CPU's; NULL with OpenCL */
} txm_rt_kernel;

/* The kernels of one subject, compiled together. */
typedef struct txm_rt_program {
    const char *name;
    const txm_rt_kernel *kernels;
    uint32_t count;
    const char *const *source; /* OpenCL C in pieces, NULL behind the last; NULL elsewhere */
} txm_rt_program;

/* An element of a program's table of kernels. */
#ifdef TXM_RT_OPENCL
#define TXM_RT_KERNEL(name, block) {#name, block, NULL},
#else
#define TXM_RT_KERNEL(name, block) {#name, block, (const void *)name},
#endif

/* Queues a kernel over threads[0] by threads[1] by threads[2] threads. With OpenCL the first launch of a program on a
 * device compiles it, unless it was compiled before. */
int txm_rt_launch(const txm_rt_program *program, uint32_t kernel, const uint32_t threads[3],
                  const txm_rt_memory *memories, uint32_t memory_count, const void *args, size_t args_bytes,
                  txm_rt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
