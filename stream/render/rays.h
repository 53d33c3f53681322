/* SPDX-License-Identifier: Apache-2.0
 *
 * Rays against triangles, parallelograms and spheres. It does not deal with textures, materials or paths: a hit
 * consists of the numbers of an object and of a triangle, and two parameters.
 */
#ifndef STM_STREAM_RAYS_H
#define STM_STREAM_RAYS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct stm_rays stm_rays;

typedef struct stm_ray_hit {
    float t;
    float u, v;         /* barycentric for triangles; the uv of quads and spheres */
    uint32_t object;    /* index in the order of adding; UINT32_MAX: nothing was hit */
    uint32_t primitive; /* triangle of the mesh */
} stm_ray_hit;

/* The direction need not have length 1: t counts in its lengths. */
typedef struct stm_ray {
    float origin[3], direction[3], near_t, far_t;
} stm_ray;

/* `threads` build the trees. If *cancel becomes 1, add_mesh and commit fail soon; NULL: never. NULL: no memory. */
stm_rays *stm_rays_new(unsigned threads, const volatile int *cancel);
/* Adds a mesh for instances, which is not needed any more after the call; corners are indices of vertices, three for
 * each triangle. Returns its index, or -1 if memory is exhausted or *cancel is set. */
int stm_rays_add_mesh(stm_rays *r, const float *positions, const uint32_t *corners, size_t triangles);
/* Objects are numbered in the order in which they are added, over all three kinds. false: no memory. The matrix has an
 * inverse, and is three rows of four. */
bool stm_rays_add_instance(stm_rays *r, int mesh, const float to_world[12]);
bool stm_rays_add_quad(stm_rays *r, const float corner[3], const float u[3], const float v[3]);
bool stm_rays_add_sphere(stm_rays *r, const float center[3], float radius);
bool stm_rays_commit(stm_rays *r);
/* May be called from any number of threads after commit. Hits have the same bits on every machine. Of hits at the same
 * distance the one with the lower numbers counts. A ray without direction, or with infinities or NaN, hits nothing, and
 * is occluded. */
void stm_rays_intersect(const stm_rays *r, const stm_ray *ray, stm_ray_hit *hit);
/* Whether anything is between the ends. */
bool stm_rays_occluded(const stm_rays *r, const stm_ray *ray);
void stm_rays_free(stm_rays *r); /* NULL-safe */
#endif
