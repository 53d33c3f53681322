/* SPDX-License-Identifier: Apache-2.0
 *
 * Connects a batch with its store: the store is organised by digests of content and settings, the batch has results of
 * conversions.
 */
#include "mill/farm/stored.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "mill/source/source.h"
#include "txtile/reader.h"

/* Fills in the result of a conversion from the file that was fetched instead. */
static txm_status describe_stored(const char *tx_path, txm_result *result, txm_error *err)
{
    txm_tx *tx = NULL;
    txm_status status = txm_tx_open(tx_path, &tx, err);
    if (status != TXM_OK)
        return status;
    const txm_tx_info *info = txm_tx_info_of(tx);
    result->mono = info->channels == 1 && result->channels > 1;
    result->width = info->width;
    result->height = info->height;
    result->levels = info->levels;
    result->channels = info->channels;
    result->type = info->type;
    result->constant = txm_tx_metadata_of(tx, "oiio:ConstantColor") != NULL;
    result->tx_bytes = info->file_bytes;
    result->section_bytes = info->section_bytes;
    txm_tx_close(&tx);
    return TXM_OK;
}

/* If the store fails, the conversion does not: the file is then made as without a store. */
bool txm_batch_fetch(txm_batch *batch, const txm_making *making, txm_result *result, char **object)
{
    char content[TXM_CONTENT_HEX], via[sizeof result->via];
    txm_error err = {0};
    txm_status status = txm_content_hash(making->source, batch->context->cancel, content, &err);
    /* The digest must be that of the file that was opened. */
    if (status == TXM_OK)
        status = txm_source_check_unchanged(making->opened, &err);
    if (status == TXM_OK && !(*object = txm_store_path(batch->options.store, making, result->settings_key, content)))
        status = txm_no_memory(&err, making->source);
    if (status == TXM_OK)
        status = txm_store_fetch(batch->context, *object, making->target, &making->info->mtime, via, &err);
    if (status == TXM_OK) {
        snprintf(result->via, sizeof result->via, "%s", via);
        if (describe_stored(making->target, result, &err) != TXM_OK)
            txm_batch_warn(batch, "%s; the file was put into place, but its size is not known", err.message);
        return true;
    }
    /* Checks the object itself: ENOENT may also mean that the target's folder is gone. */
    bool not_kept = *object && err.sys_errno == ENOENT && access(*object, F_OK) != 0;
    if (status != TXM_OK && !not_kept && status != TXM_STATUS_CANCELLED)
        txm_batch_warn(batch, "%s; converted instead", err.message);
    return false;
}

/* If the store cannot take the file, the user gets a warning. */
void txm_batch_keep(txm_batch *batch, const txm_making *making, const char *object)
{
    txm_error err = {0};
    if (object && txm_store_keep(object, making->target, &err) != TXM_OK)
        txm_batch_warn(batch, "%s; not kept in the store", err.message);
}
