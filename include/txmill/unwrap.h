/* SPDX-License-Identifier: Apache-2.0
 *
 * A Ptex file and its mesh, made into what any renderer can show: pictures, and the mesh with texture coordinates.
 *
 * The faces are packed into pages (txtile/ptex_pages.h), which are written as pictures beside each other,
 * hero.1001.png, hero.1002.png ..., PNG for integers and EXR for floats; Blender takes them as the tiles of a UDIM
 * image. The mesh is written once more with a UV layer that leads into them. Pages become tx files as other images do
 * (convert.h, batch.h).
 *
 * Meshes are OBJ or PLY, as text or binary, whose polygons are the faces in their order. In a Ptex file of quads, a
 * polygon of n corners that is not a quad has n faces; it is written as n quads round a new vertex in its middle.
 *
 * Each page holds its colours as its format has them: PNG with alpha unassociated, EXR with alpha associated.
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

/* How a mesh is unwrapped. */
typedef struct txm_unwrap_options {
    size_t struct_size;         /* set by txm_unwrap_options_init */
    const char *folder;         /* for pages and mesh, made if need be; NULL: that of the Ptex file */
    uint32_t page_px;           /* as in txm_ptex_pages_options */
    uint32_t padding_px;        /* as in txm_ptex_pages_options */
    unsigned threads;           /* 0: all that this process may use */
    bool force;                 /* write even if what is there is of the same files and options */
    bool dry_run;               /* read both files and pack the faces, write nothing */
    const volatile int *cancel; /* as in txm_context_options */
    /* Progress, may be NULL: rows of pages done so far of `rows`. Called from any thread. */
    void (*progress)(void *user, uint64_t rows_done, uint64_t rows);
    void *progress_user;
} txm_unwrap_options;

/* Opens options: every member asks for nothing in particular. */
static inline void txm_unwrap_options_init(txm_unwrap_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* What was made. */
typedef struct txm_unwrapped {
    txm_outcome outcome;  /* CREATED, UP_TO_DATE, WOULD_CREATE */
    char *mesh_path;      /* the new mesh */
    char *pattern;        /* of the pages: "folder/hero.<UDIM>.png" */
    uint32_t polygons;    /* of the mesh */
    uint32_t faces;       /* of the Ptex file */
    uint32_t edges;       /* that polygons share where the Ptex file has neighbours */
    uint32_t edges_apart; /* neighbours of the Ptex file that do not touch in the mesh */
    uint64_t page_bytes;  /* of the pages' files, where they were written */
    txm_ptex_pages_info pages;
    double seconds; /* wall */
    uint64_t reserved[4];
} txm_unwrapped;

/* `options` may be NULL. Pages and mesh appear under their names when all are written, the mesh last; on failure what
 * was there before stays, and *result is zero. Files of those names that txmill did not write are refused: USAGE.
 * UNSUPPORTED for a mesh in another format, CORRUPT for a damaged one and for one whose polygons are not the faces of
 * the Ptex file; as txm_ptex_open, txm_ptex_pages_new, txm_ptex_page_read; CANCELLED, IO, DISK_FULL, DENIED, NO_MEMORY.
 * Free the result with txm_unwrapped_clear. */
TXM_API txm_status txm_unwrap_ptex(const char *ptex_path, const char *mesh_path, const txm_unwrap_options *options,
                                   txm_unwrapped *result, txm_error *err);
TXM_API void txm_unwrapped_clear(txm_unwrapped *result); /* NULL-safe; zeroes */

/* The path of a page, from 0, of a pattern; the caller frees it. NULL: no memory. */
TXM_API char *txm_unwrapped_page_path(const txm_unwrapped *result, uint32_t page);

#ifdef __cplusplus
}
#endif
#endif
