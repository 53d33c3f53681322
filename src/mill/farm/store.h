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
#include "mill/farm/batch.h"

/* The SHA-256 of a file's bytes. Stores are shared, so it must not be possible to construct two images with the same
 * digest. `cancel` may be NULL. NOT_FOUND, DENIED, IO, CANCELLED, NO_MEMORY. */
txm_status txm_content_hash(const char *path, const volatile int *cancel, char out[TXM_CONTENT_HEX], txm_error *err);

/* The path of the object of a conversion; `content` is the digest of the source. New string; NULL if memory is
 * exhausted. */
char *txm_store_path(const char *store, const txm_making *making, const char *settings_key, const char *content);

/* The converter's hooks that fetch files from the store of a batch and add them to it.
 *
 * Puts the file from the store into place, after it was verified on the context's threads; false if the store lacks it,
 * or fails, which causes a warning. *object (free()) receives the path under which the file is to be added after it was
 * made; NULL if it is not. */
bool txm_batch_fetch(txm_batch *batch, const txm_making *making, txm_result *result, char **object);
/* Puts a copy of making->fresh into place. Failures cause a warning, and the image is converted. */
bool txm_batch_copy(txm_batch *batch, const txm_making *making, txm_result *result);
/* Adds a file that was made, unless the store has it. Failures cause warnings, because the conversion succeeded. */
void txm_batch_keep(txm_batch *batch, const txm_making *making, const char *object);
#endif
