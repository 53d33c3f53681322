/* SPDX-License-Identifier: Apache-2.0
 *
 * Publishing: a file appears under its name complete or not at all.
 *
 * The temporary is in the target's folder (rename must not cross file systems) under a name that is unique across hosts
 * and processes, `.<name>.<host>-<machine>-<pid>-<random>.txm-tmp` (see base/os/owner.h), from which sweepers can
 * tell its owner.
 */
#ifndef TXM_WRITE_PUBLISH_H
#define TXM_WRITE_PUBLISH_H
#include <stdbool.h>
#include <time.h>

#include "txtile/status.h"

typedef struct txm_publish txm_publish;

/* The target's location, which determines whether its folder is made, including parents, and what a failure advises. */
typedef enum txm_publish_place {
    TXM_PUBLISH_IN_CACHE,      /* a cache folder, made if necessary */
    TXM_PUBLISH_IN_FOLDER,     /* a folder that the user named, which must exist */
    TXM_PUBLISH_IN_NEW_FOLDER, /* the same, made if necessary */
} txm_publish_place;

/* Opens a temporary for `target`. If the target is a symbolic link, the link itself is replaced. */
txm_status txm_publish_begin(const char *target, txm_publish_place place, txm_publish **out, txm_error *err);
/* The read-write descriptor of the temporary, which the publish object owns, and its path for libraries that need
 * one. */
int txm_publish_fd(const txm_publish *publish);
const char *txm_publish_temp_path(const txm_publish *publish);
/* Fills the temporary with the content of the open file `from`, if txm_file_share cannot. `name` is for messages;
 * CHANGED if the amount of data differs from the file's size. */
txm_status txm_publish_copy(const txm_publish *publish, int from, const char *name, txm_error *err);
/* For several files that should appear together: does the steps of a commit before the rename, which the commit then
 * omits. The descriptor is closed. After a failure, *publish has to be aborted. */
txm_status txm_publish_settle(txm_publish *publish, const struct timespec *mtime, txm_error *err);
/* Sets the mtime (seconds and nanoseconds; UNSUPPORTED if the file system keeps another second) and the mode of the
 * file that is replaced, checks that all data was written, renames the temporary over the target, and consumes *publish
 * in any case. On failure the temporary is removed and an existing target is unchanged. */
txm_status txm_publish_commit(txm_publish **publish, const struct timespec *mtime, txm_error *err);
/* Removes the temporary. NULL-safe; consumes *publish. */
void txm_publish_abort(txm_publish **publish);
/* Removes every temporary of this process. Async-signal-safe, for handlers of SIGINT and SIGTERM. */
void txm_publish_abort_all(void);

/* Gives a finished file another modification time. A file that has other hard links, as those of a store do, is
 * replaced by a copy, since the other links are tx files of other images, whose times must stay. So is a file of
 * another user, who alone may set its time. UNSUPPORTED as above. */
txm_status txm_publish_time(const char *path, const struct timespec *time, txm_error *err);
#endif
