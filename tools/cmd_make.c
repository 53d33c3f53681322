/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill make: converts images into tx files for Cycles.
 *
 * This file has only the options of the command; make_run.c carries it out, because `txmill watch` does the same in
 * each round.
 *
 * The order of checks is options, shard, project settings, inputs, because each could hide a mistake in the next.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "tools/inspect/tx_files.h"
#include "tools/make/here.h"
#include "tools/make/make_mesh.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"

#define AT(member) .offset = offsetof(txm_make_args, member)
static const txm_option output_options[] = {
    TXM_OPTION_OUTPUT(AT(output), "Write to this file; for a single image",
                      "Cycles finds it there only under the name that Cycles itself computes."),
    TXM_OPTION(FLAG, "force", .letter = 'f', AT(force), .help = "Also write files that are up to date"),
    TXM_OPTION(FLAG, "content", .rare = true, AT(running.content),
               .help = "Read each image whole, to find other content of the same size",
               .more = "A tx file that txmill made records the content of its image. An image whose time was kept when "
                       "it was changed or replaced is found by its size alone unless this option is given."),
    TXM_OPTION(FLAG, "deep", .rare = true, AT(deep),
               .help = "Also decode the tiles of files that are up to date, and make damaged ones again"),
    TXM_OPTION(FLAG, "dry-run", .letter = 'n', AT(dry_run), .help = "Only show what would be made and why"),
    TXM_OPTION(FLAG, "plan", .rare = true, AT(plan),
               .help = "Like --dry-run, but in the order of the work and with its cost",
               .more = "Megapixels, peak memory and processor seconds are estimated from the images' headers."),
    TXM_OPTION(WORD, "key", .rare = true, AT(key), .arg = "[=content]", .values = "content",
               .help = "Make nothing, but print a key per file; equal keys mean equal pixels",
               .more = "With =content the key also depends on the image's bytes: equal keys then mean equal pixels in "
                       "the tx files, whatever the images' names and dates. See KEYS."),
    TXM_OPTION_STORE(AT(store), "See THE STORE."),
    TXM_OPTION_CACHE_LIMIT(AT(limit), "Afterwards remove tx files that were not used for longest, to keep within SIZE",
                           "See THE CACHE LIMIT."),
    {0},
};
static const txm_option course_options[] = {
    TXM_OPTION(FLAG, "no-claims", .rare = true, AT(no_claims),
               .help = "Do not keep other processes from making the same files",
               .more = "This is safe, but processes may do the same work twice. See MANY PROCESSES."),
    TXM_OPTION(CLEAR, "keep-going", .rare = true, .letter = 'k', AT(fail_fast),
               .help = "Continue with the other images if one fails (the default)"),
    TXM_OPTION(FLAG, "fail-fast", .rare = true, AT(fail_fast), .help = "Start no more images after one has failed",
               .more = "Conversions that are running are finished."),
    TXM_OPTION(FLAG, "lint", .rare = true, AT(lint), .help = "Warn about likely mistakes; see LINT"),
    TXM_OPTION(STRING, "log", .rare = true, AT(log), .arg = "FILE", .values = TXM_VALUES_LOG,
               .help = "Also write the JSON objects of --json to this file",
               .more = "For schedulers that keep no standard output, and for txmill report and verify --run. Each run "
                       "overwrites the file."),
    TXM_OPTION(FLAG, "progress", .rare = true, AT(progress), .help = "Print one progress line per percent",
               .more = "A terminal shows progress in any case, unless -q is given."),
    {0},
};

static const txm_option_group groups[] = {
    TXM_INPUTS_GROUP(txm_make_args),
    TXM_MESH_GROUP(txm_make_args),
    TXM_RULES_GROUP(txm_make_args),
    TXM_SETTINGS_GROUP(txm_make_args),
    TXM_COLOUR_GROUP(txm_make_args),
    TXM_SCENES_GROUP(txm_make_args),
    {"Output", output_options, 0},
    TXM_RUNNING_GROUP(txm_make_args),
    {"Sharing the work", txm_shard_options, offsetof(txm_make_args, shard)},
    {"Failures and messages", course_options, 0},
    TXM_REPORTS_GROUP(txm_make_args),
    {0},
};

/* A folder is part of a project if it has a scene, or if it or a folder above has a .txmill. */
static txm_status choose_here(const txm_operands *operands, txm_here *here, txm_error *err)
{
    char *settings = NULL;
    if (operands->count || *txm_besides_output(operands))
        return TXM_OK;
    txm_status status = txm_here_find(operands, here, err);
    if (status == TXM_OK && !here->count)
        status = txm_project_path("", &settings, err);
    if (status == TXM_OK && !here->count && !settings)
        here->operands.count = 0;
    free(settings);
    if (status == TXM_OK && here->operands.count)
        txm_here_say(here, operands, "making the tx files of");
    return status;
}

/* Checks that the tables of options cannot express. */
static txm_status check_usage(const txm_make_args *args, const txm_operands *operands, txm_error *err)
{
    if (!operands->count) {
        /* Only inside a project is it done without being asked for: nobody wants tx files of a home folder. */
        txm_here here = {0};
        const char *besides = txm_besides_output(operands);
        if (*besides || txm_here_find(operands, &here, err) != TXM_OK || !here.images)
            txm_fail(err, err->status ? err->status : TXM_STATUS_USAGE,
                     "no image given%s; 'txmill make --help' lists the options", besides);
        else
            txm_fail(err, TXM_STATUS_USAGE,
                     "no image given, and no project here, which has a scene or a .txmill; 'txmill make --preset "
                     "pbr .' makes the tx files of the images of this folder");
        txm_here_free(&here);
        return err->status;
    }
    if (args->output && operands->count > 1)
        return txm_fail(err, TXM_STATUS_USAGE, "--output takes a single image, but %zu are given; use --cache-dir",
                        operands->count);
    const txm_status status = txm_make_mesh_check(args, operands, err);
    if (status != TXM_OK)
        return status;
    if (args->store && !*args->store)
        return txm_fail(err, TXM_STATUS_USAGE, "--store: the name is empty; name a folder");
    if (args->log && !*args->log)
        return txm_fail(err, TXM_STATUS_USAGE, "--log: the name is empty; name a file");
    if (args->output && !*args->output)
        return txm_fail(err, TXM_STATUS_USAGE, "--output: the name is empty; name a file");
    if (args->log && !strcmp(args->log, "-"))
        return txm_fail(
            err, TXM_STATUS_USAGE,
            "--log -: the log cannot go to standard output; use --json, which prints the same objects there");
    if (args->output && !strcmp(args->output, "-"))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "--output -: a tx file cannot go to standard output; name a file, as in -o wood.tx");
    return TXM_OK;
}

/* Checks everything that can be checked before files are read; txm_make_run does the rest. */
static int run_make(void *p, const txm_operands *operands)
{
    txm_make_args *args = p;
    txm_error err = {0};
    txm_here here = {0};
    txm_settings_args_finish(&args->settings, operands);
    txm_report_args_apply(&args->report);
    if (choose_here(operands, &here, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    operands = here.operands.count ? &here.operands : operands;
    if (check_usage(args, operands, &err) != TXM_OK || txm_shard_args_finish(&args->shard, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    const txm_project_targets project = {&args->settings.settings.cache_dir, &args->config, &args->rules,
                                         &args->running.threads};
    if (txm_project_apply(&project, operands, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    if (txm_cache_limit_settle(&args->limit, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    txm_settings_args_warn(&args->settings);
    txm_here_preset(&here, operands, &args->rules);
    const int code = txm_make_run(args, operands);
    txm_here_free(&here);
    return code;
}

TXM_COMMAND(make, txm_make_args, .purpose = "Convert images into tx files for Cycles",
            .synopsis = "[OPTION...] [PATH...]", .operand_values = TXM_VALUES_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL);
