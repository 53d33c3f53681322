/* SPDX-License-Identifier: Apache-2.0
 *
 * Eviction of tiles, in the order that the policy gives (policy.c).
 *
 * A lookup only marks an entry with the epoch, so the order is computed here, when tiles must be evicted, and costs
 * nothing while everything fits.
 */
#include "tile/cache/tiles/slabs.h"

/* Pinned tiles are about to be used by a lookup. Shared tiles of one colour are not HELD: they are evicted all together
 * or not at all (drop_constants). */
bool txm_slot_evictable(const txm_slot *s)
{
    return s->state == TXM_SLOT_STATE_HELD && !s->pins && !s->kept;
}

/* The slot with the lowest order is evicted first: the policy decides, then the age in the cache. The lower half is the
 * stamp, which makes every order unique. */
static uint64_t order_of(const txm_tiles *t, const txm_slot *s)
{
    return (uint64_t)t->order(t->owner, s) << 32 | s->held.stamp;
}

/* Waiting for lookups is expensive, so callers gather many slots for one call. */
void txm_evict_slots(txm_tiles *t, const uint32_t *slots, uint32_t count)
{
    if (count)
        t->lost(t->owner, TXM_LOSS_EVICTED, slots, NULL, count);
    for (uint32_t i = 0; i < count; i++)
        txm_slot_retire(t, slots[i]);
    t->stats->tiles_evicted += count;
    t->slabs->changes += count;
}

/* ---- a number of tiles ---- */

/* Moves the `first` lowest of `count` numbers to the front. Hoare's quickselect: linear on average; it leaves both
 * parts unsorted. */
static void select_lowest(uint64_t *v, int64_t count, int64_t first)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        uint64_t pivot = v[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (v[j] > pivot)
                j--;
            if (i <= j) {
                uint64_t t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (first <= j + 1)
            high = j;
        else if (first >= i)
            low = i;
        else
            return;
    }
}

/* Whether a slot may be evicted in this pass. Slots that no open view shows are free at once; the others when these
 * views are closed. */
static bool may_go(const txm_tiles *t, const txm_slot *s, bool shown)
{
    return txm_slot_evictable(s) && txm_is_shown(t, s) == shown;
}

/* Evicts up to `count` tiles of a class, those that go first of those that are `shown` in open views or of the others.
 * Lookups go on and may change marks between the two walks: a slot that was used meanwhile is now above the bound and
 * stays, as it should, and `count` keeps the list from overflowing. Growing the array of orders may itself drop slabs.
 */
uint32_t txm_evict(txm_tiles *t, uint32_t class, uint32_t count, bool shown)
{
    const txm_slabs *all = t->slabs;
    txm_class *k = &t->slabs->classes[class];
    uint32_t slots[TXM_VICTIMS], n = 0, chosen = 0;
    if (!txm_array_grow(t, (void **)&k->order, &k->order_capacity, k->slots, sizeof *k->order, NULL))
        return 0;
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t j = 0; all->slab[i].pixels && all->slab[i].class == class && j < all->slab[i].slots; j++)
            if (may_go(t, &all->slab[i].slot[j], shown))
                k->order[n++] = order_of(t, &all->slab[i].slot[j]);
    count = count > TXM_VICTIMS ? TXM_VICTIMS : count;
    if (!n || !count)
        return 0;
    uint64_t bound = UINT64_MAX;
    if (count < n) {
        select_lowest(k->order, n, count);
        bound = k->order[0];
        for (uint32_t i = 1; i < count; i++)
            bound = k->order[i] > bound ? k->order[i] : bound;
    }
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t j = 0; all->slab[i].pixels && all->slab[i].class == class && j < all->slab[i].slots; j++)
            if (chosen < count && may_go(t, &all->slab[i].slot[j], shown) &&
                order_of(t, &all->slab[i].slot[j]) <= bound)
                slots[chosen++] = i << TXM_SLOT_BITS | j;
    txm_evict_slots(t, slots, chosen);
    t->squeezed += chosen;
    return chosen;
}

/* `goes` decides about pinned tiles: if a texture is replaced, its pinned tiles are evicted too. */
void txm_evict_if(txm_tiles *t, uint32_t first_slab, uint32_t end_slab, bool (*goes)(void *arg, const txm_slot *s),
                  void *arg)
{
    uint32_t slots[TXM_VICTIMS], count = 0;
    for (uint32_t i = first_slab; i < end_slab && i < t->slabs->count; i++)
        for (uint32_t j = 0; j < t->slabs->slab[i].slots; j++) {
            const txm_slot *s = &t->slabs->slab[i].slot[j];
            if (s->state != TXM_SLOT_STATE_HELD || !goes(arg, s))
                continue;
            slots[count++] = i << TXM_SLOT_BITS | j;
            if (count == TXM_VICTIMS) {
                txm_evict_slots(t, slots, count);
                count = 0;
            }
        }
    txm_evict_slots(t, slots, count);
}
