/* SPDX-License-Identifier: Apache-2.0
 * A renderer that looks textures up on a device: the floor of wavefront.c, in two waves that take turns. While the
 * device runs the lookups of one wave, the tiles that the other missed are loaded; only lookups that missed are
 * launched again.
 *
 *     cc device.c $(pkg-config --cflags --libs txtile) -o device
 *     ./device opencl:0 blender_tx/wood.png.*.tx floor.ppm [MEGABYTES] */
#include <stdlib.h>
#include <string.h>
#include <txtile/device.h>

#include "floor.h"

enum { ROWS = 16, WAVE = ROWS * WIDTH, WAVES = TXM_DEVICE_LAUNCHES };

typedef struct wave {
    txm_device_launch *launch; /* NULL: none is running */
    txm_ticket *loading;
    txm_device_batch batch;
    int pixel[WAVE]; /* the pixel of each lookup */
    txm_lookup at[WAVE];
    float colors[WAVE][4];
    uint8_t look[WAVE];
    size_t missed;
} wave;

static float pixels[WIDTH * HEIGHT][4];

/* Starts the lookups of some rows of the picture; pixels of the sky need none. */
static void begin_wave(wave *w, int first_row, const txm_sampler *how, uint32_t texture)
{
    w->batch = (txm_device_batch){
        .samplers = how, .sampler_count = 1, .one_texture = texture, .at = w->at, .out = w->colors, .look = w->look};
    for (int i = 0; i < WAVE; i++) {
        int y = first_row + i / WIDTH;
        if (y >= HEIGHT || !floor_at(i % WIDTH, y, &w->at[w->batch.count]))
            continue;
        w->pixel[w->batch.count++] = y * WIDTH + i % WIDTH;
    }
    w->missed = w->batch.count;
}

/* Takes the results of a launch; the wave is done if nothing was missed. */
static txm_status collect(wave *w, int *failed, txm_error *err)
{
    txm_status status = txm_device_collect(&w->launch, &w->loading, &w->missed, err);
    w->batch.again = true; /* lookups that have their colour are left out from here on */
    for (size_t i = 0; status == TXM_OK && !w->missed && i < w->batch.count; i++) {
        memcpy(pixels[w->pixel[i]], w->colors[i], sizeof w->colors[i]);
        *failed |= w->look[i] == TXM_LOOK_FAILED;
    }
    return status;
}

static txm_status render(txm_device *device, wave waves[WAVES], const txm_sampler *how, uint32_t texture, int *failed,
                         txm_error *err)
{
    txm_status status = TXM_OK;
    int next_row = 0, under_way = 1;
    while (under_way && status == TXM_OK) {
        under_way = 0;
        for (int i = 0; i < WAVES && status == TXM_OK; i++) {
            wave *w = &waves[i];
            if (w->launch)
                status = collect(w, failed, err);
            for (; status == TXM_OK && !w->missed && next_row < HEIGHT; next_row += ROWS)
                begin_wave(w, next_row, how, texture);
            if (status != TXM_OK || !w->missed)
                continue;
            txm_ticket_wait(&w->loading); /* meanwhile the other wave is on the device */
            status = txm_device_submit(device, &w->batch, &w->launch, err);
            under_way = 1;
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    static wave waves[WAVES];
    txm_error err;
    txm_cache *cache = NULL;
    txm_cache_options options;
    txm_device *device = NULL;
    txm_device_stats did;
    const txm_sampler how = floor_sampler();
    uint32_t texture = 0;
    int failed = 0;
    if (argc < 4)
        return fprintf(stderr, "usage: %s DEVICE FILE.tx FILE.ppm [MEGABYTES]\n", argv[0]), 2;
    txm_cache_options_init(&options);
    options.max_bytes = strtoull(argc > 4 ? argv[4] : "64", NULL, 10) << 20;
    txm_status status = txm_cache_new(&options, &cache, &err);
    if (status == TXM_OK)
        status = txm_cache_add(cache, argv[2], TXM_EXTENSION_REPEAT, &texture, &err);
    if (status == TXM_OK)
        status = txm_device_open(cache, argv[1], NULL, &device, &err);
    if (status == TXM_OK)
        status = render(device, waves, &how, texture, &failed, &err);
    if (status == TXM_OK) {
        txm_device_stats_of(device, &did);
        printf("%s: %llu launches, %llu tiles copied\n", txm_device_title(device), (unsigned long long)did.launches,
               (unsigned long long)did.tiles_copied);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    for (int i = 0; i < WAVES; i++)
        txm_ticket_cancel(&waves[i].loading);
    txm_device_close(&device);
    txm_cache_free(&cache);
    return status != TXM_OK || failed || write_ppm(argv[3], pixels);
}
