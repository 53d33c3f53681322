/* SPDX-License-Identifier: Apache-2.0
 *
 * Places for tiles in a device's memory.
 *
 * Memory is divided into chunks. While a chunk holds any tiles, they are all of one size, so memory is not fragmented,
 * and once its tiles have been evicted it can hold another size. The least recently used tiles are evicted. This file
 * only does the accounting: it neither reads nor moves pixels.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "tile/device/device_impl.h"

enum { CHUNK_BYTES = 256 << 10 };

/* Memory smaller than a chunk counts as one chunk. */
bool txm_places_new(txm_places *p, void *memory, uint32_t first_unit, uint64_t bytes)
{
    const uint32_t units = (uint32_t)(bytes / TXM_DEVICE_UNIT_BYTES), usual = CHUNK_BYTES / TXM_DEVICE_UNIT_BYTES;
    *p = (txm_places){.memory = memory, .first_unit = first_unit, .units = units, .chunk_units = usual};
    if (units < usual)
        p->chunk_units = units ? units : 1;
    p->chunk_count = units / p->chunk_units;
    p->chunks = txm_calloc(p->chunk_count ? p->chunk_count : 1, sizeof *p->chunks);
    return p->chunks != NULL;
}

void txm_places_free(txm_places *p)
{
    for (uint32_t i = 0; p->chunks && i < p->chunk_count; i++)
        free(p->chunks[i].slot);
    free(p->chunks);
    *p = (txm_places){0};
}

/* Returns the number of consecutive chunks that a tile takes if it is larger than one. */
static uint32_t chunks_of(const txm_places *p, uint32_t tile_units)
{
    return (tile_units + p->chunk_units - 1) / p->chunk_units;
}

void txm_places_give(txm_places *p, uint32_t unit)
{
    uint32_t chunk = (unit - p->first_unit) / p->chunk_units;
    txm_chunk *c = &p->chunks[chunk];
    const uint32_t place = (unit - p->first_unit - chunk * p->chunk_units) / c->tile_units;
    c->slot[place] = TXM_NO_PLACE;
    if (--c->used)
        return;
    const uint32_t row = chunks_of(p, c->tile_units);
    free(c->slot);
    for (uint32_t i = 0; i < row; i++)
        p->chunks[chunk + i] = (txm_chunk){0};
}

/* Turns consecutive free chunks into places for tiles of this size; returns p->chunk_count if there are none. Of the
 * chunks of a larger tile, all but the first have a size but no places. */
static uint32_t cut_chunk(txm_places *p, uint32_t tile_units)
{
    const uint32_t row = chunks_of(p, tile_units), count = row > 1 ? 1 : p->chunk_units / tile_units;
    for (uint32_t i = 0, have = 0; i < p->chunk_count; i++) {
        have = p->chunks[i].tile_units ? 0 : have + 1;
        if (have < row)
            continue;
        const uint32_t first = i + 1 - row;
        uint32_t *slot = txm_calloc(count, sizeof *slot);
        if (!slot)
            return p->chunk_count;
        for (uint32_t k = 0; k < count; k++)
            slot[k] = TXM_NO_PLACE;
        for (uint32_t k = 0; k < row; k++)
            p->chunks[first + k] = (txm_chunk){.tile_units = tile_units};
        p->chunks[first].slot = slot;
        p->chunks[first].count = count;
        return first;
    }
    return p->chunk_count;
}

/* Takes a free place of a chunk that has one. */
static uint32_t place_in(txm_places *p, uint32_t chunk, uint32_t slot)
{
    txm_chunk *c = &p->chunks[chunk];
    uint32_t place = 0;
    while (c->slot[place] != TXM_NO_PLACE)
        place++;
    c->slot[place] = slot;
    c->used++;
    return p->first_unit + chunk * p->chunk_units + place * c->tile_units;
}

static uint32_t free_place(txm_places *p, uint32_t slot, uint32_t tile_units)
{
    for (uint32_t i = 0; i < p->chunk_count; i++)
        if (p->chunks[i].tile_units == tile_units && p->chunks[i].slot && p->chunks[i].used < p->chunks[i].count)
            return place_in(p, i, slot);
    const uint32_t chunk = cut_chunk(p, tile_units);
    return chunk < p->chunk_count ? place_in(p, chunk, slot) : TXM_NO_PLACE;
}

/* Evicts the tiles whose last launch is in the oldest eighth of the range before `horizon`; evicting many at once keeps
 * the search cheap per tile. `tile_units` 0: tiles of all sizes. Returns false if none were evicted. */
static bool evict_places(txm_device *d, txm_places *p, uint32_t tile_units, uint32_t horizon)
{
    uint32_t oldest = UINT32_MAX, gone = 0;
    for (uint32_t i = 0; i < p->chunk_count; i++) {
        const txm_chunk *c = &p->chunks[i];
        for (uint32_t k = 0; (!tile_units || c->tile_units == tile_units) && c->slot && k < c->count; k++)
            if (c->slot[k] != TXM_NO_PLACE && d->copies[c->slot[k]].used < oldest)
                oldest = d->copies[c->slot[k]].used;
    }
    if (oldest >= horizon)
        return false;
    const uint32_t until = oldest + (horizon - oldest + 7) / 8;
    for (uint32_t i = 0; i < p->chunk_count; i++)
        for (uint32_t k = 0;
             p->chunks[i].slot && (!tile_units || p->chunks[i].tile_units == tile_units) && k < p->chunks[i].count;
             k++) {
            const uint32_t slot = p->chunks[i].slot[k];
            if (slot == TXM_NO_PLACE || d->copies[slot].used >= until)
                continue;
            txm_copy_drop(d, slot);
            d->stats.tiles_dropped++;
            gone++;
            if (!p->chunks[i].slot) /* that was the last tile of its chunk */
                break;
        }
    return gone != 0;
}

uint32_t txm_places_take(txm_device *d, txm_places *p, uint32_t slot, uint32_t tile_units, uint32_t horizon)
{
    if (!p->memory || chunks_of(p, tile_units) > p->chunk_count)
        return TXM_NO_PLACE;
    uint32_t unit = free_place(p, slot, tile_units);
    while (unit == TXM_NO_PLACE && evict_places(d, p, tile_units, horizon))
        unit = free_place(p, slot, tile_units);
    while (unit == TXM_NO_PLACE && evict_places(d, p, 0, horizon))
        unit = free_place(p, slot, tile_units);
    return unit;
}
