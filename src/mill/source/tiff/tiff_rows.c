/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads rows of a TIFF source from rows of strips or tiles. A strip that is requested as a whole, and has the layout
 * of the output, is decoded directly into the caller's memory; others are kept until their last row was delivered.
 */
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "mill/source/tiff/tiff.h"
#include "tile/decode/tiff_decode.h"

static txm_status damaged(const txm_tiff *t, uint32_t y, txm_error *err)
{
    txm_status status = txm_tiff_cause(t, err);
    return status != TXM_OK ? status
                            : txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %u: %s", t->path, y,
                                       *t->message ? t->message : "libtiff cannot decode it");
}

/* Decodes a plane of the row of blocks that begins at image row `y` to dst, without gaps. */
static txm_status decode_blocks(txm_tiff *t, uint32_t y, uint32_t plane, uint8_t *dst, txm_error *err)
{
    size_t row = txm_tiff_plane_row(t), pixel = (size_t)t->plane_channels * t->sample_bytes;
    uint32_t rows = t->height - y < t->block_h ? t->height - y : t->block_h;
    *t->message = 0;
    if (!t->tiled) {
        tmsize_t want = (tmsize_t)(row * rows);
        tmsize_t got = TIFFReadEncodedStrip(t->tif, TIFFComputeStrip(t->tif, y, (uint16_t)plane), dst, want);
        /* If libtiff leaves no message, it had no memory. */
        t->no_memory |= got < 0 && !*t->message;
        return got == want ? TXM_OK : damaged(t, y, err);
    }
    for (uint32_t x = 0; x < t->width; x += t->block_w) {
        uint32_t width = t->width - x < t->block_w ? t->width - x : t->block_w;
        if (TIFFReadTile(t->tif, t->block, x, y, 0, (uint16_t)plane) < 0)
            return damaged(t, y, err);
        for (uint32_t r = 0; r < rows; r++)
            memcpy(dst + r * row + x * pixel, t->block + (size_t)r * t->block_w * pixel, width * pixel);
    }
    return TXM_OK;
}

/* The next row of a plane whose strips are decoded as streams; rows come in order. Bytes get the machine's order, and
 * differences become samples. */
static txm_status stream_row(txm_tiff *t, uint32_t y, uint32_t plane, uint8_t *row, txm_error *err)
{
    txm_tiff_strip *s = t->strip[plane];
    const tmsize_t samples = (tmsize_t)((size_t)t->width * t->plane_channels);
    const bool swapped = TIFFIsByteSwapped(t->tif);
    bool ok = true;
    if (y % t->block_h == 0) {
        uint32_t strip = TIFFComputeStrip(t->tif, y, (uint16_t)plane);
        ok = txm_tiff_strip_begin(s, TIFFGetStrileOffset(t->tif, strip), TIFFGetStrileByteCount(t->tif, strip));
    }
    ok = ok && txm_tiff_strip_read(s, row, txm_tiff_plane_row(t));
    if (!ok && txm_tiff_strip_errno(s))
        return txm_fail_errno(err, txm_tiff_strip_errno(s), "%s: row %u: cannot be read", t->path, y);
    if (!ok)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %u: %s", t->path, y, txm_tiff_strip_reason(s));
    if (t->predictor == PREDICTOR_FLOATINGPOINT)
        txm_unpredict_float(row, t->width, 1, t->plane_channels, t->sample_bytes, t->line);
    else if (swapped && t->sample_bytes == 2)
        TIFFSwabArrayOfShort((uint16_t *)(void *)row, samples);
    else if (swapped && t->sample_bytes == 4)
        TIFFSwabArrayOfLong((uint32_t *)(void *)row, samples);
    else if (swapped && t->sample_bytes == 8)
        TIFFSwabArrayOfDouble((double *)(void *)row, samples);
    if (t->predictor == PREDICTOR_HORIZONTAL)
        txm_unpredict_horizontal(row, t->width, 1, t->plane_channels, t->sample_bytes);
    return TXM_OK;
}

/* Floats of 24 bits and doubles are delivered as floats. */
static bool becomes_float(const txm_tiff *t)
{
    return t->sample_bytes == 3 || t->sample_bytes == 8;
}

/* A double, or 24 bits: 1 of sign, 7 of exponent, 16 of mantissa (Adobe's TIFF technical note 3), which a float
 * represents exactly. */
static float float_of(const uint8_t *sample, uint32_t bytes)
{
    double wide;
    float value;
    if (bytes == sizeof wide) {
        memcpy(&wide, sample, sizeof wide);
        return (float)wide;
    }
    uint32_t bits = sample[0] | (uint32_t)sample[1] << 8 | (uint32_t)sample[2] << 16;
    uint32_t exponent = bits >> 16 & 0x7F, magnitude = (bits & 0xFFFF) << 7;
    if (exponent == 0) {
        value = ldexpf((float)magnitude, -62 - 23);
        return bits >> 23 ? -value : value;
    }
    magnitude |= (exponent == 0x7F ? 0xFF : exponent + 127 - 63) << 23;
    magnitude |= bits >> 23 << 31;
    memcpy(&value, &magnitude, sizeof value);
    return value;
}

static float share_of(const uint8_t *sample, uint32_t bytes)
{
    uint16_t wide;
    memcpy(&wide, sample, bytes == 2 ? 2 : 1);
    return bytes == 2 ? (float)wide * (1.0f / 65535.0f) : (float)*sample * (1.0f / 255.0f);
}

/* Copies with steps, since planes are interleaved and extra samples skipped. */
static inline void copy_samples(uint8_t *dst, size_t dst_step, const uint8_t *src, size_t src_step, size_t bytes,
                                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        memcpy(dst + i * dst_step, src + i * src_step, bytes);
}

static void deliver_row(const txm_tiff *t, const uint8_t *row, size_t plane_step, uint8_t *dst)
{
    const uint32_t channels = t->channels / t->planes; /* channels in each plane */
    const size_t bytes = becomes_float(t) ? sizeof(float) : t->sample_bytes, to = t->channels * bytes;
    const size_t from = (size_t)t->plane_channels * t->sample_bytes;
    /* CMYK is converted as in OpenImageIO, without the profile: what ink and black leave of the light. */
    const uint32_t black = TXM_INKS - 1;
    const size_t ink = t->planes > 1 ? plane_step : bytes;
    for (uint32_t x = 0; t->inks && x < t->width; x++, row += from) {
        const float light = 1.0f - share_of(row + black * ink, t->sample_bytes);
        for (uint32_t c = 0; c < black; c++, dst += bytes) {
            const float share = (1.0f - share_of(row + c * ink, t->sample_bytes)) * light;
            const uint16_t wide = (uint16_t)(share * 65535.0f + 0.5f);
            if (bytes == 2)
                memcpy(dst, &wide, 2);
            else
                *dst = (uint8_t)(share * 255.0f + 0.5f);
        }
    }
    for (uint32_t p = 0; !t->inks && p < t->planes; p++, row += plane_step, dst += bytes) {
        for (size_t i = 0; becomes_float(t) && i < (size_t)t->width * channels; i++) {
            const size_t x = i / channels, c = i % channels;
            const float value = float_of(row + x * from + c * t->sample_bytes, t->sample_bytes);
            memcpy(dst + x * to + c * sizeof value, &value, sizeof value);
        }
        if (becomes_float(t))
            continue;
        if (from == to)
            memcpy(dst, row, to * t->width);
        else if (t->planes > 1 && bytes == 1)
            copy_samples(dst, to, row, 1, 1, t->width);
        else if (t->planes > 1 && bytes == 2)
            copy_samples(dst, to, row, 2, 2, t->width);
        else if (t->planes > 1)
            copy_samples(dst, to, row, 4, 4, t->width);
        else
            copy_samples(dst, to, row, from, to, t->width);
    }
}

/* Whole blocks are decoded directly to the caller if the layout is the same; others are kept in the band. */
txm_status txm_tiff_read_rows(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    txm_tiff *t = self;
    uint8_t *out = dst;
    size_t row = txm_tiff_plane_row(t);
    bool tight = t->planes == 1 && t->channels == t->file_channels && !becomes_float(t) && stride_bytes == row;
    for (uint32_t end = y + rows, taken; y < end; y += taken) {
        uint32_t begin = y / t->block_h * t->block_h;
        uint32_t whole = t->height - begin < t->block_h ? t->height - begin : t->block_h;
        txm_status status = TXM_OK;
        taken = 1;
        if (t->by_scanline) {
            /* libtiff decodes a strip in order; all rows before were read. */
            *t->message = 0;
            for (uint32_t p = 0; p < t->planes && status == TXM_OK; p++)
                if (t->strip[p])
                    status = stream_row(t, y, p, t->block + p * row, err);
                else if (TIFFReadScanline(t->tif, t->block + p * row, y, (uint16_t)p) < 0)
                    status = damaged(t, y, err);
            if (status == TXM_OK)
                deliver_row(t, t->block, row, out);
        } else if (tight && y == begin && end - y >= whole) {
            status = decode_blocks(t, y, 0, out, err);
            taken = whole;
        } else {
            if (y < t->band_begin || y >= t->band_end) {
                t->band_begin = t->band_end = 0;
                for (uint32_t p = 0; p < t->planes && status == TXM_OK; p++)
                    status = decode_blocks(t, begin, p, t->band + p * whole * row, err);
            }
            if (status == TXM_OK) {
                t->band_begin = begin;
                t->band_end = begin + whole;
                deliver_row(t, t->band + (y - begin) * row, whole * row, out);
            }
        }
        if (status != TXM_OK)
            return status;
        for (uint32_t r = 0; r < taken; r++, out += stride_bytes)
            for (size_t i = 0; t->invert && i < (size_t)t->width * t->channels; i++)
                out[i] = (uint8_t)~out[i];
    }
    return TXM_OK;
}
