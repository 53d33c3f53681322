/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that a command writes where its user says: pictures, pages, pixels.
 *
 * A file appears complete or not at all, and a failed command leaves what was there before: content goes to a temporary
 * beside it (mill/write/publish.h), every write is checked, and the rename comes last. What killed commands left in the
 * folder is swept first. A symbolic link is replaced, not followed. A device, a pipe or a socket under that name gets
 * the bytes as they come, and "-" is standard output.
 */
#ifndef TXMILL_OUT_FILE_H
#define TXMILL_OUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "txtile/export.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An output that is being written. */
typedef struct txm_out_file txm_out_file;

/* Opens the output; `make_folder` creates the folder and its parents. */
TXM_API txm_status txm_out_file_begin(const char *path, bool make_folder, txm_out_file **out, txm_error *err);
/* To write to, owned by the object. Failures may be ignored: commit knows the first one. */
TXM_API FILE *txm_out_file_stream(const txm_out_file *file);
/* TXM_OK, or the first failure to write so far, for those who want to stop early. */
TXM_API txm_status txm_out_file_status(const txm_out_file *file, txm_error *err);
/* Checks that everything was written and puts the file into its place. Consumes *file in every case; on failure
 * nothing is left and a previous file is untouched. Standard output is stdout, which whoever ends the program checks.
 */
TXM_API txm_status txm_out_file_commit(txm_out_file **file, txm_error *err);
/* Leaves nothing behind. NULL-safe; consumes *file. */
TXM_API void txm_out_file_abort(txm_out_file **file);

/* All of the above for content that is there, in an existing folder. */
TXM_API txm_status txm_out_file_write(const char *path, const void *data, size_t bytes, txm_error *err);

/* ---- what killed runs leave ------------------------------------------------------------------------------------- */

/* What runs that were killed leave in a folder of tx files: temporaries, claims, files of a few calls' use. They are
 * recognized by their names, `.*.txm-tmp`, `.txm-claim`, `.txm-break` and `.txm-clock`, and removed when their process,
 * which the first and the last tell in their names and the others inside, is known to be dead, or, where that cannot be
 * known (another host), when the file server's own clock says that they have not changed for a day. */
typedef struct txm_swept {
    size_t files;
    uint64_t bytes;
    void *user;
    /* Each file that went, or would. May be NULL. */
    void (*removed)(void *user, const char *path, bool claim, uint64_t bytes);
} txm_swept;

/* Sweeps one folder, not its subfolders. What cannot be read or removed is left. `dry_run`: only counts. Adds to
 * *swept. */
TXM_API void txm_sweep_folder(const char *folder, bool dry_run, txm_swept *swept);

/* Sweeps the folder of a file that is about to be written, as the functions above do. For files that are
 * written in another way, as txm_cache_trace_start does. */
TXM_API void txm_sweep_beside(const char *path);

#ifdef __cplusplus
}
#endif
#endif
