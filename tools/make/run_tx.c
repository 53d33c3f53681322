/* SPDX-License-Identifier: Apache-2.0
 *
 * The tx files that logs of runs name.
 *
 * In: logs. Out: their tx files as inputs; paths that were relative count from the folder that the run was started in.
 */
#include "tools/make/run_tx.h"

#include <stdlib.h>
#include <string.h>

#include "batch/names.h"
#include "core/fail.h"
#include "core/mem.h"
#include "tools/make/run_log.h"

typedef struct adding {
    txm_inputs *inputs;
    txm_names seen;
} adding;

static txm_status remember(adding *a, const char *path, bool *is_new, txm_error *err)
{
    txm_name *entry = txm_names_entry(&a->seen, path);
    if (!entry)
        return txm_no_memory(err, NULL);
    *is_new = entry->value++ == 0;
    return TXM_OK;
}

static txm_status take(void *user, const cJSON *object, txm_error *err)
{
    adding *a = user;
    const char *state = txm_run_log_text(object, "state");
    bool is_new = false;
    if (!state || (strcmp(state, "created") != 0 && strcmp(state, "up-to-date") != 0))
        return TXM_OK;
    char *path = txm_run_log_path(object, "tx");
    txm_status status = path ? remember(a, path, &is_new, err) : TXM_OK;
    const txm_input entry = {.path = path};
    if (status == TXM_OK && is_new)
        status = txm_inputs_add_entry(a->inputs, &entry, err);
    free(path);
    return status;
}

txm_status txm_run_tx_read(txm_inputs *inputs, const txm_opt_list *logs, txm_error *err)
{
    adding a = {.inputs = inputs};
    txm_status status = TXM_OK;
    txm_run_log_counts counts;
    bool is_new;
    for (size_t i = 0; status == TXM_OK && i < txm_inputs_count(inputs); i++)
        status = remember(&a, txm_inputs_at(inputs, i)->path, &is_new, err);
    for (size_t i = 0; status == TXM_OK && i < logs->count; i++)
        status = txm_run_log_read(logs->items[i], take, &a, &counts, err);
    txm_names_free(&a.seen);
    return status;
}
