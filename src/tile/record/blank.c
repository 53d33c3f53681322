/* SPDX-License-Identifier: Apache-2.0
 *
 * A page table of one texture without any tile in memory.
 *
 * With an empty page table, the sampler requests exactly the tiles that it would read. So traces and replays learn
 * these tiles from the sampler itself, and need no second computation of the filter's footprint, which could deviate
 * from it.
 */
#include "tile/record/blank.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tile/sample/view_file.h"

/* Lays out the levels one after the other, and makes room for their entries. The array is kept between calls and only
 * grows, because traces call this millions of times. */
static bool lay_out(txm_blank *b, const txm_view_texture *shape)
{
    uint32_t tiles = 0;
    if (txm_view_tiles(shape, 0) > TXM_BLANK_LEVEL_TILES)
        return false;
    b->texture = *shape;
    b->texture.first = 0;
    for (uint32_t i = 0; i < shape->levels; i++) {
        if (!txm_view_is_packed(shape))
            b->texture.level_first[i] = tiles;
        tiles += txm_view_tiles(shape, i);
    }
    if (tiles <= b->capacity)
        return true;
    txm_tile_entry *entries = realloc(b->entries, txm_mul(tiles, sizeof *entries));
    if (!entries)
        return false;
    b->entries = entries;
    for (uint32_t i = b->capacity; i < tiles; i++)
        entries[i] = (txm_tile_entry){TXM_SLOT_NONE, 0};
    b->capacity = tiles;
    return true;
}

/* Only entries that were requested have changed, so only these are reset to NONE; clearing the whole table would cost
 * more than the lookup. The level of an entry is found by a search in level_first, which has at most 17 elements. */
bool txm_blank_lookup(txm_blank *b, const txm_view_texture *shape, const txm_sampler *how, const txm_lookup *at,
                      uint32_t random, txm_tile_name tiles[TXM_BLANK_TILES], uint32_t *count)
{
    uint32_t requests[TXM_BLANK_TILES];
    txm_sampler asking = *how;
    float out[4];
    *count = 0;
    if (!lay_out(b, shape))
        return false;
    asking.on_miss = TXM_ON_MISS_AVERAGE; /* the tiles of stand-ins do not belong to the lookup */
    const txm_view view = {.textures = &b->texture, .tiles = b->entries, .texture_count = 1};
    txm_lookup_state lane = {.random = random, .capacity = TXM_BLANK_TILES, .requests = requests};
    txm_sample(&view, 0, &asking, at, &lane, out);
    for (uint32_t i = 0; i < lane.count; i++) {
        uint32_t level = 0, entry = requests[i];
        const bool packed = txm_view_is_packed(shape); /* then there is only one tile */
        while (!packed && level + 1 < shape->levels && b->texture.level_first[level + 1] <= entry)
            level++;
        tiles[i] = (txm_tile_name){0, 0, level, packed ? 0 : entry - b->texture.level_first[level]};
        b->entries[entry].slot = TXM_SLOT_NONE;
    }
    *count = lane.count;
    return true;
}

void txm_blank_free(txm_blank *b)
{
    free(b->entries);
    *b = (txm_blank){0};
}
