/* SPDX-License-Identifier: Apache-2.0
 *
 * Takes a .blend file apart into structs and blocks, and puts it together again in any layout: pointer size, byte
 * order, block heads, struct definitions. It shares no code with the reader, so that layouts which no available
 * Blender can write are tested with the content of others. Helpers abort the test on failure.
 */
#ifndef TESTS_UTIL_SCENE_FILE_H
#define TESTS_UTIL_SCENE_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct scene_field {
    char type[64], name[64]; /* "Image", "*next" */
} scene_field;

typedef struct scene_struct {
    char type[64];
    scene_field *fields;
    size_t count;
} scene_struct;

typedef struct scene_block {
    char code[5];
    char type[64]; /* "" for raw data */
    uint64_t address;
    uint8_t *data;
    size_t bytes;
} scene_block;

/* The layout in which it is written. */
typedef struct scene_layout {
    unsigned pointer_bytes;
    bool big_endian, large_heads; /* large_heads: the header and block heads of Blender 5 */
    int version;
    bool repeat_addresses; /* DATA blocks of every data-block have the same addresses */
} scene_layout;

typedef struct scene_file {
    scene_layout layout; /* of the blocks' data */
    scene_struct *structs;
    size_t struct_count;
    scene_block *blocks;
    size_t block_count;
} scene_file;

/* Parses a plain file (legacy header, little endian, 8-byte pointers). */
scene_file *scene_parse(const uint8_t *data, size_t bytes);
void scene_free(scene_file *file);

/* Converts to another layout, with the struct definitions of `structs` (NULL: its own): fields are matched by name, new
 * ones are zero. */
scene_file *scene_convert(const scene_file *from, scene_layout layout, const scene_file *structs);
/* A copy of only the struct definitions, which can be changed. */
scene_file *scene_definitions(const scene_file *from);
void scene_add_field(scene_file *definitions, const char *type, const char *field_type, const char *name);
/* Renames a field, which may change the length of its array ("name[66]" to "name[258]"). */
void scene_rename_field(scene_file *definitions, const char *type, const char *name, const char *new_name);

/* Drops the runs of data-blocks whose code is not in `codes` (separated by spaces), their blocks whose struct is not in
 * `types` (NULL: any; else raw data beyond 4 KiB is dropped too), and all definitions that are then unused. */
void scene_slim(scene_file *file, const char *codes, const char *types);

/* The first block with this code whose ID has this name; of any struct if name is NULL. */
scene_block *scene_find(scene_file *file, const char *code, const char *name);
/* A field of a block by path ("id.lib"): its bytes in the block's data. */
uint8_t *scene_at(const scene_file *file, scene_block *block, const char *path, size_t *bytes);
void scene_set_number(const scene_file *file, scene_block *block, const char *path, uint64_t value);
void scene_set_text(const scene_file *file, scene_block *block, const char *path, const char *text);
uint64_t scene_number(const scene_file *file, scene_block *block, const char *path);

/* The file's bytes. free() them. */
uint8_t *scene_encode(const scene_file *file, size_t *bytes);

/* Loads a .blend file that is plain or consists of zstd frames. free() it. */
uint8_t *scene_load(const char *path, size_t *bytes);
/* Compresses: one frame per `frame_bytes`, with a seek table on request; or as gzip. free() it. */
uint8_t *scene_zstd(const uint8_t *data, size_t bytes, size_t frame_bytes, bool seek_table, size_t *out_bytes);
uint8_t *scene_gzip(const uint8_t *data, size_t bytes, size_t *out_bytes);
#endif
