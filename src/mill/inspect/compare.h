/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares a level of a tx file with the same level of another, tile by tile on all threads. `verify --deep` finds out
 * with it which tiles differ from those of `expected`, which was made from the source again. level_diff.h defines how
 * samples are compared.
 */
#ifndef TXM_INSPECT_COMPARE_H
#define TXM_INSPECT_COMPARE_H
#include "mill/convert/job.h"
#include "mill/inspect/level_diff.h"
#include "txtile/reader.h"

/* The level must have the same size, tiles, channels and type in both files. Tiles of `found` that cannot be decoded
 * are skipped; those of `expected` are a failure. The result does not depend on threads. NO_MEMORY, CANCELLED, and the
 * failures of reading a tile. */
txm_status txm_compare_level(txm_job *job, txm_tx *expected, txm_tx *found, uint32_t level, txm_level_diff *diff,
                             txm_error *err);
#endif
