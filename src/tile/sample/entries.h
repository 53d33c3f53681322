/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of a back-end's table of lookups, built on lookup.h.
 *
 * Each back-end of the sampler (scalar, and vectors of four, eight or sixteen) includes this file last, after it has
 * defined its macros. The functions are the same for all, but compiled with each back-end's instructions. They are
 * static on purpose: if two back-ends shared one of them, a processor could run instructions that it lacks.
 */
#ifndef TXM_SAMPLE_ENTRIES_H
#define TXM_SAMPLE_ENTRIES_H
#include "tile/sample/lookup.h"
#include "tile/sample/sample_ops.h"

/* It is kept apart from the function with derivatives so that the compiler drops everything that only they need. */
static txm_lookup_result sample_one(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                    const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    return txm_lookup_sample(view, texture, how, at, state, out, NULL, NULL);
}

/* du and dv are per unit of u and v, not per pixel. Neither is NULL, so the compiler drops what serves lookups without
 * derivatives. */
static txm_lookup_result sample_with_derivatives(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                                 const txm_lookup *at, txm_lookup_state *state, float out[4],
                                                 float du[4], float dv[4])
{
    if (!du || !dv)
        __builtin_unreachable();
    return txm_lookup_sample(view, texture, how, at, state, out, du, dv);
}

/* A back-end that has a faster function for single lookups defines this first. */
#ifndef TXM_SAMPLE_ONE
#define TXM_SAMPLE_ONE sample_one
#endif

/* A lookup under a guard. The state has no room for requests, so a miss leaves the page table unchanged. It is not
 * inlined because it needs a stack frame, which would slow down the fast paths. */
static __attribute__((noinline)) txm_lookup_result sample_one_guarded(txm_guard *g, uint32_t texture,
                                                                      const txm_sampler *how, const txm_lookup *at,
                                                                      uint32_t *random, float out[4])
{
    txm_lookup_state state = {.random = random ? *random : 0};
    txm_sampler copy;
    const txm_sampler *used = random ? how : txm_sampler_without_chance(how, &copy);
    if (TXM_SAMPLE_ONE(&g->view, texture, used, at, &state, out) != TXM_LOOKUP_HIT)
        return txm_guard_missed(g, texture, how, at, random, out);
    if (random)
        *random = state.random;
    return txm_guard_leave(g);
}

static inline txm_lookup_result sample_element(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                               const txm_lookups *b, size_t i, txm_lookup_state *state)
{
    const txm_lookup at = {b->u[i], b->v[i], b->dudx[i], b->dvdx[i], b->dudy[i], b->dvdy[i]};
    float out[4];
    state->random = b->random ? b->random[i] : 0;
    txm_lookup_result result = TXM_SAMPLE_ONE(view, texture, how, &at, state, out);
    if (b->random)
        b->random[i] = state->random;
    for (int c = 0; c < 4; c++)
        b->out[c][i] = out[c];
    if (b->result)
        b->result[i] = (uint8_t)result;
    return result;
}

/* Looks up elements begin to end - 1 one by one and leaves state->random unchanged. */
static txm_lookup_result sample_elements(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookups *b, size_t begin, size_t end, txm_lookup_state *state)
{
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    uint32_t kept = state->random;
    for (size_t i = begin; i < end; i++) {
        if (b->mask && !b->mask[i])
            continue;
        txm_lookup_result result = sample_element(view, texture, how, b, i, state);
        worst = result > worst ? result : worst;
    }
    state->random = kept;
    return worst;
}
#endif
