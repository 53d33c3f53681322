/* SPDX-License-Identifier: Apache-2.0
 *
 * The usual look-up, four channels and linear, in as few instructions as can be. A look-up that waits for memory
 * overlaps with the next one only while both fit the processor's window, some 250 instructions of which half may be
 * floating point: shorter code is what makes random look-ups fast. So each storage type has a copy of its own, u and v
 * are the two halves of a vector, and nothing is called but at the very end. The arithmetic is that of level.h and
 * wrap.h, operation by operation.
 *
 * Serves one texture, rules without probes, coordinates that are finite, tiles that are resident; what is anything else
 * is given up before anything was changed. A back-end brings v4_floor, v4_max, v4_min, v4_gather, v4_is_placed, v4i_max,
 * v4i_min and v4i_load_two.
 */
#ifndef TXM_SAMPLE_SIMD_LINEAR_H
#define TXM_SAMPLE_SIMD_LINEAR_H
#include "sample/simd/batch_simd.h"
#include "sample/simd/constants.h"

TXM_FAST txm_rgba v4_floor(txm_rgba v);
/* a > b ? a : b and a < b ? a : b, as txm_max and txm_min. */
TXM_FAST txm_rgba v4_max(txm_rgba a, txm_rgba b);
TXM_FAST txm_rgba v4_min(txm_rgba a, txm_rgba b);
/* (*a, *b, 0, 0), by a load each: what has just been stored by halves is found in halves only. */
TXM_FAST txm_rgba v4_gather(const float *a, const float *b);
/* Whether elements 0 and 1 of uv, whose tiles these are, are numbers. */
TXM_FAST int v4_is_placed(txm_rgba uv, v4i tile);
TXM_FAST v4i v4i_max(v4i a, v4i b);
TXM_FAST v4i v4i_min(v4i a, v4i b);
/* (p[0], p[1], 0, 0) */
TXM_FAST v4i v4i_load_two(const uint32_t *p);

TXM_FAST txm_rgba v4_select(v4i mask, txm_rgba a, txm_rgba b)
{
    return (txm_rgba)(((v4i)a & mask) | ((v4i)b & ~mask));
}

TXM_FAST txm_rgba v4_set(float v)
{
    return (txm_rgba){v, v, v, v};
}

/* ---- levels ---- */

/* txm_log2, elements at once. */
TXM_FAST txm_rgba v4_log2(txm_rgba x)
{
    const txm_sample_constants *k = &txm_sample_k;
    v4i bits = (v4i)v4_max(x, k->least), from = (v4i)((v4u)bits - k->mantissa);
    txm_rgba m = (txm_rgba)(v4u)((v4u)bits - (v4u)(from & k->exponent));
    txm_rgba s = (m - k->one) / (m + k->one), t = s * s;
    txm_rgba p = (t * k->log[1] + k->log[0]) + (t * t) * (t * k->log[3] + k->log[2]);
    return __builtin_convertvector(from >> 23, txm_rgba) + s * p;
}

/* The square of the footprint's extent that chooses the level, in element 0; `size` is that of level 0. */
TXM_FAST txm_rgba linear_extent_of(txm_level_rule rule, const txm_sampler *how, const txm_lookup *at, txm_rgba size)
{
    const txm_sample_constants *k = &txm_sample_k;
    if (rule == TXM_LEVEL_RULE_CYCLES) {
        txm_rgba by_x = v4_gather(&at->dudx, &at->dvdx), by_y = v4_gather(&at->dudy, &at->dvdy);
        txm_rgba along = (by_x * by_x + by_y * by_y) * (size * size);
        txm_rgba other = __builtin_shufflevector(along, along, 1, 1, 1, 1);
        txm_rgba high = v4_max(along, other) * v4_set(k->shares[how->anisotropy]);
        return v4_max(v4_min(along, other), high);
    }
    txm_ellipse e = txm_ellipse_of(size[0], size[1], (float)how->anisotropy, at->dudx, at->dvdx, at->dudy, at->dvdy);
    return v4_set(e.short2);
}

/* ---- pixels ---- */

/* Coordinates into 0..1, elements 0 and 1; 0 where CLIP rejects one. */
TXM_FAST int single_wrap(txm_rgba *uv, int extension)
{
    txm_rgba x = *uv;
    if (extension == TXM_EXTENSION_REPEAT) {
        *uv = x - v4_floor(x);
    } else if (extension == TXM_EXTENSION_MIRROR) {
        txm_rgba t = x * 0.5f;
        t = (t - v4_floor(t)) * 2.0f;
        *uv = v4_select(t > 1.0f, 2.0f - t, t);
    } else {
        if (extension == TXM_EXTENSION_CLIP)
            return x[0] >= 0.0f && x[0] <= 1.0f && x[1] >= 0.0f && x[1] <= 1.0f;
        *uv = v4_min(v4_max(x, v4_set(0.0f)), v4_set(1.0f));
    }
    return 1;
}

/* Two rows of two pixels by their weights: g.x and f.x across, g.y and f.y down. */
TXM_FAST txm_rgba linear_blend(txm_pair above, txm_pair below, txm_rgba f, txm_rgba g)
{
    txm_rgba w = __builtin_shufflevector(g, f, 0, 4, 1, 5);
    txm_pair both = __builtin_shufflevector(w, w, 0, 1, 2, 3, 4, 5, 6, 7);
    txm_pair across = __builtin_shufflevector(both, both, 0, 0, 0, 0, 5, 5, 5, 5);
    txm_pair up = __builtin_shufflevector(both, both, 2, 2, 2, 2, 6, 6, 6, 6);
    txm_pair down = __builtin_shufflevector(both, both, 3, 3, 3, 3, 7, 7, 7, 7);
    return txm_pair_sum(above * (across * up) + below * (across * down));
}

/* The colour of one level of `size` pixels, not scaled; 0 if its tile is not there or uv is not finite. `uv` is
 * (u, 1 - v). */
TXM_FAST int linear_level(int type, const txm_view *view, const txm_view_texture *t, uint32_t level, txm_rgba uv,
                          v4i size, txm_rgba *color)
{
    const txm_sample_constants *k = &txm_sample_k;
    const uint32_t pixel_bytes = type == TXM_TYPE_U8 ? 4 : type == TXM_TYPE_FLOAT ? 16 : 8;
    v4i last = size - k->ones;
    txm_rgba xy = uv * __builtin_convertvector(size, txm_rgba), middle = xy - k->half, low = v4_floor(middle);
    txm_rgba f = middle - low, g = k->one - f;
    v4i in = v4i_min(__builtin_convertvector(xy, v4i), last), tile = in >> (int)t->tile_shift;
    v4i first = __builtin_convertvector(low, v4i) - (tile << (int)t->tile_shift) + k->ring;
    if (!v4_is_placed(uv, tile))
        return 0;
    uint32_t across = (uint32_t)last[0] >> t->tile_shift, row = (uint32_t)tile[1]; /* across: less one */
    uint32_t index = t->first + t->level_first[level] + (uint32_t)tile[0] + row + row * across;
    txm_tile_entry *e = view->tiles + index;
    uint32_t slot = TXM_LOAD_SLOT(&e->slot);
    if (slot >= TXM_SLOT_UNREGISTERED)
        return 0;
    group_mark(view, e);
    const uint8_t *p =
        group_pixels(view, t, slot) + (uint32_t)first[1] * t->row_bytes + (uint32_t)first[0] * pixel_bytes;
    *color = linear_blend(txm_load_two(type, p), txm_load_two(type, p + t->row_bytes), f, g);
    return 1;
}

/* ---- the whole look-up ---- */

TXM_RARE txm_look linear_after(const txm_sampler *how, txm_rgba color, float out[4])
{
    txm_color_store(group_after(how->after, color), out);
    return TXM_LOOK_RESIDENT;
}

/* The general way, for what a fast one has given up before anything was changed. */
TXM_RARE txm_look sample_generally(const txm_view *view, uint32_t texture, const txm_sampler *how, const txm_lookup *at,
                                   txm_lane *lane, float out[4])
{
    return sample_one(view, texture, how, at, lane, out);
}

TXM_FAST txm_look linear_finish(int type, const txm_view_texture *t, const txm_sampler *how, txm_rgba color,
                                float out[4])
{
    color = color * t->scale;
    if (type == TXM_TYPE_HALF || type == TXM_TYPE_FLOAT)
        color = txm_rgba_quiet(color);
    if (how->after)
        return linear_after(how, color, out);
    txm_color_store(color, out);
    return TXM_LOOK_RESIDENT;
}

/* Any level, or two; `uv` and `extent` as linear_sample has found them. */
TXM_FAST txm_look linear_levels(int type, txm_level_rule rule, const txm_view *view, const txm_view_texture *t,
                                const txm_sampler *how, const txm_lookup *at, txm_lane *lane, float out[4],
                                txm_rgba uv, txm_rgba extent)
{
    const txm_sample_constants *k = &txm_sample_k;
    const v4i full = v4i_load_two(&t->width);
    uint32_t random = lane->random;
    txm_rgba exact = v4_log2(extent) * k->half, color, coarse;
    if (random && how->mode <= TXM_LEVEL_MODE_STOCHASTIC_FULL)
        exact = v4_set(txm_level_jitter(how, exact[0], &random));
    else
        exact += v4_set(how->mip_bias);
    /* As txm_level_clamp. */
    float level = v4_max(exact, k->zero)[0];
    uint32_t last = (rule == TXM_LEVEL_RULE_CYCLES ? t->tiled_levels : t->levels) - 1, low = (uint32_t)(int32_t)level;
    low = low < last ? low : last;
    if (!linear_level(type, view, t, low, uv, v4i_max((v4i)((v4u)full >> low), k->ones), &color))
        return sample_generally(view, (uint32_t)(t - view->textures), how, at, lane, out);
    if (how->mode == TXM_LEVEL_MODE_TRILINEAR && low < last) {
        float blend = level - (float)(int32_t)low;
        if (blend > 0.0f) {
            if (!linear_level(type, view, t, low + 1, uv, v4i_max((v4i)((v4u)full >> (low + 1)), k->ones), &coarse))
                return sample_generally(view, (uint32_t)(t - view->textures), how, at, lane, out);
            color = color * (1.0f - blend) + coarse * blend;
        }
    }
    lane->random = random;
    return linear_finish(type, t, how, color, out);
}

typedef txm_look (*linear_levels_function)(const txm_view *, const txm_view_texture *, const txm_sampler *,
                                           const txm_lookup *, txm_lane *, float *, txm_rgba, txm_rgba);

/* A footprint of a pixel or less is level 0, without its logarithm as long as nothing is added to it: that is the
 * shortest way through here. The others go on in `levels`. */
TXM_FAST txm_look linear_sample(int type, txm_level_rule rule, linear_levels_function levels, const txm_view *view,
                                const txm_view_texture *t, const txm_sampler *how, const txm_lookup *at,
                                txm_lane *lane, float out[4])
{
    const txm_sample_constants *k = &txm_sample_k;
    txm_rgba uv = v4_gather(&at->u, &at->v), color;
    if (!single_wrap(&uv, t->extension)) {
        txm_color_store(v4_set(0.0f), out);
        return TXM_LOOK_RESIDENT;
    }
    uv = k->origin + uv * k->sign; /* (u, 1 - v) */
    const v4i full = v4i_load_two(&t->width);
    txm_rgba extent = linear_extent_of(rule, how, at, __builtin_convertvector(full, txm_rgba));
    if (how->mode <= TXM_LEVEL_MODE_STOCHASTIC_FULL || how->mip_bias > 0.0f || extent[0] > 1.0f)
        return levels(view, t, how, at, lane, out, uv, extent);
    if (!linear_level(type, view, t, 0, uv, full, &color))
        return sample_generally(view, (uint32_t)(t - view->textures), how, at, lane, out);
    return linear_finish(type, t, how, color, out);
}

#define TXM_LINEAR(name, type, rule)                                                                                   \
    TXM_RARE txm_look name##_levels(const txm_view *view, const txm_view_texture *t, const txm_sampler *how,           \
                                    const txm_lookup *at, txm_lane *lane, float out[4], txm_rgba uv, txm_rgba extent)  \
    {                                                                                                                  \
        return linear_levels(type, rule, view, t, how, at, lane, out, uv, extent);                                     \
    }                                                                                                                  \
    TXM_RARE txm_look name(const txm_view *view, const txm_view_texture *t, const txm_sampler *how,                    \
                           const txm_lookup *at, txm_lane *lane, float out[4])                                         \
    {                                                                                                                  \
        return linear_sample(type, rule, name##_levels, view, t, how, at, lane, out);                                  \
    }
TXM_LINEAR(linear_u8, TXM_TYPE_U8, TXM_LEVEL_RULE_CYCLES)
TXM_LINEAR(linear_u16, TXM_TYPE_U16, TXM_LEVEL_RULE_CYCLES)
TXM_LINEAR(linear_half, TXM_TYPE_HALF, TXM_LEVEL_RULE_CYCLES)
TXM_LINEAR(linear_float, TXM_TYPE_FLOAT, TXM_LEVEL_RULE_CYCLES)
TXM_LINEAR(linear_ellipse_u8, TXM_TYPE_U8, TXM_LEVEL_RULE_ELLIPSE)
TXM_LINEAR(linear_ellipse_u16, TXM_TYPE_U16, TXM_LEVEL_RULE_ELLIPSE)
TXM_LINEAR(linear_ellipse_half, TXM_TYPE_HALF, TXM_LEVEL_RULE_ELLIPSE)
TXM_LINEAR(linear_ellipse_float, TXM_TYPE_FLOAT, TXM_LEVEL_RULE_ELLIPSE)
#undef TXM_LINEAR

typedef txm_look (*linear_function)(const txm_view *, const txm_view_texture *, const txm_sampler *, const txm_lookup *,
                                    txm_lane *, float *);
static const linear_function linear_functions[2][4] = {
    [TXM_LEVEL_RULE_CYCLES] = {linear_u8, linear_u16, linear_half, linear_float},
    [TXM_LEVEL_RULE_ELLIPSE] = {linear_ellipse_u8, linear_ellipse_u16, linear_ellipse_half, linear_ellipse_float},
};
#endif
