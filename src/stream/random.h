/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers without a state: a function of pixel, sample and dimension, so that a step that is run again after a
 * miss draws the same numbers, on any thread and at any time. This is a hash and not a generator: number n of a sample
 * can be computed without the ones before it, and threads share nothing.
 */
#ifndef TXM_STREAM_RANDOM_H
#define TXM_STREAM_RANDOM_H
#include <stdint.h>

/* PCG4D of Jarzynski and Olano, "Hash Functions for GPU Rendering" (2020). */
static inline void txm_random_hash(uint32_t v[4])
{
    for (int i = 0; i < 4; i++)
        v[i] = v[i] * 1664525u + 1013904223u;
    for (int round = 0; round < 2; round++) {
        v[0] += v[1] * v[3];
        v[1] += v[2] * v[0];
        v[2] += v[0] * v[1];
        v[3] += v[1] * v[2];
        if (round == 0)
            for (int i = 0; i < 4; i++)
                v[i] ^= v[i] >> 16;
    }
}

/* Four numbers in [0, 1). */
static inline void txm_random_four(uint32_t seed, uint32_t pixel, uint32_t sample, uint32_t dimension, float out[4])
{
    uint32_t v[4] = {pixel, sample, dimension, seed};
    txm_random_hash(v);
    for (int i = 0; i < 4; i++)
        out[i] = (float)(v[i] >> 8) * 0x1p-24f;
}

/* A random state for txm_lane, never 0. */
static inline uint32_t txm_random_state(uint32_t seed, uint32_t pixel, uint32_t sample, uint32_t dimension)
{
    uint32_t v[4] = {pixel, sample, dimension, seed ^ 0xB4BC3953u};
    txm_random_hash(v);
    return v[0] ? v[0] : 1;
}
#endif
