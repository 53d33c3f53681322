/* SPDX-License-Identifier: Apache-2.0
 *
 * From texture coordinates to pixels of a level. Floor and fraction are taken in the level's own pixels, so that
 * nothing depends on where a tile lies; tiles and slots come in as integers afterwards.
 */
#ifndef TXM_SAMPLE_WRAP_H
#define TXM_SAMPLE_WRAP_H
#include "tile/sample/level.h"

/* Largest integer not above x, without a library call; large numbers, infinities and NaN are their own. */
TXM_ARITH float txm_floor(float x)
{
    if (!(x > -8388608.0f && x < 8388608.0f))
        return x;
    float t = (float)(int32_t)x;
    return t > x ? t - 1.0f : t;
}

/* One coordinate into 0..1 (both included). False where CLIP rejects it. Beyond that only NaN is not in 0..1: REPEAT
 * and MIRROR make NaN of what is not finite. */
TXM_ARITH int txm_wrap(float *u, int extension)
{
    float x = *u, t;
    switch (extension) {
    case TXM_EXTENSION_REPEAT:
        *u = x - txm_floor(x);
        return 1;
    case TXM_EXTENSION_EXTEND: /* NaN: 0 */
        *u = txm_min(txm_max(x, 0.0f), 1.0f);
        return 1;
    case TXM_EXTENSION_MIRROR:
        t = x * 0.5f;
        t = 2.0f * (t - txm_floor(t));
        *u = t > 1.0f ? 2.0f - t : t;
        return 1;
    default:
        return x >= 0.0f && x <= 1.0f;
    }
}

/* Direction of the wrapped coordinate as the given one grows: 1, -1 in every other mirror image, 0 where EXTEND holds
 * it at the edge. */
TXM_ARITH float txm_wrap_slope(float u, int extension)
{
    if (extension == TXM_EXTENSION_EXTEND)
        return u >= 0.0f && u <= 1.0f ? 1.0f : 0.0f;
    if (extension == TXM_EXTENSION_MIRROR) {
        float t = u * 0.5f;
        return 2.0f * (t - txm_floor(t)) > 1.0f ? -1.0f : 1.0f;
    }
    return 1.0f;
}

/* A place in a level between the centres of pixels: the one that taps are counted from, and how far beyond its centre
 * the place lies. Of NaN the pixel is 0 and the fraction NaN. */
typedef struct txm_place {
    int32_t x, y; /* -1 to the level's size */
    float fx, fy;
} txm_place;

/* A level's pixels of a coordinate in 0..1. Rows are counted from the top. */
TXM_ARITH float txm_pixel_x(float u, uint32_t w)
{
    return u * (float)w;
}

TXM_ARITH float txm_pixel_y(float v, uint32_t h)
{
    return (1.0f - v) * (float)h;
}

/* Floor of a pixel coordinate in -1 to 65536 or so; NaN: 0. */
TXM_ARITH int32_t txm_pixel_floor(float x)
{
    int32_t i = (int32_t)(x == x ? x : 0.0f);
    return i - ((float)i > x);
}

/* The pixel that a coordinate lies in, for closest and random taps. Of NaN it is -2, the first one of a tile's padding:
 * that is what Cycles reads. */
TXM_ARITH int32_t txm_pixel_closest(float x)
{
    return x == x ? txm_pixel_floor(x) : -TXM_BORDER_PX;
}

/* For linear and cubic: the pixel whose centre is at or before the coordinate, and the fraction to the next one. */
TXM_ARITH txm_place txm_place_of(float x, float y)
{
    txm_place p;
    float sx = x - 0.5f, sy = y - 0.5f;
    p.x = txm_pixel_floor(sx);
    p.y = txm_pixel_floor(sy);
    p.fx = sx - (float)p.x;
    p.fy = sy - (float)p.y;
    return p;
}

/* The tile along one axis that has the coordinate x of a level of `size` pixels. */
TXM_ARITH uint32_t txm_tile_of(float x, uint32_t size, uint32_t tile_shift)
{
    int32_t i = (int32_t)(x == x ? x : 0.0f), last = (int32_t)size - 1;
    return (uint32_t)(i > last ? last : i) >> tile_shift;
}

/* The pixel of the level that stands for pixel x of the plane; -1: none (CLIP). The same as the readers' rule for
 * padding, in 32 bits. */
TXM_ARITH int32_t txm_wrap_pixel(int32_t x, int32_t size, int extension)
{
    if (x >= 0 && x < size)
        return x;
    if (extension == TXM_EXTENSION_CLIP)
        return -1;
    if (extension == TXM_EXTENSION_EXTEND)
        return x < 0 ? 0 : size - 1;
    int32_t period = extension == TXM_EXTENSION_MIRROR ? 2 * size : size, m = x % period;
    m = m < 0 ? m + period : m;
    return m < size ? m : period - 1 - m;
}

/* ---- UDIM ---- */

/* Column and row of the UDIM tile at (u, v); false where there can be none. Truncates as Cycles does. */
TXM_ARITH int txm_udim_place(float *u, float *v, uint32_t rows, uint32_t *index)
{
    if (!(*u > -1.0f && *u < 10.0f && *v > -1.0f && *v < (float)rows))
        return 0;
    int32_t x = (int32_t)*u, y = (int32_t)*v;
    *u -= (float)x;
    *v -= (float)y;
    *index = (uint32_t)(10 * y + x);
    return 1;
}
#endif
