/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifies pixels: level 0 is decoded band by band and goes through hash, statistics and pyramid as in a conversion,
 * but the bands of the pyramid are compared with the file's instead of being written. Memory holds a few bands.
 */
#ifndef TXM_INSPECT_VERIFY_PIXELS_H
#define TXM_INSPECT_VERIFY_PIXELS_H
#include "mill/convert/tiler.h"
#include "mill/inspect/level_diff.h"
#include "mill/inspect/verify_impl.h"

typedef struct txm_pixel_check {
    txm_verification *v;
    txm_job job;
    size_t pixel_bytes;
    pthread_mutex_t lock; /* guards diffs */
    txm_level_diff diffs[TXM_MAX_LEVELS];
} txm_pixel_check;

/* A run of neighbouring tiles in a row, which is the work of one job. */
typedef struct txm_tile_run {
    txm_pixel_check *check;
    uint32_t level, tile_y, first, count;
} txm_tile_run;

/* The number of tiles in a run: enough work to be worth a job. */
uint32_t txm_tile_run_length(const txm_pixel_check *check);

/* Decodes a tile. If it cannot be decoded, that is a finding, and *ok is false. Returns false for failures that end the
 * verification. */
bool txm_check_decode(txm_pixel_check *check, uint32_t level, uint32_t tile_x, uint32_t tile_y, uint8_t *dst,
                      size_t stride, uint32_t *w, uint32_t *h, bool *ok);

/* Queue jobs for a whole row of tiles; they hold their own references. false if memory is exhausted.
 *   compare  compares a recomputed band with the file's tiles, into `diffs`
 *   decode   decodes tiles of levels that are not recomputed
 *   borders  compares borders of the section with pixels of the bands or, if `band` is NULL, of the file */
bool txm_submit_compare(txm_pixel_check *check, txm_band *band);
bool txm_submit_decode(txm_pixel_check *check, uint32_t level, uint32_t tile_y);
bool txm_submit_borders(txm_pixel_check *check, uint32_t level, uint32_t tile_y, txm_band *band,
                        txm_band *const around[4]);
#endif
