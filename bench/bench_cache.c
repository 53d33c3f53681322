/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the texture cache with the sampler alone and with OpenImageIO's image cache, on the same file. bench_cache
 * [-n ROUNDS] TX prints tables: warm lookups, cold ones, budgets of a quarter of the working set, two threads. Rates
 * are lookups per CPU second of one thread, rounds in turn, the best of each; with threads, by the clock.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lookup_util.h"
#include "oiio_lookup.h"
#include "txtile/cache.h"

enum { PLACES = 1 << 21, LOOKUPS = 1 << 19, WAVE = 1 << 20, REQUESTS = 8192, ALL_MB = 1024, QUARTER_MB = 16 };

static struct {
    const char *path;
    uint32_t width, height;
    float *in[6]; /* PLACES lookups */
    txm_texture_set *set;
    uint32_t whole;
} bench;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_cache: %s\n", what);
    exit(1);
}

/* ---- patterns ---- */

typedef struct pattern {
    const char *name;
    int coherent;
    float level; /* < 0: 0 to 8 at random */
} pattern;

static const pattern patterns[] = {{"coherent, trilinear, level 0", 1, 0},
                                   {"coherent, trilinear, level 1.5", 1, 1.5f},
                                   {"random, trilinear, level 0", 0, 0},
                                   {"random, trilinear, level 3", 0, 3},
                                   {"random, trilinear, levels 0 to 8", 0, -1}};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static void make_places(const pattern *p)
{
    for (size_t i = 0; i < PLACES; i++) {
        float level = p->level < 0 ? 8 * bench_unit() : p->level, step = exp2f(level);
        bench.in[0][i] = p->coherent ? 0.03f + ((float)(i % 1024) + 0.3f) * step / (float)bench.width : bench_unit();
        bench.in[1][i] = p->coherent ? 0.05f + ((float)(i / 1024) + 0.3f) * step / (float)bench.height : bench_unit();
        bench.in[2][i] = step / (float)bench.width;
        bench.in[3][i] = bench.in[4][i] = 0;
        bench.in[5][i] = step / (float)bench.height;
    }
}

static txm_lookup place(size_t i)
{
    return (txm_lookup){bench.in[0][i], bench.in[1][i], bench.in[2][i], bench.in[3][i], bench.in[4][i], bench.in[5][i]};
}

static txm_sampler trilinear(void)
{
    txm_sampler how;
    txm_sampler_init(&how);
    how.mode = TXM_LEVEL_MODE_TRILINEAR;
    return how;
}

/* Results are added up and kept, so that the compiler cannot remove the work. */
static _Thread_local float sink;

/* ---- lookups ---- */

static void alone(const txm_view *view, size_t begin, size_t end)
{
    txm_sampler how = trilinear();
    txm_lookup_state lookup_state = {0};
    for (size_t i = begin; i < end; i++) {
        float out[4];
        txm_lookup at = place(i);
        if (txm_sample(view, bench.whole, &how, &at, &lookup_state, out) != TXM_LOOKUP_HIT)
            die("a tile is missing");
        sink += out[0];
    }
}

static void cached(txm_cache_thread *t, size_t begin, size_t end)
{
    txm_sampler how = trilinear();
    for (size_t i = begin; i < end; i++) {
        float out[4];
        txm_lookup at = place(i);
        if (txm_cache_sample(t, 0, &how, &at, NULL, out) != TXM_LOOKUP_HIT)
            die("a lookup failed");
        sink += out[0];
    }
}

/* Does the same in calls with many lookups. */
static void cached_many(txm_cache_thread *t, size_t begin, size_t end, size_t at_once)
{
    static float out[4][WAVE];
    txm_sampler how = trilinear();
    for (size_t i = begin; i < end; i += at_once) {
        const size_t n = end - i < at_once ? end - i : at_once;
        const txm_lookups batch = {n,
                                   bench.in[0] + i,
                                   bench.in[1] + i,
                                   bench.in[2] + i,
                                   bench.in[3] + i,
                                   bench.in[4] + i,
                                   bench.in[5] + i,
                                   NULL,
                                   NULL,
                                   {out[0], out[1], out[2], out[3]},
                                   NULL};
        if (txm_cache_sample_n(t, 0, &how, &batch) != TXM_LOOKUP_HIT)
            die("a lookup failed");
        sink += out[0][0];
    }
}

static void theirs(oiio_textures *oiio, size_t begin, size_t end)
{
    enum { CHUNK = 4096 };
    static _Thread_local float out[4 * CHUNK];
    for (size_t i = begin; i < end; i += CHUNK) {
        const float *in[6];
        for (int k = 0; k < 6; k++)
            in[k] = bench.in[k] + i;
        if (!oiio_textures_sample(oiio, OIIO_TRILINEAR, OIIO_BILINEAR, 16, end - i < CHUNK ? end - i : CHUNK, in, out))
            die("OpenImageIO failed");
        sink += out[0];
    }
}

/* Looks up as a wavefront renderer does, with at least as many lookups at a time as Cycles has in flight on a GPU: each
 * launch runs all that are left, and what they miss is loaded together. */
static void in_waves(txm_cache *c, size_t begin, size_t end)
{
    static uint32_t left[WAVE], requests[REQUESTS];
    txm_sampler how = trilinear();
    for (; begin < end; begin += WAVE) {
        size_t count = end - begin < WAVE ? end - begin : WAVE;
        for (size_t i = 0; i < count; i++)
            left[i] = (uint32_t)(begin + i);
        while (count) {
            txm_view view;
            txm_ticket *ticket;
            txm_lookup_state lookup_state = {.capacity = REQUESTS, .requests = requests},
                             *lookup_states[] = {&lookup_state};
            size_t kept = 0;
            txm_cache_prepare(c, &view, NULL, NULL);
            for (size_t i = 0; i < count; i++) {
                float out[4];
                txm_lookup at = place(left[i]);
                if (txm_sample(&view, 0, &how, &at, &lookup_state, out) == TXM_LOOKUP_HIT)
                    sink += out[0];
                else
                    left[kept++] = left[i];
            }
            count = kept;
            if (txm_cache_process(c, lookup_states, 1, &ticket, NULL))
                die("a batch failed");
            txm_ticket_wait(&ticket);
        }
    }
}

static txm_cache *new_cache(uint64_t mb, uint32_t policy)
{
    txm_cache_options o;
    txm_cache *c;
    uint32_t id;
    txm_error err;
    txm_cache_options_init(&o);
    o.max_bytes = mb << 20;
    o.policy = policy;
    o.threads = 1;
    o.coalesce = 0; /* OpenImageIO has no equivalent */
    if (txm_cache_new(&o, &c, &err) || txm_cache_add(c, bench.path, TXM_EXTENSION_REPEAT, &id, &err))
        die(err.message);
    return c;
}

static txm_cache_thread *new_thread(txm_cache *c)
{
    txm_cache_thread *t;
    if (txm_cache_thread_new(c, &t, NULL))
        die("no memory");
    return t;
}

static double rate(double start, size_t count, double best)
{
    double r = (double)count / (bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / 1e6;
    return r > best ? r : best;
}

#define TIMED(BEST, COUNT, ...)                                                                                        \
    do {                                                                                                               \
        double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);                                                         \
        __VA_ARGS__;                                                                                                   \
        BEST = rate(start, COUNT, BEST);                                                                               \
    } while (0)

static const char *verdict(int reached)
{
    return reached ? "reached" : "missed";
}

/* ---- tables ---- */

static void warm(int rounds)
{
    txm_cache *c = new_cache(ALL_MB, TXM_CACHE_POLICY_LRU);
    txm_cache_thread *t = new_thread(c);
    if (txm_cache_preload(c, 0, NULL, NULL))
        die("preloading failed");
    printf("| warm, millions a CPU second | sampler | with marks | ratio | through the cache | of the sampler | |\n"
           "|---|---|---|---|---|---|---|\n");
    for (int n = 0; n < PATTERNS; n++) {
        double plain = 0, marked = 0, through = 0;
        txm_view view = *txm_texture_set_view(bench.set), marks = view;
        make_places(&patterns[n]);
        for (int r = 0; r < rounds; r++) {
            marks.epoch = (uint32_t)r + 1;
            TIMED(plain, LOOKUPS, alone(&view, 0, LOOKUPS));
            TIMED(marked, LOOKUPS, alone(&marks, 0, LOOKUPS));
            TIMED(through, LOOKUPS, cached(t, 0, LOOKUPS));
        }
        printf("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %s |\n", patterns[n].name, plain, marked, plain / marked,
               through, through / plain, verdict(through >= 0.9 * plain && marked * 1.15 >= plain));
        fflush(stdout);
    }
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}

/* The cost of loading: the first pass minus the same lookups again. */
static double tiles_a_second(double first, double again, uint64_t tiles, double best)
{
    double r = (double)tiles / (first - again);
    return first > again && r > best ? r : best;
}

static void cold(int rounds)
{
    enum { FEW = 4096 };
    static const int which[] = {2, 4, 0};
    printf("\n| cold, millions a CPU second | OpenImageIO | txmill | ratio | %d per call | ratio | goal | tiles a CPU "
           "second | |\n"
           "|---|---|---|---|---|---|---|---|---|\n",
           FEW);
    for (int n = 0; n < 3; n++) {
        double a = 0, b = 0, many = 0, tiles = 0;
        const pattern *p = &patterns[which[n]];
        make_places(p);
        for (int r = 0; r < rounds; r++) {
            oiio_textures *oiio = oiio_textures_open(bench.path, ALL_MB);
            txm_cache *c = new_cache(ALL_MB, TXM_CACHE_POLICY_LRU);
            txm_cache_thread *t = new_thread(c);
            txm_cache_stats s;
            TIMED(a, PLACES, theirs(oiio, 0, PLACES));
            double begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID), first, again;
            cached(t, 0, PLACES);
            first = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
            b = rate(begin, PLACES, b);
            begin = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
            cached(t, 0, PLACES);
            again = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
            txm_cache_stats_of(c, &s);
            tiles = tiles_a_second(first, again, s.tiles_loaded, tiles);
            txm_cache_thread_free(&t);
            txm_cache_free(&c);
            c = new_cache(ALL_MB, TXM_CACHE_POLICY_LRU);
            t = new_thread(c);
            TIMED(many, PLACES, cached_many(t, 0, PLACES, FEW));
            txm_cache_thread_free(&t);
            txm_cache_free(&c);
            oiio_textures_close(oiio);
        }
        printf("| %s | %.3f | %.3f | %.1f | %.3f | %.1f | 3 | %.0f | %s |\n", p->name, a, b, b / a, many, many / a,
               tiles, verdict(many >= 3 * a));
        fflush(stdout);
    }
}

/* With a quarter of the memory that the pattern needs: how much slower each becomes. */
static void quarter(int rounds)
{
    static const int which[] = {2, 4};
    printf("\n| %d MB, millions a CPU second | all in memory | a quarter | falls | tiles read again | goal | |\n"
           "|---|---|---|---|---|---|---|\n",
           QUARTER_MB);
    for (int n = 0; n < 2; n++) {
        const pattern *p = &patterns[which[n]];
        enum { FEW = 1 << 15 };
        double full[4] = {0}, small[4] = {0};
        txm_cache_stats s[3] = {{0}, {0}, {0}};
        make_places(p);
        oiio_textures *oiio = oiio_textures_open(bench.path, ALL_MB),
                      *tight = oiio_textures_open(bench.path, QUARTER_MB);
        txm_cache *c[2] = {new_cache(ALL_MB, TXM_CACHE_POLICY_LRU), new_cache(QUARTER_MB, TXM_CACHE_POLICY_LRU)};
        txm_cache *waves = new_cache(QUARTER_MB, TXM_CACHE_POLICY_LRU);
        txm_cache *many = new_cache(QUARTER_MB, TXM_CACHE_POLICY_LRU);
        txm_cache_thread *t[2] = {new_thread(c[0]), new_thread(c[1])}, *m = new_thread(many);
        theirs(oiio, 0, LOOKUPS);
        cached(t[0], 0, LOOKUPS);
        theirs(tight, 0, FEW);
        cached(t[1], 0, FEW);
        for (int r = 0; r < rounds; r++) {
            TIMED(full[0], LOOKUPS, theirs(oiio, 0, LOOKUPS));
            TIMED(full[1], LOOKUPS, cached(t[0], 0, LOOKUPS));
            TIMED(small[0], FEW, theirs(tight, 0, FEW));
            TIMED(small[1], FEW, cached(t[1], 0, FEW));
            TIMED(small[2], PLACES, in_waves(waves, 0, PLACES));
            TIMED(small[3], PLACES, cached_many(m, 0, PLACES, WAVE));
        }
        txm_cache_stats_of(c[1], &s[0]);
        txm_cache_stats_of(waves, &s[1]);
        txm_cache_stats_of(many, &s[2]);
        full[2] = full[3] = full[1];
        static const char *const who[] = {"OpenImageIO", "txmill, each lookup waits", "txmill, waves of 1,048,576",
                                          "txmill, 1,048,576 per blocking call"};
        for (int i = 0; i < 4; i++) {
            printf("| %s: %s | %.2f | %.3f | %.1f |", p->name, who[i], full[i], small[i], full[i] / small[i]);
            if (i)
                printf(" %.1f %% |", 100.0 * (double)s[i - 1].tiles_reloaded / (double)s[i - 1].tiles_loaded);
            else
                printf(" |");
            if (i >= 2)
                printf(" 8 | %s |\n", verdict(full[i] <= 8 * small[i]));
            else
                printf(" | |\n");
        }
        fflush(stdout);
        for (int i = 0; i < 2; i++) {
            txm_cache_thread_free(&t[i]);
            txm_cache_free(&c[i]);
        }
        txm_cache_free(&waves);
        txm_cache_thread_free(&m);
        txm_cache_free(&many);
        oiio_textures_close(oiio);
        oiio_textures_close(tight);
    }
}

/* Long enough that the time between the starts of two threads does not matter. */
enum { PASSES = 8 };

typedef struct worker {
    pthread_t thread;
    txm_cache *cache;
    size_t begin, end;
    pthread_barrier_t *start;
    bench_span span;
} worker;

static void *run_worker(void *arg)
{
    worker *w = arg;
    txm_cache_thread *t = new_thread(w->cache);
    pthread_barrier_wait(w->start);
    w->span.begin = bench_seconds(CLOCK_MONOTONIC);
    for (int i = 0; i < PASSES; i++)
        cached(t, w->begin, w->end);
    w->span.end = bench_seconds(CLOCK_MONOTONIC);
    txm_cache_thread_free(&t);
    return NULL;
}

static double clock_rate(txm_cache *c, int threads, double best)
{
    worker w[2];
    pthread_barrier_t start;
    bench_span all = {0};
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        w[i] = (worker){.cache = c,
                        .begin = (size_t)LOOKUPS / 2 * (size_t)i,
                        .end = (size_t)LOOKUPS / 2 * (size_t)(i + 1),
                        .start = &start};
        if (pthread_create(&w[i].thread, NULL, run_worker, &w[i]))
            die("no thread");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(w[i].thread, NULL);
        bench_span_add(&all, w[i].span);
    }
    double r = (double)threads * PASSES * (LOOKUPS / 2) / (all.end - all.begin) / 1e6;
    pthread_barrier_destroy(&start);
    return r > best ? r : best;
}

static void two_threads(int rounds)
{
    txm_cache *c = new_cache(ALL_MB, TXM_CACHE_POLICY_LRU);
    txm_cache_stats s;
    if (txm_cache_preload(c, 0, NULL, NULL))
        die("preloading failed");
    printf("\n| warm, millions a second by the clock | one thread | two | ratio | goal | locks taken | |\n"
           "|---|---|---|---|---|---|---|\n");
    for (int n = 0; n < PATTERNS; n++) {
        double one = 0, two = 0;
        make_places(&patterns[n]);
        for (int r = 0; r < rounds; r++) {
            one = clock_rate(c, 1, one);
            two = clock_rate(c, 2, two);
        }
        txm_cache_stats_of(c, &s);
        printf("| %s | %.2f | %.2f | %.2f | 1.9 | %llu | %s |\n", patterns[n].name, one, two, two / one,
               (unsigned long long)s.locks, verdict(two >= 1.9 * one));
        fflush(stdout);
    }
    txm_cache_free(&c);
}

static void memory(void)
{
    enum { TEXTURES = 64000 };
    txm_cache *c = new_cache(0, TXM_CACHE_POLICY_LRU);
    txm_cache_stats s;
    uint32_t id;
    double begin = bench_seconds(CLOCK_MONOTONIC);
    for (int i = 1; i < TEXTURES; i++)
        if (txm_cache_add(c, bench.path, TXM_EXTENSION_REPEAT, &id, NULL))
            die("registering failed");
    double took = bench_seconds(CLOCK_MONOTONIC) - begin;
    txm_cache_stats_of(c, &s);
    printf("\n| 64,000 textures registered | %.2f s | %.1f MB | %s |\n|---|---|---|---|\n", took,
           (double)s.allocated_bytes_peak / 1048576, verdict(took < 1 && s.allocated_bytes_peak < 64 << 20));
    txm_cache_free(&c);
    c = new_cache(0, TXM_CACHE_POLICY_LRU);
    if (txm_cache_preload(c, 0, NULL, NULL))
        die("preloading failed");
    txm_cache_stats_of(c, &s);
    double share = 100.0 * (double)s.overhead_bytes / (double)s.virtual_bytes;
    printf("| overhead of one texture, all of it in memory | %.3f %% of its tiles | %.1f kB | %s |\n", share,
           (double)s.overhead_bytes / 1024, verdict(share <= 0.2));
    txm_cache_free(&c);
}

int main(int argc, char **argv)
{
    int rounds = 9, option;
    txm_error err = {0};
    while ((option = getopt(argc, argv, "n:")) != -1) {
        if (option != 'n')
            return 2;
        rounds = atoi(optarg);
    }
    if (optind + 1 != argc || rounds < 1)
        die("bench_cache [-n ROUNDS] TX");
    bench.path = argv[optind];
    if (txm_texture_set_new(&bench.set, &err) ||
        txm_texture_set_add(bench.set, bench.path, TXM_EXTENSION_REPEAT, &bench.whole, &err) ||
        txm_texture_set_load_all(bench.set, bench.whole, &err))
        die(err.message);
    bench.width = txm_texture_set_view(bench.set)->textures[bench.whole].width;
    bench.height = txm_texture_set_view(bench.set)->textures[bench.whole].height;
    for (int i = 0; i < 6; i++)
        if (!(bench.in[i] = malloc(PLACES * sizeof(float))))
            die("no memory");
    warm(rounds);
    cold(rounds);
    quarter(rounds < 3 ? rounds : 3);
    two_threads(rounds);
    memory();
    txm_texture_set_free(&bench.set);
    for (int i = 0; i < 6; i++)
        free(bench.in[i]);
    return sink == 12345.678f; /* never true */
}
