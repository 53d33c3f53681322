/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups with AVX-512 (F, BW, DQ, VL), on vectors of sixteen.
 *
 * Like sample_avx2.c, with vectors twice as long and mask registers. Single lookups use vectors of four, because a
 * pixel has no more channels.
 */
#define TXM_LANES 16
#include "tile/sample/x86/load_avx2.h"

#include "tile/sample/simd/entries_simd.h"
#include "tile/sample/simd/texels_simd.h"
#include "tile/sample/x86/quads.h"

TXM_FAST vf vf_floor(vf v)
{
    return (vf)_mm512_roundscale_ps((__m512)v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

TXM_FAST vf vf_sqrt(vf v)
{
    return (vf)_mm512_sqrt_ps((__m512)v);
}

const txm_sample_ops txm_sample_avx512 = {"avx512",     sample_single, sample_single_guarded, sample_with_derivatives,
                                          sample_batch, texels_batch};
