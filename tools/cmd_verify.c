/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill verify: is a tx file whole, and is it what its name and its source say?
 *
 * In: tx files, or the log of a run that made them. Out: findings per file, sorted by what they cost a render, and
 * exit code 5 if there are any that matter.
 *
 * Quick checks are always made; --deep converts the source again and compares pixels, which takes as long as
 * make. What is found is listed by the finding's cost to a render, errors first (src/mill/inspect/finding_table.h
 * has all kinds).
 */
#include <errno.h>
#include <unistd.h>

#include "tile/base/fail.h"
#include "tools/inspect/tx_files.h"
#include "tools/inspect/verify_report.h"
#include "tools/make/run_log.h"
#include "tools/options/args.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/say.h"
#include "tools/output/summary.h"
#include "tools/ptex/ptex_files.h"

typedef struct verify_args {
    bool deep;
    const char *source;
    txm_opt_list runs;
    txm_tx_files_args files;
    txm_rule_args rules;
    txm_config_args config;
    txm_jobs_args jobs;
    txm_report_args report;
} verify_args;

#define AT(member) .offset = offsetof(verify_args, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "deep", AT(deep), .help = "Convert the source again and compare everything",
               .more = "With the settings that the file states, into a temporary file below TMPDIR."),
    TXM_OPTION(STRING, "source", AT(source), .arg = "FILE", .values = TXM_VALUES_IMAGE,
               .help = "The source image, if the path in the file does not lead to it; for a single file"),
    TXM_OPTION(LIST, "run", AT(runs), .arg = "LOG", .values = TXM_VALUES_LOG,
               .help = "Also check the tx files that a run of make --json made or found up to date (repeatable)",
               .more = "In the folder that the run was started in, if it was given relative paths. Images that failed "
                       "there have no "
                       "tx file: the exit status of the run shows that, and so does txmill report."),
    {0},
};

static const txm_option_group groups[] = {
    {"Checks", options, 0},
    TXM_FILES_GROUP(verify_args),
    TXM_RULES_GROUP(verify_args),
    TXM_COLOUR_GROUP(verify_args),
    TXM_JOBS_GROUP(verify_args),
    TXM_REPORTS_GROUP(verify_args),
    {0},
};

/* What the summary counts the file under: why Cycles does not use it, or else what is wrong with it. */
static const char *word_of(const txm_findings *findings, const txm_verdict *verdict)
{
    if (!txm_verify_failed(findings))
        return "good";
    return verdict->used || verdict->use == TXM_USE_NO_IMAGE ? "with findings" : txm_use_word(verdict->use);
}

/* Findings and failures differ: a file that is damaged was verified successfully. */
static txm_status verify_one(txm_context *context, const txm_rules *rules, const char *path, const verify_args *args,
                             txm_tally *tally, txm_summary *summary, txm_error *err)
{
    txm_verdict verdict;
    const txm_verify_options how = {.struct_size = sizeof(txm_verify_options),
                                    .deep = args->deep,
                                    .source = args->source,
                                    .rules = rules,
                                    .verdict = &verdict};
    txm_findings findings = {0};
    txm_status status = txm_verify(context, path, &how, &findings, err);
    if (status == TXM_OK) {
        const txm_verify_report report = {path, args->deep, &findings, &verdict};
        tally->findings |= txm_verify_failed(&findings);
        txm_summary_add(summary, word_of(&findings, &verdict));
        if (args->report.json)
            txm_verify_print_json(&report);
        else
            txm_verify_print_text(&report, args->report.quiet);
    }
    txm_findings_clear(&findings);
    return status;
}

/* Of a Ptex file everything that it stores is read; nothing says what it was made from. */
static txm_status verify_ptex(const char *path, const verify_args *args, txm_tally *tally, txm_summary *summary,
                              txm_error *err)
{
    bool good = false;
    txm_status status = txm_ptex_verify(path, args->report.json, args->report.quiet, txm_signal_flag(), &good, err);
    if (status == TXM_OK) {
        tally->findings |= !good;
        txm_summary_add(summary, good ? "good" : "damaged");
    }
    return status;
}

/* Tiles of one file are checked by all threads; files one after the other. */
static void verify_all(const txm_project_contexts *contexts, const txm_rules *rules, const verify_args *args,
                       const txm_inputs *inputs, txm_tally *tally)
{
    txm_summary summary = {.words = {"good"}};
    for (size_t i = 0; i < txm_inputs_count(inputs) && !txm_signal_caught(); i++) {
        const txm_input *input = txm_inputs_at(inputs, i);
        txm_error err = {0};
        txm_status status = txm_input_check(input, &err);
        if (status == TXM_OK && txm_ptex_is_file(input->path))
            status = verify_ptex(input->path, args, tally, &summary, &err);
        else if (status == TXM_OK)
            status = verify_one(txm_project_context(contexts, i), txm_project_rules(contexts, i, rules), input->path,
                                args, tally, &summary, &err);
        if (status == TXM_STATUS_CANCELLED)
            return;
        txm_tally_add(tally, status);
        if (status == TXM_OK)
            continue;
        txm_summary_add(&summary, "failed");
        txm_say(TXM_SAY_ERROR, "%s", err.message);
        if (args->report.json)
            txm_verify_print_json_error(input->path, &err);
    }
    if (!args->report.json && !args->report.quiet && summary.total > 1)
        txm_summary_print(&summary, "file");
}

/* From operands and from logs of runs (--run): both may be given, files are verified once. */
static txm_status collect_files(const verify_args *args, const txm_operands *operands, txm_inputs **inputs,
                                txm_error *err)
{
    const txm_files_how how = {.command = "verify",
                               .what = "tx file",
                               .tx = true,
                               .ptex = true,
                               .of_images = true,
                               .may_be_none = args->runs.count > 0};
    txm_status status = txm_files_collect(&how, &args->files, operands, inputs, err);
    if (status == TXM_OK)
        status = txm_run_tx_read(*inputs, &args->runs, err);
    if (status == TXM_OK && !txm_inputs_count(*inputs))
        status = txm_fail(err, TXM_STATUS_USAGE, "%s: the run made no tx file, and found none up to date",
                          args->runs.items[0]);
    if (status == TXM_OK && args->source && txm_inputs_count(*inputs) > 1)
        status = txm_fail(err, TXM_STATUS_USAGE, "--source goes with a single tx file, but %zu are given",
                          txm_inputs_count(*inputs));
    if (status == TXM_OK && args->source && access(args->source, R_OK) != 0)
        status = txm_fail_errno(err, errno, "--source %s: cannot be read", args->source);
    return status;
}

/* Rules are needed for the name of the file: --deep and the check of the name use what a run would have used. */
static int run_verify(void *p, const txm_operands *operands)
{
    verify_args *args = p;
    txm_rules *rules = NULL;
    const txm_settings settings = {.cache_dir = NULL};
    const txm_project_targets project = {NULL, &args->config, &args->rules, &args->jobs.threads};
    txm_tally tally = {0};
    txm_error err = {0};
    txm_project_contexts contexts = {.place = txm_tx_place};
    txm_inputs *inputs = NULL;
    txm_report_args_apply(&args->report);
    if (collect_files(args, operands, &inputs, &err) == TXM_OK &&
        txm_project_apply(&project, operands, &err) == TXM_OK &&
        txm_rule_args_read(&args->rules, &rules, &err) == TXM_OK &&
        txm_project_look(inputs, &args->config, &args->jobs, &settings, rules, &contexts, &err) == TXM_OK)
        verify_all(&contexts, rules, args, inputs, &tally);
    txm_rules_free(&rules);
    size_t count = inputs && err.status != TXM_STATUS_USAGE ? txm_inputs_count(inputs) : 0;
    txm_project_contexts_free(&contexts);
    txm_inputs_free(&inputs);
    return err.status ? txm_finish_failed(&err, count) : txm_finish(&tally);
}

TXM_COMMAND(verify, verify_args, .purpose = "Check tx files: structure, tiles, levels, names, sources; Ptex files",
            .synopsis = "[OPTION...] TX...", .operand_values = TXM_VALUES_TX_OR_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
