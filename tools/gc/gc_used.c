/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the tx files that scenes and images use, as `txmill make --dry-run` does, and stores them by device and inode,
 * so that a file is recognized by any of its paths.
 */
#include "tools/gc/gc_args.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "tools/make/batch_job.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/say.h"
#include "txmill/scene.h"

/* The results for the images of one scene or list. */
typedef struct source {
    char *name;
    size_t found, gone;
} source;

typedef struct finding {
    txm_used *used;
    bool missing_folders; /* images are missing together with their folder */
    bool other;           /* for another release than that of the run */
    txm_names paths;      /* of tx files that the run's release looks for */
    size_t kept;          /* files that exist, and for which only other releases look */
    source *sources;
    size_t count;
    txm_error err; /* the first one */
} finding;

/* Failures are kept until the end of the dry run, because its callbacks cannot stop it. */
static void note_failure(finding *f, txm_status status, const txm_error *err)
{
    if (status != TXM_OK)
        txm_fail_as(&f->err, err);
}

/* Images come scene by scene, so the list is searched from its end. NULL when memory is exhausted. */
static source *source_of(finding *f, const char *name)
{
    for (size_t i = f->count; i-- > 0;)
        if (!strcmp(f->sources[i].name, name))
            return &f->sources[i];
    source *grown = realloc(f->sources, (f->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    f->sources = grown;
    grown[f->count] = (source){.name = strdup(name)};
    return grown[f->count].name ? &grown[f->count++] : NULL;
}

/* If an image cannot be resolved for another reason, it is unknown which tx file it uses, so nothing may be removed. */
static void note_used(void *user, const txm_batch_file *file)
{
    finding *f = user;
    const txm_error *err = file->err;
    const char *origin = file->input->origin;
    bool scene = txm_scene_format_of(file->input->path) != NULL,
         gone = err->status == TXM_STATUS_NOT_FOUND && !scene && origin;
    source *from = origin ? source_of(f, origin) : NULL;
    if (origin && !from) {
        txm_no_memory(&f->err, origin);
        return;
    }
    if (from)
        *(gone ? &from->gone : &from->found) += 1;
    /* An image that another release refuses, or whose colour space it lacks, has no tx file there. */
    const bool none = f->other && (err->status == TXM_STATUS_UNSUPPORTED || err->status == TXM_STATUS_COLORSPACE);
    if (err->status == TXM_OK && file->result->tx_path) {
        txm_error own;
        const bool known = txm_names_has(&f->paths, file->result->tx_path);
        f->kept += f->other && !known && access(file->result->tx_path, F_OK) == 0;
        if (!known && !txm_names_put(&f->paths, file->result->tx_path))
            txm_no_memory(&f->err, file->result->tx_path);
        note_failure(f, txm_used_add(f->used, file->result->tx_path, &own), &own);
    } else if (none)
        return;
    else if (gone) {
        /* An image that is gone needs no tx file; but if its folder is missing as well, the image may be on a share
         * that is not mounted. */
        char *folder = txm_path_dir(file->input->path);
        struct stat st;
        if (!folder)
            txm_no_memory(&f->err, NULL);
        else if (f->missing_folders || stat(folder, &st) == 0)
            txm_say(TXM_SAY_WARNING, "%s", file->err->message); /* said once: the other releases are silent */
        else
            txm_fail(
                &f->err, TXM_STATUS_NOT_FOUND,
                "%s: its folder is missing, so it is unknown which tx files %s uses and nothing is removed; if the "
                "folder is gone for good, add --missing-folders",
                file->input->path, file->input->origin);
        free(folder);
    } else if (err->status != TXM_OK)
        txm_fail(&f->err, err->status, "%s; it is unknown which tx files %s uses, so nothing is removed", err->message,
                 origin ? origin : file->input->path);
}

/* A scene none of whose images exists is probably in the wrong place. */
static txm_status check_sources(const finding *f, txm_error *err)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->sources[i].gone && !f->sources[i].found)
            return txm_fail(err, TXM_STATUS_NOT_FOUND,
                            "%s: none of its images exists, so it is unknown which tx files it uses and nothing is "
                            "removed; run gc where the images are, or without this --keep-for",
                            f->sources[i].name);
    return TXM_OK;
}

/* The tx file of a packed image has the name of the file that the image would be unpacked to. The folder is unknown
 * here, so the name alone protects the file, wherever it is. */
static void on_packed(void *user, const char *name)
{
    finding *f = user;
    txm_error own;
    note_failure(f, txm_used_add_packed(f->used, name, &own), &own);
}

/* Settings and rules matter, because another colour space leads to another file. */
static txm_status find_used(finding *f, const txm_gc_args *args, const txm_config_args *config, txm_error *err)
{
    static const txm_input_args input;
    static const txm_running_args running;
    const txm_batch_job_args how = {.input = &input,
                                    .rules = &args->rules,
                                    .config = config,
                                    .running = &running,
                                    .events = {.user = f, .done = note_used}};
    txm_settings settings;
    const txm_batch_options options = {.settings = &settings, .dry_run = true, .no_keys = true};
    txm_batch_job job = {.scenes = {.config_args = config, .packed = on_packed, .packed_user = f}};
    txm_settings_init(&settings);
    settings.cache_dir = args->cache_dir;
    const txm_inputs_options from = {.struct_size = sizeof(txm_inputs_options),
                                     .recursive = true,
                                     .scene = txm_make_add_scene,
                                     .scene_user = &job.scenes,
                                     .cancel = txm_signal_flag()};
    txm_status status = txm_inputs_new(&from, &job.inputs, err);
    if (status == TXM_OK)
        status = txm_rule_args_read(&args->rules, &job.rules, err);
    for (size_t i = 0; status == TXM_OK && i < args->keep_for.count; i++) {
        /* An argument without images is refused, since everything would count as unneeded. A scene may have none. */
        const char *name = args->keep_for.items[i];
        size_t before = txm_inputs_count(job.inputs);
        status = txm_inputs_add(job.inputs, name, err);
        if (status == TXM_OK && txm_inputs_count(job.inputs) == before && !txm_scene_format_of(name))
            status = txm_fail(err, TXM_STATUS_USAGE, "--keep-for %s: contains no image; nothing is removed", name);
    }
    if (status == TXM_OK)
        status = txm_batch_job_plan(&job, &how, &options, err);
    if (status == TXM_OK && f->err.status != TXM_OK)
        status = txm_fail_with(err, f->err.status, &f->err);
    if (status == TXM_OK)
        status = check_sources(f, err);
    for (size_t i = 0; i < f->count; i++)
        free(f->sources[i].name);
    free(f->sources);
    f->sources = NULL;
    f->count = 0;
    txm_batch_job_free(&job);
    return status;
}

txm_status txm_gc_find_used(const txm_gc_args *args, txm_used **used, txm_error *err)
{
    finding f = {.missing_folders = args->missing_folders};
    txm_status status = txm_used_new(&f.used, err);
    if (status == TXM_OK)
        status = find_used(&f, args, &args->config, err);
    if (status == TXM_OK && args->config.blender == TXM_BLENDER_NEWEST) {
        /* If nothing says which release renders the scenes, files for which only another one looks are kept too: they
         * may still be needed, and the files of the run's release do not tell. */
        char files[TXM_FORMAT_COUNT];
        const char *newest = txm_blender_name(TXM_BLENDER_NEWEST);
        f.other = true;
        txm_say_set_level(TXM_SAY_ERROR);
        for (const txm_blender *b = txm_blender_versions(); *b && status == TXM_OK; b++) {
            txm_config_args config = args->config;
            config.blender = *b;
            txm_project_assume(*b);
            status = strcmp(txm_blender_name(*b), newest) != 0 ? find_used(&f, args, &config, err) : TXM_OK;
        }
        txm_project_assume(TXM_BLENDER_NEWEST);
        txm_report_args_apply(&args->report);
        if (status == TXM_OK && f.kept)
            txm_say(
                TXM_SAY_INFO,
                "%s kept that only a Blender older than %s looks for; if %s renders these scenes, --blender %s removes "
                "such files",
                txm_format_are(f.kept, "file", files), newest, newest, newest);
    }
    txm_names_free(&f.paths);
    *used = f.used;
    return status;
}
