/* SPDX-License-Identifier: Apache-2.0
 *
 * The few functions of a device's runtime that conversion and lookups use. src/device/cuda implements them with CUDA
 * and src/device/opencl with OpenCL. Tests implement them on the CPU (tests/device/gpu_runtime.c), where every copy and
 * kernel is delayed as long as the ordering allows, and failures can be injected.
 *
 * Functions return 0, or a positive code that txm_rt_text turns into a message. The calling thread works on the device
 * that it used last. Device memory is a handle, and data in it are addressed by byte offsets.
 *
 * These functions make it possible to test the ordering of copies and kernels without a device: there, a missing wait
 * fails every time, while on a device it would fail very rarely.
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

typedef void *txm_rt_memory; /* memory of a device */
typedef void *txm_rt_stream; /* an in-order queue */
typedef void *txm_rt_event;  /* a point in a stream */

/* "cuda", as in device names; "CUDA", as shown to users. */
extern const char txm_rt_name[], txm_rt_title[];

/* One line, valid as long as the process runs. */
const char *txm_rt_text(int code);
bool txm_rt_out_of_memory(int code);
/* The first thing that went wrong without stopping any work; NULL: nothing. */
const char *txm_rt_note(void);

/* *count is 0 if the driver finds none. */
int txm_rt_count(uint32_t *count);
int txm_rt_describe(uint32_t device, txm_device_facts *info);
int txm_rt_use(uint32_t device);

/* Allocate device memory; machine memory that kernels access directly (and the CPU never touches); and pinned machine
 * memory for a device's asynchronous copies. Freeing accepts NULL. */
int txm_rt_alloc(txm_rt_memory *memory, size_t bytes);
int txm_rt_alloc_host(txm_rt_memory *memory, size_t bytes);
void txm_rt_free(txm_rt_memory memory); /* frees both kinds */
int txm_rt_alloc_pinned(void **memory, size_t bytes);
void txm_rt_free_pinned(void *memory);

int txm_rt_stream_new(txm_rt_stream *stream);
void txm_rt_stream_free(txm_rt_stream stream); /* waits for queued work; NULL-safe */
/* What programs of the driver's own need to queue work of theirs in the stream: context, device and queue, each NULL if
 * the runtime has none. */
void txm_rt_handles(txm_rt_stream stream, void *handles[3]);
int txm_rt_event_new(txm_rt_event *event);
void txm_rt_event_free(txm_rt_event event); /* NULL-safe */
int txm_rt_record(txm_rt_event event, txm_rt_stream stream);
/* Makes everything queued in `stream` from now on run after the event. */
int txm_rt_follow(txm_rt_stream stream, txm_rt_event event);
/* Waits for a recorded event, or (wait = false) checks whether it has been reached. */
int txm_rt_reach(txm_rt_event event, bool wait, bool *reached);
/* Seconds between two reached events. */
int txm_rt_elapsed(txm_rt_event begin, txm_rt_event end, double *seconds);

int txm_rt_upload(txm_rt_memory to, uint64_t at, const void *pinned, size_t bytes, txm_rt_stream stream);
int txm_rt_download(void *pinned, txm_rt_memory from, uint64_t at, size_t bytes, txm_rt_stream stream);
int txm_rt_copy(txm_rt_memory to, uint64_t to_at, txm_rt_memory from, uint64_t from_at, size_t bytes,
                txm_rt_stream stream);

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

enum { TXM_RT_MEMORIES = 8, TXM_RT_MAX_ARGS_BYTES = 768 };

typedef struct txm_rt_kernel {
    const char *name;
    uint32_t block;       /* threads per block, as in its TXM_ENTRY */
    const void *function; /* the function, for CUDA or the CPU; NULL with OpenCL */
} txm_rt_kernel;

/* Kernels that are compiled together. */
typedef struct txm_rt_program {
    const char *name;
    const txm_rt_kernel *kernels;
    uint32_t count;
    const char *const *source; /* OpenCL C source in pieces, with NULL after the last; NULL for other runtimes */
} txm_rt_program;

/* Defines an element of a program's table of kernels. */
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
