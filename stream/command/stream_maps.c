/* SPDX-License-Identifier: Apache-2.0
 *
 * A map shows the use of a texture in cells of one level 0 tile, laid out like level 0. The heat of a cell is the
 * finest level that was used there: white is level 0, dark blue level 6 and coarser, black none. Maps of textures of
 * different sizes can therefore be compared.
 */
#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "cli/say.h"
#include "command/stream_args.h"
#include "txmill/picture.h"

/* ---- maps of tiles ---- */

enum { COLDEST = 6 }; /* the level from which on all have the same colour */

/* The number of cells along a length, which are tiles of level 0. */
static uint32_t cells_of(uint32_t px, uint32_t tile_px)
{
    return (px + tile_px - 1) / tile_px;
}

/* Tiles are in the order of the parts; `*first` continues from one part to the next. */
bool stm_stream_map_new(const stm_render_picture *p, size_t part, size_t *first, uint32_t edge, stm_stream_map *map)
{
    const stm_render_part *of = &p->parts[part];
    /* The longer side is at most `edge` px: a cell becomes a square of several pixels if there are few, and several
     * cells share a pixel if there are many. */
    const uint32_t across = cells_of(of->width, of->tile_px), down = cells_of(of->height, of->tile_px);
    const uint32_t longer = across > down ? across : down;
    const double scale = longer <= edge ? (double)(edge / longer) : (double)edge / longer;
    *map = (stm_stream_map){.width = (uint32_t)fmax(1.0, ceil(across * scale)),
                            .height = (uint32_t)fmax(1.0, ceil(down * scale)),
                            .scale = scale / of->tile_px};
    map->finest = of->levels;
    map->heat = stm_calloc((size_t)map->width * map->height, sizeof *map->heat);
    if (!map->heat)
        return false;
    for (size_t i = 0; i < (size_t)map->width * map->height; i++)
        map->heat[i] = -1.0f;
    for (; *first < p->tile_count && p->tiles[*first].image == of->image && p->tiles[*first].part == of->part;
         ++*first) {
        const stm_render_tile *tile = &p->tiles[*first];
        map->finest = tile->level < map->finest ? tile->level : map->finest;
        map->tiles++;
        /* A tile of level l covers 2^l tiles of level 0 in each direction, except for those cut off at the edge. */
        const double px = (double)((uint64_t)of->tile_px << tile->level) * map->scale;
        const uint32_t x0 = (uint32_t)fmin(floor(tile->x * px), map->width - 1.0),
                       y0 = (uint32_t)fmin(floor(tile->y * px), map->height - 1.0);
        const uint32_t x1 = (uint32_t)fmin(fmax(ceil((tile->x + 1.0) * px), x0 + 1.0), map->width),
                       y1 = (uint32_t)fmin(fmax(ceil((tile->y + 1.0) * px), y0 + 1.0), map->height);
        const float heat = 1.0f - (float)(tile->level < COLDEST ? tile->level : COLDEST) / COLDEST;
        for (uint32_t y = y0; y < y1; y++)
            for (uint32_t x = x0; x < x1; x++) {
                float *at = &map->heat[(size_t)y * map->width + x];
                *at = fmaxf(*at, heat);
            }
    }
    return true;
}

/* Lays out all maps in the order of the scene's images, in equal squares. Since black also means unused, a grey frame
 * separates them. */
txm_status stm_stream_sheet(const stm_render_picture *p, float **rgb, uint32_t *width, uint32_t *height, txm_error *err)
{
    enum { EDGE = 128, CELL = EDGE + 4 };
    const uint32_t columns = (uint32_t)fmax(1.0, ceil(sqrt((double)p->part_count)));
    const uint32_t rows = (uint32_t)fmax(1.0, ceil((double)p->part_count / columns));
    *width = columns * CELL;
    *height = rows * CELL;
    *rgb = stm_calloc((size_t)*width * *height, 3 * sizeof **rgb);
    if (!*rgb)
        return stm_no_memory(err, NULL);
    for (size_t i = 0; i < (size_t)*width * *height * 3; i++)
        (*rgb)[i] = 0.05f;
    for (size_t i = 0, tile = 0; i < p->part_count; i++) {
        stm_stream_map map;
        float *colors = NULL;
        if (stm_stream_map_new(p, i, &tile, EDGE, &map))
            colors = stm_heat_colors(map.heat, (size_t)map.width * map.height, 1.0f);
        float *to = *rgb + 3 * ((size_t)(i / columns * CELL + 2) * *width + i % columns * CELL + 2);
        for (uint32_t y = 0; colors && y < map.height; y++)
            for (uint32_t k = 0; k < 3 * map.width; k++)
                to[3 * (size_t)y * *width + k] = colors[3 * (size_t)y * map.width + k];
        free(map.heat);
        if (!colors) {
            free(*rgb);
            *rgb = NULL;
            return stm_no_memory(err, NULL);
        }
        free(colors);
    }
    return TXM_OK;
}

/* ---- files ---- */

/* Floating-point formats get the values, others sRGB codes. */
txm_status stm_stream_write_rgb(const char *path, const float *rgb, uint32_t width, uint32_t height, txm_error *err)
{
    txm_picture picture = {rgb, (size_t)width * 3 * sizeof *rgb, width, height, 3, TXM_TYPE_FLOAT, "Linear"};
    uint8_t *codes = NULL;
    if (!path)
        return TXM_OK;
    if (!stm_path_has_ext(path, "exr") && !stm_path_has_ext(path, "hdr")) {
        codes = stm_srgb_codes(rgb, (size_t)width * height * 3);
        if (!codes)
            return stm_no_memory(err, path);
        picture = (txm_picture){codes, (size_t)width * 3, width, height, 3, TXM_TYPE_U8, "sRGB"};
    }
    txm_status status = txm_picture_write(path, &picture, err);
    free(codes);
    return status;
}
