/* SPDX-License-Identifier: Apache-2.0
 *
 * A scene in memory: what txmill-scene(5) says, checked, with meshes read. Built from a folder (scene_file.c, ply.c) or
 * by name (builtin.c); rays are sent through it by geometry.c, and nobody changes it after that.
 *
 * This room is a renderer in miniature. Comes in: a scene. Goes out: a picture with statistics (render.c), or
 * the memory that textures will take (budget.c). In between: rays (geometry.c, embree/), scattering (bsdf.c), light
 * (light.c), one path a step at a time (path.c), engines that step many (engine_*.c), and the textures they look up
 * (textures.c, use.c).
 */
#ifndef TXM_STREAM_SCENE_H
#define TXM_STREAM_SCENE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/render.h"
#include "txtile/ray.h"

#define TXM_SCENE_NONE UINT32_MAX

/* The upper three rows of a matrix that takes column vectors to the world. */
typedef struct txm_matrix {
    float m[3][4];
} txm_matrix;

typedef enum txm_camera_kind { TXM_CAMERA_PERSPECTIVE, TXM_CAMERA_ORTHOGRAPHIC } txm_camera_kind;

typedef struct txm_scene_camera {
    txm_camera_kind kind;
    float half[2], shift[2], clip[2];
    txm_matrix to_world;
    float lens_radius, focus; /* 0: a pinhole */
} txm_scene_camera;

typedef struct txm_scene_image {
    char *name, *path, *colorspace; /* the path is absolute or counts from the current folder */
    txm_alpha alpha;
    txm_extension extension;
    txm_filter filter;
    uint32_t *udims; /* numbers from 1001 on; NULL: no UDIM set */
    size_t udim_count;
} txm_scene_image;

/* An image of a material: looked up at uv' = (a u + b v + c, d u + e v + f). With a warp w it depends on the texture
 * before it in the material, whose red r and green g move it by (w (r - 1/2), w (g - 1/2)). */
typedef struct txm_scene_texture {
    uint32_t image;
    bool is_color; /* replaces the material's colour; others are only looked up */
    char *uv;      /* map of the mesh, "": the first */
    float transform[6];
    float warp;   /* 0: depends on none */
    float normal; /* strength of a normal map in tangent space, which turns the shading normal; 0: it is none */
} txm_scene_texture;

typedef enum txm_surface_kind {
    TXM_SURFACE_DIFFUSE,
    TXM_SURFACE_GLOSSY, /* GGX, tinted */
    TXM_SURFACE_MIRROR,
    TXM_SURFACE_GLASS,
    TXM_SURFACE_EMISSION,
    TXM_SURFACE_MIX, /* one of two other materials, by chance */
    TXM_SURFACE_KINDS
} txm_surface_kind;

typedef struct txm_scene_material {
    char *name;
    txm_surface_kind kind;
    float color[3];
    float roughness;        /* alpha of GGX; of glass 0 where it is clear */
    float ior;              /* of glass */
    uint32_t first, second; /* of a mix: materials that are defined before it */
    float share;            /* of a mix: the probability of the second */
    uint32_t parts;         /* 1, or those of both: bounds what one hit looks up */
    txm_scene_texture *textures;
    size_t texture_count, texture_capacity;
} txm_scene_material;

typedef struct txm_uv_map {
    char *name;
    float *uv; /* two a vertex */
} txm_uv_map;

typedef struct txm_scene_mesh {
    char *name, *path;
    float *positions, *normals; /* three a vertex; normals may be NULL */
    uint32_t *corners;          /* three a triangle */
    size_t vertex_count, triangle_count;
    txm_uv_map *maps;
    size_t map_count;
} txm_scene_mesh;

typedef enum txm_object_kind { TXM_OBJECT_INSTANCE, TXM_OBJECT_QUAD, TXM_OBJECT_SPHERE } txm_object_kind;

typedef struct txm_scene_object {
    txm_object_kind kind;
    uint32_t material;
    uint32_t mesh;         /* of an instance */
    txm_matrix to_world;   /* of an instance */
    txm_vec3 corner, u, v; /* of a quad */
    txm_vec3 center;       /* of a sphere */
    float radius;
} txm_scene_object;

typedef enum txm_light_kind { TXM_LIGHT_POINT, TXM_LIGHT_SPOT, TXM_LIGHT_AREA, TXM_LIGHT_SUN } txm_light_kind;

typedef struct txm_scene_light {
    txm_light_kind kind;
    float power[3];
    txm_vec3 at, direction;
    float radius, angle, blend;
    txm_matrix to_world;
    float size[2];
} txm_scene_light;

typedef struct txm_scene_world {
    uint32_t image; /* TXM_SCENE_NONE: `color` all round */
    bool mirror_ball;
    float color[3]; /* that of the image is multiplied with it */
    bool mapped;    /* directions go through `mapping` before the image is looked up */
    txm_matrix mapping;
    /* Directions round the horizon in the map by which light is looked for; 0: as many as the image has columns. */
    uint32_t map_columns;
    bool unsampled; /* no light is looked for in the image */
} txm_scene_world;

/* Where the camera is at a frame of a path that frames are played along. */
typedef struct txm_scene_key {
    uint32_t frame;
    txm_matrix to_world;
    bool is_cut; /* a new shot: the camera jumps there */
} txm_scene_key;

/* What kinds of bounces are counted by themselves, as Blender's Light Paths do. */
typedef enum txm_bounce {
    TXM_BOUNCE_DIFFUSE,
    TXM_BOUNCE_GLOSSY,
    TXM_BOUNCE_TRANSMISSION,
    TXM_BOUNCE_TRANSPARENT,
    TXM_BOUNCES
} txm_bounce;

struct txm_render_scene {
    char *folder, *title;
    uint32_t width, height;
    uint32_t samples;                 /* of the final render; 0: the scene does not say */
    uint32_t bounces;                 /* TXM_SCENE_NONE: the scene does not say */
    uint32_t bounces_of[TXM_BOUNCES]; /* at most; transparent ones are in no other count */
    float filter_glossy; /* Blender's setting, by which rays are widened; below 0: the scene does not say */
    bool has_camera;
    txm_scene_camera camera;
    txm_scene_world world;
    txm_scene_image *images;
    txm_scene_material *materials;
    txm_scene_mesh *meshes;
    txm_scene_object *objects;
    txm_scene_light *lights;
    txm_scene_key *keys; /* frames rise */
    size_t image_count, material_count, mesh_count, object_count, light_count, key_count;
    size_t image_capacity, material_capacity, mesh_capacity, object_capacity, light_capacity, key_capacity;
};

/* An empty scene of 960 x 540 px with a grey world. NULL: no memory. */
txm_render_scene *txm_scene_new(void);

/* Reads DIR/scene.txt. What is wrong is named with its line. */
txm_status txm_scene_read(txm_render_scene *scene, const char *path, txm_error *err);
/* The same from text; meshes are read from `folder`. What txm_scene_read does, and what is fuzzed. */
txm_status txm_scene_parse(txm_render_scene *scene, const char *name, const char *folder, const char *text,
                           size_t bytes, txm_error *err);

/* Fills in the tiles of a UDIM set: those whose files are there. NOT_FOUND if none is. */
txm_status txm_scene_find_udims(txm_scene_image *image, txm_error *err);

/* Reads a mesh; `mesh` has its name and path already. */
txm_status txm_mesh_read(txm_scene_mesh *mesh, txm_error *err);
txm_status txm_mesh_parse(txm_scene_mesh *mesh, const uint8_t *data, size_t bytes, txm_error *err);

/* The most textures of a material that wait for one another before the last of them can be looked up; 0: none does. */
uint32_t txm_scene_depth(const txm_render_scene *scene);

/* The UV map of that name, the first for "" or one that is not there; NULL if the mesh has none. */
const float *txm_mesh_map(const txm_scene_mesh *mesh, const char *name);

static inline txm_vec3 txm_matrix_point(const txm_matrix *m, txm_vec3 p)
{
    return txm_vec_make(m->m[0][0] * p.x + m->m[0][1] * p.y + m->m[0][2] * p.z + m->m[0][3],
                        m->m[1][0] * p.x + m->m[1][1] * p.y + m->m[1][2] * p.z + m->m[1][3],
                        m->m[2][0] * p.x + m->m[2][1] * p.y + m->m[2][2] * p.z + m->m[2][3]);
}

static inline txm_vec3 txm_matrix_vector(const txm_matrix *m, txm_vec3 d)
{
    return txm_vec_make(m->m[0][0] * d.x + m->m[0][1] * d.y + m->m[0][2] * d.z,
                        m->m[1][0] * d.x + m->m[1][1] * d.y + m->m[1][2] * d.z,
                        m->m[2][0] * d.x + m->m[2][1] * d.y + m->m[2][2] * d.z);
}

/* The derivative of a direction d of length 1, from that of the vector which was `length` long. */
static inline txm_vec3 txm_unit_derivative(txm_vec3 d, float length, txm_vec3 derivative)
{
    return txm_vec_scale(txm_vec_add(derivative, -txm_vec_dot(d, derivative), d), 1.0f / length);
}

/* Normals go by the cofactors: right for any scale, of length 0 only where the matrix flattens. */
static inline txm_vec3 txm_matrix_normal(const txm_matrix *m, txm_vec3 n)
{
    txm_vec3 x = txm_vec_make(m->m[0][0], m->m[1][0], m->m[2][0]);
    txm_vec3 y = txm_vec_make(m->m[0][1], m->m[1][1], m->m[2][1]);
    txm_vec3 z = txm_vec_make(m->m[0][2], m->m[1][2], m->m[2][2]);
    txm_vec3 r = txm_vec_scale(txm_vec_cross(y, z), n.x);
    r = txm_vec_add(r, n.y, txm_vec_cross(z, x));
    return txm_vec_add(r, n.z, txm_vec_cross(x, y));
}
#endif
