/* SPDX-License-Identifier: Apache-2.0
 *
 * Point samples of what is in memory: one texel of a level, or of the two around a footprint. This is plain C and the
 * specification; simd/texels_simd.h does the same for vectors.
 */
#ifndef TXM_SAMPLE_TEXELS_H
#define TXM_SAMPLE_TEXELS_H
#include "tile/sample/lookup.h"

/* The stored texel at x, y of a level whose tile is at `tile`. */
static inline const uint8_t *txm_texel_codes(const txm_view_texture *t, const uint8_t *tile, uint32_t level, uint32_t x,
                                             uint32_t y)
{
    if (txm_is_packed(t))
        return tile + t->level_first[level] + (y * txm_level_size(t->width, level) + x) * t->pixel_bytes;
    const uint32_t inside = (1u << t->tile_shift) - 1;
    return tile + ((y & inside) + TXM_BORDER_PX) * t->row_bytes + ((x & inside) + TXM_BORDER_PX) * t->pixel_bytes;
}

/* The colour of a stored texel. Most time would go into decoding sRGB, for which 8-bit codes have a table. */
static inline void txm_texel_decoded(const txm_view_texture *t, const uint8_t *codes, int after,
                                     const float decoded[256], float rgba[4])
{
    txm_color_store(txm_rgba_quiet(txm_color_scale(t, txm_texel(t->type, t->channels, codes), 1.0f)), rgba);
    const bool divides = (after & TXM_AFTER_UNASSOCIATE) && rgba[3] != 1.0f && rgba[3] != 0.0f;
    if ((after & TXM_AFTER_SRGB) && !divides && t->type == TXM_TYPE_U8 && t->scale == 1.0f / 255.0f) {
        for (int c = 0; c < 3; c++)
            rgba[c] = decoded[codes[t->channels == 1 ? 0 : c]];
        return;
    }
    if (!after)
        return;
    txm_after(after, rgba, NULL, NULL);
    txm_color_store(txm_rgba_quiet(txm_rgba_make(rgba[0], rgba[1], rgba[2], rgba[3])), rgba);
}

/* A random number in [0, 1) minus a half: how far a point sample is moved, in texels. */
static inline float texels_move(uint32_t *random)
{
    *random = txm_random_step(*random);
    return (float)(*random >> 8) * 0x1p-24f - 0.5f;
}

/* One sample of txm_texels_n. If it is no HIT, *random, `out` and *texels are unchanged. */
static inline txm_lookup_result texels_one(const txm_view *view, const txm_sampler *how, uint32_t texture,
                                           txm_lookup at, const float decoded[256], uint32_t *random, float out[4],
                                           uint64_t *texels)
{
    const txm_view_texture *t = txm_texture_at(view, texture, &at.u, &at.v);
    if (!t)
        return TXM_LOOKUP_FAILURE;
    float u = at.u - at.u == 0.0f ? at.u : 0.0f, v = at.v - at.v == 0.0f ? at.v : 0.0f, blend, move[2] = {0.0f, 0.0f};
    if (!(txm_wrap(&u, TXM_EXTENSION_U(t->extension)) & txm_wrap(&v, TXM_EXTENSION_V(t->extension)))) {
        txm_color_store(txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f), out);
        return TXM_LOOKUP_HIT;
    }
    uint32_t state = *random, count = 0;
    const txm_footprint f =
        txm_footprint_of(how, (float)t->width, (float)t->height, at.dudx, at.dvdx, at.dudy, at.dvdy);
    const uint32_t low = txm_level_clamp(txm_level_jitter(how, f.level, &state), txm_levels_of(t, how),
                                         how->mode == TXM_LEVEL_MODE_TRILINEAR, &blend);
    if (how->filter != TXM_FILTER_CLOSEST) {
        move[0] = texels_move(&state);
        move[1] = texels_move(&state);
    }
    txm_tile_at found[2];
    const uint8_t *codes[2] = {NULL, NULL};
    const uint32_t levels = blend > 0.0f ? 2 : 1;
    for (uint32_t i = 0; i < levels; i++) {
        const int32_t w = (int32_t)txm_level_size(t->width, low + i), h = (int32_t)txm_level_size(t->height, low + i);
        const int32_t x =
            txm_wrap_pixel((int32_t)txm_floor(txm_pixel_x(u, (uint32_t)w) + move[0]), w, TXM_EXTENSION_U(t->extension));
        const int32_t y =
            txm_wrap_pixel((int32_t)txm_floor(txm_pixel_y(v, (uint32_t)h) + move[1]), h, TXM_EXTENSION_V(t->extension));
        if (x < 0 || y < 0)
            continue;
        found[i] = txm_find_tile(
            view, txm_number_of(t, low + i, (uint32_t)w, (uint32_t)x >> t->tile_shift, (uint32_t)y >> t->tile_shift));
        if (found[i].slot >= TXM_SLOT_STATES)
            return TXM_LOOKUP_MISS;
        codes[i] = txm_texel_codes(t, txm_slot_address(view, t, found[i].slot), low + i, (uint32_t)x, (uint32_t)y);
    }
    float colors[2][4] = {{0.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f, 0.0f}};
    for (uint32_t i = 0; i < levels; i++)
        if (codes[i]) {
            txm_touch_tile(view, found[i].word, found[i].mark, found[i].index);
            txm_texel_decoded(t, codes[i], how->after, decoded, colors[i]);
            count++;
        }
    for (int c = 0; c < 4; c++)
        out[c] = levels == 1 ? colors[0][c] : colors[0][c] * (1.0f - blend) + colors[1][c] * blend;
    *random = state;
    *texels += count;
    return TXM_LOOKUP_HIT;
}

/* Element i of a batch, by itself. */
static inline txm_lookup_result texels_element(const txm_view *view, const txm_texels *b, size_t i, uint64_t *texels)
{
    const txm_lookup at = {b->u[i], b->v[i], b->dudx[i], b->dvdx[i], b->dudy[i], b->dvdy[i]};
    const txm_lookup_result result =
        texels_one(view, &b->samplers[b->how[i]], b->texture[i], at, b->decoded, &b->random[i], b->out[i], texels);
    b->result[i] = (uint8_t)result;
    return result;
}
#endif
