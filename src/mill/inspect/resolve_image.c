/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what Cycles would load for an image, or why it would load nothing: the path that it looks for, the state of
 * the file there and, if it is missing, the other tx files of the image, each with how its settings differ. Nothing is
 * changed, except that on request an outdated file that is otherwise right gets the image's time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/options.h"
#include "base/os/files.h"
#include "base/path.h"
#include "mill/convert/resolve.h"
#include "mill/inspect/listings.h"
#include "mill/inspect/renamed.h"
#include "mill/inspect/verify_impl.h"
#include "mill/source/defaults.h"
#include "mill/source/source.h"
#include "mill/write/publish.h"
#include "tile/name/lookup.h"
#include "tile/terms/settings.h"
#include "txmill/inspect.h"

void txm_resolution_clear(txm_resolution *r)
{
    if (!r)
        return;
    free(r->path);
    free(r->reason);
    free(r->shows);
    free(r->former);
    for (size_t i = 0; i < r->other_count; i++)
        free(r->others[i].path);
    for (size_t i = 0; i < r->version_count; i++)
        free(r->versions[i].path);
    free(r->versions);
    memset(r, 0, sizeof *r);
}

typedef struct resolving {
    txm_context *context;
    const char *image;
    txm_resolved resolved;
    const txm_source_info *info;
    struct stat st; /* status of the image */
    txm_resolution *out;
    txm_resolve_options how;
    txm_listings *listings;
    txm_content content; /* as in txm_found */
} resolving;

/* ---- other names ------------------------------------------------------------------------------------------------ */

/* Differences are joined by semicolons; text that does not fit is cut off. */
static void add_difference(char *text, size_t text_bytes, const char *what, const char *found, const char *requested)
{
    size_t used = strlen(text);
    if (strcmp(found, requested) != 0 && used < text_bytes)
        snprintf(text + used, text_bytes - used, "%s%s %s, not %s", used ? "; " : "", what, found, requested);
}

/* Names options, so that the user knows what to change. `bit`: of this file. */
static void describe_difference(const resolving *r, const txm_name_match *m, bool found, txm_other_name *other,
                                uint32_t bit)
{
    const txm_tx_key *key = &r->resolved.key;
    char *text = other->difference;
    size_t bytes = sizeof other->difference;
    text[0] = 0;
    if (!found) {
        snprintf(text, bytes, "made with settings that this config does not have, or for an image in another folder");
        return;
    }
    add_difference(text, bytes, "colour space", m->colorspace, *key->colorspace ? key->colorspace : "auto");
    r->out->other_spaces |= *text ? bit : 0;
    add_difference(text, bytes, "alpha type", txm_alpha_name(m->alpha), txm_alpha_name(key->alpha));
    add_difference(text, bytes, "format", m->equiangular ? "lat-long" : "plain",
                   key->equiangular ? "lat-long" : "plain");
    const txm_color_config *color = r->context->color;
    const txm_blender *version = txm_blender_versions();
    const bool same = strcmp(m->xyz_to_scene_linear, txm_color_xyz_to_scene_linear_text(color)) == 0;
    while (*version && strcmp(m->xyz_to_scene_linear, txm_color_xyz_text_of(color, *version)) != 0)
        version++;
    if (*version && !same)
        add_difference(text, bytes, "for Blender", txm_blender_name(*version),
                       txm_blender_name(txm_color_blender(color)));
    else if (strcmp(m->xyz_to_scene_linear, key->xyz_text) != 0)
        add_difference(text, bytes, "working space", *m->working_space ? m->working_space : "another", "this one");
    r->out->other_settings |= *text ? bit : 0;
    if (!*text)
        snprintf(text, bytes, "%s",
                 m->absolute_dir ? "named for an absolute cache folder" : "named for a cache folder beside the image");
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const txm_other_name *)a)->path, ((const txm_other_name *)b)->path);
}

/* Finds the tx files of the image in one folder, which may not exist: its name with another digest. */
static txm_status find_in(resolving *r, const char *folder, txm_error *err)
{
    txm_listing *l = NULL;
    size_t source_bytes;
    const char *base = txm_path_base(r->image);
    const size_t bytes = strlen(base);
    txm_status status = txm_listings_get(r->listings, folder, &l, err);
    for (size_t i = status ? 0 : txm_listing_find(l, base, bytes);
         !status && i < l->names.count && !strncmp(l->names.items[i].name, base, bytes) &&
         r->out->other_count < TXM_MAX_OTHER_NAMES;
         i++) {
        if (!txm_tx_name_parse(l->names.items[i].name, &source_bytes, NULL, NULL) || source_bytes != bytes ||
            !strcmp(l->names.items[i].name, txm_path_base(r->out->path)))
            continue;
        char *path = txm_path_join(folder, l->names.items[i].name);
        if (path)
            r->out->others[r->out->other_count++].path = path;
        else
            status = txm_no_memory(err, r->image);
    }
    return status;
}

/* Looks in the folder in which the right file is missing, and in the one beside the image, where Cycles looks too. */
static txm_status find_others(resolving *r, txm_error *err)
{
    char *folder = txm_path_dir(r->out->path), *usual = NULL;
    /* Files in the current folder are listed without "./". */
    char *beside = strchr(r->image, '/') ? txm_path_dir(r->image) : txm_strdup("");
    txm_status status = TXM_OK;
    if (beside)
        usual = txm_path_join(beside, "blender_tx");
    if (!folder || !usual)
        status = txm_no_memory(err, r->image);
    if (!status)
        status = find_in(r, folder, err);
    if (!status && !txm_same_file(folder, usual))
        status = find_in(r, usual, err);
    free(folder);
    free(beside);
    free(usual);
    qsort(r->out->others, r->out->other_count, sizeof r->out->others[0], by_path);
    /* Once they are sorted, since bits of the result have their numbers. */
    for (size_t i = 0; status == TXM_OK && i < r->out->other_count; i++) {
        txm_name_match match;
        bool found = false;
        status = txm_name_search(r->context, r->out->others[i].path, r->image, NULL, &match, &found, err);
        if (status == TXM_OK)
            describe_difference(r, &match, found, &r->out->others[i], (uint32_t)1 << i);
    }
    return status;
}

/* ---- time ------------------------------------------------------------------------------------------------------- */

static txm_status set_text(char **text, const char *value, txm_error *err)
{
    free(*text);
    *text = txm_strdup(value);
    return *text ? TXM_OK : txm_no_memory(err, NULL);
}

/* Whether the file has the pixels that the image would give; the reason says what is wrong otherwise, after `refusal`.
 * Notes and the time do not count. That the image has other content comes last, since the others say what that means.
 */
static txm_status compare_pixels(resolving *r, const char *path, const char *refusal, bool *same, txm_error *err)
{
    const txm_verify_options deep = {.struct_size = sizeof(txm_verify_options), .deep = true, .source = r->image};
    txm_findings findings = {0};
    const txm_finding *found = NULL;
    char text[800];
    txm_status status = txm_verify(r->context, path, &deep, &findings, err);
    for (size_t i = 0; !status && i < findings.count; i++) {
        const txm_finding *f = &findings.items[i];
        if (f->kind->severity == TXM_SEVERITY_NOTE || !strcmp(f->kind->id, "TXM-401"))
            continue;
        found = f;
        if (strcmp(f->kind->id, "TXM-403") != 0)
            break;
    }
    *same = !status && !found;
    if (found) {
        snprintf(text, sizeof text, "%s: %s %s (%s)", refusal, found->kind->id, found->kind->meaning, found->text);
        status = set_text(&r->out->reason, text, err);
    }
    txm_findings_clear(&findings);
    return status;
}

/* Gives an outdated file the image's time if the image has the content of which it was made, which the file says if
 * txmill made it, or if it has the pixels that the image would give. A file that differs stays
 * outdated, and the reason says how. Notes do not prevent it. */
static txm_status refresh(resolving *r, txm_error *err)
{
    txm_resolution *out = r->out;
    if (r->content == TXM_CONTENT_OTHER)
        return set_text(&out->reason, "not refreshed: the image has other content than when the file was made", err);
    bool same = r->content == TXM_CONTENT_SAME && !r->how.deep;
    txm_status status = same ? TXM_OK : compare_pixels(r, out->path, "not refreshed", &same, err);
    if (status || !same || (status = txm_publish_time(out->path, &r->st.st_mtim, err)))
        return status;
    out->state = TXM_TX_STATE_FRESH;
    out->tx_time = r->st.st_mtime;
    out->refreshed = true;
    status = set_text(&out->reason, "", err);
    return status ? status : set_text(&out->shows, "uses it", err);
}

/* ---- the lookup ------------------------------------------------------------------------------------------------ */

/* Checks what the lookup has not: whether all tiles can be decoded. */
static txm_status judge_tiles(resolving *r, const txm_settings *settings, txm_error *err)
{
    const txm_verify_options options = {
        .struct_size = sizeof(txm_verify_options), .equiangular = settings->equiangular, .source = r->image};
    txm_verdict verdict;
    txm_status status = txm_judge(r->context, r->out->path, &options, &verdict, err);
    if (status || verdict.use != TXM_USE_DAMAGED)
        return status;
    r->out->state = TXM_TX_STATE_UNUSABLE;
    r->out->harmless = verdict.harmless;
    status = set_text(&r->out->reason, verdict.reason, err);
    return status ? status : set_text(&r->out->shows, verdict.shows, err);
}

static void take_found(txm_resolution *out, txm_found *found)
{
    struct stat tx;
    out->state = found->state;
    out->path = found->path;
    out->reason = found->reason;
    out->shows = found->shows;
    out->harmless = found->harmless;
    if (found->state != TXM_TX_STATE_SOURCE && stat(found->path, &tx) == 0)
        out->tx_time = tx.st_mtime;
    *found = (txm_found){0};
}

static txm_status look_up_resolved(resolving *r, const txm_settings *settings, txm_error *err)
{
    txm_found found = {0};
    const txm_resolved_image image = {.context = r->context, .info = r->info, .resolved = &r->resolved};
    const char *space = strcmp(r->resolved.requested, "auto") ? r->resolved.requested : NULL;
    const txm_tx_match match = {txm_resolved_fits, &image, space, r->context->whole_content, r->context->cancel};
    txm_status status = txm_tx_lookup(r->image, settings->cache_dir, &r->resolved.key, &match, &found, err);
    if (status || (status = txm_found_settled(&found, err)))
        return status;
    r->content = found.content;
    take_found(r->out, &found);
    return r->out->state == TXM_TX_STATE_FRESH && r->how.deep ? judge_tiles(r, settings, err) : TXM_OK;
}

/* ---- renamed images ---------------------------------------------------------------------------------------------- */

/* Renames the file if it has the pixels that the image would give, and its time is set before. What is wrong is the new
 * reason otherwise. *done: the search ends, because there is a file of the image's name. */
static txm_status adopt_one(resolving *r, const txm_former *former, bool *done, txm_error *err)
{
    struct stat before, after;
    char refusal[240];
    bool same;
    *done = false;
    if (stat(former->path, &before) != 0)
        return TXM_OK;
    snprintf(refusal, sizeof refusal, "%.200s not adopted", former->path);
    txm_status status = compare_pixels(r, former->path, refusal, &same, err);
    if (status || !same)
        return status;
    if (stat(former->path, &after) != 0 || after.st_ino != before.st_ino || after.st_size != before.st_size ||
        after.st_mtim.tv_sec != before.st_mtim.tv_sec || after.st_mtim.tv_nsec != before.st_mtim.tv_nsec)
        return TXM_OK;
    if (!former->same_time && (status = txm_publish_time(former->path, &r->st.st_mtim, err)))
        return status;
    const int failed = txm_file_rename_new(former->path, former->target);
    if (failed && failed != EEXIST && failed != ENOENT)
        return txm_fail_errno(err, failed, "%s: cannot be renamed to %s", former->path, txm_path_base(former->target));
    *done = failed != ENOENT;
    r->out->adopted = !failed;
    return failed ? TXM_OK : set_text(&r->out->former, former->path, err);
}

/* Of images that all have one size and time, any could be the one; comparing each with all takes longer than making
 * their files. */
enum { MOST_COMPARED = 16 };

/* Afterwards the image is looked up again, since another process may have made its file. */
static txm_status adopt_former(resolving *r, const txm_settings *settings, txm_error *err)
{
    txm_formers formers;
    bool done = false;
    txm_status status =
        txm_formers_find(r->image, r->info, settings->cache_dir, &r->resolved.key, r->listings, &formers, err);
    if (!status && formers.count && formers.items[0].same_time)
        status = set_text(&r->out->former, formers.items[0].path, err);
    for (size_t i = 0; !status && !done && r->how.adopt && i < formers.count && i < MOST_COMPARED; i++)
        status = adopt_one(r, &formers.items[i], &done, err);
    txm_formers_free(&formers);
    if (!done && r->how.adopt) { /* it was another image */
        free(r->out->former);
        r->out->former = NULL;
    }
    if (status || !done)
        return status;
    free(r->out->path);
    free(r->out->reason);
    free(r->out->shows);
    r->out->path = r->out->reason = r->out->shows = NULL;
    return look_up_resolved(r, settings, err);
}

/* Versions of Blender look for the same file unless their matrices differ, and find the same pixels good in most. */
static txm_status look_up_versions(resolving *r, const txm_settings *settings, txm_error *err)
{
    const txm_blender *list = txm_blender_versions();
    txm_resolution *out = r->out;
    size_t count = 0;
    while (list[count] != TXM_BLENDER_NEWEST)
        count++;
    out->versions = txm_calloc(count, sizeof *out->versions);
    if (!out->versions)
        return txm_no_memory(err, r->image);
    const txm_resolved_image requested = {.context = r->context, .info = r->info, .resolved = &r->resolved};
    const txm_release_image own = r->info ? txm_release_image_of(&requested) : (txm_release_image){0};
    for (; out->version_count < count; out->version_count++) {
        const txm_blender blender = list[out->version_count];
        const txm_resolved_image image = {r->context, r->info, &r->resolved, blender};
        const txm_tx_match match = {.fits = txm_resolved_fits, .user = &image};
        txm_found found = {.state = out->state};
        txm_tx_key key = r->resolved.key;
        key.xyz_text = txm_color_xyz_text_of(r->context->color, blender);
        const bool same_name = !strcmp(key.xyz_text, r->resolved.key.xyz_text);
        const bool same_pixels =
            !r->info || txm_conform_same_release(own.info, own.class, own.alpha, own.blender, blender);
        if (out->state == TXM_TX_STATE_SOURCE || (same_name && same_pixels)) {
            found.path = txm_strdup(out->path);
            if (!found.path)
                return txm_no_memory(err, r->image);
        } else {
            txm_status status =
                txm_tx_lookup(r->image, settings->cache_dir, &key, same_name ? &match : NULL, &found, err);
            if (status || (status = txm_found_settled(&found, err)))
                return status;
        }
        out->versions[out->version_count] = (txm_version_answer){blender, found.path, found.state};
        found.path = NULL;
        txm_found_clear(&found);
    }
    return TXM_OK;
}

/* An image of a single pixel is not converted: Cycles keeps it as a constant. */
static txm_status run_resolve(resolving *r, txm_source *source, const txm_settings *settings, txm_error *err)
{
    const txm_source_info *info = r->info = txm_source_info_of(source);
    txm_resolution *out = r->out;
    txm_status status = txm_resolve(r->context, settings, r->image, info, true, &r->resolved, err);
    if (status)
        return status;
    snprintf(out->colorspace, sizeof out->colorspace, "%s", r->resolved.requested);
    out->alpha = r->resolved.alpha;
    if (stat(r->image, &r->st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot examine the image", r->image);
    out->image_time = r->st.st_mtime;
    if (info->width == 1 && info->height == 1) {
        out->state = TXM_TX_STATE_SOURCE;
        out->path = txm_strdup(r->image);
        out->reason = txm_strdup("");
        out->shows = txm_strdup("uses the image as it is");
        return out->path && out->reason && out->shows ? TXM_OK : txm_no_memory(err, r->image);
    }
    if ((status = look_up_resolved(r, settings, err)))
        return status;
    /* A deep comparison that a killed run left unfinished may have left a file; nothing would start another comparison,
     * so it is removed here. */
    if (r->how.refresh || r->how.adopt)
        txm_verify_sweep();
    if (out->state == TXM_TX_STATE_MISSING && (status = adopt_former(r, settings, err)))
        return status;
    if (out->state == TXM_TX_STATE_OUTDATED && r->how.refresh)
        return refresh(r, err);
    return out->state == TXM_TX_STATE_MISSING ? find_others(r, err) : TXM_OK;
}

/* Whether the tx file says everything, so that no decoder has to be started, as for make; or, with the reason why the
 * image cannot be read, whether its tx file can be found: the settings alone decide its name. */
static bool resolve_by_tx(resolving *r, const txm_settings *settings, const txm_error *unread)
{
    txm_found found;
    txm_tx_description d = {0};
    txm_tx_info info;
    if (!r->image || stat(r->image, &r->st) != 0 ||
        !(unread ? txm_serves_unread(r->context, settings, r->image, unread, &r->resolved, &found)
                 : txm_serves_unopened(r->context, settings, r->image, &r->resolved, &found, &d, &info)))
        return false;
    txm_tx_description_free(&d);
    take_found(r->out, &found);
    r->out->image_time = r->st.st_mtime;
    r->out->alpha = r->resolved.alpha;
    snprintf(r->out->colorspace, sizeof r->out->colorspace, "%s", r->resolved.requested);
    return true;
}

/* Reads at most the header of the image. */
txm_status txm_resolve_image(txm_context *context, const char *image, const txm_settings *settings,
                             const txm_resolve_options *options, txm_resolution *out, txm_error *err)
{
    txm_error_clear(err);
    const txm_source_options reading = {.max_memory_bytes = context->max_memory_bytes};
    txm_listings listings = {0};
    resolving r = {.context = context, .image = image, .out = out, .listings = &listings};
    txm_source *source = NULL;
    txm_settings s;
    txm_error why = {0};
    memset(out, 0, sizeof *out);
    txm_status status = txm_settings_take(&s, settings, err);
    if (!status)
        status = txm_options_take(&r.how, sizeof r.how, options, "txm_resolve_options", err);
    if (!status) {
        const bool known = resolve_by_tx(&r, &s, NULL);
        status = known ? TXM_OK : txm_source_open(image, &reading, &source, &why);
        if (known || (status && resolve_by_tx(&r, &s, &why)))
            status = r.how.deep ? judge_tiles(&r, &s, err) : TXM_OK;
        else if (status)
            txm_fail_as(err, &why);
        else
            status = run_resolve(&r, source, &s, err);
    }
    if (!status)
        status = look_up_versions(&r, &s, err);
    txm_source_close(&source);
    txm_listings_free(&listings);
    if (status)
        txm_resolution_clear(out);
    return status;
}

struct txm_relatives {
    txm_listings listings;
};

txm_relatives *txm_relatives_new(void)
{
    return txm_calloc(1, sizeof(txm_relatives));
}

void txm_relatives_free(txm_relatives **relatives)
{
    if (!relatives || !*relatives)
        return;
    txm_listings_free(&(*relatives)->listings);
    free(*relatives);
    *relatives = NULL;
}

/* The same name is computed as in the dry run, from what it found. */
txm_status txm_relatives_find(txm_relatives *relatives, txm_context *context, const char *image,
                              const txm_settings *settings, const txm_result *result, txm_resolution *out,
                              txm_error *err)
{
    txm_error_clear(err);
    txm_settings s;
    memset(out, 0, sizeof *out);
    txm_status status = txm_settings_take(&s, settings, err);
    if (status)
        return status;
    const char *space = NULL;
    const txm_space_choice choice = txm_space_chosen(s.colorspace, &space);
    if (choice == TXM_SPACE_DEFAULT || choice == TXM_SPACE_NAMED)
        space = result->colorspace;
    const txm_source_info info = {
        .width = result->width, .height = result->height, .mtime = {.tv_sec = result->image_time}};
    resolving r = {.context = context,
                   .image = image,
                   .info = &info,
                   .out = out,
                   .listings = &relatives->listings,
                   .resolved = {.requested = result->colorspace,
                                .alpha = result->alpha,
                                .key = {.xyz_text = txm_color_xyz_to_scene_linear_text(context->color),
                                        .colorspace = txm_key_word(context->color, space),
                                        .alpha = result->alpha,
                                        .equiangular = s.equiangular}}};
    out->state = TXM_TX_STATE_MISSING;
    status = set_text(&out->path, result->tx_path, err);
    if (!status)
        status = adopt_former(&r, &s, err);
    if (!status)
        status = find_others(&r, err);
    if (status)
        txm_resolution_clear(out);
    return status;
}

/* ---- lookups by the header of an image -------------------------------------------------------------------------- */

txm_status txm_image_defaults(const txm_color_config *config, const char *image, const char **colorspace,
                              txm_alpha *alpha, txm_error *err)
{
    txm_error_clear(err);
    txm_source *source = NULL;
    if (colorspace)
        *colorspace = NULL;
    txm_status status = txm_source_open(image, NULL, &source, err);
    if (status != TXM_OK)
        return status;
    status = txm_source_scene_defaults(txm_source_info_of(source), image, config, colorspace, alpha);
    txm_source_close(&source);
    if (status != TXM_OK)
        return txm_fail(err, status, "the OCIO config has no role default_byte or default_float");
    return TXM_OK;
}

/* The header of the image is read only if a default has to be found. */
txm_status txm_look_up(const txm_color_config *config, const char *image, const txm_settings *settings, txm_found *out,
                       txm_error *err)
{
    txm_error_clear(err);
    const char *default_space = NULL;
    txm_alpha default_alpha = TXM_ALPHA_STRAIGHT;
    txm_settings s;
    *out = (txm_found){0};
    txm_status status = txm_settings_take(&s, settings, err);
    const char *space = NULL;
    bool no_space = status == TXM_OK && txm_space_chosen(s.colorspace, &space) == TXM_SPACE_DEFAULT;
    if (status == TXM_OK && (no_space || s.alpha == TXM_ALPHA_DEFAULT))
        status = txm_image_defaults(config, image, &default_space, &default_alpha, err);
    if (status != TXM_OK)
        return status;
    const txm_tx_key key = {.xyz_text = txm_color_xyz_to_scene_linear_text(config),
                            .colorspace = txm_key_word(config, no_space ? default_space : space),
                            .alpha = s.alpha == TXM_ALPHA_DEFAULT ? default_alpha : s.alpha,
                            .equiangular = s.equiangular};
    return txm_tx_lookup(image, s.cache_dir, &key, NULL, out, err);
}
