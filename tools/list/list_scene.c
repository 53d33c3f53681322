/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the report of a scene.
 *
 * In: a path. Out: the open scene and, for each image, the lookup of its tx files with the scene's own working space
 * and cache folder. Text and JSON are printed from it.
 */
#include "tools/list/list_scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "txmill/inspect.h"

/* ---- colour ----------------------------------------------------------------------------------------------------- */

/* The names of tx files depend on the scene's own working space, unless --working-space overrides it. */
txm_status txm_list_load_config(const txm_config_args *args, const char *scene_space, txm_color_config **out,
                                txm_error *err)
{
    txm_color_options options = txm_color_options_from(args);
    if (!options.working_space)
        options.working_space = scene_space;
    return txm_color_load(&options, out, err);
}

/* ---- tx files --------------------------------------------------------------------------------------------------- */

/* An image that cannot be examined has no usable tx file; this is a state, and the list goes on. */
static txm_status look_up_image(const txm_scene_image *image, const char *path, txm_context *context,
                                const txm_list_how *how, txm_found *out, txm_error *err)
{
    txm_settings settings;
    txm_resolve_options options;
    txm_resolution r;
    txm_error why = {0};
    txm_settings_init(&settings);
    settings.colorspace = image->colorspace;
    settings.alpha = image->alpha;
    settings.cache_dir = how->cache_dir;
    settings.limit_px = txm_rules_limit(how->limits, path);
    txm_resolve_options_init(&options);
    options.deep = how->deep;
    txm_status status = txm_resolve_image(context, path, &settings, &options, &r, &why);
    if (status == TXM_STATUS_NO_MEMORY || status == TXM_STATUS_CANCELLED)
        return txm_fail_with(err, status, &why);
    if (status == TXM_OK) {
        *out = (txm_found){.state = r.state, .path = r.path, .reason = r.reason, .shows = r.shows};
        r.path = r.reason = r.shows = NULL;
        txm_resolution_clear(&r);
    } else {
        /* If the space cannot be converted, the tx file still has a name, under which Blender may have made it. */
        txm_found named = {0};
        if (status == TXM_STATUS_COLORSPACE)
            txm_look_up(txm_context_color(context), path, &settings, &named, NULL);
        *out = (txm_found){.state = TXM_TX_STATE_UNUSABLE,
                           .path = named.path,
                           .reason = txm_strdup(why.message),
                           .failure = txm_status_retryable(status) || status == TXM_STATUS_DENIED ? status : TXM_OK};
        named.path = NULL;
        txm_found_clear(&named);
    }
    return out->reason ? TXM_OK
                       : txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory while looking up its tx file", path);
}

/* Each file of each image is looked up by the function that `txmill resolve` uses. */
txm_status txm_list_find(txm_list_report *report, txm_context *context, const txm_list_how *how, txm_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < txm_scene_image_count(report->opened); i++)
        count += txm_scene_image_at(report->opened, i)->file_count;
    report->lookups = txm_calloc(count, sizeof *report->lookups);
    if (!report->lookups)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory for its %zu files", report->scene, count);
    txm_status status = TXM_OK;
    for (size_t i = 0; status == TXM_OK && i < txm_scene_image_count(report->opened); i++) {
        const txm_scene_image *image = txm_scene_image_at(report->opened, i);
        for (size_t f = 0; status == TXM_OK && f < image->file_count; f++) {
            txm_found *out = &report->lookups[report->lookup_count++];
            if (image->files[f].exists && (!how->wants || how->wants(how->user, report, image, &image->files[f])))
                status = look_up_image(image, image->files[f].path, context, how, out, err);
        }
    }
    return status;
}

/* A missing tx file is a valid result, but one that could not be examined is not. Returns the first of the latter,
 * so that the exit code says that the list may be wrong. */
txm_status txm_list_failures(const txm_list_report *report, txm_error *err)
{
    for (size_t i = 0; i < report->lookup_count; i++) {
        const txm_found *l = &report->lookups[i];
        if (l->failure != TXM_OK)
            return txm_fail(err, l->failure, "%s%s%s", l->path ? l->path : "", l->path ? ": " : "", l->reason);
    }
    for (size_t i = 0; i < txm_scene_library_count(report->opened); i++) {
        const txm_scene_library *library = txm_scene_library_at(report->opened, i);
        if (txm_status_retryable(library->status) || library->state == TXM_SCENE_LIBRARY_STATE_BROKEN)
            return txm_fail(err, library->status, "library of %s: %s", report->scene, library->message);
    }
    return TXM_OK;
}

void txm_list_report_free(txm_list_report *report)
{
    for (size_t i = 0; i < report->lookup_count; i++)
        txm_found_clear(&report->lookups[i]);
    for (size_t i = 0; i < report->finding_count; i++)
        free(report->findings[i].message);
    free(report->lookups);
    free(report->findings);
    txm_scene_close(&report->opened);
}
