/* SPDX-License-Identifier: Apache-2.0
 *
 * Tile encoders for TIFF and EXR.
 *
 * The valid pixels of a tile become the bytes that the container stores: padded to the full size for TIFF, filtered,
 * and compressed unless that does not pay. There is one encoder per thread; it owns its buffers, and its result until
 * the next call.
 */
#include "mill/encode/tile.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/encode/deflate.h"
#include "mill/encode/filter.h"
#include "tile/decode/zstd_status.h"

enum { ZSTD_DEFAULT_LEVEL = 3, ZSTD_MAX_LEVEL = 19 };

struct txm_tile_encoder {
    txm_tile_format format;
    size_t pixel_bytes, raw_bytes; /* sizes of a pixel and of a full tile */
    txm_deflate *deflate;          /* encoder for codec zip */
    ZSTD_CCtx *zstd;               /* encoder for codec zstd */
    txm_half_filter half_filter;   /* filter for EXR of RGBA half; NULL: none */
    uint8_t *raw;                  /* the tile in the file's layout, before compression */
    uint8_t *filtered;             /* EXR: after the zip filter */
    uint8_t *packed;
    size_t packed_capacity;
};

static txm_status open_codec(txm_tile_encoder *e, txm_error *err)
{
    const txm_compression *c = &e->format.compression;
    if (c->codec == TXM_CODEC_ZIP) {
        const txm_deflate_shape shape = txm_tile_shape(e->format.type, e->pixel_bytes, e->raw_bytes);
        txm_status status = txm_deflate_new(c->level, &shape, &e->deflate, err);
        e->packed_capacity = status == TXM_OK ? txm_deflate_bound(e->deflate) : 0;
        return status;
    }
    if (c->codec != TXM_CODEC_ZSTD)
        return TXM_OK;
    e->packed_capacity = ZSTD_compressBound(e->raw_bytes);
    e->zstd = ZSTD_createCCtx();
    if (!e->zstd)
        return txm_no_memory(err, NULL);
    size_t rc = ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, c->level ? c->level : ZSTD_DEFAULT_LEVEL);
    return ZSTD_isError(rc) ? txm_fail(err, txm_zstd_status(rc, TXM_STATUS_INTERNAL), "zstd: %s", ZSTD_getErrorName(rc))
                            : TXM_OK;
}

/* Formats that no container supports are refused here and not per tile. All buffers are allocated for the largest tile,
 * so encoding allocates nothing. */
txm_status txm_tile_encoder_new(const txm_tile_format *format, txm_tile_encoder **out, txm_error *err)
{
    const txm_tile_format *f = format;
    if (f->channels < 1 || f->channels > TXM_MAX_CHANNELS)
        return txm_fail(err, TXM_STATUS_USAGE, "%u channels: a tx file has 1 to %d", f->channels, TXM_MAX_CHANNELS);
    if (f->tile_px < TXM_MIN_TILE_PX || f->tile_px > TXM_MAX_TILE_PX || (f->tile_px & (f->tile_px - 1)))
        return txm_fail(err, TXM_STATUS_USAGE, "tile size %u: must be a power of two from %d to %d", f->tile_px,
                        TXM_MIN_TILE_PX, TXM_MAX_TILE_PX);
    const bool zstd = f->compression.codec == TXM_CODEC_ZSTD; /* txm_deflate_new checks the level of zip */
    if (zstd && txm_type_is_float(f->type))
        return txm_fail(err, TXM_STATUS_USAGE,
                        "zstd compression is for integer images (TIFF): %s pixels are stored as EXR, which has no "
                        "zstd; use zip or none",
                        txm_type_name(f->type));
    if (zstd && (f->compression.level < 0 || f->compression.level > ZSTD_MAX_LEVEL))
        return txm_fail(err, TXM_STATUS_USAGE, "zstd level %d: must be 1 (fastest) to %d (smallest)",
                        f->compression.level, ZSTD_MAX_LEVEL);
    txm_tile_encoder *e = txm_calloc(1, sizeof *e);
    if (!e)
        return txm_no_memory(err, NULL);
    e->format = *format;
    e->pixel_bytes = format->channels * txm_type_bytes(format->type);
    e->raw_bytes = (size_t)format->tile_px * format->tile_px * e->pixel_bytes;
    txm_status status = open_codec(e, err);
    if (status != TXM_OK)
        goto free_encoder;
    e->half_filter = format->type == TXM_TYPE_HALF && format->channels == 4 ? txm_half_filter_best() : NULL;
    e->raw = txm_alloc_pixels(e->raw_bytes, 1);
    e->filtered = txm_type_is_float(format->type) ? txm_alloc_pixels(e->raw_bytes, 1) : NULL;
    e->packed = e->packed_capacity ? txm_alloc_pixels(e->packed_capacity, 1) : NULL;
    if (!e->raw || (txm_type_is_float(format->type) && !e->filtered) || (e->packed_capacity && !e->packed)) {
        status = txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for tiles of %u px", format->tile_px);
        goto free_encoder;
    }
    *out = e;
    return TXM_OK;
free_encoder:
    txm_tile_encoder_free(&e);
    return status;
}

void txm_tile_encoder_free(txm_tile_encoder **encoder)
{
    if (!encoder || !*encoder)
        return;
    txm_tile_encoder *e = *encoder;
    txm_deflate_free(&e->deflate);
    ZSTD_freeCCtx(e->zstd);
    free(e->raw);
    free(e->filtered);
    free(e->packed);
    free(e);
    *encoder = NULL;
}

/* TIFF tiles have their full size; repeating the last column and row compresses best. */
static void tiff_raw(txm_tile_encoder *e, const uint8_t *pixels, size_t stride_bytes, uint32_t valid_w,
                     uint32_t valid_h)
{
    const uint32_t channels = e->format.channels;
    const size_t row_bytes = e->format.tile_px * e->pixel_bytes, valid_bytes = valid_w * e->pixel_bytes;
    uint8_t *dst = e->raw;
    for (uint32_t y = 0; y < valid_h; y++, pixels += stride_bytes, dst += row_bytes) {
        if (e->format.compression.codec == TXM_CODEC_NONE) {
            memcpy(dst, pixels, valid_bytes);
            for (size_t i = valid_bytes; i < row_bytes; i++)
                dst[i] = dst[i - e->pixel_bytes];
            continue;
        }
        if (e->format.type == TXM_TYPE_U8)
            txm_predict_row_u8(pixels, valid_bytes, channels, dst);
        else
            txm_predict_row_u16((const uint16_t *)(const void *)pixels, valid_bytes / 2, channels,
                                (uint16_t *)(void *)dst);
        /* A repeated pixel differs from its neighbour by zero. */
        memset(dst + valid_bytes, 0, row_bytes - valid_bytes);
    }
    for (uint32_t y = valid_h; y < e->format.tile_px; y++, dst += row_bytes)
        memcpy(dst, dst - row_bytes, row_bytes);
}

/* An EXR tile: one plane per channel within each scanline, valid pixels only. */
static void exr_raw(txm_tile_encoder *e, const uint8_t *pixels, size_t stride_bytes, uint32_t valid_w, uint32_t valid_h)
{
    size_t row_bytes = valid_w * e->pixel_bytes;
    for (uint32_t y = 0; y < valid_h; y++) {
        const void *src = pixels + y * stride_bytes;
        void *dst = e->raw + y * row_bytes;
        if (e->format.type == TXM_TYPE_HALF)
            txm_planes_u16(src, valid_w, e->format.channels, dst);
        else
            txm_planes_u32(src, valid_w, e->format.channels, dst);
    }
}

/* EXR tiles hold valid pixels only. */
size_t txm_tile_raw_bytes(const txm_tile_encoder *e, uint32_t valid_w, uint32_t valid_h)
{
    return txm_type_is_float(e->format.type) ? (size_t)valid_w * valid_h * e->pixel_bytes : e->raw_bytes;
}

/* A violation is an error of the pipeline, not of the user. */
static txm_status check_valid(const txm_tile_encoder *e, uint32_t valid_w, uint32_t valid_h, txm_error *err)
{
    if (valid_w && valid_h && valid_w <= e->format.tile_px && valid_h <= e->format.tile_px)
        return TXM_OK;
    return txm_fail(err, TXM_STATUS_INTERNAL, "a tile of %u x %u px where tiles have %u px", valid_w, valid_h,
                    e->format.tile_px);
}

static txm_status compress(txm_tile_encoder *e, const void *filtered, size_t raw_bytes, size_t *n, txm_error *err)
{
    if (e->format.compression.codec == TXM_CODEC_ZIP)
        return txm_deflate_run(e->deflate, filtered, raw_bytes, e->packed, n, err);
    if (e->format.compression.codec == TXM_CODEC_NONE)
        return TXM_OK;
    *n = ZSTD_compress2(e->zstd, e->packed, e->packed_capacity, filtered, raw_bytes);
    return ZSTD_isError(*n) ? txm_fail(err, txm_zstd_status(*n, TXM_STATUS_INTERNAL), "zstd: %s", ZSTD_getErrorName(*n))
                            : TXM_OK;
}

txm_status txm_tile_encode(txm_tile_encoder *e, const void *pixels, size_t stride_bytes, uint32_t valid_w,
                           uint32_t valid_h, const void **encoded, size_t *encoded_bytes, txm_error *err)
{
    bool exr = txm_type_is_float(e->format.type), split = exr && e->format.compression.codec == TXM_CODEC_ZIP;
    bool direct = split && e->half_filter && txm_half_filter_fits(valid_w);
    size_t raw_bytes = txm_tile_raw_bytes(e, valid_w, valid_h), n = 0;
    txm_status status = check_valid(e, valid_w, valid_h, err);
    if (status != TXM_OK)
        return status;
    if (!exr)
        tiff_raw(e, pixels, stride_bytes, valid_w, valid_h);
    else if (!direct)
        exr_raw(e, pixels, stride_bytes, valid_w, valid_h);
    if (direct)
        e->half_filter(pixels, stride_bytes, valid_w, valid_h, e->filtered);
    else if (split)
        txm_zip_filter(e->raw, raw_bytes, e->filtered);
    if ((status = compress(e, split ? e->filtered : e->raw, raw_bytes, &n, err)) != TXM_OK)
        return status;
    /* EXR readers take a chunk of the raw size as stored and unfiltered; TIFF has no equivalent. */
    const bool stored = e->format.compression.codec == TXM_CODEC_NONE || (exr && n >= raw_bytes);
    if (stored && direct)
        exr_raw(e, pixels, stride_bytes, valid_w, valid_h);
    *encoded = stored ? e->raw : e->packed;
    *encoded_bytes = stored ? raw_bytes : n;
    return TXM_OK;
}

/* For devices, which have applied the filter already; TIFF only. */
txm_status txm_tile_encode_filtered(txm_tile_encoder *e, const void *filtered, uint32_t valid_w, uint32_t valid_h,
                                    const void **encoded, size_t *encoded_bytes, txm_error *err)
{
    size_t n = e->raw_bytes;
    txm_status status = check_valid(e, valid_w, valid_h, err);
    if (status != TXM_OK || (status = compress(e, filtered, e->raw_bytes, &n, err)) != TXM_OK)
        return status;
    *encoded = e->format.compression.codec == TXM_CODEC_NONE ? filtered : e->packed;
    *encoded_bytes = n;
    return TXM_OK;
}
