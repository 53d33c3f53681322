/* SPDX-License-Identifier: Apache-2.0
 *
 * Struct definitions (SDNA): every .blend file describes the structs that it holds. Fields are looked up by name, since
 * their places change with every version, pointer size and platform.
 *
 * In: the payload of the DNA1 block, which comes from anybody and is checked as it is parsed. Out: for a struct
 * and a field by their names, the place, size and kind of the field in blocks of this file.
 */
#ifndef TXM_SCENE_DNA_H
#define TXM_SCENE_DNA_H
#include "mill/scene/block.h"

typedef struct txm_dna txm_dna;

typedef struct txm_dna_field {
    uint32_t offset, bytes; /* in the struct; bytes 0: the struct has no such field */
    bool is_pointer;
} txm_dna_field;

enum { TXM_DNA_MAX_BYTES = 4 << 20 }; /* real ones take 50 to 200 KiB */

/* Parses the payload of a DNA1 block, which is consumed in every case (allocated with malloc). Memory: the payload and
 * at most 8 times its size for the tables. CORRUPT, NO_MEMORY. `name` is for messages. */
txm_status txm_dna_parse(const txm_blend_format *format, uint8_t *payload, size_t bytes, const char *name,
                         txm_dna **out, txm_error *err);
void txm_dna_free(txm_dna **dna); /* NULL-safe; sets *dna to NULL */

enum { TXM_DNA_NONE = UINT32_MAX };
/* Index of a struct, as in block heads; TXM_DNA_NONE if the file does not know it. */
uint32_t txm_dna_struct(const txm_dna *dna, const char *type);
uint32_t txm_dna_struct_count(const txm_dna *dna);
/* Size of a struct in bytes. */
uint32_t txm_dna_struct_bytes(const txm_dna *dna, uint32_t index);
/* Whether the struct, or one inside it, holds a pointer. */
bool txm_dna_has_pointers(const txm_dna *dna, uint32_t index);

/* Looks a field up: "nodes.first" goes into embedded structs. Field names are without `*` and `[n]`. */
txm_dna_field txm_dna_find(const txm_dna *dna, const char *type, const char *path);
#endif
