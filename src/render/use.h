/* SPDX-License-Identifier: Apache-2.0
 *
 * How much of each image was used.
 *
 * What a picture took is asked twice: after a render, from the cache's counts or the set's marks, and for a
 * budget, from page tables that remember what was asked for. All answer in the same form, tiles by level for
 * each image of the scene.
 */
#ifndef TXM_RENDER_USE_H
#define TXM_RENDER_USE_H
#include "render/textures.h"

/* One a scene's image; free() it. */
txm_status txm_render_uses_of(const txm_render_scene *scene, const txm_render_textures *textures,
                              txm_render_image_use **out, txm_error *err);

/* How many tiles a level has, those included that its edge cuts. */
static inline uint64_t txm_use_tiles_of(const txm_view_texture *t, uint32_t level)
{
    uint64_t edge = 1u << t->tile_shift;
    return (txm_level_size(t->width, level) + edge - 1) / edge * ((txm_level_size(t->height, level) + edge - 1) / edge);
}

/* Copies what a program gave (NULL: the defaults) to *options. USAGE with a message if an option is outside its range.
 */
txm_status txm_render_options_take(const txm_render_options *given, txm_render_options *options, txm_error *err);
#endif
