/* SPDX-License-Identifier: Apache-2.0
 *
 * Resolves the settings, looks up the existing file, runs the attempt, and publishes the result. A fresh file is left
 * alone; a file is made under a claim, so that only one of several processes makes it; hooks let a batch fetch it from
 * a store instead.
 */
#include "txmill/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/content.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/os/clock.h"
#include "base/path.h"
#include "mill/color/values.h"
#include "mill/convert/attempt.h"
#include "mill/convert/hooks.h"
#include "mill/convert/memory.h"
#include "mill/convert/resolve.h"
#include "mill/write/writer.h"
#include "tile/name/lookup.h"
#include "tile/terms/releases.h"
#include "tile/terms/settings.h"

/* A conversion in progress. */
typedef struct conversion {
    txm_context *context;
    const char *path;
    txm_settings settings;
    const txm_convert_options *options;
    const txm_convert_hooks *hooks; /* may be NULL */
    txm_source *source;
    const txm_source_info *info;
    txm_resolved resolved;
    char *stored_source; /* the path as it will be stored in the file */
    txm_tx_attribute *attributes;
    size_t attribute_count;
    char *attribute_names; /* NUL-separated names of --attrib, in one piece */
    char *fresh;           /* a fresh tx file in another folder, which is copied; NULL: none */
    char releases[64], content[TXM_CONTENT_KEY_BYTES]; /* for the metadata */
} conversion;

/* With --force the file is written to the configured folder, even if the fresh one was found in the default folder. */
static txm_status force_place(const conversion *c, txm_result *result, txm_error *err)
{
    char *path = txm_tx_path(c->path, c->settings.cache_dir, &c->resolved.key);
    if (!path)
        return txm_path_absolute_failed(c->path, err);
    free(result->tx_path);
    result->tx_path = path;
    snprintf(result->reason, sizeof result->reason, "forced");
    return TXM_OK;
}

/* A fresh file is left alone, unless force is set, or it is to be copied. If it differs from the settings that were
 * chosen explicitly and are not part of its name, that is reported ("compression zip, not none; tiles of 64 px, not
 * 128"); not of a file that cannot be read, for which it is decided elsewhere whether Cycles uses it. */
static txm_status leave_fresh(conversion *c, txm_result *result, bool *needed, txm_error *err)
{
    result->outcome = TXM_OUTCOME_UP_TO_DATE;
    *needed = c->options->force;
    if (*needed)
        return force_place(c, result, err);
    if (c->options->copies) {
        char *there = result->tx_path;
        result->tx_path = NULL;
        const txm_status status = force_place(c, result, err);
        if (status != TXM_OK || strcmp(there, result->tx_path) != 0) {
            free(c->fresh);
            c->fresh = there;
            snprintf(result->reason, sizeof result->reason, "copied from %.200s", there);
            *needed = true;
            return status;
        }
        free(there);
        *result->reason = 0;
    }
    const txm_settings *s = &c->settings;
    char parts[4][64];
    size_t n = 0, used = 0;
    txm_tx *tx = NULL;
    if (!s->asked || txm_tx_open(result->tx_path, &tx, NULL) != TXM_OK)
        return TXM_OK;
    const txm_tx_info *i = txm_tx_info_of(tx);
    const char *codec = txm_codec_name(s->compression.codec);
    const bool borders = i->section == TXM_SECTION_STATE_VALID;
    if (s->asked & TXM_ASKED_COMPRESSION && strcmp(i->compression, codec) != 0)
        snprintf(parts[n++], sizeof *parts, "compression %.20s, not %s", i->compression, codec);
    if (s->asked & TXM_ASKED_TILE && i->tile_w != s->tile_px)
        snprintf(parts[n++], sizeof *parts, "tiles of %u px, not %u", i->tile_w, s->tile_px);
    if (s->asked & TXM_ASKED_BORDERS && borders != s->borders)
        snprintf(parts[n++], sizeof *parts, "with%s a border section", borders ? "" : "out");
    /* Whether a file of four channels could have one cannot be seen without its pixels. */
    if (s->asked & TXM_ASKED_MONO && !s->mono && i->channels == 1 && c->info->channels != 1)
        snprintf(parts[n++], sizeof *parts, "stored as one channel");
    txm_tx_close(&tx);
    for (size_t p = 0; p < n && used < sizeof result->reason; p++)
        used += (size_t)snprintf(result->reason + used, sizeof result->reason - used, "%s%s", p ? "; " : "", parts[p]);
    result->otherwise = n > 0;
    return TXM_OK;
}

static void take_found(txm_result *result, txm_found *found)
{
    result->tx_path = found->path;
    result->shows = found->shows;
    result->judged = found->reason;
    result->state = found->state;
    result->harmless = found->harmless;
    found->path = found->shows = found->reason = NULL;
}

/* "outdated: the image is newer ...". */
static void say_state(txm_result *result)
{
    const bool why = result->judged && *result->judged;
    snprintf(result->reason, sizeof result->reason, "%s%s%.200s", txm_tx_state_name(result->state), why ? ": " : "",
             why ? result->judged : "");
}

/* Decides whether there is anything to do; *target receives the path of the file. */
static txm_status decide_need(conversion *c, txm_result *result, bool *needed, txm_error *err)
{
    *needed = true;
    if (c->options->output) {
        /* The output must not be the image itself, by any spelling or link: it would be overwritten. */
        struct stat st;
        if (stat(c->options->output, &st) == 0 && st.st_dev == c->info->device && st.st_ino == c->info->inode)
            return txm_fail(err, TXM_STATUS_USAGE, "%s: the output is the image itself; give it another name", c->path);
        snprintf(result->reason, sizeof result->reason, "written where -o says");
        return (result->tx_path = txm_strdup(c->options->output))
                   ? TXM_OK
                   : txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory");
    }
    if (c->info->width == 1 && c->info->height == 1) {
        result->outcome = TXM_OUTCOME_USED_AS_IS;
        *needed = false;
        return TXM_OK;
    }
    txm_found found = {0};
    const txm_resolved_image image = {.context = c->context, .info = c->info, .resolved = &c->resolved};
    const char *space = strcmp(c->resolved.requested, "auto") ? c->resolved.requested : NULL;
    const txm_tx_match match = {txm_resolved_fits, &image, space, c->context->whole_content, c->context->cancel};
    txm_status status = txm_tx_lookup(c->path, c->settings.cache_dir, &c->resolved.key, &match, &found, err);
    if (!status && found.content == TXM_CONTENT_SAME && !c->options->force && !c->options->dry_run) {
        status = txm_publish_time(found.path, &c->info->mtime, err);
        txm_found_clear(&found);
        if (!status)
            status = txm_tx_lookup(c->path, c->settings.cache_dir, &c->resolved.key, &match, &found, err);
        snprintf(result->reason, sizeof result->reason, "its time was restored: the image has the same content");
    }
    if (!status && found.failure && c->options->force) {
        txm_found_clear(&found);
        return force_place(c, result, err);
    }
    if (status || (status = txm_found_settled(&found, err)))
        return status;
    take_found(result, &found);
    switch (found.state) {
    case TXM_TX_STATE_SOURCE:
        result->outcome = TXM_OUTCOME_IS_TX;
        *needed = false;
        break;
    case TXM_TX_STATE_FRESH:
        status = leave_fresh(c, result, needed, err);
        if (!*result->reason)
            snprintf(result->reason, sizeof result->reason, "%s", result->judged);
        break;
    case TXM_TX_STATE_OUTDATED:
    case TXM_TX_STATE_STALE:
    case TXM_TX_STATE_MISSING:
        say_state(result);
        break;
    case TXM_TX_STATE_UNUSABLE:
        /* Blender cannot read it because zstd was requested, so it counts as fresh. */
        if (found.foreign && c->settings.compression.codec == TXM_CODEC_ZSTD) {
            status = leave_fresh(c, result, needed, err);
            break;
        }
        say_state(result);
        break;
    }
    txm_found_clear(&found);
    return status;
}

/* Strings belong to the conversion and are valid until the file is written. Attributes are kept from the source's
 * metadata, and those of --attrib follow. */
static txm_status make_metadata(conversion *c, txm_tx_metadata *out, txm_error *err)
{
    txm_color_class class = txm_color_space_class(c->resolved.space);
    c->stored_source = c->settings.redact ? txm_strdup(txm_path_base(c->path)) : txm_path_absolute(c->path);
    if (!c->stored_source)
        return txm_path_absolute_failed(c->path, err);
    const char *const *given = c->settings.attributes;
    size_t extra = 0, bytes = 1;
    for (; given && given[extra]; extra++)
        bytes += strlen(given[extra]) + 1;
    c->attributes = txm_calloc(c->info->attribute_count + extra, sizeof *c->attributes);
    c->attribute_names = txm_calloc(bytes, 1);
    if (!c->attributes || !c->attribute_names)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for metadata");
    for (size_t i = 0; i < c->info->attribute_count; i++)
        c->attributes[c->attribute_count++] =
            (txm_tx_attribute){c->info->attributes[i].name, c->info->attributes[i].value};
    char *p = c->attribute_names;
    for (size_t i = 0; i < extra; i++) {
        const char *equals = strchr(given[i], '=');
        if (!equals || equals == given[i])
            return txm_fail(err, TXM_STATUS_USAGE, "attribute '%s': expected NAME=VALUE", given[i]);
        strcpy(p, given[i]);
        p[equals - given[i]] = 0;
        c->attributes[c->attribute_count++] = (txm_tx_attribute){p, p + (equals - given[i]) + 1};
        p += strlen(given[i]) + 1;
    }
    /* A share that lost one request usually answers the next. */
    txm_status status = TXM_OK;
    if (txm_content_key(c->path, c->context->cancel, c->content, NULL) != TXM_OK)
        status = txm_content_key(c->path, c->context->cancel, c->content, err);
    const txm_resolved_image image = {.context = c->context, .info = c->info, .resolved = &c->resolved};
    const txm_release_image release = txm_release_image_of(&image);
    bool differ = txm_releases_of(&release, c->releases, sizeof c->releases);
    *out = (txm_tx_metadata){
        .source = c->stored_source,
        .detected_colorspace = txm_conform_detected(c->info, c->resolved.space, c->resolved.named),
        .requested_colorspace = c->resolved.requested,
        .config = txm_color_fingerprint(c->resolved.space),
        .content = c->content,
        .releases = differ ? c->releases : "",
        .releases_if_opaque = differ ? TXM_RELEASES_SPACED : "",
        .limit_px = txm_limit_level(c->info->width, c->info->height, c->resolved.limit_px) ? c->resolved.limit_px : 0,
        .xyz_to_scene_linear = c->resolved.key.xyz_text,
        .alpha = c->resolved.alpha,
        .interop_id = class == TXM_COLOR_CLASS_DATA   ? "data"
                      : class == TXM_COLOR_CLASS_SRGB ? txm_color_srgb_interop_id(c->context->color)
                                                      : txm_color_working_interop_id(c->context->color),
        .equiangular = c->settings.equiangular,
        .source_mtime = c->info->mtime.tv_sec,
        .density = c->info->density,
        .attributes = c->attributes,
        .attribute_count = c->attribute_count,
    };
    return status;
}

static txm_status make(conversion *c, txm_result *result, txm_error *err)
{
    txm_tx_metadata metadata;
    txm_status status = make_metadata(c, &metadata, err);
    txm_attempt_request request = {.context = c->context,
                                   .settings = &c->settings,
                                   .options = c->options,
                                   .source = c->source,
                                   .resolved = &c->resolved,
                                   .metadata = &metadata,
                                   .target = result->tx_path,
                                   .may_be_grey = c->settings.mono,
                                   .devices = true};
    txm_attempt_result made = {0};
    txm_publish *publish = NULL;
    for (bool again = !status; again;) {
        txm_error own = {0};
        status = txm_attempt_run(&request, &publish, &made, &own);
        if (!status && (made.not_grey || made.lost_zeros)) {
            request.may_be_grey = request.may_be_grey && !made.not_grey;
            request.keep_zeros = request.keep_zeros || made.lost_zeros;
        } else if (status == TXM_STATUS_DEVICE && request.devices) {
            txm_context_log(c->context, made.failed_again ? TXM_LOG_LEVEL_INFO : TXM_LOG_LEVEL_WARNING,
                            "%s: %s; starting again on the CPU", c->path, own.message);
            request.devices = false;
        } else {
            again = false;
            if (status)
                txm_fail_as(err, &own);
        }
        if (again)
            again = !(status = txm_source_rewind(c->source, err));
    }
    if (!status)
        status = txm_source_check_unchanged(c->source, err);
    if (!status && txm_source_warning(c->source))
        txm_context_log(c->context, TXM_LOG_LEVEL_WARNING, "%s: %s", c->path, txm_source_warning(c->source));
    if (!status)
        status = txm_publish_commit(&publish, &c->info->mtime, err);
    txm_publish_abort(&publish);
    if (!status) {
        result->outcome = TXM_OUTCOME_CREATED;
        result->width = made.layout.width;
        result->height = made.layout.height;
        result->levels = made.layout.levels;
        result->channels = made.layout.channels;
        result->type = made.layout.type;
        result->mono = made.grey;
        result->constant = made.summary.constant;
        result->tx_bytes = made.file_bytes;
        result->section_bytes = made.file_bytes - made.image_bytes;
        result->stages = made.stages;
        snprintf(result->device, sizeof result->device, "%s", made.device);
        snprintf(result->via, sizeof result->via, "converted");
    }
    return status;
}

static void describe(const conversion *c, txm_result *result)
{
    snprintf(result->colorspace, sizeof result->colorspace, "%s", c->resolved.requested);
    snprintf(result->detected, sizeof result->detected, "%s",
             txm_conform_detected(c->info, c->resolved.space, c->resolved.named));
    snprintf(result->reader, sizeof result->reader, "%s", c->info->reader);
    result->alpha = c->resolved.alpha;
    result->source_bytes = (uint64_t)c->info->file_bytes;
    result->reader_bytes = c->info->memory_bytes;
    result->image_time = c->info->mtime.tv_sec;
    const uint32_t level = txm_limit_level(c->info->width, c->info->height, c->resolved.limit_px);
    result->image_width = c->info->width;
    result->image_height = c->info->height;
    result->width = txm_level_size(c->info->width, level);
    result->height = txm_level_size(c->info->height, level);
    result->levels = txm_level_count(result->width, result->height);
    result->channels = c->info->channels == 1 ? 1 : 4;
    result->type = c->info->type;
    txm_settings_key(c->info, c->resolved.space, c->resolved.alpha, txm_color_blender(c->context->color), &c->settings,
                     result->settings_key);
}

/* What the release of Blender cannot read it cannot show either, so a tx file would hide a mistake. The official
 * libtiff lacks these codecs. */
static txm_status check_readable(const conversion *c, txm_error *err)
{
    static const struct {
        unsigned number;
        const char *name;
    } lacking[] = {{34887, "LERC"}, {34925, "LZMA"}, {50000, "zstd"}, {50001, "WebP"}};
    const txm_blender blender = txm_color_blender(c->context->color);
    const char *codec = NULL, *older = NULL;
    for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++)
        if (lacking[i].number == c->info->tiff_compression)
            codec = lacking[i].name;
    if (!codec || !TXM_RELEASE(blender, refuses_tiff_codecs))
        return TXM_OK;
    for (const txm_blender *b = txm_blender_versions(); *b; b++)
        older = TXM_RELEASE(*b, refuses_tiff_codecs) ? older : txm_blender_name(*b);
    return txm_fail(err, TXM_STATUS_UNSUPPORTED,
                    "%s: Blender %s refuses TIFF files compressed with %s: save the image with zip or LZW%s%s", c->path,
                    txm_blender_name(blender), codec, older ? ", or convert it with --blender " : "",
                    older ? older : "");
}

/* The lookup is repeated once the claim is held, since another process may have finished the file meanwhile. */
static txm_status make_hooked(conversion *c, txm_result *result, txm_error *err)
{
    const txm_convert_hooks *hooks = c->hooks;
    bool needed = true;
    txm_status status = hooks->acquire ? hooks->acquire(hooks->user, result->tx_path, err) : TXM_OK;
    if (status)
        return status;
    if (hooks->acquire) {
        free(result->tx_path);
        free(result->shows);
        free(result->judged);
        result->tx_path = result->shows = result->judged = NULL;
        status = decide_need(c, result, &needed, err);
        if (!status && !needed)
            snprintf(result->reason, sizeof result->reason, "made by another process meanwhile");
    }
    if (!status && needed) {
        const txm_making making = {c->path, result->tx_path, c->source, c->info, &c->settings, &c->resolved, c->fresh};
        if (hooks->fetch && hooks->fetch(hooks->user, &making, result)) {
            result->outcome = TXM_OUTCOME_CREATED;
        } else {
            status = make(c, result, err);
            if (!status && hooks->keep)
                hooks->keep(hooks->user, &making);
        }
    }
    if (hooks->release)
        hooks->release(hooks->user);
    return status;
}

/* The reader reports only its own memory; to choose a limit, the user needs that of the whole conversion. Failures
 * because of other limits are kept. */
static txm_status refuse_memory(conversion *c, txm_error *err)
{
    const uint64_t most = (uint64_t)1 << 44;
    const txm_source_options unbounded = {0};
    txm_error ignored = {0};
    uint64_t needed = 0;
    if (txm_source_open(c->path, &unbounded, &c->source, &ignored) != TXM_OK)
        return TXM_STATUS_TOO_LARGE;
    c->info = txm_source_info_of(c->source);
    if (txm_resolve(c->context, &c->settings, c->path, c->info, !c->hooks, &c->resolved, &ignored) != TXM_OK)
        return TXM_STATUS_TOO_LARGE;
    const txm_conform conform = txm_conform_plan(c->info, c->resolved.space, c->resolved.alpha,
                                                 txm_color_blender(c->context->color), c->context->ops);
    txm_convert_bands(&conform, &c->settings, txm_pool_threads(c->context->pool), c->info->memory_bytes, 1, NULL,
                      &needed);
    for (bool opens = false; !opens && needed < most;) {
        const txm_source_options bounded = {.max_memory_bytes = needed};
        txm_source *source = NULL;
        opens = txm_source_open(c->path, &bounded, &source, &ignored) != TXM_STATUS_TOO_LARGE;
        txm_source_close(&source);
        needed += opens ? 0 : needed / 4;
    }
    txm_error_clear(err);
    return txm_convert_refuse(c->path, needed, err);
}

/* The image cannot be read, but need not be: Cycles uses the existing tx file. */
static bool leave_unread(conversion *c, txm_result *result, const txm_error *why)
{
    txm_found found;
    if (!why || c->options->force || c->options->output ||
        !txm_serves_unread(c->context, &c->settings, c->path, why, &c->resolved, &found))
        return false;
    result->outcome = TXM_OUTCOME_UP_TO_DATE;
    txm_context_log(c->context, TXM_LOG_LEVEL_WARNING, "%s: %s; its tx file is fresh, and Cycles uses it", c->path,
                    found.reason);
    take_found(result, &found);
    result->alpha = c->resolved.alpha;
    snprintf(result->colorspace, sizeof result->colorspace, "%s", c->resolved.requested);
    snprintf(result->detected, sizeof result->detected, "%s", c->resolved.requested);
    txm_found_clear(&found);
    return true;
}

/* OpenImageIO takes most of a second to load, and then a process for each image. Settings that are compared with the
 * file, and are not in its name, need the image. */
static bool leave_unopened(conversion *c, txm_result *result)
{
    const unsigned compared = TXM_ASKED_COMPRESSION | TXM_ASKED_TILE | TXM_ASKED_BORDERS | TXM_ASKED_MONO;
    txm_found found;
    txm_tx_description d = {0};
    txm_tx_info info;
    if (!c->options->no_key || c->options->force || c->options->output || c->settings.asked & compared ||
        !txm_serves_unopened(c->context, &c->settings, c->path, &c->resolved, &found, &d, &info))
        return false;
    result->outcome = TXM_OUTCOME_UP_TO_DATE;
    take_found(result, &found);
    snprintf(result->colorspace, sizeof result->colorspace, "%s", c->resolved.requested);
    snprintf(result->detected, sizeof result->detected, "%s", d.detected);
    result->alpha = c->resolved.alpha;
    result->width = info.width;
    result->height = info.height;
    result->image_width = d.limit_px ? 0 : info.width;
    result->image_height = d.limit_px ? 0 : info.height;
    result->levels = info.levels;
    result->channels = info.channels == 1 ? 1 : 4;
    result->type = info.type;
    txm_tx_description_free(&d);
    txm_found_clear(&found);
    return true;
}

static txm_status run_conversion(conversion *c, txm_result *result, txm_error *err)
{
    const txm_source_options source = {.max_memory_bytes = c->context->max_memory_bytes};
    bool needed = false;
    if (!c->options->copies && leave_unopened(c, result))
        return TXM_OK;
    txm_status status = txm_source_open(c->path, &source, &c->source, err);
    if (status && leave_unread(c, result, err)) {
        txm_error_clear(err);
        return TXM_OK;
    }
    if (status)
        return status == TXM_STATUS_TOO_LARGE && source.max_memory_bytes ? refuse_memory(c, err) : status;
    c->info = txm_source_info_of(c->source);
    if ((status = txm_resolve(c->context, &c->settings, c->path, c->info, !c->hooks, &c->resolved, err)))
        return status;
    if (c->info->narrowed && txm_color_space_class(c->resolved.space) == TXM_COLOR_CLASS_OTHER &&
        (status = txm_source_as_half(c->source, err)))
        return status;
    describe(c, result);
    if ((status = decide_need(c, result, &needed, err)) || !needed)
        return status;
    /* A dry run fails if making the file would. */
    const txm_conform conform =
        txm_conform_plan(c->info, c->resolved.space, c->resolved.alpha, txm_color_blender(c->context->color), NULL);
    if ((status = check_readable(c, err)) ||
        (status = txm_tx_check_codec(conform.type, c->settings.compression.codec, c->path, err)))
        return status;
    if (c->options->dry_run) {
        result->outcome = TXM_OUTCOME_WOULD_CREATE;
        return TXM_OK;
    }
    return c->hooks ? make_hooked(c, result, err) : make(c, result, err);
}

txm_status txm_convert(txm_context *context, const char *source, const txm_settings *settings,
                       const txm_convert_options *options, txm_result *result, txm_error *err)
{
    txm_error_clear(err);
    txm_settings s;
    txm_convert_options o = {0};
    memset(result, 0, sizeof *result);
    if (!source)
        return txm_fail(err, TXM_STATUS_USAGE, "no image given: its path is NULL");
    txm_status status = txm_settings_take(&s, settings, err);
    if (!status)
        status = txm_options_take(&o, sizeof o, options, "txm_convert_options", err);
    return status ? status : txm_convert_hooked(context, source, &s, &o, NULL, result, err);
}

txm_status txm_convert_hooked(txm_context *context, const char *source, const txm_settings *settings,
                              const txm_convert_options *options, const txm_convert_hooks *hooks, txm_result *result,
                              txm_error *err)
{
    static const txm_convert_options no_options;
    double begin = txm_clock_seconds();
    conversion c = {.context = context,
                    .path = source,
                    .settings = *settings,
                    .options = options ? options : &no_options,
                    .hooks = hooks};
    if (settings->strict)
        c.settings.mono = c.settings.borders = false; /* Blender itself writes neither borders nor reduced channels */
    memset(result, 0, sizeof *result);
    txm_status status = txm_settings_in_bounds(&c.settings, err);
    if (!status)
        status = run_conversion(&c, result, err);
    txm_source_close(&c.source);
    free(c.stored_source);
    free(c.attributes);
    free(c.attribute_names);
    free(c.fresh);
    if (status)
        txm_result_clear(result);
    else
        result->seconds = txm_clock_seconds() - begin;
    return status;
}

void txm_result_clear(txm_result *result)
{
    if (result) {
        free(result->tx_path);
        free(result->shows);
        free(result->judged);
        *result = (txm_result){0};
    }
}
