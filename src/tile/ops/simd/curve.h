/* SPDX-License-Identifier: Apache-2.0
 *
 * The sRGB curve on vectors: the formulas of arith.h, with the same operations in the same order in each lane, so that
 * results are equal bit for bit and all processors write the same files. The file that includes this one defines
 * vector width and instructions.
 */
#ifndef TXM_OPS_CURVE_H
#define TXM_OPS_CURVE_H
#include "tile/ops/arith.h"
#include "tile/ops/simd/vector.h"

/* The vector form of txm_pow_positive. */
static inline vf vf_pow_positive(vf x, double e)
{
    static const double log2_table[16][2] = TXM_POW_LOG2_TABLE, a[5] = TXM_POW_LOG2_POLYNOMIAL;
    static const uint64_t exp2_table[32] = TXM_POW_EXP2_TABLE;
    static const double b[3] = TXM_POW_EXP2_POLYNOMIAL;
    vi bits = (vi)x, offset = bits - (int32_t)TXM_POW_LOG2_BEGIN, interval = (offset >> 19 & 15) * 2;
    vd z = __builtin_convertvector((vf)(bits - (offset & (int32_t)0xFF800000)), vd);
    vd r = z * vd_look_up(log2_table, interval) - 1.0, r2 = r * r;
    vd low = a[4] * r + (vd_look_up(log2_table, interval + 1) + __builtin_convertvector(offset >> 23, vd));
    vd log2_x = (a[0] * r + a[1]) * (r2 * r2) + ((a[2] * r + a[3]) * r2 + low);
    vd y = e * log2_x, shifted = y + TXM_POW_EXP2_SHIFT, s = y - (shifted - TXM_POW_EXP2_SHIFT);
    vl n = (vl)shifted;
    vd scale = (vd)((vl)vd_look_up(exp2_table, __builtin_convertvector(n & 31, vi)) + (n << 47));
    vd power = (b[0] * s + b[1]) * (s * s) + (b[2] * s + 1.0);
    return vf_select(x > 3.40282347e38f, x, __builtin_convertvector(power * scale, vf));
}

/* Both branches are computed and one is selected in each lane. The power of values for the linear branch would be NaN,
 * so those lanes get 1 instead. */
static inline vf vf_srgb_encode(vf v)
{
    vi high = v >= 0.0031308f;
    vf low = vf_select(v > 0.0f, 12.92f * v, vf_set(0.0f));
    vf safe = vf_select(high, v, vf_set(1.0f));
    return vf_select(high, 1.055f * vf_pow_positive(safe, (double)(1.0f / 2.4f)) - 0.055f, low);
}

/* Grey and RGBA differ in Blender, whose vector code approximates the power; both are reproduced. */
static inline vf vf_srgb_decode_grey(vf v)
{
    vi high = v >= 0.04045f;
    vf low = vf_select(v > 0.0f, v * (1.0f / 12.92f), vf_set(0.0f));
    vf x = (vf_select(high, v, vf_set(1.0f)) + 0.055f) * (1.0f / 1.055f);
    return vf_select(high, vf_pow_positive(x, (double)2.4f), low);
}

static inline vf vf_srgb_decode_rgba(vf v)
{
    vi high = v >= 0.04045f;
    vf low = vf_select(v > 0.0f, v * (1.0f / 12.92f), vf_set(0.0f));
    vf x = (vf_select(high, v, vf_set(1.0f)) + 0.055f) * (1.0f / 1.055f);
    vf scaled = x * (vf)((vi){0} + 0x4F55A7FB);
    vf z = (vf) __builtin_convertvector(0.8f * __builtin_convertvector((vi)scaled, vf), vi);
    vf x2 = x * x, x4 = x2 * x2;
    for (int i = 0; i < 3; i++) {
        vf z2 = z * z, z4 = z2 * z2;
        z = (4.0f * z + x4 / z4) * (1.0f / 5.0f);
    }
    return vf_select(high, z * (z * z), low);
}

/* vf_srgb_encode in float32 arithmetic: the relative error is below 1e-6 (which a test checks), at a fifth of the cost.
 */
static inline vf vf_srgb_encode_near(vf v)
{
    vi high = v >= 0.0031308f;
    vf low = vf_select(v > 0.0f, 12.92f * v, vf_set(0.0f));
    vi bits = (vi)vf_select(high, v, vf_set(1.0f));
    vi k = (bits - 0x3F3504F3) >> 23;
    vf m = (vf)(bits - (k << 23));
    vf s = (m - 1.0f) / (m + 1.0f), t = s * s;
    vf t2 = t * t, p = (0.41219858f * t + 0.57707802f) * t2 + (0.96179669f * t + 2.8853901f);
    vf y = (1.0f / 2.4f) * (__builtin_convertvector(k, vf) + p * s);
    vf shifted = y + 12582912.0f, n = shifted - 12582912.0f;
    vf z = (y - n) * 0.69314718f, z2 = z * z;
    vf q = (1.0f / 720.0f * z2 + (1.0f / 120.0f * z + 1.0f / 24.0f)) * z2 + (1.0f / 6.0f * z + 0.5f);
    vf power = (q * z2 + (z + 1.0f)) * (vf)(((vi)shifted << 23) + (127 << 23));
    return vf_select(high, 1.055f * power - 0.055f, low);
}

/* The curves on RGBA pixels: colour is divided by alpha where that is done (vector form of txm_curve_divides), and
 * alpha is not changed. */
static inline vi vf_curve_divides(txm_curve kind, vf alpha)
{
    return (alpha > 0.0f) & (alpha != 1.0f) & (kind == TXM_CURVE_SRGB_PACKED ? 0 : -1);
}

#define TXM_CURVE_PIXELS(name, curve)                                                                                  \
    static inline vf name(txm_curve kind, vf p)                                                                        \
    {                                                                                                                  \
        const vi color = {TXM_COLOR_MASK};                                                                             \
        vf a = vf_alpha(p);                                                                                            \
        vi divides = vf_curve_divides(kind, a);                                                                        \
        vf inverse = 1.0f / vf_select(divides, a, vf_set(1.0f));                                                       \
        vf v = curve(vf_select(divides, p * inverse, p));                                                              \
        return vf_select(color, vf_select(divides, v * a, v), p);                                                      \
    }
TXM_CURVE_PIXELS(vf_srgb_decode_pixels, vf_srgb_decode_rgba)
TXM_CURVE_PIXELS(vf_srgb_encode_pixels, vf_srgb_encode)
TXM_CURVE_PIXELS(vf_srgb_encode_pixels_near, vf_srgb_encode_near)
#undef TXM_CURVE_PIXELS
#endif
