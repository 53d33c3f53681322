/* SPDX-License-Identifier: Apache-2.0
 * Sizes of the types in a scene_file, for the parts of util_scene_*. */
#ifndef TESTS_UTIL_SCENE_TYPES_H
#define TESTS_UTIL_SCENE_TYPES_H
#include "util_scene_file.h"

/* Integers of 1 to 8 bytes in either byte order. */
uint64_t scene_get(const uint8_t *p, size_t bytes, bool big);
void scene_set(uint8_t *p, size_t bytes, bool big, uint64_t v);

const scene_struct *scene_struct_of(const scene_file *f, const char *type); /* NULL if there is none */
size_t scene_basic_bytes(const char *type);                                 /* 0 for void and structs */
size_t scene_struct_bytes(const scene_file *f, const scene_struct *s);

/* About a field, from its name and its type; "mat[4][4]" has 16 elements. */
bool scene_is_pointer(const char *name);
size_t scene_element_bytes(const scene_file *f, const scene_field *field);
size_t scene_element_count(const char *name);
/* Whether two field names are the same except for stars and array lengths. */
bool scene_same_name(const char *a, const char *b);
#endif
