/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups that are made of several: across the edges of UDIM tiles, and around the poles of environments. Each one is
 * a lookup of a given level, so all back-ends give the same bits.
 */
#include "tile/sample/lookup.h"
#include "tile/sample/sample_ops.h"

/* A point of one level: the places of the texture, or of the set, are relative to the tile in `column` and `row`. */
typedef struct point {
    const txm_view *view;
    const txm_view_texture *set; /* NULL: the texture is not in a UDIM set */
    int32_t column, row;
    uint32_t texture;
    txm_sampler how; /* takes the level as given */
    txm_lookup_state *state;
} point;

/* Whether the level needs more than one lookup at this place. */
typedef bool (*point_test)(const txm_view_texture *t, uint32_t level, float u, float v);
typedef txm_lookup_result (*point_function)(const point *p, uint32_t level, float u, float v, txm_rgba *color);

static txm_lookup_result read_pixel(const point *p, uint32_t texture, uint32_t level, float u, float v, txm_rgba *color)
{
    const txm_lookup at = {u, v, (float)level, 0.0f, 0.0f, 0.0f};
    float out[4];
    const txm_lookup_result result = txm_sample(p->view, texture, &p->how, &at, p->state, out);
    *color = txm_rgba_make(out[0], out[1], out[2], out[3]);
    return result;
}

/* Whether the point's set has a tile there. */
static bool find_tile(const point *p, int32_t column, int32_t row, uint32_t *texture)
{
    if (column < 0 || column > 9 || row < 0 || (uint32_t)row >= p->set->udim_rows)
        return false;
    *texture = p->view->udims[p->set->first + (uint32_t)(10 * row + column)];
    return *texture < p->view->texture_count && !p->view->textures[*texture].udim_rows;
}

static txm_lookup_result worse(txm_lookup_result a, txm_lookup_result b)
{
    return a > b ? a : b;
}

/* Moves a point of a set, for a probe at (*u, *v) of its tile, to the tile that the place is in. Where there is none,
 * the tile beside it extends, or else the point's own. */
static point point_of_probe(const point *p, float *u, float *v)
{
    const float own_u = txm_min(txm_max(*u, 0.0f), 1.0f), own_v = txm_min(txm_max(*v, 0.0f), 1.0f);
    for (int i = 0; p->set && (own_u != *u || own_v != *v) && i < 3; i++) {
        point moved = *p;
        const float across = (float)p->column + (i == 1 ? own_u : *u), up = (float)p->row + (i == 2 ? own_v : *v);
        moved.column = i == 1 ? p->column : (int32_t)txm_floor(across);
        moved.row = i == 2 ? p->row : (int32_t)txm_floor(up);
        if (find_tile(p, moved.column, moved.row, &moved.texture)) {
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

/* A linear lookup whose points may need several pixels. Those that need one are ordinary lookups. */
static txm_lookup_result sample_points(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                       const txm_lookup *given, txm_lookup_state *state, float out[4], point_test test,
                                       point_function read)
{
    txm_lookup at = *given;
    const txm_view_texture *t = how->filter == TXM_FILTER_LINEAR ? txm_texture_at(view, texture, &at.u, &at.v) : NULL;
    if (!t || !(at.u - at.u == 0.0f && at.v - at.v == 0.0f))
        return txm_sample(view, texture, how, given, state, out);
    const txm_view_texture *outer = view->textures + texture;
    uint32_t random = state->random;
    const txm_footprint f =
        txm_footprint_of(how, (float)t->width, (float)t->height, at.dudx, at.dvdx, at.dudy, at.dvdy);
    txm_levels levels;
    levels.low = txm_level_clamp(txm_level_jitter(how, f.level, &random), txm_levels_of(t, how),
                                 how->mode == TXM_LEVEL_MODE_TRILINEAR, &levels.blend);
    const uint32_t last = levels.low + (levels.blend > 0.0f);
    bool needed = false;
    for (uint32_t i = 0; i < f.probes && !needed; i++) {
        const float d = (float)i - 0.5f * (float)(f.probes - 1);
        needed = test(t, last, at.u + d * f.step_u, at.v + d * f.step_v);
    }
    if (!needed)
        return txm_sample(view, texture, how, given, state, out);
    point p = {.view = view,
               .set = outer->udim_rows ? outer : NULL,
               .column = (int32_t)given->u,
               .row = (int32_t)given->v,
               .texture = (uint32_t)(t - view->textures),
               .how = *how,
               .state = state};
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
        const point probe = point_of_probe(&p, &u, &v);
        txm_rgba color, coarse;
        result = worse(result, read(&probe, levels.low, u, v, &color));
        if (levels.blend > 0.0f) {
            result = worse(result, read(&probe, last, u, v, &coarse));
            color = color * (1.0f - levels.blend) + coarse * levels.blend;
        }
        sum = sum + color * weight;
        total += weight;
    }
    state->random = random;
    if (result == TXM_LOOKUP_FAILURE || (result == TXM_LOOKUP_MISS && how->on_miss == TXM_ON_MISS_FAIL)) {
        txm_color_constant(1.0f, 0.0f, 1.0f, 1.0f, out, NULL, NULL);
        return result;
    }
    txm_color_store(txm_rgba_quiet(sum * (1.0f / total)), out);
    txm_after(how->after, out, NULL, NULL);
    txm_color_store(txm_rgba_quiet(txm_rgba_make(out[0], out[1], out[2], out[3])), out);
    return result;
}

/* ---- UDIM ---- */

/* How far a coordinate is beyond the centre of the first or last of `size` pixels, at most half a pixel; *side is the
 * direction of the neighbour. */
static float beyond_centre(float u, uint32_t size, int32_t *side)
{
    const float x = u * (float)size, low = 0.5f - x, high = x - ((float)size - 0.5f);
    *side = high > low ? 1 : -1;
    const float beyond = high > low ? high : low;
    return beyond > 0.0f ? (beyond < 0.5f ? beyond : 0.5f) : 0.0f;
}

static bool is_at_edge(const txm_view_texture *t, uint32_t level, float u, float v)
{
    int32_t side;
    return beyond_centre(u, txm_level_size(t->width, level), &side) > 0.0f ||
           beyond_centre(v, txm_level_size(t->height, level), &side) > 0.0f;
}

/* The centre of the pixel at an edge if the place is beyond it. */
static float at_centre(float u, uint32_t size)
{
    const float half = 0.5f / (float)size;
    return u < half ? half : u > 1.0f - half ? 1.0f - half : u;
}

/* Reads the pixel at the edge of a neighbour that is nearest to (u, v), in the level whose pixels are about as large.
 * *found is false, and the colour stays, if there is no such tile. */
static txm_lookup_result read_neighbour(const point *p, int32_t column, int32_t row, uint32_t width, float u, float v,
                                        bool *found, txm_rgba *color)
{
    uint32_t texture;
    *found = find_tile(p, column, row, &texture);
    if (!*found)
        return TXM_LOOKUP_HIT;
    const txm_view_texture *t = p->view->textures + texture;
    uint32_t level = 0;
    while (level + 1u < t->levels && txm_level_size(t->width, level) > width)
        level++;
    return read_pixel(p, texture, level, at_centre(u, txm_level_size(t->width, level)),
                      at_centre(v, txm_level_size(t->height, level)), color);
}

/* The pixels on both sides of an edge blend as two neighbours of one image do. Where a neighbour is missing, the tile
 * extends; where only the one across a corner is, the others do. */
static txm_lookup_result read_across_edges(const point *p, uint32_t level, float u, float v, txm_rgba *color)
{
    const txm_view_texture *t = p->view->textures + p->texture;
    const uint32_t w = txm_level_size(t->width, level), h = txm_level_size(t->height, level);
    int32_t x, y;
    const float fx = beyond_centre(u, w, &x), fy = beyond_centre(v, h, &y), gx = 1.0f - fx, gy = 1.0f - fy;
    const float side_u = x < 0 ? 1.0f : 0.0f, above_v = y < 0 ? 1.0f : 0.0f;
    bool has_side = false, has_above = false, has_corner = false;
    txm_rgba own, side, above, corner;
    txm_lookup_result result = read_pixel(p, p->texture, level, at_centre(u, w), at_centre(v, h), &own);
    side = above = own;
    if (fx > 0.0f)
        result = worse(result, read_neighbour(p, p->column + x, p->row, w, side_u, v, &has_side, &side));
    if (fy > 0.0f)
        result = worse(result, read_neighbour(p, p->column, p->row + y, w, u, above_v, &has_above, &above));
    corner = !has_above ? side : !has_side ? above : (side + above) * 0.5f;
    if (fx > 0.0f && fy > 0.0f)
        result = worse(result, read_neighbour(p, p->column + x, p->row + y, w, side_u, above_v, &has_corner, &corner));
    *color = (own * gx + side * fx) * gy + (above * gx + corner * fx) * fy;
    return result;
}

txm_lookup_result txm_sample_udim_blend(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                        const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    if (texture >= view->texture_count || !view->textures[texture].udim_rows || !(at->u >= 0.0f && at->v >= 0.0f))
        return txm_sample(view, texture, how, at, state, out);
    return sample_points(view, texture, how, at, state, out, is_at_edge, read_across_edges);
}

/* ---- environments ---- */

/* How much of the pole's colour is in a place of a level: the square of the distance into the last row, as in
 * OpenImageIO. *row is the middle of that row. */
static float pole_share(float v, uint32_t size, float *row)
{
    const float y = (1.0f - v) * (float)size, last = (float)size - 1.0f;
    const float into = y < 1.0f ? 1.0f - y : y - last;
    *row = y < 1.0f ? 1.0f - 0.5f / (float)size : 0.5f / (float)size;
    return into > 0.0f ? (into < 1.0f ? into * into : 1.0f) : 0.0f;
}

static bool is_at_pole(const txm_view_texture *t, uint32_t level, float u, float v)
{
    float row;
    (void)u;
    return pole_share(v, txm_level_size(t->height, level), &row) > 0.0f;
}

/* All of the row at a pole is one place, so its colour is the mean of the row, or of pixels spread over it. */
static txm_lookup_result read_near_pole(const point *p, uint32_t level, float u, float v, txm_rgba *color)
{
    enum { AROUND = 16 };
    const txm_view_texture *t = p->view->textures + p->texture;
    const uint32_t w = txm_level_size(t->width, level), count = w < AROUND ? w : AROUND;
    float row;
    const float share = pole_share(v, txm_level_size(t->height, level), &row);
    txm_lookup_result result = read_pixel(p, p->texture, level, u, v, color);
    if (!(share > 0.0f))
        return result;
    txm_rgba sum = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f), one;
    for (uint32_t i = 0; i < count; i++) {
        result = worse(result, read_pixel(p, p->texture, level, ((float)i + 0.5f) / (float)count, row, &one));
        sum = sum + one;
    }
    *color = *color * (1.0f - share) + sum * (share / (float)count);
    return result;
}

txm_lookup_result txm_sample_latlong(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                     const txm_lookup *at, txm_lookup_state *state, float out[4])
{
    if (texture >= view->texture_count || view->textures[texture].udim_rows)
        return txm_sample(view, texture, how, at, state, out);
    return sample_points(view, texture, how, at, state, out, is_at_pole, read_near_pole);
}

/* ---- batches with derivatives ---- */

txm_lookup_result txm_sample_n_d(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                 const txm_lookups *batch, const txm_lookup_slopes *slopes, txm_lookup_state *state)
{
    txm_lookup_result worst = TXM_LOOKUP_HIT;
    txm_sampler certain;
    if (!batch->random)
        how = txm_sampler_without_chance(how, &certain);
    const uint32_t kept = state->random;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->mask && !batch->mask[i])
            continue;
        const txm_lookup at = {batch->u[i],    batch->v[i],    batch->dudx[i],
                               batch->dvdx[i], batch->dudy[i], batch->dvdy[i]};
        float out[4], du[4], dv[4];
        state->random = batch->random ? batch->random[i] : 0;
        const txm_lookup_result result = txm_sample_d(view, texture, how, &at, state, out, du, dv);
        if (batch->random)
            batch->random[i] = state->random;
        for (int c = 0; c < 4; c++) {
            batch->out[c][i] = out[c];
            slopes->du[c][i] = du[c];
            slopes->dv[c][i] = dv[c];
        }
        if (batch->result)
            batch->result[i] = (uint8_t)result;
        worst = worse(worst, result);
    }
    state->random = kept;
    return worst;
}
