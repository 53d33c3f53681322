/* SPDX-License-Identifier: Apache-2.0
 * A texture without a file: a source of tiles that computes a chequerboard of any size, here of 65536 px. Only the
 * tiles that the picture needs are computed, and kept within the budget, as with tx files.
 *
 *     cc procedural.c $(pkg-config --cflags --libs txtile) -o procedural
 *     ./procedural floor.ppm [MEGABYTES] */
#include <stdlib.h>
#include <txtile/cache.h>

#include "floor.h"

enum { SIZE = 65536, LEVELS = 17, FIELD = 4096 };

static float pixels[WIDTH * HEIGHT][4];

static txm_status describe(void *user, txm_tile_shape *shape, txm_error *err)
{
    (void)user, (void)err;
    shape->width = shape->height = SIZE;
    shape->levels = LEVELS;
    shape->tile_px = 64;
    shape->channels = 4;
    shape->type = TXM_TYPE_U8;
    for (int i = 0; i < 4; i++)
        shape->average[i] = i < 3 ? 0.5f : 1.0f;
    return TXM_OK;
}

/* A pixel of level n covers 2^n by 2^n pixels of level 0: squares that are smaller become grey. */
static txm_status read_rectangle(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                                 void *to, size_t row_stride_bytes, txm_error *err)
{
    const uint32_t field = FIELD >> level;
    (void)user, (void)err;
    for (uint32_t row = 0; row < height; row++) {
        unsigned char *p = (unsigned char *)to + row * row_stride_bytes;
        for (uint32_t i = 0; i < width; i++, p += 4) {
            p[0] = p[1] = p[2] = !field ? 128 : ((x + i) / field + (y + row) / field) % 2 ? 230 : 25;
            p[3] = 255;
        }
    }
    return TXM_OK;
}

int main(int argc, char **argv)
{
    const txm_tile_source source = {sizeof source, NULL, describe, read_rectangle, NULL};
    txm_error err;
    txm_cache *cache = NULL;
    txm_cache_thread *thread = NULL;
    txm_cache_options options;
    txm_cache_stats stats;
    uint32_t texture = 0;
    if (argc < 2)
        return fprintf(stderr, "usage: %s FILE.ppm [MEGABYTES]\n", argv[0]), 2;
    txm_cache_options_init(&options);
    options.max_bytes = strtoull(argc > 2 ? argv[2] : "16", NULL, 10) << 20;
    txm_status status = txm_cache_new(&options, &cache, &err);
    if (status == TXM_OK)
        status = txm_cache_add_source(cache, "chequerboard", &source, TXM_EXTENSION_REPEAT, &texture, &err);
    if (status == TXM_OK)
        status = txm_cache_thread_new(cache, &thread, &err);
    const txm_sampler how = floor_sampler();
    for (int i = 0; i < WIDTH * HEIGHT && status == TXM_OK; i++) {
        txm_lookup at;
        if (floor_at(i % WIDTH, i / WIDTH, &at))
            txm_cache_sample(thread, texture, &how, &at, NULL, pixels[i]);
    }
    if (status == TXM_OK) {
        txm_cache_stats_of(cache, &stats);
        printf("%llu tiles of %llu MB were computed\n", (unsigned long long)stats.tiles_loaded,
               (unsigned long long)(stats.virtual_bytes >> 20));
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    txm_cache_thread_free(&thread);
    txm_cache_free(&cache);
    return status != TXM_OK || write_ppm(argv[1], pixels);
}
