/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a txm_scene, whatever its format: its public tables and their memory.
 *
 * This room finds the textures that a render of a scene will use, without Blender. Each row of format_table.h has a
 * reader that fills in a txm_scene. cycles_xml.c and usd.c list the nodes that use images, from which nodes.c makes the
 * tables; blend/ reads .blend files. files.c finds the images' files on disk. Files may be hostile: every count and
 * offset is checked, memory and steps are bounded. The public header is txmill/scene.h.
 */
#ifndef TXM_SCENE_SCENE_H
#define TXM_SCENE_SCENE_H
#include "mill/scene/store.h"
#include "txmill/scene.h"

/* A row of format_table.h: what the public struct shows, and what only this room needs. */
typedef struct txm_scene_reader {
    txm_scene_format shown;
    const char *normal, *data;
    txm_status (*read)(txm_scene *scene, const char *path, txm_error *err);
} txm_scene_reader;

/* How a node chooses the frame of a sequence: Blender's ImageUser. `known`: the file says it. */
typedef struct txm_sequence_use {
    int32_t frames, start, offset;
    bool cyclic, known;
} txm_sequence_use;

struct txm_scene {
    const txm_scene_reader *reader;
    txm_store store;
    txm_scene_options options; /* as given */
    txm_scene_info info;       /* the path is known from the start */
    TXM_TABLE(txm_scene_library) libraries;
    TXM_TABLE(txm_scene_image) images;
    TXM_TABLE(uint32_t) tiles; /* of nodes.c */
    TXM_TABLE(txm_scene_user) users;
    TXM_TABLE(txm_sequence_use) frames; /* one per user; .blend files only */
    bool varies_frames;                 /* something animates them */
    TXM_TABLE(txm_scene_finding) findings;
    struct txm_blend *blend; /* what only .blend files have (blend/blend.h); else NULL */
};

enum {
    TXM_SCENE_MAX_FILES = 4096, /* the scene and its libraries */
    TXM_SCENE_STORE_BYTES = 128 << 20
};

/* The readers. `path` is absolute. */
#define SCENE_FORMAT(id, noun, extensions, mark, begins, normal, data, read)                                           \
    txm_status read(txm_scene *scene, const char *path, txm_error *err);
#include "mill/scene/format_table.h"
#undef SCENE_FORMAT

/* Reports that an allocation in the scene's store failed. */
txm_status txm_scene_exhausted(const txm_scene *scene, txm_error *err);
/* A copy of a text that lives as long as the scene; NULL if memory or its limit is exhausted. */
const char *txm_scene_keep(txm_scene *scene, const char *text);

/* The bytes at the start of a stored path that Blender keeps as they are: backslashes before a server or "?". */
size_t txm_scene_server_bytes(const char *stored);
/* Resolves a path as .blend files store it, in which "//" is the folder and `\` a separator. The result is absolute,
 * normalised and in the store; NULL if that is exhausted. */
const char *txm_scene_path(txm_scene *scene, const char *stored, const char *folder);
/* Finds the image's files on disk and decides its state. `is_packed`: it is inside a file of the scene. */
txm_status txm_scene_expand(txm_scene *scene, bool is_packed, txm_scene_image *out, txm_error *err);

/* Whether a colour space is data, by the caller's config or by name. */
bool txm_scene_is_data(const txm_scene *scene, const char *colorspace);
/* What findings call the colour space of an image. */
const char *txm_scene_space_shown(const txm_scene_image *image);
/* Adds a finding of lint. Takes ownership of the message; false if memory is exhausted. */
bool txm_scene_add_finding(txm_scene *scene, const char *id, size_t image, char *message);
/* Adds the finding that an image in a colour space is used for normals. */
bool txm_scene_report_normal(txm_scene *scene, size_t image);
#endif
