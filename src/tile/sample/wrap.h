/* SPDX-License-Identifier: Apache-2.0
 *
 * From texture coordinates, already brought into 0..1 by the extension (tile/terms/extension.h), to pixels of a level.
 * Floor and fraction are computed in the level's own pixels, so the result does not depend on tile boundaries; tiles
 * and slots are integer arithmetic afterwards.
 */
#ifndef TXM_SAMPLE_WRAP_H
#define TXM_SAMPLE_WRAP_H
#include "tile/sample/level.h"
#include "tile/terms/extension.h"

/* A place in a level: the pixel that taps are counted from, and the distance of the place beyond that pixel's centre.
 * For NaN the pixel is 0 and the fraction NaN. */
typedef struct txm_place {
    int32_t x, y; /* -1 to the level's size */
    float fx, fy;
} txm_place;

/* Converts a coordinate in 0..1 to pixels of a level. Rows are counted from the top. */
TXM_ARITH float txm_pixel_x(float u, uint32_t w)
{
    return u * (float)w;
}

TXM_ARITH float txm_pixel_y(float v, uint32_t h)
{
    return (1.0f - v) * (float)h;
}

/* The floor of a pixel coordinate between -1 and about 131071; 0 for NaN. */
TXM_ARITH int32_t txm_pixel_floor(float x)
{
    int32_t i = (int32_t)(x == x ? x : 0.0f);
    return i - ((float)i > x);
}

/* The pixel that contains a coordinate, for closest and random taps. For NaN it is -2, the first pixel of a tile's
 * border, because Cycles reads that one. */
TXM_ARITH int32_t txm_pixel_closest(float x)
{
    return x == x ? txm_pixel_floor(x) : -TXM_BORDER_PX;
}

/* For linear and cubic filters: the pixel whose centre is at or before the coordinate, and the fraction towards the
 * next one. */
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

/* The tile along one axis that contains coordinate x of a level of `size` pixels. */
TXM_ARITH uint32_t txm_tile_of(float x, uint32_t size, uint32_t tile_shift)
{
    int32_t i = (int32_t)(x == x ? x : 0.0f), last = (int32_t)size - 1;
    return (uint32_t)(i > last ? last : i) >> tile_shift;
}

/* ---- UDIM ---- */

/* The column and row of the UDIM tile at (u, v); false if no tile can be there. Truncates like Cycles. */
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
