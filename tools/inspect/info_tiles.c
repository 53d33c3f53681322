/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints tiles as tables, as a histogram, and as JSON.
 *
 * In: the census of a file's tiles. Out: rows of tiles, of which most are left out unless all are requested, and the
 * distribution of sizes in each level.
 */
#include "tools/inspect/info_tiles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tools/output/format.h"
#include "tools/output/json.h"

typedef struct tile_row {
    const txm_census_tile *entry;
    uint32_t level, x, y;
} tile_row;

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* Larger ones come first; equal ones stay in the order of the file. */
static int by_size(const void *pa, const void *pb)
{
    const tile_row *a = pa, *b = pb;
    const uint64_t keys[][2] = {{b->entry->bytes, a->entry->bytes}, {a->level, b->level}, {a->y, b->y}, {a->x, b->x}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* A copy, because the rows are sorted by size, while the census keeps the order of the file. */
static tile_row *all_rows(const txm_tx *tx, const txm_tile_census *c, size_t *count)
{
    uint32_t levels = txm_tx_info_of(tx)->levels;
    *count = 0;
    for (uint32_t l = 0; l < levels; l++)
        *count += c->level[l].tiles;
    tile_row *rows = txm_calloc(*count, sizeof *rows), *row = rows;
    for (uint32_t l = 0; rows && l < levels; l++) {
        const txm_tx_level *level = txm_tx_level_of(tx, l);
        for (uint32_t y = 0; y < level->tiles_y; y++)
            for (uint32_t x = 0; x < level->tiles_x; x++)
                *row++ = (tile_row){c->entries[l] + (size_t)y * level->tiles_x + x, l, x, y};
    }
    return rows;
}

/* A large file has a hundred thousand tiles, so the default is to show the largest ones, which explain why a file is
 * larger than expected. */
static bool print_tiles(const txm_tx *tx, const txm_tile_census *c, bool all)
{
    size_t count, shown;
    tile_row *rows = all_rows(tx, c, &count);
    if (!rows)
        return false;
    shown = all || count <= TXM_TILE_ROWS ? count : TXM_TILE_ROWS;
    if (shown < count)
        qsort(rows, count, sizeof *rows, by_size);
    printf("  level  tile            bytes    ratio\n");
    for (size_t n = 0; n < shown; n++) {
        /* Tiles at the right and bottom edge have fewer pixels; the ratio is that of the pixels inside the level. */
        const tile_row *row = &rows[n];
        const txm_tx_info *i = txm_tx_info_of(tx);
        const txm_tx_level *level = txm_tx_level_of(tx, row->level);
        char place[32];
        uint32_t right = level->width - row->x * i->tile_w, below = level->height - row->y * i->tile_h;
        double raw = (double)(right < i->tile_w ? right : i->tile_w) * (below < i->tile_h ? below : i->tile_h) *
                     i->channels * (double)txm_type_bytes(i->type);
        snprintf(place, sizeof place, "%u,%u", row->x, row->y);
        printf("  %5u  %-9s  %10" PRIu64 "  %7.2f%s\n", row->level, place, row->entry->bytes,
               row->entry->bytes ? raw / (double)row->entry->bytes : 0.0,
               row->entry->damaged    ? "  damaged"
               : row->entry->constant ? "  one colour"
                                      : "");
    }
    if (shown < count)
        printf("  these are the largest of %zu tiles; --tiles=all shows the others\n", count);
    free(rows);
    return true;
}

bool txm_tile_census_print(const txm_tx *tx, const txm_tile_census *c, bool all)
{
    char smallest[TXM_FORMAT_BYTES], mean[TXM_FORMAT_BYTES], largest[TXM_FORMAT_BYTES];
    if (!print_tiles(tx, c, all))
        return false;
    printf("  level     tiles  one colour   damaged    smallest        mean     largest\n");
    for (uint32_t n = 0; n < txm_tx_info_of(tx)->levels; n++) {
        const txm_tile_sizes *s = &c->level[n];
        printf("  %5u  %8" PRIu64 "  %10" PRIu64 "  %8" PRIu64 "  %10s  %10s  %10s\n", n, s->tiles, s->constant,
               s->damaged, txm_format_bytes(s->smallest, smallest),
               txm_format_bytes(s->tiles ? s->bytes / s->tiles : 0, mean), txm_format_bytes(s->largest, largest));
    }
    /* Each class doubles the size. Tiles of a single colour are counted separately, because they make up most of the
     * smallest class and say nothing about the compression of the others. */
    static const char bar[] = "########################################";
    uint64_t most = 1;
    for (unsigned n = 0; n < TXM_TILE_SIZE_CLASSES; n++)
        most = c->sizes[n] > most ? c->sizes[n] : most;
    printf("  tile bytes                  tiles  one colour\n");
    for (unsigned n = 0; n < TXM_TILE_SIZE_CLASSES; n++)
        if (c->sizes[n])
            printf("  %10" PRIu64 " - %-10" PRIu64 " %8" PRIu64 "  %10" PRIu64 "  %.*s\n",
                   n ? (uint64_t)1 << n : (uint64_t)0, ((uint64_t)2 << n) - 1, c->sizes[n], c->constant[n],
                   1 + (int)(c->sizes[n] * (sizeof bar - 2) / most), bar);
    return true;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

void txm_tile_census_add(cJSON *object, const txm_tx *tx, const txm_tile_census *c)
{
    cJSON *tiles = txm_json_object(object, "tiles"), *levels = txm_json_array(tiles, "levels"),
          *histogram = txm_json_array(tiles, "histogram");
    for (uint32_t n = 0; n < txm_tx_info_of(tx)->levels; n++) {
        cJSON *o = txm_json_append(levels);
        txm_json_uint(o, "tiles", c->level[n].tiles);
        txm_json_uint(o, "constant", c->level[n].constant);
        txm_json_uint(o, "damaged", c->level[n].damaged);
        txm_json_uint(o, "smallest", c->level[n].smallest);
        txm_json_uint(o, "largest", c->level[n].largest);
        txm_json_uint(o, "bytes", c->level[n].bytes);
        /* One array per fact, each row by row; this takes a tenth of the space of one object per tile. */
        const txm_census_tile *entries = c->entries[n];
        cJSON *bytes = txm_json_array(o, "tile_bytes"), *constant = txm_json_array(o, "tile_constant"),
              *damaged = txm_json_array(o, "tile_damaged");
        for (uint64_t k = 0; k < c->level[n].tiles; k++) {
            txm_json_append_number(bytes, (double)entries[k].bytes, 15);
            if (entries[k].constant)
                txm_json_append_number(constant, (double)k, 15);
            if (entries[k].damaged)
                txm_json_append_number(damaged, (double)k, 15);
        }
    }
    for (unsigned n = 0; n < TXM_TILE_SIZE_CLASSES; n++)
        if (c->sizes[n]) {
            cJSON *o = txm_json_append(histogram);
            txm_json_uint(o, "from", n ? (uint64_t)1 << n : 0);
            txm_json_uint(o, "to", ((uint64_t)2 << n) - 1);
            txm_json_uint(o, "tiles", c->sizes[n]);
            txm_json_uint(o, "constant", c->constant[n]);
        }
}
