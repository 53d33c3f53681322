/* SPDX-License-Identifier: Apache-2.0
 *
 * The texture cache and memory: budgets hold at every instant, for everything that the process allocates for the cache;
 * allocations fail; calls with many lookups share what they load; hits take no lock and still see changes.
 */
#include <fcntl.h>
#include <malloc.h>
#include <openexr.h>
#include <pthread.h>
#include <sys/resource.h>

#include "txtile/trace.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

/* ---- budgets ---- */

TEST(budgets_are_kept_at_every_instant)
{
    enum { THREADS = 4 };
    static const uint64_t budgets[] = {1 << 20, 4 << 20};
    char *paths[] = {write_cached("a.tx", 1024, 1024, 4, TXM_TYPE_U8, MADE_NOISE, 1),
                     write_cached("b.tx", 1024, 512, 1, TXM_TYPE_U8, MADE_NOISE, 2),
                     write_cached("c.tx", 512, 1024, 4, TXM_TYPE_HALF, MADE_NOISE, 3),
                     write_cached("d.tx", 20, 30, 4, TXM_TYPE_FLOAT, MADE_NOISE, 4)};
    for (uint32_t k = 0, policy; k < BOUNDED_POLICIES && (policy = bounded_policy(k), true); k++)
        for (int b = 0; b < 2; b++) {
            counted memory = {0};
            txm_cache_options o = budget_options(budgets[b], policy);
            o.allocator = count_in(&memory);
            txm_cache *c = new_cache(&o);
            uint32_t ids[4];
            walker w[THREADS];
            for (int i = 0; i < 4; i++)
                ids[i] = add_texture(c, paths[i], TXM_EXTENSION_REPEAT);
            for (int i = 0; i < THREADS; i++) {
                w[i] = (walker){.cache = c, .ids = ids, .seed = 77u + (unsigned)i, .count = thorough() ? 250 : 100};
                pthread_create(&w[i].thread, NULL, walk_four, &w[i]);
            }
            for (int i = 0; i < THREADS; i++)
                pthread_join(w[i].thread, NULL);
            txm_cache_stats s = stats_of(c);
            ck_assert_uint_gt(s.tiles_evicted, 0);
            ck_assert_uint_gt(s.tiles_loaded, 200);
            /* A batch adds a slab for each thread that waits. */
            if (memory.most > budgets[b] + THREADS * (512u << 10))
                ck_abort_msg("policy %u: %llu bytes for a budget of %llu", policy, (unsigned long long)memory.most,
                             (unsigned long long)budgets[b]);
            ck_assert_uint_le(s.allocated_bytes, s.allocated_bytes_peak);
            txm_cache_free(&c);
            ck_assert_uint_eq(memory.now, 0);
        }
    for (int i = 0; i < 4; i++)
        free(paths[i]);
}

/* Counts the bytes that the C library has given out, and their maximum since `base`. */
typedef struct heap {
    uint64_t base, most;
} heap;

static uint64_t heap_bytes(void)
{
    const struct mallinfo2 m = mallinfo2(); /* mallinfo2 returns zeros under sanitizers */
    return m.uordblks + m.hblkhd;
}

static void look_at_heap(heap *h)
{
    const uint64_t now = heap_bytes();
    h->most = now > h->base && now - h->base > h->most ? now - h->base : h->most;
}

static void *heap_allocate(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, bytes ? bytes : 1))
        return NULL;
    look_at_heap(user);
    return memory;
}

static void heap_release(void *user, void *memory, size_t bytes)
{
    (void)user, (void)bytes;
    free(memory);
}

/* Measures the whole process, readers of open files included, with many kinds of files. */
TESTS(all_memory_is_in_the_budget, BOUNDED_POLICIES)
{
    enum { MOST_FILES = 120 };
    const int files = thorough() ? MOST_FILES : 30, lookups = thorough() ? 1500 : 375;
    enum { BUDGET = 2 << 20, BATCH = (512 + 256) << 10, LITTLE = 128 << 10 };
    static const struct {
        uint32_t edge, channels;
        txm_type type;
    } kinds[] = {{1024, 4, TXM_TYPE_U8}, {512, 1, TXM_TYPE_U16}, {300, 4, TXM_TYPE_HALF}, {256, 3, TXM_TYPE_U8}};
    uint32_t ids[MOST_FILES];
    char *paths[MOST_FILES];
    for (int i = 0; i < files; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.tx", i);
        paths[i] = write_cached(name, kinds[i % 4].edge, kinds[i % 4].edge, kinds[i % 4].channels, kinds[i % 4].type,
                                MADE_NOISE, (unsigned)i);
    }
    heap h = {.base = heap_bytes()};
    txm_cache_options o = budget_options(BUDGET, bounded_policy((uint32_t)_i));
    o.allocator = (txm_cache_allocator){heap_allocate, heap_release, &h};
    o.threads = 1;
    txm_cache *c = new_cache(&o);
    txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    uint64_t seed = 5;
    for (int i = 0; i < files; i++)
        ids[i] = add_texture(c, paths[i], TXM_EXTENSION_REPEAT);
    for (int i = 0; i < lookups; i++) {
        float out[4];
        const txm_lookup at = at_level(unit(&seed), unit(&seed), 4 * unit(&seed), 1024);
        ck_assert_int_eq(txm_cache_sample(t, ids[sample_random(&seed) % (uint64_t)files], &how, &at, NULL, out),
                         TXM_LOOKUP_HIT);
        look_at_heap(&h);
        const txm_cache_stats s = stats_of(c);
        ck_assert_uint_le(s.allocated_bytes + s.reader_bytes, BUDGET + LITTLE); /* one thread seldom needs a batch */
        ck_assert_uint_ge(s.reader_bytes, s.files_open * 1000);
    }
    const txm_cache_stats s = stats_of(c);
    ck_assert_uint_gt(s.tiles_evicted, (uint64_t)lookups / 3);
    ck_assert_uint_le(s.reader_bytes, BUDGET / 2 + (256 << 10));
    ck_assert_uint_gt(s.files_open, 2);
    if (h.base && h.most > BUDGET + BATCH)
        ck_abort_msg("policy %d: %llu bytes for a budget of %d", _i, (unsigned long long)h.most, BUDGET);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    for (int i = 0; i < files; i++)
        free(paths[i]);
}

/* OpenEXR's library reads these tiles and keeps tables of its own: PIZ takes a megabyte for each thread and file. */
TEST(what_openexr_keeps_is_counted)
{
    enum { FILES = 12, BUDGET = 32 << 20, LITTLE = 256 << 10 };
    made_image m = make_image(256, 256, 4, TXM_TYPE_HALF, 64, (txm_compression){0}, MADE_SMOOTH);
    const heap h = {.base = heap_bytes()};
    txm_cache_options o = budget_options(BUDGET, TXM_CACHE_POLICY_LRU);
    o.threads = 1;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    for (int i = 0; i < FILES; i++) {
        char name[16];
        float out[4];
        snprintf(name, sizeof name, "%d.tx", i);
        const char *path = temp_file(name);
        write_foreign_exr(path, &m, EXR_COMPRESSION_PIZ);
        const txm_lookup at = at_level(0.3f, 0.3f, 0, 256);
        ck_assert_int_eq(txm_cache_sample(t, add_texture(c, path, TXM_EXTENSION_REPEAT), &how, &at, NULL, out),
                         TXM_LOOKUP_HIT);
        const txm_cache_stats s = stats_of(c);
        ck_assert_uint_ge(s.reader_bytes, 600 << 10);
        ck_assert_uint_le(s.reader_bytes, (BUDGET / 16) + (2 << 20)); /* with the newest file's */
        if (h.base && heap_bytes() - h.base > s.allocated_bytes + s.reader_bytes + LITTLE)
            ck_abort_msg("%d files: %llu bytes, of which %llu are counted", i + 1,
                         (unsigned long long)(heap_bytes() - h.base),
                         (unsigned long long)(s.allocated_bytes + s.reader_bytes));
    }
    free_image(&m);
}

/* Tiles are larger than a slab. All threads together hold no more of them than one lookup needs. */
TESTS(large_tiles_keep_the_budget, BOUNDED_POLICIES)
{
    enum { EDGE = 2048, TILE = 256, TILE_BYTES = (TILE + 4) * (TILE + 4) * 8, BUDGET = 1 << 20, COUNT = 200 };
    static float in[6][COUNT], out[4][COUNT];
    counted count = {0};
    txm_cache_options o = budget_options(BUDGET, bounded_policy((uint32_t)_i));
    o.allocator = count_in(&count);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    how.filter = TXM_FILTER_CLOSEST; /* a lookup needs one tile */
    made_image m = make_image(EDGE, EDGE, 4, TXM_TYPE_U16, TILE, (txm_compression){0}, MADE_SMOOTH);
    const char *path = temp_file("large.tx");
    write_foreign_tiff(path, &m, (foreign_tiff){.compression = 1});
    free_image(&m);
    uint64_t seed = 3;
    for (int i = 0; i < COUNT; i++) {
        const txm_lookup at = at_level(unit(&seed), unit(&seed), 0, EDGE);
        const float *p = &at.u;
        for (int k = 0; k < 6; k++)
            in[k][i] = p[k];
    }
    const txm_lookups b = {
        COUNT, in[0], in[1], in[2], in[3], in[4], in[5], NULL, NULL, {out[0], out[1], out[2], out[3]}, NULL};
    ck_assert_int_eq(txm_cache_sample_n(t, add_texture(c, path, TXM_EXTENSION_REPEAT), &how, &b), TXM_LOOKUP_HIT);
    ck_assert_uint_gt(stats_of(c).tiles_loaded, EDGE / TILE * EDGE / TILE / 2);
    ck_assert_uint_le(count.most, BUDGET + TILE_BYTES + (64 << 10));
}

/* One place is looked up again and again while everything else is used once. It stays in memory under every policy,
 * also within one render tile. */
TESTS(what_is_used_again_stays, BOUNDED_POLICIES)
{
    enum { EDGE = 1024, TILES = EDGE / 64, ROUNDS = 2 };
    txm_cache_options o = budget_options(1 << 20, bounded_policy((uint32_t)_i));
    txm_cache *c = new_cache(&o);
    txm_cache_thread *t = new_thread(c);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    how.filter = TXM_FILTER_CLOSEST;
    char *path = write_cached("used.tx", EDGE, EDGE, 4, TXM_TYPE_U8, MADE_SMOOTH, 1);
    const uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    const txm_lookup often = at_level(0.5f, 0.5f, 0, EDGE);
    uint32_t again = 0;
    float out[4];
    txm_cache_sample(t, id, &how, &often, NULL, out);
    for (int i = 0; i < ROUNDS * TILES * TILES; i++) {
        const txm_lookup at =
            at_level((float)(i % TILES) / TILES + 0.01f, (float)(i / TILES % TILES) / TILES + 0.01f, 0, EDGE);
        txm_cache_sample(t, id, &how, &at, NULL, out);
        const uint64_t before = stats_of(c).tiles_loaded;
        txm_cache_sample(t, id, &how, &often, NULL, out);
        again += stats_of(c).tiles_loaded != before;
    }
    ck_assert_uint_gt(stats_of(c).tiles_reloaded, TILES * TILES / 2);
    ck_assert_uint_eq(again, 0);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    free(path);
}

/* If there are many tiles, a batch may be long: its list counts towards the budget. */
TEST(lists_of_batches_are_counted)
{
    enum { REQUESTS = 1000, EDGE = 2048 };
    txm_cache_options o = budget_options(256 << 20, TXM_CACHE_POLICY_LRU);
    o.coalesce = 0;
    o.threads = 1; /* nothing is loaded until somebody waits */
    txm_cache *c = new_cache(&o);
    static uint32_t requests[REQUESTS];
    txm_lookup_state lane = {.capacity = REQUESTS, .requests = requests}, *lanes[] = {&lane};
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    how.filter = TXM_FILTER_CLOSEST;
    FREED char *path = write_cached("wide.tx", EDGE, EDGE, 1, TXM_TYPE_U8, MADE_CONSTANT, 1);
    const uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    txm_view view;
    txm_ticket *ticket = NULL;
    for (txm_lookup_result look = TXM_LOOKUP_MISS; look == TXM_LOOKUP_MISS;) { /* until the texture is open */
        const txm_lookup at = at_level(1e-3f, 1e-3f, 0, EDGE);
        float out[4];
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        look = txm_sample(&view, id, &how, &at, &lane, out);
        ck_assert_int_eq(txm_cache_process(c, lanes, 1, &ticket, NULL), TXM_OK);
        txm_ticket_wait(&ticket);
    }
    ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
    for (int y = 0; y < EDGE / 64; y++)
        for (int x = 0; x < EDGE / 64; x++) {
            const txm_lookup at = at_level(((float)x + 0.5f) * 64 / EDGE, ((float)y + 0.5f) * 64 / EDGE, 0, EDGE);
            float out[4];
            txm_sample(&view, id, &how, &at, &lane, out);
        }
    ck_assert_uint_eq(lane.count, REQUESTS);
    const uint64_t before = stats_of(c).overhead_bytes;
    ck_assert_int_eq(txm_cache_process(c, lanes, 1, &ticket, NULL), TXM_OK);
    ck_assert_ptr_nonnull(ticket);
    ck_assert_uint_eq(txm_ticket_total(ticket), REQUESTS);
    ck_assert_uint_ge(stats_of(c).overhead_bytes, before + REQUESTS * 24u);
    txm_ticket_wait(&ticket);
    ck_assert_uint_eq(stats_of(c).tiles_loaded, REQUESTS + 1);
    txm_cache_free(&c);
}

/* Readers of many files together hold little memory, and none when all files are closed. */
TEST(readers_keep_little)
{
    enum { FILES = 40 };
    txm_cache_options o = budget_options(16 << 20, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    uint32_t ids[FILES];
    for (int i = 0; i < FILES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d.tx", i);
        FREED char *path = write_cached(name, 128, 128, 4, TXM_TYPE_U8, MADE_NOISE, (unsigned)i);
        ids[i] = add_texture(c, path, TXM_EXTENSION_REPEAT);
    }
    for (int i = 0; i < FILES; i++) {
        float out[4];
        const txm_lookup at = at_level(0.3f, 0.3f, 0, 128);
        ck_assert_int_eq(txm_cache_sample(t, ids[i], &how, &at, NULL, out), TXM_LOOKUP_HIT);
        txm_cache_stats s = stats_of(c);
        ck_assert_uint_gt(s.reader_bytes, 0);
        ck_assert_uint_le(s.reader_bytes, (1u << 20) + (400u << 10)); /* and the newest file's tables */
    }
    txm_cache_stats s = stats_of(c);
    ck_assert_uint_eq(s.files_open, FILES);
    ck_assert_uint_ge(s.reader_bytes_peak, s.reader_bytes);
    for (int i = 0; i < FILES; i++)
        ck_assert_int_eq(txm_cache_replace(c, ids[i], NULL, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).reader_bytes, 0);
}

/* A call with many lookups loads a tile once for all that need it, however little memory there is. */
TEST(many_look_ups_share_their_loads)
{
    enum { COUNT = 100000 };
    FREED char *path = write_cached("a.tx", 1024, 1024, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    float *in[6], *out[4];
    uint64_t seed = 3;
    counted memory = {0};
    txm_cache_options o = budget_options(1300 << 10, TXM_CACHE_POLICY_LRU);
    o.allocator = count_in(&memory);
    for (int k = 0; k < 6; k++)
        in[k] = calloc(COUNT, sizeof(float));
    for (int k = 0; k < 4; k++)
        out[k] = calloc(COUNT, sizeof(float));
    for (int i = 0; i < COUNT; i++) {
        in[0][i] = unit(&seed);
        in[1][i] = unit(&seed);
        in[2][i] = in[5][i] = 1.0f / 1024;
    }
    txm_cache *c = new_cache(&o);
    uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    txm_cache_thread *t = new_thread(c);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookups all = {
        COUNT, in[0], in[1], in[2], in[3], in[4], in[5], NULL, NULL, {out[0], out[1], out[2], out[3]}, NULL};
    ck_assert_int_eq(txm_cache_sample_n(t, id, &how, &all), TXM_LOOKUP_HIT);
    txm_cache_stats s = stats_of(c);
    ck_assert_uint_ge(s.tiles_loaded, 256);
    ck_assert_uint_le(s.tiles_loaded, 2 * 280); /* two parts of the batch; 75,000 one by one */
    ck_assert_uint_eq(s.lookups, COUNT);
    ck_assert_uint_le(memory.most, (1300u << 10) + (512u << 10));
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    for (int k = 0; k < 6; k++)
        free(in[k]);
    for (int k = 0; k < 4; k++)
        free(out[k]);
}

/* Lookups at all levels in random order need pairs of tiles. With a fifth of the memory, each tile is still read about
 * once in each call, and the colours are those of a cache that holds everything. The second texture is a set. */
TESTS(many_look_ups_of_all_levels, 4)
{
    enum { COUNT = 60000 };
    char *paths[] = {write_cached("a.tx", 1024, 1024, 4, TXM_TYPE_U8, MADE_NOISE, 1),
                     write_cached("b.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 2),
                     write_cached("c.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 3),
                     write_cached("d.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 4)};
    const int set = _i % 2;
    float *in[6], *out[2][4];
    uint32_t *random[2];
    uint8_t *mask = malloc(COUNT), *seen = malloc(COUNT);
    uint64_t seed = 11;
    for (int k = 0; k < 6; k++)
        in[k] = calloc(COUNT, sizeof(float));
    for (int i = 0; i < COUNT; i++) {
        const txm_lookup at = at_level(unit(&seed), unit(&seed), 5 * unit(&seed), 1024);
        in[0][i] = set ? 3 * at.u : 5 * at.u - 2;
        in[1][i] = at.v;
        in[2][i] = at.dudx;
        in[5][i] = at.dvdy;
        mask[i] = sample_random(&seed) % 8 != 0;
        seen[i] = 77;
    }
    for (int k = 0; k < 2; k++) {
        random[k] = calloc(COUNT, sizeof(uint32_t));
        for (int i = 0; i < COUNT; i++)
            random[k][i] = _i < 2 ? 0 : 99u + (uint32_t)i;
        for (int n = 0; n < 4; n++)
            out[k][n] = calloc(COUNT, sizeof(float));
        txm_cache_options o = budget_options(k ? 2 << 20 : 0, TXM_CACHE_POLICY_LRU);
        SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
        SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
        uint32_t id = add_texture(c, paths[0], (txm_extension)(5 * _i % 16)), ids[3];
        for (int i = 0; set && i < 3; i++)
            ids[i] = add_texture(c, paths[i + 1], TXM_EXTENSION_EXTEND);
        const uint32_t numbers[] = {1001, 1002, 1003};
        const txm_cache_udim udim = {numbers, ids, 3, TXM_NO_TEXTURE, 0, 0};
        if (set)
            ck_assert_int_eq(txm_cache_add_udim(c, &udim, &id, NULL), TXM_OK);
        const txm_sampler how = sampler(_i < 2 ? TXM_LEVEL_MODE_TRILINEAR : TXM_LEVEL_MODE_STOCHASTIC);
        float **to = out[k];
        const txm_lookups all = {COUNT,          in[0],
                                 in[1],          in[2],
                                 in[3],          in[4],
                                 in[5],          _i < 2 ? NULL : random[k],
                                 mask,           {to[0], to[1], to[2], to[3]},
                                 k ? seen : NULL};
        ck_assert_int_eq(txm_cache_sample_n(t, id, &how, &all), TXM_LOOKUP_HIT);
        const txm_cache_stats s = stats_of(c);
        uint64_t wanted = 0;
        for (int i = 0; i < COUNT; i++)
            wanted += mask[i];
        ck_assert_uint_eq(s.lookups, wanted);
        ck_assert_uint_gt(s.lookups_missed, 100);
        if (k) { /* there are 341 tiles, or three times 85; each of a few parts of the batch reads them again */
            ck_assert_uint_gt(s.tiles_evicted, 50);
            ck_assert_uint_le(s.tiles_loaded, 1000);
        }
    }
    for (int i = 0; i < COUNT; i++)
        ck_assert_uint_eq(seen[i], mask[i] ? TXM_LOOKUP_HIT : 77);
    for (int n = 0; n < 4; n++) {
        ck_assert(memcmp(out[0][n], out[1][n], COUNT * sizeof(float)) == 0);
        free(out[0][n]);
        free(out[1][n]);
    }
    ck_assert(memcmp(random[0], random[1], COUNT * sizeof(uint32_t)) == 0);
    for (int k = 0; k < 6; k++)
        free(in[k]);
    for (int k = 0; k < 2; k++)
        free(random[k]);
    free(mask);
    free(seen);
    for (int i = 0; i < 4; i++)
        free(paths[i]);
}

TEST(memory_that_is_refused_costs_tiles_alone)
{
    FREED char *path = write_cached("a.tx", 300, 300, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    int failed = 0, fine = 0;
    for (long n = 1; n < 40; n++) {
        counted memory = {.refuse_in = n};
        txm_cache_options o = budget_options(1 << 20, TXM_CACHE_POLICY_LRU);
        o.allocator = count_in(&memory);
        txm_cache *c = new_cache(&o);
        txm_cache_thread *t = NULL;
        uint32_t id = 0;
        uint64_t seed = 5;
        if (txm_cache_thread_new(c, &t, NULL) == TXM_OK &&
            txm_cache_add(c, path, TXM_EXTENSION_REPEAT, &id, NULL) == TXM_OK)
            for (int i = 0; i < 20; i++) {
                float out[4];
                txm_lookup at = at_level(unit(&seed), unit(&seed), 3 * unit(&seed), 300);
                txm_lookup_result look = txm_cache_sample(t, id, &how, &at, NULL, out);
                ck_assert(look == TXM_LOOKUP_HIT || (look == TXM_LOOKUP_FAILURE && magenta(out)));
                *(look == TXM_LOOKUP_FAILURE ? &failed : &fine) += 1;
            }
        txm_cache_thread_free(&t);
        txm_cache_free(&c);
        ck_assert_uint_eq(memory.now, 0);
    }
    ck_assert_int_gt(failed, 0);
    ck_assert_int_gt(fine, 0);
}

TEST(hits_take_no_lock)
{
    FREED char *path = write_cached("a.tx", 500, 400, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    ck_assert_int_eq(txm_cache_preload(c, id, NULL, NULL), TXM_OK);
    txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    uint64_t seed = 9;
    for (int i = 0; i < 2000; i++) {
        float out[4];
        txm_lookup at = at_level(unit(&seed), unit(&seed), 6 * unit(&seed), 500);
        ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out), TXM_LOOKUP_HIT);
    }
    txm_cache_stats s = stats_of(c);
    ck_assert_uint_eq(s.locks, 0);
    ck_assert_uint_eq(s.lookups, 2000);
    ck_assert_uint_eq(s.lookups_missed, 0);
    ck_assert_int_eq(txm_cache_set_max_bytes(c, 600000, NULL), TXM_OK);
    ck_assert_uint_le(stats_of(c).allocated_bytes, 600000);
}

/* Lookups that hit take a shortcut, and must still notice new epochs, a trace's bias, and sets that were added
 * later. */
TEST(hits_see_what_has_changed)
{
    FREED char *path = write_cached("a.tx", 256, 256, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    FREED char *other = write_cached("b.tx", 64, 64, 4, TXM_TYPE_U8, MADE_NOISE, 2),
               *trace = strdup(temp_file("trace"));
    const txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_RENDER_TILES);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const uint32_t id = add_texture(c, path, TXM_EXTENSION_EXTEND), base = add_texture(c, other, TXM_EXTENSION_EXTEND);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = at_level(0.4f, 0.4f, 0, 256), far = {0.4f, 0.4f, 0.1f, 0, 0, 0.1f};
    float first[4], out[4];
    ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, first), TXM_LOOKUP_HIT);
    for (int i = 0; i < 3; i++) { /* this tile is used in each epoch, so it stays */
        for (int k = 0; k < 3; k++)
            ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out), TXM_LOOKUP_HIT);
        txm_cache_end_epoch(c);
        ck_assert_uint_eq(stats_of(c).tiles, 1);
    }
    ck_assert_uint_eq(stats_of(c).tiles_loaded, 1);
    const uint32_t number = 1001;
    uint32_t set;
    const txm_cache_udim udim = {&number, &id, 1, base, 1, 1};
    ck_assert_int_eq(txm_cache_add_udim(c, &udim, &set, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_sample(t, base, &how, &far, NULL, first), TXM_LOOKUP_HIT);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(txm_cache_sample(t, set, &how, &far, NULL, out), TXM_LOOKUP_HIT);
        ck_assert(memcmp(first, out, sizeof out) == 0);
    }
    ck_assert_int_eq(txm_cache_sample(t, set, &how, &at, NULL, out), TXM_LOOKUP_HIT);
    ck_assert(memcmp(first, out, sizeof out) != 0);
    const uint64_t before = stats_of(c).lookups;
    ck_assert_uint_eq(before, 14);
    ck_assert_int_eq(txm_cache_trace_start(c, trace, TXM_TRACE_LOOKUPS, NULL), TXM_OK);
    for (int i = 0; i < 5; i++)
        txm_cache_sample(t, id, &how, &at, NULL, out);
    ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
    for (int i = 0; i < 5; i++)
        txm_cache_sample(t, id, &how, &at, NULL, out);
    txm_trace *read = NULL;
    ck_assert_int_eq(txm_trace_open(trace, &read, NULL), TXM_OK);
    ck_assert_uint_eq(txm_trace_info_of(read)->lookups, 5);
    txm_trace_free(&read);
    ck_assert_uint_eq(stats_of(c).lookups, before + 10);
    ck_assert_int_eq(txm_cache_replace(c, id, other, NULL), TXM_OK);
    txm_cache_sample(t, base, &how, &at, NULL, first);
    ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out), TXM_LOOKUP_HIT);
    ck_assert(memcmp(first, out, sizeof out) == 0);
}

/* ---- open files ---- */

/* If a sixteenth of the budget is too small for the tables of files that are read in turn, the files still stay
 * open. */
TEST(open_files_get_the_room_they_need)
{
    enum { TEXTURES = 12, LOOKUPS = 1500 };
    FREED char *path = write_cached("tables.tx", 4096, 4096, 1, TXM_TYPE_U8, MADE_SMOOTH, 1);
    counted memory = {0};
    txm_cache_options o = budget_options(4 << 20, TXM_CACHE_POLICY_LRU);
    o.coalesce = 0;
    o.allocator = count_in(&memory);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    uint32_t ids[TEXTURES];
    for (int i = 0; i < TEXTURES; i++)
        ids[i] = add_texture(c, path, TXM_EXTENSION_REPEAT);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    uint64_t seed = 5;
    for (int i = 0; i < LOOKUPS; i++) {
        float out[4];
        const txm_lookup at = at_level(unit(&seed), unit(&seed), 0, 4096);
        ck_assert_int_eq(txm_cache_sample(t, ids[sample_random(&seed) % TEXTURES], &how, &at, NULL, out),
                         TXM_LOOKUP_HIT);
    }
    const txm_cache_stats s = stats_of(c);
    ck_assert_msg(s.files_opened <= 5 * TEXTURES, "%u opens", s.files_opened);
    ck_assert_uint_le(memory.most + s.reader_bytes, (4 << 20) + (512 << 10));
}

static uint64_t resident_bytes(void)
{
    unsigned long size = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    ck_assert(f && fscanf(f, "%lu %lu", &size, &resident) == 2);
    fclose(f);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Opening a file touches more of its pages than reading a tile does. */
TEST(opening_files_keeps_no_pages)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return; /* a sanitizer keeps memory of its own */
#endif
    enum { TEXTURES = 40 };
    FREED char *path = write_cached("opened.tx", 4096, 4096, 1, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(64 << 20, TXM_CACHE_POLICY_LRU);
    o.coalesce = 0;
    o.read_files = 1;
    malloc_trim(0);
    const uint64_t before = resident_bytes();
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    for (int i = 0; i < TEXTURES; i++)
        ck_assert_int_eq(txm_cache_open(c, add_texture(c, path, TXM_EXTENSION_REPEAT), NULL, NULL), TXM_OK);
    const txm_cache_stats s = stats_of(c);
    ck_assert_uint_eq(s.files_open, TEXTURES);
    ck_assert_uint_lt(resident_bytes(), before + s.allocated_bytes + s.reader_bytes + (6u << 20));
}

/* Measures the memory of the process, as a farm does, while 250 MB of files are read through a budget of 16 MB: files
 * that are mapped, with a descriptor for each or for a few of them, and files that are read. */
TEST(processes_are_as_large_as_their_budget)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return; /* a sanitizer keeps memory of its own */
#endif
    enum { FILES = 16, BUDGET = 16 << 20 };
    char *paths[FILES] = {write_cached("large.tx", 2048, 2048, 4, TXM_TYPE_U8, MADE_NOISE, 1)};
    size_t bytes;
    uint8_t *data = load_file(paths[0], &bytes);
    for (int i = 1; i < FILES; i++) {
        char name[20];
        snprintf(name, sizeof name, "large%d.tx", i);
        paths[i] = strdup(temp_file(name));
        save_file(paths[i], data, bytes);
    }
    free(data);
    malloc_trim(0);
    struct rlimit descriptors;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
    for (int way = 0; way < 3; way++) {
        const uint64_t before = resident_bytes();
        uint64_t most = 0, seed = 3;
        txm_cache_options o = budget_options(BUDGET, TXM_CACHE_POLICY_LRU);
        o.read_files = way == 2;
        ck_assert_int_eq(
            setrlimit(RLIMIT_NOFILE, &(struct rlimit){way == 1 ? 24 : descriptors.rlim_cur, descriptors.rlim_max}), 0);
        o.coalesce = 0; /* the files are equal */
        txm_cache *c = new_cache(&o);
        uint32_t ids[FILES];
        for (int i = 0; i < FILES; i++)
            ids[i] = add_texture(c, paths[i], TXM_EXTENSION_REPEAT);
        txm_cache_thread *t = new_thread(c);
        const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
        for (int i = 0; i < 5000; i++) {
            float out[4];
            const txm_lookup at = at_level(unit(&seed), unit(&seed), 0, 2048);
            txm_cache_sample(t, ids[i % FILES], &how, &at, NULL, out);
            const uint64_t now = i % 100 == 99 ? resident_bytes() : 0;
            most = now > most ? now : most;
        }
        ck_assert_msg(most < before + BUDGET + (16u << 20), "%llu MB more", (unsigned long long)(most - before) >> 20);
        txm_cache_thread_free(&t);
        txm_cache_free(&c);
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &descriptors), 0);
    }
    for (int i = 0; i < FILES; i++)
        free(paths[i]);
}

/* What the kernel seems to say; NULL: what it does. */
static const char *most_maps;

FILE *fopen64(const char *path, const char *mode)
{
    if (most_maps && strcmp(path, "/proc/sys/vm/max_map_count") == 0)
        return fmemopen((char *)(uintptr_t)most_maps, strlen(most_maps), "r");
    const int flags = *mode == 'r' ? O_RDONLY : O_WRONLY | O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
    const int fd = open(path, flags | O_CLOEXEC, 0666);
    return fd < 0 ? NULL : fdopen(fd, mode);
}

/* Half of the maps that the kernel allows, then files that are read, as far as there are descriptors; others are closed
 * for those that follow. The report says so. */
TEST(files_that_may_not_be_mapped)
{
    enum { FILES = 120, MAPS = 20, DESCRIPTORS = 64 };
    FREED char *path = write_cached("a.tx", 256, 256, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    most_maps = "40\n";
    txm_cache_options o = budget_options(8 << 20, TXM_CACHE_POLICY_LRU);
    o.coalesce = 0;
    txm_cache *c = new_cache(&o);
    txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    uint32_t ids[FILES];
    uint64_t seed = 5;
    struct rlimit before;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){DESCRIPTORS, before.rlim_max}), 0);
    for (int i = 0; i < FILES; i++) {
        char name[20];
        snprintf(name, sizeof name, "map%d.tx", i);
        ck_assert_int_eq(symlink(path, temp_file(name)), 0);
        ids[i] = add_texture(c, temp_file(name), TXM_EXTENSION_REPEAT);
    }
    for (int i = 0; i < 2 * FILES; i++) {
        float out[4], expected[4];
        const txm_lookup at = at_level(unit(&seed), unit(&seed), 0, 256);
        ck_assert_int_eq(txm_cache_sample(t, ids[i % FILES], &how, &at, NULL, out), TXM_LOOKUP_HIT);
        ck_assert_int_eq(txm_cache_sample(t, ids[0], &how, &at, NULL, expected), TXM_LOOKUP_HIT);
        ck_assert_mem_eq(out, expected, sizeof out);
    }
    const txm_cache_stats s = stats_of(c);
    ck_assert_uint_ge(s.files_unmapped, FILES - MAPS - 1);
    ck_assert_uint_le(s.files_open_peak, MAPS + 1 + DESCRIPTORS);
    char *report = txm_cache_report(c, TXM_CACHE_REPORT_FORMAT_TEXT);
    ck_assert_ptr_nonnull(strstr(report, "\n  Read instead of mapped"));
    free(report);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}
