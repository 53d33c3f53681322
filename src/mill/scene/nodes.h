/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenes that are not .blend files: what their readers find is a list of image nodes as Cycles would create them, and
 * from that list the images and users of the scene are made.
 *
 * Cycles takes nothing from a Blender scene here: a node's own colour space is part of the name of the tx file, whether
 * or not the config knows it, and "auto" means the node's alpha type of that name.
 */
#ifndef TXM_SCENE_NODES_H
#define TXM_SCENE_NODES_H
#include "mill/scene/scene.h"

/* Cycles gives every new image node this space; so a node that names none has it. */
#define TXM_NODE_COLORSPACE "scene_linear"

/* Strings need not outlive the call that takes the node. */
typedef struct txm_image_node {
    const char *node, *owner, *owner_type, *library; /* as in txm_blend_user */
    const char *stored_path;                         /* as in the file */
    const char *path;                                /* absolute, with its <UDIM> token; "" if it has none */
    const char *colorspace;                          /* as Cycles gets it; "" lets Cycles choose by the file */
    txm_alpha alpha;
    bool environment, inside; /* inside: a part of another file, which Cycles does not look tx files up for */
    bool tiled;               /* the path has a token; without numbers, the tiles that are there */
    const uint32_t *tiles;
    size_t tile_count;
    txm_extension extension;
    const char *interpolation; /* static */
} txm_image_node;

enum { TXM_NODE_MAX_TILES = 10000 };

/* What Cycles' words mean, as its nodes have them; NULL and other words are what a new node has. */
txm_alpha txm_node_alpha(const char *word);
txm_extension txm_node_extension(const char *word);
const char *txm_node_interpolation(const char *word);

typedef struct txm_node_entry {
    txm_blend_image image;
    txm_blend_user user;
    size_t tiles_begin; /* in the table of the scene's first file */
} txm_node_entry;

/* Zero-initialise; `entries.data` is to be freed. */
typedef struct txm_node_list {
    TXM_TABLE(txm_node_entry) entries;
} txm_node_list;

/* TOO_LARGE, NO_MEMORY. */
txm_status txm_nodes_add(txm_blend *blend, txm_node_list *list, const txm_image_node *node, txm_error *err);
/* Fills images and users of the scene from all nodes; looks for the images' files. */
txm_status txm_nodes_collect(txm_blend *blend, txm_node_list *list, txm_error *err);

/* A library of the scene, kept with its message. The status OK: it was read. */
txm_status txm_nodes_add_library(txm_blend *blend, const char *path, const char *parent, txm_status status,
                                 const char *message, txm_error *err);

/* The scene's own file, for messages; the first thing a reader does. */
txm_status txm_nodes_begin(txm_blend *blend, const char *path, const char *format, txm_error *err);

/* The readers: `path` is absolute. Each fills a scene. */
txm_status txm_blend_read_xml(txm_blend *blend, const char *path, txm_error *err);
txm_status txm_blend_read_usd(txm_blend *blend, const char *path, txm_error *err);
#endif
