/* SPDX-License-Identifier: Apache-2.0
 * txmill verify: is a tx file whole, and is it what its name and its source say? */
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/make/run_tx.h"
#include "tools/output/say.h"
#include "tools/inspect/verify_report.h"

typedef struct verify_args {
    bool deep;
    const char *source;
    txm_opt_list runs;
    txm_config_args config;
    txm_jobs_args jobs;
    txm_report_args report;
} verify_args;

#define AT(member) .offset = offsetof(verify_args, member)
static const txm_option options[] = {
    {.name = "deep",
     .type = TXM_OPT_FLAG,
     AT(deep),
     .help = "Convert the source again and compare everything",
     .more = "With the settings that the file states, into a temporary file below TMPDIR."},
    {.name = "source",
     .type = TXM_OPT_STRING,
     AT(source),
     .arg = "FILE",
     .values = TXM_VALUES_FILE,
     .help = "The source, where the path in the file does not lead to it; for a single file"},
    {.name = "run",
     .type = TXM_OPT_LIST,
     AT(runs),
     .arg = "LOG",
     .values = TXM_VALUES_FILE,
     .help = "The tx files that a run of make --json made or found up to date, too (repeatable)",
     .more =
         "In the folder that the run was started in, if it was given relative paths. Images that failed there have no "
         "tx file: the exit status of the run tells of them, and txmill report."},
    {0},
};
#undef AT

static const txm_option_group groups[] = {
    {"Checks", options, 0},
    {"Colour", txm_config_options, offsetof(verify_args, config)},
    {"Running", txm_jobs_options, offsetof(verify_args, jobs)},
    {"Reports", txm_report_options, offsetof(verify_args, report)},
    {0},
};

static txm_status verify_one(txm_context *context, const char *path, const verify_args *args, txm_tally *tally,
                             txm_error *err)
{
    const txm_verify_options how = {.deep = args->deep, .source = args->source};
    txm_findings findings = {0};
    txm_status status = txm_verify(context, path, &how, &findings, err);
    if (status == TXM_OK) {
        const txm_verify_report report = {path, args->deep, &findings};
        tally->findings |= txm_verify_failed(&findings);
        if (args->report.json)
            txm_verify_print_json(&report);
        else
            txm_verify_print_text(&report, args->report.quiet);
    }
    txm_findings_clear(&findings);
    return status;
}

static void verify_all(txm_context *context, const verify_args *args, const txm_operands *operands, txm_tally *tally)
{
    for (size_t i = 0; i < operands->count && !txm_signal_caught(); i++) {
        txm_error err = {0};
        txm_status status = verify_one(context, operands->items[i], args, tally, &err);
        if (status == TXM_CANCELLED)
            return;
        txm_tally_add(tally, status);
        if (status != TXM_OK) {
            txm_say(TXM_SAY_ERROR, "%s", err.message);
            if (args->report.json)
                txm_verify_print_json_error(operands->items[i], &err);
        }
    }
}

static int run_verify(void *p, const txm_operands *operands)
{
    const verify_args *args = p;
    txm_tally tally = {0};
    txm_error err = {0};
    txm_context *context = NULL;
    txm_report_args_apply(&args->report);
    if (!operands->count && !args->runs.count)
        txm_fail(&err, TXM_USAGE, "no tx file given; 'txmill verify --help' lists the options");
    else if (args->source && operands->count > 1)
        txm_fail(&err, TXM_USAGE, "--source goes with a single tx file, but %zu are given", operands->count);
    if (err.status)
        return txm_finish_failed(&err, 0);
    const txm_running_args running = {.threads = args->jobs.threads};
    const txm_context_options how = txm_context_options_from(&args->config, &running);
    txm_run_tx tx = {0};
    if (txm_run_tx_read(&tx, operands, &args->runs, &err) == TXM_OK && txm_context_new(&how, &context, &err) == TXM_OK)
        verify_all(context, args, &tx.list, &tally);
    txm_context_free(&context);
    size_t count = tx.list.count;
    txm_run_tx_free(&tx);
    return err.status ? txm_finish_failed(&err, count) : txm_finish(&tally);
}

const txm_command txm_cmd_verify = {
    .name = "verify",
    .purpose = "Check tx files: structure, tiles, levels, names, sources",
    .synopsis = "[OPTION...] TX...",
    .groups = groups,
    .operand_values = TXM_VALUES_FILE,
    .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL,
    .args_bytes = sizeof(verify_args),
    .run = run_verify,
};
