/* SPDX-License-Identifier: Apache-2.0
 * Look-ups with AVX-512 (F, BW, DQ, VL): vectors of sixteen. */
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

TXM_FAST vf vf_sqrt(vf v)
{
    return (vf)_mm512_sqrt_ps((__m512)v);
}

const txm_sample_ops txm_sample_avx512 = {"avx512", sample_single, sample_with_derivatives, sample_batch};
