/* SPDX-License-Identifier: Apache-2.0
 *
 * The optimum with knowledge of the future.
 *
 * It is the lower bound of all policies: how much a cache would read if it knew all later lookups.
 * It only counts and runs no cache, so its memory is that of its lists: about eight bytes for each use of a tile.
 */
#ifndef TXM_TRACE_OPTIMUM_H
#define TXM_TRACE_OPTIMUM_H
#include "txtile/trace.h"

txm_status txm_optimum(const txm_trace *trace, const txm_replay_options *options, txm_replay_counts *out,
                       txm_error *err);
#endif
