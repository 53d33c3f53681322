/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for tiles. A slab has up to 512 KiB and holds tiles of one size. With a large budget, arenas have the size of
 * huge pages, so random lookups cause fewer TLB misses; each is cut into slabs of one size.
 *
 * A slot is identified by one number: the slab in the upper bits, the place in it in the lower TXM_SLOT_BITS. The page
 * table holds that number, and kernels convert it to an address with one table and one multiplication. All tiles of a
 * slab have one size, its class, so memory is not fragmented; free memory of one class becomes available to another
 * only as a whole slab. All functions are called with the lock held.
 */

#include "base/os/pages.h"
#include "tile/cache/cache_impl.h"

enum { SMALL_ALIGNMENT = 64, HUGE_BYTES = 2 << 20, HUGE_FROM_BYTES = 64 << 20 };

/* The slab must exist: slot numbers in the page table are below TXM_SLOT_STATES and refer to tiles. */
txm_slot *txm_slot_at(txm_cache *c, uint32_t slot)
{
    return &c->store.slabs[slot >> TXM_SLOT_BITS].slot[slot & (TXM_SLOTS - 1)];
}

uint32_t txm_slot_bytes(const txm_cache *c, uint32_t slot)
{
    return c->store.classes[c->store.slabs[slot >> TXM_SLOT_BITS].class].tile_bytes;
}

uint8_t *txm_slot_pixels(txm_cache *c, uint32_t slot)
{
    return c->store.slabs[slot >> TXM_SLOT_BITS].pixels + (size_t)(slot & (TXM_SLOTS - 1)) * txm_slot_bytes(c, slot);
}

/* ---- arenas ---- */

/* Includes the slack that views guarantee, and is rounded up, so the next slab in memory begins on a cache line too. */
static size_t slab_bytes_of(uint32_t slots, uint32_t tile_bytes)
{
    return ((size_t)slots * tile_bytes + TXM_SLAB_SLACK + SMALL_ALIGNMENT - 1) & ~(size_t)(SMALL_ALIGNMENT - 1);
}

/* An arena with a free piece for a slab of this class; c->store.arena_count: none. The search begins with the last
 * arena, which is the likeliest. */
static uint32_t arena_with_room(const txm_cache *c, uint32_t class)
{
    for (uint32_t i = c->store.classes[class].pieces_left ? c->store.arena_count : 0; i-- > 0;)
        if (c->store.arenas[i].memory && c->store.arenas[i].class == class &&
            c->store.arenas[i].used < c->store.arenas[i].pieces)
            return i;
    return c->store.arena_count;
}

/* Takes the first free piece. */
static uint8_t *piece_of(txm_cache *c, uint32_t arena)
{
    txm_arena *a = &c->store.arenas[arena];
    uint32_t n = 0;
    while (a->taken >> n & 1)
        n++;
    a->taken |= (uint64_t)1 << n;
    a->used++;
    c->store.classes[a->class].pieces_left--;
    return a->memory + n * a->piece_bytes;
}

/* Whether `bytes` more fit the budget. Always true without a budget, and under the policy that evicts nothing. */
static bool fits_budget(const txm_cache *c, size_t bytes)
{
    return !c->options.max_bytes || txm_policy_of(c)->keeps_all || txm_taken(c) + bytes <= c->options.max_bytes;
}

/* Whether to use a huge page: if the budget is large compared with it, and tiles of the class fill it. The kernel need
 * not provide one; madvise is only a hint. Otherwise an arena is one slab. */
static bool is_huge(const txm_cache *c, const txm_class *k)
{
    return k->pieces && (!c->options.max_bytes || c->options.max_bytes >= HUGE_FROM_BYTES) &&
           fits_budget(c, HUGE_BYTES);
}

/* Number of slots of a slab that has its own arena. With a small budget, slabs are small too: one pinned tile keeps its
 * whole slab in memory, and every class may have such a tile. */
static uint32_t lone_slots(const txm_cache *c, const txm_class *k)
{
    enum { PARTS = 64 };
    const uint64_t most = c->options.max_bytes / PARTS;
    const uint32_t n = (uint32_t)(most && most < TXM_SLAB_BYTES ? most : TXM_SLAB_BYTES) / k->tile_bytes;
    return n > TXM_SLOTS ? TXM_SLOTS : n ? n : 1;
}

/* `exact`: the number of slots; 0: as many as the class has in a slab. */
static bool new_arena(txm_cache *c, uint32_t class, uint32_t exact, bool beyond, uint32_t *arena)
{
    txm_class *k = &c->store.classes[class];
    const bool huge = !exact && is_huge(c, k);
    const uint32_t slots = exact ? exact : huge ? k->huge_slots : lone_slots(c, k);
    const size_t piece_bytes = slab_bytes_of(slots, k->tile_bytes), bytes = huge ? HUGE_BYTES : piece_bytes;
    uint32_t i = c->store.arenas_free ? 0 : c->store.arena_count;
    while (i < c->store.arena_count && c->store.arenas[i].memory)
        i++;
    if ((!beyond && !fits_budget(c, bytes)) || !txm_cache_grow(c, (void **)&c->store.arenas, &c->store.arena_capacity,
                                                               (uint64_t)i + 1, sizeof *c->store.arenas, false))
        return false;
    uint8_t *memory = txm_cache_allocate(c, bytes, huge ? HUGE_BYTES : SMALL_ALIGNMENT);
    if (!memory)
        return false;
    if (huge)
        txm_pages_prefer_large(memory, bytes);
    if (i == c->store.arena_count)
        c->store.arena_count++;
    else
        c->store.arenas_free--;
    c->store.arenas[i] = (txm_arena){.memory = memory,
                                     .bytes = bytes,
                                     .piece_bytes = piece_bytes,
                                     .class = class,
                                     .slots = slots,
                                     .pieces = huge ? k->pieces : 1};
    k->pieces_left += c->store.arenas[i].pieces;
    c->stats.slab_bytes += bytes;
    *arena = i;
    return true;
}

/* Frees a piece; the arena is freed with the last one. */
static void give_piece(txm_cache *c, uint32_t arena, const uint8_t *pixels)
{
    txm_arena *a = &c->store.arenas[arena];
    txm_class *k = &c->store.classes[a->class];
    a->taken &= ~((uint64_t)1 << (size_t)(pixels - a->memory) / a->piece_bytes);
    k->pieces_left++;
    if (--a->used)
        return;
    k->pieces_left -= a->pieces;
    c->stats.slab_bytes -= a->bytes;
    c->store.arenas_free++;
    txm_cache_release(c, a->memory, a->bytes);
    *a = (txm_arena){0};
}

/* ---- slabs ---- */

/* Decides into how many slabs of how many tiles a huge page is cut: the first division that wastes at most a twentieth
 * of it. Tiles for which there is none, nearly all of them large, get no huge pages. */
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

/* The slabs of a class that have free slots form a list, and so do the free slots of a slab. */
static void link_open(txm_cache *c, uint32_t number)
{
    txm_slab *s = &c->store.slabs[number];
    txm_class *k = &c->store.classes[s->class];
    s->previous = TXM_NO_SLOT;
    s->next = k->open;
    if (k->open != TXM_NO_SLOT)
        c->store.slabs[k->open].previous = number;
    k->open = number;
}

static void unlink_open(txm_cache *c, uint32_t number)
{
    const txm_slab *s = &c->store.slabs[number];
    *(s->previous != TXM_NO_SLOT ? &c->store.slabs[s->previous].next : &c->store.classes[s->class].open) = s->next;
    if (s->next != TXM_NO_SLOT)
        c->store.slabs[s->next].previous = s->previous;
}

/* A number for a new slab; TXM_NO_SLOT: out of memory. Numbers of freed slabs are reused. Lookups read only the array
 * of addresses, so only that is replaced with the world stopped. */
static uint32_t slab_number(txm_cache *c)
{
    uint32_t i = c->store.slabs_free ? 0 : c->store.slab_count;
    while (i < c->store.slab_count && c->store.slabs[i].pixels)
        i++;
    if (i + 1 >= TXM_SLOT_STATES >> TXM_SLOT_BITS)
        return TXM_NO_SLOT;
    if (!txm_cache_grow(c, (void **)&c->store.slabs, &c->store.slab_capacity, (uint64_t)i + 1, sizeof *c->store.slabs,
                        false) ||
        !txm_cache_grow(c, (void **)&c->store.addresses, &c->store.address_capacity, (uint64_t)i + 1,
                        sizeof *c->store.addresses, true))
        return TXM_NO_SLOT;
    return i;
}

/* Whether another slab and its tables fit, so making it evicts nothing. It is an upper estimate of what new_slab and
 * txm_evict may allocate, given that arrays grow by at most half. */
static bool slab_fits(const txm_cache *c, uint32_t class)
{
    enum { GROWTH = 3 };
    const txm_class *k = &c->store.classes[class];
    const uint32_t arena = arena_with_room(c, class);
    const uint32_t n = arena < c->store.arena_count ? c->store.arenas[arena].slots : lone_slots(c, k);
    size_t more = n * sizeof(txm_slot);
    if (k->slots + n > k->order_capacity)
        more += (size_t)(k->slots + n) * sizeof *k->order * GROWTH / 2;
    if (!c->store.slabs_free && c->store.slab_count == c->store.slab_capacity)
        more += c->store.slab_count * (sizeof *c->store.slabs + sizeof *c->store.addresses) * GROWTH / 2;
    return fits_budget(c, more + (arena == c->store.arena_count ? slab_bytes_of(n, k->tile_bytes) : 0));
}

/* Makes a slab of a class, of `exact` slots unless that is 0; `beyond`: even if that exceeds the budget. Slots are
 * taken in the order of their addresses. */
static bool make_slab(txm_cache *c, uint32_t class, uint32_t exact, bool beyond)
{
    uint32_t number, arena;
    if ((!beyond && !slab_fits(c, class)) || (number = slab_number(c)) == TXM_NO_SLOT ||
        ((arena = exact ? c->store.arena_count : arena_with_room(c, class)) == c->store.arena_count &&
         !new_arena(c, class, exact, beyond, &arena)))
        return false;
    uint8_t *pixels = piece_of(c, arena);
    const uint32_t n = c->store.arenas[arena].slots;
    txm_slot *slots = txm_cache_allocate(c, n * sizeof *slots, SMALL_ALIGNMENT);
    if (!slots) {
        give_piece(c, arena, pixels);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        slots[i] = (txm_slot){.entry = i + 1};
    c->store.slabs[number] = (txm_slab){.pixels = pixels, .arena = arena, .class = class, .slots = n, .slot = slots};
    c->store.addresses[number] = (uint64_t)(uintptr_t)pixels;
    if (number == c->store.slab_count)
        c->store.slab_count++;
    else
        c->store.slabs_free--;
    c->store.classes[class].slots += n;
    link_open(c, number);
    return true;
}

/* Making room may move tiles to new slabs, so room is made before a number is chosen, and not while the slab is made.
 */
static bool new_slab_of(txm_cache *c, uint32_t class, uint32_t exact, bool beyond)
{
    const txm_class *k = &c->store.classes[class];
    const bool moving = c->store.moving;
    if (beyond)
        txm_make_room(c, slab_bytes_of(exact ? exact : lone_slots(c, k), k->tile_bytes));
    c->store.moving = true;
    const bool ok = make_slab(c, class, exact, beyond);
    c->store.moving = moving;
    return ok;
}

static bool new_slab(txm_cache *c, uint32_t class, bool beyond)
{
    return new_slab_of(c, class, 0, beyond);
}

/* Frees a slab whose slots are all free. */
static void drop_slab(txm_cache *c, uint32_t number)
{
    txm_slab *s = &c->store.slabs[number];
    if (s->used < s->slots)
        unlink_open(c, number);
    c->store.classes[s->class].slots -= s->slots;
    c->store.slabs_free++;
    txm_cache_release(c, s->slot, s->slots * sizeof *s->slot);
    give_piece(c, s->arena, s->pixels);
    *s = (txm_slab){0};
}

/* Frees empty slabs of a range, so other classes can use the memory. */
void txm_slabs_drop_empty(txm_cache *c, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && i < c->store.slab_count; i++)
        if (c->store.slabs[i].pixels && !c->store.slabs[i].used)
            drop_slab(c, i);
}

/* Kept tiles would hold the memory of all their neighbours, so they can be moved to another slab. */
static bool is_movable(const txm_slot *s)
{
    return s->state == TXM_SLOT_STATE_HELD && s->kept && !s->pins;
}

/* The average order of the tiles of a slab, by their last use; UINT64_MAX if one of them cannot be evicted or moved.
 * Free and staged slots count as never used, so half-empty slabs are freed before full ones. A slab that is full of
 * tiles to be moved gives no memory. */
static uint64_t slab_order(txm_cache *c, const txm_slab *s)
{
    uint64_t sum = 0;
    uint32_t movable = 0;
    for (uint32_t i = 0; i < s->slots; i++) {
        const uint8_t state = s->slot[i].state;
        if (state != TXM_SLOT_STATE_FREE && state != TXM_SLOT_STATE_STAGED && !txm_slot_evictable(&s->slot[i]) &&
            !is_movable(&s->slot[i]))
            return UINT64_MAX;
        movable += is_movable(&s->slot[i]);
        sum += s->slot[i].state == TXM_SLOT_STATE_HELD ? txm_slot_order(c, &s->slot[i]) >> 32 : 0;
    }
    return movable == s->slots ? UINT64_MAX : sum / s->slots;
}

/* Takes the first free slot of a slab that has one. It is LOADING. */
static uint32_t take_slot(txm_cache *c, uint32_t number)
{
    txm_slab *slab = &c->store.slabs[number];
    const uint32_t place = slab->free;
    txm_slot *s = &slab->slot[place];
    slab->free = s->entry;
    if (++slab->used == slab->slots)
        unlink_open(c, number);
    *s = (txm_slot){.entry = TXM_NO_SLOT, .stamp = ++c->store.stamp, .state = TXM_SLOT_STATE_LOADING};
    c->stats.tiles++;
    c->stats.tile_bytes += c->store.classes[slab->class].tile_bytes;
    c->stats.tiles_peak = c->stats.tiles > c->stats.tiles_peak ? c->stats.tiles : c->stats.tiles_peak;
    if (c->stats.tile_bytes > c->stats.tile_bytes_peak)
        c->stats.tile_bytes_peak = c->stats.tile_bytes;
    return number << TXM_SLOT_BITS | place;
}

static bool shows_slab(const txm_cache *c, const txm_slab *s)
{
    for (uint32_t i = 0; c->viewers.open_views && i < s->slots; i++)
        if (s->slot[i].state != TXM_SLOT_STATE_FREE && txm_is_shown(c, &s->slot[i]))
            return true;
    return false;
}

/* The least recently used slab, among those that open views show or among the others; TXM_NO_SLOT: none. */
static uint32_t oldest_slab(txm_cache *c, uint32_t not_of_class, bool shown)
{
    uint32_t best = TXM_NO_SLOT;
    uint64_t best_order = UINT64_MAX;
    for (uint32_t i = 0; i < c->store.slab_count; i++) {
        const txm_slab *s = &c->store.slabs[i];
        const uint64_t order = s->pixels && s->class != not_of_class ? slab_order(c, s) : UINT64_MAX;
        if (order < best_order && shows_slab(c, s) == shown) {
            best_order = order;
            best = i;
        }
    }
    return best;
}

/* Whether tiles that open views show may still be evicted; their slots become free when these views are closed. An
 * eighth of the memory may be retired, so batches make progress even if some view is always open. */
static bool may_retire(const txm_cache *c)
{
    enum { PART = 8 };
    return c->viewers.open_views && c->store.retired_bytes < c->options.max_bytes / PART;
}

/* Takes a free slot of the class in another slab, or in a new one for `count` tiles, even if that exceeds the budget.
 */
static uint32_t slot_elsewhere(txm_cache *c, uint32_t class, uint32_t slab, uint32_t count)
{
    uint32_t number = c->store.classes[class].open;
    while (number == slab)
        number = c->store.slabs[number].next;
    if (number == TXM_NO_SLOT) {
        if (!new_slab_of(c, class, count, true))
            return TXM_NO_SLOT;
        number = c->store.classes[class].open;
    }
    return take_slot(c, number);
}

/* Moves the kept tiles of a slab, and frees their slots there once no lookup reads them. No open view may show them.
 * False: there is no memory for that. */
static bool move_kept(txm_cache *c, uint32_t slab)
{
    const uint32_t class = c->store.slabs[slab].class, bytes = c->store.classes[class].tile_bytes;
    uint32_t moved[TXM_SLOTS], count = 0, left = 0;
    bool ok = true;
    const bool moving = c->store.moving;
    for (uint32_t i = 0; i < c->store.slabs[slab].slots; i++)
        left += is_movable(&c->store.slabs[slab].slot[i]);
    c->store.moving = true;
    for (uint32_t i = 0; ok && i < c->store.slabs[slab].slots; i++) {
        const uint32_t from = slab << TXM_SLOT_BITS | i;
        if (!is_movable(txm_slot_at(c, from)))
            continue;
        const uint32_t to = slot_elsewhere(c, class, slab, left--);
        ok = to != TXM_NO_SLOT;
        if (!ok)
            break;
        memcpy(txm_slot_pixels(c, to), txm_slot_pixels(c, from), bytes);
        txm_slot *old = txm_slot_at(c, from), *fresh = txm_slot_at(c, to);
        *fresh = (txm_slot){.entry = old->entry, .stamp = fresh->stamp, .state = old->state, .kept = true};
        old->kept = false;
        txm_entry_set(c, fresh->entry, to);
        moved[count++] = from;
    }
    if (count)
        txm_wait_quiescent(c);
    while (count)
        txm_slot_give(c, moved[--count]);
    c->store.moving = moving;
    return ok;
}

/* Evicts all tiles of the least recently used slab and frees it. TXM_NO_SLOT for a class excludes none. False: no slab
 * was freed, because each has a tile that cannot be evicted or that an open view shows. In the latter case the tiles of
 * one slab may be evicted nevertheless; their memory is free when the view is closed. */
bool txm_slab_drop_one(txm_cache *c, uint32_t not_of_class)
{
    uint32_t slots[TXM_SLOTS], count = 0, best = oldest_slab(c, not_of_class, false);
    const bool free_at_once = best != TXM_NO_SLOT;
    if (!free_at_once && may_retire(c))
        best = oldest_slab(c, not_of_class, true);
    if (best == TXM_NO_SLOT || (free_at_once && !move_kept(c, best)))
        return false;
    for (uint32_t i = 0; i < c->store.slabs[best].slots; i++)
        if ((c->store.slabs[best].slot[i].state == TXM_SLOT_STATE_HELD && !c->store.slabs[best].slot[i].kept) ||
            c->store.slabs[best].slot[i].state == TXM_SLOT_STATE_STAGED)
            slots[count++] = best << TXM_SLOT_BITS | i;
    txm_evict_slots(c, slots, count);
    c->store.squeezed += count;
    if (free_at_once)
        drop_slab(c, best);
    return free_at_once;
}

void txm_slabs_free(txm_cache *c)
{
    for (uint32_t i = 0; i < c->store.slab_count; i++)
        if (c->store.slabs[i].pixels)
            drop_slab(c, i);
    for (uint32_t i = 0; i < c->store.class_count; i++)
        txm_cache_release(c, c->store.classes[i].order,
                          c->store.classes[i].order_capacity * sizeof *c->store.classes[i].order);
    txm_cache_release(c, c->store.slabs, c->store.slab_capacity * sizeof *c->store.slabs);
    txm_cache_release(c, c->store.addresses, c->store.address_capacity * sizeof *c->store.addresses);
    txm_cache_release(c, c->store.arenas, c->store.arena_capacity * sizeof *c->store.arenas);
}

/* ---- slots ---- */

/* The class of a tile size; TXM_CLASSES: there are too many. Classes are never removed, because there are few sizes and
 * an empty class takes no memory. */
static uint32_t class_of(txm_cache *c, uint32_t tile_bytes)
{
    uint32_t i = 0;
    while (i < c->store.class_count && c->store.classes[i].tile_bytes != tile_bytes)
        i++;
    if (i == c->store.class_count && i < TXM_CLASSES) {
        c->store.classes[c->store.class_count++] = (txm_class){.tile_bytes = tile_bytes, .open = TXM_NO_SLOT};
        shape_class(&c->store.classes[i]);
    }
    return i;
}

/* How many tiles of a class are evicted at a time: a thirty-second part of it, within bounds, so that waiting for
 * lookups takes little time per tile. */
static uint32_t few_of(uint32_t slots)
{
    uint32_t n = slots / 32;
    return n < 4 ? 4 : n > 1024 ? 1024 : n;
}

/* Whether another class has a slab that was used less recently than all slabs of this class. Otherwise each class would
 * keep the share of memory that it happened to take first, however the scene changes. */
static bool others_are_older(txm_cache *c, uint32_t class)
{
    uint64_t own = UINT64_MAX, other = UINT64_MAX;
    if (c->store.class_count < 2)
        return false;
    for (uint32_t i = 0; i < c->store.slab_count; i++) {
        const txm_slab *s = &c->store.slabs[i];
        uint64_t order = s->pixels ? slab_order(c, s) : UINT64_MAX;
        uint64_t *side = s->class == class ? &own : &other;
        *side = order < *side ? order : *side;
    }
    return other < own;
}

/* Whether one more slab and another sixteenth of the class would exceed the budget. */
static bool is_nearly_full(const txm_cache *c, uint32_t class)
{
    const txm_class *k = &c->store.classes[class];
    return !fits_budget(c, slab_bytes_of(lone_slots(c, k) + k->slots / 16, k->tile_bytes));
}

/* Takes a slot from the class's free slots, a new slab, another class, or by eviction, in this order. The slot is
 * LOADING, and so cannot be evicted, until it is published or freed. As a last resort the budget is exceeded, because a
 * lookup that holds pins and cannot get one more tile would wait for itself. If open views hold the memory and only a
 * batch needs the tile, the result is TXM_NO_SLOT: it can be loaded later. */
uint32_t txm_slot_take(txm_cache *c, uint32_t tile_bytes, bool must)
{
    uint32_t class = class_of(c, tile_bytes);
    if (class == TXM_CLASSES)
        return TXM_NO_SLOT;
    txm_class *k = &c->store.classes[class];
    const uint32_t slots_before = k->slots;
    if (k->open == TXM_NO_SLOT && !new_slab(c, class, false)) {
        bool steals = !k->slots || others_are_older(c, class);
        if (!(steals && txm_slab_drop_one(c, class) && new_slab(c, class, false)))
            txm_evict(c, class, few_of(k->slots), false);
        if (k->open == TXM_NO_SLOT && txm_slab_drop_one(c, class))
            new_slab(c, class, false);
        if (k->open == TXM_NO_SLOT && may_retire(c))
            txm_evict(c, class, few_of(k->slots), true);
        /* All slots are being read, pinned by lookups, or shown. */
        if (k->open == TXM_NO_SLOT && !((must || !c->viewers.open_views) && new_slab(c, class, true)))
            return TXM_NO_SLOT;
    }
    const uint32_t slot = take_slot(c, k->open);
    if (k->slots > slots_before && is_nearly_full(c, class))
        txm_stage_first(c, class);
    return slot;
}

/* Frees a slot that lookups can no longer find. Its memory stays with the slab. It is taken next, because its pixels
 * are the likeliest to be in the processor's caches. */
void txm_slot_give(txm_cache *c, uint32_t slot)
{
    txm_slab *s = &c->store.slabs[slot >> TXM_SLOT_BITS];
    c->store.kept_bytes -= s->slot[slot & (TXM_SLOTS - 1)].kept ? c->store.classes[s->class].tile_bytes : 0;
    s->slot[slot & (TXM_SLOTS - 1)] = (txm_slot){.entry = s->free};
    s->free = slot & (TXM_SLOTS - 1);
    if (s->used-- == s->slots)
        link_open(c, slot >> TXM_SLOT_BITS);
    c->stats.tiles--;
    c->stats.tile_bytes -= c->store.classes[s->class].tile_bytes;
}

/* ---- tiles that open views show ---- */

/* The list is in the order of the views, so the slots that were retired first become free first. */
void txm_slot_retire(txm_cache *c, uint32_t slot)
{
    txm_slot *s = txm_slot_at(c, slot);
    if (s->state == TXM_SLOT_STATE_STAGED)
        txm_entry_keep(c, s->entry, -1);
    if (!txm_is_shown(c, s)) {
        txm_slot_give(c, slot);
        return;
    }
    c->store.kept_bytes -= s->kept ? txm_slot_bytes(c, slot) : 0;
    *s = (txm_slot){.entry = TXM_NO_SLOT, .stamp = c->viewers.last_view, .state = TXM_SLOT_STATE_RETIRED};
    *(c->store.retired_first == TXM_NO_SLOT ? &c->store.retired_first : &txm_slot_at(c, c->store.retired_last)->entry) =
        slot;
    c->store.retired_last = slot;
    c->store.retired_bytes += txm_slot_bytes(c, slot);
}

/* Frees the slots that were retired before the oldest open view was prepared. */
void txm_slots_free_retired(txm_cache *c)
{
    uint32_t oldest = c->viewers.last_view + 1;
    for (const txm_cache_viewer *v = c->viewers.first; v; v = v->next)
        if (v->open && (int32_t)(v->number - oldest) < 0)
            oldest = v->number;
    for (uint32_t slot; (slot = c->store.retired_first) != TXM_NO_SLOT;) {
        const txm_slot *s = txm_slot_at(c, slot);
        if ((int32_t)(s->stamp - oldest) >= 0)
            break;
        c->store.retired_first = s->entry;
        c->store.retired_bytes -= txm_slot_bytes(c, slot);
        txm_slot_give(c, slot);
    }
}
