/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes one TIFF tile in three steps, each on the whole tile: decompress, swap bytes, undo the predictor; or, if its
 * samples are not whole bytes, decompress and widen. TIFF tiles always have their full size in the file.
 *
 * The pixels are returned in native byte order, in scratch memory. The codecs and predictors themselves are in
 * src/tile/decode; which ones a level needs was determined when the file was opened.
 */
#include <zstd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/decode/tiff_decode.h"
#include "tile/reader/tiff_reader.h"

const char *txm_tiff_codec_name(uint32_t compression)
{
    switch (compression) {
    case TXM_TIFF_NONE:
        return "none";
    case TXM_TIFF_LZW:
        return "lzw";
    case TXM_TIFF_ZIP:
    case TXM_TIFF_ZIP_OLD:
        return "zip";
    case TXM_TIFF_PACKBITS:
        return "packbits";
    case TXM_TIFF_ZSTD:
        return "zstd";
    default:
        return NULL;
    }
}

/* Takes offset and count from the tables in the map. */
txm_status txm_tiff_find_tile(const txm_tx *tx, const txm_tile_id *tile, txm_span *out, txm_error *err)
{
    const txm_reader_level *l = &tx->levels[tile->level];
    size_t i = (size_t)tile->y * l->shape.tiles_x + tile->x;
    uint64_t offset = txm_load_uint(l->offsets + i * l->offset_bytes, l->offset_bytes, tx->swap);
    uint64_t bytes = txm_load_uint(l->counts + i * l->count_bytes, l->count_bytes, tx->swap);
    /* This was checked when the file was opened, but the map shows the current state of the file. */
    if (!txm_map_holds(&tx->map, offset, bytes))
        return txm_fail(err, TXM_STATUS_CORRUPT, "lies outside of the file");
    *out = (txm_span){tx->map.data + offset, (size_t)bytes};
    return TXM_OK;
}

/* Decompresses exactly raw_bytes bytes into scratch->raw. */
static txm_status expand_tiff_tile(uint16_t compression, const txm_span *span, txm_scratch *scratch, size_t raw_bytes,
                                   txm_error *err)
{
    bool ok = false;
    size_t n;
    switch (compression) {
    case TXM_TIFF_ZIP:
    case TXM_TIFF_ZIP_OLD:
        if (txm_inflate(span, TXM_ZLIB_PLAIN, scratch, scratch->raw, raw_bytes, &ok, err) != TXM_OK)
            return TXM_STATUS_NO_MEMORY;
        break;
    case TXM_TIFF_ZSTD:
        if (!scratch->zstd && !(scratch->zstd = ZSTD_createDCtx()))
            return txm_no_memory(err, NULL);
        n = ZSTD_decompressDCtx(scratch->zstd, scratch->raw, raw_bytes, span->data, span->bytes);
        ok = !ZSTD_isError(n) && n == raw_bytes;
        break;
    case TXM_TIFF_LZW:
        ok = txm_lzw_decode(span->data, span->bytes, scratch->raw, raw_bytes);
        break;
    case TXM_TIFF_PACKBITS:
        ok = txm_packbits_decode(span->data, span->bytes, scratch->raw, raw_bytes);
        break;
    default: /* uncompressed data may be longer, never shorter */
        if ((ok = span->bytes >= raw_bytes))
            memcpy(scratch->raw, span->data, raw_bytes);
        break;
    }
    return ok ? TXM_OK
              : txm_fail(err, TXM_STATUS_CORRUPT, "its %s data is damaged (%zu bytes)",
                         txm_tiff_codec_name(compression), span->bytes);
}

/* Bytes are swapped before the horizontal predictor is undone, because it adds samples. The floating-point predictor
 * works on bytes of a defined order and swaps along the way. */
txm_status txm_tiff_decode_tile(const txm_tx *tx, const txm_tile_id *tile, const txm_span *span, txm_scratch *scratch,
                                txm_pixels *out, txm_error *err)
{
    const txm_reader_level *l = &tx->levels[tile->level];
    uint32_t w = tx->info.tile_w, h = tx->info.tile_h, channels = tx->info.channels;
    unsigned sample_bytes = (unsigned)txm_type_bytes(tx->info.type);
    size_t stride = w * tx->pixel_bytes;
    bool packed = l->bits % 8 != 0;
    size_t row = packed ? ((size_t)w * channels * l->bits + 7) / 8 : stride; /* bytes of a row in the file */
    txm_status status = txm_scratch_need(tx, &scratch->raw, err);
    if (status == TXM_OK)
        status = expand_tiff_tile(l->compression, span, scratch, row * h, err);
    if (status == TXM_OK && packed)
        status = txm_scratch_need(tx, &scratch->tile, err);
    if (status != TXM_OK)
        return status;
    if (packed) {
        for (uint32_t y = 0; y < h; y++)
            txm_widen_bits(scratch->raw + y * row, l->bits, scratch->tile + y * stride, (size_t)w * channels,
                           sample_bytes);
        *out = (txm_pixels){scratch->tile, stride};
        return TXM_OK;
    }
    bool predicts = l->compression != TXM_TIFF_NONE && l->compression != TXM_TIFF_PACKBITS;
    if (predicts && l->predictor == 3) {
        status = txm_scratch_need(tx, &scratch->tile, err);
        if (status != TXM_OK)
            return status;
        txm_unpredict_float(scratch->raw, w, tile->h, channels, sample_bytes, scratch->tile);
    } else {
        if (tx->swap && sample_bytes > 1) {
            /* For big-endian files, which are rare but valid. */
            uint8_t *p = scratch->raw;
            for (uint8_t *end = p + stride * h; p < end; p += sample_bytes)
                for (unsigned i = 0; i < sample_bytes / 2; i++) {
                    uint8_t t = p[i];
                    p[i] = p[sample_bytes - 1 - i];
                    p[sample_bytes - 1 - i] = t;
                }
        }
        if (predicts && l->predictor == 2)
            txm_unpredict_horizontal(scratch->raw, w, tile->h, channels, sample_bytes);
    }
    *out = (txm_pixels){scratch->raw, stride};
    return TXM_OK;
}
