/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill make: converts images into tx files for Cycles.
 *
 * Only the options of the command: make_run.c carries it out, since `txmill watch` does the same work round after
 * round.
 *
 * Order of what is checked: options, shard, project settings, then inputs. Each can be wrong in a way that the
 * next would hide.
 */
#include "tile/base/fail.h"
#include "tools/inspect/tx_files.h"
#include "tools/make/make_mesh.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"

#define AT(member) .offset = offsetof(txm_make_args, member)
static const txm_option output_options[] = {
    TXM_OPTION_OUTPUT(AT(output), "Write to this file, for a single image",
                      "Cycles finds it there only if it is the name that Cycles computes itself."),
    TXM_OPTION(FLAG, "force", .letter = 'f', AT(force), .help = "Write even what is up to date"),
    TXM_OPTION(FLAG, "deep", AT(deep),
               .help = "Decode the tiles of what is up to date, and make again what is damaged"),
    TXM_OPTION(FLAG, "dry-run", .letter = 'n', AT(dry_run), .help = "Only show what would be made, and why"),
    TXM_OPTION(FLAG, "plan", AT(plan), .help = "Like --dry-run, in the order of the work, with its cost",
               .more = "Megapixels, memory at the peak and processor seconds are estimated from the images' headers."),
    TXM_OPTION(
        WORD, "key", AT(key), .arg = "[=content]", .values = "content",
        .help = "Make nothing; print one key per file: equal keys mean equal pixels",
        .more =
            "With =content it covers the image's bytes, too: equal keys, equal tx pixels, wherever and whenever. See "
            "KEYS."),
    TXM_OPTION_STORE(AT(store), "See THE STORE."),
    {0},
};
static const txm_option course_options[] = {
    TXM_OPTION(FLAG, "no-claims", AT(no_claims), .help = "Do not keep other processes from making the same files",
               .more = "Nothing breaks without claims: processes then may do the same work twice. See MANY PROCESSES."),
    TXM_OPTION(CLEAR, "keep-going", .letter = 'k', AT(fail_fast),
               .help = "Carry on with the other images when one fails (the default)"),
    TXM_OPTION(FLAG, "fail-fast", AT(fail_fast), .help = "Start no more images once one has failed",
               .more = "Those that are under way are finished."),
    TXM_OPTION(FLAG, "lint", AT(lint), .help = "Warn about likely mistakes; see LINT"),
    TXM_OPTION(STRING, "log", AT(log), .arg = "FILE", .values = TXM_VALUES_LOG,
               .help = "Also write the JSON objects of --json to this file",
               .more = "For schedulers that keep no standard output, and for txmill report and verify --run. The file "
                       "is begun anew "
                       "by each run."),
    TXM_OPTION(FLAG, "progress", AT(progress), .help = "Print one progress line per percent",
               .more = "On a terminal there is a progress line in any case, unless -q is given."),
    {0},
};

static const txm_option_group groups[] = {
    TXM_INPUTS_GROUP(txm_make_args),
    TXM_MESH_GROUP(txm_make_args),
    TXM_RULES_GROUP(txm_make_args),
    TXM_SETTINGS_GROUP(txm_make_args),
    TXM_COLOUR_GROUP(txm_make_args),
    {"Output", output_options, 0},
    TXM_RUNNING_GROUP(txm_make_args),
    {"Sharing the work", txm_shard_options, offsetof(txm_make_args, shard)},
    {"Failures and messages", course_options, 0},
    TXM_REPORTS_GROUP(txm_make_args),
    {0},
};

/* The project's .txmill files fill in what the command line left open: see txm_project_apply. */
static void set_make_defaults(void *p)
{
    txm_settings_args_default(&((txm_make_args *)p)->settings);
}

/* What the tables of options cannot say. */
static txm_status check_usage(const txm_make_args *args, const txm_operands *operands, txm_error *err)
{
    if (!operands->count)
        return txm_fail(err, TXM_STATUS_USAGE, "no image given%s; 'txmill make --help' lists the options",
                        txm_besides_output(operands));
    if (args->output && operands->count > 1)
        return txm_fail(err, TXM_STATUS_USAGE, "--output takes a single image, but %zu are given; use --cache-dir",
                        operands->count);
    const txm_status status = txm_make_mesh_check(args, operands, err);
    if (status != TXM_OK)
        return status;
    if (args->store && !*args->store)
        return txm_fail(err, TXM_STATUS_USAGE, "--store: the name is empty");
    if (args->log && !*args->log)
        return txm_fail(err, TXM_STATUS_USAGE, "--log: the name is empty");
    if (args->output && !*args->output)
        return txm_fail(err, TXM_STATUS_USAGE, "--output: the name is empty");
    if (args->log && !strcmp(args->log, "-"))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "--log -: a log goes to a file; --json prints the same to standard output");
    if (args->output && !strcmp(args->output, "-"))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "--output -: a tx file does not go to standard output; name a file, as in "
                        "-o wood.tx");
    return TXM_OK;
}

/* What must be right before anything is read; the rest is txm_make_run's. */
static int run_make(void *p, const txm_operands *operands)
{
    txm_make_args *args = p;
    txm_error err = {0};
    txm_settings_args_finish(&args->settings, operands);
    txm_report_args_apply(&args->report);
    if (check_usage(args, operands, &err) != TXM_OK || txm_shard_args_finish(&args->shard, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    const txm_project_targets project = {&args->settings.settings.cache_dir, &args->config, &args->rules,
                                         &args->running.threads};
    if (txm_project_apply(&project, operands, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    txm_settings_args_warn(&args->settings);
    return txm_make_run(args, operands);
}

TXM_COMMAND(make, txm_make_args, .purpose = "Convert images into tx files for Cycles",
            .synopsis = "[OPTION...] PATH...", .operand_values = TXM_VALUES_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = set_make_defaults);
