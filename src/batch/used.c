/* SPDX-License-Identifier: Apache-2.0
 * Remembering the tx files that scenes ask for. */
#include "batch/used.h"

#include <stdlib.h>

#include "core/fail.h"
#include "core/mem.h"

txm_status txm_used_new(txm_used **out, txm_error *err)
{
    txm_error_clear(err);
    *out = txm_calloc(1, sizeof **out);
    return *out ? TXM_OK : txm_no_memory(err, NULL);
}

void txm_used_free(txm_used **used)
{
    if (!used || !*used)
        return;
    txm_names_free(&(*used)->files);
    txm_names_free(&(*used)->packed);
    free(*used);
    *used = NULL;
}

txm_status txm_used_add(txm_used *used, const char *tx_path, txm_error *err)
{
    txm_error_clear(err);
    struct stat st;
    char id[TXM_FILE_ID_BYTES];
    if (stat(tx_path, &st) != 0)
        return TXM_OK;
    txm_file_id(&st, id);
    return txm_names_put(&used->files, id) ? TXM_OK : txm_no_memory(err, tx_path);
}

txm_status txm_used_add_packed(txm_used *used, const char *name, txm_error *err)
{
    txm_error_clear(err);
    return txm_names_put(&used->packed, name) ? TXM_OK : txm_no_memory(err, name);
}

bool txm_used_has(const txm_used *used, const struct stat *tx, const char *image_name)
{
    char id[TXM_FILE_ID_BYTES];
    txm_file_id(tx, id);
    return txm_names_has(&used->files, id) || txm_names_has(&used->packed, image_name);
}
