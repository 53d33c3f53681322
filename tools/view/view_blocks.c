/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes the pixels of a level as text for a page.
 *
 * In: a level and a number of bytes. Out: the level's samples, compressed without loss in blocks, as text that the
 * page's script decodes when a block becomes visible.
 *
 * A block is a whole number of tiles, of some 256 px: large enough to compress well, and small enough that a page
 * opens at once and decodes only what is visible. Samples are predicted from their neighbours as in JPEG-LS (LOCO-I);
 * the bytes of the residuals are put into planes and deflated, which browsers can undo. All arithmetic is on codes, so
 * the page shows the exact stored bits.
 *
 * PNG would not do: browsers decode it to 8 bits, multiplied by alpha, so that the page could show neither 16-bit, half
 * and float samples nor the colour where alpha is 0. It is also larger: a photograph of 4096 x 4096 px with all its
 * levels takes 24.3 MB this way, as PNG 28.3 MB.
 */
#include "tools/view/view_blocks.h"

#include <libdeflate.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"

/* A page is made once and viewed often, but making it must not take a minute. */
enum { BLOCK_PX = 256, DEFLATE_LEVEL = 7, MAX_CODERS = 64, CODERS_BYTES = 256 << 20 };

/* The memory of a thread for one block, and the block that it encodes. */
typedef struct coder {
    txm_tx *tx;
    const txm_tx_info *info;
    uint32_t block_w, block_h;
    uint32_t level, x, y;                 /* the block's corner in pixels */
    size_t used;                          /* bytes of `packed`; 0: failed */
    txm_error lacks;                      /* why pixels could not be read, although they are not damaged */
    uint8_t *pixels, *residuals, *packed; /* one block in three forms */
    size_t packed_bytes;
    struct libdeflate_compressor *compressor;
} coder;

/* The least multiple of a tile's edge that is at least BLOCK_PX, so that no tile is decoded for two blocks. */
uint32_t txm_view_block_px(uint32_t tile_px)
{
    return tile_px >= BLOCK_PX ? tile_px : (BLOCK_PX + tile_px - 1) / tile_px * tile_px;
}

/* It also closes a coder that was opened only in part. */
static void close_coder(coder *c)
{
    if (c->compressor)
        libdeflate_free_compressor(c->compressor);
    free(c->pixels);
    free(c->residuals);
    free(c->packed);
}

/* Allocates all memory for a block once, so that encoding needs no allocations. */
static bool open_coder(coder *c, txm_tx *tx)
{
    const txm_tx_info *i = txm_tx_info_of(tx);
    c->tx = tx;
    c->info = i;
    c->block_w = txm_view_block_px(i->tile_w);
    c->block_h = txm_view_block_px(i->tile_h);
    size_t bytes = (size_t)c->block_w * c->block_h * i->channels * txm_type_bytes(i->type);
    c->compressor = libdeflate_alloc_compressor(DEFLATE_LEVEL);
    c->pixels = txm_alloc_pixels(bytes, 1);
    c->residuals = txm_alloc_pixels(bytes, 1);
    c->packed_bytes = c->compressor ? libdeflate_zlib_compress_bound(c->compressor, bytes) : 0;
    c->packed = c->packed_bytes ? malloc(c->packed_bytes) : NULL;
    return c->pixels && c->residuals && c->packed;
}

/* ---- one block -------------------------------------------------------------------------------------------------- */

/* The sample's bits as a number; for floats too, because the order of their bits is similar enough to that of their
 * values for prediction. */
static inline int64_t load_sample(const uint8_t *p, size_t bytes)
{
    uint32_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

/* Modulo the size of the sample, as in the reader. The first plane has the lowest bytes. */
static inline void put(uint8_t *out, size_t plane, size_t bytes, int64_t residual)
{
    for (size_t n = 0; n < bytes; n++)
        out[n * plane] = (uint8_t)((uint64_t)residual >> (8 * n));
}

/* Residuals of one channel of a block of w x h px, without gaps. Inlined once for each size of a sample. */
static inline void subtract(const uint8_t *pixels, uint32_t w, uint32_t h, size_t px, size_t bytes, uint8_t *out)
{
    size_t stride = w * px, plane = (size_t)w * h;
    for (uint32_t y = 0; y < h; y++) {
        const uint8_t *p = pixels + y * stride;
        put(out++, plane, bytes, load_sample(p, bytes) - (y ? load_sample(p - stride, bytes) : 0));
        for (uint32_t x = 1; x < w; x++) {
            p += px;
            int64_t left = load_sample(p - px, bytes), expected = left;
            if (y) {
                const uint8_t *above = p - stride;
                /* The median of a, b and a + b - c, which is the same as the three cases of LOCO-I. */
                int64_t b = load_sample(above, bytes);
                int64_t low = left < b ? left : b, high = left < b ? b : left,
                        sum = left + b - load_sample(above - px, bytes);
                sum = sum > low ? sum : low;
                expected = sum < high ? sum : high;
            }
            put(out++, plane, bytes, load_sample(p, bytes) - expected);
        }
    }
}

/* Reads the tiles of the block at (x0, y0) px of the level. A damaged tile is black, and the page reports it; other
 * errors fail the level. */
static void read_block(coder *k, uint32_t level, uint32_t x0, uint32_t y0, uint32_t w, uint32_t h)
{
    const txm_tx_info *i = k->info;
    size_t px = i->channels * txm_type_bytes(i->type), stride = w * px;
    memset(k->pixels, 0, h * stride);
    for (uint32_t y = 0; y < h; y += i->tile_h)
        for (uint32_t x = 0; x < w; x += i->tile_w) {
            uint8_t *at = k->pixels + y * stride + x * px;
            uint32_t tw = w - x < i->tile_w ? w - x : i->tile_w, th = h - y < i->tile_h ? h - y : i->tile_h;
            txm_error err;
            if (txm_tx_read_tile(k->tx,
                                 &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                   .level = level,
                                                   .tile_x = (x0 + x) / i->tile_w,
                                                   .tile_y = (y0 + y) / i->tile_h,
                                                   .pixels = at,
                                                   .pixel_stride_bytes = px,
                                                   .row_stride_bytes = stride},
                                 &err) == TXM_OK)
                continue;
            if (txm_status_retryable(err.status))
                k->lacks = err;
            for (uint32_t row = 0; row < th; row++)
                memset(at + row * stride, 0, tw * px);
        }
}

/* Appends base64, with a space in front of all blocks but the first. */
static bool append_block(txm_bytes *out, bool first, const uint8_t *data, size_t bytes)
{
    size_t text = (bytes + 2) / 3 * 4;
    if (!txm_bytes_reserve(out, text + 2) || (!first && !txm_bytes_puts(out, " ")))
        return false;
    EVP_EncodeBlock((unsigned char *)out->data + out->size, data, (int)bytes);
    out->size += text;
    return true;
}

/* It runs on a thread of the pool and uses only its own coder. */
static void code_block(void *coders, size_t index)
{
    coder *k = (coder *)coders + index;
    const txm_tx_level *l = txm_tx_level_of(k->tx, k->level);
    uint32_t w = l->width - k->x < k->block_w ? l->width - k->x : k->block_w;
    uint32_t h = l->height - k->y < k->block_h ? l->height - k->y : k->block_h;
    read_block(k, k->level, k->x, k->y, w, h);
    /* Channel by channel, so that neighbours in memory are neighbours in the picture. */
    size_t bytes = txm_type_bytes(k->info->type), px = k->info->channels * bytes, plane = (size_t)w * h;
    for (uint32_t c = 0; c < k->info->channels; c++) {
        const uint8_t *from = k->pixels + c * bytes;
        uint8_t *out = k->residuals + c * bytes * plane;
        if (bytes == 1)
            subtract(from, w, h, px, 1, out);
        else if (bytes == 2)
            subtract(from, w, h, px, 2, out);
        else
            subtract(from, w, h, px, 4, out);
    }
    size_t raw = (size_t)w * h * k->info->channels * txm_type_bytes(k->info->type);
    k->used = libdeflate_zlib_compress(k->compressor, k->residuals, raw, k->packed, k->packed_bytes);
}

/* ---- all of a level --------------------------------------------------------------------------------------------- */

/* Encodes blocks first .. first+count-1, each with its own coder, and appends their texts in order. */
static bool add_blocks(txm_context *context, coder *coders, uint32_t level, uint32_t first, uint32_t count,
                       txm_bytes *out)
{
    uint32_t across = (txm_tx_level_of(coders->tx, level)->width - 1) / coders->block_w + 1;
    bool ok = true;
    for (uint32_t n = 0; n < count; n++) {
        coder *k = &coders[n];
        k->level = level;
        k->x = (first + n) % across * k->block_w;
        k->y = (first + n) / across * k->block_h;
        k->used = 0;
    }
    txm_context_run(context, count, code_block, coders);
    for (uint32_t n = 0; n < count && ok; n++)
        ok = coders[n].used && !coders[n].lacks.status &&
             append_block(out, first + n == 0, coders[n].packed, coders[n].used);
    return ok;
}

/* Opens as many coders as threads, blocks and memory allow; returns their number. */
static uint32_t open_coders(coder *coders, txm_tx *tx, uint32_t blocks, unsigned threads)
{
    uint32_t count = 0;
    size_t bytes = 0;
    while (count < threads && count < blocks && count < MAX_CODERS && bytes < CODERS_BYTES) {
        if (!open_coder(&coders[count], tx)) {
            close_coder(&coders[count]);
            break;
        }
        bytes += 3 * coders[count++].packed_bytes;
    }
    return count;
}

/* The limit applies to the text. If a level does not fit, `out` is unchanged, which is not a failure. */
txm_status txm_view_blocks(txm_context *context, txm_tx *tx, uint32_t level, size_t limit, const volatile int *cancel,
                           txm_bytes *out, bool *fits, txm_error *err)
{
    const txm_tx_level *l = txm_tx_level_of(tx, level);
    const txm_tx_info *i = txm_tx_info_of(tx);
    uint32_t blocks =
        ((l->width - 1) / txm_view_block_px(i->tile_w) + 1) * ((l->height - 1) / txm_view_block_px(i->tile_h) + 1);
    size_t before = out->size;
    coder coders[MAX_CODERS] = {{0}};
    uint32_t count = open_coders(coders, tx, blocks, txm_context_threads(context));
    bool ok = count != 0;
    *fits = true;
    for (uint32_t n = 0; ok && *fits && n < blocks && !txm_is_cancelled(cancel); n += count) {
        ok = add_blocks(context, coders, level, n, blocks - n < count ? blocks - n : count, out);
        *fits = out->size - before <= limit;
    }
    txm_error lacks = {0};
    while (count) {
        if (coders[--count].lacks.status)
            lacks = coders[count].lacks;
        close_coder(&coders[count]);
    }
    if (!*fits || !ok || txm_is_cancelled(cancel))
        out->size = before;
    if (lacks.status)
        return txm_fail_as(err, &lacks);
    if (!ok)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for the pixels of level %u", level);
    return txm_is_cancelled(cancel) ? txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request") : TXM_OK;
}
