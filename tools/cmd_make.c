/* SPDX-License-Identifier: Apache-2.0
 * txmill make: converts images into the tx files that Cycles looks up. */
#include <stdlib.h>

#include "args.h"
#include "convert/context.h"
#include "core/mem.h"
#include "make_report.h"
#include "progress.h"
#include "say.h"

typedef struct make_args {
    txm_config_args config;
    txm_settings_args settings;
    const char *output;
    bool force, dry_run, fail_fast, progress;
    txm_running_args running;
    txm_report_args report;
} make_args;

#define AT(member) .offset = offsetof(make_args, member)
static const txm_option output_options[] = {
    {.name = "output",
     .letter = 'o',
     .type = TXM_OPT_STRING,
     AT(output),
     .arg = "FILE",
     .values = TXM_VALUES_FILE,
     .help = "Write to this file, for a single image",
     .more = "Cycles finds it there only if it is the name that Cycles computes itself."},
    {.name = "force", .letter = 'f', .type = TXM_OPT_FLAG, AT(force), .help = "Write even what is up to date"},
    {.name = "dry-run",
     .letter = 'n',
     .type = TXM_OPT_FLAG,
     AT(dry_run),
     .help = "Only say what would be made, and why"},
    {0},
};
static const txm_option course_options[] = {
    {.name = "keep-going",
     .letter = 'k',
     .type = TXM_OPT_CLEAR,
     AT(fail_fast),
     .help = "Convert the other images when one fails (the default)"},
    {.name = "fail-fast",
     .type = TXM_OPT_FLAG,
     AT(fail_fast),
     .help = "Start no further image when one failed",
     .more = "Those that are under way are finished."},
    {.name = "progress",
     .type = TXM_OPT_FLAG,
     AT(progress),
     .help = "Print a line of progress a percent",
     .more = "On a terminal there is a progress line in any case, unless -q is given."},
    {0},
};
#undef AT

static const txm_option_group groups[] = {
    {"Settings", txm_settings_options, offsetof(make_args, settings)},
    {"Colour", txm_config_options, offsetof(make_args, config)},
    {"Output", output_options, 0},
    {"Running", txm_running_options, offsetof(make_args, running)},
    {"Course", course_options, 0},
    {"Reports", txm_report_options, offsetof(make_args, report)},
    {0},
};

static void defaults(void *p)
{
    txm_settings_args_default(&((make_args *)p)->settings);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* What all conversions of this run share. */
typedef struct make_run {
    const make_args *args;
    txm_context *context;
    txm_make_report report;
    txm_progress progress;
} make_run;

/* One input: queued as a job, converted, reported. */
typedef struct make_item {
    make_run *run;
    const char *input;
} make_item;

static void convert_item(void *arg)
{
    make_item *item = arg;
    make_run *run = item->run;
    txm_progress_file file = txm_progress_start(&run->progress, item->input);
    txm_convert_options options = {.output = run->args->output,
                                   .force = run->args->force,
                                   .dry_run = run->args->dry_run,
                                   .stages = run->args->report.json || run->args->report.verbose,
                                   .progress = txm_progress_rows,
                                   .progress_user = &file};
    txm_result result = {0};
    txm_error err = {0};
    txm_convert(run->context, item->input, &run->args->settings.settings, &options, &result, &err);
    txm_make_report_add(&run->report, item->input, &result, &err);
    txm_progress_finish(&file);
    txm_result_clear(&result);
}

/* Whether another input may be started. */
static bool may_start(make_run *run)
{
    pthread_mutex_lock(&run->report.lock);
    bool failed = run->report.tally.failed != 0;
    pthread_mutex_unlock(&run->report.lock);
    return !txm_signal_caught() && !(failed && run->args->fail_fast);
}

/* Conversions under way at once, however many threads there are: each holds a few files open and, while it waits for
 * its tiles, may run another one on the same stack. */
enum { MOST_AT_ONCE = 128 };

/* Converts several inputs at once: as many as there are threads, so that what one conversion does on a single thread
 * (decoding a PNG) overlaps with the others. They share the context's pool, which never runs more threads than asked
 * for.
 */
static txm_status convert_all(make_run *run, make_item *items, size_t count, txm_error *err)
{
    txm_pool *pool = txm_context_pool(run->context);
    txm_group *group = txm_group_new(pool);
    unsigned threads = txm_pool_threads(pool), at_once = threads < MOST_AT_ONCE ? threads : MOST_AT_ONCE;
    bool queued = group != NULL;
    for (size_t i = 0; queued && i < count && may_start(run); i++) {
        queued = txm_group_submit(group, false, convert_item, &items[i]);
        txm_group_wait(group, at_once - 1);
    }
    txm_group_free(group);
    return queued ? TXM_OK : txm_fail(err, TXM_NO_MEMORY, "out of memory");
}

static txm_status run_inputs(make_run *run, const txm_operands *operands, txm_error *err)
{
    txm_context_options options = txm_context_options_from(&run->args->config, &run->args->running);
    txm_status status = txm_context_new(&options, &run->context, err);
    make_item *items = txm_calloc(operands->count, sizeof *items);
    if (status == TXM_OK && !items)
        status = txm_fail(err, TXM_NO_MEMORY, "out of memory");
    for (size_t i = 0; status == TXM_OK && i < operands->count; i++)
        items[i] = (make_item){run, operands->items[i]};
    if (status == TXM_OK)
        status = convert_all(run, items, operands->count, err);
    free(items);
    txm_context_free(&run->context);
    return status;
}

/* What the tables of options cannot say. */
static txm_status check_usage(const make_args *args, const txm_operands *operands, txm_error *err)
{
    if (!operands->count)
        return txm_fail(err, TXM_USAGE, "no image given; 'txmill make --help' lists the options");
    if (args->output && operands->count > 1)
        return txm_fail(err, TXM_USAGE, "--output takes a single image, but %zu are given; use --cache-dir",
                        operands->count);
    if (args->output && !*args->output)
        return txm_fail(err, TXM_USAGE, "--output: the name is empty");
    return TXM_OK;
}

static int run_make(void *p, const txm_operands *operands)
{
    make_args *args = p;
    txm_error err = {0};
    txm_settings_args_finish(&args->settings);
    txm_report_args_apply(&args->report);
    if (check_usage(args, operands, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    make_run run = {.args = args};
    txm_make_report_init(&run.report, operands->count, args->report.json, args->report.quiet);
    txm_progress_init(&run.progress, operands->count, args->progress, args->report.quiet);
    if (run_inputs(&run, operands, &err) != TXM_OK)
        txm_make_report_stop(&run.report, &err);
    txm_progress_end(&run.progress);
    return txm_make_report_finish(&run.report);
}

const txm_command txm_cmd_make = {
    .name = "make",
    .purpose = "Convert images into the tx files that Cycles looks up",
    .synopsis = "[OPTION...] IMAGE...",
    .groups = groups,
    .operand_values = TXM_VALUES_FILE,
    .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL,
    .args_bytes = sizeof(make_args),
    .defaults = defaults,
    .run = run_make,
};
