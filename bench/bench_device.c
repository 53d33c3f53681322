/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares lookups on devices with those of the processor, and counts the bytes that are copied for them.
 *     bench_device [-n ROUNDS] TX [DEVICE...]
 * prints two tables for each device (by default the first one of each back-end). Time: one thread's scalar code, its
 * vector code and the device look up the same places, in turn, with all tiles in memory. The table has the shortest
 * time of the rounds, for the processor (all threads, because an OpenCL driver may run on the processor) and for the
 * device. Traffic: starts with a new cache and a new view, until every lookup has its colour.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lookup_util.h"
#include "tile/device/device_plugin.h"
#include "tile/ops/ops.h"
#include "tile/sample/sample_ops.h"
#include "txtile/device.h"

enum { LOOKUPS = 1 << 18, BATCH = 16 };

typedef struct pattern {
    const char *name;
    bool coherent;
    float elongation;
    txm_level_rule rule;
} pattern;

static const pattern patterns[] = {
    {"coherent, trilinear, level 1.5", true, 1.0f, TXM_LEVEL_RULE_CYCLES},
    {"random, trilinear, levels 0 to 8", false, 1.0f, TXM_LEVEL_RULE_CYCLES},
    {"random, 4:1, probes, levels 0 to 8", false, 4.0f, TXM_LEVEL_RULE_PROBES},
};
enum { PATTERNS = sizeof patterns / sizeof *patterns };

static struct {
    const char *tx;
    txm_texture_set *set;
    uint32_t id, width, height;
    const txm_sample_ops *scalar, *vector;
    txm_lookup at[LOOKUPS];
    float u[LOOKUPS], v[LOOKUPS], d[4][LOOKUPS];
    float out[LOOKUPS][4];
    uint8_t result[LOOKUPS];
    txm_sampler how;
    float sum; /* keeps compilers from removing the work */
} bench;

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench_device: %s\n", what);
    exit(1);
}

static void make_places(const pattern *p)
{
    txm_sampler_init(&bench.how);
    bench.how.mode = TXM_LEVEL_MODE_TRILINEAR;
    bench.how.rule = (uint8_t)p->rule;
    for (size_t i = 0; i < LOOKUPS; i++) {
        const float step = exp2f(p->coherent ? 1.5f : 8.0f * bench_unit());
        const float turn = p->elongation == 1.0f ? 0.0f : 6.2831853f * bench_unit();
        const float w = step / (float)bench.width, h = step / (float)bench.height;
        bench.at[i] =
            (txm_lookup){bench_unit(),    bench_unit(),  p->elongation * w * cosf(turn), p->elongation * h * sinf(turn),
                         -w * sinf(turn), h * cosf(turn)};
        if (p->coherent) {
            bench.at[i].u = 0.03f + ((float)(i % 512) + 0.3f) * w;
            bench.at[i].v = 0.05f + ((float)(i / 512) + 0.3f) * h;
        }
        const txm_lookup *at = &bench.at[i];
        const float d[4] = {at->dudx, at->dvdx, at->dudy, at->dvdy};
        bench.u[i] = at->u;
        bench.v[i] = at->v;
        for (int k = 0; k < 4; k++)
            bench.d[k][i] = d[k];
    }
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static void look_one_by_one(const txm_sample_ops *ops)
{
    txm_lookup_state lookup_state = {0};
    float out[4];
    for (size_t i = 0; i < LOOKUPS; i++) {
        ops->sample(txm_texture_set_view(bench.set), bench.id, &bench.how, &bench.at[i], &lookup_state, out);
        bench.sum += out[0];
    }
}

static void look_in_batches(const txm_sample_ops *ops)
{
    txm_lookup_state lookup_state = {0};
    float out[4][BATCH];
    for (size_t i = 0; i < LOOKUPS; i += BATCH) {
        const txm_lookups batch = {.count = BATCH,
                                   .u = bench.u + i,
                                   .v = bench.v + i,
                                   .dudx = bench.d[0] + i,
                                   .dvdx = bench.d[1] + i,
                                   .dudy = bench.d[2] + i,
                                   .dvdy = bench.d[3] + i,
                                   .out = {out[0], out[1], out[2], out[3]}};
        ops->sample_n(txm_texture_set_view(bench.set), bench.id, &bench.how, &batch, &lookup_state);
        bench.sum += out[0][0];
    }
}

static void look_on_device(txm_device *device, uint32_t texture)
{
    const txm_device_batch batch = {.count = LOOKUPS,
                                    .samplers = &bench.how,
                                    .sampler_count = 1,
                                    .one_texture = texture,
                                    .at = bench.at,
                                    .out = bench.out,
                                    .result = bench.result};
    txm_error err;
    if (txm_device_sample(&device, 1, &batch, &err))
        die(err.message);
}

/* Both sides must compute the same; otherwise the comparison is meaningless. */
static void check_same(void)
{
    txm_lookup_state lookup_state = {0};
    float out[4];
    for (size_t i = 0; i < LOOKUPS; i++) {
        bench.scalar->sample(txm_texture_set_view(bench.set), bench.id, &bench.how, &bench.at[i], &lookup_state, out);
        if (memcmp(out, bench.out[i], sizeof out) != 0)
            die("the device's bits are not the processor's");
    }
}

static void keep_least(double *least, double seconds)
{
    const double ns = seconds * 1e9 / LOOKUPS;
    *least = *least == 0.0 || ns < *least ? ns : *least;
}

static double cpu_seconds(void)
{
    return bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void time_pattern(const pattern *p, txm_device *device, uint32_t texture, int rounds)
{
    double scalar = 0, one = 0, batches = 0, cpu = 0, clock = 0, kernel = 0;
    make_places(p);
    look_on_device(device, texture);
    check_same();
    for (int r = 0; r < rounds; r++) {
        txm_device_stats before, after;
        double begin = cpu_seconds();
        look_one_by_one(bench.scalar);
        keep_least(&scalar, cpu_seconds() - begin);
        begin = cpu_seconds();
        look_one_by_one(bench.vector);
        keep_least(&one, cpu_seconds() - begin);
        begin = cpu_seconds();
        look_in_batches(bench.vector);
        keep_least(&batches, cpu_seconds() - begin);
        txm_device_stats_of(device, &before);
        begin = cpu_seconds();
        const double at = bench_seconds(CLOCK_MONOTONIC);
        look_on_device(device, texture);
        keep_least(&clock, bench_seconds(CLOCK_MONOTONIC) - at);
        keep_least(&cpu, cpu_seconds() - begin);
        txm_device_stats_of(device, &after);
        keep_least(&kernel, after.kernel_seconds - before.kernel_seconds);
    }
    printf("| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f |\n", p->name, scalar, one, batches, cpu, clock,
           kernel, cpu / scalar);
    fflush(stdout);
}

/* ---- traffic ----------------------------------------------------------------------------------------------------- */

static txm_cache *new_cache(uint32_t *texture)
{
    txm_cache *cache = NULL;
    txm_cache_options o;
    txm_error err;
    txm_cache_options_init(&o);
    o.max_bytes = 1 << 30;
    if (txm_cache_new(&o, &cache, &err) || txm_cache_add(cache, bench.tx, TXM_EXTENSION_REPEAT, texture, &err))
        die(err.message);
    return cache;
}

static const char *goal(bool reached)
{
    return reached ? "" : " (goal missed)";
}

static void count_traffic(const pattern *p, const char *name)
{
    uint32_t texture;
    txm_cache *cache = new_cache(&texture);
    txm_device *device = NULL;
    txm_device_options how;
    txm_device_stats s;
    txm_error err;
    txm_device_options_init(&how);
    how.max_lookups = LOOKUPS / 4;
    if (txm_device_open(cache, name, &how, &device, &err))
        die(err.message);
    make_places(p);
    look_on_device(device, texture);
    check_same();
    txm_device_stats_of(device, &s);
    const double n = (double)s.launches, tiles = (double)s.tiles_copied, all = s.copy_seconds + s.kernel_seconds;
    const double more = (double)s.tile_bytes / (double)s.copied_pixels;
    printf("| %s | %.0f | %u | %.2f%s | %.2f%s | %.2f%s | %.1f | %.1f | %.0f | %.3f%s | %.1f %% |\n", p->name, n,
           s.longest, (double)s.table_copies / n, goal(s.table_copies <= s.launches), (double)s.tile_copies / n,
           goal(s.tile_copies <= s.launches), (double)s.syncs / n, goal(s.syncs == s.launches),
           (double)(s.table_bytes + s.tile_bytes) / n / 1024.0, (double)(s.lookup_bytes + s.result_bytes) / n / 1024.0,
           (double)(s.table_bytes + s.tile_bytes) / tiles, more, goal(more <= 1.1), 100.0 * s.copy_seconds / all);
    txm_device_close(&device);
    txm_cache_free(&cache);
}

/* ---- devices ----------------------------------------------------------------------------------------------------- */

static void bench_device(const char *name, int rounds)
{
    uint32_t texture;
    txm_cache *cache = new_cache(&texture);
    txm_device *device = NULL;
    txm_error err;
    if (txm_device_open(cache, name, NULL, &device, &err)) {
        printf("skip %s (%s)\n", name, err.message);
        txm_cache_free(&cache);
        return;
    }
    printf(
        "\n%s, %s: ns a lookup, launches of %d\n\n"
        "| | scalar | %s | %s, batches of %d | device: processor | device: clock | of it kernel | device / scalar |\n"
        "|---|---|---|---|---|---|---|---|\n",
        name, txm_device_title(device), LOOKUPS, bench.vector->isa, bench.vector->isa, BATCH);
    for (int i = 0; i < PATTERNS; i++)
        time_pattern(&patterns[i], device, texture, rounds);
    txm_device_close(&device);
    txm_cache_free(&cache);
    printf("\n%d lookups with nothing loaded, launches of %d\n\n"
           "| | launches | until complete | table copies a launch | tile copies a launch | waits a launch | KB of "
           "table and "
           "tiles a launch | KB of lookups and results a launch | bytes a missed tile | of tiles' own bytes | time in "
           "copies |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|\n",
           LOOKUPS, LOOKUPS / 4);
    for (int i = 0; i < PATTERNS; i++)
        count_traffic(&patterns[i], name);
}

int main(int argc, char **argv)
{
    int rounds = 10, c;
    txm_error err = {0};
    while ((c = getopt(argc, argv, "n:")) != -1)
        if (c != 'n' || (rounds = atoi(optarg)) < 1)
            die("usage: bench_device [-n ROUNDS] TX [DEVICE...]");
    if (optind == argc)
        die("usage: bench_device [-n ROUNDS] TX [DEVICE...]");
    bench.tx = argv[optind];
    bench.scalar = txm_sample_ops_isa("scalar");
    bench.vector = txm_sample_ops_isa(txm_ops_best()->isa);
    if (!bench.scalar || !bench.vector || txm_texture_set_new(&bench.set, &err) ||
        txm_texture_set_add(bench.set, bench.tx, TXM_EXTENSION_REPEAT, &bench.id, &err) ||
        txm_texture_set_load_all(bench.set, bench.id, &err))
        die(err.message);
    bench.width = txm_texture_set_view(bench.set)->textures[bench.id].width;
    bench.height = txm_texture_set_view(bench.set)->textures[bench.id].height;
    for (int i = optind + 1; i < argc; i++)
        bench_device(argv[i], rounds);
    const txm_device_backend_row *row;
    for (size_t i = 0; optind + 1 == argc && (row = txm_device_backend_at(i)); i++)
        bench_device(row->name, rounds);
    txm_texture_set_free(&bench.set);
    return bench.sum == bench.sum ? 0 : 1;
}
