/* SPDX-License-Identifier: Apache-2.0
 *
 * A padded tile from a tile and its ring alone. The ring holds the repeat extension. Where the window stays inside the
 * level, that is what every extension shows; where it leaves the level, extend and mirror show pixels at most two away
 * from the edge, so pixels of this tile or its ring: both axes are looked up separately in the window itself.
 */
#include "container/section_reader.h"
#include "pyramid/ring.h"

enum { WIDE = 2 * TXM_RING_PX };

/* The repeat window of a tile: its pixels and the ring around them. */
typedef struct repeat_window {
    const uint8_t *above, *sides, *below; /* parts of the ring: two rows, two and two pixels a row, two rows */
    txm_pixels pixels;
    size_t pixel_bytes;
    uint32_t w, h;
} repeat_window;

/* Its pixel at (x, y), counted from the window's corner, two pixels off the tile. */
static const uint8_t *pixel_at(const repeat_window *r, uint32_t x, uint32_t y)
{
    size_t row = r->w + WIDE;
    if (y < TXM_RING_PX)
        return r->above + (y * row + x) * r->pixel_bytes;
    y -= TXM_RING_PX;
    if (y >= r->h)
        return r->below + ((y - r->h) * row + x) * r->pixel_bytes;
    if (x < TXM_RING_PX)
        return r->sides + ((size_t)y * WIDE + x) * r->pixel_bytes;
    x -= TXM_RING_PX;
    if (x >= r->w)
        return r->sides + ((size_t)y * WIDE + TXM_RING_PX + x - r->w) * r->pixel_bytes;
    return r->pixels.data + y * r->pixels.stride + x * r->pixel_bytes;
}

/* Where in the window the pixel at plane coordinate x comes from; -1: nothing is there. `x0`, `valid`: the tile. */
static int64_t look_up(int64_t x, uint32_t x0, uint32_t size, txm_extension extension)
{
    int64_t origin = (int64_t)x0 - TXM_RING_PX;
    if (extension == TXM_REPEAT)
        return x - origin;
    int64_t level_x = txm_extend(x, size, extension);
    return level_x < 0 ? -1 : level_x - origin;
}

/* A row above or below the tile. `columns`: sources of the padding, left then right; -1: clear. */
static void put_row(const txm_window *window, const repeat_window *r, uint32_t out_y, int64_t src_y, uint32_t padding,
                    const int64_t *columns)
{
    if (src_y < 0) {
        txm_window_clear(window, 0, out_y, r->w + 2 * padding, 1);
        return;
    }
    uint32_t y = (uint32_t)src_y;
    txm_window_put_row(window, padding, out_y, pixel_at(r, TXM_RING_PX, y), r->w);
    for (uint32_t i = 0; i < 2 * padding; i++) {
        uint32_t x = i < padding ? i : r->w + i;
        if (columns[i] < 0)
            txm_window_clear(window, x, out_y, 1, 1);
        else
            memcpy(txm_window_at(window, x, out_y), pixel_at(r, (uint32_t)columns[i], y), r->pixel_bytes);
    }
}

/* The tile and what stands on both sides of it, column by column. */
static void put_middle(const txm_window *window, const repeat_window *r, uint32_t padding, const int64_t *columns)
{
    txm_window_put(window, padding, padding, r->pixels.data, r->pixels.stride, r->w, r->h);
    for (uint32_t i = 0; i < 2 * padding; i++) {
        uint32_t x = i < padding ? i : r->w + i;
        if (columns[i] < 0) {
            txm_window_clear(window, x, padding, 1, r->h);
            continue;
        }
        bool beside = columns[i] < TXM_RING_PX || columns[i] >= TXM_RING_PX + (int64_t)r->w;
        txm_copy_pixels(txm_window_at(window, x, padding), window->row_stride,
                        pixel_at(r, (uint32_t)columns[i], TXM_RING_PX),
                        beside ? WIDE * r->pixel_bytes : r->pixels.stride, r->h, r->pixel_bytes);
    }
}

txm_status txm_section_read_padded(txm_tx *tx, const txm_tile_id *tile, uint32_t padding, txm_extension extension,
                                   const txm_window *window, txm_scratch *scratch, bool *done, txm_error *err)
{
    repeat_window r = {.pixel_bytes = tx->pixel_bytes, .w = tile->w, .h = tile->h};
    const uint8_t *ring = NULL;
    *done = false;
    txm_status status = txm_tile_decode(tx, tile, scratch, &r.pixels, err);
    if (status == TXM_OK)
        status = txm_section_read_ring(tx, tile, &r.pixels, scratch, &ring, err);
    if (status != TXM_OK || !ring)
        return status;
    size_t rows = (size_t)TXM_RING_PX * (tile->w + WIDE) * tx->pixel_bytes;
    r.above = ring;
    r.sides = ring + rows;
    r.below = r.sides + (size_t)WIDE * tile->h * tx->pixel_bytes;

    const txm_tx_level *l = &tx->levels[tile->level].shape;
    uint32_t x0 = tile->x * tx->info.tile_w, y0 = tile->y * tx->info.tile_h;
    int64_t columns[2 * TXM_RING_PX];
    for (uint32_t i = 0; i < 2 * padding; i++)
        columns[i] = look_up((int64_t)x0 - padding + i + (i < padding ? 0 : tile->w), x0, l->width, extension);
    put_middle(window, &r, padding, columns);
    for (uint32_t i = 0; i < 2 * padding; i++) {
        uint32_t y = i < padding ? i : tile->h + i;
        put_row(window, &r, y, look_up((int64_t)y0 - padding + y, y0, l->height, extension), padding, columns);
    }
    *done = true;
    return TXM_OK;
}
