/* SPDX-License-Identifier: Apache-2.0
 *
 * The entries of a vector back-end's table, built on batch_simd.h and single_simd.h.
 *
 * A batch is processed in two passes over a few groups: the first determines which texels are needed and prefetches
 * them, the second filters. When the second pass reads a texel, it has arrived from memory; if elements were processed
 * one by one, each would wait for its own.
 */
#ifndef TXM_SAMPLE_ENTRIES_SIMD_H
#define TXM_SAMPLE_ENTRIES_SIMD_H
#include "tile/sample/simd/single_simd.h"

/* The number of groups that are prefetched before the first is read. */
enum { GROUPS = 32 / TXM_LANES };

/* The texture that a group reads: the texture itself, or the tile of a UDIM set that holds all its lanes, in which case
 * *u and *v become relative to it. NULL if the lanes are in several tiles, or in none, and for packed textures, which
 * are too small for prefetching to pay. */
TXM_FAST const txm_view_texture *group_texture(const txm_view *view, const txm_view_texture *t, vf *u, vf *v)
{
    if (!t->udim_rows)
        return txm_is_packed(t) ? NULL : t;
    vi in = (vi)(*u > -1.0f) & (vi)(*u < 10.0f) & (vi)(*v > -1.0f) & (vi)(*v < (float)t->udim_rows);
    if (vu_any((vu)~in))
        return NULL;
    vi x = vi_from(*u), y = vi_from(*v), index = y * 10 + x;
    if (vu_any((vu)(index != index[0])))
        return NULL;
    uint32_t tile = view->udims[t->first + (uint32_t)index[0]];
    if (tile >= view->texture_count || view->textures[tile].udim_rows || txm_is_packed(view->textures + tile))
        return NULL;
    *u -= vf_from(x);
    *v -= vf_from(y);
    return view->textures + tile;
}

/* The first pass over elements begin to begin + TXM_LANES - 1 of a batch: everything up to the taps. */
TXM_FAST void group_begin(const txm_view *view, const txm_view_texture *t, const txm_sampler *how, int grid,
                          const txm_lookups *b, size_t begin, group *g)
{
    vu random = b->random ? TXM_LOAD(vu, b->random + begin) : (vu){0};
    vf u = TXM_LOAD(vf, b->u + begin), v = TXM_LOAD(vf, b->v + begin);
    g->texture = t = group_texture(view, t, &u, &v);
    int made = t && group_make(t, how, u, v, TXM_LOAD(vf, b->dudx + begin), TXM_LOAD(vf, b->dvdx + begin),
                               TXM_LOAD(vf, b->dudy + begin), TXM_LOAD(vf, b->dvdy + begin), random, g);
    for (int i = 0; i < TXM_LANES; i++)
        g->ready[i] = made && (!b->mask || b->mask[begin + (size_t)i]) && group_send_for_lane(view, t, grid, g, i);
}

/* The second pass: reads the taps and stores the results. */
TXM_FAST txm_lookup_result group_end(const txm_view *view, uint32_t texture, const txm_sampler *how, int grid,
                                     const txm_lookups *b, size_t begin, const group *g, txm_lookup_state *state)
{
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    for (int i = 0; i < TXM_LANES; i++) {
        size_t k = begin + (size_t)i;
        if (!g->ready[i]) { /* masked out, or left to the general path */
            txm_lookup_result result = sample_elements(view, texture, how, b, k, k + 1, state);
            worst = result > worst ? result : worst;
            continue;
        }
        txm_rgba color = group_element(g->texture, how, grid, g, i);
        for (int c = 0; c < 4; c++)
            b->out[c][k] = color[c];
        if (b->random)
            b->random[k] = g->random[i];
        if (b->result)
            b->result[k] = TXM_LOOKUP_HIT;
    }
    return worst;
}

static txm_lookup_result sample_batch(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                      const txm_lookups *batch, txm_lookup_state *state)
{
    txm_lookup_result worst = TXM_LOOKUP_HIT, result;
    const int grid = txm_filter_grid(how->filter);
    group groups[GROUPS];
    size_t i = 0;
    if (texture < view->texture_count && group_serves(how))
        while (i + TXM_LANES <= batch->count) {
            size_t n = (batch->count - i) / TXM_LANES;
            n = n < GROUPS ? n : GROUPS;
            for (size_t k = 0; k < n; k++)
                group_begin(view, view->textures + texture, how, grid, batch, i + k * TXM_LANES, &groups[k]);
            for (size_t k = 0; k < n; k++, i += TXM_LANES) {
                result = group_end(view, texture, how, grid, batch, i, &groups[k], state);
                worst = result > worst ? result : worst;
            }
        }
    result = sample_elements(view, texture, how, batch, i, batch->count, state);
    return result > worst ? result : worst;
}
#endif
