/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill gc: removes unneeded tx files from folders, or trims a store.
 *
 * This file parses the options; gc_folders.c handles folders, txm_store_trim stores. Without --delete nothing is
 * removed, but the same lines are printed.
 *
 * Because removal cannot be undone, it needs --delete, and removed files are listed in any case.
 * mill/farm/garbage_judge.c decides about each file in a folder; a file about which it cannot decide is kept.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "tools/gc/gc_args.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/garbage.h"

/* "36h", "30d", "2w". */
static txm_status parse_age(const char *text, void *field, txm_error *err)
{
    static const double seconds[] = {1, 60, 3600, 86400, 7 * 86400.0};
    double age;
    if (txm_parse_units(text, "smhdw", seconds, false, &age) && age < 1e9 * seconds[4]) {
        *(double *)field = age;
        return TXM_OK;
    }
    return txm_fail(err, TXM_STATUS_USAGE, "must be a number and s, m, h, d or w, such as 36h or 30d");
}

#define AT(member) .offset = offsetof(txm_gc_args, member)
static const txm_option what_options[] = {
    TXM_OPTION(LIST, "keep-for", AT(keep_for), .arg = "SCENE|DIR", .values = TXM_VALUES_IMAGE,
               .help = "Also remove tx files that none of these Blender scenes and images uses (repeatable)",
               .more = "A scene is read with its libraries; an image, a folder with its subfolders or a list, @FILE, "
                       "is used with the same rules as in make. Nothing is removed if it is unknown what a scene uses: "
                       "if the scene or a library cannot be read, if a folder of its images is missing (unless "
                       "--missing-folders is given), or if none of its images exists. Tx files of images that are "
                       "packed into a scene are kept by the images' names."),
    TXM_OPTION_CACHE_DIR(AT(cache_dir), "The cache folder with which these scenes are rendered, as in make", NULL),
    TXM_OPTION_CACHE_LIMIT(
        AT(limit), "Also remove tx files that were not used for longest, to keep within SIZE",
        "Such as 200G, for all tx files in the folders together. With --keep-for, what the scenes use "
        "stays, and other files go only as far as the limit asks. The setting cache-limit of a "
        ".txmill counts without this option. See THE LIMIT."),
    TXM_OPTION(
        FLAG, "missing-folders", .rare = true, AT(missing_folders),
        .help = "Treat an image as gone even if its folder is missing",
        .more =
            "Without this option such tx files are kept, because the folder may be on a share that is not mounted."),
    TXM_OPTION(STRING, "store", AT(store), .arg = "DIR", .values = TXM_VALUES_DIR,
               .help = "Trim this store (see make --store) instead"),
    TXM_OPTION(CUSTOM, "older-than", AT(older_than_s), .arg = "AGE", .parse = parse_age,
               .help = "Remove only files that are older, such as 36h, 30d or 8w",
               .more =
                   "In folders, the age counts since the tx file was put there; in a store, since it was last used."),
    TXM_OPTION(SIZE, "max-size", AT(max_size), .arg = "SIZE",
               .help = "Trim the store to this size, such as 200G, least recently used first",
               .more = "Files that are also hard-linked from elsewhere take up no extra space and are not counted."),
    TXM_OPTION(FLAG, "delete", AT(remove), .help = "Remove the files; without it they are only listed"),
    {0},
};

static const txm_option_group groups[] = {
    {"What", what_options, 0},     TXM_RULES_GROUP(txm_gc_args),   TXM_COLOUR_GROUP(txm_gc_args),
    TXM_SCENES_GROUP(txm_gc_args), TXM_REPORTS_GROUP(txm_gc_args), {0},
};

/* Age and size have no limit unless they are given. */
static void set_gc_defaults(void *p)
{
    txm_gc_args *args = p;
    args->older_than_s = -1;
    args->max_size = UINT64_MAX;
}

/* ---- reporting -------------------------------------------------------------------------------------------------- */

void txm_gc_tell(const txm_gc_args *args, const txm_gc_file *file)
{
    const char *state = file->kept ? "kept" : args->remove ? "removed" : "would-remove";
    char size[TXM_FORMAT_BYTES], details[PATH_MAX + 128];
    if (args->report.json) {
        cJSON *o = txm_json_of_type("txmill.gc", "file");
        txm_json_text(o, "path", file->path);
        txm_json_text(o, "state", state);
        if (file->reason)
            txm_json_text(o, "reason", file->reason);
        if (file->image)
            txm_json_text(o, "image", file->image);
        txm_json_uint(o, "bytes", file->bytes);
        if (file->age)
            txm_json_number(o, file->age, file->seconds, 10);
        txm_json_emit(o);
    } else if (!args->report.quiet) {
        snprintf(details, sizeof details, "%s%s%s%s%s", file->reason ? file->reason : "", file->reason ? ", " : "",
                 txm_format_bytes(file->bytes, size), file->reason ? ": " : ", ", file->details);
        txm_print_line(file->path, args->remove && !file->kept ? TXM_DOUBTFUL : TXM_PLAIN, state, details);
    }
}

/* Called for each object of a store that was removed, or would be. */
static void on_removed(void *user, const char *path, uint64_t bytes, double unused_s)
{
    char unused[TXM_TIME_BYTES], details[TXM_TIME_BYTES + 16];
    snprintf(details, sizeof details, "unused for %s", txm_duration_text(unused_s, unused));
    txm_gc_tell(
        user,
        &(txm_gc_file){.path = path, .bytes = bytes, .age = "unused_seconds", .seconds = unused_s, .details = details});
}

static void print_summary(const txm_gc_args *args, const txm_trim_result *r)
{
    char size[TXM_FORMAT_BYTES], gone[TXM_FORMAT_BYTES], files[TXM_FORMAT_COUNT];
    if (!args->report.json) {
        txm_say(TXM_SAY_INFO, "%s, %s; %s %zu, %s", txm_format_count(r->objects, "file", files),
                txm_format_bytes(r->bytes, size), args->remove ? "removed" : "would remove", r->removed,
                txm_format_bytes(r->removed_bytes, gone));
        if (!args->remove && r->removed)
            txm_say_again(r->removed == 1 ? "to remove it, run" : "to remove them, run", "--delete");
        return;
    }
    cJSON *o = txm_json_of_type("txmill.gc", "summary");
    txm_json_uint(o, "files", r->objects);
    txm_json_uint(o, "bytes", r->bytes);
    txm_json_uint(o, args->remove ? "removed" : "would_remove", r->removed);
    txm_json_uint(o, args->remove ? "removed_bytes" : "would_remove_bytes", r->removed_bytes);
    txm_json_uint(o, "failed", r->failed);
    txm_json_emit(o);
}

/* Objects that could not be removed count as failures where a retry may succeed. */
static int trim_store(txm_gc_args *args)
{
    txm_error err = {0};
    txm_trim_result result = {0};
    txm_tally tally = {0};
    const txm_trim_options options = {sizeof options, args->older_than_s, args->max_size, !args->remove,
                                      args,           on_removed};
    if (txm_store_trim(args->store, &options, &result, &err) != TXM_OK)
        return txm_finish_failed(&err, 1);
    for (size_t i = 0; i < result.failed; i++)
        txm_tally_add(&tally, TXM_STATUS_IO);
    print_summary(args, &result);
    return txm_finish(&tally);
}

/* Folders and a store have different rules, so a run handles one kind. */
static txm_status check_usage(const txm_gc_args *args, const txm_operands *operands, txm_error *err)
{
    if (args->store && operands->count)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "'%s': --store takes no folders; run gc once for the store and once for the folders",
                        operands->items[0]);
    if (args->store && (args->keep_for.count || args->missing_folders || args->cache_dir || args->limit.given))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "--keep-for, --cache-dir, --cache-limit and --missing-folders apply to folders; leave them out "
                        "with --store");
    if (args->store && !*args->store)
        return txm_fail(err, TXM_STATUS_USAGE, "--store: the name is empty; name a folder");
    if (args->store && args->older_than_s < 0 && args->max_size == UINT64_MAX)
        return txm_fail(err, TXM_STATUS_USAGE, "no limit for the store; give --older-than or --max-size");
    if (!args->store && !operands->count)
        return txm_fail(err, TXM_STATUS_USAGE, "no folder given, and no --store; 'txmill gc --help' lists the options");
    if (!args->store && args->max_size != UINT64_MAX)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "--max-size applies to a store; name one with --store, or limit folders with --cache-limit");
    return TXM_OK;
}

/* Without --keep-for, rules have no effect; they are checked nevertheless, so that a mistake is found. */
static txm_status check_keep_rules(const txm_gc_args *args, txm_error *err)
{
    bool any = args->rules.rules.count || args->rules.rule_files.count || args->rules.preset || args->config.ocio ||
               args->config.working_space;
    const txm_project_applied *run = txm_project_state();
    for (size_t i = 0; i < run->project.count; i++)
        any |= run->project.values[i].key == TXM_KEY_RULE || run->project.values[i].key == TXM_KEY_RULES;
    const txm_settings settings = {.cache_dir = args->cache_dir};
    const txm_jobs_args jobs = {0};
    txm_rules *rules = NULL;
    txm_context *context = NULL;
    if (any && txm_rule_args_read(&args->rules, &rules, err) == TXM_OK &&
        txm_context_for_inspecting(&args->config, &jobs, &context, err) == TXM_OK)
        txm_settings_check(&settings, rules, txm_context_color(context), run->used, err);
    txm_context_free(&context);
    txm_rules_free(&rules);
    return err->status;
}

/* A store and folders exclude each other, because the same options have other meanings for them. */
static int run_gc(void *p, const txm_operands *operands)
{
    txm_gc_args *args = p;
    txm_error err = {0};
    txm_report_args_apply(&args->report);
    if (check_usage(args, operands, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    if (args->store)
        return trim_store(args);
    const txm_project_targets project = {&args->cache_dir, &args->config, &args->rules, NULL};
    txm_inputs *places = NULL;
    if (check_keep_rules(args, &err) != TXM_OK)
        return txm_finish_failed(&err, 0);
    if (txm_places_collect("gc", "folder", operands, &places, &err) != TXM_OK ||
        txm_project_apply(&project, operands, &err) != TXM_OK || txm_cache_limit_settle(&args->limit, &err) != TXM_OK) {
        txm_inputs_free(&places);
        return txm_finish_failed(&err, 0);
    }
    int code = txm_gc_folders(args, places);
    txm_inputs_free(&places);
    return code;
}

TXM_COMMAND(gc, txm_gc_args, .purpose = "Remove unneeded tx files, or trim a store of them",
            .synopsis = "[OPTION...] DIR|TX...", .operand_values = TXM_VALUES_TX,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL, .defaults = set_gc_defaults);
