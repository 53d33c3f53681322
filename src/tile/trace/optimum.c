/* SPDX-License-Identifier: Apache-2.0
 *
 * The offline optimum: the tile whose next use is furthest in the future is evicted (Belady, 1966). If tiles have
 * several sizes, the minimum number of reads is hard to find. Here parts of tiles may be evicted; then the same rule
 * gives the minimum number of bytes, a lower bound for all policies that read whole tiles.
 *
 * The trace is read once to number its tiles and to list their uses. Going backwards through that list finds the next
 * use of each tile.
 */
#include <stdlib.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "tile/trace/trace_read.h"

#define NEVER UINT32_MAX
#define NOWHERE UINT32_MAX

typedef struct item {
    txm_tile_name name;
    uint32_t bytes, held; /* bytes: of the tile; held: bytes of it in memory */
    uint32_t next;        /* index in `uses` of its next use */
    uint32_t place;       /* index in the heap; NOWHERE: not in it */
    bool known, constant; /* known: read before; constant: of one colour, so it is kept without taking memory */
} item;

typedef struct optimum {
    const txm_trace *trace;
    item *items;
    size_t item_count, item_capacity;
    uint32_t *slots; /* hash table of items by name; its size is a power of two */
    size_t slot_count;
    uint32_t *uses, *next; /* item of each use; index of the same item's next use */
    size_t use_count, use_capacity;
    uint32_t *heap, heap_count; /* items in memory, the one with the latest next use on top */
    uint32_t smallest, largest; /* sizes of tiles */
    uint64_t held, most;
} optimum;

/* ---- numbering tiles ---- */

/* Fibonacci hashing; the upper half is folded into the lower one, because only the low bits select the slot. Linear
 * probing; the table is at most half full, so the search always ends at an empty slot. */
static uint32_t *slot_of_tile(const optimum *o, txm_tile_name n)
{
    const uint64_t h = (((uint64_t)n.texture << 32 | n.level << 24) ^ n.tile) * 0x9E3779B97F4A7C15u;
    for (size_t i = h ^ h >> 32;; i++) {
        uint32_t *slot = &o->slots[i & (o->slot_count - 1)];
        const txm_tile_name *there = *slot == NOWHERE ? NULL : &o->items[*slot].name;
        if (!there || (there->texture == n.texture && there->level == n.level && there->tile == n.tile))
            return slot;
    }
}

/* Slots hold indices of items, so the new table is filled from the list of items alone. */
static bool widen_table(optimum *o)
{
    size_t count = o->slot_count ? 2 * o->slot_count : 1024;
    uint32_t *old = o->slots;
    o->slots = malloc(txm_mul(count, sizeof *o->slots));
    if (!o->slots) {
        o->slots = old;
        return false;
    }
    free(old);
    o->slot_count = count;
    for (size_t i = 0; i < count; i++)
        o->slots[i] = NOWHERE;
    for (size_t i = 0; i < o->item_count; i++)
        *slot_of_tile(o, o->items[i].name) = (uint32_t)i;
    return true;
}

/* Adds a use of a tile, and the tile itself if it is new. The smallest and the largest size of all tiles show later
 * whether all have the same size. */
static bool add_use(optimum *o, txm_tile_name n)
{
    if (2 * (o->item_count + 1) > o->slot_count && !widen_table(o))
        return false;
    uint32_t *slot = slot_of_tile(o, n);
    if (*slot == NOWHERE) {
        uint32_t bytes = txm_trace_texture_at(o->trace, n.texture)->tile_bytes;
        if (!TXM_GROW(o->items, o->item_capacity, o->item_count))
            return false;
        *slot = (uint32_t)o->item_count;
        o->items[o->item_count++] = (item){
            .name = n, .bytes = bytes, .next = NEVER, .place = NOWHERE, .constant = txm_trace_pixel(o->trace, n)};
        o->smallest = bytes < o->smallest ? bytes : o->smallest;
        o->largest = bytes > o->largest ? bytes : o->largest;
    }
    if (!TXM_GROW(o->uses, o->use_capacity, o->use_count))
        return false;
    o->uses[o->use_count++] = *slot;
    return true;
}

/* Lists the uses of all tiles. A trace with both kinds of records holds each lookup twice; then the records of tiles
 * are used, because they are what was read. Epochs, launches and replaced files don't affect the optimum. */
static txm_status list_uses(optimum *o, const volatile int *cancel, txm_replay_counts *out, txm_error *err)
{
    const bool tiles = txm_trace_info_of(o->trace)->records & TXM_TRACE_TILES;
    txm_trace_cursor *cursor;
    txm_trace_event e;
    txm_status status = txm_trace_cursor_new(o->trace, &cursor, err);
    while (status == TXM_OK && (status = txm_trace_next(cursor, &e, err)) == TXM_OK && e.kind != TXM_TRACE_EVENT_END) {
        if (txm_is_cancelled(cancel))
            status = txm_fail(err, TXM_STATUS_CANCELLED, "stopped");
        if (e.kind != (tiles ? TXM_TRACE_EVENT_TILES : TXM_TRACE_EVENT_LOOKUP))
            continue;
        out->lookups++;
        if (o->use_count >= NEVER - e.tile_count)
            status = txm_fail(err, TXM_STATUS_TOO_LARGE, "the trace is too long for its optimum");
        for (uint32_t i = 0; status == TXM_OK && i < e.tile_count; i++)
            if (!add_use(o, e.tiles[i]))
                status = txm_no_memory(err, NULL);
    }
    txm_trace_cursor_free(&cursor);
    return status;
}

/* ---- the heap ---- */

static void put_in_heap(optimum *o, uint32_t place, uint32_t index)
{
    o->heap[place] = index;
    o->items[index].place = place;
}

static bool later(const optimum *o, uint32_t a, uint32_t b)
{
    return o->items[a].next > o->items[b].next;
}

static void sink(optimum *o, uint32_t place)
{
    uint32_t moving = o->heap[place];
    for (uint32_t child; (child = 2 * place + 1) < o->heap_count; place = child) {
        if (child + 1 < o->heap_count && later(o, o->heap[child + 1], o->heap[child]))
            child++;
        if (!later(o, o->heap[child], moving))
            break;
        put_in_heap(o, place, o->heap[child]);
    }
    put_in_heap(o, place, moving);
}

/* ---- playing ---- */

/* Uses a tile, and reads the bytes that are missing. Tiles of one colour are read once and then take no memory, as in
 * the cache. A part that is read again counts as a fraction of a read. */
static void use(optimum *o, uint32_t index, uint32_t next, double *reads_again, txm_replay_counts *out)
{
    item *used = &o->items[index];
    if (used->constant && used->known)
        return;
    uint32_t missing = used->bytes - used->held;
    if (missing) {
        out->read_bytes += missing;
        *reads_again += used->known ? (double)missing / used->bytes : 0.0;
        used->known = true;
    }
    if (used->constant)
        return;
    if (used->place != NOWHERE) { /* its next use is now, so it sinks and is not evicted for itself */
        used->next = 0;
        sink(o, used->place);
    }
    /* Evicts the items with the latest next use until `bytes` more fit. A tile may lose only a part of its bytes and
     * stay in the heap; it counts as evicted when the last part is evicted. */
    while (o->held + missing > o->most && o->heap_count) {
        item *last = &o->items[o->heap[0]];
        uint64_t over = o->held + missing - o->most;
        uint32_t gone = over < last->held ? (uint32_t)over : last->held;
        last->held -= gone;
        o->held -= gone;
        if (last->held)
            continue;
        out->evicted++;
        last->place = NOWHERE;
        if (!--o->heap_count)
            continue;
        put_in_heap(o, 0, o->heap[o->heap_count]); /* the last item takes the place of the top, and sinks */
        sink(o, 0);
    }
    used->held += missing;
    o->held += missing;
    out->peak_bytes = o->held > out->peak_bytes ? o->held : out->peak_bytes;
    used->next = next;
    if (used->place == NOWHERE)
        put_in_heap(o, o->heap_count++, index);
    /* The item rises while its next use is later than its parent's. */
    uint32_t place = used->place;
    for (; place && later(o, index, o->heap[(place - 1) / 2]); place = (place - 1) / 2)
        put_in_heap(o, place, o->heap[(place - 1) / 2]);
    put_in_heap(o, place, index);
}

/* If all tiles have one size, the budget is rounded down to whole tiles, so the result is Belady's and can be compared
 * tile by tile. A budget below one tile is raised to one. */
static txm_status play_optimum(optimum *o, const txm_replay_options *options, txm_replay_counts *out, txm_error *err)
{
    double again = 0.0;
    o->heap = malloc(txm_mul(o->item_count + 1, sizeof *o->heap));
    o->next = malloc(txm_mul(o->use_count + 1, sizeof *o->next));
    if (!o->heap || !o->next)
        return txm_no_memory(err, NULL);
    /* From the end to the start; afterwards `next` of an item is its first use. */
    for (size_t i = o->use_count; i-- > 0;) {
        item *used = &o->items[o->uses[i]];
        o->next[i] = used->next;
        used->next = (uint32_t)i;
    }
    o->most = options->max_bytes ? options->max_bytes : UINT64_MAX / 2;
    if (o->smallest == o->largest && options->max_bytes) /* whole tiles */
        o->most -= o->most % o->largest;
    o->most = o->most < o->largest ? o->largest : o->most;
    for (size_t i = 0; i < o->use_count; i++) {
        if (!(i & 0xFFFF) && txm_is_cancelled(options->cancel))
            return txm_fail(err, TXM_STATUS_CANCELLED, "stopped");
        use(o, o->uses[i], o->next[i], &again, out);
    }
    out->tiles = o->item_count;
    for (size_t i = 0; i < o->item_count; i++)
        out->tile_bytes += o->items[i].bytes;
    out->reads_again =
        (uint64_t)(again + 1e-6 * again); /* again is a sum of quotients, which is whole if all tiles have one size */
    out->reads = out->tiles + out->reads_again;
    out->peak_allocated_bytes = out->peak_bytes;
    return TXM_OK;
}

txm_status txm_optimum(const txm_trace *trace, const txm_replay_options *options, txm_replay_counts *out,
                       txm_error *err)
{
    optimum o = {.trace = trace, .smallest = UINT32_MAX};
    txm_status status = list_uses(&o, options->cancel, out, err);
    if (status == TXM_OK && o.item_count)
        status = play_optimum(&o, options, out, err);
    free(o.items);
    free(o.slots);
    free(o.uses);
    free(o.next);
    free(o.heap);
    return status;
}
