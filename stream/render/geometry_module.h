/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface of the module txmill-embree.so: rays against triangles, parallelograms and spheres. Embree and its
 * thread library are loaded with the module, only for the command that traces rays. It is a table of C functions, so
 * that Embree's C++ does not reach the library, and a missing Embree causes a message and not a program that cannot
 * start.
 */
#ifndef TXM_STREAM_GEOMETRY_MODULE_H
#define TXM_STREAM_GEOMETRY_MODULE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TXM_GEOMETRY_SYMBOL "txm_geometry_table"
enum { TXM_GEOMETRY_ABI = 3 };

typedef struct txm_geometry txm_geometry;

typedef struct txm_ray_hit {
    float t;
    float u, v;         /* barycentric for triangles; the uv of quads and spheres */
    uint32_t object;    /* index in the order of adding; UINT32_MAX: nothing was hit */
    uint32_t primitive; /* triangle of the mesh */
} txm_ray_hit;

typedef struct txm_ray {
    float origin[3], direction[3], near_t, far_t;
} txm_ray;

/* Arguments are plain arrays, so that the module needs nothing of the library. All pointers must stay valid until
 * `free`. */
typedef struct txm_geometry_table {
    uint32_t abi, hit_bytes, ray_bytes;
    /* If *cancel becomes 1, add_mesh and commit fail soon, instead of building the rest of a tree. NULL: never. */
    txm_geometry *(*new)(unsigned threads, const volatile int *cancel);
    /* Adds a mesh for instances; returns its index, or -1. */
    int (*add_mesh)(txm_geometry *g, const float *positions, size_t vertices, const uint32_t *corners,
                    size_t triangles);
    /* Objects are numbered in the order in which they are added, over all three kinds. */
    bool (*add_instance)(txm_geometry *g, int mesh, const float to_world[12]);
    bool (*add_quad)(txm_geometry *g, const float corner[3], const float u[3], const float v[3]);
    bool (*add_sphere)(txm_geometry *g, const float center[3], float radius);
    bool (*commit)(txm_geometry *g);
    /* Why a call failed. */
    const char *(*message)(const txm_geometry *g);
    /* May be called from any number of threads after commit. Hits have the same bits whether rays are traced one by one
     * or together; rays that run side by side are faster together. A ray that has infinities or NaN hits nothing, and
     * is occluded. */
    void (*intersect)(const txm_geometry *g, const txm_ray *ray, txm_ray_hit *hit);
    void (*intersect_all)(const txm_geometry *g, const txm_ray *const *rays, txm_ray_hit *const *hits, unsigned count);
    bool (*occluded)(const txm_geometry *g, const txm_ray *ray);
    void (*free)(txm_geometry *g);
} txm_geometry_table;
#endif
