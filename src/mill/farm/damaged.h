/* SPDX-License-Identifier: Apache-2.0
 * Images that could not be read to their end. A look at their headers does not show it, so planning would announce them
 * again and again. */
#ifndef TXM_FARM_DAMAGED_H
#define TXM_FARM_DAMAGED_H
#include <sys/stat.h>

#include "txtile/status.h"

/* Remembers a failure that says something about the image itself; ignores all others, and an image whose size or time
 * (s) is no longer the one that was read. It is lost without a message if it cannot be written. */
void txm_damaged_remember(const char *image, uint64_t read_bytes, int64_t read_time, const txm_error *failure);
/* Repeats the failure, if it is remembered for the image with this status; else OK. */
txm_status txm_damaged_recall(const char *image, const struct stat *st, txm_error *err);
/* Forgets it, because the image was read. */
void txm_damaged_forget(const char *image);
#endif
