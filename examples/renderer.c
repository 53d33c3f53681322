/* SPDX-License-Identifier: Apache-2.0
 * A renderer that looks up one colour at a time. Several threads use one cache; a lookup that misses loads what it
 * needs and waits for it. The picture is the same for any budget and number of threads.
 *
 *     cc renderer.c $(pkg-config --cflags --libs txtile) -lpthread -o renderer
 *     ./renderer blender_tx/wood.png.*.tx floor.ppm [MEGABYTES] */
#include <pthread.h>
#include <stdlib.h>
#include <txtile/cache.h>

#include "floor.h"

enum { THREADS = 4 };

static float pixels[WIDTH * HEIGHT][4];

typedef struct worker {
    pthread_t id;
    txm_cache_thread *lookups; /* each thread has its own, made once and kept, so that hits share nothing */
    uint32_t texture;
    int first_row, failed;
} worker;

static void *render_rows(void *p)
{
    worker *w = p;
    const txm_sampler how = floor_sampler();
    for (int y = w->first_row; y < HEIGHT; y += THREADS)
        for (int x = 0; x < WIDTH; x++) {
            txm_lookup at;
            if (floor_at(x, y, &at) &&
                txm_cache_sample(w->lookups, w->texture, &how, &at, NULL, pixels[y * WIDTH + x]) != TXM_LOOKUP_HIT)
                w->failed = 1; /* the tile cannot be read: the colour is magenta, and the cache has the reason */
        }
    return NULL;
}

int main(int argc, char **argv)
{
    txm_error err;
    txm_cache *cache = NULL;
    txm_cache_options options;
    worker workers[THREADS] = {0};
    uint32_t texture = 0;
    int started = 0, failed = 0;
    if (argc < 3)
        return fprintf(stderr, "usage: %s FILE.tx FILE.ppm [MEGABYTES]\n", argv[0]), 2;
    txm_cache_options_init(&options);
    options.max_bytes = strtoull(argc > 3 ? argv[3] : "64", NULL, 10) << 20;
    if (txm_cache_new(&options, &cache, &err) != TXM_OK ||
        txm_cache_add(cache, argv[1], TXM_EXTENSION_REPEAT, &texture, &err) != TXM_OK ||
        txm_cache_open(cache, texture, NULL, &err) != TXM_OK) { /* finds out now whether it can be read */
        fprintf(stderr, "%s\n", err.message);
        txm_cache_free(&cache);
        return 1;
    }
    for (; started < THREADS && !failed; started += !failed) {
        worker *w = &workers[started];
        w->texture = texture;
        w->first_row = started;
        failed = txm_cache_thread_new(cache, &w->lookups, &err) != TXM_OK ||
                 pthread_create(&w->id, NULL, render_rows, w) != 0;
    }
    for (int i = 0; i < THREADS; i++) {
        if (i < started)
            pthread_join(workers[i].id, NULL);
        txm_cache_thread_free(&workers[i].lookups);
        failed |= workers[i].failed;
    }
    txm_cache_stats stats;
    txm_cache_stats_of(cache, &stats);
    printf("%llu lookups, %llu tiles loaded, %llu of them again, at most %.1f MB\n", (unsigned long long)stats.lookups,
           (unsigned long long)stats.tiles_loaded, (unsigned long long)stats.tiles_reloaded,
           (double)stats.allocated_bytes_peak / 1e6);
    txm_cache_texture_stats of;
    if (failed && txm_cache_texture_stats_of(cache, texture, &of, &err) == TXM_OK)
        fprintf(stderr, "%s\n", *of.message ? of.message : "out of memory or threads");
    txm_cache_free(&cache);
    return failed || write_ppm(argv[2], pixels);
}
