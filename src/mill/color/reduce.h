/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads configs that are newer than the library, by removing from the YAML text what textures do not need. A studio's
 * config follows Blender's version, but the distribution's OpenColorIO does not: otherwise every image would fail
 * because of a view transform that textures never use. What was left out is reported once, and the reason for a
 * missing space is given when it is requested.
 */
#ifndef TXM_COLOR_REDUCE_H
#define TXM_COLOR_REDUCE_H
#include <stdbool.h>
#include <stddef.h>

#include "mill/color/ocio.h"

/* A colour space that the config has, but that had to be removed for the library. All strings are owned. */
typedef struct txm_color_missing {
    char *name, *family, *description, *reason;
    char **aliases; /* NULL-terminated, NULL if none */
    size_t before;  /* number of loaded spaces that come before it */
    bool blenders;  /* the built-in config leaves it out, but a Blender has it */
} txm_color_missing;

typedef struct txm_color_missing_list {
    txm_color_missing *items;
    size_t count, capacity;
} txm_color_missing_list;

/* Appends a zeroed entry; NULL if memory is exhausted. */
txm_color_missing *txm_color_missing_add(txm_color_missing_list *list);
void txm_color_missing_free(txm_color_missing_list *list); /* NULL-safe; frees the items and zeroes the list */

/* Loads a config of profile 2.x that is newer than the library: tries it without what textures do not need and, if that
 * is still too new, each colour space, view transform and file rule separately. What the library refuses is added to
 * `missing` with its message; `*left_out` receives a sentence for the user. `text` must have passed
 * txm_config_scan_text. */
txm_status txm_color_load_reduced(const char *text, size_t size_bytes, const char *folder, txm_ocio **out,
                                  txm_color_missing_list *missing, char **left_out, txm_error *err);
#endif
