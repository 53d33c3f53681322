/* SPDX-License-Identifier: Apache-2.0
 *
 * The watched folders and the numbers that inotify gives them. inotify reports the number of a folder and a name in
 * it, and does not watch subfolders. This table maps numbers to folders, follows folders that appear, move and vanish,
 * and records in `blind` that the kernel's limit on watches was reached: from then on the watcher looks at everything
 * periodically.
 */
#ifndef TXM_FARM_WATCH_TREE_H
#define TXM_FARM_WATCH_TREE_H
#include "txmill/watch.h"

typedef struct txm_watched_folder {
    int wd;
    char *path; /* owned */
    size_t root_bytes;
} txm_watched_folder;

/* Zero-initialise, except for fd and options. */
typedef struct txm_watch_tree {
    int fd;
    const txm_watch_options *options;
    txm_watched_folder *folders; /* sorted by wd */
    size_t count, capacity;
    txm_watched_folder *others; /* further paths of folders in the table, which links lead to */
    size_t other_count, other_capacity;
    bool warned; /* the warning about the limit was given */
    bool blind;  /* some folders are not watched */
    bool linked; /* some folders were reached through links */
} txm_watch_tree;

/* Called with the files in a folder that is newly watched. Returns false if memory is exhausted. */
typedef bool (*txm_watch_found)(void *user, const char *path);

/* Watches a folder and its subfolders; the files in them are passed to `found` (may be NULL), since they may be older
 * than the watch. A subfolder that cannot be read is skipped: it may have been removed. NO_MEMORY; for the folder
 * itself NOT_FOUND, DENIED, NOT_A_FILE, IO. */
txm_status txm_watch_tree_add(txm_watch_tree *tree, const char *path, size_t root_bytes, txm_watch_found found,
                              void *user, txm_error *err);
/* The folder with a watch number; NULL if there is none, or none any more. */
const txm_watched_folder *txm_watch_tree_at(const txm_watch_tree *tree, int wd);
/* Removes the entry of a number that the kernel has dropped. */
void txm_watch_tree_forget(txm_watch_tree *tree, int wd);
/* Removes a folder that was moved away or deleted, or a link to one, with its subfolders. Those that another path still
 * leads to are watched under that path, as with txm_watch_tree_add. NO_MEMORY. */
txm_status txm_watch_tree_remove(txm_watch_tree *tree, const char *path, txm_watch_found found, void *user,
                                 txm_error *err);
void txm_watch_tree_clear(txm_watch_tree *tree);
#endif
