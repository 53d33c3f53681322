/* SPDX-License-Identifier: Apache-2.0
 *
 * Texels and their weights. The order of the sums is part of the specification: the rows are summed in each column
 * first, then the columns, even and odd ones separately, because this is how vectors of two pixels compute it.
 */
#ifndef TXM_SAMPLE_TAPS_H
#define TXM_SAMPLE_TAPS_H
#include "tile/sample/filter.h"
#include "tile/sample/rgba.h"
#include "tile/sample/wrap.h"

/* A sample as a float, before scaling. */
TXM_ARITH float txm_texel_sample(int type, TXM_GLOBAL const uint8_t *p)
{
    switch (type) {
    case TXM_TYPE_U8:
        return (float)*p;
    case TXM_TYPE_U16:
        return (float)*(TXM_GLOBAL const uint16_t *)(TXM_GLOBAL const void *)p;
    case TXM_TYPE_HALF:
        return txm_half_to_float(*(TXM_GLOBAL const uint16_t *)(TXM_GLOBAL const void *)p);
    default:
        return *(TXM_GLOBAL const float *)(TXM_GLOBAL const void *)p;
    }
}

/* The stored value of an alpha of 1. */
TXM_ARITH float txm_texel_opaque(int type)
{
    return type == TXM_TYPE_U8 ? 255.0f : type == TXM_TYPE_U16 ? 65535.0f : 1.0f;
}

/* A pixel before scaling. A single channel is in the first element, and the others are 0. */
TXM_CALLED TXM_ARITH txm_rgba txm_texel(int type, int channels, TXM_GLOBAL const uint8_t *p)
{
    uint32_t bytes = type == TXM_TYPE_U8 ? 1 : type == TXM_TYPE_FLOAT ? 4 : 2;
    if (channels == 1)
        return txm_rgba_make(txm_texel_sample(type, p), 0.0f, 0.0f, 0.0f);
    return txm_rgba_make(txm_texel_sample(type, p), txm_texel_sample(type, p + bytes),
                         txm_texel_sample(type, p + 2 * bytes),
                         channels == 3 ? txm_texel_opaque(type) : txm_texel_sample(type, p + 3 * bytes));
}

/* Sums the pixels that `texel` returns with the products of four weights across and four down, or of two and two;
 * col(i) is the sum over rows. */
TXM_ARITH txm_rgba txm_sum_linear(const float wx[2], const float wy[2], const txm_rgba t[2][2])
{
    txm_rgba left = t[0][0] * (wy[0] * wx[0]) + t[1][0] * (wy[1] * wx[0]);
    txm_rgba right = t[0][1] * (wy[0] * wx[1]) + t[1][1] * (wy[1] * wx[1]);
    return left + right;
}

/* Down first, then across, so that the four multiplications across apply to whole columns. */
TXM_ARITH txm_rgba txm_sum_cubic(const float wx[4], const float wy[4], const txm_rgba t[4][4])
{
    txm_rgba column[4];
    for (int i = 0; i < 4; i++)
        column[i] = ((t[0][i] * wy[0] + t[1][i] * wy[1]) + t[2][i] * wy[2]) + t[3][i] * wy[3];
    return (column[0] * wx[0] + column[2] * wx[2]) + (column[1] * wx[1] + column[3] * wx[3]);
}

/* The colour at a place and, if dx is not NULL, its derivatives by the level's x and y. `p` is the first of the taps'
 * pixels, whose rows are row_bytes apart. Back-ends replace these two functions with vector code that gives the same
 * bits. */
#ifndef TXM_TAPS_FAST
TXM_ARITH txm_rgba txm_taps_linear(TXM_GLOBAL const txm_view_texture *t, TXM_GLOBAL const uint8_t *p, const float wx[2],
                                   const float wy[2])
{
    txm_rgba texels[2][2];
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2; x++)
            texels[y][x] =
                txm_texel(t->type, t->channels, p + (uint32_t)y * t->row_bytes + (uint32_t)x * t->pixel_bytes);
    return txm_sum_linear(wx, wy, texels);
}

TXM_ARITH txm_rgba txm_taps_cubic(TXM_GLOBAL const txm_view_texture *t, TXM_GLOBAL const uint8_t *p, const float wx[4],
                                  const float wy[4])
{
    txm_rgba texels[4][4];
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            texels[y][x] =
                txm_texel(t->type, t->channels, p + (uint32_t)y * t->row_bytes + (uint32_t)x * t->pixel_bytes);
    return txm_sum_cubic(wx, wy, texels);
}

/* A back-end may replace this as well. */
TXM_ARITH txm_rgba txm_taps_closest(TXM_GLOBAL const txm_view_texture *t, TXM_GLOBAL const uint8_t *p)
{
    return txm_texel(t->type, t->channels, p);
}
#endif

/* ---- after the lookup ---- */

/* Divides the colour by alpha and decodes sRGB, as Cycles does after its lookup. The derivatives (NULL: none) follow
 * from the chain rule. */
TXM_ARITH void txm_after(int after, float c[4], float *du, float *dv)
{
    float a = c[3];
    if ((after & TXM_AFTER_UNASSOCIATE) && a != 1.0f && a != 0.0f) {
        for (int i = 0; i < 3; i++) {
            c[i] = c[i] / a;
            if (du) {
                du[i] = (du[i] - c[i] * du[3]) / a;
                dv[i] = (dv[i] - c[i] * dv[3]) / a;
            }
        }
    }
    if (!(after & TXM_AFTER_SRGB))
        return;
    for (int i = 0; i < 3; i++) {
        if (du) { /* derivatives of 0, x/12.92 and ((x + 0.055)/1.055)^2.4 */
            float x = (c[i] + 0.055f) * (1.0f / 1.055f);
            float slope = c[i] >= 0.04045f ? (2.4f / 1.055f) * txm_pow_positive(x, 1.4)
                          : c[i] > 0.0f    ? 1.0f / 12.92f
                                           : 0.0f;
            du[i] *= slope;
            dv[i] *= slope;
        }
        c[i] = txm_srgb_decode_rgba(c[i]);
    }
}
#endif
