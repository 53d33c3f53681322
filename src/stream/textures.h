/* SPDX-License-Identifier: Apache-2.0
 *
 * The images of a scene as textures of a view: their tx files found, registered, and how each is looked up. Either in a
 * cache, which loads what is asked for, or in a set, which keeps all it is told to load.
 *
 * The only place of the room that knows both images and the cache. Engines see numbers (txm_bound_image), and a
 * view or a cache to use them with.
 */
#ifndef TXM_STREAM_TEXTURES_H
#define TXM_STREAM_TEXTURES_H
#include "stream/path.h"

/* A page of a Ptex file, which tiles are read from. */
typedef struct txm_ptex_page {
    const txm_scene_image *image;
    uint32_t number; /* from 0 */
} txm_ptex_page;

typedef struct txm_render_textures {
    txm_cache *cache; /* one of the two is NULL */
    txm_texture_set *set;
    txm_bound_image *bound; /* as the scene's images */
    /* Textures in the order in which they were added, which is that of the view: the image each belongs to;
     * TXM_SCENE_NONE: one that was made of them. */
    uint32_t *image_of;
    char *world; /* the tx file of the world's image; NULL: it has none, or is a UDIM set */
    size_t count, capacity;
    txm_ptex_page **pages; /* of each image; NULL: of no Ptex file */
    size_t page_lists;
    int *pixels; /* open files: those of images of one pixel */
    size_t pixel_count, pixel_capacity;
} txm_render_textures;

/* Finds and registers all tx files. `reference`: in a set, with all tiles loaded if `load` as well. */
txm_status txm_render_textures_new(const txm_render_scene *scene, const txm_render_options *options, bool reference,
                                   bool load, txm_render_textures *out, txm_error *err);
void txm_render_textures_free(txm_render_textures *textures);
#endif
