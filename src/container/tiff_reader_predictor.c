/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoing TIFF's predictors. Horizontal differencing is a running sum over the pixels of a row; the common layouts add
 * up a whole vector of pixels in two or three steps (each step adds the vector shifted by twice as many pixels), the
 * rest goes sample by sample. Integer sums wrap around, so every order of adding gives the same result.
 */
#include "container/tiff_reader.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* RGBA, 8 bits: four pixels a vector. */
static size_t sum_row_u8x4(uint8_t *row, size_t bytes)
{
    __m128i carry = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(row + i));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
        _mm_storeu_si128((__m128i *)(row + i), _mm_add_epi8(v, carry));
        /* The sum of these four, taken before the carry comes in: the next vector waits for one addition only. */
        carry = _mm_add_epi8(carry, _mm_shuffle_epi32(v, 0xff));
    }
    return i;
}

/* One channel, 8 bits: sixteen pixels a vector. */
static size_t sum_row_u8x1(uint8_t *row, size_t bytes)
{
    __m128i carry = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(row + i));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 1));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 2));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
        _mm_storeu_si128((__m128i *)(row + i), _mm_add_epi8(v, carry));
        v = _mm_unpackhi_epi8(v, v); /* the sum of these sixteen, everywhere */
        v = _mm_shufflehi_epi16(v, 0xff);
        carry = _mm_add_epi8(carry, _mm_unpackhi_epi64(v, v));
    }
    return i;
}

/* RGBA, 16 bits: two pixels a vector. */
static size_t sum_row_u16x4(uint8_t *row, size_t bytes)
{
    __m128i carry = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(row + i));
        v = _mm_add_epi16(v, _mm_slli_si128(v, 8));
        v = _mm_add_epi16(v, carry);
        _mm_storeu_si128((__m128i *)(row + i), v);
        carry = _mm_unpackhi_epi64(v, v);
    }
    return i;
}

/* The vector part of a row: returns how many bytes it did. */
static size_t sum_row_fast(uint8_t *row, size_t bytes, uint32_t channels, unsigned sample_bytes)
{
    if (sample_bytes == 1 && channels == 4)
        return sum_row_u8x4(row, bytes);
    if (sample_bytes == 1 && channels == 1)
        return sum_row_u8x1(row, bytes);
    if (sample_bytes == 2 && channels == 4)
        return sum_row_u16x4(row, bytes);
    return 0;
}
#else
static size_t sum_row_fast(uint8_t *row, size_t bytes, uint32_t channels, unsigned sample_bytes)
{
    (void)row, (void)bytes, (void)channels, (void)sample_bytes;
    return 0;
}
#endif

/* Adds to the samples from byte `from` on the sample one pixel to their left. */
static void sum_row(uint8_t *row, size_t from, size_t bytes, size_t pixel_bytes, unsigned sample_bytes)
{
    for (size_t i = from < pixel_bytes ? pixel_bytes : from; i < bytes; i += sample_bytes) {
        const uint8_t *left = row + i - pixel_bytes;
        if (sample_bytes == 1) {
            row[i] = (uint8_t)(row[i] + *left);
        } else if (sample_bytes == 2) {
            uint16_t v = (uint16_t)(txm_le16(row + i) + txm_le16(left));
            memcpy(row + i, &v, sizeof v);
        } else {
            uint32_t v = txm_le32(row + i) + txm_le32(left);
            memcpy(row + i, &v, sizeof v);
        }
    }
}

void txm_unpredict_horizontal(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels, unsigned sample_bytes)
{
    size_t pixel_bytes = (size_t)channels * sample_bytes, bytes = width * pixel_bytes;
    for (uint32_t y = 0; y < rows; y++, pixels += bytes) {
        size_t done = sum_row_fast(pixels, bytes, channels, sample_bytes);
        sum_row(pixels, done, bytes, pixel_bytes, sample_bytes);
    }
}

void txm_unpredict_float(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels, unsigned sample_bytes,
                         uint8_t *line)
{
    size_t samples = (size_t)width * channels, bytes = samples * sample_bytes;
    for (uint32_t y = 0; y < rows; y++, pixels += bytes) {
        memcpy(line, pixels, bytes);
        for (size_t i = channels; i < bytes; i++)
            line[i] = (uint8_t)(line[i] + line[i - channels]);
        /* The bytes of most weight stand first, in files of either byte order. */
        for (size_t i = 0; i < samples; i++)
            for (unsigned b = 0; b < sample_bytes; b++)
                pixels[i * sample_bytes + b] = line[(sample_bytes - 1 - b) * samples + i];
    }
}
