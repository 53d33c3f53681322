/* SPDX-License-Identifier: Apache-2.0
 *
 * Rays against triangles, parallelograms and spheres. It does not deal with textures, materials or paths: a hit
 * consists of the numbers of an object and of a triangle, and two parameters.
 */
#ifndef TXM_STREAM_RAYS_H
#define TXM_STREAM_RAYS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct txm_rays txm_rays;

typedef struct txm_ray_hit {
    float t;
    float u, v;         /* barycentric for triangles; the uv of quads and spheres */
    uint32_t object;    /* index in the order of adding; UINT32_MAX: nothing was hit */
    uint32_t primitive; /* triangle of the mesh */
} txm_ray_hit;

/* The direction need not have length 1: t counts in its lengths. */
typedef struct txm_ray {
    float origin[3], direction[3], near_t, far_t;
} txm_ray;

/* `threads` build the trees. If *cancel becomes 1, add_mesh and commit fail soon; NULL: never. NULL: no memory. */
txm_rays *txm_rays_new(unsigned threads, const volatile int *cancel);
/* Adds a mesh for instances, which is not needed any more after the call; corners are indices of vertices, three for
 * each triangle. Returns its index, or -1 if memory is exhausted or *cancel is set. */
int txm_rays_add_mesh(txm_rays *r, const float *positions, const uint32_t *corners, size_t triangles);
/* Objects are numbered in the order in which they are added, over all three kinds. false: no memory. The matrix has an
 * inverse, and is three rows of four. */
bool txm_rays_add_instance(txm_rays *r, int mesh, const float to_world[12]);
bool txm_rays_add_quad(txm_rays *r, const float corner[3], const float u[3], const float v[3]);
bool txm_rays_add_sphere(txm_rays *r, const float center[3], float radius);
bool txm_rays_commit(txm_rays *r);
/* May be called from any number of threads after commit. Hits have the same bits on every machine. Of hits at the same
 * distance the one with the lower numbers counts. A ray without direction, or with infinities or NaN, hits nothing, and
 * is occluded. */
void txm_rays_intersect(const txm_rays *r, const txm_ray *ray, txm_ray_hit *hit);
/* Whether anything is between the ends. */
bool txm_rays_occluded(const txm_rays *r, const txm_ray *ray);
void txm_rays_free(txm_rays *r); /* NULL-safe */
#endif
