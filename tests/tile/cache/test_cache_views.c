/* SPDX-License-Identifier: Apache-2.0
 * Views of the texture cache: batches that load while the next launch runs, several viewers, bounded lists of requests,
 * stand-ins, and parts that are pinned or invalidated. */
#include <math.h>
#include <stdatomic.h>
#include <time.h>

#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

enum { SIZE = 1024, TILES_ACROSS = SIZE / 64, MANY = 4096 };

static txm_texture_set *truth_set;
static uint32_t truths[2];

static char *path_of(int i)
{
    return write_cached(i ? "views-b.tx" : "views-a.tx", SIZE, SIZE, 4, TXM_TYPE_U8, MADE_NOISE, (unsigned)i + 1);
}

static txm_cache *cache_of(const txm_cache_options *o, uint32_t ids[2])
{
    txm_cache *c = new_cache(o);
    for (int i = 0; i < 2; i++) {
        FREED char *path = path_of(i);
        ids[i] = add_texture(c, path, TXM_EXTENSION_REPEAT);
    }
    return c;
}

static void make_truth(void)
{
    ck_assert_int_eq(txm_texture_set_new(&truth_set, NULL), TXM_OK);
    for (int i = 0; i < 2; i++) {
        FREED char *path = path_of(i);
        ck_assert_int_eq(txm_texture_set_add(truth_set, path, TXM_EXTENSION_REPEAT, &truths[i], NULL), TXM_OK);
        ck_assert_int_eq(txm_texture_set_load_all(truth_set, truths[i], NULL), TXM_OK);
    }
}

static void free_truth(void)
{
    txm_texture_set_free(&truth_set);
}
FIXTURE_ONCE(make_truth, free_truth)

static void is_true(int texture, const txm_lookup *at, const float got[4])
{
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    txm_lookup_state none = {0};
    float want[4];
    ck_assert_int_eq(txm_sample(txm_texture_set_view(truth_set), truths[texture], &how, at, &none, want),
                     TXM_LOOKUP_HIT);
    ck_assert_msg(memcmp(got, want, sizeof want) == 0, "(%g, %g): %g for %g", (double)at->u, (double)at->v,
                  (double)got[0], (double)want[0]);
}

/* Returns a lookup in the middle of tile i of level 0. Of tiles whose first requests have the same place in a view's
 * filter, only one is requested by a launch: tests that count requests use tiles of which no two have. */
static txm_lookup in_tile(uint32_t i)
{
    return at_level(((float)(i % TILES_ACROSS) + 0.5f) / TILES_ACROSS,
                    1 - ((float)(i / TILES_ACROSS % TILES_ACROSS) + 0.5f) / TILES_ACROSS, 0, SIZE);
}

/* Looks up in tiles from `first` on and returns how many are there, after checking their colours. */
static uint32_t look_at_tiles(const txm_view *view, uint32_t id, int texture, uint32_t first, uint32_t count,
                              txm_lookup_state *lane)
{
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    uint32_t there = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const txm_lookup at = in_tile(i);
        float out[4];
        const txm_lookup_result look = txm_sample(view, id, &how, &at, lane, out);
        ck_assert_int_ne(look, TXM_LOOKUP_FAILURE);
        if (look != TXM_LOOKUP_HIT)
            continue;
        is_true(texture, &at, out);
        there++;
    }
    return there;
}

/* ---- batches that run beside launches ---- */

/* With one thread, tiles are loaded by polling alone, 32 at a time. */
TEST(a_batch_is_seen_as_a_whole)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    o.threads = 1;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *first, *second, *none = NULL;
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 70, &lane), 0);
    ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &first, NULL), TXM_OK);
    ck_assert_uint_eq(txm_ticket_total(first), 70);
    ck_assert(!txm_ticket_poll(first));
    ck_assert_uint_eq(txm_ticket_remaining(first), 38);

    /* The next launch sees none of the batch and requests none of it again; it may request other tiles. */
    ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 90, &lane), 0);
    ck_assert_uint_eq(lane.count, 20);
    ck_assert(!txm_ticket_poll(first));
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 90, &lane), 0);
    ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &second, NULL), TXM_OK);
    ck_assert_uint_eq(txm_ticket_total(second), 20);
    ck_assert_uint_eq(stats_of(c).tiles_queued, 90);

    ck_assert(txm_ticket_poll(first));
    ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 90, &lane), 70);
    ck_assert(txm_ticket_poll(second));
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 90, &lane), 70);
    ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 90, &lane), 90);
    ck_assert_uint_eq(stats_of(c).tiles_queued, 0);
    ck_assert(txm_ticket_poll(none));
    txm_ticket_wait(&first);
    txm_ticket_wait(&second);
}

/* Frames never wait: each takes the tiles that are there. All tiles are loaded in the end, also if most tickets are
 * cancelled. */
TEST(frames_do_not_wait)
{
    enum { FRAMES = 1000, TILES = 200 };
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY], there = 0;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_lookup_state lane = {.capacity = 16, .requests = requests}, *lanes = &lane;
    txm_ticket *running = NULL;
    uint64_t s = 1;
    for (int frame = 0; frame < FRAMES; frame++) {
        txm_view view;
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        there = look_at_tiles(&view, ids[1], 1, (uint32_t)frame % 40, TILES, &lane);
        if (running && sample_random(&s) % 4 != 0 && !txm_ticket_poll(running)) {
            lane.count = 0; /* the frame's requests are cancelled */
            continue;
        }
        txm_ticket_cancel(&running);
        ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &running, NULL), TXM_OK);
        if (sample_random(&s) % 2)
            txm_ticket_cancel(&running);
    }
    txm_ticket_wait(&running);
    for (int i = 0; i < 20 && there < TILES; i++) { /* on a slow machine, frames run faster than the loader */
        txm_view view;
        lane.capacity = MANY;
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        there = look_at_tiles(&view, ids[1], 1, 0, TILES, &lane);
        ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &running, NULL), TXM_OK);
        txm_ticket_wait(&running);
    }
    ck_assert_uint_eq(there, TILES);
}

TEST(the_queue_is_bounded)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    o.threads = 1;
    o.max_requests = 50;
    o.max_queued = 80;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket[3];
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    static const uint32_t want[3] = {50, 30, 0};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        look_at_tiles(&view, ids[0], 0, 100, 100, &lane);
        ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &ticket[i], NULL), TXM_OK);
        ck_assert_uint_eq(txm_ticket_total(ticket[i]), want[i]);
    }
    ck_assert_uint_eq(stats_of(c).requests_dropped, 50 + 20 + 20);
    for (int i = 0; i < 3; i++)
        txm_ticket_wait(&ticket[i]);
    ck_assert_uint_eq(stats_of(c).tiles_loaded, 80);
}

TEST(a_launch_has_limits)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    o.threads = 1;
    o.launch_bytes = 10 * 68 * 68 * 4;
    txm_cache *c = cache_of(&o, ids);
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket;
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    for (uint32_t there = 0, launches = 0; there < 25; launches++) {
        ck_assert_uint_lt(launches, 4);
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        there = look_at_tiles(&view, ids[0], 0, 0, 25, &lane);
        ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &ticket, NULL), TXM_OK);
        ck_assert_uint_le(txm_ticket_total(ticket), 10);
        txm_ticket_wait(&ticket);
    }
    txm_cache_free(&c);

    /* Even if the time limit has passed before anything was read, each launch loads one tile. */
    o.launch_bytes = 0;
    o.launch_seconds = 1e-9f;
    c = cache_of(&o, ids);
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    uint32_t there = 0, launches = 0;
    for (; there < 5; launches++) {
        ck_assert_uint_lt(launches, 7);
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        there = look_at_tiles(&view, ids[0], 0, 0, 5, &lane);
        ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &ticket, NULL), TXM_OK);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        txm_ticket_wait(&ticket);
    }
    ck_assert_uint_ge(launches, 5);
    ck_assert_uint_eq(stats_of(c).requests_late, 4 + 3 + 2 + 1);
    txm_cache_free(&c);
}

/* Calls that would change what the view of txm_cache_prepare shows are refused as long as it is open. */
static txm_status end_epoch(txm_cache *c, uint32_t id, txm_error *err)
{
    (void)id, (void)err;
    return txm_cache_end_epoch(c);
}

static txm_status preload(txm_cache *c, uint32_t id, txm_error *err)
{
    return txm_cache_preload(c, id, NULL, err);
}

static txm_status replace(txm_cache *c, uint32_t id, txm_error *err)
{
    return txm_cache_replace(c, id, NULL, err);
}

static txm_status invalidate(txm_cache *c, uint32_t id, txm_error *err)
{
    return txm_cache_invalidate(c, id, NULL, err);
}

static txm_status invalidate_all(txm_cache *c, uint32_t id, txm_error *err)
{
    (void)id;
    return txm_cache_invalidate_all(c, err);
}

static txm_status pin_all(txm_cache *c, uint32_t id, txm_error *err)
{
    const txm_cache_part coarse = {6, 6, 0, 0, 1, 1};
    return txm_cache_pin(c, id, &coarse, err);
}

static txm_status set_max_bytes(txm_cache *c, uint32_t id, txm_error *err)
{
    (void)id;
    return txm_cache_set_max_bytes(c, 4 << 20, err);
}

TEST(an_open_view_refuses_changes)
{
    static const struct {
        const char *name;
        txm_status (*call)(txm_cache *c, uint32_t id, txm_error *err);
        bool says; /* it has an error that says what to do */
    } calls[] = {{"txm_cache_end_epoch", end_epoch, false},  {"txm_cache_preload", preload, true},
                 {"txm_cache_replace", replace, true},       {"txm_cache_unload", txm_cache_unload, true},
                 {"txm_cache_invalidate", invalidate, true}, {"txm_cache_invalidate_all", invalidate_all, true},
                 {"txm_cache_pin", pin_all, true},           {"txm_cache_set_max_bytes", set_max_bytes, true}};
    txm_cache_options o = budget_options(4 << 20, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (int end = 0; end < 2; end++) {
            txm_error err = {0};
            ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
            const uint32_t there = look_at_tiles(&view, ids[0], 0, 0, 60, &lane);
            ck_assert_msg(calls[i].call(c, ids[0], &err) == TXM_STATUS_USAGE, "%s", calls[i].name);
            ck_assert_msg(!calls[i].says || (strstr(err.message, calls[i].name) && strstr(err.message, "close_view")),
                          "%s: %s", calls[i].name, err.message);
            ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 60, &lane), there);
            if (end) {
                ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &ticket, NULL), TXM_OK);
                txm_ticket_wait(&ticket);
            } else {
                lane.count = 0;
                txm_cache_close_view(c);
            }
            ck_assert_msg(calls[i].call(c, ids[0], &err) == TXM_OK, "%s: %s", calls[i].name, err.message);
        }
}

/* The calls that end a view do so however often they are made, and in any order. */
TEST(what_ends_a_view)
{
    txm_cache_options o = budget_options(4 << 20, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket;
    for (int order = 0; order < 8; order++) {
        for (int views = 0; views < 2; views++) {
            ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
            look_at_tiles(&view, ids[0], 0, 0, 60, &lane);
            ck_assert_int_eq(txm_cache_unload(c, ids[1], NULL), TXM_STATUS_USAGE);
        }
        for (int bit = 0; bit < 3; bit++) {
            if (order >> bit & 1) {
                txm_cache_close_view(c);
            } else {
                ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &ticket, NULL), TXM_OK);
                txm_ticket_wait(&ticket);
            }
            ck_assert_int_eq(txm_cache_unload(c, ids[1], NULL), TXM_OK);
        }
        lane.count = 0;
    }
    ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 60, &lane), 60);
}

/* Blocking lookups of other tiles leave those of the view of txm_cache_prepare alone, even if the budget is small. */
TEST(the_own_view_stays)
{
    txm_cache_options o = budget_options(2 << 20, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket;
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    uint32_t there = 0;
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        there = look_at_tiles(&view, ids[0], 0, 0, 60, &lane);
        if (there == 60)
            break;
        ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &ticket, NULL), TXM_OK);
        txm_ticket_wait(&ticket);
    }
    ck_assert_uint_eq(there, 60);
    for (uint32_t i = 0; i < 300; i++) {
        const txm_lookup at = in_tile(i);
        float out[4];
        ck_assert_int_eq(txm_cache_sample(t, ids[1], &how, &at, NULL, out), TXM_LOOKUP_HIT);
    }
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 60, &lane), 60);
    txm_cache_close_view(c);
}

/* Batches pin what they have loaded. A smaller budget takes effect all the same when nothing is missing any more, so
 * that no further batch unpins it: at once for tiles that a view has shown, and otherwise when it has shown them. */
TEST(a_smaller_budget_takes_effect_without_batches)
{
    enum { TILES = 60, SMALL = 1 << 20 };
    for (int way = 0; way < 4; way++) {
        const bool running = way & 1; /* the budget changes while a batch runs */
        txm_cache_options o = budget_options(4 << 20, TXM_CACHE_POLICY_LRU);
        uint32_t ids[2], requests[MANY];
        o.threads = 1;
        SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
        txm_cache_viewer *viewer;
        txm_view view;
        txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
        txm_ticket *ticket;
        ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
        ck_assert_int_eq(txm_cache_viewer_new(c, &viewer, NULL), TXM_OK);
        if (way & 2)
            txm_cache_viewer_never_repeats(viewer);
        ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
        look_at_tiles(&view, ids[0], 0, 0, TILES, &lane);
        ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
        ck_assert_uint_eq(txm_ticket_total(ticket), TILES);
        if (running)
            ck_assert_int_eq(txm_cache_set_max_bytes(c, SMALL, NULL), TXM_OK);
        txm_ticket_wait(&ticket);
        ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
        ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, TILES, &lane), TILES);
        txm_cache_viewer_close(viewer);
        if (!running) {
            ck_assert_uint_gt(stats_of(c).allocated_bytes, SMALL);
            ck_assert_int_eq(txm_cache_set_max_bytes(c, SMALL, NULL), TXM_OK);
        }
        ck_assert_uint_le(stats_of(c).allocated_bytes, SMALL);
        txm_cache_viewer_free(&viewer);
    }
}

/* ---- several viewers ---- */

/* A view does not change while it is open, whatever happens beside it. */
TEST(an_open_view_stays)
{
    txm_cache_options o = budget_options(4 << 20, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_cache_viewer *viewer;
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket;
    uint32_t there = 0;
    ck_assert_int_eq(txm_cache_viewer_new(c, &viewer, NULL), TXM_OK);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
        there = look_at_tiles(&view, ids[0], 0, 0, 60, &lane);
        if (i < 3) {
            ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
            txm_ticket_wait(&ticket);
        }
    }
    ck_assert_uint_eq(there, 60);

    txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    uint32_t again;
    for (uint32_t i = 0; i < 512; i++) { /* far more than the budget holds */
        const txm_lookup at = in_tile(i);
        float out[4];
        ck_assert_int_eq(txm_cache_sample(t, ids[1], &how, &at, NULL, out), TXM_LOOKUP_HIT);
        is_true(1, &at, out);
    }
    lane.count = 0;
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 60, &lane), 60);
    ck_assert_int_eq(txm_cache_unload(c, ids[0], NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_replace(c, ids[0], NULL, NULL), TXM_OK);
    txm_cache_end_epoch(c);
    char *path = path_of(0);
    for (int i = 0; i < 40; i++) /* the arrays are moved */
        add_texture(c, path, TXM_EXTENSION_CLIP);
    free(path);
    ck_assert_int_eq(
        txm_cache_add_udim(c, &(txm_cache_udim){(uint32_t[]){1001}, ids, 1, TXM_NO_TEXTURE, 0, 0}, &again, NULL),
        TXM_OK);
    for (uint32_t i = 0; i < 256; i++) {
        const txm_lookup at = in_tile(i);
        float out[4];
        txm_cache_sample(t, ids[1], &how, &at, NULL, out);
    }
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 60, &lane), 60);
    const txm_cache_stats s = stats_of(c);
    ck_assert_msg(s.allocated_bytes_peak < (4 << 20) + (2 << 20), "%llu bytes",
                  (unsigned long long)s.allocated_bytes_peak);

    /* Nobody looks up in the view any more, so its memory may be reused. */
    txm_cache_viewer_close(viewer);
    for (uint32_t i = 0; i < 256; i++) {
        const txm_lookup at = in_tile(i);
        float out[4];
        txm_cache_sample(t, ids[1], &how, &at, NULL, out);
    }
    ck_assert_uint_le(stats_of(c).allocated_bytes, (4 << 20));
    txm_cache_thread_free(&t);
    txm_cache_viewer_free(&viewer);
    txm_cache_viewer_free(&viewer);
}

/* The views of two viewers overlap all the time, in a budget that holds a third of what they request. Both make
 * progress. */
TEST(viewers_do_not_starve_each_other)
{
    enum { TILES = 250, TOGETHER = 20 };
    txm_cache_options o = budget_options(3 << 20, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[2][MANY], at[2] = {0, 0};
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_cache_viewer *viewers[2];
    txm_view view[2];
    txm_lookup_state lanes[2];
    for (int i = 0; i < 2; i++) {
        lanes[i] = (txm_lookup_state){.capacity = MANY, .requests = requests[i]};
        ck_assert_int_eq(txm_cache_viewer_new(c, &viewers[i], NULL), TXM_OK);
        ck_assert_int_eq(txm_cache_viewer_prepare(viewers[i], &view[i], NULL, NULL), TXM_OK);
    }
    for (int turn = 0; at[0] < TILES || at[1] < TILES; turn++) {
        const int i = turn & 1;
        txm_lookup_state *lane = &lanes[i];
        txm_ticket *ticket;
        ck_assert_msg(turn < 2000, "%u and %u tiles of %u", at[0], at[1], TILES);
        const uint32_t there = look_at_tiles(&view[i], ids[i], i, at[i], TOGETHER, lane);
        at[i] += there == TOGETHER ? TOGETHER : 0;
        ck_assert_int_eq(txm_cache_viewer_process(viewers[i], &lane, 1, &ticket, NULL), TXM_OK);
        txm_ticket_wait(&ticket);
        ck_assert_int_eq(txm_cache_viewer_prepare(viewers[i], &view[i], NULL, NULL), TXM_OK);
    }
    ck_assert_uint_lt(stats_of(c).allocated_bytes_peak, (3 << 20) + (2 << 20));
    for (int i = 0; i < 2; i++)
        txm_cache_viewer_free(&viewers[i]);
}

typedef struct launcher {
    pthread_t thread;
    txm_cache *cache;
    uint32_t id;
    int texture;
} launcher;

/* Launches in a loop and polls the tickets. */
static void *launch_and_poll(void *arg)
{
    launcher *l = arg;
    uint32_t requests[64], done = 0;
    SCOPED(txm_cache_viewer_free) txm_cache_viewer *viewer = NULL;
    txm_lookup_state lane = {.capacity = 64, .requests = requests}, *lanes = &lane;
    txm_ticket *running = NULL;
    ck_assert_int_eq(txm_cache_viewer_new(l->cache, &viewer, NULL), TXM_OK);
    for (int n = 0; done < TILES_ACROSS * TILES_ACROSS; n++) {
        txm_view view;
        ck_assert_int_lt(n, 1000000);
        ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
        done += look_at_tiles(&view, l->id, l->texture, done, 16, &lane) == 16 ? 16 : 0;
        if (!txm_ticket_poll(running)) {
            lane.count = 0;
            continue;
        }
        txm_ticket_wait(&running);
        ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &running, NULL), TXM_OK);
    }
    txm_ticket_cancel(&running);
    return NULL;
}

TEST(viewers_of_many_threads)
{
    txm_cache_options o = budget_options(3 << 20, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2];
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    launcher all[4];
    for (int i = 0; i < 4; i++) {
        all[i] = (launcher){.cache = c, .id = ids[i & 1], .texture = i & 1};
        ck_assert_int_eq(pthread_create(&all[i].thread, NULL, launch_and_poll, &all[i]), 0);
    }
    txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    for (uint32_t i = 0; i < 400; i++) { /* blocking lookups run beside them */
        const txm_lookup at = in_tile(i * 7);
        float out[4];
        ck_assert_int_eq(txm_cache_sample(t, ids[i & 1], &how, &at, NULL, out), TXM_LOOKUP_HIT);
        is_true(i & 1, &at, out);
    }
    txm_cache_thread_free(&t);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i].thread, NULL);
}

/* ---- lists that are too short ---- */

/* Every lookup of a launch misses one of `tiles` tiles, and many miss the same one. A list of 16 is shared by all. */
static uint32_t launches_until_there(bool rejects, uint32_t *first_of_last)
{
    enum { TILES = 200, LIST = 16 };
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[LIST], there = 0, launches = 0;
    o.reject = rejects ? TXM_REJECT_SPREAD : TXM_REJECT_NONE;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_lookup_state lane = {.capacity = LIST, .requests = requests}, *lanes = &lane;
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    *first_of_last = UINT32_MAX;
    for (; there < TILES; launches++) {
        txm_view view;
        txm_ticket *ticket;
        ck_assert_uint_lt(launches, 400);
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        for (int often = 0; often < 20; often++)
            look_at_tiles(&view, ids[0], 0, 0, 20, &lane);
        there = look_at_tiles(&view, ids[0], 0, 0, TILES, &lane);
        if (*first_of_last == UINT32_MAX && look_at_tiles(&view, ids[0], 0, TILES - 20, 20, &lane))
            *first_of_last = launches;
        ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &ticket, NULL), TXM_OK);
        ck_assert_uint_le(txm_ticket_total(ticket), LIST);
        ck_assert_uint_eq(lane.asked + lane.rejected + lane.full, 0);
        txm_ticket_wait(&ticket);
    }
    const txm_cache_stats s = stats_of(c);
    ck_assert_uint_gt(s.requests_full, 0);
    ck_assert_uint_gt(s.requests_made, s.requests_full + s.requests_rejected);
    ck_assert(rejects ? s.requests_rejected > 0 : s.requests_rejected == 0);
    return launches;
}

TEST(nothing_starves)
{
    uint32_t in_order, at_random;
    launches_until_there(false, &in_order);
    launches_until_there(true, &at_random);
    ck_assert_msg(at_random < in_order, "the last tiles come in launch %u with rejection, %u without", at_random,
                  in_order);
}

/* How many requests a list of 16 has in the last of some launches with 4000 lookups that miss one of 20 tiles. */
static uint32_t listed_at_last(txm_reject how)
{
    enum { LIST = 16, LAUNCHES = 60, TILES = 20 };
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[LIST], listed = 0;
    o.reject = how;
    o.threads = 1;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_lookup_state lane = {.capacity = LIST, .requests = requests}, *lanes = &lane;
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    for (int i = 0; i < LAUNCHES; i++) {
        txm_view view;
        txm_ticket *ticket;
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        for (int often = 0; often < 200; often++)
            ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, TILES, &lane), 0);
        listed = lane.count;
        ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &ticket, NULL), TXM_OK);
        txm_ticket_cancel(&ticket);
    }
    return listed;
}

/* The number of requests that the lists hold does not decay with SPREAD; with Disney's formula it does. */
TEST(short_lists_stay_full)
{
    ck_assert_uint_eq(listed_at_last(TXM_REJECT_NONE), 16);
    ck_assert_uint_ge(listed_at_last(TXM_REJECT_SPREAD), 7);
    ck_assert_uint_le(listed_at_last(TXM_REJECT_UNIQUE), 4);
}

/* ---- requests that are kept, portions, launches that evict nothing ---- */

TEST(requests_live_until_they_are_served)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    o.threads = 1;
    o.max_requests = 25;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    SCOPED(txm_cache_viewer_free) txm_cache_viewer *viewer = NULL;
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket;
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_viewer_new(c, &viewer, NULL), TXM_OK);
    for (uint32_t frame = 0; frame < 3; frame++) {
        ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
        look_at_tiles(&view, ids[0], 0, frame * 10, 10, &lane);
        ck_assert_uint_eq(lane.count, 10);
        if (frame < 2)
            txm_cache_viewer_keep(viewer, &lanes, 1);
        ck_assert_uint_eq(lane.count, frame < 2 ? 0 : 10);
    }
    /* Those that were kept come first.
     */
    ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
    ck_assert_uint_eq(txm_ticket_total(ticket), 25);
    txm_ticket_wait(&ticket);
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 20, &lane), 20);
    lane.count = 0;
    /* The oldest go if there are too many; and a texture that is replaced takes its requests with it. */
    look_at_tiles(&view, ids[0], 0, 100, 30, &lane);
    txm_cache_viewer_keep(viewer, &lanes, 1);
    ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
    ck_assert_uint_eq(txm_ticket_total(ticket), 25);
    txm_ticket_wait(&ticket);
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 105, 25, &lane), 25);
    look_at_tiles(&view, ids[0], 0, 200, 10, &lane);
    txm_cache_viewer_keep(viewer, &lanes, 1);
    ck_assert_int_eq(txm_cache_replace(c, ids[0], NULL, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
    ck_assert_uint_eq(txm_ticket_total(ticket), 0);
    txm_ticket_wait(&ticket);
}

/* With one thread, each poll loads 32 tiles. What a view has shown stays in the next ones. */
TEST(a_long_batch_is_shown_in_portions)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    o.threads = 1;
    for (int bound = 0; bound < 3; bound++) {
        o.show_seconds = bound == 0 ? 0.0f : bound == 1 ? 1e-9f : 1e9f;
        SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
        txm_view view;
        txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
        txm_ticket *ticket;
        ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        look_at_tiles(&view, ids[0], 0, 100, 100, &lane);
        ck_assert_int_eq(txm_cache_process(c, &lanes, 1, &ticket, NULL), TXM_OK);
        ck_assert_uint_eq(txm_ticket_total(ticket), 100);
        for (uint32_t there = 32; there <= 128; there += 32) {
            ck_assert_int_eq(txm_ticket_poll(ticket), there >= 100);
            for (int again = 0; again < 2; again++) {
                ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
                lane.count = 0;
                ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 100, 100, &lane), there >= 100 ? 100
                                                                                    : bound == 1 ? there
                                                                                                 : 0);
            }
        }
        txm_ticket_wait(&ticket);
    }
}

TEST(a_launch_may_leave_all_tiles_there)
{
    txm_cache_options o = budget_options(2 << 20, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY], all = 0;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    SCOPED(txm_cache_viewer_free) txm_cache_viewer *viewer = NULL;
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket;
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_viewer_new(c, &viewer, NULL), TXM_OK);
    txm_cache_viewer_evicts(viewer, false);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
        look_at_tiles(&view, ids[0], 0, i * 30, 30, &lane);
        ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
        all += txm_ticket_total(ticket);
        txm_ticket_wait(&ticket);
    }
    ck_assert(all > 0 && all < 240); /* 240 tiles take more than twice the budget */
    ck_assert_uint_eq(stats_of(c).tiles_evicted, 0);
    ck_assert_uint_eq(stats_of(c).tiles, all);
    txm_cache_viewer_evicts(viewer, true);
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    lane.count = 0;
    look_at_tiles(&view, ids[0], 0, 210, 30, &lane);
    ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
    txm_ticket_wait(&ticket);
    ck_assert_uint_gt(stats_of(c).tiles_evicted, 0);
}

/* ---- stand-ins ---- */

static void check_stand_ins(uint32_t kind)
{
    txm_cache_options o = budget_options(8 << 20, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2];
    o.stand_in = kind;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_view view;
    float got[4], coarse[4];
    txm_lookup_state lane = {0};
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = in_tile(77), far = at_level(at.u, at.v, 4, SIZE);
    how.on_miss = TXM_ON_MISS_COARSER;
    ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
    ck_assert_int_eq(txm_sample(&view, ids[0], &how, &at, &lane, got), TXM_LOOKUP_MISS);
    txm_sample(txm_texture_set_view(truth_set), truths[0], &how, &far, &lane, coarse);
    for (int i = 0; i < 4; i++)
        ck_assert_float_eq_tol(got[i], kind == TXM_STAND_IN_KIND_TILE ? coarse[i] : view.textures[ids[0]].average[i],
                               1e-6f);
    ck_assert_float_ne(view.textures[ids[0]].average[0], 0.5f);
    ck_assert_uint_eq(stats_of(c).kept_bytes, kind == TXM_STAND_IN_KIND_TILE ? 2 * 68 * 68 * 4 : 0);

    /* They stay however many tiles are requested, and come back after they were invalidated. */
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    how.on_miss = TXM_ON_MISS_AVERAGE;
    for (uint32_t i = 0; i < 1000; i++) {
        const txm_lookup there = in_tile(i);
        ck_assert_int_eq(txm_cache_sample(t, ids[i & 1], &how, &there, NULL, got), TXM_LOOKUP_HIT);
    }
    ck_assert_int_eq(txm_cache_unpin(c, ids[0], NULL, NULL), TXM_OK);
    txm_cache_close_view(c);
    ck_assert_int_eq(txm_cache_invalidate(c, ids[1], NULL, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_replace(c, ids[0], NULL, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).kept_bytes, kind == TXM_STAND_IN_KIND_TILE ? 2 * 68 * 68 * 4 : 0);
}

TEST(stand_ins_are_there_from_the_beginning)
{
    check_stand_ins(TXM_STAND_IN_KIND_AVERAGE);
    check_stand_ins(TXM_STAND_IN_KIND_TILE);
}

/* ---- parts ---- */

TEST(pinned_tiles_stay)
{
    txm_cache_options o = budget_options(4 << 20, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2];
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    txm_error err;
    const txm_cache_part part = {0, 0, 0.0f, 0.5f, 0.5f, 1.0f}; /* 64 tiles */
    const txm_cache_part corner = {0, 0, 0.0f, 0.9f, 0.1f, 1.0f};
    ck_assert_int_eq(txm_cache_pin(c, ids[0], &part, &err), TXM_OK);
    ck_assert_int_eq(txm_cache_pin(c, ids[0], &corner, &err), TXM_OK); /* once more */
    ck_assert_uint_eq(stats_of(c).kept_bytes, 64 * 68 * 68 * 4);
    ck_assert_int_eq(txm_cache_pin(c, ids[1], NULL, &err), TXM_STATUS_TOO_LARGE);
    ck_assert_int_eq(txm_cache_pin(c, 99, NULL, &err), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_pin(c, ids[1], &(txm_cache_part){.u1 = NAN}, &err), TXM_STATUS_USAGE);
    ck_assert_uint_eq(stats_of(c).kept_bytes, 64 * 68 * 68 * 4);

    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    float out[4];
    for (uint32_t i = 0; i < 1000; i++) {
        const txm_lookup at = in_tile(i);
        ck_assert_int_eq(txm_cache_sample(t, ids[1], &how, &at, NULL, out), TXM_LOOKUP_HIT);
    }
    txm_cache_end_epoch(c);
    const uint64_t loaded = stats_of(c).tiles_loaded;
    for (uint32_t i = 0; i < 64; i++) {
        const txm_lookup at = in_tile(i % 8 + i / 8 * TILES_ACROSS);
        ck_assert_int_eq(txm_cache_sample(t, ids[0], &how, &at, NULL, out), TXM_LOOKUP_HIT);
        is_true(0, &at, out);
    }
    ck_assert_uint_eq(stats_of(c).tiles_loaded, loaded);
    ck_assert_int_eq(txm_cache_unpin(c, ids[0], NULL, &err), TXM_OK);
    ck_assert_uint_eq(stats_of(c).kept_bytes, 0);
    for (uint32_t i = 0; i < 1000; i++) {
        const txm_lookup at = in_tile(i);
        txm_cache_sample(t, ids[1], &how, &at, NULL, out);
    }
    const txm_lookup at = in_tile(0);
    txm_cache_sample(t, ids[0], &how, &at, NULL, out);
    ck_assert_uint_gt(stats_of(c).tiles_loaded, loaded);
}

/* Pixels read before an invalidation, or during one, are not shown after it. */
TEST(invalidated_tiles_are_read_again)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    uint32_t ids[2], requests[MANY];
    o.threads = 1;
    SCOPED(txm_cache_free) txm_cache *c = cache_of(&o, ids);
    SCOPED(txm_cache_viewer_free) txm_cache_viewer *viewer = NULL;
    txm_view view;
    txm_lookup_state lane = {.capacity = MANY, .requests = requests}, *lanes = &lane;
    txm_ticket *ticket;
    const txm_cache_part first_row = {0, 0, 0.0f, 1.0f - 0.5f / TILES_ACROSS, 1.0f, 1.0f};
    ck_assert_int_eq(txm_cache_viewer_new(c, &viewer, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_register(c, ids[0], NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    look_at_tiles(&view, ids[0], 0, 0, 32, &lane);
    ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
    txm_ticket_wait(&ticket);
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_invalidate(c, ids[0], &first_row, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 32, &lane), 32); /* an open view does not change */
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 32, &lane), 16);
    ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
    ck_assert_uint_eq(txm_ticket_total(ticket), 16);
    ck_assert_int_eq(txm_cache_invalidate(c, ids[0], NULL, NULL), TXM_OK); /* while it is being loaded */
    txm_ticket_wait(&ticket);
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 32, &lane), 0);
    ck_assert_int_eq(txm_cache_viewer_process(viewer, &lanes, 1, &ticket, NULL), TXM_OK);
    txm_ticket_wait(&ticket);
    ck_assert_int_eq(txm_cache_viewer_prepare(viewer, &view, NULL, NULL), TXM_OK);
    ck_assert_uint_eq(look_at_tiles(&view, ids[0], 0, 0, 32, &lane), 32);
    ck_assert_uint_eq(stats_of(c).tiles_loaded, 64);
    ck_assert_int_eq(txm_cache_invalidate(c, 99, NULL, NULL), TXM_STATUS_USAGE);
}

/* ---- defaults ---- */

TEST(defaults_suit_renderers)
{
    txm_cache_options o, cycles;
    txm_cache_options_init(&o);
    txm_cache_options_init_cycles(&cycles);
    ck_assert_uint_eq(o.policy, TXM_CACHE_POLICY_LRU);
    ck_assert_uint_eq(cycles.policy, TXM_CACHE_POLICY_RENDER_TILES);
    o.stand_in = 9;
    SCOPED(txm_cache_free) txm_cache *c = NULL;
    txm_error err;
    ck_assert_int_eq(txm_cache_new(&o, &c, &err), TXM_STATUS_USAGE);
    o.stand_in = 0;
    o.max_queued = 0;
    ck_assert_int_eq(txm_cache_new(&o, &c, &err), TXM_STATUS_USAGE);
    o.max_queued = 1;
    o.launch_seconds = NAN;
    ck_assert_int_eq(txm_cache_new(&o, &c, &err), TXM_STATUS_USAGE);

    /* Memory stays within the budget even if no epoch ever ends. */
    uint32_t ids[2];
    txm_cache_options_init(&o);
    o.max_bytes = 2 << 20;
    c = cache_of(&o, ids);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    for (uint32_t i = 0; i < 1000; i++) {
        const txm_lookup at = in_tile(i);
        float out[4];
        ck_assert_int_eq(txm_cache_sample(t, ids[0], &how, &at, NULL, out), TXM_LOOKUP_HIT);
        is_true(0, &at, out);
    }
    ck_assert_uint_le(stats_of(c).allocated_bytes_peak, (2 << 20) + (512 << 10));
}
