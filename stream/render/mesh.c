/* SPDX-License-Identifier: Apache-2.0
 *
 * The meshes of scenes: triangles and quads with positions, normals and UV maps, as defined in txmill-scene(5).
 * libtxmill reads them; all indices of the result are valid.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "render/scene.h"
#include "txmill/unwrap.h"

enum { MAX_MAPS = 64 };

/* ---- polygons ---------------------------------------------------------------------------------------------------- */

/* Polygons of more than four corners are always cut into quads: one for each corner, up to the middles of its edges and
 * the centre of the polygon. `all`: those of three corners, too, as Ptex files of quads do. */
static bool is_cut(uint32_t corners, bool all)
{
    return corners > 4 || (all && corners != 4);
}

/* The arrays of values of vertices, by number: positions, normals, maps; and how many values a vertex has there. */
static float **vertex_values(stm_scene_mesh *mesh, size_t number, size_t *n)
{
    *n = number < 2 ? 3 : 2;
    return number == 0 ? &mesh->positions : number == 1 ? &mesh->normals : &mesh->maps[number - 2].uv;
}

/* Counts polygons, quads and the vertices that cutting needs, and makes room. */
static txm_status count_polygons(stm_scene_mesh *mesh, const txm_mesh *read, bool cut, txm_error *err)
{
    uint32_t count;
    size_t vertices = mesh->given_count = mesh->vertex_count;
    for (uint32_t i = 0; i < txm_mesh_polygon_count(read); i++) {
        txm_mesh_polygon(read, i, &count);
        const size_t quads = is_cut(count, cut) ? count : count == 4;
        mesh->quad_count += quads;
        mesh->polygon_count += quads ? quads : 1;
        mesh->cut_count += count == 4 ? 1 : count;
        vertices += is_cut(count, cut) ? count + 1 : 0;
    }
    mesh->triangle_count = mesh->polygon_count + mesh->quad_count;
    if (mesh->triangle_count > UINT32_MAX || vertices > UINT32_MAX ||
        (mesh->quad_count && mesh->polygon_count >> STM_POLYGON_BITS))
        return stm_fail(err, TXM_STATUS_CORRUPT, "%s: too many faces: %zu", mesh->path, mesh->polygon_count);
    mesh->corners = stm_calloc(mesh->triangle_count + 1, 3 * sizeof *mesh->corners);
    mesh->polygons = mesh->quad_count ? stm_calloc(mesh->triangle_count + 1, sizeof *mesh->polygons) : NULL;
    if (!mesh->corners || (mesh->quad_count && !mesh->polygons))
        return stm_no_memory(err, mesh->path);
    for (size_t i = 0; vertices > mesh->given_count && i < mesh->map_count + 2; i++) {
        size_t n;
        float **values = vertex_values(mesh, i, &n);
        float *more = *values ? realloc(*values, (vertices + 1) * n * sizeof **values) : NULL;
        if (*values && !more)
            return stm_no_memory(err, mesh->path);
        *values = *values ? more : NULL;
    }
    return TXM_OK;
}

/* Adds a vertex in the middle of others. */
static uint32_t add_middle(stm_scene_mesh *mesh, const uint32_t *of, uint32_t count)
{
    for (size_t i = 0; i < mesh->map_count + 2; i++) {
        size_t n;
        float *values = *vertex_values(mesh, i, &n);
        for (size_t k = 0; values && k < n; k++) {
            double sum = 0;
            for (uint32_t c = 0; c < count; c++)
                sum += (double)values[of[c] * n + k];
            values[mesh->vertex_count * n + k] = (float)(sum / count);
        }
    }
    return (uint32_t)mesh->vertex_count++;
}

/* Makes triangles, and vertices if polygons are cut. */
static void take_polygons(stm_scene_mesh *mesh, const txm_mesh *read, bool cut)
{
    uint32_t *out = mesh->corners, count;
    size_t triangle = 0, polygon = 0;
    for (uint32_t i = 0; i < txm_mesh_polygon_count(read); i++) {
        const uint32_t *corners = txm_mesh_polygon(read, i, &count);
        const uint32_t middles = (uint32_t)mesh->vertex_count, centre = middles + count;
        const uint32_t quads = is_cut(count, cut) ? count : 1;
        for (uint32_t k = 0; quads > 1 && k < count; k++)
            add_middle(mesh, (const uint32_t[]){corners[k], corners[(k + 1) % count]}, 2);
        if (quads > 1)
            add_middle(mesh, corners, count);
        for (uint32_t k = 0; k < quads; k++, polygon++) {
            const uint32_t quad[] = {corners[k], middles + k, centre, middles + (k + count - 1) % count};
            const uint32_t *of = quads > 1 ? quad : corners, sides = quads > 1 ? 4 : count;
            for (uint32_t part = 0; part < sides - 2; part++, triangle++, out += 3) {
                out[0] = of[0];
                out[1] = of[part + 1];
                out[2] = of[part + 2];
                if (mesh->polygons)
                    mesh->polygons[triangle] = (uint32_t)polygon | (sides == 4 ? (part + 1) << STM_POLYGON_BITS : 0);
            }
        }
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Copies `n` properties of each vertex to a new array; *out is NULL if vertices lack one. False: no memory. */
static bool take_values(const stm_scene_mesh *mesh, const txm_mesh *read, const char *properties, size_t n, float **out)
{
    *out = stm_calloc(mesh->vertex_count + 1, n * sizeof **out);
    if (!*out)
        return false;
    if (!txm_mesh_values(read, properties, *out)) {
        free(*out);
        *out = NULL;
    }
    return true;
}

/* "u" and "v" are map 0, "u3" and "v3" map 3. A map with only one of the two is ignored. */
static bool take_maps(stm_scene_mesh *mesh, const txm_mesh *read)
{
    mesh->maps = stm_calloc(MAX_MAPS, sizeof *mesh->maps);
    for (uint32_t i = 0; mesh->maps && i < MAX_MAPS; i++) {
        char properties[32] = "u v";
        float *uv;
        if (i)
            snprintf(properties, sizeof properties, "u%u v%u", i, i);
        if (!take_values(mesh, read, properties, 2, &uv))
            return false;
        if (!uv)
            continue;
        stm_uv_map *map = &mesh->maps[mesh->map_count++];
        *map = (stm_uv_map){stm_strdup(txm_mesh_map_name(read, i)), uv};
        if (!map->name)
            return false;
    }
    return mesh->maps != NULL;
}

/* What was taken before a failure stays in `mesh`, and is freed with the scene. */
txm_status stm_mesh_read(stm_scene_mesh *mesh, bool cut, txm_error *err)
{
    txm_mesh *read = NULL;
    txm_status status = txm_mesh_open(mesh->path, &read, err);
    if (status != TXM_OK)
        return status;
    mesh->vertex_count = txm_mesh_vertex_count(read);
    if (!take_values(mesh, read, "x y z", 3, &mesh->positions) ||
        !take_values(mesh, read, "nx ny nz", 3, &mesh->normals) || !take_maps(mesh, read))
        status = stm_no_memory(err, mesh->path);
    else if (!mesh->positions)
        status = stm_fail(err, TXM_STATUS_CORRUPT, "%s: the mesh has no vertices", mesh->path);
    else
        status = count_polygons(mesh, read, cut, err);
    if (status == TXM_OK)
        take_polygons(mesh, read, cut);
    txm_mesh_close(&read);
    return status;
}

void stm_mesh_empty(stm_scene_mesh *mesh)
{
    for (size_t i = 0; i < mesh->map_count; i++) {
        free(mesh->maps[i].name);
        free(mesh->maps[i].uv);
    }
    free(mesh->maps);
    free(mesh->positions);
    free(mesh->normals);
    free(mesh->corners);
    free(mesh->polygons);
    *mesh = (stm_scene_mesh){.name = mesh->name, .path = mesh->path};
}
