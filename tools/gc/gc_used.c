/* SPDX-License-Identifier: Apache-2.0
 *
 * The tx files that scenes and images ask for, found as `txmill make --dry-run` finds them, and remembered by device
 * and inode: whichever way leads to a file, it is recognized.
 */
#include "tools/gc/gc_used.h"

#include <sys/stat.h>

#include "batch/garbage.h"
#include "core/fail.h"
#include "core/mem.h"
#include "tools/make/batch_job.h"
#include "core/path.h"
#include "tools/output/exits.h"
#include "tools/output/say.h"

typedef struct finding {
    txm_gc_used *used;
    txm_error err; /* the first one */
} finding;

static void remember(finding *f, const char *path)
{
    struct stat st;
    char id[TXM_FILE_ID_BYTES];
    if (stat(path, &st) != 0)
        return;
    txm_file_id(&st, id);
    if (!txm_names_put(&f->used->files, id))
        txm_fail(&f->err, TXM_STATUS_NO_MEMORY, "out of memory for the tx files in use");
}

static void on_done(void *user, const txm_batch_file *file)
{
    finding *f = user;
    const txm_error *err = file->err;
    bool scene = txm_path_has_ext(file->input->path, "blend");
    if (err->status == TXM_OK && file->result->tx_path)
        remember(f, file->result->tx_path);
    else if (err->status == TXM_STATUS_NOT_FOUND && !scene && file->input->origin)
        txm_say(TXM_SAY_WARNING, "%s", err->message);
    else if (err->status != TXM_OK)
        txm_fail(&f->err, err->status, "%s; it is unknown which tx files %s uses, so nothing is removed", err->message,
                 file->input->origin ? file->input->origin : file->input->path);
}

static void on_packed(void *user, const char *name)
{
    finding *f = user;
    if (!txm_names_put(&f->used->packed, name))
        txm_fail(&f->err, TXM_STATUS_NO_MEMORY, "out of memory for the names of packed images");
}

/* What names no image at all was probably meant to: without it everything would be garbage. A scene may have none. */
static txm_status add(txm_inputs *inputs, const char *name, txm_error *err)
{
    size_t before = txm_inputs_count(inputs);
    txm_status status = txm_inputs_add(inputs, name, err);
    if (status == TXM_OK && txm_inputs_count(inputs) == before && !txm_path_has_ext(name, "blend"))
        status = txm_fail(err, TXM_STATUS_USAGE, "--keep-for %s: names no image; nothing is removed", name);
    return status;
}

txm_status txm_gc_find_used(const txm_gc_args *args, txm_gc_used *used, txm_error *err)
{
    static const txm_input_args input;
    static const txm_running_args running;
    const txm_batch_job_args how = {.input = &input, .rules = &args->rules, .config = &args->config, .running = &running};
    finding f = {.used = used};
    txm_batch_options options = {
        .settings = txm_settings_default(), .dry_run = true, .events = {.user = &f, .done = on_done}};
    txm_batch_job job = {.scenes = {.config_args = &args->config, .packed = on_packed, .packed_user = &f}};
    const txm_inputs_options from = {
        .recursive = true, .scene = txm_make_add_scene, .scene_user = &job.scenes, .cancel = txm_signal_flag()};
    job.inputs = txm_inputs_new(&from);
    txm_status status = job.inputs ? TXM_OK : txm_no_memory(err, NULL);
    options.settings.cache_dir = args->cache_dir;
    if (status == TXM_OK)
        status = txm_rule_args_read(&args->rules, &job.rules, err);
    for (size_t i = 0; status == TXM_OK && i < args->keep_for.count; i++)
        status = add(job.inputs, args->keep_for.items[i], err);
    if (status == TXM_OK)
        status = txm_batch_job_plan(&job, &how, &options, err);
    if (status == TXM_OK && f.err.status != TXM_OK)
        status = txm_fail(err, f.err.status, "%s", f.err.message);
    txm_batch_job_free(&job);
    return status;
}
