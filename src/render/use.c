/* SPDX-License-Identifier: Apache-2.0
 *
 * How much of each image was used: counted by the cache, or by the marks of a set.
 *
 * Comes in: textures after a picture. Goes out: per image of the scene, its tiles by level and how many of them
 * were used, in tiles and bytes. UDIM tiles are added up under their image.
 */
#include "render/use.h"

#include "core/mem.h"

/* Adds a texture of a set. A mark other than 0 says that a look-up has read the tile. Bytes are those of
 * tiles in memory, borders included. */
static void add_marked(const txm_view *view, uint32_t texture, txm_render_image_use *use)
{
    const txm_view_texture *t = &view->textures[texture];
    use->width = t->width;
    use->height = t->height;
    use->levels = t->levels > use->levels ? t->levels : use->levels;
    for (uint32_t level = 0; level < t->levels; level++) {
        uint64_t tiles = txm_use_tiles_of(t, level), used = 0;
        const txm_tile_entry *e = view->tiles + t->first + t->level_first[level];
        for (uint64_t i = 0; i < tiles; i++)
            used += e[i].mark != 0;
        use->level_tiles[level] += tiles;
        use->level_used[level] += used;
        use->virtual_bytes += tiles * t->tile_bytes;
        use->used_bytes += used * t->tile_bytes;
    }
}

/* Textures that no look-up touched are opened for it, because their sizes belong to the sum: 'none of 40 MB' is
 * what people want to read. */
static txm_status add_counted(txm_cache *cache, uint32_t texture, txm_render_image_use *use, txm_error *err)
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
        uint64_t tiles = txm_use_tiles_of(&shape, level);
        use->level_tiles[level] += tiles;
        use->level_used[level] += stats.level[level].loaded_once;
        use->virtual_bytes += tiles * shape.tile_bytes;
        use->used_bytes += (uint64_t)stats.level[level].loaded_once * shape.tile_bytes;
    }
    return TXM_OK;
}

/* Numbers of textures that are not an image's own (a UDIM set over its tiles) are skipped, or they would count
 * twice. */
txm_status txm_render_uses_of(const txm_render_scene *scene, const txm_render_textures *textures,
                              txm_render_image_use **out, txm_error *err)
{
    txm_render_image_use *uses = txm_calloc(scene->image_count + 1, sizeof *uses);
    txm_status status = uses ? TXM_OK : txm_no_memory(err, NULL);
    for (size_t i = 0; status == TXM_OK && i < scene->image_count; i++)
        uses[i].path = scene->images[i].path;
    for (uint32_t i = 0; status == TXM_OK && i < textures->count; i++) {
        if (textures->image_of[i] == TXM_SCENE_NONE)
            continue;
        txm_render_image_use *use = &uses[textures->image_of[i]];
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
