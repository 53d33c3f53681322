/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for tiles: slabs of 512 KiB, each for tiles of one size. Slabs are cut from arenas; a large budget takes
 * arenas that huge pages fit, so that random look-ups miss fewer TLB entries.
 *
 * A slot is named by one number: slab in the upper bits, place in the lower TXM_SLOT_BITS. The page table
 * holds that number, and kernels turn it into an address by one table and one multiplication. A slab serves
 * one size of tile, its class, so nothing is ever fragmented; what is free in one class reaches another
 * only as a whole slab. All of it runs with the lock held.
 */
#include <sys/mman.h>

#include "residency/residency_impl.h"

enum { SMALL_ALIGNMENT = 64, HUGE_BYTES = 2 << 20, HUGE_FROM_BYTES = 64 << 20 };

/* The slab must exist: numbers from the page table are below TXM_SLOT_UNREGISTERED and held by a tile. */
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

/* An arena that has room for a slab of `bytes`; c->arena_count: none. A slab for a single tile that is
 * larger than TXM_SLAB_BYTES always has an arena to itself. */
static uint32_t arena_with_room(const txm_cache *c, size_t bytes)
{
    uint32_t i = bytes <= TXM_SLAB_BYTES ? 0 : c->arena_count;
    while (i < c->arena_count && !(c->arenas[i].memory && c->arenas[i].used != (1u << c->arenas[i].slabs) - 1))
        i++;
    return i;
}

/* The first that is free. */
static uint8_t *piece_of(txm_cache *c, uint32_t arena)
{
    txm_arena *a = &c->arenas[arena];
    uint32_t n = 0;
    while (a->used >> n & 1)
        n++;
    a->used |= 1u << n;
    return a->memory + (size_t)n * TXM_SLAB_BYTES;
}

/* Whether memory for `bytes` more fits the budget, or must come from it all the same. Without a budget, or
 * under the policy that keeps none, everything does. */
static bool fits(const txm_cache *c, size_t bytes)
{
    return !c->options.max_bytes || c->options.policy == TXM_CACHE_POLICY_NONE ||
           txm_taken(c) + bytes <= c->options.max_bytes;
}

/* Huge pages from a budget on that is large beside them. Whether the kernel really gives them is its own
 * affair; madvise is a wish. Its first slab is taken at once. */
static uint8_t *new_arena(txm_cache *c, size_t bytes, bool beyond, uint32_t *arena)
{
    bool huge = bytes <= TXM_SLAB_BYTES && (!c->options.max_bytes || c->options.max_bytes >= HUGE_FROM_BYTES) &&
                fits(c, HUGE_BYTES);
    size_t whole = huge ? HUGE_BYTES : bytes;
    uint32_t i = 0;
    while (i < c->arena_count && c->arenas[i].memory)
        i++;
    if ((!beyond && !fits(c, whole)) ||
        !txm_cache_grow(c, (void **)&c->arenas, &c->arena_capacity, (uint64_t)i + 1, sizeof *c->arenas, false))
        return NULL;
    uint8_t *memory = txm_cache_allocate(c, whole, huge ? HUGE_BYTES : SMALL_ALIGNMENT);
    if (!memory)
        return NULL;
    if (huge)
        madvise(memory, whole, MADV_HUGEPAGE);
    c->arena_count = i < c->arena_count ? c->arena_count : i + 1;
    c->arenas[i] = (txm_arena){memory, whole, huge ? HUGE_BYTES / TXM_SLAB_BYTES : 1, 1};
    c->stats.slab_bytes += whole;
    *arena = i;
    return memory;
}

/* The last piece gives the arena back. */
static void give_piece(txm_cache *c, uint32_t arena, const uint8_t *pixels)
{
    txm_arena *a = &c->arenas[arena];
    a->used &= ~(1u << (size_t)(pixels - a->memory) / (a->slabs > 1 ? TXM_SLAB_BYTES : a->bytes + 1));
    if (a->used)
        return;
    c->stats.slab_bytes -= a->bytes;
    txm_cache_release(c, a->memory, a->bytes);
    a->memory = NULL;
}

/* ---- slabs ---- */

/* At least one, for tiles that are larger than a slab. And at most what TXM_SLOT_BITS can number, for tiny
 * tiles. */
static uint32_t slots_of(uint32_t tile_bytes)
{
    uint32_t n = TXM_SLAB_BYTES / tile_bytes;
    return n > TXM_SLOTS ? TXM_SLOTS : n ? n : 1;
}

/* Rounded up, so that the slab after it in memory begins on a cache line too. */
static size_t slab_bytes_of(uint32_t tile_bytes)
{
    return ((size_t)slots_of(tile_bytes) * tile_bytes + SMALL_ALIGNMENT - 1) & ~(size_t)(SMALL_ALIGNMENT - 1);
}

/* Lists of free slots never lack room: it is made with the slab. */
static bool widen_class(txm_cache *c, txm_class *k, uint32_t slots)
{
    return txm_cache_grow(c, (void **)&k->free, &k->free_capacity, (uint64_t)k->slots + slots, sizeof *k->free, false);
}

/* A number for a new slab; TXM_NO_SLOT: no memory. Numbers of dropped slabs are used again. Look-ups read
 * the addresses, so only that array is exchanged with the world stopped. */
static uint32_t slab_number(txm_cache *c)
{
    uint32_t i = 0;
    while (i < c->slab_count && c->slabs[i].pixels)
        i++;
    if (i + 1 >= TXM_SLOT_UNREGISTERED >> TXM_SLOT_BITS)
        return TXM_NO_SLOT;
    if (!txm_cache_grow(c, (void **)&c->slabs, &c->slab_capacity, (uint64_t)i + 1, sizeof *c->slabs, false) ||
        !txm_cache_grow(c, (void **)&c->slab_addresses, &c->address_capacity, (uint64_t)i + 1,
                        sizeof *c->slab_addresses, true))
        return TXM_NO_SLOT;
    return i;
}

/* Whether there is room for another slab and what is kept about it, so that making it evicts nothing. An
 * estimate from above of what new_slab and txm_evict may allocate: arrays grow by half. */
static bool slab_fits(const txm_cache *c, const txm_class *k)
{
    enum { GROWTH = 3, ITEMS = sizeof *k->free + sizeof *k->order };
    uint32_t n = slots_of(k->tile_bytes);
    size_t bytes = slab_bytes_of(k->tile_bytes), more = n * sizeof(txm_slot);
    if (arena_with_room(c, bytes) == c->arena_count)
        more += bytes;
    if (k->slots + n > k->free_capacity)
        more += (size_t)(k->slots + n) * ITEMS * GROWTH / 2;
    if (c->slab_count == c->slab_capacity)
        more += c->slab_count * (sizeof *c->slabs + sizeof *c->slab_addresses) * GROWTH / 2;
    return fits(c, more);
}

/* A new slab of a class; `beyond`: even where the budget has no room for it. Slots go on the free list from
 * the last to the first, so that they are handed out in the order in which they lie. */
static bool new_slab(txm_cache *c, uint32_t class, bool beyond)
{
    txm_class *k = &c->classes[class];
    uint32_t n = slots_of(k->tile_bytes), arena = 0, number;
    size_t bytes = slab_bytes_of(k->tile_bytes);
    if (!beyond && !slab_fits(c, k))
        return false;
    if (!widen_class(c, k, n) || (number = slab_number(c)) == TXM_NO_SLOT)
        return false;
    txm_slot *slots = txm_cache_allocate(c, n * sizeof *slots, SMALL_ALIGNMENT);
    uint8_t *pixels = NULL;
    if (slots && (arena = arena_with_room(c, bytes)) < c->arena_count)
        pixels = piece_of(c, arena);
    else if (slots)
        pixels = new_arena(c, bytes, beyond, &arena);
    if (!pixels) {
        txm_cache_release(c, slots, n * sizeof *slots);
        return false;
    }
    memset(slots, 0, n * sizeof *slots);
    c->slabs[number] = (txm_slab){pixels, arena, class, n, 0, slots};
    c->slab_addresses[number] = (uint64_t)(uintptr_t)pixels;
    c->slab_count = number < c->slab_count ? c->slab_count : number + 1;
    k->slots += n;
    for (uint32_t i = n; i-- > 0;)
        k->free[k->free_count++] = number << TXM_SLOT_BITS | i;
    return true;
}

/* Gives the memory of a slab back whose slots are all free. */
static void drop_slab(txm_cache *c, uint32_t number)
{
    txm_slab *s = &c->slabs[number];
    txm_class *k = &c->classes[s->class];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < k->free_count; i++)
        if (k->free[i] >> TXM_SLOT_BITS != number)
            k->free[kept++] = k->free[i];
    k->free_count = kept;
    k->slots -= s->slots;
    txm_cache_release(c, s->slot, s->slots * sizeof *s->slot);
    give_piece(c, s->arena, s->pixels);
    *s = (txm_slab){0};
}

/* What is free in one class may serve another. */
void txm_slabs_drop_empty(txm_cache *c)
{
    for (uint32_t i = 0; i < c->slab_count; i++)
        if (c->slabs[i].pixels && !c->slabs[i].used)
            drop_slab(c, i);
}

/* How long ago the tiles of a slab were used, on average; UINT64_MAX where one may not go. Free slots count
 * as never used, so that half-empty slabs go before full ones. */
static uint64_t slab_order(txm_cache *c, const txm_slab *s)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < s->slots; i++) {
        if (s->slot[i].state != TXM_SLOT_STATE_FREE && !txm_slot_evictable(&s->slot[i]))
            return UINT64_MAX;
        sum += s->slot[i].state == TXM_SLOT_STATE_FREE ? 0 : txm_slot_order(c, &s->slot[i]) >> 32;
    }
    return sum / s->slots;
}

/* The slab whose tiles were used longest ago, all of them at once. TXM_NO_SLOT for a class excludes none.
 * False: every slab has a tile that may not go. */
bool txm_slab_drop_one(txm_cache *c, uint32_t not_of_class)
{
    uint32_t best = TXM_NO_SLOT, slots[TXM_SLOTS], count = 0;
    uint64_t best_order = UINT64_MAX;
    for (uint32_t i = 0; i < c->slab_count; i++) {
        if (!c->slabs[i].pixels || c->slabs[i].class == not_of_class)
            continue;
        uint64_t order = slab_order(c, &c->slabs[i]);
        if (order < best_order) {
            best_order = order;
            best = i;
        }
    }
    if (best == TXM_NO_SLOT)
        return false;
    for (uint32_t i = 0; i < c->slabs[best].slots; i++)
        if (c->slabs[best].slot[i].state == TXM_SLOT_STATE_HELD)
            slots[count++] = best << TXM_SLOT_BITS | i;
    txm_evict_slots(c, slots, count);
    c->squeezed += count;
    drop_slab(c, best);
    return true;
}

void txm_slabs_free(txm_cache *c)
{
    for (uint32_t i = 0; i < c->slab_count; i++)
        if (c->slabs[i].pixels)
            drop_slab(c, i);
    for (uint32_t i = 0; i < c->class_count; i++) {
        txm_cache_release(c, c->classes[i].free, c->classes[i].free_capacity * sizeof *c->classes[i].free);
        txm_cache_release(c, c->classes[i].order, c->classes[i].order_capacity * sizeof *c->classes[i].order);
    }
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
    if (i == c->class_count && i < TXM_CLASSES)
        c->classes[c->class_count++] = (txm_class){.tile_bytes = tile_bytes};
    return i;
}

/* Tiles of a class that go at a time: enough that waiting for look-ups costs little a tile. A thirty-second
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

/* From the class's free slots, a new slab, another class, or by eviction, in this order. The slot is
 * LOADING, hence safe from eviction, until it is published or given back. As a last resort the budget is
 * exceeded: a look-up that holds pins and cannot get one tile more would wait for itself. */
uint32_t txm_slot_take(txm_cache *c, uint32_t tile_bytes)
{
    uint32_t class = class_of(c, tile_bytes);
    if (class == TXM_CLASSES)
        return TXM_NO_SLOT;
    txm_class *k = &c->classes[class];
    if (!k->free_count && !new_slab(c, class, false)) {
        bool steals = !k->slots || others_are_older(c, class);
        if (!(steals && txm_slab_drop_one(c, class) && new_slab(c, class, false)))
            txm_evict(c, class, few_of(k->slots));
        if (!k->free_count && txm_slab_drop_one(c, class))
            new_slab(c, class, false);
        if (!k->free_count && !new_slab(c, class, true)) /* all are being read, or are needed by a look-up */
            return TXM_NO_SLOT;
    }
    uint32_t slot = k->free[--k->free_count];
    txm_slot *s = txm_slot_at(c, slot);
    c->slabs[slot >> TXM_SLOT_BITS].used++;
    *s = (txm_slot){.entry = TXM_NO_SLOT, .stamp = ++c->stamp, .state = TXM_SLOT_STATE_LOADING};
    c->stats.tiles++;
    c->stats.tile_bytes += tile_bytes;
    c->stats.tiles_peak = c->stats.tiles > c->stats.tiles_peak ? c->stats.tiles : c->stats.tiles_peak;
    if (c->stats.tile_bytes > c->stats.tile_bytes_peak)
        c->stats.tile_bytes_peak = c->stats.tile_bytes;
    return slot;
}

/* Nobody may be able to find it any more. Its memory stays with the slab. Pushed last, it is taken first:
 * its pixels are the likeliest to be in the processor's caches. */
void txm_slot_give(txm_cache *c, uint32_t slot)
{
    txm_slab *s = &c->slabs[slot >> TXM_SLOT_BITS];
    txm_class *k = &c->classes[s->class];
    s->slot[slot & (TXM_SLOTS - 1)] = (txm_slot){0};
    s->used--;
    k->free[k->free_count++] = slot;
    c->stats.tiles--;
    c->stats.tile_bytes -= k->tile_bytes;
}
