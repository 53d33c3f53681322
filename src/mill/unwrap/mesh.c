/* SPDX-License-Identifier: Apache-2.0
 *
 * Meshes of Ptex files: they are opened with the format that their extension names, or taken from a Ptex file's
 * metadata, and checked against the Ptex file.
 *
 * Ptex relies on the order of polygons. A mesh whose polygons were sorted, merged or cut after it was painted no longer
 * has that order. If the number of faces has changed, this is an error. If it has not, some faces that are neighbours
 * in the Ptex file do not touch in the mesh, and these are counted.
 */
#include "mill/unwrap/mesh.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"

/* ---- polygons ---------------------------------------------------------------------------------------------------- */

static txm_status too_many(const txm_mesh *mesh, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: more than %d corners", mesh->path, MESH_MOST_ITEMS);
}

txm_status txm_mesh_begin_polygon(txm_mesh *mesh, txm_error *err)
{
    if (mesh->polygons >= MESH_MOST_ITEMS)
        return too_many(mesh, err);
    if (!TXM_GROW(mesh->first, mesh->first_capacity, (size_t)mesh->polygons + 1))
        return txm_no_memory(err, mesh->path);
    mesh->first[mesh->polygons++] = mesh->corner_count;
    mesh->first[mesh->polygons] = mesh->corner_count;
    return TXM_OK;
}

txm_status txm_mesh_add_corner(txm_mesh *mesh, uint32_t vertex, txm_error *err)
{
    if (mesh->corner_count >= MESH_MOST_ITEMS)
        return too_many(mesh, err);
    if (!TXM_GROW(mesh->corners, mesh->corner_capacity, mesh->corner_count))
        return txm_no_memory(err, mesh->path);
    mesh->corners[mesh->corner_count++] = vertex;
    mesh->first[mesh->polygons] = mesh->corner_count;
    return TXM_OK;
}

txm_status txm_mesh_uvs(const txm_mesh *mesh, const txm_ptex_pages *pages, uint32_t face, double out[4][2],
                        txm_error *err)
{
    const txm_status status = txm_ptex_place_corners(pages, face, out, err);
    if (!mesh->quads)
        memcpy(out[2], out[3], sizeof out[2]);
    return status;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static txm_status check_corners(const txm_mesh *mesh, txm_error *err)
{
    for (uint32_t i = 0; i < mesh->polygons; i++) {
        if (txm_mesh_corners_of(mesh, i) < 3)
            return txm_fail(err, TXM_STATUS_CORRUPT, "%s: polygon %u has %u corners", mesh->path, i,
                            txm_mesh_corners_of(mesh, i));
        for (uint32_t k = mesh->first[i]; k < mesh->first[i + 1]; k++)
            if (mesh->corners[k] >= mesh->vertices)
                return txm_fail(err, TXM_STATUS_CORRUPT, "%s: polygon %u has a corner at vertex %u of %u", mesh->path,
                                i, mesh->corners[k], mesh->vertices);
    }
    return TXM_OK;
}

txm_status txm_mesh_file_parse(const char *path, const uint8_t *data, size_t bytes, bool quads, txm_mesh *mesh,
                               txm_error *err)
{
    mesh->path = path;
    mesh->quads = quads;
    mesh->data = data;
    mesh->bytes = bytes;
    mesh->format = mesh->text || txm_path_has_ext(path, "obj") ? &txm_mesh_obj
                   : txm_path_has_ext(path, "ply")             ? &txm_mesh_ply
                                                               : NULL;
    if (!mesh->format && bytes >= 4 && memcmp(data, "ply", 3) == 0)
        mesh->format = &txm_mesh_ply;
    if (!mesh->format)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: meshes are OBJ or PLY files, with the extension .obj or .ply",
                        path);
    txm_status status = mesh->format->read(mesh, err);
    return status == TXM_OK ? check_corners(mesh, err) : status;
}

/* Opens without blocking, because a FIFO of that name would otherwise hang the program, and accepts regular files only,
 * because the number of bytes to map must be known. */
txm_status txm_mesh_file_open(const char *path, bool quads, txm_mesh *mesh, txm_error *err)
{
    struct stat s;
    *mesh = (txm_mesh){.path = path};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int error = fd < 0 ? errno : fstat(fd, &s) ? errno : 0;
    txm_status status = TXM_OK;
    if (error)
        status = txm_fail_errno(err, error, "%s: cannot open the mesh", path);
    else if (!S_ISREG(s.st_mode))
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: the mesh is not a regular file", path);
    else if (s.st_size == 0)
        status = txm_fail(err, TXM_STATUS_CORRUPT, "%s: the file is empty", path);
    else if ((error = txm_map_open(&mesh->map, fd, (size_t)s.st_size)))
        status = txm_fail_errno(err, error, "%s: cannot map", path);
    if (fd >= 0)
        close(fd);
    const bool is_ptex = status == TXM_OK && mesh->map.bytes >= 4 && memcmp(mesh->map.data, "Ptex", 4) == 0;
    size_t bytes = 0;
    if (is_ptex) {
        txm_map_close(&mesh->map);
        status = txm_mesh_text_of_ptex(path, &mesh->text, &bytes, err);
    }
    if (status == TXM_OK)
        status = txm_mesh_file_parse(path, is_ptex ? (const uint8_t *)mesh->text : mesh->map.data,
                                     is_ptex ? bytes : mesh->map.bytes, quads, mesh, err);
    return status != TXM_OK && err && txm_explain_pointer(path, err) ? err->status : status;
}

void txm_mesh_file_close(txm_mesh *mesh)
{
    if (mesh->map.data)
        txm_map_close(&mesh->map);
    free(mesh->text);
    free(mesh->first);
    free(mesh->corners);
    free(mesh->points.at);
    free(mesh->points.before);
    free(mesh->normals.at);
    free(mesh->normals.before);
    free(mesh->properties);
    free(mesh->values);
    for (int i = 0; i < MESH_MOST_MAPS; i++)
        free(mesh->maps[i]);
    *mesh = (txm_mesh){0};
}

/* ---- for others -------------------------------------------------------------------------------------------------- */

txm_status txm_mesh_open(const char *path, txm_mesh **out, txm_error *err)
{
    txm_error_clear(err);
    txm_mesh *mesh = txm_calloc(1, sizeof *mesh);
    txm_status status = mesh ? txm_mesh_file_open(path, false, mesh, err) : txm_no_memory(err, path);
    if (status != TXM_OK)
        txm_mesh_close(&mesh);
    *out = mesh;
    return status;
}

void txm_mesh_close(txm_mesh **mesh)
{
    if (mesh && *mesh) {
        txm_mesh_file_close(*mesh);
        free(*mesh);
        *mesh = NULL;
    }
}

uint32_t txm_mesh_vertex_count(const txm_mesh *mesh)
{
    return mesh->vertices;
}

uint32_t txm_mesh_polygon_count(const txm_mesh *mesh)
{
    return mesh->polygons;
}

const uint32_t *txm_mesh_polygon(const txm_mesh *mesh, uint32_t polygon, uint32_t *corners)
{
    *corners = txm_mesh_corners_of(mesh, polygon);
    return mesh->corners + mesh->first[polygon];
}

bool txm_mesh_values(const txm_mesh *mesh, const char *properties, float *out)
{
    const double *from[8];
    const size_t stride = mesh->values ? mesh->property_count : 3;
    size_t count = 0;
    for (size_t n; *properties; properties += n + (properties[n] == ' ')) {
        const double *found = NULL;
        n = strcspn(properties, " ");
        for (uint32_t i = 0; mesh->values && i < mesh->property_count; i++)
            if (strlen(mesh->properties[i].name) == n && strncmp(mesh->properties[i].name, properties, n) == 0)
                found = mesh->values + i;
        if (mesh->points.at && n == 1 && *properties >= 'x' && *properties <= 'z')
            found = mesh->points.at[0] + (*properties - 'x');
        if (!found || count == sizeof from / sizeof *from)
            return false;
        from[count++] = found;
    }
    for (size_t i = 0; i < mesh->vertices; i++)
        for (size_t k = 0; k < count; k++) {
            const float value = (float)from[k][i * stride];
            *out++ = isfinite(value) ? value : 0.0f;
        }
    return true;
}

const char *txm_mesh_map_name(const txm_mesh *mesh, uint32_t number)
{
    return number < MESH_MOST_MAPS && mesh->maps[number] ? mesh->maps[number] : "";
}

/* ---- judging ----------------------------------------------------------------------------------------------------- */

/* Checks that subfaces are parts of polygons and whole faces are quads. A mesh with one polygon for each face passes,
 * since it may already have been cut into subfaces. */
static txm_status compare_kinds(const txm_mesh *mesh, const txm_ptex *ptex, const char *ptex_path, txm_error *err)
{
    uint32_t face = 0;
    if (mesh->polygons == txm_ptex_info_of(ptex)->faces)
        return TXM_OK;
    for (uint32_t i = 0; i < mesh->polygons; i++) {
        const uint32_t corners = txm_mesh_corners_of(mesh, i), count = corners == 4 ? 1 : corners;
        for (uint32_t k = 0; k < count; k++, face++) {
            const bool is_sub = txm_ptex_face_of(ptex, face)->flags & TXM_PTEX_SUBFACE;
            if (is_sub != (corners != 4))
                return txm_fail(err, TXM_STATUS_CORRUPT,
                                "%s: polygon %u has %u corners, but face %u of %s is %s: the polygons are in a "
                                "different order than when it was painted",
                                mesh->path, i, corners, face, ptex_path,
                                is_sub ? "a part of a polygon that is not a quad" : "a whole quad");
        }
    }
    return TXM_OK;
}

/* The two vertices of an edge of a face; edge 0 lies between corners 0 and 1. */
static void edge_of(const txm_mesh *mesh, uint32_t face, unsigned edge, uint32_t out[2])
{
    const uint32_t n = mesh->quads ? 4 : 3;
    const uint32_t *corners = mesh->corners + (size_t)face * n;
    out[0] = corners[edge % n];
    out[1] = corners[(edge + 1) % n];
}

/* Counts neighbours that do not touch, in meshes that have one polygon for each face. */
static void count_edges(const txm_mesh *mesh, const txm_ptex *ptex, uint32_t *edges, uint32_t *apart)
{
    const txm_ptex_info *info = txm_ptex_info_of(ptex);
    if (mesh->polygons != info->faces)
        return;
    for (uint32_t i = 0; i < info->faces; i++)
        for (unsigned e = 0; e < (mesh->quads ? 4 : 3); e++) {
            const txm_ptex_face *face = txm_ptex_face_of(ptex, i);
            uint32_t own[2], other[2];
            if (face->neighbours[e] < 0 ||
                (face->flags ^ txm_ptex_face_of(ptex, (uint32_t)face->neighbours[e])->flags) & TXM_PTEX_SUBFACE)
                continue;
            edge_of(mesh, i, e, own);
            edge_of(mesh, (uint32_t)face->neighbours[e], txm_ptex_edge(face, e), other);
            ++*edges;
            *apart += own[0] != other[1] || own[1] != other[0];
        }
}

txm_status txm_mesh_file_judge(const txm_mesh *mesh, const txm_ptex *ptex, const char *ptex_path, uint32_t *edges,
                               uint32_t *apart, txm_error *err)
{
    const txm_ptex_info *info = txm_ptex_info_of(ptex);
    uint64_t faces = 0;
    uint32_t others = 0;
    *edges = *apart = 0;
    if (!mesh->polygons)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: the mesh has no polygons", mesh->path);
    for (uint32_t i = 0; i < mesh->polygons; i++) {
        const uint32_t corners = txm_mesh_corners_of(mesh, i);
        if (!mesh->quads && corners != 3)
            return txm_fail(err, TXM_STATUS_CORRUPT,
                            "%s: polygon %u has %u corners, but the faces of %s are triangles: give the mesh of "
                            "triangles that it was painted on",
                            mesh->path, i, corners, ptex_path);
        faces += mesh->quads && corners != 4 ? corners : 1;
        others += corners != 4;
    }
    if (faces != info->faces)
        return txm_fail(err, TXM_STATUS_CORRUPT,
                        "%s has %u polygons%s, which are %llu faces of Ptex, but %s has %u: it is another mesh, or "
                        "its polygons were merged or cut since it was painted",
                        mesh->path, mesh->polygons, mesh->quads && others ? ", not all of them quads" : "",
                        (unsigned long long)faces, ptex_path, info->faces);
    txm_status status = mesh->quads ? compare_kinds(mesh, ptex, ptex_path, err) : TXM_OK;
    if (status == TXM_OK)
        count_edges(mesh, ptex, edges, apart);
    return status;
}
