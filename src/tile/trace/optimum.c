/* SPDX-License-Identifier: Apache-2.0
 *
 * The offline optimum: what is used again last goes first (Belady, 1966). Where tiles have several sizes the fewest
 * reads are hard to find; here parts of tiles may go, and then the same rule gives the fewest bytes, which no policy
 * that reads whole tiles gets below.
 *
 * The trace is walked once to number its tiles and to note their order; from the end of that, when each is used again
 * is known.
 */
#include "tile/trace/optimum.h"

#include <stdlib.h>

#include "tile/base/cancel.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/trace/trace_read.h"

#define NEVER UINT32_MAX
#define NOWHERE UINT32_MAX

typedef struct item {
    txm_tile_name name;
    uint32_t bytes, held; /* of the tile; of these in memory */
    uint32_t next;        /* use, as a place in `uses` */
    uint32_t place;       /* in the heap; NOWHERE: not there */
    bool known, constant; /* read before; of one colour: kept for nothing */
} item;

typedef struct optimum {
    const txm_trace *trace;
    item *items;
    size_t item_count, item_capacity;
    uint32_t *slots; /* hash table of items, by name; a power of two */
    size_t slot_count;
    uint32_t *uses, *next; /* item of each use; the use of that item after it */
    size_t use_count, use_capacity;
    uint32_t *heap, heap_count; /* items in memory, that which is used last on top */
    uint32_t smallest, largest; /* tile */
    uint64_t held, most;
} optimum;

/* ---- numbering tiles ---- */

/* Fibonacci hashing, and the upper half folded into the lower, which alone picks the place. */
static uint64_t hash_of(txm_tile_name n)
{
    uint64_t h = ((uint64_t)n.texture << 32 | n.level << 24) ^ n.tile;
    h *= 0x9E3779B97F4A7C15u;
    return h ^ h >> 32;
}

static bool same(txm_tile_name a, txm_tile_name b)
{
    return a.texture == b.texture && a.level == b.level && a.tile == b.tile;
}

/* Linear probing; the table is never more than half full, so there is always an empty place to end at. */
static uint32_t *slot_of(const optimum *o, txm_tile_name n)
{
    size_t i = hash_of(n) & (o->slot_count - 1);
    while (o->slots[i] != NOWHERE && !same(o->items[o->slots[i]].name, n))
        i = (i + 1) & (o->slot_count - 1);
    return &o->slots[i];
}

/* Places are indices of items, so the new table is filled from the list of items alone. */
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
        *slot_of(o, o->items[i].name) = (uint32_t)i;
    return true;
}

/* Sizes are noted when a tile is first seen; the smallest and largest tell later whether the budget is a
 * whole number of tiles. */
static bool add_use(optimum *o, txm_tile_name n)
{
    if (2 * (o->item_count + 1) > o->slot_count && !widen_table(o))
        return false;
    uint32_t *slot = slot_of(o, n);
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

/* A trace with both kinds of records holds each lookup twice: tiles are preferred, as they say what was
 * read. Epochs, launches and replaced files mean nothing to somebody who knows the future. */
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

/* When the item of each use is used again: found from the end. Afterwards `next` of an item is its first
 * use. */
static bool find_next(optimum *o)
{
    o->next = malloc(txm_mul(o->use_count + 1, sizeof *o->next));
    for (size_t i = o->next ? o->use_count : 0; i-- > 0;) {
        item *used = &o->items[o->uses[i]];
        o->next[i] = used->next;
        used->next = (uint32_t)i;
    }
    return o->next;
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

/* Towards the top while used later than its parent. A hole moves, not pairs: each item is written once. */
static void rise(optimum *o, uint32_t place)
{
    uint32_t moving = o->heap[place];
    for (; place && later(o, moving, o->heap[(place - 1) / 2]); place = (place - 1) / 2)
        put_in_heap(o, place, o->heap[(place - 1) / 2]);
    put_in_heap(o, place, moving);
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

/* The last item takes the place of the first and sinks. */
static void drop_top(optimum *o)
{
    o->items[o->heap[0]].place = NOWHERE;
    uint32_t last = o->heap[--o->heap_count];
    if (!o->heap_count)
        return;
    put_in_heap(o, 0, last);
    sink(o, 0);
}

/* ---- playing ---- */

/* Lets go of what is used last, but for `kept`, until `bytes` more fit. A tile may lose a part of its bytes
 * and stay on the heap; it counts as evicted when the last of them goes. */
static void evict_for(optimum *o, uint32_t bytes, txm_replay_counts *out)
{
    while (o->held + bytes > o->most && o->heap_count) {
        item *last = &o->items[o->heap[0]];
        uint64_t over = o->held + bytes - o->most;
        uint32_t gone = over < last->held ? (uint32_t)over : last->held;
        last->held -= gone;
        o->held -= gone;
        if (!last->held) {
            out->evicted++;
            drop_top(o);
        }
    }
}

/* Tiles of one colour are read once and cost nothing from then on, as the cache keeps them. Parts that are
 * read again count as the fraction of the tile that they are. */
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
    if (used->place != NOWHERE) { /* not to be dropped for itself: it is used now */
        used->next = 0;
        sink(o, used->place);
    }
    evict_for(o, missing, out);
    used->held += missing;
    o->held += missing;
    out->peak_bytes = o->held > out->peak_bytes ? o->held : out->peak_bytes;
    used->next = next;
    if (used->place == NOWHERE)
        put_in_heap(o, o->heap_count++, index);
    rise(o, used->place);
}

/* Where all tiles have one size, the budget is rounded down to whole tiles, so that the result is Belady's
 * own and can be compared tile by tile. A budget below one tile is taken as one: less would say nothing. */
static txm_status play_optimum(optimum *o, const txm_replay_options *options, txm_replay_counts *out, txm_error *err)
{
    double again = 0.0;
    o->heap = malloc(txm_mul(o->item_count + 1, sizeof *o->heap));
    if (!o->heap || !find_next(o))
        return txm_no_memory(err, NULL);
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
    out->reads_again = (uint64_t)(again + 1e-6 * again); /* a sum of quotients; whole where tiles have one size */
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
