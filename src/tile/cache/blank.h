/* SPDX-License-Identifier: Apache-2.0
 * A page table of one texture in which nothing is there: what a lookup asks it for is what the lookup reads. */
#ifndef TXM_CACHE_BLANK_H
#define TXM_CACHE_BLANK_H
#include <stdbool.h>

#include "txtile/sampler.h"

enum {
    TXM_BLANK_TILES = 124,          /* that one lookup reads at most: 31 probes, two levels, two taps */
    TXM_BLANK_LEVEL_TILES = 1 << 20 /* that a key can name */
};

/* Zero-initialise. */
typedef struct txm_blank {
    txm_view_texture texture;
    txm_tile_entry *entries; /* all NONE between calls */
    uint32_t capacity;
} txm_blank;

/* The tiles of one lookup in a texture of this shape, each once, in the order in which they are read; `texture` and
 * `udim` of the names are 0. false: no memory, or levels of more tiles than a key can name. */
bool txm_blank_look(txm_blank *b, const txm_view_texture *shape, const txm_sampler *how, const txm_lookup *at,
                    uint32_t random, txm_tile_name tiles[TXM_BLANK_TILES], uint32_t *count);
void txm_blank_free(txm_blank *b);
#endif
