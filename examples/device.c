/* SPDX-License-Identifier: Apache-2.0
 * A renderer that looks textures up on a device: the floor of wavefront.c, in two waves that take turns. While the
 * device runs the lookups of one wave, the tiles that the other missed are loaded; only lookups that missed are
 * launched again.
 *
 *     cc device.c $(pkg-config --cflags --libs txtile) -o device
 *     ./device opencl:0 blender_tx/wood.png.*.tx floor.ppm [MEGABYTES] */
#include <stdlib.h>
#include <txtile/device.h>

#include "floor.h"

enum { ROWS = 16, WAVE = ROWS * WIDTH, WAVES = TXM_DEVICE_LAUNCHES };

typedef struct wave {
    txm_device_launch *launch; /* NULL: none is running */
    txm_ticket *loading;
    txm_device_batch batch;
    txm_lookup at[WAVE];
    uint8_t result[WAVE];
    size_t missed; /* lookups that have no colour yet */
} wave;

static float pixels[WIDTH * HEIGHT][4];

/* Prepares the lookups of some rows of the picture. Their colours go to its pixels. */
static void begin_wave(wave *w, int first_row, const txm_sampler *how, uint32_t texture)
{
    const int rows = HEIGHT - first_row < ROWS ? HEIGHT - first_row : ROWS;
    for (int i = 0; i < rows * WIDTH; i++)
        floor_at(i % WIDTH, first_row + i / WIDTH, &w->at[i]);
    w->missed = (size_t)(rows * WIDTH);
    w->batch = (txm_device_batch){.count = w->missed,
                                  .samplers = how,
                                  .sampler_count = 1,
                                  .one_texture = texture,
                                  .at = w->at,
                                  .out = pixels + first_row * WIDTH,
                                  .result = w->result};
}

static txm_status render(txm_device *device, uint32_t texture, int *failed, txm_error *err)
{
    static wave waves[WAVES];
    const txm_sampler how = floor_sampler();
    txm_status status = TXM_OK;
    int next_row = 0, under_way = 1;
    while (!floor_at(0, next_row, waves[0].at)) /* rows of the sky need no lookups */
        next_row++;
    while (under_way && status == TXM_OK) {
        under_way = 0;
        for (int i = 0; i < WAVES && status == TXM_OK; i++) {
            wave *w = &waves[i];
            if (w->launch)
                status = txm_device_collect(&w->launch, &w->loading, &w->missed, err);
            w->batch.again = true; /* from here on without the lookups that have their colour */
            for (size_t k = 0; k < w->batch.count; k++)
                *failed |= w->result[k] == TXM_LOOKUP_FAILURE;
            if (!w->missed && next_row < HEIGHT) {
                begin_wave(w, next_row, &how, texture);
                next_row += ROWS;
            }
            if (status != TXM_OK || !w->missed)
                continue;
            txm_ticket_wait(&w->loading); /* meanwhile the other wave is on the device */
            status = txm_device_submit(device, &w->batch, &w->launch, err);
            under_way = 1;
        }
    }
    for (int i = 0; i < WAVES; i++)
        txm_ticket_cancel(&waves[i].loading);
    return status;
}

int main(int argc, char **argv)
{
    txm_error err;
    txm_cache_options options;
    txm_cache *cache = NULL;
    txm_device *device = NULL;
    txm_device_stats did;
    uint32_t texture = 0;
    int failed = 0;
    if (argc < 4)
        return fprintf(stderr, "usage: %s DEVICE FILE.tx FILE.ppm [MEGABYTES]\n", argv[0]), 2;
    txm_cache_options_init(&options);
    options.max_bytes = strtoull(argc > 4 ? argv[4] : "64", NULL, 10) << 20;
    if (txm_cache_new(&options, &cache, &err) || txm_cache_add(cache, argv[2], TXM_EXTENSION_REPEAT, &texture, &err) ||
        txm_device_open(cache, argv[1], NULL, &device, &err) || render(device, texture, &failed, &err)) {
        fprintf(stderr, "%s\n", err.message);
        failed = 1;
    } else {
        txm_device_stats_of(device, &did);
        printf("%s: %d launches, %d tiles copied\n", txm_device_title(device), (int)did.launches,
               (int)did.tiles_copied);
    }
    txm_device_close(&device);
    txm_cache_free(&cache);
    return failed || write_ppm(argv[3], pixels);
}
