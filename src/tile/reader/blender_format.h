/* SPDX-License-Identifier: Apache-2.0
 *
 * Versions of Blender's texture cache format, one row each, used for names, files and settings keys.
 *
 * A new version is a new row in blender_format.c. Files are written in the version of the newest release, and may be
 * read in any. A version that is not in the table is from a newer Blender; the older Cycles refuses such a file, and so
 * does txmill.
 */
#ifndef TXM_READER_BLENDER_FORMAT_H
#define TXM_READER_BLENDER_FORMAT_H
#include "base/shared.h"

/* The beginning of the Software entry in every version, followed by its number. */
#define TXM_BLENDER_SOFTWARE "Blender maketx v"

typedef struct txm_blender_format {
    unsigned version;     /* number in names ("wood.png.0-...") and in the Software entry */
    const char *software; /* the Software entry */
} txm_blender_format;

/* The current format, in which files are written and looked up. */
TXM_SHARED const txm_blender_format *txm_blender_format_now(void);
/* The working spaces that Blender offers, with their names, interop ids and matrices from CIE XYZ (D65) as tx files
 * store them; a test compares the texts with the built-in config. NULL beyond the last. */
typedef struct txm_blender_space {
    const char *name, *interop_id, *xyz_text;
} txm_blender_space;
const txm_blender_space *txm_blender_space_at(unsigned index);
/* The format of a version number; NULL if this build does not know the version. */
TXM_SHARED const txm_blender_format *txm_blender_format_of(unsigned version);
#endif
