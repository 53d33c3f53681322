/* SPDX-License-Identifier: Apache-2.0
 *
 * The statistics of a render's cache as JSON. The members of txm_cache_stats and txm_cache_texture_stats have their own
 * names, and texture_stats has the textures in the order of their numbers in the cache.
 */
#include "cli/json.h"
#include "command/stream_args.h"

/* A UDIM set has no path; it is listed with null, so that the order is kept. */
static void json_texture(cJSON *list, uint32_t number, const txm_cache_texture_stats *t)
{
    cJSON *one = stm_json_append(list);
    stm_json_uint(one, "texture", number);
    stm_json_text(one, "path", t->path);
    stm_json_bool(one, "opened", t->opened);
    stm_json_bool(one, "failed", t->failed);
    stm_json_uint(one, "opens", t->opens);
    stm_json_number(one, "load_seconds", t->load_seconds, 6);
    stm_json_uint(one, "resident_bytes", t->resident_bytes);
    stm_json_uint(one, "loads", t->loads);
    stm_json_uint(one, "reloads", t->reloads);
    stm_json_uint(one, "failures", t->failures);
    stm_json_text(one, "message", t->message);
    cJSON *levels = stm_json_array(one, "levels");
    for (uint32_t i = 0; i < t->levels; i++) {
        cJSON *level = stm_json_append(levels);
        stm_json_uint(level, "width", t->level[i].width);
        stm_json_uint(level, "height", t->level[i].height);
        stm_json_uint(level, "tiles", t->level[i].tiles);
        stm_json_uint(level, "resident", t->level[i].resident);
        stm_json_uint(level, "loaded", t->level[i].loaded_once);
        stm_json_uint(level, "loads", t->level[i].loads);
        stm_json_uint(level, "failed", t->level[i].failed);
    }
    stm_json_settle(list, one);
}

void stm_stream_json_cache(cJSON *object, const txm_cache_options *options, const stm_render_picture *p)
{
#define COUNT(NAME)                                                                                                    \
    {                                                                                                                  \
#NAME, p->cache.NAME                                                                                           \
    }
    const stm_count counts[] = {COUNT(lookups),
                                COUNT(lookups_missed),
                                COUNT(tile_requests),
                                COUNT(tiles_loaded),
                                COUNT(tiles_reloaded),
                                COUNT(tiles_evicted),
                                COUNT(tiles_failed),
                                COUNT(tiles_coalesced),
                                COUNT(requests_dropped),
                                COUNT(requests_made),
                                COUNT(requests_rejected),
                                COUNT(requests_full),
                                COUNT(requests_late),
                                COUNT(tiles_queued),
                                COUNT(kept_bytes),
                                COUNT(tiles),
                                COUNT(tiles_peak),
                                COUNT(tile_bytes),
                                COUNT(tile_bytes_peak),
                                COUNT(slab_bytes),
                                COUNT(overhead_bytes),
                                COUNT(allocated_bytes),
                                COUNT(allocated_bytes_peak),
                                COUNT(virtual_bytes),
                                COUNT(loaded_bytes),
                                COUNT(reloaded_bytes),
                                COUNT(reader_bytes),
                                COUNT(reader_bytes_peak),
                                COUNT(waits),
                                COUNT(locks),
                                COUNT(quiescent_states),
                                COUNT(working_set_bytes),
                                COUNT(textures),
                                COUNT(textures_opened),
                                COUNT(textures_failed),
                                COUNT(duplicates),
                                COUNT(udim_sets),
                                COUNT(files_open),
                                COUNT(files_open_peak),
                                COUNT(files_opened),
                                COUNT(files_unmapped),
                                COUNT(epoch)};
#undef COUNT
    cJSON *o = stm_json_object(object, "cache");
    stm_json_text(o, "policy", txm_cache_policy_name((txm_cache_policy)options->policy));
    stm_json_uint(o, "max_bytes", options->max_bytes);
    stm_json_counts(o, counts, sizeof counts / sizeof *counts);
    stm_json_number(o, "load_seconds", p->cache.load_seconds, 6);
    stm_json_text(o, "verdict", p->verdict);
    cJSON *list = stm_json_array(o, "texture_stats");
    for (uint32_t i = 0; i < p->texture_count; i++)
        json_texture(list, i, &p->textures[i]);
}
