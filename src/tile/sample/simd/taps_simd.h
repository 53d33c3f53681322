/* SPDX-License-Identifier: Apache-2.0
 *
 * Taps as vectors of two RGBA pixels, in the compiler's vector notation. A back-end defines txm_load_one and
 * txm_load_two, which convert one and two pixels to floats, and includes this before lookup.h. The sums are in the
 * order of taps.h: the lower half of a vector holds the even columns.
 *
 * A kind combines the storage type, whether pixels have four channels or three, and whether the texture is packed. The
 * loads fill in the alpha of three channels, so everything after them is the same for both.
 */
#ifndef TXM_SAMPLE_TAPS_SIMD_H
#define TXM_SAMPLE_TAPS_SIMD_H
#define TXM_TAPS_FAST
#include "tile/sample/taps.h"

typedef float txm_pair __attribute__((vector_size(32)));

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#define TXM_FAST static inline __attribute__((always_inline))

/* It is added to the type if there are three channels, and if the texture is packed. */
enum { TXM_KIND_RGB = 4, TXM_KIND_PACKED = 8 };

TXM_FAST uint32_t txm_kind_bytes(int kind)
{
    const uint32_t channels = kind & TXM_KIND_RGB ? 3 : 4, type = kind & 3;
    return channels * (type == TXM_TYPE_U8 ? 1 : type == TXM_TYPE_FLOAT ? 4 : 2);
}

/* With three channels, as many bytes may be read as with four. */
TXM_FAST txm_rgba txm_load_one(int kind, const uint8_t *p);
TXM_FAST txm_pair txm_load_two(int kind, const uint8_t *p);

TXM_FAST txm_pair txm_pair_of(float left, float right)
{
    return (txm_pair){left, left, left, left, right, right, right, right};
}

TXM_FAST txm_rgba txm_pair_sum(txm_pair p)
{
    return __builtin_shufflevector(p, p, 0, 1, 2, 3) + __builtin_shufflevector(p, p, 4, 5, 6, 7);
}

/* `kind` is a constant in each call, so the loads compile to one or two instructions. */
TXM_FAST txm_rgba txm_linear_rgba(int kind, const uint8_t *p, uint32_t row_bytes, const float wx[2], const float wy[2])
{
    txm_pair across = txm_pair_of(wx[0], wx[1]), above = across * wy[0], below = across * wy[1];
    return txm_pair_sum(txm_load_two(kind, p) * above + txm_load_two(kind, p + row_bytes) * below);
}

TXM_FAST txm_rgba txm_cubic_rgba(int kind, const uint8_t *p, uint32_t row_bytes, const float wx[4], const float wy[4])
{
    const uint32_t step = 2 * txm_kind_bytes(kind);
    txm_pair a = txm_load_two(kind, p) * wy[0], b = txm_load_two(kind, p + step) * wy[0];
    for (int y = 1; y < 4; y++) {
        p += row_bytes;
        a += txm_load_two(kind, p) * wy[y];
        b += txm_load_two(kind, p + step) * wy[y];
    }
    return txm_pair_sum(a * txm_pair_of(wx[0], wx[1]) + b * txm_pair_of(wx[2], wx[3]));
}

/* One channel: the same sums, in the first element only. */
TXM_FAST txm_rgba txm_linear_grey(int type, const uint8_t *p, const txm_view_texture *t, const float wx[2],
                                  const float wy[2])
{
    const uint8_t *q = p + t->row_bytes;
    uint32_t step = t->pixel_bytes;
    float left = txm_texel_sample(type, p) * (wy[0] * wx[0]) + txm_texel_sample(type, q) * (wy[1] * wx[0]);
    float right =
        txm_texel_sample(type, p + step) * (wy[0] * wx[1]) + txm_texel_sample(type, q + step) * (wy[1] * wx[1]);
    return txm_rgba_make(left + right, 0.0f, 0.0f, 0.0f);
}

TXM_FAST txm_rgba txm_cubic_grey(int type, const uint8_t *p, const txm_view_texture *t, const float wx[4],
                                 const float wy[4])
{
    txm_rgba columns = {0};
    for (int y = 0; y < 4; y++, p += t->row_bytes) {
        txm_rgba row = {txm_texel_sample(type, p), txm_texel_sample(type, p + t->pixel_bytes),
                        txm_texel_sample(type, p + 2 * t->pixel_bytes), txm_texel_sample(type, p + 3 * t->pixel_bytes)};
        columns = y ? columns + row * wy[y] : row * wy[y];
    }
    txm_rgba w = {wx[0], wx[1], wx[2], wx[3]}, c = columns * w;
    return txm_rgba_make((c[0] + c[2]) + (c[1] + c[3]), 0.0f, 0.0f, 0.0f);
}

/* Calls `color` with a constant kind, or `grey` with a constant type. */
#define TXM_EACH_KIND(t, color, grey)                                                                                  \
    switch ((t)->channels == 4 ? (t)->type : (t)->channels == 3 ? (t)->type + TXM_KIND_RGB : (t)->type + 8) {          \
        TXM_EACH_TYPE(0, color)                                                                                        \
        TXM_EACH_TYPE(TXM_KIND_RGB, color)                                                                             \
    case 8:                                                                                                            \
        return grey(TXM_TYPE_U8);                                                                                      \
    case 9:                                                                                                            \
        return grey(TXM_TYPE_U16);                                                                                     \
    case 10:                                                                                                           \
        return grey(TXM_TYPE_HALF);                                                                                    \
    default:                                                                                                           \
        return grey(TXM_TYPE_FLOAT);                                                                                   \
    }
#define TXM_EACH_TYPE(more, call)                                                                                      \
    case TXM_TYPE_U8 + more:                                                                                           \
        return call(TXM_TYPE_U8 + more);                                                                               \
    case TXM_TYPE_U16 + more:                                                                                          \
        return call(TXM_TYPE_U16 + more);                                                                              \
    case TXM_TYPE_HALF + more:                                                                                         \
        return call(TXM_TYPE_HALF + more);                                                                             \
    case TXM_TYPE_FLOAT + more:                                                                                        \
        return call(TXM_TYPE_FLOAT + more);

TXM_FAST txm_rgba txm_taps_linear(const txm_view_texture *t, const uint8_t *p, const float wx[2], const float wy[2]){
#define TXM_COLOR(kind) txm_linear_rgba(kind, p, t->row_bytes, wx, wy)
#define TXM_GREY(type) txm_linear_grey(type, p, t, wx, wy)
    TXM_EACH_KIND(t, TXM_COLOR, TXM_GREY)
#undef TXM_COLOR
#undef TXM_GREY
}

TXM_FAST txm_rgba txm_taps_cubic(const txm_view_texture *t, const uint8_t *p, const float wx[4], const float wy[4]){
#define TXM_COLOR(kind) txm_cubic_rgba(kind, p, t->row_bytes, wx, wy)
#define TXM_GREY(type) txm_cubic_grey(type, p, t, wx, wy)
    TXM_EACH_KIND(t, TXM_COLOR, TXM_GREY)
#undef TXM_COLOR
#undef TXM_GREY
}

#define TXM_GREY(type) txm_rgba_make(txm_texel_sample(type, p), 0.0f, 0.0f, 0.0f)
TXM_FAST txm_rgba txm_taps_closest(const txm_view_texture *t, const uint8_t *p){
#define TXM_COLOR(kind) txm_load_one(kind, p)
    TXM_EACH_KIND(t, TXM_COLOR, TXM_GREY)
#undef TXM_COLOR
}

/* The rows are two pixels each, at any two places. */
TXM_FAST txm_rgba
    txm_taps_apart(const txm_view_texture *t, const uint8_t *const p[2][2], const float wx[2], const float wy[2])
{
#define TXM_COLOR(kind)                                                                                                \
    txm_sum_linear(wx, wy,                                                                                             \
                   (const txm_rgba[2][2]){{txm_load_one(kind, p[0][0]), txm_load_one(kind, p[0][1])},                  \
                                          {txm_load_one(kind, p[1][0]), txm_load_one(kind, p[1][1])}})
#define TXM_FIRST(type, p) txm_rgba_make(txm_texel_sample(type, p), 0.0f, 0.0f, 0.0f)
#define TXM_GREYS(type)                                                                                                \
    txm_sum_linear(wx, wy,                                                                                             \
                   (const txm_rgba[2][2]){{TXM_FIRST(type, p[0][0]), TXM_FIRST(type, p[0][1])},                        \
                                          {TXM_FIRST(type, p[1][0]), TXM_FIRST(type, p[1][1])}})
    TXM_EACH_KIND(t, TXM_COLOR, TXM_GREYS)
#undef TXM_COLOR
#undef TXM_FIRST
#undef TXM_GREYS
}
#undef TXM_GREY
#endif
