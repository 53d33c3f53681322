/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the borders of a finished file. The borders of a row of tiles need its own pixels, two rows above and two
 * below, wrapped around the level: at most five bands (rows of tiles) at a time, if the last band is one pixel high.
 * Bands are decoded when they are first needed and kept while there is room, so that nearly all tiles are decoded
 * once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "mill/convert/context.h"
#include "mill/inspect/borders_make.h"
#include "mill/pyramid/border.h"
#include "mill/write/section_writer.h"

enum { BANDS = 5, JOBS_PER_THREAD = 3 };

typedef struct band {
    uint32_t index; /* row of tiles; UINT32_MAX: none */
    uint64_t used;  /* when it was last used */
    uint8_t *pixels;
} band;

struct borders;

/* One job's share of the tiles of a band, which it decodes, or whose borders it encodes into `encoded`. */
typedef struct share {
    struct borders *r;
    uint32_t first, count; /* tile columns */
    txm_border_encoder *encoder;
    uint8_t *border;
    txm_bytes encoded; /* payloads one after the other */
    size_t *sizes;     /* sizes of the payloads */
    txm_status status;
    txm_error err;
} share;

typedef struct borders {
    txm_tx *tx;
    txm_group *group; /* NULL: no pool */
    const volatile int *cancel;
    txm_section_writer *writer;
    size_t pixel_bytes, row_bytes; /* row_bytes: of the widest level */
    uint32_t level, tile_y;
    const txm_tx_level *shape;
    band bands[BANDS];
    band *target; /* being decoded */
    uint64_t clock;
    share *shares;
    unsigned share_count;
} borders;

/* Tiles are decoded into rows of the full width; shares write different columns, so they need no lock. */
static void decode_share(void *arg)
{
    share *s = arg;
    const borders *r = s->r;
    const txm_tx_info *info = txm_tx_info_of(r->tx);
    for (uint32_t x = s->first; s->status == TXM_OK && x < s->first + s->count; x++)
        s->status =
            txm_tx_read_tile(r->tx,
                             &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                               .level = r->level,
                                               .tile_x = x,
                                               .tile_y = r->target->index,
                                               .pixels = r->target->pixels + (size_t)x * info->tile_w * r->pixel_bytes,
                                               .pixel_stride_bytes = r->pixel_bytes,
                                               .row_stride_bytes = r->row_bytes},
                             &s->err);
}

/* A txm_row_fn: returns a row of the level from the decoded bands. */
static const uint8_t *row_of(void *context, uint32_t y)
{
    const borders *r = context;
    uint32_t tile_h = txm_tx_info_of(r->tx)->tile_h;
    for (int i = 0; i < BANDS; i++)
        if (r->bands[i].index == y / tile_h)
            return r->bands[i].pixels + (size_t)(y % tile_h) * r->row_bytes;
    return NULL; /* cannot happen: need_bands decoded it */
}

/* Bands are only read here, so shares need no lock. Payloads stay in the order of the tiles, for add_band. */
static void encode_share(void *arg)
{
    share *s = arg;
    borders *r = s->r;
    const txm_tx_info *info = txm_tx_info_of(r->tx);
    uint32_t y0 = r->tile_y * info->tile_h, left_h = r->shape->height - y0;
    uint32_t h = left_h < info->tile_h ? left_h : info->tile_h;
    s->encoded.size = 0;
    for (uint32_t i = 0; s->status == TXM_OK && i < s->count; i++) {
        uint32_t x0 = (s->first + i) * info->tile_w, left_w = r->shape->width - x0;
        uint32_t w = left_w < info->tile_w ? left_w : info->tile_w;
        const void *encoded;
        txm_border_gather(row_of, r, r->shape->width, r->shape->height, r->pixel_bytes, x0, y0, w, h, s->border);
        s->status = txm_border_encode(s->encoder, s->border, row_of(r, y0) + (size_t)x0 * r->pixel_bytes, r->row_bytes,
                                      w, h, &encoded, &s->sizes[i], &s->err);
        if (s->status == TXM_OK && !txm_bytes_add(&s->encoded, encoded, s->sizes[i]))
            s->status = txm_no_memory(&s->err, NULL);
    }
}

/* Runs `fn` over all tiles of a band, in shares; one that cannot be queued runs on this thread. The failure that is
 * returned is that of the leftmost share, not of the first in time, so that it does not depend on threads. */
static txm_status run_over_tiles(borders *r, txm_job_fn fn, txm_error *err)
{
    uint32_t tiles = r->shape->tiles_x;
    for (unsigned i = 0; i < r->share_count; i++) {
        share *s = &r->shares[i];
        s->first = (uint32_t)((uint64_t)tiles * i / r->share_count);
        s->count = (uint32_t)((uint64_t)tiles * (i + 1) / r->share_count) - s->first;
        if (s->count && (!r->group || !txm_group_submit(r->group, false, fn, s)))
            fn(s);
    }
    if (r->group)
        txm_group_wait(r->group, 0);
    for (unsigned i = 0; i < r->share_count; i++)
        if (r->shares[i].status != TXM_OK)
            return txm_fail_with(err, r->shares[i].status, &r->shares[i].err);
    return TXM_OK;
}

/* Makes sure that the band which holds row `y` of the level is decoded. It replaces the band that was used longest ago.
 * All threads decode one band at a time. */
static txm_status need_row(borders *r, uint32_t y, txm_error *err)
{
    uint32_t index = y / txm_tx_info_of(r->tx)->tile_h;
    band *oldest = &r->bands[0];
    for (band *b = r->bands; b < r->bands + BANDS; b++) {
        if (b->index == index) {
            b->used = ++r->clock;
            return TXM_OK;
        }
        if (b->used < oldest->used)
            oldest = b;
    }
    oldest->index = index;
    oldest->used = ++r->clock;
    r->target = oldest;
    return run_over_tiles(r, decode_share, err);
}

/* Decodes all rows that the borders of a row of tiles need. */
static txm_status need_bands(borders *r, uint32_t y0, uint32_t h, txm_error *err)
{
    txm_status status = need_row(r, y0, err);
    int64_t level_h = r->shape->height;
    for (int64_t i = 1; status == TXM_OK && i <= TXM_BORDER_PX; i++) {
        int64_t above = ((int64_t)y0 - i) % level_h, below = ((int64_t)y0 + h - 1 + i) % level_h;
        status = need_row(r, (uint32_t)(above < 0 ? above + level_h : above), err);
        if (status == TXM_OK)
            status = need_row(r, (uint32_t)below, err);
    }
    return status;
}

/* Payloads are added in the order of the tiles, in which the section is written. */
static txm_status add_band(borders *r, txm_error *err)
{
    uint32_t tile = r->tile_y * r->shape->tiles_x;
    for (unsigned i = 0; i < r->share_count; i++) {
        const share *s = &r->shares[i];
        const char *at = s->encoded.data;
        for (uint32_t k = 0; k < s->count; at += s->sizes[k++]) {
            txm_status status = txm_section_writer_add(r->writer, r->level, tile++, at, s->sizes[k], err);
            if (status != TXM_OK)
                return status;
        }
    }
    return TXM_OK;
}

/* The bands of the previous level are forgotten, but their memory is kept, since no later level is wider. */
static txm_status make_level(borders *r, uint32_t level, txm_error *err)
{
    uint32_t tile_h = txm_tx_info_of(r->tx)->tile_h;
    txm_status status = TXM_OK;
    r->level = level;
    r->shape = txm_tx_level_of(r->tx, level);
    for (int i = 0; i < BANDS; i++)
        r->bands[i].index = UINT32_MAX;
    for (r->tile_y = 0; status == TXM_OK && r->tile_y < r->shape->tiles_y; r->tile_y++) {
        uint32_t y0 = r->tile_y * tile_h, left = r->shape->height - y0;
        if (txm_is_cancelled(r->cancel))
            return txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request");
        status = need_bands(r, y0, left < tile_h ? left : tile_h, err);
        if (status == TXM_OK)
            status = run_over_tiles(r, encode_share, err);
        if (status == TXM_OK)
            status = add_band(r, err);
    }
    return status;
}

/* Shares are made for the widest level; in narrower ones some are empty. Each thread has several, so that a slow tile
 * does not hold up the others. */
static txm_status make_shares(borders *r, const txm_tx_layout *layout, txm_pool *pool, txm_error *err)
{
    uint32_t widest = txm_tx_level_of(r->tx, 0)->tiles_x;
    unsigned threads = pool ? txm_pool_threads(pool) : 1, most = threads > 1 ? threads * JOBS_PER_THREAD : 1;
    r->share_count = widest < most ? widest : most;
    r->shares = txm_calloc(r->share_count, sizeof *r->shares);
    for (unsigned i = 0; r->shares && i < r->share_count; i++) {
        share *s = &r->shares[i];
        s->r = r;
        s->border = txm_alloc_pixels(txm_border_pixels(layout->tile_px, layout->tile_px), r->pixel_bytes);
        s->sizes = txm_calloc(widest / r->share_count + 1, sizeof *s->sizes);
        if (!s->border || !s->sizes)
            return txm_no_memory(err, NULL);
        txm_status status = txm_border_encoder_new(layout, &s->encoder, err);
        if (status != TXM_OK)
            return status;
    }
    return r->shares ? TXM_OK : txm_no_memory(err, NULL);
}

/* The group is freed first, because that waits for its jobs. */
static void free_borders(borders *r)
{
    txm_group_free(r->group);
    for (unsigned i = 0; r->shares && i < r->share_count; i++) {
        txm_border_encoder_free(&r->shares[i].encoder);
        txm_bytes_free(&r->shares[i].encoded);
        free(r->shares[i].border);
        free(r->shares[i].sizes);
    }
    free(r->shares);
    for (int i = 0; i < BANDS; i++)
        free(r->bands[i].pixels);
}

txm_status txm_borders_make(txm_tx *tx, txm_context *context, txm_section_writer *writer, txm_error *err)
{
    txm_pool *pool = txm_context_pool(context);
    const txm_tx_info *info = txm_tx_info_of(tx);
    txm_tx_layout layout = {info->width, info->height, info->levels,      info->channels,
                            info->type,  info->tile_w, {TXM_CODEC_ZIP, 0}};
    borders r = {.tx = tx, .writer = writer, .pixel_bytes = info->channels * txm_type_bytes(info->type)};
    r.row_bytes = info->width * r.pixel_bytes;
    r.cancel = context ? context->cancel : NULL;
    txm_status status = make_shares(&r, &layout, pool, err);
    if (status == TXM_OK && pool && txm_pool_threads(pool) > 1 && !(r.group = txm_group_new(pool)))
        status = txm_no_memory(err, NULL);
    for (int i = 0; status == TXM_OK && i < BANDS; i++) {
        /* A band is not higher than its level. */
        uint32_t rows = info->height < info->tile_h ? info->height : info->tile_h;
        if (!(r.bands[i].pixels = txm_alloc_pixels(rows, r.row_bytes)))
            status = txm_no_memory(err, NULL);
    }
    for (uint32_t i = 0; status == TXM_OK && i < info->levels; i++)
        status = make_level(&r, i, err);
    free_borders(&r);
    return status;
}
