/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups of the usual kinds on devices, one function for each filter and type, so that a kernel needs few registers
 * and no stack.
 *
 * Lookups are divided into bins: one for each of the cases below, and one for the rest, which lookup.h does. A quick
 * lookup gives up as soon as something is unusual, such as a tile that is missing; it has then changed nothing but
 * marks, and goes to the rest. Its arithmetic is that of lookup.h, to the bit.
 */
#ifndef TXM_SAMPLE_QUICK_H
#define TXM_SAMPLE_QUICK_H
#include "tile/sample/lookup.h"

/* The bin of a lookup. Textures may be NULL, and packed ones have no padded tiles. */
TXM_KERNEL_PART uint32_t txm_bin_of(const txm_sampler *how, TXM_GLOBAL const txm_view_texture *t)
{
    const uint32_t bin = txm_bin_of_filter(how->filter);
    return !t || txm_is_packed(t) || !bin ? TXM_BIN_REST : bin + t->type;
}

/* A pixel of four channels, in one load. */
TXM_KERNEL_PART txm_rgba txm_quick_four(int type, TXM_GLOBAL const uint8_t *p)
{
    if (type == TXM_TYPE_U8) {
        uint32_t w;
        TXM_TAKE(uint32_t, w, p);
        return txm_rgba_make((float)(w & 255u), (float)(w >> 8 & 255u), (float)(w >> 16 & 255u), (float)(w >> 24));
    }
    if (type == TXM_TYPE_FLOAT) {
        uint64_t a, b;
        TXM_TAKE(uint64_t, a, p);
        TXM_TAKE(uint64_t, b, p + 8);
        return txm_rgba_make(txm_bits_float((uint32_t)a), txm_bits_float((uint32_t)(a >> 32)),
                             txm_bits_float((uint32_t)b), txm_bits_float((uint32_t)(b >> 32)));
    }
    uint64_t w;
    TXM_TAKE(uint64_t, w, p);
    const uint16_t a = (uint16_t)w, b = (uint16_t)(w >> 16), c = (uint16_t)(w >> 32), d = (uint16_t)(w >> 48);
    if (type == TXM_TYPE_U16)
        return txm_rgba_make((float)a, (float)b, (float)c, (float)d);
    return txm_rgba_make(txm_half_to_float(a), txm_half_to_float(b), txm_half_to_float(c), txm_half_to_float(d));
}

/* A pixel as txm_texel returns it. Tiles begin at multiples of 64 bytes, so every sample is aligned to its size and
 * every pixel of four channels to its own. */
TXM_KERNEL_PART txm_rgba txm_quick_texel(int type, int channels, TXM_GLOBAL const uint8_t *p)
{
    const uint32_t bytes = type == TXM_TYPE_U8 ? 1 : type == TXM_TYPE_FLOAT ? 4 : 2;
    if (channels == 4)
        return txm_quick_four(type, p);
    if (channels == 1)
        return txm_rgba_make(txm_texel_sample(type, p), 0.0f, 0.0f, 0.0f);
    return txm_rgba_make(txm_texel_sample(type, p), txm_texel_sample(type, p + bytes),
                         txm_texel_sample(type, p + 2 * bytes), txm_texel_opaque(type));
}

/* Four pixels, of a number of channels that the compiler knows. */
TXM_KERNEL_PART txm_rgba txm_quick_square(int type, int channels, TXM_GLOBAL const uint8_t *p, uint32_t row,
                                          uint32_t pixel, const float wx[2], const float wy[2])
{
    const txm_rgba texels[2][2] = {
        {txm_quick_texel(type, channels, p), txm_quick_texel(type, channels, p + pixel)},
        {txm_quick_texel(type, channels, p + row), txm_quick_texel(type, channels, p + row + pixel)}};
    return txm_sum_linear(wx, wy, texels);
}

/* One level with LINEAR, or (linear = 0) its closest pixel. Returns 0 if the tile is missing. */
TXM_KERNEL_PART int txm_quick_level(const TXM_VIEW *view, TXM_GLOBAL const txm_view_texture *t, int linear, int type,
                                    uint32_t level, float u, float v, const txm_jitter *jitter, txm_rgba *out)
{
    const uint32_t w = txm_level_size(t->width, level), h = txm_level_size(t->height, level), shift = t->tile_shift;
    float x = txm_pixel_x(u, w), y = txm_pixel_y(v, h);
    uint32_t tile_x, tile_y;
    txm_place place;
    if (linear) {
        tile_x = txm_tile_of(x, w, shift);
        tile_y = txm_tile_of(y, h, shift);
        place = txm_place_of(x, y);
    } else {
        place.x = txm_wrap_pixel(txm_pixel_closest(x + jitter->x[0]), (int32_t)w, (int)TXM_EXTENSION_U(t->extension));
        place.y = txm_wrap_pixel(txm_pixel_closest(y + jitter->y[0]), (int32_t)h, (int)TXM_EXTENSION_V(t->extension));
        *out = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
        if (place.x < 0 || place.y < 0)
            return 1;
        tile_x = (uint32_t)place.x >> shift;
        tile_y = (uint32_t)place.y >> shift;
    }
    const txm_tile_at f = txm_find_tile(view, txm_number_of(t, level, w, tile_x, tile_y));
    if (f.slot >= TXM_SLOT_STATES)
        return 0;
    txm_touch_tile(view, f.word, f.mark, f.index);
    const uint32_t row = t->row_bytes, pixel = t->pixel_bytes;
    TXM_GLOBAL const uint8_t *p = txm_slot_address(view, t, f.slot);
    p += (uint32_t)(place.y - (int32_t)(tile_y << shift) + TXM_BORDER_PX) * row +
         (uint32_t)(place.x - (int32_t)(tile_x << shift) + TXM_BORDER_PX) * pixel;
    if (!linear) {
        *out = txm_quick_texel(type, t->channels, p);
        return 1;
    }
    const float wx[2] = {1.0f - place.fx, place.fx}, wy[2] = {1.0f - place.fy, place.fy};
    *out = t->channels == 4   ? txm_quick_square(type, 4, p, row, pixel, wx, wy)
           : t->channels == 3 ? txm_quick_square(type, 3, p, row, pixel, wx, wy)
                              : txm_quick_square(type, 1, p, row, pixel, wx, wy);
    return 1;
}

/* The lookup of a bin without derivatives of the colour. Returns 0 if it belongs to the rest after all; *random is then
 * to be ignored. */
TXM_KERNEL_PART int txm_quick_sample(const TXM_VIEW *view, uint32_t texture, const txm_sampler *how,
                                     const txm_lookup *given, uint32_t bin, int linear, int type, uint32_t *random,
                                     float out[4])
{
    txm_lookup at = *given;
    TXM_GLOBAL const txm_view_texture *t = txm_texture_at(view, texture, &at.u, &at.v);
    if (txm_bin_of(how, t) != bin)
        return 0;
    float slope[2], total = 0.0f, covered = 0.0f;
    const txm_rgba zero = txm_rgba_make(0.0f, 0.0f, 0.0f, 0.0f);
    txm_jitter jitter = {1, {0.0f, 0.0f}, {0.0f, 0.0f}, {1.0f, 0.0f}};
    txm_footprint f = txm_footprint_of(how, (float)t->width, (float)t->height, at.dudx, at.dvdx, at.dudy, at.dvdy);
    float u = at.u, v = at.v, blend;
    const int inside = txm_probe_wrap(t, &u, &v, slope);
    if (!inside && f.probes < 2) {
        /* A rejected point takes no step of its random state, but one within a footprint does. */
        if (how->rule == TXM_LEVEL_RULE_PROBES)
            return 0;
        txm_color_constant(0.0f, 0.0f, 0.0f, 0.0f, out, 0, 0);
        return 1;
    }
    const uint32_t low = txm_level_clamp(txm_level_jitter(how, f.level, random), txm_levels_of(t, how),
                                         how->mode == TXM_LEVEL_MODE_TRILINEAR, &blend);
    if (!linear)
        txm_jitter_of_pixel(how, random, &jitter);
    txm_sum sum = {zero, zero, zero};
    for (uint32_t i = 0; i < f.probes; i++) {
        const float d = (float)i - 0.5f * (float)(f.probes - 1), weight = txm_probe_weight(&f, i);
        txm_rgba fine, coarse;
        if (f.probes > 1) {
            u = at.u + d * f.step_u;
            v = at.v + d * f.step_v;
            total += weight;
            if (!txm_probe_wrap(t, &u, &v, slope))
                continue;
        }
        if (!txm_quick_level(view, t, linear, type, low, u, v, &jitter, &fine))
            return 0;
        if (blend > 0.0f) {
            if (!txm_quick_level(view, t, linear, type, low + 1, u, v, &jitter, &coarse))
                return 0;
            fine = fine * (1.0f - blend) + coarse * blend;
        }
        sum.color = f.probes > 1 ? sum.color + fine * weight : fine;
        covered += weight;
    }
    if (f.probes > 1) {
        const float inverse = 1.0f / total;
        sum.color = sum.color * inverse;
        covered = covered == total ? 1.0f : covered * inverse;
    } else {
        covered = 1.0f;
    }
    txm_color_finish(t, how, &sum, covered, out, 0, 0);
    return 1;
}
#endif
