/* SPDX-License-Identifier: Apache-2.0
 *
 * The chunks of an EXR source. Uncompressed, RLE, ZIP and ZIPS chunks, which are the most common, are decoded here:
 * inflated by libdeflate, summed and interleaved 16 bytes at a time, and written directly to the caller's rows. PIZ
 * uses OpenEXR's own pipeline, because a decoder written for this reader was only 1.07 times as fast on photographs.
 *
 * A chunk stores its rows one after the other; each row has its channels one after the other, sorted by name.
 */
#include <libdeflate.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/fail.h"
#include "mill/source/exr/exr.h"
#include "tile/decode/exr_decode.h"

#ifdef __SSE2__
/* interleave16 for three or four channels, eight pixels at a time; returns the number of pixels done. A pixel is stored
 * as eight bytes, so with three samples it overwrites the first sample of the next pixel; therefore the last pixel is
 * never done here. */
static inline uint32_t interleave16_sse2(uint16_t *dst, const uint16_t *const src[], uint32_t count, uint32_t width)
{
    uint32_t x = 0;
    for (; width - x > 8; x += 8) {
        __m128i c[4] = {0}, pairs[4], pixels[4];
        for (uint32_t i = 0; i < count; i++)
            c[i] = _mm_loadu_si128((const void *)(src[i] + x));
        for (int i = 0; i < 2; i++) {
            pairs[i] = _mm_unpacklo_epi16(c[2 * i], c[2 * i + 1]);
            pairs[i + 2] = _mm_unpackhi_epi16(c[2 * i], c[2 * i + 1]);
        }
        for (int i = 0; i < 4; i += 2) {
            pixels[i] = _mm_unpacklo_epi32(pairs[i], pairs[i + 1]);
            pixels[i + 1] = _mm_unpackhi_epi32(pairs[i], pairs[i + 1]);
        }
        for (uint32_t i = 0; i < 4; i++) {
            _mm_storel_epi64((void *)(dst + (x + 2 * i) * count), pixels[i]);
            _mm_storel_epi64((void *)(dst + (x + 2 * i + 1) * count), _mm_unpackhi_epi64(pixels[i], pixels[i]));
        }
    }
    return x;
}
#endif

static void interleave16(uint16_t *dst, const uint16_t *const src[], uint32_t count, uint32_t width)
{
    uint32_t x = 0;
#ifdef __SSE2__
    x = count == 3 ? interleave16_sse2(dst, src, 3, width) : count == 4 ? interleave16_sse2(dst, src, 4, width) : 0;
#endif
    for (; x < width; x++)
        for (uint32_t c = 0; c < count; c++)
            dst[x * count + c] = src[c][x];
}

static void interleave32(uint32_t *dst, const uint32_t *const src[], uint32_t count, uint32_t width)
{
    for (uint32_t x = 0; x < width; x++)
        for (uint32_t c = 0; c < count; c++)
            dst[x * count + c] = src[c][x];
}

/* Calls the loops above with a constant number of channels, which compilers unroll. */
static void interleave(const txm_exr *e, uint8_t *dst, const void *const src[4], uint32_t width)
{
    const uint16_t *const h[4] = {src[0], src[1], src[2], src[3]};
    const uint32_t *const f[4] = {src[0], src[1], src[2], src[3]};
    uint16_t *d16 = (void *)dst; /* rows of samples, so it is aligned */
    uint32_t *d32 = (void *)dst;
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

/* The message names the row, because users can find it in the picture, unlike a chunk. */
static txm_status bad_chunk(const txm_exr *x, const exr_chunk_info_t *chunk, txm_error *err, const char *what)
{
    txm_status status = txm_exr_cause(x, err);
    if (status != TXM_OK)
        return status;
    return txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %d: %s%s%s", x->path,
                    x->tiled ? chunk->start_y * (int32_t)x->chunk_h : chunk->start_y - x->min_y, what,
                    *x->message ? ": " : "", x->message);
}

/* The planes of a PIZ chunk, from OpenEXR's own pipeline without its last step; NULL if the chunk is damaged or memory
 * is exhausted. */
static const uint8_t *unpack_piz(txm_exr *x, const exr_chunk_info_t *chunk, size_t size)
{
    exr_decode_pipeline_t *p = &x->pipeline;
    exr_result_t r =
        p->context ? exr_decoding_update(x->context, 0, chunk, p) : exr_decoding_initialize(x->context, 0, chunk, p);
    if (r == EXR_ERR_SUCCESS && !p->read_fn)
        r = exr_decoding_choose_default_routines(x->context, 0, p);
    if (r == EXR_ERR_SUCCESS) {
        p->unpack_and_convert_fn = NULL;
        r = exr_decoding_run(x->context, 0, p);
    }
    x->no_memory |= r == EXR_ERR_OUT_OF_MEMORY;
    if (r == EXR_ERR_SUCCESS && p->unpacked_buffer && p->unpacked_alloc_size >= size)
        return p->unpacked_buffer;
    if (p->context)
        exr_decoding_destroy(p->context, p); /* its state after an error is unknown */
    memset(p, 0, sizeof *p);                 /* the initializer of newer versions lacks fields */
    return NULL;
}

/* Sizes are checked first, because the rest relies on them. */
static txm_status decode_chunk(txm_exr *x, const exr_chunk_info_t *chunk, uint8_t *dst, size_t stride, txm_error *err)
{
    uint32_t width = (uint32_t)chunk->width, height = (uint32_t)chunk->height;
    size_t size = (size_t)width * height * x->file_channels * x->sample_bytes, got = size;
    if (chunk->unpacked_size != size || chunk->packed_size > size || size > x->chunk_bytes)
        return bad_chunk(x, chunk, err, "the size of a block of pixels is wrong");
    /* Data that does not shrink is stored uncompressed. */
    bool packed = chunk->packed_size != size, ok = true;
    const uint8_t *planes = x->packed;
    if (packed && x->compression == EXR_COMPRESSION_PIZ) {
        planes = unpack_piz(x, chunk, size);
    } else {
        if (exr_read_chunk(x->context, 0, chunk, x->packed) != EXR_ERR_SUCCESS)
            return bad_chunk(x, chunk, err, "a block of pixels cannot be read");
        if (packed) {
            if (x->compression == EXR_COMPRESSION_RLE)
                ok = txm_exr_rle_decode(x->packed, chunk->packed_size, x->scratch, size);
            else
                ok = x->compression != EXR_COMPRESSION_NONE &&
                     libdeflate_zlib_decompress(x->inflater, x->packed, chunk->packed_size, x->scratch, size, &got) ==
                         LIBDEFLATE_SUCCESS &&
                     got == size;
            if (ok)
                txm_exr_unsplit(x->scratch, x->planes, size);
            planes = ok ? x->planes : NULL;
        }
    }
    if (!planes)
        return bad_chunk(x, chunk, err, "a compressed block of pixels is damaged");
    size_t plane = (size_t)width * x->sample_bytes;
    for (uint32_t y = 0; y < height; y++, dst += stride, planes += plane * x->file_channels) {
        const void *src[4] = {planes, planes, planes, planes};
        for (uint32_t c = 0; c < x->channels; c++)
            src[c] = planes + x->order[c] * plane;
        interleave(x, dst, src, width);
    }
    return TXM_OK;
}

txm_status txm_exr_decode_rows(txm_exr *x, uint32_t y, uint8_t *dst, size_t stride_bytes, txm_error *err)
{
    size_t pixel_bytes = (size_t)x->channels * x->sample_bytes;
    uint32_t rows = x->height - y < x->chunk_h ? x->height - y : x->chunk_h;
    for (uint32_t column = 0; column < x->width; column += x->chunk_w) {
        uint32_t width = x->width - column < x->chunk_w ? x->width - column : x->chunk_w;
        exr_chunk_info_t chunk = {.start_y = x->tiled ? (int32_t)(y / x->chunk_h) : x->min_y + (int32_t)y};
        *x->message = 0;
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
