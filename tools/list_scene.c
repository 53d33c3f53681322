/* SPDX-License-Identifier: Apache-2.0
 * From a scene to a report. */
#include "list_scene.h"

#include <stdlib.h>
#include <string.h>

#include "color/color.h"
#include "core/mem.h"
#include "source/defaults.h"
#include "source/source.h"

/* ---- colour ----------------------------------------------------------------------------------------------------- */

txm_status txm_list_load_config(const txm_config_args *args, const char *scene_space, txm_color_config **out,
                                txm_error *err)
{
    const char *space = args->working_space ? args->working_space : scene_space;
    txm_color_options options = {.ocio_path = args->ocio, .working_space = space};
    return txm_color_load(&options, out, err);
}

/* ---- tx files --------------------------------------------------------------------------------------------------- */

/* What the render asks for. Where the scene leaves it open, Blender looks at the file when it loads it, and so must we.
 */
static txm_status key_of(const txm_blend_image *image, const char *path, const txm_color_config *config,
                         txm_tx_key *out, txm_error *err)
{
    const char *space = image->colorspace;
    txm_alpha alpha = image->alpha;
    if (!space || alpha == TXM_ALPHA_DEFAULT) {
        const char *scene_space = NULL;
        txm_alpha scene_alpha = TXM_ALPHA_STRAIGHT;
        txm_source *source = NULL;
        txm_status status = txm_source_open(path, NULL, &source, err);
        if (status == TXM_OK) {
            status = txm_source_scene_defaults(txm_source_info_of(source), path, config, &scene_space, &scene_alpha);
            txm_source_close(&source);
            if (status != TXM_OK) {
                return txm_fail(err, status, "the OCIO config has no role default_byte or default_float");
            }
        }
        if (status != TXM_OK) {
            return status;
        }
        space = space ? space : scene_space;
        alpha = alpha == TXM_ALPHA_DEFAULT ? scene_alpha : alpha;
    }
    out->xyz_text = txm_color_xyz_to_scene_linear_text(config);
    out->colorspace = txm_color_is_data(config, space) ? "data" : space;
    out->alpha = alpha;
    out->equiangular = false;
    return TXM_OK;
}

/* An image that cannot be looked at has no usable tx file; that is a state, not the end of the list. */
static txm_status look_up(const txm_blend_image *image, const char *path, const txm_color_config *config,
                          const char *cache_dir, txm_lookup *out, txm_error *err)
{
    txm_tx_key key;
    txm_error why = {0};
    txm_status status = key_of(image, path, config, &key, &why);
    if (status == TXM_OK) {
        status = txm_tx_lookup(path, cache_dir, &key, out, &why);
    }
    if (status == TXM_NO_MEMORY) {
        return txm_fail(err, status, "%s", why.message);
    }
    if (status != TXM_OK) {
        *out = (txm_lookup){TXM_TX_UNUSABLE, NULL, txm_strdup(why.message)};
    }
    return out->reason ? TXM_OK : txm_fail(err, TXM_NO_MEMORY, "%s: no memory to look its tx file up", path);
}

txm_status txm_list_look_up(txm_list_report *report, const txm_color_config *config, const char *cache_dir,
                            txm_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < txm_blend_image_count(report->blend); i++) {
        count += txm_blend_image_at(report->blend, i)->file_count;
    }
    report->lookups = txm_calloc(count, sizeof *report->lookups);
    if (!report->lookups) {
        return txm_fail(err, TXM_NO_MEMORY, "%s: no memory for its %zu files", report->scene, count);
    }
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < txm_blend_image_count(report->blend); i++) {
        const txm_blend_image *image = txm_blend_image_at(report->blend, i);
        for (size_t f = 0; status == TXM_OK && f < image->file_count; f++) {
            txm_lookup *out = &report->lookups[report->lookup_count++];
            if (image->files[f].exists) {
                status = look_up(image, image->files[f].path, config, cache_dir, out, err);
            }
        }
    }
    return status;
}

/* ---- findings --------------------------------------------------------------------------------------------------- */

/* Takes `message` over; NULL stands for exhausted memory. The table was made large enough. */
static bool add(txm_list_report *report, const char *id, char *message, const txm_blend_image *image,
                const char *library)
{
    if (message) {
        report->findings[report->finding_count++] =
            (txm_list_finding){id, message, image ? image->name : NULL, library};
    }
    return message != NULL;
}

static bool examine_image(txm_list_report *report, const txm_blend_image *image)
{
    bool ok = true;
    if (image->state == TXM_BLEND_MISSING) {
        ok = add(report, "missing-file", txm_asprintf("image \"%s\": %s is not there", image->name, image->path), image,
                 image->library);
    }
    if (ok && !image->colorspace_known) {
        ok = add(report, "unknown-colorspace",
                 txm_asprintf("image \"%s\": the config does not know its colour space %s, so it counts as unset",
                              image->name, image->colorspace_stored),
                 image, image->library);
    }
    return ok;
}

static bool examine_library(txm_list_report *report, const txm_blend_library *library)
{
    bool ok = true;
    if (library->status != TXM_OK) {
        const char *id = library->state == TXM_BLEND_LIBRARY_MISSING ? "missing-library" : "broken-library";
        ok = add(report, id, txm_strdup(library->message), NULL, library->path);
    }
    if (ok && library->lost) {
        ok = add(report, "lost-data",
                 txm_asprintf("library %s does not hold %zu of the data-blocks that %s links", library->path,
                              library->lost, library->parent),
                 NULL, library->path);
    }
    return ok;
}

txm_status txm_list_find_faults(txm_list_report *report, txm_error *err)
{
    const txm_blend *blend = report->blend;
    size_t nodes = txm_blend_finding_count(blend), images = txm_blend_image_count(blend),
           libraries = txm_blend_library_count(blend);
    report->findings = txm_calloc(nodes + 2 * images + 2 * libraries, sizeof *report->findings);
    bool ok = report->findings != NULL;
    for (size_t i = 0; ok && i < images; i++) {
        ok = examine_image(report, txm_blend_image_at(blend, i));
    }
    for (size_t i = 0; ok && i < libraries; i++) {
        ok = examine_library(report, txm_blend_library_at(blend, i));
    }
    for (size_t i = 0; ok && i < nodes; i++) {
        const txm_blend_finding *f = txm_blend_finding_at(blend, i);
        const txm_blend_image *image = txm_blend_image_at(blend, f->image);
        ok = add(report, f->id, txm_strdup(f->message), image, image->library);
    }
    return ok ? TXM_OK : txm_fail(err, TXM_NO_MEMORY, "%s: no memory for what is wrong with it", report->scene);
}

void txm_list_report_free(txm_list_report *report)
{
    for (size_t i = 0; i < report->lookup_count; i++) {
        txm_lookup_free(&report->lookups[i]);
    }
    for (size_t i = 0; i < report->finding_count; i++) {
        free(report->findings[i].message);
    }
    free(report->lookups);
    free(report->findings);
    txm_blend_close(&report->blend);
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

const char *txm_list_tx_state(txm_tx_state state)
{
    static const char *const names[] = {
        [TXM_TX_FRESH] = "fresh",     [TXM_TX_OUTDATED] = "outdated", [TXM_TX_UNUSABLE] = "unusable",
        [TXM_TX_MISSING] = "missing", [TXM_TX_SOURCE] = "source",
    };
    return names[state];
}

const char *txm_list_extension(txm_extension extension)
{
    static const char *const names[] = {"repeat", "extend", "clip", "mirror"};
    return names[extension];
}
