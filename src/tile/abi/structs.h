/* SPDX-License-Identifier: Apache-2.0
 *
 * What may become of a struct of the public headers, from one release to the next. Each library has a list of its own,
 * STRUCTS(FIXED, SIZED, RETURNED), from which the compiler makes assertions and the table of sizes.
 *
 *  FIXED(TYPE, BYTES)  programs allocate it, alone, inside of another struct or in an array that they step over. It
 *                      keeps its size forever, because the library would read or write beyond the memory of a program
 *                      that was compiled before. Later members take the place of its reserved ones, or are in a new
 *                      struct.
 *  SIZED(TYPE)         begins with struct_size: members may be added at its end.
 *  RETURNED(TYPE)      only the library allocates it, and returns pointers to single ones: the same.
 */
#ifndef TXM_ABI_STRUCTS_H
#define TXM_ABI_STRUCTS_H
#include <stddef.h>
#include <string.h>

typedef struct txm_struct {
    const char *name;
    size_t bytes;
} txm_struct;

#define TXM_ASSERT_FIXED(type, size) _Static_assert(sizeof(type) == (size), "programs allocate " #type);
#define TXM_ASSERT_SIZED(type) _Static_assert(offsetof(type, struct_size) == 0, #type " does not begin with its size");
#define TXM_ASSERT_RETURNED(type)

#define TXM_ROW_FIXED(type, size) {#type, sizeof(type)},
#define TXM_ROW_SIZED(type) {#type, sizeof(type)},
#define TXM_ROW_RETURNED(type) {#type, sizeof(type)},

/* The size of the struct with this name; 0 if there is none. */
static inline size_t txm_struct_bytes(const txm_struct *all, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].bytes;
    return 0;
}
#endif
