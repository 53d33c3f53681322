/* SPDX-License-Identifier: Apache-2.0
 *
 * Adds up the results of runs.
 *
 * In: the table of images. Out: counts by state, bytes on disk, the memory that a render saves, seconds by stage, lint
 * by id. The page and the JSON print the same sums.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "tools/report/report_data.h"

/* Drops failures that a later run made up for. `done`: images, with the last run that did not fail, from 1. */
static txm_status drop_superseded(txm_report *r, txm_names *done, txm_error *err)
{
    for (size_t i = 0; i < r->file_count; i++) {
        const txm_report_file *f = &r->files[i];
        txm_name *entry = f->state == TXM_MADE_FAILED ? NULL : txm_names_entry(done, f->image);
        if (f->state != TXM_MADE_FAILED && !entry)
            return txm_no_memory(err, NULL);
        if (entry && entry->value < f->run + 1)
            entry->value = f->run + 1;
    }
    size_t kept = 0;
    for (size_t i = 0; i < r->file_count; i++) {
        const txm_report_file *f = &r->files[i];
        bool failed = f->state == TXM_MADE_FAILED && txm_names_has(done, f->image);
        if (failed && txm_names_entry(done, f->image)->value > f->run + 1)
            continue;
        r->files[kept++] = *f;
    }
    r->file_count = kept;
    /* The indices in the table are no longer valid. */
    txm_names_free(&r->index);
    return TXM_OK;
}

/* Bytes on disk are counted only for images with a tx file. */
static void add_report_file(txm_report_sums *s, const txm_report_file *f)
{
    s->images++;
    s->states[f->state]++;
    s->retryable += f->state == TXM_MADE_FAILED && f->retryable;
    s->made_twice += f->made > 1;
    for (int bit = 0; bit < 8; bit++)
        s->lint[bit] += f->lint >> bit & 1;
    for (int i = 0; i < TXM_STAGES; i++)
        s->stages[i] += (double)f->stages[i];
    if (f->tx_bytes) {
        s->source_bytes += f->source_bytes;
        s->tx_bytes += f->tx_bytes;
    }
    /* Cycles stores colour as four channels, and without a cache the whole of level 0. */
    if (!f->channels || !f->type_bytes || !f->width || !f->height)
        return;
    double pixel = (double)f->type_bytes * (f->channels == 1 ? 1 : 4);
    uint32_t levels = f->levels && f->levels <= TXM_MAX_LOOKUP_LEVELS ? f->levels : 1;
    uint32_t tile = f->tile_px ? f->tile_px : TXM_DEFAULT_TILE_PX;
    double rest = 0;
    s->memory.files++;
    s->memory.full += pixel * f->width * f->height;
    /* If an image has fewer levels, its last one, a single pixel, is always in memory. */
    for (uint32_t level = levels; level < TXM_MAX_LOOKUP_LEVELS; level++)
        s->memory.from[level] += pixel;
    for (uint32_t level = levels; level-- > 0;) {
        uint64_t w = txm_level_size(f->width, level), h = txm_level_size(f->height, level);
        rest += pixel * (double)(w * h);
        s->memory.from[level] += rest;
        s->memory.tiles += ((w + tile - 1) / tile) * ((h + tile - 1) / tile);
    }
}

/* ---- runs and shards -------------------------------------------------------------------------------------------- */

/* Whether there is a complete run of the shard. */
static bool is_done(const txm_report *r, uint32_t shard, uint32_t shards)
{
    for (size_t i = 0; i < r->run_count; i++)
        if (r->runs[i].complete && r->runs[i].shards == shards && r->runs[i].shard == shard && !r->runs[i].not_started)
            return true;
    return false;
}

/* If a failed run has no message but failed images, these are the cause. */
txm_report_verdict txm_report_verdict_of(const txm_report_sums *s)
{
    size_t failed = s->states[TXM_MADE_FAILED], waiting = s->states[TXM_MADE_WOULD_CREATE];
    if (s->broken && (s->error || !failed))
        return TXM_REPORT_RUN_BROKEN;
    if (failed)
        return TXM_REPORT_SOME_FAILED;
    if (s->images == 0)
        return TXM_REPORT_NOTHING;
    return s->shards_missing || s->unfinished || s->lists > 1 || waiting ? TXM_REPORT_OPEN : TXM_REPORT_DONE;
}

const char *txm_report_verdict_name(txm_report_verdict verdict)
{
    static const char *const names[] = {"failed", "failed", "nothing-done", "open", "done"};
    return names[verdict];
}

/* ---- reasons ---------------------------------------------------------------------------------------------------- */

const char *txm_report_reason_kind(const txm_report_reason *reason)
{
    return reason->retryable ? "temporary" : "permanent";
}

/* Permanent failures first, because somebody has to act; equal ones in the order of the logs. */
static int by_urgency(const void *a, const void *b)
{
    const txm_report_reason *x = a, *y = b;
    if (x->retryable != y->retryable)
        return x->retryable ? 1 : -1;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->first < y->first ? -1 : 1;
}

static txm_status group_failures(txm_report *r, txm_names *known, txm_error *err)
{
    for (size_t i = 0; i < r->file_count; i++) {
        txm_report_file *f = &r->files[i];
        txm_bytes key = {0};
        if (f->state != TXM_MADE_FAILED)
            continue;
        const char *text = f->message  ? f->message
                           : f->status ? f->status
                                       : "unknown",
                   *status = f->status ? f->status : "";
        bool ok = txm_bytes_printf(&key, "%d %s %s", f->retryable, status, text);
        txm_name *entry = ok ? txm_names_entry(known, key.data) : NULL;
        txm_bytes_free(&key);
        if (!entry || !TXM_GROW(r->reasons, r->reason_capacity, r->reason_count))
            return txm_no_memory(err, NULL);
        if (!entry->value) {
            r->reasons[r->reason_count++] =
                (txm_report_reason){.text = text, .status = status, .retryable = f->retryable, .first = i, .last = i};
            entry->value = r->reason_count;
        }
        txm_report_reason *reason = &r->reasons[entry->value - 1];
        if (reason->count++)
            r->files[reason->last].next_failed = i + 1;
        reason->last = i;
    }
    if (r->reason_count)
        qsort(r->reasons, r->reason_count, sizeof *r->reasons, by_urgency);
    return TXM_OK;
}

txm_status txm_report_sum(txm_report *report, txm_report_sums *sums, txm_error *err)
{
    txm_names done = {0};
    *sums = (txm_report_sums){0};
    txm_status status = drop_superseded(report, &done, err);
    txm_names_free(&done);
    if (status == TXM_OK)
        status = group_failures(report, &done, err);
    txm_names_free(&done);
    for (size_t i = 0; status == TXM_OK && i < report->file_count; i++)
        add_report_file(sums, &report->files[i]);
    if (status != TXM_OK)
        return status;
    /* Missing shards can be counted only if all complete runs had the same number of shards; otherwise the logs are
     * from different jobs. Numbers come from a file, so the loop has a limit. */
    enum { MOST_SHARDS = 100000 };
    txm_names keys = {0};
    bool alike = true, exhausted = false;
    for (size_t i = 0; i < report->run_count; i++) {
        const txm_report_run *run = &report->runs[i];
        sums->seconds += run->seconds;
        sums->incomplete += !run->complete;
        if (!run->complete)
            continue;
        alike &= !sums->shards || sums->shards == run->shards;
        sums->shards = run->shards;
        exhausted |= run->list_key && !txm_names_put(&keys, run->list_key);
    }
    sums->lists = keys.count;
    if (!alike || sums->shards > MOST_SHARDS)
        sums->shards = 0;
    const txm_report_run *last = report->run_count ? &report->runs[report->run_count - 1] : NULL;
    sums->unfinished = !sums->shards && last && (!last->complete || last->not_started);
    for (uint32_t i = 1; i <= sums->shards; i++)
        sums->shards_missing += !is_done(report, i, sums->shards);
    /* Counts runs that failed, unless there is a later successful run of the same shard, or of all inputs. */
    for (size_t i = 0; i < report->run_count; i++) {
        const txm_report_run *one = &report->runs[i];
        bool broken = one->failed_whole || one->exit_code != 0;
        for (size_t later = i + 1; broken && later < report->run_count; later++)
            broken = !report->runs[later].complete ||
                     (report->runs[later].shards && report->runs[later].shard != one->shard);
        if (broken) {
            sums->broken++;
            sums->error = one->error;
        }
    }
    txm_names_free(&keys);
    return exhausted ? txm_no_memory(err, NULL) : TXM_OK;
}
