/* SPDX-License-Identifier: Apache-2.0
 *
 * The sources of renders and budgets. Each is a function that is chosen once when the source is made, so that lookups
 * have no branches for it.
 */
#include "render/lookup.h"

/* ---- none ---- */

static txm_lookup_result lookup_at_grey(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                        stm_found_color *out)
{
    (void)source, (void)image, (void)at;
    *out = (stm_found_color){.rgba = {0.5f, 0.5f, 0.5f, 1.0f}, .blank = true};
    return TXM_LOOKUP_HIT;
}

stm_lookup_source stm_lookup_source_untextured(void)
{
    return (stm_lookup_source){.lookup = lookup_at_grey};
}

/* ---- waiting ---- */

/* The cache adds its bias itself. */
static txm_lookup_result lookup_and_wait(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                         stm_found_color *out)
{
    txm_sampler how = image->how;
    uint32_t *random = &source->state.random;
    how.mip_bias = 0.0f;
    if (out->with_derivatives)
        txm_cache_sample_d(source->thread, image->texture, &how, &at, random, out->rgba, out->du, out->dv);
    else
        txm_cache_sample(source->thread, image->texture, &how, &at, random, out->rgba);
    return TXM_LOOKUP_HIT;
}

stm_lookup_source stm_lookup_source_waiting(txm_cache_thread *thread)
{
    return (stm_lookup_source){.lookup = lookup_and_wait, .thread = thread};
}

/* ---- a view ---- */

static txm_lookup_result lookup_in_view(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                        stm_found_color *out)
{
    uint32_t texture = image->texture;
    if (source->cache && texture < source->view->texture_count && source->view->textures[texture].udim_rows)
        texture = txm_cache_resolve(source->cache, texture, &image->how, &at);
    return out->with_derivatives
               ? txm_sample_d(source->view, texture, &image->how, &at, &source->state, out->rgba, out->du, out->dv)
               : txm_sample(source->view, texture, &image->how, &at, &source->state, out->rgba);
}

static txm_lookup_result lookup_and_trace(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                          stm_found_color *out)
{
    txm_cache_trace_lookup(source->cache, source->number, image->texture, &image->how, &at, source->state.random);
    return lookup_in_view(source, image, at, out);
}

stm_lookup_source stm_lookup_source_viewing(const txm_view *view, txm_cache *cache, txm_lookup_state state, bool traced,
                                            uint32_t number)
{
    return (stm_lookup_source){.lookup = lookup_in_view,
                               .note = traced ? lookup_and_trace : NULL,
                               .view = view,
                               .cache = cache,
                               .state = state,
                               .number = number};
}

void stm_lookup_serve(stm_lookup_source *source, uint32_t *heads)
{
    enum { MOST = STM_BATCH_LOOKUPS };
    stm_lookup_batch *b = source->batch;
    float at[6][MOST], out[4][MOST];
    uint32_t order[MOST], next[MOST], random[MOST], images[MOST], image_count = 0;
    uint8_t result[MOST];
    const float *const from[6] = {b->u, b->v, b->dudx, b->dvdx, b->dudy, b->dvdy};
    for (uint32_t i = b->count; i-- > 0;) { /* lists of each image, counted from 1 */
        uint32_t *head = &heads[b->image[i]];
        if (!*head)
            images[image_count++] = b->image[i];
        next[i] = *head;
        *head = i + 1;
    }
    while (image_count--) {
        const uint32_t image = images[image_count], first = heads[image] - 1;
        uint32_t count = 0;
        for (uint32_t i = heads[image]; i; i = next[i - 1])
            order[count++] = i - 1;
        heads[image] = 0;
        for (uint32_t k = 0; k < count; k++) {
            for (int c = 0; c < 6; c++)
                at[c][k] = from[c][order[k]];
            random[k] = b->before[order[k]];
        }
        const txm_lookups lookups = {.count = count,
                                     .u = at[0],
                                     .v = at[1],
                                     .dudx = at[2],
                                     .dvdx = at[3],
                                     .dudy = at[4],
                                     .dvdy = at[5],
                                     .random = random,
                                     .out = {out[0], out[1], out[2], out[3]},
                                     .result = result};
        txm_sample_n(source->view, b->texture[first], &b->samplers[image], &lookups, &source->state);
        for (uint32_t k = 0; k < count; k++) {
            for (int c = 0; c < 4; c++)
                b->rgba[order[k]][c] = out[c][k];
            b->random[order[k]] = random[k];
            b->result[order[k]] = result[k];
        }
    }
}

/* ---- page tables ---- */

/* It only requests tiles, at several resolutions at once, which all choose with the same random state. */
static txm_lookup_result lookup_and_request(stm_lookup_source *source, const stm_bound_image *image, txm_lookup at,
                                            stm_found_color *out)
{
    const uint32_t random = source->state.random;
    for (uint32_t i = source->biased_count; i-- > 0;) {
        txm_sampler how = image->how;
        how.mip_bias += (float)i;
        source->state.random = random;
        source->state.count = 0; /* the page table records the requests */
        txm_sample(&source->biased[i], image->texture, &how, &at, &source->state, out->rgba);
    }
    if (source->thread && (out->with_derivatives || out->decides)) {
        const uint32_t after = source->state.random;
        source->state.random = random;
        lookup_and_wait(source, image, at, out);
        source->state.random = after;
    }
    return TXM_LOOKUP_HIT;
}

stm_lookup_source stm_lookup_source_requesting(const txm_view *biased, uint32_t count, txm_cache_thread *thread,
                                               txm_lookup_state state)
{
    return (stm_lookup_source){
        .lookup = lookup_and_request, .biased = biased, .biased_count = count, .thread = thread, .state = state};
}
