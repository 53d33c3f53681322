/* SPDX-License-Identifier: Apache-2.0
 *
 * Cursors: each reads the events of a trace once, with one block in memory at a time. A trace may have any number of
 * them, in any threads. Tiles are restored from their differences, lookups from their columns. If a trace holds only
 * lookups, the tiles that they request are computed here with the sampler.
 */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "tile/record/blank.h"
#include "tile/trace/trace_impl.h"
#include "tile/trace/trace_read.h"

/* ---- cursors ---- */

/* The cached translation of a texture's number in the current block: computing it takes longer than everything else
 * that is done for a tile. */
typedef struct meaning {
    uint32_t number, level;  /* number UINT32_MAX: unused */
    uint32_t texture, tiles; /* tiles: of the level */
} meaning;

enum { MEANINGS = 256 };

struct txm_trace_cursor {
    const txm_trace *trace;
    ZSTD_DCtx *zstd;
    uint8_t *stored, *raw;
    size_t next;    /* the next block to read */
    size_t block;   /* the block that is being read */
    size_t at, end; /* position in `raw`: bytes in a block of tiles, rows in a block of lookups */
    uint64_t key;
    uint32_t launch, epoch, rows_launch, rows_epoch;
    uint32_t values[TXM_TRACE_COLUMNS]; /* values of the previous row */
    meaning meanings[MEANINGS];         /* valid in `block` */
    size_t texture_next;                /* the next texture whose number may have replaced another texture */
    txm_blank blank;
    txm_tile_name tiles[TXM_BLANK_TILES];
};

static void forget_meanings(txm_trace_cursor *c)
{
    for (size_t i = 0; i < MEANINGS; i++)
        c->meanings[i].number = UINT32_MAX;
}

txm_status txm_trace_cursor_new(const txm_trace *trace, txm_trace_cursor **out, txm_error *err)
{
    txm_error_clear(err);
    txm_trace_cursor *c = txm_calloc(1, sizeof *c);
    *out = c;
    if (!c)
        return txm_no_memory(err, trace->path);
    c->trace = trace;
    forget_meanings(c);
    c->zstd = ZSTD_createDCtx();
    c->stored = malloc(txm_trace_stored_max());
    c->raw = malloc(TXM_TRACE_BLOCK_MAX);
    if (c->zstd && c->stored && c->raw)
        return TXM_OK;
    txm_trace_cursor_free(out);
    return txm_no_memory(err, trace->path);
}

void txm_trace_cursor_free(txm_trace_cursor **cursor)
{
    txm_trace_cursor *c = cursor ? *cursor : NULL;
    if (!c)
        return;
    ZSTD_freeDCtx(c->zstd);
    free(c->stored);
    free(c->raw);
    txm_blank_free(&c->blank);
    free(c);
    *cursor = NULL;
}

/* Several translations are kept, because rays alternate between textures and levels. */
static const meaning *meaning_of(txm_trace_cursor *c, uint32_t number, uint32_t level)
{
    meaning *m = &c->meanings[(8 * number + level) % MEANINGS];
    if (m->number != number || m->level != level) {
        *m = (meaning){number, level, txm_trace_find_naming(c->trace, number, c->block), 0};
        m->tiles = txm_trace_level_tiles(c->trace, m->texture, level);
    }
    return m;
}

/* ---- tiles ---- */

/* Reads a LEB128 number. False: it is cut short or has more than 64 bits. */
static bool get_number(txm_trace_cursor *c, uint64_t *n)
{
    unsigned shift = 0;
    *n = 0;
    while (c->at < c->end && shift < 64) {
        uint8_t byte = c->raw[c->at++];
        if (shift == 63 && byte > 1)
            return false;
        *n |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return true;
        shift += 7;
    }
    return false;
}

/* Reads one tile. Bit 23 of a key is its valid flag; a difference that leads to an invalid key or tile means damage. */
static txm_status next_tile(txm_trace_cursor *c, uint64_t n, txm_trace_event *e, txm_error *err)
{
    c->key += n >> 1 ^ (n & 1 ? UINT64_MAX : 0);
    txm_tile_name *tile = &c->tiles[e->tile_count];
    *tile = txm_tile_key_unpack(c->key);
    const meaning *m = meaning_of(c, tile->texture, tile->level);
    if (!(c->key >> 23 & 1) || tile->udim || tile->tile >= m->tiles)
        return txm_trace_corrupt(c->trace, err, "a tile belongs to no texture");
    tile->texture = e->texture = m->texture;
    e->tile_count++;
    return TXM_OK;
}

/* Reads one event: a tile, the tiles of one lookup, or a mark, which begins the next launch or epoch. */
static txm_status next_tiles(txm_trace_cursor *c, txm_trace_event *e, txm_error *err)
{
    uint64_t n, count = 1;
    e->tiles = c->tiles;
    e->kind = TXM_TRACE_EVENT_TILES;
    if (!get_number(c, &n))
        return txm_trace_corrupt(c->trace, err, "a number is cut short");
    if (n)
        return next_tile(c, n, e, err);
    if (!get_number(c, &count) || count > TXM_BLANK_TILES)
        return txm_trace_corrupt(c->trace, err, "a lookup has too many tiles");
    if (count == TXM_TRACE_MARK_EPOCH || count == TXM_TRACE_MARK_LAUNCH) {
        e->kind = count == TXM_TRACE_MARK_EPOCH ? TXM_TRACE_EVENT_EPOCH : TXM_TRACE_EVENT_LAUNCH;
        c->epoch += count == TXM_TRACE_MARK_EPOCH;
        c->launch += count == TXM_TRACE_MARK_LAUNCH;
        return TXM_OK;
    }
    txm_status status = TXM_OK;
    for (; status == TXM_OK && count; count--)
        status =
            get_number(c, &n) ? next_tile(c, n, e, err) : txm_trace_corrupt(c->trace, err, "a number is cut short");
    return status;
}

/* ---- lookups ---- */

/* Restores one row from its differences. Without records of tiles, the tiles are computed here with the sampler. */
static txm_status next_row(txm_trace_cursor *c, txm_trace_event *e, txm_error *err)
{
    const txm_trace *t = c->trace;
    const bool alone = !(t->info.records & TXM_TRACE_TILES);
    e->kind = TXM_TRACE_EVENT_LOOKUP;
    /* If a trace has no records of tiles, it has no marks; then a change of launch or epoch between blocks is the
     * event. */
    if (alone && (c->epoch != c->rows_epoch || c->launch != c->rows_launch)) {
        e->kind = c->epoch != c->rows_epoch ? TXM_TRACE_EVENT_EPOCH : TXM_TRACE_EVENT_LAUNCH;
        *(c->epoch != c->rows_epoch ? &c->epoch : &c->launch) =
            c->epoch != c->rows_epoch ? c->rows_epoch : c->rows_launch;
        return TXM_OK;
    }
    const uint8_t *from = c->raw + TXM_TRACE_LOOKUPS_HEAD_BYTES + c->at;
    for (size_t column = 0; column < TXM_TRACE_COLUMNS; column++, from += 4 * c->end)
        for (size_t plane = 0; plane < 4; plane++)
            c->values[column] ^= (uint32_t)from[plane * c->end] << 8 * plane;
    c->at++;
    uint32_t sampler = c->values[TXM_TRACE_COLUMN_SAMPLER];
    e->texture = c->values[TXM_TRACE_COLUMN_TEXTURE] >> 23
                     ? TXM_NO_TEXTURE
                     : meaning_of(c, c->values[TXM_TRACE_COLUMN_TEXTURE], 0)->texture;
    if (e->texture == TXM_NO_TEXTURE || sampler >= t->sampler_count)
        return txm_trace_corrupt(t, err, "a lookup belongs to no texture");
    e->how = t->samplers[sampler];
    e->random = c->values[TXM_TRACE_COLUMN_RANDOM];
    memcpy(&e->at, c->values + TXM_TRACE_COLUMN_PLACE, sizeof e->at);
    if (!alone)
        return TXM_OK;
    txm_view_texture shape;
    txm_trace_shape(t, e->texture, &shape);
    if (!txm_blank_lookup(&c->blank, &shape, &e->how, &e->at, e->random, c->tiles, &e->tile_count))
        return txm_no_memory(err, t->path);
    for (uint32_t i = 0; i < e->tile_count; i++)
        c->tiles[i].texture = e->texture;
    e->tiles = c->tiles;
    return TXM_OK;
}

/* ---- the next event ---- */

/* Reports a texture whose number is taken by another one from this block on. It reports one at a time, before the first
 * event of the next block, so a replay drops the old tiles in time. */
static bool next_replaced(txm_trace_cursor *c, txm_trace_event *e)
{
    const txm_trace *t = c->trace;
    /* Textures are listed in the order of their blocks. */
    for (; c->texture_next < t->texture_count; c->texture_next++) {
        uint32_t number = t->textures[c->texture_next].number;
        size_t low = 0, high = t->naming_count; /* the search for its naming */
        while (low + 1 < high) {
            size_t middle = low + (high - low) / 2;
            const txm_trace_naming *n = &t->namings[middle];
            bool beyond = n->number > number || (n->number == number && n->texture > c->texture_next);
            *(beyond ? &high : &low) = middle;
        }
        if (t->namings[low].block > c->block)
            return false;
        if (low && t->namings[low - 1].number == number) {
            e->kind = TXM_TRACE_EVENT_REPLACED;
            e->texture = t->namings[low - 1].texture;
            c->texture_next++;
            return true;
        }
    }
    return false;
}

/* Blocks that were read when the trace was opened are skipped; only next_replaced uses their position. */
static txm_status next_block(txm_trace_cursor *c, txm_error *err)
{
    const txm_trace_stored *b = &c->trace->blocks[c->next];
    c->block = c->next++;
    forget_meanings(c);
    c->at = c->end = 0;
    if (b->kind != TXM_TRACE_BLOCK_TILES && b->kind != TXM_TRACE_BLOCK_LOOKUPS)
        return TXM_OK;
    txm_status status = txm_trace_unpack(c->trace, b, c->zstd, c->stored, c->raw, err);
    if (status != TXM_OK)
        return status;
    if (b->kind == TXM_TRACE_BLOCK_LOOKUPS) {
        /* The size must be exactly that of the rows, because next_row reads the planes without further checks. */
        uint64_t rows = b->raw < TXM_TRACE_LOOKUPS_HEAD_BYTES ? 0 : txm_load_le32(c->raw);
        if (!rows || rows > TXM_TRACE_LOOKUPS_MAX ||
            b->raw != TXM_TRACE_LOOKUPS_HEAD_BYTES + rows * 4 * TXM_TRACE_COLUMNS)
            return txm_trace_corrupt(c->trace, err, "a block of lookups has the wrong size");
        c->at = 0;
        c->end = (size_t)rows;
        c->rows_launch = txm_load_le32(c->raw + 4);
        c->rows_epoch = txm_load_le32(c->raw + 8);
        memset(c->values, 0, sizeof c->values);
        return TXM_OK;
    }
    c->end = b->raw;
    c->key = 0;
    return TXM_OK;
}

/* The event's pointers belong to the cursor and are valid until the next call. */
txm_status txm_trace_next(txm_trace_cursor *c, txm_trace_event *e, txm_error *err)
{
    txm_error_clear(err);
    const txm_trace *t = c->trace;
    *e = (txm_trace_event){.kind = TXM_TRACE_EVENT_END};
    for (;;) {
        if (c->next && next_replaced(c, e))
            return TXM_OK;
        if (c->at < c->end)
            break;
        if (c->next == t->block_count)
            return TXM_OK;
        txm_status status = next_block(c, err);
        if (status != TXM_OK)
            return status;
    }
    const txm_trace_stored *b = &t->blocks[c->block];
    e->thread = b->thread;
    e->launch = b->kind == TXM_TRACE_BLOCK_LOOKUPS ? c->rows_launch : c->launch;
    e->epoch = b->kind == TXM_TRACE_BLOCK_LOOKUPS ? c->rows_epoch : c->epoch;
    txm_status status = b->kind == TXM_TRACE_BLOCK_LOOKUPS ? next_row(c, e, err) : next_tiles(c, e, err);
    if (status != TXM_OK)
        *e = (txm_trace_event){.kind = TXM_TRACE_EVENT_END};
    return status;
}
