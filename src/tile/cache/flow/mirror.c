/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of the cache that a copy of its tiles elsewhere needs. A slot gets a new stamp whenever a tile is loaded
 * into it, so a copy is valid as long as the slot has the stamp that it had when the copy was made.
 */
#include "tile/cache/flow/mirror.h"

#include "tile/cache/flow/flow.h"

_Atomic float txm_spurious;

txm_status txm_mirror_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent,
                              void (*look)(void *user, txm_cache *c), void *user, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&v->cache->lock);
    txm_status status = txm_viewer_prepare(v, view, extent, err);
    if (status == TXM_OK && look)
        look(user, v->cache);
    pthread_mutex_unlock(&v->cache->lock);
    return status;
}

void txm_mirror_inspect(txm_cache *c, void (*look)(void *user, txm_cache *c), void *user)
{
    pthread_mutex_lock(&c->lock);
    look(user, c);
    pthread_mutex_unlock(&c->lock);
}

txm_mirror_changes txm_mirror_changes_of(const txm_cache *c, const txm_view *view)
{
    _Static_assert((int)TXM_MIRROR_GROUP == (int)TXM_CHUNK, "views record their changes in chunks");
    for (const txm_cache_viewer *v = c->viewers; v; v = v->next)
        if (v->open && v->of[TXM_OF_ENTRIES].items == view->tiles && v->of[TXM_OF_TEXTURES].items == view->textures)
            return (txm_mirror_changes){v, v->number, v->of[TXM_OF_TEXTURES].copied, v->of[TXM_OF_ENTRIES].copied,
                                        v->of[TXM_OF_WORDS].copied};
    return (txm_mirror_changes){0};
}

/* Retired tiles are in no view that is prepared from now on. */
bool txm_mirror_holds(txm_cache *c, uint32_t slot, uint32_t stamp)
{
    return txm_slot_with(&c->tiles, slot, stamp);
}

txm_mirrored txm_mirror_of(txm_cache *c, uint32_t slot)
{
    return (txm_mirrored){txm_slot_pixels(&c->tiles, slot), slot, txm_slot_at(&c->tiles, slot)->held.stamp,
                          txm_slot_bytes(&c->tiles, slot)};
}

void txm_mirror_kept(txm_cache *c, void (*each)(void *user, txm_mirrored tile), void *user)
{
    for (uint32_t slab = 0, count; c->tiles.kept_bytes && slab < txm_slabs_end(&c->tiles); slab++) {
        const txm_slot *slots = txm_slab_slots(&c->tiles, slab, &count);
        for (uint32_t i = 0; i < count; i++)
            if (slots[i].kept && slots[i].state == TXM_SLOT_STATE_HELD)
                each(user, txm_mirror_of(c, slab << TXM_SLOT_BITS | i));
    }
}

uint32_t txm_mirror_slots(const txm_cache *c)
{
    return txm_slabs_end(&c->tiles) << TXM_SLOT_BITS;
}

bool txm_mirror_has_base(txm_cache *c, uint32_t texture)
{
    pthread_mutex_lock(&c->lock);
    const bool has = texture < c->stats.textures && !c->catalog.textures[texture].file &&
                     c->catalog.textures[texture].base != TXM_NO_TEXTURE;
    pthread_mutex_unlock(&c->lock);
    return has;
}

float txm_mirror_spurious(const txm_cache *c)
{
    return c->spurious;
}

uint64_t txm_mirror_budget(txm_cache *c)
{
    pthread_mutex_lock(&c->lock);
    const uint64_t budget = c->options.max_bytes == UINT64_MAX ? 0 : c->options.max_bytes;
    pthread_mutex_unlock(&c->lock);
    return budget;
}
