/* SPDX-License-Identifier: Apache-2.0
 *
 * One light path, which takes one step at a time. A step either happens or leaves the path unchanged: if a texture's
 * tile is not in memory it returns MISSED, and is run again once the tile is there. Therefore the picture does not
 * depend on who loads what when. Engines decide how many paths run at once and who loads tiles, and own the source
 * (lookup.h); a path itself is plain data, may be copied, and belongs to no thread.
 */
#ifndef STM_STREAM_PATH_H
#define STM_STREAM_PATH_H
#include "render/geometry.h"
#include "render/lookup.h"
#include "render/render.h"
#include "render/scene.h"

/* Everything that all paths share. */
typedef struct stm_path_world {
    const stm_render_scene *scene;
    const stm_scene_camera *camera; /* see stm_path_aim */
    const stm_scene_geometry *geometry;
    const stm_bound_image *images;   /* in the order of the scene's images */
    const struct stm_world_map *map; /* map of the world, see light.h; NULL: none */
    const float *filter;             /* STM_FILTER_TABLE offsets of the pixel filter, by their probability */
    uint32_t width, height, bounces, seed;
    txm_vec3 by_x, by_y; /* from one pixel to the next, in the camera's plane at distance 1 */
    float axis;          /* length of the camera's axis in the scene */
    bool notes_levels;   /* paths note the level of their first lookup */
    stm_render_differentials differentials;
    float widen; /* factor for the roughness by which differentials are widened */
    /* Paths end at the first surface that scatters light in all directions, and the light that it receives from other
     * surfaces is this one everywhere; mirrors, gloss and glass are followed. */
    bool direct;
    float ambient[3];
} stm_path_world;

enum { STM_FILTER_TABLE = 1024, STM_PATH_REQUESTS = 4096 };

/* A world with these options; images and filter are set by the caller. */
stm_path_world stm_path_world_of(const stm_render_scene *scene, const stm_scene_geometry *geometry,
                                 const stm_render_options *options, uint32_t width, uint32_t height);

/* Sets the camera and the size of its picture; it borrows the camera, which must not change afterwards. */
void stm_path_aim(stm_path_world *world, const stm_scene_camera *camera, uint32_t width, uint32_t height);

/* The inverse of the integral of the Blackman-Harris filter, `width` pixels wide, from which Cycles draws. */
void stm_path_filter(float width, float table[STM_FILTER_TABLE]);

typedef union stm_path_differential {
    txm_compact compact;
    txm_cone cone;
    txm_full full;
} stm_path_differential;

typedef struct stm_path {
    uint32_t pixel, sample, bounce;
    uint16_t bounces_of[STM_BOUNCES]; /* number of bounces by kind */
    stm_ray ray;
    stm_ray_hit hit;
    stm_path_differential differential;
    float throughput[3], radiance[3];
    bool diffuse;                /* the path has been scattered in all directions; then: */
    float spread[3], nearest[3]; /* throughput and radiance at that point */
    float probability;           /* probability of the ray's direction, if light could also have been sampled in it;
                                    else 0 */
    float level;                 /* level that the camera ray's first lookup chose; below 0: none was noted */
} stm_path;

/* A light that a surface has chosen to sample. */
typedef struct stm_light_choice {
    const stm_scene_light *lamp; /* NULL: the world */
    txm_vec3 direction;
    float distance;
    float
        share; /* BSDF times cosine over probability; for the world also the weight against other ways of finding it */
    float color[3]; /* colour of the world, which is looked up together with the surface's textures */
} stm_light_choice;

/* A step of a path before its lookups are known: the surface that was hit, and the lookups that were recorded. */
typedef struct stm_path_step {
    stm_surface surface;
    const stm_surface *s;           /* NULL: nothing was hit */
    const stm_scene_material *part; /* the part of its material that scatters */
    stm_path_differential at_hit;
    txm_uv_differential uv;
    uint32_t random, next, end; /* random state before the lookups; those in the batch */
    float color[3];
    txm_vec3 shading; /* the normal after normal maps */
    stm_light_choice light;
    bool is_lit, chose; /* a light was chosen; chose: while lookups were recorded */
} stm_path_step;

typedef enum stm_step { STM_STEP_ON, STM_STEP_DONE, STM_STEP_MISSED } stm_step;

/* Starts the camera ray of a sample; `pixel` counts row by row from the top left corner. */
void stm_path_start(const stm_path_world *world, uint32_t pixel, uint32_t sample, stm_path *path);
/* Finds what the ray hits, without lookups. */
void stm_path_intersect(const stm_path_world *world, stm_path *path);
/* Shades the hit. Many paths can be shaded together: first the lookups of each are recorded in the source's batch, then
 * they are served, then each path takes its step. */
stm_step stm_path_shade(const stm_path_world *world, stm_lookup_source *source, stm_path *path);
void stm_path_record(const stm_path_world *world, stm_lookup_source *source, stm_path *path, stm_path_step *step);
stm_step stm_path_take(const stm_path_world *world, stm_lookup_source *source, stm_path *path, stm_path_step *step);
#endif
