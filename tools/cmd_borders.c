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
#include "tools/inspect/each_file.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/args.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/borders.h"
#include "txmill/out_file.h"

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

typedef struct bordering {
    const borders_args *args;
    txm_context *context;
} bordering;

/* The word for JSON. run_borders has checked that exactly one of the three is set. */
static const char *action_name(const borders_args *args)
{
    return args->add ? "add" : args->strip ? "strip" : "check";
}

/* Successes and failures both begin with these. */
static void describe_action(void *user, const txm_one_file *file, cJSON *o)
{
    const bordering *b = user;
    txm_json_text(o, "file", file->name);
    txm_json_text(o, "action", action_name(b->args));
}

static void print_borders_text(const borders_args *args, const txm_one_file *file, const txm_borders_result *r)
{
    char section[TXM_FORMAT_BYTES], details[64] = "";
    const char *path = file->input->path;
    if (*r->finding) {
        txm_say(TXM_SAY_WARNING, "%s", r->finding);
        if (r->bad_tiles > 1)
            txm_say(TXM_SAY_WARNING, "%s: %llu of %llu tiles have a border that is damaged or wrong", path,
                    (unsigned long long)r->bad_tiles, (unsigned long long)r->tiles);
        return;
    }
    if (args->quiet)
        return;
    if (!args->strip)
        snprintf(details, sizeof details, "%s, %.1f %% of the file", txm_format_bytes(r->section_bytes, section),
                 r->file_bytes ? 100.0 * (double)r->section_bytes / (double)r->file_bytes : 0.0);
    txm_print_line(path, TXM_GOOD, file->word, details);
}

/* Handles one file, on a thread of the pool. The output is in the order of completion, on which JSON readers must not
 * rely. */
static txm_status border_one(void *user, txm_one_file *file, txm_error *err)
{
    bordering *b = user;
    const borders_args *args = b->args;
    txm_borders_result result = {0};
    const char *path = file->input->path;
    txm_status status = txm_input_check(file->input, err);
    if (status == TXM_OK)
        status = (args->add     ? txm_borders_add
                  : args->strip ? txm_borders_strip
                                : txm_borders_check)(b->context, path, &result, err);
    if (status != TXM_OK)
        return status;
    file->findings = *result.finding != 0;
    file->word = file->findings   ? "with findings"
                 : result.changed ? args->add ? "added" : "stripped"
                 : args->check    ? "sound"
                                  : "unchanged";
    txm_print_begin();
    if (args->json) {
        /* `found` is the state before the run; the state after it follows from `changed` and the action. */
        cJSON *object = txm_json_result();
        describe_action(b, file, object);
        txm_json_text(object, "found", txm_section_state_name(result.before));
        txm_json_bool(object, "changed", result.changed);
        txm_json_uint(object, "file_bytes", result.file_bytes);
        txm_json_uint(object, "section_bytes", result.section_bytes);
        if (b->args->check) {
            txm_json_uint(object, "tiles", result.tiles);
            txm_json_uint(object, "bad_tiles", result.bad_tiles);
            txm_json_text_or_null(object, "finding", result.finding);
        }
        txm_json_emit(object);
    } else
        print_borders_text(args, file, &result);
    txm_print_end();
    return TXM_OK;
}

/* Files run in parallel, not tiles, since a farm has thousands of small files, and the tiles of a file are read in
 * order. Threads that are left over share the tiles of a file. */
static txm_status work_on(const borders_args *args, const txm_inputs *inputs, txm_tally *tally, txm_error *err)
{
    const txm_context_options how = {.struct_size = sizeof(txm_context_options),
                                     .threads = args->threads,
                                     .device = "cpu",
                                     .cancel = txm_signal_flag(),
                                     .ignore_environment = true};
    bordering b = {.args = args};
    txm_status status = txm_context_new(&how, &b.context, err);
    if (status != TXM_OK)
        return status;
    if (!args->check) {
        /* Killed runs may have left files in the folders whose files are about to be replaced. */
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
    txm_each_file_run(&(txm_each_file){.one = border_one,
                                       .user = &b,
                                       .doing = "examining",
                                       .noun = "file",
                                       .json = args->json,
                                       .quiet = args->quiet,
                                       .in_context = b.context,
                                       .explain = txm_tx_explain,
                                       .describe = describe_action},
                      inputs, tally);
    txm_context_free(&b.context);
    return TXM_OK;
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
