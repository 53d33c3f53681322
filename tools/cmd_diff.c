/* SPDX-License-Identifier: Apache-2.0
 * txmill diff: how far two files are apart, in metadata and in the pixels of each level. */
#include <stdlib.h>

#include "core/fail.h"
#include "core/path.h"
#include "tools/inspect/diff_report.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/guard.h"
#include "tools/output/say.h"

typedef struct diff_args {
    double max_error, mean_error, min_psnr, max_share; /* negative: not given */
    bool metadata, force;
    const char *output;
    txm_jobs_args jobs;
    txm_report_args report;
} diff_args;

static txm_status parse_number(const char *text, void *field, txm_error *err)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= 0))
        return txm_fail(err, TXM_STATUS_USAGE, "must be a number of at least 0");
    *(double *)field = value;
    return TXM_OK;
}

#define AT(member) .offset = offsetof(diff_args, member)
static const txm_option thresholds[] = {
    TXM_OPTION(CUSTOM, "max-error", AT(max_error), .arg = "X", .parse = parse_number,
               .help = "Largest error that is allowed in any sample"),
    TXM_OPTION(CUSTOM, "max-mean", AT(mean_error), .arg = "X", .parse = parse_number,
               .help = "Largest mean error of a level that is allowed"),
    TXM_OPTION(CUSTOM, "min-psnr", AT(min_psnr), .arg = "DB", .parse = parse_number,
               .help = "Smallest signal-to-noise ratio of a level that is allowed, in decibels"),
    TXM_OPTION(CUSTOM, "max-share", AT(max_share), .arg = "PERCENT", .parse = parse_number,
               .help = "Largest share of differing samples of a level that is allowed"),
    TXM_OPTION(FLAG, "metadata", .letter = 'm', AT(metadata), .help = "Metadata must not differ either",
               .more =
                   "Differences of metadata are always listed; with this option they decide the exit code as well."),
    {0},
};
static const txm_option outputs[] = {
    TXM_OPTION_OUTPUT(
        AT(output), "Write a picture of the differences of level 0",
        "Black where nothing differs, then blue, red, yellow and white up to the largest error. Large images are "
        "shown in blocks: the picture has at most 2048 pixels a side. The extension chooses the format."),
    TXM_OPTION_FORCE(AT(force)),
    {0},
};
#undef AT

static const txm_option_group groups[] = {
    {"Thresholds", thresholds, 0},
    {"Output", outputs, 0},
    {"Running", txm_jobs_options, offsetof(diff_args, jobs)},
    {"Reports", txm_report_options, offsetof(diff_args, report)},
    {0},
};

static void defaults(void *p)
{
    diff_args *args = p;
    args->max_error = args->mean_error = args->min_psnr = args->max_share = -1;
}

/* Whether a level passes every threshold that was given; without any, not a sample may differ. */
static bool level_within(const txm_level_error *e, const diff_args *args)
{
    if (!e->compared)
        return false;
    if (args->max_error < 0 && args->mean_error < 0 && args->min_psnr < 0 && args->max_share < 0)
        return e->different == 0;
    /* Written so that a NaN fails. */
    return (args->max_error < 0 || e->max <= args->max_error) &&
           (args->mean_error < 0 || e->mean <= args->mean_error) && (args->min_psnr < 0 || e->psnr >= args->min_psnr) &&
           (args->max_share < 0 || 100.0 * (double)e->different <= args->max_share * (double)e->samples);
}

static txm_status compare(const char *const paths[2], const diff_args *args, txm_context *context, bool *within,
                          txm_error *err)
{
    txm_difference d;
    txm_status status = txm_diff(context, paths[0], paths[1], args->output != NULL, &d, err);
    if (status)
        return status;
    txm_diff_report r = {.paths = {paths[0], paths[1]}, .difference = &d, .within = true};
    /* Metadata is that of tx files; whatever else came this far is a plain image. */
    for (int s = 0; s < 2 && !status; s++) {
        txm_error why = {0};
        txm_status opened = txm_tx_open(paths[s], &r.tx[s], &why);
        if (opened != TXM_OK && (why.sys_errno || opened == TXM_STATUS_NO_MEMORY))
            status = txm_fail(err, opened, "%s", why.message);
        else if (opened != TXM_OK && (opened == TXM_STATUS_CHANGED || txm_path_has_ext(paths[s], "tx")))
            status = txm_fail(err, TXM_STATUS_CHANGED, "%s: changed while it was compared", paths[s]);
    }
    for (uint32_t l = 0; l < d.levels; l++)
        r.within = r.within && level_within(&d.level[l], args);
    for (int s = 0; s < 2 && !status; s++)
        if (r.tx[s] && txm_tx_level_of(r.tx[s], 0))
            status = txm_tx_check(r.tx[s], err);
    r.metadata = txm_diff_each_entry(&r, NULL, NULL) > 0;
    *within = r.within && !(args->metadata && r.metadata);
    if (!status && args->output)
        status = txm_diff_write_map(&d, args->output, err);
    if (!status && args->report.json)
        txm_diff_print_json(&r);
    else if (!status && !args->report.quiet)
        txm_diff_print_text(&r);
    for (int s = 0; s < 2; s++)
        txm_tx_close(&r.tx[s]);
    txm_difference_clear(&d);
    return status;
}

static int run_diff(void *p, const txm_operands *operands)
{
    const diff_args *args = p;
    txm_tally tally = {0};
    txm_error err = {0};
    txm_context *context = NULL;
    bool within = false;
    txm_report_args_apply(&args->report);
    if (operands->count != 2) {
        txm_fail(&err, TXM_STATUS_USAGE,
                 "two files are compared, but %zu %s given; 'txmill diff --help' lists the options", operands->count,
                 operands->count == 1 ? "is" : "are");
        return txm_finish_failed(&err, 0);
    }
    const char *const paths[2] = {operands->items[0], operands->items[1]};
    const txm_output output = {"-o", args->output, TXM_OUTPUT_PICTURE, args->force};
    if (txm_guard_operands(&output, operands->items, operands->count, &err))
        return txm_finish_failed(&err, operands->count);
    const txm_context_options how = {.threads = args->jobs.threads, .cancel = txm_signal_flag()};
    txm_status status = txm_context_new(&how, &context, &err);
    if (!status)
        status = compare(paths, args, context, &within, &err);
    txm_context_free(&context);
    txm_tally_add(&tally, status);
    tally.findings = !within;
    if (status && status != TXM_STATUS_CANCELLED) {
        txm_say(TXM_SAY_ERROR, "%s", err.message);
        if (args->report.json)
            txm_diff_print_json_error(paths, &err);
    }
    return txm_finish(&tally);
}

TXM_COMMAND(diff, diff_args, .purpose = "Compare two files: metadata, and the pixels of each level",
            .synopsis = "[OPTION...] A B", .operand_values = TXM_VALUES_FILE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL, .defaults = defaults);
