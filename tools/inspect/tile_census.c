/* SPDX-License-Identifier: Apache-2.0
 *
 * Examines every tile of a tx file.
 *
 * The sizes come from the tables of the file; each tile is decoded once to see whether it has a single colour or is
 * damaged.
 */
#include "tools/inspect/tile_census.h"

#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/fail.h"
#include "base/mem.h"
#include "tools/output/say.h"

typedef struct counting {
    txm_tx *tx;
    const txm_tx_info *info;
    uint8_t *pixels; /* pixels of one tile */
    txm_tile_visit_fn visit;
    void *user;
    txm_tile_census *out;
} counting;

/* An error in the tile itself is damage; errors of memory or a server are failures of the census. */
static txm_status look_at_tile(const counting *c, uint32_t level, uint32_t x, uint32_t y, txm_census_tile *entry,
                               txm_error *err)
{
    const txm_tx_info *i = c->info;
    const txm_tx_level *l = txm_tx_level_of(c->tx, level);
    size_t px = i->channels * txm_type_bytes(i->type);
    uint32_t left = l->width - x * i->tile_w, w = left < i->tile_w ? left : i->tile_w, h = 0;
    entry->bytes = txm_tx_tile_bytes(c->tx, level, x, y);
    txm_status status = txm_tx_read_tile(c->tx,
                                         &(txm_tx_request){.struct_size = sizeof(txm_tx_request),
                                                           .level = level,
                                                           .tile_x = x,
                                                           .tile_y = y,
                                                           .pixels = c->pixels,
                                                           .pixel_stride_bytes = px,
                                                           .row_stride_bytes = w * px,
                                                           .height = &h},
                                         err);
    if (status != TXM_OK && txm_status_retryable(status))
        return status;
    entry->damaged = status != TXM_OK;
    /* Whether each pixel equals the previous one: the block is compared with itself, shifted by one pixel. */
    const size_t pixels = (size_t)w * h;
    entry->constant = !entry->damaged && (pixels < 2 || !memcmp(c->pixels, c->pixels + px, (pixels - 1) * px));
    if (!entry->damaged && c->visit)
        c->visit(c->user, level, c->pixels, w, h);
    return TXM_OK;
}

/* A damaged tile is counted, and the census goes on; it ends only if the file as a whole cannot be read. */
static txm_status take_level(const counting *c, uint32_t level, const volatile int *cancel, txm_error *err)
{
    const txm_tx_level *l = txm_tx_level_of(c->tx, level);
    txm_census_tile *entry = txm_calloc(txm_mul(l->tiles_x, l->tiles_y), sizeof *entry);
    if (!entry)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for a table of %u x %u tiles", l->tiles_x,
                        l->tiles_y);
    c->out->entries[level] = entry;
    for (uint32_t y = 0; y < l->tiles_y; y++) {
        /* Of the largest level, which has three quarters of all tiles. */
        if (!level)
            txm_say_part(y, l->tiles_y + l->tiles_y / 3);
        if (txm_is_cancelled(cancel))
            return txm_fail(err, TXM_STATUS_CANCELLED, "stopped on request");
        for (uint32_t x = 0; x < l->tiles_x; x++, entry++) {
            txm_status status = look_at_tile(c, level, x, y, entry, err);
            if (status)
                return status;
            txm_tile_sizes *s = &c->out->level[level];
            unsigned class = entry->bytes ? 63 - (unsigned)__builtin_clzll(entry->bytes) : 0;
            unsigned n = class < TXM_TILE_SIZE_CLASSES ? class : TXM_TILE_SIZE_CLASSES - 1;
            s->tiles++;
            s->bytes += entry->bytes;
            s->smallest = s->tiles == 1 || entry->bytes < s->smallest ? entry->bytes : s->smallest;
            s->largest = entry->bytes > s->largest ? entry->bytes : s->largest;
            s->constant += entry->constant;
            s->damaged += entry->damaged;
            c->out->sizes[n]++;
            c->out->constant[n] += entry->constant;
        }
    }
    return TXM_OK;
}

/* One buffer is used for all tiles. The visitor gets the pixels of each tile, so that a report that needs them does
 * not decode the tile again. */
txm_status txm_tile_census_take(txm_tx *tx, const volatile int *cancel, txm_tile_visit_fn visit, void *user,
                                txm_tile_census *out, txm_error *err)
{
    const txm_tx_info *i = txm_tx_info_of(tx);
    counting c = {.tx = tx, .info = i, .visit = visit, .user = user, .out = out};
    memset(out, 0, sizeof *out);
    c.pixels = txm_alloc_pixels((size_t)i->tile_w * i->tile_h, i->channels * txm_type_bytes(i->type));
    txm_status status = c.pixels ? TXM_OK : txm_no_memory(err, NULL);
    for (uint32_t l = 0; !status && l < i->levels; l++)
        status = take_level(&c, l, cancel, err);
    /* Tiles that cannot be read any more are not counted as damaged. */
    if (!status)
        status = txm_tx_check(tx, err);
    if (!status)
        txm_error_clear(err); /* drops the error of a damaged tile */
    free(c.pixels);
    if (status)
        txm_tile_census_clear(out);
    return status;
}

void txm_tile_census_clear(txm_tile_census *census)
{
    for (uint32_t l = 0; l < TXM_MAX_LEVELS; l++)
        free(census->entries[l]);
    *census = (txm_tile_census){0};
}
