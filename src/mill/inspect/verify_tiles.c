/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs of a verification that work on a run of tiles: decoding, comparing with recomputed pixels, and comparing
 * borders. They add findings, and mark levels with damaged tiles.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/convert/context.h"
#include "mill/inspect/verify_pixels.h"
#include "mill/pyramid/border.h"

/* The number of pixels that takes a few hundred microseconds: 16 of Blender's tiles. */
enum { RUN_PIXELS = 1 << 16 };

typedef struct run {
    txm_tile_run tiles;
    txm_band *band, *around[TXM_BANDS_AROUND];
} run;

/* Counts pixels, since tiles may have 16 to 1024 px. */
uint32_t txm_tile_run_length(const txm_pixel_check *check)
{
    const txm_tx_info *i = check->v->info;
    uint32_t tiles = RUN_PIXELS / (i->tile_w * i->tile_h);
    return tiles ? tiles : 1;
}

static void check_no_memory(txm_pixel_check *check)
{
    txm_error err = {0};
    txm_no_memory(&err, check->v->path);
    txm_job_fail(&check->job, &err);
}

/* A finding has its place beside the text. */
static const char *without_place(const txm_error *err)
{
    return txm_error_detail(err) + (err->place_bytes ? err->place_bytes + 2 : 0);
}

/* A level of an image of 16384 px has 65536 tiles. */
static void tell_part(txm_verification *v)
{
    enum { STEP = 64 };
    const uint64_t done = atomic_fetch_add(&v->tiles_done, 1) + 1;
    if (v->context && v->context->part && done % STEP == 0)
        v->context->part(v->context->part_user, done < v->tiles ? done : v->tiles, v->tiles);
}

bool txm_check_decode(txm_pixel_check *check, uint32_t level, uint32_t tile_x, uint32_t tile_y, uint8_t *dst,
                      size_t stride, uint32_t *w, uint32_t *h, bool *ok)
{
    txm_verification *v = check->v;
    txm_error err = {0};
    txm_status status = txm_tx_read_tile(v->tx,
                                         &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                           .level = level,
                                                           .tile_x = tile_x,
                                                           .tile_y = tile_y,
                                                           .pixels = dst,
                                                           .pixel_stride_bytes = check->pixel_bytes,
                                                           .row_stride_bytes = stride,
                                                           .width = w,
                                                           .height = h},
                                         &err);
    *ok = status == TXM_OK;
    tell_part(v);
    if (txm_status_is_finding(status)) {
        atomic_store(&v->damaged[level], true);
        txm_find(v->findings, TXM_FINDING_TILE, (txm_place){(int)level, (int)tile_x, (int)tile_y}, "%s",
                 without_place(&err));
        return true;
    }
    if (status)
        txm_job_fail(&check->job, &err);
    return status == TXM_OK;
}

/* ---- decoding and comparing ------------------------------------------------------------------------------------- */

static void finish_run(run *r)
{
    txm_band_drop(r->band);
    for (int i = 0; i < TXM_BANDS_AROUND; i++)
        txm_band_drop(r->around[i]);
    free(r);
}

/* Decodes each tile of the run and compares it with the band, if there is one. */
static void check_tiles(void *arg)
{
    run *r = arg;
    txm_pixel_check *c = r->tiles.check;
    const txm_tx_info *i = c->v->info;
    size_t stride = i->tile_w * c->pixel_bytes;
    uint8_t *pixels = txm_alloc_pixels(i->tile_h, stride);
    txm_level_diff diff = {0};
    bool ok = false, going = pixels != NULL;
    if (!pixels)
        check_no_memory(c);
    for (uint32_t n = 0; going && n < r->tiles.count && txm_job_runs(&c->job); n++) {
        uint32_t x = r->tiles.first + n, w = 0, h = 0;
        going = txm_check_decode(c, r->tiles.level, x, r->tiles.tile_y, pixels, stride, &w, &h, &ok);
        if (going && ok && r->band)
            txm_level_diff_tile(&diff, i->type, i->channels, r->band->pixels + (size_t)x * i->tile_w * c->pixel_bytes,
                                r->band->stride_bytes, pixels, stride, w, h, x, r->tiles.tile_y);
    }
    if (r->band) {
        pthread_mutex_lock(&c->lock);
        txm_level_diff_merge(&c->diffs[r->tiles.level], &diff);
        pthread_mutex_unlock(&c->lock);
    }
    free(pixels);
    finish_run(r);
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

/* A row for gathering a border, which reaches into the bands above and below. */
static const uint8_t *band_row(void *context, uint32_t y)
{
    const run *r = context;
    return txm_band_row_near(r->band, r->around, y);
}

/* Whether the stored border has the pixels of the bands. false does not mean that it is wrong: within parity,
 * recomputed levels may differ from the file's. */
static bool border_fits(run *r, uint32_t tile_x, uint8_t *gathered)
{
    const txm_tile_run *t = &r->tiles;
    const txm_tx_info *i = t->check->v->info;
    size_t px = t->check->pixel_bytes;
    const txm_tx_level *level = txm_tx_level_of(t->check->v->tx, t->level);
    uint32_t x0 = tile_x * i->tile_w, y0 = t->tile_y * i->tile_h;
    uint32_t w = level->width - x0 < i->tile_w ? level->width - x0 : i->tile_w;
    uint32_t h = level->height - y0 < i->tile_h ? level->height - y0 : i->tile_h;
    txm_border_gather(band_row, r, level->width, level->height, px, x0, y0, w, h, gathered);
    return txm_tx_border_is(t->check->v->tx, t->level, tile_x, t->tile_y, r->band->pixels + x0 * px,
                            r->band->stride_bytes, gathered);
}

/* Lets the reader compare the border, which decodes the tile and its neighbours again. */
static bool check_border_in_file(const txm_tile_run *t, uint32_t tile_x)
{
    txm_pixel_check *c = t->check;
    txm_error err = {0};
    txm_status status = txm_tx_check_border(c->v->tx, t->level, tile_x, t->tile_y, &err);
    if (txm_status_is_finding(status)) {
        /* A neighbour that cannot be decoded was already reported. */
        if (!atomic_load(&c->v->damaged[t->level]))
            txm_find(c->v->findings, TXM_FINDING_BORDER, (txm_place){(int)t->level, (int)tile_x, (int)t->tile_y}, "%s",
                     without_place(&err));
        return true;
    }
    if (status)
        txm_job_fail(&c->job, &err);
    return status == TXM_OK;
}

/* Compares with the recomputed pixels in memory, and if that fails, with those of the file. */
static void check_borders(void *arg)
{
    run *r = arg;
    txm_pixel_check *c = r->tiles.check;
    const txm_tx_info *i = c->v->info;
    uint8_t *gathered = txm_alloc_pixels(txm_border_pixels(i->tile_w, i->tile_h), c->pixel_bytes);
    bool going = gathered != NULL;
    if (!going)
        check_no_memory(c);
    for (uint32_t n = 0; going && n < r->tiles.count && txm_job_runs(&c->job); n++) {
        uint32_t x = r->tiles.first + n;
        going = (r->band && border_fits(r, x, gathered)) || check_border_in_file(&r->tiles, x);
    }
    free(gathered);
    finish_run(r);
}

/* ---- queueing --------------------------------------------------------------------------------------------------- */

/* Queues one job per run; false if memory is exhausted. */
static bool submit(txm_pixel_check *c, uint32_t level, uint32_t tile_y, txm_band *band, txm_band *const *around,
                   txm_job_fn fn)
{
    uint32_t tiles = txm_tx_level_of(c->v->tx, level)->tiles_x, length = txm_tile_run_length(c);
    for (uint32_t first = 0; first < tiles; first += length) {
        run *r = txm_calloc(1, sizeof *r);
        if (!r)
            return false;
        r->tiles = (txm_tile_run){c, level, tile_y, first, tiles - first < length ? tiles - first : length};
        r->band = txm_band_keep(band);
        for (int i = 0; around && i < TXM_BANDS_AROUND; i++)
            r->around[i] = txm_band_keep(around[i]);
        /* Jobs with a band are urgent, since they release memory. */
        if (!txm_group_submit(c->job.group, band != NULL, fn, r)) {
            finish_run(r);
            return false;
        }
    }
    return true;
}

bool txm_submit_compare(txm_pixel_check *check, txm_band *band)
{
    return submit(check, band->level, band->y / check->v->info->tile_h, band, NULL, check_tiles);
}

bool txm_submit_decode(txm_pixel_check *check, uint32_t level, uint32_t tile_y)
{
    return submit(check, level, tile_y, NULL, NULL, check_tiles);
}

bool txm_submit_borders(txm_pixel_check *check, uint32_t level, uint32_t tile_y, txm_band *band,
                        txm_band *const around[4])
{
    return submit(check, level, tile_y, band, around, check_borders);
}
