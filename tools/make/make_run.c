/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a batch from the command line.
 *
 * In: the arguments of `make`. It opens the log, plans, guards the outputs, converts and prints a summary; a failure
 * of any step is reported in the same way. `watch` calls it once per round.
 */
#include "tools/make/make_run.h"

#include <string.h>

#include "base/path.h"
#include "tools/make/make_guard.h"
#include "tools/make/make_mesh.h"
#include "tools/make/make_report.h"
#include "tools/output/progress.h"
#include "tools/output/say.h"
#include "txmill/guard.h"
#include "txmill/inspect.h"

typedef struct make_run {
    const txm_make_args *args;
    txm_batch_job job;
    txm_make_report report;
    txm_progress progress;
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

static void on_examined(void *user, size_t done, size_t inputs)
{
    (void)user;
    txm_say_progress("examining", done, inputs);
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
    const txm_batch_job_args args = job_args(a);
    const txm_batch_events events = {sizeof events, run,     on_planned,      make_done,
                                     on_begin,      on_rows, txm_say_warning, on_examined};
    const txm_batch_options options = {
        .struct_size = sizeof(txm_batch_options),
        .settings = &a->settings.settings,
        .output = a->output,
        .force = a->force,
        .deep = a->deep,
        .dry_run = a->dry_run || a->plan || a->key,
        .largest_first = a->plan,
        .content = a->key > 1,
        .store = a->store,
        .no_claims = a->no_claims,
        .fail_fast = a->fail_fast,
        .stages = a->report.json || a->report.verbose || a->log,
        .shards = a->shard.count,
        .shard = a->shard.index,
        .events = &events,
    };
    txm_status status = txm_batch_job_plan(&run->job, &args, &options, err);
    return status == TXM_OK ? txm_batch_run(run->job.batch, err) : status;
}

/* Users often name the output as for other converters, but Cycles then does not find it. */
static void hint_output(const char *output, const char *image)
{
    size_t bytes;
    unsigned version;
    char md5[33];
    const char *base = txm_path_base(output), *own = txm_path_base(image);
    if (txm_tx_name_parse(base, &bytes, &version, md5) && bytes == strlen(own) && !memcmp(base, own, bytes))
        return;
    txm_say(TXM_SAY_INFO,
            "-o %s: Cycles does not look for a file of this name; leave out -o to make the one that it looks for",
            output);
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
    if (status == TXM_OK && a->mesh.mesh) {
        status = txm_make_mesh_unwrap(a, operands->items[0], &run->unwrapped, err);
        if (status == TXM_OK)
            txm_make_report_mesh(&run->report, operands->items[0], a->mesh.mesh, &run->unwrapped);
        from.add = txm_make_mesh_inputs;
        from.add_user = &run->unwrapped;
        run->planned = run->unwrapped.outcome == TXM_OUTCOME_WOULD_CREATE;
    }
    if (status == TXM_OK && !run->planned)
        status = txm_batch_job_collect(&run->job, &from, operands, err);
    if (run->job.inputs)
        run->report.inputs = txm_inputs_count(run->job.inputs);
    if (status == TXM_OK && run->job.inputs)
        status = txm_make_guard(a, run->job.inputs, err);
    if (status == TXM_OK && a->output && txm_inputs_count(run->job.inputs) == 1)
        hint_output(a->output, txm_inputs_at(run->job.inputs, 0)->path);
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
    const bool converts = !args->dry_run && !args->plan && !args->key;
    txm_progress_init(&run.progress, run.report.inputs, args->progress && converts, args->report.quiet || !converts);
    if (status == TXM_OK && !run.planned)
        status = convert(&run, &err);
    if (status != TXM_OK && err.status != TXM_STATUS_CANCELLED)
        txm_make_report_stop(&run.report, &err);
    txm_progress_end(&run.progress);
    int code = txm_make_report_finish(&run.report);
    txm_batch_job_free(&run.job);
    txm_unwrapped_clear(&run.unwrapped);
    return code;
}
