/* SPDX-License-Identifier: Apache-2.0
 * Row operations with NEON (64-bit Arm): vectors of four. */
#if defined(__aarch64__)
#include <arm_neon.h>

#define TXM_LANES 4
#include "tile/ops/ops.h"
#include "tile/ops/simd/vector.h"

static inline vf vf_from_half(const uint8_t *p)
{
    return (vf)vcvt_f32_f16(vld1_f16((const float16_t *)p));
}

static inline void vf_to_half(vf v, uint8_t *p)
{
    vst1_f16((float16_t *)p, vcvt_f16_f32((float32x4_t)v));
}

#include "tile/ops/simd/ops_simd.h"

void txm_ops_fill_neon(txm_ops *ops)
{
    fill_simd(ops);
}
#else
/* ISO C requires a declaration in every file. */
typedef int txm_no_neon;
#endif
