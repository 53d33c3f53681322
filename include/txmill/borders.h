/* SPDX-License-Identifier: Apache-2.0
 *
 * Giving finished tx files a border section, taking it away, checking it. Any tx file that the reader opens: ours,
 * Blender's, maketx's.
 *
 * Files are replaced as a whole: a copy of the image part, with or without a section, is written beside the file and
 * renamed over it, so that an interrupted run leaves the old file. The time of change (which Cycles compares), the mode
 * and, as far as allowed, the owner stay as they were. A symbolic link stays one; a hard link's other names keep the
 * old file.
 */
#ifndef TXMILL_BORDERS_H
#define TXMILL_BORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "txmill/convert.h"
#include "txtile/export.h"
#include "txtile/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one of the calls below found and did. Sizes are in bytes. */
typedef struct txm_borders_result {
    bool changed;                    /* the file was replaced */
    txm_section_state before;        /* what was found */
    uint64_t file_bytes;             /* as it is now */
    uint64_t section_bytes;          /* as it is now */
    uint64_t tiles, bad_tiles;       /* check: looked at, damaged or wrong */
    char finding[TXM_MESSAGE_BYTES]; /* check: the first thing that was found; "" where there is nothing */
    uint64_t reserved[4];
} txm_borders_result;

/* Appends a section made from the file's own pixels; one that cannot be used (stale, damaged) is replaced, a valid one
 * left alone. NEWER if the section there is newer than this build: strip it first. UNSUPPORTED for tiles that are not
 * square. CHANGED if the file was replaced meanwhile. On failure the file is untouched, unless `changed` says that only
 * the look at the new one failed; `before` is kept, all else is zero. `context` here and below lends its threads and
 * may be asked to stop (CANCELLED); NULL: the caller's thread alone. */
TXM_API txm_status txm_borders_add(txm_context *context, const char *path, txm_borders_result *result, txm_error *err);

/* Cuts off whatever follows the image part, whether it can be used or not: restores the bytes as they were before a
 * section was added. On failure as txm_borders_add. */
TXM_API txm_status txm_borders_strip(txm_context *context, const char *path, txm_borders_result *result,
                                     txm_error *err);

/* Compares every border with the neighbours' pixels. TXM_OK: the check was done, and what it found is in *result. On
 * failure *result holds what was found until then. */
TXM_API txm_status txm_borders_check(txm_context *context, const char *path, txm_borders_result *result,
                                     txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
