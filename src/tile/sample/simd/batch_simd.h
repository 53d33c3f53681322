/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of lookups: computes levels, coordinates, tiles and fractions of TXM_LANES lookups as vectors, then filters
 * the taps one lookup at a time. The arithmetic is that of level.h and wrap.h, operation by operation; extensions are
 * in wrap_simd.h.
 *
 * This path handles filters without random taps, lookups without probes, finite coordinates and, in UDIM sets, groups
 * within one tile. All other lookups, and those that miss, take the general path. A back-end provides vf_floor, vf_sqrt
 * and its taps.
 */
#ifndef TXM_SAMPLE_BATCH_SIMD_H
#define TXM_SAMPLE_BATCH_SIMD_H
#include "tile/ops/simd/vector.h"
#include "tile/sample/sample_ops.h"
#include "tile/sample/simd/wrap_simd.h"

/* Looks up an element of a batch by itself (single_simd.h). */
static txm_lookup_result sample_single(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                       const txm_lookup *at, txm_lookup_state *state, float out[4]);
#define TXM_SAMPLE_ONE sample_single
#include "tile/sample/entries.h"

/* Rare cases are not inlined, because a lookup that waits for memory overlaps with the next one only while both fit in
 * the processor's window. */
#define TXM_RARE static __attribute__((noinline))
#define TXM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

TXM_FAST vf vf_floor(vf v);
TXM_FAST vf vf_sqrt(vf v);

TXM_FAST vf vf_max(vf a, vf b)
{
    return vf_select((vi)(a > b), a, b);
}

TXM_FAST vf vf_min(vf a, vf b)
{
    return vf_select((vi)(a < b), a, b);
}

TXM_FAST vf vf_from(vi v)
{
    return __builtin_convertvector(v, vf);
}

TXM_FAST vi vi_from(vf v)
{
    return __builtin_convertvector(v, vi);
}

TXM_FAST vi vi_select(vi mask, vi a, vi b)
{
    return (a & mask) | (b & ~mask);
}

TXM_FAST vi vi_set(int32_t v)
{
    return (vi){0} + v;
}

/* One level of a group of lookups. */
typedef struct group_level {
    _Alignas(64) int32_t tile[TXM_LANES];   /* relative to the level's first entry */
    _Alignas(64) int32_t offset[TXM_LANES]; /* the first tap's distance from the tile's beginning, in bytes */
    _Alignas(64) float fx[TXM_LANES], fy[TXM_LANES];
    const uint8_t *taps[TXM_LANES]; /* the first tap of each lane; NULL: its tile is missing */
} group_level;

typedef struct group {
    const txm_view_texture *texture;
    group_level levels[2];
    _Alignas(64) int32_t level[TXM_LANES]; /* the finer one */
    _Alignas(64) float blend[TXM_LANES];
    _Alignas(64) uint32_t random[TXM_LANES]; /* states after the lookup */
    _Alignas(64) int32_t inside[TXM_LANES];  /* 0: CLIP rejects */
    uint8_t ready[TXM_LANES];                /* its taps are found */
} group;

/* ---- levels ---- */

TXM_FAST vf group_log2(vf x)
{
    x = vf_max(x, vf_set(1.17549435e-38f));
    vi bits = (vi)x, k = (vi)((vu)bits - 0x3F3504F3u) >> 23;
    vf m = (vf)(vu)((vu)bits - ((vu)k << 23));
    vf s = (m - 1.0f) / (m + 1.0f), t = s * s;
    vf p = (2.88539008f + t * 0.961796694f) + (t * t) * (0.577078016f + t * 0.412198583f);
    return vf_from(k) + s * p;
}

TXM_FAST vf group_gradient(vf derivative, vf size)
{
    vf g = derivative * size;
    vf limited = vf_select((vi)(g > 1e9f), vf_set(1e9f), vf_select((vi)(g < -1e9f), vf_set(-1e9f), g));
    return vf_select((vi)(g == g), limited, vf_set(0.0f));
}

TXM_FAST vf group_level_of(const txm_sampler *how, vf w, vf h, vf dudx, vf dvdx, vf dudy, vf dvdy)
{
    float anisotropy = (float)how->anisotropy, share = 1.0f / (anisotropy * anisotropy);
    if (how->rule == TXM_LEVEL_RULE_GIVEN)
        return dudx;
    if (how->rule == TXM_LEVEL_RULE_CYCLES) {
        vf along_u = (dudx * dudx + dudy * dudy) * (w * w), along_v = (dvdx * dvdx + dvdy * dvdy) * (h * h);
        return 0.5f * group_log2(vf_max(vf_min(along_u, along_v), vf_max(along_u, along_v) * share));
    }
    vf ux = group_gradient(dudx, w), vx = group_gradient(dvdx, h);
    vf uy = group_gradient(dudy, w), vy = group_gradient(dvdy, h);
    vf uu = ux * ux + uy * uy, uv = ux * vx + uy * vy, vv = vx * vx + vy * vy;
    vf d = uu - vv, det = ux * vy - uy * vx;
    vf long2 = 0.5f * ((uu + vv) + vf_sqrt(d * d + 4.0f * (uv * uv)));
    return 0.5f * group_log2(vf_max(det * det / long2, long2 * share));
}

/* Adds the random offset and the bias; `random` steps in lanes that have a state and are inside. */
TXM_FAST vf group_jitter(const txm_sampler *how, vf level, vi inside, vu *random)
{
    if (how->mode == TXM_LEVEL_MODE_STOCHASTIC || how->mode == TXM_LEVEL_MODE_STOCHASTIC_FULL) {
        vi steps = (vi)(*random != 0) & inside;
        vu next = *random * 1103515245u + 12345u;
        if (how->chance != TXM_CHANCE_STATE) {
            steps = vi_set(-1);
            next = *random;
        }
        vf r = __builtin_convertvector(next, vf) * 2.3283064365386963e-10f;
        if (how->chance == TXM_CHANCE_NONE)
            r = vf_set(0.5f);
        if (how->mode == TXM_LEVEL_MODE_STOCHASTIC)
            r = 0.5f + (r - 0.5f) * 0.5f;
        vf moved = level + r;
        level = vf_select(steps, moved, level);
        *random = (vu)vi_select(steps, (vi)next, (vi)*random);
    }
    return level + how->mip_bias;
}

/* ---- places ---- */

TXM_WRAP_COORDINATES(vf, vf, vi)

/* Wraps coordinates into 0..1; lanes that CLIP rejects are removed from `inside`. */
TXM_FAST vf group_wrap(vf x, int extension, vi *inside)
{
    if (!vf_wrap(&x, extension))
        *inside &= (vi)(x >= 0.0f) & (vi)(x <= 1.0f);
    return x;
}

/* One axis of a level: the first tap's pixel in its tile, the tile, and the fraction. The taps begin at offset `first`.
 * At the far edge the extension takes the closest pixel elsewhere, so those lanes are marked `beyond`. */
TXM_FAST vi group_axis(vf x, vi size, uint32_t tile_shift, int closest, int first, vi *tile, vf *fraction, vi *beyond)
{
    vi last = size - 1, trunc = vi_from(x), past = (vi)(trunc > last);
    vi in = vi_select(past, last, trunc);
    *tile = in >> (int)tile_shift;
    vi base = *tile << (int)tile_shift;
    if (closest) {
        *fraction = vf_set(0.0f);
        *beyond |= past;
        return trunc - base + TXM_BORDER_PX;
    }
    vf sx = x - 0.5f, low = vf_floor(sx);
    *fraction = sx - low;
    return vi_from(low) - base + first;
}

TXM_FAST void group_place(const txm_view_texture *t, vi level, vf u, vf v, int closest, int cubic, group_level *out,
                          vi *beyond)
{
    vi w = (vi)((vu)vi_set((int32_t)t->width) >> (vu)level), h = (vi)((vu)vi_set((int32_t)t->height) >> (vu)level);
    w = vi_select((vi)(w > 1), w, vi_set(1));
    h = vi_select((vi)(h > 1), h, vi_set(1));
    vi tile_x, tile_y;
    vf fx, fy;
    int first = TXM_BORDER_PX - (cubic ? 1 : 0);
    vi x = group_axis(u * vf_from(w), w, t->tile_shift, closest, first, &tile_x, &fx, beyond);
    vi y = group_axis((1.0f - v) * vf_from(h), h, t->tile_shift, closest, first, &tile_y, &fy, beyond);
    vi across = (w + vi_set((1 << t->tile_shift) - 1)) >> (int)t->tile_shift;
    TXM_STORE(vi, out->tile, tile_y * across + tile_x);
    TXM_STORE(vi, out->offset, y * (int32_t)t->row_bytes + x * (int32_t)t->pixel_bytes);
    TXM_STORE(vf, out->fx, fx);
    TXM_STORE(vf, out->fy, fy);
}

/* Whether the vector path below handles this sampler. */
TXM_FAST int group_serves(const txm_sampler *how)
{
    return how->rule != TXM_LEVEL_RULE_PROBES && txm_filter_is_plain(how->filter);
}

/* Fills in a group; returns 0 if a lane needs the general path. */
TXM_FAST int group_make(const txm_view_texture *t, const txm_sampler *how, vf u, vf v, vf dudx, vf dvdx, vf dudy,
                        vf dvdy, vu random, group *g)
{
    vi inside = vi_set(-1), beyond = vi_set(0), finite = (vi)(u - u == 0.0f) & (vi)(v - v == 0.0f);
    const int grid = txm_filter_grid(how->filter), closest = grid == TXM_GRID_PIXEL, cubic = grid == TXM_GRID_CUBIC;
    u = group_wrap(u, (int)TXM_EXTENSION_U(t->extension), &inside);
    v = group_wrap(v, (int)TXM_EXTENSION_V(t->extension), &inside);
    if (vu_any((vu)~finite))
        return 0;
    vf level = group_level_of(how, vf_set((float)t->width), vf_set((float)t->height), dudx, dvdx, dudy, dvdy);
    level = group_jitter(how, level, inside, &random);
    float last = (float)(txm_levels_of(t, how) - 1);
    vf clamped = vf_select((vi)(level >= last), vf_set(last), vf_select((vi)(level > 0.0f), level, vf_set(0.0f)));
    vi low = vi_from(clamped);
    TXM_STORE(vi, g->level, low);
    TXM_STORE(vi, g->inside, inside);
    TXM_STORE(vu, g->random, random);
    /* Lanes outside may hold any value; 0 is safe, and their places are not used. */
    u = vf_select(inside, u, vf_set(0.0f));
    v = vf_select(inside, v, vf_set(0.0f));
    group_place(t, low, u, v, closest, cubic, &g->levels[0], &beyond);
    vf blend = vf_set(0.0f);
    if (how->mode == TXM_LEVEL_MODE_TRILINEAR) {
        blend = vf_select((vi)(level > 0.0f) & (vi)(low < (int32_t)last), level - vf_from(low), blend);
        if (vu_any((vu)(blend > 0.0f)))
            group_place(t, low + 1, u, v, closest, cubic, &g->levels[1], &beyond);
    }
    TXM_STORE(vf, g->blend, blend);
    return !closest || !vu_any((vu)beyond);
}

/* ---- taps ---- */

/* Address of the taps at `offset` in a tile; NULL if the tile is missing. */
TXM_FAST const uint8_t *group_find(const txm_view *view, const txm_view_texture *t, uint32_t number, uint32_t offset)
{
    const txm_tile_at f = txm_find_tile(view, number);
    if (f.slot >= TXM_SLOT_STATES)
        return NULL;
    txm_touch_tile(view, f.word, f.mark, f.index);
    return txm_slot_address(view, t, f.slot) + offset;
}

/* `grid` is TXM_GRID_* of the filter, which callers look up only once. */
TXM_FAST txm_rgba group_read(const txm_view_texture *t, const txm_sampler *how, int grid, const uint8_t *p, float fx,
                             float fy)
{
    /* Nearly all textures are of this kind. A branch that is predicted costs less than the jump through a table that
     * the choice among twelve kinds becomes. */
    const int usual = t->channels == 4 && t->type == TXM_TYPE_U8;
    if (grid == TXM_GRID_LINEAR) {
        const float wx[2] = {1.0f - fx, fx}, wy[2] = {1.0f - fy, fy};
        return usual ? txm_linear_rgba(TXM_TYPE_U8, p, t->row_bytes, wx, wy) : txm_taps_linear(t, p, wx, wy);
    }
    if (grid == TXM_GRID_CUBIC) {
        float wx[4], wy[4];
        txm_filter_weights(how->filter, fx, wx);
        txm_filter_weights(how->filter, fy, wy);
        return usual ? txm_cubic_rgba(TXM_TYPE_U8, p, t->row_bytes, wx, wy) : txm_taps_cubic(t, p, wx, wy);
    }
    return usual ? txm_load_one(TXM_TYPE_U8, p) : txm_taps_closest(t, p);
}

/* Finds the taps of one lane and prefetches them long before they are read, so that the loads of all lanes in several
 * groups overlap, not only those that fit in the processor's window. */
TXM_FAST void group_send_for(const txm_view *view, const txm_view_texture *t, int grid, group_level *g, uint32_t level,
                             int i)
{
    const uint8_t *p =
        group_find(view, t, t->first + t->level_first[level] + (uint32_t)g->tile[i], (uint32_t)g->offset[i]);
    g->taps[i] = p;
    if (!p)
        return;
    __builtin_prefetch(p);
    if (grid != TXM_GRID_PIXEL)
        __builtin_prefetch(p + t->row_bytes);
    if (grid == TXM_GRID_CUBIC) {
        __builtin_prefetch(p + 2 * t->row_bytes);
        __builtin_prefetch(p + 3 * t->row_bytes);
    }
}

TXM_FAST txm_rgba v4_select(v4i mask, txm_rgba a, txm_rgba b)
{
    return (txm_rgba)(((v4i)a & mask) | ((v4i)b & ~mask));
}

/* txm_srgb_decode_rgba for colour; alpha stays. */
TXM_FAST txm_rgba v4_srgb_decode(txm_rgba v)
{
    const v4i high = v >= 0.04045f, is_color = {-1, -1, -1, 0};
    const txm_rgba zero = {0}, one = zero + 1.0f, low = v4_select(v > zero, v * (1.0f / 12.92f), zero);
    const txm_rgba x = (v4_select(high, v, one) + 0.055f) * (1.0f / 1.055f), x2 = x * x, x4 = x2 * x2;
    const v4i scaled = (v4i)(x * txm_bits_float(0x4F55A7FBu));
    txm_rgba z = (txm_rgba) __builtin_convertvector(0.8f * __builtin_convertvector(scaled, txm_rgba), v4i);
    for (int i = 0; i < 3; i++) {
        const txm_rgba z2 = z * z, z4 = z2 * z2;
        z = (4.0f * z + x4 / z4) * (1.0f / 5.0f);
    }
    return v4_select(is_color, v4_select(high, z * (z * z), low), v);
}

/* The vector form of txm_after without derivatives. */
TXM_RARE txm_rgba group_after(int after, txm_rgba color)
{
    const float a = color[3];
    if ((after & TXM_AFTER_UNASSOCIATE) && a != 1.0f && a != 0.0f)
        color = txm_rgba_make(color[0] / a, color[1] / a, color[2] / a, a);
    return txm_rgba_quiet(after & TXM_AFTER_SRGB ? v4_srgb_decode(color) : color);
}

/* Converts codes to the final colour. */
TXM_FAST txm_rgba group_color(const txm_view_texture *t, const txm_sampler *how, txm_rgba color)
{
    color = txm_rgba_quiet(txm_color_scale(t, color, 1.0f));
    return how->after ? group_after(how->after, color) : color;
}

/* Finds all taps of a lane; returns 0 if a tile is missing. */
TXM_FAST int group_send_for_lane(const txm_view *view, const txm_view_texture *t, int grid, group *g, int i)
{
    if (!g->inside[i])
        return 1;
    group_send_for(view, t, grid, &g->levels[0], (uint32_t)g->level[i], i);
    if (!g->levels[0].taps[i] || !(g->blend[i] > 0.0f))
        return g->levels[0].taps[i] != NULL;
    group_send_for(view, t, grid, &g->levels[1], (uint32_t)g->level[i] + 1, i);
    return g->levels[1].taps[i] != NULL;
}

/* The colour of one lane, whose taps have been found. */
TXM_FAST txm_rgba group_element(const txm_view_texture *t, const txm_sampler *how, int grid, const group *g, int i)
{
    if (!g->inside[i])
        return txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    const group_level *l = &g->levels[0];
    txm_rgba color = group_read(t, how, grid, l->taps[i], l->fx[i], l->fy[i]);
    float blend = g->blend[i];
    if (blend > 0.0f) {
        l = &g->levels[1];
        color = color * (1.0f - blend) + group_read(t, how, grid, l->taps[i], l->fx[i], l->fy[i]) * blend;
    }
    return group_color(t, how, color);
}
#endif
