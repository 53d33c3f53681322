/* SPDX-License-Identifier: Apache-2.0
 *
 * The page table: numbers of tiles, and the entries of those that are in use.
 *
 * A source begins with one number for each of its levels. Tiles get numbers when their level is requested for the first
 * time, together with all coarser levels. A number takes nothing but its share of a word for each leaf of 128; entries
 * of eight bytes, for the slot and the epoch of the last use, are made for a leaf when one of its tiles is requested,
 * and given back when none of them is in use. So the table grows with the tiles in memory and not with the textures: a
 * texture of 8192 px of which two tiles are seen takes two leaves of 1 KiB, and 684 bytes for their words.
 *
 * Lookups compute the number of a tile as view.first + level_first[level] + tile, so a level without numbers needs a
 * place in the table too. All such levels share one span: a run of UNREGISTERED words as long as the largest level of
 * any texture.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "tile/cache/catalog/parts.h"

/* A run of numbers of tiles, identified by the first one. A texture that is not open has one number. A source has a
 * first block with one number for each of its levels, or one number if it is packed; levels that are registered get
 * blocks of their own, with the numbers of their tiles, finest level first. */
typedef struct txm_block {
    uint32_t first;
    uint32_t count : 26, registered : 6; /* registered: the block's finest level; TXM_BLOCK_OF_LEVELS: a first block */
    txm_source *source;                  /* NULL: the block belongs to `texture`, which is not open; both unset: free */
    uint64_t retired;                    /* generation in which the source left the block; 0: in use */
    uint32_t next;                       /* next in the queue of blocks that were left, oldest first */
    union {
        uint32_t texture;
        uint32_t of_source; /* next block that is or was this source's, counted from 1; 0: none */
    };
} txm_block;

/* A queue of blocks that were left; there is one queue per size. */
typedef struct txm_block_queue {
    uint32_t first, last; /* NO_BLOCK: empty */
} txm_block_queue;

enum { BLOCK_QUEUES = 256 };
#define NO_BLOCK 0xFFFFFFFFu

/* The entries of TXM_LEAF_TILES consecutive numbers. `live` counts those that must be kept: tiles that are in memory,
 * being read, staged or permanently failed, and the numbers of levels and of textures that are not open. A leaf without
 * any is idle. Idle leaves are kept for a while, because their marks tell which tiles were loaded before. */
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
    uint32_t idle_first, idle_last;            /* NO_LEAF: none */
    uint32_t unlinked;                         /* list of leaves that are free when lookups were waited for */
    uint32_t free_from;                        /* all leaves before it are in use */
    uint32_t unregistered, unregistered_count; /* UNREGISTERED numbers: as many as the largest level has tiles */
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

void txm_leaf_fail(txm_catalog *k, uint32_t number, uint32_t state)
{
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

static void disown_block(txm_catalog *k, uint32_t block)
{
    txm_source *s = k->table->blocks[block].source;
    uint32_t *at = s ? &s->blocks : NULL;
    while (at && *at != block + 1)
        at = &k->table->blocks[*at - 1].of_source;
    if (at)
        *at = k->table->blocks[block].of_source;
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
            disown_block(k, i);
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
    b->count = count & 0x3FFFFFFu; /* at most 1.4 million */
    t->count += count;
    return b;
}

/* The numbers of levels and of textures that are not open have entries as long as the block is in use. */
static bool has_entries(const txm_block *b)
{
    return !b->source || b->registered == TXM_BLOCK_OF_LEVELS;
}

/* Reuses a retired block if possible. */
bool txm_block_new(txm_catalog *k, uint32_t count, uint32_t texture, txm_source *source, uint32_t level,
                   uint32_t *first)
{
    const bool entries = !source || level == TXM_BLOCK_OF_LEVELS;
    if (entries && !reserve_leaves(k, count / TXM_LEAF_TILES + 2))
        return false;
    txm_block *b = find_retired(k, count);
    k->table->is_kept = true;
    if (!b)
        b = append_block(k, count);
    k->table->is_kept = false;
    if (!b)
        return false;
    b->retired = 0;
    b->source = source;
    b->registered = source ? level & 63u : 0;
    if (!source) {
        b->texture = texture;
    } else {
        b->of_source = source->blocks;
        source->blocks = (uint32_t)(b - k->table->blocks) + 1;
    }
    *first = b->first;
    for (uint32_t n = b->first; n < *first + count; n++) {
        if (entries && !txm_entry(k, n))
            make_leaf(k, leaf_of(n));
        if (txm_entry(k, n)) {
            txm_entry(k, n)->mark = 0;
            txm_entry_set(k, n, TXM_SLOT_NONE);
        }
        if (entries)
            keep_entry(k, n, 1);
    }
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

/* Records the generation: older views may still hold numbers of the block. It is made odd whether or not the world is
 * stopped, so the block is free when all views have a later, even generation. */
static void retire(txm_catalog *k, uint32_t number)
{
    txm_block *b = &k->table->blocks[number];
    txm_block_queue *q = queue_of(k, b->count);
    for (uint32_t n = b->first; n < b->first + b->count; n++) {
        txm_entry_set(k, n, TXM_SLOT_NONE);
        if (has_entries(b))
            keep_entry(k, n, -1);
    }
    b->retired = atomic_load(&k->world->generation) | 1;
    b->next = NO_BLOCK;
    *(q->first == NO_BLOCK ? &q->first : &k->table->blocks[q->last].next) = number;
    q->last = number;
}

/* Requests for it may still come; they must not open the texture again. */
void txm_block_retire(txm_catalog *k, uint32_t first)
{
    block_of(k, first)->texture = TXM_NO_TEXTURE;
    retire(k, (uint32_t)(block_of(k, first) - k->table->blocks));
}

void txm_blocks_retire(txm_catalog *k, const txm_source *s)
{
    for (uint32_t i = s->blocks; i; i = k->table->blocks[i - 1].of_source)
        if (!k->table->blocks[i - 1].retired)
            retire(k, i - 1);
}

void txm_blocks_disown(txm_catalog *k, const txm_source *s)
{
    for (uint32_t i = s->blocks; i;) {
        txm_block *b = &k->table->blocks[i - 1];
        i = b->of_source;
        b->source = NULL;
        b->texture = TXM_NO_TEXTURE;
    }
}

void txm_each_tile(txm_catalog *k, const txm_source *s, void (*each)(void *arg, uint32_t number), void *arg)
{
    for (uint32_t i = s->blocks; i; i = k->table->blocks[i - 1].of_source) {
        const txm_block b = k->table->blocks[i - 1];
        if (b.retired || (b.registered == TXM_BLOCK_OF_LEVELS && !txm_view_is_packed(s->view)))
            continue;
        for (uint32_t n = b.first; n < b.first + b.count; n++) {
            if (txm_entry(k, n))
                each(arg, n);
            else
                n |= TXM_LEAF_TILES - 1;
        }
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

/* The sources that have numbers now; NULL: there is none from *at on. */
txm_source *txm_source_next(const txm_catalog *k, uint32_t *at)
{
    for (; *at < k->table->block_count; ++*at) {
        const txm_block *b = &k->table->blocks[*at];
        if (b->source && !b->retired && b->registered == TXM_BLOCK_OF_LEVELS) {
            ++*at;
            return b->source;
        }
    }
    return NULL;
}

/* ---- levels ---- */

uint32_t txm_source_tiles(const txm_source *s, uint32_t from_level)
{
    uint32_t n = 0; /* at most 1.4 million: 65536 x 65536 px in tiles of 64 */
    for (uint32_t i = from_level; i < s->view->levels; i++)
        n += txm_view_tiles(s->view, i);
    return n;
}

/* Computed as in lookups, in 32 bits that may wrap around: for levels in the shared span level_first is a difference
 * that may be negative. */
uint32_t txm_number(const txm_source *s, uint32_t level, uint32_t tile)
{
    return s->first + (txm_view_is_packed(s->view) ? 0 : s->view->level_first[level] + tile);
}

/* The inverse of txm_number. `number` may be in a block that its source has left since a request was made, or belong to
 * a level whose tiles have other numbers now; the block still identifies the tile. */
txm_located txm_locate(const txm_catalog *k, uint32_t number)
{
    const txm_block *b = block_of(k, number);
    txm_located at = {.texture = b && !b->source ? b->texture : TXM_NO_TEXTURE, .source = b ? b->source : NULL};
    if (!at.source)
        return at;
    at.level = b->registered;
    at.tile = number - b->first;
    if (b->registered == TXM_BLOCK_OF_LEVELS) { /* packed textures have one number */
        at.level = at.tile;
        at.tile = txm_view_is_packed(at.source->view) ? 0 : TXM_WHOLE_LEVEL;
        return at;
    }
    for (; at.level + 1u < at.source->view->levels && at.tile >= txm_view_tiles(at.source->view, at.level); at.level++)
        at.tile -= txm_view_tiles(at.source->view, at.level);
    return at;
}

/* The span is shared by all levels without numbers: a lookup there requests the level. Its size is a power of two, and
 * it has leaves of its own. When it grows, the old span is kept, because levels that were placed before still use it.
 */
bool txm_reserve_unregistered(txm_catalog *k, uint32_t count)
{
    txm_table *t = k->table;
    if (count <= t->unregistered_count)
        return true;
    uint32_t larger = TXM_LEAF_TILES;
    while (larger < count)
        larger *= 2;
    const uint32_t filler = -t->count & (TXM_LEAF_TILES - 1);
    if (filler && !append_block(k, filler))
        return false;
    txm_block *b = append_block(k, larger);
    if (!b)
        return false;
    b->texture = TXM_NO_TEXTURE;
    if (filler)
        b[-1].texture = TXM_NO_TEXTURE;
    t->unregistered = b->first;
    t->unregistered_count = larger;
    for (uint32_t i = 0; i < larger; i += TXM_LEAF_TILES)
        set_word(k, leaf_of(b->first + i), TXM_SLOT_UNREGISTERED);
    return true;
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
    /* A stub is one pixel whose only level is not registered. It does not have the texture's extension, because CLIP
     * would reject lookups near the edge before the size of the image is known. */
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
                            .level_first = {k->table->unregistered - first},
                            .scale = 1.0f,
                            .average = {0.5f, 0.5f, 0.5f, 1.0f}};
}

/* Gives a new source its first block. No texture shows it yet. */
static bool register_source(txm_catalog *k, txm_source *s)
{
    const bool packed = txm_view_is_packed(s->view);
    uint32_t first;
    if (!txm_reserve_unregistered(k, txm_view_tiles(s->view, 0)) ||
        !txm_block_new(k, packed ? 1 : s->view->levels, TXM_NO_TEXTURE, s, TXM_BLOCK_OF_LEVELS, &first))
        return false;
    s->first = first; /* levels that are not registered refer to the span of UNREGISTERED numbers */
    for (uint32_t i = 0; i < s->view->levels && !packed; i++)
        s->view->level_first[i] = k->table->unregistered - first;
    s->registered = packed ? 0 : (uint8_t)s->view->levels;
    return true;
}

/* Gives numbers to the levels from `level` to the finest one that has them. All textures of the source are updated
 * while the world is stopped. */
static bool register_levels(txm_catalog *k, txm_source *s, uint32_t level)
{
    uint32_t first, count = 0;
    for (uint32_t i = level; i < s->registered; i++)
        count += txm_view_tiles(s->view, i); /* at most 1.4 million: 65536 x 65536 px in tiles of 64 */
    if (!txm_block_new(k, count, TXM_NO_TEXTURE, s, level, &first))
        return false;
    txm_stop_world(k->world);
    for (uint32_t i = level, at = first - s->first; i < s->registered; i++) {
        s->view->level_first[i] = at;
        at += txm_view_tiles(s->view, i);
    }
    s->registered = (uint8_t)level;
    for (uint32_t i = s->first_texture; i != TXM_NO_TEXTURE; i = k->textures[i].next)
        txm_texture_show(k, i, s, 0);
    txm_resume_world(k->world);
    return true;
}

txm_status txm_source_register(txm_catalog *k, txm_source *s, uint32_t level, txm_error *err)
{
    const bool is_new = s->registered == s->view->levels + 1u;
    if (level >= s->registered)
        return TXM_OK;
    if ((is_new && !register_source(k, s)) || (level < s->registered && !register_levels(k, s, level)))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for the page table of a level of %llu tiles",
                        s->file->path,
                        (unsigned long long)txm_view_tiles(s->view, level < s->view->levels ? level : 0));
    return TXM_OK;
}
