/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of lookups. Scalar C is the specification; an ISA's entries give the same bits faster.
 *
 * Which entry serves is decided once per process, by what the processor has (tile/ops/ops.h); tests and
 * benchmarks may ask for one by name. Equal bits are what makes a picture the same on every machine of a farm.
 */
#ifndef TXM_SAMPLE_SAMPLE_OPS_H
#define TXM_SAMPLE_SAMPLE_OPS_H
#include <stdatomic.h>
#include <stddef.h>

#include "txtile/sampler.h"

typedef txm_look (*txm_sample_function)(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                        const txm_lookup *at, txm_lane *lane, float out[4]);

/* Lookups of a thread that somebody else waits for before taking away what they may see: the texture cache. An entry
 * for them ends the lookup where it ends itself, at the tail of whatever path it has taken; a function around it,
 * which would have to be returned to, costs a twentieth of a lookup. */
typedef struct txm_guard txm_guard;
typedef txm_look (*txm_guarded_function)(txm_guard *g, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                         uint32_t *random, float out[4]);
struct txm_guard {
    txm_view view; /* first: where it is, the guard is */
    /* What to call when `active` is set: the entry of this machine, or another that sees to it that something has
     * changed. Exchanged by others at any time. */
    _Atomic(txm_guarded_function) sample;
    /* What an entry ends with where the lookup did not find all that it needed: called when `active` is 0 again, with
     * what the entry was given; *random is as it was. */
    txm_guarded_function missed;
    atomic_uint active;            /* in a lookup */
    atomic_uint_least64_t lookups; /* that found everything; changes between two of them, while active is 0 */
};
_Static_assert(offsetof(txm_guard, view) == 0, "a guard is found by its view");

/* No atomic addition: each thread has counters of its own. Whoever sees a new count sees what came before it. */
static inline void txm_count(atomic_uint_least64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n, memory_order_release);
}

static inline txm_look txm_guard_leave(txm_guard *g)
{
    atomic_store_explicit(&g->active, 0, memory_order_release);
    txm_count(&g->lookups, 1);
    return TXM_LOOK_RESIDENT;
}

static inline txm_look txm_guard_missed(txm_guard *g, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                        uint32_t *random, float out[4])
{
    atomic_store_explicit(&g->active, 0, memory_order_release);
    return g->missed(g, texture, how, at, random, out);
}

typedef struct txm_sample_ops {
    const char *isa;
    txm_sample_function sample;
    txm_guarded_function sample_guarded; /* random may be NULL: state 0 */
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
