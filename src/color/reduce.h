/* SPDX-License-Identifier: Apache-2.0
 *
 * Configs that are newer than the library: what textures do not need is taken out of the YAML text before loading.
 */
#ifndef TXM_COLOR_REDUCE_H
#define TXM_COLOR_REDUCE_H
#include <stdbool.h>
#include <stddef.h>

#include "txmill/status.h"

/* A colour space that the config has and the library cannot be given. All strings are owned. */
typedef struct txm_color_missing {
    char *name, *family, *description, *reason;
    char **aliases; /* NULL-terminated, NULL if none */
    size_t before;  /* how many spaces that the library was given come before it */
} txm_color_missing;

typedef struct txm_color_missing_list {
    txm_color_missing *items;
    size_t count, capacity;
} txm_color_missing_list;

/* Adds a zeroed entry; NULL when memory is exhausted. */
txm_color_missing *txm_color_missing_add(txm_color_missing_list *list);
void txm_color_missing_free(txm_color_missing_list *list); /* NULL-safe; frees the items and zeroes the list */
#endif
