/* SPDX-License-Identifier: Apache-2.0
 *
 * Sources of tiles: tx files, and callbacks of the caller. Both describe a texture and read one tile with its border.
 * Descriptions from callbacks are checked before use. Callbacks only read rectangles inside a level; the borders are
 * made here. Everything here is called without the lock.
 */
#include "base/checksum.h"
#include "base/fail.h"
#include "tile/cache/catalog/parts.h"
#include "tile/record/blank.h"
#include "tile/terms/extension.h"

/* The number of levels that exceed limit_px; the coarsest one is always kept. */
static uint32_t levels_to_skip(const txm_catalog *k, uint32_t width, uint32_t height, uint32_t levels)
{
    const uint32_t limit = k->options->limit_px;
    uint32_t skip = 0;
    while (limit && skip + 1 < levels && (txm_level_size(width, skip) > limit || txm_level_size(height, skip) > limit))
        skip++;
    return skip;
}

/* Small textures are packed, except for those whose pixels beyond the edge would become opaque when they are widened.
 */
static void finish_source(const txm_catalog *k, txm_source *made, const char *digest)
{
    if (!(made->converts && txm_extension_rejects(made->view->extension)))
        txm_view_pack(made->view);
    made->hashed = digest && *digest && k->options->coalesce & TXM_COALESCE_DUPLICATE;
    made->digest = made->hashed ? txm_xxh64(digest, strlen(digest), 0) : 0;
}

/* ---- tx files ---- */

txm_status txm_file_describe(const txm_catalog *k, const txm_tx *tx, txm_extension extension, txm_source *made,
                             txm_error *err)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    made->skip = levels_to_skip(k, info->width, info->height, info->levels) & 31u;
    made->stored = info->channels & 7u;
    txm_status status =
        txm_view_describe(tx, extension, made->skip, k->options->keep_rgb && !made->file->translucent, made->view, err);
    if (status != TXM_OK)
        txm_error_prefix(err, "%s", made->file->path);
    made->converts = info->channels != made->view->channels;
    if (status == TXM_OK)
        finish_source(k, made, txm_tx_metadata_of(tx, "oiio:SHA-1"));
    return status;
}

/* ---- callbacks ---- */

/* Returns the failure of a callback, with the callback's message if it has given one. */
static txm_status called_failed(const txm_cache_file *f, txm_status status, const char *what, txm_error *err)
{
    if ((unsigned)status >= TXM_STATUSES)
        status = TXM_STATUS_INTERNAL;
    if (err)
        err->message[sizeof err->message - 1] = 0; /* the callback may have filled all of it */
    if (err && err->status != TXM_OK && err->message[0]) {
        err->status = status;
        txm_error_prefix(err, "%s", f->path);
        return status;
    }
    txm_error_clear(err);
    return txm_fail(err, status, "%s: its source cannot %s", f->path, what);
}

static txm_status check_shape(const txm_cache_file *f, const txm_tile_shape *s, txm_error *err)
{
    enum { LONGEST = 65536, SMALLEST_TILE = 8, LARGEST_TILE = 512 };
    if (!s->width || !s->height || s->width > LONGEST || s->height > LONGEST)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: its source has %u x %u px; use 1 to %d", f->path, s->width,
                        s->height, LONGEST);
    uint32_t most = 1;
    while (s->width >> most || s->height >> most)
        most++;
    if (!s->levels || s->levels > most || s->levels > TXM_MAX_LOOKUP_LEVELS)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: its source has %u levels; use 1 to %u", f->path, s->levels,
                        most);
    if (s->tile_px < SMALLEST_TILE || s->tile_px > LARGEST_TILE || s->tile_px & (s->tile_px - 1))
        return txm_fail(err, TXM_STATUS_UNSUPPORTED,
                        "%s: its source has tiles of %u px; use a power of two from %d to %d", f->path, s->tile_px,
                        SMALLEST_TILE, LARGEST_TILE);
    if ((s->channels != 1 && s->channels != 4) || s->type > TXM_TYPE_FLOAT)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: its source has %u channels of type %u", f->path, s->channels,
                        s->type);
    if (s->encoding > TXM_ENCODING_DATA)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: its source has the unknown encoding %u", f->path,
                        s->encoding);
    if (!memchr(s->digest, 0, sizeof s->digest))
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: the digest of its source lacks its final NUL", f->path);
    return TXM_OK;
}

txm_status txm_called_describe(const txm_catalog *k, txm_extension extension, txm_source *made, txm_error *err)
{
    const txm_cache_file *f = made->file;
    txm_tile_shape shape = {.struct_size = sizeof shape, .average = {0.5f, 0.5f, 0.5f, 1.0f}};
    txm_error said = {0};
    txm_status status = f->called.describe(f->called.user, &shape, &said);
    if (status != TXM_OK) {
        called_failed(f, status, "be described", &said);
        return txm_fail_as(err, &said);
    }
    status = check_shape(f, &shape, err);
    if (status != TXM_OK)
        return status;
    made->skip = levels_to_skip(k, shape.width, shape.height, shape.levels) & 31u;
    made->stored = shape.channels & 7u;
    txm_view_shape(txm_level_size(shape.width, made->skip), txm_level_size(shape.height, made->skip),
                   shape.levels - made->skip, shape.tile_px, (txm_type)shape.type, shape.channels, extension,
                   made->view);
    /* The tables of a level take 8 bytes per tile, whatever the budget, so a level may have only as many tiles as in tx
     * files. */
    if (txm_view_tiles(made->view, 0) > TXM_BLANK_LEVEL_TILES)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED,
                        "%s: tiles of %u px are too small for the %u x %u px of its source: a level may have %d",
                        f->path, shape.tile_px, shape.width, shape.height, TXM_BLANK_LEVEL_TILES);
    made->view->encoding = shape.encoding;
    memcpy(made->view->average, shape.average, sizeof shape.average);
    finish_source(k, made, shape.digest);
    return TXM_OK;
}

/* The area of a padded tile, in pixels of the level: left and top are its corner, and the part from x0 to x1 and y0 to
 * y1 is inside the level. The level has the number `level` in the view, and `stored` in the source. */
typedef struct padded {
    const txm_cache_file *file;
    const txm_view_texture *view;
    uint8_t *pixels;
    uint32_t level, stored;
    int32_t left, top, x0, y0, x1, y1;
} padded;

static uint8_t *pixel_at(const padded *p, int32_t x, int32_t y)
{
    return p->pixels + (size_t)(y - p->top) * p->view->row_bytes + (size_t)(x - p->left) * p->view->pixel_bytes;
}

/* Puts `width` by `height` pixels from (from_x, from_y) of the level at (x, y). `read`: they are copied if the tile
 * holds them already. */
static txm_status fetch(const padded *p, int32_t from_x, int32_t from_y, int32_t width, int32_t height, int32_t x,
                        int32_t y, bool read, txm_error *err)
{
    const txm_called *s = &p->file->called;
    if (read && from_x >= p->x0 && from_x + width <= p->x1 && from_y >= p->y0 && from_y + height <= p->y1) {
        for (int32_t row = 0; row < height; row++)
            memcpy(pixel_at(p, x, y + row), pixel_at(p, from_x, from_y + row), (size_t)width * p->view->pixel_bytes);
        return TXM_OK;
    }
    txm_error said = {0};
    txm_status status = s->read(s->user, p->stored, (uint32_t)from_x, (uint32_t)from_y, (uint32_t)width,
                                (uint32_t)height, pixel_at(p, x, y), p->view->row_bytes, &said);
    if (status == TXM_OK)
        return TXM_OK;
    called_failed(p->file, status, "be read", &said);
    return txm_fail_as(err, &said);
}

/* Fills a part of the border, a column of the rows inside the level, or a part of a row, as the extension requires.
 * With CLIP pixels beyond the level are transparent black. */
static txm_status fetch_beyond(const padded *p, int32_t x, int32_t y, int32_t width, int32_t height, txm_error *err)
{
    const txm_view_texture *v = p->view;
    const int32_t w = (int32_t)txm_level_size(v->width, p->level), h = (int32_t)txm_level_size(v->height, p->level);
    const int32_t from_x = txm_wrap_pixel(x, w, (int)TXM_EXTENSION_U(v->extension));
    const int32_t from_y = txm_wrap_pixel(y, h, (int)TXM_EXTENSION_V(v->extension));
    if (from_x >= 0 && from_y >= 0)
        return fetch(p, from_x, from_y, width, height, x, y, true, err);
    for (int32_t row = 0; row < height; row++)
        memset(pixel_at(p, x, y + row), 0, (size_t)width * v->pixel_bytes);
    return TXM_OK;
}

/* Nearly all of a tile is one rectangle; where the border extends beyond the level, a few rectangles that are one pixel
 * wide or high are added. */
static txm_status read_called_padded(const txm_source *s, uint32_t level, uint32_t tile, uint8_t *pixels,
                                     txm_error *err)
{
    const txm_view_texture *v = s->view;
    const int32_t edge = 1 << v->tile_shift, border = TXM_BORDER_PX;
    const int32_t w = (int32_t)txm_level_size(v->width, level), h = (int32_t)txm_level_size(v->height, level);
    const uint32_t across = txm_view_tiles_across(v, level);
    const int32_t x = (int32_t)(tile % across) * edge, y = (int32_t)(tile / across) * edge;
    const int32_t right = (x + edge < w ? x + edge : w) + border, bottom = (y + edge < h ? y + edge : h) + border;
    padded p = {s->file, v, pixels, level, s->skip + level, x - border, y - border, 0, 0, 0, 0};
    p.x0 = p.left > 0 ? p.left : 0;
    p.y0 = p.top > 0 ? p.top : 0;
    p.x1 = right < w ? right : w;
    p.y1 = bottom < h ? bottom : h;
    txm_status status = fetch(&p, p.x0, p.y0, p.x1 - p.x0, p.y1 - p.y0, p.x0, p.y0, false, err);
    for (int32_t i = p.left; i < right && status == TXM_OK; i++)
        if (i < p.x0 || i >= p.x1)
            status = fetch_beyond(&p, i, p.y0, 1, p.y1 - p.y0, err);
    for (int32_t k = p.top; k < bottom && status == TXM_OK; k++)
        for (int32_t i = p.left; (k < p.y0 || k >= p.y1) && i < right && status == TXM_OK; i++) {
            const bool inside = i >= p.x0 && i < p.x1;
            status = fetch_beyond(&p, i, k, inside ? p.x1 - p.x0 : 1, 1, err);
            i = inside ? p.x1 - 1 : i;
        }
    return status;
}

/* A packed texture consists of one tile with all levels and without borders. */
txm_status txm_called_read(const txm_source *s, uint32_t level, uint32_t tile, uint8_t *pixels, txm_error *err)
{
    const txm_view_texture *v = s->view;
    const txm_called *called = &s->file->called;
    txm_status status = TXM_OK;
    if (!txm_view_is_packed(v))
        return read_called_padded(s, level, tile, pixels, err);
    for (uint32_t i = 0; i < v->levels && status == TXM_OK; i++) {
        txm_error said = {0};
        const uint32_t w = txm_level_size(v->width, i), h = txm_level_size(v->height, i);
        status =
            called->read(called->user, s->skip + i, 0, 0, w, h, pixels + v->level_first[i], w * v->pixel_bytes, &said);
        if (status != TXM_OK) {
            called_failed(s->file, status, "be read", &said);
            return txm_fail_as(err, &said);
        }
    }
    return status;
}
