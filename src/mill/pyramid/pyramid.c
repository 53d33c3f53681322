/* SPDX-License-Identifier: Apache-2.0
 *
 * Computes the levels. Each level keeps a window of four source rows. A row that arrives may complete a row of the
 * next level, which then arrives there, and so on up to 1 x 1. src/tile/ops has the arithmetic of a row; this file
 * decides which rows are combined.
 */
#include "mill/pyramid/pyramid.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/ops/arith.h"

/* ---- latitude-longitude images ----
 * A pole is a single point on a sphere, so its row gets one colour, and rows are weighted by the area that they cover.
 * Order and precision of both computations are those of Cycles. */

/* The area of a row on the sphere, up to a constant factor. */
static float area(uint32_t y, uint32_t height)
{
    return sinf(3.14159265f * ((float)y + 0.5f) / (float)height);
}

/* The weight of the second row, which on a plane is its weight by position alone. */
float txm_latlong_weight(uint32_t first, uint32_t second, uint32_t height, float g)
{
    float w0 = (1.0f - g) * area(first, height), w1 = g * area(second, height);
    return w1 / (w0 + w1);
}

static bool is_pole(uint32_t y, uint32_t height)
{
    return y == 0 || y + 1 == height;
}

/* The first and last column are the same meridian. */
void txm_latlong_edges(float *row, uint32_t channels, uint32_t width, uint32_t y, uint32_t height)
{
    /* The mean is summed from left to right, as in Cycles. */
    for (uint32_t c = 0; is_pole(y, height) && c < channels; c++) {
        float sum = 0.0f;
        for (uint32_t x = 0; x < width; x++)
            sum += row[(size_t)x * channels + c];
        for (uint32_t x = 0; x < width; x++)
            row[(size_t)x * channels + c] = sum * (1.0f / (float)width);
    }
    float *last = row + (size_t)(width - 1) * channels;
    for (uint32_t c = 0; c < channels; c++)
        row[c] = last[c] = 0.5f * row[c] + 0.5f * last[c];
}

/* For level 0, in storage type: only pixels that change are converted. */
void txm_latlong_stored_edges(const txm_ops *ops, txm_type type, uint32_t channels, void *row, uint32_t width,
                              uint32_t y, uint32_t height, float *scratch)
{
    if (is_pole(y, height)) {
        ops->to_float(type, row, scratch, (size_t)width * channels);
        txm_latlong_edges(scratch, channels, width, y, height);
        ops->from_float(type, scratch, row, (size_t)width * channels);
        return;
    }
    /* The first and the last pixel are treated as a row of two. */
    uint8_t *first = row, *last = first + (size_t)(width - 1) * channels * txm_type_bytes(type);
    ops->to_float(type, first, scratch, channels);
    ops->to_float(type, last, scratch + channels, channels);
    txm_latlong_edges(scratch, channels, 2, y, height);
    ops->from_float(type, scratch, first, channels);
    ops->from_float(type, scratch, last, channels);
}

/* ---- levels ---- */

/* A bilinear row needs two source rows, of which the second is the newest or the one before it: four slots hold these
 * and leave one for the row that is being written. */
enum { WINDOW = 4 };

typedef struct level {
    uint32_t src_width, src_height, width, height;
    bool box;         /* both source sizes are even */
    uint32_t arrived; /* number of source rows so far */
    uint32_t made;    /* number of its own rows so far */
    float *window;
} level;

struct txm_pyramid {
    txm_pyramid_spec spec;
    const txm_ops *ops;
    txm_pyramid_sink sink;
    uint32_t levels; /* including level 0 */
    level level[TXM_MAX_LEVELS];
    float *last_row;   /* rows of the last level, which is not filtered further */
    float *level0_row; /* the row of latitude-longitude images in sRGB, which are closed before they are decoded */
};

/* Rows reuse the slots in turn, since at most four are needed. */
static float *window_row(const txm_pyramid *p, const level *l, uint32_t y)
{
    return l->window + (size_t)(y % WINDOW) * l->src_width * p->spec.channels;
}

txm_status txm_pyramid_new(const txm_pyramid_spec *spec, const txm_ops *ops, const txm_pyramid_sink *sink,
                           txm_pyramid **out, txm_error *err)
{
    txm_pyramid *p = txm_calloc(1, sizeof *p);
    if (!p)
        return txm_no_memory(err, NULL);
    p->spec = *spec;
    p->ops = ops;
    p->sink = *sink;
    p->levels = spec->only ? spec->only + 1 : txm_level_count(spec->width, spec->height);
    p->last_row = txm_alloc_pixels(txm_mul(txm_level_size(spec->width, p->levels - 1), spec->channels), sizeof(float));
    if (spec->equiangular)
        p->level0_row = txm_alloc_pixels(txm_mul(spec->width, spec->channels), sizeof(float));
    bool ok = p->last_row && (p->level0_row || !spec->equiangular);
    for (uint32_t i = 1; ok && i < p->levels; i++) {
        level *l = &p->level[i];
        l->src_width = txm_level_size(spec->width, i - 1);
        l->src_height = txm_level_size(spec->height, i - 1);
        l->width = txm_level_size(spec->width, i);
        l->height = txm_level_size(spec->height, i);
        l->box = l->src_width % 2 == 0 && l->src_height % 2 == 0;
        l->window = txm_alloc_pixels(txm_mul(WINDOW * (size_t)l->src_width, spec->channels), sizeof(float));
        ok = l->window != NULL;
    }
    if (!ok) {
        txm_pyramid_free(&p);
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for a pyramid of %ux%u px", spec->width,
                        spec->height);
    }
    *out = p;
    return TXM_OK;
}

void txm_pyramid_free(txm_pyramid **pyramid)
{
    if (!pyramid || !*pyramid)
        return;
    for (uint32_t i = 1; i < (*pyramid)->levels; i++)
        free((*pyramid)->level[i].window);
    free((*pyramid)->last_row);
    free((*pyramid)->level0_row);
    free(*pyramid);
    *pyramid = NULL;
}

/* Filters row l->made of level `l` into `dst`, if its source rows have arrived. */
static bool filter(const txm_pyramid *p, const level *l, float *dst)
{
    uint32_t y = l->made, first = 2 * y, second = 2 * y + 1, channels = p->spec.channels;
    float g = 0.5f;
    if (!l->box)
        txm_bilinear_position(y, l->height, l->src_height, &first, &second, &g);
    if (second >= l->arrived)
        return false;
    const float *row0 = window_row(p, l, first), *row1 = l->src_height > 1 ? window_row(p, l, second) : NULL;
    if (p->spec.equiangular)
        g = txm_latlong_weight(first, second, l->src_height, g);
    if (l->box && !p->spec.equiangular)
        p->ops->box(channels, row0, row1, dst, l->width);
    else
        p->ops->bilinear(channels, row0, row1, g, l->src_width, dst, l->width);
    if (p->spec.equiangular)
        txm_latlong_edges(dst, channels, l->width, y, l->height);
    return true;
}

/* A source row of level `index` has arrived in its window: makes every row that this completes, in this level and those
 * above. A level makes at most one row for each row of the level below, except at the very end, so the recursion is as
 * deep as there are levels. */
static bool arrive(txm_pyramid *p, uint32_t index)
{
    level *l = &p->level[index], *next = index + 1 < p->levels ? l + 1 : NULL;
    l->arrived++;
    while (l->made < l->height) {
        float *dst = next ? window_row(p, next, l->made) : p->last_row;
        if (!filter(p, l, dst))
            break;
        if (index >= p->spec.only) {
            void *place = p->sink.place(p->sink.context, index, l->made);
            if (!place)
                return false;
            if (p->spec.curve)
                p->ops->srgb_encode(p->spec.type, p->spec.channels, p->spec.curve, dst, place, l->width);
            else
                p->ops->from_float(p->spec.type, dst, place, (size_t)l->width * p->spec.channels);
            p->sink.placed(p->sink.context, index, l->made);
        }
        if (p->spec.type == TXM_TYPE_HALF)
            p->ops->clamp_half(dst, (size_t)l->width * p->spec.channels);
        l->made++;
        if (next && !arrive(p, index + 1))
            return false;
    }
    return true;
}

/* Rows of level 0 become the float32 in which levels are filtered. */
bool txm_pyramid_push(txm_pyramid *p, const void *pixels, size_t stride_bytes, uint32_t rows)
{
    const txm_pyramid_spec *s = &p->spec;
    const size_t samples = (size_t)s->width * s->channels;
    if (p->levels < 2)
        return true;
    for (uint32_t y = 0; y < rows; y++) {
        const level *l = &p->level[1];
        const void *src = (const uint8_t *)pixels + y * stride_bytes;
        float *dst = window_row(p, l, l->arrived);
        const bool closes = s->equiangular && !s->closed;
        if (closes) {
            float *row = s->curve ? p->level0_row : dst;
            p->ops->to_float(s->type, src, row, samples);
            txm_latlong_edges(row, s->channels, s->width, l->arrived, s->height);
            src = row;
        }
        if (s->curve)
            p->ops->srgb_decode(closes ? TXM_TYPE_FLOAT : s->type, s->channels, s->curve, src, dst, s->width);
        else if (!closes)
            p->ops->to_float(s->type, src, dst, samples);
        if (!arrive(p, 1))
            return false;
    }
    return true;
}
