/* SPDX-License-Identifier: Apache-2.0
 *
 * Chunks of an EXR source. Uncompressed, ZIP and ZIPS chunks, which are most of what exists, are decoded here: inflated
 * by libdeflate, summed up and interleaved 16 bytes at a time, and written straight to the caller's rows. Other
 * compressions run through OpenEXR's own pipeline.
 *
 * A chunk holds its rows one after the other, each row its channels one after the other, in order of their names.
 */
#include <libdeflate.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "source/exr.h"

/* ---- the bytes of a ZIP chunk ---- */

/* Every byte but the first is a difference plus 128 to the byte before: a running sum. */
static void sum_up(uint8_t *b, size_t n)
{
    size_t i = 0;
    uint8_t last = 0x80; /* undone by the first byte's own -128 */
#ifdef __SSE2__
    const __m128i bias = _mm_set1_epi8((char)0x80);
    __m128i carry = bias;
    for (; i + 16 <= n; i += 16) {
        __m128i v = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(b + i)), bias);
        /* Sums over 2, 4, 8, 16 neighbours, then what came before. */
        v = _mm_add_epi8(v, _mm_slli_si128(v, 1));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 2));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
        v = _mm_add_epi8(v, carry);
        _mm_storeu_si128((__m128i *)(b + i), v);
        carry = _mm_set1_epi8((char)(_mm_extract_epi16(v, 7) >> 8));
    }
    if (i)
        last = b[i - 1];
#endif
    for (; i < n; i++)
        b[i] = last = (uint8_t)(last + b[i] - 128);
}

void txm_exr_unpredict(uint8_t *in, uint8_t *out, size_t n)
{
    size_t half = (n + 1) / 2, i = 0;
    const uint8_t *even = in, *odd = in + half;
    sum_up(in, n);
#ifdef __SSE2__
    for (; i + 16 <= n / 2; i += 16) {
        __m128i e = _mm_loadu_si128((const __m128i *)(even + i)), o = _mm_loadu_si128((const __m128i *)(odd + i));
        _mm_storeu_si128((__m128i *)(out + 2 * i), _mm_unpacklo_epi8(e, o));
        _mm_storeu_si128((__m128i *)(out + 2 * i + 16), _mm_unpackhi_epi8(e, o));
    }
#endif
    for (; i < n / 2; i++) {
        out[2 * i] = even[i];
        out[2 * i + 1] = odd[i];
    }
    if (n & 1)
        out[n - 1] = even[half - 1];
}

/* ---- from planes to pixels ---- */

/* Pixels of one row: channel i of `count` comes from src[i]. */
static void interleave16(uint16_t *dst, const uint16_t *const src[], uint32_t count, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        for (uint32_t c = 0; c < count; c++)
            dst[x * count + c] = src[c][x];
}

static void interleave32(uint32_t *dst, const uint32_t *const src[], uint32_t count, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        for (uint32_t c = 0; c < count; c++)
            dst[x * count + c] = src[c][x];
}

/* The loops above with a constant number of channels, which the compiler unrolls. */
static void interleave(const txm_exr *e, uint8_t *dst, const void *const src[4], uint32_t width)
{
    const uint16_t *const h[4] = {src[0], src[1], src[2], src[3]};
    const uint32_t *const f[4] = {src[0], src[1], src[2], src[3]};
    uint16_t *d16 = (uint16_t *)dst;
    uint32_t *d32 = (uint32_t *)dst;
    if (e->channels == 1)
        memcpy(dst, src[0], (size_t)width * e->sample_bytes);
    else if (e->sample_bytes == 2 && e->channels == 3)
        interleave16(d16, h, 3, width);
    else if (e->sample_bytes == 2 && e->channels == 4)
        interleave16(d16, h, 4, width);
    else if (e->sample_bytes == 2)
        interleave16(d16, h, 2, width);
    else if (e->channels == 3)
        interleave32(d32, f, 3, width);
    else if (e->channels == 4)
        interleave32(d32, f, 4, width);
    else
        interleave32(d32, f, 2, width);
}

/* Writes the pixels of a chunk of width x height px. */
static void deliver(const txm_exr *x, const uint8_t *planes, uint32_t width, uint32_t height, uint8_t *dst,
                    size_t stride)
{
    size_t plane = (size_t)width * x->sample_bytes;
    for (uint32_t y = 0; y < height; y++, dst += stride, planes += plane * x->file_channels) {
        const void *src[4] = {planes, planes, planes, planes};
        for (uint32_t c = 0; c < x->channels; c++)
            src[c] = planes + x->order[c] * plane;
        interleave(x, dst, src, width);
    }
}

/* ---- one chunk ---- */

static txm_status bad_chunk(const txm_exr *x, const exr_chunk_info_t *chunk, txm_error *err, const char *what)
{
    return txm_fail(err, TXM_CORRUPT, "%s: row %d: %s%s%s", x->path,
                    x->tiled ? chunk->start_y * (int32_t)x->chunk_h : chunk->start_y - x->min_y, what,
                    *x->words ? ": " : "", x->words);
}

static bool is_plain(const txm_exr *x)
{
    return x->compression == EXR_COMPRESSION_NONE || x->compression == EXR_COMPRESSION_ZIP ||
           x->compression == EXR_COMPRESSION_ZIPS;
}

static txm_status decode_plain(txm_exr *x, const exr_chunk_info_t *chunk, uint8_t *dst, size_t stride, txm_error *err)
{
    uint32_t width = (uint32_t)chunk->width, height = (uint32_t)chunk->height;
    size_t size = (size_t)width * height * x->file_channels * x->sample_bytes, got = 0;
    if (chunk->unpacked_size != size || chunk->packed_size > size || size > x->chunk_bytes)
        return bad_chunk(x, chunk, err, "the size of a block of pixels is wrong");
    if (exr_read_chunk(x->context, 0, chunk, x->packed) != EXR_ERR_SUCCESS)
        return bad_chunk(x, chunk, err, "a block of pixels cannot be read");
    if (chunk->packed_size == size) { /* what does not shrink is stored as it is */
        deliver(x, x->packed, width, height, dst, stride);
        return TXM_OK;
    }
    if (x->compression == EXR_COMPRESSION_NONE ||
        libdeflate_zlib_decompress(x->inflater, x->packed, chunk->packed_size, x->inflated, size, &got) !=
            LIBDEFLATE_SUCCESS ||
        got != size)
        return bad_chunk(x, chunk, err, "a compressed block of pixels is damaged");
    txm_exr_unpredict(x->inflated, x->planes, size);
    deliver(x, x->planes, width, height, dst, stride);
    return TXM_OK;
}

/* OpenEXR's pipeline writes channels to where they are told to, whatever their order. */
static txm_status decode_other(txm_exr *x, const exr_chunk_info_t *chunk, uint8_t *dst, size_t stride, txm_error *err)
{
    exr_decode_pipeline_t *p = &x->pipeline;
    exr_result_t r = x->pipeline_ready ? exr_decoding_update(x->context, 0, chunk, p)
                                       : exr_decoding_initialize(x->context, 0, chunk, p);
    if (r != EXR_ERR_SUCCESS)
        return bad_chunk(x, chunk, err, "a block of pixels cannot be decoded");
    x->pipeline_ready = true;
    if ((uint32_t)p->channel_count != x->file_channels)
        return bad_chunk(x, chunk, err, "a block of pixels has other channels than the image");
    for (uint32_t i = 0; i < x->file_channels; i++)
        p->channels[i].decode_to_ptr = NULL;
    for (uint32_t i = 0; i < x->channels; i++) {
        exr_coding_channel_info_t *c = &p->channels[x->order[i]];
        c->decode_to_ptr = dst + (size_t)i * x->sample_bytes;
        c->user_pixel_stride = (int32_t)(x->channels * x->sample_bytes);
        c->user_line_stride = (int32_t)stride;
        c->user_bytes_per_element = (int16_t)x->sample_bytes;
        c->user_data_type = c->data_type;
    }
    if (exr_decoding_choose_default_routines(x->context, 0, p) != EXR_ERR_SUCCESS)
        return bad_chunk(x, chunk, err, "a block of pixels cannot be decoded");
    if (exr_decoding_run(x->context, 0, p) != EXR_ERR_SUCCESS)
        return bad_chunk(x, chunk, err, "a compressed block of pixels is damaged");
    return TXM_OK;
}

static txm_status decode_chunk(txm_exr *x, const exr_chunk_info_t *chunk, uint8_t *dst, size_t stride, txm_error *err)
{
    return is_plain(x) ? decode_plain(x, chunk, dst, stride, err) : decode_other(x, chunk, dst, stride, err);
}

txm_status txm_exr_decode_rows(txm_exr *x, uint32_t y, uint8_t *dst, size_t stride_bytes, txm_error *err)
{
    size_t pixel_bytes = (size_t)x->channels * x->sample_bytes;
    uint32_t rows = x->height - y < x->chunk_h ? x->height - y : x->chunk_h;
    for (uint32_t column = 0; column < x->width; column += x->chunk_w) {
        uint32_t width = x->width - column < x->chunk_w ? x->width - column : x->chunk_w;
        exr_chunk_info_t chunk = {.start_y = x->tiled ? (int32_t)(y / x->chunk_h) : x->min_y + (int32_t)y};
        *x->words = 0;
        exr_result_t r = x->tiled ? exr_read_tile_chunk_info(x->context, 0, (int)(column / x->chunk_w),
                                                             (int)(y / x->chunk_h), 0, 0, &chunk)
                                  : exr_read_scanline_chunk_info(x->context, 0, x->min_y + (int32_t)y, &chunk);
        if (r != EXR_ERR_SUCCESS)
            return bad_chunk(x, &chunk, err, "a block of pixels is missing");
        if (chunk.width != (int32_t)width || chunk.height != (int32_t)rows)
            return bad_chunk(x, &chunk, err, "a block of pixels has a wrong size");
        txm_status status = decode_chunk(x, &chunk, dst + column * pixel_bytes, stride_bytes, err);
        if (status != TXM_OK)
            return status;
    }
    return TXM_OK;
}
