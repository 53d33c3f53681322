/* SPDX-License-Identifier: Apache-2.0
 *
 * Views, which the lookups of a launch use while the cache changes.
 *
 * A view is a copy of the arrays that lookups read: texture structs, page table, addresses of slabs, UDIM grids. The
 * cache records changes with one bit per 64 entries or leaves of the page table, and a viewer copies only these parts
 * when it prepares its next view. So batches that end and tiles that are evicted during a launch appear in the next
 * launch as a whole, several viewers need not wait for each other, and requests and marks in one view cause no shared
 * writes for another.
 *
 * Tiles of a batch that is not over are LOADING in a view, even if the cache has them already. The memory of evicted
 * tiles is not reused while an open view may show them (txm_slot_retire). When a view is closed, its marks are copied
 * to the page table, where they determine the order of eviction.
 */
#include "base/os/clock.h"
#include "tile/cache/cache_impl.h"

enum { WORD_BITS = 64 };

/* ---- changes ---- */

/* Removes an evicted tile from the view of txm_cache_prepare. If the leaf has other numbers now, or was given back, its
 * tiles were evicted before. */
static void forget_gone(const txm_cache *c, txm_cache_viewer *v, uint32_t entry)
{
    uint32_t *shown = &v->tiles[entry].slot;
    if (__atomic_load_n(shown, __ATOMIC_RELAXED) < TXM_SLOT_STATES &&
        (entry >= c->table.entry_count || __atomic_load_n(&c->table.entries[entry].slot, __ATOMIC_RELAXED) != *shown))
        __atomic_store_n(shown, TXM_SLOT_NONE, __ATOMIC_RELEASE);
}

/* The view's own entry of a tile; NULL: it has none. */
static txm_tile_entry *entry_of(const txm_cache_viewer *v, uint32_t number)
{
    const uint32_t leaf = number >> TXM_LEAF_SHIFT;
    const uint32_t first = leaf < v->leaf_count ? __atomic_load_n(&v->leaves[leaf], __ATOMIC_RELAXED) : TXM_SLOT_NONE;
    return first < TXM_SLOT_STATES ? &v->tiles[first + (number & (TXM_LEAF_TILES - 1))] : NULL;
}

/* Entries beyond a viewer's counts are new to it and copied in any case. If a call has ended the view of
 * txm_cache_prepare and evicts tiles, programs may still look up in that view afterwards, so it is updated at once. */
void txm_entry_changed(txm_cache *c, uint32_t entry)
{
    const uint32_t chunk = entry >> TXM_CHUNK_SHIFT;
    for (txm_cache_viewer *v = c->viewers.first; v; v = v->next) {
        if (entry >= v->tile_count)
            continue;
        v->changed_tiles[chunk / WORD_BITS] |= (uint64_t)1 << chunk % WORD_BITS;
        if (v == c->viewers.own && !v->open)
            forget_gone(c, v, entry);
    }
}

void txm_leaf_changed(txm_cache *c, uint32_t leaf)
{
    const uint32_t chunk = leaf >> TXM_CHUNK_SHIFT;
    for (txm_cache_viewer *v = c->viewers.first; v; v = v->next)
        if (leaf < v->leaf_count)
            v->changed_leaves[chunk / WORD_BITS] |= (uint64_t)1 << chunk % WORD_BITS;
}

void txm_number_changed(txm_cache *c, uint32_t number)
{
    const txm_tile_entry *e = txm_entry(c, number);
    if (e)
        txm_entry_changed(c, (uint32_t)(e - c->table.entries));
}

void txm_texture_changed(txm_cache *c, uint32_t texture)
{
    for (txm_cache_viewer *v = c->viewers.first; v; v = v->next)
        if (texture < v->texture_count)
            v->changed_textures[texture / WORD_BITS] |= (uint64_t)1 << texture % WORD_BITS;
}

/* ---- open and closed ---- */

/* Lookups write marks without a lock while this reads them; a slightly old value does no harm. */
void txm_viewer_merge(txm_cache_viewer *v)
{
    txm_cache *c = v->cache;
    if (!v->open)
        return;
    for (uint32_t i = 0; i < c->store.slab_count; i++)
        for (uint32_t j = 0; c->store.slabs[i].pixels && j < c->store.slabs[i].slots; j++) {
            const txm_slot *s = &c->store.slabs[i].slot[j];
            const txm_tile_entry *e = s->state == TXM_SLOT_STATE_HELD ? entry_of(v, s->entry) : NULL;
            if (!e || __atomic_load_n(&e->mark, __ATOMIC_RELAXED) != v->epoch)
                continue;
            uint32_t *mark = &txm_entry(c, s->entry)->mark;
            if (__atomic_load_n(mark, __ATOMIC_RELAXED) < v->epoch)
                __atomic_store_n(mark, v->epoch, __ATOMIC_RELAXED);
        }
}

static void note_open_views(txm_cache *c)
{
    c->viewers.open_views = 0;
    for (const txm_cache_viewer *v = c->viewers.first; v; v = v->next)
        if (v->open) {
            if (!c->viewers.open_views || (int32_t)(v->stamp - c->viewers.shown_stamp) > 0)
                c->viewers.shown_stamp = v->stamp;
            c->viewers.open_views++;
        }
}

/* Does the same for all changes since the view was prepared. */
static void forget_all_gone(txm_cache_viewer *v)
{
    const uint32_t chunks = (v->tile_count + TXM_CHUNK - 1) >> TXM_CHUNK_SHIFT;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        const uint64_t word = v->changed_tiles[chunk / WORD_BITS];
        if (!word)
            chunk |= WORD_BITS - 1;
        else if (word >> chunk % WORD_BITS & 1)
            for (uint32_t i = chunk << TXM_CHUNK_SHIFT; i >> TXM_CHUNK_SHIFT == chunk && i < v->tile_count; i++)
                forget_gone(v->cache, v, i);
    }
}

void txm_viewer_close(txm_cache_viewer *v)
{
    if (!v->open)
        return;
    txm_viewer_merge(v);
    v->open = false;
    if (v == v->cache->viewers.own)
        forget_all_gone(v);
    note_open_views(v->cache);
    txm_slots_free_retired(v->cache);
    /* Within the budget the next batch unpins them: the longer tiles are pinned, the fewer tiles of a picture evict
     * each other. */
    if (v->cache->options.max_bytes && txm_taken(v->cache) > v->cache->options.max_bytes)
        txm_viewer_unpin(v);
    txm_make_room(v->cache, 0);
}

void txm_own_view_ends(txm_cache *c)
{
    if (c->viewers.own)
        txm_viewer_close(c->viewers.own);
}

/* ---- bringing up to date ---- */

/* Number of words for one bit per TXM_CHUNK elements. */
static uint32_t words_of(uint64_t count)
{
    return (uint32_t)((count + TXM_CHUNK * WORD_BITS - 1) / (TXM_CHUNK * WORD_BITS));
}

/* The page table gives memory back if the budget shrinks, and so do the copies of it. */
static void follow_trimming(txm_cache *c, txm_cache_viewer *v)
{
    if (c->table.entry_count >= v->tile_count)
        return;
    memset(v->changed_tiles, 0, words_of(v->tile_count) * sizeof *v->changed_tiles);
    v->tile_count = 0;
    txm_cache_shrink(c, (void **)&v->tiles, &v->tile_capacity, c->table.entry_count, sizeof *v->tiles, false);
}

/* Makes room for everything that the cache has now. That may evict tiles, so it comes before anything is copied. */
static bool make_room_to_show(txm_cache *c, txm_cache_viewer *v)
{
    const uint64_t texture_words = ((uint64_t)c->stats.textures + WORD_BITS - 1) / WORD_BITS;
    const uint64_t tile_words = words_of(c->table.entry_count), leaf_words = words_of(c->table.word_count);
    return txm_cache_grow(c, (void **)&v->textures, &v->texture_capacity, c->stats.textures, sizeof *v->textures,
                          false) &&
           txm_cache_grow(c, (void **)&v->tiles, &v->tile_capacity, c->table.entry_count, sizeof *v->tiles, false) &&
           txm_cache_grow(c, (void **)&v->leaves, &v->leaf_capacity, c->table.word_count, sizeof *v->leaves, false) &&
           txm_cache_grow(c, (void **)&v->udims, &v->udim_capacity, c->catalog.udim_count, sizeof *v->udims, false) &&
           txm_cache_grow(c, (void **)&v->changed_textures, &v->changed_textures_capacity, texture_words,
                          sizeof *v->changed_textures, false) &&
           txm_cache_grow(c, (void **)&v->changed_tiles, &v->changed_tiles_capacity, tile_words,
                          sizeof *v->changed_tiles, false) &&
           txm_cache_grow(c, (void **)&v->changed_leaves, &v->changed_leaves_capacity, leaf_words,
                          sizeof *v->changed_leaves, false) &&
           txm_cache_grow(c, (void **)&v->textures_copied, &v->textures_copied_capacity, texture_words,
                          sizeof *v->textures_copied, false) &&
           txm_cache_grow(c, (void **)&v->tiles_copied, &v->tiles_copied_capacity,
                          ((uint64_t)c->table.entry_count + TXM_CHUNK - 1) / TXM_CHUNK, sizeof *v->tiles_copied,
                          false) &&
           txm_cache_grow(c, (void **)&v->leaves_copied, &v->leaves_copied_capacity,
                          ((uint64_t)c->table.word_count + TXM_CHUNK - 1) / TXM_CHUNK, sizeof *v->leaves_copied,
                          false) &&
           txm_cache_grow(c, (void **)&v->slabs, &v->slab_capacity, c->store.slab_count, sizeof *v->slabs, false);
}

/* Elements from..to - 1 are not as they were in the viewer's last view. */
static void note_copied(const txm_cache_viewer *v, uint32_t *copied, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i = (i / TXM_CHUNK + 1) * TXM_CHUNK)
        copied[i / TXM_CHUNK] = v->number;
}

static void copy_entries(const txm_cache *c, txm_cache_viewer *v, uint32_t from, uint32_t to)
{
    note_copied(v, v->tiles_copied, from, to);
    for (uint32_t i = from; i < to; i++) { /* threads' lookups may write both words meanwhile */
        v->tiles[i].slot = __atomic_load_n(&c->table.entries[i].slot, __ATOMIC_ACQUIRE);
        v->tiles[i].mark = __atomic_load_n(&c->table.entries[i].mark, __ATOMIC_RELAXED);
    }
}

static void copy_tiles(const txm_cache *c, txm_cache_viewer *v)
{
    const uint32_t words = words_of(v->tile_count);
    for (uint32_t i = 0; i < words; i++)
        for (; v->changed_tiles[i]; v->changed_tiles[i] &= v->changed_tiles[i] - 1) {
            const uint32_t chunk = i * WORD_BITS + (uint32_t)__builtin_ctzll(v->changed_tiles[i]);
            const uint32_t from = chunk << TXM_CHUNK_SHIFT, left = v->tile_count - from;
            copy_entries(c, v, from, from + (left < TXM_CHUNK ? left : TXM_CHUNK));
        }
    copy_entries(c, v, v->tile_count, c->table.entry_count);
    v->tile_count = c->table.entry_count;
}

static void copy_words(const txm_cache *c, txm_cache_viewer *v, uint32_t from, uint32_t to)
{
    note_copied(v, v->leaves_copied, from, to);
    for (uint32_t i = from; i < to; i++)
        v->leaves[i] = __atomic_load_n(&c->table.words[i], __ATOMIC_ACQUIRE);
}

static void copy_leaves(const txm_cache *c, txm_cache_viewer *v)
{
    const uint32_t words = words_of(v->leaf_count);
    for (uint32_t i = 0; i < words; i++)
        for (; v->changed_leaves[i]; v->changed_leaves[i] &= v->changed_leaves[i] - 1) {
            const uint32_t chunk = i * WORD_BITS + (uint32_t)__builtin_ctzll(v->changed_leaves[i]);
            const uint32_t from = chunk << TXM_CHUNK_SHIFT, left = v->leaf_count - from;
            copy_words(c, v, from, from + (left < TXM_CHUNK ? left : TXM_CHUNK));
        }
    copy_words(c, v, v->leaf_count, c->table.word_count);
    v->leaf_count = c->table.word_count;
}

static void copy_textures(const txm_cache *c, txm_cache_viewer *v)
{
    const uint32_t words = (v->texture_count + WORD_BITS - 1) / WORD_BITS, count = c->stats.textures;
    for (uint32_t i = 0; i < words; i++)
        for (; v->changed_textures[i]; v->changed_textures[i] &= v->changed_textures[i] - 1) {
            const uint32_t texture = i * WORD_BITS + (uint32_t)__builtin_ctzll(v->changed_textures[i]);
            v->textures[texture] = c->catalog.view_textures[texture];
            note_copied(v, v->textures_copied, texture, texture + 1);
        }
    if (count > v->texture_count)
        memcpy(v->textures + v->texture_count, c->catalog.view_textures + v->texture_count,
               (count - v->texture_count) * sizeof *v->textures);
    note_copied(v, v->textures_copied, v->texture_count, count);
    v->texture_count = count;
}

/* Returns the entry that was hidden; TXM_SLOT_NONE: the tile is not in the view. */
static uint32_t hide_tile(txm_cache_viewer *v, uint32_t number)
{
    txm_tile_entry *e = entry_of(v, number);
    if (!e || __atomic_load_n(&e->slot, __ATOMIC_RELAXED) >= TXM_SLOT_STATES)
        return TXM_SLOT_NONE;
    const uint32_t entry = (uint32_t)(e - v->tiles);
    __atomic_store_n(&e->slot, TXM_SLOT_LOADING, __ATOMIC_RELAXED);
    note_copied(v, v->tiles_copied, entry, entry + 1);
    return entry;
}

/* Hides the tiles of batches that are not over: a batch is shown only as a whole. */
static void hide_unfinished(const txm_cache *c, txm_cache_viewer *v)
{
    for (const txm_ticket *t = c->queue.tickets; t; t = t->next_running)
        for (uint32_t i = 0; i < t->total; i++) {
            const txm_job *job = &t->jobs[i];
            if (!job->source->textures)
                continue;
            hide_tile(v, txm_number(job->source, job->level, job->tile));
        }
}

/* For policies with by_launch, an epoch begins here. */
txm_status txm_viewer_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent, txm_error *err)
{
    txm_cache *c = v->cache;
    txm_viewer_close(v);
    txm_trace_launch(c);
    follow_trimming(c, v);
    if (!make_room_to_show(c, v))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a view of the texture cache");
    if (txm_policy_of(c)->by_launch)
        txm_next_epoch(c);
    txm_next_round(c);
    v->number = ++c->viewers.last_view;
    copy_textures(c, v);
    copy_tiles(c, v);
    copy_leaves(c, v);
    hide_unfinished(c, v);
    if (c->store.slab_count)
        memcpy(v->slabs, c->store.addresses, c->store.slab_count * sizeof *v->slabs);
    if (c->catalog.udim_count > v->udim_count)
        memcpy(v->udims + v->udim_count, c->catalog.udims + v->udim_count,
               (c->catalog.udim_count - v->udim_count) * sizeof *v->udims);
    v->udim_count = c->catalog.udim_count;
    v->generation = atomic_load(&c->generation);
    v->jobs_over = c->queue.jobs_over;
    v->launch = (uint16_t)((v->launch + 1u) % TXM_LAUNCHES);
    v->epoch = atomic_load(&c->epoch);
    v->stamp = c->store.stamp;
    v->open = true;
    note_open_views(c);
    *view = (txm_view){.textures = v->textures,
                       .tiles = v->tiles,
                       .leaves = v->leaves,
                       .filter = v->filter,
                       .slabs = v->slabs,
                       .udims = v->udims,
                       .texture_count = v->texture_count,
                       .epoch = v->epoch,
                       .launch = v->launch,
                       .round = (uint16_t)atomic_load(&c->round),
                       .rejection = v->rejection};
    if (extent)
        *extent =
            (txm_cache_extent){v->texture_count, v->tile_count, c->store.slab_count, v->udim_count, v->leaf_count};
    return TXM_OK;
}

txm_status txm_cache_viewer_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&v->cache->lock);
    txm_status status = txm_viewer_prepare(v, view, extent, err);
    pthread_mutex_unlock(&v->cache->lock);
    return status;
}

txm_status txm_cache_prepare(txm_cache *c, txm_view *view, txm_cache_extent *extent, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = c->viewers.own ? TXM_OK : txm_viewer_new(c, &c->viewers.own, err);
    if (status == TXM_OK)
        status = txm_viewer_prepare(c->viewers.own, view, extent, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* The entry counts as changed, so that the next view copies it again. */
void txm_cache_viewer_hide(txm_cache_viewer *v, uint32_t number)
{
    pthread_mutex_lock(&v->cache->lock);
    const uint32_t entry = v->open ? hide_tile(v, number) : TXM_SLOT_NONE, chunk = entry >> TXM_CHUNK_SHIFT;
    if (entry != TXM_SLOT_NONE)
        v->changed_tiles[chunk / WORD_BITS] |= (uint64_t)1 << chunk % WORD_BITS;
    pthread_mutex_unlock(&v->cache->lock);
}

/* ---- beginning and end ---- */

txm_status txm_viewer_new(txm_cache *c, txm_cache_viewer **out, txm_error *err)
{
    const size_t filter_bytes = TXM_FILTER_WORDS * sizeof(uint32_t);
    txm_cache_viewer *v = txm_cache_allocate(c, sizeof *v, _Alignof(txm_cache_viewer));
    uint32_t *filter = v ? txm_cache_allocate(c, filter_bytes, _Alignof(uint32_t)) : NULL;
    if (!filter) {
        txm_cache_release(c, v, sizeof *v);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a view of the texture cache");
    }
    *v = (txm_cache_viewer){.cache = c, .next = c->viewers.first, .filter = memset(filter, 0, filter_bytes)};
    c->viewers.first = v;
    c->viewers.count++;
    *out = v;
    return TXM_OK;
}

txm_status txm_cache_viewer_new(txm_cache *c, txm_cache_viewer **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    pthread_mutex_lock(&c->lock);
    txm_status status = txm_viewer_new(c, out, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

void txm_cache_viewer_close(txm_cache_viewer *v)
{
    if (!v)
        return;
    pthread_mutex_lock(&v->cache->lock);
    txm_viewer_close(v);
    pthread_mutex_unlock(&v->cache->lock);
}

/* Waits for the viewer's batches, because they pin the tiles that they load on its list. */
void txm_viewer_free(txm_cache_viewer *v)
{
    txm_cache *c = v->cache;
    txm_viewer_close(v);
    while (v->tickets) {
        pthread_mutex_unlock(&c->lock);
        const bool helped = txm_help(c);
        pthread_mutex_lock(&c->lock);
        if (!helped && v->tickets)
            pthread_cond_wait(&c->changed, &c->lock);
    }
    txm_cache_viewer **at = &c->viewers.first;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    c->viewers.count--;
    txm_unpin(c, &v->pins);
    txm_cache_release(c, v->pins.items, v->pins.capacity * sizeof *v->pins.items);
    txm_cache_release(c, v->textures, v->texture_capacity * sizeof *v->textures);
    txm_cache_release(c, v->tiles, v->tile_capacity * sizeof *v->tiles);
    txm_cache_release(c, v->leaves, v->leaf_capacity * sizeof *v->leaves);
    txm_cache_release(c, v->changed_leaves, v->changed_leaves_capacity * sizeof *v->changed_leaves);
    txm_cache_release(c, v->leaves_copied, v->leaves_copied_capacity * sizeof *v->leaves_copied);
    txm_cache_release(c, v->slabs, v->slab_capacity * sizeof *v->slabs);
    txm_cache_release(c, v->udims, v->udim_capacity * sizeof *v->udims);
    txm_cache_release(c, v->changed_textures, v->changed_textures_capacity * sizeof *v->changed_textures);
    txm_cache_release(c, v->changed_tiles, v->changed_tiles_capacity * sizeof *v->changed_tiles);
    txm_cache_release(c, v->textures_copied, v->textures_copied_capacity * sizeof *v->textures_copied);
    txm_cache_release(c, v->tiles_copied, v->tiles_copied_capacity * sizeof *v->tiles_copied);
    txm_cache_release(c, v->filter, TXM_FILTER_WORDS * sizeof *v->filter);
    txm_cache_release(c, v, sizeof *v);
}

void txm_cache_viewer_free(txm_cache_viewer **viewer)
{
    txm_cache_viewer *v = viewer ? *viewer : NULL;
    if (!v)
        return;
    txm_cache *c = v->cache;
    pthread_mutex_lock(&c->lock);
    txm_viewer_free(v);
    pthread_mutex_unlock(&c->lock);
    *viewer = NULL;
}
