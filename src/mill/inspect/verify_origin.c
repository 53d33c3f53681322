/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks where a file comes from: whether its name matches the settings inside, and whether its source has changed
 * since.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/content.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "mill/convert/context.h"
#include "mill/convert/resolve.h"
#include "mill/inspect/verify_impl.h"
#include "tile/name/name.h"
#include "txmill/rules.h"

/* ---- the source ------------------------------------------------------------------------------------------------- */

/* A file that cannot be examined (in a closed folder, on a server that does not answer) is not missing: *failure is
 * then the errno. */
static bool is_file(const char *path, struct stat *st, int *failure)
{
    if (stat(path, st) == 0)
        return S_ISREG(st->st_mode);
    if (errno != ENOENT && errno != ENOTDIR && !*failure)
        *failure = errno;
    return false;
}

/* Finds the image of that name in the folder above the tx file's: textures/blender_tx/wood.png.0-....tx. The path is
 * resolved by the system and not by removing "..", since the tx file's folder may be a symbolic link. NULL if it does
 * not exist. */
static char *image_beside(const char *tx_path, const char *image, bool *exhausted, int *failure)
{
    struct stat st;
    char *dir = txm_path_dir(tx_path), *above = dir ? txm_path_join(dir, "..") : NULL;
    char *joined = above ? txm_path_join(above, image) : NULL;
    *exhausted = !joined;
    free(dir);
    free(above);
    if (joined && is_file(joined, &st, failure))
        return joined;
    free(joined);
    return NULL;
}

/* The image beside the cache folder takes precedence over the stored path: projects are moved and copied, and then the
 * stored path may lead to another image or to none. */
char *txm_locate_source(const char *tx_path, const char *stored, bool *exhausted, int *failure)
{
    struct stat st;
    *exhausted = false;
    if (!*stored)
        return NULL;
    /* The file is named after the image that Cycles takes it for. A copy from a store may have been made from an image
     * of another name. */
    size_t bytes;
    const char *name = txm_path_base(tx_path);
    char *image =
        txm_tx_name_parse(name, &bytes, NULL, NULL) ? txm_strndup(name, bytes) : txm_strdup(txm_path_base(stored));
    char *folder = txm_path_absolute_dir(tx_path), *found = NULL;
    /* In this folder Cycles takes it for the image beside it, whatever path the file stores. */
    const bool usual = folder && !strcmp(txm_path_base(folder), "blender_tx");
    *exhausted = !image || !folder;
    free(folder);
    if (usual && !*exhausted)
        found = image_beside(tx_path, image, exhausted, failure);
    if (!found && !*exhausted && txm_path_is_absolute(stored) && !strcmp(txm_path_base(stored), image) &&
        is_file(stored, &st, failure)) {
        found = txm_strdup(stored);
        *exhausted = !found;
    }
    /* The project was moved, or the stored name has no folder. */
    if (!found && !*exhausted && !usual)
        found = image_beside(tx_path, image, exhausted, failure);
    free(image);
    return found;
}

/* A missing image is a finding; one that cannot be examined is a failure. */
static txm_status check_source(txm_verification *v, txm_error *err)
{
    struct stat tx, source;
    char tx_time[TXM_TIME_BYTES], source_time[TXM_TIME_BYTES], span[TXM_TIME_BYTES];
    bool exhausted = false;
    int failure = 0;
    const char *given = v->options->source, *stored = v->description.source;
    v->source = given ? txm_strdup(given) : txm_locate_source(v->path, stored, &exhausted, &failure);
    if (exhausted || (given && !v->source))
        return txm_path_absolute_failed(v->path, err);
    bool there = v->source && is_file(v->source, &source, &failure);
    if (!there && failure && txm_status_retryable(txm_fail_errno(NULL, failure, " ")))
        return txm_fail_errno(err, failure, "%s: its image %.400s cannot be examined", v->path, given ? given : stored);
    if (!there) {
        txm_error why = {0};
        if (failure)
            txm_fail_errno(&why, failure, "%.400s cannot be examined", given ? given : stored);
        else
            txm_fail(&why, TXM_STATUS_NOT_FOUND, "%s%.400s",
                     given || *stored ? "no file at " : "the file names no source", given ? given : stored);
        txm_find(v->findings, TXM_FINDING_SOURCE_MISSING, TXM_NO_PLACE, "%s", why.message);
        free(v->source);
        v->source = NULL;
        return TXM_OK;
    }
    v->source_time = source.st_mtime;
    if (stat(v->path, &tx) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", v->path);
    if (tx.st_mtime != source.st_mtime)
        txm_find(v->findings, TXM_FINDING_SOURCE_STALE, TXM_NO_PLACE,
                 "%.300s is %s than the tx file by %s: it is of %s, the tx file of %s", v->source,
                 source.st_mtime > tx.st_mtime ? "newer" : "older",
                 txm_duration_text(difftime(source.st_mtime, tx.st_mtime), span),
                 txm_time_text(source.st_mtime, source_time), txm_time_text(tx.st_mtime, tx_time));
    else if (v->description.content) {
        bool same;
        const txm_status status = txm_content_compare(v->source, (uint64_t)source.st_size, v->description.content,
                                                      !v->options->use_only, v->context->cancel, &same, err);
        if (status || same)
            return status;
        /* Of an image that cannot be read, the fresh tx file is used, by make, too. */
        const txm_source_options reading = {.max_memory_bytes = v->context->max_memory_bytes};
        txm_source *image = NULL;
        const bool unreadable = txm_image_is_unreadable(txm_source_open(v->source, &reading, &image, NULL));
        txm_source_close(&image);
        if (unreadable)
            return TXM_OK;
        txm_find(v->findings, TXM_FINDING_CONTENT, TXM_NO_PLACE, "%.300s has changed, but not its time", v->source);
    }
    return TXM_OK;
}

/* ---- the name --------------------------------------------------------------------------------------------------- */

/* Whether the settings in the file give its name, with the source's folder or without. */
static bool own_settings_fit(const txm_verification *v, const char *source_name, bool *exhausted)
{
    const txm_tx_description *d = &v->description;
    char *absolute = txm_path_absolute_dir(v->path);
    const char *places[][2] = {{source_name, NULL}, {d->source, absolute}, {v->source, absolute}};
    bool fits = false;
    *exhausted = !absolute;
    for (size_t i = 0; i < 3 && !fits && !*exhausted; i++) {
        if (places[i][0] && *places[i][0])
            fits = txm_own_name_fits(v->path, d, places[i][0], places[i][1], exhausted);
    }
    free(absolute);
    return fits;
}

/* Whether the settings that were found for the name could be those inside. */
static bool agrees(const txm_verification *v, const txm_name_match *m)
{
    const txm_tx_description *d = &v->description;
    const txm_color_space *space = NULL;
    if (m->alpha != d->alpha || m->equiangular != d->envlatl || strcmp(m->xyz_to_scene_linear, d->xyz_to_scene_linear))
        return false;
    if (!strcmp(m->colorspace, "auto"))
        return *d->requested == 0 || !*txm_requested_word(d);
    if (*d->requested)
        return false; /* its own settings were already tried */
    if (!strcmp(m->colorspace, "data"))
        return !strcmp(d->detected, "data");
    return txm_color_find(txm_context_color(v->context), m->colorspace, &space, NULL) == TXM_OK &&
           txm_verify_is_space(v, space, d->detected);
}

/* Whether the settings of the name and those inside give the same pixels of this image: a store uses one file for all
 * names with the same pixels. false if the image cannot be read. */
static bool same_pixels(const txm_verification *v, const txm_name_match *m)
{
    char why[256];
    txm_settings settings;
    txm_resolved resolved;
    txm_source *source = NULL;
    const txm_source_options reading = {.max_memory_bytes = v->context->max_memory_bytes};
    if (!v->source || strcmp(m->xyz_to_scene_linear, v->description.xyz_to_scene_linear) != 0 ||
        txm_source_open(v->source, &reading, &source, NULL) != TXM_OK)
        return false;
    txm_settings_init(&settings);
    settings.colorspace = m->colorspace;
    settings.alpha = m->alpha;
    settings.equiangular = m->equiangular;
    settings.limit_px = v->description.limit_px;
    const txm_source_info *info = txm_source_info_of(source);
    bool same = txm_resolve(v->context, &settings, v->source, info, false, &resolved, NULL) == TXM_OK;
    const txm_resolved_image image = {.context = v->context, .info = info, .resolved = &resolved};
    same = same && txm_resolved_fits(&image, &v->description, why, sizeof why) == TXM_FIT_YES;
    txm_source_close(&source);
    return same;
}

/* Scenes always set a colour space; "auto" is only what other programs ask for. */
static void name_condition(txm_verification *v, const char *space, txm_alpha alpha)
{
    if (strcmp(space, "auto") != 0)
        snprintf(v->space, sizeof v->space, "%s", space);
    v->alpha = alpha;
}

/* A name that is not one of a cache is only a note: scenes may use such files directly. */
static txm_status check_name(txm_verification *v, txm_error *err)
{
    const txm_tx_description *d = &v->description;
    const char *name = txm_path_base(v->path);
    size_t source_bytes;
    if (!txm_tx_name_parse(name, &source_bytes, NULL, NULL)) {
        txm_find(v->findings, TXM_FINDING_NAME_OTHER, TXM_NO_PLACE,
                 "it is not <source>.0-<32 digits>.tx, the shape of names in a texture cache");
        return TXM_OK;
    }
    if (d->envlatl && !v->options->equiangular)
        txm_find(v->findings, TXM_FINDING_FORMAT, TXM_NO_PLACE,
                 "it is named for the format equiangular; Blender looks for plain files only");
    const char *base = txm_path_base(d->source);
    const bool copied = *base && (strlen(base) != source_bytes || strncmp(name, base, source_bytes));
    if (copied) {
        txm_find(v->findings, TXM_FINDING_NAME_IMAGE, TXM_NO_PLACE, "it was made from %.200s, but is named for %.*s",
                 base, (int)(source_bytes < 200 ? source_bytes : 200), name);
    }
    if (v->maker == TXM_MAKER_OTHER || !*d->xyz_to_scene_linear || !d->has_alpha_type)
        return TXM_OK; /* there are no settings to compare with; the check of the metadata reported that */
    bool exhausted = false, found = false;
    char *source_name = txm_strndup(name, source_bytes);
    bool fits = source_name && *d->requested && own_settings_fit(v, source_name, &exhausted);
    txm_status status = TXM_OK;
    if (!source_name || exhausted)
        status = txm_path_absolute_failed(v->path, err);
    free(source_name);
    if (!status && fits)
        name_condition(v, d->requested, d->alpha);
    if (status || fits)
        return status;
    txm_name_match match;
    status = txm_name_search(v->context, v->path,
                             v->source ? v->source
                             : *base   ? d->source
                                       : NULL,
                             d->xyz_to_scene_linear, &match, &found, err);
    if (!status && found)
        name_condition(v, strcmp(match.colorspace, "data") ? match.colorspace : "Non-Color", match.alpha);
    if (status || (found && (agrees(v, &match) || same_pixels(v, &match))))
        return status;
    /* If the file was made from another image, its folder, which may be part of the name, is another one too. */
    if (!found && !copied && ((status = txm_name_search_places(v, &fits, err)) || fits))
        return status;
    v->other_settings = found;
    const char *space = *d->requested ? d->requested : d->detected;
    /* A file that states all of its settings can be judged; for another one, the settings behind its name may be
     * unknown here, such as a colour space of another config, and Cycles may look for it. */
    if (!found && *d->requested && !copied && txm_path_is_absolute(d->source))
        txm_find(v->findings, TXM_FINDING_NAME_MISFIT, TXM_NO_PLACE,
                 "colour space %s, alpha %s, %s, as stated inside, lead to another name, for any cache folder", space,
                 txm_alpha_name(d->alpha), d->envlatl ? "lat-long" : "plain");
    else if (!found)
        txm_find(v->findings, TXM_FINDING_NAME_UNKNOWN, TXM_NO_PLACE,
                 "no settings that the OCIO config %.200s offers lead to it; if the file was made with another config, "
                 "name it with --ocio",
                 txm_color_config_name(txm_context_color(v->context)));
    else
        txm_find(v->findings, TXM_FINDING_NAME_MISFIT, TXM_NO_PLACE,
                 "the name says colour space %s, alpha %s, %s%s%s; inside are colour space %s, alpha %s, %s%s",
                 match.colorspace, txm_alpha_name(match.alpha), match.equiangular ? "lat-long" : "plain",
                 *match.working_space ? ", working space " : "", match.working_space, space, txm_alpha_name(d->alpha),
                 d->envlatl ? "lat-long" : "plain",
                 strcmp(match.xyz_to_scene_linear, d->xyz_to_scene_linear) ? ", another working space" : "");
    return TXM_OK;
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

/* Compares what a rule specifies for an image with what the file states. A rule that says what is usual for a name does
 * not know how a scene uses the image, so it leads only to a note. */
static void check_against_rules(const txm_verification *v, const char *image)
{
    const txm_tx_description *d = &v->description;
    const txm_color_config *config = txm_context_color(v->context);
    const txm_rule *given = v->options->rules && *image ? txm_rules_match(v->options->rules, image) : NULL;
    const txm_rule *usual = v->options->usual && *image ? txm_rules_match(v->options->usual, image) : NULL;
    const txm_rule *rule = given ? given : usual;
    const enum txm_finding_number kind = given ? TXM_FINDING_NAME_RULES : TXM_FINDING_NAME_UNUSUAL;
    const char *named = rule && rule->colorspace ? txm_color_meant(config, rule->colorspace) : NULL;
    if (named && *d->detected) {
        const txm_color_space *space = NULL;
        const char *detected = txm_color_is_data(config, named) ? "data" : "";
        if (!*detected && txm_color_find(config, named, &space, NULL) == TXM_OK)
            detected = txm_color_space_detected(space);
        if (strcmp(detected, d->detected) != 0)
            txm_find(v->findings, kind, TXM_NO_PLACE, "%.100s (%.100s) specifies colour space %.100s, inside is %.100s",
                     rule->origin, rule->glob, named, *d->requested ? d->requested : d->detected);
    }
    if (rule && rule->alpha && rule->alpha != TXM_ALPHA_DEFAULT && d->has_alpha_type && rule->alpha != d->alpha)
        txm_find(v->findings, kind, TXM_NO_PLACE, "%.100s (%.100s) specifies alpha type %s, inside is %s", rule->origin,
                 rule->glob, txm_alpha_name(rule->alpha), txm_alpha_name(d->alpha));
}

/* ---- the config -------------------------------------------------------------------------------------------------- */

/* If the file has the config's own working space, the config's space of the stated name must do what it did when the
 * file was made. "auto" depends on the image, and a name that this config lacks cannot have changed. */
static void check_config(const txm_verification *v)
{
    const txm_tx_description *d = &v->description;
    const txm_color_config *config = txm_context_color(v->context);
    const txm_color_space *space = NULL;
    char why[256];
    if (!d->config || !*d->requested || !strcmp(d->requested, "auto") ||
        strcmp(d->xyz_to_scene_linear, txm_color_xyz_to_scene_linear_text(config)) != 0 ||
        txm_color_find(config, d->requested, &space, NULL) != TXM_OK)
        return;
    if (!txm_resolved_config(space, d, why, sizeof why))
        txm_find(v->findings, TXM_FINDING_CONFIG, TXM_NO_PLACE, "%s; make it again, or name that config with --ocio",
                 why);
}

/* ---- the release of Blender -------------------------------------------------------------------------------------- */

/* Opens the image for its header. *out is NULL if there is none, or it can never be read, which says nothing about the
 * tx file. */
static txm_status open_image(const txm_verification *v, txm_source **out, txm_error *err)
{
    const txm_source_options reading = {.max_memory_bytes = v->context->max_memory_bytes};
    txm_error failure = {0};
    *out = NULL;
    if (v->source)
        txm_source_open(v->source, &reading, out, &failure);
    return failure.status == TXM_STATUS_NO_MEMORY || txm_status_retryable(failure.status) ? txm_fail_as(err, &failure)
                                                                                          : TXM_OK;
}

/* Without the image, its number of channels is unknown; that of channel-packed images makes no difference. */
static txm_status check_release(txm_verification *v, txm_error *err)
{
    const txm_tx_description *d = &v->description;
    const txm_blender own = txm_color_blender(txm_context_color(v->context));
    char why[256], names[64];
    txm_source *source;
    v->release = own;
    /* Other spaces and alpha types have the same pixels in every release, so the image's header is not read for them.
     */
    const bool straight = d->alpha == TXM_ALPHA_STRAIGHT || d->alpha == TXM_ALPHA_AUTO,
               packed = d->alpha == TXM_ALPHA_CHANNEL_PACKED && !strcmp(d->detected, "scene_linear_srgb");
    if (v->maker == TXM_MAKER_OTHER || !d->has_alpha_type || v->info->channels != 4 || !strcmp(d->detected, "data") ||
        (!straight && !packed))
        return TXM_OK;
    const txm_status status = open_image(v, &source, err);
    if (status)
        return status;
    const txm_source_info unread = {.file_channels = d->alpha == TXM_ALPHA_CHANNEL_PACKED ? 4 : 3, .channels = 4};
    const txm_release_image image = {.info = source ? txm_source_info_of(source) : &unread,
                                     .class = strcmp(d->detected, "scene_linear_srgb") ? TXM_COLOR_CLASS_OTHER
                                                                                       : TXM_COLOR_CLASS_SRGB,
                                     .alpha = d->alpha,
                                     .blender = own};
    if (txm_releases_of(&image, names, sizeof names))
        v->any_release = !txm_release_made_for(d, &v->release);
    if (txm_release_fits(&image, d, why, sizeof why) == TXM_FITTING_NO)
        txm_find(v->findings, TXM_FINDING_RELEASE, TXM_NO_PLACE, "%s", why);
    else if (v->any_release)
        snprintf(v->release_doubt, sizeof v->release_doubt, "%s", why);
    txm_source_close(&source);
    return TXM_OK;
}

/* ---- the size ---------------------------------------------------------------------------------------------------- */

/* The size of the image is in its header, which is read only if a limit might have changed it. Where the settings set
 * no limit, the file may have been made with one by an option. */
static txm_status check_limit(txm_verification *v, const char *image, txm_error *err)
{
    const txm_tx_description *d = &v->description;
    const uint32_t set = v->source ? txm_rules_limit(v->options->limits, image) : 0;
    const uint32_t limit = set == TXM_NO_LIMIT ? 0 : set;
    char why[256];
    txm_source *source;
    if (!set || d->limit_px == limit)
        return TXM_OK;
    const txm_status status = open_image(v, &source, err);
    if (source &&
        !txm_limit_fits(txm_source_info_of(source), d->limit_px, d->constant_count > 0, limit, why, sizeof why))
        txm_find(v->findings, TXM_FINDING_LIMIT, TXM_NO_PLACE, "%s", why);
    txm_source_close(&source);
    return status;
}

/* The source is checked first, since the search for the name needs its folder. */
txm_status txm_verify_origin(txm_verification *v, txm_error *err)
{
    txm_status status = check_source(v, err);
    if (status)
        return status;
    /* Globs match names of folders, and the path of an image beside the cache folder has ".." in it. */
    const char *found = v->source ? v->source : v->description.source;
    char *folder = strstr(found, "/../") ? txm_path_dir(found) : NULL, *real = folder ? realpath(folder, NULL) : NULL;
    char *image = real ? txm_path_join(real, txm_path_base(found)) : txm_strdup(found);
    free(real);
    free(folder);
    if (!image)
        return txm_no_memory(err, v->path);
    check_against_rules(v, image);
    check_config(v);
    status = check_release(v, err);
    if (!status)
        status = check_limit(v, image, err);
    free(image);
    return status ? status : check_name(v, err);
}
