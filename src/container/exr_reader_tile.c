/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding and decoding one EXR tile. Tiles at the right and bottom edge hold their valid pixels only; a tile that its
 * codec could not shrink is stored as it is.
 */
#include <inttypes.h>

#include "container/exr_reader.h"

static txm_status exr_find(const txm_tx *tx, const txm_tile_id *tile, txm_span *out, txm_error *err)
{
    const txm_reader_level *l = &tx->levels[tile->level];
    uint64_t offset = txm_le64(l->offsets + 8 * ((size_t)tile->y * l->shape.tiles_x + tile->x));
    /* Checked when the file was opened, but the map shows the file as it is now. */
    if (!txm_map_holds(&tx->map, offset, TXM_EXR_CHUNK_HEADER_BYTES))
        return txm_fail(err, TXM_CORRUPT, "lies outside of the file");
    const uint8_t *head = tx->map.data + offset;
    uint32_t bytes = txm_le32(head + 16);
    if (txm_le32(head) != tile->x || txm_le32(head + 4) != tile->y || txm_le32(head + 8) != tile->level ||
        txm_le32(head + 12) != tile->level)
        return txm_fail(err, TXM_CORRUPT, "another tile stands in its place (byte %" PRIu64 ")", offset);
    if (!txm_map_holds(&tx->map, offset + TXM_EXR_CHUNK_HEADER_BYTES, bytes))
        return txm_fail(err, TXM_CORRUPT, "its %u bytes at byte %" PRIu64 " reach beyond the end of the file", bytes,
                        offset + TXM_EXR_CHUNK_HEADER_BYTES);
    *out = (txm_span){head + TXM_EXR_CHUNK_HEADER_BYTES, bytes};
    return TXM_OK;
}

/* Undoes ZIP, ZIPS or RLE into scratch->tile: planes row by row. */
static txm_status expand(const txm_tx *tx, const txm_span *span, txm_scratch *scratch, size_t raw_bytes, txm_error *err)
{
    bool ok;
    if (tx->exr_compression == TXM_EXR_RLE) {
        ok = txm_exr_rle_decode(span->data, span->bytes, scratch->raw, raw_bytes);
    } else {
        txm_status status = txm_inflate(span, TXM_ZLIB_PARTS, scratch, scratch->raw, raw_bytes, &ok, err);
        if (status != TXM_OK)
            return status;
    }
    if (!ok)
        return txm_fail(err, TXM_CORRUPT, "its %zu bytes of %s data are damaged", span->bytes, tx->info.compression);
    txm_exr_unsplit(scratch->raw, scratch->tile, raw_bytes);
    return TXM_OK;
}

static txm_status exr_decode(const txm_tx *tx, const txm_tile_id *tile, const txm_span *span, txm_scratch *scratch,
                             txm_pixels *out, txm_error *err)
{
    size_t raw_bytes = (size_t)tile->w * tile->h * tx->pixel_bytes;
    txm_status status = txm_scratch_need(tx, &scratch->raw, err);
    if (status == TXM_OK)
        status = txm_scratch_need(tx, &scratch->tile, err);
    if (status != TXM_OK)
        return status;
    *out = (txm_pixels){scratch->raw, tile->w * tx->pixel_bytes};
    if (span->bytes > raw_bytes)
        return txm_fail(err, TXM_CORRUPT, "its %zu bytes are more than its pixels take (%zu)", span->bytes, raw_bytes);
    const uint8_t *planes = scratch->tile;
    if (span->bytes == raw_bytes)
        planes = span->data;
    else if (tx->exr_compression == TXM_EXR_NONE)
        return txm_fail(err, TXM_CORRUPT, "has %zu bytes instead of %zu", span->bytes, raw_bytes);
    else if (tx->exr_compression > TXM_EXR_ZIP)
        return txm_exr_core_decode(tx, tile, scratch, scratch->raw, err);
    else
        status = expand(tx, span, scratch, raw_bytes, err);
    if (status != TXM_OK)
        return status;
    if (tx->info.channels == 1)
        out->data = planes;
    else
        txm_exr_interleave(planes, scratch->raw, tile->w, tile->h, tx->info.channels,
                           (unsigned)txm_type_bytes(tx->info.type), tx->exr_slot);
    return TXM_OK;
}

/* Where the tile that stands last in the file ends. */
static uint64_t exr_image_end(const txm_tx *tx)
{
    uint64_t last = 0, end = 0;
    for (uint32_t i = 0; i < tx->info.levels; i++) {
        const txm_reader_level *l = &tx->levels[i];
        uint64_t tiles = (uint64_t)l->shape.tiles_x * l->shape.tiles_y;
        for (uint64_t t = 0; t < tiles; t++) {
            uint64_t at = txm_le64(l->offsets + 8 * t);
            last = at > last ? at : last;
        }
    }
    if (txm_map_holds(&tx->map, last, TXM_EXR_CHUNK_HEADER_BYTES))
        end = last + TXM_EXR_CHUNK_HEADER_BYTES + txm_le32(tx->map.data + last + 16);
    return end < tx->map.bytes ? end : tx->map.bytes;
}

const txm_container_ops txm_exr_reader_ops = {exr_find, exr_decode, exr_image_end};
