/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of row operations. Scalar C fills it and is the specification; an ISA overwrites the entries that it does
 * faster with the same bits. Pixels are interleaved, 1 or 4 channels; `count` counts pixels.
 *
 * This folder has the arithmetic of pixels. scalar.c is the specification, over arith.h; simd/ has the same operations
 * for vectors, compiled by x86/ and arm/. src/mill/gpu and src/device run whole conversions on a device with the same
 * arithmetic. All agree to the bit, which tests check on random and on edge values: a result never depends on the
 * machine. There is no contraction, no fast-math, and float32 is computed in the order written.
 */
#ifndef TXM_OPS_OPS_H
#define TXM_OPS_OPS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/shared.h"
#include "tile/ops/arith.h"
#include "txtile/pixel.h"

/* Statistics of the samples of level 0 so far. */
typedef struct txm_stats {
    double sum[4];                  /* per channel, of samples as float32 */
    bool any;                       /* a row has been added, so the other members are valid */
    bool varies;                    /* a pixel differs from the first one */
    bool grey;                      /* r == g == b in every pixel and full alpha: may be stored as one channel */
    _Alignas(16) uint8_t first[16]; /* the first pixel */
} txm_stats;

typedef struct txm_ops {
    const char *isa; /* "scalar", "avx2", "avx512", "neon" */

    /* Converts storage type to float32: integers times the rounded reciprocal of their maximum. `samples` = count *
     * channels. */
    void (*to_float)(txm_type type, const void *src, float *dst, size_t samples);
    /* Converts float32 to storage type: halves are clamped to +-65504 and rounded to even, integers clamped to 0..1 and
     * rounded half up. */
    void (*from_float)(txm_type type, const float *src, void *dst, size_t samples);
    /* Converts storage type to linear float32 through the sRGB curve, which is not TXM_CURVE_NONE. */
    void (*srgb_decode)(txm_type type, uint32_t channels, txm_curve curve, const void *src, float *dst, size_t count);
    /* Converts linear float32 to storage type through the sRGB curve. Halves that are too large become infinite, as in
     * Cycles, which clamps only linear values. */
    void (*srgb_encode)(txm_type type, uint32_t channels, txm_curve curve, const float *src, void *dst, size_t count);

    /* Filters two rows of 2 * count pixels to one of count. */
    void (*box)(uint32_t channels, const float *row0, const float *row1, float *dst, size_t count);
    /* Filters two rows of src_width pixels to one of count; `g` is the weight of the second. row1 is NULL if the level
     * below has one row. */
    void (*bilinear)(uint32_t channels, const float *row0, const float *row1, float g, size_t src_width, float *dst,
                     size_t count);
    /* Clamps a level's linear values to +-65504 before the next level is filtered from them; NaN becomes 65504. */
    void (*clamp_half)(float *row, size_t samples);

    /* Conforming operations, in the storage type, in place or from row to row. */
    void (*associate)(txm_type type, void *rgba, size_t count);
    void (*widen)(txm_type type, uint32_t src_channels, const void *src, void *rgba, size_t count);
    void (*set_opaque)(txm_type type, void *rgba, size_t count);
    void (*zero_nonfinite)(txm_type type, uint32_t channels, void *pixels, size_t count);
    void (*take_first)(txm_type type, const void *rgba, void *grey, size_t count);

    /* Adds one row of level 0 to the statistics. A row of floats is summed pixel by pixel in float64, a row of integers
     * in whole numbers (txm_sample_share), and its sum is added to the total, so that the order is defined. */
    void (*stats)(txm_type type, uint32_t channels, const void *row, size_t count, txm_stats *stats);
} txm_ops;

/* The table for this machine, built on first use. TXMILL_ISA=scalar|avx2|avx512|neon selects one, if the machine has
 * it. */
TXM_SHARED const txm_ops *txm_ops_best(void);
/* The names of the ISAs that this machine and build support, in rising order of preference; NULL beyond the last. */
TXM_SHARED const char *txm_ops_isa_name(size_t index);
/* The table of one ISA; NULL if this machine or build lacks it. */
const txm_ops *txm_ops_isa(const char *isa);
/* Fills all entries with scalar code. */
void txm_ops_fill_scalar(txm_ops *ops);

/* The back-ends of this build: each overwrites the entries that it does faster. Called only if the processor supports
 * them. */
#if defined(__x86_64__)
void txm_ops_fill_avx2(txm_ops *ops);   /* AVX2 and F16C */
void txm_ops_fill_avx512(txm_ops *ops); /* AVX-512 F, BW, DQ, VL and F16C */
#elif defined(__aarch64__)
void txm_ops_fill_neon(txm_ops *ops);
#endif
#endif
