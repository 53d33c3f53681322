/* SPDX-License-Identifier: Apache-2.0
 * txmill info: shows what is inside tx files. */
#include "tools/output/exits.h"
#include "tools/inspect/info_report.h"
#include "tools/output/json.h"
#include "tools/options/opt.h"
#include "tools/output/say.h"

/* --tiles without a word and with its only one: see TXM_OPT_WORD. */
enum { ALL_TILES = 2 };

typedef struct info_args {
    bool json, all;
    int tiles;
} info_args;

#define AT(member) .offset = offsetof(info_args, member)
static const txm_option options[] = {
    {.name = "all", .letter = 'a', .type = TXM_OPT_FLAG, AT(all), .help = "Show every entry of the metadata"},
    {.name = "tiles",
     .letter = 't',
     .type = TXM_OPT_WORD,
     AT(tiles),
     .arg = "[=all]",
     .values = "all",
     .help = "Show every tile's bytes, and which hold one colour",
     .more = "Every tile is decoded for it. Of a file with more than 200 tiles the largest 200 are listed, with all "
             "every one, row by row; JSON always holds them all."},
    {.name = "json", .type = TXM_OPT_FLAG, AT(json), .help = "Print one JSON object a file"},
    {0},
};
#undef AT

static const txm_option_group groups[] = {{"Reports", options, 0}, {0}};

static txm_status show(const char *path, const info_args *args, txm_error *err)
{
    txm_info info;
    txm_status status = txm_info_load(path, &info, err);
    if (status == TXM_OK && args->tiles) {
        status = txm_tile_census_take(info.tx, txm_signal_flag(), NULL, NULL, &info.tiles, err);
        info.counted = true;
    }
    if (status == TXM_OK && args->json) {
        txm_json_emit(txm_info_json(&info, args->all));
    } else if (status == TXM_OK) {
        const txm_info_extent extent = {args->all, args->tiles == ALL_TILES};
        if (!txm_info_print_text(&info, &extent))
            status = txm_fail(err, TXM_NO_MEMORY, "%s: no memory for a table of tiles", path);
    }
    txm_info_clear(&info);
    return status;
}

static int run_info(void *p, const txm_operands *operands)
{
    const info_args *args = p;
    txm_tally tally = {0};
    if (!operands->count) {
        txm_error err = {0};
        txm_fail(&err, TXM_USAGE, "no tx file given; 'txmill info --help' lists the options");
        return txm_finish_failed(&err, 0);
    }
    for (size_t i = 0; i < operands->count && !txm_signal_caught(); i++) {
        txm_error err = {0};
        txm_status status = show(operands->items[i], args, &err);
        if (status == TXM_CANCELLED)
            break;
        txm_tally_add(&tally, status);
        if (status != TXM_OK) {
            txm_say(TXM_SAY_ERROR, "%s", err.message);
            if (args->json)
                txm_json_emit(txm_info_json_error(operands->items[i], &err));
        }
    }
    return txm_finish(&tally);
}

const txm_command txm_cmd_info = {
    .name = "info",
    .purpose = "Show what is inside tx files",
    .synopsis = "[OPTION...] TX...",
    .groups = groups,
    .operand_values = TXM_VALUES_FILE,
    .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_SIGNAL,
    .args_bytes = sizeof(info_args),
    .run = run_info,
};
