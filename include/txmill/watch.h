/* SPDX-License-Identifier: Apache-2.0
 *
 * Watching folders for images that appear or change, through inotify. A file is handed out once nothing has happened to
 * it for a while, so that who copies or saves it is done. What is kept is bounded: where too much happens at once, or
 * the kernel lost count, the answer is "look at everything again", which costs little for what is up to date.
 *
 * A folder that vanishes (an unmounted share) is looked for until it is back; then everything is looked at. inotify
 * does not see what other hosts do on a network file system: for those everything is looked at from time to time.
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

/* Files that are kept in mind, beyond which everything is looked at; files that are handed out at once. */
enum { TXM_WATCH_MOST_PENDING = 4096, TXM_WATCH_MOST_AT_ONCE = 1024 };

/* What is watched for, and how patiently: times in seconds, 0 or more. */
typedef struct txm_watch_options {
    size_t struct_size;               /* set by txm_watch_options_init */
    const txm_inputs_options *inputs; /* which files count; folders are always gone into; NULL: all images */
    double settle_s;                  /* without a change until a file is handed out */
    double rescan_s;                  /* between looks at everything; 0: only when there is a reason */
    const volatile int *cancel;
    void *user;
    void (*warn)(void *user, const char *message); /* may be NULL */
} txm_watch_options;

/* Opens options: every member asks for nothing in particular. */
static inline void txm_watch_options_init(txm_watch_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* What there is to do. */
typedef enum txm_watch_work { TXM_WATCH_WORK_NOTHING, TXM_WATCH_WORK_FILES, TXM_WATCH_WORK_EVERYTHING } txm_watch_work;

/* `folders` and what the options point at must outlive the watch. The first thing there is to do is everything.
 * NO_MEMORY, IO when there is no inotify; NOT_FOUND, DENIED, NOT_A_FILE for a folder that cannot be watched from the
 * start. */
TXM_API txm_status txm_watch_new(const char *const *folders, size_t count, const txm_watch_options *options,
                                 txm_watch **out, txm_error *err);
TXM_API void txm_watch_free(txm_watch **watch); /* NULL-safe */

/* Waits until there is something to do, at most `seconds`. With FILES, txm_watch_files tells which; they count as
 * handed out. NO_MEMORY, IO, CANCELLED. */
TXM_API txm_status txm_watch_wait(txm_watch *watch, double seconds, txm_watch_work *what, txm_error *err);
/* Valid until the next call. */
TXM_API char *const *txm_watch_files(const txm_watch *watch, size_t *count);

/* Hands a file out again after `seconds`, or, for NULL, everything: it failed in a way that a retry may cure.
 * NO_MEMORY. */
TXM_API txm_status txm_watch_again(txm_watch *watch, const char *path, double seconds, txm_error *err);

/* Folders under watch, and whether the one at this index of those given is there. */
TXM_API size_t txm_watch_folders(const txm_watch *watch);
TXM_API bool txm_watch_is_there(const txm_watch *watch, size_t index);

#ifdef __cplusplus
}
#endif
#endif
