/* SPDX-License-Identifier: Apache-2.0
 * For launches that are never repeated, because every lookup uses what it finds. */
#ifndef TXM_CACHE_FRAMES_H
#define TXM_CACHE_FRAMES_H
#include "tile/base/shared.h"
#include "txtile/cache.h"

/* Lookups in views of this viewer need not find all of their tiles at once. For other viewers, batches keep as many tiles
 * as one lookup can need, 32, even beyond the budget. */
TXM_SHARED void txm_cache_viewer_never_repeats(txm_cache_viewer *viewer);
#endif
