/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the sections of the page after the totals.
 *
 * In: data and sums. Out: sections with a heading and a table each, if they are not empty.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/output/format.h"
#include "tools/output/html.h"
#include "tools/report/report_page.h"

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* Sections have ids, also for links to the page. */
static void begin_section(FILE *out, const char *id, const char *title)
{
    fprintf(out, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

static void end_section(FILE *out)
{
    fputs("</section>\n", out);
}

/* `names`: headings, separated by |; # in front marks columns of numbers. */
static void begin_table(FILE *out, bool sortable, const char *names)
{
    fprintf(out, "<div class=\"scroll\"><table%s>\n<thead><tr>", sortable ? " class=\"sort\"" : "");
    while (*names) {
        int n = (int)strcspn(names, "|"), number = *names == '#';
        fprintf(out, "<th%s>%.*s</th>", number ? " class=\"n\"" : "", n - number, names + number);
        names += n + (names[n] == '|');
    }
    fputs("</tr></thead>\n<tbody>\n", out);
}

/* Tables without a foot end like this; that of the disk ends its own body. */
static void end_table(FILE *out)
{
    fputs("</tbody></table></div>\n", out);
}

/* By the style, paths may break anywhere, so that long ones do not push the figures out of sight. */
static void put_path(FILE *out, const char *path)
{
    fputs("<td class=\"path\">", out);
    txm_html_text(out, path);
    fputs("</td>", out);
}

static void put_word(FILE *out, const char *word)
{
    fputs("<td>", out);
    txm_html_text(out, word);
    fputs("</td>", out);
}

/* data-v is the number by which the script sorts, whatever is shown. */
static void put_count(FILE *out, uint64_t count)
{
    fprintf(out, "<td class=\"n\" data-v=\"%" PRIu64 "\">%" PRIu64 "</td>", count, count);
}

static void put_bytes(FILE *out, uint64_t bytes)
{
    char text[TXM_FORMAT_BYTES];
    fprintf(out, "<td class=\"n\" data-v=\"%" PRIu64 "\">%s</td>", bytes, txm_format_bytes(bytes, text));
}

static void put_seconds(FILE *out, double seconds)
{
    char text[TXM_FORMAT_BYTES];
    fprintf(out, "<td class=\"n\" data-v=\"%.6g\">%s</td>", seconds, txm_format_seconds(seconds, text));
}

/* 0 if the whole is 0. */
static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* SVG has its sizes as attributes; the policy forbids inline styles. */
static void put_bar(FILE *out, double part, const char *label)
{
    double percent = 100 * (part < 1 ? part : 1);
    fprintf(out,
            "<td class=\"bar\"><svg class=\"bar\" role=\"img\" aria-label=\"%s\"><rect class=\"all\" width=\"100%%\" "
            "height=\"100%%\" rx=\"3\"/><rect class=\"part\" width=\"%.2f%%\" height=\"100%%\" rx=\"3\"/></svg></td>",
            label, percent);
}

/* Says how many rows were left out. */
static void put_left_out(FILE *out, size_t count)
{
    if (count)
        fprintf(out, "<p class=\"dim\">%zu more are in the logs.</p>\n", count);
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

/* The images of a reason, the first one always, the others on request; *room is the number that the page may list. */
static void put_failed_images(FILE *out, const txm_report *report, const txm_report_reason *reason, size_t *room)
{
    size_t listed = 0;
    fputs("<td class=\"path\">", out);
    if (reason->count > 1)
        fprintf(out, "<details><summary>%zu images</summary><ul>\n", reason->count);
    for (size_t i = reason->first + 1; i && (*room || !listed); i = report->files[i - 1].next_failed, listed++) {
        fputs(reason->count > 1 ? "<li>" : "", out);
        txm_html_text(out, report->files[i - 1].input);
        fputs(reason->count > 1 ? "</li>\n" : "", out);
        *room -= *room > 0;
    }
    if (listed < reason->count)
        fprintf(out, "<li class=\"dim\">%zu more are in the logs</li>\n", reason->count - listed);
    fputs(reason->count > 1 ? "</ul></details></td>" : "</td>", out);
}

/* Equal failures are one row. The reason comes first, because a phone shows only the left side. */
void txm_report_failures(FILE *out, const txm_report *report)
{
    size_t room = TXM_REPORT_MOST_FAILURES, shown = 0;
    if (!report->reason_count)
        return;
    begin_section(out, "failures", "Failures");
    begin_table(out, true, "What is wrong|Retry|#Images|Image|Kind");
    for (; shown < report->reason_count && shown < TXM_REPORT_MOST_FAILURES; shown++) {
        const txm_report_reason *r = &report->reasons[shown];
        fputs("<tr><td class=\"reason\">", out);
        txm_html_text(out, r->text);
        fprintf(out, "</td><td class=\"%s\">%s</td>", r->retryable ? "warn-text" : "bad-text",
                txm_report_reason_kind(r));
        put_count(out, r->count);
        put_failed_images(out, report, r, &room);
        put_word(out, r->status);
        fputs("</tr>\n", out);
    }
    end_table(out);
    put_left_out(out, report->reason_count - shown);
    end_section(out);
}

/* ---- runs and shards -------------------------------------------------------------------------------------------- */

/* Twelve digits of the list's key are enough to compare runs. */
static void put_run(FILE *out, const txm_report_run *run)
{
    fputs("<tr>", out);
    put_path(out, run->log);
    if (run->shards)
        fprintf(out, "<td data-v=\"%u\">%u of %u</td>", run->shard, run->shard, run->shards);
    else
        fputs("<td data-v=\"0\"></td>", out);
    put_count(out, run->inputs);
    if (!run->complete) {
        fputs("<td class=\"n\"></td><td class=\"n\"></td><td class=\"n\"></td><td class=\"warn-text\">no summary: "
              "stopped, or still running</td><td></td></tr>\n",
              out);
        return;
    }
    put_count(out, run->created);
    put_count(out, run->failed);
    put_seconds(out, run->seconds);
    fprintf(out, "<td class=\"%s\">%d</td><td>", run->exit_code ? "bad-text" : "", run->exit_code);
    if (run->list_key) {
        char key[13] = "";
        snprintf(key, sizeof key, "%s", run->list_key);
        txm_html_text(out, key);
        fprintf(out, " (%" PRIu64 ")", run->listed);
    }
    fputs("</td></tr>\n", out);
}

/* A single complete run needs no table. */
void txm_report_runs(FILE *out, const txm_report *report, const txm_report_sums *sums)
{
    if (report->run_count < 2 && !sums->incomplete && !sums->shards)
        return;
    begin_section(out, "runs", "Runs");
    begin_table(out, true, "Log|Shard|#Inputs|#Created|#Failed|#Time|Exit|List (inputs)");
    for (size_t i = 0; i < report->run_count; i++)
        put_run(out, &report->runs[i]);
    end_table(out);
    end_section(out);
}

/* ---- disk ------------------------------------------------------------------------------------------------------- */

/* Files with one kind of pixels. */
typedef struct kind {
    const char *type;
    uint32_t channels;
    size_t files;
    uint64_t source_bytes, tx_bytes;
} kind;

/* 4 types with 1 to 4 channels, and one for others. */
enum { MOST_KINDS = 17 };

/* A linear search is enough for seventeen kinds. Images of unknown pixels are "other". */
static size_t sort_out(const txm_report *report, kind kinds[MOST_KINDS])
{
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
    return count;
}

/* The ratio is tx bytes by image bytes; it is usually above 1 for JPEG, because tx files are lossless. */
static void put_kind(FILE *out, const char *name, const char *channels, const kind *k, uint64_t most)
{
    char label[64];
    double ratio = share((double)k->tx_bytes, (double)k->source_bytes);
    snprintf(label, sizeof label, "%.2f times the images", ratio);
    fprintf(out, "<tr><td>%s%s%s</td>", name, *channels ? " " : "", channels);
    put_count(out, k->files);
    put_bytes(out, k->source_bytes);
    put_bytes(out, k->tx_bytes);
    fprintf(out, "<td class=\"n\" data-v=\"%.6g\">%.2f</td>", ratio, ratio);
    put_bar(out, share((double)k->tx_bytes, (double)most), label);
    fputs("</tr>\n", out);
}

void txm_report_disk(FILE *out, const txm_report *report, const txm_report_sums *sums)
{
    kind kinds[MOST_KINDS], all = {.source_bytes = sums->source_bytes, .tx_bytes = sums->tx_bytes};
    size_t count = sort_out(report, kinds);
    if (!count)
        return;
    for (size_t i = 0; i < count; i++)
        all.files += kinds[i].files;
    begin_section(out, "disk", "Disk");
    begin_table(out, true, "Pixels|#Files|#Images|#Tx files|#Ratio|Part of all tx files");
    for (size_t i = 0; i < count; i++)
        put_kind(out, kinds[i].type, kinds[i].channels ? txm_format_channels(kinds[i].channels) : "", &kinds[i],
                 all.tx_bytes);
    /* The sum stays at the bottom, however the rows are sorted. */
    fputs("</tbody><tfoot>\n", out);
    put_kind(out, "all", "", &all, all.tx_bytes);
    fputs("</tfoot></table></div>\n", out);
    end_section(out);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

/* The script scales a row with data-bytes and data-full by the share of visible tiles. */
static void put_level(FILE *out, const txm_report_memory *m, uint32_t level)
{
    char size[TXM_FORMAT_BYTES], label[64];
    double part = share(m->from[level], m->full);
    snprintf(label, sizeof label, "%.0f percent of the full images", 100 * part);
    fprintf(out, "<tr data-bytes=\"%.0f\" data-full=\"%.0f\"><td>", m->from[level], m->full);
    if (level)
        fprintf(out, "1/%u of the resolution", 1U << level);
    else
        fputs("full resolution", out);
    fprintf(out, "</td><td class=\"n size\">%s</td><td class=\"n saved\">%.1f %%</td>",
            txm_format_bytes((uint64_t)m->from[level], size), 100 * (1 - part));
    put_bar(out, part, label);
    fputs("</tr>\n", out);
}

/* The script shows the slider, which has no effect without scripts. */
void txm_report_memory_section(FILE *out, const txm_report_sums *sums)
{
    enum { LEVELS = 6 };
    const txm_report_memory *m = &sums->memory;
    char full[TXM_FORMAT_BYTES], images[TXM_FORMAT_COUNT];
    if (!m->files)
        return;
    begin_section(out, "memory", "Texture memory in Cycles");
    fprintf(out,
            "<p>Without a texture cache Cycles loads %s completely: <strong id=\"full-bytes\">%s</strong>. With it, "
            "Cycles loads only the levels that the picture needs, and of these only the visible ones of the %" PRIu64
            " tiles. The table shows the memory by the resolution at which the textures appear, with all tiles "
            "visible:</p>\n",
            txm_format_count(m->files, "image", images), txm_format_bytes((uint64_t)m->full, full), m->tiles);
    fputs("<label hidden>Visible tiles <input type=\"range\" id=\"share\" min=\"1\" max=\"100\" value=\"100\"> <output "
          "id=\"share-text\">100 %</output></label>\n",
          out);
    begin_table(out, false, "Textures appear at|#Memory|#Saved|Against the full images");
    for (uint32_t level = 0; level < LEVELS; level++)
        put_level(out, m, level);
    end_table(out);
    fputs("<p class=\"dim\">Only pixels; colour counts as four channels, as in Cycles.</p>\n", out);
    end_section(out);
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

/* Texts are in the order of txm_stage_names. */
void txm_report_times(FILE *out, const txm_report_sums *sums)
{
    static const char *const texts[TXM_STAGES] = {"reading and decoding",
                                                  "arranging channels",
                                                  "colour conversion",
                                                  "levels",
                                                  "digests",
                                                  "compressing tiles",
                                                  "border section",
                                                  "writing"};
    double all = 0;
    for (int i = 0; i < TXM_STAGES; i++)
        all += sums->stages[i];
    if (all <= 0)
        return;
    begin_section(out, "stages", "Processor time by stage");
    begin_table(out, true, "Stage|What it does|#Time|#Part|");
    for (int i = 0; i < TXM_STAGES; i++) {
        double part = share(sums->stages[i], all);
        fprintf(out, "<tr><td>%s</td><td class=\"dim\">%s</td>", txm_stage_names[i], texts[i]);
        put_seconds(out, sums->stages[i]);
        fprintf(out, "<td class=\"n\" data-v=\"%.6g\">%.1f %%</td>", part, 100 * part);
        put_bar(out, part, txm_stage_names[i]);
        fputs("</tr>\n", out);
    }
    end_table(out);
    end_section(out);
}

/* Equal times are sorted by name, so that the page does not change between runs of the report. */
static int compare_time(const void *pa, const void *pb)
{
    const txm_report_file *a = *(const txm_report_file *const *)pa, *b = *(const txm_report_file *const *)pb;
    return a->seconds != b->seconds ? (a->seconds < b->seconds ? 1 : -1) : strcmp(a->input, b->input);
}

/* Finds the slowest files, in order, by insertion, since there are few places and many files. */
static size_t find_slowest(const txm_report *report, const txm_report_file *slowest[TXM_REPORT_SLOWEST])
{
    size_t count = 0;
    for (size_t i = 0; i < report->file_count; i++) {
        const txm_report_file *f = &report->files[i];
        if (f->state != TXM_MADE_CREATED)
            continue;
        if (count < TXM_REPORT_SLOWEST)
            slowest[count++] = f;
        else if (compare_time(&f, &slowest[count - 1]) < 0)
            slowest[count - 1] = f;
        else
            continue;
        for (size_t k = count - 1; k > 0 && compare_time(&slowest[k], &slowest[k - 1]) < 0; k--) {
            const txm_report_file *swap = slowest[k];
            slowest[k] = slowest[k - 1];
            slowest[k - 1] = swap;
        }
    }
    return count;
}

/* Only images that were made count, because the others take almost no time. */
void txm_report_slowest(FILE *out, const txm_report *report)
{
    const txm_report_file *slowest[TXM_REPORT_SLOWEST];
    size_t count = find_slowest(report, slowest);
    if (!count)
        return;
    begin_section(out, "slowest", "Slowest images");
    begin_table(out, true, "Image|#Size|Pixels|Colour|Reader|#Tx file|#Time");
    for (size_t i = 0; i < count; i++) {
        const txm_report_file *f = slowest[i];
        fputs("<tr>", out);
        put_path(out, f->input);
        fprintf(out, "<td class=\"n\" data-v=\"%" PRIu64 "\">%u x %u</td><td>", (uint64_t)f->width * f->height,
                f->width, f->height);
        txm_html_text(out, f->type);
        fprintf(out, " %s</td>", txm_format_channels(f->channels));
        put_word(out, f->space);
        put_word(out, f->reader);
        put_bytes(out, f->tx_bytes);
        put_seconds(out, (double)f->seconds);
        fputs("</tr>\n", out);
    }
    end_table(out);
    end_section(out);
}

/* ---- lint ------------------------------------------------------------------------------------------------------- */

/* A short list is shown open, a long one folded. */
static void put_finding(FILE *out, const txm_report *report, unsigned bit, size_t count)
{
    size_t shown = 0;
    fprintf(
        out,
        "<details id=\"lint-%s\"%s><summary><strong>%s</strong>: %zu <span class=\"dim\">(%s)</span></summary>\n<ul>\n",
        txm_lint_name((txm_lint)bit), count <= 10 ? " open" : "", txm_lint_name((txm_lint)bit), count,
        txm_lint_text((txm_lint)bit));
    for (size_t i = 0; i < report->file_count && shown < TXM_REPORT_MOST_LINT; i++) {
        if (!(report->files[i].lint & bit))
            continue;
        fputs("<li>", out);
        txm_html_text(out, report->files[i].input);
        fputs("</li>\n", out);
        shown++;
    }
    fputs("</ul>\n", out);
    put_left_out(out, count - shown);
    fputs("</details>\n", out);
}

/* In the order of the bits, which is that of the manual. */
void txm_report_lint(FILE *out, const txm_report *report, const txm_report_sums *sums)
{
    size_t all = 0;
    for (int i = 0; i < 8; i++)
        all += sums->lint[i];
    if (!all)
        return;
    begin_section(out, "lint", "Likely mistakes");
    for (int i = 0; 1U << i < TXM_LINT_END; i++)
        if (sums->lint[i])
            put_finding(out, report, 1U << i, sums->lint[i]);
    end_section(out);
}
