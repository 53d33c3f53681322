/* SPDX-License-Identifier: Apache-2.0
 *
 * .blend files: the scene's and those of its libraries, from which the tables of a txm_scene are made.
 *
 * The stages are stream (decompression) -> block (heads) -> dna and schema (where fields are) -> walk, scan and digest
 * (one pass that keeps what matters in a model) -> link (libraries) -> settle (what settings mean in a file's version)
 * -> unpack (names of packed files); examine is lint. Files may be of any version since 2.4.
 */
#ifndef TXM_BLEND_BLEND_H
#define TXM_BLEND_BLEND_H
#include "mill/scene/blend/model.h"
#include "mill/scene/scene.h"

typedef struct txm_blend_file {
    const char *path, *folder; /* absolute */
    uint32_t library;          /* index into libraries, TXM_NO_INDEX for the scene itself */
    uint32_t inside;           /* the file that contains a packed library, else TXM_NO_INDEX */
    txm_packed packed;         /* its place in that file */
    txm_model model;           /* empty if the library could not be read */
} txm_blend_file;

/* A node that uses an image of the scene. */
typedef struct txm_blend_use {
    uint32_t file, id, tree, node; /* place of the node */
    uint32_t image_file, image;    /* place of the image */
} txm_blend_use;

typedef struct txm_blend {
    TXM_TABLE(txm_blend_file) files; /* the first one is the scene itself */
    TXM_TABLE(txm_blend_use) uses;
    TXM_TABLE(txm_blend_use) origins; /* image_file and image of each image */
} txm_blend;

enum {
    TXM_BLEND_MAX_NESTING = 8
}; /* depth of libraries packed in libraries: each is extracted through all outer ones */

/* Frees scene->blend, which may be NULL. */
void txm_blend_free(txm_scene *scene);

/* Opens the scene's file `path` (absolute) and all files that it links: fills in files, libraries and, in the models,
 * what is reached and what placeholders represent. */
txm_status txm_blend_link(txm_scene *scene, const char *path, txm_error *err);
/* Opens the stream of a file again; for a packed library, that of a copy in an unlinked temporary file. */
txm_status txm_blend_stream(const txm_blend *blend, uint32_t file, txm_stream **out, txm_error *err);
/* Follows pointer `address` in a file to an ID, through placeholders. false if it leads nowhere. */
bool txm_blend_follow(const txm_blend *blend, uint32_t *file, uint64_t address, uint32_t *id);

/* Fills in path, colour space, alpha and tiles of an image, with the changes that Blender makes when it opens files of
 * this version. */
txm_status txm_blend_settle(txm_scene *scene, const txm_blend_file *file, const txm_image *image, txm_scene_image *out,
                            txm_error *err);
/* Names the packed files as Blender would. */
txm_status txm_blend_name_packed(txm_scene *scene, const txm_blend_file *file, const txm_image *image,
                                 txm_scene_image *out, txm_error *err);
/* Writes the packed bytes to `fd`; with `same`, compares them with what can be read there instead, up to the first
 * difference. A message about fd is "SUBJECT: FAILURE: why". */
txm_status txm_packed_pour(txm_stream *stream, const txm_packed *packed, int fd, bool *same, const char *subject,
                           const char *failure, txm_error *err);
/* Fills in the findings. */
txm_status txm_blend_examine(txm_scene *scene, txm_error *err);
#endif
