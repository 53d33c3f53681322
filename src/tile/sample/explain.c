/* SPDX-License-Identifier: Apache-2.0
 *
 * Explains a lookup: follows the same path as lookup.h, but records the taps instead of summing them.
 *
 * The level, the tiles and the weights come from the functions that lookup.h uses, so the explanation matches the
 * lookup. A change of the path in lookup.h has to be repeated here.
 */
#include <string.h>

#include "tile/sample/lookup.h"

/* One level of one probe. */
typedef struct walk {
    const txm_view *view;
    const txm_view_texture *texture;
    const txm_sampler *how;
    const txm_jitter *jitter;
    txm_lookup_state *state;
    txm_explanation *e;
    uint32_t probe;
} walk;

/* Adds a pixel of the plane, which is read through the extension. x and y are recorded as they were before the
 * extension; the tile is the one that holds the pixel after it. */
static void add_tap(const walk *s, uint32_t level, int64_t x, int64_t y, float weight)
{
    const txm_view_texture *t = s->texture;
    int32_t w = (int32_t)txm_level_size(t->width, level), h = (int32_t)txm_level_size(t->height, level);
    int32_t px = txm_wrap_pixel((int32_t)x, w, (int)TXM_EXTENSION_U(t->extension));
    int32_t py = txm_wrap_pixel((int32_t)y, h, (int)TXM_EXTENSION_V(t->extension));
    if (s->e->tap_count == TXM_MAX_TAPS)
        return;
    txm_tap *tap = &s->e->taps[s->e->tap_count++];
    *tap = (txm_tap){.probe = s->probe, .level = level, .x = x, .y = y, .weight = weight};
    if (px < 0 || py < 0) { /* clear, except that one channel has an alpha of 1 */
        tap->value[3] = t->channels == 1 ? 1.0f : 0.0f;
        return;
    }
    tap->tile_x = (uint32_t)px >> t->tile_shift;
    tap->tile_y = (uint32_t)py >> t->tile_shift;
    txm_lookup_result result = TXM_LOOKUP_HIT;
    const uint8_t *p = txm_tile_pixels(
        s->view, t, level, txm_number_of(t, level, (uint32_t)w, tap->tile_x, tap->tile_y), s->state, &result);
    if (!p)
        return;
    const size_t offset = ((uint32_t)py - (tap->tile_y << t->tile_shift) + TXM_BORDER_PX) * t->row_bytes +
                          ((uint32_t)px - (tap->tile_x << t->tile_shift) + TXM_BORDER_PX) * t->pixel_bytes;
    txm_rgba c = txm_is_packed(t) ? txm_packed_texel(t, p, level, px, py) : txm_texel(t->type, t->channels, p + offset);
    c = c * t->scale;
    for (int i = 0; i < 4; i++)
        tap->value[i] = t->channels > 1 ? c[i] : i < 3 ? c[0] : 1.0f;
}

/* Adds an n x n square of taps with the filter's weights. */
static void add_grid(const walk *s, uint32_t level, const txm_place *p, int n, const float *wx, const float *wy,
                     float weight)
{
    int first = n == 4 ? -1 : 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            add_tap(s, level, p->x + first + i, p->y + first + j, weight * (wx[i] * wy[j]));
}

/* Adds the taps of one level; a trilinear lookup has two. u and v are wrapped already. */
static void walk_level(const walk *s, uint32_t level, float u, float v, float weight)
{
    float x = txm_pixel_x(u, txm_level_size(s->texture->width, level));
    float y = txm_pixel_y(v, txm_level_size(s->texture->height, level));
    int filter = s->how->filter;
    txm_place p = txm_place_of(x, y);
    if (txm_filter_reads_square(filter) && !txm_filter_is_cubic(filter, level)) {
        const float wx[2] = {1.0f - p.fx, p.fx}, wy[2] = {1.0f - p.fy, p.fy};
        add_grid(s, level, &p, 2, wx, wy, weight);
    } else if (txm_filter_reads_square(filter)) {
        float wx[4], wy[4];
        txm_filter_weights(filter, p.fx, wx);
        txm_filter_weights(filter, p.fy, wy);
        add_grid(s, level, &p, 4, wx, wy, weight);
    } else {
        int moves = txm_filter_draws(filter) && !txm_filter_draws_in_footprint(filter);
        for (uint32_t i = 0; i < (moves ? s->jitter->taps : 1); i++)
            add_tap(s, level, txm_pixel_closest(x + (moves ? s->jitter->x[i] : 0.0f)),
                    txm_pixel_closest(y + (moves ? s->jitter->y[i] : 0.0f)), weight * s->jitter->weight[i]);
    }
}

/* Returns false if CLIP rejects every probe. */
static int walk_probes(walk *s, const txm_lookup *at, const txm_footprint *f)
{
    float total = 0.0f;
    int any = 0;
    for (uint32_t i = 0; i < f->probes; i++)
        total += txm_probe_weight(f, i);
    for (s->probe = 0; s->probe < f->probes; s->probe++) {
        float d = (float)s->probe - 0.5f * (float)(f->probes - 1), slope[2];
        float u = at->u + d * f->step_u, v = at->v + d * f->step_v;
        float weight = f->probes > 1 ? txm_probe_weight(f, s->probe) / total : 1.0f;
        if (!txm_probe_wrap(s->texture, &u, &v, slope))
            continue;
        any = 1;
        walk_level(s, s->e->level_low, u, v, weight * (1.0f - s->e->blend));
        if (s->e->blend > 0.0f)
            walk_level(s, s->e->level_low + 1, u, v, weight * s->e->blend);
    }
    return any;
}

/* The colour comes from a real lookup; the taps are recorded in a second pass. */
txm_lookup_result txm_sample_explain(const txm_view *view, uint32_t texture, const txm_sampler *how,
                                     const txm_lookup *given, txm_lookup_state *state, float out[4], txm_explanation *e)
{
    txm_lookup at = *given;
    uint32_t random = state->random;
    txm_lookup_result result = txm_sample(view, texture, how, given, state, out);
    memset(e, 0, offsetof(txm_explanation, taps));
    e->texture = texture;
    const txm_view_texture *t = txm_texture_at(view, texture, &at.u, &at.v);
    if (!t)
        return result;
    e->texture = (uint32_t)(t - view->textures);
    if (view->textures[texture].udim_rows) {
        float u = given->u, v = given->v;
        e->udim = txm_udim_of(&u, &v);
    }
    float u = at.u, v = at.v, slope[2];
    int inside = txm_probe_wrap(t, &u, &v, slope);
    txm_footprint f = txm_footprint_of(how, (float)t->width, (float)t->height, at.dudx, at.dvdx, at.dudy, at.dvdy);
    /* The generator steps only if the lookup is not rejected, as in txm_lookup_sample. */
    e->rejected = !inside && how->rule != TXM_LEVEL_RULE_PROBES && !txm_filter_draws_in_footprint(how->filter);
    e->level = txm_level_jitter(how, f.level, &random);
    e->level_low = txm_level_clamp(e->level, txm_levels_of(t, how), how->mode == TXM_LEVEL_MODE_TRILINEAR, &e->blend);
    if (e->rejected)
        return result;
    txm_jitter jitter = txm_jitter_of(how, &random);
    if (txm_filter_draws_in_footprint(how->filter)) {
        at.u += jitter.x[0] * at.dudx + jitter.y[0] * at.dudy;
        at.v += jitter.x[0] * at.dvdx + jitter.y[0] * at.dvdy;
        f.probes = 1;
    }
    e->probes = f.probes;
    walk s = {view, t, how, &jitter, state, e, 0};
    e->rejected = !walk_probes(&s, &at, &f);
    return result;
}
