/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the page: its head, result and totals.
 *
 * In: data and sums. Out: one HTML file with style and script inside, whose digests are in its security policy, and
 * with all text escaped.
 */
#include "tools/report/report_page.h"

#include <string.h>
#include <time.h>

#include "tools/output/format.h"
#include "tools/output/html.h"
#include "txmill/out_file.h"

static const unsigned char style[] = {
#include "report/report.css.inc"
};
static const unsigned char script[] = {
#include "report/report.js.inc"
};

/* ---- head ------------------------------------------------------------------------------------------------------- */

/* The policy forbids all external sources and allows the page's own style and script by digest, because a report may
 * be opened from anywhere and contains file names from other people. */
static void put_head(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"generator\" content=\"txmill report, " TXM_OUT_FILE_SEAL "\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; style-src ",
          out);
    txm_html_digest(out, style, sizeof style);
    fputs("; script-src ", out);
    txm_html_digest(out, script, sizeof script);
    fputs("\">\n<title>", out);
    txm_html_text(out, title);
    fputs("</title>\n<style>", out);
    fwrite(style, 1, sizeof style, out);
    fputs("</style>\n</head>\n<body>\n<main>\n", out);
}

/* UTC, because the farm and the reader are often in different time zones. */
static void put_header(FILE *out, const txm_report *r, const char *title)
{
    char when[40] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M UTC", &utc);
    fputs("<header>\n<h1>", out);
    txm_html_text(out, title);
    fprintf(out, "</h1>\n<p>%zu run%s, report of %s by txmill %s</p>\n</header>\n", r->run_count,
            r->run_count == 1 ? "" : "s", when, TXM_VERSION);
}

/* ---- verdict ---------------------------------------------------------------------------------------------------- */

/* It is printed first, because the figures about images are meaningless if the run itself failed. */
static void put_broken(FILE *out, const txm_report_sums *s)
{
    fputs("<p><strong>", out);
    fputs(s->broken == 1 ? "A run failed" : "Runs failed", out);
    fputs("</strong></p>\n", out);
    if (s->error) {
        fputs("<p>", out);
        txm_html_text(out, s->error);
        fputs("</p>\n", out);
    }
}

/* What happened most often. */
static void put_reasons(FILE *out, const txm_report *r)
{
    enum { MOST = 3 };
    char times[TXM_FORMAT_COUNT];
    if (!r->reason_count)
        return;
    fputs("<ul>\n", out);
    for (size_t i = 0; i < r->reason_count && i < MOST; i++) {
        fprintf(out, "<li>%s: ", txm_format_count(r->reasons[i].count, "time", times));
        txm_html_text(out, r->reasons[i].text);
        fprintf(out, " (%s)</li>\n", txm_report_reason_kind(&r->reasons[i]));
    }
    if (r->reason_count > MOST)
        fprintf(out, "<li>%s below</li>\n", txm_format_count(r->reason_count - MOST, "other reason", times));
    fputs("</ul>\n", out);
}

/* The top of the page says whether the textures are ready to render; tables follow. */
static void put_verdict(FILE *out, const txm_report *r, const txm_report_sums *s)
{
    char text[TXM_FORMAT_COUNT];
    static const char *const colours[] = {" bad", " bad", " bad", " warn", ""};
    size_t failed = s->states[TXM_MADE_FAILED], done = s->images - failed;
    txm_report_verdict verdict = txm_report_verdict_of(s);
    fprintf(out, "<section class=\"verdict%s\" id=\"verdict\">\n", colours[verdict]);
    if (verdict == TXM_REPORT_RUN_BROKEN)
        put_broken(out, s);
    if (failed)
        fprintf(out, "<p><strong>%zu of %s failed</strong></p>\n", failed, txm_format_count(s->images, "image", text));
    else if (verdict == TXM_REPORT_NOTHING)
        fputs("<p><strong>No image was converted</strong></p>\n<p>The logs contain no images.</p>\n", out);
    else if (verdict == TXM_REPORT_RUN_BROKEN)
        fprintf(out, "<p>%s done.</p>\n", txm_format_are(done, "image", text));
    else if (s->shards_missing)
        fprintf(out, "<p><strong>%zu of %s missing</strong></p>\n", s->shards_missing,
                txm_format_are(s->shards, "shard", text));
    else if (s->unfinished)
        fprintf(out, "<p><strong>%s done; the last run did not end by itself</strong></p>\n",
                txm_format_are(done, "image", text));
    else if (s->states[TXM_MADE_WOULD_CREATE])
        fprintf(out, "<p><strong>%s still to be made</strong></p>\n",
                txm_format_are(s->states[TXM_MADE_WOULD_CREATE], "image", text));
    else if (s->images == 1)
        fputs("<p><strong>The image is done</strong></p>\n", out);
    else
        fprintf(out, "<p><strong>All %zu images are done</strong></p>\n", s->images);
    if (failed)
        fprintf(out, "<p>%zu permanent, %zu temporary%s; %s done.</p>\n", failed - s->retryable, s->retryable,
                s->retryable ? ", which a retry may cure" : "", txm_format_are(done, "image", text));
    put_reasons(out, r);
    if (failed && s->unfinished)
        fputs("<p>The last run did not end by itself.</p>\n", out);
    if (failed && s->shards_missing)
        fprintf(out, "<p>%zu of %s missing.</p>\n", s->shards_missing, txm_format_are(s->shards, "shard", text));
    if (s->lists > 1)
        fprintf(out,
                "<p>The shards are from %zu different lists: an image that only some runs had may be in no shard. Run "
                "the job again; finished files are kept.</p>\n",
                s->lists);
    if (s->made_twice)
        fprintf(out, "<p>%s made more than once.</p>\n", txm_format_were(s->made_twice, "image", text));
    fputs("</section>\n", out);
}

/* ---- totals ----------------------------------------------------------------------------------------------------- */

/* Ids are for scripts and tests that look for a figure. The texts come from this program and are not escaped. */
static void put_card(FILE *out, const char *id, const char *name, const char *value, const char *note)
{
    fprintf(out, "<div><dt>%s</dt><dd id=\"%s\">%s", name, id, value);
    if (*note)
        fprintf(out, "<small>%s</small>", note);
    fputs("</dd></div>\n", out);
}

static void put_count(FILE *out, const char *id, const char *name, size_t count, const char *note)
{
    char text[TXM_FORMAT_COUNT];
    snprintf(text, sizeof text, "%zu", count);
    put_card(out, id, name, text, note);
}

/* Processor time is the sum over all threads and stages, the time of runs is elapsed time; neither can be computed
 * from the other. */
static void put_totals(FILE *out, const txm_report_sums *s)
{
    char bytes[TXM_FORMAT_BYTES], note[80], time[TXM_FORMAT_BYTES];
    double cpu = 0;
    for (int i = 0; i < TXM_STAGES; i++)
        cpu += s->stages[i];
    fputs("<dl class=\"cards\" id=\"totals\">\n", out);
    put_count(out, "images", "Images", s->images, "");
    snprintf(note, sizeof note, "%zu permanent, %zu temporary", s->states[TXM_MADE_FAILED] - s->retryable,
             s->retryable);
    for (int made = 0; made < TXM_MADE_COUNT; made++) {
        const txm_made_row *row = txm_made_words((txm_made)made);
        if (made != TXM_MADE_WOULD_CREATE || s->states[made])
            put_count(out, row->id, row->title, s->states[made],
                      made == TXM_MADE_FAILED && s->states[made] ? note : "");
    }
    if (s->tx_bytes) {
        snprintf(note, sizeof note, "of %s of images", txm_format_bytes(s->source_bytes, bytes));
        put_card(out, "tx-bytes", "Tx files", txm_format_bytes(s->tx_bytes, bytes), note);
    }
    if (cpu > 0) {
        snprintf(note, sizeof note, "%s of runs", txm_format_seconds(s->seconds, time));
        put_card(out, "cpu", "Processor time", txm_format_seconds(cpu, time), note);
    }
    fputs("</dl>\n", out);
}

/* ---- the page --------------------------------------------------------------------------------------------------- */

/* In the order of urgency: result, failures, figures, and at the end possible improvements. */
static void put_page(FILE *out, const txm_report *r, const txm_report_sums *s, const char *title)
{
    char text[TXM_FORMAT_COUNT];
    put_head(out, title);
    put_header(out, r, title);
    put_verdict(out, r, s);
    txm_report_failures(out, r);
    put_totals(out, s);
    txm_report_runs(out, r, s);
    txm_report_disk(out, r, s);
    txm_report_memory_section(out, s);
    txm_report_times(out, s);
    txm_report_slowest(out, r);
    txm_report_lint(out, r, s);
    if (r->foreign)
        fprintf(out, "<footer><p>%s skipped: in the logs, but not from txmill make --json.</p></footer>\n",
                txm_format_were(r->foreign, "line", text));
    fputs("</main>\n<script>", out);
    fwrite(script, 1, sizeof script, out);
    fputs("</script>\n</body>\n</html>\n", out);
}

/* The stream collects write errors, which are reported when it is committed. */
txm_status txm_report_page(const txm_report *report, const txm_report_sums *sums, const char *title, const char *output,
                           txm_error *err)
{
    txm_out_file *file = NULL;
    txm_status status = txm_out_file_begin(output, true, &file, err);
    if (status != TXM_OK)
        return status;
    put_page(txm_out_file_stream(file), report, sums, title ? title : "Texture conversion");
    return txm_out_file_commit(&file, err);
}
