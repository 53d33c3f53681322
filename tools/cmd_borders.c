/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill borders: adds, strips or checks the border section of finished tx files.
 *
 * In: tx files and one of --add, --strip, --check. Each file is handled by one thread of a pool; the library replaces
 * a file as a whole. Out: a line or a JSON object per file; exit code 5 if a check finds something.
 *
 * Adding needs no source image, because the borders are gathered from the pixels in the file; so it works on files
 * that Blender wrote. Stripping restores the bytes that the file had before. A file that needs no change is not
 * written, and keeps its time stamp.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "tools/output/summary.h"
#include "txmill/borders.h"
#include "txmill/out_file.h"

enum { TXM_BORDERS_SCHEMA_VERSION = 1 };

typedef struct borders_args {
    bool add, strip, check, json, quiet;
    uint32_t threads;
    txm_tx_files_args files;
} borders_args;

#define AT(member) .offset = offsetof(borders_args, member)
static const txm_option actions[] = {
    TXM_OPTION(FLAG, "add", AT(add), .help = "Append the borders of all tiles, computed from the file's own pixels",
               .more = "A valid section is kept; a stale or damaged one is replaced."),
    TXM_OPTION(FLAG, "strip", AT(strip),
               .help = "Remove everything that follows the image, which restores the original file"),
    TXM_OPTION(
        FLAG, "check", AT(check),
        .help =
            "Compare every border with the pixels of the neighbouring tiles; exit with 5 if one is missing or wrong"),
    {0},
};
static const txm_option options[] = {
    TXM_OPTION_JOBS(AT(threads)),
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object per file"),
    TXM_OPTION(FLAG, "quiet", .letter = 'q', AT(quiet), .help = "Print only warnings, findings and errors"),
    {0},
};

static const txm_option_group groups[] = {
    {"Actions, exactly one", actions, 0},
    TXM_FILES_GROUP(borders_args),
    {"Running", options, 0},
    {0},
};

/* One file, and what all files share. */
typedef struct task {
    const borders_args *args;
    const txm_input *input;
    txm_context *context;
    pthread_mutex_t *lock; /* protects the tally, the summary, the progress and the output */
    txm_tally *tally;
    txm_summary *summary;
    size_t *done, count; /* files, for the progress */
} task;

/* The word for JSON. run_borders has checked that exactly one of the three is set. */
static const char *action_name(const borders_args *args)
{
    return args->add ? "add" : args->strip ? "strip" : "check";
}

/* `found` is the state before the run; the state after it follows from `changed` and the action. */
static void print_borders_json(const task *t, const txm_borders_result *r, const txm_error *err)
{
    cJSON *object = txm_json_new("txmill.borders", TXM_BORDERS_SCHEMA_VERSION);
    txm_json_text(object, "file", t->input->path);
    txm_json_text(object, "action", action_name(t->args));
    if (err->status != TXM_OK) {
        txm_json_error(object, err);
    } else {
        txm_json_text(object, "found", txm_section_state_name(r->before));
        txm_json_bool(object, "changed", r->changed);
        txm_json_uint(object, "file_bytes", r->file_bytes);
        txm_json_uint(object, "section_bytes", r->section_bytes);
        if (t->args->check) {
            txm_json_uint(object, "tiles", r->tiles);
            txm_json_uint(object, "bad_tiles", r->bad_tiles);
            txm_json_text(object, "finding", *r->finding ? r->finding : NULL);
        }
    }
    txm_json_emit(object);
}

/* The outcome of a file, for its line and for the summary. */
static const char *outcome_of(const task *t, const txm_borders_result *r)
{
    if (*r->finding)
        return "with findings";
    return r->changed ? t->args->add ? "added" : "stripped" : t->args->check ? "sound" : "unchanged";
}

/* Prints one line per file: what was done, or the first finding and the number of bad tiles. */
static void print_borders_text(const task *t, const txm_borders_result *r)
{
    char section[TXM_FORMAT_BYTES], details[64] = "";
    if (*r->finding) {
        txm_say(TXM_SAY_WARNING, "%s", r->finding);
        if (r->bad_tiles > 1)
            txm_say(TXM_SAY_WARNING, "%s: %llu of %llu tiles have a border that is damaged or wrong", t->input->path,
                    (unsigned long long)r->bad_tiles, (unsigned long long)r->tiles);
        return;
    }
    if (t->args->quiet)
        return;
    if (!t->args->strip)
        snprintf(details, sizeof details, "%s, %.1f %% of the file", txm_format_bytes(r->section_bytes, section),
                 r->file_bytes ? 100.0 * (double)r->section_bytes / (double)r->file_bytes : 0.0);
    txm_print_begin();
    txm_print_line(t->input->path, TXM_GOOD, outcome_of(t, r), details);
    txm_print_end();
}

/* Handles one file, on a thread of the pool. The lock covers printing and counting; the output is in the order of
 * completion, on which JSON readers must not rely. */
static void run_task(void *tasks, size_t index)
{
    const task *t = (const task *)tasks + index;
    txm_borders_result result = {0};
    txm_error err = {0};
    if (txm_signal_caught())
        return;
    const char *path = t->input->path;
    if (txm_input_check(t->input, &err) != TXM_OK)
        ; /* a file that could not be read: `err` has the reason */
    else if (t->args->add)
        txm_borders_add(t->context, path, &result, &err);
    else if (t->args->strip)
        txm_borders_strip(t->context, path, &result, &err);
    else
        txm_borders_check(t->context, path, &result, &err);
    pthread_mutex_lock(t->lock);
    txm_say_file_progress("examining", ++*t->done, t->count, t->args->quiet);
    txm_tally_add(t->tally, err.status);
    t->tally->findings |= *result.finding != 0;
    txm_tx_explain(path, &err);
    txm_summary_add(t->summary, err.status != TXM_OK ? "failed" : outcome_of(t, &result));
    if (err.status != TXM_OK)
        txm_say(TXM_SAY_ERROR, "%s", err.message);
    if (t->args->json)
        print_borders_json(t, &result, &err);
    else if (err.status == TXM_OK)
        print_borders_text(t, &result);
    pthread_mutex_unlock(t->lock);
}

/* Removes what killed runs left in the folders whose files are about to be replaced. */
static void sweep_folders(const txm_inputs *inputs)
{
    txm_names folders = {0};
    txm_swept swept = {0};
    for (size_t i = 0; i < txm_inputs_count(inputs); i++) {
        char *real = realpath(txm_inputs_at(inputs, i)->path, NULL), *folder = real ? txm_path_dir(real) : NULL;
        txm_name *entry = folder ? txm_names_entry(&folders, folder) : NULL;
        if (entry && !entry->value++)
            txm_sweep_folder(folder, false, &swept);
        free(real);
        free(folder);
    }
    txm_names_free(&folders);
}

/* Files run in parallel, not tiles, since a farm has thousands of small files, and the tiles of a file are read in
 * order. */
static txm_status work_on(const borders_args *args, const txm_inputs *inputs, txm_tally *tally, txm_error *err)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    txm_summary summary = {0};
    size_t count = txm_inputs_count(inputs), done = 0;
    const txm_context_options how = {.struct_size = sizeof(txm_context_options),
                                     .threads = args->threads,
                                     .device = "cpu",
                                     .cancel = txm_signal_flag(),
                                     .ignore_environment = true};
    txm_context *context = NULL;
    txm_status status = txm_context_new(&how, &context, err);
    task *tasks = status == TXM_OK ? txm_calloc(count, sizeof *tasks) : NULL;
    if (tasks) {
        for (size_t i = 0; i < count; i++)
            tasks[i] = (task){args, txm_inputs_at(inputs, i), context, &lock, tally, &summary, &done, count};
        if (!args->check)
            sweep_folders(inputs);
        txm_say_file_progress("examining", 0, count, args->quiet);
        /* One file per thread; threads that are left over share the tiles of a file. */
        txm_context_run(context, count, run_task, tasks);
    } else if (status == TXM_OK) {
        txm_no_memory(err, NULL);
    }
    txm_context_free(&context);
    free(tasks);
    if (!args->json && !args->quiet && count > 1)
        txm_summary_print(&summary, "file");
    return err->status;
}

/* txm_tx_files_collect reports an empty list of files as a usage error, with the name of the command. */
static int run_borders(void *p, const txm_operands *operands)
{
    const borders_args *args = p;
    txm_tally tally = {0};
    txm_error err = {0};
    txm_inputs *inputs = NULL;
    if (args->add + args->strip + args->check != 1)
        txm_fail(&err, TXM_STATUS_USAGE, "give exactly one of --add, --strip and --check");
    else if (txm_tx_files_collect("borders", &args->files, operands, &inputs, &err) == TXM_OK)
        work_on(args, inputs, &tally, &err);
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(borders, borders_args, .purpose = "Add, strip or check the border section of tx files",
            .synopsis = "--add|--strip|--check [OPTION...] TX...", .operand_values = TXM_VALUES_TX,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
