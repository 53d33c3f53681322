/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a run is: one line that changes on a terminal; elsewhere, and only when asked for, a line whenever the
 * percentage changes. Thread-safe.
 */
#ifndef TXM_TOOLS_PROGRESS_H
#define TXM_TOOLS_PROGRESS_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef enum txm_progress_style { TXM_PROGRESS_NONE, TXM_PROGRESS_LINE, TXM_PROGRESS_LINES } txm_progress_style;

typedef struct txm_progress {
    pthread_mutex_t lock;
    txm_progress_style style;
    size_t files, files_done;
    double partial; /* files' worth of work done inside unfinished files */
    int percent;    /* as last shown, -1: never */
    struct timespec shown;
} txm_progress;

/* One file that is being worked on. */
typedef struct txm_progress_file {
    txm_progress *progress;
    const char *name;
    double share; /* of this file that is in `partial` */
} txm_progress_file;

/* `asked`: --progress was given. */
void txm_progress_init(txm_progress *progress, size_t files, bool asked, bool quiet);
txm_progress_file txm_progress_start(txm_progress *progress, const char *name);
/* To be handed to txm_convert as its progress function, with the file as `user`. */
void txm_progress_rows(void *user, uint32_t rows_done, uint32_t rows);
void txm_progress_finish(txm_progress_file *file);
void txm_progress_end(txm_progress *progress);
#endif
