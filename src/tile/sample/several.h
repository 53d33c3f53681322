/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups that are made of several: across the edges of UDIM tiles, and around the poles of environments. Each one is
 * a lookup of a given level, so all back-ends, devices among them, give the same bits.
 */
#ifndef TXM_SAMPLE_SEVERAL_H
#define TXM_SAMPLE_SEVERAL_H
#include "tile/sample/lookup.h"

enum { TXM_AROUND_POLE = 16 /* pixels of a row that stand for it */ };

#ifdef TXM_DEVICE_VIEW
TXM_CALLED TXM_FLOW txm_lookup_result txm_several_read(const TXM_VIEW *view, uint32_t texture, const txm_sampler *how,
                                                       const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    return txm_lookup_sample(view, texture, how, at, state, out, 0, 0);
}
#else
#define txm_several_read txm_sample
#endif

/* A point of one level: the places of the texture, or of the set, are relative to the tile in `column` and `row`. */
typedef struct txm_point {
    const TXM_VIEW *view;
    TXM_GLOBAL const txm_view_texture *set; /* 0: the texture is not in a UDIM set */
    int32_t column, row;
    uint32_t texture;
    txm_sampler how; /* takes the level as given */
    txm_lookup_state *state;
} txm_point;

TXM_PART txm_lookup_result txm_point_pixel(const txm_point *p, uint32_t texture, uint32_t level, float u, float v,
                                           txm_rgba *color)
{
    const txm_lookup at = {u, v, (float)level, 0.0f, 0.0f, 0.0f};
    float out[4];
    const txm_lookup_result result = txm_several_read(p->view, texture, &p->how, &at, p->state, out);
    *color = txm_rgba_make(out[0], out[1], out[2], out[3]);
    return result;
}

/* Whether the point's set has a tile there. */
TXM_PART int txm_point_tile(const txm_point *p, int32_t column, int32_t row, uint32_t *texture)
{
    if (column < 0 || column > 9 || row < 0 || (uint32_t)row >= p->set->udim_rows)
        return 0;
    *texture = p->view->udims[p->set->first + (uint32_t)(10 * row + column)];
    return *texture < p->view->texture_count && !p->view->textures[*texture].udim_rows;
}

TXM_PART txm_lookup_result txm_worse(txm_lookup_result a, txm_lookup_result b)
{
    return a > b ? a : b;
}

/* Moves a point of a set, for a probe at (*u, *v) of its tile, to the tile that the place is in. Where there is none,
 * the tile beside it extends, or else the point's own. */
TXM_PART txm_point txm_point_of_probe(const txm_point *p, float *u, float *v)
{
    const float own_u = txm_min(txm_max(*u, 0.0f), 1.0f), own_v = txm_min(txm_max(*v, 0.0f), 1.0f);
    for (int i = 0; p->set && (own_u != *u || own_v != *v) && i < 3; i++) {
        txm_point moved = *p;
        const float across = (float)p->column + (i == 1 ? own_u : *u), up = (float)p->row + (i == 2 ? own_v : *v);
        moved.column = i == 1 ? p->column : (int32_t)txm_floor(across);
        moved.row = i == 2 ? p->row : (int32_t)txm_floor(up);
        if (txm_point_tile(p, moved.column, moved.row, &moved.texture)) {
            *u = across - (float)moved.column;
            *v = up - (float)moved.row;
            return moved;
        }
    }
    if (p->set) {
        *u = own_u;
        *v = own_v;
    }
    return *p;
}

/* ---- UDIM ---- */

/* How far a coordinate is beyond the centre of the first or last of `size` pixels, at most half a pixel; *side is the
 * direction of the neighbour. */
TXM_ARITH float txm_beyond_centre(float u, uint32_t size, int32_t *side)
{
    const float x = u * (float)size, low = 0.5f - x, high = x - ((float)size - 0.5f);
    *side = high > low ? 1 : -1;
    const float beyond = high > low ? high : low;
    return beyond > 0.0f ? (beyond < 0.5f ? beyond : 0.5f) : 0.0f;
}

TXM_PART int txm_is_at_edge(TXM_GLOBAL const txm_view_texture *t, uint32_t level, float u, float v)
{
    int32_t side;
    return txm_beyond_centre(u, txm_level_size(t->width, level), &side) > 0.0f ||
           txm_beyond_centre(v, txm_level_size(t->height, level), &side) > 0.0f;
}

/* The centre of the pixel at an edge if the place is beyond it. */
TXM_ARITH float txm_at_centre(float u, uint32_t size)
{
    const float first = 0.5f / (float)size;
    return u < first ? first : u > 1.0f - first ? 1.0f - first : u;
}

/* Reads the pixel at the edge of a neighbour that is nearest to (u, v), in the level whose pixels are about as large.
 * *found is 0, and the colour stays, if there is no such tile. */
TXM_PART txm_lookup_result txm_point_neighbour(const txm_point *p, int32_t column, int32_t row, uint32_t width, float u,
                                               float v, int *found, txm_rgba *color)
{
    uint32_t texture;
    *found = txm_point_tile(p, column, row, &texture);
    if (!*found)
        return TXM_LOOKUP_HIT;
    TXM_GLOBAL const txm_view_texture *t = p->view->textures + texture;
    uint32_t level = 0;
    while (level + 1u < t->levels && txm_level_size(t->width, level) > width)
        level++;
    return txm_point_pixel(p, texture, level, txm_at_centre(u, txm_level_size(t->width, level)),
                           txm_at_centre(v, txm_level_size(t->height, level)), color);
}

/* The pixels on both sides of an edge blend as two neighbours of one image do. Where a neighbour is missing, the tile
 * extends; where only the one across a corner is, the others do. */
TXM_PART txm_lookup_result txm_point_across_edges(const txm_point *p, uint32_t level, float u, float v, txm_rgba *color)
{
    TXM_GLOBAL const txm_view_texture *t = p->view->textures + p->texture;
    const uint32_t w = txm_level_size(t->width, level), h = txm_level_size(t->height, level);
    int32_t x, y;
    const float fx = txm_beyond_centre(u, w, &x), fy = txm_beyond_centre(v, h, &y), gx = 1.0f - fx, gy = 1.0f - fy;
    const float side_u = x < 0 ? 1.0f : 0.0f, above_v = y < 0 ? 1.0f : 0.0f;
    int has_side = 0, has_above = 0, has_corner = 0;
    txm_rgba own, side, above, corner;
    txm_lookup_result result = txm_point_pixel(p, p->texture, level, txm_at_centre(u, w), txm_at_centre(v, h), &own);
    side = above = own;
    if (fx > 0.0f)
        result = txm_worse(result, txm_point_neighbour(p, p->column + x, p->row, w, side_u, v, &has_side, &side));
    if (fy > 0.0f)
        result = txm_worse(result, txm_point_neighbour(p, p->column, p->row + y, w, u, above_v, &has_above, &above));
    corner = !has_above ? side : !has_side ? above : (side + above) * 0.5f;
    if (fx > 0.0f && fy > 0.0f)
        result = txm_worse(result,
                           txm_point_neighbour(p, p->column + x, p->row + y, w, side_u, above_v, &has_corner, &corner));
    *color = (own * gx + side * fx) * gy + (above * gx + corner * fx) * fy;
    return result;
}

/* ---- environments ---- */

/* How much of the pole's colour is in a place of a level: the square of the distance into the last row, as in
 * OpenImageIO. *row is the middle of that row. */
TXM_ARITH float txm_pole_share(float v, uint32_t size, float *row)
{
    const float y = (1.0f - v) * (float)size, last = (float)size - 1.0f;
    const float into = y < 1.0f ? 1.0f - y : y - last;
    *row = y < 1.0f ? 1.0f - 0.5f / (float)size : 0.5f / (float)size;
    return into > 0.0f ? (into < 1.0f ? into * into : 1.0f) : 0.0f;
}

TXM_PART int txm_is_at_pole(TXM_GLOBAL const txm_view_texture *t, uint32_t level, float v)
{
    float row;
    return txm_pole_share(v, txm_level_size(t->height, level), &row) > 0.0f;
}

/* All of the row at a pole is one place, so its colour is the mean of the row, or of pixels spread over it. */
TXM_PART txm_lookup_result txm_point_near_pole(const txm_point *p, uint32_t level, float u, float v, txm_rgba *color)
{
    TXM_GLOBAL const txm_view_texture *t = p->view->textures + p->texture;
    const uint32_t w = txm_level_size(t->width, level), count = w < TXM_AROUND_POLE ? w : TXM_AROUND_POLE;
    float row;
    const float share = txm_pole_share(v, txm_level_size(t->height, level), &row);
    txm_lookup_result result = txm_point_pixel(p, p->texture, level, u, v, color);
    if (!(share > 0.0f))
        return result;
    txm_rgba sum = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f), one;
    for (uint32_t i = 0; i < count; i++) {
        result = txm_worse(result, txm_point_pixel(p, p->texture, level, ((float)i + 0.5f) / (float)count, row, &one));
        sum = sum + one;
    }
    *color = *color * (1.0f - share) + sum * (share / (float)count);
    return result;
}

/* The colour of a point of one level. */
TXM_PART txm_lookup_result txm_point_color(const txm_point *p, uint32_t kind, uint32_t level, float u, float v,
                                           txm_rgba *color)
{
    return kind == TXM_QUERY_UDIM_BLEND ? txm_point_across_edges(p, level, u, v, color)
                                        : txm_point_near_pole(p, level, u, v, color);
}

/* ---- the whole lookup ---- */

/* A linear lookup whose points may need several pixels. Those that need one are ordinary lookups, as are other filters.
 * `kind` is TXM_QUERY_UDIM_BLEND or TXM_QUERY_LATLONG. */
TXM_PART txm_lookup_result txm_several_sample(const TXM_VIEW *view, uint32_t texture, const txm_sampler *how,
                                              const txm_lookup *given, uint32_t kind, txm_lookup_state *state,
                                              float out[4])
{
    const int blends = kind == TXM_QUERY_UDIM_BLEND;
    const int usual = how->filter != TXM_FILTER_LINEAR || texture >= view->texture_count ||
                      !blends != !view->textures[texture].udim_rows ||
                      (blends && !(given->u >= 0.0f && given->v >= 0.0f));
    txm_lookup at = *given;
    TXM_GLOBAL const txm_view_texture *t = usual ? 0 : txm_texture_at(view, texture, &at.u, &at.v);
    if (!t || !(at.u - at.u == 0.0f && at.v - at.v == 0.0f))
        return txm_several_read(view, texture, how, given, state, out);
    uint32_t random = state->random;
    const txm_footprint f =
        txm_footprint_of(how, (float)t->width, (float)t->height, at.dudx, at.dvdx, at.dudy, at.dvdy);
    txm_levels levels;
    levels.low = txm_level_clamp(txm_level_jitter(how, f.level, &random), txm_levels_of(t, how),
                                 how->mode == TXM_LEVEL_MODE_TRILINEAR, &levels.blend);
    const uint32_t last = levels.low + (levels.blend > 0.0f);
    int needed = 0;
    for (uint32_t i = 0; i < f.probes && !needed; i++) {
        const float d = (float)i - 0.5f * (float)(f.probes - 1);
        const float u = at.u + d * f.step_u, v = at.v + d * f.step_v;
        needed = blends ? txm_is_at_edge(t, last, u, v) : txm_is_at_pole(t, last, v);
    }
    if (!needed)
        return txm_several_read(view, texture, how, given, state, out);
    txm_point p;
    p.view = view;
    p.set = blends ? view->textures + texture : 0;
    p.column = blends ? (int32_t)given->u : 0;
    p.row = blends ? (int32_t)given->v : 0;
    p.texture = (uint32_t)(t - view->textures);
    p.how = *how;
    p.state = state;
    p.how.rule = TXM_LEVEL_RULE_GIVEN;
    p.how.mode = TXM_LEVEL_MODE_FLOOR;
    p.how.after = 0;
    p.how.mip_bias = 0.0f;
    txm_lookup_result result = TXM_LOOKUP_HIT;
    txm_rgba sum = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    float total = 0.0f;
    for (uint32_t i = 0; i < f.probes; i++) {
        const float d = (float)i - 0.5f * (float)(f.probes - 1), weight = f.probes > 1 ? txm_probe_weight(&f, i) : 1.0f;
        float u = at.u + d * f.step_u, v = at.v + d * f.step_v;
        const txm_point probe = txm_point_of_probe(&p, &u, &v);
        txm_rgba color, coarse;
        result = txm_worse(result, txm_point_color(&probe, kind, levels.low, u, v, &color));
        if (levels.blend > 0.0f) {
            result = txm_worse(result, txm_point_color(&probe, kind, last, u, v, &coarse));
            color = color * (1.0f - levels.blend) + coarse * levels.blend;
        }
        sum = sum + color * weight;
        total += weight;
    }
    state->random = random;
    if (result == TXM_LOOKUP_FAILURE || (result == TXM_LOOKUP_MISS && how->on_miss == TXM_ON_MISS_FAIL)) {
        txm_color_constant(1.0f, 0.0f, 1.0f, 1.0f, out, 0, 0);
        return result;
    }
    txm_color_store(txm_rgba_quiet(sum * (1.0f / total)), out);
    txm_after(how->after, out, 0, 0);
    txm_color_store(txm_rgba_quiet(txm_rgba_make(out[0], out[1], out[2], out[3])), out);
    return result;
}
#endif
