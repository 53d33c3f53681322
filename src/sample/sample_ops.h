/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of look-ups. Scalar C is the specification; an ISA's entries give the same bits faster.
 *
 * Which entry serves is decided once per process, by what the processor has (device/ops.h); tests and
 * benchmarks may ask for one by name. Equal bits are what makes a picture the same on every machine of a farm.
 */
#ifndef TXM_SAMPLE_OPS_H
#define TXM_SAMPLE_OPS_H
#include "txmill/sampler.h"

typedef txm_look (*txm_sample_function)(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                        const txm_lookup *at, txm_lane *lane, float out[4]);

typedef struct txm_sample_ops {
    const char *isa;
    txm_sample_function sample;
    txm_look (*sample_d)(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                         txm_lane *lane, float out[4], float du[4], float dv[4]);
    txm_look (*sample_n)(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookups *batch,
                         txm_lane *lane);
} txm_sample_ops;

/* The table of one ISA, by the names of txm_ops_isa_name; NULL if this machine or build lacks it. */
const txm_sample_ops *txm_sample_ops_isa(const char *isa);

extern const txm_sample_ops txm_sample_scalar;
#if defined(__x86_64__)
extern const txm_sample_ops txm_sample_avx2, txm_sample_avx512;
#elif defined(__aarch64__)
extern const txm_sample_ops txm_sample_neon;
#endif
#endif
