/* SPDX-License-Identifier: Apache-2.0
 *
 * Staging gives tiles a second chance before they are evicted.
 *
 * A policy may stage tiles before they are evicted (txm_policy.staged_64ths): lookups miss them from then on, but their
 * pixels stay in place until the memory is needed. A request for such a tile restores it without reading, as a load
 * that completes at once, so batches, pins and views treat it like any other. So restoring a tile counts as its use,
 * and its mark does not.
 *
 * The entry of a staged tile is NONE or requested, and its mark is the number of the slot plus 1: for a tile that is
 * not in memory, a mark only has to differ from 0. The slot refers back to the entry; if the two disagree, the tile was
 * evicted. All functions are called with the lock held.
 */
#include "tile/cache/cache_impl.h"

/* Lookups that have found a tile may mark it until they end, so they are waited for first, once for all tiles. */
void txm_stage(txm_cache *c, const uint32_t *slots, uint32_t count)
{
    if (!count)
        return;
    for (uint32_t i = 0; i < count; i++)
        txm_entry_set(c, txm_slot_at(c, slots[i])->entry, TXM_SLOT_NONE);
    txm_wait_quiescent(c);
    c->store.stagings++;
    for (uint32_t i = 0; i < count; i++) {
        txm_slot *s = txm_slot_at(c, slots[i]);
        s->state = TXM_SLOT_STATE_STAGED;
        s->pins = (uint16_t)c->store.stagings;
        __atomic_store_n(&txm_entry(c, s->entry)->mark, slots[i] + 1, __ATOMIC_RELAXED);
        txm_entry_keep(c, s->entry, 1);
    }
    c->stats.tiles_staged += count;
}

/* Tiles that were staged first are evicted first; of those, the ones that were loaded first. The number of a staging
 * repeats after 65536: a tile that was staged so long ago counts as new. */
uint64_t txm_staged_order(const txm_cache *c, const txm_slot *s)
{
    return (uint64_t)(uint16_t)(s->pins - (uint16_t)c->store.stagings - 1) << 32 | s->stamp;
}

uint32_t txm_staged_slot(txm_cache *c, uint32_t number)
{
    const txm_tile_entry *e = txm_entry(c, number);
    const uint32_t slot = e ? __atomic_load_n(&e->mark, __ATOMIC_RELAXED) - 1 : TXM_NO_SLOT;
    const uint32_t slab = slot >> TXM_SLOT_BITS, place = slot & (TXM_SLOTS - 1);
    if (slab >= c->store.slab_count || place >= c->store.slabs[slab].slots)
        return TXM_NO_SLOT;
    const txm_slot *s = &c->store.slabs[slab].slot[place];
    return s->state == TXM_SLOT_STATE_STAGED && s->entry == number ? slot : TXM_NO_SLOT;
}

/* The tile counts as loaded now, unless an open view shows it, which is recognised by its stamp. */
uint32_t txm_staged_take(txm_cache *c, uint32_t number)
{
    const uint32_t slot = txm_staged_slot(c, number);
    if (slot == TXM_NO_SLOT)
        return slot;
    txm_slot *s = txm_slot_at(c, slot);
    txm_entry_keep(c, number, -1);
    const uint32_t stamp = txm_is_shown(c, s) ? s->stamp : ++c->store.stamp;
    *s = (txm_slot){.entry = TXM_NO_SLOT, .stamp = stamp, .state = TXM_SLOT_STATE_LOADING};
    return slot;
}

void txm_staged_put_back(txm_cache *c, uint32_t number, uint32_t slot)
{
    txm_slot *s = txm_slot_at(c, slot);
    txm_entry_keep(c, number, 1);
    s->entry = number;
    s->state = TXM_SLOT_STATE_STAGED;
    s->pins = (uint16_t)c->store.stagings;
}

void txm_staged_drop(txm_cache *c, uint32_t number)
{
    const uint32_t slot = txm_staged_slot(c, number);
    if (slot == TXM_NO_SLOT)
        return;
    txm_slot_retire(c, slot);
    c->stats.tiles_evicted++;
}
