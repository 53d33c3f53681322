/* SPDX-License-Identifier: Apache-2.0
 *
 * A store of finished tx files, found by what they were made from: `DIR/ab/cdef....tx`, the digest of the source's
 * bytes and of every setting that shapes the tx file. Shots and projects share it: what one made, the others link.
 *
 * How an object gets into place, the best first:
 *   reflink   shares the disk blocks, is a file of its own otherwise (Btrfs, XFS, bcachefs)
 *   hardlink  is the same file under two names, its time included. Since a tx file must bear its source's time, this is
 *             right only where the object's time is that already, to the second; never otherwise
 *   copy      always right
 * Nothing ever changes an object or a linked tx file in place: both are replaced by renaming only.
 *
 * A linked tx file names the source that it was first made from, unless that was --redact-ed. When an object was last
 * used is its access time, which is set on use: it can be, without touching the other time, and mounts without access
 * times obey.
 */
#ifndef TXM_FARM_STORE_H
#define TXM_FARM_STORE_H
#include <time.h>

#include "mill/convert/hooks.h"
#include "mill/farm/content.h"

/* Path of the object of a conversion: `content` is the digest of the source. New string; NULL when memory is
 * exhausted. */
char *txm_store_path(const char *store, const txm_making *making, const char *settings_key, const char *content);

/* Puts the object at `object` into place at `target` with this time, once it has been verified on the context's
 * threads. `via` ("reflink", "hardlink", "copy") receives how. NOT_FOUND when there is none, CORRUPT when it is damaged
 * or no tx file that Cycles accepts (it is removed then); as verifying and publishing otherwise. */
txm_status txm_store_fetch(txm_context *context, const char *object, const char *target, const struct timespec *mtime,
                           char via[16], txm_error *err);
/* Keeps the finished tx file at `tx` as `object`. What is there already stays. */
txm_status txm_store_keep(const char *object, const char *tx, txm_error *err);
#endif
