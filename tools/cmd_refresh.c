/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill refresh: gives tx files the times of their images again.
 *
 * In: images, folders, scenes, and settings. Out: outdated tx files that were made of the content that their image has
 * are fresh, and those of other content stay as they are. git, zip and many programs that copy files lose times.
 */
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/resolve/resolve_images.h"

#define AT(member) .offset = offsetof(txm_resolve_args, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "deep", AT(deep), .help = "Convert each image again, and compare all pixels",
               .more =
                   "Otherwise a file is trusted to be whole if it was made by txmill and records that its image has "
                   "the same content. Files that record nothing, such as Blender's, are always compared so."),
    {0},
};

static const txm_option_group groups[] = {{"Action", options, 0}, TXM_RESOLVE_GROUPS(txm_resolve_args), {0}};

static const char *show(const txm_resolve_args *args, const char *image, const txm_resolution *r)
{
    const char *word = r->refreshed ? "refreshed" : txm_tx_state_name(r->state);
    if (args->report.json) {
        cJSON *o = txm_json_new("txmill.refresh");
        txm_json_text(o, "image", image);
        txm_json_text(o, "state", txm_tx_state_name(r->state));
        txm_json_bool(o, "refreshed", r->refreshed);
        txm_json_text(o, "path", r->path);
        txm_json_text_or_null(o, "reason", r->reason);
        txm_json_text(o, "shows", r->shows);
        txm_project_json(o);
        txm_json_emit(o);
    } else if (!txm_is_loaded(r) || (!args->report.quiet && (r->refreshed || args->report.verbose))) {
        txm_print_line(image, txm_is_loaded(r) ? TXM_GOOD : TXM_BAD, word, r->reason);
    }
    return r->refreshed ? word : txm_state_words(r->state)->word;
}

static int run_refresh(void *p, const txm_operands *operands)
{
    txm_resolving how = {.command = "refresh", .doing = "refreshing", .good = "refreshed", .args = p, .show = show};
    txm_resolve_options_init(&how.how);
    how.how.refresh = true;
    how.how.deep = how.args->deep;
    return txm_resolve_run(&how, operands);
}

TXM_COMMAND(refresh, txm_resolve_args, .purpose = "Give tx files the times of their images again",
            .synopsis = "[OPTION...] [SCENE.blend|FOLDER|IMAGE...]", .operand_values = TXM_VALUES_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
