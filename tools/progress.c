/* SPDX-License-Identifier: Apache-2.0
 * How far a run is. */
#include "progress.h"

#include "core/path.h"
#include "say.h"

/* A terminal line changes at most ten times a second: more costs time and shows nothing. */
enum { MIN_INTERVAL_MS = 100 };

void txm_progress_init(txm_progress *progress, size_t files, bool asked, bool quiet)
{
    *progress = (txm_progress){.files = files, .percent = -1};
    pthread_mutex_init(&progress->lock, NULL);
    if (!quiet && txm_say_can_animate())
        progress->style = TXM_PROGRESS_LINE;
    else if (asked)
        progress->style = TXM_PROGRESS_LINES;
}

static long milliseconds_since(const struct timespec *then, const struct timespec *now)
{
    return (now->tv_sec - then->tv_sec) * 1000 + (now->tv_nsec - then->tv_nsec) / 1000000;
}

/* Lock held. */
static void show(txm_progress *p, const char *name)
{
    double done = (double)p->files_done + p->partial;
    int percent = p->files ? (int)(100 * done / (double)p->files + 1e-9) : 100;
    if (p->style == TXM_PROGRESS_LINES && percent > p->percent)
        txm_say_last("txmill: progress %d%% (%zu of %zu files)", percent, p->files_done, p->files);
    if (p->style == TXM_PROGRESS_LINE) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (p->percent >= 0 && milliseconds_since(&p->shown, &now) < MIN_INTERVAL_MS)
            return;
        p->shown = now;
        txm_say_status("%3d%%  %zu of %zu files  %s", percent, p->files_done, p->files, txm_path_base(name));
    }
    if (percent > p->percent)
        p->percent = percent;
}

txm_progress_file txm_progress_start(txm_progress *progress, const char *name)
{
    return (txm_progress_file){.progress = progress, .name = name};
}

static void set_share(txm_progress_file *file, double share)
{
    file->progress->partial += share - file->share;
    file->share = share;
}

void txm_progress_rows(void *user, uint32_t rows_done, uint32_t rows)
{
    txm_progress_file *file = user;
    if (file->progress->style == TXM_PROGRESS_NONE || !rows)
        return;
    pthread_mutex_lock(&file->progress->lock);
    /* The last rows read are not the last bytes written: 100 % is when the file is there. */
    set_share(file, 0.99 * rows_done / rows);
    show(file->progress, file->name);
    pthread_mutex_unlock(&file->progress->lock);
}

void txm_progress_finish(txm_progress_file *file)
{
    txm_progress *p = file->progress;
    pthread_mutex_lock(&p->lock);
    set_share(file, 0);
    p->files_done++;
    show(p, file->name);
    pthread_mutex_unlock(&p->lock);
}

void txm_progress_end(txm_progress *progress)
{
    txm_say_status("%s", "");
    pthread_mutex_destroy(&progress->lock);
}
