/* SPDX-License-Identifier: Apache-2.0
 *
 * A page table of one texture without any tile in memory: a lookup requests from it all tiles that it reads.
 */
#ifndef TXM_RECORD_BLANK_H
#define TXM_RECORD_BLANK_H
#include <stdbool.h>

#include "txtile/sampler.h"

enum {
    TXM_BLANK_TILES = 124,          /* the most tiles that one lookup reads: 31 probes, two levels, two taps */
    TXM_BLANK_LEVEL_TILES = 1 << 20 /* the most tiles of a level that a key can name */
};

/* Must be zero-initialised. */
typedef struct txm_blank {
    txm_view_texture texture;
    txm_tile_entry *entries; /* all NONE between calls */
    uint32_t capacity;
} txm_blank;

/* Lists the tiles of one lookup in a texture of this shape, each once, in the order in which they are read; `texture`
 * and `udim` of the names are 0. False: out of memory, or a level has more tiles than a key can name. */
bool txm_blank_lookup(txm_blank *b, const txm_view_texture *shape, const txm_sampler *how, const txm_lookup *at,
                      uint32_t random, txm_tile_name tiles[TXM_BLANK_TILES], uint32_t *count);
void txm_blank_free(txm_blank *b);
#endif
