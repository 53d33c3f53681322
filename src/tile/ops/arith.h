/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic of pixels, once for every back-end: C functions that the compilers of CUDA and OpenCL accept as they
 * are (dialect.h). Everything is float32 (float64 inside txm_pow_positive) in the order written, without contraction
 * and without flushing subnormals, so that scalar C, SIMD, CUDA and OpenCL give the same bits. The formulas are those
 * of Cycles (Blender 5.2, x86-64); txmill-tx(5) lists them.
 */
#ifndef TXM_OPS_ARITH_H
#define TXM_OPS_ARITH_H
#include "tile/ops/pow_table.h"
#include "tile/terms/dialect.h"

/* ---- half ---------------------------------------------------------------------------------------------------- */

TXM_ARITH float txm_half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, magnitude = h & 0x7FFFu;
    if (magnitude >= 0x7C00) /* infinity and NaN, which is made quiet as by F16C */
        return txm_bits_float(sign | 0x7F800000u | ((magnitude & 0x3FFu) << 13) |
                              ((magnitude & 0x3FFu) ? 0x00400000u : 0));
    if (magnitude >= 0x0400)
        return txm_bits_float(sign | ((magnitude << 13) + (112u << 23)));
    /* Subnormal: an integer times 2^-24, exact in float. */
    float f = (float)magnitude * 5.9604644775390625e-8f;
    return txm_bits_float(sign | txm_float_bits(f));
}

/* Rounds to nearest even; values beyond 65504 plus half a step become infinity. */
TXM_ARITH uint16_t txm_float_to_half(float f)
{
    uint32_t bits = txm_float_bits(f), sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u)
        return (uint16_t)(sign | 0x7E00u | ((magnitude >> 13) & 0x3FFu));
    if (magnitude >= 0x477FF000u)
        return (uint16_t)(sign | 0x7C00u);
    if (magnitude >= 0x38800000u) {
        uint32_t rounded = magnitude + 0xFFFu + ((magnitude >> 13) & 1u);
        return (uint16_t)(sign | ((rounded - (112u << 23)) >> 13));
    }
    /* Subnormal result: adding 0.5 shifts the bits to the bottom of the mantissa, where the addition rounds them to
     * even. */
    float shifted = txm_bits_float(magnitude) + 0.5f;
    return (uint16_t)(sign | (txm_float_bits(shifted) - 0x3F000000u));
}

/* Clamps to the largest finite halves; NaN stays NaN. */
TXM_ARITH float txm_clamp_half(float v)
{
    return v > 65504.0f ? 65504.0f : v < -65504.0f ? -65504.0f : v;
}

/* Clamps linear values between two levels of halves. NaN, which decoding values beyond 1e10 gives, counts as too large.
 */
TXM_ARITH float txm_clamp_level(float v)
{
    return v < 65504.0f ? (v > -65504.0f ? v : -65504.0f) : 65504.0f;
}

/* In arithmetic an infinite half counts as 65536, as in Cycles on x86-64, whose conversion has no special exponents.
 * NaN stays NaN. */
TXM_ARITH float txm_half_infinity(float v)
{
    return v > 65504.0f ? 65536.0f : v < -65504.0f ? -65536.0f : v;
}

/* A half times alpha; a product that is too large becomes the largest half. */
TXM_ARITH uint16_t txm_half_times(uint16_t c, uint16_t alpha)
{
    float product = txm_half_infinity(txm_half_to_float(c)) * txm_half_infinity(txm_half_to_float(alpha));
    return txm_float_to_half(txm_clamp_half(product));
}

/* ---- integers ------------------------------------------------------------------------------------------------ */

TXM_ARITH float txm_u8_to_float(uint8_t v)
{
    return (float)v * (1.0f / 255.0f);
}

TXM_ARITH float txm_u16_to_float(uint16_t v)
{
    return (float)v * (1.0f / 65535.0f);
}

/* Averages are of samples as float32. This is what an integer sample adds to the sum of its row, in units of 2^-39: a
 * whole number, since its least significant bit is worth more, so that the order of a sum does not matter. Rows have at
 * most 2^17 px. */
TXM_ARITH uint64_t txm_sample_share(float value)
{
    return (uint64_t)(value * 549755813888.0f);
}

TXM_ARITH double txm_shares_sum(uint64_t shares)
{
    return (double)shares * (1.0 / 549755813888.0);
}

/* Clamps to 0..1 (NaN: 0), scales, and rounds half up. The product is rounded, because adding 0.5f would turn
 * 0.49999997 into 1. */
TXM_ARITH uint32_t txm_float_to_code(float v, float scale)
{
    float clamped = v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f, scaled = clamped * scale;
    uint32_t code = (uint32_t)scaled;
    return code + (scaled - (float)code >= 0.5f);
}

/* ---- powers and the sRGB curve ------------------------------------------------------------------------------- */

/* x^e for x > 0 (normal or infinite) and e > 0 as computed by glibc's powf, to the bit: Blender's curves use powf,
 * whose results are not always the nearest float. log2(x) is computed with a table of 16 intervals and a polynomial,
 * exp2 with a table of 32 steps and another; only + and * are used, so that every back-end gives the same bits. On
 * processors that can fuse operations glibc does so, which changes 2 of the 75 million floats from 2^-9 to 1 for e =
 * 2.4, and none for e = 1/2.4. */
#define TXM_POW_TABLES                                                                                                 \
    TXM_CONSTANT double txm_pow_log2[16][2] = TXM_POW_LOG2_TABLE, txm_pow_a[5] = TXM_POW_LOG2_POLYNOMIAL;              \
    TXM_CONSTANT uint64_t txm_pow_exp2[32] = TXM_POW_EXP2_TABLE;                                                       \
    TXM_CONSTANT double txm_pow_b[3] = TXM_POW_EXP2_POLYNOMIAL;
TXM_TABLES_OUTSIDE(TXM_POW_TABLES)

TXM_ARITH float txm_pow_positive(float x, double e)
{
    TXM_TABLES_INSIDE(TXM_POW_TABLES)
    if (x > 3.40282347e38f)
        return x;
    /* x = 2^k z with z in the table's range, log2(x) = k + log2(c) + log2(1 + r), r = z/c - 1. */
    uint32_t bits = txm_float_bits(x), offset = bits - TXM_POW_LOG2_BEGIN;
    uint32_t i = offset >> 19 & 15;
    double z = (double)txm_bits_float(bits - (offset & 0xFF800000u)), r = z * txm_pow_log2[i][0] - 1.0, r2 = r * r;
    double low = txm_pow_a[4] * r + (txm_pow_log2[i][1] + (double)((int32_t)offset >> 23));
    double log2_x = (txm_pow_a[0] * r + txm_pow_a[1]) * (r2 * r2) + ((txm_pow_a[2] * r + txm_pow_a[3]) * r2 + low);
    /* 2^y = 2^(n/32) 2^s: the table's entries lack the exponent that n adds. */
    double y = e * log2_x, shifted = y + TXM_POW_EXP2_SHIFT, s = y - (shifted - TXM_POW_EXP2_SHIFT);
    uint64_t n = txm_double_bits(shifted);
    double scale = txm_bits_double(txm_pow_exp2[n & 31] + (n << 47));
    double power = (txm_pow_b[0] * s + txm_pow_b[1]) * (s * s) + (txm_pow_b[2] * s + 1.0);
    return (float)(power * scale);
}

TXM_ARITH float txm_srgb_encode(float v)
{
    if (!(v >= 0.0031308f))
        return v > 0.0f ? 12.92f * v : 0.0f;
    return 1.055f * txm_pow_positive(v, (double)(1.0f / 2.4f)) - 0.055f;
}

/* Cycles decodes images with one channel like this. */
TXM_ARITH float txm_srgb_decode_grey(float v)
{
    if (!(v >= 0.04045f))
        return v > 0.0f ? v * (1.0f / 12.92f) : 0.0f;
    return txm_pow_positive((v + 0.055f) * (1.0f / 1.055f), (double)2.4f);
}

/* Cycles decodes RGBA images like this: x^2.4 is (x^0.8)^3, and x^0.8 is computed by a bit trick and three Newton steps
 * for the fifth root of x^4. */
TXM_ARITH float txm_srgb_decode_rgba(float v)
{
    if (!(v >= 0.04045f))
        return v > 0.0f ? v * (1.0f / 12.92f) : 0.0f;
    float x = (v + 0.055f) * (1.0f / 1.055f);
    float scaled = x * txm_bits_float(0x4F55A7FBu);
    float z = txm_bits_float((uint32_t)(int32_t)(0.8f * (float)(int32_t)txm_float_bits(scaled)));
    float x2 = x * x, x4 = x2 * x2;
    for (int i = 0; i < 3; i++) {
        float z2 = z * z, z4 = z2 * z2;
        z = (4.0f * z + x4 / z4) * (1.0f / 5.0f);
    }
    return z * (z * z);
}

/* The curve by which the samples of a file are encoded, and linear values of its levels with them. */
typedef enum txm_curve {
    TXM_CURVE_NONE,
    TXM_CURVE_SRGB,       /* of colour divided by alpha, which is multiplied with alpha again afterwards */
    TXM_CURVE_SRGB_PACKED /* of colour as it is: alpha is a fourth channel that has nothing to do with colour */
} txm_curve;

/* Whether colour is divided by alpha before a curve and multiplied by it afterwards. */
TXM_ARITH int txm_alpha_divides(float alpha)
{
    return alpha > 0.0f && alpha != 1.0f;
}

TXM_ARITH int txm_curve_divides(txm_curve curve, float alpha)
{
    return curve != TXM_CURVE_SRGB_PACKED && txm_alpha_divides(alpha);
}

/* Apply the curves to one RGBA pixel. */
TXM_ARITH void txm_srgb_decode_pixel(txm_curve curve, float p[4])
{
    float a = p[3];
    int divides = txm_curve_divides(curve, a);
    float inverse = divides ? 1.0f / a : 1.0f;
    for (int c = 0; c < 3; c++) {
        float v = divides ? p[c] * inverse : p[c];
        v = txm_srgb_decode_rgba(v);
        p[c] = divides ? v * a : v;
    }
}

TXM_ARITH void txm_srgb_encode_pixel(txm_curve curve, float p[4])
{
    float a = p[3];
    int divides = txm_curve_divides(curve, a);
    float inverse = divides ? 1.0f / a : 1.0f;
    for (int c = 0; c < 3; c++) {
        float v = divides ? p[c] * inverse : p[c];
        v = txm_srgb_encode(v);
        p[c] = divides ? v * a : v;
    }
}

/* ---- filters ------------------------------------------------------------------------------------------------- */

TXM_ARITH float txm_box(float a, float b, float c, float d)
{
    float h0 = 0.5f * (a + b), h1 = 0.5f * (c + d);
    return 0.5f * (h0 + h1);
}

/* Position of destination sample `i` of `dst` in a source edge of `src` samples: two neighbours (clamped) and the
 * weight of the second. Only an edge of one sample has no second one: its weight is 0, and it counts as 0, so that an
 * infinite neighbour does not give NaN. */
TXM_ARITH void txm_bilinear_position(uint32_t i, uint32_t dst, uint32_t src, uint32_t *first, uint32_t *second,
                                     float *weight)
{
    float s = ((float)i + 0.5f) * (1.0f / (float)dst) * (float)src - 0.5f;
    /* floor; s >= -0.5 and below 2^20, so truncation of s + 1 is exact. */
    int32_t low = (int32_t)s - (s < 0.0f ? 1 : 0);
    *weight = s - (float)low;
    int32_t high = low + 1, last = (int32_t)src - 1;
    *first = (uint32_t)(low < 0 ? 0 : low > last ? last : low);
    *second = (uint32_t)(high < 0 ? 0 : high > last ? last : high);
}

TXM_ARITH float txm_bilinear(float p00, float p10, float p01, float p11, float f, float g)
{
    return (1.0f - g) * (p00 * (1.0f - f) + p10 * f) + g * (p01 * (1.0f - f) + p11 * f);
}
#endif
