/* SPDX-License-Identifier: Apache-2.0
 *
 * There is one inotify watch per real folder, and the path under which it was found. The kernel returns the number of
 * the existing watch for a folder that is already watched, which detects links that lead back. The other paths of such
 * folders are kept, in case the first one goes.
 */
#include "mill/farm/watch_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/watch.h"
#include "base/path.h"
#include "mill/farm/entries.h"
#include "mill/farm/inputs.h"

/* The index of the watch number in the sorted table, or where it would be inserted. */
static size_t index_of_watch(const txm_watch_tree *tree, int wd)
{
    size_t low = 0, high = tree->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tree->folders[middle].wd < wd)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const txm_watched_folder *txm_watch_tree_at(const txm_watch_tree *tree, int wd)
{
    size_t i = index_of_watch(tree, wd);
    return i < tree->count && tree->folders[i].wd == wd ? &tree->folders[i] : NULL;
}

static void drop(txm_watch_tree *tree, size_t i)
{
    free(tree->folders[i].path);
    memmove(&tree->folders[i], &tree->folders[i + 1], (tree->count - i - 1) * sizeof *tree->folders);
    tree->count--;
}

void txm_watch_tree_forget(txm_watch_tree *tree, int wd)
{
    for (size_t o = tree->other_count; o-- > 0;)
        if (tree->others[o].wd == wd) {
            free(tree->others[o].path);
            tree->others[o] = tree->others[--tree->other_count];
        }
    size_t i = index_of_watch(tree, wd);
    if (i < tree->count && tree->folders[i].wd == wd)
        drop(tree, i);
}

static bool is_below(const char *path, const char *folder, size_t folder_bytes)
{
    return strncmp(path, folder, folder_bytes) == 0 && (!path[folder_bytes] || path[folder_bytes] == '/');
}

/* Subfolders are removed as well, because the kernel continues to watch folders that were moved away. */
txm_status txm_watch_tree_remove(txm_watch_tree *tree, const char *path, txm_watch_found found, void *user,
                                 txm_error *err)
{
    size_t n = strlen(path);
    for (size_t i = tree->count; i-- > 0;) {
        if (!is_below(tree->folders[i].path, path, n))
            continue;
        txm_folders_drop(tree->fd, tree->folders[i].wd);
        drop(tree, i);
    }
    for (size_t i = tree->other_count; i-- > 0;)
        if (is_below(tree->others[i].path, path, n)) {
            free(tree->others[i].path);
            tree->others[i] = tree->others[--tree->other_count];
        }
    /* A folder that another path still leads to is watched under that path. Each addition changes the list. */
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < tree->other_count;) {
        const txm_watched_folder other = tree->others[i++];
        if (txm_watch_tree_at(tree, other.wd))
            continue;
        tree->others[--i] = tree->others[--tree->other_count];
        txm_error own = {0};
        if (txm_watch_tree_add(tree, other.path, other.root_bytes, found, user, &own) == TXM_STATUS_NO_MEMORY)
            status = txm_fail_as(err, &own);
        free(other.path);
        i = 0;
    }
    return status;
}

void txm_watch_tree_clear(txm_watch_tree *tree)
{
    while (tree->count) {
        txm_folders_drop(tree->fd, tree->folders[tree->count - 1].wd);
        drop(tree, tree->count - 1);
    }
    while (tree->other_count)
        free(tree->others[--tree->other_count].path);
    free(tree->others);
    free(tree->folders);
    tree->others = tree->folders = NULL;
    tree->capacity = tree->other_capacity = 0;
}

/* Inserts a folder into the table; *known is set if it was there. Returns false if memory is exhausted. */
static bool insert(txm_watch_tree *tree, int wd, const char *path, size_t root_bytes, bool *known)
{
    size_t i = index_of_watch(tree, wd);
    *known = i < tree->count && tree->folders[i].wd == wd;
    bool listed = *known && strcmp(tree->folders[i].path, path) == 0;
    for (size_t o = 0; *known && o < tree->other_count; o++)
        listed |= tree->others[o].wd == wd && strcmp(tree->others[o].path, path) == 0;
    if (listed)
        return true;
    const bool room = *known ? TXM_GROW(tree->others, tree->other_capacity, tree->other_count)
                             : TXM_GROW(tree->folders, tree->capacity, tree->count);
    char *copy = room ? txm_strdup(path) : NULL;
    if (!copy)
        return false;
    if (*known) {
        tree->others[tree->other_count++] = (txm_watched_folder){wd, copy, root_bytes};
        return true;
    }
    memmove(&tree->folders[i + 1], &tree->folders[i], (tree->count - i) * sizeof *tree->folders);
    tree->folders[i] = (txm_watched_folder){wd, copy, root_bytes};
    tree->count++;
    return true;
}

/* *known is set if the folder is already watched, under this or another path. */
static txm_status watch_one(txm_watch_tree *tree, const char *path, size_t root_bytes, bool *known, txm_error *err)
{
    struct stat st;
    int wd = txm_folders_add(tree->fd, path);
    tree->linked |= lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    if (wd < 0 && errno == ENOSPC) {
        /* Changes in folders without a watch are found only by looking at everything. */
        tree->blind = true;
        if (!tree->warned && tree->options->warn)
            tree->options->warn(
                tree->options->user,
                "more folders than this system lets a user watch (fs.inotify.max_user_watches): changes "
                "in the others are found by looking at everything once a minute");
        tree->warned = true;
        *known = false;
        return TXM_OK;
    }
    if (wd < 0)
        return txm_fail_errno(err, errno, "%s: cannot watch the folder", path);
    return insert(tree, wd, path, root_bytes, known)
               ? TXM_OK
               : txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for the watch");
}

/* Changes in this folder are found by looking at everything. A folder that was removed causes no warning. */
static void warn_of_folder(txm_watch_tree *tree, const txm_error *why)
{
    char message[TXM_MESSAGE_BYTES + 64];
    if (why->sys_errno == ENOENT)
        return;
    tree->blind = true;
    snprintf(message, sizeof message, "%s; changes in it are found by looking at everything", why->message);
    if (tree->options->warn)
        tree->options->warn(tree->options->user, message);
}

/* The watch is added before the folder is read, so that a file which appears in between may be seen twice but is never
 * missed. */
static txm_status add_one(txm_watch_tree *tree, txm_pending *p, const char *path, size_t root_bytes,
                          txm_watch_found found, void *user, txm_error *err)
{
    bool known = false, ok = true;
    txm_entries entries = {0};
    txm_status status = watch_one(tree, path, root_bytes, &known, err);
    if (status != TXM_OK || known)
        return status;
    status = txm_entries_read(path, &entries, err);
    for (size_t i = 0; status == TXM_OK && ok && i < entries.count; i++) {
        char *below = txm_path_join(path, entries.items[i].name);
        struct stat st;
        const bool there = below && stat(below, &st) == 0, folder = !there || S_ISDIR(st.st_mode);
        ok = below != NULL;
        if (!ok || !txm_inputs_want(tree->options->inputs, below, root_bytes, folder)) {
            free(below);
        } else if (!there) {
            txm_error why = {0};
            txm_fail_errno(&why, errno, "%s: cannot be watched", below);
            warn_of_folder(tree, &why);
            free(below);
        } else if (folder) {
            ok = txm_pending_push(p, below);
        } else {
            ok = !found || !S_ISREG(st.st_mode) || found(user, below);
            free(below);
        }
    }
    txm_entries_free(&entries);
    return ok ? status : txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for the watch");
}

/* A subfolder that cannot be watched causes a warning; the folder itself causes a failure. */
txm_status txm_watch_tree_add(txm_watch_tree *tree, const char *path, size_t root_bytes, txm_watch_found found,
                              void *user, txm_error *err)
{
    txm_pending p = {0};
    txm_status status = add_one(tree, &p, path, root_bytes, found, user, err);
    for (char *next; status == TXM_OK && (next = txm_pending_pop(&p)); free(next)) {
        txm_error own = {0};
        txm_status added = add_one(tree, &p, next, root_bytes, found, user, &own);
        if (added == TXM_STATUS_NO_MEMORY)
            status = txm_fail_as(err, &own);
        else if (added != TXM_OK)
            warn_of_folder(tree, &own);
    }
    txm_pending_free(&p);
    return status;
}
