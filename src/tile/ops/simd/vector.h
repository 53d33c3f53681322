/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors of any width in the compiler's own notation (GCC and Clang), so that the same code serves AVX2, AVX-512 and
 * NEON. The file that includes this one defines TXM_LANES, the number of floats in a vector: 4, 8 or 16. Every
 * operation is element-wise IEEE arithmetic, which makes the back-ends equal to scalar C bit for bit.
 */
#ifndef TXM_OPS_VECTOR_H
#define TXM_OPS_VECTOR_H
#include <stdint.h>
#include <string.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* All functions with vector parameters are inlined, so the ABI for wide vectors does not matter. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

/* Memory need not be aligned for these types. GCC 14 for AArch64 fails with an internal error if unaligned vectors are
 * parameters, so there the loads and stores use unaligned types instead. */
#ifdef __aarch64__
#define TXM_VECTOR(type, count) type __attribute__((vector_size(sizeof(type) * (count)), may_alias))
#else
#define TXM_VECTOR(type, count) type __attribute__((vector_size(sizeof(type) * (count)), aligned(1), may_alias))
#endif

typedef TXM_VECTOR(float, TXM_LANES) vf;
typedef TXM_VECTOR(int32_t, TXM_LANES) vi;
typedef TXM_VECTOR(uint32_t, TXM_LANES) vu;
typedef TXM_VECTOR(double, TXM_LANES) vd;
typedef TXM_VECTOR(int64_t, TXM_LANES) vl;
typedef TXM_VECTOR(uint16_t, TXM_LANES) vh;
typedef TXM_VECTOR(uint8_t, TXM_LANES) vb;
typedef TXM_VECTOR(float, 4) vf4;
typedef TXM_VECTOR(double, 4) vd4;

#ifdef __aarch64__
#define TXM_LOAD(type, p)                                                                                              \
    ({                                                                                                                 \
        type loaded;                                                                                                   \
        memcpy(&loaded, (p), sizeof loaded);                                                                           \
        loaded;                                                                                                        \
    })
#define TXM_STORE(type, p, v)                                                                                          \
    ({                                                                                                                 \
        const type stored = (v);                                                                                       \
        memcpy((p), &stored, sizeof stored);                                                                           \
    })
#else
#define TXM_LOAD(type, p) (*(const type *)(const void *)(p))
#define TXM_STORE(type, p, v) (*(type *)(void *)(p) = (v))
#endif

/* All lanes equal. */
static inline vf vf_set(float v)
{
    return (vf){0} + v;
}

/* Lanes of a where the mask (a comparison's result) is set, else of b. */
static inline vf vf_select(vi mask, vf a, vf b)
{
    return (vf)(((vi)a & mask) | ((vi)b & ~mask));
}

/* Loads the 64-bit entries of a table at these indices. */
static inline vd vd_look_up(const void *table, vi indices)
{
    double lanes[TXM_LANES];
    for (int i = 0; i < TXM_LANES; i++)
        lanes[i] = ((const double *)table)[indices[i]];
    return TXM_LOAD(vd, lanes);
}

/* Compilers take these apart lane by lane in the notation above: bytes and 16-bit words widened to 32 bits, whether any
 * bit of a vector is set, and 32-bit entries of a table. */
#if defined(__AVX512F__) && TXM_LANES == 16
static inline vi vi_from_bytes(const uint8_t *p)
{
    return (vi)_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)p));
}

static inline vi vi_from_words(const uint8_t *p)
{
    return (vi)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));
}

static inline int vu_any(vu v)
{
    return _mm512_test_epi32_mask((__m512i)v, (__m512i)v) != 0;
}

static inline vi vi_look_up(const void *table, vi indices)
{
    return (vi)_mm512_i32gather_epi32((__m512i)indices, table, 4);
}
#elif defined(__AVX2__) && TXM_LANES == 8
static inline vi vi_from_bytes(const uint8_t *p)
{
    return (vi)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)p));
}

static inline vi vi_from_words(const uint8_t *p)
{
    return (vi)_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p));
}

static inline int vu_any(vu v)
{
    return !_mm256_testz_si256((__m256i)v, (__m256i)v);
}

static inline vi vi_look_up(const void *table, vi indices)
{
    return (vi)_mm256_i32gather_epi32(table, (__m256i)indices, 4);
}
#else
static inline vi vi_from_bytes(const uint8_t *p)
{
    return __builtin_convertvector(TXM_LOAD(vb, p), vi);
}

static inline vi vi_from_words(const uint8_t *p)
{
    return __builtin_convertvector(TXM_LOAD(vh, p), vi);
}

static inline int vu_any(vu v)
{
    uint32_t lanes[TXM_LANES], any = 0;
    memcpy(lanes, &v, sizeof v);
    for (int i = 0; i < TXM_LANES; i++)
        any |= lanes[i];
    return any != 0;
}

static inline vi vi_look_up(const void *table, vi indices)
{
    uint32_t lanes[TXM_LANES];
    for (int i = 0; i < TXM_LANES; i++)
        memcpy(&lanes[i], (const char *)table + sizeof *lanes * (uint32_t)indices[i], sizeof *lanes);
    return TXM_LOAD(vi, lanes);
}
#endif

/* Lane patterns: pixels of four lanes, and alpha copied to all lanes of its pixel. */
#if TXM_LANES == 4
#define TXM_ALPHA_SPREAD 3, 3, 3, 3
#define TXM_COLOR_MASK -1, -1, -1, 0
#define TXM_EVEN_PIXELS 0, 1, 2, 3
#define TXM_ODD_PIXELS 4, 5, 6, 7
#define TXM_EVEN_LANES 0, 2, 4, 6
#define TXM_ODD_LANES 1, 3, 5, 7
#elif TXM_LANES == 8
#define TXM_ALPHA_SPREAD 3, 3, 3, 3, 7, 7, 7, 7
#define TXM_COLOR_MASK -1, -1, -1, 0, -1, -1, -1, 0
#define TXM_EVEN_PIXELS 0, 1, 2, 3, 8, 9, 10, 11
#define TXM_ODD_PIXELS 4, 5, 6, 7, 12, 13, 14, 15
#define TXM_EVEN_LANES 0, 2, 4, 6, 8, 10, 12, 14
#define TXM_ODD_LANES 1, 3, 5, 7, 9, 11, 13, 15
#elif TXM_LANES == 16
#define TXM_ALPHA_SPREAD 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15
#define TXM_COLOR_MASK -1, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1, 0
#define TXM_EVEN_PIXELS 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define TXM_ODD_PIXELS 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#define TXM_EVEN_LANES 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define TXM_ODD_LANES 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#else
#error "TXM_LANES must be 4, 8 or 16"
#endif

/* Each pixel's alpha in all four of its lanes. */
static inline vf vf_alpha(vf v)
{
    return __builtin_shufflevector(v, v, TXM_ALPHA_SPREAD);
}
#endif
