/* SPDX-License-Identifier: Apache-2.0
 *
 * The room src/mill/unwrap gives the mesh of a Ptex file texture coordinates. It reads a Ptex file and a mesh, and
 * writes the pages that the faces are packed into, as pictures, and the mesh with a UV layer. unwrap.c runs the whole
 * conversion; mesh.c reads and checks meshes with mesh_obj.c and mesh_ply.c, which also write them; mesh_ptex.c finds
 * the mesh that a Ptex file contains; page_png.c and page_exr.c write pages row by row.
 *
 * A mesh is held as the corners of its polygons, in the order of the file. Allocations are bounded by the size of the
 * file, and everything in the arrays has been checked once the mesh is open.
 */
#ifndef TXM_UNWRAP_MESH_H
#define TXM_UNWRAP_MESH_H
#include <stdio.h>

#include "tile/terms/file_map.h"
#include "txmill/unwrap.h"

enum {
    MESH_MOST_MAPS = 64,       /* UV maps that have names */
    MESH_MOST_ITEMS = 1 << 30, /* most polygons, corners or vertices */
    MESH_MARK_BYTES = 40       /* hex digits in a mark */
};

/* The text before the key in the first lines of a mesh that txmill wrote. */
#define MESH_MARK "txmill mesh "

/* Vertices or normals of an OBJ file, and how many new ones are inserted between them. */
typedef struct mesh_points {
    uint32_t count, added;
    size_t capacity, before_capacity;
    double (*at)[3];
    uint32_t *before; /* number of points added before each point */
} mesh_points;

typedef struct ply_property {
    char name[64];
    uint8_t type, list; /* list: type of the count; 0: not a list */
    bool dropped;       /* not written, because it holds texture coordinates */
} ply_property;

typedef struct mesh_format {
    const char *extension;
    txm_status (*read)(txm_mesh *mesh, txm_error *err);
    /* Writes the mesh with the texture coordinates of the pages. The caller checks `out` for failed writes. */
    txm_status (*write)(const txm_mesh *mesh, const txm_ptex_pages *pages, const char *mark, FILE *out, txm_error *err);
} mesh_format;

extern const mesh_format txm_mesh_obj, txm_mesh_ply;

struct txm_mesh {
    const char *path;
    const mesh_format *format;
    txm_map map;
    char *text; /* NULL, or an OBJ file made from the metadata of a Ptex file */
    const uint8_t *data;
    size_t bytes;
    bool quads; /* the Ptex file has quads: other polygons are cut */
    uint32_t polygons, corner_count, vertices;
    size_t first_capacity, corner_capacity;
    uint32_t *first; /* index of each polygon's first corner, and the end of the last polygon */
    uint32_t *corners;
    mesh_points points, normals; /* OBJ only */
    ply_property *properties;    /* properties of a PLY's vertices */
    uint32_t property_count;
    double *values; /* values of a PLY's vertices, property by property */
    char *maps[MESH_MOST_MAPS];
};

/* Opens the mesh of a Ptex file of quads or triangles. NOT_FOUND, NOT_A_FILE, UNSUPPORTED, CORRUPT, NO_MEMORY ... */
txm_status txm_mesh_file_open(const char *path, bool quads, txm_mesh *mesh, txm_error *err);
/* Opens a mesh in memory, which still belongs to the caller; the extension of `path` selects the format. */
txm_status txm_mesh_file_parse(const char *path, const uint8_t *data, size_t bytes, bool quads, txm_mesh *mesh,
                               txm_error *err);
/* The mesh in the metadata of a Ptex file, as the text of an OBJ file, which the caller frees even after a failure.
 * UNSUPPORTED if there is none; CORRUPT, and as txm_ptex_open. */
txm_status txm_mesh_text_of_ptex(const char *path, char **text, size_t *bytes, txm_error *err);
void txm_mesh_file_close(txm_mesh *mesh);

/* Checks the mesh: CORRUPT if its polygons are not the faces of the Ptex file. *edges and *apart: see txm_unwrapped. */
txm_status txm_mesh_file_judge(const txm_mesh *mesh, const txm_ptex *ptex, const char *ptex_path, uint32_t *edges,
                               uint32_t *apart, txm_error *err);

/* Begins a polygon; txm_mesh_add_corner then adds its corners. */
txm_status txm_mesh_begin_polygon(txm_mesh *mesh, txm_error *err);
txm_status txm_mesh_add_corner(txm_mesh *mesh, uint32_t vertex, txm_error *err);

static inline uint32_t txm_mesh_corners_of(const txm_mesh *mesh, uint32_t polygon)
{
    return mesh->first[polygon + 1] - mesh->first[polygon];
}

/* Whether a polygon is cut into quads around its centre when it is written. */
static inline bool txm_mesh_is_cut(const txm_mesh *mesh, uint32_t corners)
{
    return mesh->quads && corners != 4;
}

/* The texture coordinates of a face's three or four corners. */
txm_status txm_mesh_uvs(const txm_mesh *mesh, const txm_ptex_pages *pages, uint32_t face, double out[4][2],
                        txm_error *err);
#endif
