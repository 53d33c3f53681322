/* SPDX-License-Identifier: Apache-2.0
 * Row operations with AVX2 and F16C: vectors of eight. */
#include <immintrin.h>

#define TXM_LANES 8
#include "tile/ops/ops.h"
#include "tile/ops/simd/vector.h"

static inline vf vf_from_half(const uint8_t *p)
{
    return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const void *)p));
}

static inline void vf_to_half(vf v, uint8_t *p)
{
    _mm_storeu_si128((void *)p, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#include "tile/ops/simd/ops_simd.h"

void txm_ops_fill_avx2(txm_ops *ops)
{
    fill_simd(ops);
}
