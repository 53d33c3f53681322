/* SPDX-License-Identifier: Apache-2.0
 * Sizes of encoded tiles. */
#include "info_tiles.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "format.h"
#include "json.h"

/* Whether all of its pixels are alike, bit for bit. */
static bool is_constant(const uint8_t *pixels, size_t pixel_bytes, size_t count)
{
    return count < 2 || !memcmp(pixels, pixels + pixel_bytes, (count - 1) * pixel_bytes);
}

static unsigned size_class(uint64_t bytes)
{
    unsigned n = bytes ? 63 - (unsigned)__builtin_clzll(bytes) : 0;
    return n < TXM_TILE_SIZE_CLASSES ? n : TXM_TILE_SIZE_CLASSES - 1;
}

static void count_tile(txm_tx *tx, uint32_t level, uint32_t x, uint32_t y, uint8_t *pixels, txm_tile_census *out)
{
    const txm_tx_info *i = txm_tx_info_of(tx);
    const txm_tx_level *l = txm_tx_level_of(tx, level);
    txm_tile_sizes *s = &out->level[level];
    size_t px = i->channels * txm_type_bytes(i->type);
    uint32_t left = l->width - x * i->tile_w, w = left < i->tile_w ? left : i->tile_w, h = 0;
    uint64_t bytes = txm_tx_tile_bytes(tx, level, x, y);
    unsigned n = size_class(bytes);
    s->tiles++;
    s->bytes += bytes;
    s->smallest = s->tiles == 1 || bytes < s->smallest ? bytes : s->smallest;
    s->largest = bytes > s->largest ? bytes : s->largest;
    out->sizes[n]++;
    if (txm_tx_read_tile(tx, level, x, y, pixels, px, w * px, NULL, &h, NULL) != TXM_OK) {
        s->damaged++;
    } else if (is_constant(pixels, px, (size_t)w * h)) {
        s->constant++;
        out->constant[n]++;
    }
}

txm_status txm_tile_census_take(txm_tx *tx, const volatile int *cancel, txm_tile_census *out, txm_error *err)
{
    const txm_tx_info *i = txm_tx_info_of(tx);
    uint8_t *pixels = txm_alloc_pixels((size_t)i->tile_w * i->tile_h, i->channels * txm_type_bytes(i->type));
    memset(out, 0, sizeof *out);
    if (!pixels)
        return txm_fail(err, TXM_NO_MEMORY, "no memory for a tile");
    for (uint32_t n = 0; n < i->levels; n++) {
        const txm_tx_level *l = txm_tx_level_of(tx, n);
        for (uint32_t y = 0; y < l->tiles_y && !*cancel; y++)
            for (uint32_t x = 0; x < l->tiles_x; x++)
                count_tile(tx, n, x, y, pixels, out);
    }
    free(pixels);
    return *cancel ? txm_fail(err, TXM_CANCELLED, "stopped on request") : TXM_OK;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void print_histogram(const txm_tile_census *c)
{
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
}

void txm_tile_census_print(const txm_tx *tx, const txm_tile_census *c)
{
    char smallest[TXM_FORMAT_BYTES], mean[TXM_FORMAT_BYTES], largest[TXM_FORMAT_BYTES];
    printf("  level     tiles  one colour   damaged    smallest        mean     largest\n");
    for (uint32_t n = 0; n < txm_tx_info_of(tx)->levels; n++) {
        const txm_tile_sizes *s = &c->level[n];
        printf("  %5u  %8" PRIu64 "  %10" PRIu64 "  %8" PRIu64 "  %10s  %10s  %10s\n", n, s->tiles, s->constant,
               s->damaged, txm_format_bytes(s->smallest, smallest),
               txm_format_bytes(s->tiles ? s->bytes / s->tiles : 0, mean), txm_format_bytes(s->largest, largest));
    }
    print_histogram(c);
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
