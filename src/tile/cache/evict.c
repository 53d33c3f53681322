/* SPDX-License-Identifier: Apache-2.0
 * How tiles go, in the order that the policy gives (policy.c).
 *
 * A lookup marks an entry with the epoch and does nothing else, so ordering costs time here, when
 * something must go, and none while everything fits. */
#include "tile/cache/cache_impl.h"

/* Pinned tiles are those that a lookup is about to use. Tiles of one colour are shared, and go all
 * together or not at all (drop_constants). */
bool txm_slot_evictable(const txm_slot *s)
{
    return s->state == TXM_SLOT_STATE_HELD && !s->pins && !s->kept;
}

/* The lowest goes first: by the policy, then by age in the cache. The lower half is the stamp, which makes every order
 * unique. */
uint64_t txm_slot_order(const txm_cache *c, const txm_slot *s)
{
    return (uint64_t)txm_policy_of(c)->order(c, s) << 32 | s->stamp;
}

/* First nobody can find them any more, then nobody can be reading them, then they are free. Waiting is the
 * expensive part, so callers gather many slots for one call. Staged ones nobody could find before. */
void txm_evict_slots(txm_cache *c, const uint32_t *slots, uint32_t count)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        if (txm_slot_at(c, slots[i])->state == TXM_SLOT_STATE_HELD) {
            txm_entry_set(c, txm_slot_at(c, slots[i])->entry, TXM_SLOT_NONE);
            found = true;
        }
    if (found)
        txm_wait_quiescent(c);
    for (uint32_t i = 0; i < count; i++)
        txm_slot_retire(c, slots[i]);
    c->stats.tiles_evicted += count;
}

/* ---- a number of tiles ---- */

/* Puts the `first` lowest of `count` numbers in front. Hoare's quickselect: linear on average, and no order
 * within either part is needed. */
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

enum { MOST_AT_ONCE = 1024 };

/* Tiles that no open view shows are free at once; the others when these views are closed. */
static bool may_go(const txm_cache *c, const txm_slot *s, bool staged, bool shown)
{
    return (staged ? s->state == TXM_SLOT_STATE_STAGED : txm_slot_evictable(s)) && txm_is_shown(c, s) == shown;
}

static uint64_t order_of(const txm_cache *c, const txm_slot *s, bool staged)
{
    return staged ? txm_staged_order(c, s) : txm_slot_order(c, s);
}

/* The first to go of a class, as many as asked for if there are so many: of those that open views show, or of the
 * others; of the staged ones, or of the others. Marks may change between the two walks, since lookups go on: a slot
 * that was used meanwhile has moved above the bound and stays, which is what we want, and `count` keeps the list from
 * overflowing. Growing the array of orders may itself drop slabs. */
static uint32_t choose_slots(txm_cache *c, uint32_t class, uint32_t count, bool staged, bool shown, uint32_t *slots)
{
    txm_class *k = &c->classes[class];
    uint32_t n = 0, chosen = 0;
    if (!txm_cache_grow(c, (void **)&k->order, &k->order_capacity, k->slots, sizeof *k->order, false))
        return 0;
    for (uint32_t i = 0; i < c->slab_count; i++)
        for (uint32_t j = 0; c->slabs[i].pixels && c->slabs[i].class == class && j < c->slabs[i].slots; j++)
            if (may_go(c, &c->slabs[i].slot[j], staged, shown))
                k->order[n++] = order_of(c, &c->slabs[i].slot[j], staged);
    count = count > MOST_AT_ONCE ? MOST_AT_ONCE : count;
    if (!n || !count)
        return 0;
    uint64_t bound = UINT64_MAX;
    if (count < n) {
        select_lowest(k->order, n, count);
        bound = k->order[0];
        for (uint32_t i = 1; i < count; i++)
            bound = k->order[i] > bound ? k->order[i] : bound;
    }
    for (uint32_t i = 0; i < c->slab_count; i++)
        for (uint32_t j = 0; c->slabs[i].pixels && c->slabs[i].class == class && j < c->slabs[i].slots; j++)
            if (chosen < count && may_go(c, &c->slabs[i].slot[j], staged, shown) &&
                order_of(c, &c->slabs[i].slot[j], staged) <= bound)
                slots[chosen++] = i << TXM_SLOT_BITS | j;
    return chosen;
}

/* So many of a class are staged that its share is left when `count` have gone: at least as many as go the next time, so
 * that all have had time to come back. */
static void stage_ahead(txm_cache *c, uint32_t class, uint32_t count, bool shown)
{
    const uint32_t part = (uint32_t)((uint64_t)c->classes[class].slots * txm_policy_of(c)->staged_64ths / 64);
    const uint32_t share = part > count ? part : count;
    uint32_t slots[MOST_AT_ONCE], staged = 0;
    for (uint32_t i = 0; i < c->slab_count; i++)
        for (uint32_t j = 0; c->slabs[i].pixels && c->slabs[i].class == class && j < c->slabs[i].slots; j++)
            staged += may_go(c, &c->slabs[i].slot[j], true, shown);
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
    uint32_t slots[MOST_AT_ONCE];
    if (stages)
        stage_ahead(c, class, count, shown);
    const uint32_t gone = choose_slots(c, class, count, stages, shown, slots);
    txm_evict_slots(c, slots, gone);
    c->squeezed += gone;
    return gone;
}

/* Pins are for `goes` to heed: a texture that is replaced loses pinned tiles as well. All that go are taken out of the
 * page table first, so that lookups are waited for once; those that no entry names are the ones. */
uint32_t txm_evict_if(txm_cache *c, uint32_t first_slab, uint32_t end_slab,
                      bool (*goes)(txm_cache *, uint32_t slot, void *), void *arg)
{
    const uint32_t end = end_slab < c->slab_count ? end_slab : c->slab_count;
    uint32_t count = 0;
    for (uint32_t i = first_slab; i < end; i++)
        for (uint32_t j = 0, slot = i << TXM_SLOT_BITS; j < c->slabs[i].slots; j++, slot++)
            if (c->slabs[i].slot[j].state == TXM_SLOT_STATE_HELD && goes(c, slot, arg)) {
                txm_entry_set(c, c->slabs[i].slot[j].entry, TXM_SLOT_NONE);
                count++;
            } else if (c->slabs[i].slot[j].state == TXM_SLOT_STATE_STAGED && goes(c, slot, arg)) {
                txm_slot_retire(c, slot);
                c->stats.tiles_evicted++;
            }
    if (!count)
        return 0;
    txm_wait_quiescent(c);
    for (uint32_t i = first_slab, left = count; left && i < end; i++)
        for (uint32_t j = 0, slot = i << TXM_SLOT_BITS; j < c->slabs[i].slots; j++, slot++) {
            const txm_slot *s = &c->slabs[i].slot[j];
            if (s->state == TXM_SLOT_STATE_HELD &&
                __atomic_load_n(&c->tiles[s->entry].slot, __ATOMIC_RELAXED) != slot) {
                txm_slot_retire(c, slot);
                left--;
            }
        }
    c->stats.tiles_evicted += count;
    return count;
}

/* ---- memory ---- */

/* Tiles that many entries show go together, and last: they serve more than any other. Their slots don't
 * list who shows them, so the whole page table is walked; this happens only when nothing else is left to
 * drop. */
static bool drop_constants(txm_cache *c)
{
    if (!c->constant_count || c->open_views) /* views may show them */
        return false;
    for (uint32_t i = 0; i < c->tile_count; i++) {
        uint32_t slot = __atomic_load_n(&c->tiles[i].slot, __ATOMIC_RELAXED);
        if (slot < TXM_SLOT_STATES && txm_slot_at(c, slot)->state == TXM_SLOT_STATE_SHARED)
            txm_entry_set(c, i, TXM_SLOT_NONE);
    }
    txm_wait_quiescent(c);
    while (c->constant_count)
        txm_slot_give(c, c->constants[--c->constant_count].slot);
    txm_slabs_drop_empty(c, TXM_ALL_SLABS);
    return true;
}

/* Called before memory is taken. Empty slabs go first, then the slab that was used longest ago, then shared
 * tiles. If all is pinned or loading the budget is exceeded rather than a lookup failed: callers that can
 * do without memory check for themselves. */
void txm_make_room(txm_cache *c, size_t bytes)
{
    uint64_t most = c->options.max_bytes;
    if (!most || txm_policy_of(c)->keeps_all || txm_taken(c) + bytes <= most)
        return;
    txm_slabs_drop_empty(c, TXM_ALL_SLABS);
    while (txm_taken(c) + bytes > most && (txm_slab_drop_one(c, TXM_NO_SLOT) || drop_constants(c)))
        ;
}

/* ---- epochs ---- */

/* 0 is 'never', so it is skipped. Wraps after four thousand million; marks of before then count as newer
 * than they are, which costs a few reads, no correctness. */
void txm_next_epoch(txm_cache *c)
{
    uint32_t epoch = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    if (txm_policy_of(c)->end_epoch)
        txm_policy_of(c)->end_epoch(c, epoch);
    c->loads_of_epoch = 0;
    atomic_store_explicit(&c->epoch, epoch + 1 ? epoch + 1 : 1, memory_order_relaxed);
    txm_slow_down(c);
}

/* Called by the renderer when a render tile is finished. For most policies it only begins an epoch. */
void txm_cache_end_epoch(txm_cache *c)
{
    pthread_mutex_lock(&c->lock);
    txm_own_view_ends(c);
    for (txm_cache_viewer *v = c->viewers; v; v = v->next)
        txm_viewer_merge(v);
    txm_next_epoch(c);
    memmove(c->tile_began + 1, c->tile_began, sizeof c->tile_began - sizeof *c->tile_began);
    c->tile_began[0] = atomic_load_explicit(&c->epoch, memory_order_relaxed);
    txm_trace_epoch(c);
    if (txm_policy_of(c)->end_render_tile)
        txm_policy_of(c)->end_render_tile(c);
    pthread_mutex_unlock(&c->lock);
}
