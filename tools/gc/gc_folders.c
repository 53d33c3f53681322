/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill gc DIR...: removes unneeded tx files, or lists them.
 *
 * In: folders, the age from which files may be removed, and the tx files that scenes need. Out: a line or JSON object
 * for each file, and the number of files that were removed, and that were kept for each reason. Without --delete
 * nothing is removed; only the words differ ("would-remove"), so a dry run shows exactly what a run will do.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "base/text.h"
#include "tools/gc/gc_args.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/garbage.h"
#include "txmill/inspect.h"

enum { GARBAGE_REASONS = TXM_GARBAGE_OVER_LIMIT + 1, KEPT_REASONS = TXM_KEPT_OTHER_USER + 1 };

typedef struct sweep {
    const txm_gc_args *args;
    txm_tally tally;
    txm_garbage_result result;
    txm_inputs *several;  /* images with several tx files; output: one of these */
    char *image, *before; /* of the file that was kept last: its image, and its path unless that was added */
    size_t left_over, examined;
    uint64_t left_bytes; /* what the limit left */
    txm_error err;       /* exhausted memory */
} sweep;

/* ---- one file --------------------------------------------------------------------------------------------------- */

/* Every line has the reason and, if there is one, the image, so that a user can check it before the file is removed. */
static void on_found(void *user, const txm_garbage_file *file)
{
    static const char *const texts[GARBAGE_REASONS] = {"its image is gone: ",
                                                       "Cycles does not look here under this name for ",
                                                       "no scene uses it: ",
                                                       "left by a process that has ended",
                                                       "claim of a process that has ended",
                                                       "unused for "};
    const sweep *s = user;
    const bool unused = file->why == TXM_GARBAGE_OVER_LIMIT;
    char time[TXM_TIME_BYTES], details[PATH_MAX + 64];
    snprintf(details, sizeof details, "%s%s", texts[file->why],
             unused        ? txm_duration_text(file->age_s, time)
             : file->image ? file->image
                           : "");
    txm_gc_tell(s->args, &(txm_gc_file){.path = file->path,
                                        .reason = txm_garbage_name(file->why),
                                        .image = file->image,
                                        .bytes = file->bytes,
                                        .age = unused ? "unused_seconds" : "age_seconds",
                                        .seconds = file->age_s,
                                        .details = details});
}

static void on_examined(void *user, const char *path)
{
    sweep *s = user;
    (void)path;
    txm_say_progress("examining", ++s->examined, 0);
}

/* If a folder cannot be read, the others are still searched, and the exit code reports the failure. */
static void on_failed(void *user, const txm_error *err)
{
    sweep *s = user;
    txm_say(TXM_SAY_ERROR, "%s", err->message);
    txm_tally_add(&s->tally, err->status);
}

/* A limit asks for its removal, which is its owner's. */
static void on_other_user(void *user, const char *path, const char *image, uint64_t bytes)
{
    const sweep *s = user;
    (void)image;
    txm_gc_tell(s->args, &(txm_gc_file){.path = path,
                                        .kept = true,
                                        .reason = "other-user",
                                        .bytes = bytes,
                                        .details = "only its owner may remove it"});
}

/* ---- left over -------------------------------------------------------------------------------------------------- */

static void add_several(sweep *s, const char *image, const char *path)
{
    const txm_input input = {.path = image, .output = path};
    if (s->err.status == TXM_OK)
        txm_inputs_add_entry(s->several, &input, &s->err);
}

/* The tx files of an image follow each other, so only the one before is remembered. */
static void on_kept(void *user, const char *path, const char *image, uint64_t bytes)
{
    sweep *s = user;
    const bool same = s->image && !strcmp(s->image, image);
    (void)bytes;
    if (same && s->before)
        add_several(s, image, s->before);
    if (same)
        add_several(s, image, path);
    free(s->before);
    s->before = same ? NULL : txm_strdup(path);
    if (same)
        return;
    free(s->image);
    s->image = txm_strdup(image);
    if (!s->image || !s->before)
        txm_no_memory(&s->err, NULL);
}

/* Whether rules, or else the image's name, ask for another tx file than this one, and that file is fresh. A scene may
 * use this one nevertheless, so it is only named. */
static txm_status judge_left_over(sweep *s, const txm_project_contexts *contexts, const txm_rules *guess, size_t index,
                                  txm_error *err)
{
    const txm_input *input = txm_inputs_at(s->several, index);
    txm_context *context = txm_project_context(contexts, index);
    const txm_verify_options quick = {
        .struct_size = sizeof(txm_verify_options), .no_decoding = true, .source = input->path};
    const txm_rule *rule = input->colorspace ? NULL : txm_rules_match(contexts->common_rules, input->path);
    const txm_rule *usual = input->colorspace || rule ? NULL : txm_rules_match(guess, input->path);
    txm_settings settings;
    txm_resolution r;
    txm_verdict verdict;
    struct stat st;
    txm_settings_init(&settings);
    settings.cache_dir = s->args->cache_dir;
    txm_rules_apply(usual ? guess : contexts->common_rules, input, &settings);
    if (!settings.colorspace || stat(input->output, &st) != 0)
        return TXM_OK;
    txm_status status = txm_resolve_image(context, input->path, &settings, NULL, &r, err);
    if (status != TXM_OK)
        return status;
    if (r.state == TXM_TX_STATE_FRESH && !txm_same_file(r.path, input->output) &&
        (status = txm_judge(context, input->output, &quick, &verdict, err)) == TXM_OK && verdict.used) {
        char details[PATH_MAX];
        snprintf(details, sizeof details, "Cycles %s; %s says %s, and that tx file is here too", verdict.shows,
                 usual  ? "its image's name"
                 : rule ? rule->origin
                        : input->decided_by,
                 settings.colorspace);
        txm_gc_tell(s->args, &(txm_gc_file){.path = input->output,
                                            .kept = true,
                                            .reason = "left-over",
                                            .image = input->path,
                                            .bytes = (uint64_t)st.st_size,
                                            .details = details});
        s->left_over++;
    }
    txm_resolution_clear(&r);
    return status;
}

/* With --keep-for the scenes have decided. An image that cannot be examined has no left-over. */
static txm_status find_left_over(sweep *s, txm_error *err)
{
    static txm_jobs_args jobs;
    const txm_gc_args *a = s->args;
    const txm_settings settings = {.cache_dir = a->cache_dir};
    const txm_context_options looking = txm_inspecting_options(&a->config, &jobs);
    txm_project_contexts contexts = {0};
    txm_rules *guess = NULL;
    if (s->err.status != TXM_OK || !txm_inputs_count(s->several))
        return txm_fail_as(err, &s->err);
    txm_status status = txm_rule_args_read(&a->rules, &contexts.common_rules, err);
    if (status == TXM_OK)
        status = txm_project_open(s->several, &looking, &settings, contexts.common_rules, &contexts, err);
    if (status == TXM_OK)
        status = txm_rules_new(&guess, err);
    if (status == TXM_OK && !a->rules.preset)
        status = txm_rules_preset(guess, "pbr", err);
    for (size_t i = 0; status == TXM_OK && i < txm_inputs_count(s->several) && !txm_signal_caught(); i++) {
        txm_error own = {0};
        if (txm_inputs_at(s->several, i)->status == TXM_OK &&
            judge_left_over(s, &contexts, guess, i, &own) == TXM_STATUS_NO_MEMORY)
            status = txm_fail_as(err, &own);
    }
    txm_rules_free(&guess);
    txm_project_contexts_free(&contexts);
    return status;
}

/* ---- the sum ---------------------------------------------------------------------------------------------------- */

static txm_garbage_sum total(const txm_garbage_sum *sums, size_t count)
{
    txm_garbage_sum all = {0};
    for (size_t i = 0; i < count; i++) {
        all.files += sums[i].files;
        all.bytes += sums[i].bytes;
    }
    return all;
}

/* Members have underscores: "old_name" is the sum for "old-name". */
static void add_sum(cJSON *o, const char *name, const txm_garbage_sum *sum)
{
    char key[32];
    snprintf(key, sizeof key, "%s", name);
    for (char *dash = key; (dash = strchr(dash, '-'));)
        *dash = '_';
    cJSON *s = txm_json_object(o, key);
    txm_json_uint(s, "files", sum->files);
    txm_json_uint(s, "bytes", sum->bytes);
}

/* The files that were kept are listed by reason, with the option that would remove them. */
static void say_summary(const sweep *s)
{
    static const struct {
        txm_kept why;
        const char *text;
    } stays[] = {
        {TXM_KEPT_NO_FOLDER, "the image's folder is missing; if it is gone for good, and not just unmounted, add "
                             "--missing-folders to remove such files too"},
        {TXM_KEPT_UNKNOWN_IMAGE, "the path of the image is unknown"},
        {TXM_KEPT_UNRECOGNISED, "named like a tx file, but not one"},
        {TXM_KEPT_BUSY, "being written"},
        {TXM_KEPT_OTHER_USER, "over the limit, but another user's"},
    };
    const txm_garbage_result *r = &s->result;
    const txm_garbage_sum gone = total(r->garbage, TXM_GARBAGE_ROOM), kept = total(r->kept, TXM_KEPT_ROOM);
    char size[TXM_FORMAT_BYTES], files[TXM_FORMAT_COUNT];
    txm_say(TXM_SAY_INFO, "%s %zu of %s, %s", s->args->remove ? "removed" : "would remove", gone.files,
            txm_format_count(gone.files + kept.files, "file", files), txm_format_bytes(gone.bytes, size));
    for (int i = 0; i < GARBAGE_REASONS; i++)
        if (r->garbage[i].files)
            txm_say(TXM_SAY_INFO, "  %s: %zu, %s", txm_garbage_name((txm_garbage)i), r->garbage[i].files,
                    txm_format_bytes(r->garbage[i].bytes, size));
    const txm_cache_limit *limit = &s->args->limit;
    char bound[TXM_FORMAT_BYTES];
    if (limit->on)
        txm_say(s->left_bytes > limit->bytes ? TXM_SAY_WARNING : TXM_SAY_INFO,
                "%s of tx files %s here, the limit is %s%s%s%s%s", txm_format_bytes(s->left_bytes, size),
                s->args->remove || !gone.files ? "are" : "would be left", txm_format_bytes(limit->bytes, bound),
                limit->origin ? " (" : "", limit->origin ? limit->origin : "", limit->origin ? ")" : "",
                s->left_bytes > limit->bytes ? ": what is left is needed, or may not be removed" : "");
    if (!s->args->remove && gone.files)
        txm_say_again(gone.files == 1 ? "to remove it, run" : "to remove them, run", "--delete");
    if (s->left_over)
        txm_say(TXM_SAY_INFO,
                "%s left over unless a scene uses it: 'txmill gc --keep-for SCENE --delete DIR' keeps only what scenes "
                "use",
                txm_format_are(s->left_over, "file", files));
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++)
        if (r->kept[stays[i].why].files)
            txm_say(stays[i].why == TXM_KEPT_NO_FOLDER ? TXM_SAY_WARNING : TXM_SAY_INFO, "%s kept: %s",
                    txm_format_are(r->kept[stays[i].why].files, "file", files), stays[i].text);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static txm_status collect_garbage(sweep *s, const txm_used *used, const txm_inputs *places, txm_error *err)
{
    const txm_gc_args *a = s->args;
    txm_census *census = NULL;
    if (a->limit.on && txm_census_new(&census, err) != TXM_OK)
        return err->status;
    txm_garbage_options options = {.struct_size = sizeof(txm_garbage_options),
                                   .older_than_s = a->older_than_s,
                                   .missing_folders = a->missing_folders,
                                   .dry_run = !a->remove,
                                   .used = used,
                                   .cancel = txm_signal_flag(),
                                   .user = s,
                                   .found = on_found,
                                   .failed = on_failed,
                                   .kept = used ? NULL : on_kept,
                                   .examined = on_examined,
                                   .census = census};
    txm_status status = txm_inputs_new(NULL, &s->several, err);
    for (size_t i = 0; i < txm_inputs_count(places) && status == TXM_OK; i++) {
        const txm_input *place = txm_inputs_at(places, i);
        txm_error own = {0};
        status = txm_place_check(place, &own);
        if (status == TXM_OK)
            status = txm_garbage_collect(place->path, &options, &s->result, &own);
        if (status == TXM_STATUS_NO_MEMORY) {
            txm_fail_with(err, status, &own);
        } else if (status != TXM_STATUS_CANCELLED) {
            txm_tally_add(&s->tally, status);
            if (status != TXM_OK)
                txm_say(TXM_SAY_ERROR, "%s", own.message);
            status = TXM_OK;
        }
    }
    if (status == TXM_OK && census && !txm_signal_caught()) {
        options.kept = on_other_user;
        status = txm_census_trim(census, a->limit.bytes, &options, &s->result, &s->left_bytes, err);
        status = status == TXM_STATUS_CANCELLED ? TXM_OK : status;
    }
    txm_census_free(&census);
    return status == TXM_OK ? find_left_over(s, err) : status;
}

/* The files in use are found first and completely. If a scene could not be read, the tx files that only this scene
 * uses would be removed, so any failure there ends the command before it searches a folder. */
int txm_gc_folders(const txm_gc_args *args, const txm_inputs *places)
{
    sweep s = {.args = args};
    txm_error err = {0};
    txm_used *used = NULL;
    txm_status status = args->keep_for.count ? txm_gc_find_used(args, &used, &err) : TXM_OK;
    if (status == TXM_OK)
        status = collect_garbage(&s, used, places, &err);
    txm_used_free(&used);
    txm_inputs_free(&s.several);
    free(s.image);
    free(s.before);
    if (status != TXM_OK)
        return txm_finish_failed(&err, txm_inputs_count(places));
    size_t seen = total(s.result.garbage, TXM_GARBAGE_ROOM).files + total(s.result.kept, TXM_KEPT_ROOM).files;
    if (!seen && !s.tally.failed && !txm_signal_caught()) {
        txm_fail(&err, TXM_STATUS_USAGE, "%s%s: no tx files found; name the folder that contains them",
                 txm_inputs_at(places, 0)->path, txm_inputs_count(places) > 1 ? " and the others" : "");
        return txm_finish_failed(&err, 0);
    }
    if (args->report.json) {
        const txm_garbage_result *r = &s.result;
        const txm_garbage_sum gone = total(r->garbage, TXM_GARBAGE_ROOM), kept = total(r->kept, TXM_KEPT_ROOM);
        cJSON *o = txm_json_of_type("txmill.gc", "summary");
        txm_json_uint(o, "files", gone.files + kept.files);
        txm_json_uint(o, "bytes", gone.bytes + kept.bytes);
        txm_json_uint(o, s.args->remove ? "removed" : "would_remove", gone.files);
        txm_json_uint(o, s.args->remove ? "removed_bytes" : "would_remove_bytes", gone.bytes);
        txm_json_uint(o, "failed", s.tally.failed);
        cJSON *reasons = txm_json_object(o, "reasons"), *left = txm_json_object(o, "kept");
        for (int i = 0; i < GARBAGE_REASONS; i++)
            add_sum(reasons, txm_garbage_name((txm_garbage)i), &r->garbage[i]);
        for (int i = 0; i < KEPT_REASONS; i++)
            add_sum(left, txm_kept_name((txm_kept)i), &r->kept[i]);
        if (s.args->limit.on) {
            txm_json_uint(o, "limit_bytes", s.args->limit.bytes);
            txm_json_uint(o, "left_bytes", s.left_bytes);
        }
        txm_project_json(o);
        txm_json_emit(o);
    } else
        say_summary(&s);
    return txm_finish(&s.tally);
}
