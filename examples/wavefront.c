/* SPDX-License-Identifier: Apache-2.0
 * A renderer that works in waves, as devices do: all lookups of a wave run without waiting, those that miss record the
 * tiles that they need, these are loaded together, and only lookups that missed run again. Two waves are in progress,
 * each with a viewer of its own, so that one looks up while the tiles of the other are loaded.
 *
 *     cc wavefront.c $(pkg-config --cflags --libs txtile) -o wavefront
 *     ./wavefront blender_tx/wood.png.*.tx floor.ppm [MEGABYTES] */
#include <stdlib.h>
#include <txtile/cache.h>

#include "floor.h"

enum { ROWS = 16, WAVE = ROWS * WIDTH, WAVES = 2 }; /* few enough rows that their tiles fit into a small budget */

typedef struct wave {
    txm_cache_viewer *viewer;
    txm_ticket *loading; /* NULL: nothing is being loaded */
    int first_row, left; /* left: number of lookups without a colour */
    unsigned char done[WAVE];
    uint32_t requests[4096];
} wave;

static float pixels[WIDTH * HEIGHT][4];

static void begin_wave(wave *w, int first_row)
{
    w->first_row = first_row;
    w->left = 0;
    for (int i = 0; i < WAVE; i++) {
        txm_lookup at;
        int y = first_row + i / WIDTH;
        w->done[i] = y >= HEIGHT || !floor_at(i % WIDTH, y, &at);
        w->left += !w->done[i];
    }
}

/* Runs the lookups that are not done, in a view of what has been loaded so far, and starts to load what they miss. */
static txm_status launch(wave *w, uint32_t texture, int *failed, txm_error *err)
{
    const txm_sampler how = floor_sampler();
    txm_lookup_state state = {.requests = w->requests, .capacity = sizeof w->requests / sizeof *w->requests},
                     *states[] = {&state};
    txm_view view;
    txm_status status = txm_cache_viewer_prepare(w->viewer, &view, NULL, err);
    for (int i = 0; i < WAVE && status == TXM_OK; i++) {
        int x = i % WIDTH, y = w->first_row + i / WIDTH;
        txm_lookup at;
        if (w->done[i] || !floor_at(x, y, &at))
            continue;
        txm_lookup_result result = txm_sample(&view, texture, &how, &at, &state, pixels[y * WIDTH + x]);
        w->done[i] = result != TXM_LOOKUP_MISS;
        w->left -= w->done[i];
        *failed |= result == TXM_LOOKUP_FAILURE;
    }
    txm_cache_viewer_close(w->viewer); /* no lookup uses it any more, so its tiles may be evicted */
    if (status || !w->left)
        return status;
    return txm_cache_viewer_process(w->viewer, states, 1, &w->loading, err);
}

static txm_status render(wave waves[WAVES], uint32_t texture, int *launches, int *failed, txm_error *err)
{
    txm_status status = TXM_OK;
    int next_row = 0, under_way = WAVES;
    for (int i = 0; under_way && status == TXM_OK; i = (i + 1) % WAVES) {
        wave *w = &waves[i];
        if (!txm_ticket_poll(w->loading) && i + 1 < WAVES) /* continue with the other wave; the last one waits */
            continue;
        txm_ticket_wait(&w->loading);
        for (; !w->left && next_row < HEIGHT; next_row += ROWS)
            begin_wave(w, next_row);
        under_way = 0;
        for (int k = 0; k < WAVES; k++)
            under_way += waves[k].left != 0;
        if (!w->left)
            continue;
        status = launch(w, texture, failed, err);
        ++*launches;
    }
    return status;
}

int main(int argc, char **argv)
{
    static wave waves[WAVES];
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
    for (int i = 0; i < WAVES && status == TXM_OK; i++)
        status = txm_cache_viewer_new(cache, &waves[i].viewer, &err);
    if (status == TXM_OK)
        status = txm_cache_add(cache, argv[1], TXM_EXTENSION_REPEAT, &texture, &err);
    if (status == TXM_OK)
        status = render(waves, texture, &launches, &failed, &err);
    txm_cache_texture_stats of;
    if (status == TXM_OK && failed && txm_cache_texture_stats_of(cache, texture, &of, &err) == TXM_OK)
        fprintf(stderr, "%s\n", of.message);
    if (status != TXM_OK)
        fprintf(stderr, "%s\n", err.message);
    printf("%d launches for %d waves\n", launches, (HEIGHT + ROWS - 1) / ROWS);
    for (int i = 0; i < WAVES; i++) {
        txm_ticket_cancel(&waves[i].loading);
        txm_cache_viewer_free(&waves[i].viewer);
    }
    txm_cache_free(&cache);
    return status != TXM_OK || failed || write_ppm(argv[2], pixels);
}
