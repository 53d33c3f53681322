/* SPDX-License-Identifier: Apache-2.0
 *
 * Where light is looked for: lamps, and the bright parts of the world's image.
 *
 * Comes in: a lamp or the image, and random numbers. Goes out: a direction, and what is needed to count the light from
 * there once and no more. Nothing here traces a ray or looks a texture up while a picture is made.
 */
#ifndef TXM_STREAM_LIGHT_H
#define TXM_STREAM_LIGHT_H
#include "stream/textures.h"

typedef struct txm_light_sample {
    txm_vec3 direction;
    float distance, irradiance; /* what a surface that faces it receives of a power of 1 */
} txm_light_sample;

/* A place on the lamp or a direction of the sun, and what arrives from there. False: nothing. Of the four numbers the
 * first is left for the choice of a lamp. */
bool txm_light_draw(const txm_scene_light *light, txm_vec3 from, const float random[4], txm_light_sample *out);

/* Where the world's image shows a direction: 0 to 1. As Cycles' environment node has them: z is up, and the middle of a
 * lat-long image lies towards +x. */
void txm_world_place(bool mirror_ball, txm_vec3 direction, float *u, float *v);
/* The lookup of a direction, which goes through the world's mapping first, and turns by by_x and by_y from one pixel
 * to the next. */
txm_lookup txm_world_look(const txm_scene_world *world, txm_vec3 direction, txm_vec3 by_x, txm_vec3 by_y);

/* How bright the world is in each direction, in cells of longitude and latitude. */
typedef struct txm_world_map txm_world_map;

/* The map of the scene's world, from a level of its image that has about a cell's size; *out is NULL where there is
 * nothing to choose from: no image, a UDIM set, blackness. `tx`: the image's file. Tiles that cannot be read count as
 * magenta, as in the picture. NO_MEMORY, and what txm_texture_set_add returns. */
txm_status txm_world_map_new(const txm_render_scene *scene, const txm_bound_image *bound, const char *tx,
                             txm_world_map **out, txm_error *err);
void txm_world_map_free(txm_world_map **map); /* NULL-safe; sets *map to NULL */

/* A direction by brightness, and its probability by solid angle, above 0. */
txm_vec3 txm_world_map_draw(const txm_world_map *map, const float random[2], float *probability);
/* The probability of a direction. */
float txm_world_map_probability(const txm_world_map *map, txm_vec3 direction);
/* The most that rays to the world may be wide: a cell of Cycles' map, since wider ones blur what it chose. */
float txm_world_map_angle(const txm_world_map *map);

/* The map that Cycles makes for the same purpose. */
typedef struct txm_world_grid {
    uint32_t columns, rows; /* 0: none */
} txm_world_grid;

/* Of the scene: as large as its world's image, or as the scene says. */
txm_world_grid txm_world_grid_of(const txm_render_scene *scene, const txm_bound_image *bound);
/* Makes the lookups that Cycles makes for that map, in a page table, which remembers the tiles: all of the level that
 * has two pixels for a cell, or of level 0, and of coarser ones what lies round the poles. */
void txm_world_grid_ask(const txm_render_scene *scene, const txm_bound_image *bound, const txm_view *view);
#endif
