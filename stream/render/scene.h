/* SPDX-License-Identifier: Apache-2.0
 *
 * A scene in memory: the content of txmill-scene(5), checked, with its meshes. It is built from a folder
 * (scene_file.c, mesh.c) or by name (builtin.c), and constant afterwards; geometry.c traces rays through it.
 *
 * This folder is a renderer in miniature. From a scene it makes a picture with statistics (render.c), or computes the
 * memory that textures will take (budget.c). In between are rays (geometry.c, rays.c), scattering (bsdf.c), light
 * (light.c), a path that takes one step at a time (path.c), engines that step many paths (engine_*.c), and the
 * textures that they use (textures.c, use.c).
 */
#ifndef STM_STREAM_SCENE_H
#define STM_STREAM_SCENE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "render/render.h"
#include "txmill/scene.h"
#include "txtile/ptex_pages.h"
#include "txtile/ray.h"

#define STM_SCENE_NONE UINT32_MAX

/* The upper three rows of a matrix that transforms column vectors to the world. */
typedef struct stm_matrix {
    float m[3][4];
} stm_matrix;

typedef enum stm_camera_kind { STM_CAMERA_PERSPECTIVE, STM_CAMERA_ORTHOGRAPHIC } stm_camera_kind;

typedef struct stm_scene_camera {
    stm_camera_kind kind;
    float half[2], shift[2], clip[2];
    stm_matrix to_world;
    float lens_radius, focus; /* 0: a pinhole camera */
} stm_scene_camera;

typedef struct stm_scene_image {
    char *name, *path, *colorspace; /* the path is absolute or relative to the current folder */
    txm_alpha alpha;
    txm_extension extension;
    txm_filter filter;
    uint32_t *udims; /* numbers from 1001 on; NULL: not a UDIM set */
    size_t udim_count;
    txm_ptex *ptex; /* the Ptex file, whose pages are UDIM tiles; NULL: not one */
    txm_ptex_pages *pages;
} stm_scene_image;

/* An image of a material, looked up at uv' = (a u + b v + c, d u + e v + f). With a warp w it depends on the texture
 * before it in the material, whose red r and green g move it by (w (r - 1/2), w (g - 1/2)). */
typedef struct stm_scene_texture {
    uint32_t image;
    bool is_color; /* it replaces the material's colour; others are only looked up */
    char *uv;      /* name of the mesh's UV map, "": the first */
    float transform[6];
    float warp; /* 0: it does not depend on another texture */
    const txm_ptex_pages
        *pages;   /* pages of a Ptex file: the mesh's faces decide where it is looked up; NULL: not a Ptex file */
    float normal; /* strength of a normal map in tangent space, which turns the shading normal; 0: not a normal map */
} stm_scene_texture;

typedef enum stm_surface_kind {
    STM_SURFACE_DIFFUSE,
    STM_SURFACE_GLOSSY, /* GGX, tinted */
    STM_SURFACE_MIRROR,
    STM_SURFACE_GLASS,
    STM_SURFACE_EMISSION,
    STM_SURFACE_MIX, /* one of two other materials, chosen at random */
} stm_surface_kind;

typedef struct stm_scene_material {
    char *name;
    stm_surface_kind kind;
    float color[3];
    float roughness;        /* alpha of GGX; 0 for clear glass */
    float ior;              /* refraction of glass */
    uint32_t first, second; /* materials of a mix, defined before it */
    float share;            /* probability of a mix's second material */
    uint32_t parts;         /* 1, or the sum of both parts of a mix: bounds the lookups of a hit */
    stm_scene_texture *textures;
    size_t texture_count, texture_capacity;
} stm_scene_material;

typedef struct stm_uv_map {
    char *name;
    float *uv; /* two per vertex */
} stm_uv_map;

typedef struct stm_scene_mesh {
    char *name, *path;
    float *positions, *normals; /* three per vertex; normals may be NULL */
    uint32_t *corners;          /* three per triangle */
    size_t vertex_count, triangle_count;
    uint32_t *polygons; /* stm_polygon_of for each triangle; NULL: each is a polygon of its own */
    size_t polygon_count, quad_count;
    size_t cut_count;                   /* polygons if all that are not quads are cut into quads around their centre */
    size_t given_count;                 /* vertices in the file; those after them were made by cutting */
    const stm_scene_image *subfaces_of; /* the Ptex file whose subfaces were found to be those of the mesh */
    stm_uv_map *maps;
    size_t map_count;
} stm_scene_mesh;

/* Quads are two triangles. A value has the polygon of a triangle, and whether it is a whole polygon (0), the corners 0,
 * 1, 2 of a quad (1), or its corners 0, 2, 3 (2). */
enum { STM_POLYGON_BITS = 30 };
static inline uint32_t stm_polygon_of(const stm_scene_mesh *mesh, uint32_t triangle, unsigned *part)
{
    const uint32_t p = mesh->polygons ? mesh->polygons[triangle] : triangle;
    *part = mesh->polygons ? p >> STM_POLYGON_BITS : 0;
    return mesh->polygons ? p & ((1u << STM_POLYGON_BITS) - 1) : triangle;
}

typedef enum stm_object_kind { STM_OBJECT_INSTANCE, STM_OBJECT_QUAD, STM_OBJECT_SPHERE } stm_object_kind;

typedef struct stm_scene_object {
    stm_object_kind kind;
    uint32_t material;
    uint32_t mesh;         /* mesh of an instance */
    stm_matrix to_world;   /* place of an instance */
    txm_vec3 corner, u, v; /* place of a quad */
    txm_vec3 center;       /* place of a sphere */
    float radius;
} stm_scene_object;

typedef enum stm_light_kind { STM_LIGHT_POINT, STM_LIGHT_SPOT, STM_LIGHT_AREA, STM_LIGHT_SUN } stm_light_kind;

typedef struct stm_scene_light {
    stm_light_kind kind;
    float power[3];
    txm_vec3 at, direction;
    float radius, angle, blend;
    stm_matrix to_world;
    float size[2];
} stm_scene_light;

typedef struct stm_scene_world {
    uint32_t image; /* STM_SCENE_NONE: `color` in all directions */
    bool mirror_ball;
    float color[3]; /* multiplied with the image's colour */
    bool mapped;    /* directions are transformed by `mapping` before the image is looked up */
    stm_matrix mapping;
    /* Directions around the horizon in the map for light sampling; 0: as many as the image has columns. */
    uint32_t map_columns;
    bool unsampled; /* light is not sampled by the image */
} stm_scene_world;

/* The camera at a frame of a camera path. */
typedef struct stm_scene_key {
    uint32_t frame;
    stm_matrix to_world;
    bool is_cut; /* a new shot: the camera jumps there */
} stm_scene_key;

/* Kinds of bounces that have their own limits, as in Blender's Light Paths. */
typedef enum stm_bounce {
    STM_BOUNCE_DIFFUSE,
    STM_BOUNCE_GLOSSY,
    STM_BOUNCE_TRANSMISSION,
    STM_BOUNCE_TRANSPARENT,
    STM_BOUNCES
} stm_bounce;

struct stm_render_scene {
    char *folder, *title;
    const txm_path_map *maps; /* where paths of another machine are here; used while the scene is read */
    size_t map_count;
    uint32_t width, height;
    uint32_t samples;                 /* samples of the final render; 0: the scene does not specify them */
    uint32_t bounces;                 /* STM_SCENE_NONE: the scene does not specify it */
    uint32_t bounces_of[STM_BOUNCES]; /* limits; transparent ones do not count as other bounces */
    float filter_glossy; /* Blender's setting, by which rays are widened; below 0: the scene does not specify it */
    bool has_camera;
    stm_scene_camera camera;
    stm_scene_world world;
    stm_scene_image *images;
    stm_scene_material *materials;
    stm_scene_mesh *meshes;
    stm_scene_object *objects;
    stm_scene_light *lights;
    stm_scene_key *keys; /* in rising order of frames */
    size_t image_count, material_count, mesh_count, object_count, light_count, key_count;
    size_t image_capacity, material_capacity, mesh_capacity, object_capacity, light_capacity, key_capacity;
};

/* An empty scene of 960 x 540 px with a grey world; NULL if memory is exhausted. */
stm_render_scene *stm_scene_new(void);

/* Reads DIR/scene.txt. Messages name the line. */
txm_status stm_scene_read(stm_render_scene *scene, const char *path, txm_error *err);
/* The same from text; meshes are read from `folder`. stm_scene_read and the fuzzer call it. */
txm_status stm_scene_parse(stm_render_scene *scene, const char *name, const char *folder, const char *text,
                           size_t bytes, txm_error *err);

/* Fills in the tiles of a UDIM set whose files exist. NOT_FOUND if there are none. */
txm_status stm_scene_find_udims(stm_scene_image *image, txm_error *err);

/* Reads a mesh; `mesh` must have its name and path. Polygons of more than four corners are cut into quads around their
 * centre; `cut`: all that are not quads are. */
txm_status stm_mesh_read(stm_scene_mesh *mesh, bool cut, txm_error *err);
/* Frees everything but the name and the path. */
void stm_mesh_empty(stm_scene_mesh *mesh);

/* The longest chain of textures of a material in which each depends on the previous one; 0: there is none. */
uint32_t stm_scene_depth(const stm_render_scene *scene);

/* The UV map with that name, or the first if the name is "" or does not exist; NULL if the mesh has none. */
const float *stm_mesh_map(const stm_scene_mesh *mesh, const char *name);

static inline txm_vec3 stm_matrix_point(const stm_matrix *m, txm_vec3 p)
{
    return txm_vec_make(m->m[0][0] * p.x + m->m[0][1] * p.y + m->m[0][2] * p.z + m->m[0][3],
                        m->m[1][0] * p.x + m->m[1][1] * p.y + m->m[1][2] * p.z + m->m[1][3],
                        m->m[2][0] * p.x + m->m[2][1] * p.y + m->m[2][2] * p.z + m->m[2][3]);
}

static inline txm_vec3 stm_matrix_vector(const stm_matrix *m, txm_vec3 d)
{
    return txm_vec_make(m->m[0][0] * d.x + m->m[0][1] * d.y + m->m[0][2] * d.z,
                        m->m[1][0] * d.x + m->m[1][1] * d.y + m->m[1][2] * d.z,
                        m->m[2][0] * d.x + m->m[2][1] * d.y + m->m[2][2] * d.z);
}

/* The derivative of a direction d of length 1, from that of the vector before normalisation, whose length was `length`.
 */
static inline txm_vec3 stm_unit_derivative(txm_vec3 d, float length, txm_vec3 derivative)
{
    return txm_vec_scale(txm_vec_add(derivative, -txm_vec_dot(d, derivative), d), 1.0f / length);
}

/* Normals are transformed by the cofactors, which is right for any scale; their length is 0 only if the matrix
 * flattens. */
static inline txm_vec3 stm_matrix_normal(const stm_matrix *m, txm_vec3 n)
{
    txm_vec3 x = txm_vec_make(m->m[0][0], m->m[1][0], m->m[2][0]);
    txm_vec3 y = txm_vec_make(m->m[0][1], m->m[1][1], m->m[2][1]);
    txm_vec3 z = txm_vec_make(m->m[0][2], m->m[1][2], m->m[2][2]);
    txm_vec3 r = txm_vec_scale(txm_vec_cross(y, z), n.x);
    r = txm_vec_add(r, n.y, txm_vec_cross(z, x));
    return txm_vec_add(r, n.z, txm_vec_cross(x, y));
}
#endif
