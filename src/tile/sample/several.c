/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups that are made of several, and batches with derivatives.
 */
#include "tile/sample/several.h"

txm_lookup_result txm_sample_udim_blend(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                        const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    return txm_several_sample(view, texture, how, at, TXM_QUERY_UDIM_BLEND, state, out);
}

txm_lookup_result txm_sample_latlong(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                     const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    return txm_several_sample(view, texture, how, at, TXM_QUERY_LATLONG, state, out);
}

txm_lookup_result txm_sample_n_d(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                 const txm_lookups *batch, const txm_lookup_slopes *slopes, txm_lookup_state *state)
{
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    txm_sampler certain;
    if (!batch->random)
        how = txm_sampler_without_chance(how, &certain);
    const uint32_t kept = state->random;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->mask && !batch->mask[i])
            continue;
        const txm_lookup at = {batch->u[i],    batch->v[i],    batch->dudx[i],
                               batch->dvdx[i], batch->dudy[i], batch->dvdy[i]};
        float out[4], du[4], dv[4];
        state->random = batch->random ? batch->random[i] : 0;
        const txm_lookup_result result = txm_sample_d(view, texture, how, &at, state, out, du, dv);
        if (batch->random)
            batch->random[i] = state->random;
        for (int c = 0; c < 4; c++) {
            batch->out[c][i] = out[c];
            slopes->du[c][i] = du[c];
            slopes->dv[c][i] = dv[c];
        }
        if (batch->result)
            batch->result[i] = (uint8_t)result;
        worst = txm_worse(worst, result);
    }
    state->random = kept;
    return worst;
}
