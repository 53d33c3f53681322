/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of the source determines the colour space and alpha type that are used, and the key from which the file's
 * name is made. The order of defaults is Blender's.
 */
#include "mill/convert/resolve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/color/values.h"
#include "mill/source/defaults.h"
#include "tile/reader/blender_format.h"
#include "tile/terms/settings.h"

const char *txm_key_word(const txm_color_config *config, const char *name)
{
    if (!name)
        return "";
    return txm_color_is_data(config, name) ? "data" : name;
}

/* All but the space. `name` is the word for it in the name of the tx file. */
static txm_resolved resolved_as(const txm_context *context, const txm_settings *settings, const char *name,
                                txm_alpha alpha)
{
    const char *unused;
    const bool shown = name && txm_space_chosen(settings->colorspace, &unused) != TXM_SPACE_UNKNOWN;
    return (txm_resolved){.requested = shown ? name : settings->colorspace,
                          .alpha = alpha,
                          .limit_px = settings->limit_px == TXM_NO_LIMIT ? 0 : settings->limit_px,
                          .key = {.xyz_text = txm_color_xyz_to_scene_linear_text(context->color),
                                  .colorspace = txm_key_word(context->color, name),
                                  .alpha = alpha,
                                  .equiangular = settings->equiangular}};
}

txm_status txm_resolve(const txm_context *context, const txm_settings *settings, const char *path,
                       const txm_source_info *info, bool warn, txm_resolved *out, txm_error *err)
{
    const txm_color_config *config = context->color;
    const char *scene_space = NULL;
    txm_alpha scene_alpha = TXM_ALPHA_STRAIGHT;
    txm_status status = txm_source_scene_defaults(info, path, config, &scene_space, &scene_alpha);
    if (status)
        return txm_fail(err, status,
                        "%s: the OCIO config %s has no role default_byte or default_float: name the colour "
                        "space with --colorspace",
                        path, txm_color_config_name(config));
    const char *name;
    const txm_space_choice choice = txm_space_chosen(settings->colorspace, &name);
    if (choice == TXM_SPACE_DEFAULT)
        name = scene_space;
    else if (choice == TXM_SPACE_NAMED)
        name = txm_color_meant(config, name);
    txm_resolved r =
        resolved_as(context, settings, name, settings->alpha == TXM_ALPHA_DEFAULT ? scene_alpha : settings->alpha);
    r.named = choice == TXM_SPACE_UNSET || choice == TXM_SPACE_UNKNOWN ? "scene_linear"
              : name                                                   ? name
                                                                       : txm_source_auto_space(info, config);
    if (!r.named)
        return txm_fail(err, TXM_STATUS_COLORSPACE, "%s: the OCIO config %s has no role for colour space auto", path,
                        txm_color_config_name(config));
    txm_error own = {0};
    status = txm_color_find(config, r.named, &r.space, &own);
    if (status == TXM_STATUS_COLORSPACE && settings->strict && !txm_color_canonical(config, r.named)) {
        /* An unknown space is an error, whereas Blender takes it as linear. With strict it is taken as in Blender, with
         * a warning; a space that exists and cannot be built is nevertheless an error, because Blender builds it. */
        const char *linear = txm_color_role(config, "scene_linear");
        if (warn)
            txm_context_log(context, TXM_LOG_LEVEL_WARNING, "%s: %s; --strict: taken as linear", path, own.message);
        txm_error_clear(&own);
        status = txm_color_find(config, linear ? linear : "scene_linear", &r.space, &own);
    }
    if (status)
        return txm_fail(err, status, "%s: %s", path, own.message);
    *out = r;
    return TXM_OK;
}

bool txm_resolved_config(const txm_color_space *space, const txm_tx_description *d, char *why, size_t why_bytes)
{
    if (!d->config || txm_color_fingerprint_fits(space, d->config))
        return true;
    snprintf(why, why_bytes, "made with another OCIO config, in which colour space %.120s has other values",
             *d->requested ? d->requested : txm_color_space_name(space));
    return false;
}

txm_status txm_found_settled(txm_found *found, txm_error *err)
{
    const txm_status status = found->failure;
    if (status) {
        txm_fail(err, status, "%s: %s; run the same again, or replace the file with 'txmill make --force'", found->path,
                 found->reason);
        txm_found_clear(found);
    }
    return status;
}

bool txm_image_is_unreadable(txm_status status)
{
    return status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_NOT_DOWNLOADED ||
           status == TXM_STATUS_NOT_INSTALLED;
}

bool txm_serves_unread(const txm_context *context, const txm_settings *settings, const char *path, const txm_error *why,
                       txm_resolved *resolved, txm_found *out)
{
    const char *space = NULL;
    char reason[sizeof why->message + 64];
    *out = (txm_found){0};
    if (!txm_image_is_unreadable(why->status) || settings->alpha == TXM_ALPHA_DEFAULT ||
        txm_space_chosen(settings->colorspace, &space) == TXM_SPACE_DEFAULT)
        return false;
    *resolved = resolved_as(context, settings, space, settings->alpha);
    if (txm_tx_lookup(path, settings->cache_dir, &resolved->key, NULL, out, NULL) != TXM_OK)
        return false;
    if (out->state == TXM_TX_STATE_FRESH) {
        snprintf(reason, sizeof reason, "the image itself is damaged, save or copy it again: %s",
                 txm_error_detail(why));
        free(out->reason);
        out->reason = txm_strdup(reason);
        if (out->reason)
            return true;
    }
    txm_found_clear(out);
    return false;
}

txm_release_image txm_release_image_of(const txm_resolved_image *i)
{
    return (txm_release_image){i->info, txm_color_space_class(i->resolved->space), i->resolved->alpha,
                               i->blender ? i->blender : txm_color_blender(i->context->color)};
}

bool txm_releases_of(const txm_release_image *i, char *names, size_t names_bytes)
{
    size_t used = 0;
    bool differ = false;
    for (const txm_blender *b = txm_blender_versions(); *b; b++) {
        bool same = txm_conform_same_release(i->info, i->class, i->alpha, i->blender, *b);
        differ |= !same;
        if (same && used < names_bytes)
            used += (size_t)snprintf(names + used, names_bytes - used, "%s%s", used ? " " : "", txm_blender_name(*b));
    }
    return differ;
}

/* Reads the next name of a list; false at its end. Other words are passed over. */
static bool next_release(const char **list, txm_blender *out)
{
    char name[16];
    while (**list) {
        size_t n = strcspn(*list, " ");
        snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, *list);
        *list += n + strspn(*list + n, " ");
        if (txm_blender_parse(name, out))
            return true;
    }
    return false;
}

/* Files of txmill that record nothing are older than the record, and have the pixels of the first release. Of files of
 * other programs, Blender's own among them, it is not known. */
bool txm_release_made_for(const txm_tx_description *d, txm_blender *out)
{
    const char *list = d->releases ? d->releases : *d->requested ? txm_blender_name(*txm_blender_versions()) : "";
    return next_release(&list, out);
}

txm_fitting txm_release_fits(const txm_release_image *i, const txm_tx_description *d, char *why, size_t why_bytes)
{
    char names[64];
    const char *own = txm_blender_name(i->blender), *list = d->releases ? d->releases : "";
    txm_blender made;
    if (d->average_count == 1 || !txm_releases_of(i, names, sizeof names))
        return TXM_FITTING_YES;
    /* It may name only releases which this version of txmill does not know. */
    const char *rest = list;
    if (*list && strspn(list, "0123456789. ") == strlen(list) && !next_release(&rest, &made)) {
        snprintf(why, why_bytes,
                 "made for Blender %.40s: Blender %s shows newer pixels; 'txmill make --blender %s' makes it again",
                 d->releases, own, own);
        return TXM_FITTING_NO;
    }
    if (!txm_release_made_for(d, &made)) {
        snprintf(why, why_bytes,
                 "it does not record which Blender made it: unless %s did, Blender %s shows other pixels than its own; "
                 "'txmill make --force --blender %s' makes it again",
                 own, own, own);
        return TXM_FITTING_UNKNOWN;
    }
    bool fits = txm_conform_same_release(i->info, i->class, i->alpha, i->blender, made);
    for (txm_blender other; !fits && next_release(&list, &other);)
        fits = txm_conform_same_release(i->info, i->class, i->alpha, i->blender, other);
    if (!fits)
        snprintf(why, why_bytes,
                 "made for Blender %s: Blender %s shows %s pixels; 'txmill make --blender %s' makes it again",
                 txm_blender_name(made), own, made < i->blender ? "old" : "newer", own);
    return fits ? TXM_FITTING_YES : TXM_FITTING_NO;
}

bool txm_limit_fits(const txm_source_info *info, uint32_t made_px, bool constant, uint32_t limit_px, char *why,
                    size_t why_bytes)
{
    const uint32_t made = txm_limit_level(info->width, info->height, made_px),
                   asked = txm_limit_level(info->width, info->height, limit_px), sides[] = {info->width, info->height};
    bool fits = true;
    for (int i = 0; i < 2; i++) {
        const uint32_t a = txm_level_size(sides[i], made), b = txm_level_size(sides[i], asked);
        /* An image of one colour is stored as one tile. */
        fits &= a == b || (constant && a >= TXM_DEFAULT_TILE_PX && b >= TXM_DEFAULT_TILE_PX);
    }
    if (fits)
        return true;
    if (!made)
        snprintf(why, why_bytes, "made at full size, where the limit is now %u px", limit_px);
    else if (asked)
        snprintf(why, why_bytes, "made with a limit of %u px, where it is now %u px", made_px, limit_px);
    else
        snprintf(why, why_bytes, "made with a limit of %u px, where there is none now", made_px);
    return false;
}

txm_fit txm_resolved_fits(const void *image, const txm_tx_description *d, char *why, size_t why_bytes)
{
    const txm_resolved_image *i = image;
    const txm_resolved *r = i->resolved;
    const txm_release_image release = txm_release_image_of(i);
    const txm_blender blender = txm_color_blender(i->context->color);
    const txm_conform asked = txm_conform_plan(i->info, r->space, r->alpha, blender, NULL);
    const txm_conform made = txm_conform_plan(i->info, r->space, d->alpha, blender, NULL);
    *why = 0;
    /* Spaces are the same if their class or their transform is: names and aliases of one space give the same pixels. */
    const txm_color_space *space = NULL;
    const bool same_space = !strcmp(txm_conform_detected(i->info, r->space, r->named), d->detected) ||
                            (txm_color_find(i->context->color, d->detected, &space, NULL) == TXM_OK &&
                             txm_color_space_class(space) == txm_color_space_class(r->space) &&
                             !strcmp(txm_color_space_transform_id(space), txm_color_space_transform_id(r->space)));
    if (*d->detected && !same_space)
        snprintf(why, why_bytes, "made with colour space %.120s, not %.120s",
                 *d->requested ? txm_space_shown(d->requested) : d->detected, txm_space_shown(r->requested));
    else if (d->has_alpha_type && !txm_conform_same(&asked, &made)) /* alpha types differ only for images with alpha */
        snprintf(why, why_bytes, "made with alpha type %s, not %s", txm_alpha_name(d->alpha), txm_alpha_name(r->alpha));
    else if (*d->xyz_to_scene_linear && strcmp(d->xyz_to_scene_linear, r->key.xyz_text) != 0)
        snprintf(why, why_bytes, "made for working space %.120s, which is not the requested one",
                 *d->working_space ? d->working_space : "of another matrix");
    else if (d->envlatl != r->key.equiangular)
        snprintf(why, why_bytes, "made %s", d->envlatl ? "as a lat-long environment" : "as a plain texture");
    else if (txm_resolved_config(r->space, d, why, why_bytes) &&
             txm_release_fits(&release, d, why, why_bytes) != TXM_FITTING_NO)
        return txm_limit_fits(i->info, d->limit_px, d->constant_count > 0, r->limit_px, why, why_bytes) ? TXM_FIT_YES
                                                                                                        : TXM_FIT_SIZE;
    return TXM_FIT_COLOURS;
}

_Static_assert((int)TXM_KEY_HEX == (int)TXM_SHA1_HEX, "a key is a SHA-1");

void txm_settings_key(const txm_source_info *info, const txm_color_space *space, txm_alpha alpha, txm_blender blender,
                      const txm_settings *settings, char out[TXM_KEY_HEX])
{
    static const char *const classes[] = {"data", "scene_linear", "scene_linear_srgb", "converted"};
    const txm_conform c = txm_conform_plan(info, space, alpha, blender, NULL);
    char text[512], limit[32] = "";
    const uint32_t level = txm_limit_level(info->width, info->height, settings->limit_px);
    if (level)
        snprintf(limit, sizeof limit, " halved:%u", level);
    /* For a converted space only the digest of its transform is part of the key, and not its name: the same transform
     * gives the same pixels. */
    int n = snprintf(text, sizeof text,
                     "format:%u pixels:%d class:%s transform:%.300s associate:%d opaque:%d divide:%d latlong:%d "
                     "mono:%d%s%s",
                     txm_blender_format_now()->version, TXM_PIXELS_VERSION, classes[txm_color_space_class(space)],
                     txm_color_space_transform_id(space), c.associate, c.set_opaque, c.divide, settings->equiangular,
                     settings->mono && c.channels > 1, c.curve == TXM_CURVE_SRGB_PACKED ? " packed" : "", limit);
    txm_sha1_of(text, (size_t)n, out);
}

/* What a tx file has to state about itself so that the image is not needed. */
typedef struct stated {
    const txm_context *context;
    const txm_resolved *resolved;
} stated;

static txm_fit says_the_same(const void *user, const txm_tx_description *d, char *why, size_t why_bytes)
{
    const stated *s = user;
    const txm_color_space *space = NULL;
    snprintf(why, why_bytes, "it does not state its settings");
    const bool same = !strcmp(d->requested, s->resolved->requested) && d->has_alpha_type &&
                      d->alpha == s->resolved->alpha && !strcmp(d->xyz_to_scene_linear, s->resolved->key.xyz_text) &&
                      !d->releases &&
                      (!d->config || (txm_color_find(s->context->color, d->requested, &space, NULL) == TXM_OK &&
                                      txm_resolved_config(space, d, why, why_bytes)));
    if (same)
        *why = 0;
    return same ? TXM_FIT_YES : TXM_FIT_COLOURS;
}

bool txm_serves_unopened(const txm_context *context, const txm_settings *settings, const char *path,
                         txm_resolved *resolved, txm_found *out, txm_tx_description *description, txm_tx_info *info)
{
    const char *name = NULL, *usual = NULL;
    txm_alpha usual_alpha = TXM_ALPHA_STRAIGHT;
    const txm_space_choice choice = txm_space_chosen(settings->colorspace, &name);
    *out = (txm_found){0};
    if ((choice != TXM_SPACE_DEFAULT && choice != TXM_SPACE_NAMED) ||
        !txm_source_format_defaults(path, context->color, &usual, &usual_alpha))
        return false;
    name = choice == TXM_SPACE_DEFAULT ? usual : txm_color_meant(context->color, name);
    *resolved =
        resolved_as(context, settings, name, settings->alpha == TXM_ALPHA_DEFAULT ? usual_alpha : settings->alpha);
    const stated image = {context, resolved};
    const txm_tx_match match = {says_the_same, &image, resolved->requested, context->whole_content, context->cancel};
    txm_tx *tx = NULL;
    bool serves = txm_tx_lookup(path, settings->cache_dir, &resolved->key, &match, out, NULL) == TXM_OK &&
                  out->state == TXM_TX_STATE_FRESH && txm_tx_open(out->path, &tx, NULL) == TXM_OK &&
                  txm_tx_describe(tx, description, NULL) == TXM_OK;
    if (serves) {
        *info = *txm_tx_info_of(tx);
        /* Without the image, only a file that has the same limit, or none and a size within the limit, is known to have
         * the right size. */
        const uint32_t limit = resolved->limit_px;
        serves = description->limit_px
                     ? description->limit_px == limit
                     : !limit || (!description->constant_count && !txm_limit_level(info->width, info->height, limit));
        if (!serves)
            txm_tx_description_free(description);
    }
    if (!serves)
        txm_found_clear(out);
    txm_tx_close(&tx);
    return serves;
}
