/* SPDX-License-Identifier: Apache-2.0
 * The tx files that logs of runs name, for commands that take tx files. */
#ifndef TXM_TOOLS_RUN_TX_H
#define TXM_TOOLS_RUN_TX_H
#include "batch/names.h"
#include "tools/options/opt.h"

/* Zero-initialise. `items` holds the operands, then the tx files of the logs that were made or up to date, each once.
 */
typedef struct txm_run_tx {
    txm_names names;
    txm_operands list;
    size_t capacity;
} txm_run_tx;

/* As txm_run_log_read. */
txm_status txm_run_tx_read(txm_run_tx *tx, const txm_operands *operands, const txm_opt_list *logs, txm_error *err);
void txm_run_tx_free(txm_run_tx *tx);
#endif
