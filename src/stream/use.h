/* SPDX-License-Identifier: Apache-2.0
 *
 * What a picture took of each image, and what memory held meanwhile.
 *
 * It is asked twice: after a render, from the cache's counts or the set's marks, and for a budget, from page tables
 * that remember what was asked for. All answer in the same form, tiles by level for each image of the scene.
 */
#ifndef TXM_STREAM_USE_H
#define TXM_STREAM_USE_H
#include "stream/textures.h"

/* One a scene's image; free() it. */
txm_status txm_render_uses_of(const txm_render_scene *scene, const txm_render_textures *textures,
                              txm_render_image_use **out, txm_error *err);

/* What loading each image cost; zero without a cache. One a scene's image; free() it. */
txm_status txm_render_costs_of(const txm_render_scene *scene, const txm_render_textures *textures,
                               txm_render_image_cost **out, txm_error *err);

/* Every tile that is marked in a view of the textures, by image, level and row. free() the list; NULL if there are
 * none. */
txm_status txm_render_tiles_of(const txm_render_textures *textures, const txm_view *view, txm_render_tile **out,
                               size_t *count, txm_error *err);

/* The files of all images: what the parts of the tiles are. free() the list. */
txm_status txm_render_parts_of(const txm_render_textures *textures, const txm_view *view, txm_render_part **out,
                               size_t *count, txm_error *err);

/* Memory over the time of a render, in a list that does not grow: when it is full, every second moment goes, and from
 * then on half as many are taken. */
typedef struct txm_moments {
    txm_render_moment *items; /* TXM_MOMENTS of them */
    size_t count;
    uint32_t every, passed;               /* notes that make a moment, and those since the last one */
    uint64_t tile_bytes, allocated_bytes; /* the most since the last one */
    double begin;                         /* of the clock */
} txm_moments;

enum { TXM_MOMENTS = 512 };

/* The clock runs from `begin`. False: no memory. */
bool txm_moments_new(txm_moments *moments, double begin);
/* What the cache holds now; `samples` are finished. From one thread at a time. */
void txm_moments_note(txm_moments *moments, txm_cache *cache, uint64_t samples);

/* How many tiles a level has, those included that its edge cuts; of a packed texture level 0 has the one tile. */
static inline uint64_t txm_use_tiles_of(const txm_view_texture *t, uint32_t level)
{
    if (t->tile_shift == TXM_SHIFT_PACKED)
        return level == 0;
    uint64_t edge = 1u << t->tile_shift;
    return (txm_level_size(t->width, level) + edge - 1) / edge * ((txm_level_size(t->height, level) + edge - 1) / edge);
}

/* Where the entries of a level begin in the view's tiles. */
static inline uint32_t txm_use_entries_of(const txm_view_texture *t, uint32_t level)
{
    return t->first + (t->tile_shift == TXM_SHIFT_PACKED ? 0 : t->level_first[level]);
}

/* Copies what a program gave (NULL: the defaults) to *options. USAGE with a message if an option is outside its range.
 */
txm_status txm_render_options_take(const txm_render_options *given, txm_render_options *options, txm_error *err);
#endif
