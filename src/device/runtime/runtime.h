/* SPDX-License-Identifier: Apache-2.0
 *
 * The few calls of a GPU's runtime that jobs are made of. runtime_cuda.cu makes them with CUDA; the tests have them on
 * the CPU, with every copy and kernel put off as long as the ordering allows, and with failures on demand.
 *
 * Functions return 0, or a code that txm_rt_text turns into a message. The calling thread works on the device that it
 * used last.
 *
 * Keeping them behind functions is what lets the ordering of copies and kernels be tested without a GPU: a wait
 * that is missing shows there every time, and on a device once a month.
 */
#ifndef TXM_CUDA_RUNTIME_H
#define TXM_CUDA_RUNTIME_H
#include <stddef.h>

#include "mill/gpu/gpu_abi.h"
#include "mill/gpu/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *txm_rt_stream; /* work in order */
typedef void *txm_rt_event;  /* a place in a stream */

const char *txm_rt_text(int code);
bool txm_rt_out_of_memory(int code);

/* *count is 0 where the driver finds none. */
int txm_rt_count(uint32_t *count);
int txm_rt_describe(uint32_t device, txm_gpu_info *info);
int txm_rt_use(uint32_t device);

/* Device memory, and memory of the machine that a device copies from and to by itself. Freeing accepts NULL. */
int txm_rt_alloc(void **memory, size_t bytes);
void txm_rt_free(void *memory);
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

int txm_rt_upload(void *device, const void *pinned, size_t bytes, txm_rt_stream stream);
int txm_rt_download(void *pinned, const void *device, size_t bytes, txm_rt_stream stream);
int txm_rt_copy(void *device, const void *from_device, size_t bytes, txm_rt_stream stream);

/* The kernels, each over the whole of what its arguments describe. */
int txm_rt_ingest(const txm_gpu_ingest *args, txm_rt_stream stream);
int txm_rt_count_rows(const txm_gpu_count *args, txm_rt_stream stream);
int txm_rt_level(const txm_gpu_level *args, txm_rt_stream stream);
int txm_rt_tiles(const txm_gpu_tiles *args, txm_rt_stream stream);
int txm_rt_borders(const txm_gpu_borders *args, txm_rt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
