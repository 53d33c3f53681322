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

#include <stdlib.h>

#include "base/os/pages.h"
#include "tile/cache/tiles/slabs.h"

enum { SMALL_ALIGNMENT = 64, HUGE_BYTES = 2 << 20, HUGE_FROM_BYTES = 64 << 20 };

/* The slab must exist: slot numbers in the page table are below TXM_SLOT_STATES and refer to tiles. */
txm_slot *txm_slot_at(const txm_tiles *t, uint32_t slot)
{
    return &t->slabs->slab[slot >> TXM_SLOT_BITS].slot[slot & (TXM_SLOTS - 1)];
}

uint32_t txm_slot_bytes(const txm_tiles *t, uint32_t slot)
{
    return t->slabs->classes[t->slabs->slab[slot >> TXM_SLOT_BITS].class].tile_bytes;
}

uint8_t *txm_slot_pixels(const txm_tiles *t, uint32_t slot)
{
    return t->slabs->slab[slot >> TXM_SLOT_BITS].pixels + (size_t)(slot & (TXM_SLOTS - 1)) * txm_slot_bytes(t, slot);
}

/* The stamp shows whether the slot still holds the tile that it held once. The slab's number may even belong to a slab
 * of another class by now, with fewer slots. */
txm_slot *txm_slot_with(const txm_tiles *t, uint32_t slot, uint32_t stamp)
{
    const uint32_t slab = slot >> TXM_SLOT_BITS, place = slot & (TXM_SLOTS - 1);
    txm_slot *s =
        slab < t->slabs->count && place < t->slabs->slab[slab].slots ? &t->slabs->slab[slab].slot[place] : NULL;
    return s && s->held.stamp == stamp && (s->state == TXM_SLOT_STATE_HELD || s->state == TXM_SLOT_STATE_SHARED) ? s
                                                                                                                 : NULL;
}

const txm_slot *txm_slab_slots(const txm_tiles *t, uint32_t slab, uint32_t *count)
{
    *count = t->slabs->slab[slab].slots;
    return t->slabs->slab[slab].slot;
}

uint32_t txm_slabs_end(const txm_tiles *t)
{
    return t->slabs->count;
}

void txm_slot_keep(txm_tiles *t, uint32_t slot, bool kept)
{
    txm_slot *s = txm_slot_at(t, slot);
    if (s->state != TXM_SLOT_STATE_HELD || s->kept == kept)
        return;
    s->kept = kept;
    t->kept_bytes += kept ? txm_slot_bytes(t, slot) : -(uint64_t)txm_slot_bytes(t, slot);
}

/* ---- arenas ---- */

/* Includes the slack that views guarantee, and is rounded up, so the next slab in memory begins on a cache line too. */
static size_t slab_bytes_of(uint32_t slots, uint32_t tile_bytes)
{
    return ((size_t)slots * tile_bytes + TXM_SLAB_SLACK + SMALL_ALIGNMENT - 1) & ~(size_t)(SMALL_ALIGNMENT - 1);
}

/* An arena with a free piece for a slab of this class; t->slabs->arena_count: none. The search begins with the last
 * arena, which is the likeliest. */
static uint32_t arena_with_room(const txm_tiles *t, uint32_t class)
{
    for (uint32_t i = t->slabs->classes[class].pieces_left ? t->slabs->arena_count : 0; i-- > 0;)
        if (t->slabs->arenas[i].memory && t->slabs->arenas[i].class == class &&
            t->slabs->arenas[i].used < t->slabs->arenas[i].pieces)
            return i;
    return t->slabs->arena_count;
}

/* Number of slots of a slab that has its own arena. With a small budget, slabs are small too: one pinned tile keeps its
 * whole slab in memory, and every class may have such a tile. */
static uint32_t lone_slots(const txm_tiles *t, const txm_class *k)
{
    enum { PARTS = 64 };
    const uint64_t most = t->max_bytes / PARTS;
    const uint32_t n = (uint32_t)(most && most < TXM_SLAB_BYTES ? most : TXM_SLAB_BYTES) / k->tile_bytes;
    return n > TXM_SLOTS ? TXM_SLOTS : n ? n : 1;
}

/* `exact`: the number of slots; 0: as many as the class has in a slab. A huge page is used if the budget is large
 * compared with it, and tiles of the class fill it. The kernel need not provide one; madvise is only a hint. Otherwise
 * an arena is one slab. */
static bool new_arena(txm_tiles *t, uint32_t class, uint32_t exact, bool beyond, uint32_t *arena)
{
    txm_class *k = &t->slabs->classes[class];
    const bool huge =
        !exact && k->pieces && (!t->max_bytes || t->max_bytes >= HUGE_FROM_BYTES) && txm_fits_budget(t, HUGE_BYTES);
    const uint32_t slots = exact ? exact : huge ? k->huge_slots : lone_slots(t, k);
    const size_t piece_bytes = slab_bytes_of(slots, k->tile_bytes), bytes = huge ? HUGE_BYTES : piece_bytes;
    uint32_t i = t->slabs->arenas_free ? 0 : t->slabs->arena_count;
    while (i < t->slabs->arena_count && t->slabs->arenas[i].memory)
        i++;
    if ((!beyond && !txm_fits_budget(t, bytes)) ||
        !txm_array_grow(t, (void **)&t->slabs->arenas, &t->slabs->arena_capacity, (uint64_t)i + 1,
                        sizeof *t->slabs->arenas, NULL))
        return false;
    uint8_t *memory = txm_allocate(t, bytes, huge ? HUGE_BYTES : SMALL_ALIGNMENT);
    if (!memory)
        return false;
    if (huge)
        txm_pages_prefer_large(memory, bytes);
    if (i == t->slabs->arena_count)
        t->slabs->arena_count++;
    else
        t->slabs->arenas_free--;
    t->slabs->arenas[i] = (txm_arena){.memory = memory,
                                      .bytes = bytes,
                                      .piece_bytes = piece_bytes,
                                      .class = class,
                                      .slots = slots,
                                      .pieces = huge ? k->pieces : 1};
    k->pieces_left += t->slabs->arenas[i].pieces;
    t->stats->slab_bytes += bytes;
    *arena = i;
    return true;
}

/* Frees a piece; the arena is freed with the last one. */
static void give_piece(txm_tiles *t, uint32_t arena, const uint8_t *pixels)
{
    txm_arena *a = &t->slabs->arenas[arena];
    txm_class *k = &t->slabs->classes[a->class];
    a->taken &= ~((uint64_t)1 << (size_t)(pixels - a->memory) / a->piece_bytes);
    k->pieces_left++;
    if (--a->used)
        return;
    k->pieces_left -= a->pieces;
    t->stats->slab_bytes -= a->bytes;
    t->slabs->arenas_free++;
    txm_release(t, a->memory, a->bytes);
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
static void link_open(txm_tiles *t, uint32_t number)
{
    txm_slab *s = &t->slabs->slab[number];
    txm_class *k = &t->slabs->classes[s->class];
    s->previous = TXM_NO_SLOT;
    s->next = k->open;
    if (k->open != TXM_NO_SLOT)
        t->slabs->slab[k->open].previous = number;
    k->open = number;
}

static void unlink_open(txm_tiles *t, uint32_t number)
{
    const txm_slab *s = &t->slabs->slab[number];
    *(s->previous != TXM_NO_SLOT ? &t->slabs->slab[s->previous].next : &t->slabs->classes[s->class].open) = s->next;
    if (s->next != TXM_NO_SLOT)
        t->slabs->slab[s->next].previous = s->previous;
}

/* A number for a new slab; TXM_NO_SLOT: out of memory. Numbers of freed slabs are reused. Lookups read only the array
 * of addresses, so only that is replaced with the world stopped. */
static uint32_t slab_number(txm_tiles *t)
{
    uint32_t i = t->slabs->free ? 0 : t->slabs->count;
    while (i < t->slabs->count && t->slabs->slab[i].pixels)
        i++;
    if (i + 1 >= TXM_SLOT_STATES >> TXM_SLOT_BITS)
        return TXM_NO_SLOT;
    if (!txm_array_grow(t, (void **)&t->slabs->slab, &t->slabs->capacity, (uint64_t)i + 1, sizeof *t->slabs->slab,
                        NULL) ||
        !txm_array_grow(t, (void **)&t->slabs->addresses, &t->slabs->address_capacity, (uint64_t)i + 1,
                        sizeof *t->slabs->addresses, (void **)&t->world->view.slabs))
        return TXM_NO_SLOT;
    return i;
}

/* Whether another slab and its tables fit, so making it evicts nothing. It is an upper estimate of what new_slab and
 * txm_evict may allocate, given that arrays grow by at most half. */
static bool slab_fits(const txm_tiles *t, uint32_t class)
{
    enum { GROWTH = 3 };
    const txm_class *k = &t->slabs->classes[class];
    const uint32_t arena = arena_with_room(t, class);
    const uint32_t n = arena < t->slabs->arena_count ? t->slabs->arenas[arena].slots : lone_slots(t, k);
    size_t more = n * sizeof(txm_slot);
    if (k->slots + n > k->order_capacity)
        more += (size_t)(k->slots + n) * sizeof *k->order * GROWTH / 2;
    if (!t->slabs->free && t->slabs->count == t->slabs->capacity)
        more += t->slabs->count * (sizeof *t->slabs->slab + sizeof *t->slabs->addresses) * GROWTH / 2;
    return txm_fits_budget(t, more + (arena == t->slabs->arena_count ? slab_bytes_of(n, k->tile_bytes) : 0));
}

/* Makes a slab of a class, of `exact` slots unless that is 0; `beyond`: even if that exceeds the budget. Slots are
 * taken in the order of their addresses. */
static bool make_slab(txm_tiles *t, uint32_t class, uint32_t exact, bool beyond)
{
    uint32_t number, arena;
    if ((!beyond && !slab_fits(t, class)) || (number = slab_number(t)) == TXM_NO_SLOT ||
        ((arena = exact ? t->slabs->arena_count : arena_with_room(t, class)) == t->slabs->arena_count &&
         !new_arena(t, class, exact, beyond, &arena)))
        return false;
    txm_arena *a = &t->slabs->arenas[arena];
    const uint32_t n = a->slots, piece = (uint32_t)__builtin_ctzll(~a->taken); /* the first free one */
    uint8_t *pixels = a->memory + piece * a->piece_bytes;
    a->taken |= (uint64_t)1 << piece;
    a->used++;
    t->slabs->classes[class].pieces_left--;
    txm_slot *slots = txm_allocate(t, n * sizeof *slots, SMALL_ALIGNMENT);
    if (!slots) {
        give_piece(t, arena, pixels);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        slots[i] = (txm_slot){.free = {i + 1}};
    t->slabs->slab[number] = (txm_slab){.pixels = pixels, .arena = arena, .class = class, .slots = n, .slot = slots};
    t->slabs->addresses[number] = (uint64_t)(uintptr_t)pixels;
    if (number == t->slabs->count)
        t->slabs->count++;
    else
        t->slabs->free--;
    t->slabs->classes[class].slots += n;
    link_open(t, number);
    return true;
}

/* The same. Making room may move tiles to new slabs, so room is made before a number is chosen, and not while the slab
 * is made. */
static bool new_slab(txm_tiles *t, uint32_t class, uint32_t exact, bool beyond)
{
    const txm_class *k = &t->slabs->classes[class];
    const bool busy = t->busy;
    if (beyond)
        txm_make_room(t, slab_bytes_of(exact ? exact : lone_slots(t, k), k->tile_bytes));
    t->busy = true;
    const bool ok = make_slab(t, class, exact, beyond);
    t->busy = busy;
    return ok;
}

/* Frees a slab whose slots are all free. */
static void drop_slab(txm_tiles *t, uint32_t number)
{
    txm_slab *s = &t->slabs->slab[number];
    if (s->used < s->slots)
        unlink_open(t, number);
    t->slabs->classes[s->class].slots -= s->slots;
    t->slabs->free++;
    txm_release(t, s->slot, s->slots * sizeof *s->slot);
    give_piece(t, s->arena, s->pixels);
    *s = (txm_slab){0};
}

/* Frees empty slabs of a range, so other classes can use the memory. */
void txm_slabs_drop_empty(txm_tiles *t, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end && i < t->slabs->count; i++)
        if (t->slabs->slab[i].pixels && !t->slabs->slab[i].used)
            drop_slab(t, i);
}

/* Kept tiles would hold the memory of all their neighbours, so they can be moved to another slab. */
static bool is_movable(const txm_slot *s)
{
    return s->state == TXM_SLOT_STATE_HELD && s->kept && !s->pins;
}

/* The average order of the tiles of a slab, by their last use; UINT64_MAX if one of them cannot be evicted or moved.
 * Free slots count as never used, so half-empty slabs are freed before full ones. A slab that is full of tiles to be
 * moved gives no memory. */
static uint64_t slab_order(txm_tiles *t, const txm_slab *s)
{
    uint64_t sum = 0;
    uint32_t movable = 0;
    for (uint32_t i = 0; i < s->slots; i++) {
        if (s->slot[i].state != TXM_SLOT_STATE_FREE && !txm_slot_evictable(&s->slot[i]) && !is_movable(&s->slot[i]))
            return UINT64_MAX;
        movable += is_movable(&s->slot[i]);
        sum += s->slot[i].state == TXM_SLOT_STATE_HELD ? t->order(t->owner, &s->slot[i]) : 0;
    }
    return movable == s->slots ? UINT64_MAX : sum / s->slots;
}

/* Takes the first free slot of a slab that has one. It is LOADING. */
static uint32_t take_slot(txm_tiles *t, uint32_t number)
{
    txm_slab *slab = &t->slabs->slab[number];
    const uint32_t place = slab->free;
    txm_slot *s = &slab->slot[place];
    slab->free = s->free.next;
    if (++slab->used == slab->slots)
        unlink_open(t, number);
    *s = (txm_slot){.state = TXM_SLOT_STATE_LOADING, .held = {++t->stamp, 0}};
    t->stats->tiles++;
    t->stats->tile_bytes += t->slabs->classes[slab->class].tile_bytes;
    t->stats->tiles_peak = t->stats->tiles > t->stats->tiles_peak ? t->stats->tiles : t->stats->tiles_peak;
    if (t->stats->tile_bytes > t->stats->tile_bytes_peak)
        t->stats->tile_bytes_peak = t->stats->tile_bytes;
    return number << TXM_SLOT_BITS | place;
}

static bool shows_slab(const txm_tiles *t, const txm_slab *s)
{
    for (uint32_t i = 0; t->open_views && i < s->slots; i++)
        if (s->slot[i].state != TXM_SLOT_STATE_FREE && txm_is_shown(t, &s->slot[i]))
            return true;
    return false;
}

/* The least recently used slab, among those that open views show or among the others; TXM_NO_SLOT: none. */
static uint32_t oldest_slab(txm_tiles *t, uint32_t not_of_class, bool shown)
{
    uint32_t best = TXM_NO_SLOT;
    uint64_t best_order = UINT64_MAX;
    for (uint32_t i = 0; i < t->slabs->count; i++) {
        const txm_slab *s = &t->slabs->slab[i];
        const uint64_t order = s->pixels && s->class != not_of_class ? slab_order(t, s) : UINT64_MAX;
        if (order < best_order && shows_slab(t, s) == shown) {
            best_order = order;
            best = i;
        }
    }
    return best;
}

/* Whether tiles that open views show may still be evicted; their slots become free when these views are closed. An
 * eighth of the memory may be retired, so batches make progress even if some view is always open. */
static bool may_retire(const txm_tiles *t)
{
    enum { PART = 8 };
    return t->open_views && t->slabs->retired_bytes < t->max_bytes / PART;
}

/* Takes a free slot of the class in another slab, or in a new one for `count` tiles, even if that exceeds the budget.
 */
static uint32_t slot_elsewhere(txm_tiles *t, uint32_t class, uint32_t slab, uint32_t count)
{
    uint32_t number = t->slabs->classes[class].open;
    while (number == slab)
        number = t->slabs->slab[number].next;
    if (number == TXM_NO_SLOT) {
        if (!new_slab(t, class, count, true))
            return TXM_NO_SLOT;
        number = t->slabs->classes[class].open;
    }
    return take_slot(t, number);
}

/* Moves the kept tiles of a slab, and frees their slots there once no lookup reads them. No open view may show them.
 * False: there is no memory for that. */
static bool move_kept(txm_tiles *t, uint32_t slab)
{
    const uint32_t class = t->slabs->slab[slab].class, bytes = t->slabs->classes[class].tile_bytes;
    uint32_t moved[TXM_SLOTS], places[TXM_SLOTS], count = 0, left = 0;
    bool ok = true;
    const bool busy = t->busy;
    for (uint32_t i = 0; i < t->slabs->slab[slab].slots; i++)
        left += is_movable(&t->slabs->slab[slab].slot[i]);
    t->busy = true;
    for (uint32_t i = 0; ok && i < t->slabs->slab[slab].slots; i++) {
        const uint32_t from = slab << TXM_SLOT_BITS | i;
        if (!is_movable(txm_slot_at(t, from)))
            continue;
        const uint32_t to = slot_elsewhere(t, class, slab, left--);
        ok = to != TXM_NO_SLOT;
        if (!ok)
            break;
        memcpy(txm_slot_pixels(t, to), txm_slot_pixels(t, from), bytes);
        txm_slot *old = txm_slot_at(t, from), *fresh = txm_slot_at(t, to);
        *fresh = (txm_slot){.state = TXM_SLOT_STATE_HELD, .kept = true, .held = {fresh->held.stamp, old->held.tile}};
        old->kept = false;
        places[count] = to;
        moved[count++] = from;
    }
    if (count)
        t->lost(t->owner, TXM_LOSS_MOVED, moved, places, count);
    t->slabs->changes += count;
    while (count)
        txm_slot_give(t, moved[--count]);
    t->busy = busy;
    return ok;
}

/* Evicts all tiles of the least recently used slab and frees it. TXM_NO_SLOT for a class excludes none. False: no slab
 * was freed, because each has a tile that cannot be evicted or that an open view shows. In the latter case the tiles of
 * one slab may be evicted nevertheless; their memory is free when the view is closed. */
bool txm_slab_drop_one(txm_tiles *t, uint32_t not_of_class)
{
    uint32_t slots[TXM_SLOTS], count = 0, best = oldest_slab(t, not_of_class, false);
    const bool free_at_once = best != TXM_NO_SLOT;
    if (!free_at_once && may_retire(t))
        best = oldest_slab(t, not_of_class, true);
    if (best == TXM_NO_SLOT || (free_at_once && !move_kept(t, best)))
        return false;
    for (uint32_t i = 0; i < t->slabs->slab[best].slots; i++)
        if (t->slabs->slab[best].slot[i].state == TXM_SLOT_STATE_HELD && !t->slabs->slab[best].slot[i].kept)
            slots[count++] = best << TXM_SLOT_BITS | i;
    txm_evict_slots(t, slots, count);
    t->squeezed += count;
    if (free_at_once)
        drop_slab(t, best);
    return free_at_once;
}

/* Shared tiles are rarely evicted, and each may keep a slab in use, so there may be one per 8 MiB of the budget. */
void txm_tiles_set_budget(txm_tiles *t, uint64_t max_bytes)
{
    const uint64_t n = max_bytes >> 23;
    t->max_bytes = max_bytes;
    t->slabs->constants_most = !max_bytes || n > CONSTANTS ? CONSTANTS : (uint32_t)n;
}

bool txm_tiles_init(txm_tiles *t)
{
    t->slabs = calloc(1, sizeof *t->slabs);
    if (!t->slabs)
        return false;
    t->slabs->retired_first = TXM_NO_SLOT;
    t->allocated = sizeof *t->slabs;
    txm_tiles_set_budget(t, t->max_bytes);
    return true;
}

void txm_tiles_free(txm_tiles *t)
{
    txm_slabs *s = t->slabs;
    for (uint32_t i = 0; s && i < s->count; i++)
        if (s->slab[i].pixels)
            drop_slab(t, i);
    for (uint32_t i = 0; s && i < s->class_count; i++)
        txm_release(t, s->classes[i].order, s->classes[i].order_capacity * sizeof *s->classes[i].order);
    if (s) {
        txm_release(t, s->slab, s->capacity * sizeof *s->slab);
        txm_release(t, s->addresses, s->address_capacity * sizeof *s->addresses);
        txm_release(t, s->arenas, s->arena_capacity * sizeof *s->arenas);
    }
    free(s);
}

/* ---- slots ---- */

/* The class of a tile size; CLASSES: there are too many. Classes are never removed, because there are few sizes and
 * an empty class takes no memory. */
static uint32_t class_of(txm_tiles *t, uint32_t tile_bytes)
{
    uint32_t i = 0;
    while (i < t->slabs->class_count && t->slabs->classes[i].tile_bytes != tile_bytes)
        i++;
    if (i == t->slabs->class_count && i < CLASSES) {
        t->slabs->classes[t->slabs->class_count++] = (txm_class){.tile_bytes = tile_bytes, .open = TXM_NO_SLOT};
        shape_class(&t->slabs->classes[i]);
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
static bool others_are_older(txm_tiles *t, uint32_t class)
{
    uint64_t own = UINT64_MAX, other = UINT64_MAX;
    if (t->slabs->class_count < 2)
        return false;
    for (uint32_t i = 0; i < t->slabs->count; i++) {
        const txm_slab *s = &t->slabs->slab[i];
        uint64_t order = s->pixels ? slab_order(t, s) : UINT64_MAX;
        uint64_t *side = s->class == class ? &own : &other;
        *side = order < *side ? order : *side;
    }
    return other < own;
}

/* Takes a slot from the class's free slots, a new slab, another class, or by eviction, in this order. As a last resort
 * the budget is exceeded, because a lookup that holds pins and cannot get one more tile would wait for itself. If open
 * views hold the memory and only a batch needs the tile, there is none: it can be loaded later. */
txm_taking txm_slot_take(txm_tiles *t, uint32_t tile_bytes, txm_need need)
{
    const uint32_t class = class_of(t, tile_bytes);
    const uint64_t before = t->slabs->changes;
    if (class == CLASSES)
        return (txm_taking){TXM_NO_SLOT, false};
    txm_class *k = &t->slabs->classes[class];
    if (k->open == TXM_NO_SLOT && !new_slab(t, class, 0, false) && need != TXM_NEED_FREE) {
        const bool steals = !k->slots || others_are_older(t, class);
        if (!(steals && txm_slab_drop_one(t, class) && new_slab(t, class, 0, false)))
            txm_evict(t, class, few_of(k->slots), false);
        if (k->open == TXM_NO_SLOT && txm_slab_drop_one(t, class))
            new_slab(t, class, 0, false);
        if (k->open == TXM_NO_SLOT && may_retire(t))
            txm_evict(t, class, few_of(k->slots), true);
        /* All slots are being read, pinned by lookups, or shown. */
        if (k->open == TXM_NO_SLOT && (need == TXM_NEED_MUST || !t->open_views))
            new_slab(t, class, 0, true);
    }
    return (txm_taking){k->open == TXM_NO_SLOT ? TXM_NO_SLOT : take_slot(t, k->open), t->slabs->changes != before};
}

/* Frees a slot that lookups can no longer find. Its memory stays with the slab. It is taken next, because its pixels
 * are the likeliest to be in the processor's caches. */
void txm_slot_give(txm_tiles *t, uint32_t slot)
{
    txm_slab *s = &t->slabs->slab[slot >> TXM_SLOT_BITS];
    t->kept_bytes -= s->slot[slot & (TXM_SLOTS - 1)].kept ? t->slabs->classes[s->class].tile_bytes : 0;
    s->slot[slot & (TXM_SLOTS - 1)] = (txm_slot){.free = {s->free}};
    s->free = slot & (TXM_SLOTS - 1);
    if (s->used-- == s->slots)
        link_open(t, slot >> TXM_SLOT_BITS);
    t->stats->tiles--;
    t->stats->tile_bytes -= t->slabs->classes[s->class].tile_bytes;
}

/* ---- tiles that open views show ---- */

/* Frees the slot of a tile that lookups could find until now: at once if no open view shows it, otherwise when these
 * views are closed. The list is in the order of the views, so the slots that were retired first become free first. */
void txm_slot_retire(txm_tiles *t, uint32_t slot)
{
    txm_slot *s = txm_slot_at(t, slot);
    if (!txm_is_shown(t, s)) {
        txm_slot_give(t, slot);
        return;
    }
    t->kept_bytes -= s->kept ? txm_slot_bytes(t, slot) : 0;
    *s = (txm_slot){.state = TXM_SLOT_STATE_RETIRED, .retired = {t->last_view, TXM_NO_SLOT}};
    *(t->slabs->retired_first == TXM_NO_SLOT ? &t->slabs->retired_first
                                             : &txm_slot_at(t, t->slabs->retired_last)->retired.next) = slot;
    t->slabs->retired_last = slot;
    t->slabs->retired_bytes += txm_slot_bytes(t, slot);
}

/* Frees the slots that were retired before the oldest open view was prepared. */
void txm_slots_free_retired(txm_tiles *t, uint32_t oldest_view)
{
    for (uint32_t slot; (slot = t->slabs->retired_first) != TXM_NO_SLOT;) {
        const txm_slot *s = txm_slot_at(t, slot);
        if ((int32_t)(s->retired.view - oldest_view) >= 0)
            break;
        t->slabs->retired_first = s->retired.next;
        t->slabs->retired_bytes -= txm_slot_bytes(t, slot);
        txm_slot_give(t, slot);
    }
}

/* ---- tiles of one colour ---- */

/* Searches the list, which is short, because few colours fill whole tiles. Only bytes and sizes are compared, so a slot
 * may serve textures of different types whose bytes happen to be equal. A new shared slot is filled to its last byte,
 * because it may later serve tiles that are not cut at the edge. */
uint32_t txm_slot_share(txm_tiles *t, uint32_t slot, uint32_t tile_bytes, uint32_t pixel_bytes)
{
    txm_slabs *s = t->slabs;
    uint8_t *pixels = txm_slot_pixels(t, slot);
    for (uint32_t i = 0; i < s->constant_count; i++)
        if (s->constants[i].tile_bytes == tile_bytes && s->constants[i].pixel_bytes == pixel_bytes &&
            memcmp(s->constants[i].pixel, pixels, pixel_bytes) == 0) {
            txm_slot_give(t, slot);
            t->stats->tiles_coalesced++;
            return s->constants[i].slot;
        }
    if (s->constant_count == t->slabs->constants_most)
        return slot;
    for (size_t at = pixel_bytes; at < tile_bytes; at += pixel_bytes)
        memcpy(pixels + at, pixels, pixel_bytes);
    s->constants[s->constant_count].tile_bytes = tile_bytes;
    s->constants[s->constant_count].pixel_bytes = pixel_bytes;
    s->constants[s->constant_count].slot = slot;
    memcpy(s->constants[s->constant_count++].pixel, pixels, pixel_bytes);
    *txm_slot_at(t, slot) = (txm_slot){.state = TXM_SLOT_STATE_SHARED, .shared = {txm_slot_at(t, slot)->held.stamp}};
    return slot;
}

/* Evicts them all together and after all others, because each serves many entries, and because their slots do not know
 * which. */
bool txm_shared_drop(txm_tiles *t)
{
    if (!t->slabs->constant_count || t->open_views) /* open views may show them */
        return false;
    t->lost(t->owner, TXM_LOSS_SHARED, NULL, NULL, 0);
    t->slabs->changes++;
    while (t->slabs->constant_count)
        txm_slot_give(t, t->slabs->constants[--t->slabs->constant_count].slot);
    txm_slabs_drop_empty(t, TXM_ALL_SLABS);
    return true;
}
