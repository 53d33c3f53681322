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

/* A place of a texture, and how far it is moved in each level, in pixels. */
typedef struct texels_place {
    float u, v, move_x, move_y;
} texels_place;

/* The texel of a level at a place. `codes` is NULL unless its tile is in memory. */
typedef struct texels_texel {
    txm_tile_at entry;
    uint32_t tile; /* in its level, row by row */
    const uint8_t *codes;
} texels_texel;

/* 0: CLIP shows none there. */
static inline int texels_find(const txm_view *view, const txm_view_texture *t, uint32_t level, const texels_place *at,
                              texels_texel *out)
{
    const int32_t w = (int32_t)txm_level_size(t->width, level), h = (int32_t)txm_level_size(t->height, level);
    const int32_t x = txm_wrap_pixel((int32_t)txm_floor(txm_pixel_x(at->u, (uint32_t)w) + at->move_x), w,
                                     (int)TXM_EXTENSION_U(t->extension));
    const int32_t y = txm_wrap_pixel((int32_t)txm_floor(txm_pixel_y(at->v, (uint32_t)h) + at->move_y), h,
                                     (int)TXM_EXTENSION_V(t->extension));
    out->codes = NULL;
    if (x < 0 || y < 0)
        return 0;
    const uint32_t number =
        txm_number_of(t, level, (uint32_t)w, (uint32_t)x >> t->tile_shift, (uint32_t)y >> t->tile_shift);
    out->entry = txm_find_tile(view, number);
    out->tile = txm_is_packed(t) ? 0 : number - t->first - t->level_first[level];
    if (out->entry.slot < TXM_SLOT_STATES)
        out->codes = txm_texel_codes(t, txm_slot_address(view, t, out->entry.slot), level, (uint32_t)x, (uint32_t)y);
    return 1;
}

/* What is shown for a texel that is missing: the codes of one in a coarser level; NULL: magenta if the miss says
 * `failed`, or else the average. */
static inline const uint8_t *texels_instead(const txm_view *view, const texels_place *at, txm_texel_miss *miss)
{
    const txm_view_texture *t = view->textures + miss->texture;
    texels_texel found = {.codes = NULL};
    if (miss->state == TXM_SLOT_UNREGISTERED)
        miss->state = txm_view_slot(view, t->first + miss->level);
    miss->failed = miss->state == TXM_SLOT_FAILED || miss->state == TXM_SLOT_UNREADABLE + view->round;
    if (miss->failed)
        return NULL;
    for (miss->shown = miss->level + 1; miss->shown < t->levels; miss->shown++) {
        const uint32_t w = txm_level_size(t->width, miss->shown), h = txm_level_size(t->height, miss->shown);
        /* Where a level is one tile, it is known without the place whether that is there. */
        if (!((w - 1) >> t->tile_shift | (h - 1) >> t->tile_shift) &&
            txm_find_tile(view, txm_number_of(t, miss->shown, w, 0, 0)).slot >= TXM_SLOT_STATES)
            continue;
        if (texels_find(view, t, miss->shown, at, &found) && found.codes) {
            txm_touch_tile(view, found.entry.word, found.entry.mark, found.entry.index);
            break;
        }
    }
    return found.codes;
}

/* Sample i of a batch. Without `misses`, one that is no HIT changes only its result. */
static inline void texels_element(const txm_view *view, const txm_texels *b, size_t i, txm_texel_miss **misses,
                                  uint64_t *texels)
{
    const txm_sampler *how = &b->samplers[b->how[i]];
    float u = b->u[i], v = b->v[i], blend, *out = b->out[i];
    const txm_view_texture *t = txm_texture_at(view, b->texture[i], &u, &v);
    b->result[i] = TXM_LOOKUP_HIT;
    if (!t) {
        b->result[i] = TXM_LOOKUP_FAILURE;
        if (misses)
            txm_color_store(txm_rgba_make(1.0f, 0.0f, 1.0f, 1.0f), out);
        return;
    }
    texels_place at = {.u = u - u == 0.0f ? u : 0.0f, .v = v - v == 0.0f ? v : 0.0f};
    if (!(txm_wrap(&at.u, (int)TXM_EXTENSION_U(t->extension)) & txm_wrap(&at.v, (int)TXM_EXTENSION_V(t->extension)))) {
        txm_color_store(txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f), out);
        return;
    }
    uint32_t state = b->random[i], count = 0;
    const txm_footprint f =
        txm_footprint_of(how, (float)t->width, (float)t->height, b->dudx[i], b->dvdx[i], b->dudy[i], b->dvdy[i]);
    const uint32_t low = txm_level_clamp(txm_level_jitter(how, f.level, &state), txm_levels_of(t, how),
                                         how->mode == TXM_LEVEL_MODE_TRILINEAR, &blend);
    if (how->filter != TXM_FILTER_CLOSEST) {
        at.move_x = texels_move(&state);
        at.move_y = texels_move(&state);
    }
    texels_texel found[2];
    const uint32_t levels = blend > 0.0f ? 2 : 1;
    int shown[2];
    for (uint32_t k = 0; k < levels; k++) {
        shown[k] = texels_find(view, t, low + k, &at, &found[k]);
        if (shown[k] && !found[k].codes && !misses) {
            b->result[i] = TXM_LOOKUP_MISS;
            return;
        }
    }
    float colors[2][4] = {{0.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 0.0f, 0.0f}};
    for (uint32_t k = 0; k < levels; k++) {
        const uint8_t *codes = found[k].codes;
        if (codes) {
            txm_touch_tile(view, found[k].entry.word, found[k].entry.mark, found[k].entry.index);
            count++;
        } else if (shown[k]) {
            txm_texel_miss miss = {.sample = (uint32_t)i,
                                   .texture = (uint32_t)(t - view->textures),
                                   .level = low + k,
                                   .tile = found[k].tile,
                                   .state = found[k].entry.slot};
            codes = texels_instead(view, &at, &miss);
            if (miss.failed)
                txm_color_store(txm_rgba_make(1.0f, 0.0f, 1.0f, 1.0f), colors[k]);
            else if (!codes)
                txm_texel_average(t, how->after, colors[k]);
            *(*misses)++ = miss;
        }
        if (codes)
            txm_texel_decoded(t, codes, how->after, b->decoded, colors[k]);
    }
    for (int c = 0; c < 4; c++)
        out[c] = levels == 1 ? colors[0][c] : colors[0][c] * (1.0f - blend) + colors[1][c] * blend;
    b->random[i] = state;
    *texels += count;
}
#endif
