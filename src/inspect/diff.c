/* SPDX-License-Identifier: Apache-2.0
 * Differences between two files, level by level. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "inspect/rows.h"
#include "txmill/inspect.h"

enum { MAP_MAX_PX = 2048 };

typedef struct comparison {
    txm_context *context;
    txm_rows side[2];
    txm_difference *out;
    float *rows[2]; /* a band of each side */
    uint32_t band;  /* rows of it */
    double peak, square_sum, error_sum;
} comparison;

/* Channel c of a pixel as RGBA: grey is spread, what is missing is opaque. */
static float as_rgba(const float *pixel, uint32_t channels, uint32_t c)
{
    if (c == 3)
        return channels == 4 ? pixel[3] : channels == 2 ? pixel[1] : 1.0f;
    return pixel[channels < 3 ? 0 : c];
}

static double error_of(float a, float b)
{
    if (a == b || (isnan(a) && isnan(b)))
        return 0;
    double d = fabs((double)a - (double)b);
    return isnan(d) ? (double)INFINITY : d;
}

/* One pixel; returns its largest error. */
static double add_pixel(comparison *c, txm_level_error *e, const float *a, const float *b, uint32_t channels)
{
    double worst = 0;
    for (uint32_t k = 0; k < channels; k++) {
        bool same = c->side[0].channels == c->side[1].channels;
        float va = same ? a[k] : as_rgba(a, c->side[0].channels, k);
        float vb = same ? b[k] : as_rgba(b, c->side[1].channels, k);
        double error = error_of(va, vb), size = fmax(fabs((double)va), fabs((double)vb));
        c->peak = size > c->peak ? size : c->peak;
        if (error > 0) {
            e->different++;
            c->error_sum += error;
            c->square_sum += error * error;
            worst = error > worst ? error : worst;
        }
    }
    return worst;
}

static void note_in_map(const txm_difference *d, uint32_t x, uint32_t y, double error)
{
    float *place = &d->map[(size_t)(y / d->map_block) * d->map_width + x / d->map_block];
    if (error > (double)*place)
        *place = (float)error;
}

static void add_rows(comparison *c, uint32_t level, uint32_t y, uint32_t count)
{
    txm_level_error *e = &c->out->level[level];
    uint32_t na = c->side[0].channels, nb = c->side[1].channels, channels = na == nb ? na : 4;
    for (uint32_t row = 0; row < count; row++) {
        const float *a = c->rows[0] + (size_t)row * e->width[0] * na, *b = c->rows[1] + (size_t)row * e->width[0] * nb;
        for (uint32_t x = 0; x < e->width[0]; x++, a += na, b += nb) {
            double worst = add_pixel(c, e, a, b, channels);
            if (worst > e->max) {
                e->max = worst;
                e->worst_x = x;
                e->worst_y = y + row;
            }
            if (worst > 0 && !level && c->out->map)
                note_in_map(c->out, x, y + row, worst);
        }
    }
    e->samples += (uint64_t)count * e->width[0] * channels;
}

static void conclude(const comparison *c, txm_level_error *e)
{
    bool floats = txm_type_is_float(c->side[0].type) || txm_type_is_float(c->side[1].type);
    double peak = floats ? c->peak : 1.0, mean_square = c->square_sum / (double)e->samples;
    e->compared = true;
    e->mean = c->error_sum / (double)e->samples;
    e->psnr = mean_square > 0 ? 10 * log10(peak * peak / mean_square) : (double)INFINITY;
}

static txm_status compare_level(comparison *c, uint32_t level, txm_error *err)
{
    txm_level_error *e = &c->out->level[level];
    const txm_ops *ops = c->context->ops;
    txm_status status = TXM_OK;
    for (int s = 0; s < 2; s++)
        txm_rows_size(&c->side[s], level, &e->width[s], &e->height[s]);
    if (!e->width[0] || e->width[0] != e->width[1] || e->height[0] != e->height[1])
        return TXM_OK;
    c->peak = c->square_sum = c->error_sum = 0;
    for (uint32_t y = 0; !status && y < e->height[0]; y += c->band) {
        uint32_t left = e->height[0] - y, count = left < c->band ? left : c->band;
        if (c->context->cancel && *c->context->cancel)
            return txm_fail(err, TXM_CANCELLED, "stopped on request");
        for (int s = 0; s < 2 && !status; s++)
            status = txm_rows_read(&c->side[s], ops, level, y, count, c->rows[s], err);
        if (!status)
            add_rows(c, level, y, count);
    }
    if (!status)
        conclude(c, e);
    return status;
}

/* Level 0 in at most 2048 x 2048 blocks. */
static txm_status start_map(txm_difference *d, uint32_t width, uint32_t height, txm_error *err)
{
    uint32_t longer = width > height ? width : height;
    d->map_block = (longer - 1) / MAP_MAX_PX + 1;
    d->map_width = (width - 1) / d->map_block + 1;
    d->map_height = (height - 1) / d->map_block + 1;
    d->map = txm_calloc(txm_mul(d->map_width, d->map_height), sizeof *d->map);
    return d->map ? TXM_OK : txm_fail(err, TXM_NO_MEMORY, "out of memory for a map of differences");
}

static txm_status run(comparison *c, const char *const paths[2], bool with_map, txm_error *err)
{
    txm_status status = TXM_OK;
    for (int s = 0; s < 2 && !status; s++)
        status = txm_rows_open(c->context, paths[s], &c->side[s], err);
    if (status)
        return status;
    txm_difference *d = c->out;
    const txm_rows *a = &c->side[0], *b = &c->side[1];
    d->plain = !a->tx || !b->tx || a->levels == 1 || b->levels == 1;
    d->levels = d->plain ? 1 : a->levels > b->levels ? a->levels : b->levels;
    d->tile_px = a->tile_h;
    c->band = a->tile_h > b->tile_h ? a->tile_h : b->tile_h;
    for (int s = 0; s < 2; s++) {
        uint32_t width, height;
        txm_rows_size(&c->side[s], 0, &width, &height);
        c->rows[s] = txm_alloc_pixels(txm_mul((size_t)width * c->side[s].channels, c->band), sizeof(float));
        if (!c->rows[s])
            return txm_fail(err, TXM_NO_MEMORY, "%s: out of memory for %u rows", paths[s], c->band);
        if (with_map && !s && (status = start_map(d, width, height, err)))
            return status;
    }
    for (uint32_t l = 0; !status && l < d->levels; l++)
        status = compare_level(c, l, err);
    return status;
}

txm_status txm_diff(txm_context *context, const char *a, const char *b, bool with_map, txm_difference *out,
                    txm_error *err)
{
    const char *const paths[2] = {a, b};
    comparison c = {.context = context, .out = out};
    memset(out, 0, sizeof *out);
    txm_status status = run(&c, paths, with_map, err);
    for (int s = 0; s < 2; s++) {
        txm_rows_close(&c.side[s]);
        free(c.rows[s]);
    }
    if (status)
        txm_difference_clear(out);
    return status;
}

void txm_difference_clear(txm_difference *difference)
{
    if (!difference)
        return;
    free(difference->map);
    memset(difference, 0, sizeof *difference);
}
