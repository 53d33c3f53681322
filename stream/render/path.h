/* SPDX-License-Identifier: Apache-2.0
 *
 * One light path, which takes one step at a time. A step either happens or leaves the path unchanged: if a texture's
 * tile is not in memory it returns MISSED, and is run again once the tile is there. Therefore the picture does not
 * depend on who loads what when. Engines decide how many paths run at once and who loads tiles, and own the source
 * (lookup.h); a path itself is plain data, may be copied, and belongs to no thread.
 */
#ifndef TXM_STREAM_PATH_H
#define TXM_STREAM_PATH_H
#include "render/geometry.h"
#include "render/lookup.h"
#include "render/render.h"
#include "render/scene.h"

/* Everything that all paths share. */
typedef struct txm_path_world {
    const txm_render_scene *scene;
    const txm_scene_camera *camera; /* see txm_path_aim */
    const txm_scene_geometry *geometry;
    const txm_bound_image *images;   /* in the order of the scene's images */
    const struct txm_world_map *map; /* map of the world, see light.h; NULL: none */
    const float *filter;             /* TXM_FILTER_TABLE offsets of the pixel filter, by their probability */
    uint32_t width, height, bounces, seed;
    txm_vec3 by_x, by_y; /* from one pixel to the next, in the camera's plane at distance 1 */
    float axis;          /* length of the camera's axis in the scene */
    bool notes_levels;   /* paths note the level of their first lookup */
    txm_render_differentials differentials;
    float widen; /* factor for the roughness by which differentials are widened */
    /* Paths end at the first surface that scatters light in all directions, and the light that it receives from other
     * surfaces is this one everywhere; mirrors, gloss and glass are followed. */
    bool direct;
    float ambient[3];
} txm_path_world;

enum { TXM_FILTER_TABLE = 1024, TXM_PATH_REQUESTS = 4096 };

/* A world with these options; images and filter are set by the caller. */
txm_path_world txm_path_world_of(const txm_render_scene *scene, const txm_scene_geometry *geometry,
                                 const txm_render_options *options, uint32_t width, uint32_t height);

/* Sets the camera and the size of its picture; it borrows the camera, which must not change afterwards. */
void txm_path_aim(txm_path_world *world, const txm_scene_camera *camera, uint32_t width, uint32_t height);

/* The inverse of the integral of the Blackman-Harris filter, `width` pixels wide, from which Cycles draws. */
void txm_path_filter(float width, float table[TXM_FILTER_TABLE]);

typedef union txm_path_differential {
    txm_compact compact;
    txm_cone cone;
    txm_full full;
} txm_path_differential;

typedef struct txm_path {
    uint32_t pixel, sample, bounce;
    uint16_t bounces_of[TXM_BOUNCES]; /* number of bounces by kind */
    txm_ray ray;
    txm_ray_hit hit;
    txm_path_differential differential;
    float throughput[3], radiance[3];
    bool diffuse;                /* the path has been scattered in all directions; then: */
    float spread[3], nearest[3]; /* throughput and radiance at that point */
    float probability;           /* probability of the ray's direction, if light could also have been sampled in it;
                                    else 0 */
    float level;                 /* level that the camera ray's first lookup chose; below 0: none was noted */
} txm_path;

typedef enum txm_step { TXM_STEP_ON, TXM_STEP_DONE, TXM_STEP_MISSED } txm_step;

/* Starts the camera ray of a sample; `pixel` counts row by row from the top left corner. */
void txm_path_start(const txm_path_world *world, uint32_t pixel, uint32_t sample, txm_path *path);
/* Finds what the ray hits, without lookups. */
void txm_path_intersect(const txm_path_world *world, txm_path *path);
/* Shades the hit. */
txm_step txm_path_shade(const txm_path_world *world, txm_lookup_source *source, txm_path *path);
#endif
