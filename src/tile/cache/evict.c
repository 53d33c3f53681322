/* SPDX-License-Identifier: Apache-2.0
 *
 * Eviction of tiles, in the order that the policy gives (policy.c).
 *
 * A lookup only marks an entry with the epoch, so the order is computed here, when tiles must be evicted, and costs
 * nothing while everything fits.
 */
#include "tile/cache/cache_impl.h"

/* Pinned tiles are about to be used by a lookup. Shared tiles of one colour are not HELD: they are evicted all together
 * or not at all (drop_constants). */
bool txm_slot_evictable(const txm_slot *s)
{
    return s->state == TXM_SLOT_STATE_HELD && !s->pins && !s->kept;
}

/* The slot with the lowest order is evicted first: the policy decides, then the age in the cache. The lower half is the
 * stamp, which makes every order unique. */
uint64_t txm_slot_order(const txm_cache *c, const txm_slot *s)
{
    return (uint64_t)txm_policy_of(c)->order(c, s) << 32 | s->stamp;
}

/* First the tiles are hidden from lookups, then lookups that may be reading them are waited for, and then the slots are
 * freed. Waiting for lookups is expensive, so callers gather many slots for one call. Staged tiles could not be found
 * before, so they need no waiting. */
void txm_evict_slots(txm_cache *c, const uint32_t *slots, uint32_t count)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        if (txm_slot_at(c, slots[i])->state == TXM_SLOT_STATE_HELD) {
            txm_entry_set(c, txm_slot_at(c, slots[i])->entry, TXM_SLOT_NONE);
            found = true;
        }
    if (found) {
        const bool leaves = txm_leaves_unlink(c, false);
        txm_wait_quiescent(c);
        if (leaves)
            txm_leaves_free(c);
    }
    for (uint32_t i = 0; i < count; i++)
        txm_slot_retire(c, slots[i]);
    c->stats.tiles_evicted += count;
}

void txm_going_add(txm_cache *c, txm_going *g, uint32_t slot)
{
    if (g->count == TXM_GOING_MOST)
        txm_going_end(c, g);
    g->slots[g->count++] = slot;
}

void txm_going_end(txm_cache *c, txm_going *g)
{
    txm_evict_slots(c, g->slots, g->count);
    g->count = 0;
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
static bool may_go(const txm_cache *c, const txm_slot *s, bool staged, bool shown)
{
    return (staged ? s->state == TXM_SLOT_STATE_STAGED : txm_slot_evictable(s)) && txm_is_shown(c, s) == shown;
}

static uint64_t order_of(const txm_cache *c, const txm_slot *s, bool staged)
{
    return staged ? txm_staged_order(c, s) : txm_slot_order(c, s);
}

/* Chooses up to `count` slots of a class that are to be evicted first: `staged` tiles or others, and those that are
 * `shown` in open views or others. Lookups go on and may change marks between the two walks: a slot that was used
 * meanwhile is now above the bound and stays, as it should, and `count` keeps the list from overflowing. Growing the
 * array of orders may itself drop slabs. */
static uint32_t choose_slots(txm_cache *c, uint32_t class, uint32_t count, bool staged, bool shown, uint32_t *slots)
{
    txm_class *k = &c->store.classes[class];
    uint32_t n = 0, chosen = 0;
    if (!txm_cache_grow(c, (void **)&k->order, &k->order_capacity, k->slots, sizeof *k->order, false))
        return 0;
    for (uint32_t i = 0; i < c->store.slab_count; i++)
        for (uint32_t j = 0;
             c->store.slabs[i].pixels && c->store.slabs[i].class == class && j < c->store.slabs[i].slots; j++)
            if (may_go(c, &c->store.slabs[i].slot[j], staged, shown))
                k->order[n++] = order_of(c, &c->store.slabs[i].slot[j], staged);
    count = count > TXM_GOING_MOST ? TXM_GOING_MOST : count;
    if (!n || !count)
        return 0;
    uint64_t bound = UINT64_MAX;
    if (count < n) {
        select_lowest(k->order, n, count);
        bound = k->order[0];
        for (uint32_t i = 1; i < count; i++)
            bound = k->order[i] > bound ? k->order[i] : bound;
    }
    for (uint32_t i = 0; i < c->store.slab_count; i++)
        for (uint32_t j = 0;
             c->store.slabs[i].pixels && c->store.slabs[i].class == class && j < c->store.slabs[i].slots; j++)
            if (chosen < count && may_go(c, &c->store.slabs[i].slot[j], staged, shown) &&
                order_of(c, &c->store.slabs[i].slot[j], staged) <= bound)
                slots[chosen++] = i << TXM_SLOT_BITS | j;
    return chosen;
}

/* Stages enough tiles of a class that its share is left after `count` were evicted. The share is at least as many as
 * the next eviction takes, so every tile has some time to be restored. */
static void stage_ahead(txm_cache *c, uint32_t class, uint32_t count, bool shown)
{
    const uint32_t part = (uint32_t)((uint64_t)c->store.classes[class].slots * txm_policy_of(c)->staged_64ths / 64);
    const uint32_t share = part > count ? part : count;
    uint32_t slots[TXM_GOING_MOST], staged = 0;
    for (uint32_t i = 0; i < c->store.slab_count; i++)
        for (uint32_t j = 0;
             c->store.slabs[i].pixels && c->store.slabs[i].class == class && j < c->store.slabs[i].slots; j++)
            staged += may_go(c, &c->store.slabs[i].slot[j], true, shown);
    if (staged < share + count)
        txm_stage(c, slots, choose_slots(c, class, share + count - staged, false, shown, slots));
}

void txm_stage_first(txm_cache *c, uint32_t class)
{
    if (txm_policy_of(c)->staged_64ths)
        stage_ahead(c, class, 0, false);
}

uint32_t txm_evict(txm_cache *c, uint32_t class, uint32_t count, bool shown)
{
    const bool stages = txm_policy_of(c)->staged_64ths;
    uint32_t slots[TXM_GOING_MOST];
    if (stages)
        stage_ahead(c, class, count, shown);
    const uint32_t gone = choose_slots(c, class, count, stages, shown, slots);
    txm_evict_slots(c, slots, gone);
    c->store.squeezed += gone;
    return gone;
}

/* `goes` decides about pinned tiles: if a texture is replaced, its pinned tiles are evicted too. */
void txm_evict_if(txm_cache *c, uint32_t first_slab, uint32_t end_slab,
                  bool (*goes)(txm_cache *, uint32_t slot, void *), void *arg)
{
    txm_going going = {.count = 0};
    for (uint32_t i = first_slab; i < end_slab && i < c->store.slab_count; i++)
        for (uint32_t j = 0, slot = i << TXM_SLOT_BITS; j < c->store.slabs[i].slots; j++, slot++) {
            const uint8_t state = c->store.slabs[i].slot[j].state;
            if ((state == TXM_SLOT_STATE_HELD || state == TXM_SLOT_STATE_STAGED) && goes(c, slot, arg))
                txm_going_add(c, &going, slot);
        }
    txm_going_end(c, &going);
}

/* ---- memory ---- */

/* Evicts the tiles of one colour, all together and after all others, because each serves many entries. Their slots
 * don't list these entries, so the whole page table is walked; this happens only if nothing else is left to evict. */
static bool drop_constants(txm_cache *c)
{
    if (!c->store.constant_count || c->viewers.open_views) /* open views may show them */
        return false;
    for (uint32_t i = 0; i < c->table.entry_count; i++) {
        const uint32_t slot = __atomic_load_n(&c->table.entries[i].slot, __ATOMIC_RELAXED);
        const uint32_t leaf = c->table.leaves[i >> TXM_LEAF_SHIFT].number;
        if (leaf != TXM_NO_LEAF && slot < TXM_SLOT_STATES && txm_slot_at(c, slot)->state == TXM_SLOT_STATE_SHARED)
            txm_entry_set(c, leaf << TXM_LEAF_SHIFT | (i & (TXM_LEAF_TILES - 1)), TXM_SLOT_NONE);
    }
    txm_wait_quiescent(c);
    while (c->store.constant_count)
        txm_slot_give(c, c->store.constants[--c->store.constant_count].slot);
    txm_slabs_drop_empty(c, TXM_ALL_SLABS);
    return true;
}

/* Called before memory is allocated. Empty slabs are freed first, then slabs with tiles in the order of their last use,
 * then shared tiles. If everything is pinned or loading, the budget is exceeded, because otherwise a lookup would fail;
 * callers that can do without the memory check for themselves. */
void txm_make_room(txm_cache *c, size_t bytes)
{
    uint64_t most = c->options.max_bytes;
    if (!most || txm_policy_of(c)->keeps_all || txm_taken(c) + bytes <= most || c->store.moving)
        return;
    txm_slabs_drop_empty(c, TXM_ALL_SLABS);
    while (txm_taken(c) + bytes > most && (txm_slab_drop_one(c, TXM_NO_SLOT) || drop_constants(c)))
        ;
    if (txm_taken(c) + bytes > most)
        txm_table_trim(c);
}

/* ---- epochs ---- */

/* Epoch 0 means 'never', so it is skipped. After 2^32 epochs the number wraps around; then old marks count as newer
 * than they are, which costs a few reads but changes no results. */
void txm_next_epoch(txm_cache *c)
{
    uint32_t epoch = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    c->loads_of_epoch = 0;
    atomic_store_explicit(&c->epoch, epoch + 1 ? epoch + 1 : 1, memory_order_relaxed);
    txm_slow_down(c);
}

/* Called by the renderer when a render tile is finished. Most policies only begin an epoch. */
void txm_cache_end_epoch(txm_cache *c)
{
    pthread_mutex_lock(&c->lock);
    txm_own_view_ends(c);
    for (txm_cache_viewer *v = c->viewers.first; v; v = v->next)
        txm_viewer_merge(v);
    txm_next_epoch(c);
    memmove(c->tile_began + 1, c->tile_began, sizeof c->tile_began - sizeof *c->tile_began);
    c->tile_began[0] = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    txm_trace_epoch(c);
    if (txm_policy_of(c)->end_render_tile)
        txm_policy_of(c)->end_render_tile(c);
    pthread_mutex_unlock(&c->lock);
}
