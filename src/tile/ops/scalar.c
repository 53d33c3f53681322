/* SPDX-License-Identifier: Apache-2.0
 *
 * Scalar C: the specification of every row operation, written to be read and checked: one pixel after the other, in
 * float32, in the specified order. Tests compare vector code with these functions to the bit, on random and on edge
 * values. ops.h says what an entry of the table does; here is how. Arguments are not checked, since callers never pass
 * an invalid type, number of channels or width. Rows may be anywhere in memory, but samples are read as their type, so
 * a row is aligned to the size of a sample.
 */
#include <math.h>
#include <string.h>

#include "tile/ops/arith.h"
#include "tile/ops/ops.h"
#include "tile/ops/tables.h"

/* The value of a sample without a curve; infinite halves stay infinite. */
static void to_float(txm_type type, const void *src, float *dst, size_t samples)
{
    const uint8_t *s8 = src;
    const uint16_t *s16 = src;
    switch (type) {
    case TXM_TYPE_U8:
        for (size_t i = 0; i < samples; i++)
            dst[i] = txm_u8_to_float(s8[i]);
        break;
    case TXM_TYPE_U16:
        for (size_t i = 0; i < samples; i++)
            dst[i] = txm_u16_to_float(s16[i]);
        break;
    case TXM_TYPE_HALF:
        for (size_t i = 0; i < samples; i++)
            dst[i] = txm_half_to_float(s16[i]);
        break;
    case TXM_TYPE_FLOAT:
        memcpy(dst, src, samples * sizeof *dst);
        break;
    }
}

/* Clamps halves to finite ones, which srgb_encode does not do. */
static void from_float(txm_type type, const float *src, void *dst, size_t samples)
{
    uint8_t *d8 = dst;
    uint16_t *d16 = dst;
    switch (type) {
    case TXM_TYPE_U8:
        for (size_t i = 0; i < samples; i++)
            d8[i] = (uint8_t)txm_float_to_code(src[i], 255.0f);
        break;
    case TXM_TYPE_U16:
        for (size_t i = 0; i < samples; i++)
            d16[i] = (uint16_t)txm_float_to_code(src[i], 65535.0f);
        break;
    case TXM_TYPE_HALF:
        for (size_t i = 0; i < samples; i++)
            d16[i] = txm_float_to_half(txm_clamp_half(src[i]));
        break;
    case TXM_TYPE_FLOAT:
        memcpy(dst, src, samples * sizeof *src);
        break;
    }
}

/* Colour that is divided by alpha, decoded and multiplied again is a function of two bytes, so a table has all values.
 */
static void decode_u8_rgba(txm_curve curve, const uint8_t *src, float *dst, size_t count)
{
    const txm_tables *t = txm_tables_of_u8();
    for (size_t i = 0; i < count; i++, src += 4, dst += 4) {
        const float *row = t->u8_rgba[curve == TXM_CURVE_SRGB_PACKED ? 255 : src[3]];
        dst[0] = row[src[0]];
        dst[1] = row[src[1]];
        dst[2] = row[src[2]];
        dst[3] = txm_u8_to_float(src[3]);
    }
}

/* Colour that is not divided by alpha uses a table, the rest arithmetic. */
static void decode_u16_rgba(txm_curve curve, const uint16_t *src, float *dst, size_t count)
{
    const txm_tables *t = txm_tables_of_u16();
    for (size_t i = 0; i < count; i++, src += 4, dst += 4) {
        if (src[3] == 0 || src[3] == 65535 || curve == TXM_CURVE_SRGB_PACKED) {
            for (int c = 0; c < 3; c++)
                dst[c] = t->u16_opaque[src[c]];
            dst[3] = txm_u16_to_float(src[3]);
        } else {
            for (int c = 0; c < 4; c++)
                dst[c] = txm_u16_to_float(src[c]);
            txm_srgb_decode_pixel(curve, dst);
        }
    }
}

/* The tables have the bits that arithmetic gives, because the same functions filled them. Floats and halves always use
 * arithmetic. */
static void srgb_decode(txm_type type, uint32_t channels, txm_curve curve, const void *src, float *dst, size_t count)
{
    if (channels == 1) {
        /* Cycles decodes grey with powf instead of the fifth root, so grey has tables of its own. */
        const uint8_t *s8 = src;
        const uint16_t *s16 = src;
        if (type == TXM_TYPE_U8) {
            const txm_tables *t = txm_tables_of_u8();
            for (size_t i = 0; i < count; i++)
                dst[i] = t->u8_grey[s8[i]];
        } else if (type == TXM_TYPE_U16) {
            const txm_tables *t = txm_tables_of_u16();
            for (size_t i = 0; i < count; i++)
                dst[i] = t->u16_grey[s16[i]];
        } else {
            to_float(type, src, dst, count);
            for (size_t i = 0; i < count; i++)
                dst[i] = txm_srgb_decode_grey(dst[i]);
        }
    } else if (type == TXM_TYPE_U8) {
        decode_u8_rgba(curve, src, dst, count);
    } else if (type == TXM_TYPE_U16) {
        decode_u16_rgba(curve, src, dst, count);
    } else {
        to_float(type, src, dst, count * 4);
        for (size_t i = 0; i < count; i++)
            txm_srgb_decode_pixel(curve, dst + 4 * i);
    }
}

/* Encodes one sample with the exact table. Every bin is narrower than a code, so one comparison decides between two
 * codes. */
static uint8_t encode8(const txm_tables *t, float v)
{
    uint32_t bits = txm_float_bits(v);
    return (uint8_t)txm_srgb8_code(t->srgb8[txm_srgb8_bin(bits)], bits);
}

/* Finds the nearest code with the table of first floats, which is as exact as a search. If colour is divided by alpha,
 * it is multiplied again after the curve, and that product is rounded, so the table cannot be used. */
static void encode_u8(uint32_t channels, txm_curve curve, const float *src, uint8_t *dst, size_t count)
{
    const txm_tables *t = txm_tables_of_u8();
    if (channels == 1) {
        for (size_t i = 0; i < count; i++)
            dst[i] = encode8(t, src[i]);
        return;
    }
    for (size_t i = 0; i < count; i++, src += 4, dst += 4) {
        float p[4] = {src[0], src[1], src[2], src[3]};
        if (txm_curve_divides(curve, p[3])) {
            txm_srgb_encode_pixel(curve, p);
            for (int c = 0; c < 3; c++)
                dst[c] = (uint8_t)txm_float_to_code(p[c], 255.0f);
        } else {
            for (int c = 0; c < 3; c++)
                dst[c] = encode8(t, p[c]);
        }
        dst[3] = (uint8_t)txm_float_to_code(p[3], 255.0f);
    }
}

/* Halves are converted without from_float's clamp, because Cycles clamps only linear values. */
static void srgb_encode(txm_type type, uint32_t channels, txm_curve curve, const float *src, void *dst, size_t count)
{
    if (type == TXM_TYPE_U8) {
        encode_u8(channels, curve, src, dst, count);
        return;
    }
    uint8_t *out = dst;
    size_t bytes = txm_type_bytes(type) * channels;
    for (size_t i = 0; i < count; i++, src += channels, out += bytes) {
        float p[4];
        memcpy(p, src, channels * sizeof *p);
        if (channels == 1)
            p[0] = txm_srgb_encode(p[0]);
        else
            txm_srgb_encode_pixel(curve, p);
        if (type == TXM_TYPE_HALF)
            for (uint32_t c = 0; c < channels; c++)
                ((uint16_t *)(void *)out)[c] = txm_float_to_half(p[c]);
        else
            from_float(type, p, out, channels);
    }
}

/* Adds a quarter of each of four pixels in a fixed order, which the sum of four floats depends on: pairs within a row
 * first, then the two rows. */
static void box(uint32_t channels, const float *row0, const float *row1, float *dst, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (uint32_t c = 0; c < channels; c++) {
            size_t a = 2 * i * channels + c, b = a + channels;
            dst[i * channels + c] = txm_box(row0[a], row0[b], row1[a], row1[b]);
        }
    }
}

/* Filters odd sizes: combines two pixels of each row by position. The second column or row of a source that has only
 * one is never read; it counts as zero, with a weight of zero. */
static void bilinear(uint32_t channels, const float *row0, const float *row1, float g, size_t src_width, float *dst,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t first, second;
        float f;
        txm_bilinear_position((uint32_t)i, (uint32_t)count, (uint32_t)src_width, &first, &second, &f);
        for (uint32_t c = 0; c < channels; c++) {
            size_t a = (size_t)first * channels + c, b = (size_t)second * channels + c;
            bool right = src_width > 1;
            dst[i * channels + c] = txm_bilinear(row0[a], right ? row0[b] : 0.0f, row1 ? row1[a] : 0.0f,
                                                 row1 && right ? row1[b] : 0.0f, f, g);
        }
    }
}

/* Clamps a level of halves after it was stored and before the next is filtered from it, so that an overflow does not
 * spread. */
static void clamp_half(float *row, size_t samples)
{
    for (size_t i = 0; i < samples; i++)
        row[i] = txm_clamp_level(row[i]);
}

/* Integers are multiplied and divided as in Blender, with its rounding. */
static void associate(txm_type type, void *rgba, size_t count)
{
    if (type == TXM_TYPE_U8) {
        for (uint8_t *p = rgba, *end = p + 4 * count; p < end; p += 4)
            for (int c = 0; c < 3; c++)
                p[c] = (uint8_t)(p[c] * p[3] / 255u);
    } else if (type == TXM_TYPE_U16) {
        for (uint16_t *p = rgba, *end = p + 4 * count; p < end; p += 4)
            for (int c = 0; c < 3; c++)
                p[c] = (uint16_t)((uint32_t)p[c] * p[3] / 65535u);
    } else if (type == TXM_TYPE_HALF) {
        for (uint16_t *p = rgba, *end = p + 4 * count; p < end; p += 4)
            for (int c = 0; c < 3; c++)
                p[c] = txm_half_times(p[c], p[3]);
    } else {
        for (float *p = rgba, *end = p + 4 * count; p < end; p += 4)
            for (int c = 0; c < 3; c++)
                p[c] *= p[3];
    }
}

/* The sample whose value is 1.0. */
static void full(txm_type type, uint8_t *sample)
{
    const uint8_t u8 = 255;
    const uint16_t u16 = 65535, half = 0x3C00;
    const float f = 1.0f;
    const void *const values[] = {&u8, &u16, &half, &f};
    memcpy(sample, values[type], txm_type_bytes(type));
}

/* Samples are copied and not converted. It works forwards, so the source may be the end of the destination's own row,
 * where conform.c moves a row that grows. */
static void widen(txm_type type, uint32_t src_channels, const void *src, void *rgba, size_t count)
{
    size_t b = txm_type_bytes(type);
    const uint8_t *s = src;
    uint8_t *d = rgba, one[4];
    full(type, one);
    for (size_t i = 0; i < count; i++, s += src_channels * b, d += 4 * b) {
        /* Grey is copied to all three colours; alpha is the second of two channels, else full. */
        for (uint32_t c = 0; c < 3; c++)
            memcpy(d + c * b, s + (src_channels >= 3 ? c : 0) * b, b);
        memcpy(d + 3 * b, src_channels == 2 ? s + b : one, b);
    }
}

/* Images whose alpha is ignored need this: colours are not changed. */
static void set_opaque(txm_type type, void *rgba, size_t count)
{
    size_t b = txm_type_bytes(type);
    uint8_t *p = rgba, one[4];
    full(type, one);
    for (size_t i = 0; i < count; i++)
        memcpy(p + (4 * i + 3) * b, one, b);
}

/* An exponent of all ones means infinity or NaN. The sample is copied, so that it may be unaligned. */
static int finite_sample(txm_type type, const uint8_t *sample)
{
    if (type == TXM_TYPE_HALF) {
        uint16_t h;
        memcpy(&h, sample, 2);
        return (h & 0x7C00) != 0x7C00;
    }
    float f;
    memcpy(&f, sample, 4);
    return isfinite(f) != 0;
}

/* Zeroes the whole pixel, since the rest of a broken one is not a colour. */
static void zero_nonfinite(txm_type type, uint32_t channels, void *pixels, size_t count)
{
    if (!txm_type_is_float(type))
        return;
    size_t b = txm_type_bytes(type);
    uint8_t *p = pixels;
    for (size_t i = 0; i < count; i++, p += channels * b) {
        int finite = 1;
        for (uint32_t c = 0; c < channels; c++)
            finite &= finite_sample(type, p + c * b);
        if (!finite)
            memset(p, 0, channels * b);
    }
}

/* Images that are stored as one channel need this; the caller decides that the other channels may be dropped. */
static void take_first(txm_type type, const void *rgba, void *grey, size_t count)
{
    size_t b = txm_type_bytes(type);
    const uint8_t *s = rgba;
    uint8_t *d = grey;
    for (size_t i = 0; i < count; i++)
        memcpy(d + i * b, s + 4 * i * b, b);
}

/* Loads one pixel as numbers: stored values of integers, values of floats. */
static void load_pixel(txm_type type, uint32_t channels, const uint8_t *pixel, float p[4])
{
    uint16_t u16[4];
    switch (type) {
    case TXM_TYPE_U8:
        for (uint32_t c = 0; c < channels; c++)
            p[c] = pixel[c];
        break;
    case TXM_TYPE_U16:
    case TXM_TYPE_HALF:
        memcpy(u16, pixel, channels * sizeof *u16);
        for (uint32_t c = 0; c < channels; c++)
            p[c] = type == TXM_TYPE_HALF ? txm_half_to_float(u16[c]) : (float)u16[c];
        break;
    case TXM_TYPE_FLOAT:
        memcpy(p, pixel, channels * sizeof *p);
        break;
    }
}

/* The value of a stored number. */
static float value_of(txm_type type, float code)
{
    return type == TXM_TYPE_U8 ? txm_u8_to_float((uint8_t)code) : txm_u16_to_float((uint16_t)code);
}

/* Adds one row. Integers are summed as whole numbers, whose order does not matter. Values are compared as floats, so a
 * NaN differs from itself and an image with one always varies; 0 and -0 are equal. */
static void stats(txm_type type, uint32_t channels, const void *row, size_t count, txm_stats *st)
{
    double sum[4] = {0};
    uint64_t shares[4] = {0};
    bool integers = !txm_type_is_float(type);
    float first[4], one = type == TXM_TYPE_U8 ? 255.0f : type == TXM_TYPE_U16 ? 65535.0f : 1.0f;
    size_t pixel_bytes = txm_type_bytes(type) * channels;
    const uint8_t *pixel = row;
    if (!st->any) {
        memcpy(st->first, pixel, pixel_bytes);
        st->grey = channels == 4;
        st->any = true;
    }
    load_pixel(type, channels, st->first, first);
    for (size_t i = 0; i < count; i++, pixel += pixel_bytes) {
        float p[4];
        load_pixel(type, channels, pixel, p);
        for (uint32_t c = 0; c < channels; c++) {
            if (integers)
                shares[c] += txm_sample_share(value_of(type, p[c]));
            else
                sum[c] += (double)p[c];
            st->varies |= p[c] != first[c];
        }
        st->grey = st->grey && p[0] == p[1] && p[1] == p[2] && p[3] == one;
    }
    for (uint32_t c = 0; c < channels; c++)
        st->sum[c] += integers ? txm_shares_sum(shares[c]) : sum[c];
}

/* Sets every entry, so that a back-end may leave out those that it cannot make faster. */
void txm_ops_fill_scalar(txm_ops *ops)
{
    *ops = (txm_ops){
        .isa = "scalar",
        .to_float = to_float,
        .from_float = from_float,
        .srgb_decode = srgb_decode,
        .srgb_encode = srgb_encode,
        .box = box,
        .bilinear = bilinear,
        .clamp_half = clamp_half,
        .associate = associate,
        .widen = widen,
        .set_opaque = set_opaque,
        .zero_nonfinite = zero_nonfinite,
        .take_first = take_first,
        .stats = stats,
    };
}
