/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses SDNA: NAME (field names), TYPE (type names), TLEN (their sizes), STRC (structs of type and name pairs). SDNA
 * describes, in each file, all C structs of the Blender that wrote it. With it, fields can be found by name in files
 * of any version, with 32 or 64 bits and either byte order, so that nothing here depends on a version.
 *
 * The file may be hostile: every count and every string is checked against the block's end before it is used, and a
 * struct's size against the sum of its fields. After parsing, a lookup by name fails only if the name is absent.
 */
#include "mill/scene/blend/dna.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"

struct txm_dna {
    uint8_t *payload; /* names point into it */
    size_t bytes;
    bool exhausted; /* memory was exhausted while parsing */
    bool big_endian;
    unsigned pointer_bytes;
    uint32_t name_count, type_count, struct_count;
    const char **names, **types;
    const uint8_t *lengths; /* type_count x u16 */
    uint32_t *structs;      /* offset of each struct in the payload */
    uint8_t *pointers;      /* one per struct: whether it contains pointers */
};

/* The most levels of embedded structs: ID in Material is 1; real files reach 4. */
enum { MAX_NESTING = 16 };

/* ---- parsing -------------------------------------------------------------------------------------------------- */

typedef struct cursor {
    const txm_dna *dna;
    size_t at;
} cursor;

/* All reads use this; it fails beyond the end. */
static bool take_dna_bytes(cursor *c, size_t bytes, const uint8_t **out)
{
    if (bytes > c->dna->bytes - c->at)
        return false;
    *out = c->dna->payload + c->at;
    c->at += bytes;
    return true;
}

static bool take_u32(cursor *c, uint32_t *out)
{
    const uint8_t *p;
    if (!take_dna_bytes(c, 4, &p))
        return false;
    *out = (uint32_t)txm_load_uint(p, 4, c->dna->big_endian);
    return true;
}

/* Sections start at multiples of 4 in the payload. */
static bool take_tag(cursor *c, const char *tag)
{
    const uint8_t *p;
    size_t padding = -c->at & 3;
    return take_dna_bytes(c, padding, &p) && take_dna_bytes(c, 4, &p) && memcmp(p, tag, 4) == 0;
}

/* Strings stay in the payload, which the parsed DNA owns. */
static bool take_strings(cursor *c, txm_dna *dna, const char *tag, uint32_t *count, const char ***out)
{
    if (!take_tag(c, tag) || !take_u32(c, count) || *count > c->dna->bytes - c->at)
        return false; /* each string takes at least one byte */
    *out = txm_calloc(*count, sizeof **out);
    dna->exhausted |= !*out;
    for (uint32_t i = 0; *out && i < *count; i++) {
        const uint8_t *start = c->dna->payload + c->at;
        const uint8_t *nul = memchr(start, 0, c->dna->bytes - c->at);
        if (!nul)
            return false;
        (*out)[i] = (const char *)start;
        c->at += (size_t)(nul - start) + 1;
    }
    return *out != NULL;
}

static uint32_t u16_at(const txm_dna *dna, size_t at)
{
    return (uint32_t)txm_load_uint(dna->payload + at, 2, dna->big_endian);
}

/* Checks that every type and name of a struct exists, so that lookups need no checks. */
static bool take_structs(cursor *c, txm_dna *dna)
{
    const uint8_t *p;
    if (!take_tag(c, "STRC") || !take_u32(c, &dna->struct_count) || dna->struct_count > (dna->bytes - c->at) / 4)
        return false;
    dna->structs = txm_calloc(dna->struct_count, sizeof *dna->structs);
    dna->pointers = txm_calloc(dna->struct_count, 1);
    if (!dna->structs || !dna->pointers) {
        dna->exhausted = true;
        return false;
    }
    for (uint32_t i = 0; i < dna->struct_count; i++) {
        dna->structs[i] = (uint32_t)c->at;
        if (!take_dna_bytes(c, 4, &p))
            return false;
        uint32_t type = u16_at(dna, dna->structs[i]), fields = u16_at(dna, dna->structs[i] + 2);
        if (type >= dna->type_count || !take_dna_bytes(c, (size_t)fields * 4, &p))
            return false;
        for (uint32_t f = 0; f < fields; f++) {
            size_t at = dna->structs[i] + 4 + (size_t)f * 4;
            if (u16_at(dna, at) >= dna->type_count || u16_at(dna, at + 2) >= dna->name_count)
                return false;
        }
    }
    return true;
}

/* Names include the declarator: *next, mat[4], (*func)(). */
static bool is_pointer_name(const char *name)
{
    return name[0] == '*' || name[0] == '('; /* (*function)() */
}

/* Structs are usually defined before they are embedded, but this is not relied on: the loop repeats until nothing
 * changes, at most as often as structs can nest. */
static void mark_pointers(txm_dna *dna)
{
    uint32_t *struct_of = txm_calloc(dna->type_count, sizeof *struct_of);
    if (!struct_of) {
        memset(dna->pointers, 1, dna->struct_count); /* this costs only time: nothing is skipped */
        return;
    }
    memset(struct_of, 0xFF, dna->type_count * sizeof *struct_of);
    for (uint32_t i = 0; i < dna->struct_count; i++)
        struct_of[u16_at(dna, dna->structs[i])] = i;
    bool changed = true;
    for (int round = 0; changed && round < MAX_NESTING; round++) {
        changed = false;
        for (uint32_t i = 0; i < dna->struct_count; i++) {
            uint32_t fields = u16_at(dna, dna->structs[i] + 2);
            for (uint32_t f = 0; f < fields && !dna->pointers[i]; f++) {
                size_t at = dna->structs[i] + 4 + (size_t)f * 4;
                uint32_t inner = struct_of[u16_at(dna, at)];
                if (is_pointer_name(dna->names[u16_at(dna, at + 2)]) || (inner != TXM_DNA_NONE && dna->pointers[inner]))
                    dna->pointers[i] = changed = true;
            }
        }
    }
    free(struct_of);
}

txm_status txm_dna_parse(const txm_blend_layout *format, uint8_t *payload, size_t bytes, const char *name,
                         txm_dna **out, txm_error *err)
{
    txm_dna *dna = txm_calloc(1, sizeof *dna);
    if (!dna) {
        free(payload);
        return txm_no_memory(err, name);
    }
    dna->payload = payload;
    dna->bytes = bytes;
    dna->big_endian = format->big_endian;
    dna->pointer_bytes = format->pointer_bytes;
    /* All versions write the four parts in this order. */
    cursor c = {dna, 0};
    if (!take_tag(&c, "SDNA") || !take_strings(&c, dna, "NAME", &dna->name_count, &dna->names) ||
        !take_strings(&c, dna, "TYPE", &dna->type_count, &dna->types) || !take_tag(&c, "TLEN") ||
        !take_dna_bytes(&c, (size_t)dna->type_count * 2, &dna->lengths) || !take_structs(&c, dna)) {
        bool exhausted = dna->exhausted;
        txm_dna_free(&dna);
        return exhausted ? txm_no_memory(err, name)
                         : txm_fail(err, TXM_STATUS_CORRUPT, "%s: damaged struct definitions (DNA1 block)", name);
    }
    mark_pointers(dna);
    *out = dna;
    return TXM_OK;
}

void txm_dna_free(txm_dna **dna)
{
    if (dna && *dna) {
        free((*dna)->payload);
        free((*dna)->names);
        free((*dna)->types);
        free((*dna)->structs);
        free((*dna)->pointers);
        free(*dna);
        *dna = NULL;
    }
}

/* ---- lookup -------------------------------------------------------------------------------------------------- */

static uint32_t type_bytes(const txm_dna *dna, uint32_t type)
{
    return (uint32_t)txm_load_uint(dna->lengths + (size_t)type * 2, 2, dna->big_endian);
}

/* Searches by name without an index, because lookups happen once per file, not per block. */
uint32_t txm_dna_struct(const txm_dna *dna, const char *type)
{
    for (uint32_t i = 0; i < dna->struct_count; i++)
        if (strcmp(dna->types[u16_at(dna, dna->structs[i])], type) == 0)
            return i;
    return TXM_DNA_NONE;
}

uint32_t txm_dna_struct_bytes(const txm_dna *dna, uint32_t index)
{
    return index < dna->struct_count ? type_bytes(dna, u16_at(dna, dna->structs[index])) : 0;
}

bool txm_dna_has_pointers(const txm_dna *dna, uint32_t index)
{
    return index < dna->struct_count && dna->pointers[index];
}

/* The size of a field, saturating; "*next" is a pointer, "name[66]" and "mat[4][4]" are arrays. */
static uint64_t field_bytes(const txm_dna *dna, uint32_t type, const char *name)
{
    uint64_t bytes = is_pointer_name(name) ? dna->pointer_bytes : type_bytes(dna, type);
    for (const char *dimension = strchr(name, '['); dimension; dimension = strchr(dimension + 1, '[')) {
        bytes *= strtoul(dimension + 1, NULL, 10) & UINT16_MAX;
        if (bytes > UINT32_MAX)
            return UINT32_MAX;
    }
    return bytes;
}

txm_dna_field txm_dna_find(const txm_dna *dna, const char *type, const char *path)
{
    static const txm_dna_field absent = {0, 0, false};
    uint64_t offset = 0;
    for (int depth = 0; depth < MAX_NESTING; depth++) {
        uint32_t index = txm_dna_struct(dna, type);
        if (index == TXM_DNA_NONE)
            return absent;
        size_t wanted = strcspn(path, "."), at = dna->structs[index] + 4;
        uint32_t fields = u16_at(dna, at - 2), f = 0;
        for (; f < fields; f++, at += 4) {
            const char *name = dna->names[u16_at(dna, at + 2)];
            const char *plain = name + strspn(name, "*("); /* "*next", "name[66]" */
            if (strcspn(plain, "[)") == wanted && memcmp(plain, path, wanted) == 0)
                break;
            offset += field_bytes(dna, u16_at(dna, at), name);
        }
        if (f == fields || offset > UINT32_MAX)
            return absent;
        const char *name = dna->names[u16_at(dna, at + 2)];
        if (!path[wanted]) {
            return (txm_dna_field){(uint32_t)offset, (uint32_t)field_bytes(dna, u16_at(dna, at), name),
                                   is_pointer_name(name)};
        }
        if (is_pointer_name(name))
            return absent; /* the rest is in another block */
        type = dna->types[u16_at(dna, at)];
        path += wanted + 1;
    }
    return absent;
}
