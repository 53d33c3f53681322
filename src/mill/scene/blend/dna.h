/* SPDX-License-Identifier: Apache-2.0
 *
 * Struct definitions (SDNA): every .blend file describes the structs in it. Fields are looked up by name, since their
 * offsets change with version, pointer size and platform. The definitions are in the payload of the DNA1 block, which
 * is not trusted and is checked while it is parsed.
 */
#ifndef TXM_BLEND_DNA_H
#define TXM_BLEND_DNA_H
#include "mill/scene/blend/block.h"

typedef struct txm_dna txm_dna;

typedef struct txm_dna_field {
    uint32_t offset, bytes; /* place in the struct; bytes is 0 if the struct lacks the field */
    bool is_pointer;
} txm_dna_field;

enum { TXM_DNA_MAX_BYTES = 4 << 20 }; /* real ones take 50 to 200 KiB */

/* Parses the payload of a DNA1 block, which was allocated with malloc and is consumed in every case. Takes the payload
 * and at most 8 times its size for tables. `name` is for messages. CORRUPT, NO_MEMORY. */
txm_status txm_dna_parse(const txm_blend_layout *format, uint8_t *payload, size_t bytes, const char *name,
                         txm_dna **out, txm_error *err);
void txm_dna_free(txm_dna **dna); /* NULL-safe; sets *dna to NULL */

enum { TXM_DNA_NONE = UINT32_MAX };
/* Index of a struct, as in block heads; TXM_DNA_NONE if the file does not define it. */
uint32_t txm_dna_struct(const txm_dna *dna, const char *type);
/* Size of a struct in bytes. */
uint32_t txm_dna_struct_bytes(const txm_dna *dna, uint32_t index);
/* Whether the struct, or one embedded in it, contains a pointer. */
bool txm_dna_has_pointers(const txm_dna *dna, uint32_t index);

/* Looks up a field: "nodes.first" is a member of an embedded struct. Names of fields are without `*` and `[n]`. */
txm_dna_field txm_dna_find(const txm_dna *dna, const char *type, const char *path);
#endif
