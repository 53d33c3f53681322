/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of a back-end's table over batch_simd.h and single_simd.h.
 */
#ifndef TXM_SAMPLE_SIMD_ENTRIES_H
#define TXM_SAMPLE_SIMD_ENTRIES_H
#include "sample/simd/single_simd.h"

/* Element begin .. begin + TXM_LANES - 1 of a batch. */
static txm_look sample_group(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookups *b,
                             size_t begin, txm_lane *lane)
{
    const txm_view_texture *t = view->textures + texture;
    txm_look worst = TXM_LOOK_RESIDENT;
    group g;
    vu random = b->random ? TXM_LOAD(vu, b->random + begin) : (vu){0};
    if (!group_make(t, how, TXM_LOAD(vf, b->u + begin), TXM_LOAD(vf, b->v + begin), TXM_LOAD(vf, b->dudx + begin),
                    TXM_LOAD(vf, b->dvdx + begin), TXM_LOAD(vf, b->dudy + begin), TXM_LOAD(vf, b->dvdy + begin), random,
                    &g))
        return sample_elements(view, texture, how, b, begin, begin + TXM_LANES, lane);
    for (int i = 0; i < TXM_LANES; i++) {
        size_t k = begin + (size_t)i;
        txm_rgba color;
        if (b->mask && !b->mask[k])
            continue;
        if (!group_element(view, t, how, &g, i, &color)) {
            txm_look look = sample_elements(view, texture, how, b, k, k + 1, lane);
            worst = look > worst ? look : worst;
            continue;
        }
        for (int c = 0; c < 4; c++)
            b->out[c][k] = color[c];
        if (b->random)
            b->random[k] = g.random[i];
        if (b->look)
            b->look[k] = TXM_LOOK_RESIDENT;
    }
    return worst;
}

static txm_look sample_batch(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookups *batch,
                             txm_lane *lane)
{
    txm_look worst = TXM_LOOK_RESIDENT;
    size_t i = 0;
    if (texture < view->texture_count && group_serves(view->textures + texture, how))
        for (; i + TXM_LANES <= batch->count; i += TXM_LANES) {
            txm_look look = sample_group(view, texture, how, batch, i, lane);
            worst = look > worst ? look : worst;
        }
    txm_look look = sample_elements(view, texture, how, batch, i, batch->count, lane);
    return look > worst ? look : worst;
}
#endif
