/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenes that are not .blend files: their readers list image nodes as Cycles would create them, and the images and
 * users of the scene are made from that list. Unlike in Blender scenes, a node's own colour space is part of the name
 * of the tx file whether or not the config has it, and "auto" is the node's alpha type of that name.
 */
#ifndef TXM_SCENE_NODES_H
#define TXM_SCENE_NODES_H
#include "mill/scene/scene.h"

/* Cycles gives every new image node this space, so it is that of nodes which name none. */
#define TXM_NODE_COLORSPACE "scene_linear"

/* Its strings are copied by the call that takes the node. */
typedef struct txm_image_node {
    const char *node, *owner, *owner_type, *library; /* as in txm_scene_user */
    const char *stored_path;                         /* the path in the file */
    const char *path;                                /* absolute, including a <UDIM> token; "" if it has none */
    const char *colorspace;                          /* the name that Cycles gets; if "", Cycles chooses by the file */
    txm_alpha alpha;
    bool environment, inside; /* inside: a part of another file, for which Cycles has no tx files */
    bool tiled;               /* the path has a token; without numbers, the tiles that exist are taken */
    const uint32_t *tiles;
    size_t tile_count;
    txm_extension extension;
    const char *interpolation; /* static */
    bool normal;               /* a node that bends normals uses its colour; known only with lint */
} txm_image_node;

enum { TXM_NODE_MAX_TILES = 10000 };

/* Convert Cycles' words for a node's settings; NULL and unknown words mean those of a new node. */
txm_alpha txm_node_alpha(const char *word);
txm_extension txm_node_extension(const char *word);
const char *txm_node_interpolation(const char *word);

typedef struct txm_node_entry {
    txm_scene_image image;
    txm_scene_user user;
    size_t tiles_begin; /* index into the scene's table */
    bool normal;        /* as in txm_image_node; readers may set it later */
} txm_node_entry;

/* Zero-initialise; free `entries.data`. */
typedef struct txm_node_list {
    TXM_TABLE(txm_node_entry) entries;
} txm_node_list;

/* Adds a node. TOO_LARGE, NO_MEMORY. */
txm_status txm_nodes_add(txm_scene *scene, txm_node_list *list, const txm_image_node *node, txm_error *err);
/* Makes the images and users of the scene from all nodes, and looks for the images' files. */
txm_status txm_nodes_collect(txm_scene *scene, txm_node_list *list, txm_error *err);

/* Adds a library of the scene with its message. TXM_OK: it was read. */
txm_status txm_nodes_add_library(txm_scene *scene, const char *path, const char *parent, txm_status status,
                                 const char *message, txm_error *err);
#endif
