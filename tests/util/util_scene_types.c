/* SPDX-License-Identifier: Apache-2.0
 * Sizes of the types in a scene_file. */
#include "util_scene_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers -------------------------------------------------------------------------------------------------- */

uint64_t scene_get(const uint8_t *p, size_t bytes, bool big)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++) {
        v |= (uint64_t)p[big ? bytes - 1 - i : i] << (8 * i);
    }
    return v;
}

void scene_set(uint8_t *p, size_t bytes, bool big, uint64_t v)
{
    for (size_t i = 0; i < bytes; i++) {
        p[big ? bytes - 1 - i : i] = (uint8_t)(v >> (8 * i));
    }
}

/* ---- types ---------------------------------------------------------------------------------------------------- */

const scene_struct *scene_struct_of(const scene_file *f, const char *type)
{
    /* Conversions call this a million times, and a sanitizer's strcmp is slow. */
    for (size_t i = 0; i < f->struct_count; i++) {
        const char *other = f->structs[i].type;
        if (other[0] == type[0] && other[0] && other[1] == type[1] && strcmp(other, type) == 0) {
            return &f->structs[i];
        }
    }
    return NULL;
}

size_t scene_basic_bytes(const char *type)
{
    static const struct {
        const char *type;
        size_t bytes;
    } types[] = {{"char", 1},  {"uchar", 1},  {"int8_t", 1}, {"short", 2}, {"ushort", 2},  {"int", 4},
                 {"float", 4}, {"double", 8}, {"long", 4},   {"ulong", 4}, {"int64_t", 8}, {"uint64_t", 8}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].type[0] == type[0] && strcmp(types[i].type, type) == 0) {
            return types[i].bytes;
        }
    }
    return 0; /* void, or a struct of which there are only pointers */
}

bool scene_is_pointer(const char *name)
{
    return name[0] == '*' || name[0] == '(';
}

size_t scene_element_bytes(const scene_file *f, const scene_field *field)
{
    if (scene_is_pointer(field->name)) {
        return f->layout.pointer_bytes;
    }
    const size_t basic = scene_basic_bytes(field->type);
    const scene_struct *s = basic ? NULL : scene_struct_of(f, field->type);
    return s ? scene_struct_bytes(f, s) : basic;
}

size_t scene_element_count(const char *name)
{
    size_t n = 1;
    for (const char *p = strchr(name, '['); p; p = strchr(p + 1, '[')) {
        n *= strtoul(p + 1, NULL, 10);
    }
    return n;
}

size_t scene_struct_bytes(const scene_file *f, const scene_struct *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        n += scene_element_bytes(f, &s->fields[i]) * scene_element_count(s->fields[i].name);
    }
    return n;
}

bool scene_same_name(const char *a, const char *b)
{
    a += strspn(a, "*(");
    b += strspn(b, "*(");
    size_t n = strcspn(a, "[)");
    return n == strcspn(b, "[)") && memcmp(a, b, n) == 0;
}
