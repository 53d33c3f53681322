/* SPDX-License-Identifier: Apache-2.0
 * Members of a gzip file: headers, blocks that are inflated here or were elsewhere, trailers. */
#include "codec/gunzip.h"

#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum {
    PIECE_BYTES = 256 * 1024,
    HEAD_BYTES = 10,
    TRAILER_BYTES = 8,
    METHOD_DEFLATE = 8,
    HAS_HEADER_CRC = 2,
    HAS_EXTRA = 4,
    HAS_NAME = 8,
    HAS_COMMENT = 16,
    RESERVED = 0xE0 /* flags that must be 0 */
};

struct txm_gunzip {
    txm_gunzip_settings settings;
    uint64_t file_bytes;
    txm_source_read read_ahead;
    enum { AT_HEADER, IN_BLOCKS, AT_TRAILER, AT_END } at;
    bool first;            /* no member has begun yet */
    uint32_t crc;          /* of the member, as far as it was delivered */
    uint64_t member_bytes; /* inflated of it */
    uint64_t delivered;    /* of all */

    txm_inflate_ahead *ahead; /* NULL: not yet, or never */
    bool no_ahead;            /* it could not be had */
    const txm_guess *guess;   /* being delivered */
    size_t guess_at;

    /* Inflated here: `ready` to `out`. The map resolves the marks of a guess: the bytes 0 to 255, and a window. */
    uint8_t *ready, *out;
    txm_inflate inflate;
    uint8_t map[TXM_MARK_MAP + PIECE_BYTES + TXM_INFLATE_OVERSHOOT];
};

static uint8_t *window(txm_gunzip *g)
{
    return g->map + TXM_FIRST_MARK;
}

static uint8_t *behind_window(txm_gunzip *g)
{
    return g->map + TXM_MARK_MAP;
}

/* ---- headers and trailers ------------------------------------------------------------------------------------- */

static txm_gunzipped short_of(const txm_gunzip *g)
{
    return g->inflate.source.failed ? TXM_GUNZIP_UNREAD : TXM_GUNZIP_CUT;
}

/* Bytes of a header, and its checksum. */
static bool take(txm_gunzip *g, uint8_t *dst, size_t bytes, uint32_t *crc)
{
    if (txm_source_take(&g->inflate.source, dst, bytes) != bytes)
        return false;
    *crc = crc32_gzip_refl(*crc, dst, bytes);
    return true;
}

static bool skip_text(txm_gunzip *g, uint32_t *crc)
{
    uint8_t c;
    do {
        if (!take(g, &c, 1, crc))
            return false;
    } while (c);
    return true;
}

static bool skip_extra(txm_gunzip *g, uint32_t *crc)
{
    uint8_t size[2], c;
    if (!take(g, size, sizeof size, crc))
        return false;
    for (unsigned left = size[0] | (unsigned)size[1] << 8; left; left--)
        if (!take(g, &c, 1, crc))
            return false;
    return true;
}

static uint32_t le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* What follows a member and is no other is not ours. */
static bool no_member_follows(txm_gunzip *g)
{
    uint64_t at = txm_source_position(&g->inflate.source) / 8;
    size_t bytes;
    const uint8_t *p = txm_source_peek(&g->inflate.source, at, 2, &bytes);
    return !g->first && p && (bytes < 2 || p[0] != 0x1F || p[1] != 0x8B);
}

static txm_gunzipped read_header(txm_gunzip *g)
{
    uint8_t head[HEAD_BYTES], sum[2];
    uint32_t crc = 0, unused = 0;
    if (no_member_follows(g)) {
        g->at = AT_END;
        return TXM_GUNZIP_OK;
    }
    if (!take(g, head, sizeof head, &crc))
        return short_of(g);
    if (head[0] != 0x1F || head[1] != 0x8B || head[2] != METHOD_DEFLATE || head[3] & RESERVED)
        return TXM_GUNZIP_DAMAGED;
    if ((head[3] & HAS_EXTRA && !skip_extra(g, &crc)) || (head[3] & HAS_NAME && !skip_text(g, &crc)) ||
        (head[3] & HAS_COMMENT && !skip_text(g, &crc)) ||
        (head[3] & HAS_HEADER_CRC && !take(g, sum, sizeof sum, &unused)))
        return short_of(g);
    if (head[3] & HAS_HEADER_CRC && (sum[0] | (uint32_t)sum[1] << 8) != (crc & 0xffff))
        return TXM_GUNZIP_DAMAGED;
    g->at = IN_BLOCKS;
    g->first = false;
    g->crc = 0;
    g->member_bytes = 0;
    g->ready = g->out = behind_window(g);
    txm_inflate_begin(&g->inflate);
    return TXM_GUNZIP_OK;
}

static txm_gunzipped read_trailer(txm_gunzip *g)
{
    uint8_t trailer[TRAILER_BYTES];
    txm_source_align(&g->inflate.source);
    if (txm_source_take(&g->inflate.source, trailer, sizeof trailer) != sizeof trailer)
        return short_of(g);
    if (le32(trailer) != g->crc || le32(trailer + 4) != (uint32_t)g->member_bytes)
        return TXM_GUNZIP_DAMAGED;
    g->at = AT_HEADER;
    return TXM_GUNZIP_OK;
}

/* ---- guesses -------------------------------------------------------------------------------------------------- */

static void start_ahead(txm_gunzip *g)
{
    if (g->ahead || g->no_ahead || g->delivered < g->settings.start_bytes)
        return;
    g->ahead = txm_inflate_ahead_start(&g->settings.ahead, txm_source_position(&g->inflate.source), g->file_bytes,
                                       g->read_ahead, g->inflate.source.context);
    g->no_ahead = !g->ahead;
}

/* Between blocks, when all is delivered. A guess's marks may stand for any byte of the window: all must be there. */
static bool take_guess(txm_gunzip *g)
{
    if (g->member_bytes < TXM_WINDOW || g->settings.ahead.threads == 0)
        return false;
    start_ahead(g);
    g->guess = g->ahead ? txm_inflate_ahead_take(g->ahead, txm_source_position(&g->inflate.source)) : NULL;
    g->guess_at = 0;
    return g->guess != NULL;
}

/* To the window's place, from where it is the last that was inflated. */
static void slide(txm_gunzip *g)
{
    memmove(window(g), g->out - TXM_WINDOW, TXM_WINDOW);
    g->ready = g->out = behind_window(g);
}

static txm_gunzipped leave_guess(txm_gunzip *g)
{
    txm_guess_window(g->guess, behind_window(g), g->map);
    g->out = behind_window(g) + TXM_WINDOW;
    slide(g);
    bool good = txm_source_seek(&g->inflate.source, g->guess->end);
    txm_inflate_ahead_give_back(g->ahead);
    g->guess = NULL;
    return good ? TXM_GUNZIP_OK : TXM_GUNZIP_UNREAD;
}

/* Up to `bytes` of a guess; none at its end. */
static size_t deliver_guess(txm_gunzip *g, uint8_t *dst, size_t bytes)
{
    size_t left = g->guess->count - g->guess_at, n = left < bytes ? left : bytes;
    txm_resolve_marks(dst, g->guess->samples + TXM_WINDOW + g->guess_at, n, g->map);
    g->guess_at += n;
    g->member_bytes += n;
    return n;
}

/* ---- blocks --------------------------------------------------------------------------------------------------- */

static txm_gunzipped inflate_here(txm_gunzip *g)
{
    uint8_t *limit = behind_window(g) + PIECE_BYTES;
    if (g->out >= limit)
        slide(g);
    size_t reach = g->member_bytes < TXM_WINDOW ? (size_t)g->member_bytes : TXM_WINDOW;
    txm_inflate_out out = {g->out - reach, g->out, limit};
    txm_inflated result = txm_inflate_bytes(&g->inflate, &out);
    switch (result) {
    case TXM_INFLATED_BAD:
        return TXM_GUNZIP_DAMAGED;
    case TXM_INFLATED_CUT:
        return TXM_GUNZIP_CUT;
    case TXM_INFLATED_UNREAD:
        return TXM_GUNZIP_UNREAD;
    case TXM_INFLATED_BLOCK:
    case TXM_INFLATED_FULL:
        break;
    }
    g->member_bytes += (size_t)(out.at - g->out);
    g->out = out.at;
    if (result == TXM_INFLATED_BLOCK && g->inflate.final)
        g->at = AT_TRAILER;
    return TXM_GUNZIP_OK;
}

/* The next thing to do when all is delivered. */
static txm_gunzipped step(txm_gunzip *g)
{
    if (g->guess)
        return leave_guess(g);
    switch (g->at) {
    case AT_HEADER:
        return read_header(g);
    case AT_TRAILER:
        return read_trailer(g);
    case IN_BLOCKS:
        if (g->inflate.in == TXM_BETWEEN_BLOCKS && take_guess(g)) {
            slide(g);
            return TXM_GUNZIP_OK;
        }
        return inflate_here(g);
    case AT_END:
        break;
    }
    return TXM_GUNZIP_OK;
}

static size_t deliver(txm_gunzip *g, uint8_t *dst, size_t bytes)
{
    if (g->guess)
        return deliver_guess(g, dst, bytes);
    size_t n = (size_t)(g->out - g->ready) < bytes ? (size_t)(g->out - g->ready) : bytes;
    memcpy(dst, g->ready, n);
    g->ready += n;
    return n;
}

txm_gunzipped txm_gunzip_pull(txm_gunzip *g, uint8_t *dst, size_t bytes, size_t *got)
{
    *got = 0;
    while (bytes && (*got = deliver(g, dst, bytes)) == 0 && g->at != AT_END) {
        txm_gunzipped status = step(g);
        if (status != TXM_GUNZIP_OK)
            return status;
    }
    g->crc = crc32_gzip_refl(g->crc, dst, *got);
    g->delivered += *got;
    return TXM_GUNZIP_OK;
}

/* A guess's bytes are spread evenly over its bits, as far as anybody who asks can tell. */
uint64_t txm_gunzip_used(const txm_gunzip *g)
{
    if (g->guess) {
        double part = g->guess->count ? (double)g->guess_at / (double)g->guess->count : 1;
        return (g->guess->begin + (uint64_t)(part * (double)(g->guess->end - g->guess->begin))) / 8;
    }
    uint64_t used = (txm_source_position(&g->inflate.source) + 7) / 8;
    return used < g->file_bytes ? used : g->file_bytes;
}

/* ---- start and end -------------------------------------------------------------------------------------------- */

void txm_gunzip_rewind(txm_gunzip *g)
{
    txm_inflate_ahead_stop(&g->ahead);
    g->guess = NULL;
    g->at = AT_HEADER;
    g->first = true;
    g->delivered = 0;
    g->ready = g->out = behind_window(g);
    txm_source_init(&g->inflate.source, g->inflate.source.read, g->inflate.source.context);
}

txm_gunzip *txm_gunzip_new(const txm_gunzip_settings *settings, uint64_t file_bytes, txm_source_read read,
                           txm_source_read read_ahead, void *context)
{
    txm_gunzip *g = txm_calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->settings = *settings;
    g->file_bytes = file_bytes;
    g->read_ahead = read_ahead;
    for (int i = 0; i < TXM_FIRST_MARK; i++)
        g->map[i] = (uint8_t)i;
    txm_source_init(&g->inflate.source, read, context);
    txm_gunzip_rewind(g);
    return g;
}

void txm_gunzip_free(txm_gunzip **gunzip)
{
    if (*gunzip) {
        txm_inflate_ahead_stop(&(*gunzip)->ahead);
        free(*gunzip);
        *gunzip = NULL;
    }
}
