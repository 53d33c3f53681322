/* SPDX-License-Identifier: Apache-2.0
 *
 * Shards: a batch divided among machines that do not talk to each other. Every one of them sees the same inputs and
 * must come to the same division, whatever the state of the tx files is by then, so it rests on the paths and on what
 * the images' headers say they cost, never on what is left to be done.
 */
#ifndef TXM_FARM_SHARD_H
#define TXM_FARM_SHARD_H
#include "mill/farm/batch.h"

/* Puts every item into a shard, 1 to options.shards, and fills batch->list_key. Call once all were looked at and the
 * same work is found. NO_MEMORY, INTERNAL. */
txm_status txm_shards_assign(txm_batch *batch, txm_error *err);

/* Whether this batch settles an item: all but those of other shards. */
bool txm_batch_is_mine(const txm_batch *batch, size_t index);
#endif
