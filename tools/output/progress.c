/* SPDX-License-Identifier: Apache-2.0
 *
 * Shows the progress of a run.
 *
 * In: shares of work from any thread. Out: a line that is rewritten on a terminal, or lines at whole percents in a
 * log. Shares are weighted by estimated seconds, so that a large image counts more than a small one.
 */
#include "tools/output/progress.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/os/clock.h"
#include "base/path.h"
#include "tools/output/format.h"
#include "tools/output/say.h"

/* A line on a terminal changes at most ten times a second. The rate is shown after a moment, when it is meaningful. */
static const double min_interval_s = 0.1, min_rate_s = 0.5;

/* Without memory for the shares, only files are counted, because progress must not fail a run. */
void txm_progress_init(txm_progress *progress, size_t files, bool asked, bool quiet)
{
    *progress = (txm_progress){.files = files, .percent = -1};
    pthread_mutex_init(&progress->lock, NULL);
    if (!quiet && txm_say_can_animate())
        progress->style = TXM_PROGRESS_LINE;
    else if (asked)
        progress->style = TXM_PROGRESS_LINES;
    if (progress->style != TXM_PROGRESS_NONE)
        progress->shares = txm_calloc(files, sizeof *progress->shares);
    progress->begin = txm_clock_seconds();
    if (files > 1)
        txm_say_status("examining %zu files", files);
}

static void describe_progress(const txm_progress *p, char *out, size_t bytes)
{
    double elapsed = txm_clock_seconds() - p->begin;
    char files[TXM_FORMAT_COUNT];
    int n = snprintf(out, bytes, "%zu of %s, %.0f of %.0f MP", p->files_done, txm_format_count(p->files, "file", files),
                     p->done.megapixels, p->total.megapixels);
    if (elapsed < min_rate_s || p->done.seconds <= 0 || n < 0 || (size_t)n >= bytes)
        return;
    /* The time left assumes that the rest takes as long per unit of estimated work as what is done. */
    char left[TXM_FORMAT_BYTES];
    double rate = p->done.megapixels / elapsed;
    double seconds = (p->total.seconds - p->done.seconds) / p->done.seconds * elapsed;
    snprintf(out + n, bytes - (size_t)n, ", %.1f MP/s, %s left", rate,
             txm_format_seconds(seconds < 0 ? 0 : seconds, left));
}

/* The lock must be held. */
static void draw_progress(txm_progress *p, const char *name)
{
    char text[160];
    double share = p->total.seconds > 0 ? p->done.seconds / p->total.seconds : p->files_done == p->files;
    int percent = p->files_done == p->files ? 100 : (int)(100 * share + 1e-6);
    /* Sums of estimates are rounded, so 100 % is shown only when every file is done. */
    if (percent > 99 && p->files_done < p->files)
        percent = 99;
    if (p->style == TXM_PROGRESS_LINES && percent > p->percent) {
        describe_progress(p, text, sizeof text);
        txm_say_last("txmill: progress %d%% (%s)", percent, text);
    }
    if (p->style == TXM_PROGRESS_LINE && (p->percent < 0 || txm_clock_seconds() - p->shown >= min_interval_s)) {
        p->shown = txm_clock_seconds();
        describe_progress(p, text, sizeof text);
        txm_say_status("%3d%%  %s  %s", percent, text, txm_path_base(name));
    }
    if (percent > p->percent)
        p->percent = percent;
}

void txm_progress_planned(txm_progress *progress, const txm_batch_totals *totals)
{
    pthread_mutex_lock(&progress->lock);
    progress->total = totals->cost;
    progress->files = totals->inputs;
    progress->begin = txm_clock_seconds();
    pthread_mutex_unlock(&progress->lock);
}

/* Adds `done`, from 0 to 1, of a file. The lock must be held. */
static void book(txm_progress *p, txm_progress_share *share, float done)
{
    p->done.seconds += share->seconds * (done - share->done);
    p->done.megapixels += share->megapixels * (done - share->done);
    share->done = done;
}

/* Each file's estimate is kept until it is done, because shares are part of the planned total, whatever the file
 * really costs. */
void txm_progress_begin(txm_progress *progress, const txm_batch_file *file)
{
    pthread_mutex_lock(&progress->lock);
    if (progress->shares)
        progress->shares[file->index] =
            (txm_progress_share){(float)file->cost.seconds, (float)file->cost.megapixels, 0};
    if (progress->style != TXM_PROGRESS_NONE)
        draw_progress(progress, file->input->path);
    pthread_mutex_unlock(&progress->lock);
}

void txm_progress_rows(txm_progress *progress, size_t index, uint32_t rows_done, uint32_t rows)
{
    if (!progress->shares || !rows)
        return;
    pthread_mutex_lock(&progress->lock);
    /* After the last rows are read, writing remains, so this is counted as less than the whole. */
    book(progress, &progress->shares[index], 0.99f * (float)rows_done / (float)rows);
    draw_progress(progress, "");
    pthread_mutex_unlock(&progress->lock);
}

void txm_progress_done(txm_progress *progress, const txm_batch_file *file)
{
    pthread_mutex_lock(&progress->lock);
    progress->files_done++;
    if (progress->shares && progress->shares[file->index].seconds > 0) {
        book(progress, &progress->shares[file->index], 1);
    } else {
        progress->done.seconds += file->cost.seconds;
        progress->done.megapixels += file->cost.megapixels;
    }
    if (progress->style != TXM_PROGRESS_NONE)
        draw_progress(progress, file->input->path);
    pthread_mutex_unlock(&progress->lock);
}

void txm_progress_end(txm_progress *progress)
{
    txm_say_status("%s", "");
    free(progress->shares);
    pthread_mutex_destroy(&progress->lock);
}
