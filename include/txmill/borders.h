/* SPDX-License-Identifier: Apache-2.0
 *
 * Adding, removing and checking the border section of finished tx files: any that the reader opens, whether txmill,
 * Blender or maketx made it.
 *
 * Files are replaced as a whole: a copy of the image part, with or without a section, is written beside the file and
 * renamed over it, so that an interrupted run leaves the old file. The modification time (which Cycles compares), the
 * mode and, as far as allowed, the owner are kept. A symbolic link stays a link to the new file; other hard links keep
 * the old file.
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

/* The result of the calls below. Sizes are in bytes. */
typedef struct txm_borders_result {
    bool changed;                    /* the file was replaced */
    txm_section_state before;        /* state of the section when the call began */
    uint64_t file_bytes;             /* size after the call */
    uint64_t section_bytes;          /* size after the call */
    uint64_t tiles, bad_tiles;       /* check: how many were compared, and how many are damaged or wrong */
    char finding[TXM_MESSAGE_BYTES]; /* check: the first fault that was found; "" if there is none */
    uint64_t reserved[5];
} txm_borders_result;

/* Appends a section made from the file's own pixels; a stale or damaged section is replaced, a valid one is left alone.
 * NEWER if the file has a section of a newer version than this build reads: strip it first. UNSUPPORTED for tiles that
 * are not square. CHANGED if the file was replaced meanwhile. On failure the file is untouched, unless `changed` is
 * set: then it was replaced, but reading the new file failed. `before` is valid on failure too; all else is zero. Here
 * and below the work runs on the threads of `context`, and stops when the context is cancelled (CANCELLED); NULL: on
 * the caller's thread alone. */
TXM_API txm_status txm_borders_add(txm_context *context, const char *path, txm_borders_result *result, txm_error *err);

/* Cuts off whatever follows the image part, valid section or not, so that the file has the bytes that it had before a
 * section was added. Failures are as those of txm_borders_add. */
TXM_API txm_status txm_borders_strip(txm_context *context, const char *path, txm_borders_result *result,
                                     txm_error *err);

/* Compares every border with the neighbours' pixels. TXM_OK means that all were compared; *result has the findings. On
 * failure *result holds the findings until then. */
TXM_API txm_status txm_borders_check(txm_context *context, const char *path, txm_borders_result *result,
                                     txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
