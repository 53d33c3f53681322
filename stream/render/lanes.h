/* SPDX-License-Identifier: Apache-2.0
 *
 * Four floats that are computed together, as every 64-bit processor that Blender runs on can. Comparisons give all bits
 * or none in each lane; `+ - * / & |` and [i] are the compiler's.
 */
#ifndef STM_STREAM_LANES_H
#define STM_STREAM_LANES_H
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef float lanes __attribute__((vector_size(16)));
typedef float lanes_memory __attribute__((vector_size(16), may_alias));
typedef int32_t lanes_test __attribute__((vector_size(16)));

static inline lanes lanes_all(float v)
{
    return (lanes){v, v, v, v};
}

/* The address is a multiple of 16. */
static inline lanes lanes_load(const float *p)
{
    return *(const lanes_memory *)(const void *)p;
}

/* Of a NaN and another number the second operand counts, as in SSE. */
static inline lanes lanes_min(lanes a, lanes b)
{
#ifdef __SSE2__
    return (lanes)_mm_min_ps((__m128)a, (__m128)b);
#else
    const lanes_test less = a < b;
    return (lanes)(((lanes_test)a & less) | ((lanes_test)b & ~less));
#endif
}

static inline lanes lanes_max(lanes a, lanes b)
{
#ifdef __SSE2__
    return (lanes)_mm_max_ps((__m128)a, (__m128)b);
#else
    const lanes_test more = a > b;
    return (lanes)(((lanes_test)a & more) | ((lanes_test)b & ~more));
#endif
}

/* Lane 0 is bit 0. */
static inline unsigned lanes_bits(lanes_test t)
{
#ifdef __SSE2__
    return (unsigned)_mm_movemask_ps((__m128)t);
#else
    return (unsigned)(t[0] & 1) | (unsigned)(t[1] & 2) | (unsigned)(t[2] & 4) | (unsigned)(t[3] & 8);
#endif
}
#endif
