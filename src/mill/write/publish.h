/* SPDX-License-Identifier: Apache-2.0
 *
 * Publishing: a file appears under its name complete or not at all.
 *
 * The temporary is in the target's folder (rename must not cross file systems) under a name that is unique over
 * hosts and processes, `.<name>.<host>-<machine>-<pid>-<random>.txm-tmp` (see tile/base/owner.h), so that sweepers can
 * tell whose it is.
 */
#ifndef TXM_WRITE_PUBLISH_H
#define TXM_WRITE_PUBLISH_H
#include <stdbool.h>
#include <time.h>

#include "txtile/status.h"

typedef struct txm_publish txm_publish;

/* Where the target is: decides whether its folder is made, with its parents, and what a failure advises. */
typedef enum txm_publish_place {
    TXM_PUBLISH_IN_CACHE,      /* a cache folder: made if need be */
    TXM_PUBLISH_IN_FOLDER,     /* a folder that the user named: it must be there */
    TXM_PUBLISH_IN_NEW_FOLDER, /* the same, made if need be */
} txm_publish_place;

/* Opens a temporary for `target`. A target that is a symbolic link will be replaced, not followed. */
txm_status txm_publish_begin(const char *target, txm_publish_place place, txm_publish **out, txm_error *err);
/* Read-write descriptor of the temporary, owned by the publish object; its path for libraries that want one. */
int txm_publish_fd(const txm_publish *publish);
const char *txm_publish_temp_path(const txm_publish *publish);
/* Fills the temporary with the content of the open file `from`. Share: both are the same blocks on the disk, where the
 * file system can; whether it was done. Copy: `name` is for messages; CHANGED when other than the file's size arrives.
 */
bool txm_publish_share(const txm_publish *publish, int from);
txm_status txm_publish_copy(const txm_publish *publish, int from, const char *name, txm_error *err);
/* For several files that appear together: what a commit does before its rename, which it then leaves out. The
 * descriptor is closed. On failure *publish is to be aborted. */
txm_status txm_publish_settle(txm_publish *publish, const struct timespec *mtime, txm_error *err);
/* Sets the mtime (seconds and nanoseconds) and the mode of the file that is replaced, checks that everything reached
 * the file, renames it over the target, and
 * consumes *publish in every case. On failure the temporary is gone and a previous target untouched. */
txm_status txm_publish_commit(txm_publish **publish, const struct timespec *mtime, txm_error *err);
/* Removes the temporary. NULL-safe; consumes *publish. */
void txm_publish_abort(txm_publish **publish);
/* Removes every temporary of this process: async-signal-safe, for handlers of SIGINT and SIGTERM. */
void txm_publish_abort_all(void);
#endif
