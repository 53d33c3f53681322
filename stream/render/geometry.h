/* SPDX-License-Identifier: Apache-2.0
 *
 * The geometry of a scene, and hits on it. Textures are not used here. A hit has numbers only; stm_surface_of computes
 * positions, normals and derivatives when a path needs them, which shadow rays do not.
 */
#ifndef STM_STREAM_GEOMETRY_H
#define STM_STREAM_GEOMETRY_H
#include "render/rays.h"
#include "render/scene.h"

typedef struct stm_scene_geometry {
    stm_rays *rays;
} stm_scene_geometry;

/* CANCELLED if *cancel, which may be NULL, is set while trees are built, which takes seconds for millions of triangles.
 */
txm_status stm_scene_geometry_new(const stm_render_scene *scene, unsigned threads, const volatile int *cancel,
                                  stm_scene_geometry *out, txm_error *err);
void stm_scene_geometry_free(stm_scene_geometry *geometry);

/* The surface at a hit. Its two parameters s and t are barycentric for a triangle, and u and v for quads and spheres.
 */
typedef struct stm_surface {
    txm_vec3 at, normal; /* normal of the geometry, towards the ray; length 1 */
    txm_vec3 shading;    /* interpolated, towards the ray; length 1 */
    txm_vec3 dPds, dPdt; /* derivatives of the position */
    txm_vec3 dNds, dNdt; /* derivatives of the shading normal */
    float curvature;     /* mean, positive if the surface is convex towards the ray */
    bool inside;         /* the ray comes from inside */
    uint32_t material;
    uint32_t vertex[3], triangle;
    const stm_scene_mesh *mesh; /* NULL: a quad or sphere */
    float s, t;
} stm_surface;

void stm_surface_of(const stm_render_scene *scene, const stm_ray *ray, const stm_ray_hit *hit, stm_surface *out);

/* Texture coordinates at a hit, and their derivatives by the surface's parameters. */
typedef struct stm_surface_uv {
    float u, v, duds, dudt, dvds, dvdt;
} stm_surface_uv;

stm_surface_uv stm_surface_uv_of(const stm_surface *surface, const stm_scene_texture *texture);
#endif
