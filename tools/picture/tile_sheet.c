/* SPDX-License-Identifier: Apache-2.0
 *
 * Draws all tiles of a level on a contact sheet.
 *
 * In: a level. Out: a picture in which each tile with its padding is separate from the others and numbered with a
 * small bitmap font, so that borders can be checked by eye.
 */
#include "tools/picture/tile_sheet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

/* Letters have 3 x 5 px; a label is a line of them with a pixel above and below. */
enum { GLYPH_W = 3, GLYPH_H = 5, LABEL_H = GLYPH_H + 2, LINE_PX = 1 };

static const uint8_t paper[3] = {32, 32, 32}, line_color[3] = {96, 96, 96}, ink[3] = {255, 208, 64},
                     tint[3] = {255, 0, 160};

typedef struct sheet {
    txm_tx *tx;
    const txm_tx_info *info;
    const txm_tx_level *level;
    uint32_t number, padding;
    txm_extension extension;
    uint32_t cell_w, cell_h;
    txm_level_picture *out;
} sheet;

/* RGB without gaps; callers stay inside because of the sizes of the cells. */
static uint8_t *at(const sheet *s, uint32_t x, uint32_t y)
{
    return s->out->pixels + ((size_t)y * s->out->width + x) * 3;
}

static void draw_label(const sheet *s, const char *text, uint32_t x, uint32_t y)
{
    static const uint16_t digits[10] = {075557, 026227, 071747, 071717, 055711, 074717, 074757, 071111, 075757, 075717};
    static const uint16_t comma = 000024;
    for (; *text; text++, x += GLYPH_W + 1)
        for (unsigned bit = 0; bit < GLYPH_W * GLYPH_H; bit++) {
            uint16_t glyph = *text == ',' ? comma : digits[*text - '0'];
            if (glyph >> (GLYPH_W * GLYPH_H - 1 - bit) & 1)
                memcpy(at(s, x + bit % GLYPH_W, y + bit / GLYPH_W), ink, 3);
        }
}

/* The padding is read as in a renderer, from the border section if there is one, so that the sheet shows what
 * lookups find. */
static txm_status read_padded(const sheet *s, uint32_t x, uint32_t y, txm_level_picture *p, txm_error *err)
{
    const txm_tx_info *i = s->info;
    size_t px = i->channels * txm_type_bytes(i->type);
    uint32_t left = s->level->width - x * i->tile_w, above = s->level->height - y * i->tile_h;
    uint32_t w = left < i->tile_w ? left : i->tile_w, h = above < i->tile_h ? above : i->tile_h;
    *p = (txm_level_picture){
        .width = w + 2 * s->padding, .height = h + 2 * s->padding, .channels = i->channels, .type = i->type};
    p->pixels = txm_alloc_pixels((size_t)p->width * p->height, px);
    if (!p->pixels)
        return txm_no_memory(err, NULL);
    txm_status status = txm_tx_read_tile(s->tx,
                                         &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                           .level = s->number,
                                                           .tile_x = x,
                                                           .tile_y = y,
                                                           .padding_px = s->padding,
                                                           .extension = s->extension,
                                                           .pixels = p->pixels,
                                                           .pixel_stride_bytes = px,
                                                           .row_stride_bytes = p->width * px},
                                         err);
    if (!status)
        status = txm_level_picture_encode(s->tx, p, err);
    return status ? status : txm_level_picture_to_8_bits(p, err);
}

/* Each tile is read and encoded separately, so the sheet of a large level needs memory for the sheet and one tile. */
static txm_status draw_tile(const sheet *s, uint32_t tx, uint32_t ty, txm_error *err)
{
    char label[32];
    txm_level_picture p = {0};
    uint32_t x0 = tx * s->cell_w, y0 = ty * s->cell_h;
    txm_status status = read_padded(s, tx, ty, &p, err);
    if (!status) {
        snprintf(label, sizeof label, "%u,%u", tx, ty);
        /* A cell shares its frame, of one pixel, with its neighbours. */
        for (uint32_t i = 0; i <= s->cell_w; i++) {
            memcpy(at(s, x0 + i, y0), line_color, 3);
            memcpy(at(s, x0 + i, y0 + s->cell_h), line_color, 3);
        }
        for (uint32_t i = 0; i <= s->cell_h; i++) {
            memcpy(at(s, x0, y0 + i), line_color, 3);
            memcpy(at(s, x0 + s->cell_w, y0 + i), line_color, 3);
        }
        draw_label(s, label, x0 + LINE_PX + 1, y0 + LINE_PX + 1);
        for (uint32_t y = 0; y < p.height; y++)
            for (uint32_t x = 0; x < p.width; x++) {
                bool outside =
                    x < s->padding || y < s->padding || x >= p.width - s->padding || y >= p.height - s->padding;
                const uint8_t *from = p.pixels + ((size_t)y * p.width + x) * p.channels;
                uint8_t *to = at(s, x0 + LINE_PX + x, y0 + LINE_PX + LABEL_H + y);
                /* Grey is copied to all channels, alpha is ignored (associated colour appears on black). */
                for (int c = 0; c < 3; c++) {
                    uint8_t v = from[p.channels < 3 ? 0 : c];
                    to[c] = (uint8_t)(outside ? (v + tint[c]) / 2 : v);
                }
            }
    }
    txm_level_picture_clear(&p);
    return status;
}

/* All cells have the size of a full tile; smaller tiles at the edges leave a part of theirs empty. */
txm_status txm_tile_sheet(txm_tx *tx, uint32_t level, uint32_t padding_px, txm_extension extension,
                          txm_level_picture *out, txm_error *err)
{
    sheet s = {.tx = tx,
               .info = txm_tx_info_of(tx),
               .level = txm_tx_level_of(tx, level),
               .number = level,
               .padding = padding_px,
               .extension = extension,
               .out = out};
    memset(out, 0, sizeof *out);
    if (!s.level)
        return txm_fail(err, TXM_STATUS_USAGE, "no level %u, the last is %u", level, s.info->levels - 1);
    uint32_t tile_h = s.level->height < s.info->tile_h ? s.level->height : s.info->tile_h;
    /* A column is as wide as the widest tile and the longest label. */
    char label[32];
    uint32_t tile = s.level->width < s.info->tile_w ? s.level->width : s.info->tile_w;
    int letters = snprintf(label, sizeof label, "%u,%u", s.level->tiles_x - 1, s.level->tiles_y - 1);
    uint32_t words = (uint32_t)letters * (GLYPH_W + 1) + 2;
    tile += 2 * s.padding;
    s.cell_w = (tile > words ? tile : words) + LINE_PX;
    s.cell_h = tile_h + 2 * padding_px + LABEL_H + LINE_PX;
    /* The size fits into 32 bits: at most 65536 tiles with some 30 px more than their pixels. */
    *out = (txm_level_picture){.width = s.level->tiles_x * s.cell_w + LINE_PX,
                               .height = s.level->tiles_y * s.cell_h + LINE_PX,
                               .channels = 3,
                               .type = TXM_TYPE_U8,
                               .colorspace = "sRGB",
                               .encoded = true};
    size_t pixels = txm_mul(out->width, out->height);
    if (txm_mul(pixels, 3) > TXM_PICTURE_MAX_BYTES)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "a sheet of %ux%u px takes more than 4 GiB; choose a higher level",
                        out->width, out->height);
    out->pixels = txm_alloc_pixels(pixels, 3);
    txm_status status = out->pixels ? TXM_OK : txm_no_memory(err, NULL);
    for (size_t i = 0; !status && i < pixels; i++)
        memcpy(out->pixels + 3 * i, paper, 3);
    for (uint32_t y = 0; !status && y < s.level->tiles_y; y++)
        for (uint32_t x = 0; !status && x < s.level->tiles_x; x++)
            status = draw_tile(&s, x, y, err);
    if (status)
        txm_level_picture_clear(out);
    return status;
}
