/* SPDX-License-Identifier: Apache-2.0
 *
 * Random numbers without a state: a function of pixel, sample and dimension, so that a step that is run again after a
 * miss draws the same numbers, on any thread and at any time. This is a hash and not a generator: number n of a sample
 * can be computed without the ones before it, and threads share nothing.
 */
#ifndef STM_STREAM_RANDOM_H
#define STM_STREAM_RANDOM_H
#include <stdint.h>

typedef struct stm_random {
    uint32_t a, b, c, d;
} stm_random;

/* PCG4D of Jarzynski and Olano, "Hash Functions for GPU Rendering" (2020). The four numbers are not an array because
 * compilers make vectors of arrays, although each number depends on the others. */
static inline stm_random stm_random_hash(stm_random v)
{
    v.a = v.a * 1664525u + 1013904223u;
    v.b = v.b * 1664525u + 1013904223u;
    v.c = v.c * 1664525u + 1013904223u;
    v.d = v.d * 1664525u + 1013904223u;
    for (int round = 0; round < 2; round++) {
        v.a += v.b * v.d;
        v.b += v.c * v.a;
        v.c += v.a * v.b;
        v.d += v.b * v.c;
        if (round == 0)
            v = (stm_random){v.a ^ v.a >> 16, v.b ^ v.b >> 16, v.c ^ v.c >> 16, v.d ^ v.d >> 16};
    }
    return v;
}

/* Four numbers in [0, 1). */
static inline void stm_random_four(uint32_t seed, uint32_t pixel, uint32_t sample, uint32_t dimension, float out[4])
{
    const stm_random v = stm_random_hash((stm_random){pixel, sample, dimension, seed});
    out[0] = (float)(v.a >> 8) * 0x1p-24f;
    out[1] = (float)(v.b >> 8) * 0x1p-24f;
    out[2] = (float)(v.c >> 8) * 0x1p-24f;
    out[3] = (float)(v.d >> 8) * 0x1p-24f;
}

/* A random state for txm_lookup_state, never 0. */
static inline uint32_t stm_random_state(uint32_t seed, uint32_t pixel, uint32_t sample, uint32_t dimension)
{
    const stm_random v = stm_random_hash((stm_random){pixel, sample, dimension, seed ^ 0xB4BC3953u});
    return v.a ? v.a : 1;
}
#endif
