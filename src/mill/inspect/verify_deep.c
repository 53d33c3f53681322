/* SPDX-License-Identifier: Apache-2.0
 *
 * Deep verification: converts the source again with the settings that the file states, into a temporary file, and
 * compares sizes, metadata and every tile of every level. The temporary file has neither compression nor borders,
 * which were checked before, and takes as much disk space as the image has pixels.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/owner.h"
#include "base/text.h"
#include "mill/convert/context.h"
#include "mill/inspect/verify_impl.h"
#include "txmill/out_file.h"

typedef struct deep {
    txm_verification *v;
    txm_context *context; /* has the file's working space */
    txm_context *derived; /* `context` if it had to be made; owned */
    char *path;           /* path of the conversion */
    txm_tx *again;
    txm_tx_description description;
} deep;

/* Compares the text of the matrix, which is part of what the name was made from. */
static bool fits_working_space(const deep *d, const txm_context *context)
{
    return !strcmp(txm_color_xyz_to_scene_linear_text(txm_context_color(context)),
                   d->v->description.xyz_to_scene_linear);
}

/* Finds a context with the file's working space. If there is none, that is a finding and not a failure. */
static txm_status find_context(deep *d, bool *found, txm_error *err)
{
    const txm_tx_description *said = &d->v->description;
    const txm_context *base = d->v->context;
    d->context = d->v->context;
    *found = fits_working_space(d, d->context);
    const bool same_release = d->v->release == txm_color_blender(base->color);
    if (same_release && (*found || !*said->working_space))
        return TXM_OK;
    const char *space = *said->working_space ? said->working_space : NULL;
    txm_status status = txm_context_derive_blender(base, base->ocio_path, space, d->v->release, &d->derived, NULL);
    if (status == TXM_STATUS_NO_MEMORY)
        return txm_fail(err, status, "%s: out of memory for a working space", d->v->path);
    d->context = d->derived;
    *found = !status && fits_working_space(d, d->derived);
    return TXM_OK;
}

/* The colour space to convert with. Blender's files store only its class, and any space of that class gives the same
 * pixels. */
static const char *colorspace_of(const deep *d)
{
    const txm_tx_description *said = &d->v->description;
    const txm_color_config *config = txm_context_color(d->context);
    const char *name = *said->requested ? said->requested : said->detected;
    txm_color_class wanted = !strcmp(name, "scene_linear_srgb") ? TXM_COLOR_CLASS_SRGB
                             : !strcmp(name, "scene_linear")    ? TXM_COLOR_CLASS_SCENE_LINEAR
                             : !strcmp(name, "data")            ? TXM_COLOR_CLASS_DATA
                                                                : TXM_COLOR_CLASS_OTHER;
    if (*said->requested || wanted == TXM_COLOR_CLASS_OTHER)
        return name;
    for (size_t i = 0, n = txm_color_count(config); i < n; i++) {
        txm_color_entry e;
        if (txm_color_entry_at(config, i, &e, NULL) == TXM_OK && e.available && e.color_class == wanted)
            return e.name;
    }
    return name;
}

static const char *folder_of_conversions(void)
{
    const char *tmp = getenv("TMPDIR");
    return tmp && *tmp ? tmp : "/tmp";
}

static void sweep(void)
{
    txm_swept swept = {0};
    txm_sweep_folder(folder_of_conversions(), false, &swept);
}

void txm_verify_sweep(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, sweep);
}

/* The settings that decide pixels are taken from the file; compression and borders are not. */
static txm_status convert_again(deep *d, txm_error *err)
{
    const txm_tx_info *i = d->v->info;
    txm_settings s;
    txm_settings_init(&s);
    txm_result result;
    s.colorspace = colorspace_of(d);
    s.alpha = d->v->description.alpha;
    s.equiangular = d->v->description.envlatl;
    s.limit_px = d->v->description.limit_px;
    s.mono = i->channels == 1;
    s.borders = false; /* borders were already compared with the pixels */
    s.tile_px = i->tile_w;
    s.compression = (txm_compression){TXM_CODEC_NONE, 0};
    const txm_convert_options options = {.struct_size = sizeof(txm_convert_options), .output = d->path};
    txm_status status = txm_convert(d->context, d->v->source, &s, &options, &result, err);
    txm_result_clear(&result);
    return status;
}

/* ---- comparing -------------------------------------------------------------------------------------------------- */

static void compare_text(const deep *d, const char *what, const char *found, const char *expected)
{
    if (txm_casecmp(found, expected) != 0)
        txm_find(d->v->findings, TXM_FINDING_DEEP_HEADER, TXM_NO_PLACE, "%s: %.150s, where the source gives %.150s",
                 what, *found ? found : "(none)", expected);
}

/* Whether pixels can be compared at all. */
static bool compare_headers(const deep *d)
{
    const txm_tx_info *a = d->v->info, *b = txm_tx_info_of(d->again);
    if (a->width != b->width || a->height != b->height || a->channels != b->channels || a->type != b->type ||
        a->levels > b->levels) {
        txm_find(d->v->findings, TXM_FINDING_DEEP_HEADER, TXM_NO_PLACE,
                 "%ux%u px, %u channels, %s, %u levels, where the source gives %ux%u px, %u channels, %s, %u levels",
                 a->width, a->height, a->channels, txm_type_name(a->type), a->levels, b->width, b->height, b->channels,
                 txm_type_name(b->type), b->levels);
        return false;
    }
    compare_text(d, "detected colour space", d->v->description.detected, d->description.detected);
    compare_text(d, "SHA-1", d->v->description.sha1, d->description.sha1);
    return true;
}

/* ---- the verification ------------------------------------------------------------------------------------------- */

/* A source that cannot be read, or colours that this config lacks, are a finding, because the comparison was requested
 * and could not be made. */
static txm_status run_deep_verify(deep *d, txm_error *err)
{
    txm_verification *v = d->v;
    bool found = false;
    txm_error own = {0};
    txm_status status = find_context(d, &found, err);
    if (status)
        return status;
    if (!found) {
        txm_find(v->findings, TXM_FINDING_DEEP_FAILED, TXM_NO_PLACE,
                 "the OCIO config has no working space like the file's; name config and working space with --ocio and "
                 "--working-space");
        return TXM_OK;
    }
    /* The name of the temporary file contains its process, so that the next run can remove it if this one is killed.
     * Whether files can be created in the folder is tried first: if not, that says nothing about the file that is
     * verified. */
    txm_verify_sweep();
    d->path = txm_owned_path(folder_of_conversions(), "txmill-verify", ".txm-tmp");
    if (!d->path)
        return txm_no_memory(err, d->v->path);
    int fd = open(d->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return txm_fail_errno(err, errno,
                              "%s: cannot convert the source again: no temporary file can be made in %s, which "
                              "TMPDIR names",
                              d->v->path, folder_of_conversions());
    close(fd);
    txm_owned_remove(d->path);
    status = convert_again(d, &own);
    if (status && (status == TXM_STATUS_CANCELLED || txm_status_retryable(status)))
        return txm_fail_with(err, status, &own);
    if (status) {
        txm_find(v->findings, TXM_FINDING_DEEP_FAILED, TXM_NO_PLACE, "%.400s", own.message);
        return TXM_OK;
    }
    if ((status = txm_tx_open(d->path, &d->again, err)) || (status = txm_tx_describe(d->again, &d->description, err)))
        return status;
    /* Each level is reported on its own: a wrong tile of level 0 spoils those of the levels made from it. */
    return compare_headers(d) ? txm_verify_tiles(v, d->again, err) : TXM_OK;
}

txm_status txm_verify_deep(txm_verification *v, txm_error *err)
{
    const txm_tx_description *stated = &v->description;
    const char *why =
        v->maker == TXM_MAKER_OTHER ? "another program made the file, with settings that it does not state"
        : !v->source                ? "the source was not found or cannot be examined; name it with --source"
        : !v->regular || v->info->tile_w != v->info->tile_h ? "its levels or tiles are not of the usual shape"
        : !*stated->detected || !*stated->xyz_to_scene_linear || !stated->has_alpha_type
            ? "the file does not state its settings"
            : NULL;
    if (why) {
        txm_find(v->findings, TXM_FINDING_DEEP_FAILED, TXM_NO_PLACE, "%s", why);
        return TXM_OK;
    }
    deep d = {.v = v};
    txm_status status = run_deep_verify(&d, err);
    txm_tx_description_free(&d.description);
    txm_tx_close(&d.again);
    txm_context_free(&d.derived);
    if (d.path)
        txm_owned_remove(d.path);
    free(d.path);
    return status;
}
