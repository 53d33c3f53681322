/* SPDX-License-Identifier: Apache-2.0
 * Takes a .blend file apart and puts it together again. */
#include "util_scene_file.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util_scene_types.h"

/* ---- taking apart --------------------------------------------------------------------------------------------- */

static const char **parse_names(const uint8_t **p, const char *tag, uint32_t *count)
{
    ck_assert(memcmp(*p, tag, 4) == 0);
    *count = (uint32_t)scene_get(*p + 4, 4, false);
    const uint8_t *start = *p, *at = *p + 8;
    const char **names = calloc(*count, sizeof *names);
    for (uint32_t i = 0; i < *count; i++) {
        names[i] = (const char *)at;
        at += strlen((const char *)at) + 1;
    }
    *p = at + (-(at - start) & 3);
    return names;
}

static void parse_definitions(scene_file *f, const uint8_t *p)
{
    uint32_t name_count, type_count;
    ck_assert(memcmp(p, "SDNA", 4) == 0);
    p += 4;
    const char **names = parse_names(&p, "NAME", &name_count), **types = parse_names(&p, "TYPE", &type_count);
    ck_assert(memcmp(p, "TLEN", 4) == 0);
    const uint8_t *lengths = p + 4;
    p += 4 + type_count * 2;
    p += type_count % 2 ? 2 : 0;
    ck_assert(memcmp(p, "STRC", 4) == 0);
    f->struct_count = scene_get(p + 4, 4, false);
    f->structs = calloc(f->struct_count, sizeof *f->structs);
    p += 8;
    for (size_t i = 0; i < f->struct_count; i++) {
        scene_struct *s = &f->structs[i];
        snprintf(s->type, sizeof s->type, "%s", types[scene_get(p, 2, false)]);
        s->count = scene_get(p + 2, 2, false);
        s->fields = calloc(s->count, sizeof *s->fields);
        p += 4;
        for (size_t k = 0; k < s->count; k++, p += 4) {
            snprintf(s->fields[k].type, 64, "%s", types[scene_get(p, 2, false)]);
            snprintf(s->fields[k].name, 64, "%s", names[scene_get(p + 2, 2, false)]);
        }
    }
    for (uint32_t i = 0; i < type_count; i++) { /* the sizes that this file computes must be Blender's */
        const scene_struct *s = scene_struct_of(f, types[i]);
        ck_assert(!s || scene_struct_bytes(f, s) == scene_get(lengths + 2 * i, 2, false));
    }
    free(names);
    free(types);
}

scene_file *scene_parse(const uint8_t *data, size_t bytes)
{
    scene_file *f = calloc(1, sizeof *f);
    ck_assert(bytes > 36 && memcmp(data, "BLENDER-v", 9) == 0);
    f->layout.pointer_bytes = 8;
    f->layout.version = (data[9] - '0') * 100 + (data[10] - '0') * 10 + data[11] - '0';
    uint32_t *indices = NULL;
    for (size_t at = 12; at + 24 <= bytes;) {
        scene_block b = {.address = scene_get(data + at + 8, 8, false), .bytes = scene_get(data + at + 4, 4, false)};
        memcpy(b.code, data + at, 4);
        if (strcmp(b.code, "ENDB") == 0) {
            break;
        }
        ck_assert_uint_le(at + 24 + b.bytes, bytes);
        if (strcmp(b.code, "DNA1") == 0) {
            parse_definitions(f, data + at + 24);
        } else {
            f->blocks = realloc(f->blocks, (f->block_count + 1) * sizeof *f->blocks);
            indices = realloc(indices, (f->block_count + 1) * sizeof *indices);
            b.data = malloc(b.bytes ? b.bytes : 1);
            memcpy(b.data, data + at + 24, b.bytes);
            indices[f->block_count] = (uint32_t)scene_get(data + at + 16, 4, false);
            f->blocks[f->block_count++] = b;
        }
        at += 24 + b.bytes;
    }
    ck_assert_uint_gt(f->struct_count, 0);
    for (size_t i = 0; i < f->block_count; i++) {
        ck_assert_uint_lt(indices[i], f->struct_count);
        strcpy(f->blocks[i].type, indices[i] ? f->structs[indices[i]].type : ""); /* struct 0 is raw data */
    }
    free(indices);
    return f;
}

void scene_free(scene_file *f)
{
    for (size_t i = 0; i < f->struct_count; i++) {
        free(f->structs[i].fields);
    }
    for (size_t i = 0; i < f->block_count; i++) {
        free(f->blocks[i].data);
    }
    free(f->structs);
    free(f->blocks);
    free(f);
}

/* ---- converting ----------------------------------------------------------------------------------------------- */

static int compare_addresses(const void *a, const void *b)
{
    uint64_t l = *(const uint64_t *)a, r = *(const uint64_t *)b;
    return l < r ? -1 : l > r;
}

/* All addresses in order; the index of an address is its short form. */
typedef struct addresses {
    uint64_t *sorted;
    size_t count;
} addresses;

static addresses collect_addresses(const scene_file *f)
{
    addresses a = {calloc(f->block_count + 1, sizeof *a.sorted), f->block_count};
    for (size_t i = 0; i < f->block_count; i++) {
        a.sorted[i] = f->blocks[i].address;
    }
    qsort(a.sorted, a.count, sizeof *a.sorted, compare_addresses);
    return a;
}

typedef struct conversion {
    const scene_file *from, *to;
    addresses known;
    size_t run_begin, run_end; /* the blocks of the data-block that is converted */
} conversion;

/* The address in the new file; 0 for invalid ones, if they need to become shorter. */
static uint64_t map_address(const conversion *c, uint64_t address)
{
    const addresses *a = &c->known;
    for (size_t i = c->run_begin + 1; c->to->layout.repeat_addresses && address && i < c->run_end; i++) {
        if (c->from->blocks[i].address == address) {
            return 0x00100000u + 16 * (uint64_t)(i - c->run_begin);
        }
    }
    if (c->to->layout.pointer_bytes == 8) {
        return address;
    }
    const uint64_t *found = bsearch(&address, a->sorted, a->count, sizeof *a->sorted, compare_addresses);
    if (!address || !found) {
        return 0;
    }
    while (found > a->sorted && found[-1] == address) {
        found--; /* addresses may repeat */
    }
    return 0x08000000u + 16 * (uint64_t)(found - a->sorted);
}

static void convert_struct(const conversion *c, const scene_struct *from, const scene_struct *to, const uint8_t *src,
                           uint8_t *dst);

static void convert_field(const conversion *c, const scene_field *from, const scene_field *to, const uint8_t *src,
                          uint8_t *dst)
{
    size_t from_count = scene_element_count(from->name), to_count = scene_element_count(to->name);
    size_t n = from_count < to_count ? from_count : to_count;
    size_t from_bytes = scene_element_bytes(c->from, from), to_bytes = scene_element_bytes(c->to, to);
    bool from_big = c->from->layout.big_endian, to_big = c->to->layout.big_endian;
    const scene_struct *from_struct = scene_struct_of(c->from, from->type),
                       *to_struct = scene_struct_of(c->to, to->type);
    for (size_t i = 0; i < n; i++, src += from_bytes, dst += to_bytes) {
        if (scene_is_pointer(to->name)) {
            uint64_t address = scene_get(src, from_bytes, from_big);
            scene_set(dst, to_bytes, to_big, map_address(c, address));
        } else if (from_struct && to_struct) {
            convert_struct(c, from_struct, to_struct, src, dst);
        } else {
            scene_set(dst, to_bytes, to_big, scene_get(src, from_bytes, from_big));
        }
    }
}

static void convert_struct(const conversion *c, const scene_struct *from, const scene_struct *to, const uint8_t *src,
                           uint8_t *dst)
{
    for (size_t t = 0; t < to->count; t++) {
        const uint8_t *at = src;
        for (size_t f = 0; f < from->count; f++) {
            if (scene_same_name(from->fields[f].name, to->fields[t].name)) {
                convert_field(c, &from->fields[f], &to->fields[t], at, dst);
                break;
            }
            at += scene_element_bytes(c->from, &from->fields[f]) * scene_element_count(from->fields[f].name);
        }
        dst += scene_element_bytes(c->to, &to->fields[t]) * scene_element_count(to->fields[t].name);
    }
}

/* Raw data are an array of pointers if every word is 0 or a known address, and at least one is not 0. */
static bool is_pointer_array(const addresses *known, const scene_block *b)
{
    bool any = false;
    for (size_t i = 0; i + 8 <= b->bytes; i += 8) {
        uint64_t word = scene_get(b->data + i, 8, false);
        if (word && !bsearch(&word, known->sorted, known->count, sizeof word, compare_addresses)) {
            return false;
        }
        any |= word != 0;
    }
    return any && b->bytes % 8 == 0;
}

static scene_block convert_block(const conversion *c, const scene_block *b)
{
    scene_block out = *b;
    unsigned pointer_bytes = c->to->layout.pointer_bytes;
    const scene_struct *from = scene_struct_of(c->from, b->type), *to = scene_struct_of(c->to, b->type);
    out.address = map_address(c, b->address);
    if (from && to) {
        size_t from_bytes = scene_struct_bytes(c->from, from), to_bytes = scene_struct_bytes(c->to, to),
               n = b->bytes / from_bytes;
        out.bytes = n * to_bytes;
        out.data = calloc(1, out.bytes + 1);
        for (size_t i = 0; i < n; i++) {
            convert_struct(c, from, to, b->data + i * from_bytes, out.data + i * to_bytes);
        }
    } else if (is_pointer_array(&c->known, b)) {
        out.bytes = b->bytes / 8 * pointer_bytes;
        out.data = calloc(1, out.bytes + 1);
        for (size_t i = 0; i < b->bytes / 8; i++) {
            uint64_t address = map_address(c, scene_get(b->data + 8 * i, 8, false));
            scene_set(out.data + i * pointer_bytes, pointer_bytes, c->to->layout.big_endian, address);
        }
    } else {
        out.data = malloc(b->bytes + 1);
        memcpy(out.data, b->data, b->bytes);
    }
    return out;
}

scene_file *scene_definitions(const scene_file *from)
{
    scene_file *f = calloc(1, sizeof *f);
    f->layout = from->layout;
    f->struct_count = from->struct_count;
    f->structs = calloc(f->struct_count, sizeof *f->structs);
    for (size_t i = 0; i < f->struct_count; i++) {
        f->structs[i] = from->structs[i];
        f->structs[i].fields = calloc(from->structs[i].count + 4, sizeof *f->structs[i].fields);
        memcpy(f->structs[i].fields, from->structs[i].fields, from->structs[i].count * sizeof(scene_field));
    }
    return f;
}

scene_file *scene_convert(const scene_file *from, scene_layout layout, const scene_file *structs)
{
    scene_file *to = scene_definitions(structs ? structs : from);
    to->layout = layout;
    conversion c = {from, to, collect_addresses(from), 0, 0};
    to->block_count = from->block_count;
    to->blocks = calloc(to->block_count, sizeof *to->blocks);
    for (size_t i = 0; i < to->block_count; i++) {
        if (i >= c.run_end) {
            c.run_begin = i;
            for (c.run_end = i + 1; c.run_end < to->block_count && !strcmp(from->blocks[c.run_end].code, "DATA");) {
                c.run_end++;
            }
        }
        to->blocks[i] = convert_block(&c, &from->blocks[i]);
    }
    free(c.known.sorted);
    return to;
}

void scene_add_field(scene_file *definitions, const char *type, const char *field_type, const char *name)
{
    scene_struct *s = (scene_struct *)scene_struct_of(definitions, type);
    ck_assert_ptr_nonnull(s);
    scene_field *f = &s->fields[s->count++]; /* scene_definitions left room for four */
    snprintf(f->type, sizeof f->type, "%s", field_type);
    snprintf(f->name, sizeof f->name, "%s", name);
}

void scene_rename_field(scene_file *definitions, const char *type, const char *name, const char *new_name)
{
    scene_struct *s = (scene_struct *)scene_struct_of(definitions, type);
    ck_assert_ptr_nonnull(s);
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->fields[i].name, name) == 0) {
            snprintf(s->fields[i].name, sizeof s->fields[i].name, "%s", new_name);
            return;
        }
    }
    ck_abort_msg("%s has no %s", type, name);
}

/* ---- slimming ------------------------------------------------------------------------------------------------- */

static bool is_in(const char *codes, const char *code)
{
    for (const char *p = codes; (p = strstr(p, code)); p++) {
        if ((p == codes || p[-1] == ' ') && (p[strlen(code)] == ' ' || !p[strlen(code)])) {
            return true;
        }
    }
    return false;
}

static void need(scene_file *f, bool *needed, const char *type)
{
    const scene_struct *s = scene_struct_of(f, type);
    if (!s || needed[s - f->structs]) {
        return;
    }
    needed[s - f->structs] = true;
    for (size_t i = 0; i < s->count; i++) {
        if (!scene_is_pointer(s->fields[i].name)) {
            need(f, needed, s->fields[i].type);
        }
    }
}

void scene_slim(scene_file *f, const char *codes, const char *types)
{
    bool keep = false, *needed = calloc(f->struct_count, 1);
    size_t blocks = 0, structs = 1; /* struct 0 is kept, because its number means raw data */
    for (size_t i = 0; i < f->block_count; i++) {
        scene_block *b = &f->blocks[i];
        keep = strcmp(b->code, "DATA") ? is_in(codes, b->code) : keep;
        bool wanted = !types || (*b->type ? is_in(types, b->type) : b->bytes <= 4096);
        if (keep && wanted) {
            need(f, needed, b->type);
            f->blocks[blocks++] = *b;
        } else {
            free(b->data);
        }
    }
    f->block_count = blocks;
    for (size_t i = 1; i < f->struct_count; i++) {
        if (needed[i]) {
            f->structs[structs++] = f->structs[i];
        } else {
            free(f->structs[i].fields);
        }
    }
    f->struct_count = structs;
    free(needed);
}

/* ---- fields --------------------------------------------------------------------------------------------------- */

uint8_t *scene_at(const scene_file *f, scene_block *block, const char *path, size_t *bytes)
{
    const scene_struct *s = scene_struct_of(f, block->type);
    uint8_t *at = block->data;
    for (;;) {
        ck_assert_ptr_nonnull(s);
        char part[64];
        snprintf(part, sizeof part, "%.*s", (int)strcspn(path, "."), path);
        size_t i = 0;
        for (; i < s->count && !scene_same_name(s->fields[i].name, part); i++) {
            at += scene_element_bytes(f, &s->fields[i]) * scene_element_count(s->fields[i].name);
        }
        ck_assert_msg(i < s->count, "%s has no %s", s->type, part);
        path += strlen(part);
        if (!*path) {
            *bytes = scene_element_bytes(f, &s->fields[i]) * scene_element_count(s->fields[i].name);
            return at;
        }
        path++;
        s = scene_struct_of(f, s->fields[i].type);
    }
}

void scene_set_number(const scene_file *f, scene_block *block, const char *path, uint64_t value)
{
    size_t bytes;
    uint8_t *at = scene_at(f, block, path, &bytes);
    ck_assert_uint_le(bytes, 8);
    scene_set(at, bytes, f->layout.big_endian, value);
}

uint64_t scene_number(const scene_file *f, scene_block *block, const char *path)
{
    size_t bytes;
    const uint8_t *at = scene_at(f, block, path, &bytes);
    ck_assert_uint_le(bytes, 8);
    return scene_get(at, bytes, f->layout.big_endian);
}

void scene_set_text(const scene_file *f, scene_block *block, const char *path, const char *text)
{
    size_t bytes;
    uint8_t *at = scene_at(f, block, path, &bytes);
    ck_assert_uint_lt(strlen(text), bytes);
    memset(at, 0, bytes);
    memcpy(at, text, strlen(text));
}

scene_block *scene_find(scene_file *f, const char *code, const char *name)
{
    for (size_t i = 0; i < f->block_count; i++) {
        scene_block *b = &f->blocks[i];
        size_t bytes;
        if (strcmp(b->code, code) == 0 &&
            (!name || strcmp((char *)scene_at(f, b, strcmp(code, "ID") ? "id.name" : "name", &bytes), name) == 0)) {
            return b;
        }
    }
    ck_abort_msg("no block %s %s", code, name ? name : "");
    return NULL;
}
