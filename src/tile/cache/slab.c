/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for tiles: slabs of up to 512 KiB, each for tiles of one size and as long as these are. A large budget takes
 * arenas that huge pages fit, so that random lookups miss fewer TLB entries, and cuts slabs of one size from each.
 *
 * A slot is named by one number: slab in the upper bits, place in the lower TXM_SLOT_BITS. The page table
 * holds that number, and kernels turn it into an address by one table and one multiplication. A slab serves
 * one size of tile, its class, so nothing is ever fragmented; what is free in one class reaches another
 * only as a whole slab. All of it runs with the lock held.
 */
#include <sys/mman.h>

#include "tile/cache/cache_impl.h"

enum { SMALL_ALIGNMENT = 64, HUGE_BYTES = 2 << 20, HUGE_FROM_BYTES = 64 << 20 };

/* The slab must exist: numbers from the page table are below TXM_SLOT_STATES and held by a tile. */
txm_slot *txm_slot_at(txm_cache *c, uint32_t slot)
{
    return &c->slabs[slot >> TXM_SLOT_BITS].slot[slot & (TXM_SLOTS - 1)];
}

uint32_t txm_slot_bytes(const txm_cache *c, uint32_t slot)
{
    return c->classes[c->slabs[slot >> TXM_SLOT_BITS].class].tile_bytes;
}

uint8_t *txm_slot_pixels(txm_cache *c, uint32_t slot)
{
    return c->slabs[slot >> TXM_SLOT_BITS].pixels + (size_t)(slot & (TXM_SLOTS - 1)) * txm_slot_bytes(c, slot);
}

/* ---- arenas ---- */

/* With the slack that views promise, and rounded up, so that the slab after it in memory begins on a cache line too. */
static size_t slab_bytes_of(uint32_t slots, uint32_t tile_bytes)
{
    return ((size_t)slots * tile_bytes + TXM_SLAB_SLACK + SMALL_ALIGNMENT - 1) & ~(size_t)(SMALL_ALIGNMENT - 1);
}

/* An arena with a piece left for a slab of this class; c->arena_count: none. The last one is the likeliest. */
static uint32_t arena_with_room(const txm_cache *c, uint32_t class)
{
    for (uint32_t i = c->classes[class].pieces_left ? c->arena_count : 0; i-- > 0;)
        if (c->arenas[i].memory && c->arenas[i].class == class && c->arenas[i].used < c->arenas[i].pieces)
            return i;
    return c->arena_count;
}

/* The first that is free. */
static uint8_t *piece_of(txm_cache *c, uint32_t arena)
{
    txm_arena *a = &c->arenas[arena];
    uint32_t n = 0;
    while (a->taken >> n & 1)
        n++;
    a->taken |= (uint64_t)1 << n;
    a->used++;
    c->classes[a->class].pieces_left--;
    return a->memory + n * a->piece_bytes;
}

/* Whether memory for `bytes` more fits the budget, or must come from it all the same. Without a budget, or
 * under the policy that keeps none, everything does. */
static bool fits(const txm_cache *c, size_t bytes)
{
    return !c->options.max_bytes || txm_policy_of(c)->keeps_all || txm_taken(c) + bytes <= c->options.max_bytes;
}

/* Huge pages from a budget on that is large beside them, and for tiles that fill them. Whether the kernel really gives
 * them is its own affair; madvise is a wish. Else the arena is one slab. */
static bool is_huge(const txm_cache *c, const txm_class *k)
{
    return k->pieces && (!c->options.max_bytes || c->options.max_bytes >= HUGE_FROM_BYTES) && fits(c, HUGE_BYTES);
}

/* Slots of a slab that has an arena to itself. A slab is a small part of a small budget: one pinned tile keeps its
 * whole slab in memory, and every class may have such a tile. */
static uint32_t lone_slots(const txm_cache *c, const txm_class *k)
{
    enum { PARTS = 64 };
    const uint64_t most = c->options.max_bytes / PARTS;
    const uint32_t n = (uint32_t)(most && most < TXM_SLAB_BYTES ? most : TXM_SLAB_BYTES) / k->tile_bytes;
    return n > TXM_SLOTS ? TXM_SLOTS : n ? n : 1;
}

static bool new_arena(txm_cache *c, uint32_t class, bool beyond, uint32_t *arena)
{
    txm_class *k = &c->classes[class];
    const bool huge = is_huge(c, k);
    const uint32_t slots = huge ? k->huge_slots : lone_slots(c, k);
    const size_t piece_bytes = slab_bytes_of(slots, k->tile_bytes), bytes = huge ? HUGE_BYTES : piece_bytes;
    uint32_t i = c->arenas_free ? 0 : c->arena_count;
    while (i < c->arena_count && c->arenas[i].memory)
        i++;
    if ((!beyond && !fits(c, bytes)) ||
        !txm_cache_grow(c, (void **)&c->arenas, &c->arena_capacity, (uint64_t)i + 1, sizeof *c->arenas, false))
        return false;
    uint8_t *memory = txm_cache_allocate(c, bytes, huge ? HUGE_BYTES : SMALL_ALIGNMENT);
    if (!memory)
        return false;
    if (huge)
        madvise(memory, bytes, MADV_HUGEPAGE);
    if (i == c->arena_count)
        c->arena_count++;
    else
        c->arenas_free--;
    c->arenas[i] = (txm_arena){.memory = memory,
                               .bytes = bytes,
                               .piece_bytes = piece_bytes,
                               .class = class,
                               .slots = slots,
                               .pieces = huge ? k->pieces : 1};
    k->pieces_left += c->arenas[i].pieces;
    c->stats.slab_bytes += bytes;
    *arena = i;
    return true;
}

/* The last piece gives the arena back. */
static void give_piece(txm_cache *c, uint32_t arena, const uint8_t *pixels)
{
    txm_arena *a = &c->arenas[arena];
    txm_class *k = &c->classes[a->class];
    a->taken &= ~((uint64_t)1 << (size_t)(pixels - a->memory) / a->piece_bytes);
    k->pieces_left++;
    if (--a->used)
        return;
    k->pieces_left -= a->pieces;
    c->stats.slab_bytes -= a->bytes;
    c->arenas_free++;
    txm_cache_release(c, a->memory, a->bytes);
    *a = (txm_arena){0};
}

/* ---- slabs ---- */

/* Into how many slabs of how many tiles a huge page is cut. The first way is taken that leaves at most a twentieth of
 * it; tiles for which there is none, all but a few of them large, get no huge pages. */
static void shape_class(txm_class *k)
{
    enum { MOST_PIECES = 63, WASTE = 20 };
    for (uint32_t pieces = HUGE_BYTES / TXM_SLAB_BYTES; pieces <= MOST_PIECES; pieces++) {
        uint32_t n = HUGE_BYTES / pieces / k->tile_bytes;
        n = n < TXM_SLOTS ? n : TXM_SLOTS;
        while (n && slab_bytes_of(n, k->tile_bytes) * pieces > HUGE_BYTES)
            n--;
        if (HUGE_BYTES - slab_bytes_of(n, k->tile_bytes) * pieces <= HUGE_BYTES / WASTE) {
            k->pieces = pieces;
            k->huge_slots = n;
            return;
        }
    }
}

/* Slabs of a class that have free slots are in a list; a slab's free slots are, too. */
static void link_open(txm_cache *c, uint32_t number)
{
    txm_slab *s = &c->slabs[number];
    txm_class *k = &c->classes[s->class];
    s->previous = TXM_NO_SLOT;
    s->next = k->open;
    if (k->open != TXM_NO_SLOT)
        c->slabs[k->open].previous = number;
    k->open = number;
}

static void unlink_open(txm_cache *c, uint32_t number)
{
    const txm_slab *s = &c->slabs[number];
    *(s->previous != TXM_NO_SLOT ? &c->slabs[s->previous].next : &c->classes[s->class].open) = s->next;
    if (s->next != TXM_NO_SLOT)
        c->slabs[s->next].previous = s->previous;
}

/* A number for a new slab; TXM_NO_SLOT: no memory. Numbers of dropped slabs are used again. Lookups read
 * the addresses, so only that array is exchanged with the world stopped. */
static uint32_t slab_number(txm_cache *c)
{
    uint32_t i = c->slabs_free ? 0 : c->slab_count;
    while (i < c->slab_count && c->slabs[i].pixels)
        i++;
    if (i + 1 >= TXM_SLOT_STATES >> TXM_SLOT_BITS)
        return TXM_NO_SLOT;
    if (!txm_cache_grow(c, (void **)&c->slabs, &c->slab_capacity, (uint64_t)i + 1, sizeof *c->slabs, false) ||
        !txm_cache_grow(c, (void **)&c->slab_addresses, &c->address_capacity, (uint64_t)i + 1,
                        sizeof *c->slab_addresses, true))
        return TXM_NO_SLOT;
    return i;
}

/* Whether there is room for another slab and what is kept about it, so that making it evicts nothing. An
 * estimate from above of what new_slab and txm_evict may allocate: arrays grow by half. */
static bool slab_fits(const txm_cache *c, uint32_t class)
{
    enum { GROWTH = 3 };
    const txm_class *k = &c->classes[class];
    const uint32_t arena = arena_with_room(c, class);
    const uint32_t n = arena < c->arena_count ? c->arenas[arena].slots : lone_slots(c, k);
    size_t more = n * sizeof(txm_slot);
    if (k->slots + n > k->order_capacity)
        more += (size_t)(k->slots + n) * sizeof *k->order * GROWTH / 2;
    if (!c->slabs_free && c->slab_count == c->slab_capacity)
        more += c->slab_count * (sizeof *c->slabs + sizeof *c->slab_addresses) * GROWTH / 2;
    return fits(c, more + (arena == c->arena_count ? slab_bytes_of(n, k->tile_bytes) : 0));
}

/* A new slab of a class; `beyond`: even where the budget has no room for it. Slots are handed out in the order in which
 * they lie. */
static bool new_slab(txm_cache *c, uint32_t class, bool beyond)
{
    uint32_t number, arena;
    if ((!beyond && !slab_fits(c, class)) || (number = slab_number(c)) == TXM_NO_SLOT ||
        ((arena = arena_with_room(c, class)) == c->arena_count && !new_arena(c, class, beyond, &arena)))
        return false;
    uint8_t *pixels = piece_of(c, arena); /* before anything else is allocated, for which slabs may go */
    const uint32_t n = c->arenas[arena].slots;
    txm_slot *slots = txm_cache_allocate(c, n * sizeof *slots, SMALL_ALIGNMENT);
    if (!slots) {
        give_piece(c, arena, pixels);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        slots[i] = (txm_slot){.entry = i + 1};
    c->slabs[number] = (txm_slab){.pixels = pixels, .arena = arena, .class = class, .slots = n, .slot = slots};
    c->slab_addresses[number] = (uint64_t)(uintptr_t)pixels;
    if (number == c->slab_count)
        c->slab_count++;
    else
        c->slabs_free--;
    c->classes[class].slots += n;
    link_open(c, number);
    return true;
}

/* Gives the memory of a slab back whose slots are all free. */
static void drop_slab(txm_cache *c, uint32_t number)
{
    txm_slab *s = &c->slabs[number];
    if (s->used < s->slots)
        unlink_open(c, number);
    c->classes[s->class].slots -= s->slots;
    c->slabs_free++;
    txm_cache_release(c, s->slot, s->slots * sizeof *s->slot);
    give_piece(c, s->arena, s->pixels);
    *s = (txm_slab){0};
}

/* What is free in one class may serve another. */
void txm_slabs_drop_empty(txm_cache *c, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && i < c->slab_count; i++)
        if (c->slabs[i].pixels && !c->slabs[i].used)
            drop_slab(c, i);
}

/* How long ago the tiles of a slab were used, on average; UINT64_MAX where one may not go. Free slots count
 * as never used, so that half-empty slabs go before full ones, and so do staged ones. */
static uint64_t slab_order(txm_cache *c, const txm_slab *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->slots; i++) {
        const uint8_t state = s->slot[i].state;
        if (state != TXM_SLOT_STATE_FREE && state != TXM_SLOT_STATE_STAGED && !txm_slot_evictable(&s->slot[i]))
            return UINT64_MAX;
        sum += s->slot[i].state == TXM_SLOT_STATE_HELD ? txm_slot_order(c, &s->slot[i]) >> 32 : 0;
    }
    return sum / s->slots;
}

static bool shows_slab(const txm_cache *c, const txm_slab *s)
{
    for (uint32_t i = 0; c->open_views && i < s->slots; i++)
        if (s->slot[i].state != TXM_SLOT_STATE_FREE && txm_is_shown(c, &s->slot[i]))
            return true;
    return false;
}

/* The slab whose tiles were used longest ago, of those that open views show or of the others; TXM_NO_SLOT: none. */
static uint32_t oldest_slab(txm_cache *c, uint32_t not_of_class, bool shown)
{
    uint32_t best = TXM_NO_SLOT;
    uint64_t best_order = UINT64_MAX;
    for (uint32_t i = 0; i < c->slab_count; i++) {
        const txm_slab *s = &c->slabs[i];
        const uint64_t order = s->pixels && s->class != not_of_class ? slab_order(c, s) : UINT64_MAX;
        if (order < best_order && shows_slab(c, s) == shown) {
            best_order = order;
            best = i;
        }
    }
    return best;
}

/* The slab whose tiles were used longest ago, all of them at once. TXM_NO_SLOT for a class excludes none.
 * False: every slab has a tile that may not go, or that an open view shows. Of the latter one is evicted all the same,
 * to be free when the view is closed. */
bool txm_slab_drop_one(txm_cache *c, uint32_t not_of_class)
{
    uint32_t slots[TXM_SLOTS], count = 0, best = oldest_slab(c, not_of_class, false);
    const bool free_at_once = best != TXM_NO_SLOT;
    if (!free_at_once && txm_may_retire(c))
        best = oldest_slab(c, not_of_class, true);
    if (best == TXM_NO_SLOT)
        return false;
    for (uint32_t i = 0; i < c->slabs[best].slots; i++)
        if (c->slabs[best].slot[i].state == TXM_SLOT_STATE_HELD ||
            c->slabs[best].slot[i].state == TXM_SLOT_STATE_STAGED)
            slots[count++] = best << TXM_SLOT_BITS | i;
    txm_evict_slots(c, slots, count);
    c->squeezed += count;
    if (free_at_once)
        drop_slab(c, best);
    return free_at_once;
}

void txm_slabs_free(txm_cache *c)
{
    for (uint32_t i = 0; i < c->slab_count; i++)
        if (c->slabs[i].pixels)
            drop_slab(c, i);
    for (uint32_t i = 0; i < c->class_count; i++)
        txm_cache_release(c, c->classes[i].order, c->classes[i].order_capacity * sizeof *c->classes[i].order);
    txm_cache_release(c, c->slabs, c->slab_capacity * sizeof *c->slabs);
    txm_cache_release(c, c->slab_addresses, c->address_capacity * sizeof *c->slab_addresses);
    txm_cache_release(c, c->arenas, c->arena_capacity * sizeof *c->arenas);
}

/* ---- slots ---- */

/* The class of a size; TXM_CLASSES: too many. Classes are never removed: there are few sizes, and an empty
 * class costs nothing. */
static uint32_t class_of(txm_cache *c, uint32_t tile_bytes)
{
    uint32_t i = 0;
    while (i < c->class_count && c->classes[i].tile_bytes != tile_bytes)
        i++;
    if (i == c->class_count && i < TXM_CLASSES) {
        c->classes[c->class_count++] = (txm_class){.tile_bytes = tile_bytes, .open = TXM_NO_SLOT};
        shape_class(&c->classes[i]);
    }
    return i;
}

/* Tiles of a class that go at a time: enough that waiting for lookups costs little a tile. A thirty-second
 * part of the class, within bounds. */
static uint32_t few_of(uint32_t slots)
{
    uint32_t n = slots / 32;
    return n < 4 ? 4 : n > 1024 ? 1024 : n;
}

/* Whether another class has a slab that was used longer ago than the oldest tiles of this one. Otherwise
 * classes would keep the share of memory that they happened to take first, however the scene changes. */
static bool others_are_older(txm_cache *c, uint32_t class)
{
    uint64_t own = UINT64_MAX, other = UINT64_MAX;
    if (c->class_count < 2)
        return false;
    for (uint32_t i = 0; i < c->slab_count; i++) {
        const txm_slab *s = &c->slabs[i];
        uint64_t order = s->pixels ? slab_order(c, s) : UINT64_MAX;
        uint64_t *side = s->class == class ? &own : &other;
        *side = order < *side ? order : *side;
    }
    return other < own;
}

/* Whether memory for a sixteenth more of a class, and a slab, would pass the budget. */
static bool is_nearly_full(const txm_cache *c, uint32_t class)
{
    const txm_class *k = &c->classes[class];
    return !fits(c, slab_bytes_of(lone_slots(c, k) + k->slots / 16, k->tile_bytes));
}

/* From the class's free slots, a new slab, another class, or by eviction, in this order. The slot is
 * LOADING, hence safe from eviction, until it is published or given back. As a last resort the budget is
 * exceeded: a lookup that holds pins and cannot get one tile more would wait for itself. What only batches need, for
 * which there is another time, does without while open views hold the memory. */
uint32_t txm_slot_take(txm_cache *c, uint32_t tile_bytes, bool must)
{
    uint32_t class = class_of(c, tile_bytes);
    if (class == TXM_CLASSES)
        return TXM_NO_SLOT;
    txm_class *k = &c->classes[class];
    const uint32_t slots_before = k->slots;
    if (k->open == TXM_NO_SLOT && !new_slab(c, class, false)) {
        bool steals = !k->slots || others_are_older(c, class);
        if (!(steals && txm_slab_drop_one(c, class) && new_slab(c, class, false)))
            txm_evict(c, class, few_of(k->slots), false);
        if (k->open == TXM_NO_SLOT && txm_slab_drop_one(c, class))
            new_slab(c, class, false);
        if (k->open == TXM_NO_SLOT && txm_may_retire(c))
            txm_evict(c, class, few_of(k->slots), true);
        /* All are being read, or are needed by a lookup, or shown. */
        if (k->open == TXM_NO_SLOT && !((must || !c->open_views) && new_slab(c, class, true)))
            return TXM_NO_SLOT;
    }
    const uint32_t number = k->open, place = c->slabs[number].free, slot = number << TXM_SLOT_BITS | place;
    txm_slab *slab = &c->slabs[number];
    txm_slot *s = &slab->slot[place];
    slab->free = s->entry;
    if (++slab->used == slab->slots)
        unlink_open(c, number);
    *s = (txm_slot){.entry = TXM_NO_SLOT, .stamp = ++c->stamp, .state = TXM_SLOT_STATE_LOADING};
    c->stats.tiles++;
    c->stats.tile_bytes += tile_bytes;
    c->stats.tiles_peak = c->stats.tiles > c->stats.tiles_peak ? c->stats.tiles : c->stats.tiles_peak;
    if (c->stats.tile_bytes > c->stats.tile_bytes_peak)
        c->stats.tile_bytes_peak = c->stats.tile_bytes;
    if (k->slots > slots_before && is_nearly_full(c, class))
        txm_stage_first(c, class);
    return slot;
}

/* Nobody may be able to find it any more. Its memory stays with the slab. Pushed last, it is taken first:
 * its pixels are the likeliest to be in the processor's caches. */
void txm_slot_give(txm_cache *c, uint32_t slot)
{
    txm_slab *s = &c->slabs[slot >> TXM_SLOT_BITS];
    c->kept_bytes -= s->slot[slot & (TXM_SLOTS - 1)].kept ? c->classes[s->class].tile_bytes : 0;
    s->slot[slot & (TXM_SLOTS - 1)] = (txm_slot){.entry = s->free};
    s->free = slot & (TXM_SLOTS - 1);
    if (s->used-- == s->slots)
        link_open(c, slot >> TXM_SLOT_BITS);
    c->stats.tiles--;
    c->stats.tile_bytes -= c->classes[s->class].tile_bytes;
}

/* ---- tiles that open views show ---- */

/* So much of the memory, beside what is shown, that batches get on while other views are always open. */
bool txm_may_retire(const txm_cache *c)
{
    enum { PART = 8 };
    return c->open_views && c->retired_bytes < c->options.max_bytes / PART;
}

/* In the order of the views: those that were evicted first are free first. */
void txm_slot_retire(txm_cache *c, uint32_t slot)
{
    txm_slot *s = txm_slot_at(c, slot);
    if (!txm_is_shown(c, s)) {
        txm_slot_give(c, slot);
        return;
    }
    c->kept_bytes -= s->kept ? txm_slot_bytes(c, slot) : 0;
    *s = (txm_slot){.entry = TXM_NO_SLOT, .stamp = c->views, .state = TXM_SLOT_STATE_RETIRED};
    *(c->retired_first == TXM_NO_SLOT ? &c->retired_first : &txm_slot_at(c, c->retired_last)->entry) = slot;
    c->retired_last = slot;
    c->retired_bytes += txm_slot_bytes(c, slot);
}

/* Those that were evicted before the oldest open view was prepared. */
void txm_slots_free_retired(txm_cache *c)
{
    uint32_t oldest = c->views + 1;
    for (const txm_cache_viewer *v = c->viewers; v; v = v->next)
        if (v->open && (int32_t)(v->number - oldest) < 0)
            oldest = v->number;
    for (uint32_t slot; (slot = c->retired_first) != TXM_NO_SLOT;) {
        const txm_slot *s = txm_slot_at(c, slot);
        if ((int32_t)(s->stamp - oldest) >= 0)
            break;
        c->retired_first = s->entry;
        c->retired_bytes -= txm_slot_bytes(c, slot);
        txm_slot_give(c, slot);
    }
}
