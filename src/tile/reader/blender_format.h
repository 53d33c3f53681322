/* SPDX-License-Identifier: Apache-2.0
 *
 * Versions of Blender's texture cache format, a row each: what a new one changes is looked up here, by names, files and
 * settings keys alike.
 *
 * A new version of Blender's format is a row in blender_format.c: what is written follows the last row, what is
 * read may be of any. A file of a version that is not in the table was made by a newer Blender; Cycles of the
 * older one refuses it, and so do we.
 */
#ifndef TXM_READER_BLENDER_FORMAT_H
#define TXM_READER_BLENDER_FORMAT_H
#include "tile/base/shared.h"

/* What the Software entry of every version begins with; its number follows. */
#define TXM_BLENDER_SOFTWARE "Blender maketx v"

typedef struct txm_blender_format {
    unsigned version;     /* in names ("wood.png.0-...") and in the Software entry */
    const char *blender;  /* the Blender that came with it */
    const char *software; /* the Software entry */
} txm_blender_format;

/* The format that is written and looked up. */
TXM_SHARED const txm_blender_format *txm_blender_format_now(void);
/* The working spaces that Blender offers, by name and interop id, and the matrix from CIE XYZ (D65) to each as names of
 * tx files hold it; a test compares the texts with the built-in config. NULL beyond the last. */
typedef struct txm_blender_space {
    const char *name, *interop_id, *xyz_text;
} txm_blender_space;
const txm_blender_space *txm_blender_space_at(unsigned index);
/* Blender's name of a version ("5.2"); NULL for one that this build does not know. */
TXM_SHARED const txm_blender_format *txm_blender_format_of(unsigned version);
#endif
