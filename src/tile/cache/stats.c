/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of the cache. Each thread has its own counters, so lookups of different threads do not share one; they are
 * added up here.
 */
#include <stdio.h>

#include "tile/cache/cache_impl.h"

/* Threads go on during the summation, so the sum is exact only if no thread looks up. */
uint64_t txm_lookups_of(const txm_cache *c)
{
    uint64_t n = c->stats.lookups; /* includes the counts of threads that were freed */
    for (const txm_cache_thread *t = c->threads; t; t = t->next)
        n += atomic_load_explicit(&t->quick.lookups, memory_order_relaxed);
    return n;
}

/* Overhead is all memory except slabs: tables, lists, threads, strings. */
void txm_cache_stats_of(txm_cache *c, txm_cache_stats *stats)
{
    pthread_mutex_lock(&c->lock);
    *stats = c->stats;
    stats->lookups = txm_lookups_of(c);
    for (txm_cache_thread *t = c->threads; t; t = t->next)
        stats->lookups_missed += atomic_load_explicit(&t->missed, memory_order_relaxed);
    stats->allocated_bytes = c->allocated;
    stats->overhead_bytes = c->allocated - c->stats.slab_bytes;
    stats->epoch = atomic_load(&c->epoch);
    stats->tiles_queued = c->queue.count;
    stats->kept_bytes = c->store.kept_bytes;
    pthread_mutex_unlock(&c->lock);
}

/* Counts the entries of a level. A level without entries was never requested, and only its size is reported. The mark
 * of an entry survives eviction, so `loaded_once` counts each tile once, however often it was read, unless its leaf was
 * given back. */
static void count_level(const txm_cache *c, const txm_source *s, uint32_t level, txm_cache_level_stats *l)
{
    l->width = txm_level_size(s->view->width, level);
    l->height = txm_level_size(s->view->height, level);
    l->tiles = txm_view_tiles(s->view, level);
    l->loads = !txm_view_is_packed(s->view) ? txm_level_loads(s)[level] : level ? 0 : s->loads;
    for (uint32_t i = 0; level >= s->registered && i < l->tiles; i++) {
        const uint32_t number = txm_number(s, level, i), slot = txm_entry_slot(c, number);
        const txm_tile_entry *e = txm_entry(c, number);
        l->resident += slot < TXM_SLOT_STATES;
        l->failed += slot == TXM_SLOT_FAILED || slot == TXM_SLOT_UNREADABLE + (uint16_t)atomic_load(&c->round);
        l->loaded_once += e && __atomic_load_n(&e->mark, __ATOMIC_RELAXED) != 0;
    }
}

/* Visits all entries of the texture, so it is meant for reports and not for every frame. Textures that share a source
 * all report its tiles, so their sum counts these more than once. */
txm_status txm_texture_stats(txm_cache *c, uint32_t texture, txm_cache_texture_stats *stats, txm_error *err)
{
    *stats = (txm_cache_texture_stats){0};
    txm_status status = TXM_OK;
    if (texture >= c->stats.textures)
        status = txm_fail(err, TXM_STATUS_USAGE, "there is no texture %u", texture);
    const txm_texture *t = status == TXM_OK ? &c->catalog.textures[texture] : NULL;
    const txm_source *s = t ? t->source : NULL;
    if (t) {
        stats->path = t->file ? t->file->path : NULL;
        stats->opened = s != NULL;
        stats->failed = t->failed;
        const txm_load_failure *first = s && s->trouble ? s->trouble : t->trouble;
        snprintf(stats->message, sizeof stats->message, "%s", first && first->message ? first->message : "");
        stats->failure = (uint32_t)(first ? first->status : TXM_OK);
        stats->failures = (t->trouble ? t->trouble->failures : 0) + (s && s->trouble ? s->trouble->failures : 0);
        stats->opens = t->file ? t->file->opens : 0;
    }
    if (s) {
        stats->levels = s->view->levels;
        stats->tile_bytes = s->view->tile_bytes;
        stats->loads = s->loads;
        stats->reloads = s->reloads;
        stats->opens = s->file->opens;
        stats->load_seconds = (double)s->load_seconds;
        for (uint32_t i = 0; i < s->view->levels; i++) {
            count_level(c, s, i, &stats->level[i]);
            stats->resident_bytes += (uint64_t)stats->level[i].resident * s->view->tile_bytes;
        }
    }
    return status;
}

txm_status txm_cache_texture_stats_of(txm_cache *c, uint32_t texture, txm_cache_texture_stats *stats, txm_error *err)
{
    txm_error_clear(err);
    pthread_mutex_lock(&c->lock);
    txm_status status = txm_texture_stats(c, texture, stats, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}
