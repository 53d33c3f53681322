/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a txm_scene: the files of a scene (itself and its libraries), from which its public tables are built.
 *
 * This folder finds the textures that a render of a scene will use, without Blender. cycles_xml and usd read other
 * scenes into a list of nodes, from which nodes.c makes the tables. .blend files go through more stages: stream
 * (decompression) -> block (heads) -> dna and schema (where fields are) -> scene_scan, scene_run and digest (one pass
 * that keeps what matters) -> link (libraries) -> settle and collect (images and their users) -> expand (files on
 * disk); examine is lint. Files may be hostile and of any version since 2.4: every count and offset is checked, memory
 * and steps are bounded. The public header is txmill/scene.h.
 */
#ifndef TXM_SCENE_SCENE_H
#define TXM_SCENE_SCENE_H
#include "mill/scene/model.h"
#include "txmill/scene.h"

/* One .blend file of the scene; the first one is the scene itself. */
typedef struct txm_scene_file {
    const char *path, *folder; /* absolute */
    uint32_t library;          /* index into libraries, TXM_NO_INDEX for the scene itself */
    uint32_t inside;           /* the file that contains a packed library, else TXM_NO_INDEX */
    txm_packed packed;         /* its place in that file */
    txm_model model;           /* empty if the library could not be read */
} txm_scene_file;

/* A node that uses an image of the scene. */
typedef struct txm_scene_use {
    uint32_t file, id, tree, node; /* place of the node */
    uint32_t image_file, image;    /* place of the image */
} txm_scene_use;

struct txm_scene {
    txm_store store;
    txm_scene_colors colors;
    const char *(*opened)(void *user, const char *name, const char *interop_id);
    bool lint;
    const volatile int *cancel;
    bool every_variant; /* these three as in txm_scene_options */
    const txm_path_map *maps;
    size_t map_count;
    txm_scene_info info;
    TXM_TABLE(txm_scene_file) files;
    TXM_TABLE(txm_scene_library) libraries;
    TXM_TABLE(txm_scene_use) uses;
    TXM_TABLE(txm_scene_image) images;
    TXM_TABLE(txm_scene_use) origins; /* image_file and image of each image */
    TXM_TABLE(txm_scene_user) users;
    TXM_TABLE(txm_scene_finding) findings;
};

enum {
    TXM_SCENE_MAX_FILES = 4096,
    TXM_SCENE_MAX_NESTING = 8, /* depth of libraries packed in libraries: each is extracted through all outer ones */
    TXM_SCENE_STORE_BYTES = 128 << 20
};

/* Reports that an allocation in the scene's store failed. */
txm_status txm_scene_exhausted(const txm_scene *blend, txm_error *err);

/* Reads a .blend file; the readers of other formats are in nodes.h. */
txm_status txm_scene_read_blend(txm_scene *blend, const char *path, txm_error *err);

/* Opens the scene's file `path` (absolute) and all files that it links: fills in files, libraries and, in the models,
 * what is reached and what placeholders represent. */
txm_status txm_scene_link(txm_scene *blend, const char *path, txm_error *err);

/* Opens the stream of a file again; for a packed library, that of a copy in an unlinked temporary file. */
txm_status txm_scene_stream(const txm_scene *blend, uint32_t file, txm_stream **out, txm_error *err);

/* Follows pointer `address` in a file to an ID, through placeholders. false if it leads nowhere. */
bool txm_scene_follow(const txm_scene *blend, uint32_t *file, uint64_t address, uint32_t *id);

/* The bytes at the start of a stored path that Blender keeps as they are: backslashes before a server or "?". */
size_t txm_scene_server_bytes(const char *stored);
/* Resolves a path as files store it, in which "//" is the folder and `\` a separator. The result is absolute,
 * normalised and in the store; NULL if that is exhausted. */
const char *txm_scene_path(txm_scene *blend, const char *stored, const char *folder);
/* The folder that `//` means for an ID; for packed data-blocks, that of the library from which they came. NULL if the
 * store is exhausted. */
const char *txm_scene_folder_of(txm_scene *blend, const txm_scene_file *file, const txm_id *id);

/* Fills in uses, images, origins and users from what is reached. */
txm_status txm_scene_collect(txm_scene *blend, txm_error *err);

/* Fills in path, colour space, alpha and tiles of an image, with the changes that Blender makes when it opens files of
 * this version. */
txm_status txm_scene_settle(txm_scene *blend, const txm_scene_file *file, const txm_image *image, txm_scene_image *out,
                            txm_error *err);
/* Finds the image's files on disk and decides its state. */
txm_status txm_scene_expand(txm_scene *blend, const txm_image *image, txm_scene_image *out, txm_error *err);
/* Names the packed files as Blender would. */
txm_status txm_scene_name_packed(txm_scene *blend, const txm_scene_file *file, const txm_image *image,
                                 txm_scene_image *out, txm_error *err);
/* Adds the finding that an image in a colour space is used for normals. False if memory is exhausted. */
bool txm_scene_report_normal(txm_scene *blend, size_t image);
/* Fills in the findings. */
txm_status txm_scene_examine(txm_scene *blend, txm_error *err);

/* Whether a colour space is data, by the caller's config or by name. */
bool txm_scene_is_data(const txm_scene *blend, const char *colorspace);
#endif
