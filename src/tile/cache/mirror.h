/* SPDX-License-Identifier: Apache-2.0
 *
 * What a copy of the cache's tiles elsewhere, such as a device's, asks of the cache: which tile is in a slot, and for
 * how long.
 */
#ifndef TXM_CACHE_MIRROR_H
#define TXM_CACHE_MIRROR_H
#include "txtile/cache.h"

/* A tile in memory. Whatever is in a slot has another stamp than what was there before. */
typedef struct txm_mirrored {
    const uint8_t *pixels; /* of a slot that an open view shows: as long as it does */
    uint32_t slot, stamp, bytes;
} txm_mirrored;

/* Prepares a view as txm_cache_viewer_prepare does, and calls `look` with what the view shows before anything can
 * change. In it, and in it alone, the functions below may be called. */
txm_status txm_mirror_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent,
                              void (*look)(void *user, txm_cache *c), void *user, txm_error *err);
/* Calls `look` alone, for a view that is open already. */
void txm_mirror_look(txm_cache *c, void (*look)(void *user, txm_cache *c), void *user);
/* Whether the slot still holds what it held when it had this stamp. */
bool txm_mirror_holds(txm_cache *c, uint32_t slot, uint32_t stamp);
/* The tile in a slot that the view shows. */
txm_mirrored txm_mirror_of(txm_cache *c, uint32_t slot);
/* Calls `each` with tiles that stay in memory whatever lookups ask for: what is pinned, and stand-ins. */
void txm_mirror_kept(txm_cache *c, void (*each)(void *user, txm_mirrored tile), void *user);
/* Slots have numbers below this. */
uint32_t txm_mirror_slots(const txm_cache *c);
/* Whether some UDIM set is served by a base texture where that has the level: txm_cache_resolve knows which. Any time.
 */
bool txm_mirror_has_base(txm_cache *c, uint32_t texture);
/* For tests: the chance that a copy is to be given up though it is good. Any time. */
float txm_mirror_spurious(const txm_cache *c);
/* The budget for tiles; 0: none is set. Any time. */
uint64_t txm_mirror_budget(txm_cache *c);
#endif
