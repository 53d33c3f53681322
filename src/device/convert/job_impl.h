/* SPDX-License-Identifier: Apache-2.0
 *
 * A job inside: the levels with what they hold of their rows, and the slots through which chunks pass.
 *
 * In: chunks of rows in pinned memory. Out: finished tiles of all levels, in pinned memory again. Two streams
 * alternate, so that one chunk is copied while another is computed; a ring of slots lets the host fill chunks
 * ahead and collect results late. A level keeps only the rows that the next level or a tile still needs.
 */
#ifndef TXM_CUDA_JOB_IMPL_H
#define TXM_CUDA_JOB_IMPL_H
#include <stdatomic.h>

#include "device/convert/jobs.h"
#include "device/runtime/runtime.h"
#include "mill/gpu/gpu_abi.h"

enum { TXM_GPU_STREAMS = 2, TXM_GPU_MAX_SLOTS = 8, TXM_GPU_MAX_CHUNK_ROWS = 4096 };

typedef struct gpu_block gpu_block;

typedef struct gpu_level {
    uint32_t width, height;
    bool box;            /* both edges of the level below are even */
    uint32_t made;       /* rows so far */
    uint32_t tiled;      /* rows whose tiles were made */
    uint32_t bordered;   /* rows whose borders were made, counted from after the first row of tiles */
    bool first_bordered; /* and of that one */
    uint32_t most_rows;  /* that one chunk can complete */
    txm_gpu_store store;
    txm_gpu_floats floats; /* levels that others are made from, but for level 0 */
} gpu_level;

typedef enum slot_state { SLOT_FREE, SLOT_PLACED, SLOT_SUBMITTED, SLOT_COLLECTED } slot_state;

typedef struct gpu_slot {
    _Atomic(slot_state) state;
    txm_gpu_result result; /* first among what callers see */
    uint8_t *in, *out;     /* pinned */
    txm_gpu_row_stats *stats;
    uint64_t device_in, device_out, device_stats; /* where they lie in the job's device memory */
    txm_gpu_piece *pieces;
    size_t out_bytes;
    txm_rt_event computed, done;
} gpu_slot;

struct txm_gpu_job {
    txm_gpu_plan plan;
    uint32_t device, levels;
    gpu_level level[TXM_MAX_LEVELS];
    txm_rt_memory memory; /* of the device: all that the job has there */
    txm_rt_memory tables; /* on the device; NULL where no curve is needed */
    gpu_block *device_block, *pinned_block;
    txm_rt_stream streams[TXM_GPU_STREAMS];
    gpu_slot slots[TXM_GPU_MAX_SLOTS];
    gpu_slot *placed;                   /* being filled */
    gpu_slot *queue[TXM_GPU_MAX_SLOTS]; /* submitted, oldest first */
    uint32_t queued;
    uint64_t submitted;  /* chunks */
    txm_rt_event before; /* the last chunk's kernels */
    size_t out_capacity, piece_capacity;
};

/* Codes beside the runtime's own, which are positive: a chunk would make more than was planned for; the machine's
 * memory is exhausted. */
enum { GPU_NO_ROOM = -1, GPU_NO_MEMORY = -2 };

/* Records what a call of the runtime returned; OK for 0. */
txm_status gpu_check(int code, const char *what, txm_error *err);

/* Queues everything that `rows` more rows of level 0, in the slot's buffers, lead to. */
txm_status gpu_launch(txm_gpu_job *job, gpu_slot *slot, uint32_t rows, bool conformed, txm_error *err);

/* Queue a kernel, over the whole of what its arguments describe. */
int gpu_run_ingest(const txm_gpu_job *job, const txm_gpu_ingest *args, txm_rt_stream stream);
int gpu_run_level(const txm_gpu_job *job, const txm_gpu_level *args, txm_rt_stream stream);
int gpu_run_tiles(const txm_gpu_job *job, const txm_gpu_tiles *args, txm_rt_stream stream);
int gpu_run_borders(const txm_gpu_job *job, const txm_gpu_borders *args, txm_rt_stream stream);
int gpu_run_count(const txm_gpu_job *job, const txm_gpu_count *args, txm_rt_stream stream);

/* Memory of a device, or pinned for it, kept for the next job after `put` (NULL-safe). Any thread that uses the device.
 * Sizes come in steps of an eighth or less; gpu_block_bytes says which. */
uint64_t gpu_block_bytes(uint64_t bytes);
int gpu_block_get(uint32_t device, bool pinned, uint64_t bytes, gpu_block **out);
void *gpu_block_memory(const gpu_block *block); /* the machine's address, or the device's handle */
void gpu_block_put(gpu_block *block);
/* Frees what is kept. */
void gpu_trim(uint32_t device);

/* The curve's tables on a device, copied there once. */
txm_status gpu_tables(uint32_t device, txm_rt_memory *out, txm_error *err);

/* The functions of the plug-in's table. */
void gpu_memory(const txm_gpu_plan *plan, uint64_t *device_bytes, uint64_t *pinned_bytes);
txm_status gpu_open(uint32_t device, const txm_gpu_plan *plan, txm_gpu_job **out, txm_error *err);
uint8_t *gpu_place(txm_gpu_job *job);
txm_status gpu_submit(txm_gpu_job *job, uint32_t rows, bool conformed, txm_error *err);
txm_status gpu_collect(txm_gpu_job *job, bool wait, txm_gpu_result **out, txm_error *err);
void gpu_release(txm_gpu_job *job, txm_gpu_result *result);
void gpu_close(txm_gpu_job **job);
txm_status gpu_bench(uint32_t device, const txm_gpu_plan *plan, txm_gpu_measure *out, size_t *count, txm_error *err);
#endif
