/* SPDX-License-Identifier: Apache-2.0
 *
 * The filters of lookups in Ptex quads: which texels each weights, along one axis.
 *
 * The weights, and the size of the face at which they apply, are those of Disney's library. They are not normalized,
 * since lookups divide by the sum of all weights.
 */
#include <math.h>

#include "tile/ptex/ptex_impl.h"

/* What a filter needs to know of a lookup: the place and the width along one axis, where the face is 1, and the log2 of
 * the face's size, beyond which there are no texels. */
typedef struct footprint {
    float at, width;
    int log2;
    float sharpness;
    bool lerp;
} footprint;

typedef struct filter_row {
    const char *name;
    void (*taps)(const struct filter_row *row, const footprint *f, ptex_axis *out); /* NULL: reads no neighbours */
    float (*curve)(float x, float sharpness); /* weights at a distance, where the filter's width is 1 */
    float sharpness;                          /* below 0: the lookup's */
} filter_row;

/* ---- curves ------------------------------------------------------------------------------------------------------ */

/* The cubics of Mitchell and Netravali on the line 2C = 1 - B, from the B-spline (0) to Catmull and Rom's (1). */
static float cubic(float x, float sharpness)
{
    const float b = 1 - sharpness, third = (float)(1 / 3.0);
    x = fabsf(x);
    if (x < 1)
        return ((1.5f - b) * x + (1.5f * b - 2.5f)) * x * x + (1 - third * b);
    if (x < 2)
        return (((third * b - 0.5f) * x + (2.5f - 1.5f * b)) * x + (2 * b - 4)) * x + (2 - 2 * third * b);
    return 0;
}

static float bell(float x, float sharpness)
{
    (void)sharpness;
    return expf(-2 * x * x);
}

/* Falls smoothly from 1 to 0 within a distance of 1. */
static float hill(float x)
{
    x = fabsf(x);
    return x < 1 ? (2 * x - 3) * x * x + 1 : 0;
}

/* ---- taps -------------------------------------------------------------------------------------------------------- */

/* The size whose texels are between half as wide as the footprint and as wide, down to one texel. */
static int level_of(float width)
{
    return width < 1 ? -ilogbf(width) : 0;
}

/* Two texels at the size whose texels fit the footprint. */
static void linear_taps(const filter_row *row, const footprint *f, ptex_axis *out)
{
    (void)row;
    out->log2 = level_of(f->width);
    const float place = f->at * (float)(1 << out->log2) - 0.5f, whole = floorf(place), part = place - whole;
    out->start = (int)whole;
    out->count = 2;
    out->weights[0] = 1 - part;
    out->weights[1] = part;
}

/* Up to three texels, by how much of each the footprint covers. */
static void box_taps(const filter_row *row, const footprint *f, ptex_axis *out)
{
    (void)row;
    out->log2 = level_of(f->width);
    const float size = (float)(1 << out->log2), half = 0.5f * ((f->width < 1 ? f->width : 1) * size);
    const float low = f->at * size - half, high = f->at * size + half, first = floorf(low), end = ceilf(high);
    out->start = (int)first;
    out->count = (int)end - out->start;
    for (int i = 0; i < out->count; i++)
        out->weights[i] = 1;
    out->weights[0] -= low - first;
    out->weights[out->count - 1] -= end - high;
}

/* A curve that is four times as wide as the footprint, over four to ten texels. If the lookup wants sizes to blend, it
 * turns into the curve of the next smaller size, which has one weight for each pair of texels, as the footprint grows.
 *
 * A curve must not reach beyond the next face. At 4 texels it therefore no longer grows, at 2 it is a hill over both
 * of them and two more, and at one texel a hill over two. */
static void curve_taps(const filter_row *row, const footprint *f, ptex_axis *out)
{
    const int level = level_of(f->width);
    const float size = (float)(1 << level), place = f->at * size - 0.5f, texels = f->width * size;
    const float sharpness = row->sharpness < 0 ? f->sharpness : row->sharpness, blend = f->lerp ? texels - 1 : 0;
    float step = 1, reach = 2, near_scale = 1, far_scale = 0.5f;
    out->log2 = level;
    if (level == 0) {
        const float whole = floorf(place);
        out->start = (int)whole;
        out->count = 2;
        out->weights[0] = hill(place - whole);
        out->weights[1] = 1 - out->weights[0];
        return;
    }
    if (level == 1)
        far_scale *= near_scale = 1 / (f->width * 1.5f + 0.5f);
    else if (level == 2)
        far_scale *= 0.5f / (f->width + 0.75f);
    else {
        step = 1 / texels;
        reach *= texels;
    }
    int first = (int)ceilf(place - reach), end = (int)ceilf(place + reach);
    const bool pairs = level <= 2 || blend != 0;
    if (level == 1) {
        first = 2 * (int)floorf(f->at - 0.5f);
        end = first + 4;
    } else if (pairs) {
        first &= ~1;
        end = (end + 1) & ~1;
    }
    out->start = first;
    out->count = end - first;
    /* Every sum is rounded as Disney's library rounds it, because large texels of opposite sign show the difference. */
    const float begin = pairs ? ((float)first - place) * step : ((float)first - place) / texels;
    for (int i = 0; i < out->count; i++) {
        const float even = begin + (float)(i & ~1) * step, odd = even + step;
        const float x = !pairs ? begin + (float)i * step : i & 1 ? odd : even, middle = (even + odd) * far_scale;
        const float own = level == 1 ? hill(x * near_scale) : row->curve(x, sharpness);
        if (blend == 0) {
            out->weights[i] = own;
            continue;
        }
        const float next = level <= 2 ? hill(middle) : row->curve(middle, sharpness);
        out->weights[i] = own * (1 - blend) + next * blend;
    }
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const filter_row rows[] = {
    [TXM_PTEX_POINT] = {"point", NULL, NULL, 0},
    [TXM_PTEX_BILINEAR] = {"bilinear", linear_taps, NULL, 0},
    [TXM_PTEX_BOX] = {"box", box_taps, NULL, 0},
    [TXM_PTEX_GAUSSIAN] = {"Gaussian", curve_taps, bell, 0},
    [TXM_PTEX_BICUBIC] = {"bicubic", curve_taps, cubic, -1},
    [TXM_PTEX_BSPLINE] = {"B-spline", curve_taps, cubic, 0},
    [TXM_PTEX_CATMULL_ROM] = {"Catmull-Rom", curve_taps, cubic, 1},
    [TXM_PTEX_MITCHELL] = {"Mitchell", curve_taps, cubic, 2.0f / 3},
};

const char *txm_ptex_filter_kind_name(txm_ptex_filter_kind kind)
{
    return (size_t)kind < sizeof rows / sizeof *rows ? rows[kind].name : "unknown";
}

bool txm_ptex_filter_exists(txm_ptex_filter_kind kind)
{
    return (size_t)kind < sizeof rows / sizeof *rows;
}

void txm_ptex_make_taps(const txm_ptex_request *r, float at, float width, int log2, ptex_axis *out)
{
    const float least = ldexpf(1, -log2);
    const footprint f = {.at = at,
                         .width = width > least ? width : least, /* NaN becomes the least */
                         .log2 = log2,
                         .sharpness = r->sharpness > 0 ? r->sharpness < 1 ? r->sharpness : 1 : 0,
                         .lerp = r->lerp};
    int zeros = 0;
    rows[r->kind].taps(&rows[r->kind], &f, out);
    while (out->count > 1 && out->weights[out->count - 1] == 0)
        out->count--;
    while (zeros < out->count - 1 && out->weights[zeros] == 0)
        zeros++;
    if (!zeros)
        return;
    out->start += zeros;
    out->count -= zeros;
    memmove(out->weights, out->weights + zeros, (size_t)out->count * sizeof *out->weights);
}
