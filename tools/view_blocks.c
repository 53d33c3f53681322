/* SPDX-License-Identifier: Apache-2.0
 * Pixels of a level as text inside a page. */
#include "view_blocks.h"

#include <libdeflate.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* A page is made once and looked at often, but nobody waits a minute for it. */
enum { BLOCK_PX = 256, DEFLATE_LEVEL = 7 };

typedef struct coder {
    txm_tx *tx;
    const txm_tx_info *info;
    uint32_t block_w, block_h;
    uint8_t *pixels, *residuals, *packed; /* of one block */
    size_t packed_bytes;
    struct libdeflate_compressor *compressor;
} coder;

uint32_t txm_view_block_px(uint32_t tile_px)
{
    return tile_px >= BLOCK_PX ? tile_px : (BLOCK_PX + tile_px - 1) / tile_px * tile_px;
}

static void close_coder(coder *c)
{
    libdeflate_free_compressor(c->compressor);
    free(c->pixels);
    free(c->residuals);
    free(c->packed);
}

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

static uint32_t load(const uint8_t *p, size_t bytes)
{
    uint32_t v = 0;
    memcpy(&v, p, bytes);
    return v;
}

static uint32_t predict(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    return c >= high ? low : c <= low ? high : a + b - c;
}

/* Residuals of a block of w x h px, tight, in their order. */
static void subtract(const coder *k, uint32_t w, uint32_t h)
{
    size_t bytes = txm_type_bytes(k->info->type), px = k->info->channels * bytes, stride = w * px,
           plane = (size_t)w * h;
    for (uint32_t channel = 0; channel < k->info->channels; channel++) {
        uint8_t *out = k->residuals + channel * bytes * plane;
        for (uint32_t y = 0; y < h; y++) {
            const uint8_t *p = k->pixels + y * stride + channel * bytes;
            for (uint32_t x = 0; x < w; x++, p += px, out++) {
                uint32_t a = x ? load(p - px, bytes) : 0, b = y ? load(p - stride, bytes) : 0;
                uint32_t predicted = !y ? a : !x ? b : predict(a, b, load(p - stride - px, bytes));
                uint32_t residual = load(p, bytes) - predicted;
                for (size_t n = 0; n < bytes; n++)
                    out[n * plane] = (uint8_t)(residual >> (8 * n));
            }
        }
    }
}

/* The tiles of the block at (x0, y0) px of the level. */
static void read_tiles(const coder *k, uint32_t level, uint32_t x0, uint32_t y0, uint32_t w, uint32_t h)
{
    const txm_tx_info *i = k->info;
    size_t px = i->channels * txm_type_bytes(i->type), stride = w * px;
    memset(k->pixels, 0, h * stride);
    for (uint32_t y = 0; y < h; y += i->tile_h)
        for (uint32_t x = 0; x < w; x += i->tile_w) {
            uint8_t *at = k->pixels + y * stride + x * px;
            uint32_t tw = w - x < i->tile_w ? w - x : i->tile_w, th = h - y < i->tile_h ? h - y : i->tile_h;
            if (txm_tx_read_tile(k->tx, level, (x0 + x) / i->tile_w, (y0 + y) / i->tile_h, at, px, stride, NULL, NULL,
                                 NULL) != TXM_OK)
                for (uint32_t row = 0; row < th; row++)
                    memset(at + row * stride, 0, tw * px);
        }
}

/* Base64 behind what is there, with a space in front of all blocks but the first. */
static bool append(txm_bytes *out, bool first, const uint8_t *data, size_t bytes)
{
    size_t text = (bytes + 2) / 3 * 4;
    if (!txm_bytes_reserve(out, text + 2) || (!first && !txm_bytes_puts(out, " ")))
        return false;
    EVP_EncodeBlock((unsigned char *)out->data + out->size, data, (int)bytes);
    out->size += text;
    return true;
}

static bool add_block(const coder *k, uint32_t level, uint32_t x, uint32_t y, txm_bytes *out)
{
    const txm_tx_level *l = txm_tx_level_of(k->tx, level);
    uint32_t w = l->width - x < k->block_w ? l->width - x : k->block_w;
    uint32_t h = l->height - y < k->block_h ? l->height - y : k->block_h;
    read_tiles(k, level, x, y, w, h);
    subtract(k, w, h);
    size_t raw = (size_t)w * h * k->info->channels * txm_type_bytes(k->info->type);
    size_t packed = libdeflate_zlib_compress(k->compressor, k->residuals, raw, k->packed, k->packed_bytes);
    return packed && append(out, !x && !y, k->packed, packed);
}

txm_status txm_view_blocks(txm_tx *tx, uint32_t level, size_t limit, const volatile int *cancel, txm_bytes *out,
                           bool *fits, txm_error *err)
{
    const txm_tx_level *l = txm_tx_level_of(tx, level);
    size_t before = out->size;
    coder k = {0};
    bool ok = open_coder(&k, tx);
    *fits = true;
    for (uint32_t y = 0; ok && *fits && y < l->height && !*cancel; y += k.block_h)
        for (uint32_t x = 0; ok && *fits && x < l->width; x += k.block_w) {
            ok = add_block(&k, level, x, y, out);
            *fits = out->size - before <= limit;
        }
    close_coder(&k);
    if (!*fits || !ok || *cancel)
        out->size = before;
    if (!ok)
        return txm_fail(err, TXM_NO_MEMORY, "no memory for the pixels of level %u", level);
    return *cancel ? txm_fail(err, TXM_CANCELLED, "stopped on request") : TXM_OK;
}
