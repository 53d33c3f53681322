/* SPDX-License-Identifier: Apache-2.0
 *
 * One and two RGBA pixels as floats, with AVX2 and F16C.
 *
 * Each stored type has one instruction or two that widen four samples at once. Two neighbours in a row make a
 * vector of eight, which halves the loads of a bilinear look-up. Other channel counts go the general way
 * (lookup.h).
 */
#ifndef TXM_SAMPLE_LOAD_AVX2_H
#define TXM_SAMPLE_LOAD_AVX2_H
#include <immintrin.h>

#include "tile/sample/simd/taps_simd.h"

TXM_FAST txm_rgba txm_load_one(int type, const uint8_t *p)
{
    switch (type) {
    case TXM_TYPE_U8:
        return (txm_rgba)_mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_loadu_si32(p)));
    case TXM_TYPE_U16:
        return (txm_rgba)_mm_cvtepi32_ps(_mm_cvtepu16_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
    case TXM_TYPE_HALF:
        return (txm_rgba)_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)p));
    default:
        return (txm_rgba)_mm_loadu_ps((const float *)(const void *)p);
    }
}

TXM_FAST txm_pair txm_load_two(int type, const uint8_t *p)
{
    switch (type) {
    case TXM_TYPE_U8:
        return (txm_pair)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p)));
    case TXM_TYPE_U16:
        return (txm_pair)_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
    case TXM_TYPE_HALF:
        return (txm_pair)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
    default:
        return (txm_pair)_mm256_loadu_ps((const float *)(const void *)p);
    }
}
#endif
