/* SPDX-License-Identifier: Apache-2.0
 * Staged tiles: a second chance for what is about to go.
 *
 * A policy may stage tiles before they go (txm_policy.staged_64ths): lookups miss them from then on, but their pixels
 * stay where they are until the memory is needed. A request for one brings it back without reading, as a load that is
 * over at once: so batches, pins and views treat it as any other. What comes back was used, and what does not was not,
 * whatever marks say.
 *
 * The entry of a staged tile is NONE or asked for, and its mark is the number of the slot and 1, since marks of tiles
 * that are not there mean nothing but that they were. The slot names the entry in its turn: where the two disagree, the
 * tile has gone. With the lock. */
#include "tile/cache/cache_impl.h"

/* Lookups that have found the tile may mark it until they are over, so they are waited for first, once for all. */
void txm_stage(txm_cache *c, const uint32_t *slots, uint32_t count)
{
    if (!count)
        return;
    for (uint32_t i = 0; i < count; i++)
        txm_entry_set(c, txm_slot_at(c, slots[i])->entry, TXM_SLOT_NONE);
    txm_wait_quiescent(c);
    c->stagings++;
    for (uint32_t i = 0; i < count; i++) {
        txm_slot *s = txm_slot_at(c, slots[i]);
        s->state = TXM_SLOT_STATE_STAGED;
        s->pins = (uint16_t)c->stagings;
        __atomic_store_n(&c->tiles[s->entry].mark, slots[i] + 1, __ATOMIC_RELAXED);
    }
    c->stats.tiles_staged += count;
}

/* Those that were staged first, of these the ones that were loaded first. Numbers of stagings repeat after 65536: one
 * that lies there for so long counts as new. */
uint64_t txm_staged_order(const txm_cache *c, const txm_slot *s)
{
    return (uint64_t)(uint16_t)(s->pins - (uint16_t)c->stagings - 1) << 32 | s->stamp;
}

uint32_t txm_staged_slot(txm_cache *c, uint32_t entry)
{
    const uint32_t slot = __atomic_load_n(&c->tiles[entry].mark, __ATOMIC_RELAXED) - 1;
    const uint32_t slab = slot >> TXM_SLOT_BITS, place = slot & (TXM_SLOTS - 1);
    if (slab >= c->slab_count || place >= c->slabs[slab].slots)
        return TXM_NO_SLOT;
    const txm_slot *s = &c->slabs[slab].slot[place];
    return s->state == TXM_SLOT_STATE_STAGED && s->entry == entry ? slot : TXM_NO_SLOT;
}

/* As if it had been loaded now, unless an open view shows it, which its stamp tells. */
uint32_t txm_staged_take(txm_cache *c, uint32_t entry)
{
    const uint32_t slot = txm_staged_slot(c, entry);
    if (slot == TXM_NO_SLOT)
        return slot;
    txm_slot *s = txm_slot_at(c, slot);
    const uint32_t stamp = txm_is_shown(c, s) ? s->stamp : ++c->stamp;
    *s = (txm_slot){.entry = TXM_NO_SLOT, .stamp = stamp, .state = TXM_SLOT_STATE_LOADING};
    return slot;
}

void txm_staged_put_back(txm_cache *c, uint32_t entry, uint32_t slot)
{
    txm_slot *s = txm_slot_at(c, slot);
    s->entry = entry;
    s->state = TXM_SLOT_STATE_STAGED;
    s->pins = (uint16_t)c->stagings;
}

void txm_staged_drop(txm_cache *c, uint32_t entry)
{
    const uint32_t slot = txm_staged_slot(c, entry);
    if (slot == TXM_NO_SLOT)
        return;
    txm_slot_retire(c, slot);
    c->stats.tiles_evicted++;
}

void txm_staged_move(txm_cache *c, uint32_t from, uint32_t to)
{
    const uint32_t slot = txm_staged_slot(c, from);
    if (slot != TXM_NO_SLOT)
        txm_slot_at(c, slot)->entry = to;
}
