/* SPDX-License-Identifier: Apache-2.0
 *
 * A tx file as a view sees it.
 *
 * In: an open tx file. Out: its description for look-ups, and its tiles as a slab holds them. Shared by the set
 * that keeps everything and by the cache that does not.
 */
#include "tile/sample/view_file.h"

#include <string.h>

#include "tile/base/fail.h"
#include "tile/base/text.h"
#include "tile/ops/ops.h"

enum { TXM_VIEW_TILE_PX = 64 };

/* The average that the file names, else mid grey: only stand-ins show it. A constant colour is preferred,
 * since it is exact. Commas separate the numbers, whatever the locale. */
static void read_average(const txm_tx *tx, txm_view_texture *v)
{
    const char *text = txm_tx_metadata_of(tx, "oiio:ConstantColor");
    uint32_t stored = txm_tx_info_of(tx)->channels, n = 0;
    float c[4] = {0.5f, 0.5f, 0.5f, 1.0f};
    if (!text)
        text = txm_tx_metadata_of(tx, "oiio:AverageColor");
    for (char *end; text && n < stored && n < 4; n++) {
        float f = txm_parse_float(text, &end);
        if (end == text)
            break;
        c[n] = f;
        text = *end == ',' ? end + 1 : end;
    }
    if (n && stored < 3) { /* grey, grey and alpha */
        c[3] = stored == 2 && n == 2 ? c[1] : 1.0f;
        c[1] = c[2] = c[0];
    }
    memcpy(v->average, c, sizeof c);
}

/* Levels are used as far as they are what look-ups take them for: halves, rounded down. */
static void count_levels(const txm_tx *tx, uint32_t skip, uint32_t tile_px, txm_view_texture *v)
{
    uint32_t stored = txm_tx_info_of(tx)->levels;
    for (uint32_t i = 0; skip + i < stored && i < TXM_MAX_LEVELS; i++, v->levels++) {
        const txm_tx_level *l = txm_tx_level_of(tx, skip + i);
        if (l->width != txm_level_size(v->width, i) || l->height != txm_level_size(v->height, i))
            break;
        if (!v->tiled_levels && l->width <= tile_px && l->height <= tile_px)
            v->tiled_levels = (uint16_t)(i + 1);
    }
    if (!v->tiled_levels)
        v->tiled_levels = v->levels;
}

/* All but levels and average. Images smaller than a tile take no more memory than they have pixels. */
static void shape_view(uint32_t width, uint32_t height, uint32_t tile_px, txm_type type, uint32_t channels,
                       txm_extension extension, txm_view_texture *v)
{
    uint32_t edge = tile_px;
    *v = (txm_view_texture){.width = width,
                            .height = height,
                            .type = (uint8_t)type,
                            .channels = channels == 1 ? 1 : 4,
                            .extension = (uint8_t)extension,
                            .scale = type == TXM_TYPE_U8    ? 1.0f / 255.0f
                                     : type == TXM_TYPE_U16 ? 1.0f / 65535.0f
                                                            : 1.0f};
    while (edge / 2 >= v->width && edge / 2 >= v->height)
        edge /= 2;
    while (edge >> v->tile_shift > 1)
        v->tile_shift++;
    v->pixel_bytes = v->channels * (uint32_t)txm_type_bytes(type);
    v->row_bytes = (edge + 2 * TXM_BORDER_PX) * v->pixel_bytes;
    v->tile_bytes = (edge + 2 * TXM_BORDER_PX) * v->row_bytes;
}

void txm_view_shape(uint32_t width, uint32_t height, uint32_t levels, uint32_t tile_px, txm_type type,
                    uint32_t channels, txm_extension extension, txm_view_texture *v)
{
    shape_view(width, height, tile_px, type, channels, extension, v);
    v->levels = v->tiled_levels = (uint16_t)levels;
    for (uint32_t i = levels; i-- > 0;)
        if (txm_level_size(width, i) <= tile_px && txm_level_size(height, i) <= tile_px)
            v->tiled_levels = (uint16_t)(i + 1);
}

/* `skip` leaves out the finest levels, where a bound on resolution asks for that. */
txm_status txm_view_describe(const txm_tx *tx, txm_extension extension, uint32_t skip, txm_view_texture *v,
                             txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const txm_tx_level *top = txm_tx_level_of(tx, skip);
    uint32_t edge = info->tile_w;
    if (info->tile_h != edge || edge & (edge - 1))
        return txm_fail(err, TXM_STATUS_UNSUPPORTED,
                        "tiles of %u x %u px cannot be looked up: they must be square and a power of two, as "
                        "'txmill make' and 'maketx --tile 64 64' write them",
                        info->tile_w, info->tile_h);
    /* As Cycles loads them since Blender 5.2.1: small tiles of other programs' files are joined. */
    if (edge < TXM_VIEW_TILE_PX)
        edge = TXM_VIEW_TILE_PX;
    shape_view(top->width, top->height, edge, info->type, info->channels, extension, v);
    v->encoding = info->encoding;
    count_levels(tx, skip, edge, v);
    read_average(tx, v);
    return TXM_OK;
}

/* The last may be cut. */
static uint32_t tiles_along(uint32_t size, uint32_t tile_shift)
{
    return (size + (1u << tile_shift) - 1) >> tile_shift;
}

uint32_t txm_view_tiles_across(const txm_view_texture *v, uint32_t level)
{
    return tiles_along(txm_level_size(v->width, level), v->tile_shift);
}

uint32_t txm_view_tiles(const txm_view_texture *v, uint32_t level)
{
    return txm_view_tiles_across(v, level) * tiles_along(txm_level_size(v->height, level), v->tile_shift);
}

/* One of the file's tiles, whose place is counted in tiles, with its border. *w, *h: without it. */
static txm_status read_stored(txm_tx *tx, const txm_view_texture *v, uint32_t level, uint32_t x, uint32_t y,
                              uint8_t *pixels, uint32_t *w, uint32_t *h, txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const size_t pixel = info->channels * txm_type_bytes(info->type);
    const txm_tx_request request = {.struct_size = sizeof(txm_tx_request),
                                    .level = level,
                                    .tile_x = x,
                                    .tile_y = y,
                                    .padding_px = TXM_BORDER_PX,
                                    .extension = (txm_extension)v->extension,
                                    .pixels = pixels,
                                    .pixel_stride_bytes = pixel,
                                    .row_stride_bytes = ((1u << v->tile_shift) + 2 * TXM_BORDER_PX) * pixel,
                                    .width = w,
                                    .height = h};
    return txm_tx_read_tile(tx, &request, err);
}

/* With its border, widened to four channels where the file has two or three; joined of the file's where those are
 * smaller, whose borders overlap with equal pixels. Where the tile is cut at the level's edge the rest of `dst` is left
 * as it was; no look-up reads it. */
txm_status txm_view_read_tile(txm_tx *tx, const txm_view_texture *v, uint32_t skip, uint32_t level, uint32_t tile,
                              uint8_t *dst, uint8_t *unwidened, txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const txm_tx_level *stored = txm_tx_level_of(tx, skip + level);
    const uint32_t edge = 1u << v->tile_shift, part = info->tile_w < edge ? info->tile_w : edge;
    const size_t pixel = info->channels * txm_type_bytes(info->type), row_bytes = (edge + 2 * TXM_BORDER_PX) * pixel;
    const uint32_t across = txm_view_tiles_across(v, level), left = tile % across * edge, top = tile / across * edge;
    const int widens = info->channels != v->channels;
    uint8_t *pixels = widens ? unwidened : dst;
    uint32_t width = 0, height = 0;
    txm_status status = TXM_OK;
    for (uint32_t y = 0; status == TXM_OK && y < edge && top + y < stored->height; y += part)
        for (uint32_t x = 0; status == TXM_OK && x < edge && left + x < stored->width; x += part) {
            uint32_t w, h;
            status = read_stored(tx, v, skip + level, (left + x) / part, (top + y) / part,
                                 pixels + y * row_bytes + x * pixel, &w, &h, err);
            width = x + w;
            height = y + h;
        }
    for (uint32_t row = 0; status == TXM_OK && widens && row < height + 2 * TXM_BORDER_PX; row++)
        txm_ops_best()->widen(info->type, info->channels, pixels + row * row_bytes, dst + row * (size_t)v->row_bytes,
                              width + 2 * TXM_BORDER_PX);
    return status;
}
