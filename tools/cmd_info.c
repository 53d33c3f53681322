/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill info: shows what is inside tx files.
 *
 * In: tx files, and Ptex files, which tools/ptex prints. Out: container, sizes, metadata, and whether Cycles would
 * load the file. This file goes through the inputs and counts results; info_report.c prints.
 *
 * Pixels are read only on request: --deep decodes all tiles, --tiles also lists them. The verdict (used, outdated,
 * unusable ...) comes from the library, as in check and list.
 */
#include "base/fail.h"
#include "base/mem.h"
#include "tools/inspect/each_file.h"
#include "tools/inspect/info_report.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/opt.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/ptex/ptex_files.h"

/* The values of --tiles without and with its word: see TXM_OPT_WORD. */
enum { ALL_TILES = 2 };

typedef struct info_args {
    bool json, all, deep;
    int tiles;
    txm_tx_files_args files;
    txm_config_args config;
    txm_jobs_args jobs;
} info_args;

#define AT(member) .offset = offsetof(info_args, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "all", AT(all), .help = "Show every entry of the metadata"),
    TXM_OPTION(WORD, "tiles", AT(tiles), .arg = "[=all]", .values = "all",
               .help = "Show the size of every tile, and which have a single colour",
               .more = "Every tile is decoded for this. If a file has more than 200 tiles, the 200 largest are listed; "
                       "with all, every tile, row by row. JSON always has all tiles."),
    TXM_OPTION_DEEP(AT(deep)),
    TXM_OPTION(FLAG, "json", AT(json), .help = "Print one JSON object per file"),
    {0},
};

static const txm_option_group groups[] = {
    {"Reports", options, 0}, TXM_FILES_GROUP(info_args), TXM_COLOUR_GROUP(info_args), TXM_JOBS_GROUP(info_args), {0},
};

typedef struct showing {
    const info_args *args;
    txm_project_contexts contexts;
} showing;

/* Cycles does not use Ptex files, so these have no verdict. There is a blank line between files in the text output. */
static txm_status show_info(void *user, txm_one_file *file, txm_error *err)
{
    const showing *s = user;
    const info_args *args = s->args;
    const char *path = file->input->path;
    txm_status status = txm_input_check(file->input, err);
    if (status == TXM_OK && txm_ptex_is_file(path)) {
        const txm_ptex_extent extent = {args->json, args->all, args->deep};
        file->word = "Ptex";
        return txm_ptex_print_info(path, &extent, err);
    }
    if (status != TXM_OK)
        return status;
    txm_info info;
    status = txm_info_load(txm_project_context(&s->contexts, file->index), txm_project_rules(&s->contexts, file->index),
                           path, args->deep || args->tiles, &info, err);
    if (status == TXM_OK && args->tiles) {
        status = txm_tile_census_take(info.tx, txm_signal_flag(), NULL, NULL, &info.tiles, err);
        info.counted = true;
    }
    if (status == TXM_OK)
        file->word = txm_use_words(info.verdict.use)->word;
    if (status == TXM_OK && args->json) {
        txm_json_emit(txm_info_json(&info, args->all));
    } else if (status == TXM_OK) {
        const txm_info_extent extent = {args->all, args->tiles == ALL_TILES};
        if (!txm_info_print_text(&info, &extent))
            status = txm_no_memory(err, path);
    }
    txm_info_clear(&info);
    return status;
}

/* The config of each file's project is loaded, to name colour spaces and to check the file's name; the limits of its
 * rules, to check the size. */
static int run_info(void *p, const txm_operands *operands)
{
    info_args *args = p;
    txm_rule_args rules = {0};
    const txm_project_targets project = {NULL, &args->config, &rules, &args->jobs.threads};
    txm_tally tally = {0};
    txm_error err = {0};
    txm_inputs *inputs = NULL;
    showing s = {args, {.place = txm_tx_place}};
    const txm_settings settings = {.cache_dir = NULL};
    if (txm_tx_files_collect("info", &args->files, operands, &inputs, &err) == TXM_OK &&
        txm_project_examine(&project, operands, inputs, &settings, &s.contexts, &err) == TXM_OK)
        txm_each_file_run(&(txm_each_file){.one = show_info,
                                           .user = &s,
                                           .stops = true,
                                           .doing = "examining",
                                           .noun = "file",
                                           .good = txm_use_words(TXM_USE_LOADED)->word,
                                           .member = "file",
                                           .json = args->json,
                                           .explain = txm_tx_explain},
                          inputs, &tally);
    txm_project_contexts_free(&s.contexts);
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(info, info_args, .purpose = "Show what is inside tx files and Ptex files", .synopsis = "[OPTION...] TX...",
            .operand_values = TXM_VALUES_TX_OR_IMAGE, .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL);
