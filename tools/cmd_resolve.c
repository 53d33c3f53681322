/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill resolve: shows which file Cycles would load for an image, and why.
 *
 * In: images and settings. Out: for each image the tx file that Cycles would load, or why there is none, and tx files
 * under other names. With --adopt, the tx files of renamed images get the new names, after a deep comparison.
 *
 * The exit code is 0 if Cycles loads a file for every image, else 5. `make` uses the same lookup; resolve also shows
 * the tx files with other names and how their settings differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "base/text.h"
#include "tile/terms/settings.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/resolve/resolve_images.h"
#include "txmill/inspect.h"

#define AT(member) .offset = offsetof(txm_resolve_args, member)
static const txm_option options[] = {
    TXM_OPTION(FLAG, "adopt", AT(adopt),
               .help = "Rename the tx files of images that were renamed, if they have the same pixels",
               .more = "For images without a tx file, beside tx files of images that are gone and with the same "
                       "settings and size. The image is converted again and everything compared, as with 'txmill "
                       "verify --deep', with at most 16 files. Files that differ are not renamed, and no file is ever "
                       "replaced."),
    TXM_OPTION_DEEP(AT(deep)),
    {0},
};

static const txm_option_group groups[] = {{"Action", options, 0}, TXM_RESOLVE_GROUPS(txm_resolve_args), {0}};

/* Times are in seconds since 1970, as Cycles compares them; null if there is no tx file. */
static void print_resolve_json(const char *image, const txm_resolution *r)
{
    cJSON *o = txm_json_result();
    txm_json_text(o, "image", image);
    txm_json_text(o, "state", txm_tx_state_name(r->state));
    txm_json_bool(o, "adopted", r->adopted);
    txm_json_text(o, "former", r->former);
    txm_json_text(o, "path", r->path);
    txm_json_text_or_null(o, "reason", r->reason);
    txm_json_text(o, "shows", r->shows);
    txm_json_text(o, "colorspace", r->colorspace);
    txm_json_text(o, "alpha", txm_alpha_name(r->alpha));
    txm_json_number(o, "image_time", (double)r->image_time, 15);
    if (r->tx_time)
        txm_json_number(o, "tx_time", (double)r->tx_time, 15);
    else
        txm_json_text(o, "tx_time", NULL);
    txm_project_json(o);
    cJSON *others = txm_json_array(o, "others");
    for (size_t i = 0; i < r->other_count; i++) {
        cJSON *e = txm_json_append(others);
        txm_json_text(e, "path", r->others[i].path);
        txm_json_text(e, "difference", r->others[i].difference);
    }
    cJSON *versions = txm_json_array(o, "versions");
    for (size_t i = 0; i < r->version_count; i++) {
        cJSON *e = txm_json_append(versions);
        txm_json_text(e, "blender", txm_blender_name(r->versions[i].blender));
        txm_json_text(e, "state", txm_tx_state_name(r->versions[i].state));
        txm_json_text(e, "path", r->versions[i].path);
    }
    txm_json_emit(o);
}

static const char *show(const txm_resolve_args *args, const char *image, const txm_resolution *r)
{
    if (args->report.json)
        print_resolve_json(image, r);
    else if (!args->report.quiet || !txm_is_loaded(r)) {
        /* The state, and below it the explanation: the two times, or the files under other names. */
        char image_time[TXM_TIME_BYTES], tx_time[TXM_TIME_BYTES], state[64];
        char *shown = txm_path_shown(r->path);
        snprintf(state, sizeof state, "%s%s", txm_tx_state_name(r->state), r->adopted ? " (adopted)" : "");
        txm_print_line(image, txm_is_loaded(r) ? TXM_GOOD : TXM_BAD, state, shown ? shown : r->path);
        free(shown);
        if (r->state == TXM_TX_STATE_OUTDATED)
            printf("  the image has the time %s, the tx file %s\n", txm_time_text(r->image_time, image_time),
                   txm_time_text(r->tx_time, tx_time));
        if (*r->reason)
            txm_print_format("  %s\n", r->reason);
        if (!txm_is_loaded(r))
            txm_print_format("  Cycles %s\n  requested: colour space %s, alpha type %s\n", r->shows,
                             txm_space_shown(r->colorspace), txm_alpha_name(r->alpha));
        for (size_t i = 0; i < r->other_count; i++) {
            fputs("  found: ", stdout);
            txm_print_path(r->others[i].path);
            txm_print_format(": %s\n", r->others[i].difference);
        }
        if (r->former) {
            fputs(r->adopted ? "  renamed from: " : "  the image seems to have been renamed; its tx file: ", stdout);
            txm_print_path(r->former);
            fputs(r->adopted ? "" : " (--adopt compares the pixels and renames it)", stdout);
            putchar('\n');
        }
        /* It is printed only if the versions look for different files, or find a file good for one of them alone;
         * otherwise the line would be the same for every image. */
        bool differ = false;
        for (size_t i = 0; i < r->version_count; i++)
            differ |= strcmp(r->versions[i].path, r->path) != 0 || r->versions[i].state != r->versions[0].state;
        for (size_t i = 0; differ && i < r->version_count; i++) {
            const txm_version_answer *v = &r->versions[i];
            printf("  Blender %s: %s, ", txm_blender_name(v->blender), txm_tx_state_name(v->state));
            txm_print_path(v->path);
            putchar('\n');
        }
    }
    return txm_state_words(r->state)->word;
}

static int run_resolve(void *p, const txm_operands *operands)
{
    txm_resolve_args *args = p;
    txm_resolving how = {.command = "resolve",
                         .doing = "examining",
                         .good = txm_state_words(TXM_TX_STATE_FRESH)->word,
                         .args = args,
                         .show = show};
    txm_resolve_options_init(&how.how);
    how.how.deep = args->deep;
    how.how.adopt = args->adopt;
    return txm_resolve_run(&how, operands);
}

TXM_COMMAND(resolve, txm_resolve_args, .purpose = "Show which tx file Cycles would load for an image, and why",
            .synopsis = "[OPTION...] [SCENE.blend] IMAGE...", .operand_values = TXM_VALUES_IMAGE,
            .exits = TXM_EXITS_FAIL | TXM_EXITS_RETRY | TXM_EXITS_FINDINGS | TXM_EXITS_SIGNAL);
