/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads logs into tables.
 *
 * In: objects of a log. Out: a table of images, each with its last state and what it took, and a table of runs, where
 * shards belong together if the keys of their lists are equal.
 */
#include "tools/report/report_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "txtile/reader.h"

typedef struct adding {
    txm_report *report;
    const char *log;
    txm_report_run run;
} adding;

/* ---- lists ------------------------------------------------------------------------------------------------------ */

/* The absolute path, stored once. One name that stays relative would count its image twice. */
static txm_status whole_path(txm_report *r, const char *path, const char **out, txm_error *err)
{
    char *whole = txm_path_absolute(path);
    if (!whole)
        return txm_path_absolute_failed(path, err);
    *out = txm_names_put(&r->strings, whole);
    free(whole);
    return *out ? TXM_OK : txm_no_memory(err, NULL);
}

/* The entry of the file, created if necessary. Failures have no tx path, and use the image's. */
static txm_status find_file(txm_report *r, const char *input, const char *tx, txm_report_file **out, txm_error *err)
{
    txm_bytes key = {0};
    const char *image, *made = "";
    txm_status status = whole_path(r, input, &image, err);
    if (status == TXM_OK && tx)
        status = whole_path(r, tx, &made, err);
    if (status != TXM_OK)
        return status;
    txm_name *entry = txm_bytes_printf(&key, "%s\n%s", image, made) ? txm_names_entry(&r->index, key.data) : NULL;
    txm_bytes_free(&key);
    if (!entry)
        return txm_no_memory(err, NULL);
    if (!entry->value) {
        if (!TXM_GROW(r->files, r->file_capacity, r->file_count))
            return txm_no_memory(err, NULL);
        r->files[r->file_count++] = (txm_report_file){.image = image, .state = TXM_MADE_COUNT};
        entry->value = r->file_count;
    }
    *out = &r->files[entry->value - 1];
    return TXM_OK;
}

/* Copies a member's text; equal words are stored once. False when memory is exhausted. */
static bool keep_word(txm_report *r, const cJSON *object, const char *name, const char **out)
{
    const char *text = txm_run_log_text(object, name);
    *out = txm_names_put(&r->strings, text);
    return *out || !text;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* Ids from a newer txmill are ignored. */
static unsigned lint_of(const cJSON *object)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "lint"), *item;
    unsigned findings = 0;
    cJSON_ArrayForEach(item, list)
    {
        const char *id = txm_run_log_text(item, "id");
        for (unsigned bit = 1; id && bit < TXM_LINT_END; bit <<= 1)
            if (!strcmp(id, txm_lint_name((txm_lint)bit)))
                findings |= bit;
    }
    return findings;
}

/* 0 for an unknown type; such images are left out of the sums of memory. */
static uint32_t type_bytes(const char *type)
{
    for (int t = TXM_TYPE_U8; type && t <= TXM_TYPE_FLOAT; t++)
        if (!strcmp(type, txm_type_name((txm_type)t)))
            return (uint32_t)txm_type_bytes((txm_type)t);
    return 0;
}

/* A message without its subject, which is most often the name of the image: equal failures are one reason. */
static bool keep_reason(txm_report *r, const cJSON *error, const char **out)
{
    const char *message = txm_run_log_text(error, "message"), *subject = txm_run_log_text(error, "subject");
    const size_t begin = subject ? strlen(subject) + 2 : 0;
    if (message && strlen(message) >= begin)
        message += begin;
    *out = txm_names_put(&r->strings, message);
    return *out || !message;
}

/* Equal strings are stored once, because a log of a million images has only a few colour spaces. */
static bool take_texts(txm_report *r, txm_report_file *f, const cJSON *object)
{
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(object, "error");
    const cJSON *space = cJSON_GetObjectItemCaseSensitive(object, "colorspace");
    f->retryable = txm_run_log_flag(error, "retryable");
    return keep_word(r, object, "input", &f->input) && keep_word(r, object, "tx", &f->tx) &&
           keep_word(r, space, "detected", &f->space) && keep_word(r, object, "data_type", &f->type) &&
           keep_word(r, object, "reader", &f->reader) && keep_word(r, object, "via", &f->via) &&
           keep_word(r, error, "status", &f->status) && keep_reason(r, error, &f->message);
}

/* Logs are appended to when a run is repeated, so a later object about a file replaces the earlier one; findings are
 * merged, because a file that is up to date is not examined again. */
static txm_status take_file(adding *a, const cJSON *object, txm_error *err)
{
    const txm_made state = txm_made_named(txm_run_log_text(object, "state"));
    /* A newer txmill may have further states. */
    if (!txm_run_log_text(object, "input") || state == TXM_MADE_COUNT)
        return TXM_OK;
    /* Names that are not text may look alike: their bytes tell images apart. */
    char *input = txm_run_log_path(object, "input"), *tx = txm_run_log_path(object, "tx");
    txm_report_file *f = NULL;
    txm_status status = input && (tx || !txm_run_log_text(object, "tx")) ? find_file(a->report, input, tx, &f, err)
                                                                         : txm_no_memory(err, NULL);
    free(input);
    free(tx);
    if (status != TXM_OK)
        return status;
    unsigned lint = lint_of(object) | f->lint;
    /* The object of the run that made the file has more information than that of a later run that found it up to
     * date. */
    if (f->state != TXM_MADE_CREATED || state == TXM_MADE_CREATED) {
        f->state = state;
        f->run = a->report->run_count;
        f->width = (uint32_t)txm_run_log_count(object, "width", TXM_MAX_SIZE_PX);
        f->height = (uint32_t)txm_run_log_count(object, "height", TXM_MAX_SIZE_PX);
        f->source_bytes = txm_run_log_count(object, "source_bytes", UINT64_MAX);
        if (!take_texts(a->report, f, object))
            return txm_no_memory(err, NULL);
        if (state == TXM_MADE_CREATED) {
            /* Only files that the run made have these. */
            const cJSON *stages = cJSON_GetObjectItemCaseSensitive(object, "stage_seconds");
            f->levels = (uint32_t)txm_run_log_count(object, "levels", TXM_MAX_LEVELS);
            f->channels = (uint32_t)txm_run_log_count(object, "channels", TXM_MAX_CHANNELS);
            f->tile_px = (uint32_t)txm_run_log_count(object, "tile_px", TXM_MAX_TILE_PX);
            f->type_bytes = type_bytes(f->type);
            f->tx_bytes = txm_run_log_count(object, "tx_bytes", UINT64_MAX);
            f->seconds = (float)txm_run_log_number(object, "seconds");
            for (int i = 0; i < TXM_STAGES; i++)
                f->stages[i] = (float)txm_run_log_number(stages, txm_stage_names[i]);
            f->made++;
        }
    }
    f->lint = lint;
    return TXM_OK;
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

/* A log may contain several runs; the next one begins empty. */
static txm_status end_run(adding *a, txm_error *err)
{
    txm_report *r = a->report;
    a->run.log = txm_names_put(&r->strings, a->log);
    if (!a->run.log || !TXM_GROW(r->runs, r->run_capacity, r->run_count))
        return txm_no_memory(err, NULL);
    r->runs[r->run_count++] = a->run;
    a->run = (txm_report_run){0};
    return TXM_OK;
}

/* Objects of unknown types count as inputs of the run, and are otherwise ignored. */
static txm_status take_report_object(void *user, const cJSON *object, txm_error *err)
{
    adding *a = user;
    const char *type = txm_run_log_text(object, "type");
    if (type && !strcmp(type, "summary")) {
        /* The last object of a complete run. Without it the run was killed, or is still running. */
        const cJSON *shard = cJSON_GetObjectItemCaseSensitive(object, "shard");
        txm_report_run *run = &a->run;
        run->complete = true;
        run->inputs = txm_run_log_count(object, "inputs", UINT32_MAX);
        run->created = txm_run_log_count(object, "created", UINT32_MAX);
        run->failed = txm_run_log_count(object, "failed", UINT32_MAX);
        run->not_started = txm_run_log_count(object, "not_started", UINT32_MAX);
        run->seconds = txm_run_log_number(object, "seconds");
        run->exit_code = (int)txm_run_log_count(object, "exit_code", 255);
        run->shard = (uint32_t)txm_run_log_count(shard, "index", UINT32_MAX);
        run->shards = (uint32_t)txm_run_log_count(shard, "count", UINT32_MAX);
        run->listed = txm_run_log_count(shard, "listed", UINT32_MAX);
        if (!keep_word(a->report, shard, "list_key", &run->list_key))
            return txm_no_memory(err, NULL);
        return end_run(a, err);
    }
    if (type && !strcmp(type, "error")) {
        a->run.failed_whole = true;
        return keep_word(a->report, cJSON_GetObjectItemCaseSensitive(object, "error"), "message", &a->run.error)
                   ? TXM_OK
                   : txm_no_memory(err, NULL);
    }
    a->run.inputs++;
    return type && !strcmp(type, "file") ? take_file(a, object, err) : TXM_OK;
}

/* Logs must be added in the order of the runs. Lines of other programs are counted, because logs of a farm are often
 * mixed. */
txm_status txm_report_add(txm_report *report, const char *log, txm_error *err)
{
    adding a = {.report = report, .log = log};
    txm_run_log_counts counts;
    txm_status status = txm_run_log_read(log, take_report_object, &a, &counts, err);
    report->foreign += counts.foreign;
    /* Objects after the last summary belong to a run that was killed or is still running; an empty log to one that
     * has not begun. */
    if (status == TXM_OK && (a.run.inputs || a.run.failed_whole || counts.cut || !counts.objects))
        status = end_run(&a, err);
    return status;
}

/* ---- what the logs do not say ------------------------------------------------------------------------------------ */

/* A log has no sizes of files that were up to date, so they are read from the tx files if possible. If not, the
 * table has less information; only lack of memory is an error. */
txm_status txm_report_examine(txm_report *report, txm_error *err)
{
    for (size_t i = 0; i < report->file_count; i++) {
        txm_report_file *f = &report->files[i];
        txm_tx *tx = NULL;
        if (f->state != TXM_MADE_UP_TO_DATE || !f->tx)
            continue;
        txm_status status = txm_tx_open(f->tx, &tx, err);
        if (status == TXM_STATUS_NO_MEMORY)
            return status;
        txm_error_clear(err);
        if (status != TXM_OK)
            continue;
        const txm_tx_info *info = txm_tx_info_of(tx);
        f->width = info->width;
        f->height = info->height;
        f->levels = info->levels;
        f->channels = info->channels;
        f->type = txm_type_name(info->type);
        f->type_bytes = (uint32_t)txm_type_bytes(info->type);
        f->tile_px = info->tile_w;
        f->tx_bytes = info->file_bytes;
        txm_tx_close(&tx);
    }
    return TXM_OK;
}

/* Strings are owned by the report's table of names, not by files and runs. */
void txm_report_free(txm_report *report)
{
    txm_names_free(&report->strings);
    txm_names_free(&report->index);
    free(report->files);
    free(report->reasons);
    free(report->runs);
    *report = (txm_report){0};
}
