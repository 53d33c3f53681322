/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoes PNG's row filters with vectors of 16 bytes. One file per instruction set includes this one, and names the
 * table.
 *
 * Sub is a running sum and is summed in logarithmic steps within a vector. Average and Paeth need the finished left
 * neighbour, so each pixel is a step, and the speed depends on the number of dependent instructions from a to the next
 * a. Average takes 2: with inverted bytes, ~floor((a + b) / 2) is pavgb(~a, ~b), which rounds up, and adding becomes
 * subtracting. Paeth takes 4: the nearest of a, b, c to a + b - c is decided by comparing 3c - a - b with the lower and
 * the higher of a and b, without absolute values, and the filtered byte is added to all candidates beforehand.
 *
 * In photographs most rows are Paeth. Several such rows are undone at once, each one pixel behind the row above, whose
 * last pixel is then its b: their steps do not depend on each other, and overlap. */
#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

#include "mill/source/png/png_unfilter.h"

/* One pixel of N bytes in the low bytes of a vector. The wide forms access 4 or 8 bytes if N is 3 or 6: loops use them
 * as long as that stays inside the row. */
#define PIXEL_ACCESS(N, WIDE, LOAD, STORE)                                                                             \
    enum { wide_##N = WIDE };                                                                                          \
    static inline __m128i load_wide_##N(const uint8_t *p)                                                              \
    {                                                                                                                  \
        return LOAD;                                                                                                   \
    }                                                                                                                  \
    static inline void store_wide_##N(uint8_t *p, __m128i v)                                                           \
    {                                                                                                                  \
        STORE;                                                                                                         \
    }                                                                                                                  \
    static inline __m128i load_##N(const uint8_t *p)                                                                   \
    {                                                                                                                  \
        uint64_t v = 0;                                                                                                \
        memcpy(&v, p, N);                                                                                              \
        return _mm_cvtsi64_si128((long long)v);                                                                        \
    }                                                                                                                  \
    static inline void store_##N(uint8_t *p, __m128i v)                                                                \
    {                                                                                                                  \
        uint64_t low = (uint64_t)_mm_cvtsi128_si64(v);                                                                 \
        memcpy(p, &low, N);                                                                                            \
    }

PIXEL_ACCESS(1, 1, _mm_cvtsi32_si128(*p), *p = (uint8_t)_mm_cvtsi128_si32(v))
PIXEL_ACCESS(2, 2, _mm_loadu_si16(p), _mm_storeu_si16(p, v))
PIXEL_ACCESS(3, 4, _mm_loadu_si32(p), _mm_storeu_si32(p, v))
PIXEL_ACCESS(4, 4, _mm_loadu_si32(p), _mm_storeu_si32(p, v))
PIXEL_ACCESS(6, 8, _mm_loadl_epi64((const void *)p), _mm_storel_epi64((void *)p, v))
PIXEL_ACCESS(8, 8, _mm_loadl_epi64((const void *)p), _mm_storel_epi64((void *)p, v))

static void undo_none(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)
{
    (void)prior;
    memcpy(out, raw, bytes);
}

static void undo_up(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)
{
    size_t i = 0;
#ifdef __AVX2__
    for (; i + 32 <= bytes; i += 32) {
        __m256i sum =
            _mm256_add_epi8(_mm256_loadu_si256((const void *)(raw + i)), _mm256_loadu_si256((const void *)(prior + i)));
        _mm256_storeu_si256((void *)(out + i), sum);
    }
#endif
    for (; i + 16 <= bytes; i += 16) {
        __m128i sum =
            _mm_add_epi8(_mm_loadu_si128((const void *)(raw + i)), _mm_loadu_si128((const void *)(prior + i)));
        _mm_storeu_si128((void *)(out + i), sum);
    }
    for (; i < bytes; i++)
        out[i] = (uint8_t)(raw[i] + prior[i]);
}

/* The bytes of whole pixels in a vector: 16, or 15 for pixels of 3 bytes, 12 for 6. The macro copies the last pixel to
 * all positions. */
#define BLOCK_BYTES(N) (16 / (N) * (N))
#define LAST(N, I) ((char)(BLOCK_BYTES(N) - (N) + (I) % (N)))
#define SPREAD_LAST(N)                                                                                                 \
    _mm_setr_epi8(LAST(N, 0), LAST(N, 1), LAST(N, 2), LAST(N, 3), LAST(N, 4), LAST(N, 5), LAST(N, 6), LAST(N, 7),      \
                  LAST(N, 8), LAST(N, 9), LAST(N, 10), LAST(N, 11), LAST(N, 12), LAST(N, 13), LAST(N, 14),             \
                  LAST(N, 15))

/* Adds to each pixel of a vector those to its left, one, two, four and eight pixels away. */
#define SUM_STEP(N, PIXELS) ((PIXELS) * (N) < 16 ? _mm_add_epi8(x, _mm_slli_si128(x, ((PIXELS) * (N)) & 15)) : x)

#define UNDO_SUB(N)                                                                                                    \
    static void undo_sub_##N(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)                     \
    {                                                                                                                  \
        const __m128i spread = SPREAD_LAST(N);                                                                         \
        __m128i left = _mm_setzero_si128();                                                                            \
        size_t i = 0;                                                                                                  \
        (void)prior;                                                                                                   \
        for (; i + 16 <= bytes; i += BLOCK_BYTES(N)) {                                                                 \
            __m128i x = _mm_loadu_si128((const void *)(raw + i));                                                      \
            x = SUM_STEP(N, 1);                                                                                        \
            x = SUM_STEP(N, 2);                                                                                        \
            x = SUM_STEP(N, 4);                                                                                        \
            x = SUM_STEP(N, 8);                                                                                        \
            _mm_storeu_si128((void *)(out + i), _mm_add_epi8(x, left));                                                \
            left = _mm_add_epi8(left, _mm_shuffle_epi8(x, spread));                                                    \
        }                                                                                                              \
        for (; i < bytes; i++)                                                                                         \
            out[i] = (uint8_t)(raw[i] + (i >= (N) ? out[i - (N)] : 0));                                                \
    }

/* The bits of a and b are inverted. */
static inline __m128i average_step(__m128i x, __m128i a, __m128i b)
{
    return _mm_sub_epi8(_mm_avg_epu8(a, b), x);
}

#define UNDO_AVERAGE(N)                                                                                                \
    static void undo_average_##N(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)                 \
    {                                                                                                                  \
        const __m128i ones = _mm_set1_epi8(-1);                                                                        \
        __m128i a = ones;                                                                                              \
        size_t i = 0;                                                                                                  \
        for (; i + wide_##N <= bytes; i += (N)) {                                                                      \
            a = average_step(load_wide_##N(raw + i), a, _mm_xor_si128(load_wide_##N(prior + i), ones));                \
            store_wide_##N(out + i, _mm_xor_si128(a, ones));                                                           \
        }                                                                                                              \
        for (; i < bytes; i += (N)) {                                                                                  \
            a = average_step(load_##N(raw + i), a, _mm_xor_si128(load_##N(prior + i), ones));                          \
            store_##N(out + i, _mm_xor_si128(a, ones));                                                                \
        }                                                                                                              \
    }

/* Works in 16-bit lanes, except for the sums, which are of bytes and so leave the high bytes 0. */
static inline __m128i paeth_step(__m128i x, __m128i a, __m128i b, __m128i c)
{
    __m128i threshold = _mm_sub_epi16(_mm_sub_epi16(_mm_add_epi16(_mm_add_epi16(c, c), c), b), a);
    __m128i low = _mm_min_epi16(a, b), high = _mm_max_epi16(a, b);
    __m128i from_c = _mm_add_epi8(c, x), from_low = _mm_add_epi8(low, x), from_high = _mm_add_epi8(high, x);
    __m128i from_low_or_c = _mm_blendv_epi8(from_low, from_c, _mm_cmpgt_epi16(high, threshold));
    return _mm_blendv_epi8(from_high, from_low_or_c, _mm_cmpgt_epi16(threshold, low));
}

/* One step of ROWS rows, row k at pixel t - k, from the last row up: each finds the previous pixel of the row above in
 * its a. The narrow form accesses only pixels that exist, and only their bytes. */
#define PAETH_STEP(N, ROWS, LOAD, STORE, EXISTS)                                                                       \
    _Pragma("GCC unroll 4") for (size_t k = (ROWS); k-- > 0;)                                                          \
    {                                                                                                                  \
        size_t at = (t - k) * (N);                                                                                     \
        if (!(EXISTS))                                                                                                 \
            continue;                                                                                                  \
        __m128i b = k ? a[k ? k - 1 : 0] : _mm_cvtepu8_epi16(LOAD(prior + at));                                        \
        a[k] = paeth_step(_mm_cvtepu8_epi16(LOAD(raw + k * stride + at)), a[k], b, c[k]);                              \
        c[k] = b;                                                                                                      \
        STORE(out[k] + at, _mm_packus_epi16(a[k], a[k]));                                                              \
    }

#define UNDO_PAETH(N, ROWS)                                                                                            \
    static void undo_paeth_##N##x##ROWS(const uint8_t *raw, size_t stride, const uint8_t *prior, uint8_t *const *out,  \
                                        size_t bytes)                                                                  \
    {                                                                                                                  \
        const size_t pixels = bytes / (N);                                                                             \
        __m128i a[ROWS], c[ROWS];                                                                                      \
        size_t t = 0;                                                                                                  \
        for (int k = 0; k < (ROWS); k++)                                                                               \
            a[k] = c[k] = _mm_setzero_si128();                                                                         \
        for (; t + 1 < (ROWS); t++)                                                                                    \
            PAETH_STEP(N, ROWS, load_##N, store_##N, t >= k && t - k < pixels)                                         \
        for (; t + 1 < pixels; t++)                                                                                    \
            PAETH_STEP(N, ROWS, load_wide_##N, store_wide_##N, true)                                                   \
        for (; t < pixels + (ROWS)-1; t++)                                                                             \
            PAETH_STEP(N, ROWS, load_##N, store_##N, t - k < pixels)                                                   \
    }

#define UNDO_PAETH_ROW(N)                                                                                              \
    static void undo_paeth_##N(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)                   \
    {                                                                                                                  \
        undo_paeth_##N##x1(raw, 0, prior, &out, bytes);                                                                \
    }

#define PIXEL_SIZE(N)                                                                                                  \
    UNDO_SUB(N)                                                                                                        \
    UNDO_AVERAGE(N)                                                                                                    \
    UNDO_PAETH(N, 1)                                                                                                   \
    UNDO_PAETH(N, 2)                                                                                                   \
    UNDO_PAETH(N, 4)                                                                                                   \
    UNDO_PAETH_ROW(N)

TXM_PNG_PIXEL_SIZES(PIXEL_SIZE)

#define ROWS_BY_PIXEL_SIZE(F, ROWS)                                                                                    \
    {                                                                                                                  \
        NULL, F##_1x##ROWS, F##_2x##ROWS, F##_3x##ROWS, F##_4x##ROWS, NULL, F##_6x##ROWS, NULL, F##_8x##ROWS           \
    }
#define FOR_ALL_SIZES(F)                                                                                               \
    {                                                                                                                  \
        NULL, F, F, F, F, NULL, F, NULL, F                                                                             \
    }

#define UNFILTER_TABLE(NAME)                                                                                           \
    {                                                                                                                  \
        .name = NAME,                                                                                                  \
        .undo = {FOR_ALL_SIZES(undo_none), TXM_PNG_BY_PIXEL_SIZE(undo_sub), FOR_ALL_SIZES(undo_up),                    \
                 TXM_PNG_BY_PIXEL_SIZE(undo_average), TXM_PNG_BY_PIXEL_SIZE(undo_paeth)},                              \
        .paeth_2 = ROWS_BY_PIXEL_SIZE(undo_paeth, 2), .paeth_4 = ROWS_BY_PIXEL_SIZE(undo_paeth, 4),                    \
    }
