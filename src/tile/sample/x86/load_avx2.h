/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads one or two pixels as floats, with AVX2 and F16C.
 *
 * Each storage type has one or two instructions that widen four samples at once. Two neighbours in a row form a vector
 * of eight, which halves the loads of a bilinear lookup. Three channels are shuffled to four, and the alpha is inserted
 * before the samples are widened.
 */
#ifndef TXM_SAMPLE_LOAD_AVX2_H
#define TXM_SAMPLE_LOAD_AVX2_H
#include <immintrin.h>

#include "tile/sample/simd/taps_simd.h"

enum { TXM_HALF_ONE = 0x3C00 };

TXM_FAST txm_rgba txm_load_one(int kind, const uint8_t *p)
{
    switch (kind) {
    case TXM_TYPE_U8:
        return (txm_rgba)_mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_loadu_si32(p)));
    case TXM_TYPE_U16:
        return (txm_rgba)_mm_cvtepi32_ps(_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
    case TXM_TYPE_HALF:
        return (txm_rgba)_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)p));
    case TXM_TYPE_FLOAT:
        return (txm_rgba)_mm_loadu_ps((const float *)(const void *)p);
    case TXM_KIND_RGB + TXM_TYPE_U8:
        return (txm_rgba)_mm_cvtepi32_ps(
            _mm_cvtepu8_epi32(_mm_or_si128(_mm_loadu_si32(p), _mm_cvtsi32_si128((int)0xFF000000u))));
    case TXM_KIND_RGB + TXM_TYPE_U16:
        return (txm_rgba)_mm_cvtepi32_ps(
            _mm_cvtepu16_epi32(_mm_insert_epi16(_mm_loadl_epi64((const __m128i *)(const void *)p), 0xFFFF, 3)));
    case TXM_KIND_RGB + TXM_TYPE_HALF:
        return (txm_rgba)_mm_cvtph_ps(
            _mm_insert_epi16(_mm_loadl_epi64((const __m128i *)(const void *)p), TXM_HALF_ONE, 3));
    default:
        return (txm_rgba)_mm_blend_ps(_mm_loadu_ps((const float *)(const void *)p), _mm_set1_ps(1.0f), 8);
    }
}

/* Spreads two pixels of three bytes to four channels with an alpha of 255; the function below does so for samples of
 * two bytes, with the alpha given. */
TXM_FAST __m128i txm_spread_bytes(__m128i v)
{
    const __m128i places = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    return _mm_or_si128(_mm_shuffle_epi8(v, places), _mm_setr_epi8(0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0));
}

TXM_FAST __m128i txm_spread_words(__m128i v, short alpha)
{
    const __m128i places = _mm_setr_epi8(0, 1, 2, 3, 4, 5, -1, -1, 6, 7, 8, 9, 10, 11, -1, -1);
    return _mm_or_si128(_mm_shuffle_epi8(v, places), _mm_setr_epi16(0, 0, 0, alpha, 0, 0, 0, alpha));
}

TXM_FAST txm_pair txm_load_two(int kind, const uint8_t *p)
{
    switch (kind) {
    case TXM_TYPE_U8:
        return (txm_pair)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
    case TXM_TYPE_U16:
        return (txm_pair)_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
    case TXM_TYPE_HALF:
        return (txm_pair)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
    case TXM_TYPE_FLOAT:
        return (txm_pair)_mm256_loadu_ps((const float *)(const void *)p);
    case TXM_KIND_RGB + TXM_TYPE_U8:
        return (txm_pair)_mm256_cvtepi32_ps(
            _mm256_cvtepu8_epi32(txm_spread_bytes(_mm_loadl_epi64((const __m128i *)(const void *)p))));
    case TXM_KIND_RGB + TXM_TYPE_U16:
        return (txm_pair)_mm256_cvtepi32_ps(
            _mm256_cvtepu16_epi32(txm_spread_words(_mm_loadu_si128((const __m128i *)(const void *)p), -1)));
    case TXM_KIND_RGB + TXM_TYPE_HALF:
        return (txm_pair)_mm256_cvtph_ps(
            txm_spread_words(_mm_loadu_si128((const __m128i *)(const void *)p), TXM_HALF_ONE));
    default: {
        const __m256 both = _mm256_set_m128(_mm_loadu_ps((const float *)(const void *)(p + 12)),
                                            _mm_loadu_ps((const float *)(const void *)p));
        return (txm_pair)_mm256_blend_ps(both, _mm256_set1_ps(1.0f), 0x88);
    }
    }
}
#endif
