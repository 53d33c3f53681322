/* SPDX-License-Identifier: Apache-2.0
 * A batch run from the command line. */
#include "make_run.h"

#include "core/mem.h"
#include "make_report.h"
#include "make_scene.h"
#include "progress.h"
#include "say.h"

#define AT(member) .offset = offsetof(txm_input_args, member)
const txm_option txm_input_options[] = {
    {.name = "recursive",
     .letter = 'r',
     .type = TXM_OPT_FLAG,
     AT(recursive),
     .help = "Take the images in folders and their subfolders",
     .more =
         "Files count as images by their extensions. Hidden files, tx files and folders named blender_tx are passed "
         "over. Links to folders are followed; a folder that was read already is not read again."},
    {.name = "include",
     .type = TXM_OPT_LIST,
     AT(include),
     .arg = "GLOB",
     .help = "In folders, take the files that match instead of all images (repeatable)",
     .more = "See GLOBS."},
    {.name = "exclude",
     .type = TXM_OPT_LIST,
     AT(exclude),
     .arg = "GLOB",
     .help = "In folders, leave out files and subfolders that match (repeatable)"},
    {.name = "rule",
     .type = TXM_OPT_LIST,
     AT(rules),
     .arg = "GLOB=SPACE[,ALPHA]",
     .help = "Colour space and alpha type of files that match (repeatable, the first match counts)",
     .more = "With an empty SPACE the rule sets the alpha type alone. See COLOUR SPACES BY NAME."},
    {.name = "rules",
     .type = TXM_OPT_LIST,
     AT(rule_files),
     .arg = "FILE",
     .values = TXM_VALUES_FILE,
     .help = "Read rules from a file, one a line (repeatable)",
     .more = "Empty lines and lines that begin with # are skipped."},
    {.name = "preset",
     .type = TXM_OPT_STRING,
     AT(preset),
     .arg = "NAME",
     .values = "pbr",
     .help = "Rules for common names; pbr: normal, roughness and other data maps are Non-Color",
     .more = "Judged by the last word of the file name, numbers and resolutions aside: wood_normal.png, "
             "WoodRoughness.1001.exr and wood-ao-4k.jpg count, normal_wood.png does not."},
    {.name = "packed",
     .type = TXM_OPT_STRING,
     AT(packed),
     .arg = "DIR",
     .values = TXM_VALUES_DIR,
     .help = "Unpack the packed images of Blender scenes into DIR and convert them there",
     .more =
         "Under the names that Blender's own unpack gives them. A file of that name with other content is left as it "
         "is, and a number is put into the name. Without this option packed images are left out with a warning: "
         "Cycles makes no tx files of them."},
    {0},
};
#undef AT

typedef struct make_run {
    const txm_make_args *args;
    txm_context *context;
    txm_inputs *inputs;
    txm_rules *rules;
    txm_batch *batch;
    txm_make_report report;
    txm_progress progress;
} make_run;

/* ---- events ----------------------------------------------------------------------------------------------------- */

static void on_planned(void *user, const txm_batch_totals *totals)
{
    make_run *run = user;
    txm_make_report_planned(&run->report, totals);
    txm_progress_planned(&run->progress, totals);
}

static void on_begin(void *user, const txm_batch_file *file)
{
    txm_progress_begin(&((make_run *)user)->progress, file);
}

static void on_rows(void *user, size_t index, uint32_t rows_done, uint32_t rows)
{
    txm_progress_rows(&((make_run *)user)->progress, index, rows_done, rows);
}

static void on_done(void *user, const txm_batch_file *file)
{
    make_run *run = user;
    txm_make_report_add(&run->report, file);
    txm_progress_done(&run->progress, file);
}

static void on_warning(void *user, const char *message)
{
    (void)user;
    txm_say(TXM_SAY_WARNING, "%s", message);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

static txm_status collect(make_run *run, const txm_operands *operands, const txm_inputs_options *options,
                          txm_error *err)
{
    run->inputs = txm_inputs_new(options);
    txm_status status = run->inputs ? TXM_OK : txm_fail(err, TXM_NO_MEMORY, "out of memory");
    const txm_make_args *a = run->args;
    txm_make_scenes scenes = {&a->config, a->dry_run || a->plan || a->key ? NULL : a->input.packed, a->lint, NULL};
    for (size_t i = 0; status == TXM_OK && i < operands->count; i++)
        status = txm_make_is_scene(operands->items[i])
                     ? txm_make_add_scene(&scenes, run->inputs, operands->items[i], err)
                     : txm_inputs_add(run->inputs, operands->items[i], err);
    txm_make_scenes_free(&scenes);
    return status;
}

static txm_status read_rules(make_run *run, txm_error *err)
{
    const txm_input_args *a = &run->args->input;
    run->rules = txm_rules_new();
    txm_status status = run->rules ? TXM_OK : txm_fail(err, TXM_NO_MEMORY, "out of memory");
    for (size_t i = 0; status == TXM_OK && i < a->rules.count; i++)
        status = txm_rules_add(run->rules, a->rules.items[i], "--rule", err);
    for (size_t i = 0; status == TXM_OK && i < a->rule_files.count; i++)
        status = txm_rules_load(run->rules, a->rule_files.items[i], err);
    if (status == TXM_OK && a->preset)
        status = txm_rules_preset(run->rules, a->preset, err);
    return status;
}

static txm_status convert(make_run *run, txm_error *err)
{
    const txm_make_args *a = run->args;
    const txm_batch_options options = {
        .settings = a->settings.settings,
        .rules = run->rules,
        .output = a->output,
        .force = a->force,
        .dry_run = a->dry_run || a->plan || a->key,
        .largest_first = a->plan,
        .lint = a->lint,
        .content = a->key > 1,
        .store = a->store,
        .no_claims = a->no_claims,
        .fail_fast = a->fail_fast,
        .stages = a->report.json || a->report.verbose,
        .max_memory_bytes = a->running.max_memory_bytes,
        .events = {run, on_planned, on_done, on_begin, on_rows, on_warning},
    };
    const txm_context_options context = txm_context_options_from(&a->config, &a->running);
    txm_status status = txm_context_new(&context, &run->context, err);
    if (status == TXM_OK)
        status = txm_batch_new(run->context, run->inputs, &options, &run->batch, err);
    if (status == TXM_OK)
        status = txm_batch_plan(run->batch, err);
    if (status == TXM_OK)
        status = txm_batch_run(run->batch, err);
    return status;
}

int txm_make_run(const txm_make_args *args, const txm_operands *operands)
{
    make_run run = {.args = args};
    txm_error err = {0};
    const txm_inputs_options options = {args->input.recursive, args->input.include.items, args->input.exclude.items};
    txm_status status = read_rules(&run, &err);
    if (status == TXM_OK)
        status = collect(&run, operands, &options, &err);
    size_t count = run.inputs ? txm_inputs_count(run.inputs) : 0;
    int code;
    if (status == TXM_OK) {
        txm_make_report_init(&run.report, count, args->report.json, args->report.quiet, args->plan, args->key);
        txm_progress_init(&run.progress, count, args->progress,
                          args->report.quiet || args->dry_run || args->plan || args->key);
        if (convert(&run, &err) != TXM_OK && err.status != TXM_CANCELLED)
            txm_make_report_stop(&run.report, &err);
        txm_progress_end(&run.progress);
        code = txm_make_report_finish(&run.report);
    } else {
        code = txm_finish_failed(&err, count);
    }
    txm_batch_free(&run.batch);
    txm_rules_free(&run.rules);
    txm_inputs_free(&run.inputs);
    txm_context_free(&run.context);
    return code;
}
