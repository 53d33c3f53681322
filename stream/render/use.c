/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of a picture, from the cache's counts or the marks of a set: for each image of the scene its tiles by
 * level, how many and which of them were used, and what loading them cost; and memory over time. UDIM tiles are added
 * up for their image.
 */
#include "render/use.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

/* ---- how much ---- */

/* Adds a texture of a set. A mark other than 0 means that a lookup has used the tile. Bytes are those of tiles in
 * memory, including borders. */
static void add_marked(const txm_view *view, uint32_t texture, stm_render_image_use *use)
{
    const txm_view_texture *t = &view->textures[texture];
    use->width = t->width;
    use->height = t->height;
    use->levels = t->levels > use->levels ? t->levels : use->levels;
    for (uint32_t level = 0; level < t->levels; level++) {
        uint64_t tiles = stm_use_tiles_of(t, level), used = 0;
        for (uint64_t i = 0; i < tiles; i++) {
            const txm_tile_entry *e = txm_view_entry(view, stm_use_first_of(t, level) + (uint32_t)i, NULL);
            used += e && e->mark != 0;
        }
        use->level_tiles[level] += tiles;
        use->level_used[level] += used;
        use->virtual_bytes += tiles * t->tile_bytes;
        use->used_bytes += used * t->tile_bytes;
    }
}

/* Opens textures that were never looked up, because their size is part of the sum: users want to read 'none of 40 MB'.
 */
static txm_status add_counted(txm_cache *cache, uint32_t texture, stm_render_image_use *use, txm_error *err)
{
    txm_cache_texture_stats stats;
    txm_view_texture shape;
    txm_status status = txm_cache_open(cache, texture, &shape, err);
    if (status == TXM_OK)
        status = txm_cache_texture_stats_of(cache, texture, &stats, err);
    if (status)
        return status;
    use->width = shape.width;
    use->height = shape.height;
    use->levels = stats.levels > use->levels ? stats.levels : use->levels;
    for (uint32_t level = 0; level < stats.levels; level++) {
        uint64_t tiles = stm_use_tiles_of(&shape, level);
        use->level_tiles[level] += tiles;
        use->level_used[level] += stats.level[level].loaded_once;
        use->virtual_bytes += tiles * shape.tile_bytes;
        use->used_bytes += (uint64_t)stats.level[level].loaded_once * shape.tile_bytes;
    }
    return TXM_OK;
}

/* Textures that are not an image's own (a UDIM set over its tiles) are skipped, since they would count twice. */
txm_status stm_render_uses_of(const stm_render_scene *scene, const stm_render_textures *textures,
                              stm_render_image_use **out, txm_error *err)
{
    stm_render_image_use *uses = stm_calloc(scene->image_count + 1, sizeof *uses);
    txm_status status = uses ? TXM_OK : stm_no_memory(err, NULL);
    for (size_t i = 0; status == TXM_OK && i < scene->image_count; i++)
        uses[i].path = scene->images[i].path;
    for (uint32_t i = 0; status == TXM_OK && i < textures->count; i++) {
        if (textures->image_of[i] == STM_SCENE_NONE)
            continue;
        stm_render_image_use *use = &uses[textures->image_of[i]];
        if (textures->set)
            add_marked(txm_texture_set_view(textures->set), i, use);
        else
            status = add_counted(textures->cache, i, use, err);
    }
    if (status) {
        free(uses);
        return status;
    }
    *out = uses;
    return TXM_OK;
}

/* ---- which tiles ---- */

/* The files of each UDIM set are numbered from 0; the set itself, which is a texture too, is not one of them. */
txm_status stm_render_parts_of(const stm_render_textures *textures, const txm_view *view, stm_render_part **out,
                               size_t *count, txm_error *err)
{
    stm_render_part *parts = stm_calloc(textures->count + 1, sizeof *parts);
    size_t n = 0;
    if (!parts)
        return stm_no_memory(err, NULL);
    for (uint32_t i = 0; i < textures->count; i++) {
        const txm_view_texture *t = &view->textures[i];
        const uint32_t image = textures->image_of[i];
        if (image == STM_SCENE_NONE)
            continue;
        const uint32_t part = n > 0 && parts[n - 1].image == image ? parts[n - 1].part + 1 : 0;
        parts[n++] = (stm_render_part){image, part, t->width, t->height, t->levels, 1u << t->tile_shift};
    }
    *out = parts;
    *count = n;
    return TXM_OK;
}

/* Marks outlive their tiles, so that evicted ones are listed too. */
txm_status stm_render_tiles_of(const stm_render_textures *textures, const txm_view *view, stm_render_tile **out,
                               size_t *count, txm_error *err)
{
    stm_render_tile *tiles = NULL;
    size_t capacity = 0, n = 0;
    for (uint32_t i = 0, part = 0; i < textures->count; i++) {
        const txm_view_texture *t = &view->textures[i];
        const uint32_t image = textures->image_of[i];
        if (image == STM_SCENE_NONE)
            continue;
        part = i > 0 && textures->image_of[i - 1] == image ? part + 1 : 0;
        for (uint32_t level = 0; level < t->levels; level++) {
            uint32_t across = (txm_level_size(t->width, level) + (1u << t->tile_shift) - 1) >> t->tile_shift;
            for (uint32_t k = 0; k < stm_use_tiles_of(t, level); k++) {
                const txm_tile_entry *e = txm_view_entry(view, stm_use_first_of(t, level) + (uint32_t)k, NULL);
                if (!e || !e->mark)
                    continue;
                if (!STM_GROW(tiles, capacity, n)) {
                    free(tiles);
                    return stm_no_memory(err, NULL);
                }
                tiles[n++] = (stm_render_tile){image, part, level, k % across, k / across};
            }
        }
    }
    *out = tiles;
    *count = n;
    return TXM_OK;
}

/* ---- what they cost ---- */

/* The failure of a UDIM set is that of its first tile that has one. */
txm_status stm_render_costs_of(const stm_render_scene *scene, const stm_render_textures *textures,
                               stm_render_image_cost **out, txm_error *err)
{
    stm_render_image_cost *costs = stm_calloc(scene->image_count + 1, sizeof *costs);
    txm_status status = costs ? TXM_OK : stm_no_memory(err, NULL);
    for (uint32_t i = 0; status == TXM_OK && textures->cache && i < textures->count; i++) {
        txm_cache_texture_stats stats;
        if (textures->image_of[i] == STM_SCENE_NONE)
            continue;
        status = txm_cache_texture_stats_of(textures->cache, i, &stats, err);
        stm_render_image_cost *cost = &costs[textures->image_of[i]];
        cost->loads += stats.loads;
        cost->reloads += stats.reloads;
        cost->failures += stats.failures;
        cost->loaded_bytes += stats.loads * stats.tile_bytes;
        cost->opens += stats.opens;
        cost->load_seconds += stats.load_seconds;
        if (cost->failure == TXM_OK && stats.failures) {
            cost->failure = stats.failure;
            memcpy(cost->message, stats.message, sizeof cost->message);
        }
    }
    if (status) {
        free(costs);
        return status;
    }
    *out = costs;
    return TXM_OK;
}

/* ---- memory over time ---- */

bool stm_moments_new(stm_moments *m, double begin)
{
    *m = (stm_moments){.items = stm_calloc(STM_MOMENTS, sizeof *m->items), .every = 1, .begin = begin};
    return m->items != NULL;
}

/* Records the maximum since the last moment, so that no peak is lost with moments that are dropped. */
void stm_moments_note(stm_moments *m, txm_cache *cache, uint64_t samples)
{
    txm_cache_stats s;
    txm_cache_stats_of(cache, &s);
    m->tile_bytes = s.tile_bytes > m->tile_bytes ? s.tile_bytes : m->tile_bytes;
    m->allocated_bytes = s.allocated_bytes > m->allocated_bytes ? s.allocated_bytes : m->allocated_bytes;
    if (++m->passed < m->every)
        return;
    if (m->count == STM_MOMENTS) {
        for (size_t i = 0; i < STM_MOMENTS / 2; i++) {
            const stm_render_moment *a = &m->items[2 * i], *b = &m->items[2 * i + 1];
            m->items[i] = *b;
            m->items[i].tile_bytes = a->tile_bytes > b->tile_bytes ? a->tile_bytes : b->tile_bytes;
            m->items[i].allocated_bytes =
                a->allocated_bytes > b->allocated_bytes ? a->allocated_bytes : b->allocated_bytes;
        }
        m->count = STM_MOMENTS / 2;
        m->every *= 2;
    }
    m->items[m->count++] =
        (stm_render_moment){stm_clock_seconds() - m->begin, samples, m->tile_bytes, m->allocated_bytes, s.tiles_loaded};
    m->tile_bytes = m->allocated_bytes = 0;
    m->passed = 0;
}
