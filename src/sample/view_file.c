/* SPDX-License-Identifier: Apache-2.0
 *
 * A tx file as a view sees it.
 *
 * In: an open tx file. Out: its description for look-ups, and its tiles as a slab holds them. Shared by the set
 * that keeps everything and by the cache that does not.
 */
#include "sample/view_file.h"

#include <string.h>

#include "core/fail.h"
#include "core/text.h"
#include "device/ops.h"

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
            v->tiled_levels = i + 1;
    }
    if (!v->tiled_levels)
        v->tiled_levels = v->levels;
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
    *v = (txm_view_texture){.width = top->width,
                            .height = top->height,
                            .type = (uint8_t)info->type,
                            .channels = info->channels == 1 ? 1 : 4,
                            .extension = (uint8_t)extension,
                            .scale = info->type == TXM_TYPE_U8    ? 1.0f / 255.0f
                                     : info->type == TXM_TYPE_U16 ? 1.0f / 65535.0f
                                                                  : 1.0f};
    count_levels(tx, skip, edge, v);
    /* Images smaller than a tile take no more memory than they have pixels. */
    while (edge / 2 >= v->width && edge / 2 >= v->height)
        edge /= 2;
    while (edge >> v->tile_shift > 1)
        v->tile_shift++;
    v->pixel_bytes = v->channels * (uint32_t)txm_type_bytes(info->type);
    v->row_bytes = (edge + 2 * TXM_BORDER_PX) * v->pixel_bytes;
    v->tile_bytes = (edge + 2 * TXM_BORDER_PX) * v->row_bytes;
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

/* With its border, widened to four channels where the file has two or three. Where the tile is cut at the
 * level's edge the rest of `dst` is left as it was; no look-up reads it. */
txm_status txm_view_read_tile(txm_tx *tx, const txm_view_texture *v, uint32_t skip, uint32_t level, uint32_t tile,
                              uint8_t *dst, uint8_t *unwidened, txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    size_t pixel = info->channels * txm_type_bytes(info->type), row_px = (1u << v->tile_shift) + 2 * TXM_BORDER_PX;
    uint32_t across = txm_view_tiles_across(v, level), w, h;
    int widens = info->channels != v->channels;
    const txm_tx_request request = {.struct_size = sizeof(txm_tx_request),
                                    .level = skip + level,
                                    .tile_x = tile % across,
                                    .tile_y = tile / across,
                                    .padding_px = TXM_BORDER_PX,
                                    .extension = (txm_extension)v->extension,
                                    .pixels = widens ? unwidened : dst,
                                    .pixel_stride_bytes = pixel,
                                    .row_stride_bytes = row_px * pixel,
                                    .width = &w,
                                    .height = &h};
    txm_status status = txm_tx_read_tile(tx, &request, err);
    for (uint32_t row = 0; status == TXM_OK && widens && row < h + 2 * TXM_BORDER_PX; row++)
        txm_ops_best()->widen(info->type, info->channels, unwidened + row * row_px * pixel,
                              dst + row * (size_t)v->row_bytes, w + 2 * TXM_BORDER_PX);
    return status;
}
