/* SPDX-License-Identifier: Apache-2.0
 * txmill info: shows what is inside tx files. */
#include <sys/stat.h>

#include "core/path.h"
#include "exits.h"
#include "info_report.h"
#include "opt.h"
#include "say.h"

typedef struct info_args {
    bool json, all, tiles;
} info_args;

#define AT(member) .offset = offsetof(info_args, member)
static const txm_option options[] = {
    {.name = "all", .letter = 'a', .type = TXM_OPT_FLAG, AT(all), .help = "Show every entry of the metadata"},
    {.name = "tiles",
     .letter = 't',
     .type = TXM_OPT_FLAG,
     AT(tiles),
     .help = "Show how large tiles are, and how many hold one colour",
     .more = "Every tile is decoded for it."},
    {.name = "json", .type = TXM_OPT_FLAG, AT(json), .help = "Print one JSON object a file"},
    {0},
};
#undef AT

static const txm_option_group groups[] = {{"Reports", options, 0}, {0}};

/* Compares times as Cycles does: equal to the second, or not fresh. */
static txm_source_state source_state(const char *tx_path, const char *source)
{
    struct stat tx, src;
    if (!txm_path_is_absolute(source) || stat(tx_path, &tx) != 0)
        return TXM_SOURCE_UNKNOWN;
    if (stat(source, &src) != 0)
        return TXM_SOURCE_MISSING;
    return tx.st_mtime == src.st_mtime ? TXM_SOURCE_FRESH : TXM_SOURCE_OUTDATED;
}

static txm_status show(const char *path, const info_args *args, txm_error *err)
{
    txm_tx *tx = NULL;
    txm_info info = {.path = path};
    txm_tile_census census;
    txm_status status = txm_tx_open(path, &tx, err);
    if (status == TXM_OK)
        status = txm_tx_describe(tx, &info.description, err);
    if (status == TXM_OK && args->tiles) {
        status = txm_tile_census_take(tx, txm_signal_flag(), &census, err);
        info.tiles = &census;
    }
    if (status == TXM_OK) {
        info.tx = tx;
        info.source_state = source_state(path, info.description.source);
        info.accepted = txm_tx_cycles_accepts(tx, info.reason, sizeof info.reason) != 0;
        (args->json ? txm_info_print_json : txm_info_print_text)(&info, args->all);
    }
    txm_tx_description_free(&info.description);
    txm_tx_close(&tx);
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
                txm_info_print_json_error(operands->items[i], &err);
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
