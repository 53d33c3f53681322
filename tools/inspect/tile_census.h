/* SPDX-License-Identifier: Apache-2.0
 * Examines every tile of a tx file: its bytes, whether it has a single colour, and whether it can be decoded.
 *
 * The census is taken once per file and can be printed twice, as a table and as JSON; `txmill view` visits the pixels
 * of each tile as they are decoded. It takes some tens of bytes per tile, however large the image is. */
#ifndef TXM_TOOLS_TILE_CENSUS_H
#define TXM_TOOLS_TILE_CENSUS_H
#include <stdbool.h>

#include "txtile/reader.h"

enum { TXM_TILE_SIZE_CLASSES = 33 };

typedef struct txm_census_tile {
    uint64_t bytes; /* encoded */
    bool constant;  /* all pixels are equal, bit for bit */
    bool damaged;   /* cannot be decoded */
} txm_census_tile;

typedef struct txm_tile_sizes {
    uint64_t tiles, constant, damaged;
    uint64_t smallest, largest, bytes; /* encoded */
} txm_tile_sizes;

/* Zero-initialise before first use. */
typedef struct txm_tile_census {
    txm_tile_sizes level[TXM_MAX_LEVELS];
    txm_census_tile *entries[TXM_MAX_LEVELS]; /* tiles of each level, row by row; owned */
    /* Tiles of 2^n to 2^(n+1) - 1 encoded bytes, over all levels, and those of them with a single colour. */
    uint64_t sizes[TXM_TILE_SIZE_CLASSES], constant[TXM_TILE_SIZE_CLASSES];
} txm_tile_census;

/* Called with the pixels of every tile that could be decoded: w x h px, without gaps, as stored. */
typedef void (*txm_tile_visit_fn)(void *user, uint32_t level, const uint8_t *pixels, uint32_t w, uint32_t h);

/* Decodes every tile; one that cannot be decoded is counted, and not reported as an error. `visit` may be NULL.
 * NO_MEMORY, IO, CHANGED, and CANCELLED when *cancel becomes non-zero. */
txm_status txm_tile_census_take(txm_tx *tx, const volatile int *cancel, txm_tile_visit_fn visit, void *user,
                                txm_tile_census *out, txm_error *err);
void txm_tile_census_clear(txm_tile_census *census); /* NULL-safe; zeroes */
#endif
