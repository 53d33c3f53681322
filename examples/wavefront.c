/* SPDX-License-Identifier: Apache-2.0
 * A renderer that works in waves, as devices do: all look-ups of a wave run without waiting, those that miss note what
 * they lack, the lot is loaded in one go, and only they run again. Colours that were found are kept. cc wavefront.c
 * $(pkg-config --cflags --libs txtile) -o wavefront
 *     ./wavefront blender_tx/wood.png.*.tx floor.ppm [MEGABYTES] */
#include <stdlib.h>
#include <txmill/cache.h>

#include "floor.h"

enum { ROWS = 16, WAVE = ROWS * WIDTH }; /* few enough that what one wave needs fits into a small budget */

static float pixels[WIDTH * HEIGHT][4];
static uint32_t requests[4096];

/* One wave, launched until every look-up has its colour. */
static txm_status render_rows(txm_cache *cache, uint32_t texture, int first_row, int *launches, int *failed,
                              txm_error *err)
{
    const txm_sampler how = floor_sampler();
    txm_lane lane = {.requests = requests, .capacity = sizeof requests / sizeof *requests}, *lanes[] = {&lane};
    static unsigned char done[WAVE];
    txm_status status = TXM_OK;
    for (int i = 0; i < WAVE; i++)
        done[i] = 0;
    for (int missed = 1; missed && status == TXM_OK; ++*launches) {
        txm_view view;
        txm_ticket *ticket = NULL;
        missed = 0;
        status = txm_cache_prepare(cache, &view, NULL, err); /* shows what was loaded so far */
        for (int i = 0; i < WAVE && status == TXM_OK; i++) {
            int x = i % WIDTH, y = first_row + i / WIDTH;
            txm_lookup at;
            if (done[i] || y >= HEIGHT || !floor_at(x, y, &at))
                continue;
            txm_look look = txm_sample(&view, texture, &how, &at, &lane, pixels[y * WIDTH + x]);
            done[i] = look != TXM_LOOK_MISSED;
            missed += look == TXM_LOOK_MISSED;
            *failed |= look == TXM_LOOK_FAILED;
        }
        if (missed && status == TXM_OK)
            status = txm_cache_process(cache, lanes, 1, &ticket, err);
        txm_ticket_wait(&ticket); /* other work fits in here: see txm_ticket_remaining */
    }
    return status;
}

int main(int argc, char **argv)
{
    txm_error err;
    txm_cache *cache = NULL;
    txm_cache_options options;
    uint32_t texture = 0;
    int launches = 0, failed = 0;
    if (argc < 3)
        return fprintf(stderr, "usage: %s FILE.tx FILE.ppm [MEGABYTES]\n", argv[0]), 2;
    txm_cache_options_init(&options);
    options.max_bytes = strtoull(argc > 3 ? argv[3] : "64", NULL, 10) << 20;
    txm_status status = txm_cache_new(&options, &cache, &err);
    if (status == TXM_OK)
        status = txm_cache_add(cache, argv[1], TXM_EXTENSION_REPEAT, &texture, &err);
    for (int y = 0; y < HEIGHT && status == TXM_OK; y += ROWS)
        status = render_rows(cache, texture, y, &launches, &failed, &err);
    txm_cache_texture_stats of;
    if (status == TXM_OK && failed && txm_cache_texture_stats_of(cache, texture, &of, &err) == TXM_OK)
        fprintf(stderr, "%s\n", of.message);
    if (status != TXM_OK)
        fprintf(stderr, "%s\n", err.message);
    printf("%d launches for %d waves\n", launches, (HEIGHT + ROWS - 1) / ROWS);
    txm_cache_free(&cache);
    return status != TXM_OK || failed || write_ppm(argv[2], pixels);
}
