/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares texture lookups with OpenImageIO's TextureSystem, on the same file, with all tiles in memory.
 *     bench_lookup [-n ROUNDS] [-j THREADS] [-p PATTERN] TX
 * prints tables (-p: of the patterns with that text in their names): lookups per CPU second of one thread, rounds of
 * both in turn, the best of each; nanoseconds of a lookup by its stages; with -j lookups a second by the clock.
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
#include "txtile/sampler.h"

enum { LOOKUPS = 1 << 19, BATCH = 16, MAX_THREADS = 64 }; /* number of places of a pattern, the same for both */

typedef enum spread { COHERENT, RANDOM } spread;
typedef enum call { ONE_BY_ONE, BATCHES } call;

/* A pattern of lookups and how each side does them; level < 0 means level 0 to 8 at random. */
typedef struct pattern {
    const char *name;
    spread where;
    float level, elongation;
    txm_level_rule rule;
    txm_level_mode mode;
    int oiio_mode;
    call call;
    double goal; /* multiple of OpenImageIO's rate; 0: none */
} pattern;

static const pattern patterns[] = {
    {"coherent, trilinear, level 0", COHERENT, 0, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR, OIIO_TRILINEAR, 0,
     3},
    {"coherent, trilinear, level 1.5", COHERENT, 1.5f, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR,
     OIIO_TRILINEAR, 0, 3},
    {"coherent, trilinear, level 2", COHERENT, 2, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR, OIIO_TRILINEAR, 0,
     3},
    {"coherent, one level, stochastic", COHERENT, 1, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_STOCHASTIC,
     OIIO_ONE_LEVEL, 0, 2.8},
    {"coherent, 4:1, probes, level 1", COHERENT, 1, 4, TXM_LEVEL_RULE_PROBES, TXM_LEVEL_MODE_TRILINEAR,
     OIIO_ANISOTROPIC, 0, 4},
    {"random, trilinear, level 0", RANDOM, 0, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR, OIIO_TRILINEAR, 0, 4},
    {"random, trilinear, level 3", RANDOM, 3, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR, OIIO_TRILINEAR, 0, 4},
    {"random, one level, stochastic", RANDOM, 1, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_STOCHASTIC, OIIO_ONE_LEVEL, 0,
     2.8},
    {"random, 4:1, probes, level 1", RANDOM, 1, 4, TXM_LEVEL_RULE_PROBES, TXM_LEVEL_MODE_TRILINEAR, OIIO_ANISOTROPIC, 0,
     4},
    {"random, trilinear, levels 0 to 8", RANDOM, -1, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR, OIIO_TRILINEAR,
     0, 4.5},
    {"batches of 16: coherent, level 0", COHERENT, 0, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR,
     OIIO_TRILINEAR, 1, 6},
    {"batches of 16: coherent, level 1.5", COHERENT, 1.5f, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR,
     OIIO_TRILINEAR, 1, 6},
    {"batches of 16: coherent, stochastic", COHERENT, 1, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_STOCHASTIC,
     OIIO_ONE_LEVEL, 1, 6},
    {"batches of 16: coherent, 4:1, probes", COHERENT, 1, 4, TXM_LEVEL_RULE_PROBES, TXM_LEVEL_MODE_TRILINEAR,
     OIIO_ANISOTROPIC, 1, 0},
    {"batches of 16: random, level 0", RANDOM, 0, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR, OIIO_TRILINEAR, 1,
     0},
    {"batches of 16: random, levels 0 to 8", RANDOM, -1, 1, TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR,
     OIIO_TRILINEAR, 1, 0},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static struct {
    txm_texture_set *set;
    uint32_t id, width, height;
    oiio_textures *oiio;
    float *in[6];     /* LOOKUPS lookups */
    const char *only; /* only patterns whose names contain this text; NULL: all */
} bench;

static int chosen(const pattern *p)
{
    return !bench.only || strstr(p->name, bench.only);
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_lookup: %s\n", what);
    exit(1);
}

/* Coherent lookups are rows of 1024 places in a picture, one pixel of the level apart, as camera rays are. */
static void make_places(const pattern *p)
{
    for (size_t i = 0; i < LOOKUPS; i++) {
        float level = p->level < 0 ? 8 * bench_unit() : p->level, step = exp2f(level), turn = 6.2831853f * bench_unit();
        if (p->where == COHERENT) {
            bench.in[0][i] = 0.03f + ((float)(i % 1024) + 0.3f) * step / (float)bench.width;
            bench.in[1][i] = 0.05f + ((float)(i / 1024 % 1024) + 0.3f) * step / (float)bench.height;
            turn = 0.6f;
        } else {
            bench.in[0][i] = bench_unit();
            bench.in[1][i] = bench_unit();
        }
        if (p->elongation == 1)
            turn = 0;
        bench.in[2][i] = p->elongation * step * cosf(turn) / (float)bench.width;
        bench.in[3][i] = p->elongation * step * sinf(turn) / (float)bench.height;
        bench.in[4][i] = -step * sinf(turn) / (float)bench.width;
        bench.in[5][i] = step * cosf(turn) / (float)bench.height;
    }
}

static txm_sampler sampler_of(const pattern *p)
{
    txm_sampler how;
    txm_sampler_init(&how);
    how.rule = (uint8_t)p->rule;
    how.mode = (uint8_t)p->mode;
    return how;
}

/* Results are added up and kept, so that the compiler cannot remove the work. */
static _Thread_local float sink;

static void ours(const pattern *p, size_t begin, size_t end)
{
    const txm_view *view = txm_texture_set_view(bench.set);
    txm_sampler how = sampler_of(p);
    txm_lookup_state lookup_state = {.random = 4711};
    float out[4][BATCH], sum = 0;
    uint32_t random[BATCH];
    for (int k = 0; k < BATCH; k++)
        random[k] = 4711u * (uint32_t)(k + 1);
    if (p->call == ONE_BY_ONE) {
        const float *u = bench.in[0], *v = bench.in[1], *dudx = bench.in[2], *dvdx = bench.in[3], *dudy = bench.in[4],
                    *dvdy = bench.in[5];
        for (size_t i = begin; i < end; i++) {
            txm_lookup at = {u[i], v[i], dudx[i], dvdx[i], dudy[i], dvdy[i]};
            if (txm_sample(view, bench.id, &how, &at, &lookup_state, out[0]) != TXM_LOOKUP_HIT)
                die("a tile is missing");
            sum += out[0][0];
        }
    } else {
        for (size_t i = begin; i + BATCH <= end; i += BATCH) {
            const txm_lookups batch = {.count = BATCH,
                                       .u = bench.in[0] + i,
                                       .v = bench.in[1] + i,
                                       .dudx = bench.in[2] + i,
                                       .dvdx = bench.in[3] + i,
                                       .dudy = bench.in[4] + i,
                                       .dvdy = bench.in[5] + i,
                                       .random = random,
                                       .out = {out[0], out[1], out[2], out[3]}};
            if (txm_sample_n(view, bench.id, &how, &batch, &lookup_state) != TXM_LOOKUP_HIT)
                die("a tile is missing");
            sum += out[0][0];
        }
    }
    sink += sum;
}

static void theirs(const pattern *p, size_t begin, size_t end)
{
    enum { CHUNK = 4096 };
    static _Thread_local float out[4 * CHUNK];
    for (size_t i = begin; i < end; i += CHUNK) {
        const float *in[6];
        for (int k = 0; k < 6; k++)
            in[k] = bench.in[k] + i;
        if (!oiio_textures_sample(bench.oiio, p->oiio_mode, OIIO_BILINEAR, 16, end - i < CHUNK ? end - i : CHUNK, in,
                                  out))
            die("OpenImageIO failed");
        sink += out[0];
    }
}

/* Compares the means of both sides over the pattern, so that times are of the same work. */
static void check_same(const pattern *p)
{
    enum { N = 20000 };
    static float theirs_out[4 * N];
    const float *in[6] = {bench.in[0], bench.in[1], bench.in[2], bench.in[3], bench.in[4], bench.in[5]};
    double a = 0, b = 0;
    txm_sampler how = sampler_of(p);
    txm_lookup_state lookup_state = {.random = 1};
    if (!oiio_textures_sample(bench.oiio, p->oiio_mode, OIIO_BILINEAR, 16, N, in, theirs_out))
        die("OpenImageIO failed");
    for (int i = 0; i < N; i++) {
        txm_lookup at = {in[0][i], in[1][i], in[2][i], in[3][i], in[4][i], in[5][i]};
        float out[4];
        txm_sample(txm_texture_set_view(bench.set), bench.id, &how, &at, &lookup_state, out);
        a += (double)out[0] / N;
        b += (double)theirs_out[4 * i] / N;
    }
    if (fabs(a - b) > 0.01)
        fprintf(stderr, "bench_lookup: %s: the means are %g and %g\n", p->name, a, b);
}

/* ---- by CPU time ---- */

static double best_rate(void (*work)(const pattern *, size_t, size_t), const pattern *p, size_t count, double best)
{
    double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    work(p, 0, count);
    double rate = (double)count / (bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / 1e6;
    return rate > best ? rate : best;
}

static void by_cpu_time(int rounds)
{
    printf("| lookups a CPU second, millions, one thread | OpenImageIO | txmill | ratio | goal | |\n"
           "|---|---|---|---|---|---|\n");
    for (int n = 0; n < PATTERNS; n++) {
        const pattern *p = &patterns[n];
        double a = 0, b = 0;
        if (!chosen(p))
            continue;
        make_places(p);
        check_same(p);
        ours(p, 0, LOOKUPS);
        theirs(p, 0, LOOKUPS);
        for (int r = 0; r < rounds; r++) {
            a = best_rate(theirs, p, LOOKUPS, a);
            b = best_rate(ours, p, LOOKUPS, b);
        }
        printf("| %s | %.2f | %.2f | %.1f |", p->name, a, b, b / a);
        if (p->goal > 0)
            printf(" %g | %s |\n", p->goal, b / a >= p->goal ? "reached" : "missed");
        else
            printf(" | |\n");
        fflush(stdout);
    }
}

/* ---- by the clock, on several threads ---- */

typedef struct worker {
    pthread_t thread;
    const pattern *pattern;
    void (*work)(const pattern *, size_t, size_t);
    size_t begin, end;
    pthread_barrier_t *start;
    bench_span span;
} worker;

static void *run_worker(void *arg)
{
    worker *w = arg;
    w->work(w->pattern, w->begin, w->begin + 1024); /* warm-up: creates what a thread needs at its first lookup */
    pthread_barrier_wait(w->start);
    w->span.begin = bench_seconds(CLOCK_MONOTONIC);
    w->work(w->pattern, w->begin, w->end);
    w->span.end = bench_seconds(CLOCK_MONOTONIC);
    return NULL;
}

static double clock_rate(void (*work)(const pattern *, size_t, size_t), const pattern *p, size_t count, int threads,
                         double best)
{
    worker w[MAX_THREADS];
    pthread_barrier_t start;
    bench_span all = {0};
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) {
        w[i] = (worker){.pattern = p,
                        .work = work,
                        .begin = count / (size_t)threads * (size_t)i,
                        .end = count / (size_t)threads * (size_t)(i + 1),
                        .start = &start};
        if (pthread_create(&w[i].thread, NULL, run_worker, &w[i]))
            die("no thread");
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(w[i].thread, NULL);
        bench_span_add(&all, w[i].span);
    }
    double rate = (double)count / (all.end - all.begin) / 1e6;
    pthread_barrier_destroy(&start);
    return rate > best ? rate : best;
}

static void by_the_clock(int rounds, int threads)
{
    printf("\n| lookups a second by the clock, millions, %d threads | OpenImageIO | txmill | ratio | goal | |\n"
           "|---|---|---|---|---|---|\n",
           threads);
    for (int n = 0; n < PATTERNS; n++) {
        const pattern *p = &patterns[n];
        if (p->call == BATCHES || p->elongation != 1 || !chosen(p))
            continue;
        double a = 0, b = 0, goal = p->where == COHERENT ? 4.5 : 5;
        make_places(p);
        for (int r = 0; r < rounds; r++) {
            a = clock_rate(theirs, p, LOOKUPS, threads, a);
            b = clock_rate(ours, p, LOOKUPS, threads, b);
        }
        printf("| %s | %.2f | %.2f | %.1f | %g | %s |\n", p->name, a, b, b / a, goal,
               b / a >= goal ? "reached" : "missed");
        fflush(stdout);
    }
}

/* ---- stages ---- */

static double nanoseconds(int rounds, const pattern *p, uint32_t filter, txm_level_mode mode, txm_level_rule rule,
                          uint32_t after, call how_called)
{
    double best = 1e9;
    const txm_view *view = txm_texture_set_view(bench.set);
    for (int r = 0; r < rounds; r++) {
        txm_sampler how = sampler_of(p);
        how.filter = (uint8_t)filter;
        how.mode = (uint8_t)mode;
        how.rule = (uint8_t)rule;
        how.after = (uint8_t)after;
        txm_lookup_state lookup_state = {.random = 4711};
        float out[4][BATCH], sum = 0;
        double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        for (size_t i = 0; how_called == ONE_BY_ONE && i < LOOKUPS; i++) {
            txm_lookup at = {bench.in[0][i], bench.in[1][i], bench.in[2][i],
                             bench.in[3][i], bench.in[4][i], bench.in[5][i]};
            txm_sample(view, bench.id, &how, &at, &lookup_state, out[0]);
            sum += out[0][0];
        }
        for (size_t i = 0; how_called == BATCHES && i < LOOKUPS; i += BATCH) {
            const txm_lookups batch = {.count = BATCH,
                                       .u = bench.in[0] + i,
                                       .v = bench.in[1] + i,
                                       .dudx = bench.in[2] + i,
                                       .dvdx = bench.in[3] + i,
                                       .dudy = bench.in[4] + i,
                                       .dvdy = bench.in[5] + i,
                                       .out = {out[0], out[1], out[2], out[3]}};
            txm_sample_n(view, bench.id, &how, &batch, &lookup_state);
            sum += out[0][0];
        }
        double ns = (bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start) * 1e9 / LOOKUPS;
        best = ns < best ? ns : best;
        sink += sum;
    }
    return best;
}

static void by_stage(int rounds)
{
    static const struct {
        const char *name;
        uint32_t filter;
        txm_level_mode mode;
        txm_level_rule rule;
        uint32_t after;
    } stages[] = {
        {"closest, Cycles' level", TXM_FILTER_CLOSEST, TXM_LEVEL_MODE_FLOOR, TXM_LEVEL_RULE_CYCLES, 0},
        {"closest, ellipse", TXM_FILTER_CLOSEST, TXM_LEVEL_MODE_FLOOR, TXM_LEVEL_RULE_ELLIPSE, 0},
        {"linear, one level", TXM_FILTER_LINEAR, TXM_LEVEL_MODE_FLOOR, TXM_LEVEL_RULE_CYCLES, 0},
        {"linear, two levels", TXM_FILTER_LINEAR, TXM_LEVEL_MODE_TRILINEAR, TXM_LEVEL_RULE_CYCLES, 0},
        {"linear, two levels, sRGB", TXM_FILTER_LINEAR, TXM_LEVEL_MODE_TRILINEAR, TXM_LEVEL_RULE_CYCLES,
         TXM_AFTER_SRGB},
        {"cubic, one level", TXM_FILTER_CUBIC, TXM_LEVEL_MODE_FLOOR, TXM_LEVEL_RULE_CYCLES, 0},
        {"cubic, two levels", TXM_FILTER_CUBIC, TXM_LEVEL_MODE_TRILINEAR, TXM_LEVEL_RULE_CYCLES, 0},
        {"stochastic Gaussian", TXM_FILTER_STOCHASTIC_GAUSSIAN, TXM_LEVEL_MODE_FLOOR, TXM_LEVEL_RULE_CYCLES, 0},
        {"stochastic Mitchell", TXM_FILTER_STOCHASTIC_MITCHELL, TXM_LEVEL_MODE_FLOOR, TXM_LEVEL_RULE_CYCLES, 0}};
    printf("\n| ns of CPU a lookup, coherent, level 1.5 | one by one | batches of 16 |\n|---|---|---|\n");
    make_places(&patterns[1]);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        printf("| %s | %.1f | %.1f |\n", stages[i].name,
               nanoseconds(rounds, &patterns[1], stages[i].filter, stages[i].mode, stages[i].rule, stages[i].after,
                           ONE_BY_ONE),
               nanoseconds(rounds, &patterns[1], stages[i].filter, stages[i].mode, stages[i].rule, stages[i].after,
                           BATCHES));
}

int main(int argc, char **argv)
{
    int rounds = 5, threads = 0, c;
    txm_error err = {0};
    while ((c = getopt(argc, argv, "n:j:p:")) != -1) {
        if (c == 'n')
            rounds = atoi(optarg);
        else if (c == 'j')
            threads = atoi(optarg);
        else if (c == 'p')
            bench.only = optarg;
        else
            return 2;
    }
    if (optind + 1 != argc || rounds < 1 || threads < 0 || threads > MAX_THREADS)
        die("bench_lookup [-n ROUNDS] [-j THREADS] [-p PATTERN] TX");
    if (txm_texture_set_new(&bench.set, &err) ||
        txm_texture_set_add(bench.set, argv[optind], TXM_EXTENSION_REPEAT, &bench.id, &err) ||
        txm_texture_set_load_all(bench.set, bench.id, &err))
        die(err.message);
    bench.width = txm_texture_set_view(bench.set)->textures[bench.id].width;
    bench.height = txm_texture_set_view(bench.set)->textures[bench.id].height;
    bench.oiio = oiio_textures_open(argv[optind], 1024);
    if (!bench.oiio)
        die("OpenImageIO cannot open the file");
    for (int i = 0; i < 6; i++)
        if (!(bench.in[i] = malloc(LOOKUPS * sizeof(float))))
            die("no memory");
    if (threads)
        by_the_clock(rounds, threads);
    else {
        by_cpu_time(rounds);
        by_stage(rounds);
    }
    oiio_textures_close(bench.oiio);
    txm_texture_set_free(&bench.set);
    for (int i = 0; i < 6; i++)
        free(bench.in[i]);
    return sink == 12345.678f; /* never true */
}
