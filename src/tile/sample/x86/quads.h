/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on vectors of four, one pixel each, with SSE4.1.
 *
 * A single lookup handles one pixel at a time whatever the width of the batches, so the AVX2 and AVX-512 back-ends
 * share these. Included after entries_simd.h, which defines the types and declares the operations.
 */
#ifndef TXM_SAMPLE_QUADS_H
#define TXM_SAMPLE_QUADS_H

#include "tile/sample/simd/entries_simd.h"

TXM_FAST txm_rgba v4_floor(txm_rgba v)
{
    return (txm_rgba)_mm_floor_ps((__m128)v);
}

TXM_FAST txm_rgba v4_max(txm_rgba a, txm_rgba b)
{
    return (txm_rgba)_mm_max_ps((__m128)a, (__m128)b);
}

TXM_FAST txm_rgba v4_min(txm_rgba a, txm_rgba b)
{
    return (txm_rgba)_mm_min_ps((__m128)a, (__m128)b);
}

TXM_FAST txm_rgba v4_gather(const float *a, const float *b)
{
    return (txm_rgba)_mm_insert_ps((__m128)_mm_loadu_si32(a), _mm_load_ss(b), 0x10);
}

TXM_FAST int v4_is_placed(txm_rgba uv, v4i tile)
{
    (void)uv; /* the conversion turns NaN into the least integer, and no other place is negative */
    return (tile[0] | tile[1]) >= 0;
}

TXM_FAST txm_pair v4_spread(txm_rgba v)
{
    return (txm_pair)_mm256_permute4x64_pd(_mm256_castpd128_pd256((__m128d)v), 0x50);
}

TXM_FAST v4i v4i_halves(uint64_t both)
{
    return (v4i)_mm_cvtsi64_si128((long long)both);
}

TXM_FAST v4i v4i_max(v4i a, v4i b)
{
    return (v4i)_mm_max_epi32((__m128i)a, (__m128i)b);
}

TXM_FAST v4i v4i_min(v4i a, v4i b)
{
    return (v4i)_mm_min_epi32((__m128i)a, (__m128i)b);
}
#endif
