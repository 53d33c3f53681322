/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes one border: prediction from the tile, residual planes, one zstd frame. section_format.h defines the format.
 *
 * A border and the tile inside it become a payload, preceded by the checksum of the border's pixels. Each pixel is
 * predicted from the adjacent line nearer to the tile, so the residuals are small and leave little work for zstd.
 */
#include <string.h>

#include "base/checksum.h"
#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "mill/write/section_writer.h"
#include "tile/decode/zstd_status.h"
#include "tile/reader/border_order.h"
#include "tile/reader/section_format.h"

enum { CHECK_BYTES = 4, MASK_BYTES = 2 };

struct txm_border_encoder {
    uint32_t channels, tile_px;
    size_t sample_bytes, pixel_bytes;
    ZSTD_CCtx *zstd;
    uint8_t *line, *reference; /* one line each */
    uint8_t *residuals;        /* residuals of the whole border, channels interleaved, in visiting order */
    uint8_t *planes;
    uint8_t *encoded;
    size_t encoded_capacity;
};

/* There is one encoder per thread; its buffers fit the largest border of the layout. */
txm_status txm_border_encoder_new(const txm_tx_layout *layout, txm_border_encoder **out, txm_error *err)
{
    if (!layout->channels || layout->channels > TXM_MAX_CHANNELS || !layout->tile_px ||
        layout->tile_px > TXM_MAX_TILE_PX)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "borders for %u channels and tiles of %u px: a tx file has 1 to %d and up to %d",
                        layout->channels, layout->tile_px, TXM_MAX_CHANNELS, TXM_MAX_TILE_PX);
    /* Most borders are noise around their prediction, in which short matches are accidents that cost more than they
     * save. A small table with long matches only is therefore faster and gives smaller output. */
    static const struct {
        ZSTD_cParameter parameter;
        int value;
    } settings[] = {{ZSTD_c_compressionLevel, 1}, {ZSTD_c_windowLog, 18},       {ZSTD_c_hashLog, 6},
                    {ZSTD_c_chainLog, 6},         {ZSTD_c_strategy, ZSTD_fast}, {ZSTD_c_minMatch, 7},
                    {ZSTD_c_checksumFlag, 0},     {ZSTD_c_contentSizeFlag, 1}};
    txm_border_encoder *e = txm_calloc(1, sizeof *e);
    if (!e)
        return txm_no_memory(err, NULL);
    e->channels = layout->channels;
    e->tile_px = layout->tile_px;
    e->sample_bytes = txm_type_bytes(layout->type);
    e->pixel_bytes = e->channels * e->sample_bytes;
    size_t border_bytes = txm_border_pixels(e->tile_px, e->tile_px) * e->pixel_bytes;
    size_t line_bytes = (e->tile_px + 2 * TXM_BORDER_PX) * e->pixel_bytes;
    e->encoded_capacity = CHECK_BYTES + MASK_BYTES + ZSTD_compressBound(border_bytes);
    e->zstd = ZSTD_createCCtx();
    e->line = txm_alloc_pixels(line_bytes, 1);
    e->reference = txm_alloc_pixels(line_bytes, 1);
    e->residuals = txm_alloc_pixels(border_bytes, 1);
    e->planes = txm_alloc_pixels(border_bytes, 1);
    e->encoded = txm_alloc_pixels(e->encoded_capacity, 1);
    if (!e->zstd || !e->line || !e->reference || !e->residuals || !e->planes || !e->encoded) {
        txm_border_encoder_free(&e);
        return txm_no_memory(err, NULL);
    }
    size_t rc = 0;
    for (size_t i = 0; i < sizeof settings / sizeof *settings && !ZSTD_isError(rc); i++)
        rc = ZSTD_CCtx_setParameter(e->zstd, settings[i].parameter, settings[i].value);
    if (ZSTD_isError(rc)) {
        txm_border_encoder_free(&e);
        return txm_fail(err, txm_zstd_status(rc, TXM_STATUS_INTERNAL), "zstd: %s", ZSTD_getErrorName(rc));
    }
    *out = e;
    return TXM_OK;
}

void txm_border_encoder_free(txm_border_encoder **encoder)
{
    if (!encoder || !*encoder)
        return;
    txm_border_encoder *e = *encoder;
    ZSTD_freeCCtx(e->zstd);
    free(e->line);
    free(e->reference);
    free(e->residuals);
    free(e->planes);
    free(e->encoded);
    free(e);
    *encoder = NULL;
}

/* Splits pixels into bytes by shifting words, which compilers vectorize; they do not vectorize loads of every fourth
 * byte. */
static void split_words(const void *words, size_t pixels, uint8_t *restrict planes)
{
    const uint8_t *src = words;
    for (int c = 0; c < 4; c++)
        for (size_t i = 0; i < pixels; i++)
            planes[(size_t)c * pixels + i] = (uint8_t)(txm_load_le32(src + 4 * i) >> 8 * c);
}

/* ---- residuals ----
 * The pixels of a line and of its reference are contiguous, so the previous pixel is `channels` samples back. Without
 * a loop over channels, compilers can vectorise this. */
#define DEFINE_RESIDUALS(NAME, SAMPLE)                                                                                 \
    static void residuals_##NAME(const SAMPLE *restrict line, const SAMPLE *restrict reference, size_t samples,        \
                                 size_t channels, SAMPLE *restrict out)                                                \
    {                                                                                                                  \
        for (size_t i = 0; i < channels; i++)                                                                          \
            out[i] = (SAMPLE)(line[i] - reference[i]);                                                                 \
        for (size_t i = channels; i < samples; i++) {                                                                  \
            SAMPLE l = line[i - channels], u = reference[i], k = reference[i - channels];                              \
            SAMPLE high = l > u ? l : u, low = l > u ? u : l;                                                          \
            SAMPLE p = (SAMPLE)(l + u - k);                                                                            \
            p = k >= high ? low : p;                                                                                   \
            p = k <= low ? high : p;                                                                                   \
            out[i] = (SAMPLE)(line[i] - p);                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    /* Subtracts green, applies zigzag, and stores the bytes of each channel in their planes. */                       \
    static void split_##NAME(SAMPLE *restrict r, size_t pixels, size_t channels, uint8_t *restrict planes)             \
    {                                                                                                                  \
        const int bits = 8 * (int)sizeof(SAMPLE);                                                                      \
        for (size_t i = 0; channels == 4 && i < pixels; i++) {                                                         \
            r[4 * i] = (SAMPLE)(r[4 * i] - r[4 * i + 1]);                                                              \
            r[4 * i + 2] = (SAMPLE)(r[4 * i + 2] - r[4 * i + 1]);                                                      \
        }                                                                                                              \
        for (size_t i = 0; i < pixels * channels; i++)                                                                 \
            r[i] = (SAMPLE)((SAMPLE)(r[i] << 1) ^ (SAMPLE)(0 - (r[i] >> (bits - 1))));                                 \
        if (bits == 8 && channels == 4) {                                                                              \
            split_words(r, pixels, planes);                                                                            \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t c = 0; c < channels; c++)                                                                          \
            for (size_t i = 0; i < pixels; i++)                                                                        \
                for (size_t b = 0; b < sizeof(SAMPLE); b++)                                                            \
                    planes[(c * sizeof(SAMPLE) + b) * pixels + i] =                                                    \
                        (uint8_t)(r[i * channels + c] >> (bits - 8 - 8 * (int)b));                                     \
    }

DEFINE_RESIDUALS(u8, uint8_t)
DEFINE_RESIDUALS(u16, uint16_t)
DEFINE_RESIDUALS(u32, uint32_t)

static void add_residuals(txm_border_encoder *e, const void *line, const void *reference, size_t pixels, size_t *at)
{
    void *out = e->residuals + *at * e->pixel_bytes;
    size_t samples = pixels * e->channels;
    if (e->sample_bytes == 1)
        residuals_u8(line, reference, samples, e->channels, out);
    else if (e->sample_bytes == 2)
        residuals_u16(line, reference, samples, e->channels, out);
    else
        residuals_u32(line, reference, samples, e->channels, out);
    *at += pixels;
}

static inline __attribute__((always_inline)) void gather(const uint8_t *src, size_t step_bytes, size_t count,
                                                         size_t pixel_bytes, uint8_t *dst)
{
    for (size_t i = 0; i < count; i++, src += step_bytes, dst += pixel_bytes)
        memcpy(dst, src, pixel_bytes);
}

/* The usual sizes are constants, for which memcpy is one instruction. */
static void gather_border(const uint8_t *src, size_t step_bytes, size_t count, size_t pixel_bytes, uint8_t *dst)
{
    switch (pixel_bytes) {
    case 1:
        gather(src, step_bytes, count, 1, dst);
        break;
    case 4:
        gather(src, step_bytes, count, 4, dst);
        break;
    case 8:
        gather(src, step_bytes, count, 8, dst);
        break;
    case 16:
        gather(src, step_bytes, count, 16, dst);
        break;
    default:
        gather(src, step_bytes, count, pixel_bytes, dst);
    }
}

/* Predicts all eight lines. The border holds the rows -2 and -1, then the pixels -2, -1, w, w+1 of each tile row, then
 * the rows h and h+1. */
static void predict(txm_border_encoder *e, const uint8_t *border, const txm_border_edges *tile, uint32_t w, uint32_t h)
{
    size_t px = e->pixel_bytes, row = (w + 4) * px, at = 0;
    const uint8_t *sides = border + 2 * row, *below = sides + 4 * px * h;
    for (int right = 0; right < 2; right++) {
        const uint8_t *near = sides + (right ? 2 : 1) * px, *far = sides + (right ? 3 : 0) * px;
        gather_border(right ? tile->right : tile->left, tile->column_step, h, px, e->reference);
        gather_border(near, 4 * px, h, px, e->line);
        add_residuals(e, e->line, e->reference, h, &at);
        gather_border(far, 4 * px, h, px, e->reference);
        add_residuals(e, e->reference, e->line, h, &at);
    }
    for (int bottom = 0; bottom < 2; bottom++) {
        /* The tile's outermost row, with the border's pixels on both sides. */
        uint32_t y = bottom ? h - 1 : 0;
        memcpy(e->reference, sides + 4 * px * y, 2 * px);
        memcpy(e->reference + 2 * px, bottom ? tile->bottom : tile->top, w * px);
        memcpy(e->reference + (w + 2) * px, sides + (4 * y + 2) * px, 2 * px);
        const uint8_t *near = bottom ? below : border + row, *far = bottom ? below + row : border;
        add_residuals(e, near, e->reference, w + 4, &at);
        add_residuals(e, far, near, w + 4, &at);
    }
}

/* The prediction uses only the outermost pixels of the tile, which a decoder has. */
txm_status txm_border_encode(txm_border_encoder *e, const void *border, const void *pixels, size_t stride_bytes,
                             uint32_t valid_w, uint32_t valid_h, const void **encoded, size_t *encoded_bytes,
                             txm_error *err)
{
    const uint8_t *tile = pixels;
    const txm_border_edges edges = {tile, tile + (valid_h - (size_t)1) * stride_bytes, tile,
                                    tile + (valid_w - (size_t)1) * e->pixel_bytes, stride_bytes};
    return txm_border_encode_edges(e, border, &edges, valid_w, valid_h, encoded, encoded_bytes, err);
}

/* A checksum of the pixels, then the payload: a mask of the planes that are not all zero, and these compressed; nothing
 * if all are zero, and the pixel itself if all pixels are equal. */
txm_status txm_border_encode_edges(txm_border_encoder *e, const void *border, const txm_border_edges *edges,
                                   uint32_t valid_w, uint32_t valid_h, const void **encoded, size_t *encoded_bytes,
                                   txm_error *err)
{
    if (!valid_w || !valid_h || valid_w > e->tile_px || valid_h > e->tile_px)
        return txm_fail(err, TXM_STATUS_INTERNAL, "a border of %u x %u px where tiles have %u px", valid_w, valid_h,
                        e->tile_px);
    const size_t pixels = txm_border_pixels(valid_w, valid_h), px = e->pixel_bytes;
    predict(e, border, edges, valid_w, valid_h);
    if (e->sample_bytes == 1)
        split_u8(e->residuals, pixels, e->channels, e->planes);
    else if (e->sample_bytes == 2)
        split_u16((uint16_t *)(void *)e->residuals, pixels, e->channels, e->planes);
    else
        split_u32((uint32_t *)(void *)e->residuals, pixels, e->channels, e->planes);
    uint32_t mask = 0;
    uint8_t *out = e->encoded + CHECK_BYTES, *to = e->planes;
    for (size_t p = 0; p < px; p++) {
        const uint8_t *from = e->planes + p * pixels;
        if (!from[0] && !memcmp(from, from + 1, pixels - 1))
            continue;
        if (to != from)
            memmove(to, from, pixels);
        to += pixels;
        mask |= 1u << p;
    }
    size_t size = 0;
    if (mask && !memcmp(border, (const uint8_t *)border + px, (pixels - 1) * px)) {
        txm_store_le16(out, 0);
        memcpy(out + MASK_BYTES, border, px);
        size = MASK_BYTES + px;
    } else if (mask) {
        txm_store_le16(out, (uint16_t)mask);
        const size_t n = ZSTD_compress2(e->zstd, out + MASK_BYTES, e->encoded_capacity - CHECK_BYTES - MASK_BYTES,
                                        e->planes, (size_t)(to - e->planes));
        if (ZSTD_isError(n))
            return txm_fail(err, txm_zstd_status(n, TXM_STATUS_INTERNAL), "zstd: %s", ZSTD_getErrorName(n));
        size = MASK_BYTES + n;
    }
    txm_store_le32(e->encoded, (uint32_t)txm_xxh64(border, pixels * px, 0));
    *encoded = e->encoded;
    *encoded_bytes = CHECK_BYTES + size;
    return TXM_OK;
}
