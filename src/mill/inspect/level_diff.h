/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures how much two versions of a level differ, tile by tile, in two ways: exactly, because txmill's files are
 * meant to equal Blender's bit for bit, and within parity, because compilers may round the same formula differently,
 * which is not a defect. Parity is measured in code values for integers, in units in the last place for half, and
 * relative to the level's maximum for float. Threads can collect parts and merge them in any order.
 */
#ifndef TXM_INSPECT_LEVEL_DIFF_H
#define TXM_INSPECT_LEVEL_DIFF_H
#include <stdbool.h>
#include <stdint.h>

#include "txtile/pixel.h"

typedef struct txm_level_diff {
    uint64_t samples;        /* compared */
    uint64_t different;      /* samples whose bits differ */
    uint64_t tiles;          /* tiles that have differences */
    uint64_t rounded;        /* samples that may be off, because they come from samples that were rounded */
    double worst;            /* largest distance of two samples: codes, ulps, or value */
    double maximum;          /* largest magnitude among the expected samples, of float types */
    uint32_t tile_x, tile_y; /* the tile of the largest distance */
} txm_level_diff;

/* Adds one tile of w x h px; rows are `*_stride` bytes apart. */
void txm_level_diff_tile(txm_level_diff *diff, txm_type type, uint32_t channels, const uint8_t *expected,
                         size_t expected_stride, const uint8_t *found, size_t found_stride, uint32_t w, uint32_t h,
                         uint32_t tile_x, uint32_t tile_y);
/* Merges `part` into `sum`. */
void txm_level_diff_merge(txm_level_diff *sum, const txm_level_diff *part);

/* Whether the difference can come from different compilations of the same formula. */
bool txm_level_diff_is_parity(const txm_level_diff *diff, txm_type type);

/* "code values", "units in the last place" or "" for values. */
const char *txm_level_diff_unit(txm_type type);
#endif
