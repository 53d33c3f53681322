/* SPDX-License-Identifier: Apache-2.0
 *
 * Watching folders: records which file changed when, and reports it once it has not changed for a while. If the
 * kernel's queue or the list of changes overflows, the caller has to look at everything instead, so that no change is
 * lost.
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
#include "base/entries.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/os/clock.h"
#include "base/os/process.h"
#include "base/os/watch.h"
#include "base/path.h"
#include "mill/farm/inputs.h"

/* Waits end at this interval to check whether the folders are still the same, and for a request to stop. While inotify
 * cannot watch all folders, everything is looked at each BLIND_RESCAN_SECONDS. */
#define TICK_SECONDS 1.0
#define BLIND_RESCAN_SECONDS 60.0

/* inotify reports the number of a folder and a name in it, and does not watch subfolders. There is one watch per real
 * folder, and the path under which it was found. The kernel returns the number of the existing watch for a folder that
 * is already watched, which detects links that lead back. */
typedef struct watched {
    int wd;
    char *path; /* owned */
    size_t root_bytes;
} watched;

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
    int fd;
    watched *folders; /* sorted by wd */
    size_t folder_count, folder_capacity;
    watched *others; /* further paths of folders in the table, which links lead to, in case the first one goes */
    size_t other_count, other_capacity;
    bool warned; /* the warning about the limit was given */
    bool blind;  /* some folders are not watched */
    bool linked; /* some folders were reached through links */
    root *roots;
    size_t root_count;
    change *changes; /* not sorted: there are few, or everything is looked at */
    size_t count, capacity;
    bool everything;
    double last_everything, everything_at; /* everything_at: when to look at everything again; 0: not requested */
    char **files;                          /* the files that were reported last */
    size_t file_count;
};

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

/* Returns false if memory is exhausted. */
static bool on_found(txm_watch *w, const char *path)
{
    return w->everything || note_change(w, path, txm_clock_seconds() + w->options.settle_s);
}

/* The index of the watch number in the sorted table, or where it would be inserted. */
static size_t index_of_watch(const txm_watch *w, int wd)
{
    size_t low = 0, high = w->folder_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (w->folders[middle].wd < wd)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const watched *folder_at(const txm_watch *w, int wd)
{
    size_t i = index_of_watch(w, wd);
    return i < w->folder_count && w->folders[i].wd == wd ? &w->folders[i] : NULL;
}

static void drop(txm_watch *w, size_t i)
{
    free(w->folders[i].path);
    memmove(&w->folders[i], &w->folders[i + 1], (w->folder_count - i - 1) * sizeof *w->folders);
    w->folder_count--;
}

static bool is_below(const char *path, const char *folder, size_t folder_bytes)
{
    return strncmp(path, folder, folder_bytes) == 0 && (!path[folder_bytes] || path[folder_bytes] == '/');
}

/* Inserts a folder into the table; *known is set if it was there. Returns false if memory is exhausted. */
static bool insert(txm_watch *w, int wd, const char *path, size_t root_bytes, bool *known)
{
    size_t i = index_of_watch(w, wd);
    *known = i < w->folder_count && w->folders[i].wd == wd;
    bool listed = *known && strcmp(w->folders[i].path, path) == 0;
    for (size_t o = 0; *known && o < w->other_count; o++)
        listed |= w->others[o].wd == wd && strcmp(w->others[o].path, path) == 0;
    if (listed)
        return true;
    const bool room = *known ? TXM_GROW(w->others, w->other_capacity, w->other_count)
                             : TXM_GROW(w->folders, w->folder_capacity, w->folder_count);
    char *copy = room ? txm_strdup(path) : NULL;
    if (!copy)
        return false;
    if (*known) {
        w->others[w->other_count++] = (watched){wd, copy, root_bytes};
        return true;
    }
    memmove(&w->folders[i + 1], &w->folders[i], (w->folder_count - i) * sizeof *w->folders);
    w->folders[i] = (watched){wd, copy, root_bytes};
    w->folder_count++;
    return true;
}

/* *known is set if the folder is already watched, under this or another path. */
static txm_status watch_one(txm_watch *w, const char *path, size_t root_bytes, bool *known, txm_error *err)
{
    struct stat st;
    int wd = txm_folders_add(w->fd, path);
    w->linked |= lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    if (wd < 0 && errno == ENOSPC) {
        /* Changes in folders without a watch are found only by looking at everything. */
        w->blind = true;
        if (!w->warned && w->options.warn)
            w->options.warn(w->options.user,
                            "more folders than this system lets a user watch (fs.inotify.max_user_watches): changes "
                            "in the others are found by looking at everything once a minute");
        w->warned = true;
        *known = false;
        return TXM_OK;
    }
    if (wd < 0)
        return txm_fail_errno(err, errno, "%s: cannot watch the folder", path);
    return insert(w, wd, path, root_bytes, known) ? TXM_OK
                                                  : txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for the watch");
}

/* Changes in this folder are found by looking at everything. A folder that was removed causes no warning. */
static void warn_of_folder(txm_watch *w, const txm_error *why)
{
    char message[TXM_MESSAGE_BYTES + 64];
    if (why->sys_errno == ENOENT)
        return;
    w->blind = true;
    snprintf(message, sizeof message, "%s; changes in it are found by looking at everything", why->message);
    if (w->options.warn)
        w->options.warn(w->options.user, message);
}

/* The watch is added before the folder is read, so that a file which appears in between may be seen twice but is never
 * missed. */
static txm_status add_one(txm_watch *w, txm_pending *p, const char *path, size_t root_bytes, txm_error *err)
{
    bool known = false, ok = true;
    txm_entries entries = {0};
    txm_status status = watch_one(w, path, root_bytes, &known, err);
    if (status != TXM_OK || known)
        return status;
    status = txm_entries_read(path, &entries, err);
    for (size_t i = 0; status == TXM_OK && ok && i < entries.count; i++) {
        char *below = txm_path_join(path, entries.items[i].name);
        struct stat st;
        const bool there = below && stat(below, &st) == 0, folder = !there || S_ISDIR(st.st_mode);
        ok = below != NULL;
        if (!ok || !txm_inputs_want(w->options.inputs, below, root_bytes, folder)) {
            free(below);
        } else if (!there) {
            txm_error why = {0};
            txm_fail_errno(&why, errno, "%s: cannot be watched", below);
            warn_of_folder(w, &why);
            free(below);
        } else if (folder) {
            ok = txm_pending_push(p, below);
        } else {
            ok = !S_ISREG(st.st_mode) || on_found(w, below);
            free(below);
        }
    }
    txm_entries_free(&entries);
    return ok ? status : txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for the watch");
}

/* A subfolder that cannot be watched causes a warning; the folder itself causes a failure. */
static txm_status watch_tree(txm_watch *w, const char *path, size_t root_bytes, txm_error *err)
{
    txm_pending p = {0};
    txm_status status = add_one(w, &p, path, root_bytes, err);
    for (char *next; status == TXM_OK && (next = txm_pending_pop(&p)); free(next)) {
        txm_error own = {0};
        txm_status added = add_one(w, &p, next, root_bytes, &own);
        if (added == TXM_STATUS_NO_MEMORY)
            status = txm_fail_as(err, &own);
        else if (added != TXM_OK)
            warn_of_folder(w, &own);
    }
    txm_pending_free(&p);
    return status;
}

/* Subfolders are removed as well, because the kernel continues to watch folders that were moved away. */
static txm_status remove_tree(txm_watch *w, const char *path, txm_error *err)
{
    size_t n = strlen(path);
    for (size_t i = w->folder_count; i-- > 0;) {
        if (!is_below(w->folders[i].path, path, n))
            continue;
        txm_folders_drop(w->fd, w->folders[i].wd);
        drop(w, i);
    }
    for (size_t i = w->other_count; i-- > 0;)
        if (is_below(w->others[i].path, path, n)) {
            free(w->others[i].path);
            w->others[i] = w->others[--w->other_count];
        }
    /* A folder that another path still leads to is watched under that path. Each addition changes the list. */
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < w->other_count;) {
        const watched other = w->others[i++];
        if (folder_at(w, other.wd))
            continue;
        w->others[--i] = w->others[--w->other_count];
        txm_error own = {0};
        if (watch_tree(w, other.path, other.root_bytes, &own) == TXM_STATUS_NO_MEMORY)
            status = txm_fail_as(err, &own);
        free(other.path);
        i = 0;
    }
    return status;
}

static void warn(const txm_watch *w, const char *path, const char *what)
{
    char message[TXM_MESSAGE_BYTES];
    snprintf(message, sizeof message, "%s: %s", path, what);
    if (w->options.warn)
        w->options.warn(w->options.user, message);
}

static txm_status open_root(txm_watch *w, root *r, txm_error *err)
{
    struct stat st;
    if (stat(r->path, &st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be watched", r->path);
    /* The part of a path that globs match begins after the folder and one '/'. */
    const size_t n = strlen(r->path), below = n && r->path[n - 1] == '/' ? n : n + 1;
    txm_status status = watch_tree(w, r->path, below, err);
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
        if (remove_tree(w, r->path, err) != TXM_OK)
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
    w->fd = txm_folders_open();
    if (w->fd < 0)
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
    if (w->fd >= 0)
        close(w->fd); /* ends all watches */
    while (w->folder_count)
        free(w->folders[--w->folder_count].path);
    while (w->other_count)
        free(w->others[--w->other_count].path);
    free(w->folders);
    free(w->others);
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
    const watched *folder = folder_at(w, e->folder);
    if (e->forgotten) {
        /* The folder was removed, or its file system unmounted. A new folder with the path of a root may get the same
         * inode, so the stored one is cleared. */
        for (size_t i = 0; folder && i < w->root_count; i++)
            if (w->roots[i].there && strcmp(w->roots[i].path, folder->path) == 0)
                w->roots[i].device = w->roots[i].inode = 0;
        for (size_t o = w->other_count; o-- > 0;)
            if (w->others[o].wd == e->folder) {
                free(w->others[o].path);
                w->others[o] = w->others[--w->other_count];
            }
        size_t i = index_of_watch(w, e->folder);
        if (i < w->folder_count && w->folders[i].wd == e->folder)
            drop(w, i);
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
    if (link || (e->gone && (e->is_folder ? wanted : w->linked)))
        status = remove_tree(w, path, err);
    change *c = wanted && !is_folder && e->gone ? find_change(w, path) : NULL;
    if (status != TXM_OK || !wanted) {
        /* nothing to do, or nothing that can be done */
    } else if (is_folder && (e->appeared || e->attribute)) {
        /* If the folder was removed again, or cannot be read, its parent's events will say when that changes. */
        if (watch_tree(w, path, below, &own) == TXM_STATUS_NO_MEMORY)
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
    double rescan = w->blind && (w->options.rescan_s <= 0 || w->options.rescan_s > BLIND_RESCAN_SECONDS)
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
        const int rc = txm_folders_read(watch->fd, take_event, &reader);
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
        txm_wait_readable(watch->fd, left > 0 ? (due > 0 ? (int)(due * 1000) : 0) + 1 : 0);
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
    return watch->folder_count;
}
