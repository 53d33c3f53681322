/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector operands of lookups. They are defined in a separate source file so that they stay in memory: a compiler that
 * sees their values first spreads each one over a register, and the number of registers limits how many lookups
 * overlap.
 */
#ifndef TXM_SAMPLE_CONSTANTS_H
#define TXM_SAMPLE_CONSTANTS_H
#include "tile/sample/rgba.h"
#include "txtile/sampler.h"

typedef int32_t v4i __attribute__((vector_size(16)));
typedef uint32_t v4u __attribute__((vector_size(16)));

typedef struct txm_sample_constants {
    txm_rgba half, one;
    float shares[TXM_MAX_ANISOTROPY + 1]; /* 1 / anisotropy^2 */
} txm_sample_constants;

extern const txm_sample_constants txm_sample_k __attribute__((visibility("hidden")));
#endif
