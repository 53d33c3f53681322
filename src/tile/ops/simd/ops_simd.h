/* SPDX-License-Identifier: Apache-2.0
 *
 * Row operations on vectors. Each ISA's file defines TXM_LANES and the conversions of half, includes this file once,
 * and gets a static function `fill_simd`. The end of a row, and what vectors do not do faster, is left to the scalar
 * table.
 */
#include "tile/ops/arith.h"
#include "tile/ops/ops.h"
#include "tile/ops/simd/curve.h"
#include "tile/ops/simd/vector.h"
#include "tile/ops/tables.h"

static txm_ops scalar;

/* ---- to and from float ----------------------------------------------------------------------------------------- */

/* `type` is a constant wherever this is inlined, so that each loop has one case. */
static inline vf load_samples(txm_type type, const uint8_t *p)
{
    switch (type) {
    case TXM_TYPE_U8:
        return __builtin_convertvector(vi_from_bytes(p), vf) * (1.0f / 255.0f);
    case TXM_TYPE_U16:
        return __builtin_convertvector(vi_from_words(p), vf) * (1.0f / 65535.0f);
    case TXM_TYPE_HALF:
        return vf_from_half(p);
    default:
        return TXM_LOAD(vf, p);
    }
}

/* Values beyond the finite halves become `limit`. */
static inline vf limit_half(vf v, float limit)
{
    return vf_select(v > 65504.0f, vf_set(limit), vf_select(v < -65504.0f, vf_set(-limit), v));
}

static inline vf clamp_to_half(vf v)
{
    return limit_half(v, 65504.0f);
}

/* The vector form of txm_half_infinity. */
static inline vf half_infinity(vf v)
{
    return limit_half(v, 65536.0f);
}

/* Rounds half up by comparing the fraction, as the specification does; adding 0.5 first would round twice. The order of
 * the selects turns NaN into 0. */
static inline vi to_codes(vf v, float scale)
{
    vf clamped = vf_select(v > 0.0f, vf_select(v < 1.0f, v, vf_set(1.0f)), vf_set(0.0f));
    vf scaled = clamped * scale;
    vi codes = __builtin_convertvector(scaled, vi);
    return codes - (vi)(scaled - __builtin_convertvector(codes, vf) >= 0.5f); /* true is -1 */
}

static inline void store_samples(txm_type type, vf v, uint8_t *p)
{
    switch (type) {
    case TXM_TYPE_U8:
        TXM_STORE(vb, p, __builtin_convertvector(to_codes(v, 255.0f), vb));
        break;
    case TXM_TYPE_U16:
        TXM_STORE(vh, p, __builtin_convertvector(to_codes(v, 65535.0f), vh));
        break;
    case TXM_TYPE_HALF:
        vf_to_half(clamp_to_half(v), p);
        break;
    case TXM_TYPE_FLOAT:
        TXM_STORE(vf, p, v);
        break;
    }
}

/* A loop over a row in vectors, with one copy per type, so that the switch is outside of the loop. */
#define TXM_FOR_TYPE(type, LOOP)                                                                                       \
    switch (type) {                                                                                                    \
    case TXM_TYPE_U8:                                                                                                  \
        LOOP(TXM_TYPE_U8);                                                                                             \
        break;                                                                                                         \
    case TXM_TYPE_U16:                                                                                                 \
        LOOP(TXM_TYPE_U16);                                                                                            \
        break;                                                                                                         \
    case TXM_TYPE_HALF:                                                                                                \
        LOOP(TXM_TYPE_HALF);                                                                                           \
        break;                                                                                                         \
    case TXM_TYPE_FLOAT:                                                                                               \
        LOOP(TXM_TYPE_FLOAT);                                                                                          \
        break;                                                                                                         \
    }

/* Vectors handle whole vectors, the scalar function the rest; both give the same bits. */
static void to_float_simd(txm_type type, const void *src, float *dst, size_t samples)
{
    if (!samples) /* pointers may then be NULL */
        return;
    const uint8_t *s = src;
    size_t i = 0, bytes = txm_type_bytes(type);
#define LOOP(t)                                                                                                        \
    for (; i + TXM_LANES <= samples; i += TXM_LANES)                                                                   \
    TXM_STORE(vf, dst + i, load_samples(t, s + i * txm_type_bytes(t)))
    TXM_FOR_TYPE(type, LOOP)
#undef LOOP
    scalar.to_float(type, s + i * bytes, dst + i, samples - i);
}

static void from_float_simd(txm_type type, const float *src, void *dst, size_t samples)
{
    if (!samples) /* pointers may then be NULL */
        return;
    uint8_t *d = dst;
    size_t i = 0, bytes = txm_type_bytes(type);
#define LOOP(t)                                                                                                        \
    for (; i + TXM_LANES <= samples; i += TXM_LANES)                                                                   \
    store_samples(t, TXM_LOAD(vf, src + i), d + i * txm_type_bytes(t))
    TXM_FOR_TYPE(type, LOOP)
#undef LOOP
    scalar.from_float(type, src + i, d + i * bytes, samples - i);
}

/* The vector form of txm_clamp_level. */
static inline vf clamp_level(vf v)
{
    return vf_select(v < 65504.0f, vf_select(v > -65504.0f, v, vf_set(-65504.0f)), vf_set(65504.0f));
}

static void clamp_half_simd(float *row, size_t samples)
{
    size_t i = 0;
    for (; i + TXM_LANES <= samples; i += TXM_LANES)
        TXM_STORE(vf, row + i, clamp_level(TXM_LOAD(vf, row + i)));
    scalar.clamp_half(row + i, samples - i);
}

/* ---- the sRGB curve -------------------------------------------------------------------------------------------- */

/* 8-bit RGBA by the table, with one gather for a vector of pixels. Without gathers, scalar code does the same. */
static void srgb_decode_u8_rgba(txm_curve curve, const uint8_t *src, float *dst, size_t count)
{
    const vi color = {TXM_COLOR_MASK};
    const txm_tables *t = txm_tables_of_u8();
    size_t i = 0, samples = 4 * count;
    for (; i + TXM_LANES <= samples; i += TXM_LANES) {
        vi codes = vi_from_bytes(src + i), alpha = __builtin_shufflevector(codes, codes, TXM_ALPHA_SPREAD);
        alpha |= curve == TXM_CURVE_SRGB_PACKED ? 255 : 0;
        vf colors = (vf)vi_look_up(t->u8_rgba, alpha << 8 | codes);
        TXM_STORE(vf, dst + i, vf_select(color, colors, __builtin_convertvector(codes, vf) * (1.0f / 255.0f)));
    }
    scalar.srgb_decode(TXM_TYPE_U8, 4, curve, src + i, dst + i, count - i / 4);
}

/* The formula is left for floats, and for pixels whose colour is divided by their alpha. */
static void srgb_decode_simd(txm_type type, uint32_t channels, txm_curve curve, const void *src, float *dst,
                             size_t count)
{
    const uint8_t *s = src;
    size_t i = 0, samples = count * channels, bytes = txm_type_bytes(type);
    if (TXM_LANES > 4 && type == TXM_TYPE_U8 && channels == 4) {
        srgb_decode_u8_rgba(curve, src, dst, count);
        return;
    }
    /* Integers use tables, which are faster; for 16-bit RGBA there is one only for full alpha, so the formula is used.
     */
    bool formula = txm_type_is_float(type) || (type == TXM_TYPE_U16 && channels == 4);
#define LOOP(t)                                                                                                        \
    for (; formula && i + TXM_LANES <= samples; i += TXM_LANES) {                                                      \
        vf v = load_samples(t, s + i * txm_type_bytes(t));                                                             \
        TXM_STORE(vf, dst + i, channels == 4 ? vf_srgb_decode_pixels(curve, v) : vf_srgb_decode_grey(v));              \
    }
    TXM_FOR_TYPE(type, LOOP)
#undef LOOP
    scalar.srgb_decode(type, channels, curve, s + i * bytes, dst + i, count - i / channels);
}

/* In 8-bit RGBA, a vector whose pixels all have alpha 1 or 0 uses the table. */
static inline bool any_between(vf v)
{
    return vu_any((vu)vf_curve_divides(TXM_CURVE_SRGB, vf_alpha(v)));
}

/* Encodes pixels to 8 bits with the approximate curve, and again with the exact one if a code could depend on the
 * difference, which happens for a fraction of 0.002 of samples. The result is always the exact one. */
static inline void encode_u8_pixels(txm_curve curve, vf v, uint8_t *dst)
{
    const float doubt = 0.001f; /* counted in codes: the error of the approximate curve is at most a quarter of it */
    vf a = vf_alpha(v), t = vf_srgb_encode_pixels_near(curve, v);
    /* Quotients beyond this, NaN and infinity always use the exact curve. */
    vi ordinary = (v < 1e6f) & ((a > 1e-6f) | (a <= 0.0f));
    t = vf_select(t > 0.0f, vf_select(t < 1.0f, t, vf_set(1.0f)), vf_set(0.0f)) * 255.0f + 0.5f;
    vi codes = __builtin_convertvector(t - doubt, vi);
    if (vu_any((vu)(codes ^ __builtin_convertvector(t + doubt, vi)) | (vu)~ordinary))
        store_samples(TXM_TYPE_U8, vf_srgb_encode_pixels(curve, v), dst);
    else
        TXM_STORE(vb, dst, __builtin_convertvector(codes, vb));
}

/* The vector forms of txm_srgb8_bin and txm_srgb8_code. */
static inline vi srgb8_codes(const txm_tables *t, vf v)
{
    vi bits = (vi)v, bins = bits >> TXM_SRGB8_SHIFT, above = bins > TXM_SRGB8_LAST, within = bins > TXM_SRGB8_FIRST;
    bins = (bins & ~above) | (TXM_SRGB8_LAST & above);
    vi entries = vi_look_up(t->srgb8, (bins - TXM_SRGB8_FIRST) & within);
    return (vi)((vu)entries >> TXM_SRGB8_CODE_SHIFT) - ((bits & TXM_SRGB8_LOW) >= (entries & TXM_SRGB8_LIMIT));
}

/* Opaque pixels, which are nearly all in most textures, use the table; a vector with any other pixel uses the formula
 * for all its lanes. */
static void srgb_encode_u8_rgba(txm_curve curve, const float *src, uint8_t *dst, size_t count)
{
    const vi color = {TXM_COLOR_MASK};
    const txm_tables *t = txm_tables_of_u8();
    size_t i = 0, samples = 4 * count;
    for (; i + TXM_LANES <= samples; i += TXM_LANES) {
        vf v = TXM_LOAD(vf, src + i);
        vi alpha = (v == 1.0f) & 255;
        if (any_between(v))
            encode_u8_pixels(curve, v, dst + i);
        else
            TXM_STORE(vb, dst + i, __builtin_convertvector((srgb8_codes(t, v) & color) | (alpha & ~color), vb));
    }
    scalar.srgb_encode(TXM_TYPE_U8, 4, curve, src + i, dst + i, count - i / 4);
}

static void srgb_encode_simd(txm_type type, uint32_t channels, txm_curve curve, const float *src, void *dst,
                             size_t count)
{
    uint8_t *d = dst;
    size_t i = 0, samples = count * channels, bytes = txm_type_bytes(type);
    if (type == TXM_TYPE_U8 && channels == 4) {
        srgb_encode_u8_rgba(curve, src, dst, count);
        return;
    }
#define LOOP(t)                                                                                                        \
    for (; (t) != TXM_TYPE_U8 && i + TXM_LANES <= samples; i += TXM_LANES) {                                           \
        vf v = TXM_LOAD(vf, src + i);                                                                                  \
        v = channels == 4 ? vf_srgb_encode_pixels(curve, v) : vf_srgb_encode(v);                                       \
        if ((t) == TXM_TYPE_HALF)                                                                                      \
            vf_to_half(v, d + 2 * i); /* not clamped */                                                                \
        else                                                                                                           \
            store_samples(t, v, d + i * txm_type_bytes(t));                                                            \
    }
    TXM_FOR_TYPE(type, LOOP)
#undef LOOP
    scalar.srgb_encode(type, channels, curve, src + i, d + i * bytes, count - i / channels);
}

/* ---- filters --------------------------------------------------------------------------------------------------- */

/* Adds neighbours in a row first, then the two rows, half of each sum, in the order of the specification. Which lanes
 * are neighbours depends on the number of channels. */
static void box_simd(uint32_t channels, const float *row0, const float *row1, float *dst, size_t count)
{
    size_t i = 0, samples = count * channels;
    for (; i + TXM_LANES <= samples; i += TXM_LANES) {
        vf a0 = TXM_LOAD(vf, row0 + 2 * i), a1 = TXM_LOAD(vf, row0 + 2 * i + TXM_LANES);
        vf b0 = TXM_LOAD(vf, row1 + 2 * i), b1 = TXM_LOAD(vf, row1 + 2 * i + TXM_LANES);
        vf h0, h1;
        if (channels == 4) {
            h0 = 0.5f *
                 (__builtin_shufflevector(a0, a1, TXM_EVEN_PIXELS) + __builtin_shufflevector(a0, a1, TXM_ODD_PIXELS));
            h1 = 0.5f *
                 (__builtin_shufflevector(b0, b1, TXM_EVEN_PIXELS) + __builtin_shufflevector(b0, b1, TXM_ODD_PIXELS));
        } else {
            h0 = 0.5f *
                 (__builtin_shufflevector(a0, a1, TXM_EVEN_LANES) + __builtin_shufflevector(a0, a1, TXM_ODD_LANES));
            h1 = 0.5f *
                 (__builtin_shufflevector(b0, b1, TXM_EVEN_LANES) + __builtin_shufflevector(b0, b1, TXM_ODD_LANES));
        }
        TXM_STORE(vf, dst + i, 0.5f * (h0 + h1));
    }
    scalar.box(channels, row0 + 2 * i, row1 + 2 * i, dst + i, count - i / channels);
}

/* An RGBA pixel is a vector of four. */
static void bilinear_simd(uint32_t channels, const float *row0, const float *row1, float g, size_t src_width,
                          float *dst, size_t count)
{
    if (channels != 4) {
        scalar.bilinear(channels, row0, row1, g, src_width, dst, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t first, second;
        float f;
        txm_bilinear_position((uint32_t)i, (uint32_t)count, (uint32_t)src_width, &first, &second, &f);
        size_t a = 4 * (size_t)first, b = 4 * (size_t)second;
        vf4 none = {0, 0, 0, 0};
        vf4 top = TXM_LOAD(vf4, row0 + a) * (1.0f - f) + (src_width > 1 ? TXM_LOAD(vf4, row0 + b) : none) * f;
        vf4 bottom = none;
        if (row1)
            bottom = TXM_LOAD(vf4, row1 + a) * (1.0f - f) + (src_width > 1 ? TXM_LOAD(vf4, row1 + b) : none) * f;
        TXM_STORE(vf4, dst + 4 * i, (1.0f - g) * top + g * bottom);
    }
}

/* ---- conforming ------------------------------------------------------------------------------------------------ */

typedef TXM_VECTOR(uint8_t, 16) b16;
typedef TXM_VECTOR(uint16_t, 8) h8;
typedef TXM_VECTOR(uint16_t, 16) h16;
typedef TXM_VECTOR(uint32_t, 4) u4;

/* floor(x / 255) for x up to 255 * 255, floor(x / 65535) for x up to 65535 * 65535: exact. */
#define TXM_DIVIDE_255(x) (((x) + 1 + (((x) + 1) >> 8)) >> 8)
#define TXM_DIVIDE_65535(x) (((x) + 1 + (((x) + 1) >> 16)) >> 16)

/* Products of integers are divided with exact rounding. Alpha keeps its value, and of half floats even its bits. */
static void associate_simd(txm_type type, void *rgba, size_t count)
{
    size_t i = 0;
    if (type == TXM_TYPE_U8) {
        const h16 color = {255, 255, 255, 0, 255, 255, 255, 0, 255, 255, 255, 0, 255, 255, 255, 0};
        for (uint8_t *p = rgba; i + 4 <= count; i += 4) {
            h16 v = __builtin_convertvector(TXM_LOAD(b16, p + 4 * i), h16);
            h16 a = __builtin_shufflevector(v, v, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15);
            h16 x = v * a;
            x = (TXM_DIVIDE_255(x) & color) | (v & ~color);
            TXM_STORE(b16, p + 4 * i, __builtin_convertvector(x & 255, b16));
        }
    } else if (type == TXM_TYPE_U16) {
        const u4 color = {~0u, ~0u, ~0u, 0};
        for (uint16_t *p = rgba; i < count; i++) {
            typedef TXM_VECTOR(uint16_t, 4) h4;
            u4 v = __builtin_convertvector(TXM_LOAD(h4, p + 4 * i), u4);
            u4 x = v * __builtin_shufflevector(v, v, 3, 3, 3, 3);
            x = (TXM_DIVIDE_65535(x) & color) | (v & ~color);
            TXM_STORE(h4, p + 4 * i, __builtin_convertvector(x, h4));
        }
    } else if (type == TXM_TYPE_HALF) {
        const vi color = {TXM_COLOR_MASK};
        for (uint16_t *p = rgba; 4 * i + TXM_LANES <= 4 * count; i += TXM_LANES / 4) {
            vf v = half_infinity(vf_from_half((const uint8_t *)(p + 4 * i)));
            uint16_t product[TXM_LANES];
            vf_to_half(clamp_to_half(v * vf_alpha(v)), (uint8_t *)product);
            /* Alpha keeps its bits, which a conversion to float and back would change for NaN. */
            vh old = TXM_LOAD(vh, p + 4 * i), mask = __builtin_convertvector(color, vh);
            TXM_STORE(vh, p + 4 * i, (TXM_LOAD(vh, product) & mask) | (old & ~mask));
        }
    }
    scalar.associate(type, (uint8_t *)rgba + i * 4 * txm_type_bytes(type), count - i);
}

/* Most sources need RGB to RGBA; other layouts are rare. Loads extend beyond the pixels that they use, so the last ones
 * are left to scalar code. Source and destination may overlap if the source is at the end of the destination. */
static void widen_simd(txm_type type, uint32_t src_channels, const void *src, void *rgba, size_t count)
{
    const uint8_t *s = src;
    uint8_t *d = rgba;
    size_t i = 0, bytes = txm_type_bytes(type);
    if (src_channels == 3 && type == TXM_TYPE_U8) {
        const b16 one = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
        for (; i + 8 <= count; i += 4) {
            b16 v = TXM_LOAD(b16, s + 3 * i);
            v = __builtin_shufflevector(v, one, 0, 1, 2, 16, 3, 4, 5, 16, 6, 7, 8, 16, 9, 10, 11, 16);
            TXM_STORE(b16, d + 4 * i, v);
        }
    } else if (src_channels == 3 && bytes == 2) {
        const h8 one = (h8){0} + (uint16_t)(type == TXM_TYPE_HALF ? 0x3C00 : 65535);
        for (; i + 4 <= count; i += 2) {
            h8 v = TXM_LOAD(h8, s + 6 * i);
            TXM_STORE(h8, d + 8 * i, __builtin_shufflevector(v, one, 0, 1, 2, 8, 3, 4, 5, 8));
        }
    } else if (src_channels == 3) {
        const vf4 one = (vf4){0} + 1.0f;
        for (; i + 2 <= count; i++) {
            vf4 v = TXM_LOAD(vf4, s + 12 * i);
            TXM_STORE(vf4, d + 16 * i, __builtin_shufflevector(v, one, 0, 1, 2, 4));
        }
    }
    scalar.widen(type, src_channels, s + i * src_channels * bytes, d + i * 4 * bytes, count - i);
}

/* Vectors of finite samples are skipped. */
static void zero_nonfinite_simd(txm_type type, uint32_t channels, void *pixels, size_t count)
{
    if (!txm_type_is_float(type))
        return;
    uint8_t *p = pixels;
    size_t i = 0, samples = count * channels, bytes = txm_type_bytes(type);
    enum { STEP = 4 * TXM_LANES };
    for (; i + STEP <= samples; i += STEP) {
        vu bad = {0};
        for (size_t k = 0; k < STEP; k += TXM_LANES) {
            if (type == TXM_TYPE_HALF)
                bad |= (vu)(__builtin_convertvector(TXM_LOAD(vh, p + 2 * (i + k)) & 0x7C00, vi) == 0x7C00);
            else
                bad |= (vu)((TXM_LOAD(vi, p + 4 * (i + k)) & 0x7F800000) == 0x7F800000);
        }
        if (vu_any(bad))
            scalar.zero_nonfinite(type, channels, p + i * bytes, STEP / channels);
    }
    scalar.zero_nonfinite(type, channels, p + i * bytes, count - i / channels);
}

static void take_first_simd(txm_type type, const void *rgba, void *grey, size_t count)
{
    size_t i = 0, bytes = txm_type_bytes(type);
    if (type == TXM_TYPE_U8) {
        for (; i + TXM_LANES <= count; i += TXM_LANES)
            TXM_STORE(vb, (uint8_t *)grey + i,
                      __builtin_convertvector(TXM_LOAD(vu, (const uint8_t *)rgba + 4 * i) & 255, vb));
    }
    scalar.take_first(type, (const uint8_t *)rgba + 4 * i * bytes, (uint8_t *)grey + i * bytes, count - i);
}

/* ---- statistics ------------------------------------------------------------------------------------------------ */

/* The number of integer samples whose sum a float64 lane holds exactly; whole numbers hold the rest. */
enum { EXACT_SAMPLES = 8192 };

/* Shares of integer samples are whole multiples of 2^-39, so that sums are exact in any order, and equal to the scalar
 * ones. */
static inline void add_shares(vd lanes, uint64_t *shares)
{
    for (int k = 0; k < TXM_LANES; k++)
        *shares += (uint64_t)(lanes[k] * 549755813888.0);
}

/* Adds the pixels at the end of a row of integers that do not fill a vector. */
static void stats_rest(txm_type type, uint32_t channels, const uint8_t *row, size_t count, uint64_t shares[4],
                       txm_stats *st)
{
    txm_stats rest = *st;
    memset(rest.sum, 0, sizeof rest.sum);
    scalar.stats(type, channels, row, count, &rest);
    for (uint32_t c = 0; c < channels; c++)
        shares[c] += (uint64_t)(rest.sum[c] * 549755813888.0);
    st->varies = rest.varies;
    st->grey = rest.grey;
    for (uint32_t c = 0; c < channels; c++)
        st->sum[c] += txm_shares_sum(shares[c]);
}

/* Computes four sums, whether pixels differ from the first, and whether they are grey, in one pass over the row.
 * Returns how many pixels were handled. */
static size_t stats_u8_rgba(const uint8_t *row, size_t count, uint64_t shares[4], txm_stats *st)
{
    uint32_t first;
    memcpy(&first, st->first, sizeof first);
    vu not_grey = {0}, varies = {0};
    size_t i = 0;
    while (i + TXM_LANES <= count) {
        vd sum[4] = {{0}, {0}, {0}, {0}};
        for (int k = 0; k < EXACT_SAMPLES && i + TXM_LANES <= count; k++, i += TXM_LANES) {
            vu p = TXM_LOAD(vu, row + 4 * i);
            for (int c = 0; c < 4; c++)
                sum[c] += __builtin_convertvector(
                    __builtin_convertvector((vi)(p >> (8 * c) & 255), vf) * (1.0f / 255.0f), vd);
            not_grey |= ((p ^ (p >> 8)) & 0xFFFFu) | (~p & 0xFF000000u);
            varies |= p ^ first;
        }
        for (int c = 0; c < 4; c++)
            add_shares(sum[c], &shares[c]);
    }
    st->varies |= vu_any(varies) != 0;
    st->grey = st->grey && !vu_any(not_grey);
    return i;
}

/* RGBA of float types: a pixel is a vector of four, and pixels are summed in order as in scalar code. */
static void stats_float_rgba(txm_type type, const uint8_t *row, size_t count, txm_stats *st)
{
    typedef TXM_VECTOR(int32_t, 4) i4;
    enum { CHUNK = 256 };
    float chunk[4 * CHUNK];
    vf4 first;
    scalar.to_float(type, st->first, (float *)(void *)&first, 4);
    vd4 sum = {0};
    i4 varies = {0}, not_grey = {0};
    size_t bytes = 4 * txm_type_bytes(type);
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t n = count - i < CHUNK ? count - i : CHUNK;
        to_float_simd(type, row + i * bytes, chunk, 4 * n);
        for (size_t k = 0; k < n; k++) {
            vf4 p = TXM_LOAD(vf4, chunk + 4 * k);
            sum += __builtin_convertvector(p, vd4);
            varies |= p != first;
            /* compares r with g, g with b, alpha with 1 at once */
            not_grey |= __builtin_shufflevector(p, p, 0, 1, 3, 3) !=
                        __builtin_shufflevector(p, (vf4){1.0f, 1.0f, 1.0f, 1.0f}, 1, 2, 4, 4);
        }
    }
    for (int c = 0; c < 4; c++) {
        st->sum[c] += sum[c];
        st->varies |= varies[c] != 0;
        st->grey = st->grey && !not_grey[c];
    }
}

/* Halves are whole multiples of 2^-24 below 2^16, so the sum of this many is exact, and the same in any order. */
enum { EXACT_HALVES = 8192 };

/* Only the sums of RGBA in half, for a row of an image that is known to vary and not to be grey, as most are from their
 * first row on. */
static void sum_half_rgba(const uint8_t *row, size_t count, txm_stats *st)
{
    vd lanes = {0};
    double sum[4] = {0};
    float rest[TXM_LANES];
    size_t i = 0, samples = 4 * count;
    for (; i + TXM_LANES <= samples; i += TXM_LANES)
        lanes += __builtin_convertvector(vf_from_half(row + 2 * i), vd);
    scalar.to_float(TXM_TYPE_HALF, row + 2 * i, rest, samples - i);
    for (size_t k = 0; k < samples - i; k++)
        sum[k % 4] += rest[k];
    for (int k = 0; k < TXM_LANES; k++)
        sum[k % 4] += lanes[k];
    for (int c = 0; c < 4; c++)
        st->sum[c] += sum[c];
}

/* This variant takes one channel of integers. */
#define TXM_STATS_GREY(name, sample, load, unit)                                                                       \
    static size_t name(const uint8_t *row, size_t count, uint64_t shares[4], txm_stats *st)                            \
    {                                                                                                                  \
        sample first;                                                                                                  \
        memcpy(&first, st->first, sizeof first);                                                                       \
        vi varies = {0};                                                                                               \
        size_t i = 0;                                                                                                  \
        while (i + TXM_LANES <= count) {                                                                               \
            vd sum = {0};                                                                                              \
            for (int k = 0; k < EXACT_SAMPLES && i + TXM_LANES <= count; k++, i += TXM_LANES) {                        \
                vi v = load(row + i * sizeof(sample));                                                                 \
                sum += __builtin_convertvector(__builtin_convertvector(v, vf) * (unit), vd);                           \
                varies |= v ^ (int32_t)first;                                                                          \
            }                                                                                                          \
            add_shares(sum, &shares[0]);                                                                               \
        }                                                                                                              \
        st->varies |= vu_any((vu)varies) != 0;                                                                         \
        return i;                                                                                                      \
    }
TXM_STATS_GREY(stats_u8_grey, uint8_t, vi_from_bytes, 1.0f / 255.0f)
TXM_STATS_GREY(stats_u16_grey, uint16_t, vi_from_words, 1.0f / 65535.0f)
#undef TXM_STATS_GREY

/* This variant takes 16-bit RGBA, pixel by pixel. */
static size_t stats_u16_rgba(const uint8_t *row, size_t count, uint64_t shares[4], txm_stats *st)
{
    typedef TXM_VECTOR(uint16_t, 4) h4;
    typedef TXM_VECTOR(int32_t, 4) i4;
    h4 first = TXM_LOAD(h4, st->first), varies = {0}, not_grey = {0};
    for (size_t i = 0; i < count;) {
        vd4 sum = {0};
        for (int k = 0; k < EXACT_SAMPLES && i < count; k++, i++) {
            h4 p = TXM_LOAD(h4, row + 8 * i);
            sum += __builtin_convertvector(
                __builtin_convertvector(__builtin_convertvector(p, i4), vf4) * (1.0f / 65535.0f), vd4);
            varies |= p ^ first;
            not_grey |= __builtin_shufflevector(p, p, 0, 1, 3, 3) ^
                        __builtin_shufflevector(p, (h4){65535, 65535, 65535, 65535}, 1, 2, 4, 4);
        }
        for (int c = 0; c < 4; c++)
            shares[c] += (uint64_t)(sum[c] * 549755813888.0);
    }
    for (int c = 0; c < 4; c++) {
        st->varies |= varies[c] != 0;
        st->grey = st->grey && !not_grey[c];
    }
    return count;
}

static void stats_simd(txm_type type, uint32_t channels, const void *row, size_t count, txm_stats *st)
{
    const uint8_t *pixels = row;
    uint64_t shares[4] = {0};
    if (!st->any) {
        scalar.stats(type, channels, row, count, st);
    } else if (!txm_type_is_float(type)) {
        size_t done = type == TXM_TYPE_U8 ? channels == 4 ? stats_u8_rgba(pixels, count, shares, st)
                                                          : stats_u8_grey(pixels, count, shares, st)
                      : channels == 4 ? stats_u16_rgba(pixels, count, shares, st)
                                          : stats_u16_grey(pixels, count, shares, st);
        stats_rest(type, channels, pixels + done * channels * txm_type_bytes(type), count - done, shares, st);
    } else if (channels == 4 && type == TXM_TYPE_HALF && count <= EXACT_HALVES && st->varies && !st->grey) {
        sum_half_rgba(pixels, count, st);
    } else if (channels == 4) {
        stats_float_rgba(type, pixels, count, st);
    } else {
        scalar.stats(type, channels, row, count, st);
    }
}

/* The table `scalar` is kept for the rest of a row after the last whole vector. */
static void fill_simd(txm_ops *ops)
{
    txm_ops_fill_scalar(&scalar);
    ops->to_float = to_float_simd;
    ops->from_float = from_float_simd;
    ops->srgb_decode = srgb_decode_simd;
    ops->srgb_encode = srgb_encode_simd;
    ops->box = box_simd;
    ops->bilinear = bilinear_simd;
    ops->clamp_half = clamp_half_simd;
    ops->associate = associate_simd;
    ops->widen = widen_simd;
    ops->zero_nonfinite = zero_nonfinite_simd;
    ops->take_first = take_first_simd;
    ops->stats = stats_simd;
}
