/* SPDX-License-Identifier: Apache-2.0
 *
 * Shows the progress of a run: a line that changes on a terminal; elsewhere, and only on request, a line whenever the
 * percentage changes. The percentage is that of the estimated work, the rate that of the pixels. Thread-safe.
 */
#ifndef TXM_TOOLS_PROGRESS_H
#define TXM_TOOLS_PROGRESS_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "txmill/batch.h"

typedef enum txm_progress_style { TXM_PROGRESS_NONE, TXM_PROGRESS_LINE, TXM_PROGRESS_LINES } txm_progress_style;

/* The cost of a file, and how much of it is done. */
typedef struct txm_progress_share {
    float seconds, megapixels, done;
} txm_progress_share;

typedef struct txm_progress {
    pthread_mutex_t lock;
    txm_progress_style style;
    size_t files, files_done;
    txm_cost total, done;
    txm_progress_share *shares; /* one per file */
    int percent;                /* the last one shown, -1: none */
    double begin, shown;        /* readings of the monotonic clock */
} txm_progress;

/* `asked`: --progress was given. Without memory for the shares, files count only when they are done. */
void txm_progress_init(txm_progress *progress, size_t files, bool asked, bool quiet);
/* The events of a batch. */
void txm_progress_planned(txm_progress *progress, const txm_batch_totals *totals);
void txm_progress_begin(txm_progress *progress, const txm_batch_file *file);
void txm_progress_rows(txm_progress *progress, size_t index, uint32_t rows_done, uint32_t rows);
void txm_progress_done(txm_progress *progress, const txm_batch_file *file);
void txm_progress_end(txm_progress *progress);
#endif
