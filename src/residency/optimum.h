/* SPDX-License-Identifier: Apache-2.0
 * The optimum of whoever knows the future. */
#ifndef TXM_RESIDENCY_OPTIMUM_H
#define TXM_RESIDENCY_OPTIMUM_H
#include "txmill/trace.h"

txm_status txm_optimum(const txm_trace *trace, const txm_replay_options *options, txm_replay_counts *out,
                       txm_error *err);
#endif
