/* SPDX-License-Identifier: Apache-2.0
 *
 * The model of one .blend file: its data-blocks (IDs), images, node trees and libraries, in tables of plain structs.
 * Addresses are those in the file; all other references are indexes. Strings belong to the scene's store. Nothing
 * points into the file, so it can be closed after the scan; freeing a model frees its tables. Scanning fills it;
 * link.c joins the models of a scene and its libraries.
 */
#ifndef TXM_BLEND_MODEL_H
#define TXM_BLEND_MODEL_H
#include "mill/scene/blend/schema.h"
#include "mill/scene/scene.h"

enum { TXM_NO_INDEX = UINT32_MAX };

typedef struct txm_span {
    uint32_t begin, end;
} txm_span;

/* The kinds of data-blocks that matter here. */
typedef enum txm_role {
    TXM_ROLE_OTHER, /* links to others, as a collection does to the objects with its materials */
    TXM_ROLE_TREE,  /* owns a node tree or is one */
    TXM_ROLE_IMAGE,
    TXM_ROLE_LIBRARY,
    TXM_ROLE_SCENE,
    TXM_ROLE_ACTION,      /* animates properties, perhaps those of nodes */
    TXM_ROLE_PLACEHOLDER, /* represents a data-block of a library */
    TXM_ROLE_INTERFACE    /* windows and screens, which point to everything and use nothing */
} txm_role;
/* The role of a block by its code: "MA", "IM". */
txm_role txm_role_of(const char *code);

typedef struct txm_id {
    uint64_t address;
    const char *name; /* including its type: "MAwood" */
    uint64_t library; /* address of its library, 0 for local ones */
    txm_role role;
    bool reached;                 /* the scene uses it; set by link.c */
    uint32_t target_file, target; /* the file and the ID that a reached placeholder represents */
    uint32_t image, own_library;  /* indices into images, libraries */
    txm_span trees, edges;
} txm_id;

typedef struct txm_packed {
    uint64_t position, bytes; /* place in the stream */
    uint32_t tile;            /* UDIM number, 0 if none */
    const char *path;         /* the stored path; "" in files with one packed file per image */
} txm_packed;

typedef struct txm_image {
    uint32_t id;
    const char *path, *colorspace, *interop_id; /* the stored texts */
    int source, alpha_mode;                     /* alpha_mode -1: the version has none */
    bool ignore_alpha;                          /* a flag of old versions */
    bool has_tile_list;                         /* the version stores lists of tiles */
    bool is_packed;                             /* it points to a packed file, even if the file lacks its bytes */
    bool legacy_data;                           /* a node of an old version uses it as data */
    uint64_t overrides;                         /* address of the library's image that it overrides, 0 if none */
    bool own_path, own_alpha; /* properties that the override sets itself; all others come from the library */
    uint32_t in_scene;        /* index among the scene's images, TXM_NO_INDEX while unused */
    txm_span tiles, packed;
} txm_image;

typedef struct txm_node {
    uint64_t address, id; /* id: the data-block that it uses, 0 if none */
    const char *name, *idname;
    bool environment, legacy_data; /* legacy_data: color_space is "non-colour data" (before 2.80.66) */
    int extension, interpolation;
    txm_sequence_use frames;
} txm_node;

typedef struct txm_link {
    uint32_t from, to; /* indices into nodes */
    const char *from_socket, *to_socket;
    int to_type; /* socket type: 0 float, 1 vector, 2 colour, 3 shader; -1 unknown */
} txm_link;

typedef struct txm_tree {
    uint32_t id; /* the owner */
    txm_span nodes, links;
} txm_tree;

typedef struct txm_library {
    const char *path;        /* the stored path */
    uint64_t archive_parent; /* address of the library whose packed data-blocks it contains, 0 if none */
    txm_packed packed;       /* bytes 0: not packed */
    uint32_t scene_file;     /* index of its file in the scene, TXM_NO_INDEX until it is opened */
} txm_library;

typedef struct txm_model {
    txm_blend_layout format;
    int subversion;
    char working_space[64]; /* "" before 5.1 */
    bool has_to_xyz;
    float to_xyz[9]; /* CIE XYZ of the working space's red, green and blue */
    char compression[8];
    bool varies_frames;                /* an animation or a driver sets which frame of a sequence a node shows */
    TXM_TABLE(txm_frame_range) ranges; /* of its scenes */
    TXM_TABLE(txm_id) ids;
    uint32_t *by_address, *by_name; /* indices into ids, ordered */
    TXM_TABLE(txm_image) images;
    TXM_TABLE(uint32_t) tiles;
    TXM_TABLE(txm_packed) packed;
    TXM_TABLE(txm_tree) trees;
    TXM_TABLE(txm_node) nodes;
    TXM_TABLE(txm_link) links;
    TXM_TABLE(txm_library) libraries;
    TXM_TABLE(uint32_t) edges; /* indices into ids */
} txm_model;

/* Sort the IDs by address and by name, for lookup; called when the table is complete. false if memory is exhausted. */
bool txm_model_order_addresses(txm_model *model);
bool txm_model_order_names(txm_model *model);
/* The ID with a name that includes its type ("MAwood"), the file's own before placeholders; TXM_NO_INDEX if there is
 * none. */
uint32_t txm_model_named(const txm_model *model, const char *name);
/* The ID at an address; TXM_NO_INDEX if there is none. */
uint32_t txm_model_find(const txm_model *model, uint64_t address);
/* Frees the tables (strings belong to the store) and zeroes the model. */
void txm_model_free(txm_model *model);
#endif
