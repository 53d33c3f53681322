/* SPDX-License-Identifier: Apache-2.0
 * Textures of the cache whose tiles are not in files: images in memory, procedural ones, and sources that give wrong
 * answers or fail. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/fail.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"
#include "util_whole.h"

/* ---- images in memory ---- */

typedef struct packed {
    whole_image image;
    uint32_t tile_px;
    atomic_int described, reads, closed;
} packed;

static txm_status describe_packed(void *user, txm_tile_shape *shape, txm_error *err)
{
    packed *p = user;
    (void)err;
    ck_assert_uint_eq(shape->struct_size, sizeof *shape);
    atomic_fetch_add(&p->described, 1);
    shape->width = p->image.width;
    shape->height = p->image.height;
    shape->levels = p->image.levels;
    shape->tile_px = p->tile_px;
    shape->channels = p->image.channels;
    shape->type = p->image.type;
    return TXM_OK;
}

/* The cache requests only pixels that lie in the level, and never more than a tile with its border. */
static txm_status read_packed(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                              void *pixels, size_t row_stride_bytes, txm_error *err)
{
    packed *p = user;
    const whole_image *m = &p->image;
    const size_t pixel = m->channels * txm_type_bytes(m->type);
    (void)err;
    atomic_fetch_add(&p->reads, 1);
    ck_assert_uint_lt(level, m->levels);
    ck_assert(width && height && width <= p->tile_px + 4 && height <= p->tile_px + 4);
    const uint32_t w = txm_level_size(m->width, level), h = txm_level_size(m->height, level);
    ck_assert(x < w && y < h && width <= w - x && height <= h - y);
    for (uint32_t row = 0; row < height; row++)
        memcpy((uint8_t *)pixels + row * row_stride_bytes, m->pixels[level] + ((size_t)(y + row) * w + x) * pixel,
               width * pixel);
    return TXM_OK;
}

static void close_packed(void *user)
{
    atomic_fetch_add(&((packed *)user)->closed, 1);
}

static txm_tile_source source_of(packed *p)
{
    return (txm_tile_source){sizeof(txm_tile_source), p, describe_packed, read_packed, close_packed};
}

/* For all types, extensions and tile sizes, the bits are those of the image without tiles, even within a small
 * budget. */
TESTS(images_in_memory, 4)
{
    static const uint32_t sizes[][2] = {{300, 200}, {64, 64}, {1, 1}, {3, 150}, {257, 5}}, tiles[] = {8, 64, 512, 16};
    const txm_type type = (txm_type)(_i % 4);
    uint64_t state = 7 + (uint64_t)_i;
    for (uint32_t n = 0; n < 5; n++)
        for (int extension = (int)n % 2; extension < 16; extension += 2) {
            FREED char *path = write_cached("packed.tx", sizes[n][0], sizes[n][1], n & 1 ? 1 : 4, type, MADE_NOISE, n);
            packed p = {.image = whole_read(path, (txm_extension)extension), .tile_px = tiles[(n + (uint32_t)_i) % 4]};
            const txm_tile_source source = source_of(&p);
            txm_cache_options o = budget_options(1 << 20, TXM_CACHE_POLICY_LRU);
            txm_cache *c = new_cache(&o);
            uint32_t id;
            txm_error err;
            ck_assert_int_eq(txm_cache_add_source(c, "packed", &source, (txm_extension)extension, &id, &err), TXM_OK);
            ck_assert_int_eq(p.described, 0);
            txm_cache_thread *t = new_thread(c);
            p.image.tiled_levels = p.image.levels;
            for (uint32_t i = p.image.levels; i-- > 0;)
                if (txm_level_size(sizes[n][0], i) <= p.tile_px && txm_level_size(sizes[n][1], i) <= p.tile_px)
                    p.image.tiled_levels = i + 1;
            for (int i = 0; i < 300; i++) {
                const txm_sampler how = sample_random_sampler(&state);
                txm_lookup at = sample_random_lookup(&state, sizes[n][0], sizes[n][1], 1);
                sample_give_level(&state, &how, &at);
                uint32_t random = sample_random(&state), again = random;
                float got[4], want[4];
                ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, &random, got), TXM_LOOKUP_HIT);
                whole_sample(&p.image, &how, &at, &again, want, NULL, NULL);
                ck_assert_msg(memcmp(got, want, sizeof got) == 0, "%ux%u, extension %d, tiles of %u: %g for %g",
                              sizes[n][0], sizes[n][1], extension, p.tile_px, (double)got[0], (double)want[0]);
            }
            ck_assert_int_eq(p.described, 1);
            ck_assert_int_gt(p.reads, 0);
            txm_cache_thread_free(&t);
            txm_cache_free(&c);
            ck_assert_int_eq(p.closed, 1);
            whole_free(&p.image);
        }
}

/* If the finest levels are left out, borders come from the levels that remain. Each level has its number as its colour,
 * also at the edges of the image. */
static txm_status read_numbers(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                               void *pixels, size_t row_stride_bytes, txm_error *err)
{
    (void)user, (void)x, (void)y, (void)err;
    for (uint32_t row = 0; row < height; row++)
        for (uint32_t i = 0; i < width; i++)
            ((float *)(void *)((uint8_t *)pixels + row * row_stride_bytes))[i] = (float)level;
    return TXM_OK;
}

static txm_status describe_numbers(void *user, txm_tile_shape *shape, txm_error *err)
{
    const float *average = user;
    (void)err;
    shape->width = shape->height = 1024;
    shape->levels = 11;
    shape->tile_px = 64;
    shape->channels = 1;
    shape->type = TXM_TYPE_FLOAT;
    if (average)
        memcpy(shape->average, average, sizeof shape->average);
    return TXM_OK;
}

TEST(fine_levels_are_left_out)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    const txm_tile_source source = {sizeof source, NULL, describe_numbers, read_numbers, NULL};
    o.limit_px = 256;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    for (int extension = TXM_EXTENSION_REPEAT; extension <= TXM_EXTENSION_MIRROR; extension++) {
        uint32_t id;
        ck_assert_int_eq(txm_cache_add_source(c, "numbers", &source, (txm_extension)extension, &id, NULL), TXM_OK);
        for (uint32_t level = 0; level < 3; level++)
            for (int i = 0; i < 9 && (extension != TXM_EXTENSION_CLIP || i == 4); i++) {
                const txm_lookup at = at_level((float)(i % 3) / 2.0f, (float)(i / 3) / 2.0f, (float)level, 256);
                float out[4];
                ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out), TXM_LOOKUP_HIT);
                ck_assert_msg(out[0] == (float)(level + 2), "extension %d, level %u, place %d: %g", extension, level, i,
                              (double)out[0]);
            }
    }
}

/* Missing tiles have the average that the source gives, or the colour of the 1x1 level if it gives none. */
TEST(averages)
{
    const float named[4] = {3.0f, 3.0f, 3.0f, 1.0f};
    for (int i = 0; i < 4; i++) {
        txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
        const txm_tile_source source = {sizeof source, i & 1 ? (void *)(uintptr_t)named : NULL, describe_numbers,
                                        read_numbers, NULL};
        txm_view_texture info;
        uint32_t id;
        o.stand_in = i & 2 ? TXM_STAND_IN_KIND_AVERAGE : TXM_STAND_IN_KIND_NONE;
        SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
        ck_assert_int_eq(txm_cache_add_source(c, "numbers", &source, TXM_EXTENSION_REPEAT, &id, NULL), TXM_OK);
        ck_assert_int_eq(txm_cache_open(c, id, &info, NULL), TXM_OK);
        const float want = i & 1 ? 3.0f : i & 2 ? 10.0f : 0.5f;
        ck_assert_msg(info.average[0] == want, "%d: %g", i, (double)info.average[0]);
    }
}

/* ---- procedural ones ---- */

/* A picture that changes while it is used. All pixels of a level have the same value. */
typedef struct painted {
    atomic_uint value, fails, reads;
    txm_status failure;
    bool silent;
    uint32_t slow_ms;
    txm_tile_shape shape;
} painted;

static txm_status describe_painted(void *user, txm_tile_shape *shape, txm_error *err)
{
    (void)err;
    *shape = ((painted *)user)->shape;
    return TXM_OK;
}

static txm_status read_painted(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                               void *pixels, size_t row_stride_bytes, txm_error *err)
{
    painted *p = user;
    (void)level, (void)x, (void)y;
    const uint32_t value = atomic_load(&p->value);
    atomic_fetch_add(&p->reads, 1);
    if (p->slow_ms)
        nanosleep(&(struct timespec){.tv_nsec = p->slow_ms * 1000000}, NULL);
    if (atomic_load(&p->fails)) {
        atomic_fetch_sub(&p->fails, 1);
        return p->silent ? p->failure : txm_fail(err, p->failure, "the paint is wet");
    }
    for (uint32_t row = 0; row < height; row++)
        for (uint32_t i = 0; i < width; i++)
            ((float *)(void *)((uint8_t *)pixels + row * row_stride_bytes))[i] = (float)value;
    return TXM_OK;
}

static painted canvas(void)
{
    return (painted){.value = 1,
                     .shape = {.struct_size = sizeof(txm_tile_shape),
                               .width = 1024,
                               .height = 512,
                               .levels = 11,
                               .tile_px = 32,
                               .channels = 1,
                               .type = TXM_TYPE_FLOAT}};
}

static uint32_t add_painted(txm_cache *c, painted *p)
{
    const txm_tile_source source = {sizeof source, p, describe_painted, read_painted, NULL};
    uint32_t id;
    ck_assert_int_eq(txm_cache_add_source(c, "canvas", &source, TXM_EXTENSION_REPEAT, &id, NULL), TXM_OK);
    return id;
}

/* Sources with equal digests share tiles; those with other digests, or none, do not. */
TEST(digests_are_shared)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    FREED char *path = write_cached("packed.tx", 256, 256, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    packed p[2] = {{.image = whole_read(path, TXM_EXTENSION_REPEAT), .tile_px = 64}, {.tile_px = 64}};
    p[1].image = p[0].image;
    txm_cache *c = new_cache(&o);
    for (int i = 0; i < 2; i++) {
        const txm_tile_source source = source_of(&p[i]);
        uint32_t id;
        ck_assert_int_eq(txm_cache_add_source(c, "packed", &source, TXM_EXTENSION_REPEAT, &id, NULL), TXM_OK);
        ck_assert_int_eq(txm_cache_preload(c, id, NULL, NULL), TXM_OK);
    }
    ck_assert_uint_eq(stats_of(c).duplicates, 0);
    ck_assert_int_eq(p[0].reads, p[1].reads);
    painted same[3] = {canvas(), canvas(), canvas()};
    uint32_t shared[3];
    for (int i = 0; i < 3; i++) {
        strcpy(same[i].shape.digest, i < 2 ? "one" : "another");
        shared[i] = add_painted(c, &same[i]);
        ck_assert_int_eq(txm_cache_preload(c, shared[i], NULL, NULL), TXM_OK);
    }
    ck_assert_uint_eq(stats_of(c).duplicates, 1);
    ck_assert_uint_gt(same[0].reads, 0);
    ck_assert_uint_eq(same[1].reads, 0);
    ck_assert_uint_eq(same[2].reads, same[0].reads);
    ck_assert_int_eq(txm_cache_replace(c, shared[0], path, NULL), TXM_OK); /* the other source keeps its tiles */
    ck_assert_int_eq(txm_cache_unload(c, shared[1], NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_preload(c, shared[1], NULL, NULL), TXM_OK);
    ck_assert_uint_gt(same[0].reads + same[1].reads, same[2].reads);
    ck_assert_int_eq(txm_cache_replace(c, 0, NULL, NULL), TXM_OK); /* by itself again */
    ck_assert_int_eq(txm_cache_open(c, 0, NULL, NULL), TXM_OK);
    ck_assert_int_eq(p[0].described, 2);
    ck_assert_int_eq(p[0].closed, 0);
    ck_assert_int_eq(txm_cache_replace(c, 0, path, NULL), TXM_OK); /* by a file */
    ck_assert_int_eq(p[0].closed, 1);
    txm_cache_free(&c);
    ck_assert_int_eq(p[0].closed, 1);
    ck_assert_int_eq(p[1].closed, 1);
    whole_free(&p[0].image);
}

static txm_lookup_result look_at_canvas(txm_cache_thread *t, uint32_t id, float u, float v, float *value)
{
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = at_level(u, v, 0, 1024);
    float out[4];
    const txm_lookup_result look = txm_cache_sample(t, id, &how, &at, NULL, out);
    *value = out[0];
    return look;
}

/* Changes show where they were announced, and only there. */
TEST(painting)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    o.coalesce = 0;
    painted p = canvas();
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    const uint32_t id = add_painted(c, &p);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    float value;
    ck_assert_int_eq(txm_cache_preload(c, id, NULL, NULL), TXM_OK);
    atomic_store(&p.value, 2);
    ck_assert_int_eq(look_at_canvas(t, id, 0.1f, 0.9f, &value), TXM_LOOKUP_HIT);
    ck_assert(value == 1.0f);
    ck_assert_int_eq(txm_cache_invalidate(c, id, &(txm_cache_part){0, 10, 0.0f, 0.8f, 0.2f, 1.0f}, NULL), TXM_OK);
    look_at_canvas(t, id, 0.1f, 0.9f, &value);
    ck_assert(value == 2.0f);
    look_at_canvas(t, id, 0.9f, 0.1f, &value);
    ck_assert(value == 1.0f);
}

/* A permanent failure lasts until the source is invalidated or replaced; a temporary one is tried again. */
TEST(sources_that_fail)
{
    static const txm_status statuses[] = {TXM_STATUS_CORRUPT, TXM_STATUS_IO, (txm_status)4711};
    for (int i = 0; i < 6; i++) {
        txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
        painted p = canvas();
        txm_cache_texture_stats stats;
        SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
        const uint32_t id = add_painted(c, &p);
        SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
        float value;
        p.failure = statuses[i / 2];
        p.silent = i & 1;
        atomic_store(&p.fails, 1);
        ck_assert_int_eq(look_at_canvas(t, id, 0.5f, 0.5f, &value), TXM_LOOKUP_FAILURE);
        ck_assert_int_eq(txm_cache_texture_stats_of(c, id, &stats, NULL), TXM_OK);
        ck_assert_msg(
            strstr(stats.message, p.silent ? "canvas: its source cannot be read" : "canvas: the paint is wet"), "%s",
            stats.message);
        if (p.failure != TXM_STATUS_IO) {
            ck_assert_int_eq(look_at_canvas(t, id, 0.5f, 0.5f, &value), TXM_LOOKUP_FAILURE);
            ck_assert_int_eq(txm_cache_invalidate(c, id, NULL, NULL), TXM_OK);
        }
        txm_lookup_result look = TXM_LOOKUP_FAILURE;
        for (int n = 0; n < 1000 && look == TXM_LOOKUP_FAILURE; n++) {
            look = look_at_canvas(t, id, 0.5f, 0.5f, &value);
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        }
        ck_assert_int_eq(look, TXM_LOOKUP_HIT);
        ck_assert(value == 1.0f);
    }
}

TEST(shapes_that_cannot_be)
{
    const txm_tile_shape good = canvas().shape;
    txm_tile_shape bad[13];
    for (int i = 0; i < 13; i++)
        bad[i] = good;
    bad[0].width = 0;
    bad[1].height = 65537;
    bad[2].width = UINT32_MAX;
    bad[3].levels = 0;
    bad[4].levels = 12;
    bad[5].levels = UINT32_MAX;
    bad[6].tile_px = 48;
    bad[7].tile_px = 1u << 31;
    bad[8].channels = 3;
    bad[9].type = 77;
    memset(bad[10].digest, 'x', sizeof bad[10].digest);
    bad[11].encoding = 77;
    bad[12].width = bad[12].height = 65536; /* its tables would be larger than many budgets */
    bad[12].tile_px = 32;
    txm_cache_options o = budget_options(1 << 20, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    painted p[13];
    for (int i = 0; i < 13; i++) {
        txm_error err;
        float value;
        p[i] = canvas();
        p[i].shape = bad[i];
        const uint32_t id = add_painted(c, &p[i]);
        ck_assert_int_eq(txm_cache_open(c, id, NULL, &err), TXM_STATUS_UNSUPPORTED);
        ck_assert_int_eq(look_at_canvas(t, id, 0.5f, 0.5f, &value), TXM_LOOKUP_FAILURE);
        ck_assert_uint_eq(p[i].reads, 0);
    }
    ck_assert_uint_lt(stats_of(c).allocated_bytes_peak, 1 << 20);
    const txm_tile_source none = {.struct_size = sizeof none}, old = {8, p, describe_painted, read_painted, NULL};
    uint32_t id;
    ck_assert_int_eq(txm_cache_add_source(c, "none", &none, TXM_EXTENSION_CLIP, &id, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_add_source(c, "old", &old, TXM_EXTENSION_CLIP, &id, NULL), TXM_STATUS_USAGE);
}

typedef struct painter {
    pthread_t thread;
    txm_cache *cache;
    uint32_t id;
    uint64_t seed;
} painter;

static void *look_at_random(void *arg)
{
    painter *w = arg;
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(w->cache);
    for (int i = 0; i < 300; i++) {
        float value;
        ck_assert_int_eq(look_at_canvas(t, w->id, unit(&w->seed), unit(&w->seed), &value), TXM_LOOKUP_HIT);
        ck_assert_msg(value > 0.999f && value < 50.001f, "%g", (double)value);
        if (i % 50 == 0)
            txm_cache_invalidate(w->cache, w->id, NULL, NULL);
    }
    return NULL;
}

/* Many threads read slowly while the picture changes. */
TEST(many_threads)
{
    txm_cache_options o = budget_options(1 << 19, TXM_CACHE_POLICY_LRU);
    painted p = canvas();
    painter w[4];
    p.slow_ms = 2;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    const uint32_t id = add_painted(c, &p);
    for (int i = 0; i < 4; i++) {
        w[i] = (painter){.cache = c, .id = id, .seed = 5 + (unsigned)i};
        ck_assert_int_eq(pthread_create(&w[i].thread, NULL, look_at_random, &w[i]), 0);
    }
    for (uint32_t value = 2; value <= 50; value++) {
        atomic_store(&p.value, value);
        ck_assert_int_eq(txm_cache_invalidate(c, id, NULL, NULL), TXM_OK);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(w[i].thread, NULL);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    txm_cache_invalidate(c, id, NULL, NULL);
    float value;
    ck_assert_int_eq(look_at_canvas(t, id, 0.3f, 0.3f, &value), TXM_LOOKUP_HIT);
    ck_assert_float_eq_tol(value, 50.0f, 1e-4f);
}

/* Runs a launch that needs one tile, in the viewer's own view, and returns whether the tile is there. */
static bool launch_at_canvas(txm_cache_viewer *viewer, uint32_t id, float u, txm_ticket **ticket)
{
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = at_level(u, 0.5f, 0, 1024);
    uint32_t requests[4];
    txm_lookup_state lane = {.capacity = 4, .requests = requests}, *lanes = &lane;
    txm_view view;
    float out[4];
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    const txm_lookup_result look = txm_sample(&view, id, &how, &at, &lane, out);
    ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, ticket, NULL), TXM_OK);
    return look == TXM_LOOKUP_HIT;
}

/* A launch whose only missing tiles are being loaded by another launch's batch, or find no room beside it, waits for
 * that batch, whoever reads it. It is not repeated in vain. */
TESTS(launches_wait_for_others, 4)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    painted p = canvas();
    txm_cache_viewer *viewers[2];
    txm_ticket *ticket, *of_other;
    const float place = _i / 2 ? 0.9f : 0.5f; /* a different tile, or the same one */
    o.threads = _i % 2 ? 2 : 1;               /* with one thread, only those that wait read */
    o.max_queued = 1;
    o.coalesce = 0;
    p.slow_ms = 100;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    const uint32_t id = add_painted(c, &p);
    ck_assert_int_eq(txm_cache_register(c, id, NULL), TXM_OK);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(txm_cache_viewer_new(c, &viewers[i], NULL), TXM_OK);
    ck_assert(!launch_at_canvas(viewers[0], id, 0.5f, &of_other));
    ck_assert_uint_eq(txm_ticket_total(of_other), 1);
    ck_assert(!launch_at_canvas(viewers[1], id, place, &ticket));
    ck_assert_uint_eq(txm_ticket_total(ticket), 0);
    txm_ticket_wait(&ticket);
    ck_assert_uint_eq(p.reads, 1);
    ck_assert(launch_at_canvas(viewers[1], id, place, &ticket) == (place == 0.5f));
    ck_assert_uint_eq(txm_ticket_total(ticket), place != 0.5f);
    txm_ticket_wait(&ticket);
    ck_assert(launch_at_canvas(viewers[1], id, place, &ticket));
    txm_ticket_wait(&ticket); /* at once, because nothing is loading */
    txm_cache_viewer_free(&viewers[1]);
    txm_ticket_wait(&of_other);
    txm_cache_viewer_free(&viewers[0]);
}

typedef struct slow_memory {
    txm_cache *cache;
    atomic_bool slow, stop;
    atomic_uint answers;
} slow_memory;

static void *take_memory(void *user, size_t bytes, size_t alignment)
{
    void *memory = NULL;
    (void)user;
    return posix_memalign(&memory, alignment, bytes) ? NULL : memory;
}

/* Frees memory slowly, as if there were as much of it. */
static void give_slowly(void *user, void *memory, size_t bytes)
{
    (void)bytes;
    if (atomic_load(&((slow_memory *)user)->slow))
        nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    free(memory);
}

static void *want_answers(void *arg)
{
    slow_memory *m = arg;
    while (!atomic_load(&m->stop)) {
        stats_of(m->cache);
        atomic_fetch_add(&m->answers, 1);
    }
    return NULL;
}

/* Ending a render tile drops 44,000 tiles. Others get the lock before all of them are gone. */
TEST(ending_a_render_tile_gives_way)
{
    slow_memory m = {.slow = false};
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_RENDER_TILES);
    painted p = canvas();
    pthread_t thread;
    o.coalesce = 0;
    o.allocator = (txm_cache_allocator){take_memory, give_slowly, &m};
    p.shape.width = 2048;
    p.shape.height = 1024;
    p.shape.levels = 12;
    p.shape.tile_px = 8;
    SCOPED(txm_cache_free) txm_cache *c = m.cache = new_cache(&o);
    const uint32_t id = add_painted(c, &p);
    ck_assert_int_eq(txm_cache_preload(c, id, NULL, NULL), TXM_OK);
    ck_assert_uint_gt(stats_of(c).tiles, 40000);
    txm_cache_end_epoch(c);
    ck_assert_uint_gt(stats_of(c).tiles, 40000);
    ck_assert_int_eq(pthread_create(&thread, NULL, want_answers, &m), 0);
    atomic_store(&m.slow, true);
    while (!atomic_load(&m.answers))
        nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    const uint32_t before = atomic_load(&m.answers);
    txm_cache_end_epoch(c);
    const uint32_t after = atomic_load(&m.answers);
    atomic_store(&m.slow, false);
    atomic_store(&m.stop, true);
    pthread_join(thread, NULL);
    ck_assert_uint_lt(stats_of(c).tiles, 10);
    ck_assert_msg(after > before + 3, "%u answers", after - before);
}
