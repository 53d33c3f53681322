/* SPDX-License-Identifier: Apache-2.0
 * For frames, whose lookups use what is in memory: single texels, and launches that are never repeated. */
#ifndef TXM_BASE_FRAMES_H
#define TXM_BASE_FRAMES_H
#include <stdint.h>

#include "tile/base/shared.h"

struct txm_view;
struct txm_view_texture;
struct txm_cache_viewer;

/* A texel of a texture in a view: its position in the level's pixels, its tile's entry in the page table, and the
 * slot. */
typedef struct txm_texel_place {
    const struct txm_view_texture *texture;
    uint32_t level, x, y, entry, slot;
} txm_texel_place;

/* The linear values of sRGB codes of 8 bits. */
TXM_SHARED void txm_texel_decode(float decoded[256]);
/* Returns the colour that a lookup with TXM_FILTER_CLOSEST gives for the texel, and marks its tile as that lookup does.
 * `after` is the sampler's; `decoded` has the values of txm_texel_decode. */
TXM_SHARED void txm_texel_color(const struct txm_view *view, const txm_texel_place *at, int after,
                                const float decoded[256], float rgba[4]);

/* Lookups in views of this viewer need not find all of their tiles at once. For other viewers, batches keep as many
 * tiles as one lookup can need, 32, even beyond the budget. */
TXM_SHARED void txm_cache_viewer_never_repeats(struct txm_cache_viewer *viewer);
#endif
