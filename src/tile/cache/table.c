/* SPDX-License-Identifier: Apache-2.0
 *
 * The page table: blocks of entries, and the levels of a source that have entries. A source begins with one entry for
 * each of its levels. Tiles get entries when their level is requested for the first time, together with all coarser
 * levels. So a texture of 8192 px that is only seen from afar takes 15 entries instead of 21,860.
 *
 * An entry has eight bytes: the slot and the epoch of the last use. Kernels compute its index as view.first +
 * level_first[level] + tile, so a level without entries needs a place in the table too. All such levels share one span:
 * a run of UNREGISTERED entries as long as the largest level of any texture.
 */
#include "tile/cache/cache_impl.h"

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

/* Appends a block at the end of the table. Entries are never renumbered, because lookups hold their numbers; the arrays
 * may move while the world is stopped. */
static txm_block *append_block(txm_cache *c, uint32_t count)
{
    if (!txm_cache_grow(c, (void **)&c->table.blocks, &c->table.block_capacity, (uint64_t)c->table.block_count + 1,
                        sizeof *c->table.blocks, false) ||
        !txm_cache_grow(c, (void **)&c->table.entries, &c->table.capacity, (uint64_t)c->table.count + count,
                        sizeof *c->table.entries, true))
        return NULL;
    txm_block *b = &c->table.blocks[c->table.block_count++];
    b->first = c->table.count;
    b->count = count & 0x3FFFFFFu; /* at most 1.4 million */
    c->table.count += count;
    return b;
}

/* Reuses a retired block if possible. */
bool txm_block_new(txm_cache *c, uint32_t count, uint32_t texture, txm_source *source, uint32_t *first)
{
    txm_block *b = find_retired(c, count);
    if (!b)
        b = append_block(c, count);
    if (!b)
        return false;
    b->retired = 0;
    b->source = source;
    if (!source) {
        b->texture = texture;
    } else {
        b->of_source = source->blocks;
        source->blocks = (uint32_t)(b - c->table.blocks) + 1;
    }
    b->registered = source ? source->registered & 63u : 0;
    for (uint32_t i = 0; i < count; i++) {
        c->table.entries[b->first + i].mark = 0;
        txm_entry_set(c, b->first + i, TXM_SLOT_NONE);
    }
    *first = b->first;
    return true;
}

/* Binary search; NULL: the entry is in no block. Blocks are appended in ascending order, so the list is always sorted.
 */
txm_block *txm_block_of(txm_cache *c, uint32_t entry)
{
    uint32_t low = 0, high = c->table.block_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(c->table.blocks[middle].first <= entry ? &low : &high) = middle;
    }
    if (low == high)
        return NULL;
    txm_block *b = c->table.blocks + low;
    return entry >= b->first && entry - b->first < b->count ? b : NULL;
}

/* Records the generation: older views may still hold numbers of the block's entries. It is made odd whether or not the
 * world is stopped, so the block is free when all views have a later, even generation. */
void txm_block_retire(txm_cache *c, uint32_t first)
{
    txm_block *b = txm_block_of(c, first);
    txm_block_queue *q = queue_of(c, b->count);
    const uint32_t number = (uint32_t)(b - c->table.blocks);
    b->retired = atomic_load(&c->generation) | 1;
    b->next = TXM_NO_BLOCK;
    *(q->first == TXM_NO_BLOCK ? &q->first : &c->table.blocks[q->last].next) = number;
    q->last = number;
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

/* ---- levels ---- */

uint32_t txm_source_tiles(const txm_source *s, uint32_t from_level)
{
    uint32_t n = 0; /* at most 1.4 million: 65536 x 65536 px in tiles of 64 */
    for (uint32_t i = from_level; i < s->view->levels; i++)
        n += txm_view_tiles(s->view, i);
    return n;
}

/* Computed as in kernels, in 32 bits that may wrap around: for levels in the shared span level_first is a difference
 * that may be negative. */
uint32_t txm_entry_index(const txm_source *s, uint32_t level, uint32_t tile)
{
    return s->first + (txm_view_is_packed(s->view) ? 0 : s->view->level_first[level] + tile);
}

/* The inverse of txm_entry_index. It uses the block's own `registered` and not the source's, because the source may
 * have left the block. */
void txm_block_locate(const txm_block *b, uint32_t entry, uint32_t *level, uint32_t *tile)
{
    const txm_source *s = b->source;
    uint32_t at = entry - b->first;
    *level = at;
    *tile = txm_view_is_packed(s->view) ? 0 : TXM_WHOLE_LEVEL;
    if (at < s->view->levels) /* also true for packed textures, which have one entry */
        return;
    at -= s->view->levels;
    for (*level = b->registered; *level + 1 < s->view->levels && at >= txm_view_tiles(s->view, *level); ++*level)
        at -= txm_view_tiles(s->view, *level);
    *tile = at;
}

/* The span is shared by all levels without entries: a lookup there requests the level. Its size is a power of two. When
 * it grows, the old span is kept, because levels that were placed before still use it. */
bool txm_reserve_unregistered(txm_cache *c, uint32_t count)
{
    if (count <= c->table.unregistered_count)
        return true;
    uint32_t larger = 1;
    while (larger < count)
        larger *= 2;
    uint32_t first;
    if (!txm_block_new(c, larger, TXM_NO_TEXTURE, NULL, &first))
        return false;
    for (uint32_t i = 0; i < larger; i++)
        txm_entry_set(c, first + i, TXM_SLOT_UNREGISTERED);
    c->table.unregistered = first;
    c->table.unregistered_count = larger;
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

/* Sets the places of a source's levels in a block that holds the levels from `registered` on. The others refer to the
 * span of UNREGISTERED entries, as a difference from the block's first entry. */
static void place_levels(txm_cache *c, txm_source *s, uint32_t first)
{
    uint32_t at = s->view->levels;
    s->first = first;
    if (txm_view_is_packed(s->view))
        return;
    for (uint32_t i = 0; i < s->view->levels; i++) {
        s->view->level_first[i] = i < s->registered ? c->table.unregistered - first : at;
        at += i < s->registered ? 0 : txm_view_tiles(s->view, i);
    }
}

/* Moves the entries of registered levels to their new place, and updates their slots. Marks are moved, and so is
 * REQUESTED, because txm_plan reads the new entry. Shared slots only count their entries, so they need no update. The
 * old entries are cleared, because the slots they refer to may be reused before the block is. */
static void move_entries(txm_cache *c, const txm_source *s, const txm_view_texture *old, uint32_t old_registered)
{
    for (uint32_t i = old_registered; i < s->view->levels; i++) {
        uint32_t from = old->first + old->level_first[i], to = txm_entry_index(s, i, 0);
        for (uint32_t n = txm_view_tiles(s->view, i); n-- > 0; from++, to++) {
            c->table.entries[to].mark = c->table.entries[from].mark;
            txm_entry_set(c, to, c->table.entries[from].slot);
            txm_entry_set(c, from, TXM_SLOT_NONE);
            txm_staged_move(c, from, to);
            txm_slot *slot =
                c->table.entries[to].slot < TXM_SLOT_STATES ? txm_slot_at(c, c->table.entries[to].slot) : NULL;
            if (slot && slot->state == TXM_SLOT_STATE_HELD)
                slot->entry = to;
        }
    }
}

/* Replaces the block of a source by a new one; tiles in memory keep their slots. All steps that can fail come before
 * the world is stopped. All textures of the source are updated before it resumes. */
txm_status txm_source_register(txm_cache *c, txm_source *s, uint32_t level, txm_error *err)
{
    uint32_t first, old_registered = s->registered;
    bool whole = old_registered == s->view->levels + 1u; /* a new source, of which not even the levels have entries */
    if (level >= old_registered)
        return TXM_OK;
    const bool packed = txm_view_is_packed(s->view); /* packed textures do not register levels separately */
    level = packed ? 0 : level;
    uint64_t count = (packed ? 0 : (uint64_t)s->view->levels) + txm_source_tiles(s, level);
    s->registered = (uint8_t)level;
    if (!txm_reserve_unregistered(c, txm_view_tiles(s->view, 0)) ||
        !txm_block_new(c, (uint32_t)count, TXM_NO_TEXTURE, s, &first)) {
        s->registered = (uint8_t)old_registered;
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory for a page table of %llu tiles", s->file->path,
                        (unsigned long long)count);
    }
    txm_view_texture old = *s->view;
    old.first = s->first;
    txm_stop_world(c);
    place_levels(c, s, first);
    if (!whole) {
        move_entries(c, s, &old, old_registered);
        txm_block_retire(c, old.first);
        for (uint32_t i = s->first_texture; i != TXM_NO_TEXTURE; i = c->catalog.textures[i].next)
            txm_texture_show(c, i, s, 0);
    }
    txm_resume_world(c);
    return TXM_OK;
}
