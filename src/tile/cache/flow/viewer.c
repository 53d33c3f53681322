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
#include "tile/cache/flow/flow.h"
#include "tile/cache/flow/mirror.h"

enum { WORD_BITS = 64 };

/* ---- changes ---- */

/* The view's own entry of a tile; NULL: it has none. */
static txm_tile_entry *entry_of(const txm_cache_viewer *v, uint32_t number)
{
    const uint32_t leaf = number >> TXM_LEAF_SHIFT;
    const uint32_t *words = v->of[TXM_OF_WORDS].items;
    const uint32_t first =
        leaf < v->changes.of[TXM_OF_WORDS].count ? __atomic_load_n(&words[leaf], __ATOMIC_RELAXED) : TXM_SLOT_NONE;
    return first < TXM_SLOT_STATES
               ? (txm_tile_entry *)v->of[TXM_OF_ENTRIES].items + first + (number & (TXM_LEAF_TILES - 1))
               : NULL;
}

/* ---- open and closed ---- */

/* Lookups write marks without a lock while this reads them; a slightly old value does no harm. */
void txm_viewer_merge(txm_cache_viewer *v)
{
    txm_cache *c = v->cache;
    if (!v->open)
        return;
    for (uint32_t slab = 0, count; slab < txm_slabs_end(&c->tiles); slab++) {
        const txm_slot *slots = txm_slab_slots(&c->tiles, slab, &count);
        for (uint32_t i = 0; i < count; i++) {
            const txm_slot *s = &slots[i];
            const txm_tile_entry *e = s->state == TXM_SLOT_STATE_HELD ? entry_of(v, s->held.tile) : NULL;
            if (!e || __atomic_load_n(&e->mark, __ATOMIC_RELAXED) != v->epoch)
                continue;
            uint32_t *mark = &txm_entry(&c->catalog, s->held.tile)->mark;
            if (__atomic_load_n(mark, __ATOMIC_RELAXED) < v->epoch)
                __atomic_store_n(mark, v->epoch, __ATOMIC_RELAXED);
        }
    }
}

/* Returns the number of the oldest open view. */
static uint32_t note_open_views(txm_cache *c)
{
    uint32_t oldest = c->tiles.last_view + 1;
    c->tiles.open_views = 0;
    for (txm_cache_viewer *v = c->viewers; v; v = v->next) {
        v->changes.holds = v->kept_count ? v->kept_from : v->open ? v->generation : UINT64_MAX;
        if (!v->open)
            continue;
        if (!c->tiles.open_views || (int32_t)(v->stamp - c->tiles.shown_stamp) > 0)
            c->tiles.shown_stamp = v->stamp;
        if ((int32_t)(v->number - oldest) < 0)
            oldest = v->number;
        c->tiles.open_views++;
    }
    return oldest;
}

void txm_viewer_close(txm_cache_viewer *v)
{
    txm_cache *c = v->cache;
    if (!v->open)
        return;
    txm_viewer_merge(v);
    v->open = false;
    txm_slots_free_retired(&c->tiles, note_open_views(c));
    /* Within the budget the next batch unpins them: the longer tiles are pinned, the fewer tiles of a picture evict
     * each other. */
    if (c->tiles.max_bytes && c->tiles.allocated + c->tiles.beside > c->tiles.max_bytes)
        txm_viewer_unpin(v);
    txm_make_room(&c->tiles, 0);
}

txm_status txm_own_view_allows(const txm_cache *c, const char *call, txm_error *err)
{
    if (!c->own_viewer || !c->own_viewer->open)
        return TXM_OK;
    return txm_fail(err, TXM_STATUS_USAGE,
                    "%s: the view of txm_cache_prepare is open; end it with txm_cache_process or txm_cache_close_view",
                    call);
}

void txm_cache_close_view(txm_cache *c)
{
    pthread_mutex_lock(&c->lock);
    if (c->own_viewer)
        txm_viewer_close(c->own_viewer);
    pthread_mutex_unlock(&c->lock);
}

/* ---- bringing up to date ---- */

/* An array of the cache that views copy. */
typedef struct live {
    const void *items;
    uint32_t count, item_bytes;
} live;

static live live_of(const txm_cache *c, int part)
{
    const live all[TXM_COPIES] = {
        [TXM_OF_TEXTURES] = {c->catalog.view_textures, c->stats.textures, sizeof *c->catalog.view_textures},
        [TXM_OF_ENTRIES] = {c->catalog.entries, c->catalog.entry_count, sizeof *c->catalog.entries},
        [TXM_OF_WORDS] = {c->catalog.words, c->catalog.word_count, sizeof *c->catalog.words}};
    return all[part];
}

static uint32_t chunks_of(uint32_t count, uint32_t chunk)
{
    return (uint32_t)(((uint64_t)count + chunk - 1) / chunk);
}

/* Makes room for everything that the cache has now. That may evict tiles, so it comes before anything is copied. If the
 * budget has shrunk, the page table has given memory back, and so do the copies of it. */
static bool make_room_to_show(txm_cache *c, txm_cache_viewer *v)
{
    for (int i = 0; i < TXM_COPIES; i++) {
        const live l = live_of(c, i);
        if (!txm_array_grow(&c->tiles, &v->of[i].items, &v->of[i].capacity, l.count, l.item_bytes, NULL) ||
            !txm_array_grow(&c->tiles, (void **)&v->changes.of[i].bits, &v->of[i].bits_capacity,
                            chunks_of(l.count, TXM_CHUNK * WORD_BITS), sizeof(uint64_t), NULL) ||
            !txm_array_grow(&c->tiles, (void **)&v->of[i].copied, &v->of[i].copied_capacity,
                            chunks_of(l.count, TXM_CHUNK), sizeof(uint32_t), NULL))
            return false;
    }
    if (!txm_array_grow(&c->tiles, (void **)&v->udims, &v->udim_capacity, c->catalog.udim_count, sizeof *v->udims,
                        NULL) ||
        !txm_array_grow(&c->tiles, (void **)&v->slabs, &v->slab_capacity, txm_slabs_end(&c->tiles), sizeof *v->slabs,
                        NULL))
        return false;
    /* From here on no room is made, which might take more of the page table. */
    for (int i = 0; i < TXM_COPIES; i++) {
        const live l = live_of(c, i);
        if (l.count >= v->changes.of[i].count)
            continue;
        memset(v->changes.of[i].bits, 0, chunks_of(v->changes.of[i].count, TXM_CHUNK * WORD_BITS) * sizeof(uint64_t));
        v->changes.of[i].count = 0;
        txm_array_shrink(&c->tiles, &v->of[i].items, &v->of[i].capacity, l.count, l.item_bytes, NULL);
    }
    return true;
}

/* Copies elements from..to - 1, word by word, because threads' lookups may write entries meanwhile. They are not as
 * they were in the viewer's last view. */
static void copy_elements(const txm_cache *c, txm_cache_viewer *v, int part, uint32_t from, uint32_t to)
{
    const live l = live_of(c, part);
    const size_t words = l.item_bytes / sizeof(uint32_t);
    const uint32_t *source = l.items;
    uint32_t *copy = v->of[part].items;
    for (size_t i = from * words; i < to * words; i++)
        copy[i] = __atomic_load_n(&source[i], __ATOMIC_ACQUIRE);
    for (uint32_t i = from; i < to; i = (i / TXM_CHUNK + 1) * TXM_CHUNK)
        v->of[part].copied[i / TXM_CHUNK] = v->number;
}

static void copy_changes(const txm_cache *c, txm_cache_viewer *v, int part)
{
    const uint32_t now = live_of(c, part).count, count = v->changes.of[part].count;
    uint64_t *bits = v->changes.of[part].bits;
    for (uint32_t i = 0; i < chunks_of(count, TXM_CHUNK * WORD_BITS); i++)
        for (; bits[i]; bits[i] &= bits[i] - 1) {
            const uint32_t from = (i * WORD_BITS + (uint32_t)__builtin_ctzll(bits[i])) << TXM_CHUNK_SHIFT;
            copy_elements(c, v, part, from, count - from < TXM_CHUNK ? count : from + TXM_CHUNK);
        }
    copy_elements(c, v, part, count, now);
    v->changes.of[part].count = now;
}

/* Returns the entry that was hidden; TXM_SLOT_NONE: the tile is not in the view. */
static uint32_t hide_tile(txm_cache_viewer *v, uint32_t number)
{
    txm_tile_entry *e = entry_of(v, number);
    if (!e || __atomic_load_n(&e->slot, __ATOMIC_RELAXED) >= TXM_SLOT_STATES)
        return TXM_SLOT_NONE;
    const uint32_t entry = (uint32_t)(e - (txm_tile_entry *)v->of[TXM_OF_ENTRIES].items);
    __atomic_store_n(&e->slot, TXM_SLOT_LOADING, __ATOMIC_RELAXED);
    v->of[TXM_OF_ENTRIES].copied[entry / TXM_CHUNK] = v->number;
    return entry;
}

/* Shows what has been loaded of batches that take longer than the caller wants to wait for something new. */
static void show_portions(txm_cache *c)
{
    const double now = c->options.show_seconds > 0 && c->queue.tickets ? txm_clock_seconds() : 0;
    for (txm_ticket *t = now > 0 ? c->queue.tickets : NULL; t; t = t->next_running) {
        if (now - t->shown_seconds < (double)c->options.show_seconds)
            continue;
        t->shown_seconds = now;
        for (uint32_t i = 0; i < t->total; i++) {
            txm_job *job = &t->jobs[i];
            const uint32_t number =
                job->shown || !job->source->textures ? TXM_NO_SLOT : txm_number(job->source, job->level, job->tile);
            if (number == TXM_NO_SLOT || txm_entry_slot(&c->catalog, number) >= TXM_SLOT_STATES)
                continue;
            job->shown = true;
            txm_number_changed(&c->catalog, number);
        }
    }
}

/* Hides the tiles of batches that are not over, except for the portions that were shown. */
static void hide_unfinished(const txm_cache *c, txm_cache_viewer *v)
{
    for (const txm_ticket *t = c->queue.tickets; t; t = t->next_running)
        for (uint32_t i = 0; i < t->total; i++) {
            const txm_job *job = &t->jobs[i];
            if (!job->source->textures || job->shown)
                continue;
            hide_tile(v, txm_number(job->source, job->level, job->tile));
        }
}

/* For policies with by_launch, an epoch begins here. */
txm_status txm_viewer_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent, txm_error *err)
{
    txm_cache *c = v->cache;
    txm_viewer_close(v);
    txm_trace_event(c, txm_recorder_launch);
    if (!make_room_to_show(c, v))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a view of the texture cache");
    if (txm_policy_of(c)->by_launch)
        txm_next_epoch(c);
    txm_next_round(c);
    show_portions(c);
    v->number = ++c->tiles.last_view;
    for (int i = 0; i < TXM_COPIES; i++)
        copy_changes(c, v, i);
    hide_unfinished(c, v);
    if (txm_slabs_end(&c->tiles))
        memcpy(v->slabs, c->world.view.slabs, txm_slabs_end(&c->tiles) * sizeof *v->slabs);
    if (c->catalog.udim_count > v->udim_count)
        memcpy(v->udims + v->udim_count, c->catalog.udims + v->udim_count,
               (c->catalog.udim_count - v->udim_count) * sizeof *v->udims);
    v->udim_count = c->catalog.udim_count;
    v->generation = atomic_load(&c->world.generation);
    v->jobs_over = c->queue.jobs_over;
    v->launch = (uint16_t)((v->launch + 1u) % TXM_LAUNCHES);
    v->epoch = atomic_load(&c->world.epoch);
    v->stamp = c->tiles.stamp;
    v->open = true;
    note_open_views(c);
    *view = (txm_view){.textures = v->of[TXM_OF_TEXTURES].items,
                       .tiles = v->of[TXM_OF_ENTRIES].items,
                       .leaves = v->of[TXM_OF_WORDS].items,
                       .filter = v->filter,
                       .slabs = v->slabs,
                       .udims = v->udims,
                       .texture_count = v->changes.of[TXM_OF_TEXTURES].count,
                       .epoch = v->epoch,
                       .launch = v->launch,
                       .round = (uint16_t)atomic_load(&c->world.round),
                       .rejection = v->rejection};
    if (extent)
        *extent = (txm_cache_extent){v->changes.of[TXM_OF_TEXTURES].count, v->changes.of[TXM_OF_ENTRIES].count,
                                     txm_slabs_end(&c->tiles), v->udim_count, v->changes.of[TXM_OF_WORDS].count};
    return TXM_OK;
}

txm_status txm_cache_viewer_prepare(txm_cache_viewer *v, txm_view *view, txm_cache_extent *extent, txm_error *err)
{
    txm_error_clear(err);
    return txm_mirror_prepare(v, view, extent, NULL, NULL, err);
}

txm_status txm_cache_prepare(txm_cache *c, txm_view *view, txm_cache_extent *extent, txm_error *err)
{
    txm_error_clear(err);
    const txm_status status = txm_own_viewer(c, err);
    return status ? status : txm_mirror_prepare(c->own_viewer, view, extent, NULL, NULL, err);
}

/* The entry counts as changed, so that the next view copies it again. */
void txm_cache_viewer_hide(txm_cache_viewer *v, uint32_t number)
{
    pthread_mutex_lock(&v->cache->lock);
    const uint32_t entry = v->open ? hide_tile(v, number) : TXM_SLOT_NONE, chunk = entry >> TXM_CHUNK_SHIFT;
    if (entry != TXM_SLOT_NONE)
        v->changes.of[TXM_OF_ENTRIES].bits[chunk / WORD_BITS] |= (uint64_t)1 << chunk % WORD_BITS;
    pthread_mutex_unlock(&v->cache->lock);
}

/* ---- beginning and end ---- */

static txm_status viewer_new(txm_cache *c, txm_cache_viewer **out, txm_error *err)
{
    const size_t filter_bytes = TXM_FILTER_WORDS * sizeof(uint32_t);
    txm_cache_viewer *v = txm_allocate(&c->tiles, sizeof *v, _Alignof(txm_cache_viewer));
    uint32_t *filter = v ? txm_allocate(&c->tiles, filter_bytes, _Alignof(uint32_t)) : NULL;
    if (!filter) {
        txm_release(&c->tiles, v, sizeof *v);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a view of the texture cache");
    }
    *v = (txm_cache_viewer){.cache = c, .next = c->viewers, .filter = memset(filter, 0, filter_bytes)};
    v->changes.holds = UINT64_MAX;
    v->changes.next = c->catalog.watchers;
    c->catalog.watchers = &v->changes;
    c->catalog.watcher_count++;
    c->viewers = v;
    c->viewer_count++;
    *out = v;
    return TXM_OK;
}

txm_status txm_own_viewer(txm_cache *c, txm_error *err)
{
    pthread_mutex_lock(&c->lock);
    const txm_status status = c->own_viewer ? TXM_OK : viewer_new(c, &c->own_viewer, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

txm_status txm_cache_viewer_new(txm_cache *c, txm_cache_viewer **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    pthread_mutex_lock(&c->lock);
    txm_status status = viewer_new(c, out, err);
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
    txm_cache_viewer **at = &c->viewers;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    txm_changes **watcher = &c->catalog.watchers;
    while (*watcher != &v->changes)
        watcher = &(*watcher)->next;
    *watcher = v->changes.next;
    c->catalog.watcher_count--;
    c->viewer_count--;
    txm_unpin(c, &v->pins);
    txm_release(&c->tiles, v->pins.items, v->pins.capacity * sizeof *v->pins.items);
    for (int i = 0; i < TXM_COPIES; i++) {
        txm_release(&c->tiles, v->of[i].items, (size_t)v->of[i].capacity * live_of(c, i).item_bytes);
        txm_release(&c->tiles, v->changes.of[i].bits, v->of[i].bits_capacity * sizeof(uint64_t));
        txm_release(&c->tiles, v->of[i].copied, v->of[i].copied_capacity * sizeof(uint32_t));
    }
    txm_release(&c->tiles, v->slabs, v->slab_capacity * sizeof *v->slabs);
    txm_release(&c->tiles, v->udims, v->udim_capacity * sizeof *v->udims);
    txm_release(&c->tiles, v->kept, v->kept_capacity * sizeof *v->kept);
    txm_release(&c->tiles, v->filter, TXM_FILTER_WORDS * sizeof *v->filter);
    txm_release(&c->tiles, v, sizeof *v);
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
