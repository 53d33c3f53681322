/* SPDX-License-Identifier: Apache-2.0
 *
 * A cache that reads no files, for replays of traces. Page table, slabs, eviction and epochs are the real ones; the
 * caller provides the shapes of textures and the pixels of tiles of one colour, and no other pixels exist.
 */
#ifndef TXM_CACHE_REHEARSE_H
#define TXM_CACHE_REHEARSE_H
#include <stdbool.h>

#include "txtile/cache.h"

typedef struct txm_rehearsal {
    const void *user; /* not NULL */
    /* The texture as in a view, without its place in the page table; and whether its file has fewer channels. */
    void (*shape)(const void *user, uint32_t texture, txm_view_texture *shape, bool *widened);
    /* The pixel of a tile of one colour; NULL: it has several colours. */
    const uint8_t *(*pixel)(const void *user, txm_tile_name tile);
} txm_rehearsal;

/* Sets the functions of a cache that has no textures yet; they are copied. */
void txm_rehearse(txm_cache *c, const txm_rehearsal *rehearsal);
/* Registers a texture, whose file need not exist. Textures are numbered in the order of these calls. */
txm_status txm_rehearse_add(txm_cache *c, const char *path, txm_extension extension, txm_error *err);
/* Uses the tiles of a lookup, and loads those that are missing. Fails with NO_MEMORY. */
txm_status txm_rehearse_look(txm_cache_thread *t, const txm_tile_name *tiles, uint32_t count, txm_error *err);
/* Begins a launch as txm_cache_prepare does, without a view. */
void txm_rehearse_launch(txm_cache *c);
#endif
