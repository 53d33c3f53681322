/* SPDX-License-Identifier: Apache-2.0
 * Writes a scene_file. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "util_scene_types.h"

static void put(txm_bytes *b, uint64_t v, size_t bytes, bool big)
{
    uint8_t p[8];
    scene_set(p, bytes, big, v);
    ck_assert(txm_bytes_add(b, p, bytes));
}

/* ---- putting together ----------------------------------------------------------------------------------------- */

/* A list of distinct strings. */
typedef struct names {
    const char **data;
    size_t count;
} names;

static size_t number_of(names *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++) {
        if (strcmp(n->data[i], name) == 0) {
            return i;
        }
    }
    n->data = realloc(n->data, (n->count + 1) * sizeof *n->data);
    n->data[n->count] = name;
    return n->count++;
}

static void put_names(txm_bytes *b, const char *tag, const names *n, bool big)
{
    txm_bytes_add(b, tag, 4);
    put(b, n->count, 4, big);
    for (size_t i = 0; i < n->count; i++) {
        txm_bytes_add(b, n->data[i], strlen(n->data[i]) + 1);
    }
    txm_bytes_add(b, "\0\0\0", -b->size & 3);
}

static txm_bytes encode_definitions(const scene_file *f)
{
    names fields = {0}, types = {0};
    txm_bytes structs = {0}, b = {0};
    bool big = f->layout.big_endian;
    for (size_t i = 0; i < f->struct_count; i++) {
        const scene_struct *s = &f->structs[i];
        put(&structs, number_of(&types, s->type), 2, big);
        put(&structs, s->count, 2, big);
        for (size_t k = 0; k < s->count; k++) {
            put(&structs, number_of(&types, s->fields[k].type), 2, big);
            put(&structs, number_of(&fields, s->fields[k].name), 2, big);
        }
    }
    txm_bytes_puts(&b, "SDNA");
    put_names(&b, "NAME", &fields, big);
    put_names(&b, "TYPE", &types, big);
    txm_bytes_puts(&b, "TLEN");
    for (size_t i = 0; i < types.count; i++) {
        const scene_struct *s = scene_struct_of(f, types.data[i]);
        put(&b, s ? scene_struct_bytes(f, s) : scene_basic_bytes(types.data[i]), 2, big);
    }
    txm_bytes_add(&b, "\0\0\0", -b.size & 3);
    txm_bytes_puts(&b, "STRC");
    put(&b, f->struct_count, 4, big);
    txm_bytes_add(&b, structs.data, structs.size);
    txm_bytes_free(&structs);
    free(fields.data);
    free(types.data);
    return b;
}

static void put_block(txm_bytes *b, const scene_layout *l, const scene_block *block, size_t sdna)
{
    char code[4] = {block->code[0], block->code[1], block->code[2], block->code[3]};
    if (l->big_endian && !code[2]) { /* as an integer */
        code[2] = code[0];
        code[3] = code[1];
        code[0] = code[1] = 0;
    }
    txm_bytes_add(b, code, 4);
    if (l->large_heads) {
        put(b, sdna, 4, false);
        put(b, block->address, 8, false);
        put(b, block->bytes, 8, false);
        put(b, 1, 8, false);
    } else {
        put(b, block->bytes, 4, l->big_endian);
        put(b, block->address, l->pointer_bytes, l->big_endian);
        put(b, sdna, 4, l->big_endian);
        put(b, 1, 4, l->big_endian);
    }
    ck_assert(txm_bytes_add(b, block->data, block->bytes));
}

uint8_t *scene_encode(const scene_file *f, size_t *bytes)
{
    const scene_layout *l = &f->layout;
    txm_bytes b = {0}, dna = encode_definitions(f);
    if (l->large_heads) {
        txm_bytes_printf(&b, "BLENDER17-01v%04d", l->version);
    } else {
        txm_bytes_printf(&b, "BLENDER%c%c%03d", l->pointer_bytes == 4 ? '_' : '-', l->big_endian ? 'V' : 'v',
                         l->version);
    }
    for (size_t i = 0; i < f->block_count; i++) {
        const scene_struct *s = scene_struct_of(f, f->blocks[i].type);
        put_block(&b, l, &f->blocks[i], s ? (size_t)(s - f->structs) : 0);
    }
    put_block(&b, l, &(scene_block){.code = "DNA1", .data = (uint8_t *)dna.data, .bytes = dna.size}, 0);
    put_block(&b, l, &(scene_block){.code = "ENDB", .data = (uint8_t *)""}, 0);
    txm_bytes_free(&dna);
    *bytes = b.size;
    return (uint8_t *)b.data;
}
