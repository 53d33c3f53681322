/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups with NEON (64-bit Arm), on vectors of four.
 *
 * Defines the vector operations that the shared text in simd/ is written with. NEON has no gather instruction, so
 * gathers are assembled from scalar loads; results are the same to the bit.
 */
#if defined(__aarch64__)
#define TXM_LANES 4
#include <arm_neon.h>

#include "tile/sample/simd/taps_simd.h"

TXM_FAST txm_rgba txm_load_one(int kind, const uint8_t *p)
{
    switch (kind) {
    case TXM_TYPE_U8:
        return (txm_rgba)vcvtq_f32_u32(
            vmovl_u16(vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vld1_dup_u32((const uint32_t *)(const void *)p))))));
    case TXM_TYPE_U16:
        return (txm_rgba)vcvtq_f32_u32(vmovl_u16(vld1_u16((const uint16_t *)(const void *)p)));
    case TXM_TYPE_HALF:
        return (txm_rgba)vcvt_f32_f16(vld1_f16((const float16_t *)(const void *)p));
    case TXM_TYPE_FLOAT:
        return (txm_rgba)vld1q_f32((const float *)(const void *)p);
    case TXM_KIND_RGB + TXM_TYPE_U8: {
        const uint8x8_t four = vreinterpret_u8_u32(vld1_dup_u32((const uint32_t *)(const void *)p));
        return (txm_rgba)vcvtq_f32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vset_lane_u8(0xFF, four, 3)))));
    }
    case TXM_KIND_RGB + TXM_TYPE_U16:
        return (txm_rgba)vcvtq_f32_u32(
            vmovl_u16(vset_lane_u16(0xFFFF, vld1_u16((const uint16_t *)(const void *)p), 3)));
    case TXM_KIND_RGB + TXM_TYPE_HALF:
        return (txm_rgba)vcvt_f32_f16(
            vreinterpret_f16_u16(vset_lane_u16(0x3C00, vld1_u16((const uint16_t *)(const void *)p), 3)));
    default:
        return (txm_rgba)vsetq_lane_f32(1.0f, vld1q_f32((const float *)(const void *)p), 3);
    }
}

TXM_FAST txm_pair txm_load_two(int kind, const uint8_t *p)
{
    txm_rgba a = txm_load_one(kind, p), b = txm_load_one(kind, p + txm_kind_bytes(kind));
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
}

#include "tile/sample/simd/entries_simd.h"
#include "tile/sample/simd/texels_simd.h"

TXM_FAST vf vf_floor(vf v)
{
    return (vf)vrndmq_f32((float32x4_t)v);
}

TXM_FAST txm_rgba v4_floor(txm_rgba v)
{
    return (txm_rgba)vrndmq_f32((float32x4_t)v);
}

/* A comparison and a select, because vmaxq and vminq would return a NaN. */
TXM_FAST txm_rgba v4_max(txm_rgba a, txm_rgba b)
{
    return v4_select(a > b, a, b);
}

TXM_FAST txm_rgba v4_min(txm_rgba a, txm_rgba b)
{
    return v4_select(a < b, a, b);
}

TXM_FAST txm_rgba v4_gather(const float *a, const float *b)
{
    return (txm_rgba){*a, *b};
}

TXM_FAST int v4_is_placed(txm_rgba uv, v4i tile)
{
    (void)tile; /* the conversion turns NaN into 0 */
    return vmaxvq_u32((uint32x4_t)(uv != uv)) == 0;
}

TXM_FAST txm_pair v4_spread(txm_rgba v)
{
    return __builtin_shufflevector(v, v, 0, 1, 0, 1, 2, 3, 2, 3);
}

TXM_FAST v4i v4i_halves(uint64_t both)
{
    return (v4i){(int32_t)both, (int32_t)(both >> 32)};
}

TXM_FAST v4i v4i_max(v4i a, v4i b)
{
    return (v4i)vmaxq_s32((int32x4_t)a, (int32x4_t)b);
}

TXM_FAST v4i v4i_min(v4i a, v4i b)
{
    return (v4i)vminq_s32((int32x4_t)a, (int32x4_t)b);
}

TXM_FAST vf vf_sqrt(vf v)
{
    return (vf)vsqrtq_f32((float32x4_t)v);
}

const txm_sample_ops txm_sample_neon = {"neon",       sample_single, sample_single_guarded, sample_with_derivatives,
                                        sample_batch, texels_batch};
#else
/* ISO C does not allow an empty translation unit. */
typedef int txm_no_neon_look_ups;
#endif
