/* SPDX-License-Identifier: Apache-2.0
 *
 * Output files of a command: pictures, pages, pixels.
 *
 * A file appears complete or not at all, and a failure leaves an older file as it was: content is written to a
 * temporary file in the same folder, every write is checked, and the file is renamed at the end. Temporary files that
 * killed processes left in the folder are removed first. A symbolic link is replaced, not followed. A device, pipe or
 * socket is written to directly, and "-" is standard output.
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
/* The stream to write to; it belongs to the output. Failures of writing may be ignored: txm_out_file_commit returns the
 * first one. */
TXM_API FILE *txm_out_file_stream(const txm_out_file *file);
/* TXM_OK, or the first failure to write so far, so that a caller can stop early. */
TXM_API txm_status txm_out_file_status(const txm_out_file *file, txm_error *err);
/* Checks that everything was written, renames the file, and frees *file in every case. On failure no file is left, and
 * an older one is untouched. Standard output is neither flushed nor checked here: the program does that when it ends.
 */
TXM_API txm_status txm_out_file_commit(txm_out_file **file, txm_error *err);
/* Removes what was written so far and frees *file. NULL-safe. */
TXM_API void txm_out_file_abort(txm_out_file **file);

/* A text whose zeros txm_out_file_commit replaces by a digest of the file, if it is in the first or last 64 KiB: in a
 * comment or in metadata that are not compressed. So txmill recognises the files that it wrote and nobody changed. */
#define TXM_OUT_FILE_SEAL "txmill-seal:0000000000000000"
/* *unchanged: the file has that text, with the digest of its present bytes; false for a file that does not exist. IO,
 * DENIED, NO_MEMORY. */
TXM_API txm_status txm_out_file_check(const char *path, bool *unchanged, txm_error *err);

/* Writes a whole file from memory, in the same way, into an existing folder. */
TXM_API txm_status txm_out_file_write(const char *path, const void *data, size_t bytes, txm_error *err);

/* ---- files left by killed runs ----------------------------------------------------------------------------------- */

/* The sum of the files that killed runs left in a folder of tx files: temporaries, claims, and files that serve a few
 * system calls. They are recognised by their names: `.*.txm-tmp`, `.txm-claim`, `.txm-break` and `.txm-clock`. The
 * first and the last have their process in their name, the others inside. Such a file is removed if its process is
 * known to be dead, or, if that cannot be known (on another host), if it has not changed for a day by the file server's
 * clock. */
typedef struct txm_swept {
    size_t files;
    uint64_t bytes;
    void *user;
    /* Called for each file that was removed, or would be. May be NULL. */
    void (*removed)(void *user, const char *path, bool claim, uint64_t bytes);
} txm_swept;

/* Sweeps one folder, not its subfolders, and adds to *swept. What cannot be read or removed is left. `dry_run`: removes
 * nothing and only counts. */
TXM_API void txm_sweep_folder(const char *folder, bool dry_run, txm_swept *swept);

/* Sweeps the folder of `path`, as txm_out_file_begin does. For files that are written in another way, as by
 * txm_cache_trace_start. */
TXM_API void txm_sweep_beside(const char *path);

#ifdef __cplusplus
}
#endif
#endif
