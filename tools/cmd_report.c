/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill report: writes a page about runs of txmill make.
 *
 * In: logs of `make --json`, one or many. Out: a page, and its totals as text or JSON. Lines that are not from a log
 * are counted and skipped, because the log of a killed run may be cut off anywhere.
 *
 * The page needs no network and no other file. Its numbers are computed here and not in the browser, so that they
 * agree with --json.
 */
#include <string.h>

#include "base/fail.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/report/report_page.h"
#include "txmill/guard.h"

typedef struct report_args {
    const char *output, *title;
    bool overwrite;
    txm_tx_files_args files;
    txm_report_args report;
} report_args;

#define AT(member) .offset = offsetof(report_args, member)
static const txm_option page_options[] = {
    TXM_OPTION_OUTPUT(AT(output), "Write the page to this file, - for standard output", NULL),
    TXM_OPTION_OVERWRITE(AT(overwrite)),
    TXM_OPTION(STRING, "title", AT(title), .arg = "TEXT", .help = "Heading of the page"),
    {0},
};

static const txm_option_group groups[] = {
    {"Page", page_options, 0},
    TXM_FILES_GROUP(report_args),
    TXM_REPORTS_GROUP(report_args),
    {0},
};

/* ---- reporting -------------------------------------------------------------------------------------------------- */

/* Prints the result on stderr, as the last line of a job. */
static void say_sums(const txm_report *r, const txm_report_sums *s)
{
    char size[TXM_FORMAT_BYTES], runs[TXM_FORMAT_COUNT], images[TXM_FORMAT_COUNT], shards[TXM_FORMAT_COUNT];
    txm_say(TXM_SAY_INFO, "%s, %s: %zu failed, %zu created, %zu up to date, %zu used as %s; %s",
            txm_format_count(r->run_count, "run", runs), txm_format_count(s->images, "image", images),
            s->states[TXM_MADE_FAILED], s->states[TXM_MADE_CREATED], s->states[TXM_MADE_UP_TO_DATE],
            s->states[TXM_MADE_SKIPPED], s->states[TXM_MADE_SKIPPED] == 1 ? "it is" : "they are",
            txm_format_bytes(s->tx_bytes, size));
    for (size_t i = 0; i < r->reason_count && i < 3; i++)
        txm_say(TXM_SAY_INFO, "%s: %s (%s)", txm_format_count(r->reasons[i].count, "time", runs), r->reasons[i].text,
                txm_report_reason_kind(&r->reasons[i]));
    if (s->broken && s->error)
        txm_say(TXM_SAY_WARNING, "a run failed: %s", s->error);
    else if (s->broken && !s->states[TXM_MADE_FAILED])
        txm_say(TXM_SAY_WARNING, "%s with an error", s->broken == 1 ? "a run ended" : "runs ended");
    if (!s->images)
        txm_say(TXM_SAY_WARNING, "the logs contain no images");
    if (s->shards_missing)
        txm_say(TXM_SAY_WARNING, "%zu of %s %s no complete run", s->shards_missing,
                txm_format_count(s->shards, "shard", shards), s->shards_missing == 1 ? "has" : "have");
    if (s->unfinished)
        txm_say(TXM_SAY_WARNING, "the last run was stopped, or is still running");
    if (s->lists > 1)
        txm_say(TXM_SAY_WARNING, "the shards are from %zu different lists; run the job again", s->lists);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* If a log cannot be read, the others are still used; only lack of memory or a newer format ends the command. Logs
 * are read in the order of the operands, because later logs are those of later runs. */
static txm_status add_logs(txm_report *report, const txm_inputs *inputs, txm_tally *tally, txm_error *err)
{
    for (size_t i = 0; i < txm_inputs_count(inputs); i++) {
        const txm_input *input = txm_inputs_at(inputs, i);
        txm_error own = {0};
        txm_status status = txm_input_check(input, &own);
        if (status == TXM_OK)
            status = txm_report_add(report, input->path, &own);
        if (status == TXM_STATUS_NO_MEMORY)
            return txm_fail_with(err, status, &own);
        txm_tally_add(tally, status);
        if (status != TXM_OK)
            txm_say(TXM_SAY_ERROR, "%s", own.message);
    }
    return TXM_OK;
}

/* Logs may be operands, folders of *.jsonl, or standard input. */
static int run_report(void *p, const txm_operands *operands)
{
    static const char *const logs[] = {"*.jsonl", NULL};
    static const txm_files_how how = {.command = "report",
                                      .what = "log",
                                      .usual = logs,
                                      .dash_is_file = true,
                                      .hint = "; 'txmill make --log run.jsonl' writes one"};
    const report_args *args = p;
    txm_report report = {0};
    txm_report_sums sums = {0};
    txm_tally tally = {0};
    txm_error err = {0};
    txm_inputs *inputs = NULL;
    txm_report_args_apply(&args->report);
    txm_status status = TXM_OK;
    if (!operands->count)
        status = txm_fail(&err, TXM_STATUS_USAGE, "no log given%s; txmill make --json writes them",
                          txm_besides_output(operands));
    else if (args->output && (!*args->output || (!strcmp(args->output, "-") && args->report.json)))
        status = txm_fail(&err, TXM_STATUS_USAGE, "--output -: standard output has the JSON; name a file");
    if (status == TXM_OK)
        status = txm_files_collect(&how, &args->files, operands, &inputs, &err);
    const txm_output output = {"-o", args->output, TXM_OUTPUT_PAGE, args->overwrite};
    if (status == TXM_OK)
        status = txm_guard_output(&output, txm_files_path, inputs, &err);
    if (status == TXM_OK)
        status = add_logs(&report, inputs, &tally, &err);
    if (status == TXM_OK)
        status = txm_report_examine(&report, &err);
    if (status == TXM_OK)
        status = txm_report_sum(&report, &sums, &err);
    if (status == TXM_OK && args->report.json)
        txm_json_emit(txm_report_json(&report, &sums));
    /* If no input is a log, there is no page, because an empty page would look like a result. */
    if (status == TXM_OK && report.foreign && !sums.images && sums.incomplete == report.run_count)
        status =
            txm_fail(&err, TXM_STATUS_USAGE, "%s: not a log of txmill make; 'txmill make --log run.jsonl' writes one",
                     strcmp(operands->items[0], "-") ? operands->items[0] : "standard input");
    bool nothing = !report.run_count && tally.failed;
    if (status == TXM_OK && args->output && !nothing)
        status = txm_report_page(&report, &sums, args->title, args->output, &err);
    if (status == TXM_OK && !args->report.json && !nothing)
        say_sums(&report, &sums);
    txm_report_free(&report);
    txm_inputs_free(&inputs);
    return status == TXM_OK ? txm_finish(&tally)
                            : txm_finish_failed(&err, err.status == TXM_STATUS_USAGE ? 0 : operands->count);
}

TXM_COMMAND(report, report_args, .purpose = "Write a page about runs of txmill make",
            .synopsis = "[OPTION...] RUN.jsonl... -o REPORT.html", .operand_values = TXM_VALUES_LOG,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY);
