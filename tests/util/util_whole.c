/* SPDX-License-Identifier: Apache-2.0
 *
 * Lookups on whole levels. It shares the arithmetic of levels, places and weights with the sampler, but uses no tiles.
 */
#include "util_whole.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tile/reader/section_reader.h"
#include "tile/sample/stochastic.h"
#include "tile/sample/taps.h"
#include "util_tx.h"

whole_image whole_read(const char *path, txm_extension extension)
{
    txm_tx *tx = NULL;
    txm_error err = {0};
    if (txm_tx_open(path, &tx, &err) != TXM_OK) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    const txm_tx_info *info = txm_tx_info_of(tx);
    whole_image m = {info->width, info->height, info->levels, 0, info->channels, info->type, extension, {NULL}};
    size_t pixel = m.channels * txm_type_bytes(m.type);
    for (uint32_t i = 0; i < m.levels; i++) {
        const txm_tx_level *l = txm_tx_level_of(tx, i);
        const uint32_t in_memory = info->tile_w < 64 ? 64 : info->tile_w; /* smaller tiles are joined */
        if (!m.tiled_levels && l->width <= in_memory && l->height <= in_memory)
            m.tiled_levels = i + 1;
        m.pixels[i] = txm_alloc_pixels((size_t)l->width * l->height, pixel);
        for (uint32_t t = 0; m.pixels[i] && t < l->tiles_x * l->tiles_y; t++) {
            uint32_t x = t % l->tiles_x, y = t / l->tiles_x;
            uint8_t *dst = m.pixels[i] + ((size_t)y * info->tile_h * l->width + (size_t)x * info->tile_w) * pixel;
            if (txm_tx_read_tile(tx, REQUEST(dst, pixel, l->width * pixel, .level = i, .tile_x = x, .tile_y = y),
                                 &err) != TXM_OK) {
                fprintf(stderr, "%s\n", err.message);
                abort();
            }
        }
    }
    txm_tx_close(&tx);
    return m;
}

void whole_free(whole_image *image)
{
    for (uint32_t i = 0; i < TXM_MAX_LEVELS; i++)
        free(image->pixels[i]);
    memset(image, 0, sizeof *image);
}

static txm_rgba texel(const whole_image *m, uint32_t level, int64_t x, int64_t y)
{
    uint32_t w = txm_level_size(m->width, level), h = txm_level_size(m->height, level);
    size_t pixel = m->channels * txm_type_bytes(m->type);
    int64_t px = txm_extend(x, w, TXM_EXTENSION_U(m->extension)), py = txm_extend(y, h, TXM_EXTENSION_V(m->extension));
    if (px < 0 || py < 0)
        return txm_rgba_make(0, 0, 0, 0);
    return txm_texel((int)m->type, (int)m->channels, m->pixels[level] + ((size_t)py * w + (size_t)px) * pixel);
}

typedef struct sums {
    txm_rgba color, du, dv;
} sums;

/* Interpolates with `n` taps along each axis. */
static sums interpolate(const whole_image *m, uint32_t level, float x, float y, int cubic, const float slope[2])
{
    txm_place p = txm_place_of(x, y);
    float w = (float)txm_level_size(m->width, level), h = (float)txm_level_size(m->height, level);
    if (!cubic) {
        float wx[2] = {1.0f - p.fx, p.fx}, wy[2] = {1.0f - p.fy, p.fy};
        const float d[2] = {-1.0f, 1.0f};
        txm_rgba t[2][2];
        for (int j = 0; j < 2; j++)
            for (int i = 0; i < 2; i++)
                t[j][i] = texel(m, level, p.x + i, p.y + j);
        return (sums){txm_sum_linear(wx, wy, t), txm_sum_linear(d, wy, t) * (slope[0] * w),
                      txm_sum_linear(wx, d, t) * (slope[1] * -h)};
    }
    float wx[4], wy[4], dx[4], dy[4];
    txm_rgba t[4][4];
    txm_cubic_weights(p.fx, wx);
    txm_cubic_weights(p.fy, wy);
    txm_cubic_slopes(p.fx, dx);
    txm_cubic_slopes(p.fy, dy);
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++)
            t[j][i] = texel(m, level, p.x + i - 1, p.y + j - 1);
    return (sums){txm_sum_cubic(wx, wy, t), txm_sum_cubic(dx, wy, t) * (slope[0] * w),
                  txm_sum_cubic(wx, dy, t) * (slope[1] * -h)};
}

static sums read_level(const whole_image *m, const txm_sampler *how, uint32_t level, float u, float v,
                       const txm_jitter *jitter, const float slope[2])
{
    float x = txm_pixel_x(u, txm_level_size(m->width, level)), y = txm_pixel_y(v, txm_level_size(m->height, level));
    switch (how->filter) {
    case TXM_FILTER_LINEAR:
        return interpolate(m, level, x, y, 0, slope);
    case TXM_FILTER_CUBIC:
        return interpolate(m, level, x, y, 1, slope);
    case TXM_FILTER_SMART:
        return interpolate(m, level, x, y, level == 0, slope);
    }
    sums s = {{0}, {0}, {0}};
    int moves = how->filter != TXM_FILTER_CLOSEST && how->filter != TXM_FILTER_STOCHASTIC_EWA;
    for (uint32_t i = 0; i < (moves ? jitter->taps : 1); i++) {
        float dx = moves ? jitter->x[i] : 0.0f, dy = moves ? jitter->y[i] : 0.0f;
        txm_rgba t = texel(m, level, txm_pixel_closest(x + dx), txm_pixel_closest(y + dy));
        if (moves && jitter->taps > 1)
            t = t * jitter->weight[i];
        s.color = i ? s.color + t : t;
    }
    return s;
}

static sums read_both(const whole_image *m, const txm_sampler *how, uint32_t low, float blend, float u, float v,
                      const txm_jitter *jitter, const float slope[2])
{
    sums a = read_level(m, how, low, u, v, jitter, slope);
    if (!(blend > 0.0f))
        return a;
    sums b = read_level(m, how, low + 1, u, v, jitter, slope);
    float fine = 1.0f - blend;
    return (sums){a.color * fine + b.color * blend, a.du * fine + b.du * blend, a.dv * fine + b.dv * blend};
}

/* Wraps and reads one place; false if CLIP rejects it. */
static int read_place(const whole_image *m, const txm_sampler *how, uint32_t low, float blend, float u, float v,
                      const txm_jitter *jitter, sums *out)
{
    const int along_u = (int)TXM_EXTENSION_U(m->extension), along_v = (int)TXM_EXTENSION_V(m->extension);
    const float slope[2] = {txm_wrap_slope(u, along_u), txm_wrap_slope(v, along_v)};
    int inside = txm_wrap(&u, along_u);
    if (!txm_wrap(&v, along_v) || !inside)
        return 0;
    *out = read_both(m, how, low, blend, u, v, jitter, slope);
    return 1;
}

static int is_rejected(const whole_image *m, float u, float v)
{
    return (TXM_EXTENSION_U(m->extension) == TXM_EXTENSION_CLIP && !(u >= 0.0f && u <= 1.0f)) ||
           (TXM_EXTENSION_V(m->extension) == TXM_EXTENSION_CLIP && !(v >= 0.0f && v <= 1.0f));
}

static void store_one(const whole_image *m, txm_rgba sum, float alpha, float out[4])
{
    float scale = m->type == TXM_TYPE_U8 ? 1.0f / 255.0f : m->type == TXM_TYPE_U16 ? 1.0f / 65535.0f : 1.0f;
    for (int c = 0; c < 4; c++)
        out[c] = m->channels == 1 && c == 3 ? alpha : sum[m->channels == 1 ? 0 : c] * scale;
}

static void quiet(float *c)
{
    for (int i = 0; i < 4; i++)
        c[i] = isnan(c[i]) ? txm_bits_float(0x7FC00000u) : c[i];
}

static void store(const whole_image *m, int after, const sums *s, float covered, float out[4], float *du, float *dv)
{
    store_one(m, s->color, covered, out);
    quiet(out);
    if (du) {
        store_one(m, s->du, 0, du);
        store_one(m, s->dv, 0, dv);
        quiet(du);
        quiet(dv);
    }
    txm_after(after, out, du, dv);
    quiet(out);
    if (du) {
        quiet(du);
        quiet(dv);
    }
}

void whole_sample(const whole_image *m, const txm_sampler *how, const txm_lookup *given, uint32_t *random, float out[4],
                  float *du, float *dv)
{
    txm_lookup at = *given;
    int ewa = how->filter == TXM_FILTER_STOCHASTIC_EWA;
    memset(out, 0, 4 * sizeof *out);
    if (du) {
        memset(du, 0, 4 * sizeof *du);
        memset(dv, 0, 4 * sizeof *dv);
    }
    if (is_rejected(m, at.u, at.v) && how->rule != TXM_LEVEL_RULE_PROBES && !ewa)
        return;
    txm_footprint f = txm_footprint_of(how, (float)m->width, (float)m->height, at.dudx, at.dvdx, at.dudy, at.dvdy);
    float blend, total = 0.0f, covered = 0.0f;
    uint32_t levels = how->rule == TXM_LEVEL_RULE_CYCLES ? m->tiled_levels : m->levels;
    uint32_t low =
        txm_level_clamp(txm_level_jitter(how, f.level, random), levels, how->mode == TXM_LEVEL_MODE_TRILINEAR, &blend);
    txm_jitter jitter = txm_jitter_of(how, random);
    if (ewa) {
        at.u += jitter.x[0] * at.dudx + jitter.y[0] * at.dudy;
        at.v += jitter.x[0] * at.dvdx + jitter.y[0] * at.dvdy;
    }
    sums s = {{0}, {0}, {0}}, one;
    if (ewa || f.probes == 1) {
        if (read_place(m, how, low, blend, at.u, at.v, &jitter, &s))
            store(m, how->after, &s, 1.0f, out, du, dv);
        return;
    }
    for (uint32_t i = 0; i < f.probes; i++) {
        float d = (float)i - 0.5f * (float)(f.probes - 1), weight = txm_probe_weight(&f, i);
        total += weight;
        if (!read_place(m, how, low, blend, at.u + d * f.step_u, at.v + d * f.step_v, &jitter, &one))
            continue;
        s = (sums){s.color + one.color * weight, s.du + one.du * weight, s.dv + one.dv * weight};
        covered += weight;
    }
    float inverse = 1.0f / total;
    s = (sums){s.color * inverse, s.du * inverse, s.dv * inverse};
    store(m, how->after, &s, covered == total ? 1.0f : covered * inverse, out, du, dv);
}
