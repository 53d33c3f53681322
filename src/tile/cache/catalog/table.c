/* SPDX-License-Identifier: Apache-2.0
 *
 * The page table: numbers of tiles, and the entries of those that are in use.
 *
 * A texture that is not open has one number, whose request opens it; a source has one for each of its tiles. A number
 * takes nothing but its share of a word for each leaf of 128; entries of eight bytes, for the slot and the epoch of the
 * last use, are made for a leaf when one of its tiles is requested, and given back when none of them is in use. So the
 * table grows with the tiles in memory and not with the textures: a texture of 8192 px of which two tiles are seen
 * takes two leaves of 1 KiB, and 684 bytes for its words.
 */
#include <stdlib.h>

#include "tile/cache/catalog/parts.h"

/* A run of numbers, identified by the first one: that of a texture that is not open, or those of a source. */
typedef struct txm_block {
    uint32_t first, count;
    txm_source *source; /* NULL: the block belongs to `texture`, which is not open; TXM_NO_TEXTURE: to nobody */
    uint32_t texture;
    uint32_t next;    /* next in the queue of blocks that were left, oldest first */
    uint64_t retired; /* generation in which it was left; 0: in use */
} txm_block;

/* A queue of blocks that were left; there is one queue per size. */
typedef struct txm_block_queue {
    uint32_t first, last; /* NO_BLOCK: empty */
} txm_block_queue;

enum { BLOCK_QUEUES = 256 };
#define NO_BLOCK 0xFFFFFFFFu

/* The entries of TXM_LEAF_TILES consecutive numbers. `live` counts those that must be kept: tiles that are in memory,
 * being read, or permanently failed. A leaf without any is idle. Idle leaves are kept for a while, because their marks
 * tell which tiles were loaded before. */
typedef struct txm_leaf {
    uint32_t number; /* NO_LEAF: unused */
    uint32_t next;   /* next idle one */
    uint16_t live;
    bool idle; /* it is in the queue of idle ones, and was idle when it got there */
} txm_leaf;

#define NO_LEAF 0xFFFFFFFFu

/* Numbers are never moved, because lookups hold them; leaves are at any place in `entries`. */
typedef struct txm_table {
    uint32_t count; /* number of tiles that have numbers */
    uint32_t word_capacity;
    txm_leaf *leaves; /* of `entries`, in their order */
    uint32_t entry_capacity, leaf_capacity;
    uint32_t leaves_free, leaves_idle;
    uint32_t idle_first, idle_last; /* NO_LEAF: none */
    uint32_t unlinked;              /* list of leaves that are free when lookups were waited for */
    uint32_t free_from;             /* all leaves before it are in use */
    txm_block *blocks;
    uint32_t block_count, block_capacity;
    txm_block_queue left[BLOCK_QUEUES];
    bool is_kept; /* leaves are reserved: making room for what comes with them must not take them away */
} txm_table;

/* ---- entries ---- */

enum { LEAF_BYTES = TXM_LEAF_TILES * (int)sizeof(txm_tile_entry) };

static uint32_t leaf_of(uint32_t number)
{
    return number >> TXM_LEAF_SHIFT;
}

txm_tile_entry *txm_entry(const txm_catalog *k, uint32_t number)
{
    const uint32_t first = __atomic_load_n(&k->words[leaf_of(number)], __ATOMIC_RELAXED);
    return first < TXM_SLOT_STATES ? &k->entries[first + (number & (TXM_LEAF_TILES - 1))] : NULL;
}

uint32_t txm_entry_slot(const txm_catalog *k, uint32_t number)
{
    const uint32_t first = __atomic_load_n(&k->words[leaf_of(number)], __ATOMIC_RELAXED);
    return first < TXM_SLOT_STATES
               ? __atomic_load_n(&k->entries[first + (number & (TXM_LEAF_TILES - 1))].slot, __ATOMIC_RELAXED)
               : first;
}

/* Whether an entry must be kept for its state. Lookups change none of these states, so the counts stay right. */
static bool is_live(uint32_t slot)
{
    return slot < TXM_SLOT_STATES || slot == TXM_SLOT_LOADING || slot == TXM_SLOT_FAILED;
}

/* Counts an entry that must be kept, or ceases to. */
static void keep_entry(txm_catalog *k, uint32_t number, int change)
{
    txm_table *t = k->table;
    const uint32_t place = __atomic_load_n(&k->words[leaf_of(number)], __ATOMIC_RELAXED) >> TXM_LEAF_SHIFT;
    txm_leaf *l = &t->leaves[place];
    l->live = (uint16_t)(l->live + change);
    if (l->live || l->idle)
        return;
    l->idle = true;
    l->next = NO_LEAF;
    *(t->idle_first == NO_LEAF ? &t->idle_first : &t->leaves[t->idle_last].next) = place;
    t->idle_last = place;
    t->leaves_idle++;
}

/* Elements beyond a watcher's count are new to it, and copied in any case. */
static void note_change(txm_catalog *k, int part, uint32_t at)
{
    for (txm_changes *w = k->watchers; w; w = w->next)
        if (at < w->of[part].count)
            w->of[part].bits[at >> TXM_CHUNK_SHIFT >> 6] |= (uint64_t)1 << (at >> TXM_CHUNK_SHIFT) % 64;
}

static void entry_changed(txm_catalog *k, const txm_tile_entry *e)
{
    note_change(k, TXM_OF_ENTRIES, (uint32_t)(e - k->entries));
}

void txm_texture_changed(txm_catalog *k, uint32_t texture)
{
    note_change(k, TXM_OF_TEXTURES, texture);
}

void txm_number_changed(txm_catalog *k, uint32_t number)
{
    const txm_tile_entry *e = txm_entry(k, number);
    if (e)
        entry_changed(k, e);
}

/* The store has release order, so a lookup that sees the slot also sees its pixels. */
void txm_entry_set(txm_catalog *k, uint32_t number, uint32_t slot)
{
    txm_tile_entry *e = txm_entry(k, number);
    if (!e)
        return;
    const int change = is_live(slot) - is_live(__atomic_load_n(&e->slot, __ATOMIC_RELAXED));
    __atomic_store_n(&e->slot, slot, __ATOMIC_RELEASE);
    entry_changed(k, e);
    if (change)
        keep_entry(k, number, change);
}

bool txm_is_requested(uint32_t slot)
{
    return slot - TXM_SLOT_REQUESTED <= TXM_LAUNCH_NONE;
}

/* Requests in views are written to the views' copies of the page table, so the entry here may still be NONE. */
bool txm_claim(txm_catalog *k, uint32_t number)
{
    txm_tile_entry *e = txm_entry(k, number);
    uint32_t slot = __atomic_load_n(&e->slot, __ATOMIC_RELAXED);
    while (txm_is_requested(slot) || slot == TXM_SLOT_NONE ||
           (slot - TXM_SLOT_UNREADABLE <= UINT16_MAX &&
            slot != TXM_SLOT_UNREADABLE + (uint16_t)atomic_load(&k->world->round)))
        if (__atomic_compare_exchange_n(&e->slot, &slot, TXM_SLOT_LOADING, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            entry_changed(k, e);
            keep_entry(k, number, 1);
            return true;
        }
    return false;
}

/* ---- leaves ---- */

static void set_word(txm_catalog *k, uint32_t leaf, uint32_t word)
{
    __atomic_store_n(&k->words[leaf], word, __ATOMIC_RELEASE);
    note_change(k, TXM_OF_WORDS, leaf);
}

/* How many idle leaves may stay for their marks: a sixty-fourth of the budget, with the copies of views. */
static uint32_t idle_most(const txm_catalog *k)
{
    enum { LEAST = 8, PART = 64 };
    const uint64_t most = k->options->max_bytes / PART / LEAF_BYTES / (1 + k->watcher_count);
    if (!k->options->max_bytes || k->tiles->keeps_all || most > UINT32_MAX)
        return UINT32_MAX;
    return most < LEAST ? LEAST : (uint32_t)most;
}

/* Waits for lookups, if `wait` or if idle leaves can be given back, and gives those back. `all`: even those that may
 * stay for their marks. */
static void free_leaves(txm_catalog *k, bool all, bool wait)
{
    txm_table *t = k->table;
    const uint32_t most = idle_most(k), stay = all ? 0 : most - most / 4;
    for (bool unlinks = all || t->leaves_idle > most; unlinks && t->leaves_idle > stay;) {
        const uint32_t place = t->idle_first;
        txm_leaf *l = &t->leaves[place];
        t->idle_first = l->next;
        t->leaves_idle--;
        l->idle = false;
        if (l->live)
            continue;
        set_word(k, l->number, TXM_SLOT_NONE);
        l->next = t->unlinked;
        t->unlinked = place;
    }
    if (wait || t->unlinked != NO_LEAF)
        txm_wait_quiescent(k->world);
    while (t->unlinked != NO_LEAF) {
        const uint32_t place = t->unlinked;
        t->unlinked = t->leaves[place].next;
        t->leaves[place].number = NO_LEAF;
        t->leaves_free++;
        t->free_from = place < t->free_from ? place : t->free_from;
    }
}

void txm_entries_hidden(txm_catalog *k)
{
    free_leaves(k, false, true);
}

/* Makes sure that `count` leaves can be made without allocating. The arrays may move while the world is stopped. */
static bool reserve_leaves(txm_catalog *k, uint32_t count)
{
    txm_table *t = k->table;
    t->is_kept = true;
    if (t->leaves_free < count)
        free_leaves(k, false, false);
    while (t->leaves_free < count) {
        const uint32_t last = k->entry_count >> TXM_LEAF_SHIFT;
        if (k->entry_count >= TXM_SLOT_STATES - TXM_LEAF_TILES ||
            !txm_array_grow(k->tiles, (void **)&t->leaves, &t->leaf_capacity, (uint64_t)last + 1, sizeof *t->leaves,
                            NULL) ||
            !txm_array_grow(k->tiles, (void **)&k->entries, &t->entry_capacity,
                            (uint64_t)k->entry_count + TXM_LEAF_TILES, sizeof *k->entries,
                            (void **)&k->world->view.tiles)) {
            t->is_kept = false;
            return false;
        }
        t->leaves[last] = (txm_leaf){.number = NO_LEAF};
        k->entry_count += TXM_LEAF_TILES;
        t->leaves_free++;
        t->free_from = last < t->free_from ? last : t->free_from;
    }
    t->is_kept = false;
    return true;
}

/* The lowest free leaf is taken, so that the end of the table becomes free if the budget shrinks. */
static void make_leaf(txm_catalog *k, uint32_t leaf)
{
    txm_table *t = k->table;
    uint32_t place = t->free_from;
    while (t->leaves[place].number != NO_LEAF)
        place++;
    t->free_from = place + 1;
    t->leaves_free--;
    t->leaves[place] = (txm_leaf){.number = leaf};
    txm_tile_entry *entries = k->entries + ((size_t)place << TXM_LEAF_SHIFT);
    for (uint32_t i = 0; i < TXM_LEAF_TILES; i++)
        entries[i] = (txm_tile_entry){TXM_SLOT_NONE, 0};
    entry_changed(k, entries);
    entry_changed(k, entries + TXM_LEAF_TILES / 2);
    set_word(k, leaf, place << TXM_LEAF_SHIFT);
}

bool txm_entry_make(txm_catalog *k, uint32_t number)
{
    if (txm_entry(k, number))
        return true;
    if (!reserve_leaves(k, 1))
        return false;
    make_leaf(k, leaf_of(number));
    return true;
}

/* Without memory for entries, all tiles of the leaf fail. */
void txm_number_fail(txm_catalog *k, uint32_t number, uint32_t state)
{
    if (txm_entry_make(k, number))
        txm_entry_set(k, number, state);
    else
        txm_leaf_set(k, number, state);
}

void txm_leaf_set(txm_catalog *k, uint32_t number, uint32_t state)
{
    if (!txm_entry(k, number))
        set_word(k, leaf_of(number), state);
}

/* The tiles of leaves from a place on. */
typedef struct beyond {
    const txm_catalog *catalog;
    ptrdiff_t end;
} beyond;

static bool is_beyond(void *arg, const txm_slot *s)
{
    const beyond *b = arg;
    return txm_slot_evictable(s) && txm_entry(b->catalog, s->held.tile) - b->catalog->entries >= b->end;
}

/* Evicts the tiles of the last leaves if there are few in use, and drops the leaves from there on. */
void txm_table_trim(txm_catalog *k)
{
    enum { FEW = 8 };
    txm_table *t = k->table;
    if (t->is_kept)
        return;
    free_leaves(k, true, false);
    const uint32_t leaves = k->entry_count >> TXM_LEAF_SHIFT, used = leaves - t->leaves_free;
    if (leaves < FEW || t->leaves_free < leaves / 4)
        return;
    beyond last = {k, (ptrdiff_t)(used + used / 8) << TXM_LEAF_SHIFT};
    txm_evict_if(k->tiles, TXM_ALL_SLABS, is_beyond, &last);
    free_leaves(k, true, false);
    while (k->entry_count && t->leaves[(k->entry_count >> TXM_LEAF_SHIFT) - 1].number == NO_LEAF) {
        k->entry_count -= TXM_LEAF_TILES;
        t->leaves_free--;
    }
    t->free_from = t->free_from < k->entry_count >> TXM_LEAF_SHIFT ? t->free_from : k->entry_count >> TXM_LEAF_SHIFT;
    txm_array_shrink(k->tiles, (void **)&k->entries, &t->entry_capacity, k->entry_count, sizeof *k->entries,
                     (void **)&k->world->view.tiles);
    txm_array_shrink(k->tiles, (void **)&t->leaves, &t->leaf_capacity, k->entry_count >> TXM_LEAF_SHIFT,
                     sizeof *t->leaves, NULL);
}

bool txm_table_new(txm_catalog *k)
{
    txm_table *t = k->table = calloc(1, sizeof *t);
    if (!t)
        return false;
    memset(t->left, 0xFF, sizeof t->left); /* NO_BLOCK */
    t->idle_first = t->unlinked = NO_LEAF;
    return true;
}

void txm_table_free(txm_catalog *k)
{
    txm_table *t = k->table;
    if (!t)
        return;
    txm_release(k->tiles, k->entries, t->entry_capacity * sizeof *k->entries);
    txm_release(k->tiles, t->leaves, t->leaf_capacity * sizeof *t->leaves);
    txm_release(k->tiles, k->words, t->word_capacity * sizeof *k->words);
    txm_release(k->tiles, t->blocks, t->block_capacity * sizeof *t->blocks);
    free(t);
}

/* ---- blocks ---- */

/* The oldest view for which requests may still exist: threads hold them until they have loaded what they missed, and
 * views as long as they are open. */
static uint64_t oldest_generation(const txm_catalog *k)
{
    uint64_t oldest = UINT64_MAX;
    for (const txm_changes *w = k->watchers; w; w = w->next)
        oldest = w->holds < oldest ? w->holds : oldest;
    for (const txm_reader *r = k->world->readers; r; r = r->next) {
        const uint64_t asks_of = atomic_load(&r->asks_of);
        oldest = asks_of < oldest ? asks_of : oldest;
    }
    return oldest;
}

static txm_block_queue *queue_of(txm_catalog *k, uint32_t count)
{
    return &k->table->left[(count ^ count >> 8 ^ count >> 16) % BLOCK_QUEUES];
}

/* Finds a block of this size that was left before all views that are still in use were made. Only a block of equal size
 * can be used, because blocks are kept in the order of their first entries and are never split. The queue is in the
 * order of retirement, and few sizes share one, so a few steps are enough. */
static txm_block *find_retired(txm_catalog *k, uint32_t count)
{
    enum { STEPS = 32 };
    txm_block_queue *q = queue_of(k, count);
    const uint64_t oldest = q->first != NO_BLOCK ? oldest_generation(k) : 0;
    uint32_t before = NO_BLOCK, i = q->first;
    for (int n = 0; n < STEPS && i != NO_BLOCK && k->table->blocks[i].retired < oldest; n++) {
        txm_block *b = &k->table->blocks[i];
        if (b->count == count) {
            *(before == NO_BLOCK ? &q->first : &k->table->blocks[before].next) = b->next;
            if (q->last == i)
                q->last = before;
            return b;
        }
        before = i;
        i = b->next;
    }
    return NULL;
}

/* Appends a block at the end of the table. */
static txm_block *append_block(txm_catalog *k, uint32_t count)
{
    txm_table *t = k->table;
    const uint64_t words = ((uint64_t)t->count + count + TXM_LEAF_TILES - 1) >> TXM_LEAF_SHIFT;
    if ((uint64_t)t->count + count > UINT32_MAX ||
        !txm_array_grow(k->tiles, (void **)&t->blocks, &t->block_capacity, (uint64_t)t->block_count + 1,
                        sizeof *t->blocks, NULL) ||
        !txm_array_grow(k->tiles, (void **)&k->words, &t->word_capacity, words, sizeof *k->words,
                        (void **)&k->world->view.leaves))
        return NULL;
    while (k->word_count < words)
        k->words[k->word_count++] = TXM_SLOT_NONE;
    txm_block *b = &t->blocks[t->block_count++];
    b->first = t->count;
    b->count = count;
    t->count += count;
    return b;
}

/* Forgets what is known of the numbers of a block. */
static void reset_entries(txm_catalog *k, const txm_block *b)
{
    for (uint32_t n = b->first; n < b->first + b->count; n++) {
        txm_tile_entry *e = txm_entry(k, n);
        if (e) {
            __atomic_store_n(&e->mark, 0, __ATOMIC_RELAXED);
            txm_entry_set(k, n, TXM_SLOT_NONE);
        } else {
            n |= TXM_LEAF_TILES - 1;
        }
    }
}

/* Reuses a retired block if possible. */
bool txm_block_new(txm_catalog *k, uint32_t count, uint32_t texture, txm_source *source, uint32_t *first)
{
    txm_block *b = find_retired(k, count);
    if (!b)
        b = append_block(k, count);
    if (!b)
        return false;
    b->retired = 0;
    b->source = source;
    b->texture = texture;
    *first = b->first;
    reset_entries(k, b);
    return true;
}

/* Binary search; NULL: the number is in no block. Blocks are appended in ascending order, so the list is always sorted.
 */
static txm_block *block_of(const txm_catalog *k, uint32_t number)
{
    uint32_t low = 0, high = k->table->block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(k->table->blocks[middle].first <= number ? &low : &high) = middle;
    }
    if (low == high)
        return NULL;
    txm_block *b = k->table->blocks + low;
    return number >= b->first && number - b->first < b->count ? b : NULL;
}

txm_source *txm_source_of(const txm_catalog *k, uint32_t number)
{
    const txm_block *b = block_of(k, number);
    return b ? b->source : NULL;
}

/* Leaves a block, whose tiles must have been evicted. Requests for it may still come, and are ignored. The generation
 * is recorded, because older views may still hold its numbers. It is made odd whether or not the world is stopped, so
 * the block is free when all views have a later, even generation. */
void txm_block_retire(txm_catalog *k, uint32_t first)
{
    txm_block *b = block_of(k, first);
    const uint32_t number = (uint32_t)(b - k->table->blocks);
    txm_block_queue *q = queue_of(k, b->count);
    reset_entries(k, b);
    b->source = NULL;
    b->texture = TXM_NO_TEXTURE;
    b->retired = atomic_load(&k->world->generation) | 1;
    b->next = NO_BLOCK;
    *(q->first == NO_BLOCK ? &q->first : &k->table->blocks[q->last].next) = number;
    q->last = number;
}

void txm_each_tile(txm_catalog *k, const txm_source *s, void (*each)(void *arg, uint32_t number), void *arg)
{
    for (uint32_t n = s->first, end = n + txm_source_tiles(s); n < end; n++) {
        if (txm_entry(k, n))
            each(arg, n);
        else
            n |= TXM_LEAF_TILES - 1;
    }
}

/* The slots of shared tiles do not list the entries that show them, so the whole page table is walked; this happens
 * only if nothing else is left to evict. */
void txm_shared_forget(txm_catalog *k)
{
    for (uint32_t i = 0; i < k->entry_count; i++) {
        const uint32_t slot = __atomic_load_n(&k->entries[i].slot, __ATOMIC_RELAXED);
        const uint32_t leaf = k->table->leaves[i >> TXM_LEAF_SHIFT].number;
        if (leaf != NO_LEAF && slot < TXM_SLOT_STATES && txm_slot_at(k->tiles, slot)->state == TXM_SLOT_STATE_SHARED)
            txm_entry_set(k, leaf << TXM_LEAF_SHIFT | (i & (TXM_LEAF_TILES - 1)), TXM_SLOT_NONE);
    }
    txm_wait_quiescent(k->world);
}

/* NULL: no sources are left from *at onwards. */
txm_source *txm_source_next(const txm_catalog *k, uint32_t *at)
{
    for (; *at < k->table->block_count; ++*at)
        if (k->table->blocks[*at].source)
            return k->table->blocks[(*at)++].source;
    return NULL;
}

/* ---- sources ---- */

/* In all levels: at most 1.4 million, of 65536 x 65536 px in tiles of 64. */
uint32_t txm_source_tiles(const txm_source *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->view->levels; i++)
        n += txm_view_tiles(s->view, i);
    return n;
}

uint32_t txm_number(const txm_source *s, uint32_t level, uint32_t tile)
{
    return s->first + (txm_view_is_packed(s->view) ? 0 : s->view->level_first[level] + tile);
}

/* The inverse of txm_number. The block of `number` may have been left since a request was made. */
txm_located txm_locate(const txm_catalog *k, uint32_t number)
{
    const txm_block *b = block_of(k, number);
    txm_located at = {.texture = TXM_NO_TEXTURE};
    if (!b)
        return at;
    at.texture = b->texture;
    at.source = b->source;
    at.tile = number - b->first;
    for (; at.source && at.level + 1u < at.source->view->levels && at.tile >= txm_view_tiles(at.source->view, at.level);
         at.level++)
        at.tile -= txm_view_tiles(at.source->view, at.level);
    return at;
}

/* Fills in the description of the source, or without a source that of a stub. */
void txm_texture_show(txm_catalog *k, uint32_t texture, const txm_source *s, uint32_t first)
{
    txm_view_texture *v = &k->view_textures[texture];
    txm_texture_changed(k, texture);
    if (s) {
        float average[4];
        memcpy(average, v->average, sizeof average);
        *v = *s->view;
        v->first = s->first;
        memcpy(v->average, average, sizeof average);
        return;
    }
    /* A stub is one pixel in one tile. It does not have the texture's extension, because CLIP would reject lookups near
     * the edge before the size of the image is known. */
    *v = (txm_view_texture){.width = 1,
                            .height = 1,
                            .levels = 1,
                            .tiled_levels = 1,
                            .channels = 4,
                            .extension = TXM_EXTENSION_EXTEND,
                            .pixel_bytes = 4,
                            .row_bytes = 5 * 4,
                            .tile_bytes = 5 * 5 * 4,
                            .first = first,
                            .scale = 1.0f,
                            .average = {0.5f, 0.5f, 0.5f, 1.0f}};
}
