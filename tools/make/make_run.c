/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a batch from the command line.
 *
 * In: the arguments of `make`. It opens the log, plans, guards the outputs, converts and prints a summary; a failure
 * of any step is reported in the same way. `watch` calls it once per round.
 */
#include <sys/stat.h>

#include "tools/make/make_run.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "tools/make/make_limit.h"
#include "tools/make/make_mesh.h"
#include "tools/make/make_report.h"
#include "tools/output/progress.h"
#include "tools/output/say.h"
#include "txmill/garbage.h"
#include "txmill/guard.h"
#include "txmill/inspect.h"

/* There may be many inputs and many outputs in a list, so equal files are found by their identity. */
typedef struct same_input {
    const txm_inputs *inputs;
    txm_names *ids; /* txm_file_id of each input, with its index + 1 */
    const char *output;
} same_input;

/* txm_guard_output goes through all inputs; this function finds the right one in the table at once, because a batch
 * of a million outputs would otherwise be compared with a million inputs each. */
static const char *same_as_output(const void *user, size_t index)
{
    const same_input *s = user;
    struct stat st;
    char id[TXM_FILE_ID_BYTES];
    if (index || stat(s->output, &st) != 0)
        return NULL;
    txm_file_id(&st, id);
    txm_name *entry = txm_names_has(s->ids, id) ? txm_names_entry(s->ids, id) : NULL;
    return entry ? txm_inputs_at(s->inputs, entry->value - 1)->path : NULL;
}

/* By device and inode, because a link to a source, or another path to it, is the same file. */
static txm_status number_inputs(const txm_inputs *inputs, txm_names *ids, txm_error *err)
{
    struct stat st;
    char id[TXM_FILE_ID_BYTES];
    for (size_t i = 0; i < txm_inputs_count(inputs); i++) {
        if (stat(txm_inputs_at(inputs, i)->path, &st) != 0)
            continue;
        txm_file_id(&st, id);
        txm_name *entry = txm_names_entry(ids, id);
        if (!entry)
            return txm_no_memory(err, NULL);
        entry->value = i + 1;
    }
    return TXM_OK;
}

/* Does the same as txm_guard_output, for -o. An output in a list fails only its own entry. USAGE, NO_MEMORY. */
static txm_status check_outputs(const txm_make_args *args, txm_inputs *inputs, txm_error *err)
{
    txm_names ids = {0};
    same_input s = {.inputs = inputs, .ids = &ids};
    const txm_output tx = {"-o", args->output, TXM_OUTPUT_TX, false};
    txm_status status = number_inputs(inputs, &ids, err);
    s.output = args->output;
    if (status == TXM_OK)
        status = txm_guard_output(&tx, same_as_output, &s, err);
    if (status == TXM_OK && txm_inputs_count(inputs) == 1)
        status = txm_guard_tx_of(&tx, txm_inputs_at(inputs, 0)->path, err);
    /* Entries of a list have their own outputs. If one is refused, it becomes a failed input and the others go on,
     * because lists are often made by programs and run at night. */
    for (size_t i = 0; status == TXM_OK && i < txm_inputs_count(inputs); i++) {
        const txm_input *input = txm_inputs_at(inputs, i);
        txm_error failure = {0};
        const txm_output output = {"output", s.output = input->output, TXM_OUTPUT_TX, false};
        if (input->status == TXM_OK && (txm_guard_output(&output, same_as_output, &s, &failure) != TXM_OK ||
                                        txm_guard_tx_of(&output, input->path, &failure) != TXM_OK)) {
            txm_error_prefix(&failure, "%s", input->origin ? input->origin : input->path);
            status = txm_inputs_fail(inputs, i, &failure, err);
        }
    }
    txm_names_free(&ids);
    return status;
}

typedef struct make_run {
    const txm_make_args *args;
    txm_batch_job job;
    txm_make_report report;
    txm_progress progress;
    txm_make_limit limit;
    txm_unwrapped unwrapped; /* result of --mesh */
    bool planned;            /* pages would be made, so that there is nothing to convert yet */
} make_run;

/* ---- events ----------------------------------------------------------------------------------------------------- */

/* The line about the shard is for the logs of a farm, where it shows whether the lists of two nodes differ. */
static void on_planned(void *user, const txm_batch_totals *totals)
{
    make_run *run = user;
    if (run->args->shard.count)
        txm_say(TXM_SAY_INFO, "shard %u of %u: %zu of %zu inputs, list %s", run->args->shard.index,
                run->args->shard.count, totals->inputs, totals->listed, totals->list_key);
    txm_make_report_planned(&run->report, totals);
    txm_progress_planned(&run->progress, totals);
}

/* Only the progress is shown here; the report prints finished files. */
static void on_begin(void *user, const txm_batch_file *file)
{
    txm_progress_begin(&((make_run *)user)->progress, file);
}

static void on_rows(void *user, size_t index, uint32_t rows_done, uint32_t rows)
{
    txm_progress_rows(&((make_run *)user)->progress, index, rows_done, rows);
}

/* The report comes first, since it clears the status line, which progress then draws again. */
static void make_done(void *user, const txm_batch_file *file)
{
    make_run *run = user;
    txm_make_limit_add(&run->limit, file);
    txm_make_report_add(&run->report, file);
    txm_progress_done(&run->progress, file);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* Images are unpacked only by a run that converts; a dry run leaves no files. */
static txm_batch_job_args job_args(const txm_make_args *a)
{
    return (txm_batch_job_args){.input = &a->input,
                                .rules = &a->rules,
                                .config = &a->config,
                                .running = &a->running,
                                .lint = a->lint,
                                .unpack = !a->dry_run && !a->plan && !a->key};
}

/* --plan and --key are dry runs that print something else. */
static txm_status convert(make_run *run, txm_error *err)
{
    const txm_make_args *a = run->args;
    txm_batch_job_args args = job_args(a);
    args.doing = "examining";
    args.events =
        (txm_batch_events){.user = run, .planned = on_planned, .done = make_done, .begin = on_begin, .rows = on_rows};
    const txm_batch_options options = {
        .settings = &a->settings.settings,
        .output = a->output,
        .force = a->force,
        .deep = a->deep,
        .dry_run = a->dry_run || a->plan || a->key,
        .largest_first = a->plan,
        .content = a->key > 1,
        .store = a->store,
        .copies = a->copies,
        .no_claims = a->no_claims,
        .fail_fast = a->fail_fast,
        .stages = a->report.json || a->report.verbose || a->log,
        .shards = a->shard.count,
        .shard = a->shard.index,
    };
    txm_status status = txm_batch_job_plan(&run->job, &args, &options, err);
    if (status == TXM_OK)
        txm_make_limit_plan(&run->limit, run->report.totals.tx_bytes);
    if (status == TXM_OK)
        status = txm_batch_run(run->job.batch, err);
    if (status != TXM_OK)
        return status;
    return txm_make_limit_keep(&run->limit, run->report.totals.tx_bytes, &run->report.tally,
                               run->report.json || run->report.log ? txm_make_report_emit : NULL, &run->report, err);
}

/* Checks before inputs are read; the log is opened as early as possible, so that it contains later errors. */
static txm_status begin_make(make_run *run, const txm_operands *operands, txm_error *err)
{
    const txm_make_args *a = run->args;
    txm_batch_job_args from = job_args(a);
    run->job.may_be_empty = a->watching;
    const txm_output log = {"--log", a->log, TXM_OUTPUT_LOG, false};
    txm_status status = txm_guard_operands(&log, operands->items, operands->count, err);
    if (status == TXM_OK)
        status = txm_make_report_open_log(&run->report, a->log, err);
    if (status == TXM_OK && txm_make_mesh_wanted(a, operands)) {
        status = txm_make_mesh_unwrap(a, operands->items[0], &run->unwrapped, err);
        if (status == TXM_OK)
            txm_make_report_mesh(&run->report, operands->items[0], a->mesh.mesh ? a->mesh.mesh : operands->items[0],
                                 &run->unwrapped);
        from.add = txm_make_mesh_inputs;
        from.add_user = &run->unwrapped;
        run->planned = run->unwrapped.outcome == TXM_OUTCOME_WOULD_CREATE;
    }
    if (status == TXM_OK && !run->planned)
        status = txm_batch_job_collect(&run->job, &from, operands, err);
    if (run->job.inputs)
        run->report.inputs = txm_inputs_count(run->job.inputs);
    if (status == TXM_OK && run->job.inputs)
        status = check_outputs(a, run->job.inputs, err);
    if (status == TXM_OK && a->output && txm_inputs_count(run->job.inputs) == 1) {
        /* Users often name the output as for other converters, but Cycles then does not find it. */
        size_t bytes;
        unsigned version;
        char md5[33];
        const char *base = txm_path_base(a->output), *own = txm_path_base(txm_inputs_at(run->job.inputs, 0)->path);
        if (!(txm_tx_name_parse(base, &bytes, &version, md5) && bytes == strlen(own) && !memcmp(base, own, bytes))) {
            txm_say(
                TXM_SAY_INFO,
                "-o %s: Cycles does not look for a file of this name; leave out -o to make the one that it looks for",
                a->output);
        }
    }
    return status;
}

/* Returns the exit code. A signal is not a failure of the run: the finished part is summarized. */
int txm_make_run(const txm_make_args *args, const txm_operands *operands)
{
    make_run run = {.args = args};
    txm_error err = {0};
    txm_make_report_init(&run.report, args->report.json, args->report.quiet, args->plan, args->key);
    run.report.verbose = args->report.verbose;
    run.report.watching = args->watching;
    run.report.lint = args->lint;
    run.report.shard = args->shard;
    run.report.cache_dir = args->settings.settings.cache_dir;
    run.report.tile_px = args->settings.settings.tile_px;
    txm_status status = begin_make(&run, operands, &err);
    if (status == TXM_OK)
        status = txm_make_limit_begin(&run.limit, args, operands, &err);
    const bool converts = !args->dry_run && !args->plan && !args->key;
    txm_progress_init(&run.progress, run.report.inputs, args->progress && converts, args->report.quiet || !converts);
    if (status == TXM_OK && !run.planned)
        status = convert(&run, &err);
    if (status != TXM_OK && err.status != TXM_STATUS_CANCELLED)
        txm_make_report_stop(&run.report, &err);
    txm_progress_end(&run.progress);
    int code = txm_make_report_finish(&run.report);
    txm_batch_job_free(&run.job);
    txm_make_limit_free(&run.limit);
    txm_unwrapped_clear(&run.unwrapped);
    return code;
}
