/* SPDX-License-Identifier: Apache-2.0
 *
 * Internals of a job: the levels with the rows that they keep, and the slots that chunks pass through.
 *
 * A job takes chunks of rows in pinned memory, and returns finished tiles of all levels, again in pinned memory. Two
 * streams alternate, so that one chunk is copied while another is computed, and a ring of slots lets the host fill
 * chunks ahead and collect results late. A level keeps only the rows that the next level or a tile still needs.
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
    bool box;            /* width and height of the level below are even */
    uint32_t made;       /* rows made so far */
    uint32_t tiled;      /* rows whose tiles have been made */
    uint32_t bordered;   /* rows whose borders have been made, not counting the first row of tiles */
    bool first_bordered; /* the first row of tiles has its borders too */
    uint32_t most_rows;  /* most rows that one chunk can complete */
    txm_gpu_store store;
    txm_gpu_floats floats; /* rows of levels that others are made from, except level 0 */
} gpu_level;

typedef enum slot_state { SLOT_FREE, SLOT_PLACED, SLOT_SUBMITTED, SLOT_COLLECTED } slot_state;

typedef struct gpu_slot {
    _Atomic(slot_state) state;
    txm_gpu_result result; /* must be the first member, which callers see */
    uint8_t *in, *out;     /* pinned */
    txm_gpu_packed *list;  /* pinned: an element more than tiles that are compressed */
    uint32_t tiles;
    uint64_t device_list;
    size_t streams_at;    /* where compressed tiles begin in the output */
    bool fetching;        /* the output is being copied back */
    txm_rt_event counted; /* when the list is back, which says how long the output is */
    txm_gpu_row_stats *stats;
    uint64_t device_in, device_out, device_stats; /* their offsets in the job's device memory */
    txm_gpu_piece *pieces;
    size_t out_bytes;
    txm_rt_event computed, done;
} gpu_slot;

struct txm_gpu_job {
    txm_gpu_plan plan;
    uint32_t device, levels;
    gpu_level level[TXM_MAX_LOOKUP_LEVELS];
    txm_rt_memory memory; /* all of the job's memory on the device */
    txm_rt_memory tables; /* tables on the device; NULL if no curve is needed */
    gpu_block *device_block, *pinned_block;
    txm_rt_stream streams[TXM_GPU_STREAMS];
    gpu_slot slots[TXM_GPU_MAX_SLOTS];
    gpu_slot *placed;                   /* the slot being filled */
    gpu_slot *queue[TXM_GPU_MAX_SLOTS]; /* submitted, oldest first */
    uint32_t queued;
    uint64_t submitted;  /* number of chunks */
    txm_rt_event before; /* when the last chunk's kernels end */
    size_t out_capacity, piece_capacity;
    /* For compressing: filtered tiles, and scratch memory. Chunks take turns. */
    uint64_t raw, scratch, scratch_bytes;
    size_t raw_capacity, tile_capacity;
    txm_rt_stream downloads; /* of output whose length was not known when the chunk was submitted */
};

/* Error codes in addition to the runtime's own, which are positive: a chunk would produce more than was planned for;
 * the machine is out of memory. */
enum { GPU_NO_ROOM = -1, GPU_NO_MEMORY = -2 };

/* Converts the return code of a runtime call to a status; OK for 0. */
txm_status gpu_check(int code, const char *what, txm_error *err);

/* Queues all work that follows from `rows` more rows of level 0 in the slot's buffers. */
txm_status gpu_launch(txm_gpu_job *job, gpu_slot *slot, uint32_t rows, bool conformed, txm_error *err);

/* Each queues a kernel over the whole extent that its arguments describe. */
int gpu_run_ingest(const txm_gpu_job *job, const txm_gpu_ingest *args, txm_rt_stream stream);
int gpu_run_level(const txm_gpu_job *job, const txm_gpu_level *args, txm_rt_stream stream);
int gpu_run_tiles(const txm_gpu_job *job, const txm_gpu_tiles *args, txm_rt_stream stream);
int gpu_run_borders(const txm_gpu_job *job, const txm_gpu_borders *args, txm_rt_stream stream);
/* What compresses the tiles in the slot's list. */
txm_gpu_pack gpu_pack_args(const txm_gpu_job *job, const gpu_slot *slot);
int gpu_run_pack(const txm_gpu_job *job, const txm_gpu_pack *args, txm_rt_stream stream);
int gpu_run_count(const txm_gpu_job *job, const txm_gpu_count *args, txm_rt_stream stream);

/* Device memory, or pinned memory for a device, which is kept for the next job after `put` (NULL-safe). Any thread that
 * uses the device may call these. Sizes are rounded up, large ones by less than a quarter; gpu_block_bytes returns the
 * result. */
uint64_t gpu_block_bytes(uint64_t bytes);
int gpu_block_get(uint32_t device, bool pinned, uint64_t bytes, gpu_block **out);
void *gpu_block_memory(const gpu_block *block); /* a machine address if pinned, or the device's handle */
void gpu_block_put(gpu_block *block);
/* Frees all idle blocks of a device. */
void gpu_trim(uint32_t device);

/* The curve's tables on a device, which are copied there once. */
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
