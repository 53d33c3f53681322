/* SPDX-License-Identifier: Apache-2.0
 *
 * Random taps: instead of weighting many pixels, a lookup picks one with the filter's weight as its probability.
 * Filters with negative lobes take two taps, one from each part.
 */
#ifndef TXM_SAMPLE_STOCHASTIC_H
#define TXM_SAMPLE_STOCHASTIC_H
#include "tile/sample/filter.h"
#include "tile/sample/level.h"
#include "tile/sample/lobes.h"

typedef struct txm_jitter {
    uint32_t taps;    /* 1 or 2 */
    float x[2], y[2]; /* counted in pixels of the level; EWA: x multiplies dudx and dvdx, y the others */
    float weight[2];
} txm_jitter;

/* Returns a number from 0 to 1. The generator's low bits are poor and its successive values are correlated, so a hash
 * of the state is returned. */
TXM_ARITH float txm_random_next(uint32_t *state)
{
    uint32_t n = *state = txm_random_step(*state);
    n ^= n >> 16;
    n *= 0x7FEB352Du;
    n ^= n >> 15;
    n *= 0x846CA68Bu;
    n ^= n >> 16;
    return (float)(n >> 8) * (1.0f / 16777216.0f);
}

/* The sine and cosine of a full turn times t, 0 <= t <= 1. */
TXM_ARITH void txm_turn(float t, float *sine, float *cosine)
{
    int32_t quarter = (int32_t)(4.0f * t + 0.5f);
    float r = (t - 0.25f * (float)quarter) * 6.28318531f, r2 = r * r;
    float s = r * (1.0f + r2 * (-0.166666667f + r2 * (8.33333333e-3f + r2 * -1.98412698e-4f)));
    float c = 1.0f + r2 * (-0.5f + r2 * (4.16666667e-2f + r2 * (-1.38888889e-3f + r2 * 2.48015873e-5f)));
    quarter &= 3;
    *sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    *cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}

/* Two independent normally distributed values with this deviation (Box and Muller). */
TXM_ARITH void txm_random_normal(uint32_t *state, float deviation, float *x, float *y)
{
    float a = txm_random_next(state), b = txm_random_next(state), s, c;
    /* 1 - a is 2^-24 at least. -2 ln z = -2 ln 2 log2 z. */
    float radius = deviation * TXM_SQRT(-1.38629436f * txm_log2(1.0f - a));
    txm_turn(b, &s, &c);
    *x = radius * c;
    *y = radius * s;
}

/* Of the Gaussian filters: their variance is that of the tent, 1/6. */
#define TXM_DEVIATION 0.408248290f

/* Inverts the integral of the tent, one side of the peak at a time. */
TXM_ARITH float txm_random_tent(uint32_t *state)
{
    float a = 2.0f * txm_random_next(state);
    return a < 1.0f ? TXM_SQRT(a) - 1.0f : 1.0f - TXM_SQRT(2.0f - a);
}

/* Draws from one part of the filter by its table, on a random side. */
TXM_OF_TABLES float txm_random_lobe(uint32_t *state, int mitchell, int minus)
{
    float a = 2.0f * txm_random_next(state), side = 1.0f;
    if (a >= 1.0f) {
        a -= 1.0f;
        side = -1.0f;
    }
    a *= (float)TXM_LOBE_STEPS;
    int32_t i = (int32_t)a;
    float f = a - (float)i, low, high;
    if (mitchell) {
        low = minus ? txm_mitchell_minus[i] : txm_mitchell_plus[i];
        high = minus ? txm_mitchell_minus[i + 1] : txm_mitchell_plus[i + 1];
    } else {
        low = minus ? txm_lanczos_minus[i] : txm_lanczos_plus[i];
        high = minus ? txm_lanczos_minus[i + 1] : txm_lanczos_plus[i + 1];
    }
    return side * ((1.0f - f) * low + f * high);
}

/* In two dimensions the filter is positive if it has the same sign along both axes. */
TXM_OF_TABLES void txm_jitter_lobes(uint32_t *state, int mitchell, txm_jitter *j)
{
    float p = mitchell ? TXM_MITCHELL_PLUS : TXM_LANCZOS_PLUS, n = mitchell ? TXM_MITCHELL_MINUS : TXM_LANCZOS_MINUS;
    float same = p * p + n * n;
    int minus = txm_random_next(state) * same >= p * p, first = txm_random_next(state) < 0.5f;
    j->taps = 2;
    j->x[0] = txm_random_lobe(state, mitchell, minus);
    j->y[0] = txm_random_lobe(state, mitchell, minus);
    j->weight[0] = same;
    j->x[1] = txm_random_lobe(state, mitchell, first);
    j->y[1] = txm_random_lobe(state, mitchell, !first);
    j->weight[1] = -(2.0f * p * n);
}

/* The tap of a filter that draws one pixel. Without a state nothing is random: all stochastic filters then read the
 * closest pixel. A number that the caller provides is used as a state that is not written back. */
TXM_ARITH void txm_jitter_of_pixel(const txm_sampler *how, uint32_t *random, txm_jitter *j)
{
    uint32_t state = *random;
    if (!txm_filter_draws(how->filter) || how->chance == TXM_CHANCE_NONE ||
        (how->chance != TXM_CHANCE_NUMBER && !state))
        return;
    if (how->filter == TXM_FILTER_STOCHASTIC_BOX) {
        j->x[0] = txm_random_next(&state) - 0.5f;
        j->y[0] = txm_random_next(&state) - 0.5f;
    } else if (how->filter == TXM_FILTER_STOCHASTIC_TENT) {
        j->x[0] = txm_random_tent(&state);
        j->y[0] = txm_random_tent(&state);
    } else {
        txm_random_normal(&state, TXM_DEVIATION, &j->x[0], &j->y[0]);
    }
    if (how->chance != TXM_CHANCE_NUMBER)
        *random = state;
}

TXM_OF_TABLES txm_jitter txm_jitter_of(const txm_sampler *how, uint32_t *random)
{
    const int filter = how->filter, numbered = how->chance == TXM_CHANCE_NUMBER;
    const int lobes = filter == TXM_FILTER_STOCHASTIC_LANCZOS || filter == TXM_FILTER_STOCHASTIC_MITCHELL;
    txm_jitter j = {1, {0.0f, 0.0f}, {0.0f, 0.0f}, {1.0f, 0.0f}};
    uint32_t number = *random;
    if (!lobes)
        txm_jitter_of_pixel(how, random, &j);
    else if (how->chance != TXM_CHANCE_NONE && (numbered || number))
        txm_jitter_lobes(numbered ? &number : random, filter == TXM_FILTER_STOCHASTIC_MITCHELL, &j);
    return j;
}
#endif
