/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups with AVX2 and F16C, on vectors of eight.
 *
 * Defines the vector operations that the shared text in simd/ is written with; the algorithm itself is there, once for
 * all widths.
 */
#define TXM_LANES 8
#include "tile/sample/x86/load_avx2.h"

#include "tile/sample/simd/entries_simd.h"
#include "tile/sample/simd/texels_simd.h"
#include "tile/sample/x86/quads.h"

TXM_FAST vf vf_floor(vf v)
{
    return (vf)_mm256_floor_ps((__m256)v);
}

TXM_FAST vf vf_sqrt(vf v)
{
    return (vf)_mm256_sqrt_ps((__m256)v);
}

const txm_sample_ops txm_sample_avx2 = {"avx2",       sample_single, sample_single_guarded, sample_with_derivatives,
                                        sample_batch, texels_batch};
