/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics, and the report: the same under the names that Cycles and OpenImageIO print, with a verdict.
 *
 * Each thread has its own counters, so lookups of different threads do not share one; they are added up here. The
 * report is meant for users who tune a budget. Its text has the order and words of Cycles' statistics and ends with a
 * sentence that says what to do.
 */
#include <stdio.h>

#include "base/bytes.h"
#include "base/text.h"
#include "tile/cache/flow/flow.h"

/* ---- statistics ---- */

/* Counts begin at 0 again; amounts stay, and peaks become what there is now. Counters of threads are theirs, so what
 * they have counted is subtracted from then on. A trace counts on. */
void txm_cache_stats_reset(txm_cache *c)
{
    pthread_mutex_lock(&c->lock);
    txm_trace_recount(c, -1);
    uint64_t missed = 0;
    for (const txm_reader *t = c->world.readers; t; t = t->next)
        missed += atomic_load_explicit(&t->missed, memory_order_relaxed);
    const txm_cache_stats now = c->stats;
    const uint64_t lookups = txm_lookups_of(c) - now.lookups;
    c->stats = (txm_cache_stats){.lookups = -lookups,
                                 .lookups_missed = -missed,
                                 .tiles = now.tiles,
                                 .tiles_peak = now.tiles,
                                 .tile_bytes = now.tile_bytes,
                                 .tile_bytes_peak = now.tile_bytes,
                                 .slab_bytes = now.slab_bytes,
                                 .allocated_bytes_peak = c->tiles.allocated,
                                 .virtual_bytes = now.virtual_bytes,
                                 .textures = now.textures,
                                 .textures_opened = now.textures_opened,
                                 .textures_failed = now.textures_failed,
                                 .duplicates = now.duplicates,
                                 .udim_sets = now.udim_sets,
                                 .files_open = now.files_open,
                                 .files_open_peak = now.files_open,
                                 .reader_bytes = now.reader_bytes,
                                 .reader_bytes_peak = now.reader_bytes};
    c->world.waits = 0;
    c->tiles.squeezed = 0;
    uint32_t at = 0;
    for (txm_source *s; (s = txm_source_next(&c->catalog, &at));) {
        s->loads = s->reloads = 0;
        s->load_seconds = 0;
        if (!txm_view_is_packed(s->view))
            memset(txm_level_loads(s), 0, s->view->levels * sizeof(uint64_t));
    }
    txm_trace_recount(c, 1);
    pthread_mutex_unlock(&c->lock);
}

/* Threads go on during the summation, so the sum is exact only if no thread looks up. */
uint64_t txm_lookups_of(const txm_cache *c)
{
    uint64_t n = c->stats.lookups; /* includes the counts of threads that were freed */
    for (const txm_reader *t = c->world.readers; t; t = t->next)
        n += atomic_load_explicit(&t->quick.lookups, memory_order_relaxed);
    return n;
}

/* Overhead is all memory except slabs: tables, lists, threads, strings. */
void txm_cache_stats_of(txm_cache *c, txm_cache_stats *stats)
{
    pthread_mutex_lock(&c->lock);
    *stats = c->stats;
    stats->lookups = txm_lookups_of(c);
    for (txm_reader *t = c->world.readers; t; t = t->next)
        stats->lookups_missed += atomic_load_explicit(&t->missed, memory_order_relaxed);
    stats->allocated_bytes = c->tiles.allocated;
    stats->overhead_bytes = c->tiles.allocated - c->stats.slab_bytes;
    stats->epoch = atomic_load(&c->world.epoch);
    stats->quiescent_states = c->world.waits;
    stats->tiles_queued = c->queue.count;
    stats->kept_bytes = c->tiles.kept_bytes;
    pthread_mutex_unlock(&c->lock);
}

/* Counts the entries of a level. The mark
 * of an entry survives eviction, so `loaded_once` counts each tile once, however often it was read, unless its leaf was
 * given back. */
static void count_level(const txm_cache *c, const txm_source *s, uint32_t level, txm_cache_level_stats *l)
{
    l->width = txm_level_size(s->view->width, level);
    l->height = txm_level_size(s->view->height, level);
    l->tiles = txm_view_tiles(s->view, level);
    l->loads = !txm_view_is_packed(s->view) ? txm_level_loads(s)[level] : level ? 0 : s->loads;
    for (uint32_t i = 0; i < l->tiles; i++) {
        const uint32_t number = txm_number(s, level, i);
        const txm_tile_entry *e = txm_entry(&c->catalog, number);
        if (!e) { /* nor have the other tiles of its leaf */
            i += ~number & (TXM_LEAF_TILES - 1);
            continue;
        }
        const uint32_t slot = __atomic_load_n(&e->slot, __ATOMIC_RELAXED);
        l->resident += slot < TXM_SLOT_STATES;
        l->failed += slot == TXM_SLOT_FAILED || slot == TXM_SLOT_UNREADABLE + (uint16_t)atomic_load(&c->world.round);
        l->loaded_once += __atomic_load_n(&e->mark, __ATOMIC_RELAXED) != 0;
    }
}

/* Visits all entries of the texture, so it is meant for reports and not for every frame. Textures that share a source
 * all report its tiles, so their sum counts these more than once. */
static txm_status texture_stats(txm_cache *c, uint32_t texture, txm_cache_texture_stats *stats, txm_error *err)
{
    *stats = (txm_cache_texture_stats){0};
    txm_status status = TXM_OK;
    if (texture >= c->stats.textures)
        status = txm_fail(err, TXM_STATUS_USAGE, "there is no texture %u", texture);
    const txm_texture *t = status == TXM_OK ? &c->catalog.textures[texture] : NULL;
    const txm_source *s = t ? t->source : NULL;
    if (t) {
        stats->path = t->file ? txm_file_path(t->file) : NULL;
        stats->opened = s != NULL;
        stats->failed = t->failed;
        const txm_load_failure *first = s && s->failure ? s->failure : t->failure;
        snprintf(stats->message, sizeof stats->message, "%s", first && first->message ? first->message : "");
        stats->failure = (uint32_t)(first ? first->status : TXM_OK);
        stats->failures = (t->failure ? t->failure->failures : 0) + (s && s->failure ? s->failure->failures : 0);
        stats->opens = t->file ? txm_file_opens(t->file) : 0;
    }
    if (s) {
        stats->levels = s->view->levels;
        stats->tile_bytes = s->view->tile_bytes;
        stats->loads = s->loads;
        stats->reloads = s->reloads;
        stats->opens = txm_file_opens(s->file);
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
    txm_status status = texture_stats(c, texture, stats, err);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* ---- the report ---- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Formats a size as Cycles does: it divides by 1024 but changes the unit at 1000, so no number has four digits before
 * the point. */
static void print_bytes(char text[32], uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double n = (double)bytes;
    int unit = 0;
    for (; n >= 1000 && unit < 4; unit++)
        n /= 1024;
    txm_format(text, 32, unit ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

/* Writes one sentence that says what is wrong and what to do, in the order of urgency: failures first, then a cache
 * that reads one tile in a hundred again, then a limit of the kernel, then a cache that used less than a quarter of its
 * budget. Tiles that were dropped by the caller or at the end of a render tile don't mean that the cache is too small.
 * The working set is the size of all tiles that were read, each once, plus the cache's overhead. */
static void verdict(txm_cache *c, const txm_cache_stats *s, char text[256])
{
    char set[32];
    const double again = percent(s->tiles_reloaded, s->tiles_loaded);
    const uint64_t budget = __atomic_load_n(&c->options.max_bytes, __ATOMIC_RELAXED);
    print_bytes(set, s->working_set_bytes + s->overhead_bytes);
    pthread_mutex_lock(&c->lock);
    const bool squeezed = c->tiles.squeezed, ended = c->tile_began[0] && txm_policy_of(c)->end_render_tile;
    pthread_mutex_unlock(&c->lock);
    if (s->tiles_failed == 1)
        txm_format(text, 256, "1 tile could not be read and is magenta: see the texture with a failure");
    else if (s->tiles_failed || s->textures_failed)
        txm_format(text, 256, "%llu tiles could not be read and are magenta: see the textures with failures",
                   (unsigned long long)s->tiles_failed);
    else if (!s->tiles_loaded)
        txm_format(text, 256, "nothing was loaded");
    else if (again >= 1 && !squeezed)
        txm_format(text, 256, "%.1f %% of tiles read again, none for lack of memory: %s; the working set is about %s",
                   again, ended ? "whole render tiles had not used them" : "they had been unloaded", set);
    else if (again >= 1)
        txm_format(text, 256, "cache too small: %.1f %% of tiles read again; the working set is about %s", again, set);
    else if (s->files_unmapped)
        txm_format(text, 256,
                   "files were read instead of mapped, which is slower: the kernel lets a process map too few "
                   "files; raise its limit with 'sysctl vm.max_map_count=1000000'");
    else if (budget && s->allocated_bytes_peak * 4 < budget)
        txm_format(text, 256, "cache larger than needed: the working set is about %s", set);
    else
        txm_format(text, 256, "cache large enough: hardly any tiles were read again; the working set is about %s", set);
}

/* ---- text ---- */

static void line_bytes(txm_bytes *b, const char *name, uint64_t bytes)
{
    char text[32];
    print_bytes(text, bytes);
    txm_bytes_printf(b, "  %-26s %s\n", name, text);
}

static void line_share(txm_bytes *b, const char *name, uint64_t n, uint64_t of)
{
    txm_bytes_printf(b, "  %-26s %llu (%.1f%%)\n", name, (unsigned long long)n, percent(n, of));
}

/* Textures that were never looked up are left out. The line of opens has the words of OpenImageIO's statistics, so
 * users can search for them. */
static void add_texture(txm_bytes *b, const txm_cache_texture_stats *t)
{
    char size[32];
    if (!t->path || (!t->opened && !t->failed))
        return;
    print_bytes(size, t->resident_bytes);
    txm_bytes_printf(b, "  %s  %s", t->path, size);
    if (t->reloads)
        txm_bytes_printf(b, ", %llu read again", (unsigned long long)t->reloads);
    txm_bytes_printf(b, "\n");
    for (uint32_t i = 0; i < t->levels; i++)
        if (t->level[i].loaded_once)
            txm_bytes_printf(b, "    %ux%u: %u / %u (%.1f%%)\n", t->level[i].width, t->level[i].height,
                             t->level[i].loaded_once, t->level[i].tiles,
                             percent(t->level[i].loaded_once, t->level[i].tiles));
    char read[32], again[32];
    print_bytes(read, t->loads * t->tile_bytes);
    print_bytes(again, t->reloads * t->tile_bytes);
    txm_bytes_printf(b, "    opens %u, tiles %llu, %s, redundant %llu tiles, %s, I/O time %.2f s, MIP-COUNT [",
                     t->opens, (unsigned long long)t->loads, read, (unsigned long long)t->reloads, again,
                     t->load_seconds);
    for (uint32_t i = 0; i < t->levels; i++)
        txm_bytes_printf(b, "%s%llu", i ? "," : "", (unsigned long long)t->level[i].loads);
    txm_bytes_printf(b, "]\n");
    if (t->failures)
        txm_bytes_printf(b, "    failed: %llu (%s)\n", (unsigned long long)t->failures, t->message);
}

/* Names and order are those of Cycles' statistics, so its users recognise them. Each texture is handled under the lock,
 * because replacing it meanwhile would free its path. */
static void add_text(txm_cache *c, const txm_cache_stats *s, const char *sentence, txm_bytes *b)
{
    txm_bytes_printf(b, "Full Images:\n  none: small images have small tiles\nTiled Images:\n");
    for (uint32_t i = 0; i < s->textures; i++) {
        txm_cache_texture_stats t;
        pthread_mutex_lock(&c->lock);
        if (texture_stats(c, i, &t, NULL) == TXM_OK)
            add_texture(b, &t);
        pthread_mutex_unlock(&c->lock);
    }
    txm_bytes_printf(b, "Memory:\n");
    line_bytes(b, "Full image memory", 0);
    line_bytes(b, "Tiled image memory", s->tile_bytes);
    line_bytes(b, "Peak tiled image memory", s->tile_bytes_peak);
    line_bytes(b, "Overhead image memory", s->overhead_bytes);
    line_bytes(b, "Total image memory", s->allocated_bytes);
    line_bytes(b, "Peak total image memory", s->allocated_bytes_peak);
    line_bytes(b, "Virtual image memory", s->virtual_bytes);
    line_bytes(b, "Peak cache memory", s->allocated_bytes_peak);
    line_bytes(b, "Peak reader memory", s->reader_bytes_peak);
    txm_bytes_printf(b, "Tiles:\n  %-26s %llu\n", "Loaded", (unsigned long long)s->tiles_loaded);
    line_share(b, "Peak", s->tiles_peak, s->tiles_loaded);
    line_share(b, "Evicted", s->tiles_evicted, s->tiles_loaded);
    line_share(b, "Reloaded", s->tiles_reloaded, s->tiles_loaded);
    line_share(b, "Coalesced", s->tiles_coalesced, s->tiles_loaded);
    txm_bytes_printf(b, "  %-26s %llu\n", "Failed", (unsigned long long)s->tiles_failed);
    txm_bytes_printf(b, "Requests:\n  %-26s %llu\n", "Lookups", (unsigned long long)s->lookups);
    txm_bytes_printf(b, "  %-26s none: the page table needs no cache in front of it\n", "Micro-cache misses");
    line_share(b, "Main cache misses", s->lookups_missed, s->lookups);
    txm_bytes_printf(b, "  %-26s %llu\n", "Total tile requests", (unsigned long long)s->tile_requests);
    char again[32];
    print_bytes(again, s->reloaded_bytes);
    txm_bytes_printf(b, "  %-26s %llu tiles, %s\n", "Redundant reads", (unsigned long long)s->tiles_reloaded, again);
    txm_bytes_printf(b, "  %-26s %llu\n", "Waits", (unsigned long long)s->waits);
    txm_bytes_printf(b, "  %-26s %.2f s\n", "Tile load time", s->load_seconds);
    txm_bytes_printf(b, "Files:\n  %-26s %u\n  %-26s %u\n  %-26s %u\n", "Textures", s->textures, "Unique",
                     s->textures_opened - s->duplicates, "Opens", s->files_opened);
    txm_bytes_printf(b, "  %-26s %u\n", "Peak files open", s->files_open_peak);
    if (s->files_unmapped)
        txm_bytes_printf(b, "  %-26s %llu: half of vm.max_map_count is in use\n", "Read instead of mapped",
                         (unsigned long long)s->files_unmapped);
    txm_bytes_printf(b, "Verdict: %s\n", sentence);
}

/* NULL: out of memory. The caller frees the text. The lock is taken for each texture separately, so during a render the
 * numbers of two textures may be from slightly different times. */
char *txm_cache_report(txm_cache *c, txm_cache_report_format format)
{
    txm_cache_stats s;
    char sentence[256];
    txm_bytes b = {0};
    txm_cache_stats_of(c, &s);
    verdict(c, &s, sentence);
    if (format == TXM_CACHE_REPORT_FORMAT_VERDICT)
        txm_bytes_puts(&b, sentence);
    else
        add_text(c, &s, sentence, &b);
    return txm_bytes_take(&b);
}
