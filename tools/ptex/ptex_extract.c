/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements `txmill extract` for a Ptex file: writes one face, or a sheet of all faces, as a picture file.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/output/exits.h"
#include "tools/ptex/ptex_picture.h"
#include "txmill/out_file.h"

static txm_status read_ptex_picture(const txm_ptex *p, uint32_t face, uint32_t level, txm_ptex_values values,
                                    txm_level_picture *out, txm_error *err)
{
    if (face != TXM_PTEX_ALL_FACES)
        return txm_ptex_face_picture(p, face, level, values, out, err);
    txm_ptex_sheet sheet;
    txm_status status = txm_ptex_sheet_lay(p, level, &sheet, err);
    if (status == TXM_OK)
        status = txm_ptex_sheet_picture(p, &sheet, level, values, txm_signal_flag(), out, err);
    txm_ptex_sheet_clear(&sheet);
    return status;
}

/* Finds the largest level that fits. A sheet has at least one texel for each face, so even its smallest level may be
 * too large. */
static txm_status fit_ptex_level(const txm_ptex *p, uint32_t face, uint32_t fit_px, uint32_t *level, txm_error *err)
{
    txm_status status = TXM_OK;
    bool fits = false;
    for (*level = 0; !fits && *level <= TXM_PTEX_MAX_LOG2 && status == TXM_OK; ++*level) {
        txm_ptex_sheet sheet = {.places = NULL};
        status = txm_ptex_sheet_lay(p, *level, &sheet, err);
        if (status == TXM_OK)
            fits = face == TXM_PTEX_ALL_FACES || !txm_ptex_face_of(p, face)
                       ? sheet.width <= fit_px && sheet.height <= fit_px
                       : sheet.places[face].w <= fit_px && sheet.places[face].h <= fit_px;
        txm_ptex_sheet_clear(&sheet);
    }
    if (status == TXM_OK && !fits)
        status = txm_fail(err, TXM_STATUS_TOO_LARGE, "no level is as small as %u px; name a face with --face", fit_px);
    *level -= 1;
    return status;
}

static txm_status encode_ptex_picture(const txm_level_picture *p, const char *output, const char *name, txm_error *err)
{
    const txm_picture picture = {p->pixels,    (size_t)p->width * p->channels * txm_type_bytes(p->type),
                                 p->width,     p->height,
                                 p->channels,  p->type,
                                 p->colorspace};
    unsigned char *file = NULL;
    size_t bytes = 0;
    txm_status status = txm_picture_encode(name, &picture, &file, &bytes, err);
    if (status == TXM_OK)
        status = txm_out_file_write(output, file, bytes, err);
    free(file);
    return status;
}

txm_status txm_ptex_write_picture(const char *path, const char *output, const txm_ptex_extract *how,
                                  txm_extracted *result, txm_error *err)
{
    txm_ptex *p = NULL;
    txm_level_picture picture = {0};
    txm_error cause = {0};
    uint32_t level = how->level;
    char *name = how->format ? txm_asprintf("picture.%s", how->format) : txm_strdup(output);
    bool view = name && !how->raw && txm_picture_is_for_viewing(name);
    txm_status status = name ? txm_ptex_open(path, TXM_PTEX_PREMULTIPLY, &p, err) : txm_no_memory(err, path);
    if (status == TXM_OK && how->fit_px)
        status = fit_ptex_level(p, how->face, how->fit_px, &level, &cause);
    if (status == TXM_OK)
        status =
            read_ptex_picture(p, how->face, level, view ? TXM_PTEX_FOR_VIEWING : TXM_PTEX_AS_STORED, &picture, &cause);
    if (cause.status != TXM_OK)
        txm_fail(err, status, cause.status == TXM_STATUS_CORRUPT ? "%.0s%s" : "%s: %s", path, cause.message);
    if (status == TXM_OK)
        status = encode_ptex_picture(&picture, output, name, err);
    if (status == TXM_OK)
        *result = (txm_extracted){.width = picture.width,
                                  .height = picture.height,
                                  .channels = picture.channels,
                                  .type = picture.type,
                                  .encoded = picture.encoded,
                                  .level = level};
    txm_level_picture_clear(&picture);
    txm_ptex_close(&p);
    free(name);
    return status;
}
