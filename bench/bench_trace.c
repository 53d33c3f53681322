/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays a renderer's lookups from a trace (txmill-trace(5)) through the texture cache and through OpenImageIO's
 * TextureSystem: many textures, incoherent bounces, one lookup at a time.
 *     bench_trace [-n ROUNDS] [-p PATTERN] [-o] TRACE
 * prints a table (-p: of the rows with that text in their names; -o: without OpenImageIO): nanoseconds of CPU that a
 * lookup takes, each thread of the trace on a thread of its own, rounds of both in turn, the best of each. All tiles
 * are in memory.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lookup_util.h"
#include "oiio_lookup.h"
#include "txtile/cache.h"
#include "txtile/trace.h"

enum { MAX_THREADS = 64, CACHE_MB = 16384 };

typedef struct place {
    uint32_t texture, random;
    txm_lookup at;
} place;

typedef struct row {
    const char *name;
    txm_level_rule rule;
    txm_level_mode mode;
    uint8_t anisotropy;
    int oiio_mode;
    double goal; /* multiple of OpenImageIO's time; 0: none */
} row;

static const row rows[] = {
    {"trilinear", TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_TRILINEAR, 1, OIIO_TRILINEAR, 3},
    {"one level, stochastic", TXM_LEVEL_RULE_CYCLES, TXM_LEVEL_MODE_STOCHASTIC, 1, OIIO_ONE_LEVEL, 3},
    {"16:1, probes", TXM_LEVEL_RULE_PROBES, TXM_LEVEL_MODE_TRILINEAR, 16, OIIO_ANISOTROPIC, 0},
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct {
    struct {
        place *places;
        size_t count, capacity;
    } threads[MAX_THREADS];
    unsigned thread_count;
    size_t lookups;
    txm_cache *cache;
    oiio_textures *oiio; /* NULL: left out */
    const char *only;
} bench;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_trace: %s\n", what);
    exit(1);
}

/* ---- the trace ---- */

static void keep(const txm_trace_event *e)
{
    unsigned i = e->thread - 1;
    if (i >= MAX_THREADS)
        die("the trace is not of threads, or of too many");
    bench.thread_count = i >= bench.thread_count ? i + 1 : bench.thread_count;
    if (bench.threads[i].count == bench.threads[i].capacity) {
        bench.threads[i].capacity = 2 * bench.threads[i].capacity + 65536;
        bench.threads[i].places = realloc(bench.threads[i].places, bench.threads[i].capacity * sizeof(place));
        if (!bench.threads[i].places)
            die("no memory");
    }
    bench.threads[i].places[bench.threads[i].count++] = (place){e->texture, e->random, e->at};
    bench.lookups++;
}

static void read_trace(const char *path)
{
    txm_error err;
    txm_trace *trace;
    txm_trace_cursor *cursor;
    txm_trace_event e = {.kind = TXM_TRACE_EVENT_EPOCH};
    txm_cache_options o;
    txm_cache_options_init(&o);
    o.max_bytes = (uint64_t)CACHE_MB << 20;
    if (txm_trace_open(path, &trace, &err) || txm_cache_new(&o, &bench.cache, &err))
        die(err.message);
    const txm_trace_texture *t;
    for (uint32_t i = 0, id; (t = txm_trace_texture_at(trace, i)); i++) {
        if (txm_cache_add(bench.cache, t->path, t->extension, &id, &err))
            die(err.message);
        if (bench.oiio && oiio_textures_add(bench.oiio, t->path) < 0)
            die("OpenImageIO cannot open a texture");
    }
    if (txm_trace_cursor_new(trace, &cursor, &err))
        die(err.message);
    while (e.kind != TXM_TRACE_EVENT_END) {
        if (txm_trace_next(cursor, &e, &err))
            die(err.message);
        if (e.kind == TXM_TRACE_EVENT_LOOKUP)
            keep(&e);
    }
    txm_trace_cursor_free(&cursor);
    txm_trace_free(&trace);
    if (!bench.lookups)
        die("the trace has no lookups: it was written without --trace-lookups");
}

/* ---- lookups ---- */

/* Results are added up and kept, so that the compiler cannot remove the work. */
static _Thread_local float sink;

static void ours(const row *r, const place *p, size_t count)
{
    txm_cache_thread *thread;
    txm_sampler how;
    if (txm_cache_thread_new(bench.cache, &thread, NULL))
        die("no memory");
    txm_sampler_init(&how);
    how.rule = (uint8_t)r->rule;
    how.mode = (uint8_t)r->mode;
    how.anisotropy = r->anisotropy;
    for (size_t i = 0; i < count; i++) {
        float out[4];
        uint32_t random = p[i].random | 1;
        if (txm_cache_sample(thread, p[i].texture, &how, &p[i].at, &random, out) != TXM_LOOKUP_HIT)
            die("a lookup failed");
        sink += out[0];
    }
    txm_cache_thread_free(&thread);
}

static void theirs(const row *r, const place *p, size_t count)
{
    oiio_caller *caller = oiio_caller_new(bench.oiio, r->oiio_mode, OIIO_BILINEAR, r->anisotropy);
    for (size_t i = 0; i < count; i++) {
        float out[4], at[6];
        memcpy(at, &p[i].at, sizeof at);
        if (!oiio_caller_sample(caller, p[i].texture, at, out))
            die("OpenImageIO failed");
        sink += out[0];
    }
    oiio_caller_free(caller);
}

/* ---- rounds ---- */

typedef void (*work)(const row *, const place *, size_t);

typedef struct worker {
    pthread_t thread;
    const row *row;
    work work;
    const place *places;
    size_t count;
    double seconds, sum;
} worker;

static void *run_worker(void *arg)
{
    worker *w = arg;
    double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    sink = 0;
    w->work(w->row, w->places, w->count);
    w->seconds = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    w->sum = (double)sink;
    return NULL;
}

/* The smaller of `best` and the time of a lookup now, in nanoseconds. */
static double nanoseconds(work how, const row *r, double best)
{
    worker w[MAX_THREADS];
    double seconds = 0;
    for (unsigned i = 0; i < bench.thread_count; i++) {
        w[i] = (worker){.row = r, .work = how, .places = bench.threads[i].places, .count = bench.threads[i].count};
        if (pthread_create(&w[i].thread, NULL, run_worker, &w[i]))
            die("no thread");
    }
    for (unsigned i = 0; i < bench.thread_count; i++) {
        pthread_join(w[i].thread, NULL);
        seconds += w[i].seconds;
    }
    seconds *= 1e9 / (double)bench.lookups;
    return seconds < best ? seconds : best;
}

/* The first pass of each does not count, because it loads the tiles. */
static void measure(const row *r, int rounds)
{
    double a = 1e9, b = 1e9;
    nanoseconds(ours, r, 0);
    if (bench.oiio)
        nanoseconds(theirs, r, 0);
    for (int i = 0; i < rounds; i++) {
        if (bench.oiio)
            a = nanoseconds(theirs, r, a);
        b = nanoseconds(ours, r, b);
    }
    if (!bench.oiio) {
        printf("| %s | | %.1f | | | |\n", r->name, b);
        return;
    }
    double ratio = a / b;
    printf("| %s | %.1f | %.1f | %.1f |", r->name, a, b, ratio);
    if (r->goal > 0)
        printf(" %g | %s |\n", r->goal, ratio >= r->goal ? "reached" : "missed");
    else
        printf(" | |\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int rounds = 5, c;
    bool beside = true;
    while ((c = getopt(argc, argv, "n:p:o")) != -1) {
        if (c == 'n')
            rounds = atoi(optarg);
        else if (c == 'p')
            bench.only = optarg;
        else if (c == 'o')
            beside = false;
        else
            return 2;
    }
    if (optind + 1 != argc || rounds < 1)
        die("bench_trace [-n ROUNDS] [-p PATTERN] [-o] TRACE");
    if (beside && !(bench.oiio = oiio_textures_new(CACHE_MB)))
        die("no OpenImageIO");
    read_trace(argv[optind]);
    printf("| ns of CPU a lookup, %zu lookups, %u threads | OpenImageIO | txmill | ratio | goal | "
           "|\n|---|---|---|---|---|---|\n",
           bench.lookups, bench.thread_count);
    for (int i = 0; i < ROWS; i++)
        if (!bench.only || strstr(rows[i].name, bench.only))
            measure(&rows[i], rounds);
    oiio_textures_close(bench.oiio);
    txm_cache_free(&bench.cache);
    for (unsigned i = 0; i < bench.thread_count; i++)
        free(bench.threads[i].places);
    return 0;
}
