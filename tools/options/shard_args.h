/* SPDX-License-Identifier: Apache-2.0 The shard of this run: from --shard, or from the variables of a Slurm array. */
#ifndef TXM_TOOLS_SHARD_ARGS_H
#define TXM_TOOLS_SHARD_ARGS_H
#include "tools/options/opt.h"

enum { TXM_MAX_SHARDS = 100000 };

typedef struct txm_shard_args {
    uint32_t index, count; /* index from 1; count 0: not divided */
} txm_shard_args;
extern const txm_option txm_shard_options[]; /* --shard */

/* Without --shard, uses the place in a Slurm array. USAGE if that place is unknown. */
txm_status txm_shard_args_finish(txm_shard_args *args, txm_error *err);
#endif
