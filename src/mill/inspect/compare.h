/* SPDX-License-Identifier: Apache-2.0
 *
 * A level of a tx file against the same level of another, tile by tile on all threads.
 *
 * Used by `verify --deep`, where `expected` is made anew from the source, to find out which tiles differ. Tiles
 * are decoded by the readers that everybody uses; how far samples are apart is level_diff.h's business.
 */
#ifndef TXM_INSPECT_COMPARE_H
#define TXM_INSPECT_COMPARE_H
#include "mill/convert/job.h"
#include "mill/inspect/level_diff.h"
#include "txtile/reader.h"

/* The files must have the level in one size, with the same tiles, channels and type. Tiles of `found` that cannot be
 * decoded are passed over; those of `expected` are a failure. The result does not depend on threads. NO_MEMORY,
 * CANCELLED, what reading a tile fails with. */
txm_status txm_compare_level(txm_job *job, txm_tx *expected, txm_tx *found, uint32_t level, txm_level_diff *diff,
                             txm_error *err);
#endif
