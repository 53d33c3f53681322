/* SPDX-License-Identifier: Apache-2.0
 *
 * How much of each image a picture used, and how much memory was used over time. For a render it comes from the
 * cache's counts or the set's marks, for a budget from page tables that record requests. All give tiles by level for
 * each image of the scene.
 */
#ifndef STM_STREAM_USE_H
#define STM_STREAM_USE_H
#include "render/textures.h"

/* One element per image of the scene; free() it. */
txm_status stm_render_uses_of(const stm_render_scene *scene, const stm_render_textures *textures,
                              stm_render_image_use **out, txm_error *err);

/* The cost of loading each image; zero without a cache. One element per image of the scene; free() it. */
txm_status stm_render_costs_of(const stm_render_scene *scene, const stm_render_textures *textures,
                               stm_render_image_cost **out, txm_error *err);

/* Lists every tile that is marked in a view of the textures, by image, level and row. free() the list; NULL if it is
 * empty. */
txm_status stm_render_tiles_of(const stm_render_textures *textures, const txm_view *view, stm_render_tile **out,
                               size_t *count, txm_error *err);

/* Lists the files of all images, to which the parts of tiles refer. free() the list. */
txm_status stm_render_parts_of(const stm_render_textures *textures, const txm_view *view, stm_render_part **out,
                               size_t *count, txm_error *err);

/* Memory over the time of a render, in a list of fixed size: when it is full, every second moment is dropped, and from
 * then on half as many are recorded. */
typedef struct stm_moments {
    stm_render_moment *items; /* STM_MOMENTS of them */
    size_t count;
    uint32_t every, passed;               /* number of notes per moment, and notes since the last one */
    uint64_t tile_bytes, allocated_bytes; /* maximum since the last moment */
    double begin;                         /* the clock at the start */
} stm_moments;

enum { STM_MOMENTS = 512 };

/* Time counts from `begin`. false if memory is exhausted. */
bool stm_moments_new(stm_moments *moments, double begin);
/* Notes what the cache holds now; `samples` are finished. Called from one thread at a time. */
void stm_moments_note(stm_moments *moments, txm_cache *cache, uint64_t samples);

/* The number of tiles of a level, including those that its edge cuts; for a packed texture, level 0 has the only tile.
 */
static inline uint64_t stm_use_tiles_of(const txm_view_texture *t, uint32_t level)
{
    if (t->tile_shift == TXM_SHIFT_PACKED)
        return level == 0;
    uint64_t edge = 1u << t->tile_shift;
    return (txm_level_size(t->width, level) + edge - 1) / edge * ((txm_level_size(t->height, level) + edge - 1) / edge);
}

/* The number of a level's first tile. */
static inline uint32_t stm_use_first_of(const txm_view_texture *t, uint32_t level)
{
    return t->first + (t->tile_shift == TXM_SHIFT_PACKED ? 0 : t->level_first[level]);
}

/* Copies a program's options (NULL: the defaults) to *options. USAGE with a message if an option is outside its range.
 */
txm_status stm_render_options_take(const stm_render_options *given, stm_render_options *options, txm_error *err);
#endif
