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
#include "tools/inspect/info_report.h"
#include "tools/inspect/tx_files.h"
#include "tools/options/opt.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/summary.h"
#include "tools/output/text.h"
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

/* Shows one file. The summary counts its verdict; the tally counts whether it could be read. */
static txm_status show_info(const txm_project_contexts *contexts, size_t index, const char *path, const info_args *args,
                            txm_summary *summary, txm_error *err)
{
    txm_info info;
    txm_status status = txm_info_load(txm_project_context(contexts, index), txm_project_rules(contexts, index), path,
                                      args->deep || args->tiles, &info, err);
    if (status == TXM_OK && args->tiles) {
        status = txm_tile_census_take(info.tx, txm_signal_flag(), NULL, NULL, &info.tiles, err);
        info.counted = true;
    }
    if (status == TXM_OK)
        txm_summary_add(summary, txm_use_words(info.verdict.use)->word);
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

/* Cycles does not use Ptex files, so there is no verdict. */
static txm_status show_ptex(const char *path, const info_args *args, txm_summary *summary, txm_error *err)
{
    const txm_ptex_extent extent = {args->json, args->all, args->deep};
    txm_status status = txm_ptex_print_info(path, &extent, err);
    if (status == TXM_OK)
        txm_summary_add(summary, "Ptex");
    return status;
}

/* There is a blank line between files in the text output. If a file fails, the next ones are still shown. */
static void show_infos(const txm_project_contexts *contexts, const txm_inputs *inputs, const info_args *args,
                       txm_tally *tally)
{
    txm_summary summary = {.words = {txm_use_words(TXM_USE_LOADED)->word}};
    for (size_t i = 0; i < txm_inputs_count(inputs) && !txm_signal_caught(); i++) {
        const txm_input *input = txm_inputs_at(inputs, i);
        txm_error err = {0};
        txm_say_file_progress("examining", i, txm_inputs_count(inputs), false);
        txm_status status = txm_input_check(input, &err);
        if (status == TXM_OK && txm_ptex_is_file(input->path))
            status = show_ptex(input->path, args, &summary, &err);
        else if (status == TXM_OK)
            status = show_info(contexts, i, input->path, args, &summary, &err);
        if (status == TXM_STATUS_CANCELLED)
            return;
        txm_tally_add(tally, status);
        if (status == TXM_OK)
            continue;
        txm_tx_explain(input->path, &err);
        txm_summary_add(&summary, "failed");
        txm_say(TXM_SAY_ERROR, "%s", err.message);
        if (args->json)
            txm_json_emit(txm_info_json_error(input->path, &err));
    }
    if (!args->json && summary.total > 1)
        txm_summary_print(&summary, "file");
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
    txm_project_contexts contexts = {.place = txm_tx_place};
    const txm_settings settings = {.cache_dir = NULL};
    if (txm_tx_files_collect("info", &args->files, operands, &inputs, &err) == TXM_OK &&
        txm_project_examine(&project, operands, inputs, &settings, &contexts, &err) == TXM_OK)
        show_infos(&contexts, inputs, args, &tally);
    txm_project_contexts_free(&contexts);
    return txm_files_finish(&inputs, &tally, &err);
}

TXM_COMMAND(info, info_args, .purpose = "Show what is inside tx files and Ptex files", .synopsis = "[OPTION...] TX...",
            .operand_values = TXM_VALUES_TX_OR_IMAGE, .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL);
