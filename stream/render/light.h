/* SPDX-License-Identifier: Apache-2.0
 *
 * Where light is sampled: lamps, and bright parts of the world's image. A lamp or the image and random numbers give a
 * direction, and what is needed to count the light from there exactly once. Nothing here traces rays or looks up
 * textures while a picture is rendered.
 */
#ifndef STM_STREAM_LIGHT_H
#define STM_STREAM_LIGHT_H
#include "render/textures.h"

typedef struct stm_light_sample {
    txm_vec3 direction;
    float distance, irradiance; /* distance of a surface that faces it, and the irradiance there for a power of 1 */
} stm_light_sample;

/* Draws a point of the lamp or a direction of the sun; false if no light arrives from there. The first of the four
 * numbers is not used here: it chooses the lamp. */
bool stm_light_draw(const stm_scene_light *light, txm_vec3 from, const float random[4], stm_light_sample *out);

/* The place in the world's image that shows a direction: 0 to 1, as in Cycles' environment node: z is up, and the
 * middle of a lat-long image is at +x. */
void stm_world_place(bool mirror_ball, txm_vec3 direction, float *u, float *v);
/* The lookup of a direction, after the world's mapping; by_x and by_y are its derivatives by the pixel. */
txm_lookup stm_world_lookup(const stm_scene_world *world, txm_vec3 direction, txm_vec3 by_x, txm_vec3 by_y);

/* The brightness of the world in each direction, in cells of longitude and latitude. */
typedef struct stm_world_map stm_world_map;

/* Makes the map of the scene's world, from the level of its image whose pixels have about a cell's size. *out is NULL
 * if there is nothing to choose from: no image, a UDIM set, or a black image. `tx` is the image's file. Tiles that
 * cannot be read count as magenta, as in the picture. NO_MEMORY, and the failures of txm_texture_set_add. */
txm_status stm_world_map_new(const stm_render_scene *scene, const stm_bound_image *bound, const char *tx,
                             stm_world_map **out, txm_error *err);
void stm_world_map_free(stm_world_map **map); /* NULL-safe; sets *map to NULL */

/* Draws a direction by brightness, and returns its probability per solid angle, above 0. */
txm_vec3 stm_world_map_draw(const stm_world_map *map, const float random[2], float *probability);
/* The probability of a direction per solid angle. */
float stm_world_map_probability(const stm_world_map *map, txm_vec3 direction);
/* The largest spread of rays to the world: a cell of Cycles' map, since wider ones would blur what it chose. */
float stm_world_map_angle(const stm_world_map *map);

/* The size of the map that Cycles makes for the same purpose. */
typedef struct stm_world_grid {
    uint32_t columns, rows; /* 0: Cycles makes no map */
} stm_world_grid;

/* The size for a scene: that of its world's image, or the one that the scene specifies. */
stm_world_grid stm_world_grid_of(const stm_render_scene *scene, const stm_bound_image *bound);
/* Makes the lookups that Cycles makes for that map, in a page table, which records the tiles: all of the level that has
 * two pixels per cell, or of level 0, and of coarser ones those around the poles. */
void stm_world_grid_request(const stm_render_scene *scene, const stm_bound_image *bound, const txm_view *view);
#endif
