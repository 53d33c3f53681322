/* SPDX-License-Identifier: Apache-2.0
 *
 * One lookup, from coordinates to a colour. Every back-end compiles this text; a back-end with its own txm_taps_*
 * functions defines TXM_TAPS_FAST first.
 *
 * The directory src/tile/sample looks up textures for a renderer: from coordinates and derivatives to levels (level.h),
 * from levels to tiles and pixels (wrap.h, entries), and from pixels to a colour (filter.h, taps.h, lobes.h, rgba.h).
 * scalar.c, x86/ and arm/ compile the same text; texture_set.c keeps tiles in memory; explain.c reports how a colour
 * was computed. The public headers are txtile/sampler.h and ray.h.
 */
#ifndef TXM_SAMPLE_LOOKUP_H
#define TXM_SAMPLE_LOOKUP_H
#include "tile/sample/stochastic.h"
#include "tile/sample/taps.h"
#ifdef TXM_DEVICE_VIEW
#include "tile/sample/view_device.h"
#else
#include "tile/sample/view_host.h"
#endif

#ifdef TXM_DEVICE_VIEW
#define TXM_FLOW TXM_KERNEL_PART
#define TXM_PART TXM_KERNEL_PART
#else
#define TXM_FLOW static inline __attribute__((always_inline))
#define TXM_PART TXM_ARITH
#endif
/* What takes longer than a call. On devices calls cost more. */
#ifdef TXM_DEVICE_VIEW
#define TXM_APART TXM_FLOW
#else
#define TXM_APART static __attribute__((noinline))
#endif

/* ---- tiles ---- */

/* Whether this launch may request the tile. Requests of other launches and failures of other rounds have expired. */
TXM_FLOW int txm_slot_may_be_asked_for(const TXM_VIEW *view, uint32_t slot)
{
    return slot == TXM_SLOT_NONE ||
           (slot - TXM_SLOT_REQUESTED <= 0x1FFFFu && slot != TXM_SLOT_REQUESTED + view->launch);
}

/* A hash that decides which requests are rejected (the finalizer of MurmurHash3). It differs for each request of a
 * state and for each launch, so that no tile is rejected every time. */
TXM_ARITH uint32_t txm_request_draw(uint32_t index, uint32_t asked, uint32_t launch)
{
    uint32_t h = index ^ asked * 0x9E3779B9u ^ launch * 0x7FEB352Du;
    h = (h ^ h >> 16) * 0x85EBCA6Bu;
    h = (h ^ h >> 13) * 0xC2B2AE35u;
    return h ^ h >> 16;
}

/* Where the state of a tile is: its entry, or the word of its leaf if that has no entries. The value is loaded once,
 * because the word of a leaf may become the index of its entries at any time. */
typedef struct txm_tile_at {
    TXM_GLOBAL uint32_t *word;
    uint32_t slot;        /* what the word held */
    uint32_t index, mark; /* of the entry, if `slot` is one */
    int in_leaf;          /* the word is that of the leaf */
} txm_tile_at;

TXM_FLOW txm_tile_at txm_find_tile(const TXM_VIEW *view, uint32_t number)
{
    txm_tile_at f = {0, 0, number, 0, 0};
    if (TXM_HAS_LEAVES(view)) {
        f.word = txm_leaf_word(view, number >> TXM_LEAF_SHIFT);
        f.slot = TXM_LOAD_SLOT(f.word);
        f.in_leaf = f.slot >= TXM_SLOT_STATES;
        if (f.in_leaf)
            return f;
        f.index = f.slot + (number & (TXM_LEAF_TILES - 1));
    }
    f.word = txm_slot_word(view, f.index);
    f.slot = txm_load_entry(f.word, &f.mark);
    return f;
}

#ifndef TXM_DEVICE_VIEW
/* Whether this is the first request for a tile of a leaf without entries. */
static inline int txm_filter_passes(const TXM_VIEW *view, uint32_t number)
{
    const uint32_t h = txm_request_draw(number, 0, view->launch), launch = (uint32_t)view->launch << 16;
    const uint32_t bit = 1u << (h & 15u);
    uint32_t *word = view->filter + (h >> 16) % TXM_FILTER_WORDS, now = TXM_LOAD_SLOT(word), next;
    do {
        const int old = (now ^ launch) >> 16 != 0;
        if (!old && now & bit)
            return 0;
        next = old ? launch | bit : now | bit;
    } while (!TXM_SWAP_SLOT(word, &now, next));
    return 1;
}
#endif

/* Whether the lookup is the first to request a tile in this launch: if many miss it, the atomic exchange lets exactly
 * one of them request it. */
TXM_FLOW int txm_is_first(const TXM_VIEW *view, const txm_tile_at *f, uint32_t number)
{
    uint32_t now = f->slot;
#ifdef TXM_DEVICE_VIEW
    (void)number;
    if (!txm_speaks(f->word, now))
        return 0;
#else
    if (f->in_leaf && view->filter)
        return txm_filter_passes(view, number);
#endif
    return TXM_SWAP_SLOT(f->word, &now, TXM_SLOT_REQUESTED + view->launch);
}

/* Adds a missing tile to the list, unless another lookup of this launch has requested it already or the list is
 * full. */
TXM_PART txm_lookup_result txm_tile_missing(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t, uint32_t level,
                                            uint32_t number, txm_lookup_state *state)
{
    txm_tile_at f = txm_find_tile(view, number);
    if (f.slot == TXM_SLOT_UNREGISTERED) { /* request the level as a whole */
        number = t->first + level;
        f = txm_find_tile(view, number);
    }
    const uint32_t now = f.slot;
    if (now == TXM_SLOT_FAILED || now == TXM_SLOT_UNREADABLE + view->round)
        return TXM_LOOKUP_FAILURE;
    if (!state->capacity || now == TXM_SLOT_LOADING)
        return TXM_LOOKUP_MISS;
    state->asked++;
    if (view->rejection && txm_request_draw(number, state->asked, view->launch) < view->rejection)
        state->rejected++;
    else if (!txm_slot_may_be_asked_for(view, now))
        return TXM_LOOKUP_MISS;
    else if (txm_list_is_full(view, state))
        state->full++;
    else if (txm_is_first(view, &f, number))
        txm_list_add(view, state, number);
    return TXM_LOOKUP_MISS;
}

/* The pixels of a tile of the level; NULL if the tile is missing. The acquire load pairs with the
 * release store that publishes a tile, so a visible slot has its pixels. */
TXM_FLOW TXM_GLOBAL const uint8_t *txm_tile_pixels(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t,
                                                   uint32_t level, uint32_t number, txm_lookup_state *state,
                                                   txm_lookup_result *result)
{
    const txm_tile_at f = txm_find_tile(view, number);
    if (f.slot >= TXM_SLOT_STATES) {
        *result = txm_tile_missing(view, t, level, number, state);
        return 0;
    }
    txm_touch_tile(view, f.word, f.mark, f.index);
    return txm_slot_address(view, t, f.slot);
}

/* The address space of pixels and descriptions, in languages that distinguish them. */
#ifndef TXM_GLOBAL
#define TXM_GLOBAL
#endif

TXM_ARITH int txm_is_packed(TXM_GLOBAL const txm_view_texture *t)
{
    return t->tile_shift == TXM_SHIFT_PACKED;
}

/* Tiles of a level are numbered row by row. `w` is the level's width, which every caller knows. */
TXM_ARITH uint32_t txm_number_of(TXM_GLOBAL const txm_view_texture *t, uint32_t level, uint32_t w, uint32_t tile_x,
                                 uint32_t tile_y)
{
    if (txm_is_packed(t))
        return t->first;
    uint32_t across = (w + (1u << t->tile_shift) - 1) >> t->tile_shift;
    return t->first + t->level_first[level] + tile_y * across + tile_x;
}

/* ---- one level ---- */

/* A colour and its derivatives by u and v while they are summed, before scaling. */
typedef struct txm_sum {
    txm_rgba color, du, dv;
} txm_sum;

/* A pixel of the plane, read from a level of a packed texture, whose tile is at `p`. */
TXM_ARITH txm_rgba txm_packed_texel(TXM_GLOBAL const txm_view_texture *t, TXM_GLOBAL const uint8_t *p, uint32_t level,
                                    int32_t x, int32_t y)
{
    int32_t w = (int32_t)txm_level_size(t->width, level), h = (int32_t)txm_level_size(t->height, level);
    int32_t px = txm_wrap_pixel(x, w, (int)TXM_EXTENSION_U(t->extension));
    int32_t py = txm_wrap_pixel(y, h, (int)TXM_EXTENSION_V(t->extension));
    if (px < 0 || py < 0)
        return txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    return txm_texel(t->type, t->channels, p + t->level_first[level] + (uint32_t)(py * w + px) * t->pixel_bytes);
}

/* Linear and cubic lookups in a packed level, pixel by pixel because it has no border. */
TXM_CALLED TXM_ARITH void txm_packed_interpolate(TXM_GLOBAL const txm_view_texture *t, TXM_GLOBAL const uint8_t *p,
                                                 uint32_t level, const txm_place *place, int filter, const float *slope,
                                                 txm_sum *out)
{
    float w = (float)txm_level_size(t->width, level), h = (float)txm_level_size(t->height, level);
    if (txm_filter_is_cubic(filter, level)) {
        float wx[4], wy[4], sx[4], sy[4];
        txm_rgba texels[4][4];
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 4; x++)
                texels[y][x] = txm_packed_texel(t, p, level, place->x + x - 1, place->y + y - 1);
        txm_filter_weights(filter, place->fx, wx);
        txm_filter_weights(filter, place->fy, wy);
        out->color = txm_sum_cubic(wx, wy, texels);
        if (slope) {
            txm_filter_slopes(filter, place->fx, sx);
            txm_filter_slopes(filter, place->fy, sy);
            out->du = txm_sum_cubic(sx, wy, texels) * (slope[0] * w);
            out->dv = txm_sum_cubic(wx, sy, texels) * (slope[1] * -h);
        }
        return;
    }
    const float wx[2] = {1.0f - place->fx, place->fx}, wy[2] = {1.0f - place->fy, place->fy};
    txm_rgba texels[2][2];
    for (int y = 0; y < 2; y++)
        for (int x = 0; x < 2; x++)
            texels[y][x] = txm_packed_texel(t, p, level, place->x + x, place->y + y);
    out->color = txm_sum_linear(wx, wy, texels);
    if (slope) {
        const float difference[2] = {-1.0f, 1.0f};
        out->du = txm_sum_linear(difference, wy, texels) * (slope[0] * w);
        out->dv = txm_sum_linear(wx, difference, texels) * (slope[1] * -h);
    }
}

/* Linear and cubic lookups, whose taps are all in one padded tile: the border of two pixels means that these filters
 * never need a second tile. `slope` is the direction of u and v in the wrapped coordinate. */
TXM_FLOW txm_lookup_result txm_level_interpolate(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t,
                                                 uint32_t level, float x, float y, int filter, const float *slope,
                                                 txm_lookup_state *state, txm_sum *out)
{
    const int cubic = txm_filter_is_cubic(filter, level);
    uint32_t w = txm_level_size(t->width, level), h = txm_level_size(t->height, level);
    uint32_t tile_x = txm_tile_of(x, w, t->tile_shift), tile_y = txm_tile_of(y, h, t->tile_shift);
    txm_place place = txm_place_of(x, y);
    txm_lookup_result result = TXM_LOOKUP_HIT;
    TXM_GLOBAL const uint8_t *p =
        txm_tile_pixels(view, t, level, txm_number_of(t, level, w, tile_x, tile_y), state, &result);
    if (!p)
        return result;
    if (txm_is_packed(t)) {
        txm_packed_interpolate(t, p, level, &place, filter, slope, out);
        return TXM_LOOKUP_HIT;
    }
    int32_t first = TXM_BORDER_PX - (cubic ? 1 : 0); /* the first tap, counted from the place */
    p += (uint32_t)(place.y - (int32_t)(tile_y << t->tile_shift) + first) * t->row_bytes +
         (uint32_t)(place.x - (int32_t)(tile_x << t->tile_shift) + first) * t->pixel_bytes;
    if (cubic) {
        float wx[4], wy[4], sx[4], sy[4];
        txm_filter_weights(filter, place.fx, wx);
        txm_filter_weights(filter, place.fy, wy);
        out->color = txm_taps_cubic(t, p, wx, wy);
        if (slope) {
            txm_filter_slopes(filter, place.fx, sx);
            txm_filter_slopes(filter, place.fy, sy);
            out->du = txm_taps_cubic(t, p, sx, wy) * (slope[0] * (float)w);
            out->dv = txm_taps_cubic(t, p, wx, sy) * (slope[1] * -(float)h);
        }
        return TXM_LOOKUP_HIT;
    }
    float wx[2] = {1.0f - place.fx, place.fx}, wy[2] = {1.0f - place.fy, place.fy};
    out->color = txm_taps_linear(t, p, wx, wy);
    if (slope) {
        const float difference[2] = {-1.0f, 1.0f};
        out->du = txm_taps_linear(t, p, difference, wy) * (slope[0] * (float)w);
        out->dv = txm_taps_linear(t, p, wx, difference) * (slope[1] * -(float)h);
    }
    return TXM_LOOKUP_HIT;
}

/* Reads one pixel: the closest one, or a random tap. A random tap can lie beyond the border, so the extension brings it
 * back into the level. */
TXM_FLOW txm_lookup_result txm_level_pixel(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t, uint32_t level,
                                           float x, float y, txm_lookup_state *state, txm_rgba *out)
{
    int32_t w = (int32_t)txm_level_size(t->width, level), h = (int32_t)txm_level_size(t->height, level);
    int32_t px = txm_wrap_pixel(txm_pixel_closest(x), w, (int)TXM_EXTENSION_U(t->extension));
    int32_t py = txm_wrap_pixel(txm_pixel_closest(y), h, (int)TXM_EXTENSION_V(t->extension));
    *out = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    if (px < 0 || py < 0)
        return TXM_LOOKUP_HIT;
    uint32_t tile_x = (uint32_t)px >> t->tile_shift, tile_y = (uint32_t)py >> t->tile_shift;
    txm_lookup_result result = TXM_LOOKUP_HIT;
    TXM_GLOBAL const uint8_t *p =
        txm_tile_pixels(view, t, level, txm_number_of(t, level, (uint32_t)w, tile_x, tile_y), state, &result);
    if (!p)
        return result;
    if (txm_is_packed(t)) {
        *out = txm_packed_texel(t, p, level, px, py);
        return TXM_LOOKUP_HIT;
    }
    p += ((uint32_t)py - (tile_y << t->tile_shift) + TXM_BORDER_PX) * t->row_bytes +
         ((uint32_t)px - (tile_x << t->tile_shift) + TXM_BORDER_PX) * t->pixel_bytes;
    *out = txm_taps_closest(t, p);
    return TXM_LOOKUP_HIT;
}

/* `u` and `v` are wrapped already. If the level is missing, *out is not changed. */
TXM_CALLED TXM_FLOW txm_lookup_result txm_level_sample(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t,
                                                       const txm_sampler *how, uint32_t level, float u, float v,
                                                       const txm_jitter *jitter, const float *slope,
                                                       txm_lookup_state *state, txm_sum *out)
{
    uint32_t w = txm_level_size(t->width, level), h = txm_level_size(t->height, level);
    float x = txm_pixel_x(u, w), y = txm_pixel_y(v, h);
    int filter = how->filter;
    if (txm_filter_reads_square(filter))
        return txm_level_interpolate(view, t, level, x, y, filter, slope, state, out);
    const txm_rgba zero = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    if (slope)
        out->du = out->dv = zero;
    if (!txm_filter_draws(filter) || txm_filter_draws_in_footprint(filter))
        return txm_level_pixel(view, t, level, x, y, state, &out->color);
    txm_rgba tap;
    txm_lookup_result result = txm_level_pixel(view, t, level, x + jitter->x[0], y + jitter->y[0], state, &tap);
    if (jitter->taps < 2) {
        if (result == TXM_LOOKUP_HIT)
            out->color = tap;
        return result;
    }
    txm_rgba second = zero;
    txm_lookup_result other = txm_level_pixel(view, t, level, x + jitter->x[1], y + jitter->y[1], state, &second);
    result = other > result ? other : result;
    if (result == TXM_LOOKUP_HIT)
        out->color = tap * jitter->weight[0] + second * jitter->weight[1];
    return result;
}

/* The colour that stands in for a missing level. It is divided by the scale because the sum that it is added to is
 * scaled later. */
TXM_PART txm_sum txm_stand_in(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t, const txm_sampler *how,
                              uint32_t level, float u, float v, const txm_jitter *jitter)
{
    const txm_rgba zero = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    float inverse = 1.0f / t->scale;
    txm_sum sum = {zero, zero, zero};
    txm_lookup_state nobody = {0, TXM_STAND_IN_CAPACITY(view), 0, 0, 0, 0, 0};
    uint32_t first = how->on_miss == TXM_ON_MISS_COARSER ? level + 1 : t->levels - 1u;
    const int tries = how->on_miss == TXM_ON_MISS_COARSER || how->on_miss == TXM_ON_MISS_ONE;
    for (uint32_t i = first; tries && i < t->levels; i++)
        if (txm_level_sample(view, t, how, i, u, v, jitter, 0, &nobody, &sum) == TXM_LOOKUP_HIT)
            return sum;
    sum.color = txm_rgba_make(t->average[0] * inverse, t->average[1] * inverse, t->average[2] * inverse,
                              t->average[3] * inverse);
    return sum;
}

/* ---- one probe ---- */

typedef struct txm_levels {
    uint32_t low;
    float blend;
} txm_levels;

/* Reads one level, or blends two. Each missing level has its own stand-in, so the other one still contributes; the
 * worse of the two results is returned. */
TXM_FLOW txm_lookup_result txm_probe_sample(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t,
                                            const txm_sampler *how, txm_levels levels, float u, float v,
                                            const txm_jitter *jitter, const float *slope, txm_lookup_state *state,
                                            txm_sum *out)
{
    txm_lookup_result result = txm_level_sample(view, t, how, levels.low, u, v, jitter, slope, state, out);
    if (result != TXM_LOOKUP_HIT)
        *out = txm_stand_in(view, t, how, levels.low, u, v, jitter);
    if (levels.blend > 0.0f) {
        txm_sum coarse = *out;
        txm_lookup_result second = txm_level_sample(view, t, how, levels.low + 1, u, v, jitter, slope, state, &coarse);
        if (second != TXM_LOOKUP_HIT)
            coarse = txm_stand_in(view, t, how, levels.low + 1, u, v, jitter);
        float fine = 1.0f - levels.blend;
        out->color = out->color * fine + coarse.color * levels.blend;
        if (slope) {
            out->du = out->du * fine + coarse.du * levels.blend;
            out->dv = out->dv * fine + coarse.dv * levels.blend;
        }
        result = second > result ? second : result;
    }
    return result;
}

/* Wraps the coordinates of a probe; returns false if CLIP rejects them. */
TXM_FLOW int txm_probe_wrap(TXM_GLOBAL const txm_view_texture *t, float *u, float *v, float slope[2])
{
    const int along_u = (int)TXM_EXTENSION_U(t->extension), along_v = (int)TXM_EXTENSION_V(t->extension);
    slope[0] = txm_wrap_slope(*u, along_u);
    slope[1] = txm_wrap_slope(*v, along_v);
    /* This is not &&, because both coordinates must be wrapped even if the first is rejected. */
    return txm_wrap(u, along_u) & txm_wrap(v, along_v);
}

/* ---- the whole lookup ---- */

/* Stores single elements, because `out` may be unaligned. */
TXM_ARITH void txm_color_store(txm_rgba c, float out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = c[i];
}

/* Magenta for failures, clear for lookups that CLIP rejects. Neither changes with u or v, so the derivatives are 0. */
TXM_ARITH void txm_color_constant(float r, float g, float b, float a, float out[4], float *du, float *dv)
{
    out[0] = r, out[1] = g, out[2] = b, out[3] = a;
    for (int i = 0; du && i < 4; i++)
        du[i] = dv[i] = 0.0f;
}

/* Converts sums of codes to the final colour. `covered` is the weight of the probes that CLIP did not reject. */
TXM_FLOW txm_rgba txm_color_scale(TXM_GLOBAL const txm_view_texture *t, txm_rgba sum, float covered)
{
    txm_rgba c = sum * t->scale;
    return t->channels == 1 ? txm_rgba_make(c[0], c[0], c[0], covered) : c;
}

/* Replaces every NaN by the same one before and after the operations, because processors produce NaNs with different
 * bits. */
TXM_FLOW void txm_color_finish(TXM_GLOBAL const txm_view_texture *t, const txm_sampler *how, const txm_sum *sum,
                               float covered, float out[4], float *du, float *dv)
{
    txm_color_store(txm_rgba_quiet(txm_color_scale(t, sum->color, covered)), out);
    if (du) {
        txm_color_store(txm_rgba_quiet(txm_color_scale(t, sum->du, 0.0f)), du);
        txm_color_store(txm_rgba_quiet(txm_color_scale(t, sum->dv, 0.0f)), dv);
    }
    if (!how->after)
        return;
    txm_after(how->after, out, du, dv);
    txm_color_store(txm_rgba_quiet(txm_rgba_make(out[0], out[1], out[2], out[3])), out);
    if (du) {
        txm_color_store(txm_rgba_quiet(txm_rgba_make(du[0], du[1], du[2], du[3])), du);
        txm_color_store(txm_rgba_quiet(txm_rgba_make(dv[0], dv[1], dv[2], dv[3])), dv);
    }
}

/* The texture at (u, v): the texture itself, or a tile of a UDIM set, in which case *u and *v become relative to it.
 * NULL if the set has no tile there. */
TXM_FLOW TXM_GLOBAL const txm_view_texture *txm_texture_at(const TXM_VIEW *view, uint32_t texture, float *u, float *v)
{
    uint32_t index;
    if (texture >= view->texture_count)
        return 0;
    TXM_GLOBAL const txm_view_texture *t = view->textures + texture;
    if (!t->udim_rows)
        return t;
    if (!txm_udim_place(u, v, t->udim_rows, &index))
        return 0;
    uint32_t id = view->udims[t->first + index];
    return id < view->texture_count ? view->textures + id : 0;
}

/* Places several probes along the long axis of the footprint, all with the same jitter and levels. Probes that CLIP
 * rejects count as clear: they add to the total weight only. */
TXM_FLOW txm_lookup_result txm_probes_sample(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t,
                                             const txm_sampler *how, const txm_lookup *at, const txm_footprint *f,
                                             txm_levels levels, const txm_jitter *jitter, txm_lookup_state *state,
                                             int with_slopes, txm_sum *out, float *covered)
{
    const txm_rgba zero = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    txm_lookup_result result = TXM_LOOKUP_HIT;
    float total = 0.0f, slope[2];
    out->color = out->du = out->dv = zero;
    *covered = 0.0f;
    for (uint32_t i = 0; i < f->probes; i++) {
        float d = (float)i - 0.5f * (float)(f->probes - 1), weight = txm_probe_weight(f, i);
        float u = at->u + d * f->step_u, v = at->v + d * f->step_v;
        total += weight;
        if (!txm_probe_wrap(t, &u, &v, slope))
            continue;
        txm_sum sum = {zero, zero, zero};
        txm_lookup_result one =
            txm_probe_sample(view, t, how, levels, u, v, jitter, with_slopes ? slope : 0, state, &sum);
        result = one > result ? one : result;
        out->color = out->color + sum.color * weight;
        if (with_slopes) {
            out->du = out->du + sum.du * weight;
            out->dv = out->dv + sum.dv * weight;
        }
        *covered += weight;
    }
    float inverse = 1.0f / total;
    out->color = out->color * inverse;
    out->du = out->du * inverse;
    out->dv = out->dv * inverse;
    *covered = *covered == total ? 1.0f : *covered * inverse;
    return result;
}

/* A function of its own, because all kinds of pixels and filters are inlined in it. */
TXM_APART txm_lookup_result txm_probes_sample_slopes(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t,
                                                     const txm_sampler *how, const txm_lookup *at,
                                                     const txm_footprint *f, txm_levels levels,
                                                     const txm_jitter *jitter, txm_lookup_state *state, txm_sum *out,
                                                     float *covered)
{
    return txm_probes_sample(view, t, how, at, f, levels, jitter, state, 1, out, covered);
}

/* du and dv are both NULL or both valid. An unknown texture and a missing UDIM tile give magenta. The random state is
 * used for the level first and then for the taps; callers may rely on this order. */
TXM_FLOW txm_lookup_result txm_lookup_sample(const TXM_VIEW *view, uint32_t texture, const txm_sampler *how,
                                             const txm_lookup *given, txm_lookup_state *state, float out[4], float *du,
                                             float *dv)
{
    txm_lookup at = *given;
    TXM_GLOBAL const txm_view_texture *t = txm_texture_at(view, texture, &at.u, &at.v);
    if (!t) {
        txm_color_constant(1.0f, 0.0f, 1.0f, 1.0f, out, du, dv);
        return TXM_LOOKUP_FAILURE;
    }
    const int in_footprint = txm_filter_draws_in_footprint(how->filter);
    float u = at.u, v = at.v, slope[2], covered = 1.0f;
    int inside = txm_probe_wrap(t, &u, &v, slope);
    /* A footprint that is larger than a point may overlap the texture even if its centre is outside. */
    if (!inside && how->rule != TXM_LEVEL_RULE_PROBES && !in_footprint) {
        txm_color_constant(0.0f, 0.0f, 0.0f, 0.0f, out, du, dv);
        return TXM_LOOKUP_HIT;
    }
    txm_footprint f = txm_footprint_of(how, (float)t->width, (float)t->height, at.dudx, at.dvdx, at.dudy, at.dvdy);
    txm_levels levels;
    levels.low = txm_level_clamp(txm_level_jitter(how, f.level, &state->random), txm_levels_of(t, how),
                                 how->mode == TXM_LEVEL_MODE_TRILINEAR, &levels.blend);
    txm_jitter jitter = txm_jitter_of(how, &state->random);
    if (in_footprint) {
        at.u += jitter.x[0] * at.dudx + jitter.y[0] * at.dudy;
        at.v += jitter.x[0] * at.dvdx + jitter.y[0] * at.dvdy;
        u = at.u, v = at.v;
        inside = txm_probe_wrap(t, &u, &v, slope);
        f.probes = 1; /* the tap is drawn from the whole footprint */
    }
    const txm_rgba zero = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    txm_sum sum = {zero, zero, zero};
    txm_lookup_result result;
    if (f.probes > 1) {
        result = du ? txm_probes_sample_slopes(view, t, how, &at, &f, levels, &jitter, state, &sum, &covered)
                    : txm_probes_sample(view, t, how, &at, &f, levels, &jitter, state, 0, &sum, &covered);
    } else if (!inside) {
        txm_color_constant(0.0f, 0.0f, 0.0f, 0.0f, out, du, dv);
        return TXM_LOOKUP_HIT;
    } else {
        result = txm_probe_sample(view, t, how, levels, u, v, &jitter, du ? slope : 0, state, &sum);
    }
    if (result == TXM_LOOKUP_FAILURE || (result == TXM_LOOKUP_MISS && how->on_miss == TXM_ON_MISS_FAIL)) {
        txm_color_constant(1.0f, 0.0f, 1.0f, 1.0f, out, du, dv);
        return result;
    }
    txm_color_finish(t, how, &sum, covered, out, du, dv);
    return result;
}
#endif
