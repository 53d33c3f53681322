/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of filters: one row for each, used by the lookups of every back-end, by explanations and by options.
 *
 * Most filters weight a square of pixels around the place; the others pick a pixel at random. A new filter needs a
 * constant in txtile/sampler.h and a row here; random picks are in stochastic.h, and the weights of pixels in
 * txm_filter_weights below.
 */
#ifndef TXM_SAMPLE_FILTER_H
#define TXM_SAMPLE_FILTER_H
#include "tile/sample/device_args.h"
#include "txtile/sampler.h"

/* The pixels of a level that are read: the one at the place, or a square of two or four around it. */
enum { TXM_GRID_PIXEL = 0, TXM_GRID_LINEAR = 1, TXM_GRID_CUBIC = 2 };

/* The random pick: none, an offset in pixels of the level, or a place in the footprint. */
enum { TXM_DRAWS_NOTHING = 0, TXM_DRAWS_PIXELS = 1, TXM_DRAWS_FOOTPRINT = 2 };

/* Columns: the constant; the word in options and reports; the pixels read on level 0, and on the others; the random
 * pick; the description in the manual. */
#define TXM_FILTER_TABLE(X)                                                                                            \
    X(CLOSEST, "closest", PIXEL, PIXEL, NOTHING, "the closest pixel")                                                  \
    X(LINEAR, "linear", LINEAR, LINEAR, NOTHING, "the four closest pixels, weighted by distance")                      \
    X(CUBIC, "cubic", CUBIC, CUBIC, NOTHING, "16 pixels, a B-spline")                                                  \
    X(SMART, "smart", CUBIC, LINEAR, NOTHING, "cubic on level 0 and linear elsewhere, as OpenImageIO does it")         \
    X(STOCHASTIC_BOX, "box", PIXEL, PIXEL, PIXELS, "a random pixel, on average linear")                                \
    X(STOCHASTIC_TENT, "tent", PIXEL, PIXEL, PIXELS, "a random pixel, on average a quadratic B-spline")                \
    X(STOCHASTIC_GAUSSIAN, "gaussian", PIXEL, PIXEL, PIXELS, "a random pixel, on average a Gaussian as wide as tent")  \
    X(STOCHASTIC_EWA, "ewa", PIXEL, PIXEL, FOOTPRINT, "a random pixel of the whole footprint, on average a Gaussian")  \
    X(STOCHASTIC_LANCZOS, "lanczos", PIXEL, PIXEL, PIXELS, "two random pixels, on average Lanczos with two lobes")     \
    X(STOCHASTIC_MITCHELL, "mitchell", PIXEL, PIXEL, PIXELS, "two random pixels, on average Mitchell and Netravali's")

/* Columns of the table as bit sets of filters, so that testing a filter takes one instruction. */
#define TXM_FILTER_SQUARES(name, word, first, others, draws, about)                                                    \
    | (uint32_t)(TXM_GRID_##first != TXM_GRID_PIXEL) << TXM_FILTER_##name
#define TXM_FILTER_CUBIC_FIRST(name, word, first, others, draws, about)                                                \
    | (uint32_t)(TXM_GRID_##first == TXM_GRID_CUBIC) << TXM_FILTER_##name
#define TXM_FILTER_CUBIC_OTHERS(name, word, first, others, draws, about)                                               \
    | (uint32_t)(TXM_GRID_##others == TXM_GRID_CUBIC) << TXM_FILTER_##name
#define TXM_FILTER_DRAWS(name, word, first, others, draws, about)                                                      \
    | (uint32_t)(TXM_DRAWS_##draws != TXM_DRAWS_NOTHING) << TXM_FILTER_##name
#define TXM_FILTER_DRAWS_IN_FOOTPRINT(name, word, first, others, draws, about)                                         \
    | (uint32_t)(TXM_DRAWS_##draws == TXM_DRAWS_FOOTPRINT) << TXM_FILTER_##name
#define TXM_FILTER_PLAIN(name, word, first, others, draws, about)                                                      \
    | (uint32_t)(TXM_DRAWS_##draws == TXM_DRAWS_NOTHING &&                                                             \
                 (TXM_GRID_##first == TXM_GRID_CUBIC) == (TXM_GRID_##others == TXM_GRID_CUBIC))                        \
            << TXM_FILTER_##name
#define TXM_FILTER_IS_IN(column, filter) ((0 TXM_FILTER_TABLE(column)) >> (filter)&1)

/* Whether the filter reads a square of pixels, which holds for all levels or for none. */
TXM_ARITH int txm_filter_reads_square(int filter)
{
    return TXM_FILTER_IS_IN(TXM_FILTER_SQUARES, filter);
}

/* Whether that square is four pixels wide on this level. */
TXM_ARITH int txm_filter_is_cubic(int filter, uint32_t level)
{
    return level ? TXM_FILTER_IS_IN(TXM_FILTER_CUBIC_OTHERS, filter) : TXM_FILTER_IS_IN(TXM_FILTER_CUBIC_FIRST, filter);
}

TXM_ARITH int txm_filter_draws(int filter)
{
    return TXM_FILTER_IS_IN(TXM_FILTER_DRAWS, filter);
}

TXM_ARITH int txm_filter_draws_in_footprint(int filter)
{
    return TXM_FILTER_IS_IN(TXM_FILTER_DRAWS_IN_FOOTPRINT, filter);
}

/* Whether all levels are read in the same way and nothing is random. The vector code handles only these filters. */
TXM_ARITH int txm_filter_is_plain(int filter)
{
    return TXM_FILTER_IS_IN(TXM_FILTER_PLAIN, filter);
}

/* TXM_GRID_* of a plain filter. */
TXM_ARITH int txm_filter_grid(int filter)
{
    return txm_filter_reads_square(filter) + txm_filter_is_cubic(filter, 0);
}

/* The bin of a filter on devices, without the texture's type (device_args.h). */
TXM_ARITH uint32_t txm_bin_of_filter(int filter)
{
    if (filter == TXM_FILTER_LINEAR)
        return TXM_BIN_LINEAR;
    return filter == TXM_FILTER_CLOSEST || filter == TXM_FILTER_STOCHASTIC_BOX ||
                   filter == TXM_FILTER_STOCHASTIC_TENT || filter == TXM_FILTER_STOCHASTIC_GAUSSIAN
               ? TXM_BIN_PIXEL
               : TXM_BIN_REST;
}

/* ---- weights of a square of four ---- */

/* Cubic B-spline: weights of the pixels -1, 0, 1, 2 at fraction t. */
TXM_ARITH void txm_cubic_weights(float t, float w[4])
{
    float t2 = t * t, t3 = t2 * t, s = 1.0f - t;
    w[0] = s * s * s * (1.0f / 6.0f);
    w[1] = 0.5f * t3 - t2 + (2.0f / 3.0f);
    w[2] = 0.5f * ((t + t2) - t3) + (1.0f / 6.0f);
    w[3] = t3 * (1.0f / 6.0f);
}

/* The derivatives of these weights by t. */
TXM_ARITH void txm_cubic_slopes(float t, float w[4])
{
    float t2 = t * t, s = 1.0f - t;
    w[0] = -0.5f * (s * s);
    w[1] = 1.5f * t2 - 2.0f * t;
    w[2] = (0.5f + t) - 1.5f * t2;
    w[3] = 0.5f * t2;
}

/* All filters that read 16 pixels are B-splines so far, so `filter` makes no difference. */
TXM_ARITH void txm_filter_weights(int filter, float t, float w[4])
{
    (void)filter;
    txm_cubic_weights(t, w);
}

TXM_ARITH void txm_filter_slopes(int filter, float t, float w[4])
{
    (void)filter;
    txm_cubic_slopes(t, w);
}
#endif
