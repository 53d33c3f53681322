/* SPDX-License-Identifier: Apache-2.0
 *
 * The folders under watch: which of the kernel's numbers is which folder.
 *
 * inotify reports a number per folder and a name in it, and never looks below. This keeps which number is which
 * folder, follows folders that appear, move and vanish, and remembers when the kernel's limit on watches was
 * reached: from then on the tree is `blind`, and the watcher looks for itself now and then.
 */
#ifndef TXM_FARM_WATCH_TREE_H
#define TXM_FARM_WATCH_TREE_H
#include "txmill/watch.h"

typedef struct txm_watched_folder {
    int wd;
    char *path; /* owned */
    size_t root_bytes;
} txm_watched_folder;

/* Zero-initialise but for fd and options. */
typedef struct txm_watch_tree {
    int fd;
    const txm_watch_options *options;
    txm_watched_folder *folders; /* by wd */
    size_t count, capacity;
    bool warned; /* that there are more folders than may be watched */
    bool blind;  /* some folders are not watched */
} txm_watch_tree;

/* Called with files of folders that came under watch. False: memory is exhausted. */
typedef bool (*txm_watch_found)(void *user, const char *path);

/* Watches a folder and those below it; what is in them goes to `found` (may be NULL), since it may have come before the
 * watch. A folder below that cannot be read is passed over: it may be gone again. NO_MEMORY; for the folder itself
 * NOT_FOUND, DENIED, NOT_A_FILE, IO. */
txm_status txm_watch_tree_add(txm_watch_tree *tree, const char *path, size_t root_bytes, txm_watch_found found,
                              void *user, txm_error *err);
/* The folder of a number; NULL if there is none (any more). */
const txm_watched_folder *txm_watch_tree_at(const txm_watch_tree *tree, int wd);
/* The kernel has dropped a number. */
void txm_watch_tree_forget(txm_watch_tree *tree, int wd);
/* A folder was moved away or removed, with all below it. */
void txm_watch_tree_remove(txm_watch_tree *tree, const char *path);
void txm_watch_tree_clear(txm_watch_tree *tree);
#endif
