/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans a batch from the command line.
 *
 * In: parsed arguments. Out: a planned batch. `make`, `plan`, `check` and `watch` begin with it, so that they find the
 * same images with the same settings.
 */
#include "tools/make/batch_job.h"

#include "base/fail.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/say.h"
#include "txmill/out_file.h"

#define AT(member) .offset = offsetof(txm_input_args, member)
const txm_option txm_input_options[] = {
    TXM_OPTION(LIST, "include", .rare = true, AT(include), .arg = "GLOB",
               .help = "In folders, use the files that match instead of all images (repeatable)",
               .more = "Folders are searched with their subfolders. Files are recognized as images by their "
                       "extensions. Hidden files, tx files and folders named blender_tx are skipped. Links to folders "
                       "are followed; each folder is read only once. See GLOBS."),
    TXM_OPTION(LIST, "exclude", .rare = true, AT(exclude), .arg = "GLOB",
               .help = "In folders, leave out files and subfolders that match (repeatable)"),
    TXM_OPTION(STRING, "packed", .rare = true, AT(packed), .arg = "DIR", .values = TXM_VALUES_DIR,
               .help = "Unpack the packed images of Blender scenes into DIR and convert them there",
               .more = "The files get the names that Blender's own unpack gives them. If a file of that name has other "
                       "content, it is kept, and a number is inserted into the new name. Without this option packed "
                       "images are left out with a warning, because Cycles makes no tx files for them."),
    {0},
};
#undef AT

/* Operands without images are reported; if a run has no inputs at all, it ends. */
static void on_empty(void *user, const char *message)
{
    (void)user;
    txm_say(TXM_SAY_WARNING, "%s", message);
}

/* Collecting is separate from planning, because guards check the inputs in between, before anything is opened for
 * writing. */
txm_status txm_batch_job_collect(txm_batch_job *job, const txm_batch_job_args *args, const txm_operands *operands,
                                 txm_error *err)
{
    job->scenes = (txm_make_scenes){.config_args = args->config,
                                    .packed_folder = args->unpack ? args->input->packed : NULL,
                                    .unpacked = args->find_unpacked ? args->input->packed : NULL,
                                    .lint = args->lint || args->nodes};
    const txm_inputs_options options = {.struct_size = sizeof(txm_inputs_options),
                                        .recursive = true,
                                        .include = args->input->include.items,
                                        .exclude = args->input->exclude.items,
                                        .empty = job->may_be_empty ? NULL : on_empty,
                                        .scene = txm_make_add_scene,
                                        .scene_user = &job->scenes,
                                        .cancel = txm_signal_flag()};
    /* Removes what killed runs left while they unpacked. */
    txm_swept swept = {0};
    if (job->scenes.packed_folder)
        txm_sweep_folder(job->scenes.packed_folder, false, &swept);
    txm_status status = txm_globs_check(operands, err);
    if (status == TXM_OK)
        status = txm_rule_args_read(args->rules, &job->rules, err);
    if (status == TXM_OK)
        status = txm_inputs_new(&options, &job->inputs, err);
    if (status == TXM_OK && args->add)
        return args->add(args->add_user, job->inputs, err);
    for (size_t i = 0; status == TXM_OK && i < operands->count; i++)
        status = txm_inputs_add(job->inputs, operands->items[i], err);
    if (status != TXM_OK)
        return status;
    /* A run without inputs must not succeed, because a farm's script would not notice. Only `watch` may begin without
     * inputs. */
    char more[TXM_FORMAT_COUNT];
    if (txm_inputs_count(job->inputs) || job->may_be_empty)
        return TXM_OK;
    return txm_fail(err, TXM_STATUS_USAGE, "%s%s%s: no image to convert; nothing was done", operands->items[0],
                    operands->count > 1 ? " and " : "",
                    operands->count > 1 ? txm_format_count(operands->count - 1, "other argument", more) : "");
}

/* What the status line says while inputs are examined; there is one line. */
static const char *examining;

static void show_examined(void *user, size_t done, size_t inputs)
{
    (void)user;
    txm_say_progress(examining, done, inputs);
}

/* Settings are checked against the colour config before the first image, so that a misspelt colour space is one
 * error and not a thousand. */
txm_status txm_batch_job_plan(txm_batch_job *job, const txm_batch_job_args *args, const txm_batch_options *options,
                              txm_error *err)
{
    const txm_context_options context = txm_context_options_from(args->config, args->running);
    txm_batch_options o = *options;
    o.rules = job->rules;
    o.lint = args->lint;
    o.max_memory_bytes = args->running->max_memory_bytes;
    o.struct_size = sizeof o;
    o.events = &job->events;
    job->events = args->events;
    job->events.struct_size = sizeof job->events;
    if (args->doing) {
        examining = args->doing;
        job->events.examined = show_examined;
        job->events.warn = txm_say_warning;
    }
    txm_status status = txm_project_open(job->inputs, &context, o.settings, o.rules, &job->contexts, err);
    o.contexts = job->contexts.of;
    if (status == TXM_OK && o.settings && !job->may_be_empty)
        txm_settings_warn_alias(o.settings, txm_context_color(job->contexts.common));
    if (status == TXM_OK)
        status = txm_batch_new(job->contexts.common, job->inputs, &o, &job->batch, err);
    return status == TXM_OK ? txm_batch_plan(job->batch, err) : status;
}

void txm_batch_job_free(txm_batch_job *job)
{
    txm_batch_free(&job->batch);
    txm_rules_free(&job->rules);
    txm_inputs_free(&job->inputs);
    txm_make_scenes_free(&job->scenes);
    txm_project_contexts_free(&job->contexts);
}
