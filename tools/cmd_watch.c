/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill watch: keeps the tx files of folders up to date.
 *
 * In: folders. Each round is a run of `txmill make` for the files that have changed; if some files fail, the others
 * are still converted. It ends with SIGINT or SIGTERM.
 *
 * A file is converted when it has not changed for --settle seconds, so that it is not read while it is being saved.
 * Failures where a retry may succeed (a busy file, a missing share) are tried again with growing pauses.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/inspect/tx_files.h"
#include "tools/make/make_run.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/say.h"
#include "txmill/watch.h"

/* The pause before a retry, which is doubled each time from the first to the last. */
enum { FIRST_RETRY_SECONDS = 30, LAST_RETRY_SECONDS = 600, WAIT_SECONDS = 3600 };

typedef struct watch_args {
    uint32_t settle_s, rescan_s;
    txm_make_args make;
} watch_args;

#define AT(member) .offset = offsetof(watch_args, member)
static const txm_option watch_options[] = {
    TXM_OPTION(UINT, "settle", AT(settle_s), .arg = "SECONDS", .min = 0, .max = 3600,
               .help = "Wait until a file has not changed for this long (default: 2)",
               .more = "Below 2, a second change within the same second may go unnoticed, because Cycles compares the "
                       "times of images and tx files to the second."),
    TXM_OPTION(UINT, "rescan", AT(rescan_s), .arg = "SECONDS", .min = 1, .max = 86400,
               .help = "Search all folders this often, for network shares (default: only when necessary)",
               .more = "The kernel does not report what other hosts write to a network file system. Checking files "
                       "that are up to date takes little time."),
    TXM_OPTION_STORE(AT(make.store), NULL),
    TXM_OPTION(FLAG, "lint", .rare = true, AT(make.lint), .help = "Also warn about likely mistakes, as make does"),
    {0},
};

static const txm_option_group groups[] = {
    {"Watching", watch_options, 0},
    {"Inputs", txm_input_options, offsetof(watch_args, make.input)},
    {"Rules", txm_rule_options, offsetof(watch_args, make.rules)},
    {"Settings", txm_settings_options, offsetof(watch_args, make.settings)},
    {"Colour", txm_config_options, offsetof(watch_args, make.config)},
    {"Scenes", txm_scene_file_options, offsetof(watch_args, make.config)},
    {"Running", txm_running_options, offsetof(watch_args, make.running)},
    {"Reports", txm_report_options, offsetof(watch_args, make.report)},
    {0},
};

/* Editors pause for less than two seconds between writes to a file. */
static void set_watch_defaults(void *p)
{
    watch_args *args = p;
    args->settle_s = 2;
}

/* ---- rounds ----------------------------------------------------------------------------------------------------- */

typedef struct rounds {
    const watch_args *args;
    const txm_operands *folders; /* the folders on the command line */
    char **there;                /* room for those that exist now */
    txm_watch *watch;
    unsigned retry_s; /* 0: the last round had no failures where a retry may succeed */
} rounds;

/* A round is `txmill make` for the files that changed, or for all folders if the kernel lost events. */
static txm_status run_round(rounds *r, txm_watch_work what, txm_error *err)
{
    txm_operands operands = {.items = r->there};
    if (what == TXM_WATCH_WORK_EVERYTHING) {
        /* Folders that do not exist now may come back. */
        size_t count = 0;
        for (size_t i = 0; i < r->folders->count; i++)
            if (txm_watch_is_there(r->watch, i))
                r->there[count++] = r->folders->items[i];
        operands.count = count;
    } else
        operands.items = (char **)txm_watch_files(r->watch, &operands.count);
    if (!operands.count)
        return TXM_OK;
    if (txm_make_run(&r->args->make, &operands) == TXM_EXIT_RETRY) {
        /* The pause is doubled up to a limit; a round without such failures resets it. */
        txm_status status = TXM_OK;
        r->retry_s = r->retry_s ? 2 * r->retry_s : FIRST_RETRY_SECONDS;
        if (r->retry_s > LAST_RETRY_SECONDS)
            r->retry_s = LAST_RETRY_SECONDS;
        txm_say(TXM_SAY_INFO, "failures where a retry may succeed are tried again in %u s", r->retry_s);
        if (what == TXM_WATCH_WORK_EVERYTHING)
            return txm_watch_again(r->watch, NULL, r->retry_s, err);
        for (size_t i = 0; status == TXM_OK && i < operands.count; i++)
            status = txm_watch_again(r->watch, operands.items[i], r->retry_s, err);
        return status;
    }
    r->retry_s = 0;
    return TXM_OK;
}

/* Runs until a signal arrives or watching fails. Failures of files, which the round has reported as make does, do
 * not end it. */
static txm_status watch_folders(const watch_args *args, const txm_operands *folders, txm_error *err)
{
    const txm_input_args *input = &args->make.input;
    const txm_inputs_options which = {
        .struct_size = sizeof(txm_inputs_options), .include = input->include.items, .exclude = input->exclude.items};
    const txm_watch_options options = {.struct_size = sizeof(txm_watch_options),
                                       .inputs = &which,
                                       .settle_s = args->settle_s,
                                       .rescan_s = args->rescan_s,
                                       .cancel = txm_signal_flag(),
                                       .warn = txm_say_warning};
    char folders_text[TXM_FORMAT_COUNT];
    rounds r = {.args = args, .folders = folders, .there = txm_calloc(folders->count, sizeof *r.there)};
    txm_status status =
        r.there ? txm_watch_new((const char *const *)folders->items, folders->count, &options, &r.watch, err)
                : txm_no_memory(err, NULL);
    if (status == TXM_OK)
        txm_say(TXM_SAY_INFO, "watching %s", txm_format_count(txm_watch_folders(r.watch), "folder", folders_text));
    while (status == TXM_OK) {
        txm_watch_work what;
        status = txm_watch_wait(r.watch, WAIT_SECONDS, &what, err);
        if (status == TXM_OK && what != TXM_WATCH_WORK_NOTHING)
            status = run_round(&r, what, err);
    }
    txm_watch_free(&r.watch);
    free(r.there);
    return status;
}

/* ---- what is given ---------------------------------------------------------------------------------------------- */

/* Collects the folders of operands and lists. They become the operands of each round, so names from a list must not
 * look like lists. */
static txm_status collect_folders(const txm_operands *operands, txm_operands *folders, txm_error *err)
{
    txm_inputs *places = NULL;
    folders->count = 0;
    txm_status status = txm_places_collect("watch", "folder", operands, &places, err);
    size_t count = status == TXM_OK ? txm_inputs_count(places) : 0;
    folders->items = status == TXM_OK ? txm_calloc(count + 1, sizeof *folders->items) : NULL;
    if (status == TXM_OK && !folders->items)
        status = txm_no_memory(err, NULL);
    for (size_t i = 0; status == TXM_OK && i < count; i++) {
        const txm_input *place = txm_inputs_at(places, i);
        bool special = place->path[0] == '@' || strcmp(place->path, "-") == 0;
        struct stat st;
        status = txm_place_check(place, err);
        if (status == TXM_OK && stat(place->path, &st) == 0 && !S_ISDIR(st.st_mode))
            status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: a file, not a folder; name the folder that contains it",
                              place->path);
        char *path = status == TXM_OK ? txm_asprintf("%s%s", special ? "./" : "", place->path) : NULL;
        if (path)
            folders->items[folders->count++] = path;
        else if (status == TXM_OK)
            status = txm_no_memory(err, place->path);
    }
    txm_inputs_free(&places);
    return status;
}

/* It is checked once at the start, because every round would fail. */
static txm_status check_settings(watch_args *args, const txm_operands *folders, txm_error *err)
{
    txm_make_args *make = &args->make;
    const txm_project_targets project = {&make->settings.settings.cache_dir, &make->config, &make->rules,
                                         &make->running.threads};
    if (txm_project_apply(&project, folders, err) != TXM_OK)
        return err->status;
    const txm_jobs_args jobs = {make->running.threads};
    txm_rules *rules = NULL;
    txm_context *context = NULL;
    if (txm_rule_args_read(&make->rules, &rules, err) == TXM_OK &&
        txm_context_for_inspecting(&make->config, &jobs, &context, err) == TXM_OK)
        txm_settings_check(&make->settings.settings, rules, txm_context_color(context), txm_project_state()->used, err);
    txm_context_free(&context);
    txm_rules_free(&rules);
    if (err->status == TXM_OK)
        txm_settings_args_warn(&make->settings);
    return err->status;
}

/* Folders are always watched with their subfolders. */
static int run_watch(void *p, const txm_operands *operands)
{
    watch_args *args = p;
    txm_error err = {0};
    txm_settings_args_finish(&args->make.settings, operands);
    txm_report_args_apply(&args->make.report);
    args->make.watching = true;
    txm_operands folders = *operands;
    folders.items = NULL;
    if (collect_folders(operands, &folders, &err) == TXM_OK && check_settings(args, &folders, &err) == TXM_OK)
        watch_folders(args, &folders, &err);
    size_t count = folders.count;
    for (size_t i = 0; folders.items && i < folders.count; i++)
        free(folders.items[i]);
    free(folders.items);
    const txm_tally stopped = {0};
    return err.status == TXM_STATUS_CANCELLED ? txm_finish(&stopped) : txm_finish_failed(&err, count);
}

TXM_COMMAND(watch, watch_args, .purpose = "Watch folders and convert new and changed images",
            .synopsis = "[OPTION...] DIR...", .operand_values = TXM_VALUES_DIR,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = set_watch_defaults);
