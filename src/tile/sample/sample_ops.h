/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of lookup functions. The scalar C version is the specification; the entries of an ISA give the same bits
 * faster.
 *
 * The entry is chosen once per process, from the processor's features (tile/ops/ops.h); tests and benchmarks may select
 * one by name. The results have to be equal to the bit, because a picture must be the same on every machine of a farm.
 */
#ifndef TXM_SAMPLE_SAMPLE_OPS_H
#define TXM_SAMPLE_SAMPLE_OPS_H
#include <stdatomic.h>
#include <stddef.h>

#include "txtile/sampler.h"

typedef txm_lookup_result (*txm_sample_function)(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                                 const txm_lookup *at, txm_lookup_state *state, float out[4]);

/* Lookups that the texture cache waits for before it takes away anything that they may still read. An entry for guarded
 * lookups leaves the guard itself, at the end of whichever path it took; a wrapper function, which every path would
 * have to return to, would cost a twentieth of a lookup. */
typedef struct txm_guard txm_guard;
typedef txm_lookup_result (*txm_guarded_function)(txm_guard *g, uint32_t texture, const txm_sampler *how,
                                                  const txm_lookup *at, uint32_t *random, float out[4]);
struct txm_guard {
    txm_view view; /* first, so that a pointer to it is a pointer to the guard */
    /* The function to call when `active` is set: this machine's entry, or one that first handles a change. Other
     * threads may exchange it at any time. */
    _Atomic(txm_guarded_function) sample;
    /* Called at the end of a lookup that missed a tile, after `active` is 0 again, with the arguments of the lookup;
     * *random is unchanged. */
    txm_guarded_function missed;
    atomic_uint active;            /* 1: during a lookup */
    atomic_uint_least64_t lookups; /* number that found every tile; changes only between lookups, while active is 0 */
};
_Static_assert(offsetof(txm_guard, view) == 0, "a guard is found by its view");

/* The addition need not be atomic, because each thread has its own counters. A thread that sees a new count also sees
 * everything written before it. */
static inline void txm_count(atomic_uint_least64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_release);
}

static inline txm_lookup_result txm_guard_leave(txm_guard *g)
{
    atomic_store_explicit(&g->active, 0, memory_order_release);
    txm_count(&g->lookups, 1);
    return TXM_LOOKUP_HIT;
}

static inline txm_lookup_result txm_guard_missed(txm_guard *g, uint32_t texture, const txm_sampler *how,
                                                 const txm_lookup *at, uint32_t *random, float out[4])
{
    atomic_store_explicit(&g->active, 0, memory_order_release);
    return g->missed(g, texture, how, at, random, out);
}

typedef struct txm_sample_ops {
    const char *isa;
    txm_sample_function sample;
    txm_guarded_function sample_guarded; /* random may be NULL: state 0 */
    txm_lookup_result (*sample_d)(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                  txm_lookup_state *state, float out[4], float du[4], float dv[4]);
    txm_lookup_result (*sample_n)(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                  const txm_lookups *batch, txm_lookup_state *state);
    /* *misses is where the next miss is written; NULL: samples that miss are left alone. */
    uint64_t (*texels_n)(const txm_view *view, const txm_texels *batch, txm_texel_miss **misses);
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
