/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups with AVX-512 (F, BW, DQ, VL): vectors of sixteen.
 *
 * As sample_avx2.c, with vectors twice as long and masks in registers of their own. Single look-ups stay with
 * vectors of four: a pixel has no more channels.
 */
#define TXM_LANES 16
#include "sample/x86/load_avx2.h"

#include "sample/simd/entries_simd.h"

TXM_FAST vf vf_floor(vf v)
{
    return (vf)_mm512_roundscale_ps((__m512)v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

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
    (void)uv; /* of NaN the conversion makes the least integer, and no other place is negative */
    return (tile[0] | tile[1]) >= 0;
}

TXM_FAST v4i v4i_load_two(const uint32_t *p)
{
    return (v4i)_mm_loadl_epi64((const __m128i *)(const void *)p);
}

TXM_FAST v4i v4i_max(v4i a, v4i b)
{
    return (v4i)_mm_max_epi32((__m128i)a, (__m128i)b);
}

TXM_FAST v4i v4i_min(v4i a, v4i b)
{
    return (v4i)_mm_min_epi32((__m128i)a, (__m128i)b);
}

TXM_FAST vf vf_sqrt(vf v)
{
    return (vf)_mm512_sqrt_ps((__m512)v);
}

const txm_sample_ops txm_sample_avx512 = {"avx512", sample_single, sample_with_derivatives, sample_batch};
