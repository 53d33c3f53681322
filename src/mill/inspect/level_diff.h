/* SPDX-License-Identifier: Apache-2.0
 *
 * How far two versions of a level are apart, collected tile by tile: exactly, and in the measure that parity with
 * Blender is defined in - code values for integers, units in the last place for half, the level's maximum for float.
 *
 * "Exactly" matters because txmill's files are meant to equal Blender's bit for bit; "parity" because different
 * compilers may round the same formula differently, which is no defect. Both come from one pass over the
 * samples. Parts that threads collected are merged in any order with the same result.
 */
#ifndef TXM_INSPECT_LEVEL_DIFF_H
#define TXM_INSPECT_LEVEL_DIFF_H
#include <stdbool.h>
#include <stdint.h>

#include "txtile/pixel.h"

typedef struct txm_level_diff {
    uint64_t samples;        /* compared */
    uint64_t different;      /* bits differ */
    uint64_t tiles;          /* with differences */
    uint64_t rounded;        /* samples that may be off, because they come from samples that were rounded */
    double worst;            /* largest distance of two samples: codes, ulps, or value */
    double maximum;          /* largest magnitude among the expected samples, of float types */
    uint32_t tile_x, tile_y; /* where the worst one is */
} txm_level_diff;

/* Adds one tile of w x h px; rows are `*_stride` bytes apart. */
void txm_level_diff_tile(txm_level_diff *diff, txm_type type, uint32_t channels, const uint8_t *expected,
                         size_t expected_stride, const uint8_t *found, size_t found_stride, uint32_t w, uint32_t h,
                         uint32_t tile_x, uint32_t tile_y);
/* Merges `part` into `sum`. */
void txm_level_diff_merge(txm_level_diff *sum, const txm_level_diff *part);

/* Whether the difference is within the parity that different compilations of one formula have. */
bool txm_level_diff_is_parity(const txm_level_diff *diff, txm_type type);

/* "code values", "units in the last place" or "" for values. */
const char *txm_level_diff_unit(txm_type type);
#endif
