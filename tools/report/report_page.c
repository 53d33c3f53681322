/* SPDX-License-Identifier: Apache-2.0
 *
 * The result of a report as JSON, and its page.
 *
 * In: data and sums. Out: one object for all runs together, and a page of it (page/report.js) with lists of the
 * images, runs and pixels that the sums are of. The logs have the single runs.
 */
#include <string.h>
#include <time.h>

#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/page/page.h"
#include "tools/report/report_page.h"

/* ---- what --json prints ------------------------------------------------------------------------------------------ */

cJSON *txm_report_json(const txm_report *r, const txm_report_sums *s)
{
    cJSON *o = txm_json_new("txmill.report");
    txm_json_uint(o, "images", s->images);
    txm_json_text(o, "verdict", txm_report_verdict_name(txm_report_verdict_of(s)));
    for (int made = 0; made < TXM_MADE_COUNT; made++)
        txm_json_uint(o, txm_made_words((txm_made)made)->key, s->states[made]);
    txm_json_uint(o, "retryable", s->retryable);
    cJSON *reasons = txm_json_array(o, "reasons");
    for (size_t i = 0; i < r->reason_count; i++) {
        cJSON *reason = txm_json_append(reasons);
        txm_json_uint(reason, "images", r->reasons[i].count);
        txm_json_bool(reason, "retryable", r->reasons[i].retryable);
        txm_json_text(reason, "status", r->reasons[i].status);
        txm_json_text(reason, "message", r->reasons[i].text);
    }
    txm_json_uint(o, "made_twice", s->made_twice);
    txm_json_uint(o, "source_bytes", s->source_bytes);
    txm_json_uint(o, "tx_bytes", s->tx_bytes);
    txm_json_uint(o, "runs", r->run_count);
    txm_json_uint(o, "incomplete_runs", s->incomplete);
    txm_json_uint(o, "broken_runs", s->broken);
    txm_json_text(o, "run_error", s->error);
    txm_json_uint(o, "shards", s->shards);
    txm_json_uint(o, "shards_missing", s->shards_missing);
    txm_json_bool(o, "unfinished", s->unfinished);
    txm_json_uint(o, "lists", s->lists);
    txm_json_uint(o, "foreign_lines", r->foreign);
    txm_json_number(o, "seconds", s->seconds, 6);
    txm_json_stages(o, s->stages);
    /* The memory that Cycles would need from each level on; the page shows the same sums. */
    cJSON *memory = txm_json_object(o, "texture_memory");
    txm_json_uint(memory, "images", s->memory.files);
    txm_json_uint(memory, "tiles", s->memory.tiles);
    txm_json_number(memory, "full_bytes", s->memory.full, 17);
    cJSON *levels = txm_json_array(memory, "from_level_bytes");
    for (int i = 0; i < TXM_MAX_LOOKUP_LEVELS; i++)
        txm_json_append_number(levels, s->memory.from[i], 17);
    /* All ids are listed, even those with 0, so that a script need not test for them. */
    cJSON *lint = txm_json_object(o, "lint");
    for (int i = 0; 1U << i < TXM_LINT_END; i++)
        txm_json_uint(lint, txm_lint_name((txm_lint)(1U << i)), s->lint[i]);
    return o;
}

/* ---- lists of the page ------------------------------------------------------------------------------------------- */

static void add_runs(cJSON *lists, const txm_report *r)
{
    cJSON *runs = txm_json_array(lists, "runs");
    for (size_t i = 0; i < r->run_count; i++) {
        const txm_report_run *run = &r->runs[i];
        cJSON *o = txm_json_append(runs);
        txm_json_text(o, "log", run->log);
        txm_json_bool(o, "complete", run->complete);
        txm_json_uint(o, "shard", run->shard);
        txm_json_uint(o, "shards", run->shards);
        txm_json_uint(o, "inputs", run->inputs);
        txm_json_uint(o, "created", run->created);
        txm_json_uint(o, "failed", run->failed);
        txm_json_number(o, "seconds", run->seconds, 6);
        txm_json_uint(o, "exit_code", (uint64_t)run->exit_code);
        txm_json_text(o, "list_key", run->list_key);
        txm_json_uint(o, "listed", run->listed);
    }
}

/* Files with one kind of pixels. */
typedef struct kind {
    const char *type;
    uint32_t channels;
    size_t files;
    uint64_t source_bytes, tx_bytes;
} kind;

/* 4 types with 1 to 4 channels, and one for others. */
enum { MOST_KINDS = 17 };

static void add_pixels(cJSON *lists, const txm_report *report)
{
    kind kinds[MOST_KINDS];
    /* A linear search is enough for seventeen kinds. Images of unknown pixels are "other". */
    size_t count = 0;
    for (size_t i = 0; i < report->file_count; i++) {
        const txm_report_file *f = &report->files[i];
        size_t k = 0;
        if (!f->tx_bytes)
            continue;
        const char *type = f->type && f->type_bytes && f->channels ? f->type : "other";
        uint32_t channels = f->type && f->type_bytes ? f->channels : 0;
        while (k < count && (strcmp(kinds[k].type, type) || kinds[k].channels != channels))
            k++;
        if (k == MOST_KINDS)
            continue;
        if (k == count)
            kinds[count++] = (kind){.type = type, .channels = channels};
        kinds[k].files++;
        kinds[k].source_bytes += f->source_bytes;
        kinds[k].tx_bytes += f->tx_bytes;
    }
    cJSON *list = txm_json_array(lists, "pixels");
    for (size_t i = 0; i < count; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s%s", kinds[i].type, kinds[i].channels ? " " : "",
                 kinds[i].channels ? txm_format_channels(kinds[i].channels) : "");
        cJSON *o = txm_json_append(list);
        txm_json_text(o, "pixels", name);
        txm_json_uint(o, "files", kinds[i].files);
        txm_json_uint(o, "source_bytes", kinds[i].source_bytes);
        txm_json_uint(o, "tx_bytes", kinds[i].tx_bytes);
    }
}

/* Equal times are sorted by name, so that the page does not change between runs of the report. */
static int compare_time(const void *pa, const void *pb)
{
    const txm_report_file *a = *(const txm_report_file *const *)pa, *b = *(const txm_report_file *const *)pb;
    return a->seconds != b->seconds ? (a->seconds < b->seconds ? 1 : -1) : strcmp(a->input, b->input);
}

/* Only images that were made count, because the others take almost no time. */
static void add_slowest(cJSON *lists, const txm_report *report)
{
    const txm_report_file *slowest[TXM_REPORT_SLOWEST];
    /* Finds the slowest files, in order, by insertion, since there are few places and many files. */
    size_t count = 0;
    for (size_t i = 0; i < report->file_count; i++) {
        const txm_report_file *file = &report->files[i];
        if (file->state != TXM_MADE_CREATED)
            continue;
        if (count < TXM_REPORT_SLOWEST)
            slowest[count++] = file;
        else if (compare_time(&file, &slowest[count - 1]) < 0)
            slowest[count - 1] = file;
        else
            continue;
        for (size_t k = count - 1; k > 0 && compare_time(&slowest[k], &slowest[k - 1]) < 0; k--) {
            const txm_report_file *swap = slowest[k];
            slowest[k] = slowest[k - 1];
            slowest[k - 1] = swap;
        }
    }
    cJSON *list = txm_json_array(lists, "slowest");
    for (size_t i = 0; i < count; i++) {
        const txm_report_file *f = slowest[i];
        char pixels[64];
        snprintf(pixels, sizeof pixels, "%.32s %s", f->type ? f->type : "", txm_format_channels(f->channels));
        cJSON *o = txm_json_append(list);
        txm_json_text(o, "image", f->input);
        txm_json_size(o, f->width, f->height);
        txm_json_text(o, "pixels", pixels);
        txm_json_text(o, "colorspace", f->space);
        txm_json_text(o, "reader", f->reader);
        txm_json_uint(o, "tx_bytes", f->tx_bytes);
        txm_json_number(o, "seconds", (double)f->seconds, 6);
    }
}

/* In the order of the bits, which is that of the manual. */
static void add_likely_mistakes(cJSON *lists, const txm_report *report, const txm_report_sums *sums)
{
    cJSON *list = txm_json_array(lists, "lint");
    for (int i = 0; 1U << i < TXM_LINT_END; i++) {
        if (!sums->lint[i])
            continue;
        cJSON *o = txm_json_append(list);
        txm_json_text(o, "id", txm_lint_name((txm_lint)(1U << i)));
        txm_json_text(o, "text", txm_lint_text((txm_lint)(1U << i)));
        cJSON *images = txm_json_array(o, "images");
        for (size_t k = 0, shown = 0; k < report->file_count && shown < TXM_REPORT_MOST_LINT; k++)
            if (report->files[k].lint & 1U << i) {
                txm_json_append_text(images, report->files[k].input);
                shown++;
            }
    }
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

/* The time is UTC, because the farm and the reader are often in different time zones. */
txm_status txm_report_page(const txm_report *report, const txm_report_sums *sums, const char *title, const char *output,
                           txm_error *err)
{
    char when[40] = "";
    time_t now = time(NULL);
    struct tm utc;
    txm_page *page = NULL;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
    txm_status status = txm_page_begin(output, &page, err);
    if (status != TXM_OK)
        return status;
    cJSON *o = txm_page_data("report"), *lists = txm_json_object(o, "lists");
    txm_json_text(o, "title", title ? title : "Texture conversion");
    txm_json_text(o, "time", when);
    txm_json_add(o, "report", txm_report_json(report, sums));
    /* The first images of each reason, at least one, in the order of the reasons. */
    size_t room = TXM_REPORT_MOST_FAILURES;
    cJSON *reasons = txm_json_array(lists, "reasons");
    for (size_t k = 0; k < report->reason_count && k < TXM_REPORT_MOST_FAILURES; k++) {
        cJSON *images = txm_json_append_array(reasons);
        size_t listed = 0;
        for (size_t i = report->reasons[k].first + 1; i && (room || !listed); i = report->files[i - 1].next_failed) {
            txm_json_append_text(images, report->files[i - 1].input);
            room -= room > 0;
            listed++;
        }
    }
    cJSON *states = txm_json_array(lists, "states");
    for (int made = 0; made < TXM_MADE_COUNT; made++) {
        if (made == TXM_MADE_WOULD_CREATE && !sums->states[made])
            continue;
        const txm_made_row *row = txm_made_words((txm_made)made);
        cJSON *state = txm_json_append(states);
        txm_json_text(state, "id", row->id);
        txm_json_text(state, "title", row->title);
        txm_json_uint(state, "images", sums->states[made]);
    }
    add_runs(lists, report);
    add_pixels(lists, report);
    add_slowest(lists, report);
    add_likely_mistakes(lists, report, sums);
    return txm_page_end(&page, o, err);
}
