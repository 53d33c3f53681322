/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs that were killed leave in a folder of tx files: temporaries, claims, files of a few calls' use. They are
 * recognized by their names, `.*.txm-tmp`, `.txm-claim`, `.txm-break` and `.txm-clock`, and removed when their process,
 * which the first and the last tell in their names and the others inside, is known to be dead, or, where that cannot be
 * known (another host), when the file server's own clock says that they have not changed for a day.
 */
#ifndef TXM_BATCH_SWEEP_H
#define TXM_BATCH_SWEEP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct txm_swept {
    size_t files;
    uint64_t bytes;
    void *user;
    /* Each file that went, or would. May be NULL. */
    void (*removed)(void *user, const char *path, bool claim, uint64_t bytes);
} txm_swept;

/* Sweeps one folder, not its subfolders. What cannot be read or removed is left. `dry_run`: only counts. Adds to
 * *swept. */
void txm_sweep_folder(const char *folder, int dry_run, txm_swept *swept);
#endif
