/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifying pixels: level 0 is decoded band by band and goes the way of a conversion - hash, statistics, pyramid - but
 * the bands that come out of the pyramid are compared with the file's instead of being written. Memory is that of a few
 * bands.
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

/* A run of neighbouring tiles of one tile row: what one job does at a time. */
typedef struct txm_tile_run {
    txm_pixel_check *check;
    uint32_t level, tile_y, first, count;
} txm_tile_run;

/* Tiles a run has: enough work for a job to be worth its while. */
uint32_t txm_tile_run_length(const txm_pixel_check *check);

/* Decodes a tile; one that cannot be decoded is a finding, and *ok is false. Returns false for failures that end the
 * verification. */
bool txm_check_decode(txm_pixel_check *check, uint32_t level, uint32_t tile_x, uint32_t tile_y, uint8_t *dst,
                      size_t stride, uint32_t *w, uint32_t *h, bool *ok);

/* Jobs for a whole tile row; they keep their own references. False when memory is exhausted.
 *   compare  a recomputed band against the file's tiles, into `diffs`
 *   decode   tiles of levels that are not recomputed: only whether they can be decoded
 *   borders  borders of the section against pixels of the level: of bands, or, with `band` NULL, of the file */
bool txm_submit_compare(txm_pixel_check *check, txm_band *band);
bool txm_submit_decode(txm_pixel_check *check, uint32_t level, uint32_t tile_y);
bool txm_submit_borders(txm_pixel_check *check, uint32_t level, uint32_t tile_y, txm_band *band,
                        txm_band *const around[4]);
#endif
