/* SPDX-License-Identifier: Apache-2.0
 *
 * Padded tiles by the full-image rule: the level is extended to the whole plane and the window cut out of it. Both axes
 * are independent, so each is first turned into runs of level pixels that stand side by side in one tile; a padded
 * tile is then every pair of a row run and a column run. This holds for every size: partial tiles narrower than the
 * padding, levels of one pixel, corners.
 */
#include "container/reader_copy.h"
#include "container/reader_impl.h"
#include "container/section_reader.h"
#include "core/mem.h"

/* Pixels of the window in one direction that come from one tile, side by side. */
typedef struct run {
    uint32_t dst;   /* first pixel, in the window */
    uint32_t src;   /* first pixel, in the tile */
    uint32_t count; /* px */
    uint32_t tile;  /* column or row of the tile; OUTSIDE: nothing is there, the pixels are clear */
} run;

#define OUTSIDE UINT32_MAX

typedef struct axis {
    run runs[2 * TXM_MAX_PADDING_PX + 1];
    unsigned count;
} axis;

int64_t txm_extend(int64_t x, uint32_t size, txm_extension extension)
{
    if (x >= 0 && x < size)
        return x;
    int64_t period = extension == TXM_MIRROR ? 2 * (int64_t)size : size, m = x % period;
    switch (extension) {
    case TXM_REPEAT:
        return m < 0 ? m + period : m;
    case TXM_EXTEND:
        return x < 0 ? 0 : size - 1;
    case TXM_MIRROR: /* the edge pixel is doubled: ... 1 0 | 0 1 ... */
        m = m < 0 ? m + period : m;
        return m < size ? m : period - 1 - m;
    case TXM_CLIP:
        break;
    }
    return -1;
}

/* Adds `count` pixels of the level from `x` on, all in one tile; x < 0: clear pixels. */
static void add_run(axis *a, uint32_t dst, int64_t x, uint32_t count, uint32_t tile_px)
{
    uint32_t tile = x < 0 ? OUTSIDE : (uint32_t)x / tile_px, src = x < 0 ? 0 : (uint32_t)x % tile_px;
    run *last = a->count ? &a->runs[a->count - 1] : NULL;
    if (last && last->tile == tile && (tile == OUTSIDE || last->src + last->count == src))
        last->count += count;
    else
        a->runs[a->count++] = (run){dst, src, count, tile};
}

/* The window [x0 - padding, x0 + valid + padding) of an axis of `size` pixels. */
static void make_axis(axis *a, uint32_t x0, uint32_t valid, uint32_t padding, uint32_t size, uint32_t tile_px,
                      txm_extension extension)
{
    a->count = 0;
    for (uint32_t i = 0; i < padding; i++)
        add_run(a, i, txm_extend((int64_t)x0 - padding + i, size, extension), 1, tile_px);
    add_run(a, padding, x0, valid, tile_px);
    for (uint32_t i = 0; i < padding; i++)
        add_run(a, padding + valid + i, txm_extend((int64_t)x0 + valid + i, size, extension), 1, tile_px);
}

/* Copies what one tile contributes: every pair of its runs. */
static void put_runs(const txm_window *window, const axis *ax, const axis *ay, uint32_t tile_x, uint32_t tile_y,
                     const txm_pixels *pixels)
{
    for (const run *y = ay->runs; y < ay->runs + ay->count; y++) {
        if (y->tile != tile_y)
            continue;
        for (const run *x = ax->runs; x < ax->runs + ax->count; x++)
            if (x->tile == tile_x)
                txm_window_put(window, x->dst, y->dst,
                               pixels->data + y->src * pixels->stride + x->src * window->pixel_bytes, pixels->stride,
                               x->count, y->count);
    }
}

static void clear_outside(const txm_window *window, const axis *ax, const axis *ay)
{
    for (const run *y = ay->runs; y < ay->runs + ay->count; y++)
        for (const run *x = ax->runs; x < ax->runs + ax->count; x++)
            if (x->tile == OUTSIDE || y->tile == OUTSIDE)
                txm_window_clear(window, x->dst, y->dst, x->count, y->count);
}

/* Whether an earlier run named this tile already: each tile is decoded once. */
static bool seen(const axis *a, unsigned index)
{
    for (unsigned i = 0; i < index; i++)
        if (a->runs[i].tile == a->runs[index].tile)
            return true;
    return a->runs[index].tile == OUTSIDE;
}

static txm_status gather(txm_tx *tx, const txm_tile_id *tile, uint32_t padding, txm_extension extension,
                         const txm_window *window, txm_scratch *scratch, txm_error *err)
{
    const txm_tx_level *l = &tx->levels[tile->level].shape;
    axis ax, ay;
    make_axis(&ax, tile->x * tx->info.tile_w, tile->w, padding, l->width, tx->info.tile_w, extension);
    make_axis(&ay, tile->y * tx->info.tile_h, tile->h, padding, l->height, tx->info.tile_h, extension);
    for (unsigned iy = 0; iy < ay.count; iy++) {
        for (unsigned ix = 0; ix < ax.count; ix++) {
            if (seen(&ax, ix) || seen(&ay, iy))
                continue;
            txm_tile_id neighbour;
            txm_pixels pixels;
            txm_status status = txm_tile_at(tx, tile->level, ax.runs[ix].tile, ay.runs[iy].tile, &neighbour, err);
            if (status == TXM_OK)
                status = txm_tile_decode(tx, &neighbour, scratch, &pixels, err);
            if (status != TXM_OK)
                return status;
            put_runs(window, &ax, &ay, neighbour.x, neighbour.y, &pixels);
        }
    }
    clear_outside(window, &ax, &ay);
    return TXM_OK;
}

txm_status txm_tx_read_padded(txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y, uint32_t padding_px,
                              txm_extension extension, void *dst, size_t pixel_stride_bytes, size_t row_stride_bytes,
                              uint32_t *w, uint32_t *h, txm_error *err)
{
    txm_tile_id tile;
    if (padding_px > TXM_MAX_PADDING_PX)
        return txm_fail(err, TXM_USAGE, "padding of %u pixels; at most %d", padding_px, TXM_MAX_PADDING_PX);
    if ((unsigned)extension > TXM_MIRROR)
        return txm_fail(err, TXM_USAGE, "extension mode %u is unknown", (unsigned)extension);
    txm_status status = txm_tile_at(tx, level, tile_x, tile_y, &tile, err);
    if (status == TXM_OK)
        status = txm_tx_check_map(tx, err);
    if (status != TXM_OK)
        return status;
    txm_scratch *scratch = txm_scratch_take(tx);
    if (!scratch)
        return txm_fail(err, TXM_NO_MEMORY, "%s: memory is exhausted", tx->path);
    txm_window window = {dst, pixel_stride_bytes, row_stride_bytes, tx->pixel_bytes};
    bool done = false;
    if (padding_px && padding_px <= TXM_RING_PX && tx->section)
        status = txm_section_read_padded(tx, &tile, padding_px, extension, &window, scratch, &done, err);
    if (status == TXM_OK && !done)
        status = gather(tx, &tile, padding_px, extension, &window, scratch, err);
    txm_scratch_give(tx, scratch);
    if (status == TXM_OK && w)
        *w = tile.w;
    if (status == TXM_OK && h)
        *h = tile.h;
    return status;
}

txm_status txm_tx_check_ring(txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y, txm_error *err)
{
    txm_tile_id tile = {0};
    if (!tx->section)
        return txm_fail(err, TXM_USAGE, "%s: no valid border section", tx->path);
    txm_status status = txm_tile_at(tx, level, tile_x, tile_y, &tile, err);
    if (status == TXM_OK)
        status = txm_tx_check_map(tx, err);
    if (status == TXM_OK && txm_section_lacks(tx, &tile))
        return TXM_OK;
    txm_scratch *scratch = status == TXM_OK ? txm_scratch_take(tx) : NULL;
    size_t row = (tile.w + 2 * (size_t)TXM_RING_PX) * tx->pixel_bytes, bytes = row * (tile.h + 2 * TXM_RING_PX);
    uint8_t *stored = status == TXM_OK ? txm_alloc_pixels(2 * bytes, 1) : NULL;
    if (status == TXM_OK && (!scratch || !stored))
        status = txm_fail(err, TXM_NO_MEMORY, "%s: memory is exhausted", tx->path);
    bool done = false;
    if (status == TXM_OK) {
        txm_window window = {stored, tx->pixel_bytes, row, tx->pixel_bytes};
        status = txm_section_read_padded(tx, &tile, TXM_RING_PX, TXM_REPEAT, &window, scratch, &done, err);
    }
    if (status == TXM_OK && done) {
        txm_window window = {stored + bytes, tx->pixel_bytes, row, tx->pixel_bytes};
        status = gather(tx, &tile, TXM_RING_PX, TXM_REPEAT, &window, scratch, err);
    }
    if (status == TXM_OK && (!done || memcmp(stored, stored + bytes, bytes) != 0))
        status = txm_fail(err, TXM_CORRUPT, "%s: level %u, tile %u,%u: its border %s", tx->path, level, tile_x, tile_y,
                          done ? "does not show the pixels of its neighbours" : "is damaged");
    free(stored);
    if (scratch)
        txm_scratch_give(tx, scratch);
    return status;
}
