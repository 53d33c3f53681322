/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds errors and likely mistakes in a scene: in its files and libraries, its nodes, and the images themselves.
 *
 * In: a scene and the state of its tx files. Out: one list of findings - missing files and libraries, nodes that use
 * data as colours, and properties of the images' pixels - in an order that depends only on names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/list/list_scene.h"
#include "txmill/batch.h"

/* Bits of txm_lint. */
enum { LINTS = 6 };

/* Takes ownership of `message`; NULL means exhausted memory. The table has room for it. */
static bool add_list_finding(txm_list_report *report, const char *id, char *message, const txm_scene_image *image,
                             const char *library)
{
    if (message) {
        report->findings[report->finding_count++] =
            (txm_list_finding){id, message, image ? image->name : NULL, library};
    }
    return message != NULL;
}

static bool examine_image(txm_list_report *report, const txm_scene_image *image)
{
    bool ok = true;
    if (image->state == TXM_SCENE_STATE_MISSING) {
        ok = add_list_finding(report, "missing-file",
                              txm_asprintf("image \"%s\": %s does not exist", image->name, image->path), image,
                              image->library);
    }
    if (ok && !image->colorspace_known) {
        ok = add_list_finding(report, "unknown-colorspace",
                              txm_asprintf("image \"%s\": its colour space %s is not in the config: Blender clears it, "
                                           "and Cycles treats the pixels as scene-linear",
                                           image->name, image->colorspace_stored),
                              image, image->library);
    }
    return ok;
}

/* A missing library and one that cannot be read are two findings, because a mount or another path helps only in the
 * first case. */
static bool examine_library(txm_list_report *report, const txm_scene_library *library)
{
    bool ok = true;
    if (library->status != TXM_OK) {
        const char *id = library->state == TXM_SCENE_LIBRARY_STATE_MISSING ? "missing-library" : "broken-library";
        ok = add_list_finding(report, id, txm_strdup(library->message), NULL, library->path);
    }
    if (ok && library->lost) {
        ok = add_list_finding(report, "lost-data",
                              txm_asprintf("library %s lacks %zu of the data-blocks that %s links", library->path,
                                           library->lost, library->parent),
                              NULL, library->path);
    }
    return ok;
}

/* ---- images ----------------------------------------------------------------------------------------------------- */

/* One finding per image, however many of its files it applies to. */
static bool report_lint(txm_list_report *report, const txm_scene_image *image, txm_lint bit, const char *path,
                        size_t files)
{
    char *message = image->file_count == 1 ? txm_asprintf("image \"%s\": %s: %s", image->name, path, txm_lint_text(bit))
                                           : txm_asprintf("image \"%s\": %zu of %zu files, first %s: %s", image->name,
                                                          files, image->file_count, path, txm_lint_text(bit));
    return add_list_finding(report, txm_lint_name(bit), message, image, image->library);
}

static txm_status examine_files(txm_list_report *report, const txm_scene_image *image, const txm_found *lookups,
                                const txm_color_config *config, const volatile int *cancel, txm_error *err)
{
    size_t counts[LINTS] = {0};
    const char *first[LINTS] = {NULL};
    char *unusable = NULL;
    txm_status status = TXM_OK;
    for (size_t f = 0; f < image->file_count; f++) {
        const txm_scene_image_file *file = &image->files[f];
        txm_error why = {0};
        unsigned lint = 0;
        if (!file->exists || lookups[f].state == TXM_TX_STATE_SOURCE)
            continue;
        status = txm_lint_image(config, file->path, image->colorspace, cancel, &lint, &why);
        if (status == TXM_STATUS_NO_MEMORY || status == TXM_STATUS_CANCELLED) {
            free(unusable);
            return txm_fail_with(err, status, &why);
        }
        if (status != TXM_OK && !unusable)
            unusable = txm_asprintf("image \"%s\": %s", image->name, why.message);
        for (unsigned b = 0; b < LINTS; b++)
            if (lint & 1u << b)
                first[b] = counts[b]++ ? first[b] : file->path;
    }
    bool ok = !unusable || add_list_finding(report, "unusable-file", unusable, image, image->library);
    for (unsigned b = 0; ok && b < LINTS; b++)
        ok = !counts[b] || report_lint(report, image, (txm_lint)(1u << b), first[b], counts[b]);
    return ok ? TXM_OK : txm_no_memory(err, report->scene);
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

/* The table is allocated for the largest possible number of findings, so that adding one cannot fail. */
txm_status txm_list_find_faults(txm_list_report *report, const txm_color_config *config, const volatile int *cancel,
                                txm_error *err)
{
    const txm_scene *opened = report->opened;
    size_t nodes = txm_scene_finding_count(opened), images = txm_scene_image_count(opened),
           libraries = txm_scene_library_count(opened);
    report->findings = txm_calloc(nodes + (3 + LINTS) * images + 2 * libraries, sizeof *report->findings);
    bool ok = report->findings != NULL;
    for (size_t i = 0; ok && i < images; i++)
        ok = examine_image(report, txm_scene_image_at(opened, i));
    for (size_t i = 0; ok && i < libraries; i++)
        ok = examine_library(report, txm_scene_library_at(opened, i));
    for (size_t i = 0; ok && i < nodes; i++) {
        const txm_scene_finding *f = txm_scene_finding_at(opened, i);
        const txm_scene_image *image = txm_scene_image_at(opened, f->image);
        ok = add_list_finding(report, f->id, txm_strdup(f->message), image, image->library);
    }
    txm_status status = ok ? TXM_OK : txm_no_memory(err, report->scene);
    const txm_found *lookups = report->lookups;
    for (size_t i = 0; status == TXM_OK && i < images; i++) {
        const txm_scene_image *image = txm_scene_image_at(opened, i);
        status = examine_files(report, image, lookups, config, cancel, err);
        lookups += image->file_count;
    }
    return status;
}
