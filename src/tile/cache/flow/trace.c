/* SPDX-License-Identifier: Apache-2.0
 *
 * What the cache reports to a trace: lookups with the tiles that they use, textures before their first lookup, tiles of
 * one colour when they are loaded, launches and epochs. The file itself is written in tile/record, under the cache's
 * lock, which makes traced lookups much slower. Its memory is not part of the cache's budget, so a traced cache keeps
 * the same tiles.
 */
#include "tile/cache/flow/flow.h"

#define PREPARED_LANE 0x80000000u /* added to the numbers of lanes that do not belong to threads */

_Static_assert((int)TXM_TRACE_TILES == TXM_TRACE_HAS_TILES && (int)TXM_TRACE_LOOKUPS == TXM_TRACE_HAS_LOOKUPS,
               "the flags of callers are those of the file");
_Static_assert(sizeof((txm_cache *)0)->trace_began == TXM_TRACE_END_BYTES, "all numbers of the end block are kept");

/* ---- textures ---- */

/* Once per file: replacing the file clears `traced`, and from there on the number means the new file. */
static void describe_texture(txm_cache *c, uint32_t texture)
{
    txm_texture *t = &c->catalog.textures[texture];
    if (!t->traced)
        txm_recorder_texture(c->trace, texture, &c->catalog.view_textures[texture], t->source->converts,
                             txm_file_path(t->file));
    t->traced = true;
}

/* Called when the tile is loaded, before it is shared. */
void txm_trace_constant(txm_cache *c, const txm_source *s, uint32_t level, uint32_t tile, const uint8_t *pixel)
{
    if (!c->trace)
        return;
    describe_texture(c, s->first_texture);
    txm_recorder_constant(c->trace, (txm_tile_name){s->first_texture, 0, level, tile}, pixel, s->view->pixel_bytes);
}

static void describe_constant(void *arg, uint32_t number)
{
    txm_cache *c = arg;
    const uint32_t slot = txm_entry_slot(&c->catalog, number);
    if (slot >= TXM_SLOT_STATES || txm_slot_at(&c->tiles, slot)->state != TXM_SLOT_STATE_SHARED)
        return;
    const txm_located at = txm_locate(&c->catalog, number);
    txm_trace_constant(c, at.source, at.level, at.tile, txm_slot_pixels(&c->tiles, slot));
}

/* Describes the shared tiles that exist when the trace begins. */
static void describe_constants(txm_cache *c)
{
    uint32_t at = 0;
    for (const txm_source *s; (s = txm_source_next(&c->catalog, &at));)
        txm_each_tile(&c->catalog, s, describe_constant, c);
}

void txm_trace_event(txm_cache *c, void (*record)(txm_recorder *r))
{
    if (c->trace)
        record(c->trace);
}

/* ---- lookups ---- */

typedef struct traced {
    const txm_cache *cache;
    const txm_source *source;
} traced;

static bool has_failed(const void *user, const txm_tile_name *n)
{
    const traced *of = user;
    const uint32_t slot = txm_entry_slot(&of->cache->catalog, txm_number(of->source, n->level, n->tile));
    return slot == TXM_SLOT_FAILED || slot - TXM_SLOT_UNREADABLE <= UINT16_MAX;
}

/* A source is recorded under its first texture, so duplicates share their tiles in a replay as they do in the cache. A
 * texture that could not be opened is not recorded. The trace may have stopped between the caller's check and the lock.
 */
static void add_lookup(txm_cache *c, uint32_t lane, uint32_t texture, const txm_sampler *how, const txm_lookup *given,
                       uint32_t random)
{
    pthread_mutex_lock(&c->lock);
    txm_lookup at = *given;
    const uint32_t shown = txm_shown_texture(c, texture, how, &at);
    const txm_source *s = c->trace && shown < c->stats.textures ? c->catalog.textures[shown].source : NULL;
    if (s) {
        const traced of = {c, s};
        describe_texture(c, s->first_texture);
        txm_recorder_lookup(c->trace, &(txm_recorded){lane, s->first_texture, s->view, txm_file_path(s->file), how, &at,
                                                      random, has_failed, &of});
    }
    pthread_mutex_unlock(&c->lock);
}

void txm_trace_lookup(txm_cache_thread *t, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                      uint32_t random)
{
    add_lookup(t->cache, t->number, texture, how, at, random);
}

/* For renderers that sample a prepared view themselves, on a device or in their own loop: they report their lookups
 * here. The top bit distinguishes their lanes from threads of the cache. */
void txm_cache_trace_lookup(txm_cache *c, uint32_t lane, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                            uint32_t random)
{
    if (atomic_load_explicit(&c->world.watched, memory_order_relaxed))
        add_lookup(c, lane | PREPARED_LANE, texture, how, at, random);
}

/* ---- beginning and end ---- */

/* The numbers of the end block, counted from the beginning of the cache. */
static void count_all(const txm_cache *c, uint64_t numbers[TXM_TRACE_END_NUMBERS])
{
    const txm_cache_stats *s = &c->stats;
    const uint64_t all[TXM_TRACE_END_NUMBERS] = {c->options.policy,
                                                 c->options.keep_epochs,
                                                 c->options.max_bytes,
                                                 s->tiles_loaded,
                                                 s->loaded_bytes,
                                                 s->tiles_reloaded,
                                                 (uint64_t)(s->load_seconds * 1e9),
                                                 txm_lookups_of(c)};
    memcpy(numbers, all, sizeof all);
}

/* What was counted before the statistics are reset stays in the trace, whose numbers are differences. */
void txm_trace_recount(txm_cache *c, int sign)
{
    uint64_t numbers[TXM_TRACE_END_NUMBERS];
    count_all(c, numbers);
    for (int i = TXM_TRACE_END_SETTINGS; i < TXM_TRACE_END_NUMBERS; i++)
        c->trace_began[i] += sign < 0 ? -numbers[i] : numbers[i];
}

txm_status txm_cache_trace_start(txm_cache *c, const char *path, uint32_t records, txm_error *err)
{
    txm_error_clear(err);
    if (!path)
        return txm_fail(err, TXM_STATUS_USAGE, "no file given for a trace: its path is NULL");
    if (!records || records & ~(uint32_t)(TXM_TRACE_TILES | TXM_TRACE_LOOKUPS))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: a trace holds tiles, lookups or both", path);
    pthread_mutex_lock(&c->lock);
    txm_status status = c->trace ? txm_fail(err, TXM_STATUS_USAGE, "%s: the cache is already writing %s", path,
                                            txm_recorder_path(c->trace))
                                 : txm_recorder_new(path, records, &c->trace, err);
    if (status == TXM_OK) {
        for (uint32_t i = 0; i < c->stats.textures; i++)
            c->catalog.textures[i].traced = false;
        count_all(c, c->trace_began);
        describe_constants(c);
        atomic_store(&c->world.watched, true);
        txm_slow_down(&c->world);
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* Lookups stop being recorded under the lock; closing and renaming need no lock. `partial`: the reason why the work was
 * not finished; NULL: it was finished. */
static txm_status end_trace(txm_cache *c, bool keep, const char *partial, txm_error *err)
{
    uint64_t numbers[TXM_TRACE_END_NUMBERS];
    pthread_mutex_lock(&c->lock);
    txm_recorder *r = c->trace;
    if (r) {
        count_all(c, numbers);
        for (int i = TXM_TRACE_END_SETTINGS; i < TXM_TRACE_END_NUMBERS; i++)
            numbers[i] -= c->trace_began[i];
        if (keep)
            txm_recorder_end(r, numbers, partial);
        c->trace = NULL;
        atomic_store(&c->world.watched, c->spurious > 0.0f);
        txm_slow_down(&c->world);
    }
    pthread_mutex_unlock(&c->lock);
    return r ? txm_recorder_close(r, keep, err) : TXM_OK;
}

txm_status txm_cache_trace_stop(txm_cache *c, txm_error *err)
{
    txm_error_clear(err);
    return end_trace(c, true, NULL, err);
}

txm_status txm_cache_trace_stop_partial(txm_cache *c, const char *why, txm_error *err)
{
    txm_error_clear(err);
    return end_trace(c, true, why && *why ? why : "the work was not finished", err);
}

void txm_cache_trace_drop(txm_cache *c)
{
    end_trace(c, false, NULL, NULL);
}
