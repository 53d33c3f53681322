/* SPDX-License-Identifier: Apache-2.0
 *
 * Watching folders: records which file changed when, and reports it once it has not changed for a while. watch_tree.c
 * provides the events. If the kernel's queue or the list of changes overflows, the caller has to look at everything
 * instead, so that no change is lost.
 */
#include "txmill/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/os/clock.h"
#include "base/os/process.h"
#include "base/os/watch.h"
#include "base/path.h"
#include "mill/farm/inputs.h"
#include "mill/farm/watch_tree.h"

/* Waits end at this interval to check whether the folders are still the same, and for a request to stop. While inotify
 * cannot watch all folders, everything is looked at each BLIND_RESCAN_SECONDS. */
#define TICK_SECONDS 1.0
#define BLIND_RESCAN_SECONDS 60.0

/* A file that changed. */
typedef struct change {
    double ready; /* when to report it if it does not change again; monotonic clock */
    char *path;   /* owned */
} change;

/* A folder that the caller named. Its device and inode show when another folder has replaced it, which inotify does not
 * report. */
typedef struct root {
    const char *path;
    dev_t device;
    ino_t inode;
    bool there;
} root;

struct txm_watch {
    txm_watch_options options;
    txm_inputs_options inputs; /* options.inputs points here */
    txm_watch_tree tree;
    root *roots;
    size_t root_count;
    change *changes; /* not sorted: there are few, or everything is looked at */
    size_t count, capacity;
    bool everything;
    double last_everything, everything_at; /* everything_at: when to look at everything again; 0: not requested */
    char **files;                          /* the files that were reported last */
    size_t file_count;
};

static void warn(const txm_watch *w, const char *path, const char *what)
{
    char message[TXM_MESSAGE_BYTES];
    snprintf(message, sizeof message, "%s: %s", path, what);
    if (w->options.warn)
        w->options.warn(w->options.user, message);
}

static void drop_changes(txm_watch *w)
{
    while (w->count)
        free(w->changes[--w->count].path);
}

/* Looking at everything includes the files that are known to have changed. */
static void request_everything(txm_watch *w)
{
    drop_changes(w);
    w->everything = true;
}

static change *find_change(const txm_watch *w, const char *path)
{
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->changes[i].path, path) == 0)
            return &w->changes[i];
    return NULL;
}

static bool note_change(txm_watch *w, const char *path, double ready)
{
    change *c = find_change(w, path);
    if (c) {
        c->ready = ready;
        return true;
    }
    if (w->count == TXM_WATCH_MOST_PENDING) {
        request_everything(w);
        return true;
    }
    if (!TXM_GROW(w->changes, w->capacity, w->count))
        return false;
    char *copy = txm_strdup(path);
    if (!copy)
        return false;
    w->changes[w->count++] = (change){ready, copy};
    return true;
}

static bool on_found(void *user, const char *path)
{
    txm_watch *w = user;
    return w->everything || note_change(w, path, txm_clock_seconds() + w->options.settle_s);
}

static txm_status open_root(txm_watch *w, root *r, txm_error *err)
{
    struct stat st;
    if (stat(r->path, &st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be watched", r->path);
    /* The part of a path that globs match begins after the folder and one '/'. */
    const size_t n = strlen(r->path), below = n && r->path[n - 1] == '/' ? n : n + 1;
    txm_status status = txm_watch_tree_add(&w->tree, r->path, below, NULL, NULL, err);
    if (status == TXM_OK) {
        r->there = true;
        r->device = st.st_dev;
        r->inode = st.st_ino;
    }
    return status;
}

/* Checks that the path still leads to the folder that was watched; a folder that reappears is watched again. */
static txm_status check_root(txm_watch *w, root *r, txm_error *err)
{
    struct stat st;
    txm_error own = {0};
    int why = stat(r->path, &st) == 0 ? 0 : errno;
    bool there = why == 0 && S_ISDIR(st.st_mode);
    if (r->there && there && st.st_dev == r->device && st.st_ino == r->inode)
        return TXM_OK;
    if (r->there) {
        char text[160] = "is gone; waiting for it to come back";
        if (there)
            snprintf(text, sizeof text, "another folder has taken its place");
        else if (why && why != ENOENT && why != ENOTDIR)
            snprintf(text, sizeof text, "cannot be examined: %s; waiting until it can", strerror(why));
        warn(w, r->path, text);
        r->there = false;
        if (txm_watch_tree_remove(&w->tree, r->path, on_found, w, err) != TXM_OK)
            return err->status;
    }
    if (there && open_root(w, r, &own) == TXM_STATUS_NO_MEMORY)
        return txm_fail_with(err, TXM_STATUS_NO_MEMORY, &own);
    if (r->there) {
        warn(w, r->path, "is watched again");
        request_everything(w);
    }
    return TXM_OK;
}

txm_status txm_watch_new(const char *const *folders, size_t count, const txm_watch_options *options, txm_watch **out,
                         txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    txm_watch_options given = {0};
    txm_status status = txm_options_take(&given, sizeof given, options, "txm_watch_options", err);
    txm_inputs_options inputs = {0};
    if (status == TXM_OK)
        status = txm_options_take(&inputs, sizeof inputs, given.inputs, "txm_inputs_options", err);
    if (status == TXM_OK && !(given.settle_s >= 0 && given.rescan_s >= 0))
        status = txm_fail(err, TXM_STATUS_USAGE, "the times of a watch must be 0 s or more");
    if (status != TXM_OK)
        return status;
    txm_watch *w = txm_calloc(1, sizeof *w);
    if (!w || !(w->roots = txm_calloc(count, sizeof *w->roots))) {
        free(w);
        return txm_no_memory(err, NULL);
    }
    w->options = given;
    w->inputs = inputs;
    w->options.inputs = &w->inputs;
    w->everything = true;
    w->root_count = count;
    w->tree = (txm_watch_tree){.fd = txm_folders_open(), .options = &w->options};
    if (w->tree.fd < 0)
        status = txm_fail_errno(err, errno, "folders cannot be watched%s",
                                errno == EMFILE ? " (too many watches run: see fs.inotify.max_user_instances)" : "");
    for (size_t i = 0; status == TXM_OK && i < count; i++) {
        w->roots[i].path = folders[i];
        status = open_root(w, &w->roots[i], err);
    }
    if (status != TXM_OK)
        txm_watch_free(&w);
    *out = w;
    return status;
}

static void drop_files(txm_watch *w)
{
    while (w->file_count)
        free(w->files[--w->file_count]);
    free(w->files);
    w->files = NULL;
}

void txm_watch_free(txm_watch **watch)
{
    txm_watch *w = watch ? *watch : NULL;
    if (!w)
        return;
    txm_watch_tree_clear(&w->tree);
    if (w->tree.fd >= 0)
        close(w->tree.fd);
    drop_changes(w);
    drop_files(w);
    free(w->changes);
    free(w->roots);
    free(w);
    *watch = NULL;
}

/* Renaming is reported as a removal and an arrival. */
static txm_status on_event(txm_watch *w, const txm_folder_event *e, txm_error *err)
{
    if (e->overflow)
        request_everything(w);
    const txm_watched_folder *folder = txm_watch_tree_at(&w->tree, e->folder);
    if (e->forgotten) {
        /* The folder was removed, or its file system unmounted. A new folder with the path of a root may get the same
         * inode, so the stored one is cleared. */
        for (size_t i = 0; folder && i < w->root_count; i++)
            if (w->roots[i].there && strcmp(w->roots[i].path, folder->path) == 0)
                w->roots[i].device = w->roots[i].inode = 0;
        txm_watch_tree_forget(&w->tree, e->folder);
    }
    if (!folder || !e->name || e->forgotten)
        return TXM_OK;
    char *path = txm_path_join(folder->path, e->name);
    const size_t below = folder->root_bytes;
    if (!path)
        return txm_no_memory(err, NULL);
    struct stat st;
    txm_error own = {0};
    /* Links to folders are not reported as folders. A new one may have replaced one that led elsewhere. */
    const bool link = !e->is_folder && e->appeared && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    const bool is_folder = e->is_folder || link, wanted = txm_inputs_want(w->options.inputs, path, below, is_folder);
    txm_status status = TXM_OK;
    if (link || (e->gone && (e->is_folder ? wanted : w->tree.linked)))
        status = txm_watch_tree_remove(&w->tree, path, on_found, w, err);
    change *c = wanted && !is_folder && e->gone ? find_change(w, path) : NULL;
    if (status != TXM_OK || !wanted) {
        /* nothing to do, or nothing that can be done */
    } else if (is_folder && (e->appeared || e->attribute)) {
        /* If the folder was removed again, or cannot be read, its parent's events will say when that changes. */
        if (txm_watch_tree_add(&w->tree, path, below, on_found, w, &own) == TXM_STATUS_NO_MEMORY)
            status = txm_fail_as(err, &own);
    } else if (c) { /* it was removed before it was reported */
        free(c->path);
        *c = w->changes[--w->count];
    } else if (!is_folder && !e->gone && !on_found(w, path)) {
        status = txm_no_memory(err, NULL);
    }
    free(path);
    return status;
}

typedef struct event_reader {
    txm_watch *watch;
    txm_error *err;
    txm_status status;
} event_reader;

static bool take_event(void *user, const txm_folder_event *event)
{
    event_reader *r = user;
    r->status = on_event(r->watch, event, r->err);
    return r->status == TXM_OK;
}

static txm_status find_due(txm_watch *w, double now, txm_watch_work *what, txm_error *err)
{
    double rescan = w->tree.blind && (w->options.rescan_s <= 0 || w->options.rescan_s > BLIND_RESCAN_SECONDS)
                        ? BLIND_RESCAN_SECONDS
                        : w->options.rescan_s;
    for (size_t i = 0; i < w->root_count; i++) {
        txm_status status = check_root(w, &w->roots[i], err);
        if (status != TXM_OK)
            return status;
    }
    if ((rescan > 0 && now - w->last_everything >= rescan) || (w->everything_at > 0 && now >= w->everything_at))
        request_everything(w);
    if (w->everything) {
        w->everything = false;
        w->everything_at = 0;
        w->last_everything = now;
        *what = TXM_WATCH_WORK_EVERYTHING;
        return TXM_OK;
    }
    drop_files(w);
    if (!(w->files = txm_calloc(TXM_WATCH_MOST_AT_ONCE, sizeof *w->files)))
        return txm_no_memory(err, NULL);
    for (size_t i = w->count; i-- > 0 && w->file_count < TXM_WATCH_MOST_AT_ONCE;) {
        if (w->changes[i].ready > now)
            continue;
        char *path = w->changes[i].path;
        w->changes[i] = w->changes[--w->count];
        if (access(path, F_OK) == 0)
            w->files[w->file_count++] = path;
        else
            free(path); /* removed together with its folder */
    }
    if (w->file_count)
        *what = TXM_WATCH_WORK_FILES;
    return TXM_OK;
}

txm_status txm_watch_wait(txm_watch *watch, double seconds, txm_watch_work *what, txm_error *err)
{
    txm_error_clear(err);
    double end = txm_clock_seconds() + seconds, now;
    *what = TXM_WATCH_WORK_NOTHING;
    do {
        if (txm_is_cancelled(watch->options.cancel))
            return txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request");
        event_reader reader = {watch, err, TXM_OK};
        const int rc = txm_folders_read(watch->tree.fd, take_event, &reader);
        txm_status status = rc ? txm_fail_errno(err, rc, "inotify: reading failed") : reader.status;
        now = txm_clock_seconds();
        if (status == TXM_OK)
            status = find_due(watch, now, what, err);
        if (status != TXM_OK || *what != TXM_WATCH_WORK_NOTHING)
            return status;
        const double left = end - now < TICK_SECONDS ? end - now : TICK_SECONDS;
        double due = left; /* seconds until the next file is due */
        for (size_t i = 0; i < watch->count; i++)
            if (watch->changes[i].ready - now < due)
                due = watch->changes[i].ready - now;
        txm_wait_readable(watch->tree.fd, left > 0 ? (due > 0 ? (int)(due * 1000) : 0) + 1 : 0);
    } while (txm_clock_seconds() < end);
    return TXM_OK;
}

char *const *txm_watch_files(const txm_watch *watch, size_t *count)
{
    *count = watch->file_count;
    return watch->files;
}

txm_status txm_watch_again(txm_watch *watch, const char *path, double seconds, txm_error *err)
{
    txm_error_clear(err);
    if (!path)
        watch->everything_at = txm_clock_seconds() + seconds;
    if (!path || find_change(watch, path) || note_change(watch, path, txm_clock_seconds() + seconds))
        return TXM_OK;
    return txm_no_memory(err, NULL);
}

bool txm_watch_is_there(const txm_watch *watch, size_t index)
{
    return index < watch->root_count && watch->roots[index].there;
}

size_t txm_watch_folders(const txm_watch *watch)
{
    return watch->tree.count;
}
