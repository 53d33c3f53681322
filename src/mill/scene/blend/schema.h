/* SPDX-License-Identifier: Apache-2.0
 *
 * The few structs and fields that matter, and how to read them from a block's payload. A .blend file describes its own
 * structs (dna.h), whose layout depends on Blender's version and the machine that wrote it. The fields that txmill
 * reads are looked up by name once per file and numbered here: reading one is then a table access, and fields of newer
 * Blenders that a file lacks have defaults.
 */
#ifndef TXM_BLEND_SCHEMA_H
#define TXM_BLEND_SCHEMA_H
#include "mill/scene/blend/dna.h"
#include "mill/scene/store.h"

/* Structs that are read. */
typedef enum txm_kind {
    TXM_KIND_OTHER = 0, /* any other struct, or raw data */
    TXM_KIND_ID,
    TXM_KIND_TREE,
    TXM_KIND_NODE,
    TXM_KIND_TEX_IMAGE,
    TXM_KIND_TEX_ENVIRONMENT,
    TXM_KIND_LINK,
    TXM_KIND_SOCKET,
    TXM_KIND_OVERRIDE,
    TXM_KIND_OVERRIDDEN,
    TXM_KIND_IMAGE,
    TXM_KIND_TILE,
    TXM_KIND_IMAGE_PACKED,
    TXM_KIND_PACKED,
    TXM_KIND_LIBRARY,
    TXM_KIND_GLOBAL,
    TXM_KIND_SCENE,
    TXM_KIND_COUNT
} txm_kind;

/* Their fields; the table in schema.c has their names. */
typedef enum txm_field_id {
    TXM_ID_NAME,
    TXM_ID_LIB,
    TXM_ID_OVERRIDE,
    TXM_OVERRIDE_REFERENCE,
    TXM_OVERRIDE_PROPERTIES,
    TXM_OVERRIDDEN_NEXT,
    TXM_OVERRIDDEN_PATH,
    TXM_TREE_TYPE,
    TXM_TREE_NODES,
    TXM_TREE_LINKS,
    TXM_NODE_NEXT,
    TXM_NODE_NAME,
    TXM_NODE_IDNAME,
    TXM_NODE_TYPE,
    TXM_NODE_ID,
    TXM_NODE_STORAGE,
    TXM_TEX_IMAGE_EXTENSION,
    TXM_TEX_IMAGE_INTERPOLATION,
    TXM_TEX_IMAGE_COLOR_SPACE,
    TXM_TEX_IMAGE_FRAMES, /* the four fields of its ImageUser, in this order */
    TXM_TEX_IMAGE_START,
    TXM_TEX_IMAGE_OFFSET,
    TXM_TEX_IMAGE_CYCLIC,
    TXM_TEX_ENVIRONMENT_INTERPOLATION,
    TXM_TEX_ENVIRONMENT_COLOR_SPACE,
    TXM_TEX_ENVIRONMENT_FRAMES,
    TXM_TEX_ENVIRONMENT_START,
    TXM_TEX_ENVIRONMENT_OFFSET,
    TXM_TEX_ENVIRONMENT_CYCLIC,
    TXM_LINK_NEXT,
    TXM_LINK_FROM_NODE,
    TXM_LINK_TO_NODE,
    TXM_LINK_FROM_SOCKET,
    TXM_LINK_TO_SOCKET,
    TXM_SOCKET_IDENTIFIER,
    TXM_SOCKET_NAME,
    TXM_SOCKET_TYPE,
    TXM_IMAGE_PATH,
    TXM_IMAGE_SOURCE,
    TXM_IMAGE_FLAG,
    TXM_IMAGE_ALPHA_MODE,
    TXM_IMAGE_COLORSPACE,
    TXM_IMAGE_INTEROP_ID,
    TXM_IMAGE_TILES,
    TXM_IMAGE_PACKED_FILES,
    TXM_IMAGE_PACKED_FILE,
    TXM_TILE_NEXT,
    TXM_TILE_NUMBER,
    TXM_IMAGE_PACKED_NEXT,
    TXM_IMAGE_PACKED_FILE_OF,
    TXM_IMAGE_PACKED_TILE,
    TXM_IMAGE_PACKED_PATH,
    TXM_PACKED_SIZE,
    TXM_PACKED_DATA,
    TXM_LIBRARY_PATH,
    TXM_LIBRARY_PACKED_FILE,
    TXM_LIBRARY_ARCHIVE_PARENT,
    TXM_GLOBAL_SUBVERSION,
    TXM_GLOBAL_SCENE_LINEAR,
    TXM_GLOBAL_TO_XYZ,
    TXM_SCENE_FIRST,
    TXM_SCENE_LAST,
    TXM_SCENE_STEP,
    TXM_FIELD_COUNT
} txm_field_id;

typedef struct txm_schema {
    txm_blend_layout format;
    const txm_dna *dna; /* not owned */
    uint32_t structs[TXM_KIND_COUNT];
    txm_dna_field fields[TXM_FIELD_COUNT];
} txm_schema;

void txm_schema_init(txm_schema *schema, const txm_blend_layout *format, const txm_dna *dna);
/* The kind of a block with this struct index. */
txm_kind txm_schema_kind(const txm_schema *schema, uint32_t sdna);

/* The payload of a block, or the part that was read. */
typedef struct txm_record {
    const uint8_t *data;
    size_t bytes;
} txm_record;

/* A field's value as a signed integer; `fallback` if the file's version lacks the field or the block is too short. */
int64_t txm_record_integer(const txm_schema *schema, txm_record record, txm_field_id field, int64_t fallback);
bool txm_record_has(const txm_schema *schema, txm_record record, txm_field_id field);
/* An address; 0 if there is none. */
uint64_t txm_record_address(const txm_schema *schema, txm_record record, txm_field_id field);
/* An array of floats; false if the file lacks it or has another number of them. */
bool txm_record_floats(const txm_schema *schema, txm_record record, txm_field_id field, float *out, size_t count);
/* A text field as a string in the store ("" if absent); NULL if memory is exhausted. */
const char *txm_record_string(const txm_schema *schema, txm_record record, txm_field_id field, txm_store *store);
#endif
