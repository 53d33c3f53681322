/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the tx files that scenes and images use, as `txmill make --dry-run` does, and stores them by device and inode,
 * so that a file is recognized by any of its paths.
 */
#include "tools/gc/gc_used.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/path.h"
#include "tools/make/batch_job.h"
#include "tools/output/exits.h"
#include "tools/output/say.h"

/* The results for the images of one scene or list. */
typedef struct source {
    char *name;
    size_t found, gone;
} source;

typedef struct finding {
    txm_used *used;
    bool missing_folders; /* images are missing together with their folder */
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

/* An image that is gone needs no tx file; but if its folder is missing as well, the image may be on a share that is
 * not mounted. */
static void on_gone(finding *f, const txm_batch_file *file)
{
    char *folder = txm_path_dir(file->input->path);
    struct stat st;
    if (!folder)
        txm_no_memory(&f->err, NULL);
    else if (f->missing_folders || stat(folder, &st) == 0)
        txm_say(TXM_SAY_WARNING, "%s", file->err->message);
    else
        txm_fail(&f->err, TXM_STATUS_NOT_FOUND,
                 "%s: its folder is missing, so it is unknown which tx files %s uses and nothing is removed; if the "
                 "folder is gone for good, add --missing-folders",
                 file->input->path, file->input->origin);
    free(folder);
}

/* If an image cannot be resolved for another reason, it is unknown which tx file it uses, so nothing may be removed. */
static void note_used(void *user, const txm_batch_file *file)
{
    finding *f = user;
    txm_error own;
    const txm_error *err = file->err;
    const char *origin = file->input->origin;
    bool scene = txm_path_scene(file->input->path) != TXM_PATH_NONE,
         gone = err->status == TXM_STATUS_NOT_FOUND && !scene && origin;
    source *from = origin ? source_of(f, origin) : NULL;
    if (origin && !from) {
        txm_no_memory(&f->err, origin);
        return;
    }
    if (from)
        *(gone ? &from->gone : &from->found) += 1;
    if (err->status == TXM_OK && file->result->tx_path)
        note_failure(f, txm_used_add(f->used, file->result->tx_path, &own), &own);
    else if (gone)
        on_gone(f, file);
    else if (err->status != TXM_OK)
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

static void free_sources(finding *f)
{
    for (size_t i = 0; i < f->count; i++)
        free(f->sources[i].name);
    free(f->sources);
}

/* The tx file of a packed image has the name of the file that the image would be unpacked to. The folder is unknown
 * here, so the name alone protects the file, wherever it is. */
static void on_packed(void *user, const char *name)
{
    finding *f = user;
    txm_error own;
    note_failure(f, txm_used_add_packed(f->used, name, &own), &own);
}

/* An argument without images is refused, since everything would count as unneeded. A scene may have none. */
static txm_status add_scene_input(txm_inputs *inputs, const char *name, txm_error *err)
{
    size_t before = txm_inputs_count(inputs);
    txm_status status = txm_inputs_add(inputs, name, err);
    if (status == TXM_OK && txm_inputs_count(inputs) == before && txm_path_scene(name) == TXM_PATH_NONE)
        status = txm_fail(err, TXM_STATUS_USAGE, "--keep-for %s: contains no image; nothing is removed", name);
    return status;
}

/* Settings and rules matter, because another colour space leads to another file. */
txm_status txm_gc_find_used(const txm_gc_args *args, txm_used **used, txm_error *err)
{
    static const txm_input_args input;
    static const txm_running_args running;
    const txm_batch_job_args how = {
        .input = &input, .rules = &args->rules, .config = &args->config, .running = &running};
    finding f = {.missing_folders = args->missing_folders};
    const txm_batch_events events = {.struct_size = sizeof(txm_batch_events), .user = &f, .done = note_used};
    txm_settings settings;
    const txm_batch_options options = {
        .struct_size = sizeof(txm_batch_options), .settings = &settings, .dry_run = true, .events = &events};
    txm_batch_job job = {.scenes = {.config_args = &args->config, .packed = on_packed, .packed_user = &f}};
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
    if (status == TXM_OK)
        status = txm_used_new(&f.used, err);
    for (size_t i = 0; status == TXM_OK && i < args->keep_for.count; i++)
        status = add_scene_input(job.inputs, args->keep_for.items[i], err);
    if (status == TXM_OK)
        status = txm_batch_job_plan(&job, &how, &options, err);
    if (status == TXM_OK && f.err.status != TXM_OK)
        status = txm_fail(err, f.err.status, "%s", f.err.message);
    if (status == TXM_OK)
        status = check_sources(&f, err);
    free_sources(&f);
    txm_batch_job_free(&job);
    *used = f.used;
    return status;
}
