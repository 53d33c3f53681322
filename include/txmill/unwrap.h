/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of a Ptex file and its mesh to a form that any renderer can show: pictures, and the mesh with texture
 * coordinates.
 *
 * The faces are packed into pages (txtile/ptex_pages.h), which are written as pictures to one folder, hero.1001.png,
 * hero.1002.png ..., as PNG for integers and EXR for floats. Blender loads them as the tiles of a UDIM image. A copy of
 * the mesh is written with a UV layer that refers to them. Pages can be converted to tx files like any other image
 * (convert.h, batch.h).
 *
 * Meshes are OBJ or PLY, as text or binary, whose polygons are the faces in the same order, or the one that a Ptex file
 * has in its metadata, which is written as OBJ. In a Ptex file of quads, a
 * polygon of n corners that is not a quad has n faces; it is written as n quads around a new vertex at its centre. They
 * can also be read for other purposes (txm_mesh_open).
 *
 * Each page stores its colours as its format requires: PNG with unassociated alpha, EXR with associated alpha.
 */
#ifndef TXMILL_UNWRAP_H
#define TXMILL_UNWRAP_H

#include <string.h>

#include "txmill/convert.h"
#include "txtile/export.h"
#include "txtile/ptex_pages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Options for unwrapping a mesh. */
typedef struct txm_unwrap_options {
    size_t struct_size;         /* set by txm_unwrap_options_init */
    const char *folder;         /* folder for pages and mesh, created if necessary; NULL: the Ptex file's folder */
    uint32_t page_px;           /* as in txm_ptex_pages_options */
    uint32_t padding_px;        /* as in txm_ptex_pages_options */
    unsigned threads;           /* 0: as many as this process may use */
    bool force;                 /* write even if the existing files were made from the same files and options */
    bool dry_run;               /* read both files and pack the faces, but write nothing */
    const volatile int *cancel; /* as in txm_context_options */
    /* Progress: rows of pages done so far, out of `rows`. Called from any thread; may be NULL. */
    void (*progress)(void *user, uint64_t rows_done, uint64_t rows);
    void *progress_user;
    bool no_claims; /* do not keep other processes from writing the same files at the same time */
} txm_unwrap_options;

/* Sets all options to their defaults. */
static inline void txm_unwrap_options_init(txm_unwrap_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* The result of unwrapping. */
typedef struct txm_unwrapped {
    txm_outcome outcome;  /* CREATED, UP_TO_DATE, WOULD_CREATE */
    char *mesh_path;      /* the new mesh */
    char *pattern;        /* path of the pages: "folder/hero.<UDIM>.png" */
    uint32_t polygons;    /* number of polygons of the mesh */
    uint32_t faces;       /* number of faces of the Ptex file */
    uint32_t edges;       /* edges across which the Ptex file has neighbours */
    uint32_t edges_apart; /* those of `edges` whose faces do not touch in the mesh */
    uint64_t page_bytes;  /* size of the pages' files, if they were written */
    txm_ptex_pages_info pages;
    double seconds; /* wall-clock time */
    uint64_t reserved[4];
} txm_unwrapped;

/* Unwraps the mesh, or the one in the Ptex file if mesh_path is NULL; `options` may be NULL. Pages and mesh appear
 * under their names once all are written, the mesh last. On failure, the previous files are kept and *result is zero.
 * Existing files with those names that txmill did not write, or that were changed since, are not replaced: USAGE. If
 * another process writes the same files, it waits. UNSUPPORTED for a mesh in another format or a Ptex file without one,
 * CORRUPT for a damaged one or one whose polygons are not the faces of the Ptex file; other errors as txm_ptex_open,
 * txm_ptex_pages_new and txm_ptex_page_read; CANCELLED, IO, DISK_FULL, DENIED, NO_MEMORY. Free the result with
 * txm_unwrapped_clear. */
TXM_API txm_status txm_unwrap_ptex(const char *ptex_path, const char *mesh_path, const txm_unwrap_options *options,
                                   txm_unwrapped *result, txm_error *err);
TXM_API void txm_unwrapped_clear(txm_unwrapped *result); /* NULL-safe; zeroes */

/* The path of a page, counted from 0; the caller frees it. NULL: no memory. */
TXM_API char *txm_unwrapped_page_path(const txm_unwrapped *result, uint32_t page);

/* ---- meshes --------------------------------------------------------------------------------------------------------
 */

/* A mesh as it was read from a file, whose numbers of vertices are all valid. */
typedef struct txm_mesh txm_mesh;

/* Reads an OBJ or PLY file, as its extension says, or the mesh in the metadata of a Ptex file. Polygons have any number
 * of corners. NOT_FOUND, NOT_A_FILE,
 * DENIED, UNSUPPORTED, CORRUPT, TOO_LARGE, NO_MEMORY. */
TXM_API txm_status txm_mesh_open(const char *path, txm_mesh **out, txm_error *err);
TXM_API void txm_mesh_close(txm_mesh **mesh); /* NULL-safe; sets *mesh to NULL */

TXM_API uint32_t txm_mesh_vertex_count(const txm_mesh *mesh);
TXM_API uint32_t txm_mesh_polygon_count(const txm_mesh *mesh);
/* The vertices at the corners of a polygon, and their number, which is 3 or more. */
TXM_API const uint32_t *txm_mesh_polygon(const txm_mesh *mesh, uint32_t polygon, uint32_t *corners);
/* Copies properties of the vertices, such as "x y z" or "u v": one number each, vertex by vertex. Numbers that are not
 * finite become 0. False if vertices lack one of them; `out` is unchanged then. Those of OBJ files have "x y z". */
TXM_API bool txm_mesh_values(const txm_mesh *mesh, const char *properties, float *out);
/* The name that a line "comment uv NUMBER NAME" in a PLY file gives to a UV map; "" if there is none. */
TXM_API const char *txm_mesh_map_name(const txm_mesh *mesh, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
