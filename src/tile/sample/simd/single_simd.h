/* SPDX-License-Identifier: Apache-2.0
 *
 * A single lookup in few instructions: u and v, width and height, x and y are the two halves of a vector, and decisions
 * that lookup.h makes along the way are made at the beginning. The arithmetic is that of level.h and wrap.h.
 *
 * It handles the same lookups as batch_simd.h and also probes, several of which are placed at once. A back-end provides
 * v4_floor in addition.
 */
#ifndef TXM_SAMPLE_SINGLE_SIMD_H
#define TXM_SAMPLE_SINGLE_SIMD_H
#include "tile/sample/simd/linear_simd.h"

/* The colour of one level; returns 0 if the lookup must take the general path. */
TXM_FAST int single_level(const txm_view *view, const txm_view_texture *t, const txm_sampler *how, uint32_t level,
                          txm_rgba uv, txm_rgba *color)
{
    /* uv is (u, 1 - v). */
    uint32_t w = txm_level_size(t->width, level), h = txm_level_size(t->height, level);
    const v4i size = {(int32_t)w, (int32_t)h, 1, 1};
    txm_rgba xy = uv * __builtin_convertvector(size, txm_rgba);
    v4i trunc = __builtin_convertvector(xy, v4i), past = trunc >= size;
    v4i tile = ((trunc & ~past) | ((size - 1) & past)) >> (int)t->tile_shift, base = tile << (int)t->tile_shift;
    const int grid = txm_filter_grid(how->filter);
    txm_rgba fraction = {0};
    v4i first;
    if (grid == TXM_GRID_PIXEL) {
        if (past[0] | past[1])
            return 0;
        first = trunc - base + TXM_BORDER_PX;
    } else {
        txm_rgba s = xy - 0.5f, low = v4_floor(s);
        fraction = s - low;
        first = __builtin_convertvector(low, v4i) - base + (TXM_BORDER_PX - (grid == TXM_GRID_CUBIC));
    }
    uint32_t across = (w + (1u << t->tile_shift) - 1) >> t->tile_shift;
    uint32_t index = t->first + t->level_first[level] + (uint32_t)tile[1] * across + (uint32_t)tile[0];
    uint32_t offset = (uint32_t)first[1] * t->row_bytes + (uint32_t)first[0] * t->pixel_bytes;
    const uint8_t *p = group_find(view, t, index, offset);
    if (p)
        *color = group_read(t, how, grid, p, fraction[0], fraction[1]);
    return p != NULL;
}

/* The same for a packed texture, whose levels have no border: each of the four pixels goes through the extension. */
TXM_RARE int single_packed_level(const txm_view *view, const txm_view_texture *t, const txm_sampler *how,
                                 uint32_t level, txm_rgba uv, txm_rgba *color)
{
    const int32_t w = (int32_t)txm_level_size(t->width, level), h = (int32_t)txm_level_size(t->height, level);
    const v4i size = {w, h, 1, 1};
    const uint8_t *p = group_find(view, t, t->first, t->level_first[level]);
    const uint32_t across = t->pixel_bytes, down = (uint32_t)w * t->pixel_bytes;
    txm_rgba xy = uv * __builtin_convertvector(size, txm_rgba);
    if (!p)
        return 0;
    if (txm_filter_grid(how->filter) == TXM_GRID_PIXEL) {
        const v4i at = __builtin_convertvector(xy, v4i);
        if (at[0] >= w || at[1] >= h)
            return 0;
        *color = txm_taps_closest(t, p + (uint32_t)at[1] * down + (uint32_t)at[0] * across);
        return 1;
    }
    const txm_rgba s = xy - 0.5f, floors = v4_floor(s), f = s - floors, g = 1.0f - f;
    v4i low = __builtin_convertvector(floors, v4i), next = low + 1;
    if (!v4i_wrap_neighbours(&low, &next, size, t->extension))
        return 0;
    const uint8_t *above = p + (uint32_t)low[1] * down, *below = p + (uint32_t)next[1] * down;
    const uint32_t left = (uint32_t)low[0] * across, right = (uint32_t)next[0] * across;
    const uint8_t *const pixels[2][2] = {{above + left, above + right}, {below + left, below + right}};
    const float wx[2] = {g[0], f[0]}, wy[2] = {g[1], f[1]};
    *color = txm_taps_apart(t, pixels, wx, wy);
    return 1;
}

/* Places the probes of one lookup a vector at a time. Returns 0 if the lookup must take the general path. */
TXM_RARE int single_probes(const txm_view *view, const txm_view_texture *t, const txm_sampler *how,
                           const txm_lookup *at, const txm_footprint *f, float level, float out[4])
{
    float total = 0.0f, covered = 0.0f, middle = 0.5f * (float)(f->probes - 1), blend;
    uint32_t low = txm_level_clamp(level, txm_levels_of(t, how), how->mode == TXM_LEVEL_MODE_TRILINEAR, &blend);
    txm_rgba sum = {0};
    const int grid = txm_filter_grid(how->filter), closest = grid == TXM_GRID_PIXEL, cubic = grid == TXM_GRID_CUBIC;
    vf lanes;
    for (int i = 0; i < TXM_LANES; i++)
        lanes[i] = (float)i;
    for (uint32_t begin = 0; begin < f->probes; begin += TXM_LANES) {
        group_level places[2];
        _Alignas(64) float weights[TXM_LANES];
        _Alignas(64) int32_t insides[TXM_LANES];
        vf d = (lanes + (float)begin) - middle, u = at->u + d * f->step_u, v = at->v + d * f->step_v;
        vf s = d / f->spread, weight = 1.0f - s * s;
        vi inside = vi_set(-1), beyond = vi_set(0), finite = (vi)(u - u == 0.0f) & (vi)(v - v == 0.0f);
        u = group_wrap(u, t->extension, &inside);
        v = group_wrap(v, t->extension, &inside);
        if (vu_any((vu)~finite))
            return 0;
        u = vf_select(inside, u, vf_set(0.5f));
        v = vf_select(inside, v, vf_set(0.5f));
        group_place(t, vi_set((int32_t)low), u, v, closest, cubic, &places[0], &beyond);
        if (blend > 0.0f)
            group_place(t, vi_set((int32_t)low + 1), u, v, closest, cubic, &places[1], &beyond);
        if (closest && vu_any((vu)beyond))
            return 0;
        TXM_STORE(vf, weights, weight * weight);
        TXM_STORE(vi, insides, inside);
        uint32_t count = f->probes - begin < TXM_LANES ? f->probes - begin : TXM_LANES, found = count;
        for (uint32_t i = 0; i < count; i++) {
            if (!insides[i])
                continue;
            group_send_for(view, t, grid, &places[0], low, (int)i);
            if (blend > 0.0f)
                group_send_for(view, t, grid, &places[1], low + 1, (int)i);
            found -= !places[0].taps[i] || (blend > 0.0f && !places[1].taps[i]);
        }
        if (found < count)
            return 0;
        for (uint32_t i = 0; i < count; i++) {
            total += weights[i];
            if (!insides[i])
                continue;
            const group_level *l = &places[0];
            txm_rgba color = group_read(t, how, grid, l->taps[i], l->fx[i], l->fy[i]);
            if (blend > 0.0f) {
                l = &places[1];
                color = color * (1.0f - blend) + group_read(t, how, grid, l->taps[i], l->fx[i], l->fy[i]) * blend;
            }
            sum = f->probes > 1 ? sum + color * weights[i]
                                : color; /* the first colour is assigned, which keeps the sign of zero */
            covered += weights[i];
        }
    }
    float inverse = 1.0f / total;
    const txm_sum done = {sum * inverse, sum, sum};
    txm_color_finish(t, how, &done, covered == total ? 1.0f : covered * inverse, out, NULL, NULL);
    return 1;
}

TXM_RARE float single_ellipse(const txm_view_texture *t, const txm_sampler *how, const txm_lookup *at)
{
    return txm_footprint_of(how, (float)t->width, (float)t->height, at->dudx, at->dvdx, at->dudy, at->dvdy).level;
}

/* A footprint with one probe or more; returns 0 if the lookup must take the general path. */
TXM_RARE int single_elongated(const txm_view *view, const txm_view_texture *t, const txm_sampler *how,
                              const txm_lookup *at, uint32_t *random, float out[4])
{
    txm_footprint f = txm_footprint_of(how, (float)t->width, (float)t->height, at->dudx, at->dvdx, at->dudy, at->dvdy);
    return single_probes(view, t, how, at, &f, txm_level_jitter(how, f.level, random), out);
}

/* Each tile of a UDIM set is a texture with its own coordinates. */
TXM_RARE txm_lookup_result single_udim(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                       const txm_lookup *at, txm_lookup_state *lane, float out[4])
{
    txm_lookup in_tile = *at;
    const txm_view_texture *t = txm_texture_at(view, texture, &in_tile.u, &in_tile.v);
    if (!t || t->udim_rows)
        return sample_generally(view, texture, how, at, lane, out);
    return sample_single(view, (uint32_t)(t - view->textures), how, &in_tile, lane, out);
}

/* `packed` is a constant in each call: calls of single_packed_level would keep registers from the usual textures. */
TXM_FAST txm_lookup_result single_sample_of(int packed, const txm_view *view, uint32_t texture, const txm_sampler *how,
                                            const txm_lookup *at, txm_lookup_state *lane, float out[4])
{
    const txm_view_texture *t = view->textures + texture;
    txm_rgba uv = {at->u, at->v}, color, coarse;
    txm_rgba still = uv - uv;
    if (!(still[0] == 0.0f && still[1] == 0.0f) ||
        (packed && (txm_filter_grid(how->filter) == TXM_GRID_CUBIC || how->rule == TXM_LEVEL_RULE_PROBES)))
        return sample_generally(view, texture, how, at, lane, out);
    int inside = single_wrap(&uv, t->extension);
    if (!inside && how->rule != TXM_LEVEL_RULE_PROBES) {
        txm_color_store(txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f), out);
        return TXM_LOOKUP_HIT;
    }
    uint32_t random = lane->random;
    float blend;
    if (how->rule == TXM_LEVEL_RULE_PROBES) {
        if (!single_elongated(view, t, how, at, &random, out))
            return sample_generally(view, texture, how, at, lane, out);
        lane->random = random;
        return TXM_LOOKUP_HIT;
    }
    float level = how->rule == TXM_LEVEL_RULE_GIVEN ? at->dudx
                  : how->rule == TXM_LEVEL_RULE_CYCLES
                      ? txm_level_cycles((float)t->width, (float)t->height, (float)how->anisotropy, at->dudx, at->dvdx,
                                         at->dudy, at->dvdy)
                      : single_ellipse(t, how, at);
    level = txm_level_jitter(how, level, &random);
    uint32_t low = txm_level_clamp(level, txm_levels_of(t, how), how->mode == TXM_LEVEL_MODE_TRILINEAR, &blend);
    uv[1] = 1.0f - uv[1];
    if (!(packed ? single_packed_level : single_level)(view, t, how, low, uv, &color))
        return sample_generally(view, texture, how, at, lane, out);
    if (blend > 0.0f) {
        if (!(packed ? single_packed_level : single_level)(view, t, how, low + 1, uv, &coarse))
            return sample_generally(view, texture, how, at, lane, out);
        color = color * (1.0f - blend) + coarse * blend;
    }
    lane->random = random;
    txm_color_store(group_color(t, how, color), out);
    return TXM_LOOKUP_HIT;
}

TXM_RARE txm_lookup_result single_padded(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *lane, float out[4])
{
    return single_sample_of(0, view, texture, how, at, lane, out);
}

TXM_RARE txm_lookup_result single_packed(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *lane, float out[4])
{
    return single_sample_of(1, view, texture, how, at, lane, out);
}

/* Chooses a function before any of them saves registers. A choice between pointers to them would cost more. */
TXM_FAST txm_lookup_result single_sample(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *lane, float out[4])
{
    const txm_view_texture *t = view->textures + texture;
    if (!txm_filter_is_plain(how->filter))
        return sample_generally(view, texture, how, at, lane, out);
    if (t->udim_rows)
        return single_udim(view, texture, how, at, lane, out);
    return TXM_UNLIKELY(txm_is_packed(t)) ? single_packed(view, texture, how, at, lane, out)
                                          : single_padded(view, texture, how, at, lane, out);
}

TXM_RARE txm_lookup_result sample_single(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *lane, float out[4])
{
    const txm_view_texture *t = view->textures + texture;
    if (TXM_UNLIKELY(texture >= view->texture_count))
        return sample_generally(view, texture, how, at, lane, out);
    const linear_words words = linear_words_of(t, how);
    if (linear_is_usual(words))
        return linear_usual(LINEAR_PLAIN, view, t, how, words, at, &lane->random, out);
    if (linear_serves(words))
        return linear_other(LINEAR_PLAIN, words)(view, t, how, at, &lane->random, out);
    return single_sample(view, texture, how, at, lane, out);
}

TXM_RARE txm_lookup_result sample_single_guarded(txm_guard *g, uint32_t texture, const txm_sampler *how,
                                                 const txm_lookup *at, uint32_t *random, float out[4])
{
    const txm_view_texture *t = g->view.textures + texture;
    if (TXM_UNLIKELY(texture >= g->view.texture_count))
        return sample_one_guarded(g, texture, how, at, random, out);
    const linear_words words = linear_words_of(t, how);
    if (linear_is_usual(words))
        return linear_usual(LINEAR_GUARDED, &g->view, t, how, words, at, random, out);
    if (linear_serves(words))
        return linear_other(LINEAR_GUARDED, words)(&g->view, t, how, at, random, out);
    return sample_one_guarded(g, texture, how, at, random, out);
}
#endif
