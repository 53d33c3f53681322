/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of row operations. Scalar C fills it and is the specification; an ISA overwrites the entries that it does
 * faster with the same bits. Pixels are interleaved, 1 or 4 channels; `count` counts pixels.
 *
 * The room src/tile/ops holds the arithmetic of pixels and nothing else. scalar.c is the specification, over arith.h;
 * simd/ is the same text for vectors, compiled by x86/ and arm/; gpu/ and cuda/ run whole conversions on a device. All
 * agree to the bit, which tests check on random and on edge values: a result never depends on the machine. No
 * contraction, no fast-math, float32 in the order written.
 */
#ifndef TXM_OPS_OPS_H
#define TXM_OPS_OPS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile/base/shared.h"
#include "txtile/pixel.h"

/* What is known of the samples of level 0 so far. */
typedef struct txm_stats {
    double sum[4];                  /* a channel, of samples as float32 */
    bool any;                       /* a row has been seen: the rest means something */
    bool varies;                    /* some pixel is not equal to the first one */
    bool grey;                      /* r == g == b in every pixel and alpha full: may be stored as one channel */
    _Alignas(16) uint8_t first[16]; /* the first pixel */
} txm_stats;

typedef struct txm_ops {
    const char *isa; /* "scalar", "avx2", "avx512", "neon" */

    /* Storage type to float32: integers times the rounded reciprocal of their maximum. `samples` = count * channels. */
    void (*to_float)(txm_type type, const void *src, float *dst, size_t samples);
    /* Float32 to storage type: half clamps to +-65504 and rounds to even, integers clamp to 0..1 and round half up. */
    void (*from_float)(txm_type type, const float *src, void *dst, size_t samples);
    /* Storage type to linear float32 through the sRGB curve, colour divided by alpha around it. */
    void (*srgb_decode)(txm_type type, uint32_t channels, const void *src, float *dst, size_t count);
    /* Linear float32 to storage type through the sRGB curve. Halves that are too large become infinite: as Cycles does,
     * which clamps the linear values alone. */
    void (*srgb_encode)(txm_type type, uint32_t channels, const float *src, void *dst, size_t count);

    /* Two rows of 2 * count pixels to one of count. */
    void (*box)(uint32_t channels, const float *row0, const float *row1, float *dst, size_t count);
    /* Two rows of src_width pixels, weight `g` of the second, to one of count. row1 NULL: the level below has one row.
     */
    void (*bilinear)(uint32_t channels, const float *row0, const float *row1, float g, size_t src_width, float *dst,
                     size_t count);
    /* A level's linear values to +-65504 before the next one is filtered from them; NaN becomes 65504. */
    void (*clamp_half)(float *row, size_t samples);

    /* Conforming, in the storage type, in place or row to row. */
    void (*associate)(txm_type type, void *rgba, size_t count);
    void (*widen)(txm_type type, uint32_t src_channels, const void *src, void *rgba, size_t count);
    void (*set_opaque)(txm_type type, void *rgba, size_t count);
    void (*zero_nonfinite)(txm_type type, uint32_t channels, void *pixels, size_t count);
    void (*take_first)(txm_type type, const void *rgba, void *grey, size_t count);

    /* Adds one row of level 0 to the statistics. Sums of float types run pixel by pixel in float64 a row, those of
     * integers in whole numbers (txm_sample_share), and the row's sum is added to the total: a defined order. */
    void (*stats)(txm_type type, uint32_t channels, const void *row, size_t count, txm_stats *stats);
} txm_ops;

/* The table for this machine, built on first use. TXMILL_ISA=scalar|avx2|avx512|neon forces one that the machine has.
 */
TXM_SHARED const txm_ops *txm_ops_best(void);
/* The names of the ISAs of this machine and build, in rising order of preference; NULL beyond the last. */
TXM_SHARED const char *txm_ops_isa_name(size_t index);
/* The table of one ISA; NULL if this machine or build lacks it. */
const txm_ops *txm_ops_isa(const char *isa);
/* Fills in what a back-end leaves to scalar code. */
void txm_ops_fill_scalar(txm_ops *ops);

/* The back-ends of this build: each overwrites the entries that it does faster. Called where the processor has them. */
#if defined(__x86_64__)
void txm_ops_fill_avx2(txm_ops *ops);   /* AVX2 and F16C */
void txm_ops_fill_avx512(txm_ops *ops); /* AVX-512 F, BW, DQ, VL and F16C */
#elif defined(__aarch64__)
void txm_ops_fill_neon(txm_ops *ops);
#endif
#endif
