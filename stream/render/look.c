/* SPDX-License-Identifier: Apache-2.0
 *
 * The lookers of renders and budgets. Each is a function that is chosen once when the looker is made, so that lookups
 * have no branches for it.
 */
#include "render/look.h"

/* ---- none ---- */

static txm_look look_at_grey(txm_looker *looker, const txm_bound_image *image, txm_lookup at, txm_found_color *out)
{
    (void)looker, (void)image, (void)at;
    *out = (txm_found_color){.rgba = {0.5f, 0.5f, 0.5f, 1.0f}, .blank = true};
    return TXM_LOOK_RESIDENT;
}

txm_looker txm_looker_untextured(void)
{
    return (txm_looker){.look = look_at_grey};
}

/* ---- waiting ---- */

/* The cache adds its bias itself. */
static txm_look look_and_wait(txm_looker *looker, const txm_bound_image *image, txm_lookup at, txm_found_color *out)
{
    txm_sampler how = image->how;
    uint32_t *random = &looker->lane.random;
    how.mip_bias = 0.0f;
    if (out->with_derivatives)
        txm_cache_sample_d(looker->thread, image->texture, &how, &at, random, out->rgba, out->du, out->dv);
    else
        txm_cache_sample(looker->thread, image->texture, &how, &at, random, out->rgba);
    return TXM_LOOK_RESIDENT;
}

txm_looker txm_looker_waiting(txm_cache_thread *thread)
{
    return (txm_looker){.look = look_and_wait, .thread = thread};
}

/* ---- a view ---- */

static txm_look look_in_view(txm_looker *looker, const txm_bound_image *image, txm_lookup at, txm_found_color *out)
{
    uint32_t texture = image->texture;
    if (looker->cache && texture < looker->view->texture_count && looker->view->textures[texture].udim_rows)
        texture = txm_cache_resolve(looker->cache, texture, &image->how, &at);
    return out->with_derivatives
               ? txm_sample_d(looker->view, texture, &image->how, &at, &looker->lane, out->rgba, out->du, out->dv)
               : txm_sample(looker->view, texture, &image->how, &at, &looker->lane, out->rgba);
}

static txm_look look_and_trace(txm_looker *looker, const txm_bound_image *image, txm_lookup at, txm_found_color *out)
{
    txm_cache_trace_look(looker->cache, looker->number, image->texture, &image->how, &at, looker->lane.random);
    return look_in_view(looker, image, at, out);
}

txm_looker txm_looker_viewing(const txm_view *view, txm_cache *cache, txm_lane lane, bool traced, uint32_t number)
{
    return (txm_looker){.look = look_in_view,
                        .note = traced ? look_and_trace : NULL,
                        .view = view,
                        .cache = cache,
                        .lane = lane,
                        .number = number};
}

/* ---- page tables ---- */

/* It only requests tiles, at several resolutions at once, which all choose with the same random state. */
static txm_look look_and_ask(txm_looker *looker, const txm_bound_image *image, txm_lookup at, txm_found_color *out)
{
    const uint32_t random = looker->lane.random;
    for (uint32_t i = looker->biased_count; i-- > 0;) {
        txm_sampler how = image->how;
        how.mip_bias += (float)i;
        looker->lane.random = random;
        looker->lane.count = 0; /* the page table records the requests */
        txm_sample(&looker->biased[i], image->texture, &how, &at, &looker->lane, out->rgba);
    }
    if (looker->thread && (out->with_derivatives || out->decides)) {
        const uint32_t after = looker->lane.random;
        looker->lane.random = random;
        look_and_wait(looker, image, at, out);
        looker->lane.random = after;
    }
    return TXM_LOOK_RESIDENT;
}

txm_looker txm_looker_asking(const txm_view *biased, uint32_t count, txm_cache_thread *thread, txm_lane lane)
{
    return (txm_looker){.look = look_and_ask, .biased = biased, .biased_count = count, .thread = thread, .lane = lane};
}
