/* SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic on texels of Ptex files: halving, multiplication by alpha, and conversion of samples to floats.
 *
 * All results are bit-identical to those of Disney's library, so a computed size does not depend on which program
 * computed it. Averages of integers are truncated, not rounded. Averages of halves are rounded with ties away from
 * zero, unlike those of src/tile/ops.
 */
#include "tile/ops/arith.h"
#include "tile/ptex/ptex_impl.h"

enum { HALF_INFINITY = 0x7C00 };

/* Rounds ties away from zero; both zeros become +0. */
static uint16_t ptex_half(float f)
{
    uint32_t bits = txm_float_bits(f), sign = bits >> 16 & 0x8000u, mantissa = bits & 0x7FFFFF;
    int exponent = (int)(bits >> 23 & 0xFF) - 112;
    if (f == 0)
        return 0;
    if (exponent <= 0)
        return (uint16_t)(sign | (uint32_t)((f < 0 ? -(double)f : (double)f) * 0x1p24 + 0.5));
    if (exponent == 0xFF - 112)
        return (uint16_t)(sign | HALF_INFINITY | mantissa >> 13);
    if (exponent > 30)
        return (uint16_t)(sign | HALF_INFINITY);
    return (uint16_t)((sign | (uint32_t)exponent << 10) + ((mantissa + 0x1000) >> 13));
}

static float load_ptex_float(const uint8_t *p)
{
    float f;
    memcpy(&f, p, sizeof f);
    return f;
}

static void store_ptex_float(uint8_t *p, float f)
{
    memcpy(p, &f, sizeof f);
}

float txm_ptex_sample(txm_type type, const uint8_t *sample)
{
    switch (type) {
    case TXM_TYPE_U8:
        return (float)*sample * (1.0f / 255.0f);
    case TXM_TYPE_U16:
        return (float)txm_load_le16(sample) * (1.0f / 65535.0f);
    case TXM_TYPE_HALF:
        return txm_half_to_float(txm_load_le16(sample));
    default:
        return load_ptex_float(sample);
    }
}

/* ---- means ------------------------------------------------------------------------------------------------------- */

static void mean_of_2(txm_type type, const uint8_t *a, const uint8_t *b, uint8_t *out)
{
    switch (type) {
    case TXM_TYPE_U8:
        *out = (uint8_t)((*a + *b) >> 1);
        break;
    case TXM_TYPE_U16:
        txm_store_le16(out, (uint16_t)((txm_load_le16(a) + txm_load_le16(b)) >> 1));
        break;
    case TXM_TYPE_HALF:
        txm_store_le16(out,
                       ptex_half((txm_half_to_float(txm_load_le16(a)) + txm_half_to_float(txm_load_le16(b))) * 0.5f));
        break;
    default:
        store_ptex_float(out, (load_ptex_float(a) + load_ptex_float(b)) * 0.5f);
    }
}

static float half_at(const uint8_t *p)
{
    return txm_half_to_float(txm_load_le16(p));
}

static void mean_of_4(txm_type type, const uint8_t *const t[4], size_t at, uint8_t *out)
{
    const uint8_t *a = t[0] + at, *b = t[1] + at, *c = t[2] + at, *d = t[3] + at;
    switch (type) {
    case TXM_TYPE_U8:
        *out = (uint8_t)((*a + *b + *c + *d) >> 2);
        break;
    case TXM_TYPE_U16:
        txm_store_le16(out,
                       (uint16_t)((txm_load_le16(a) + txm_load_le16(b) + txm_load_le16(c) + txm_load_le16(d)) >> 2));
        break;
    case TXM_TYPE_HALF:
        txm_store_le16(out, ptex_half((((half_at(a) + half_at(b)) + half_at(c)) + half_at(d)) * 0.25f));
        break;
    default:
        store_ptex_float(out, (((load_ptex_float(a) + load_ptex_float(b)) + load_ptex_float(c)) + load_ptex_float(d)) *
                                  0.25f);
    }
}

void txm_ptex_halve(const txm_ptex *p, const uint8_t *in, uint32_t w, uint32_t h, bool along_u, uint8_t *out)
{
    size_t px = p->info.pixel_bytes, row = w * px;
    for (uint32_t y = 0; y < h; y += along_u ? 1 : 2)
        for (uint32_t x = 0; x < w; x += along_u ? 2 : 1, out += px) {
            const uint8_t *a = in + y * row + x * px;
            for (size_t at = 0, bytes = txm_type_bytes(p->info.type); at < px; at += bytes)
                mean_of_2(p->info.type, a + at, a + (along_u ? px : row) + at, out + at);
        }
}

/* A texel of the smaller triangle covers three texels with the same orientation, and the one between them, which is
 * stored in the other half of the square. */
void txm_ptex_halve_triangle(const txm_ptex *p, const uint8_t *in, uint32_t n, uint8_t *out)
{
    size_t px = p->info.pixel_bytes, bytes = txm_type_bytes(p->info.type), row = n * px;
    for (uint32_t y = 0; y < n / 2; y++)
        for (uint32_t x = 0; x < n / 2; x++, out += px) {
            const uint8_t *a = in + 2 * y * row + 2 * x * px;
            const uint8_t *odd = in + (n - 1 - 2 * x) * row + (n - 1 - 2 * y) * px;
            const uint8_t *const texels[4] = {a, a + px, a + row, odd};
            for (size_t at = 0; at < px; at += bytes)
                mean_of_4(p->info.type, texels, at, out + at);
        }
}

/* ---- alpha ------------------------------------------------------------------------------------------------------- */

static void multiply_sample(txm_type type, uint8_t *at, const uint8_t *alpha)
{
    switch (type) {
    case TXM_TYPE_U8:
        *at = (uint8_t)((float)*at * (1.0f / 255.0f * (float)*alpha));
        break;
    case TXM_TYPE_U16:
        txm_store_le16(at, (uint16_t)((float)txm_load_le16(at) * (1.0f / 65535.0f * (float)txm_load_le16(alpha))));
        break;
    case TXM_TYPE_HALF:
        txm_store_le16(at, ptex_half(half_at(at) * half_at(alpha)));
        break;
    default:
        store_ptex_float(at, load_ptex_float(at) * load_ptex_float(alpha));
    }
}

/* The channels before alpha are colours; if alpha is the first, the channels after it are. */
void txm_ptex_multiply_alpha(const txm_ptex *p, uint8_t *pixels, size_t count)
{
    if (p->info.alpha_channel < 0)
        return;
    size_t bytes = txm_type_bytes(p->info.type), alpha = (size_t)p->info.alpha_channel * bytes;
    size_t first = alpha ? 0 : bytes, end = alpha ? alpha : p->info.pixel_bytes;
    for (size_t i = 0; i < count; i++, pixels += p->info.pixel_bytes)
        for (size_t at = first; at < end; at += bytes)
            multiply_sample(p->info.type, pixels + at, pixels + alpha);
}
