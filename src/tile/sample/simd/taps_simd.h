/* SPDX-License-Identifier: Apache-2.0
 *
 * Taps as vectors of two RGBA pixels, in the compiler's notation of vectors. A back-end brings txm_load_one and
 * txm_load_two, which make floats of one and of two pixels, and includes this before lookup.h. The sums run in the
 * order of taps.h: the lower half of a vector holds the even columns.
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

TXM_FAST txm_rgba txm_load_one(int type, const uint8_t *p);
TXM_FAST txm_pair txm_load_two(int type, const uint8_t *p);

TXM_FAST txm_pair txm_pair_of(float left, float right)
{
    return (txm_pair){left, left, left, left, right, right, right, right};
}

TXM_FAST txm_rgba txm_pair_sum(txm_pair p)
{
    return __builtin_shufflevector(p, p, 0, 1, 2, 3) + __builtin_shufflevector(p, p, 4, 5, 6, 7);
}

/* `type` is a constant in each call, so that the loads are one instruction or two. */
TXM_FAST txm_rgba txm_linear_rgba(int type, const uint8_t *p, uint32_t row_bytes, const float wx[2], const float wy[2])
{
    txm_pair across = txm_pair_of(wx[0], wx[1]), above = across * wy[0], below = across * wy[1];
    return txm_pair_sum(txm_load_two(type, p) * above + txm_load_two(type, p + row_bytes) * below);
}

TXM_FAST txm_rgba txm_cubic_rgba(int type, const uint8_t *p, uint32_t row_bytes, const float wx[4], const float wy[4])
{
    const uint32_t step = type == TXM_TYPE_U8 ? 8 : type == TXM_TYPE_FLOAT ? 32 : 16;
    txm_pair a = txm_load_two(type, p) * wy[0], b = txm_load_two(type, p + step) * wy[0];
    for (int y = 1; y < 4; y++) {
        p += row_bytes;
        a += txm_load_two(type, p) * wy[y];
        b += txm_load_two(type, p + step) * wy[y];
    }
    return txm_pair_sum(a * txm_pair_of(wx[0], wx[1]) + b * txm_pair_of(wx[2], wx[3]));
}

/* One channel: the same sums on the first element alone. */
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

#define TXM_EACH_TYPE(type, call)                                                                                      \
    switch (type) {                                                                                                    \
    case TXM_TYPE_U8:                                                                                                  \
        return call(TXM_TYPE_U8);                                                                                      \
    case TXM_TYPE_U16:                                                                                                 \
        return call(TXM_TYPE_U16);                                                                                     \
    case TXM_TYPE_HALF:                                                                                                \
        return call(TXM_TYPE_HALF);                                                                                    \
    default:                                                                                                           \
        return call(TXM_TYPE_FLOAT);                                                                                   \
    }

TXM_FAST txm_rgba txm_taps_linear(const txm_view_texture *t, const uint8_t *p, const float wx[2], const float wy[2]){
#define TXM_CALL(type)                                                                                                 \
    (t->channels == 4 ? txm_linear_rgba(type, p, t->row_bytes, wx, wy) : txm_linear_grey(type, p, t, wx, wy))
    TXM_EACH_TYPE(t->type, TXM_CALL)
#undef TXM_CALL
}

TXM_FAST txm_rgba txm_taps_cubic(const txm_view_texture *t, const uint8_t *p, const float wx[4], const float wy[4]){
#define TXM_CALL(type)                                                                                                 \
    (t->channels == 4 ? txm_cubic_rgba(type, p, t->row_bytes, wx, wy) : txm_cubic_grey(type, p, t, wx, wy))
    TXM_EACH_TYPE(t->type, TXM_CALL)
#undef TXM_CALL
}

TXM_FAST txm_rgba txm_taps_closest(const txm_view_texture *t, const uint8_t *p)
{
#define TXM_CALL(type)                                                                                                 \
    (t->channels == 4 ? txm_load_one(type, p) : txm_rgba_make(txm_texel_sample(type, p), 0.0f, 0.0f, 0.0f))
    TXM_EACH_TYPE(t->type, TXM_CALL)
#undef TXM_CALL
}
#endif
