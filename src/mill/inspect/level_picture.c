/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads one level of a tx file, or all of them, into memory as a picture, and encodes scene-linear values through the
 * sRGB curve, with alpha divided out, for formats that are meant for viewing. Writes it in the format that the
 * extension of a name chooses.
 */
#include "txmill/level.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/path.h"
#include "tile/ops/arith.h"
#include "tile/ops/ops.h"
#include "txmill/out_file.h"
#include "txmill/picture.h"
#include "txtile/reader.h"

/* Decodes a level into the rectangle of the picture that begins at (left, top). Tiles are decoded in place, without a
 * copy. */
static txm_status put_level(txm_tx *tx, uint32_t level, const txm_level_picture *p, uint32_t left, uint32_t top,
                            txm_error *err)
{
    const txm_tx_info *i = txm_tx_info_of(tx);
    const txm_tx_level *l = txm_tx_level_of(tx, level);
    size_t px = i->channels * txm_type_bytes(i->type), stride = p->width * px;
    uint8_t *at = p->pixels + top * stride + left * px;
    for (uint32_t y = 0; y < l->tiles_y; y++)
        for (uint32_t x = 0; x < l->tiles_x; x++) {
            uint8_t *tile = at + (size_t)y * i->tile_h * stride + (size_t)x * i->tile_w * px;
            txm_status status = txm_tx_read_tile(tx,
                                                 &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                                   .level = level,
                                                                   .tile_x = x,
                                                                   .tile_y = y,
                                                                   .pixels = tile,
                                                                   .pixel_stride_bytes = px,
                                                                   .row_stride_bytes = stride},
                                                 err);
            if (status)
                return status;
        }
    return TXM_OK;
}

/* The size is checked before memory is allocated, so that the message can say what to do. */
txm_status txm_level_picture_read(txm_tx *tx, uint32_t level, bool atlas, txm_level_picture *out, txm_error *err)
{
    txm_error_clear(err);
    const txm_tx_info *i = txm_tx_info_of(tx);
    const txm_tx_level *l = txm_tx_level_of(tx, atlas ? 0 : level);
    memset(out, 0, sizeof *out);
    if (!l)
        return txm_fail(err, TXM_STATUS_USAGE, "no level %u, the last is %u", level, i->levels - 1);
    size_t width = l->width, height = l->height;
    if (atlas) {
        size_t column = 0, column_width = 0;
        for (uint32_t n = 1; n < i->levels; n++) {
            const txm_tx_level *next = txm_tx_level_of(tx, n);
            column += next->height;
            column_width = next->width > column_width ? next->width : column_width;
        }
        width += column_width;
        height = height > column ? height : column;
    }
    size_t bytes = txm_mul(txm_mul(width, height), i->channels * txm_type_bytes(i->type));
    if (bytes > TXM_PICTURE_MAX_BYTES)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%zux%zu px take more than 4 GiB; choose a higher level", width,
                        height);
    *out = (txm_level_picture){.width = (uint32_t)width,
                               .height = (uint32_t)height,
                               .channels = i->channels,
                               .type = i->type,
                               .pixels = txm_calloc(bytes, 1)};
    txm_status status =
        out->pixels ? TXM_OK : txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for %zux%zu px", width, height);
    if (!status)
        status = put_level(tx, atlas ? 0 : level, out, 0, 0, err);
    for (uint32_t n = 1, top = 0; atlas && !status && n < i->levels; top += txm_tx_level_of(tx, n++)->height)
        status = put_level(tx, n, out, l->width, top, err);
    if (status)
        txm_level_picture_clear(out);
    return status;
}

void txm_level_picture_clear(txm_level_picture *picture)
{
    if (!picture)
        return;
    free(picture->pixels);
    *picture = (txm_level_picture){0};
}

txm_values txm_values_of(const txm_tx_description *d, txm_type type)
{
    if (!strcmp(d->detected, "data"))
        return TXM_VALUES_DATA;
    if (*d->detected)
        return strcmp(d->detected, "scene_linear_srgb") ? TXM_VALUES_LINEAR : TXM_VALUES_ENCODED;
    /* Files of other programs may state nothing: then integers are shown as they are, and floats are linear. */
    return txm_type_is_float(type) ? TXM_VALUES_LINEAR : TXM_VALUES_ENCODED;
}

/* Alpha is divided out first, because the curve applies to colours without alpha. */
txm_status txm_level_picture_encode(const txm_tx *tx, txm_level_picture *p, txm_error *err)
{
    txm_error_clear(err);
    static const char *const spaces[] = {NULL, "sRGB", "Linear"};
    txm_tx_description d;
    txm_status status = txm_tx_describe(tx, &d, err);
    if (status)
        return status;
    txm_values values = txm_values_of(&d, p->type);
    txm_tx_description_free(&d);
    p->colorspace = spaces[values];
    /* The writer converts floats of the sRGB class and of data to 8 bits. */
    if (values != TXM_VALUES_LINEAR)
        return TXM_OK;
    size_t samples = (size_t)p->width * p->channels, stride = samples * txm_type_bytes(p->type);
    uint8_t *encoded = txm_alloc_pixels(txm_mul(samples, p->height), 1);
    float *row = txm_alloc_pixels(samples, sizeof *row);
    if (!encoded || !row) {
        free(encoded);
        free(row);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for %ux%u px", p->width, p->height);
    }
    const txm_ops *ops = txm_ops_best();
    const bool rgba = p->channels == 4;
    for (uint32_t y = 0; y < p->height; y++) {
        uint8_t *dst = encoded + y * samples;
        ops->to_float(p->type, p->pixels + y * stride, row, samples);
        /* Alpha is not encoded: the operation skips it in pixels of four channels; with two channels it is restored. */
        ops->srgb_encode(TXM_TYPE_U8, rgba ? 4 : 1, TXM_CURVE_SRGB, row, dst, rgba ? p->width : samples);
        for (size_t x = 1; p->channels == 2 && x < samples; x += 2)
            ops->from_float(TXM_TYPE_U8, row + x, dst + x, 1);
    }
    free(row);
    free(p->pixels);
    p->pixels = encoded;
    p->type = TXM_TYPE_U8;
    p->colorspace = "sRGB";
    p->encoded = true;
    return TXM_OK;
}

/* Each sample is converted in place, since none grows. The memory is not shrunk, because it is freed soon. */
txm_status txm_level_picture_to_8_bits(txm_level_picture *p, txm_error *err)
{
    txm_error_clear(err);
    size_t samples = (size_t)p->width * p->height * p->channels;
    if (p->type == TXM_TYPE_U8)
        return TXM_OK;
    float *values = txm_alloc_pixels(samples, sizeof *values);
    if (!values)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for %ux%u px", p->width, p->height);
    txm_ops_best()->to_float(p->type, p->pixels, values, samples);
    txm_ops_best()->from_float(TXM_TYPE_U8, values, p->pixels, samples);
    p->type = TXM_TYPE_U8;
    free(values);
    return TXM_OK;
}

/* For callers that need a single value, such as the terminal view. */
unsigned txm_srgb_code(float value)
{
    return txm_float_to_code(txm_srgb_encode(value), 255.0f);
}

/* ---- files --------------------------------------------------------------------------------------------------------
 */

/* Limits the size of a thumbnail: a file may consist of one huge level, and reading all of it would take long. */
static txm_status fit_level(const txm_tx *tx, uint32_t fit_px, uint32_t *level, txm_error *err)
{
    uint32_t levels = txm_tx_info_of(tx)->levels;
    for (uint32_t n = 0; n < levels; n++) {
        const txm_tx_level *l = txm_tx_level_of(tx, n);
        if (l->width <= fit_px && l->height <= fit_px) {
            *level = n;
            return TXM_OK;
        }
    }
    const txm_tx_level *last = txm_tx_level_of(tx, levels - 1);
    return txm_fail(err, TXM_STATUS_TOO_LARGE, "no level fits into %u x %u px: the smallest is %u x %u", fit_px, fit_px,
                    last->width, last->height);
}

/* `format_name` ends with the extension of the format. */
static txm_status write_level(txm_tx *tx, const char *output, const char *format_name, const txm_extract_options *o,
                              txm_extracted *result, txm_error *err)
{
    txm_level_picture p = {0};
    uint32_t level = o->atlas ? 0 : o->level;
    txm_status status = o->fit_px && !o->atlas ? fit_level(tx, o->fit_px, &level, err) : TXM_OK;
    if (!status)
        status = txm_level_picture_read(tx, level, o->atlas, &p, err);
    if (!status && !o->raw && txm_picture_is_for_viewing(format_name))
        status = txm_level_picture_encode(tx, &p, err);
    if (!status) { /* encoded in memory first, so that an encoder that fails leaves no file */
        const txm_picture picture = {
            p.pixels,    (size_t)p.width * p.channels * txm_type_bytes(p.type), p.width, p.height, p.channels, p.type,
            p.colorspace};
        unsigned char *file;
        size_t bytes;
        status = txm_picture_encode(format_name, &picture, &file, &bytes, err);
        if (!status)
            status = txm_out_file_write(output, file, bytes, err);
        free(file);
    }
    if (!status)
        *result = (txm_extracted){.width = p.width,
                                  .height = p.height,
                                  .channels = p.channels,
                                  .type = p.type,
                                  .encoded = p.encoded,
                                  .level = level};
    txm_level_picture_clear(&p);
    return status;
}

txm_status txm_extract(const char *tx_path, const char *output, const txm_extract_options *options,
                       txm_extracted *result, txm_error *err)
{
    txm_error_clear(err);
    txm_error own = {0};
    txm_extract_options how = {0};
    txm_extracted written = {0};
    txm_tx *tx = NULL;
    if (result)
        *result = written;
    txm_status status = txm_options_take(&how, sizeof how, options, "txm_extract_options", err);
    if (status == TXM_OK)
        status = txm_tx_open(tx_path, &tx, err);
    if (status != TXM_OK)
        return status;
    char *format_name = how.format ? txm_asprintf("%s.%s", txm_path_base(output), how.format) : txm_strdup(output);
    status = format_name ? write_level(tx, output, format_name, &how, &written, &own) : txm_no_memory(&own, tx_path);
    free(format_name);
    txm_tx_close(&tx);
    if (status == TXM_STATUS_USAGE || status == TXM_STATUS_TOO_LARGE)
        txm_error_prefix(&own, "%s", tx_path);
    if (status == TXM_OK && result)
        *result = written;
    return status == TXM_OK ? TXM_OK : txm_fail_as(err, &own);
}
