/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside a txm_blend: the files of a scene (itself and its libraries), and how its public tables are built from them.
 *
 * The room src/mill/scene finds out what a scene's render will look up, without Blender. cycles_xml and usd read scenes
 * that are not .blend files: into a list of nodes, of which nodes.c makes the same tables. For .blend files there is
 * more to do. The way of the data: stream (decompression) -> block (heads) -> dna and schema (where fields are) ->
 * scene_scan, scene_run and digest (one pass, what matters of it) -> link (libraries) -> settle and collect (images and
 * their users) -> expand (files on disk); examine is lint. Files may be hostile and of any version since 2.4: every
 * count and offset is checked, memory and steps are bounded. The public header is txmill/scene.h.
 */
#ifndef TXM_SCENE_SCENE_H
#define TXM_SCENE_SCENE_H
#include "mill/scene/model.h"
#include "txmill/scene.h"

/* One .blend file of the scene; the first is the scene itself. */
typedef struct txm_blend_file {
    const char *path, *folder; /* absolute */
    uint32_t library;          /* index into libraries, TXM_NO_INDEX for the scene itself */
    uint32_t inside;           /* packed libraries: the file that holds it, else TXM_NO_INDEX */
    txm_packed packed;         /* and where in there */
    txm_model model;           /* empty for libraries that could not be read */
} txm_blend_file;

/* A node that uses an image of the scene. */
typedef struct txm_blend_use {
    uint32_t file, id, tree, node; /* where the node is */
    uint32_t image_file, image;    /* where the image is */
} txm_blend_use;

struct txm_blend {
    txm_store store;
    txm_blend_colors colors;
    bool lint;
    const volatile int *cancel;
    txm_blend_info info;
    TXM_TABLE(txm_blend_file) files;
    TXM_TABLE(txm_blend_library) libraries;
    TXM_TABLE(txm_blend_use) uses;
    TXM_TABLE(txm_blend_image) images;
    TXM_TABLE(txm_blend_use) origins; /* image_file and image of each image */
    TXM_TABLE(txm_blend_user) users;
    TXM_TABLE(txm_blend_finding) findings;
};

enum {
    TXM_BLEND_MAX_FILES = 4096,
    TXM_BLEND_MAX_NESTING = 8, /* packed libraries inside packed libraries: each is copied out of all around it */
    TXM_BLEND_STORE_BYTES = 128 << 20
};

/* For every allocation in the scene's store that fails. */
txm_status txm_blend_exhausted(const txm_blend *blend, txm_error *err);

/* Opens the scene's file `path` (absolute) and all that it links: fills files, libraries and, in the models, what is
 * reached and what placeholders stand for. */
txm_status txm_blend_link(txm_blend *blend, const char *path, txm_error *err);

/* The stream of a file, opened again: of a packed library, a copy of its bytes in an unlinked temporary file. */
txm_status txm_blend_stream(const txm_blend *blend, uint32_t file, txm_stream **out, txm_error *err);

/* The ID that pointer `address` in a file leads to, over placeholders. False if it leads nowhere. */
bool txm_blend_follow(const txm_blend *blend, uint32_t *file, uint64_t address, uint32_t *id);

/* A path as files store it: "//" is the folder, `\` a slash. Absolute and normalised, in the store; NULL: exhausted. */
const char *txm_blend_path(txm_blend *blend, const char *stored, const char *folder);
/* The folder that `//` means for an ID: that of its library, for data-blocks packed from one. NULL: exhausted. */
const char *txm_blend_folder_of(txm_blend *blend, const txm_blend_file *file, const txm_id *id);

/* Fills uses, images, origins and users from what is reached. */
txm_status txm_blend_collect(txm_blend *blend, txm_error *err);

/* Path, colour space, alpha and tiles of an image with the fix-ups that Blender applies to files of its version. */
txm_status txm_blend_settle(txm_blend *blend, const txm_blend_file *file, const txm_image *image, txm_blend_image *out,
                            txm_error *err);
/* Finds the image's files on disk and decides its state. */
txm_status txm_blend_expand(txm_blend *blend, const txm_image *image, txm_blend_image *out, txm_error *err);
/* Names the packed files as Blender would. */
txm_status txm_blend_name_packed(txm_blend *blend, const txm_blend_file *file, const txm_image *image,
                                 txm_blend_image *out, txm_error *err);
/* Fills the findings. */
txm_status txm_blend_examine(txm_blend *blend, txm_error *err);

/* Whether a colour space is data, by the caller's config or by name. */
bool txm_blend_is_data(const txm_blend *blend, const char *colorspace);
#endif
