/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for the model of a scene, with one limit for all of it: names and tables are as large as the files claim, so
 * a hostile file must not decide their size.
 */
#ifndef TXM_SCENE_STORE_H
#define TXM_SCENE_STORE_H
#include <stdbool.h>
#include <stddef.h>

typedef struct txm_store_chunk txm_store_chunk;

/* Zero-initialise, then set the limit. */
typedef struct txm_store {
    size_t limit_bytes, used_bytes;
    bool over_limit;         /* the limit was exceeded; if an addition fails without it, memory was exhausted */
    txm_store_chunk *chunks; /* strings */
} txm_store;

/* A copy of a string of `n` bytes (without NUL) that lives as long as the store; NULL if memory or the limit is
 * exhausted. */
const char *txm_store_string(txm_store *store, const char *s, size_t n);
/* Frees the strings. Arrays are freed with free() by the code that grew them. */
void txm_store_free(txm_store *store);

/* Makes room for one more element after `count` in a growing array, and zeroes it. false if memory or the limit is
 * exhausted; the array is then unchanged. */
bool txm_store_grow(txm_store *store, void **array, size_t *capacity, size_t count, size_t element_bytes);

/* A growing array for TXM_STORE_ADD. */
#define TXM_TABLE(type)                                                                                                \
    struct {                                                                                                           \
        type *data;                                                                                                    \
        size_t count, capacity;                                                                                        \
    }

/* Appends an element to a table that has the members data, count and capacity; NULL if memory or the limit is
 * exhausted. */
#define TXM_STORE_ADD(store, table)                                                                                    \
    (txm_store_grow((store), (void **)&(table)->data, &(table)->capacity, (table)->count, sizeof *(table)->data)       \
         ? &(table)->data[(table)->count++]                                                                            \
         : NULL)
#endif
