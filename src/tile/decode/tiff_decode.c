/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoes TIFF's compression, except zip and zstd.
 *
 * Horizontal differencing is undone by a running sum over the pixels of a row. For the common layouts it adds up a
 * whole vector of pixels in two or three steps (each step adds the vector shifted by twice as many pixels); other
 * layouts go sample by sample. Integer sums wrap around, so the order of additions does not matter.
 *
 * It also has the codecs that exist only inside libtiff's file handling: LZW as in TIFF 6.0 (codes from the high bit
 * down, code width growing one code early) and PackBits.
 */
#include "tile/decode/tiff_decode.h"

#include <string.h>

#include "base/endian.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ---- predictors -------------------------------------------------------------------------------------------------- */

#ifdef __SSE2__
/* RGBA, 8 bits: four pixels per vector. */
static size_t sum_row_u8x4(uint8_t *row, size_t bytes)
{
    __m128i carry = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        __m128i v = _mm_loadu_si128((const void *)(row + i));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
        _mm_storeu_si128((void *)(row + i), _mm_add_epi8(v, carry));
        /* The sum of these four is computed before the carry is added, so that the next vector waits for one addition
         * only. */
        carry = _mm_add_epi8(carry, _mm_shuffle_epi32(v, 0xff));
    }
    return i;
}

/* One channel, 8 bits: sixteen pixels per vector. */
static size_t sum_row_u8x1(uint8_t *row, size_t bytes)
{
    __m128i carry = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        __m128i v = _mm_loadu_si128((const void *)(row + i));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 1));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 2));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 4));
        v = _mm_add_epi8(v, _mm_slli_si128(v, 8));
        _mm_storeu_si128((void *)(row + i), _mm_add_epi8(v, carry));
        v = _mm_unpackhi_epi8(v, v); /* the sum of these sixteen, in all lanes */
        v = _mm_shufflehi_epi16(v, 0xff);
        carry = _mm_add_epi8(carry, _mm_unpackhi_epi64(v, v));
    }
    return i;
}

/* RGBA, 16 bits: two pixels per vector. */
static size_t sum_row_u16x4(uint8_t *row, size_t bytes)
{
    __m128i carry = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        __m128i v = _mm_loadu_si128((const void *)(row + i));
        v = _mm_add_epi16(v, _mm_slli_si128(v, 8));
        v = _mm_add_epi16(v, carry);
        _mm_storeu_si128((void *)(row + i), v);
        carry = _mm_unpackhi_epi64(v, v);
    }
    return i;
}

#endif

void txm_unpredict_horizontal(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels, unsigned sample_bytes)
{
    size_t pixel_bytes = (size_t)channels * sample_bytes, bytes = width * pixel_bytes;
    for (uint32_t y = 0; y < rows; y++, pixels += bytes) {
        size_t done = 0;
#ifdef __SSE2__
        if (sample_bytes == 1 && channels == 4)
            done = sum_row_u8x4(pixels, bytes);
        else if (sample_bytes == 1 && channels == 1)
            done = sum_row_u8x1(pixels, bytes);
        else if (sample_bytes == 2 && channels == 4)
            done = sum_row_u16x4(pixels, bytes);
#endif
        /* To each of the other samples, the one a pixel to its left is added. */
        for (size_t i = done < pixel_bytes ? pixel_bytes : done; i < bytes; i += sample_bytes) {
            const uint8_t *left = pixels + i - pixel_bytes;
            if (sample_bytes == 1) {
                pixels[i] = (uint8_t)(pixels[i] + *left);
            } else if (sample_bytes == 2) {
                uint16_t v = (uint16_t)(txm_load_le16(pixels + i) + txm_load_le16(left));
                memcpy(pixels + i, &v, sizeof v);
            } else {
                uint32_t v = txm_load_le32(pixels + i) + txm_load_le32(left);
                memcpy(pixels + i, &v, sizeof v);
            }
        }
    }
}

/* Bytes of equal significance are stored next to each other in the file; this puts them back into samples. */
void txm_unpredict_float(uint8_t *pixels, uint32_t width, uint32_t rows, uint32_t channels, unsigned sample_bytes,
                         uint8_t *line)
{
    size_t samples = (size_t)width * channels, bytes = samples * sample_bytes;
    for (uint32_t y = 0; y < rows; y++, pixels += bytes) {
        memcpy(line, pixels, bytes);
        for (size_t i = channels; i < bytes; i++)
            line[i] = (uint8_t)(line[i] + line[i - channels]);
        /* The most significant bytes are stored first, in either byte order. */
        for (size_t i = 0; i < samples; i++)
            for (unsigned b = 0; b < sample_bytes; b++)
                pixels[i * sample_bytes + b] = line[(sample_bytes - 1 - b) * samples + i];
    }
}

void txm_widen_bits(const uint8_t *src, unsigned bits, uint8_t *dst, size_t count, unsigned sample_bytes)
{
    const uint32_t most = (1u << bits) - 1, full = sample_bytes == 1 ? UINT8_MAX : UINT16_MAX;
    uint32_t held = 0;
    unsigned left = 0; /* valid bits of `held`, at its lower end */
    for (size_t i = 0; i < count; i++, dst += sample_bytes) {
        for (; left < bits; left += 8)
            held = held << 8 | *src++;
        left -= bits;
        uint16_t wide = (uint16_t)((held >> left & most) * full / most);
        if (sample_bytes == 1)
            *dst = (uint8_t)wide;
        else
            memcpy(dst, &wide, sizeof wide);
    }
}

/* ---- codecs ------------------------------------------------------------------------------------------------------ */

enum {
    LZW_CLEAR = 256,
    LZW_END = 257,
    LZW_FIRST = 258,
    LZW_MIN_BITS = 9,
    LZW_MAX_BITS = 12,
    LZW_CODES = 1 << LZW_MAX_BITS
};

/* The string of a code, as the place in the output where it was last written. Since its bytes are there already, no
 * chain of prefixes has to be followed. */
typedef struct lzw_string {
    size_t at, length;
} lzw_string;

/* False unless the output has exactly the expected size. */
bool txm_lzw_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes)
{
    lzw_string strings[LZW_CODES];
    uint32_t bits = 0, next = LZW_FIRST;
    unsigned held = 0, width = LZW_MIN_BITS;
    size_t in = 0, out = 0;
    bool fresh = true; /* no preceding string: just after a clear code */
    lzw_string last = {0, 0};
    while (out < dst_bytes) {
        while (held < width) {
            if (in == src_bytes)
                return false;
            bits = bits << 8 | src[in++];
            held += 8;
        }
        held -= width;
        uint32_t code = bits >> held & ((1u << width) - 1);
        if (code == LZW_END)
            return false;
        if (code == LZW_CLEAR) {
            next = LZW_FIRST;
            width = LZW_MIN_BITS;
            fresh = true;
            continue;
        }
        lzw_string now = {out, 1};
        if (code < LZW_CLEAR) {
            dst[out++] = (uint8_t)code;
        } else {
            /* The code that is just being defined is the last string followed by its own first byte. It is one byte
             * longer than the output from there on, so the copy overlaps itself. */
            if (fresh || code > next || (code == next && next == LZW_CODES))
                return false;
            lzw_string from = code == next ? (lzw_string){last.at, last.length + 1} : strings[code];
            now.length = from.length;
            for (size_t i = 0; i < from.length && out < dst_bytes; i++, out++)
                dst[out] = dst[from.at + i];
        }
        if (!fresh && next < LZW_CODES) {
            strings[next++] = (lzw_string){last.at, last.length + 1};
            if (next + 1 == 1u << width && width < LZW_MAX_BITS)
                width++;
        }
        fresh = false;
        last = now;
    }
    return true;
}

/* A run that would exceed the output means that the data is damaged. */
bool txm_packbits_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes)
{
    size_t in = 0, out = 0;
    while (out < dst_bytes) {
        if (in == src_bytes)
            return false;
        unsigned n = src[in++];
        if (n == 128) /* no operation */
            continue;
        bool run = n > 128;
        size_t count = run ? 257 - n : n + 1;
        if (count > dst_bytes - out || (run ? 1 : count) > src_bytes - in)
            return false;
        if (run)
            memset(dst + out, src[in], count);
        else
            memcpy(dst + out, src + in, count);
        in += run ? 1 : count;
        out += count;
    }
    return true;
}
