/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the report as text. Names come from files of other people, so control characters in them are shown as \xHH.
 *
 * In: a report. Out: a paragraph per image with its colour space and alpha type, the nodes that use it, and the state
 * of each tx file; findings and a sum at the end.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tools/inspect/tx_files.h"
#include "tools/list/list_report.h"
#include "tools/output/format.h"
#include "tools/output/text.h"

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Whether one of its files could not be examined. */
static bool is_closed(const txm_scene_image *image, const txm_found *lookups)
{
    for (size_t i = 0; image->state == TXM_SCENE_STATE_READY && i < image->file_count; i++)
        if (lookups[i].failure != TXM_OK)
            return true;
    return false;
}

/* "3 files, 1.2 MB; tx: 2 fresh, 1 missing", with the reason for the first one that is unusable. */
static void print_files(const txm_scene_image *image, const txm_found *lookups)
{
#define ROW(name, id, check_id, key, ready, word, meaning) +1
    unsigned counts[0 TXM_STATES(ROW)] = {0};
#undef ROW
    const char *why = NULL;
    uint64_t bytes = 0;
    for (size_t i = 0; i < image->file_count; i++) {
        bytes += image->files[i].bytes;
        counts[lookups[i].state]++;
        if (!why && lookups[i].state == TXM_TX_STATE_UNUSABLE)
            why = lookups[i].reason;
    }
    char size[TXM_FORMAT_BYTES];
    printf("    %zu file%s, %s; tx:", image->file_count, plural(image->file_count), txm_format_bytes(bytes, size));
    const char *comma = " ";
#define ROW(name, id, check_id, key, ready, word, meaning) TXM_TX_STATE_##name,
    static const txm_tx_state order[] = {TXM_STATES(ROW)};
#undef ROW
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (counts[order[i]]) {
            printf("%s%u %s", comma, counts[order[i]], txm_tx_state_name(order[i]));
            comma = ", ";
        }
    }
    if (why && *why)
        txm_print_format(" (%s)", why);
    putchar('\n');
}

/* The stored name, which Cycles uses unchanged, and its meaning in the config. */
static void print_colorspace(const txm_list_report *report, const txm_scene_image *image)
{
    const char *stored = image->colorspace_stored, *name = image->colorspace_name;
    if (!strcmp(image->colorspace, "auto")) {
        fputs("auto", stdout);
        return;
    }
    if (!name) {
        fputs(*stored ? "scene-linear, since the OCIO config does not have "
                      : "scene-linear, since no colour space is stored",
              stdout);
        txm_print_safe(stored);
        return;
    }
    txm_print_safe(stored);
    if (strcmp(stored, name) != 0) {
        fputs(txm_casecmp(stored, name) == 0           ? ", another spelling of "
              : txm_color_role(report->config, stored) ? ", a role of "
                                                       : ", an alias of ",
              stdout);
        txm_print_safe(name);
    }
}

static void print_image(const txm_list_report *report, const txm_scene_image *image, const txm_found *lookups)
{
    txm_print_format("\n%s: %s\n    %s, %s, ", image->name, *image->path ? image->path : "no path",
                     txm_scene_source_name(image->source),
                     is_closed(image, lookups) ? "not readable" : txm_scene_state_name(image->state));
    print_colorspace(report, image);
    printf(", alpha %s\n", txm_alpha_name(image->alpha));
    if (image->tile_count > 1) {
        printf("    %zu UDIM tiles, %u to %u\n", image->tile_count, image->tiles[0],
               image->tiles[image->tile_count - 1]);
    }
    if (*image->library)
        txm_print_format("    in library %s\n", image->library);
    if (image->state == TXM_SCENE_STATE_READY)
        print_files(image, lookups);
    char bytes[TXM_FORMAT_BYTES];
    for (size_t k = 0; k < image->packed_count; k++)
        txm_print_format("    packed: %s, %s\n", image->packed[k].name,
                         txm_format_bytes(image->packed[k].bytes, bytes));
    for (size_t i = 0; i < image->user_count; i++) {
        /* Owner and node are the names in Blender's editors, where the user can change the image. */
        const txm_scene_user *user = &image->users[i];
        txm_print_format("    %s \"%s\", node \"%s\": %s, %s%s%s%s\n", user->owner_type, user->owner, user->node,
                         txm_extension_name(user->extension), user->interpolation,
                         user->environment ? ", environment" : "", *user->library ? ", in " : "", user->library);
    }
}

void txm_list_print_text(const txm_list_report *report)
{
    size_t lookup = 0;
    const txm_scene_info *info = txm_scene_info_of(report->opened);
    txm_print_safe(report->scene);
    if (!strcmp(info->format, "blend"))
        printf(": Blender %d.%d.%d, %s", info->version / 100, info->version % 100, info->subversion, info->compression);
    else if (txm_scene_format_of(info->path))
        printf(": %s", txm_scene_format_of(info->path)->noun);
    if (info->working_space)
        txm_print_format(", working space %s", info->working_space);
    size_t images = txm_scene_image_count(report->opened), libraries = txm_scene_library_count(report->opened);
    printf("\n%zu image%s, %zu librar%s\n", images, plural(images), libraries, libraries == 1 ? "y" : "ies");
    for (size_t i = 0; i < txm_scene_image_count(report->opened); i++) {
        const txm_scene_image *image = txm_scene_image_at(report->opened, i);
        print_image(report, image, report->lookups + lookup);
        lookup += image->file_count;
    }
    for (size_t i = 0; i < txm_scene_library_count(report->opened); i++) {
        const txm_scene_library *library = txm_scene_library_at(report->opened, i);
        txm_print_format("\nlibrary %s\n    %s", library->path, txm_scene_library_state_name(library->state));
        if (library->state == TXM_SCENE_LIBRARY_STATE_BROKEN)
            txm_print_format(": %s", library->message);
        if (library->lost)
            printf(", %zu linked data-block%s not in it", library->lost, library->lost == 1 ? " is" : "s are");
        txm_print_format("\n    linked by %s\n", library->parent);
    }
    for (size_t i = 0; i < report->finding_count; i++)
        txm_print_format(i ? "%s: %s\n" : "\n%s: %s\n", report->findings[i].id, report->findings[i].message);
}

/* One word per file; an image whose files are all missing still counts once. */
void txm_list_sum(const txm_list_report *report, txm_summary *summary)
{
    const txm_found *lookup = report->lookups;
    for (size_t i = 0; i < txm_scene_image_count(report->opened); i++) {
        const txm_scene_image *image = txm_scene_image_at(report->opened, i);
        bool not_there = image->state == TXM_SCENE_STATE_MISSING && !image->file_count;
        if (not_there)
            txm_summary_add(summary, TXM_WORD_NO_IMAGE);
        for (size_t f = 0; f < image->file_count; f++, lookup++)
            txm_summary_add(summary, image->files[f].exists ? txm_state_words(lookup->state)->word : TXM_WORD_NO_IMAGE);
    }
}
