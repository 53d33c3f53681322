/* SPDX-License-Identifier: Apache-2.0
 *
 * Configs that are newer than the library: what textures do not need is taken out of the YAML text before loading.
 *
 * A studio's config follows Blender's version, the distribution's OpenColorIO does not: without this every
 * image would fail for a view transform that textures never use. What was left out is said once, and a space
 * that is missing gives its own reason only to those who ask for it.
 */
#ifndef TXM_COLOR_REDUCE_H
#define TXM_COLOR_REDUCE_H
#include <stdbool.h>
#include <stddef.h>

#include "mill/color/ocio.h"

/* A colour space that the config has and the library cannot be given. All strings are owned. */
typedef struct txm_color_missing {
    char *name, *family, *description, *reason;
    char **aliases; /* NULL-terminated, NULL if none */
    size_t before;  /* how many spaces that the library was given come before it */
    bool blenders;  /* the built-in config leaves it out; a Blender has it */
} txm_color_missing;

typedef struct txm_color_missing_list {
    txm_color_missing *items;
    size_t count, capacity;
} txm_color_missing_list;

/* Adds a zeroed entry; NULL when memory is exhausted. */
txm_color_missing *txm_color_missing_add(txm_color_missing_list *list);
void txm_color_missing_free(txm_color_missing_list *list); /* NULL-safe; frees the items and zeroes the list */

/* Loads a config of profile 2.x that is newer than the library: tries it without what textures do not need and, if that
 * is still too new, each colour space, view transform and file rule by itself. What the library refuses goes to
 * `missing` with its message; `*left_out` receives a sentence for the user. `text` must have passed
 * txm_config_scan_text.
 */
txm_status txm_color_load_reduced(const char *text, size_t size_bytes, const char *folder, txm_ocio **out,
                                  txm_color_missing_list *missing, char **left_out, txm_error *err);
#endif
