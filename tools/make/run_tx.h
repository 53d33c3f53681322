/* SPDX-License-Identifier: Apache-2.0
 * The tx files that logs of runs name, for commands that take tx files. */
#ifndef TXM_TOOLS_RUN_TX_H
#define TXM_TOOLS_RUN_TX_H
#include "tools/options/opt.h"
#include "txmill/batch.h"

/* Adds the tx files that the logs say were made or up to date, each once, and none that is there already. As
 * txm_run_log_read. */
txm_status txm_run_tx_read(txm_inputs *inputs, const txm_opt_list *logs, txm_error *err);
#endif
