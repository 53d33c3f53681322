/* SPDX-License-Identifier: Apache-2.0
 *
 * Planning a batch in three passes: decide the settings of each input from rules and options; look at all inputs in
 * parallel (header, name of the tx file, whether it is fresh); and order the files to make by their estimated cost,
 * largest first, and assign them to shards. Inputs that mean the same tx file are found in between. Afterwards each
 * item is up to date, to be made, or failed; a failed input does not affect the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/farm/batch.h"
#include "mill/farm/inputs.h"
#include "mill/farm/store.h"
#include "mill/rules/kind.h"
#include "txmill/inspect.h"

/* The context for a working space: that of the input's config if it has the same one. */
static txm_context *context_for(txm_batch *b, size_t index, const char *working_space, txm_error *err)
{
    txm_context *config = b->options.contexts ? b->options.contexts[index] : NULL;
    txm_context *base = config ? config : b->context;
    const char *own = txm_color_role(base->color, "scene_linear");
    const char *asked = working_space ? txm_color_canonical(base->color, working_space) : NULL;
    if (!working_space || (own && asked && strcmp(own, asked) == 0))
        return base;
    for (size_t i = 0; i < b->space_count; i++)
        if (b->spaces[i].base == base && strcmp(b->spaces[i].name, working_space) == 0)
            return b->spaces[i].context;
    txm_batch_space *grown = realloc(b->spaces, txm_mul(b->space_count + 1, sizeof *grown));
    if (!grown) {
        txm_no_memory(err, NULL);
        return NULL;
    }
    b->spaces = grown;
    txm_batch_space s = {.base = base, .name = working_space};
    if (txm_context_derive(base, working_space, &s.context, err) != TXM_OK)
        return NULL;
    b->spaces[b->space_count++] = s;
    return s.context;
}

static bool decide(txm_batch *b, size_t index, txm_error *err)
{
    const txm_input *input = txm_inputs_at(b->inputs, index);
    txm_item *item = &b->items[index];
    bool said = input->from_scene || input->colorspace || input->alpha;
    txm_rule rule;
    *item = (txm_item){.same_as = TXM_NO_INDEX, .colorspace = input->colorspace, .requested_alpha = input->alpha};
    if (txm_rules_decide(input->ruled ? NULL : b->options.rules, input, &b->settings, &rule)) {
        char text[512];
        item->colorspace = input->colorspace ? input->colorspace : rule.colorspace;
        item->requested_alpha = input->alpha ? input->alpha : rule.alpha;
        snprintf(text, sizeof text, "%s (%s)", rule.glob, rule.origin);
        item->decided_by = txm_names_put(&b->names, text);
        item->by_preset = rule.by_preset;
    } else if (said) {
        item->decided_by = input->decided_by ? input->decided_by : input->origin;
        item->by_preset = input->by_preset;
    }
    if (!item->colorspace && !input->from_scene)
        item->colorspace = b->settings.colorspace;
    if (!item->requested_alpha && !input->from_scene)
        item->requested_alpha = b->settings.alpha;
    item->limit_px = txm_input_limit(input, input->ruled ? NULL : b->options.rules, b->settings.limit_px);
    item->context = context_for(b, index, input->working_space, err);
    return item->context != NULL;
}

/* Decodes the tiles: a file with damaged ones is made again. */
static txm_status examine_tiles(const char *path, txm_item *item, txm_result *result, txm_error *err)
{
    const txm_verify_options how = {.struct_size = sizeof(txm_verify_options), .source = path};
    txm_verdict verdict;
    if (result->outcome != TXM_OUTCOME_UP_TO_DATE)
        return TXM_OK;
    txm_status status = txm_judge(item->context, result->tx_path, &how, &verdict, err);
    if (status != TXM_OK || verdict.use != TXM_USE_DAMAGED)
        return status;
    char *judged = txm_strdup(verdict.reason), *shows = txm_strdup(verdict.shows);
    free(result->judged);
    free(result->shows);
    result->judged = judged;
    result->shows = shows;
    if (!judged || !shows)
        return txm_no_memory(err, path);
    item->remake = true;
    result->outcome = TXM_OUTCOME_WOULD_CREATE;
    result->state = TXM_TX_STATE_UNUSABLE;
    result->harmless = verdict.harmless;
    snprintf(result->reason, sizeof result->reason, "unusable: %.240s", verdict.reason);
    return TXM_OK;
}

static txm_status lookup_item(txm_batch *b, size_t index, txm_error *err)
{
    const txm_input *input = txm_inputs_at(b->inputs, index);
    txm_item *item = &b->items[index];
    const txm_settings settings = txm_batch_settings_of(b, index);
    const txm_convert_options options = {.struct_size = sizeof(txm_convert_options),
                                         .output = txm_batch_output_of(b, index),
                                         .force = b->options.force,
                                         .dry_run = true,
                                         .copies = b->options.copies,
                                         .no_key = b->options.no_keys && !b->options.lint};
    txm_result result = {0};
    struct stat st;
    txm_status status = txm_convert(item->context, input->path, &settings, &options, &result, err);
    if (status == TXM_OK && b->options.deep)
        status = examine_tiles(input->path, item, &result, err);
    if (status == TXM_OK && !txm_item_take(b, item, &result))
        status = txm_no_memory(err, input->path);
    txm_result_clear(&result);
    if (status != TXM_OK)
        return status;
    /* The name is that of a map without colours, and nothing but the default decides how the image is used. Even if its
     * space is linear, the tx file would have another name. */
    if (!input->from_scene && !item->decided_by && (!item->colorspace || !strcmp(item->colorspace, "default")) &&
        txm_map_kind_of(input->path) > TXM_MAP_COLOR && strcmp(item->detected, "data") != 0)
        item->lint |= TXM_LINT_DATA_AS_COLOR;
    if (stat(input->path, &st) == 0) {
        item->device = st.st_dev;
        item->inode = st.st_ino;
        if (b->options.try_seconds > 0 && item->outcome == TXM_OUTCOME_WOULD_CREATE &&
            (status = txm_damaged_recall(input->path, &st, err)))
            return status;
    }
    const txm_cost cost =
        txm_cost_estimate(input->path, item, &settings, txm_pool_threads(txm_context_pool(b->context)));
    item->weight = (float)cost.seconds;
    if (item->outcome == TXM_OUTCOME_WOULD_CREATE)
        item->cost = cost;
    return TXM_OK;
}

/* If the first failure stops a run, it must not be that of another shard's file. */
static void settle(txm_batch *b, size_t index)
{
    txm_item *item = &b->items[index];
    /* After a request to stop, a lookup that was interrupted counts as not begun. */
    item->examined = item->status != TXM_STATUS_CANCELLED;
    if (item->status && (!b->options.shards || (item->shard && txm_batch_is_mine(b, index))))
        atomic_store(&b->failed, true);
}

/* Looks at one input: reads its header, computes the name of its tx file, and looks that up. */
static void examine_input(txm_batch *b, size_t index)
{
    const txm_input *input = txm_inputs_at(b->inputs, index);
    txm_item *item = &b->items[index];
    txm_error err = {0};
    if (input->status) {
        item->status = input->status;
        item->failure = (txm_failure){input->message, input->subject_bytes, input->advice_at};
    } else if (!item->status && lookup_item(b, index, &err) != TXM_OK) {
        txm_item_fail(b, item, &err);
    }
    settle(b, index);
}

/* Does what the options request beyond a plan. It is called only for inputs that are reported, because it reads whole
 * images. */
static void examine_closely(txm_batch *b, size_t index)
{
    txm_item *item = &b->items[index];
    const char *path = txm_inputs_at(b->inputs, index)->path;
    const volatile int *cancel = b->context->cancel;
    const bool lints = b->options.lint && item->outcome != TXM_OUTCOME_IS_TX;
    const bool tries = b->tries && item->outcome == TXM_OUTCOME_WOULD_CREATE;
    txm_error err = {0};
    if (!item->examined || item->status || !txm_batch_is_mine(b, index))
        return;
    if (lints || tries) {
        unsigned findings = txm_lint_settings(path, item->detected, item->width, item->height);
        if (txm_lint_pixels(b->context, path, cancel, tries, &findings, &err) != TXM_OK)
            txm_damaged_remember(path, item->source_bytes, item->image_time, &err);
        item->lint |= lints ? (uint8_t)findings : 0;
    }
    char content[TXM_CONTENT_HEX];
    if (!err.status && b->options.content && txm_content_hash(path, cancel, content, &err) == TXM_OK) {
        pthread_mutex_lock(&b->names_lock);
        item->content = txm_names_copy(&b->names, content);
        pthread_mutex_unlock(&b->names_lock);
    }
    if (err.status)
        txm_item_fail(b, item, &err);
    settle(b, index);
}

typedef struct examination {
    txm_batch *batch;
    void (*examine)(txm_batch *batch, size_t index);
    atomic_size_t next;
} examination;

static void examine_inputs(void *arg)
{
    examination *l = arg;
    size_t i;
    while (txm_batch_may_start(l->batch) && (i = atomic_fetch_add(&l->next, 1)) < l->batch->count) {
        l->examine(l->batch, i);
        if (!l->batch->events.examined)
            continue;
        pthread_mutex_lock(&l->batch->events_lock);
        l->batch->events.examined(l->batch->events.user, i + 1, l->batch->count);
        pthread_mutex_unlock(&l->batch->events_lock);
    }
}

static txm_status examine_all(txm_batch *b, void (*examine)(txm_batch *batch, size_t index), txm_error *err)
{
    txm_pool *pool = txm_context_pool(b->context);
    examination l = {.batch = b, .examine = examine};
    txm_group *group = txm_group_new_outer(pool);
    bool ok = group != NULL;
    for (unsigned i = 0; ok && i < txm_pool_threads(pool); i++)
        ok = txm_group_submit(group, false, examine_inputs, &l);
    txm_group_free(group);
    if (!ok || atomic_load(&b->exhausted))
        return txm_no_memory(err, NULL);
    return TXM_OK;
}

static int compare_cost(const void *pa, const void *pb, void *user)
{
    const txm_item *items = user;
    size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
    double ca = items[a].cost.seconds, cb = items[b].cost.seconds;
    /* Items of equal cost keep their order, so that the plan is the same on every machine. */
    return ca != cb ? (ca < cb ? 1 : -1) : a < b ? -1 : a > b;
}

/* Whether run.c has to make the item. */
static bool is_work(const txm_item *item)
{
    return item->examined && !item->status && item->same_as == TXM_NO_INDEX &&
           item->outcome == TXM_OUTCOME_WOULD_CREATE;
}

/* Only this shard's part is ordered and added up. */
static txm_batch_totals put_in_order(txm_batch *b)
{
    txm_batch_totals totals = {.listed = b->count, .list_key = b->list_key};
    for (size_t i = 0; i < b->count; i++) {
        const txm_cost *cost = &b->items[i].cost;
        if (!txm_batch_is_mine(b, i))
            continue;
        totals.inputs++;
        if (!is_work(&b->items[i]))
            continue;
        b->order[b->order_count++] = i;
        totals.cost.megapixels += cost->megapixels;
        totals.cost.seconds += cost->seconds;
        if (cost->memory_bytes > totals.cost.memory_bytes)
            totals.cost.memory_bytes = cost->memory_bytes;
        const txm_settings settings = txm_batch_settings_of(b, i);
        totals.tx_bytes += txm_cost_tx_bytes(&b->items[i], &settings);
    }
    totals.to_create = b->order_count;
    qsort_r(b->order, b->order_count, sizeof *b->order, compare_cost, b->items);
    return totals;
}

static void tell_item(txm_batch *b, size_t index)
{
    txm_item *item = &b->items[index];
    if (item->status) {
        txm_error err = {0};
        txm_fail_again(&err, item->status, &item->failure);
        txm_batch_tell(b, index, NULL, &err);
        return;
    }
    if (item->same_as != TXM_NO_INDEX)
        item->outcome = TXM_OUTCOME_SAME;
    const txm_result result = txm_item_expand(item);
    txm_batch_tell(b, index, &result, NULL);
}

txm_status txm_batch_plan(txm_batch *batch, txm_error *err)
{
    txm_error_clear(err);
    txm_error failure = {0};
    for (size_t i = 0; i < batch->count; i++) {
        if (decide(batch, i, &failure))
            continue;
        /* If the config lacks a working space, only the inputs that request it fail. */
        if (failure.status == TXM_STATUS_NO_MEMORY)
            return txm_fail_with(err, failure.status, &failure);
        txm_item_fail(batch, &batch->items[i], &failure);
        txm_error_clear(&failure);
    }
    txm_status status = examine_all(batch, examine_input, err);
    if (status == TXM_OK)
        status = txm_find_same_work(batch, err);
    const bool divides = batch->options.shards && txm_batch_may_start(batch);
    if (status == TXM_OK && divides)
        status = txm_shards_assign(batch, err);
    double work_s = 0;
    for (size_t i = 0; status == TXM_OK && i < batch->count; i++) {
        if (divides)
            settle(batch, i);
        work_s += is_work(&batch->items[i]) ? batch->items[i].cost.seconds : 0;
    }
    /* After a run only the images are left that it could not read, so a few are worth a try. */
    batch->tries = work_s <= batch->options.try_seconds;
    if (status == TXM_OK)
        status = examine_all(batch, examine_closely, err);
    if (status != TXM_OK)
        return status;
    const txm_batch_totals totals = put_in_order(batch);
    if (batch->events.warn && txm_batch_check_room(batch, err) != TXM_OK)
        return err->status;
    if (batch->events.planned)
        batch->events.planned(batch->events.user, &totals);
    /* What is done is reported now: all inputs in a dry run, else those that need no work. */
    const bool dry = batch->options.dry_run, ordered = dry && batch->options.largest_first;
    for (size_t i = 0; ordered && i < batch->order_count; i++)
        tell_item(batch, batch->order[i]);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].examined && txm_batch_is_mine(batch, i) &&
            (!is_work(&batch->items[i]) || (dry && !ordered)))
            tell_item(batch, i);
    return txm_batch_cancelled(batch) ? txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request") : TXM_OK;
}
