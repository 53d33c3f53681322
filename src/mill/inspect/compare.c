/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares a level of a tx file with the same level of another.
 *
 * verify --deep uses it for the file and a new conversion of its source, which have the same sizes, so that tiles can
 * be compared one with one. Rows of tiles are compared by jobs; their differences are merged in the order of rows, so
 * that the result does not depend on the order in which threads finish.
 */
#include "mill/inspect/compare.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"

/* The number of rows of tiles that may be queued: a huge file must not queue a job for each of its rows at once. */
enum { MAX_QUEUED = 64 };

typedef struct comparison {
    txm_job *job;
    txm_tx *expected, *found;
    uint32_t level;
    pthread_mutex_t lock;
    txm_level_diff diff;
} comparison;

typedef struct tile_row {
    comparison *c;
    uint32_t y;
} tile_row;

/* Compares one row of tiles, with memory for two tiles; false if a tile of the expected file cannot be decoded. */
static bool compare_tile_row(const tile_row *row, uint8_t *pixels, txm_level_diff *diff, txm_error *err)
{
    const comparison *c = row->c;
    const txm_tx_info *i = txm_tx_info_of(c->found);
    size_t px = i->channels * txm_type_bytes(i->type), stride = i->tile_w * px;
    uint8_t *other = pixels + i->tile_h * stride;
    for (uint32_t x = 0; x < txm_tx_level_of(c->found, c->level)->tiles_x && txm_job_runs(c->job); x++) {
        uint32_t w, h;
        txm_tx_request tile = {.struct_size = sizeof(txm_tx_request),
                               .level = c->level,
                               .tile_x = x,
                               .tile_y = row->y,
                               .pixels = other,
                               .pixel_stride_bytes = px,
                               .row_stride_bytes = stride,
                               .width = &w,
                               .height = &h};
        if (txm_tx_read_tile(c->expected, &tile, err) != TXM_OK)
            return false;
        tile.pixels = pixels;
        if (txm_tx_read_tile(c->found, &tile, NULL) == TXM_OK)
            txm_level_diff_tile(diff, i->type, i->channels, other, stride, pixels, stride, w, h, x, row->y);
    }
    return true;
}

/* A job compares one row of tiles: that is enough work to be worth queueing, and needs memory for two tiles. */
static void run_row(void *arg)
{
    tile_row *row = arg;
    comparison *c = row->c;
    const txm_tx_info *i = txm_tx_info_of(c->found);
    txm_level_diff diff = {0};
    txm_error err = {0};
    uint8_t *pixels = NULL;
    if (txm_job_runs(c->job)) {
        pixels = txm_alloc_pixels(2 * (size_t)i->tile_w * i->tile_h, i->channels * txm_type_bytes(i->type));
        if (!pixels)
            txm_no_memory(&err, NULL);
        if (!pixels || !compare_tile_row(row, pixels, &diff, &err))
            txm_job_fail(c->job, &err);
    }
    pthread_mutex_lock(&c->lock);
    txm_level_diff_merge(&c->diff, &diff);
    pthread_mutex_unlock(&c->lock);
    free(pixels);
    free(row);
}

/* Waits for all jobs of the level. If a job cannot be queued or fails, the others stop. */
txm_status txm_compare_level(txm_job *job, txm_tx *expected, txm_tx *found, uint32_t level, txm_level_diff *diff,
                             txm_error *err)
{
    comparison c = {.job = job, .expected = expected, .found = found, .level = level};
    pthread_mutex_init(&c.lock, NULL);
    for (uint32_t y = 0; y < txm_tx_level_of(found, level)->tiles_y && txm_job_runs(job); y++) {
        tile_row *row = malloc(sizeof *row);
        if (row)
            *row = (tile_row){&c, y};
        if (!row || !txm_group_submit(job->group, false, run_row, row)) {
            free(row);
            txm_error own = {0};
            txm_no_memory(&own, NULL);
            txm_job_fail(job, &own);
        }
        txm_group_wait(job->group, MAX_QUEUED);
    }
    txm_group_wait(job->group, 0);
    pthread_mutex_destroy(&c.lock);
    *diff = c.diff;
    /* The work may have been cancelled after the last job ended. */
    return txm_job_runs(job) ? TXM_OK : txm_fail_as(err, &job->error);
}
