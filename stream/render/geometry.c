/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives the objects of a scene to rays.c, and computes the surface at a hit: position, normals, their derivatives,
 * texture coordinates. The scene was checked when it was read. Vectors of surfaces are finite and have length 1
 * wherever the geometry allows it. Derivatives are by the surface's own parameters; path.c converts them to the
 * pixel's.
 */
#include "render/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* Whether rays can be transformed to the mesh's own space. They cannot if the matrix flattens, nearly or completely, or
 * has values near the limits of float: then they would have no direction. */
static bool is_invertible(const stm_matrix *m)
{
    double columns = 1.0;
    const float(*r)[4] = m->m;
    for (int i = 0; i < 3; i++) {
        double length = sqrt((double)r[0][i] * (double)r[0][i] + (double)r[1][i] * (double)r[1][i] +
                             (double)r[2][i] * (double)r[2][i]);
        if (!(length > 1e-12 && length < 1e12 && fabs((double)r[i][3]) < 1e12))
            return false;
        columns *= length;
    }
    double volume = (double)r[0][0] * ((double)r[1][1] * (double)r[2][2] - (double)r[1][2] * (double)r[2][1]) -
                    (double)r[0][1] * ((double)r[1][0] * (double)r[2][2] - (double)r[1][2] * (double)r[2][0]) +
                    (double)r[0][2] * ((double)r[1][0] * (double)r[2][1] - (double)r[1][1] * (double)r[2][0]);
    return fabs(volume) > 1e-5 * columns;
}

/* Adds a mesh that is flat in the world, with its vertices transformed to it. */
static bool add_flat(stm_rays *rays, const stm_scene_mesh *mesh, const stm_matrix *to_world)
{
    static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    float *positions = stm_calloc(mesh->vertex_count + 1, 3 * sizeof *positions);
    int flat = -1;
    for (size_t i = 0; positions && i < mesh->vertex_count; i++) {
        const float *p = mesh->positions + 3 * i;
        const txm_vec3 at = stm_matrix_point(to_world, txm_vec_make(p[0], p[1], p[2]));
        const float world[3] = {at.x, at.y, at.z};
        memcpy(positions + 3 * i, world, sizeof world);
    }
    if (positions)
        flat = stm_rays_add_mesh(rays, positions, mesh->corners, mesh->triangle_count);
    free(positions);
    return flat >= 0 && stm_rays_add_instance(rays, flat, identity);
}

static bool add_object(stm_rays *rays, const stm_render_scene *scene, const stm_scene_object *o, const int *meshes)
{
    const float corner[3] = {o->corner.x, o->corner.y, o->corner.z}, u[3] = {o->u.x, o->u.y, o->u.z},
                v[3] = {o->v.x, o->v.y, o->v.z}, center[3] = {o->center.x, o->center.y, o->center.z};
    float to_world[12];
    memcpy(to_world, o->to_world.m, sizeof to_world);
    switch (o->kind) {
    case STM_OBJECT_INSTANCE:
        return is_invertible(&o->to_world) ? stm_rays_add_instance(rays, meshes[o->mesh], to_world)
                                           : add_flat(rays, &scene->meshes[o->mesh], &o->to_world);
    case STM_OBJECT_QUAD:
        return stm_rays_add_quad(rays, corner, u, v);
    default:
        return stm_rays_add_sphere(rays, center, o->radius);
    }
}

/* Adds meshes first, each once; then objects in the scene's order, since a hit contains their index. */
static bool add_all(const stm_render_scene *scene, stm_rays *rays, int *meshes)
{
    for (size_t i = 0; i < scene->mesh_count; i++) {
        const stm_scene_mesh *m = &scene->meshes[i];
        meshes[i] = stm_rays_add_mesh(rays, m->positions, m->corners, m->triangle_count);
        if (meshes[i] < 0)
            return false;
    }
    for (size_t i = 0; i < scene->object_count; i++)
        if (!add_object(rays, scene, &scene->objects[i], meshes))
            return false;
    return stm_rays_commit(rays);
}

txm_status stm_scene_geometry_new(const stm_render_scene *scene, unsigned threads, const volatile int *cancel,
                                  stm_scene_geometry *out, txm_error *err)
{
    int *meshes = stm_calloc(scene->mesh_count, sizeof *meshes);
    stm_rays *rays = meshes ? stm_rays_new(threads, cancel) : NULL;
    const bool added = rays && add_all(scene, rays, meshes);
    free(meshes);
    if (!added) {
        stm_rays_free(rays);
        return stm_is_cancelled(cancel) ? stm_fail(err, TXM_STATUS_CANCELLED, "stopped")
                                        : stm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for the geometry");
    }
    *out = (stm_scene_geometry){rays};
    return TXM_OK;
}

void stm_scene_geometry_free(stm_scene_geometry *g)
{
    stm_rays_free(g->rays);
    g->rays = NULL;
}

/* ---- surfaces ---- */

/* Degenerate triangles and flattened instances have no direction, and get a harmless one. */
static txm_vec3 unit(txm_vec3 v, txm_vec3 otherwise)
{
    float length = txm_vec_length(v);
    return length > 0.0f && isfinite(length) ? txm_vec_scale(v, 1.0f / length) : otherwise;
}

/* A vertex in the mesh's own space. */
static txm_vec3 vertex(const float *of, uint32_t i)
{
    return txm_vec_make(of[3 * (size_t)i], of[3 * (size_t)i + 1], of[3 * (size_t)i + 2]);
}

/* Normals are interpolated between vertices, and so are their derivatives, without which curved mirrors would not blur.
 */
static void triangle_surface(const stm_scene_object *o, const stm_scene_mesh *mesh, const stm_ray_hit *hit,
                             stm_surface *s)
{
    txm_vec3 p[3], n[3];
    memcpy(s->vertex, mesh->corners + 3 * (size_t)hit->primitive, sizeof s->vertex);
    for (int i = 0; i < 3; i++)
        p[i] = stm_matrix_point(&o->to_world, vertex(mesh->positions, s->vertex[i]));
    s->dPds = txm_vec_add(p[1], -1.0f, p[0]);
    s->dPdt = txm_vec_add(p[2], -1.0f, p[0]);
    s->at = txm_vec_add(txm_vec_add(p[0], hit->u, s->dPds), hit->v, s->dPdt);
    s->normal = unit(txm_vec_cross(s->dPds, s->dPdt), txm_vec_make(0.0f, 0.0f, 1.0f));
    s->shading = s->normal;
    s->mesh = mesh;
    s->triangle = hit->primitive;
    if (!mesh->normals)
        return;
    for (int i = 0; i < 3; i++)
        n[i] = unit(stm_matrix_normal(&o->to_world, vertex(mesh->normals, s->vertex[i])), s->normal);
    s->dNds = txm_vec_add(n[1], -1.0f, n[0]);
    s->dNdt = txm_vec_add(n[2], -1.0f, n[0]);
    s->shading = unit(txm_vec_add(txm_vec_add(n[0], hit->u, s->dNds), hit->v, s->dNdt), s->normal);
    /* The mean curvature along the edges: dn . dp / |dp|^2. */
    for (int i = 0; i < 3; i++) {
        txm_vec3 edge = txm_vec_add(p[(i + 1) % 3], -1.0f, p[i]), turn = txm_vec_add(n[(i + 1) % 3], -1.0f, n[i]);
        float length2 = txm_vec_dot(edge, edge);
        s->curvature += length2 > 0.0f ? txm_vec_dot(turn, edge) / length2 / 3.0f : 0.0f;
    }
}

/* The point is computed from the normal and not from the ray, so that it is exactly on the sphere. */
static void sphere_surface(const stm_scene_object *o, const stm_ray *ray, const stm_ray_hit *hit, stm_surface *s)
{
    const txm_vec3 from = txm_vec_make(ray->origin[0], ray->origin[1], ray->origin[2]);
    const txm_vec3 d = txm_vec_make(ray->direction[0], ray->direction[1], ray->direction[2]);
    txm_vec3 out = txm_vec_add(txm_vec_add(from, hit->t, d), -1.0f, o->center);
    s->normal = s->shading = unit(out, txm_vec_make(0.0f, 0.0f, 1.0f));
    s->at = txm_vec_add(o->center, o->radius, s->normal);
    /* Longitude and latitude from 0 to 1; at the poles the longitude is undefined. */
    const float turn = 6.28318531f, half = 3.14159265f;
    txm_vec3 n = s->normal;
    float across = sqrtf(n.x * n.x + n.y * n.y);
    txm_vec3 east = across > 0.0f ? txm_vec_make(-n.y / across, n.x / across, 0.0f) : txm_vec_make(0.0f, 1.0f, 0.0f);
    s->dPds = txm_vec_scale(east, turn * o->radius * across);
    s->dPdt = txm_vec_scale(txm_vec_cross(n, east), half * o->radius);
    s->dNds = txm_vec_scale(s->dPds, 1.0f / o->radius);
    s->dNdt = txm_vec_scale(s->dPdt, 1.0f / o->radius);
    s->curvature = 1.0f / o->radius;
}

/* The geometry's normal is first turned to the side of the shading normal, then both towards the ray; `inside` records
 * the side. */
void stm_surface_of(const stm_render_scene *scene, const stm_ray *ray, const stm_ray_hit *hit, stm_surface *s)
{
    const stm_scene_object *o = &scene->objects[hit->object];
    const txm_vec3 d = txm_vec_make(ray->direction[0], ray->direction[1], ray->direction[2]);
    memset(s, 0, sizeof *s);
    s->material = o->material;
    s->s = hit->u;
    s->t = hit->v;
    if (o->kind == STM_OBJECT_INSTANCE)
        triangle_surface(o, &scene->meshes[o->mesh], hit, s);
    else if (o->kind == STM_OBJECT_QUAD) {
        /* A quad is flat: the normal is constant, and its derivatives are 0. */
        s->dPds = o->u;
        s->dPdt = o->v;
        s->at = txm_vec_add(txm_vec_add(o->corner, hit->u, o->u), hit->v, o->v);
        s->normal = s->shading = unit(txm_vec_cross(o->u, o->v), txm_vec_make(0.0f, 0.0f, 1.0f));
    } else
        sphere_surface(o, ray, hit, s);
    if (txm_vec_dot(s->shading, s->normal) < 0.0f)
        s->normal = txm_vec_scale(s->normal, -1.0f);
    s->inside = txm_vec_dot(s->normal, d) > 0.0f;
    if (s->inside) {
        s->normal = txm_vec_scale(s->normal, -1.0f);
        s->shading = txm_vec_scale(s->shading, -1.0f);
        s->dNds = txm_vec_scale(s->dNds, -1.0f);
        s->dNdt = txm_vec_scale(s->dNdt, -1.0f);
        s->curvature = -s->curvature;
    }
    /* Near the rim, an interpolated normal may point away from the ray. */
    if (txm_vec_dot(s->shading, d) >= 0.0f)
        s->shading = s->normal;
}

/* The corners of the face that contains a triangle, in the pages of a Ptex file. */
static void ptex_corners(const stm_surface *s, const txm_ptex_pages *pages, float at[3][2])
{
    static const uint8_t corners[3][3] = {{0, 1, 3}, {0, 1, 2}, {0, 2, 3}};
    unsigned part;
    double of_face[4][2] = {{0}};
    txm_ptex_place_corners(pages, stm_polygon_of(s->mesh, s->triangle, &part), of_face, NULL);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            at[i][k] = (float)of_face[corners[part][i]][k];
}

/* Meshes have the coordinates of a map; quads and spheres their own parameters. A mesh without maps has (0, 0)
 * everywhere, as in Blender. */
stm_surface_uv stm_surface_uv_of(const stm_surface *s, const stm_scene_texture *texture)
{
    const float *f = texture->transform, *map = s->mesh && !texture->pages ? stm_mesh_map(s->mesh, texture->uv) : NULL;
    float u = s->s, v = s->t, duds = 1.0f, dudt = 0.0f, dvds = 0.0f, dvdt = 1.0f;
    if (s->mesh) {
        float at[3][2] = {{0}};
        if (texture->pages)
            ptex_corners(s, texture->pages, at);
        for (int i = 0; map && i < 3; i++)
            memcpy(at[i], map + 2 * (size_t)s->vertex[i], sizeof at[i]);
        duds = at[1][0] - at[0][0], dudt = at[2][0] - at[0][0];
        dvds = at[1][1] - at[0][1], dvdt = at[2][1] - at[0][1];
        u = at[0][0] + s->s * duds + s->t * dudt;
        v = at[0][1] + s->s * dvds + s->t * dvdt;
    }
    return (stm_surface_uv){f[0] * u + f[1] * v + f[2], f[3] * u + f[4] * v + f[5], f[0] * duds + f[1] * dvds,
                            f[0] * dudt + f[1] * dvdt,  f[3] * duds + f[4] * dvds,  f[3] * dudt + f[4] * dvdt};
}
