/* SPDX-License-Identifier: Apache-2.0
 *
 * Creates and frees the batch, decides an input's settings and output path from rules and options, and reports results
 * to the caller's events, one at a time. plan.c fills the items in, run.c makes them.
 */
#include "mill/farm/batch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/text.h"
#include "tile/terms/settings.h"

txm_status txm_batch_new(txm_context *context, const txm_inputs *inputs, const txm_batch_options *options,
                         txm_batch **out, txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    txm_batch *b = txm_calloc(1, sizeof *b);
    if (!b)
        return txm_no_memory(err, NULL);
    b->context = context;
    b->inputs = inputs;
    txm_status status = txm_options_take(&b->options, sizeof b->options, options, "txm_batch_options", err);
    /* The caller may change settings and events afterwards. */
    if (!status)
        status = txm_settings_take(&b->settings, b->options.settings, err);
    if (!status)
        status = txm_options_take(&b->events, sizeof b->events, b->options.events, "txm_batch_events", err);
    if (!status && b->options.shard > b->options.shards)
        status = txm_fail(err, TXM_STATUS_USAGE, "there is no shard %u of %u", b->options.shard, b->options.shards);
    if (status) {
        free(b);
        return status;
    }
    b->count = txm_inputs_count(inputs);
    pthread_mutex_init(&b->names_lock, NULL);
    pthread_mutex_init(&b->events_lock, NULL);
    b->items = txm_calloc(b->count, sizeof *b->items);
    b->order = txm_calloc(b->count, sizeof *b->order);
    if (b->count && (!b->items || !b->order)) {
        txm_batch_free(&b);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for a batch of %zu files", txm_inputs_count(inputs));
    }
    *out = b;
    return TXM_OK;
}

void txm_batch_free(txm_batch **batch)
{
    txm_batch *b = batch ? *batch : NULL;
    if (!b)
        return;
    for (size_t i = 0; i < b->space_count; i++)
        txm_context_free(&b->spaces[i].context);
    free(b->spaces);
    free(b->items);
    free(b->order);
    txm_names_free(&b->names);
    pthread_mutex_destroy(&b->names_lock);
    pthread_mutex_destroy(&b->events_lock);
    free(b);
    *batch = NULL;
}

bool txm_batch_cancelled(const txm_batch *batch)
{
    return txm_is_cancelled(batch->context->cancel);
}

/* Called before each item: after a failure or a request to stop, running conversions end, but no new one begins. */
bool txm_batch_may_start(const txm_batch *batch)
{
    return !txm_batch_cancelled(batch) && !atomic_load(&batch->exhausted) &&
           !(batch->options.fail_fast && atomic_load(&batch->failed));
}

txm_settings txm_batch_settings_of(const txm_batch *batch, size_t index)
{
    const txm_input *input = txm_inputs_at(batch->inputs, index);
    txm_settings s = batch->settings;
    s.colorspace = batch->items[index].colorspace;
    s.alpha = batch->items[index].requested_alpha;
    s.limit_px = batch->items[index].limit_px;
    if (input->cache_dir)
        s.cache_dir = input->cache_dir;
    return s;
}

const char *txm_batch_output_of(const txm_batch *batch, size_t index)
{
    const txm_input *input = txm_inputs_at(batch->inputs, index);
    return input->output ? input->output : batch->options.output;
}

void txm_batch_tell(txm_batch *batch, size_t index, const txm_result *result, const txm_error *err)
{
    static const txm_error no_error;
    const txm_item *item = &batch->items[index];
    const txm_batch_file file = {
        .index = index,
        .input = txm_inputs_at(batch->inputs, index),
        .decided_by = item->decided_by,
        .result = result,
        .err = err ? err : &no_error,
        .cost = item->cost,
        .same_as = item->same_as == TXM_NO_INDEX ? NULL : txm_inputs_at(batch->inputs, (size_t)item->same_as),
        .lint = item->lint,
        .shard = item->shard,
        .weight_s = (double)item->weight,
        .content = item->content,
        .context = item->context,
        .by_preset = item->by_preset};
    if (err && err->status != TXM_OK)
        atomic_store(&batch->failed, true);
    pthread_mutex_lock(&batch->events_lock);
    if (batch->events.done)
        batch->events.done(batch->events.user, &file);
    pthread_mutex_unlock(&batch->events_lock);
}

/* Warnings are about the run as a whole; failures of inputs are reported with the input. */
void txm_batch_warn(txm_batch *batch, const char *format, ...)
{
    char message[TXM_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    txm_vformat(message, sizeof message, format, args);
    va_end(args);
    pthread_mutex_lock(&batch->events_lock);
    if (batch->events.warn)
        batch->events.warn(batch->events.user, message);
    pthread_mutex_unlock(&batch->events_lock);
}

void txm_item_fail(txm_batch *b, txm_item *item, const txm_error *err)
{
    pthread_mutex_lock(&b->names_lock);
    item->failure = (txm_failure){txm_names_copy(&b->names, err->message), err->subject_bytes, err->advice_at};
    pthread_mutex_unlock(&b->names_lock);
    item->status = err->status;
    if (!item->failure.message)
        atomic_store(&b->exhausted, true);
}

/* A txm_result has room for long strings, too much for half a million items. Items point into a set of strings instead.
 */
bool txm_item_take(txm_batch *batch, txm_item *item, const txm_result *result)
{
    txm_names *n = &batch->names;
    pthread_mutex_lock(&batch->names_lock);
    item->tx_path = txm_names_copy(n, result->tx_path);
    item->requested = txm_names_put(n, result->colorspace);
    item->detected = txm_names_put(n, result->detected);
    item->reader = txm_names_put(n, result->reader);
    item->reason = txm_names_put(n, result->reason);
    item->settings_key = txm_names_put(n, result->settings_key);
    item->shows = txm_names_put(n, result->shows);
    item->judged = txm_names_put(n, result->judged);
    pthread_mutex_unlock(&batch->names_lock);
    item->outcome = (uint8_t)result->outcome;
    item->state = (uint8_t)result->state;
    item->harmless = result->harmless;
    item->otherwise = result->otherwise;
    item->alpha = (uint8_t)result->alpha;
    item->type = (uint8_t)result->type;
    item->channels = (uint8_t)result->channels;
    item->width = result->width;
    item->height = result->height;
    item->image_width = result->image_width;
    item->image_height = result->image_height;
    item->source_bytes = result->source_bytes;
    item->reader_bytes = result->reader_bytes;
    item->image_time = result->image_time;
    item->seconds = (float)result->seconds;
    return (item->tx_path || !result->tx_path) && item->requested && item->detected && item->reader && item->reason &&
           item->settings_key && (item->shows || !result->shows) && (item->judged || !result->judged);
}

txm_result txm_item_expand(const txm_item *item)
{
    txm_result r = {.outcome = (txm_outcome)item->outcome,
                    .otherwise = item->otherwise,
                    .tx_path = (char *)item->tx_path,
                    .shows = (char *)item->shows,
                    .judged = (char *)item->judged,
                    .state = (txm_tx_state)item->state,
                    .harmless = item->harmless,
                    .image_time = item->image_time,
                    .alpha = (txm_alpha)item->alpha,
                    .width = item->width,
                    .height = item->height,
                    .image_width = item->image_width,
                    .image_height = item->image_height,
                    .channels = item->channels,
                    .type = (txm_type)item->type,
                    .source_bytes = item->source_bytes,
                    .reader_bytes = item->reader_bytes,
                    .seconds = item->seconds};
    r.levels = txm_level_count(item->width, item->height);
    snprintf(r.colorspace, sizeof r.colorspace, "%s", item->requested);
    snprintf(r.detected, sizeof r.detected, "%s", item->detected);
    snprintf(r.reader, sizeof r.reader, "%s", item->reader);
    snprintf(r.reason, sizeof r.reason, "%s", item->reason);
    snprintf(r.settings_key, sizeof r.settings_key, "%s", item->settings_key);
    return r;
}
