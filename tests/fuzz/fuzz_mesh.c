/* SPDX-License-Identifier: Apache-2.0
 * Reads any bytes as a mesh of a Ptex file, compares it with a small Ptex file, and writes it. The first bytes decide
 * between OBJ and PLY, the last one between triangles and quads.
 *
 * Seeds: testdata/meshes/[pq]* testdata/cycles-tiles/meshes/q0.ply */
#include <stdlib.h>
#include <string.h>

#include "mill/unwrap/mesh.h"
#include "util_ptex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_FACES = 4096 };

/* Writes the mesh with the coordinates of a Ptex file that has as many faces. */
static void write_mesh(const txm_mesh *mesh)
{
    txm_ptex *ptex = NULL;
    txm_ptex_pages *pages = NULL;
    txm_error err = {0};
    uint64_t faces = 0;
    uint32_t edges, apart;
    size_t bytes;
    for (uint32_t i = 0; i < mesh->polygons; i++)
        faces += txm_mesh_is_cut(mesh, txm_mesh_corners_of(mesh, i)) ? txm_mesh_corners_of(mesh, i) : 1;
    uint8_t *file = faces <= MOST_FACES ? made_ptex((uint32_t)faces, NULL, mesh->quads, &bytes) : NULL;
    FILE *out = fopen("/dev/null", "w");
    if (file && out && txm_ptex_open_memory(file, bytes, "made", 0, &ptex, &err) == TXM_OK &&
        txm_ptex_pages_new(ptex, NULL, &pages, &err) == TXM_OK) {
        txm_mesh_file_judge(mesh, ptex, "made", &edges, &apart, &err);
        if (mesh->quads || 3 * faces == mesh->corner_count)
            mesh->format->write(mesh, pages, "mark", out, &err);
    }
    txm_ptex_pages_free(&pages);
    txm_ptex_close(&ptex);
    free(file);
    if (out)
        fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    txm_mesh mesh = {0};
    txm_error err = {0};
    const bool is_ply = size >= 3 && memcmp(data, "ply", 3) == 0, quads = size && !(data[size - 1] & 1);
    if (txm_mesh_file_parse(is_ply ? "a.ply" : "a.obj", data, size, quads, &mesh, &err) == TXM_OK)
        write_mesh(&mesh);
    else if (!err.message[0])
        abort(); /* every failure has a message */
    txm_mesh_file_close(&mesh);
    return 0;
}
