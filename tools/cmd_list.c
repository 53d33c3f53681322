/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill list: lists the images of Blender scenes.
 *
 * In: scenes. Out: the images that a render would look up, the nodes that use them, and the state of their tx files;
 * with --lint, findings about nodes and files. Nothing is made.
 *
 * Scenes are read without Blender (src/mill/scene); tx files are looked up as in Cycles. The exit code is 5 if --lint
 * finds something.
 */
#include <stdio.h>

#include "base/fail.h"
#include "tools/files/scenes.h"
#include "tools/options/opt.h"
#include "tools/output/json.h"
#include "tools/output/summary.h"

#define AT(member) .offset = offsetof(txm_scenes_args, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "lint", AT(lint), .help = "Report missing files and likely mistakes; exit with 5 if there are any",
               .more = "An image that feeds a Normal Map node but is not data; one image used as colour and as data; "
                       "one file in two colour spaces; missing files and libraries; unknown colour spaces; and the "
                       "findings of make --lint, for which the images are read. See FINDINGS."),
    TXM_OPTION_CACHE_DIR(AT(cache_dir), "Folder in which to look for tx files (default: blender_tx beside each image)",
                         NULL),
    TXM_OPTION_DEEP(AT(deep)),
    TXM_OPTION(FLAG, "json", AT(report.json), .help = "Print one JSON object per scene, image, library and finding"),
    {0},
};

static const txm_option_group groups[] = {{"Listing", options, 0}, TXM_SCENES_GROUPS, {0}};

typedef struct listing {
    const txm_scenes_args *args;
    txm_summary summary; /* of textures */
    bool more;           /* scenes are separated by a blank line */
} listing;

static txm_status list_one(void *user, txm_list_report *report, txm_one_file *file, txm_error *err)
{
    listing *l = user;
    (void)file;
    if (l->args->report.json)
        return txm_list_print_json(report)
                   ? TXM_OK
                   : txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory while printing the list", report->scene);
    if (l->more)
        putchar('\n');
    l->more = true;
    txm_list_print_text(report);
    txm_list_sum(report, &l->summary);
    return TXM_OK;
}

static void print_summary(void *user, txm_tally *tally, txm_error *err)
{
    listing *l = user;
    (void)tally, (void)err;
    if (!l->args->report.json)
        txm_summary_print(&l->summary, "texture");
}

static int run_list(void *p, const txm_operands *operands)
{
    listing l = {.args = p, .summary = {.words = {txm_state_words(TXM_TX_STATE_FRESH)->word}}};
    return txm_scenes_run(
        &(txm_scenes_how){.command = "list", .args = p, .user = &l, .one = list_one, .after = print_summary}, operands);
}

TXM_COMMAND(list, txm_scenes_args, .purpose = "List the images of scenes and the state of their tx files",
            .synopsis = "[OPTION...] SCENE...", .operand_values = TXM_VALUES_SCENE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
