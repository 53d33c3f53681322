/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for what is kept of a scene, with one bound for all of it: names and tables are proportional to what the files
 * claim to hold, so a hostile file must not choose their size.
 */
#ifndef TXM_SCENE_SCENE_STORE_H
#define TXM_SCENE_SCENE_STORE_H
#include <stdbool.h>
#include <stddef.h>

typedef struct txm_store_chunk txm_store_chunk;

/* Zero-initialise, with the limit set. */
typedef struct txm_store {
    size_t limit_bytes, used_bytes;
    bool over_limit;         /* more was asked for; where an addition fails without it, memory was exhausted */
    txm_store_chunk *chunks; /* strings */
} txm_store;

/* A string of `n` bytes (no NUL within) that lives as long as the store; NULL when memory or the limit is exhausted. */
const char *txm_store_string(txm_store *store, const char *s, size_t n);
/* Frees the strings. Arrays are freed with free() by who grew them. */
void txm_store_free(txm_store *store);

/* Makes room for one more element after `count` in a growing array; false when memory or the limit is exhausted, the
 * array is unchanged then. The new element is zeroed. */
bool txm_store_grow(txm_store *store, void **array, size_t *capacity, size_t count, size_t element_bytes);

/* The new last element of a table that has the members data, count and capacity; NULL on exhaustion. */
#define TXM_STORE_ADD(store, table)                                                                                    \
    (txm_store_grow((store), (void **)&(table)->data, &(table)->capacity, (table)->count, sizeof *(table)->data)       \
         ? &(table)->data[(table)->count++]                                                                            \
         : NULL)
#endif
