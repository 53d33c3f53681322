/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device plug-in computes of conversions: a table of device_abi.h's.
 *
 * A job makes the tiles and borders of all levels of one image. Rows of level 0 go in, in chunks; what comes back is
 * ready for the compressors. The plug-in knows nothing of files, threads or compression, and keeps nothing between jobs
 * but tables on each device and buffers for the next job. It never prints.
 */
#ifndef TXM_GPU_GPU_ABI_H
#define TXM_GPU_GPU_ABI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mill/gpu/kernels.h"
#include "tile/device/device_abi.h"
#include "txtile/pixel.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever something below changes: the table of another build is refused, not misread. */
enum { TXM_GPU_ABI = 3 };

/* What a job makes of its rows. */
typedef struct txm_gpu_plan {
    uint32_t width, height, tile_px; /* level 0, px */
    txm_type type;
    txm_gpu_conform conform; /* of rows that come as the source delivers them */
    uint32_t channels;       /* stored: conform.channels, or 1 for RGBA that is grey */
    bool srgb;               /* filter in linear light */
    bool filter;             /* tiles go through TIFF's predictor or EXR's byte split */
    bool borders;
    bool rows;           /* give conformed rows of level 0 back */
    uint32_t chunk_rows; /* at most this many rows at once, a multiple of tile_px */
    uint32_t slots;      /* chunks under way at once, at least 2 */
} txm_gpu_plan;

typedef enum txm_gpu_kind { TXM_GPU_ROWS, TXM_GPU_TILES, TXM_GPU_BORDERS } txm_gpu_kind;

/* Rows of level 0, or the tiles or border records of one row of tiles as kernels.h lays them out. */
typedef struct txm_gpu_piece {
    txm_gpu_kind kind;
    uint32_t level, y, rows;
    const uint8_t *bytes;
    size_t size_bytes;
} txm_gpu_piece;

/* What has become of one chunk; valid until it is released. */
typedef struct txm_gpu_result {
    const uint8_t *submitted; /* the rows as they were given */
    uint32_t y, rows;
    const txm_gpu_row_stats *stats; /* a row; NULL for rows that were conformed already */
    const txm_gpu_piece *pieces;    /* each kind of a level in rising order but the first borders, which come last */
    size_t piece_count;
} txm_gpu_result;

typedef struct txm_gpu_job txm_gpu_job;

/* One measurement of `bench`. */
typedef struct txm_gpu_measure {
    const char *name;
    uint64_t bytes; /* read and written */
    double seconds;
} txm_gpu_measure;

typedef struct txm_gpu_jobs {
    uint32_t abi;
    uint32_t plan_bytes, result_bytes; /* sizeof the structures it was built with */

    /* What a job takes of the device's memory, and of the machine's (pinned). */
    void (*memory)(const txm_gpu_plan *plan, uint64_t *device_bytes, uint64_t *pinned_bytes);
    /* NO_MEMORY, DEVICE. */
    txm_status (*open)(uint32_t device, const txm_gpu_plan *plan, txm_gpu_job **out, txm_error *err);
    /* Where the next chunk's rows go, one after the other, chunk_rows of the wider of both formats; NULL while all
     * slots are in use. The same until it is submitted. */
    uint8_t *(*place)(txm_gpu_job *job);
    /* Starts work on the next `rows` rows: a multiple of tile_px but for the last. `conformed`: they are stored rows.
     * The plan's buffers are never waited for. */
    txm_status (*submit)(txm_gpu_job *job, uint32_t rows, bool conformed, txm_error *err);
    /* The oldest chunk that was not collected; *out is NULL if there is none or (wait = false) it is not finished. */
    txm_status (*collect)(txm_gpu_job *job, bool wait, txm_gpu_result **out, txm_error *err);
    /* Gives a result's slot back. Any thread; all other calls of a job come from one thread at a time. */
    void (*release)(txm_gpu_job *job, txm_gpu_result *result);
    /* Waits for what is under way. Results become invalid. NULL-safe. */
    void (*close)(txm_gpu_job **job);

    /* Frees the memory that is kept for the next job. */
    void (*trim)(uint32_t device);

    /* Times plain copies and each kernel on an image of the plan's kind; *count: room, then measures. */
    txm_status (*bench)(uint32_t device, const txm_gpu_plan *plan, txm_gpu_measure *out, size_t *count, txm_error *err);
} txm_gpu_jobs;

#ifdef __cplusplus
}
#endif
#endif
