/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions for a copy of the cache's tiles elsewhere, such as on a device: they report which tile is in a slot, and
 * how long it stays there.
 */
#ifndef TXM_CACHE_MIRROR_H
#define TXM_CACHE_MIRROR_H
#include <stdatomic.h>

#include "txtile/cache.h"

/* A tile in memory. The stamp differs from those of all tiles that were in the slot before. */
typedef struct txm_mirrored {
    const uint8_t *pixels; /* if an open view shows the slot: valid as long as it is open */
    uint32_t slot, stamp, bytes;
} txm_mirrored;

/* When the parts of an open view changed: for each TXM_MIRROR_GROUP textures, entries or leaves, the number of the
 * viewer's view in which one of them was last copied. Numbers grow across all viewers. */
typedef struct txm_mirror_changes {
    const void *viewer; /* NULL: unknown, and everything may have changed */
    uint32_t number;    /* the view's number */
    const uint32_t *textures, *entries, *leaves;
} txm_mirror_changes;

enum { TXM_MIRROR_GROUP = 64 };

/* Prepares a view as txm_cache_viewer_prepare does, and calls `look` before anything that the view shows can change; it
 * may be NULL. The functions below txm_mirror_inspect may only be called in `look`, except for those marked 'any time'.
 */
txm_status txm_mirror_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent,
                              void (*look)(void *user, txm_cache *c), void *user, txm_error *err);
/* Only calls `look`, for a view that is open already. */
void txm_mirror_inspect(txm_cache *c, void (*look)(void *user, txm_cache *c), void *user);
/* The arrays are valid as long as the view is open. */
txm_mirror_changes txm_mirror_changes_of(const txm_cache *c, const txm_view *view);
/* Whether the slot still holds the tile that it held when it had this stamp. */
bool txm_mirror_holds(txm_cache *c, uint32_t slot, uint32_t stamp);
/* The tile in a slot that the view shows. */
txm_mirrored txm_mirror_of(txm_cache *c, uint32_t slot);
/* Calls `each` for the tiles that stay in memory whatever lookups request: pinned tiles and stand-ins. */
void txm_mirror_kept(txm_cache *c, void (*each)(void *user, txm_mirrored tile), void *user);
/* All slots have numbers below this. */
uint32_t txm_mirror_slots(const txm_cache *c);
/* Whether the texture is a UDIM set with a base texture, which txm_cache_resolve may choose. Any time. */
bool txm_mirror_has_base(txm_cache *c, uint32_t texture);
/* The probability that a copy is to be discarded although it is valid: txm_spurious when the cache was made. Any time.
 */
float txm_mirror_spurious(const txm_cache *c);
/* For tests: the probability with which lookups of caches that are made from now on drop tiles that they are about to
 * use, and launches of a device miss one of them. No result changes. */
extern _Atomic float txm_spurious;
/* The budget for tiles; 0: none is set. Any time. */
uint64_t txm_mirror_budget(txm_cache *c);
#endif
