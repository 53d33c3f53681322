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
#include "tile/cache/cache_impl.h"

/* ---- entries ---- */

enum { LEAF_BYTES = TXM_LEAF_TILES * (int)sizeof(txm_tile_entry) };

static uint32_t leaf_of(uint32_t number)
{
    return number >> TXM_LEAF_SHIFT;
}

txm_tile_entry *txm_entry(const txm_cache *c, uint32_t number)
{
    const uint32_t first = __atomic_load_n(&c->table.words[leaf_of(number)], __ATOMIC_RELAXED);
    return first < TXM_SLOT_STATES ? &c->table.entries[first + (number & (TXM_LEAF_TILES - 1))] : NULL;
}

uint32_t txm_entry_slot(const txm_cache *c, uint32_t number)
{
    const uint32_t first = __atomic_load_n(&c->table.words[leaf_of(number)], __ATOMIC_RELAXED);
    return first < TXM_SLOT_STATES
               ? __atomic_load_n(&c->table.entries[first + (number & (TXM_LEAF_TILES - 1))].slot, __ATOMIC_RELAXED)
               : first;
}

/* Whether an entry must be kept for its state. Lookups change none of these states, so the counts stay right. */
static bool is_live(uint32_t slot)
{
    return slot < TXM_SLOT_STATES || slot == TXM_SLOT_LOADING || slot == TXM_SLOT_FAILED;
}

void txm_entry_keep(txm_cache *c, uint32_t number, int change)
{
    txm_table *t = &c->table;
    const uint32_t place = t->words[leaf_of(number)] >> TXM_LEAF_SHIFT;
    txm_leaf *l = &t->leaves[place];
    l->live = (uint16_t)(l->live + change);
    if (l->live || l->idle)
        return;
    l->idle = true;
    l->next = TXM_NO_LEAF;
    *(t->idle_first == TXM_NO_LEAF ? &t->idle_first : &t->leaves[t->idle_last].next) = place;
    t->idle_last = place;
    t->leaves_idle++;
}

static void entry_changed(txm_cache *c, const txm_tile_entry *e)
{
    if (c->viewers.first)
        txm_entry_changed(c, (uint32_t)(e - c->table.entries));
}

/* The store has release order, so a lookup that sees the slot also sees its pixels. */
void txm_entry_set(txm_cache *c, uint32_t number, uint32_t slot)
{
    txm_tile_entry *e = txm_entry(c, number);
    if (!e)
        return;
    const int change = is_live(slot) - is_live(__atomic_load_n(&e->slot, __ATOMIC_RELAXED));
    __atomic_store_n(&e->slot, slot, __ATOMIC_RELEASE);
    entry_changed(c, e);
    if (change)
        txm_entry_keep(c, number, change);
}

/* Requests in views are written to the views' copies of the page table, so the entry here may still be NONE. */
bool txm_claim(txm_cache *c, uint32_t number)
{
    txm_tile_entry *e = txm_entry(c, number);
    uint32_t slot = __atomic_load_n(&e->slot, __ATOMIC_RELAXED);
    while (txm_is_requested(slot) || slot == TXM_SLOT_NONE ||
           (slot - TXM_SLOT_UNREADABLE <= UINT16_MAX && slot != TXM_SLOT_UNREADABLE + (uint16_t)atomic_load(&c->round)))
        if (__atomic_compare_exchange_n(&e->slot, &slot, TXM_SLOT_LOADING, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            entry_changed(c, e);
            txm_entry_keep(c, number, 1);
            return true;
        }
    return false;
}

/* ---- leaves ---- */

static void set_word(txm_cache *c, uint32_t leaf, uint32_t word)
{
    __atomic_store_n(&c->table.words[leaf], word, __ATOMIC_RELEASE);
    if (c->viewers.first)
        txm_leaf_changed(c, leaf);
}

/* How many idle leaves may stay for their marks: a sixty-fourth of the budget, with the copies of views. */
static uint32_t idle_most(const txm_cache *c)
{
    enum { LEAST = 8, PART = 64 };
    const uint64_t most = c->options.max_bytes / PART / LEAF_BYTES / (1 + c->viewers.count);
    if (!c->options.max_bytes || txm_policy_of(c)->keeps_all || most > UINT32_MAX)
        return UINT32_MAX;
    return most < LEAST ? LEAST : (uint32_t)most;
}

bool txm_leaves_unlink(txm_cache *c, bool all)
{
    txm_table *t = &c->table;
    const uint32_t most = idle_most(c), stay = all ? 0 : most - most / 4;
    bool found = t->unlinked != TXM_NO_LEAF;
    if (!all && t->leaves_idle <= most)
        return found;
    while (t->leaves_idle > stay) {
        const uint32_t place = t->idle_first;
        txm_leaf *l = &t->leaves[place];
        t->idle_first = l->next;
        t->leaves_idle--;
        l->idle = false;
        if (l->live)
            continue;
        set_word(c, l->number, TXM_SLOT_NONE);
        l->next = t->unlinked;
        t->unlinked = place;
        found = true;
    }
    return found;
}

void txm_leaves_free(txm_cache *c)
{
    txm_table *t = &c->table;
    while (t->unlinked != TXM_NO_LEAF) {
        const uint32_t place = t->unlinked;
        t->unlinked = t->leaves[place].next;
        t->leaves[place].number = TXM_NO_LEAF;
        t->leaves_free++;
        t->free_from = place < t->free_from ? place : t->free_from;
    }
}

/* Makes sure that `count` leaves can be made without allocating. The arrays may move while the world is stopped. */
static bool reserve_leaves(txm_cache *c, uint32_t count)
{
    txm_table *t = &c->table;
    if (t->leaves_free < count && txm_leaves_unlink(c, false)) {
        txm_wait_quiescent(c);
        txm_leaves_free(c);
    }
    while (t->leaves_free < count) {
        const uint32_t last = t->entry_count >> TXM_LEAF_SHIFT;
        if (t->entry_count >= TXM_SLOT_STATES - TXM_LEAF_TILES ||
            !txm_cache_grow(c, (void **)&t->leaves, &t->leaf_capacity, (uint64_t)last + 1, sizeof *t->leaves, false) ||
            !txm_cache_grow(c, (void **)&t->entries, &t->entry_capacity, (uint64_t)t->entry_count + TXM_LEAF_TILES,
                            sizeof *t->entries, true))
            return false;
        t->leaves[last] = (txm_leaf){.number = TXM_NO_LEAF};
        t->entry_count += TXM_LEAF_TILES;
        t->leaves_free++;
        t->free_from = last < t->free_from ? last : t->free_from;
    }
    return true;
}

/* The lowest free leaf is taken, so that the end of the table becomes free if the budget shrinks. */
static void make_leaf(txm_cache *c, uint32_t leaf)
{
    txm_table *t = &c->table;
    uint32_t place = t->free_from;
    while (t->leaves[place].number != TXM_NO_LEAF)
        place++;
    t->free_from = place + 1;
    t->leaves_free--;
    t->leaves[place] = (txm_leaf){.number = leaf};
    txm_tile_entry *entries = t->entries + ((size_t)place << TXM_LEAF_SHIFT);
    for (uint32_t i = 0; i < TXM_LEAF_TILES; i++)
        entries[i] = (txm_tile_entry){TXM_SLOT_NONE, 0};
    entry_changed(c, entries);
    entry_changed(c, entries + TXM_LEAF_TILES / 2);
    set_word(c, leaf, place << TXM_LEAF_SHIFT);
}

bool txm_entry_make(txm_cache *c, uint32_t number)
{
    if (txm_entry(c, number))
        return true;
    if (!reserve_leaves(c, 1))
        return false;
    make_leaf(c, leaf_of(number));
    return true;
}

void txm_leaf_fail(txm_cache *c, uint32_t number, uint32_t state)
{
    set_word(c, leaf_of(number), state);
}

/* Evicts the tiles of the last leaves if there are few in use, and drops the leaves from there on. */
static bool is_beyond(txm_cache *c, uint32_t slot, void *arg)
{
    const txm_slot *s = txm_slot_at(c, slot);
    return (txm_slot_evictable(s) || s->state == TXM_SLOT_STATE_STAGED) &&
           txm_entry(c, s->entry) - c->table.entries >= *(const ptrdiff_t *)arg;
}

void txm_table_trim(txm_cache *c)
{
    enum { FEW = 8 };
    txm_table *t = &c->table;
    if (txm_leaves_unlink(c, true)) {
        txm_wait_quiescent(c);
        txm_leaves_free(c);
    }
    const uint32_t leaves = t->entry_count >> TXM_LEAF_SHIFT, used = leaves - t->leaves_free;
    if (leaves < FEW || t->leaves_free < leaves / 4)
        return;
    const ptrdiff_t end = (ptrdiff_t)(used + used / 8) << TXM_LEAF_SHIFT;
    txm_evict_if(c, TXM_ALL_SLABS, is_beyond, (void *)&end);
    if (txm_leaves_unlink(c, true)) {
        txm_wait_quiescent(c);
        txm_leaves_free(c);
    }
    while (t->entry_count && t->leaves[(t->entry_count >> TXM_LEAF_SHIFT) - 1].number == TXM_NO_LEAF) {
        t->entry_count -= TXM_LEAF_TILES;
        t->leaves_free--;
    }
    t->free_from = t->free_from < t->entry_count >> TXM_LEAF_SHIFT ? t->free_from : t->entry_count >> TXM_LEAF_SHIFT;
    txm_cache_shrink(c, (void **)&t->entries, &t->entry_capacity, t->entry_count, sizeof *t->entries, true);
    txm_cache_shrink(c, (void **)&t->leaves, &t->leaf_capacity, t->entry_count >> TXM_LEAF_SHIFT, sizeof *t->leaves,
                     false);
}

void txm_table_init(txm_table *t)
{
    memset(t->left, 0xFF, sizeof t->left); /* TXM_NO_BLOCK */
    t->idle_first = t->unlinked = TXM_NO_LEAF;
}

void txm_table_free(txm_cache *c)
{
    txm_table *t = &c->table;
    txm_cache_release(c, t->entries, t->entry_capacity * sizeof *t->entries);
    txm_cache_release(c, t->leaves, t->leaf_capacity * sizeof *t->leaves);
    txm_cache_release(c, t->words, t->word_capacity * sizeof *t->words);
    txm_cache_release(c, t->blocks, t->block_capacity * sizeof *t->blocks);
}

/* ---- blocks ---- */

/* The oldest view for which requests may still exist: threads hold them until they have loaded what they missed, and
 * views as long as they are open. */
static uint64_t oldest_generation(const txm_cache *c)
{
    uint64_t oldest = UINT64_MAX;
    for (const txm_cache_viewer *v = c->viewers.first; v; v = v->next)
        oldest = v->open && v->generation < oldest ? v->generation : oldest;
    for (const txm_cache_thread *t = c->threads; t; t = t->next) {
        const uint64_t asks_of = atomic_load(&t->asks_of);
        oldest = asks_of < oldest ? asks_of : oldest;
    }
    return oldest;
}

static txm_block_queue *queue_of(txm_cache *c, uint32_t count)
{
    return &c->table.left[(count ^ count >> 8 ^ count >> 16) % TXM_BLOCK_QUEUES];
}

static void disown_block(txm_cache *c, uint32_t block)
{
    txm_source *s = c->table.blocks[block].source;
    uint32_t *at = s ? &s->blocks : NULL;
    while (at && *at != block + 1)
        at = &c->table.blocks[*at - 1].of_source;
    if (at)
        *at = c->table.blocks[block].of_source;
}

/* Finds a block of this size that was left before all views that are still in use were made. Only a block of equal size
 * can be used, because blocks are kept in the order of their first entries and are never split. The queue is in the
 * order of retirement, and few sizes share one, so a few steps are enough. */
static txm_block *find_retired(txm_cache *c, uint32_t count)
{
    enum { STEPS = 32 };
    txm_block_queue *q = queue_of(c, count);
    const uint64_t oldest = q->first != TXM_NO_BLOCK ? oldest_generation(c) : 0;
    uint32_t before = TXM_NO_BLOCK, i = q->first;
    for (int n = 0; n < STEPS && i != TXM_NO_BLOCK && c->table.blocks[i].retired < oldest; n++) {
        txm_block *b = &c->table.blocks[i];
        if (b->count == count) {
            *(before == TXM_NO_BLOCK ? &q->first : &c->table.blocks[before].next) = b->next;
            if (q->last == i)
                q->last = before;
            disown_block(c, i);
            return b;
        }
        before = i;
        i = b->next;
    }
    return NULL;
}

/* Appends a block at the end of the table. */
static txm_block *append_block(txm_cache *c, uint32_t count)
{
    txm_table *t = &c->table;
    const uint64_t words = ((uint64_t)t->count + count + TXM_LEAF_TILES - 1) >> TXM_LEAF_SHIFT;
    if ((uint64_t)t->count + count > UINT32_MAX ||
        !txm_cache_grow(c, (void **)&t->blocks, &t->block_capacity, (uint64_t)t->block_count + 1, sizeof *t->blocks,
                        false) ||
        !txm_cache_grow(c, (void **)&t->words, &t->word_capacity, words, sizeof *t->words, true))
        return NULL;
    while (t->word_count < words)
        t->words[t->word_count++] = TXM_SLOT_NONE;
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
bool txm_block_new(txm_cache *c, uint32_t count, uint32_t texture, txm_source *source, uint32_t level, uint32_t *first)
{
    const bool entries = !source || level == TXM_BLOCK_OF_LEVELS;
    if (entries && !reserve_leaves(c, count / TXM_LEAF_TILES + 2))
        return false;
    txm_block *b = find_retired(c, count);
    if (!b)
        b = append_block(c, count);
    if (!b)
        return false;
    b->retired = 0;
    b->source = source;
    b->registered = source ? level & 63u : 0;
    if (!source) {
        b->texture = texture;
    } else {
        b->of_source = source->blocks;
        source->blocks = (uint32_t)(b - c->table.blocks) + 1;
    }
    *first = b->first;
    for (uint32_t n = b->first; n < *first + count; n++) {
        if (entries && !txm_entry(c, n))
            make_leaf(c, leaf_of(n));
        if (txm_entry(c, n)) {
            txm_entry(c, n)->mark = 0;
            txm_entry_set(c, n, TXM_SLOT_NONE);
        }
        if (entries)
            txm_entry_keep(c, n, 1);
    }
    return true;
}

/* Binary search; NULL: the number is in no block. Blocks are appended in ascending order, so the list is always sorted.
 */
txm_block *txm_block_of(txm_cache *c, uint32_t number)
{
    uint32_t low = 0, high = c->table.block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(c->table.blocks[middle].first <= number ? &low : &high) = middle;
    }
    if (low == high)
        return NULL;
    txm_block *b = c->table.blocks + low;
    return number >= b->first && number - b->first < b->count ? b : NULL;
}

/* Records the generation: older views may still hold numbers of the block. It is made odd whether or not the world is
 * stopped, so the block is free when all views have a later, even generation. */
static void retire(txm_cache *c, uint32_t number)
{
    txm_block *b = &c->table.blocks[number];
    txm_block_queue *q = queue_of(c, b->count);
    for (uint32_t n = b->first; n < b->first + b->count; n++) {
        txm_entry_set(c, n, TXM_SLOT_NONE);
        if (has_entries(b))
            txm_entry_keep(c, n, -1);
    }
    b->retired = atomic_load(&c->generation) | 1;
    b->next = TXM_NO_BLOCK;
    *(q->first == TXM_NO_BLOCK ? &q->first : &c->table.blocks[q->last].next) = number;
    q->last = number;
}

void txm_block_retire(txm_cache *c, uint32_t first)
{
    retire(c, (uint32_t)(txm_block_of(c, first) - c->table.blocks));
}

void txm_blocks_retire(txm_cache *c, const txm_source *s)
{
    for (uint32_t i = s->blocks; i; i = c->table.blocks[i - 1].of_source)
        if (!c->table.blocks[i - 1].retired)
            retire(c, i - 1);
}

void txm_blocks_disown(txm_cache *c, const txm_source *s)
{
    for (uint32_t i = s->blocks; i;) {
        txm_block *b = &c->table.blocks[i - 1];
        i = b->of_source;
        b->source = NULL;
        b->texture = TXM_NO_TEXTURE;
    }
}

void txm_each_tile(txm_cache *c, const txm_source *s, void (*each)(txm_cache *c, uint32_t number, void *arg), void *arg)
{
    for (uint32_t i = s->blocks; i; i = c->table.blocks[i - 1].of_source) {
        const txm_block b = c->table.blocks[i - 1];
        if (b.retired || (b.registered == TXM_BLOCK_OF_LEVELS && !txm_view_is_packed(s->view)))
            continue;
        for (uint32_t n = b.first; n < b.first + b.count; n++) {
            if (txm_entry(c, n))
                each(c, n, arg);
            else
                n |= TXM_LEAF_TILES - 1;
        }
    }
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

/* The inverse of txm_number. */
void txm_block_locate(const txm_block *b, uint32_t number, uint32_t *level, uint32_t *tile)
{
    const txm_source *s = b->source;
    uint32_t at = number - b->first;
    *level = b->registered;
    *tile = at;
    if (b->registered == TXM_BLOCK_OF_LEVELS) { /* packed textures have one number */
        *level = at;
        *tile = txm_view_is_packed(s->view) ? 0 : TXM_WHOLE_LEVEL;
        return;
    }
    for (; *level + 1u < s->view->levels && *tile >= txm_view_tiles(s->view, *level); ++*level)
        *tile -= txm_view_tiles(s->view, *level);
}

/* The span is shared by all levels without numbers: a lookup there requests the level. Its size is a power of two, and
 * it has leaves of its own. When it grows, the old span is kept, because levels that were placed before still use it.
 */
bool txm_reserve_unregistered(txm_cache *c, uint32_t count)
{
    txm_table *t = &c->table;
    if (count <= t->unregistered_count)
        return true;
    uint32_t larger = TXM_LEAF_TILES;
    while (larger < count)
        larger *= 2;
    const uint32_t filler = -t->count & (TXM_LEAF_TILES - 1);
    if (filler && !append_block(c, filler))
        return false;
    txm_block *b = append_block(c, larger);
    if (!b)
        return false;
    b->texture = TXM_NO_TEXTURE;
    if (filler)
        b[-1].texture = TXM_NO_TEXTURE;
    t->unregistered = b->first;
    t->unregistered_count = larger;
    for (uint32_t i = 0; i < larger; i += TXM_LEAF_TILES)
        set_word(c, leaf_of(b->first + i), TXM_SLOT_UNREGISTERED);
    return true;
}

/* Fills in the description of the source, or without a source that of a stub. */
void txm_texture_show(txm_cache *c, uint32_t texture, const txm_source *s, uint32_t first)
{
    txm_view_texture *v = &c->catalog.view_textures[texture];
    txm_texture_changed(c, texture);
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
                            .level_first = {c->table.unregistered - first},
                            .scale = 1.0f,
                            .average = {0.5f, 0.5f, 0.5f, 1.0f}};
}

/* Levels that are not registered refer to the span of UNREGISTERED numbers. */
static void place_levels(const txm_cache *c, txm_source *s, uint32_t first)
{
    s->first = first;
    for (uint32_t i = 0; i < s->view->levels && !txm_view_is_packed(s->view); i++)
        s->view->level_first[i] = c->table.unregistered - first;
}

/* Gives a new source its first block. No texture shows it yet. */
static bool register_source(txm_cache *c, txm_source *s)
{
    const bool packed = txm_view_is_packed(s->view);
    uint32_t first;
    if (!txm_reserve_unregistered(c, txm_view_tiles(s->view, 0)) ||
        !txm_block_new(c, packed ? 1 : s->view->levels, TXM_NO_TEXTURE, s, TXM_BLOCK_OF_LEVELS, &first))
        return false;
    place_levels(c, s, first);
    s->registered = packed ? 0 : (uint8_t)s->view->levels;
    return true;
}

/* Gives numbers to the levels from `level` to the finest one that has them. All textures of the source are updated
 * while the world is stopped. */
static bool register_levels(txm_cache *c, txm_source *s, uint32_t level)
{
    uint32_t first, count = 0;
    for (uint32_t i = level; i < s->registered; i++)
        count += txm_view_tiles(s->view, i); /* at most 1.4 million: 65536 x 65536 px in tiles of 64 */
    if (!txm_block_new(c, count, TXM_NO_TEXTURE, s, level, &first))
        return false;
    txm_stop_world(c);
    for (uint32_t i = level, at = first - s->first; i < s->registered; i++) {
        s->view->level_first[i] = at;
        at += txm_view_tiles(s->view, i);
    }
    s->registered = (uint8_t)level;
    for (uint32_t i = s->first_texture; i != TXM_NO_TEXTURE; i = c->catalog.textures[i].next)
        txm_texture_show(c, i, s, 0);
    txm_resume_world(c);
    return true;
}

txm_status txm_source_register(txm_cache *c, txm_source *s, uint32_t level, txm_error *err)
{
    const bool is_new = s->registered == s->view->levels + 1u;
    if (level >= s->registered)
        return TXM_OK;
    if ((is_new && !register_source(c, s)) || (level < s->registered && !register_levels(c, s, level)))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for the page table of a level of %llu tiles",
                        s->file->path,
                        (unsigned long long)txm_view_tiles(s->view, level < s->view->levels ? level : 0));
    return TXM_OK;
}
