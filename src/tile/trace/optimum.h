/* SPDX-License-Identifier: Apache-2.0
 * The optimum of whoever knows the future.
 *
 * What `txmill replay --policy opt` reports as the floor: how much would be read if the cache knew what
 * comes. It plays no cache at all, only counts, so its memory is that of its lists: about eight bytes for
 * each use of a tile. */
#ifndef TXM_TRACE_OPTIMUM_H
#define TXM_TRACE_OPTIMUM_H
#include "txtile/trace.h"

txm_status txm_optimum(const txm_trace *trace, const txm_replay_options *options, txm_replay_counts *out,
                       txm_error *err);
#endif
