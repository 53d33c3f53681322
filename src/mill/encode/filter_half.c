/* SPDX-License-Identifier: Apache-2.0
 *
 * EXR's filter for RGBA half with AVX-512, from pixels to differences in one pass.
 *
 * The difference of a split byte is taken from the same byte of the pixel before it, so differences are taken first,
 * from interleaved pixels. Eight vectors of eight pixels are then transposed to eight vectors with one byte of 64
 * pixels. At the beginning of a row, a channel follows the last pixel of the channel before it, and the first channel
 * the last one of the row above.
 */
#include "mill/encode/filter.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "base/endian.h"
#include "tile/ops/ops.h"

#define TXM_WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi"), always_inline)) static inline

enum { PIXEL_BYTES = 8, PIXELS = 8 /* of a vector */, RUN = 64 /* pixels that are transposed at a time */ };

/* Vector k gets word k of every vector. */
TXM_WIDE void transpose(__m512i v[8])
{
    __m512i pairs[8], fours[8];
    for (int i = 0; i < 8; i += 2) {
        pairs[i] = _mm512_unpacklo_epi64(v[i], v[i + 1]);
        pairs[i + 1] = _mm512_unpackhi_epi64(v[i], v[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            fours[i + k] = _mm512_shuffle_i64x2(pairs[i + k], pairs[i + k + 2], 0x88);
            fours[i + k + 2] = _mm512_shuffle_i64x2(pairs[i + k], pairs[i + k + 2], 0xdd);
        }
    for (int k = 0; k < 4; k++) {
        v[k] = _mm512_shuffle_i64x2(fours[k], fours[k + 4], 0x88);
        v[k + 4] = _mm512_shuffle_i64x2(fours[k], fours[k + 4], 0xdd);
    }
}

/* Filters 64 pixels, whose predecessor is the last word of `first_before`; plane k is written at dst[k]. */
TXM_WIDE void filter_run(const uint8_t *pixels, __m512i first_before, uint8_t *const dst[8])
{
    const __m512i bytes =
        _mm512_set_epi64(0x3f372f271f170f07, 0x3e362e261e160e06, 0x3d352d251d150d05, 0x3c342c241c140c04,
                         0x3b332b231b130b03, 0x3a322a221a120a02, 0x3931292119110901, 0x3830282018100800);
    __m512i v[8];
    for (int i = 0; i < 8; i++) {
        const uint8_t *p = pixels + i * PIXELS * PIXEL_BYTES;
        __m512i here = _mm512_loadu_si512(p);
        __m512i before = i ? _mm512_loadu_si512(p - PIXEL_BYTES) : _mm512_alignr_epi64(here, first_before, 7);
        __m512i difference = _mm512_xor_si512(_mm512_sub_epi8(here, before), _mm512_set1_epi8(-128));
        v[i] = _mm512_permutexvar_epi8(bytes, difference);
    }
    transpose(v);
    for (int k = 0; k < 8; k++)
        _mm512_storeu_si512(dst[k], v[k]);
}

__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi"))) static void
filter_half_avx512(const uint8_t *pixels, size_t stride_bytes, uint32_t width, uint32_t height, uint8_t *dst)
{
    const size_t half = (size_t)width * height * 4, last = (size_t)(width - 1) * PIXEL_BYTES;
    /* The first low byte is stored as it is, and the first high byte follows the last low one. */
    uint16_t above = (uint16_t)(128 | pixels[(height - 1) * stride_bytes + last + 6] << 8);
    for (uint32_t y = 0; y < height; y++, pixels += stride_bytes, dst += (size_t)width * 4) {
        uint64_t end = txm_load_le64(pixels + last);
        __m512i before = _mm512_set1_epi64((long long)(end << 16 | above));
        above = (uint16_t)(end >> 48);
        for (uint32_t x = 0; x < width; x += RUN) {
            uint8_t *planes[8];
            for (size_t k = 0; k < 8; k++)
                planes[k] = dst + k % 2 * half + k / 2 * width + x;
            filter_run(pixels + (size_t)x * PIXEL_BYTES, before, planes);
            before = _mm512_set1_epi64((long long)txm_load_le64(pixels + (size_t)(x + RUN - 1) * PIXEL_BYTES));
        }
    }
}

bool txm_half_filter_fits(uint32_t width)
{
    return width % RUN == 0;
}

txm_half_filter txm_half_filter_best(void)
{
    return !strcmp(txm_ops_best()->isa, "avx512") && __builtin_cpu_supports("avx512vbmi") ? filter_half_avx512 : NULL;
}
#else
bool txm_half_filter_fits(uint32_t width)
{
    (void)width;
    return false;
}

txm_half_filter txm_half_filter_best(void)
{
    return NULL;
}
#endif
