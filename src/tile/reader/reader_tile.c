/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads tiles: scratch memory, inflating, plain tiles, and padded tiles by the full-image rule. A padded tile comes
 * from the border section (border_decode.c) if there is one, and is otherwise gathered from the neighbours, at the end
 * of this file. tiff_tile.c and exr_tile.c find and decode each tile on the way.
 */
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/os/pages.h"
#include "tile/decode/inflate_parts.h"
#include "tile/reader/reader_impl.h"
#include "tile/reader/reader_memory.h"
#include "tile/reader/section_reader.h"
#include "tile/terms/extension.h"

/* ---- scratch memory: as many objects as threads ever read the file at the same time, so that reading a tile allocates
 * nothing once the pool is warm ----------------------------------------------------------------------------------- */

/* Vector code may store up to this many bytes past the last pixel. */
enum { SLACK_BYTES = 64 };

/* Returns NULL without memory. Its buffers are allocated when they are first needed (txm_scratch_need). */
txm_scratch *txm_scratch_take(txm_tx *tx)
{
    pthread_mutex_lock(&tx->lock);
    txm_scratch *s = tx->scratch;
    if (s)
        tx->scratch = s->next;
    pthread_mutex_unlock(&tx->lock);
    return s ? s : txm_calloc(1, sizeof *s);
}

void txm_scratch_give(txm_tx *tx, txm_scratch *scratch)
{
    pthread_mutex_lock(&tx->lock);
    scratch->next = tx->scratch;
    tx->scratch = scratch;
    pthread_mutex_unlock(&tx->lock);
}

void txm_scratch_free_all(txm_tx *tx)
{
    while (tx->scratch) {
        txm_scratch *s = tx->scratch;
        tx->scratch = s->next;
        ZSTD_freeDCtx(s->zstd);
        txm_exr_chunk_free(s);
        free(s->inflate);
        txm_parts_free(&s->parts);
        free(s->raw);
        free(s->tile);
        free(s->border);
        free(s->input);
        free(s->payload);
        free(s);
    }
}

/* Each buffer has room for one tile, plus the slack for vector code. */
uint64_t txm_scratch_idle_bytes(txm_tx *tx)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&tx->lock);
    for (const txm_scratch *s = tx->scratch; s; s = s->next)
        bytes += txm_usable_bytes((void *)s) + txm_usable_bytes(s->inflate) + txm_usable_bytes(s->parts) +
                 txm_usable_bytes(s->raw) + txm_usable_bytes(s->tile) + txm_usable_bytes(s->border) +
                 txm_usable_bytes(s->input) + txm_usable_bytes(s->payload) + txm_exr_chunk_bytes(s) +
                 ZSTD_sizeof_DCtx(s->zstd);
    pthread_mutex_unlock(&tx->lock);
    return bytes;
}

void txm_scratch_trim(txm_tx *tx)
{
    pthread_mutex_lock(&tx->lock);
    txm_scratch_free_all(tx);
    pthread_mutex_unlock(&tx->lock);
}

txm_status txm_scratch_need(const txm_tx *tx, uint8_t **buffer, txm_error *err)
{
    if (*buffer)
        return TXM_OK;
    size_t pixels = (size_t)tx->info.tile_w * tx->info.tile_h; /* at most 1024 x 1024: checked when opening */
    *buffer = txm_alloc_pixels(pixels * tx->pixel_bytes + SLACK_BYTES, 1);
    return *buffer ? TXM_OK : txm_no_memory(err, NULL);
}

/* ---- zlib streams of known size --------------------------------------------------------------------------------- */

/* EXR tiles in two halves are decoded side by side, in two thirds of the time. For the others ISA-L inflates 16 KiB
 * RGBA8 tiles in 21 us, libdeflate in 27 (on half-float tiles they are equally fast). ISA-L's Adler-32 is slow, so
 * libdeflate's is used. */

enum { HEADER_BYTES = 2, CHECK_BYTES = 4, DEFLATE = 8, MAX_WINDOW_BITS = 15 - 8, PRESET_DICTIONARY = 0x20 };

/* TXM_ZLIB_PARTS allows a stream that our own encoder made of pieces, which are inflated side by side; any other stream
 * is inflated in the usual way. */
txm_status txm_inflate(const txm_span *span, txm_zlib_kind kind, txm_scratch *scratch, uint8_t *dst, size_t dst_bytes,
                       bool *ok, txm_error *err)
{
    *ok = false;
    if (!scratch->inflate && !(scratch->inflate = malloc(sizeof *scratch->inflate)))
        return txm_no_memory(err, NULL);
    if (kind == TXM_ZLIB_PARTS && !scratch->parts && !(scratch->parts = txm_parts_new()))
        return txm_no_memory(err, NULL);
    /* The first two bytes are as RFC 1950 requires. */
    const uint8_t *head = span->data;
    if (span->bytes < HEADER_BYTES + CHECK_BYTES || span->bytes > UINT32_MAX || (head[0] & 15) != DEFLATE ||
        head[0] >> 4 > MAX_WINDOW_BITS || (head[0] << 8 | head[1]) % 31 || head[1] & PRESET_DICTIONARY)
        return TXM_OK;
    const uint8_t *src = span->data + HEADER_BYTES;
    size_t src_bytes = span->bytes - HEADER_BYTES, used = 0;
    if (kind == TXM_ZLIB_PARTS)
        used = txm_parts_inflate(scratch->parts, src, src_bytes, dst, dst_bytes);
    if (!used) {
        struct inflate_state *s = scratch->inflate;
        isal_inflate_init(s);
        s->crc_flag = ISAL_DEFLATE;
        s->next_in = (uint8_t *)src;
        s->avail_in = (uint32_t)src_bytes;
        s->next_out = dst;
        s->avail_out = (uint32_t)dst_bytes; /* a tile: at most 16 MiB */
        const bool whole = isal_inflate_stateless(s) == ISAL_DECOMP_OK && !s->avail_out;
        used = whole ? src_bytes - s->avail_in : 0; /* the size of the raw stream; 0 if it is damaged */
    }
    if (!used || src_bytes - used < CHECK_BYTES)
        return TXM_OK;
    const uint8_t *end = src + used;
    *ok = libdeflate_adler32(1, dst, dst_bytes) == txm_load_be32(end);
    return TXM_OK;
}

/* ---- plain tiles ------------------------------------------------------------------------------------------------- */

/* Checks numbers from callers; the messages name the valid range. */
txm_status txm_tile_at(const txm_tx *tx, uint32_t level, uint32_t x, uint32_t y, txm_tile_id *out, txm_error *err)
{
    if (level >= tx->info.levels)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: no level %u, the last is %u", tx->path, level, tx->info.levels - 1);
    const txm_tx_level *l = &tx->levels[level].shape;
    if (x >= l->tiles_x || y >= l->tiles_y)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: level %u has no tile %u,%u, only %ux%u tiles", tx->path, level, x,
                        y, l->tiles_x, l->tiles_y);
    uint32_t left_w = l->width - x * tx->info.tile_w, left_h = l->height - y * tx->info.tile_h;
    *out = (txm_tile_id){.level = level,
                         .x = x,
                         .y = y,
                         .w = left_w < tx->info.tile_w ? left_w : tx->info.tile_w,
                         .h = left_h < tx->info.tile_h ? left_h : tx->info.tile_h};
    return TXM_OK;
}

/* 0 if it is not known. */
uint64_t txm_tx_tile_bytes(const txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y)
{
    txm_tile_id tile;
    txm_span span;
    if (txm_tile_at(tx, level, tile_x, tile_y, &tile, NULL) != TXM_OK || txm_tx_check(tx, NULL) != TXM_OK ||
        txm_tx_settle(tx, tx->ops->find(tx, &tile, &span, NULL), NULL) != TXM_OK)
        return 0;
    return span.bytes;
}

/* No codec makes tiles much larger than their pixels, so reading is limited to that size, whatever the file claims. */
static txm_status bring(const txm_tx *tx, txm_span *span, txm_scratch *scratch, txm_error *err)
{
    enum { MORE_BYTES = 64 << 10 };
    const uint64_t most = 2 * (uint64_t)tx->info.tile_w * tx->info.tile_h * tx->pixel_bytes + MORE_BYTES;
    bool no_memory;
    const size_t bytes = span->bytes < most || !tx->map.reads ? span->bytes : (size_t)most;
    const uint8_t *data =
        txm_map_read(&tx->map, (uint64_t)(span->data - tx->map.data), bytes, &scratch->input, &no_memory);
    if (!data)
        return no_memory ? txm_no_memory(err, NULL) : txm_fail(err, TXM_STATUS_IO, "cannot be read");
    *span = (txm_span){data, bytes};
    return TXM_OK;
}

static txm_status fail_in_tile(txm_error *err, txm_status status, const txm_tx *tx, const txm_tile_id *tile,
                               const char *why)
{
    char place[64];
    const bool first = err && err->status == TXM_OK;
    const int n = snprintf(place, sizeof place, "level %u, tile %u,%u", tile->level, tile->x, tile->y);
    txm_fail(err, status, "%s: %s: %s", tx->path, place, why);
    if (first && err->subject_bytes)
        err->place_bytes = (uint16_t)n;
    return status;
}

/* Errors from containers describe a tile; this adds the file, the level and the tile's number. */
txm_status txm_tile_decode(const txm_tx *tx, const txm_tile_id *tile, txm_scratch *scratch, txm_pixels *out,
                           txm_error *err)
{
    txm_span span;
    txm_error inner = {0};
    txm_status status = tx->ops->find(tx, tile, &span, &inner);
    if (status == TXM_OK)
        status = bring(tx, &span, scratch, &inner);
    if (status == TXM_OK)
        status = tx->ops->decode(tx, tile, &span, scratch, out, &inner);
    if (status != TXM_OK)
        fail_in_tile(err, status, tx, tile, inner.message);
    return status;
}

/* ---- padded tiles ------------------------------------------------------------------------------------------------ */

/* The level is extended to the whole plane, and the window is cut out of it. The axes are independent, so each one is
 * first split into runs of adjacent level pixels in one tile; a padded tile is then every pair of a row run and a
 * column run. This works for every size, including partial tiles narrower than the padding, levels of one pixel, and
 * corners. */

/* Adjacent pixels of the window in one direction that come from the same tile. */
typedef struct run {
    uint32_t dst;   /* first pixel, in the window */
    uint32_t src;   /* first pixel, in the tile */
    uint32_t count; /* px */
    uint32_t tile;  /* column or row of the tile; OUTSIDE: no tile, the pixels are clear */
} run;

#define OUTSIDE UINT32_MAX

typedef struct axis {
    run runs[2 * TXM_MAX_PADDING_PX + 1];
    unsigned count;
} axis;

int64_t txm_extend(int64_t x, uint32_t size, txm_extension extension)
{
    return size && txm_extension_exists(extension) && !txm_extension_is_pair(extension)
               ? txm_wrap_pixel_wide(x, size, (int)extension)
               : -1;
}

/* Adds `count` pixels of the level starting at `x`, all in one tile; x < 0: clear pixels. */
static void add_run(axis *a, uint32_t dst, int64_t x, uint32_t count, uint32_t tile_px)
{
    uint32_t tile = x < 0 ? OUTSIDE : (uint32_t)x / tile_px, src = x < 0 ? 0 : (uint32_t)x % tile_px;
    run *last = a->count ? &a->runs[a->count - 1] : NULL;
    if (last && last->tile == tile && (tile == OUTSIDE || last->src + last->count == src))
        last->count += count;
    else
        a->runs[a->count++] = (run){dst, src, count, tile};
}

/* Splits the window [x0 - padding, x0 + valid + padding) of an axis of `size` pixels into runs. */
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

/* Whether an earlier run has the same tile, because each tile is decoded only once. */
static bool seen(const axis *a, unsigned index)
{
    for (unsigned i = 0; i < index; i++)
        if (a->runs[i].tile == a->runs[index].tile)
            return true;
    return a->runs[index].tile == OUTSIDE;
}

/* Works tile by tile instead of pixel by pixel, so that each neighbour is decoded only once. */
static txm_status gather_border(txm_tx *tx, const txm_tile_id *tile, uint32_t padding, txm_extension extension,
                                const txm_window *window, txm_scratch *scratch, txm_error *err)
{
    const txm_tx_level *l = &tx->levels[tile->level].shape;
    axis ax, ay;
    make_axis(&ax, tile->x * tx->info.tile_w, tile->w, padding, l->width, tx->info.tile_w, TXM_EXTENSION_U(extension));
    make_axis(&ay, tile->y * tx->info.tile_h, tile->h, padding, l->height, tx->info.tile_h, TXM_EXTENSION_V(extension));
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
            /* Copies the pixels of one tile: every pair of its runs. */
            for (const run *y = ay.runs; y < ay.runs + ay.count; y++) {
                if (y->tile != neighbour.y)
                    continue;
                for (const run *x = ax.runs; x < ax.runs + ax.count; x++)
                    if (x->tile == neighbour.x)
                        txm_window_put(window, x->dst, y->dst,
                                       pixels.data + y->src * pixels.stride + x->src * window->pixel_bytes,
                                       pixels.stride, x->count, y->count);
            }
        }
    }
    /* The clip extension shows black, which is transparent if there is alpha. */
    for (const run *y = ay.runs; y < ay.runs + ay.count; y++)
        for (const run *x = ax.runs; x < ax.runs + ax.count; x++)
            if (x->tile == OUTSIDE || y->tile == OUTSIDE)
                txm_window_clear(window, x->dst, y->dst, x->count, y->count);
    return TXM_OK;
}

/* May be called from any number of threads: each call takes scratch memory from the pool and returns it. */
txm_status txm_tx_read_tile(txm_tx *tx, const txm_tx_request *r, txm_error *err)
{
    txm_error_clear(err);
    txm_tile_id tile;
    txm_tx_request own = {0};
    if (r->struct_size != sizeof *r) {
        if (txm_options_take(&own, sizeof own, r, "txm_tx_request", err) != TXM_OK)
            return TXM_STATUS_USAGE;
        r = &own;
    }
    if (r->padding_px > TXM_MAX_PADDING_PX)
        return txm_fail(err, TXM_STATUS_USAGE, "padding of %u pixels; at most %d", r->padding_px, TXM_MAX_PADDING_PX);
    if (!txm_extension_exists(r->extension))
        return txm_fail(err, TXM_STATUS_USAGE, "extension mode %u is unknown", (unsigned)r->extension);
    txm_status status = txm_tile_at(tx, r->level, r->tile_x, r->tile_y, &tile, err);
    if (status == TXM_OK)
        status = txm_tx_check(tx, err);
    if (status != TXM_OK)
        return status;
    txm_scratch *scratch = txm_scratch_take(tx);
    if (!scratch)
        return txm_no_memory(err, tx->path);
    size_t pixel = r->pixel_stride_bytes ? r->pixel_stride_bytes : tx->pixel_bytes;
    size_t row = r->row_stride_bytes ? r->row_stride_bytes : pixel * (tx->info.tile_w + 2 * (size_t)r->padding_px);
    txm_window window = {r->pixels, pixel, row, tx->pixel_bytes};
    bool done = !r->padding_px;
    if (done) {
        txm_pixels pixels;
        status = txm_tile_decode(tx, &tile, scratch, &pixels, err);
        if (status == TXM_OK)
            txm_window_put(&window, 0, 0, pixels.data, pixels.stride, tile.w, tile.h);
    } else if (r->padding_px <= TXM_BORDER_PX && tx->section) {
        status = txm_section_read_padded(tx, &tile, r->padding_px, r->extension, &window, scratch, &done, err);
    }
    if (status == TXM_OK && !done) /* borders are two pixels wide, so wider padding is always gathered */
        status = gather_border(tx, &tile, r->padding_px, r->extension, &window, scratch, err);
    txm_scratch_give(tx, scratch);
    status = txm_tx_settle(tx, status, err);
    if (status == TXM_OK && r->width)
        *r->width = tile.w;
    if (status == TXM_OK && r->height)
        *r->height = tile.h;
    return status;
}

/* Whether the stored border is intact; no window is needed. */
txm_status txm_tx_check_border(txm_tx *tx, uint32_t level, uint32_t tile_x, uint32_t tile_y, txm_error *err)
{
    txm_error_clear(err);
    txm_tile_id tile = {0};
    if (!tx->section)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: no valid border section", tx->path);
    txm_status status = txm_tile_at(tx, level, tile_x, tile_y, &tile, err);
    if (status == TXM_OK)
        status = txm_tx_check(tx, err);
    if (status == TXM_OK && txm_section_lacks(tx, &tile))
        return txm_tx_settle(tx, TXM_OK, err);
    txm_scratch *scratch = status == TXM_OK ? txm_scratch_take(tx) : NULL;
    size_t row = (tile.w + 2 * (size_t)TXM_BORDER_PX) * tx->pixel_bytes, bytes = row * (tile.h + 2 * TXM_BORDER_PX);
    uint8_t *stored = status == TXM_OK ? txm_alloc_pixels(2 * bytes, 1) : NULL;
    if (status == TXM_OK && (!scratch || !stored))
        status = txm_no_memory(err, tx->path);
    bool done = false;
    if (status == TXM_OK) {
        txm_window window = {stored, tx->pixel_bytes, row, tx->pixel_bytes};
        status = txm_section_read_padded(tx, &tile, TXM_BORDER_PX, TXM_EXTENSION_REPEAT, &window, scratch, &done, err);
    }
    if (status == TXM_OK && done) {
        txm_window window = {stored + bytes, tx->pixel_bytes, row, tx->pixel_bytes};
        status = gather_border(tx, &tile, TXM_BORDER_PX, TXM_EXTENSION_REPEAT, &window, scratch, err);
    }
    if (status == TXM_OK && (!done || memcmp(stored, stored + bytes, bytes) != 0))
        status = fail_in_tile(err, TXM_STATUS_CORRUPT, tx, &tile,
                              done ? "its border does not show the pixels of its neighbours" : "its border is damaged");
    free(stored);
    if (scratch)
        txm_scratch_give(tx, scratch);
    return txm_tx_settle(tx, status, err);
}
