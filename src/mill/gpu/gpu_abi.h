/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface to a device plug-in for conversions: a table in that of device_abi.h. A job makes the tiles and
 * borders of all levels of one image. Rows of level 0 are submitted in chunks; the results are compressed, or ready to
 * be. The plug-in does not handle files or threads; between jobs it keeps only tables on each device and
 * buffers for the next job. It never prints.
 */
#ifndef TXM_GPU_GPU_ABI_H
#define TXM_GPU_GPU_ABI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mill/gpu/kernels.h"
#include "mill/gpu/pack.h"
#include "tile/device/device_abi.h"
#include "txtile/pixel.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This number must be increased whenever the interface below changes: a table of another build is refused. */
enum { TXM_GPU_ABI = 5 };

/* The work of a job. */
typedef struct txm_gpu_plan {
    uint32_t width, height, tile_px; /* level 0, px */
    txm_type type;
    txm_gpu_conform conform; /* conforming of rows that come as the source delivers them */
    uint32_t channels;       /* number of stored channels: conform.channels, or 1 for RGBA that is grey */
    txm_curve curve;         /* as in txm_pyramid_spec */
    bool filter;             /* tiles are filtered with TIFF's predictor or EXR's byte split */
    bool borders;
    bool rows;           /* results include conformed rows of level 0 */
    uint32_t chunk_rows; /* most rows in a chunk, a multiple of tile_px */
    uint32_t slots;      /* most chunks in progress at once, at least 2 */
    uint32_t encoders;   /* tiles that are compressed at once, filtered and at zip's level; 0: the caller compresses */
    int32_t level;       /* 0 or 1 */
} txm_gpu_plan;

typedef enum txm_gpu_kind { TXM_GPU_ROWS, TXM_GPU_TILES, TXM_GPU_BORDERS } txm_gpu_kind;

/* Rows of level 0, or the tiles or border records of one row of tiles in the layout of kernels.h. With encoders, tile i
 * is at bytes + packed[i].at instead, and packed[i] says what it is. */
typedef struct txm_gpu_piece {
    txm_gpu_kind kind;
    uint32_t level, y, rows;
    const uint8_t *bytes;
    size_t size_bytes;            /* of tiles with encoders: as they would be without */
    const txm_gpu_packed *packed; /* NULL: they are not compressed */
} txm_gpu_piece;

/* The result of one chunk, which is valid until it is released. */
typedef struct txm_gpu_result {
    const uint8_t *submitted; /* the rows as they were submitted */
    uint32_t y, rows;
    const txm_gpu_row_stats *stats; /* one per row; NULL for rows that were already conformed */
    const txm_gpu_piece
        *pieces; /* each kind of each level, in rising order of levels; only the first borders come last */
    size_t piece_count;
} txm_gpu_result;

typedef struct txm_gpu_job txm_gpu_job;

/* One measurement of `bench`. */
typedef struct txm_gpu_measure {
    const char *name;
    uint64_t bytes; /* number of bytes read and written */
    double seconds;
} txm_gpu_measure;

typedef struct txm_gpu_jobs {
    uint32_t abi;
    uint32_t plan_bytes, result_bytes; /* sizes of the structs that it was built with */

    /* Computes the memory that a job takes on the device, and on the machine (pinned). */
    void (*memory)(const txm_gpu_plan *plan, uint64_t *device_bytes, uint64_t *pinned_bytes);
    /* NO_MEMORY, DEVICE. */
    txm_status (*open)(uint32_t device, const txm_gpu_plan *plan, txm_gpu_job **out, txm_error *err);
    /* Returns memory for the next chunk's rows, which are contiguous; it has room for chunk_rows of the wider of both
     * formats. NULL while all slots are in use. It is the same until it is submitted. */
    uint8_t *(*place)(txm_gpu_job *job);
    /* Starts work on the next `rows` rows: a multiple of tile_px except for the last. `conformed`: they are stored
     * rows. Never waits for buffers. */
    txm_status (*submit)(txm_gpu_job *job, uint32_t rows, bool conformed, txm_error *err);
    /* Returns the oldest chunk that was not collected; *out is NULL if there is none or, if `wait` is false, it is not
     * finished. */
    txm_status (*collect)(txm_gpu_job *job, bool wait, txm_gpu_result **out, txm_error *err);
    /* Releases a result's slot. Any thread may call it; all other calls of a job come from one thread at a time. */
    void (*release)(txm_gpu_job *job, txm_gpu_result *result);
    /* Waits for work in progress. Results become invalid. NULL-safe. */
    void (*close)(txm_gpu_job **job);

    /* Frees memory that is kept for the next job. */
    void (*trim)(uint32_t device);

    /* Measures plain copies and each kernel on an image of the plan's kind; *count is the room, then the number of
     * measurements. */
    txm_status (*bench)(uint32_t device, const txm_gpu_plan *plan, txm_gpu_measure *out, size_t *count, txm_error *err);
} txm_gpu_jobs;

#ifdef __cplusplus
}
#endif
#endif
