/* SPDX-License-Identifier: Apache-2.0
 * The tx files that logs of runs name. */
#include "tools/make/run_tx.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "tools/make/run_log.h"

static txm_status add(txm_run_tx *tx, const char *path, txm_error *err)
{
    txm_name *entry = txm_names_entry(&tx->names, path);
    if (entry && entry->value)
        return TXM_OK;
    if (entry && tx->list.count == tx->capacity) {
        size_t capacity = tx->capacity ? 2 * tx->capacity : 64;
        char **items = realloc(tx->list.items, txm_mul(capacity, sizeof *items));
        if (items) {
            tx->list.items = items;
            tx->capacity = capacity;
        }
    }
    if (!entry || tx->list.count == tx->capacity)
        return txm_fail(err, TXM_NO_MEMORY, "out of memory for the list of tx files");
    entry->value = 1;
    tx->list.items[tx->list.count++] = (char *)entry->text;
    return TXM_OK;
}

static txm_status take(void *user, const cJSON *object, txm_error *err)
{
    const char *state = txm_run_log_text(object, "state");
    if (!state || (strcmp(state, "created") != 0 && strcmp(state, "up-to-date") != 0))
        return TXM_OK;
    char *path = txm_run_log_path(object, "tx");
    txm_status status = path ? add(user, path, err) : TXM_OK;
    free(path);
    return status;
}

txm_status txm_run_tx_read(txm_run_tx *tx, const txm_operands *operands, const txm_opt_list *logs, txm_error *err)
{
    txm_status status = TXM_OK;
    txm_run_log_counts counts;
    for (size_t i = 0; status == TXM_OK && i < operands->count; i++)
        status = add(tx, operands->items[i], err);
    for (size_t i = 0; status == TXM_OK && i < logs->count; i++)
        status = txm_run_log_read(logs->items[i], take, tx, &counts, err);
    return status;
}

void txm_run_tx_free(txm_run_tx *tx)
{
    txm_names_free(&tx->names);
    free(tx->list.items);
    *tx = (txm_run_tx){0};
}
