/* SPDX-License-Identifier: Apache-2.0
 *
 * Shards divide a batch among machines that do not communicate. Each of them sees the same inputs and must compute the
 * same division, whatever the state of the tx files is at that time. It therefore depends only on the paths and on the
 * costs estimated from the images' headers.
 */
#ifndef TXM_FARM_SHARD_H
#define TXM_FARM_SHARD_H
#include "mill/farm/batch.h"

/* Assigns every item to a shard, 1 to options.shards, and fills in batch->list_key. Call it once, after all inputs were
 * looked at and txm_find_same_work has run. NO_MEMORY, INTERNAL. */
txm_status txm_shards_assign(txm_batch *batch, txm_error *err);

/* Whether this batch handles an item: all except those of other shards. */
bool txm_batch_is_mine(const txm_batch *batch, size_t index);
#endif
