/* SPDX-License-Identifier: Apache-2.0
 *
 * The geometry of a scene, and hits on it. Textures are not used here. A hit has numbers only; txm_surface_of computes
 * positions, normals and derivatives when a path needs them, which shadow rays do not.
 */
#ifndef TXM_STREAM_GEOMETRY_H
#define TXM_STREAM_GEOMETRY_H
#include "render/rays.h"
#include "render/scene.h"

typedef struct txm_scene_geometry {
    txm_rays *rays;
} txm_scene_geometry;

/* CANCELLED if *cancel, which may be NULL, is set while trees are built, which takes seconds for millions of triangles.
 */
txm_status txm_scene_geometry_new(const txm_render_scene *scene, unsigned threads, const volatile int *cancel,
                                  txm_scene_geometry *out, txm_error *err);
void txm_scene_geometry_free(txm_scene_geometry *geometry);

/* The surface at a hit. Its two parameters s and t are barycentric for a triangle, and u and v for quads and spheres.
 */
typedef struct txm_surface {
    txm_vec3 at, normal; /* normal of the geometry, towards the ray; length 1 */
    txm_vec3 shading;    /* interpolated, towards the ray; length 1 */
    txm_vec3 dPds, dPdt; /* derivatives of the position */
    txm_vec3 dNds, dNdt; /* derivatives of the shading normal */
    float curvature;     /* mean, positive if the surface is convex towards the ray */
    bool inside;         /* the ray comes from inside */
    uint32_t material;
    uint32_t vertex[3], triangle;
    const txm_scene_mesh *mesh; /* NULL: a quad or sphere */
    float s, t;
} txm_surface;

void txm_surface_of(const txm_render_scene *scene, const txm_ray *ray, const txm_ray_hit *hit, txm_surface *out);

/* Texture coordinates at a hit, and their derivatives by the surface's parameters. */
typedef struct txm_surface_uv {
    float u, v, duds, dudt, dvds, dvdt;
} txm_surface_uv;

txm_surface_uv txm_surface_uv_of(const txm_surface *surface, const txm_scene_texture *texture);
#endif
