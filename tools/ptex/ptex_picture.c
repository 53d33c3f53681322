/* SPDX-License-Identifier: Apache-2.0
 *
 * Renders faces of a Ptex file as a picture.
 *
 * The input is an open file and the number of a face, or a sheet of all faces; the result is in memory, with rows from
 * the top. A file does not specify the meaning of its values: integers are shown unchanged, and floats are treated as
 * scene-linear.
 */
#include "tools/ptex/ptex_picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static uint32_t reduced(uint32_t log2, uint32_t level)
{
    return log2 > level ? log2 - level : 0;
}

/* ---- channels ---------------------------------------------------------------------------------------------------- */

/* Grey or RGB, with alpha if it follows these channels in the file. */
static uint32_t shown_channels(const txm_ptex_info *i, txm_ptex_values values)
{
    if (values == TXM_PTEX_AS_STORED)
        return i->channels;
    uint32_t colours = i->channels - (i->alpha_channel >= 0) >= 3 ? 3 : 1;
    return colours + (values == TXM_PTEX_FOR_VIEWING && i->alpha_channel == (int32_t)colours);
}

/* Converts a row of texels for display. `line` has room for the floats of a texel. */
static void show_texels(const txm_ptex_info *i, txm_ptex_values values, uint32_t channels, const uint8_t *in,
                        uint32_t count, float *line, uint8_t *out)
{
    if (values == TXM_PTEX_AS_STORED) {
        memcpy(out, in, count * (size_t)i->pixel_bytes);
        return;
    }
    for (uint32_t x = 0; x < count; x++, in += i->pixel_bytes, out += channels) {
        if (i->type == TXM_TYPE_U8) {
            memcpy(out, in, channels);
            continue;
        }
        txm_samples_to_float(i->type, in, line, channels);
        for (uint32_t c = 0; c < channels; c++)
            if (txm_type_is_float(i->type) && !(c + 1 == channels && channels % 2 == 0))
                out[c] = (uint8_t)txm_srgb_code(line[c]);
            else
                txm_samples_from_float(TXM_TYPE_U8, &line[c], out + c, 1);
    }
}

/* ---- a picture --------------------------------------------------------------------------------------------------- */

static txm_status begin_picture(const txm_ptex *p, uint32_t w, uint32_t h, txm_ptex_values values,
                                txm_level_picture *out, txm_error *err)
{
    const txm_ptex_info *i = txm_ptex_info_of(p);
    bool stored = values == TXM_PTEX_AS_STORED;
    *out = (txm_level_picture){.width = w,
                               .height = h,
                               .channels = shown_channels(i, values),
                               .type = stored ? i->type : TXM_TYPE_U8,
                               .encoded = !stored && txm_type_is_float(i->type)};
    out->colorspace = out->encoded ? "sRGB" : NULL;
    size_t bytes = txm_mul(txm_mul(w, h), out->channels * txm_type_bytes(out->type));
    if (bytes > TXM_PICTURE_MAX_BYTES)
        return txm_fail(err, TXM_STATUS_TOO_LARGE,
                        "%u x %u px with %u channels exceed the 4 GiB of a picture; choose a smaller level", w, h,
                        out->channels);
    out->pixels = txm_calloc(bytes, 1);
    return out->pixels ? TXM_OK : txm_no_memory(err, NULL);
}

/* Reads a face and copies it to its place upside down, because v points up. */
static txm_status put_face(const txm_ptex *p, uint32_t face, uint32_t u_log2, uint32_t v_log2, uint32_t left,
                           uint32_t top, txm_ptex_values values, txm_level_picture *out, txm_error *err)
{
    const txm_ptex_info *i = txm_ptex_info_of(p);
    uint32_t w = 1u << u_log2, h = 1u << v_log2;
    size_t px = out->channels * txm_type_bytes(out->type), bytes = txm_ptex_face_bytes(p, u_log2, v_log2);
    uint8_t *texels = txm_alloc_pixels(bytes, 1);
    float *line = txm_calloc(i->channels, sizeof *line);
    txm_status status = texels && line ? txm_ptex_read(p, face, u_log2, v_log2, texels, err) : txm_no_memory(err, NULL);
    for (uint32_t y = 0; y < h && status == TXM_OK; y++)
        show_texels(i, values, out->channels, texels + (size_t)y * w * i->pixel_bytes, w, line,
                    out->pixels + ((size_t)(top + h - 1 - y) * out->width + left) * px);
    free(texels);
    free(line);
    return status;
}

txm_status txm_ptex_face_picture(const txm_ptex *ptex, uint32_t face, uint32_t level, txm_ptex_values values,
                                 txm_level_picture *out, txm_error *err)
{
    const txm_ptex_face *f = txm_ptex_face_of(ptex, face);
    memset(out, 0, sizeof *out);
    if (!f)
        return txm_fail(err, TXM_STATUS_USAGE, "there is no face %u: the file has %u, counted from 0", face,
                        txm_ptex_info_of(ptex)->faces);
    uint32_t least = f->u_log2 < f->v_log2 ? f->u_log2 : f->v_log2;
    if (level > least)
        return txm_fail(err, TXM_STATUS_USAGE, "face %u has %u x %u texels, so it has levels 0 to %u, and no level %u",
                        face, 1u << f->u_log2, 1u << f->v_log2, least, level);
    txm_status status = begin_picture(ptex, 1u << (f->u_log2 - level), 1u << (f->v_log2 - level), values, out, err);
    if (status == TXM_OK)
        status = put_face(ptex, face, f->u_log2 - level, f->v_log2 - level, 0, 0, values, out, err);
    if (status != TXM_OK)
        txm_level_picture_clear(out);
    return status;
}

/* ---- a sheet ----------------------------------------------------------------------------------------------------- */

uint32_t txm_ptex_level_within(const txm_ptex *ptex, uint64_t texels)
{
    for (uint32_t level = 0; level < TXM_PTEX_MAX_LOG2; level++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < txm_ptex_info_of(ptex)->faces && sum <= texels; i++) {
            const txm_ptex_face *f = txm_ptex_face_of(ptex, i);
            sum += (uint64_t)1 << (reduced(f->u_log2, level) + reduced(f->v_log2, level));
        }
        if (sum <= texels)
            return level;
    }
    return TXM_PTEX_MAX_LOG2;
}

/* Sorts faces by height, with a counting sort. */
static uint32_t *faces_by_height(const txm_ptex *p)
{
    uint32_t faces = txm_ptex_info_of(p)->faces, n = 0;
    uint32_t *order = txm_calloc(faces, sizeof *order);
    for (int v = TXM_PTEX_MAX_LOG2; v >= 0 && order; v--)
        for (uint32_t i = 0; i < faces; i++)
            if (txm_ptex_face_of(p, i)->v_log2 == v)
                order[n++] = i;
    return order;
}

txm_status txm_ptex_sheet_lay(const txm_ptex *ptex, uint32_t level, txm_ptex_sheet *out, txm_error *err)
{
    uint32_t faces = txm_ptex_info_of(ptex)->faces;
    uint64_t area = 0, widest = 0, x = 0, y = 0, row = 0;
    uint32_t *order = faces_by_height(ptex);
    *out = (txm_ptex_sheet){.places = txm_calloc(faces, sizeof *out->places)};
    if (!order || !out->places) {
        free(order);
        txm_ptex_sheet_clear(out);
        return txm_no_memory(err, NULL);
    }
    for (uint32_t i = 0; i < faces; i++) {
        const txm_ptex_face *f = txm_ptex_face_of(ptex, i);
        out->places[i].w = 1u << reduced(f->u_log2, level);
        out->places[i].h = 1u << reduced(f->v_log2, level);
        area += (uint64_t)out->places[i].w * out->places[i].h;
        widest = out->places[i].w > widest ? out->places[i].w : widest;
    }
    uint64_t side = (uint64_t)ceil(sqrt((double)area)), width = side > widest ? side : widest;
    for (uint32_t n = 0; n < faces; n++) {
        txm_ptex_place *at = &out->places[order[n]];
        if (x + at->w > width) {
            x = 0;
            y += row;
            row = 0;
        }
        row = row > at->h ? row : at->h;
        at->x = (uint32_t)x;
        at->y = (uint32_t)y;
        x += at->w;
    }
    free(order);
    out->width = (uint32_t)width;
    out->height = (uint32_t)(y + row);
    if (width < UINT32_MAX && y + row < UINT32_MAX)
        return TXM_OK;
    txm_ptex_sheet_clear(out);
    return txm_fail(err, TXM_STATUS_TOO_LARGE,
                    "all faces together are too large for a picture; choose a smaller level");
}

void txm_ptex_sheet_clear(txm_ptex_sheet *sheet)
{
    free(sheet->places);
    *sheet = (txm_ptex_sheet){.places = NULL};
}

txm_status txm_ptex_sheet_picture(const txm_ptex *ptex, const txm_ptex_sheet *sheet, uint32_t level,
                                  txm_ptex_values values, const volatile int *cancel, txm_level_picture *out,
                                  txm_error *err)
{
    txm_status status = begin_picture(ptex, sheet->width, sheet->height, values, out, err);
    for (uint32_t i = 0; i < txm_ptex_info_of(ptex)->faces && status == TXM_OK; i++) {
        const txm_ptex_face *f = txm_ptex_face_of(ptex, i);
        const txm_ptex_place *at = &sheet->places[i];
        status = cancel && *cancel ? txm_fail(err, TXM_STATUS_CANCELLED, "cancelled")
                                   : put_face(ptex, i, reduced(f->u_log2, level), reduced(f->v_log2, level), at->x,
                                              at->y, values, out, err);
    }
    if (status != TXM_OK)
        txm_level_picture_clear(out);
    return status;
}
