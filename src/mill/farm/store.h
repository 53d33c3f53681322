/* SPDX-License-Identifier: Apache-2.0
 *
 * A store of finished tx files, which are found by what they were made from. The path of an object is
 * `DIR/ab/cdef....tx`, the digest of the source's bytes and of every setting that affects the tx file. Shots and
 * projects share a store: a file that one of them made is linked by the others.
 *
 * There are three ways to put an object into place, the best first:
 *   reflink   shares the disk blocks, but is otherwise a file of its own (Btrfs, XFS, bcachefs)
 *   hardlink  is the same file under two names. Since a tx file must have its source's modification time, this is used
 *             only if the object already has that time, to the second
 *   copy      always works
 * Objects and linked tx files are never changed in place, only replaced by renaming.
 *
 * A linked tx file names the source that it was first made from, unless it was made with --redact. The last use of an
 * object is recorded in its access time, which is set explicitly: that keeps the modification time, and also works on
 * mounts that do not update access times.
 */
#ifndef TXM_FARM_STORE_H
#define TXM_FARM_STORE_H
#include <time.h>

#include "mill/convert/hooks.h"
#include "mill/farm/content.h"

/* The path of the object of a conversion; `content` is the digest of the source. New string; NULL if memory is
 * exhausted. */
char *txm_store_path(const char *store, const txm_making *making, const char *settings_key, const char *content);

/* Verifies the object on the context's threads and puts it into place at `target` with this time. `via` receives how:
 * "reflink", "hardlink", "copy". NOT_FOUND if it does not exist, CORRUPT if it is damaged or not a tx file that Cycles
 * accepts (it is then removed); otherwise fails as verifying and publishing do. */
txm_status txm_store_fetch(txm_context *context, const char *object, const char *target, const struct timespec *mtime,
                           char via[16], txm_error *err);
/* Adds the finished tx file at `tx` as `object`. An object that exists is kept. */
txm_status txm_store_keep(const char *object, const char *tx, txm_error *err);
#endif
