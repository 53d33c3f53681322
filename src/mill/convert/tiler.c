/* SPDX-License-Identifier: Apache-2.0
 *
 * The newest band of a level completes the borders of the one before it; those of the first band wait for the last one,
 * because the extension wraps around.
 */
#include "mill/convert/tiler.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/pyramid/pyramid.h"

/* The bands of a level that are still needed: the one being filled, the last two complete ones, and, because the repeat
 * extension wraps around, the first one and two rows of the second until the level ends. */
typedef struct level_bands {
    uint32_t width, height;
    txm_band *filling, *previous, *before, *first, *second_rows;
} level_bands;

struct txm_tiler {
    txm_job *job;
    txm_tx_layout layout;
    txm_tiler_sink sink;
    txm_pyramid *pyramid;
    const txm_ops *ops;
    float *closing_row; /* scratch memory; NULL: level 0 is not changed */
    size_t pixel_bytes;
    level_bands level[TXM_MAX_LEVELS];
};

static void tiler_no_memory(txm_tiler *t)
{
    txm_error err = {0};
    txm_fail(&err, TXM_STATUS_NO_MEMORY, "out of memory for a band of %u px rows", t->layout.width);
    txm_job_fail(t->job, &err);
}

/* A band of a level is complete, and with it the borders of the bands before it. Takes ownership of the caller's
 * reference. */
static bool complete(txm_tiler *t, uint32_t level, txm_band *band)
{
    level_bands *b = &t->level[level];
    bool ok = t->sink.tiles(t->sink.context, band);
    if (!t->sink.borders) {
        txm_band_drop(band);
        return ok;
    }
    if (!b->first) {
        b->first = txm_band_keep(band);
    } else if (!b->second_rows) {
        uint32_t head = band->rows < TXM_BORDER_PX ? band->rows : TXM_BORDER_PX;
        ok = ok && (b->second_rows = txm_band_new(t->job->bands, level, band->y, head, band->stride_bytes, NULL));
        if (ok)
            memcpy(b->second_rows->pixels, band->pixels, head * band->stride_bytes);
    }
    const txm_tiler_sink *s = &t->sink;
    if (ok && b->previous && b->previous != b->first)
        ok = s->borders(s->context, b->previous, (txm_band *const[4]){b->before, band, b->first, NULL});
    if (ok && band->y + band->rows == b->height)
        ok = (band == b->first ||
              s->borders(s->context, band, (txm_band *const[4]){b->previous, b->first, NULL, NULL})) &&
             s->borders(s->context, b->first, (txm_band *const[4]){band, b->previous, b->second_rows, NULL});
    txm_band_drop(b->before);
    b->before = b->previous;
    b->previous = band;
    return ok;
}

static void *row_in_band(void *context, uint32_t level, uint32_t y)
{
    txm_tiler *t = context;
    level_bands *b = &t->level[level];
    if (!b->filling) {
        uint32_t left = b->height - y, rows = left < t->layout.tile_px ? left : t->layout.tile_px;
        b->filling = txm_band_new(t->job->bands, level, y, rows, b->width * t->pixel_bytes, NULL);
        if (!b->filling)
            return NULL;
    }
    return txm_band_row(b->filling, y);
}

/* The last row of a band completes it. */
static void placed(void *context, uint32_t level, uint32_t y)
{
    txm_tiler *t = context;
    level_bands *b = &t->level[level];
    if (y + 1 < b->filling->y + b->filling->rows)
        return;
    txm_band *band = b->filling;
    b->filling = NULL;
    if (!complete(t, level, band))
        tiler_no_memory(t);
}

txm_status txm_tiler_new(txm_job *job, const txm_pyramid_spec *spec, const txm_tx_layout *layout, const txm_ops *ops,
                         const txm_tiler_sink *sink, txm_tiler **out, txm_error *err)
{
    txm_tiler *t = txm_calloc(1, sizeof *t);
    if (!t)
        return txm_no_memory(err, NULL);
    t->job = job;
    t->layout = *layout;
    t->sink = *sink;
    t->ops = ops;
    t->pixel_bytes = txm_type_bytes(layout->type) * layout->channels;
    bool closes = spec->equiangular && !spec->closed;
    if (closes)
        t->closing_row = txm_alloc_pixels(txm_mul((size_t)layout->width + 1, layout->channels), sizeof(float));
    if (closes && !t->closing_row) {
        txm_tiler_free(&t);
        return txm_no_memory(err, NULL);
    }
    for (uint32_t l = 0; l < layout->levels; l++) {
        t->level[l].width = txm_level_size(layout->width, l);
        t->level[l].height = txm_level_size(layout->height, l);
    }
    const txm_pyramid_sink rows = {t, row_in_band, placed};
    txm_status status = txm_pyramid_new(spec, ops, &rows, &t->pyramid, err);
    if (status) {
        txm_tiler_free(&t);
        return status;
    }
    *out = t;
    return TXM_OK;
}

void txm_tiler_free(txm_tiler **tiler)
{
    txm_tiler *t = tiler ? *tiler : NULL;
    if (!t)
        return;
    for (uint32_t l = 0; l < TXM_MAX_LEVELS; l++) {
        level_bands *b = &t->level[l];
        txm_band_drop(b->filling);
        txm_band_drop(b->previous);
        txm_band_drop(b->before);
        txm_band_drop(b->first);
        txm_band_drop(b->second_rows);
    }
    txm_pyramid_free(&t->pyramid);
    free(t->closing_row);
    free(t);
    *tiler = NULL;
}

/* The pyramid reads the band before the poles and edges of a sphere are closed in it, as they are stored: it closes the
 * original rows, before they are rounded. */
void txm_tiler_push(txm_tiler *t, txm_band *band)
{
    unsigned long long clock = txm_job_clock(t->job);
    bool ok = txm_pyramid_push(t->pyramid, band->pixels, band->stride_bytes, band->rows);
    for (uint32_t y = band->y; t->closing_row && y < band->y + band->rows; y++)
        txm_latlong_stored_edges(t->ops, t->layout.type, t->layout.channels, txm_band_row(band, y), t->layout.width, y,
                                 t->layout.height, t->closing_row);
    if (!complete(t, 0, txm_band_keep(band)) || !ok)
        tiler_no_memory(t);
    txm_job_book(t->job, TXM_STAGE_PYRAMID, clock);
}
