/* SPDX-License-Identifier: Apache-2.0
 *
 * Watching folders for images that appear or change, through inotify. A file is reported once nothing has happened to
 * it for a while, so that the program that copies or saves it has finished. The list of changed files is bounded: if
 * too many change at once, or the kernel's queue overflows, the caller gets TXM_WATCH_WORK_EVERYTHING instead and looks
 * at all folders again, which is quick for files that are up to date.
 *
 * A folder that vanishes (an unmounted share) is searched for until it is back; then everything is examined. inotify
 * does not report changes that other hosts make on a network file system, so everything is also examined from time to
 * time.
 */
#ifndef TXMILL_WATCH_H
#define TXMILL_WATCH_H

#include <string.h>

#include "txmill/batch.h"
#include "txtile/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Folders under watch. For one thread at a time. */
typedef struct txm_watch txm_watch;

/* The most changed files that are remembered, beyond which everything is examined; and the most that one call of
 * txm_watch_wait reports. */
enum { TXM_WATCH_MOST_PENDING = 4096, TXM_WATCH_MOST_AT_ONCE = 1024 };

/* Which files are watched, and when they are reported. Times are in seconds, 0 or more. */
typedef struct txm_watch_options {
    size_t struct_size;               /* set by txm_watch_options_init */
    const txm_inputs_options *inputs; /* which files count; subfolders are always included; NULL: all images */
    double settle_s;                  /* how long a file must not change before it is reported */
    double rescan_s; /* interval of examining everything; 0: only if events were lost or a folder is back, and every
                        minute while inotify cannot watch all subfolders */
    const volatile int *cancel; /* stop waiting once it is not 0: CANCELLED; may be NULL */
    void *user;
    void (*warn)(void *user, const char *message); /* may be NULL */
} txm_watch_options;

/* Initialises options with the defaults. */
static inline void txm_watch_options_init(txm_watch_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* A change that the caller must examine. */
typedef enum txm_watch_work { TXM_WATCH_WORK_NOTHING, TXM_WATCH_WORK_FILES, TXM_WATCH_WORK_EVERYTHING } txm_watch_work;

/* Starts watching; the first wait returns EVERYTHING. `folders` and what the options point at must outlive the watch.
 * NO_MEMORY, IO if inotify is not available; NOT_FOUND, DENIED, NOT_A_FILE for a folder that cannot be watched from the
 * start. */
TXM_API txm_status txm_watch_new(const char *const *folders, size_t count, const txm_watch_options *options,
                                 txm_watch **out, txm_error *err);
TXM_API void txm_watch_free(txm_watch **watch); /* NULL-safe */

/* Waits until there is something to examine, for at most `seconds`. After FILES, txm_watch_files lists the files; each
 * is reported once. NO_MEMORY, IO, CANCELLED. */
TXM_API txm_status txm_watch_wait(txm_watch *watch, double seconds, txm_watch_work *what, txm_error *err);
/* The files of the last wait. Valid until the next call. */
TXM_API char *const *txm_watch_files(const txm_watch *watch, size_t *count);

/* Reports a file again after `seconds`, or everything if `path` is NULL: for failures that a retry may cure. NO_MEMORY.
 */
TXM_API txm_status txm_watch_again(txm_watch *watch, const char *path, double seconds, txm_error *err);

/* The number of watched folders, subfolders included; and whether the given folder at an index exists at present. */
TXM_API size_t txm_watch_folders(const txm_watch *watch);
TXM_API bool txm_watch_is_there(const txm_watch *watch, size_t index);

#ifdef __cplusplus
}
#endif
#endif
