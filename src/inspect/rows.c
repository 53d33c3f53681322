/* SPDX-License-Identifier: Apache-2.0
 * Rows of pixels as floats. */
#include "inspect/rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/path.h"

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
    /* A damaged tx file must not be told as an image that no decoder knows. */
    if (txm_path_has_ext(path, "tx") || (status != TXM_CORRUPT && status != TXM_UNSUPPORTED && status != TXM_TOO_LARGE))
        return txm_fail(err, status, "%s", tx_error.message);
    const txm_source_options options = {.max_memory_bytes = context->max_memory_bytes};
    status = txm_source_open(path, &options, &out->source, &source_error);
    if (status)
        return txm_fail(err, status, "%s", source_error.message);
    const txm_source_info *i = txm_source_info_of(out->source);
    out->levels = 1;
    out->channels = i->channels;
    out->tile_h = TXM_DEFAULT_TILE_PX;
    out->type = i->type;
    return TXM_OK;
}

void txm_rows_close(txm_rows *rows)
{
    if (!rows)
        return;
    txm_tx_close(&rows->tx);
    txm_source_close(&rows->source);
    free(rows->raw);
    memset(rows, 0, sizeof *rows);
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

static bool need(txm_rows *rows, size_t bytes)
{
    if (rows->raw_bytes >= bytes)
        return true;
    free(rows->raw);
    rows->raw = txm_alloc_pixels(bytes, 1);
    rows->raw_bytes = rows->raw ? bytes : 0;
    return rows->raw != NULL;
}

/* Decodes the tile rows that the wanted rows lie in, one at a time, and takes the rows out of them. */
static txm_status read_tiles(txm_rows *r, const txm_ops *ops, uint32_t level, uint32_t y, uint32_t count, float *dst,
                             txm_error *err)
{
    const txm_tx_info *i = txm_tx_info_of(r->tx);
    const txm_tx_level *l = txm_tx_level_of(r->tx, level);
    size_t px = i->channels * txm_type_bytes(i->type), stride = (size_t)l->width * px;
    size_t samples = (size_t)l->width * i->channels;
    if (!need(r, txm_mul(i->tile_h, stride)))
        return txm_fail(err, TXM_NO_MEMORY, "out of memory for a row of tiles");
    for (uint32_t ty = y / i->tile_h; ty * i->tile_h < y + count; ty++) {
        uint32_t top = ty * i->tile_h, first = top > y ? top : y;
        uint32_t bottom = top + i->tile_h, end = bottom < y + count ? bottom : y + count;
        for (uint32_t tx = 0; tx < l->tiles_x; tx++) {
            txm_status status = txm_tx_read_tile(r->tx, level, tx, ty, r->raw + (size_t)tx * i->tile_w * px, px, stride,
                                                 NULL, NULL, err);
            if (status)
                return status;
        }
        for (uint32_t row = first; row < end; row++)
            ops->to_float(i->type, r->raw + (row - top) * stride, dst + (row - y) * samples, samples);
    }
    return TXM_OK;
}

txm_status txm_rows_read(txm_rows *r, const txm_ops *ops, uint32_t level, uint32_t y, uint32_t count, float *dst,
                         txm_error *err)
{
    if (r->tx)
        return read_tiles(r, ops, level, y, count, dst, err);
    size_t samples = (size_t)txm_source_info_of(r->source)->width * r->channels;
    size_t stride = samples * txm_type_bytes(r->type);
    if (!need(r, txm_mul(count, stride)))
        return txm_fail(err, TXM_NO_MEMORY, "out of memory for rows of an image");
    txm_status status = txm_source_read(r->source, y, count, r->raw, stride, err);
    for (uint32_t row = 0; !status && row < count; row++)
        ops->to_float(r->type, r->raw + row * stride, dst + row * samples, samples);
    return status;
}
