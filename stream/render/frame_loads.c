/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads batches of tiles while frames are rendered. See frame_loads.h.
 */
#include "render/frame_loads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "render/use.h"

txm_status stm_frame_loads_new(stm_frame_loads *l, txm_cache *cache, uint32_t most, bool is_virtual, uint32_t loaders,
                               txm_error *err)
{
    *l = (stm_frame_loads){.cache = cache, .most = most, .is_virtual = is_virtual};
    l->requests = stm_calloc(most, sizeof *l->requests);
    l->keys = stm_calloc(most, sizeof *l->keys);
    l->choices = stm_calloc(most, sizeof *l->choices);
    if (!l->requests || !l->keys || !l->choices)
        return stm_no_memory(err, NULL);
    l->loader = loaders ? stm_loader_new(loaders) : NULL;
    if (loaders && !l->loader)
        return stm_fail_errno(err, errno, "threads cannot be started");
    txm_cache_stats_of(cache, &l->now);
    const txm_status status = txm_cache_viewer_new(cache, &l->viewer, err);
    if (status == TXM_OK)
        txm_cache_viewer_never_repeats(l->viewer);
    return status;
}

void stm_frame_loads_free(stm_frame_loads *l)
{
    if (l->loader)
        stm_loader_take_back(l->loader);
    txm_ticket_cancel(&l->ticket);
    stm_loader_free(&l->loader);
    txm_cache_viewer_free(&l->viewer);
    free(l->requests);
    free(l->keys);
    free(l->choices);
    *l = (stm_frame_loads){0};
}

/* ---- tiles ---- */

/* The number of a key's tile in the view; `opens`: that of its texture, which is not open yet. TXM_NO_TEXTURE: the
 * texture is gone. */
static uint32_t number_of(const stm_frame_loads *l, txm_tile_key key, bool *opens)
{
    const txm_tile_name n = txm_tile_key_unpack(key);
    *opens = false;
    if (n.texture >= l->view.texture_count || n.level >= l->view.textures[n.texture].levels)
        return TXM_NO_TEXTURE;
    const txm_view_texture *t = &l->view.textures[n.texture];
    *opens = !t->tile_shift;
    return *opens ? t->first : stm_use_first_of(t, n.level) + n.tile;
}

/* Makes those tiles of the batch that are in the view LOADING. */
static void hide(stm_frame_loads *l)
{
    for (uint32_t i = 0; i < l->key_count; i++) {
        bool opens;
        const uint32_t number = number_of(l, l->keys[i], &opens);
        if (number != TXM_NO_TEXTURE && !opens)
            txm_cache_viewer_hide(l->viewer, number);
    }
}

/* The arrival of a tile counts as a use of it by this frame, so that all tiles of a batch are equally recent, in
 * whichever order threads loaded them. */
static uint32_t mark_shown(stm_frame_loads *l)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < l->key_count; i++) {
        bool opens;
        const uint32_t number = number_of(l, l->keys[i], &opens);
        txm_tile_entry *e = number == TXM_NO_TEXTURE || opens ? NULL : txm_view_entry(&l->view, number, NULL);
        if (!e || e->slot >= TXM_SLOT_STATES)
            continue;
        e->mark = l->view_epoch;
        shown++;
    }
    l->key_count = 0;
    return shown;
}

static txm_status prepare(stm_frame_loads *l, txm_error *err)
{
    txm_status status = txm_cache_viewer_prepare(l->viewer, &l->view, &l->extent, err);
    l->view_epoch = l->view.epoch;
    return status;
}

/* ---- frames ---- */

/* A file that temporarily could not be read is requested again in the next round, which begins with a view. */
txm_status stm_frame_loads_begin(stm_frame_loads *l, double now_ms, uint64_t max_bytes, float mark_share,
                                 bool begins_anew, uint32_t *shown, txm_error *err)
{
    const bool over = l->loading && (l->is_virtual ? now_ms >= l->due_ms
                                     : l->loader   ? stm_loader_is_done(l->loader)
                                                   : txm_ticket_poll(l->ticket));
    *shown = 0;
    if (over) {
        if (l->loader)
            stm_loader_take_back(l->loader);
        txm_ticket_wait(&l->ticket);
        l->loading = false;
    }
    txm_status status = prepare(l, err);
    if (status)
        return status;
    if (over)
        *shown = mark_shown(l);
    else if (l->loading && l->is_virtual)
        hide(l);
    l->before = l->now;
    txm_cache_stats_of(l->cache, &l->now);
    const bool evicted = l->now.tiles_evicted != l->before.tiles_evicted;
    l->has_evicted |= evicted;
    l->was_full |= evicted && !l->is_new && l->now.tiles_loaded != l->loaded_before_set;
    l->is_new = false;
    if (max_bytes && !l->has_evicted && (double)l->now.slab_bytes < (double)mark_share * (double)max_bytes)
        l->view.epoch = 0;
    if (begins_anew) {
        l->picture_epoch = l->view_epoch;
        l->picture_batches = 0;
    }
    return TXM_OK;
}

/* ---- batches ---- */

/* Batches that are tried although memory is so full that every tile is evicted before a frame shows it. */
enum { VAIN_BATCHES = 16 };

/* The most tiles in the next batch once memory is full: as many as there is room for beside those that the picture has
 * used, and some in place of these, at first half of the room, then half as many in each further batch. */
static uint64_t most_in_batch(const stm_frame_loads *l)
{
    if (!l->now.tile_bytes)
        return l->picture_batches < VAIN_BATCHES ? l->most : 0;
    const uint64_t room = l->now.tiles * l->now.slab_bytes / l->now.tile_bytes;
    const uint32_t halvings = 1 + l->picture_batches;
    uint64_t used = 0;
    for (uint32_t i = 0; i < l->extent.tiles; i++)
        used += l->view.tiles[i].slot < TXM_SLOT_STATES && l->view.tiles[i].mark >= l->picture_epoch;
    return (room > used ? room - used : 0) + (halvings < 64 ? room >> halvings : 0);
}

static int by_requests(const void *a, const void *b)
{
    const stm_frame_choice *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void choose_keys(stm_frame_loads *l, const stm_request_list *list)
{
    const uint64_t most = l->was_full && l->view.epoch ? most_in_batch(l) : list->unique;
    for (uint32_t i = 0; i < list->unique; i++)
        l->choices[i] = (stm_frame_choice){list->keys[i], list->counts[i], i};
    if (l->was_full)
        qsort(l->choices, list->unique, sizeof *l->choices, by_requests);
    l->key_count = list->unique < most ? list->unique : (uint32_t)most;
    for (uint32_t i = 0; i < l->key_count; i++)
        l->keys[i] = l->choices[i].key;
}

/* Lists the entries of the batch's keys. Textures that are not open come first and alone, if there are any: they cost
 * no tile, and afterwards tiles can be requested. */
static uint32_t list_entries(stm_frame_loads *l, bool *textures)
{
    uint32_t count = 0, last = TXM_NO_TEXTURE;
    *textures = false;
    for (uint32_t i = 0; i < l->key_count && !*textures; i++)
        number_of(l, l->keys[i], textures);
    for (uint32_t i = 0; i < l->key_count; i++) {
        bool opens;
        const uint32_t number = number_of(l, l->keys[i], &opens);
        if (number == TXM_NO_TEXTURE || opens != *textures || (opens && number == last))
            continue;
        l->requests[count++] = last = number;
    }
    return count;
}

/* Passes the keys to the cache. Before tiles can be requested, textures may have to be opened. */
static txm_status hand_over(stm_frame_loads *l, uint32_t *requested, txm_error *err)
{
    enum { STEPS = 2 };
    txm_status status = TXM_OK;
    bool textures = true;
    for (int step = 0; status == TXM_OK && textures && step < STEPS; step++) {
        *requested = list_entries(l, &textures);
        txm_lookup_state state = {.requests = l->requests, .capacity = l->most, .count = *requested},
                         *states[] = {&state};
        status = txm_cache_viewer_process(l->viewer, states, 1, &l->ticket, err);
        if (status == TXM_OK && textures) {
            txm_ticket_wait(&l->ticket);
            if (step + 1 < STEPS)
                status = prepare(l, err);
        }
    }
    return status;
}

txm_status stm_frame_loads_end(stm_frame_loads *l, const stm_request_list *list, uint32_t frame, double now_ms,
                               const stm_cost_model *costs, const volatile int *cancel, uint32_t *cut, txm_error *err)
{
    uint32_t requested = 0;
    *cut = 0;
    if (l->loading || !list->unique) {
        stm_frame_loads_skip(l);
        return TXM_OK;
    }
    choose_keys(l, list);
    const uint32_t left = list->unique - l->key_count;
    txm_status status = hand_over(l, &requested, err);
    l->batch = txm_ticket_total(l->ticket);
    *cut = status ? 0 : requested - l->batch + left;
    if (status || !l->batch) {
        /* There is no room for any tile, or all that was missing is in files that cannot be opened. */
        txm_ticket_wait(&l->ticket);
        l->key_count = 0;
        return status;
    }
    l->loading = true;
    l->picture_batches += l->was_full;
    l->requested_frame = frame;
    l->due_ms = now_ms + costs->latency_ms + costs->tile_ms * l->batch;
    if (l->loader)
        stm_loader_give(l->loader, l->ticket);
    if (l->is_virtual) { /* waits until the batch is loaded */
        const struct timespec moment = {0, 100000};
        while (!stm_is_cancelled(cancel) && !txm_ticket_poll(l->ticket))
            nanosleep(&moment, NULL);
        if (stm_is_cancelled(cancel))
            txm_ticket_cancel(&l->ticket);
        else
            txm_ticket_wait(&l->ticket);
    }
    return TXM_OK;
}

void stm_frame_loads_allow(stm_frame_loads *l, double seconds)
{
    if (l->loader)
        stm_loader_allow(l->loader, seconds);
}

void stm_frame_loads_resized(stm_frame_loads *l)
{
    l->has_evicted = l->was_full = false;
    l->is_new = true;
    l->loaded_before_set = l->now.tiles_loaded;
    l->picture_batches = 0;
}

void stm_frame_loads_skip(stm_frame_loads *l)
{
    txm_cache_viewer_close(l->viewer);
}
