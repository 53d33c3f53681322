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

/* Counts the triangles, then cuts the quads. */
static txm_status take_polygons(stm_scene_mesh *mesh, const txm_mesh *read, txm_error *err)
{
    uint32_t count;
    mesh->polygon_count = txm_mesh_polygon_count(read);
    for (size_t i = 0; i < mesh->polygon_count; i++) {
        txm_mesh_polygon(read, (uint32_t)i, &count);
        if (count > 4)
            return stm_fail(err, TXM_STATUS_CORRUPT, "%s: face %zu has %u corners: only triangles and quads are read",
                            mesh->path, i, count);
        mesh->quad_count += count == 4;
    }
    mesh->triangle_count = mesh->polygon_count + mesh->quad_count;
    if (mesh->triangle_count > UINT32_MAX || (mesh->quad_count && mesh->polygon_count >> STM_POLYGON_BITS))
        return stm_fail(err, TXM_STATUS_CORRUPT, "%s: too many faces: %zu", mesh->path, mesh->polygon_count);
    mesh->corners = stm_calloc(mesh->triangle_count + 1, 3 * sizeof *mesh->corners);
    mesh->polygons = mesh->quad_count ? stm_calloc(mesh->triangle_count + 1, sizeof *mesh->polygons) : NULL;
    if (!mesh->corners || (mesh->quad_count && !mesh->polygons))
        return stm_no_memory(err, mesh->path);
    uint32_t *out = mesh->corners;
    for (size_t i = 0, triangle = 0; i < mesh->polygon_count; i++) {
        const uint32_t *corners = txm_mesh_polygon(read, (uint32_t)i, &count);
        for (size_t part = 0; part < count - 2; part++, triangle++, out += 3) {
            out[0] = corners[0];
            out[1] = corners[part + 1];
            out[2] = corners[part + 2];
            if (mesh->polygons)
                mesh->polygons[triangle] = (uint32_t)i | (count == 4 ? (uint32_t)(part + 1) << STM_POLYGON_BITS : 0);
        }
    }
    return TXM_OK;
}

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
txm_status stm_mesh_read(stm_scene_mesh *mesh, txm_error *err)
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
        status = take_polygons(mesh, read, err);
    txm_mesh_close(&read);
    return status;
}
