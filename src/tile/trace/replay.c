/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays: the real cache, with a trace in place of lookups and files. Page table, slabs, eviction and epochs are those
 * of the cache, so its policies and budgets can be compared; only pixels are missing. Slabs are allocated but not
 * written to, so they take address space but hardly any memory. One thread replays the lanes of the trace in the order
 * of the file, because waiting of threads for each other is not part of the result.
 */
#include <stdlib.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/options.h"
#include "base/os/pages.h"
#include "tile/cache/flow/rehearse.h"
#include "tile/trace/trace_read.h"

void txm_replay_options_init_sized(txm_replay_options *options, size_t struct_size)
{
    const txm_replay_options all = {.struct_size = struct_size, .keep_epochs = 1};
    txm_options_open(options, struct_size, &all, sizeof all);
}

/* ---- in place of files ---- */

static void shape_in_trace(const void *trace, uint32_t texture, txm_view_texture *shape, bool *widened)
{
    txm_trace_shape(trace, texture, shape);
    *widened = txm_trace_texture_at(trace, texture)->widened;
}

static const uint8_t *pixel_of(const void *trace, txm_tile_name tile)
{
    return txm_trace_pixel(trace, tile);
}

/* Large blocks are mapped, because pages that are never written to take no memory. If a small allocation fails, the
 * cache can sometimes continue by evicting tiles early. Then the counts would not be those of the policy, so *refused
 * records it. */
enum { MAPPED_BYTES = 64 << 10 };

static void *allocate_replay(void *user, size_t bytes, size_t alignment)
{
    bool *refused = user;
    void *memory = NULL;
    if (bytes < MAPPED_BYTES) {
        if (posix_memalign(&memory, alignment, bytes ? bytes : 1) == 0)
            return memory;
        *refused = true;
        return NULL;
    }
    /* Pages satisfy any alignment except that of huge pages, which is not needed here. */
    return txm_pages_new(bytes);
}

static void release(void *user, void *memory, size_t bytes)
{
    (void)user;
    if (bytes < MAPPED_BYTES)
        free(memory);
    else
        txm_pages_free(memory, bytes);
}

/* ---- a replay ---- */

/* If a trace has records of tiles, its lookups are skipped: they are the same ones, and computing their tiles takes
 * longer than reading them. The tiles of a replaced file are dropped; the trace lists the new file as a texture of its
 * own. */
static txm_status replay_trace(const txm_trace *trace, txm_cache *c, txm_cache_thread *t, txm_trace_cursor *cursor,
                               const txm_replay_options *o, txm_replay_counts *out, txm_error *err)
{
    const bool tiles = txm_trace_info_of(trace)->records & TXM_TRACE_TILES;
    txm_trace_event e;
    txm_status status;
    while ((status = txm_trace_next(cursor, &e, err)) == TXM_OK && e.kind != TXM_TRACE_EVENT_END) {
        if (txm_is_cancelled(o->cancel))
            return txm_fail(err, TXM_STATUS_CANCELLED, "stopped");
        switch (e.kind) {
        case TXM_TRACE_EVENT_TILES:
        case TXM_TRACE_EVENT_LOOKUP:
            if (tiles && e.kind == TXM_TRACE_EVENT_LOOKUP)
                continue;
            out->lookups++;
            status = txm_rehearse_look(t, e.tiles, e.tile_count, err);
            break;
        case TXM_TRACE_EVENT_LAUNCH:
            txm_rehearse_launch(c);
            break;
        case TXM_TRACE_EVENT_EPOCH:
            txm_cache_end_epoch(c);
            break;
        case TXM_TRACE_EVENT_REPLACED:
            status = txm_cache_unload(c, e.texture, err);
            break;
        case TXM_TRACE_EVENT_END:
            break;
        }
        if (status != TXM_OK)
            break;
    }
    return status;
}

/* Replays a trace on a cache. A tile that failed was never loaded and would make the counts too low, so any failure
 * fails the replay. */
static txm_status rehearse(const txm_trace *trace, const txm_replay_options *o, txm_replay_counts *out, txm_error *err)
{
    txm_cache *c = NULL;
    txm_cache_thread *t = NULL;
    txm_trace_cursor *cursor = NULL;
    txm_cache_stats s;
    bool refused = false;
    txm_cache_options how;
    const txm_rehearsal rehearsal = {trace, shape_in_trace, pixel_of};
    txm_cache_options_init_cycles(&how);
    how.max_bytes = o->max_bytes;
    how.policy = o->policy;
    how.keep_epochs = o->keep_epochs;
    how.threads = 1;
    how.coalesce = TXM_COALESCE_CONSTANT;
    how.allocator = (txm_cache_allocator){allocate_replay, release, &refused};
    txm_status status = txm_cache_new(&how, &c, err);
    if (status != TXM_OK)
        return status;
    txm_rehearse(c, &rehearsal);
    /* Textures are added in the order of the trace, so their numbers are its indices. */
    const txm_trace_texture *x;
    for (uint32_t i = 0; status == TXM_OK && (x = txm_trace_texture_at(trace, i)); i++)
        status = txm_rehearse_add(c, x->path, x->extension, err);
    if (status == TXM_OK)
        status = txm_cache_thread_new(c, &t, err);
    if (status == TXM_OK)
        status = txm_trace_cursor_new(trace, &cursor, err);
    if (status == TXM_OK)
        status = replay_trace(trace, c, t, cursor, o, out, err);
    if (status == TXM_OK) {
        txm_cache_stats_of(c, &s);
        out->reads = s.tiles_loaded;
        out->reads_again = s.tiles_reloaded;
        out->tiles = s.tiles_loaded - s.tiles_reloaded;
        out->tile_bytes = s.working_set_bytes;
        out->read_bytes = s.loaded_bytes;
        out->evicted = s.tiles_evicted;
        out->peak_bytes = s.tile_bytes_peak;
        out->peak_allocated_bytes = s.allocated_bytes_peak;
        if (s.tiles_failed || s.textures_failed || refused)
            status = txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for the tiles of a replay");
    }
    txm_trace_cursor_free(&cursor);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    return status;
}

txm_status txm_replay(const txm_trace *trace, const txm_replay_options *options, txm_replay_counts *out, txm_error *err)
{
    txm_replay_options o;
    txm_error_clear(err);
    *out = (txm_replay_counts){0};
    txm_replay_options_init(&o);
    txm_status status = txm_options_take(&o, sizeof o, options, "txm_replay_options", err);
    if (status != TXM_OK)
        return status;
    if (o.policy != TXM_REPLAY_OPT && !txm_cache_policy_words_of((txm_cache_policy)o.policy))
        return txm_fail(err, TXM_STATUS_USAGE, "replay: unknown policy %u", o.policy);
    status = o.policy == TXM_REPLAY_OPT ? txm_optimum(trace, &o, out, err) : rehearse(trace, &o, out, err);
    if (status != TXM_OK)
        *out = (txm_replay_counts){0};
    return status;
}
