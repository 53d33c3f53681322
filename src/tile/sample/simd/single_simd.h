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

/* single_wrap for an extension that differs along u and v. The third element is NaN where CLIP rejects. It takes no
 * address, so that coordinates of other textures stay in registers. */
TXM_RARE txm_rgba single_wrap_apart(txm_rgba uv, int extension)
{
    txm_rgba u = __builtin_shufflevector(uv, uv, 0, 0, 0, 0), v = __builtin_shufflevector(uv, uv, 1, 1, 1, 1);
    const int inside =
        single_wrap(&u, (int)TXM_EXTENSION_U(extension)) & single_wrap(&v, (int)TXM_EXTENSION_V(extension));
    return (txm_rgba){u[0], v[0], inside ? 0.0f : __builtin_nanf("")};
}

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

/* What a group of probes reads from one level. Probes are close to each other, so usually one tile has all of them, and
 * it is looked up once. */
typedef struct probe_level {
    group_level place;
    /* The weights of the four pixels of a linear filter, named by their columns and rows. */
    _Alignas(64) float w00[TXM_LANES], w10[TXM_LANES], w01[TXM_LANES], w11[TXM_LANES];
} probe_level;

/* Finds the taps of the probes in `live`, the first of which is `first`; returns 0 if a tile is missing. */
TXM_FAST int probes_find(const txm_view *view, const txm_view_texture *t, int grid, uint32_t level, vi live,
                         uint32_t first, uint32_t count, probe_level *l)
{
    group_level *g = &l->place;
    const vi tiles = TXM_LOAD(vi, g->tile);
    const uint32_t begin = t->first + t->level_first[level];
    if (grid == TXM_GRID_LINEAR) {
        const vf fx = TXM_LOAD(vf, g->fx), fy = TXM_LOAD(vf, g->fy), gx = 1.0f - fx, gy = 1.0f - fy;
        TXM_STORE(vf, l->w00, gx * gy);
        TXM_STORE(vf, l->w10, fx * gy);
        TXM_STORE(vf, l->w01, gx * fy);
        TXM_STORE(vf, l->w11, fx * fy);
    }
    if (vu_any((vu)((tiles ^ g->tile[first]) & live))) {
        uint32_t found = 1;
        for (uint32_t i = first; i < count; i++) {
            g->taps[i] = NULL;
            if (!live[i])
                continue;
            group_send_for(view, t, grid, g, level, (int)i);
            found &= g->taps[i] != NULL;
        }
        return (int)found;
    }
    const uint8_t *tile = group_find(view, t, begin + (uint32_t)g->tile[first], 0);
    for (uint32_t i = first; tile && i < count; i++) {
        g->taps[i] = tile + (uint32_t)g->offset[i];
        __builtin_prefetch(g->taps[i]);
    }
    return tile != NULL;
}

/* The colour that one probe reads. `usual` is a constant: four channels of 8 bits and a linear filter. */
TXM_FAST txm_rgba probe_read(int usual, const txm_view_texture *t, const txm_sampler *how, int grid, uint32_t row_bytes,
                             const probe_level *l, uint32_t i)
{
    const uint8_t *p = l->place.taps[i];
    if (!usual)
        return group_read(t, how, grid, p, l->place.fx[i], l->place.fy[i]);
    return txm_pair_sum(txm_load_two(TXM_TYPE_U8, p) * txm_pair_of(l->w00[i], l->w10[i]) +
                        txm_load_two(TXM_TYPE_U8, p + row_bytes) * txm_pair_of(l->w01[i], l->w11[i]));
}

/* The sums of a lookup's probes. */
typedef struct probe_sums {
    txm_rgba color;
    float total, covered;
} probe_sums;

TXM_FAST void probes_add(int usual, const txm_view_texture *t, const txm_sampler *how, int grid, float blend,
                         const probe_level l[2], vi inside, const float *weights, uint32_t count, probe_sums *sums)
{
    const uint32_t row_bytes = t->row_bytes;
    const float fine = 1.0f - blend;
    for (uint32_t i = 0; i < count; i++) {
        sums->total += weights[i];
        if (!inside[i])
            continue;
        txm_rgba color = probe_read(usual, t, how, grid, row_bytes, &l[0], i);
        if (blend > 0.0f)
            color = color * fine + probe_read(usual, t, how, grid, row_bytes, &l[1], i) * blend;
        sums->color += color * weights[i];
        sums->covered += weights[i];
    }
}

/* A lookup of several probes, which are placed a vector at a time, or of one beyond a CLIP edge, which reads
 * nothing. */
TXM_RARE txm_lookup_result single_probes(const txm_view *view, const txm_view_texture *t, const txm_sampler *how,
                                         const txm_lookup *at, const txm_footprint *f, txm_lookup_state *state,
                                         float out[4])
{
    const float middle = 0.5f * (float)(f->probes - 1);
    uint32_t random = state->random;
    const float level = txm_level_jitter(how, f->level, &random);
    float blend;
    if (f->probes < 2) {
        txm_color_store(txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f), out);
        state->random = random;
        return TXM_LOOKUP_HIT;
    }
    uint32_t low = txm_level_clamp(level, txm_levels_of(t, how), how->mode == TXM_LEVEL_MODE_TRILINEAR, &blend);
    probe_sums sums = {{0}, 0.0f, 0.0f};
    const int grid = txm_filter_grid(how->filter), closest = grid == TXM_GRID_PIXEL, cubic = grid == TXM_GRID_CUBIC;
    const int usual = grid == TXM_GRID_LINEAR && t->channels == 4 && t->type == TXM_TYPE_U8;
    vi numbers;
    for (int i = 0; i < TXM_LANES; i++)
        numbers[i] = i;
    for (uint32_t begin = 0; begin < f->probes; begin += TXM_LANES) {
        probe_level levels[2];
        _Alignas(64) float weights[TXM_LANES];
        const uint32_t count = f->probes - begin < TXM_LANES ? f->probes - begin : TXM_LANES;
        vf d = (vf_from(numbers) + (float)begin) - middle, u = at->u + d * f->step_u, v = at->v + d * f->step_v;
        vf s = d / f->spread, weight = 1.0f - s * s;
        vi inside = vi_set(-1), beyond = vi_set(0), finite = (vi)(u - u == 0.0f) & (vi)(v - v == 0.0f);
        u = group_wrap(u, (int)TXM_EXTENSION_U(t->extension), &inside);
        v = group_wrap(v, (int)TXM_EXTENSION_V(t->extension), &inside);
        if (vu_any((vu)~finite))
            goto generally;
        u = vf_select(inside, u, vf_set(0.5f));
        v = vf_select(inside, v, vf_set(0.5f));
        TXM_STORE(vf, weights, weight * weight);
        const vi live = inside & (vi)(numbers < (int32_t)count);
        uint32_t first = 0;
        while (first < count && !live[first])
            first++;
        for (uint32_t i = 0; first < count && i <= (blend > 0.0f); i++) {
            group_place(t, vi_set((int32_t)(low + i)), u, v, closest, cubic, &levels[i].place, &beyond);
            if ((closest && vu_any((vu)beyond)) || !probes_find(view, t, grid, low + i, live, first, count, &levels[i]))
                goto generally;
        }
        if (usual)
            probes_add(1, t, how, grid, blend, levels, live, weights, count, &sums);
        else
            probes_add(0, t, how, grid, blend, levels, live, weights, count, &sums);
    }
    float inverse = 1.0f / sums.total;
    txm_rgba color = sums.color * inverse;
    color = txm_rgba_quiet(txm_color_scale(t, color, sums.covered == sums.total ? 1.0f : sums.covered * inverse));
    txm_color_store(how->after ? group_after(how->after, color) : color, out);
    state->random = random;
    return TXM_LOOKUP_HIT;
generally:
    return sample_generally(view, (uint32_t)(t - view->textures), how, at, state, out);
}

/* The level is returned besides *f because it arrives sooner in a register than in memory. */
TXM_RARE float single_ellipse(const txm_view_texture *t, const txm_sampler *how, const txm_lookup *at, txm_footprint *f)
{
    *f = txm_footprint_of(how, (float)t->width, (float)t->height, at->dudx, at->dvdx, at->dudy, at->dvdy);
    return f->level;
}

/* Each tile of a UDIM set is a texture with its own coordinates. */
TXM_RARE txm_lookup_result single_udim(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                       const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    txm_lookup in_tile = *at;
    const txm_view_texture *t = txm_texture_at(view, texture, &in_tile.u, &in_tile.v);
    if (!t || t->udim_rows)
        return sample_generally(view, texture, how, at, state, out);
    return sample_single(view, (uint32_t)(t - view->textures), how, &in_tile, state, out);
}

/* `packed` is a constant in each call: calls of single_packed_level would keep registers from the usual textures. */
TXM_FAST txm_lookup_result single_sample_of(int packed, const txm_view *view, uint32_t texture, const txm_sampler *how,
                                            const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    const txm_view_texture *t = view->textures + texture;
    txm_rgba uv = {at->u, at->v}, color, coarse;
    txm_rgba still = uv - uv;
    if (!(still[0] == 0.0f && still[1] == 0.0f) ||
        (packed && (txm_filter_grid(how->filter) == TXM_GRID_CUBIC || how->rule == TXM_LEVEL_RULE_PROBES ||
                    txm_extension_is_pair(t->extension))))
        return sample_generally(view, texture, how, at, state, out);
    int inside;
    if (TXM_UNLIKELY(txm_extension_is_pair(t->extension))) {
        uv = single_wrap_apart(uv, t->extension);
        inside = uv[2] == 0.0f;
    } else
        inside = single_wrap(&uv, t->extension);
    if (!inside && how->rule != TXM_LEVEL_RULE_PROBES) {
        txm_color_store(txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f), out);
        return TXM_LOOKUP_HIT;
    }
    uint32_t random = state->random;
    float blend, level = at->dudx;
    if (how->rule == TXM_LEVEL_RULE_CYCLES) {
        level = txm_level_cycles((float)t->width, (float)t->height, (float)how->anisotropy, at->dudx, at->dvdx,
                                 at->dudy, at->dvdy);
    } else if (how->rule != TXM_LEVEL_RULE_GIVEN) {
        txm_footprint f;
        level = single_ellipse(t, how, at, &f);
        if (how->rule == TXM_LEVEL_RULE_PROBES && (f.probes > 1 || !inside))
            return single_probes(view, t, how, at, &f, state, out);
    }
    level = txm_level_jitter(how, level, &random);
    uint32_t low = txm_level_clamp(level, txm_levels_of(t, how), how->mode == TXM_LEVEL_MODE_TRILINEAR, &blend);
    uv[1] = 1.0f - uv[1];
    if (!(packed ? single_packed_level : single_level)(view, t, how, low, uv, &color))
        return sample_generally(view, texture, how, at, state, out);
    if (blend > 0.0f) {
        if (!(packed ? single_packed_level : single_level)(view, t, how, low + 1, uv, &coarse))
            return sample_generally(view, texture, how, at, state, out);
        color = color * (1.0f - blend) + coarse * blend;
    }
    state->random = random;
    txm_color_store(group_color(t, how, color), out);
    return TXM_LOOKUP_HIT;
}

TXM_RARE txm_lookup_result single_padded(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    return single_sample_of(0, view, texture, how, at, state, out);
}

TXM_RARE txm_lookup_result single_packed(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    return single_sample_of(1, view, texture, how, at, state, out);
}

/* Chooses a function before any of them saves registers. A choice between pointers to them would cost more. */
TXM_FAST txm_lookup_result single_sample(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    const txm_view_texture *t = view->textures + texture;
    if (!txm_filter_is_plain(how->filter))
        return sample_generally(view, texture, how, at, state, out);
    if (t->udim_rows)
        return single_udim(view, texture, how, at, state, out);
    return TXM_UNLIKELY(txm_is_packed(t)) ? single_packed(view, texture, how, at, state, out)
                                          : single_padded(view, texture, how, at, state, out);
}

TXM_RARE txm_lookup_result sample_single(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                         const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    const txm_view_texture *t = view->textures + texture;
    if (TXM_UNLIKELY(texture >= view->texture_count))
        return sample_generally(view, texture, how, at, state, out);
    const linear_words words = linear_words_of(t, how);
    if (linear_is_usual(words))
        return linear_usual(LINEAR_PLAIN, view, t, how, words, at, &state->random, out);
    if (linear_serves(words))
        return linear_other(LINEAR_PLAIN, words)(view, t, how, at, &state->random, out);
    return single_sample(view, texture, how, at, state, out);
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
