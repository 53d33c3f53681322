/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads rows of pixels as float32 from a tx file or a plain image, so that the two sides of a comparison may be of
 * different kinds.
 */
#include "mill/inspect/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"

/* It tries to open a tx file first, since a tx file would also open as a TIFF or EXR image with level 0 only. */
txm_status txm_rows_open(const txm_context *context, const char *path, txm_rows *out, txm_error *err)
{
    txm_error tx_error = {0}, source_error = {0};
    txm_status status = txm_tx_open(path, &out->tx, &tx_error);
    if (status == TXM_OK) {
        const txm_tx_info *i = txm_tx_info_of(out->tx);
        out->levels = i->levels;
        out->channels = i->channels;
        out->tile_h = i->tile_h;
        out->type = i->type;
        return TXM_OK;
    }
    /* A damaged tx file must be reported as such, and not as an unknown image. */
    if (txm_path_has_ext(path, "tx") ||
        (status != TXM_STATUS_CORRUPT && status != TXM_STATUS_UNSUPPORTED && status != TXM_STATUS_TOO_LARGE))
        return txm_fail_as(err, &tx_error);
    const txm_source_options options = {.max_memory_bytes = context->max_memory_bytes};
    status = txm_source_open(path, &options, &out->source, &source_error);
    if (status)
        return txm_fail_as(err, &source_error);
    const txm_source_info *i = txm_source_info_of(out->source);
    out->levels = 1;
    out->channels = i->channels;
    out->tile_h = TXM_DEFAULT_TILE_PX;
    out->type = i->type;
    return TXM_OK;
}

void txm_rows_close(txm_rows *rows)
{
    txm_tx_close(&rows->tx);
    txm_source_close(&rows->source);
    *rows = (txm_rows){0};
}

void txm_rows_size(const txm_rows *rows, uint32_t level, uint32_t *width, uint32_t *height)
{
    *width = *height = 0;
    if (level >= rows->levels)
        return;
    if (rows->tx) {
        const txm_tx_level *l = txm_tx_level_of(rows->tx, level);
        *width = l->width;
        *height = l->height;
    } else {
        *width = txm_source_info_of(rows->source)->width;
        *height = txm_source_info_of(rows->source)->height;
    }
}

/* Has room for whole tiles, since a tx file is read by tiles even if fewer rows are wanted. */
bool txm_row_buffer_init(txm_row_buffer *buffer, const txm_rows *rows, uint32_t count)
{
    uint32_t width, height, raw_rows = count > rows->tile_h ? count : rows->tile_h;
    txm_rows_size(rows, 0, &width, &height);
    size_t samples = (size_t)width * rows->channels;
    buffer->values = txm_alloc_pixels(txm_mul(samples, count), sizeof(float));
    buffer->raw = txm_alloc_pixels(txm_mul(samples, raw_rows), txm_type_bytes(rows->type));
    return buffer->values && buffer->raw;
}

void txm_row_buffer_free(txm_row_buffer *buffer)
{
    if (!buffer)
        return;
    free(buffer->values);
    free(buffer->raw);
    memset(buffer, 0, sizeof *buffer);
}

/* Decodes the rows of tiles in which the wanted rows are, one at a time, and copies the rows out of them. */
static txm_status read_tile_rows(const txm_rows *r, const txm_ops *ops, uint32_t level, uint32_t y, uint32_t count,
                                 txm_row_buffer *buffer, txm_error *err)
{
    const txm_tx_info *i = txm_tx_info_of(r->tx);
    const txm_tx_level *l = txm_tx_level_of(r->tx, level);
    size_t px = i->channels * txm_type_bytes(i->type), stride = (size_t)l->width * px;
    size_t samples = (size_t)l->width * i->channels;
    for (uint32_t ty = y / i->tile_h; ty * i->tile_h < y + count; ty++) {
        uint32_t top = ty * i->tile_h, first = top > y ? top : y;
        uint32_t bottom = top + i->tile_h, end = bottom < y + count ? bottom : y + count;
        for (uint32_t tx = 0; tx < l->tiles_x; tx++) {
            txm_status status = txm_tx_read_tile(r->tx,
                                                 &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                                   .level = level,
                                                                   .tile_x = tx,
                                                                   .tile_y = ty,
                                                                   .pixels = buffer->raw + (size_t)tx * i->tile_w * px,
                                                                   .pixel_stride_bytes = px,
                                                                   .row_stride_bytes = stride},
                                                 err);
            if (status)
                return status;
        }
        for (uint32_t row = first; row < end; row++)
            ops->to_float(i->type, buffer->raw + (row - top) * stride, buffer->values + (row - y) * samples, samples);
    }
    return TXM_OK;
}

/* Rows of plain images must be read in order from the top, each once. */
txm_status txm_rows_read(const txm_rows *r, const txm_ops *ops, uint32_t level, uint32_t y, uint32_t count,
                         txm_row_buffer *buffer, txm_error *err)
{
    if (r->tx)
        return read_tile_rows(r, ops, level, y, count, buffer, err);
    size_t samples = (size_t)txm_source_info_of(r->source)->width * r->channels;
    size_t stride = samples * txm_type_bytes(r->type);
    txm_status status = txm_source_read(r->source, y, count, buffer->raw, stride, err);
    for (uint32_t row = 0; !status && row < count; row++)
        ops->to_float(r->type, buffer->raw + row * stride, buffer->values + row * samples, samples);
    return status;
}
