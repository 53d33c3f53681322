/* SPDX-License-Identifier: Apache-2.0
 * Row operations with AVX-512 (F, BW, DQ, VL): vectors of sixteen. */
#include <immintrin.h>

#define TXM_LANES 16
#include "tile/ops/ops.h"
#include "tile/ops/simd/vector.h"

static inline vf vf_from_half(const uint8_t *p)
{
    return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const void *)p));
}

static inline void vf_to_half(vf v, uint8_t *p)
{
    _mm256_storeu_si256((void *)p, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#include "tile/ops/simd/ops_simd.h"

void txm_ops_fill_avx512(txm_ops *ops)
{
    fill_simd(ops);
}
