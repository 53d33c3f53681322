/* SPDX-License-Identifier: Apache-2.0
 *
 * The texture cache gives the bits of the sampler with everything in memory, for every budget, policy, number of
 * threads and order. Budgets are kept; textures are replaced, disappear, and are put together; statistics.
 */
#include <pthread.h>

#include "tile/cache/flow/mirror.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

enum { EXTENSIONS = 4 };

/* ---- files ---- */

typedef struct scene {
    char *paths[8];
    uint32_t width[8], height[8], count, ids[8], set_ids[8];
    txm_texture_set *set; /* the same files, everything in memory */
} scene;

static const struct {
    uint32_t width, height, channels;
    txm_type type;
    made_content content;
} images[] = {{600, 400, 4, TXM_TYPE_U8, MADE_NOISE},    {513, 300, 1, TXM_TYPE_U16, MADE_NOISE},
              {257, 129, 4, TXM_TYPE_HALF, MADE_SMOOTH}, {300, 77, 1, TXM_TYPE_FLOAT, MADE_NOISE},
              {17, 9, 4, TXM_TYPE_U8, MADE_NOISE},       {1, 1, 4, TXM_TYPE_U8, MADE_CONSTANT},
              {400, 400, 4, TXM_TYPE_U8, MADE_CONSTANT}, {200, 333, 3, TXM_TYPE_U8, MADE_NOISE}};
enum { IMAGES = sizeof images / sizeof *images };

static scene make_scene(void)
{
    scene s = {.count = IMAGES};
    ck_assert_int_eq(txm_texture_set_new(&s.set, NULL), TXM_OK);
    for (uint32_t i = 0; i < IMAGES; i++) {
        char name[16];
        txm_error err = {0};
        snprintf(name, sizeof name, "%c.tx", (char)('a' + i));
        s.paths[i] = write_cached(name, images[i].width, images[i].height, images[i].channels, images[i].type,
                                  images[i].content, i);
        s.width[i] = images[i].width;
        s.height[i] = images[i].height;
        ck_assert_msg(!txm_texture_set_add(s.set, s.paths[i], (txm_extension)(i % EXTENSIONS), &s.set_ids[i], &err) &&
                          !txm_texture_set_load_all(s.set, s.set_ids[i], &err),
                      "%s", err.message);
    }
    return s;
}

static void free_scene(scene *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        free(s->paths[i]);
    txm_texture_set_free(&s->set);
}

static void register_scene(txm_cache *c, scene *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        s->ids[i] = add_texture(c, s->paths[i], (txm_extension)(i % EXTENSIONS));
}

/* ---- equal bits ---- */

/* Does one lookup both ways and returns whether the results are equal. */
static bool same_one(txm_cache_thread *t, const scene *s, uint32_t i, const txm_sampler *how, uint64_t *state)
{
    txm_lookup at = sample_random_lookup(state, s->width[i], s->height[i], 1);
    uint32_t random = sample_random(state) % 4 ? sample_random(state) : 0;
    txm_lookup_state lane = {.random = random};
    float got[3][4] = {{0}}, want[3][4] = {{0}};
    int slopes = sample_random(state) % 8 == 0;
    txm_lookup_result a, b;
    if (slopes) {
        a = txm_sample_d(txm_texture_set_view(s->set), s->set_ids[i], how, &at, &lane, want[0], want[1], want[2]);
        b = txm_cache_sample_d(t, s->ids[i], how, &at, &random, got[0], got[1], got[2]);
    } else if (sample_random(state) % 8 == 0) {
        a = txm_sample_latlong(txm_texture_set_view(s->set), s->set_ids[i], how, &at, &lane, want[0]);
        b = txm_cache_sample_latlong(t, s->ids[i], how, &at, &random, got[0]);
    } else if (sample_random(state) % 8 == 0) {
        a = txm_sample_udim_blend(txm_texture_set_view(s->set), s->set_ids[i], how, &at, &lane, want[0]);
        b = txm_cache_sample_udim_blend(t, s->ids[i], how, &at, &random, got[0]);
    } else {
        a = txm_sample(txm_texture_set_view(s->set), s->set_ids[i], how, &at, &lane, want[0]);
        b = txm_cache_sample(t, s->ids[i], how, &at, &random, got[0]);
    }
    return a == b && a == TXM_LOOKUP_HIT && random == lane.random && memcmp(got, want, sizeof got) == 0;
}

/* Does a batch with derivatives one by one and in both other ways; its random states are those of after it. */
static bool same_slopes(txm_cache_thread *t, const scene *s, uint32_t i, const txm_sampler *how,
                        const txm_lookups *given)
{
    enum { N = 150 };
    float all[3][12][N];
    uint32_t random[3][N];
    const txm_view *view = txm_texture_set_view(s->set);
    txm_lookup_state lane = {0};
    memset(all, 0, sizeof all);
    for (int k = 0; k < 3; k++) {
        txm_lookups b = *given;
        txm_lookup_slopes slopes;
        memcpy(random[k], given->random, sizeof random[k]);
        b.random = random[k];
        for (int c = 0; c < 4; c++) {
            b.out[c] = all[k][c];
            slopes.du[c] = all[k][4 + c];
            slopes.dv[c] = all[k][8 + c];
        }
        if (k == 0 && txm_sample_n_d(view, s->set_ids[i], how, &b, &slopes, &lane) != TXM_LOOKUP_HIT)
            return false;
        if (k == 1 && txm_cache_sample_n_d(t, s->ids[i], how, &b, &slopes) != TXM_LOOKUP_HIT)
            return false;
        for (size_t n = 0; k == 2 && n < b.count; n++) {
            const txm_lookup at = {b.u[n], b.v[n], b.dudx[n], b.dvdx[n], b.dudy[n], b.dvdy[n]};
            float out[3][4];
            if (!b.mask[n])
                continue;
            lane.random = random[k][n];
            txm_sample_d(view, s->set_ids[i], how, &at, &lane, out[0], out[1], out[2]);
            random[k][n] = lane.random;
            for (int c = 0; c < 12; c++)
                all[k][c][n] = out[c / 4][c % 4];
        }
    }
    return !memcmp(all[0], all[2], sizeof all[0]) && !memcmp(all[1], all[2], sizeof all[0]) &&
           !memcmp(random[0], random[2], given->count * sizeof *random[0]) &&
           !memcmp(random[1], random[2], given->count * sizeof *random[0]);
}

/* Does many lookups in one call, sometimes so many that the call must allocate memory for them. */
static bool same_many(txm_cache_thread *t, const scene *s, uint32_t i, const txm_sampler *how, uint64_t *state)
{
    enum { N = 2500 };
    const int count = sample_random(state) % 4 ? 150 : N;
    float in[6][N], got[4][N] = {{0}}, want[4][N] = {{0}};
    uint32_t random[2][N];
    uint8_t mask[N], result[N];
    memset(result, TXM_LOOKUP_HIT, sizeof result);
    for (int n = 0; n < count; n++) {
        txm_lookup at = sample_random_lookup(state, s->width[i], s->height[i], 1);
        const float *p = &at.u;
        for (int k = 0; k < 6; k++)
            in[k][n] = p[k];
        random[0][n] = random[1][n] = sample_random(state);
        mask[n] = sample_random(state) % 4 != 0;
    }
    txm_lookups a = {(size_t)count, in[0], in[1],     in[2], in[3],
                     in[4],         in[5], random[0], mask,  {got[0], got[1], got[2], got[3]},
                     result};
    txm_lookups b = a;
    txm_lookup_state lane = {0};
    b.random = random[1];
    b.result = NULL;
    for (int k = 0; k < 4; k++)
        b.out[k] = want[k];
    txm_sample_n(txm_texture_set_view(s->set), s->set_ids[i], how, &b, &lane);
    txm_lookup_result worst = txm_cache_sample_n(t, s->ids[i], how, &a);
    for (int n = 0; n < count; n++)
        if (mask[n] && result[n] != TXM_LOOKUP_HIT)
            return false;
    if (count < N && !same_slopes(t, s, i, how, &b))
        return false;
    return worst == TXM_LOOKUP_HIT && !memcmp(got, want, sizeof got) &&
           !memcmp(random[0], random[1], (size_t)count * sizeof *random[0]);
}

typedef struct worker {
    pthread_t thread;
    txm_cache *cache;
    const scene *scene;
    uint64_t seed;
    int count, differences;
    bool epochs;
} worker;

static void *run_worker(void *arg)
{
    worker *w = arg;
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = NULL;
    if (txm_cache_thread_new(w->cache, &t, NULL))
        return NULL;
    txm_sampler how = sample_random_sampler(&w->seed);
    for (int n = 0; n < w->count; n++) {
        uint32_t i = sample_random(&w->seed) % w->scene->count;
        if (n % 16 == 0)
            how = sample_random_sampler(&w->seed);
        if (n % 64 == 63)
            w->differences += !same_many(t, w->scene, i, &how, &w->seed);
        else
            w->differences += !same_one(t, w->scene, i, &how, &w->seed);
        if (w->epochs && n % 500 == 499)
            txm_cache_end_epoch(w->cache);
    }
    return NULL;
}

/* Several threads look up, and every result is compared. */
static void compare_threads(txm_cache *c, const scene *s, int threads, int count, bool epochs)
{
    enum { MOST = 8 };
    worker w[MOST];
    for (int i = 0; i < threads; i++) {
        w[i] =
            (worker){.cache = c, .scene = s, .seed = 7777u + (unsigned)i * 31, .count = count, .epochs = epochs && !i};
        ck_assert_int_eq(pthread_create(&w[i].thread, NULL, run_worker, &w[i]), 0);
    }
    int differences = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(w[i].thread, NULL);
        differences += w[i].differences;
    }
    ck_assert_int_eq(differences, 0);
}

static int rounds(int n)
{
    const char *text = getenv("TXM_CACHE_LOOKUPS");
    return text ? atoi(text) : n;
}

/* The fourth is the memory of 32 tiles of the largest size. */
static const uint64_t budgets[] = {0, 8 << 20, 2 << 20, 32 * 18496, 1};

TESTS(bits_for_every_budget_and_policy, 4)
{
    SCOPED(free_scene) scene s = make_scene();
    for (uint32_t policy = 0; policy < POLICIES; policy++)
        for (size_t b = 0; b < sizeof budgets / sizeof *budgets; b++) {
            txm_cache_options o;
            if (!thorough() && (policy + b + (size_t)_i) % 2)
                continue;
            txm_cache_options_init(&o);
            o.policy = policy;
            o.max_bytes = budgets[b];
            o.keep_epochs = 1 + (b & 1);
            o.max_open = 1 + (uint32_t)b;
            o.coalesce = b % 3 ? TXM_COALESCE_CONSTANT | TXM_COALESCE_DUPLICATE : 0;
            SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
            register_scene(c, &s);
            compare_threads(c, &s, _i + 1, rounds(200), true);
        }
}

TESTS(bits_with_invented_misses, POLICIES)
{
    SCOPED(free_scene) scene s = make_scene();
    txm_cache_options o;
    txm_cache_options_init(&o);
    txm_spurious = 0.5f;
    o.max_bytes = _i % 2 ? 1 << 20 : 0;
    o.policy = (uint32_t)_i;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    register_scene(c, &s);
    compare_threads(c, &s, 4, rounds(300), false);
    ck_assert_uint_gt(stats_of(c).tiles_reloaded, (unsigned)rounds(300) / 4);
}

/* The size of a texture that has not been opened is unknown, so the file must be opened before CLIP can reject a
 * lookup. */
TEST(first_look_ups_of_a_texture)
{
    enum { COUNT = 600 };
    SCOPED(free_scene) scene s = make_scene();
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    uint64_t seed = 99;
    uint32_t missed = 0;
    register_scene(c, &s);
    for (int n = 0; n < COUNT; n++) {
        const uint32_t i = sample_random(&seed) % s.count;
        const txm_sampler how = sample_random_sampler(&seed);
        ck_assert_int_eq(txm_cache_replace(c, s.ids[i], NULL, NULL), TXM_OK);
        ck_assert(n % 8 ? same_one(t, &s, i, &how, &seed) : same_many(t, &s, i, &how, &seed));
        missed += stats_of(c).textures_opened != 0;
    }
    ck_assert_uint_gt(missed, COUNT / 2);
}

/* ---- main ---- */

int main(void)
{
    return run_tests_in_one_process();
}
