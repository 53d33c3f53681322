/* SPDX-License-Identifier: Apache-2.0
 * What `txmill info --tiles` tells: how large the encoded tiles of each level are, and how many hold one colour. */
#ifndef TXM_TOOLS_INFO_TILES_H
#define TXM_TOOLS_INFO_TILES_H
#include <cjson/cJSON.h>
#include <stdbool.h>

#include "txmill/reader.h"

enum { TXM_TILE_SIZE_CLASSES = 33 };

typedef struct txm_tile_sizes {
    uint64_t tiles, constant, damaged;
    uint64_t smallest, largest, bytes; /* encoded */
} txm_tile_sizes;

typedef struct txm_tile_census {
    txm_tile_sizes level[TXM_MAX_LEVELS];
    /* Tiles of 2^n to 2^(n+1) - 1 encoded bytes, over all levels, and those among them that hold one colour. */
    uint64_t sizes[TXM_TILE_SIZE_CLASSES], constant[TXM_TILE_SIZE_CLASSES];
} txm_tile_census;

/* Decodes every tile; one that cannot be decoded is counted, not reported. NO_MEMORY, and CANCELLED when *cancel
 * becomes non-zero. */
txm_status txm_tile_census_take(txm_tx *tx, const volatile int *cancel, txm_tile_census *out, txm_error *err);

void txm_tile_census_print(const txm_tx *tx, const txm_tile_census *census);
/* The member `tiles`. */
void txm_tile_census_add(cJSON *object, const txm_tx *tx, const txm_tile_census *census);
#endif
