/* SPDX-License-Identifier: Apache-2.0
 *
 * Describes a tx file for lookups and reads its tiles into slabs. Shared by the texture set, which keeps all tiles, and
 * by the cache, which does not.
 */
#include "tile/sample/view_file.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "tile/ops/ops.h"
#include "tile/reader/reader_memory.h"
#include "tile/terms/extension.h"
#include "tile/terms/releases.h"

/* The average colour from the file; otherwise mid grey, which only stand-ins show. A constant colour is preferred
 * because it is exact. Numbers are separated by commas in every locale. Returns whether the file has an average. */
static bool read_average(const txm_tx *tx, float average[4])
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
    if (n && stored < 3) { /* grey, or grey and alpha */
        c[3] = stored == 2 && n == 2 ? c[1] : 1.0f;
        c[1] = c[2] = c[0];
    }
    memcpy(average, c, sizeof c);
    return n;
}

/* Counts the levels up to the first whose size is not half of the one before, rounded down, since lookups assume
 * that. */
static void count_levels(const txm_tx *tx, uint32_t skip, uint32_t tile_px, txm_view_texture *v)
{
    uint32_t stored = txm_tx_info_of(tx)->levels;
    for (uint32_t i = 0; skip + i < stored && i < TXM_MAX_LOOKUP_LEVELS; i++, v->levels++) {
        const txm_tx_level *l = txm_tx_shape_of(tx, skip + i);
        if (l->width != txm_level_size(v->width, i) || l->height != txm_level_size(v->height, i))
            break;
        if (!v->tiled_levels && l->width <= tile_px && l->height <= tile_px)
            v->tiled_levels = (uint16_t)(i + 1);
    }
    if (!v->tiled_levels)
        v->tiled_levels = v->levels;
}

/* Sets everything but the levels and the average. The tiles of a small image are only as large as the image, which
 * saves memory. */
static void shape_view(uint32_t width, uint32_t height, uint32_t tile_px, txm_type type, uint32_t channels,
                       txm_extension extension, txm_view_texture *v)
{
    uint32_t edge = tile_px;
    *v = (txm_view_texture){.width = width,
                            .height = height,
                            .type = (uint8_t)type,
                            .channels = (uint8_t)channels,
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

/* `skip` drops the finest levels, for a limit on resolution. */
txm_status txm_view_describe(const txm_tx *tx, txm_extension extension, uint32_t skip, bool opaque, txm_view_texture *v,
                             txm_error *err)
{
    float average[4];
    const txm_tx_info *info = txm_tx_info_of(tx);
    const txm_tx_level *top = txm_tx_shape_of(tx, skip);
    uint32_t edge = info->tile_w;
    if (top->width > TXM_MAX_LOOKUP_PX || top->height > TXM_MAX_LOOKUP_PX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE,
                        "%u x %u px cannot be looked up, at most %d a side: make the tx file with --limit 64k",
                        top->width, top->height, TXM_MAX_LOOKUP_PX);
    if (info->tile_h != edge || edge & (edge - 1))
        return txm_fail(err, TXM_STATUS_UNSUPPORTED,
                        "tiles of %u x %u px cannot be looked up: they must be square and a power of two, as "
                        "'txmill make' and 'maketx --tile 64 64' write them",
                        info->tile_w, info->tile_h);
    /* Small tiles of other programs' files are joined, as Cycles does. */
    if (edge < TXM_RELEASE(0, joined_tile_px))
        edge = TXM_RELEASE(0, joined_tile_px);
    const bool named = read_average(tx, average);
    opaque = opaque && !txm_extension_rejects((int)extension) &&
             (info->channels == 3 || (info->channels == 4 && named && average[3] == 1.0f));
    shape_view(top->width, top->height, edge, info->type, info->channels == 1 ? 1 : opaque ? 3 : 4, extension, v);
    v->encoding = info->encoding;
    memcpy(v->average, average, sizeof average);
    count_levels(tx, skip, edge, v);
    return TXM_OK;
}

/* Rounds up to the next of twelve sizes between two powers of two, and to a multiple of 16. One of the twelve is 4/3 of
 * the power of two, because textures whose edges are powers of two take slightly less than that with all their levels.
 */
static uint32_t round_up(uint32_t bytes)
{
    enum { SIZES = 12, MULTIPLE = 16 };
    uint32_t power = MULTIPLE;
    while (power * 2 <= bytes)
        power *= 2;
    const uint32_t above = bytes > power ? bytes - power : 0, steps = (above * SIZES + power - 1) / power;
    const uint32_t size = power + (steps * power + SIZES - 1) / SIZES;
    return (size + MULTIPLE - 1) & ~(uint32_t)(MULTIPLE - 1);
}

/* Larger textures gain less, and are rarely needed in all their levels. */
void txm_view_pack(txm_view_texture *v)
{
    enum { LARGEST_PX = 32 };
    uint32_t bytes = 0;
    if (v->width > LARGEST_PX || v->height > LARGEST_PX)
        return;
    for (uint32_t i = 0; i < v->levels; i++) {
        v->level_first[i] = bytes;
        bytes += txm_level_size(v->width, i) * txm_level_size(v->height, i) * v->pixel_bytes;
    }
    v->tile_shift = TXM_SHIFT_PACKED;
    v->row_bytes = 0;
    v->tile_bytes = round_up(bytes);
}

/* The last tile may be partial. */
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
    if (txm_view_is_packed(v))
        return level == 0;
    return txm_view_tiles_across(v, level) * tiles_along(txm_level_size(v->height, level), v->tile_shift);
}

/* A square of a level, with or without its border. If the file's tiles are smaller, it is joined from several, whose
 * borders overlap with equal pixels. Pixels beyond the level are not changed. */
typedef struct square {
    uint32_t level, left, top, edge, padding;
    uint32_t width, height; /* size of the pixels that exist, without the border */
    uint8_t *pixels;
    size_t row_bytes;
} square;

static txm_status read_square(txm_tx *tx, txm_extension extension, square *s, txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const size_t pixel = info->channels * txm_type_bytes(info->type);
    const uint32_t part = info->tile_w < s->edge ? info->tile_w : s->edge, right = s->left + s->width;
    txm_status status = TXM_OK;
    for (uint32_t y = s->top; status == TXM_OK && y < s->top + s->height; y += part)
        for (uint32_t x = s->left; status == TXM_OK && x < right; x += part) {
            const txm_tx_request request = {.struct_size = sizeof(txm_tx_request),
                                            .level = s->level,
                                            .tile_x = x / part,
                                            .tile_y = y / part,
                                            .padding_px = s->padding,
                                            .extension = extension,
                                            .pixels = s->pixels + (y - s->top) * s->row_bytes + (x - s->left) * pixel,
                                            .pixel_stride_bytes = pixel,
                                            .row_stride_bytes = s->row_bytes};
            status = txm_tx_read_tile(tx, &request, err);
        }
    return status;
}

/* Drops the alpha; returns false if it is not 1 everywhere. */
static bool drop_alpha(txm_type type, const uint8_t *src, uint8_t *dst, size_t count)
{
    const uint8_t one[4][4] = {{0xFF}, {0xFF, 0xFF}, {0x00, 0x3C}, {0x00, 0x00, 0x80, 0x3F}};
    const size_t sample = txm_type_bytes(type);
    int differs = 0;
    for (size_t i = 0; i < count; i++, src += 4 * sample, dst += 3 * sample)
        switch (sample) {
        case 1:
            memcpy(dst, src, 3);
            differs |= src[3] ^ 0xFF;
            break;
        case 2:
            memcpy(dst, src, 6);
            differs |= memcmp(src + 6, one[type], 2);
            break;
        default:
            memcpy(dst, src, 12);
            differs |= memcmp(src + 12, one[type], 4);
            break;
        }
    return !differs;
}

/* Converts from the channels of the file to those of the view. */
static void convert_rows(const txm_tx_info *info, const txm_view_texture *v, const square *s, uint8_t *dst,
                         size_t dst_row_bytes, bool *opaque)
{
    const uint32_t width = s->width + 2 * s->padding;
    for (uint32_t row = 0; row < s->height + 2 * s->padding; row++, dst += dst_row_bytes) {
        const uint8_t *src = s->pixels + row * s->row_bytes;
        if (v->channels == 3)
            *opaque &= drop_alpha(info->type, src, dst, width);
        else
            txm_ops_best()->widen(info->type, info->channels, src, dst, width);
    }
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The levels of a packed texture are stored one after the other, without borders. */
txm_status txm_view_read_tile(txm_tx *tx, const txm_view_texture *v, uint32_t skip, uint32_t level, uint32_t tile,
                              uint8_t *dst, uint8_t *converted, bool *opaque, txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const bool packed = txm_view_is_packed(v), converts = info->channels != v->channels;
    const size_t pixel = info->channels * txm_type_bytes(info->type);
    txm_status status = TXM_OK;
    for (uint32_t i = packed ? 0 : level, end = packed ? v->levels : level + 1; status == TXM_OK && i < end; i++) {
        const uint32_t w = txm_level_size(v->width, i), h = txm_level_size(v->height, i);
        const uint32_t across = txm_view_tiles_across(v, i), edge = 1u << v->tile_shift;
        square s = {.level = skip + i,
                    .left = tile % across * edge,
                    .top = tile / across * edge,
                    .edge = edge,
                    .padding = packed ? 0 : TXM_BORDER_PX};
        s.width = least(edge, w - s.left);
        s.height = least(edge, h - s.top);
        s.row_bytes = packed ? w * pixel : (edge + 2 * TXM_BORDER_PX) * pixel;
        uint8_t *to = dst + (packed ? v->level_first[i] : 0);
        s.pixels = converts ? converted : to;
        status = read_square(tx, (txm_extension)v->extension, &s, err);
        if (status == TXM_OK && converts)
            convert_rows(info, v, &s, to, packed ? w * v->pixel_bytes : v->row_bytes, opaque);
    }
    return status;
}
