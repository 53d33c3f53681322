/* SPDX-License-Identifier: Apache-2.0
 *
 * The images of a scene as textures of a view: finds and registers their tx files, and sets how each is looked up.
 * They are in a cache, which loads tiles on request, or in a set, which keeps all that it loads. Only this file uses
 * both images and the cache: engines get numbers (stm_bound_image), and a view or a cache.
 */
#ifndef STM_STREAM_TEXTURES_H
#define STM_STREAM_TEXTURES_H
#include "render/path.h"

/* A page of a Ptex file, from which tiles are read. */
typedef struct stm_ptex_page {
    const stm_scene_image *image;
    uint32_t number; /* counted from 0 */
} stm_ptex_page;

typedef struct stm_render_textures {
    txm_cache *cache; /* either this or `set` is NULL */
    txm_texture_set *set;
    stm_bound_image *bound; /* in the order of the scene's images */
    /* For each texture, in the order of the view: the image to which it belongs; STM_SCENE_NONE for a texture that was
     * made of others. */
    uint32_t *image_of;
    char *world; /* the tx file of the world's image; NULL: there is none, or it is a UDIM set */
    size_t count, capacity;
    stm_ptex_page **pages; /* the page of each image; NULL: not a Ptex file */
    size_t page_lists;
    struct stm_pixel_file *pixels; /* the tx files of images of one pixel */
    size_t pixel_count, pixel_capacity;
    uint64_t name_bytes; /* length of all files' names */
} stm_render_textures;

/* Finds and registers all tx files. `reference`: uses a set, with all tiles loaded if `load`. */
txm_status stm_render_textures_new(const stm_render_scene *scene, const stm_render_options *options, bool reference,
                                   bool load, stm_render_textures *out, txm_error *err);
void stm_render_textures_free(stm_render_textures *textures);
#endif
