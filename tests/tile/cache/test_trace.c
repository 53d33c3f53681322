/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces are read as caches write them; replays give the cache's counts; the optimum is optimal; damaged files are
 * refused.
 */
#include <fcntl.h>
#include <math.h>

#include "tile/record/recorder.h"
#include "tile/sample/view_file.h"
#include "txtile/trace.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

enum { FILES = 5 };

static txm_cache_options options(uint64_t max_bytes, uint32_t policy)
{
    txm_cache_options o;
    txm_cache_options_init(&o);
    o.max_bytes = max_bytes;
    o.policy = policy;
    o.threads = 1;
    return o;
}

/* Makes a cache of several kinds of files: with one, three and four channels, and with a single colour. */
static txm_cache *cache_of_files(const txm_cache_options *o, uint32_t ids[FILES])
{
    char *paths[FILES] = {write_cached("a.tx", 1024, 1024, 4, TXM_TYPE_U8, MADE_NOISE, 1),
                          write_cached("b.tx", 1024, 512, 1, TXM_TYPE_U8, MADE_NOISE, 2),
                          write_cached("c.tx", 500, 700, 4, TXM_TYPE_HALF, MADE_NOISE, 3),
                          write_cached("d.tx", 600, 300, 3, TXM_TYPE_U8, MADE_NOISE, 4),
                          write_cached("e.tx", 512, 512, 4, TXM_TYPE_U8, MADE_CONSTANT, 5)};
    txm_cache *c = new_cache(o);
    for (int i = 0; i < FILES; i++) {
        ids[i] = add_texture(c, paths[i], (txm_extension)(i % 4));
        free(paths[i]);
    }
    return c;
}

static txm_lookup random_place(uint64_t *state)
{
    float step = exp2f(4 * unit(state)) / 1024;
    txm_lookup at = {1.4f * unit(state) - 0.2f, 1.4f * unit(state) - 0.2f, step, 0, 0, step};
    return at;
}

/* One thread looks up, with epochs; returns what the cache counted. */
static txm_cache_stats walk(txm_cache *c, const uint32_t ids[FILES], const char *trace, uint32_t records)
{
    uint64_t state = 99;
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    ck_assert_int_eq(txm_cache_trace_start(c, trace, records, NULL), TXM_OK);
    for (int i = 0; i < 3000; i++) {
        static const txm_level_mode modes[] = {TXM_LEVEL_MODE_TRILINEAR, TXM_LEVEL_MODE_STOCHASTIC,
                                               TXM_LEVEL_MODE_FLOOR};
        txm_sampler how = sampler(modes[sample_random(&state) % 3]);
        how.rule = sample_random(&state) % 8 ? TXM_LEVEL_RULE_CYCLES : TXM_LEVEL_RULE_PROBES;
        how.filter = sample_random(&state) % 4 ? TXM_FILTER_LINEAR : TXM_FILTER_STOCHASTIC_LANCZOS;
        txm_lookup at = random_place(&state);
        uint32_t random = (uint32_t)sample_random(&state) | 1;
        float out[4];
        txm_cache_sample(t, ids[sample_random(&state) % FILES], &how, &at, &random, out);
        if (i % 500 == 499)
            txm_cache_end_epoch(c);
    }
    txm_error err = {0};
    ck_assert_msg(txm_cache_trace_stop(c, &err) == TXM_OK, "%s", err.message);
    txm_cache_stats s = stats_of(c);
    return s;
}

static txm_trace *open_trace(const char *path)
{
    txm_trace *trace = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_trace_open(path, &trace, &err) == TXM_OK, "%s", err.message);
    return trace;
}

static txm_replay_counts replay(const txm_trace *trace, uint64_t max_bytes, uint32_t policy)
{
    txm_replay_options o;
    txm_replay_counts counts;
    txm_error err = {0};
    txm_replay_options_init(&o);
    o.max_bytes = max_bytes;
    o.policy = policy;
    ck_assert_msg(txm_replay(trace, &o, &counts, &err) == TXM_OK, "%s", err.message);
    return counts;
}

static const uint64_t budgets[] = {600 << 10, 1 << 20, 2 << 20, 5 << 20, 0};
enum { BUDGETS = sizeof budgets / sizeof *budgets };

/* Replayed with the policy and budget of the cache that wrote the trace, the counts are that cache's, to the last
 * tile. Every policy and every budget, and thorough tests try all pairs. */
TESTS(replays_count_what_the_cache_counted, BUDGETS)
{
    FREED char *path = strdup(temp_file("t.trace"));
    uint32_t ids[FILES];
    for (uint32_t policy = 0; policy < POLICIES; policy++) {
        if (!thorough() && (policy + (uint32_t)_i) % 4)
            continue;
        txm_cache_options o = options(budgets[_i], policy);
        SCOPED(txm_cache_free) txm_cache *c = cache_of_files(&o, ids);
        txm_cache_stats s = walk(c, ids, path, TXM_TRACE_TILES);
        SCOPED(txm_trace_free) txm_trace *trace = open_trace(path);
        const txm_trace_info *info = txm_trace_info_of(trace);
        ck_assert_uint_eq(info->policy, policy);
        ck_assert_uint_eq(info->max_bytes, budgets[_i]);
        ck_assert_uint_eq(info->tiles_loaded, s.tiles_loaded);
        ck_assert_uint_eq(info->tiles_reloaded, s.tiles_reloaded);
        ck_assert_uint_eq(info->lookups, 3000);
        ck_assert_uint_eq(info->textures, FILES);
        ck_assert_uint_gt(info->constants, 0);
        txm_replay_counts r = replay(trace, budgets[_i], policy);
        ck_assert_uint_eq(r.reads, s.tiles_loaded);
        ck_assert_uint_eq(r.reads_again, s.tiles_reloaded);
        ck_assert_uint_eq(r.evicted, s.tiles_evicted);
        ck_assert_uint_eq(r.read_bytes, s.loaded_bytes);
        ck_assert_uint_eq(r.peak_bytes, s.tile_bytes_peak);
        ck_assert_uint_gt(r.reads, 500);
    }
}

/* No policy reads less than the optimum, which knows the future, and the optimum never reads more with more memory. */
TEST(the_optimum_is_a_bound)
{
    FREED char *path = strdup(temp_file("t.trace"));
    uint32_t ids[FILES];
    txm_cache_options o = options(1 << 20, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = cache_of_files(&o, ids);
    walk(c, ids, path, TXM_TRACE_TILES);
    SCOPED(txm_trace_free) txm_trace *trace = open_trace(path);
    txm_replay_counts all = replay(trace, 0, TXM_CACHE_POLICY_NONE), before = {0};
    ck_assert_uint_eq(all.reads_again, 0);
    for (uint64_t bytes = 200 << 10; bytes < 16 << 20; bytes = bytes * 5 / 4) {
        txm_replay_counts best = replay(trace, bytes, TXM_REPLAY_OPT);
        ck_assert_uint_eq(best.tiles, all.tiles);
        ck_assert_uint_eq(best.tile_bytes, all.tile_bytes);
        ck_assert_uint_eq(best.lookups, all.lookups);
        ck_assert_uint_le(best.peak_bytes, bytes);
        if (before.reads) {
            ck_assert_uint_le(best.reads, before.reads);
            ck_assert_uint_le(best.read_bytes, before.read_bytes);
        }
        before = best;
        for (uint32_t k = 0; k < BOUNDED_POLICIES && bytes > 600 << 10; k++) {
            txm_replay_counts r = replay(trace, bytes, bounded_policy(k));
            ck_assert_uint_ge(r.read_bytes, best.read_bytes);
            ck_assert_uint_ge(r.reads, best.reads);
        }
    }
    ck_assert_uint_eq(before.reads, all.reads);
    ck_assert_uint_eq(before.read_bytes, all.tile_bytes);
}

/* Returns the fewest reads for a list of uses of tiles 0 to 7 with room for `room` of them, by trying every choice. */
static uint32_t fewest_reads(const uint8_t *uses, int count, int room)
{
    static uint32_t now[256], next[256];
    memset(now, 0xFF, sizeof now);
    now[0] = 0;
    for (int i = 0; i < count; i++) {
        unsigned bit = 1u << uses[i];
        memset(next, 0xFF, sizeof next);
        for (unsigned held = 0; held < 256; held++) {
            if (now[held] == UINT32_MAX)
                continue;
            unsigned with = held | bit;
            uint32_t cost = now[held] + !(held & bit);
            for (unsigned kept = with;; kept = (kept - 1) & with) { /* every subset that contains the tile */
                if (kept & bit && __builtin_popcount(kept) <= room && cost < next[kept])
                    next[kept] = cost;
                if (!kept)
                    break;
            }
        }
        memcpy(now, next, sizeof now);
    }
    uint32_t best = UINT32_MAX;
    for (int i = 0; i < 256; i++)
        best = now[i] < best ? now[i] : best;
    return best;
}

TEST(the_optimum_is_reached)
{
    enum { USES = 60 };
    FREED char *path = strdup(temp_file("t.trace")), *tx = write_cached("a.tx", 512, 64, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    uint64_t state = 7;
    for (int round = 0; round < 20; round++) {
        uint8_t uses[USES];
        int count = 0;
        SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
        SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
        uint32_t id = add_texture(c, tx, TXM_EXTENSION_EXTEND), tile_bytes = 68 * 68 * 4;
        txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
        txm_cache_trace_start(c, path, TXM_TRACE_TILES, NULL);
        for (int i = 0; i < USES; i++) {
            float out[4];
            uses[count] = (uint8_t)(sample_random(&state) % 8);
            txm_lookup at = {((float)uses[count] + 0.5f) / 8, 0.5f, 1.0f / 512, 0, 0, 1.0f / 64};
            count += !count || uses[count] != uses[count - 1];
            txm_cache_sample(t, id, &how, &at, NULL, out);
        }
        ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
        SCOPED(txm_trace_free) txm_trace *trace = open_trace(path);
        for (int room = 1; room <= 8; room++) {
            txm_replay_counts r = replay(trace, (uint64_t)room * tile_bytes + 1000, TXM_REPLAY_OPT);
            ck_assert_uint_eq(r.reads, fewest_reads(uses, count, room));
            ck_assert_uint_eq(r.lookups, (unsigned)count);
        }
    }
}

/* Returns all tiles of a trace, one line for each lookup; to be freed. */
static char *tiles_of(const txm_trace *trace, txm_trace_event_kind kind)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    txm_trace_cursor *cursor;
    txm_trace_event e;
    ck_assert_int_eq(txm_trace_cursor_new(trace, &cursor, NULL), TXM_OK);
    while (txm_trace_next(cursor, &e, NULL) == TXM_OK && e.kind != TXM_TRACE_EVENT_END) {
        if (e.kind == TXM_TRACE_EVENT_EPOCH)
            fputs("epoch\n", out);
        for (uint32_t i = 0; e.kind == kind && i < e.tile_count; i++)
            fprintf(out, "%u.%u.%u%c", e.tiles[i].texture, e.tiles[i].level, e.tiles[i].tile,
                    i + 1 < e.tile_count ? ' ' : '\n');
    }
    txm_trace_cursor_free(&cursor);
    fclose(out);
    return text;
}

/* Lookups in a trace give the tiles that were traced beside them, apart from repetitions, which are not traced. */
TEST(look_ups_and_tiles_agree)
{
    FREED char *path = strdup(temp_file("t.trace")), *other = strdup(temp_file("u.trace"));
    uint32_t ids[FILES];
    for (int i = 0; i < 2; i++) {
        txm_cache_options o = options(2 << 20, TXM_CACHE_POLICY_LRU);
        SCOPED(txm_cache_free) txm_cache *c = cache_of_files(&o, ids);
        walk(c, ids, i ? other : path, i ? TXM_TRACE_LOOKUPS : TXM_TRACE_TILES | TXM_TRACE_LOOKUPS);
    }
    SCOPED(txm_trace_free) txm_trace *both = open_trace(path), *alone = open_trace(other);
    txm_trace_cursor *cursor;
    txm_trace_event e;
    uint64_t state = 99;
    ck_assert_int_eq(txm_trace_cursor_new(both, &cursor, NULL), TXM_OK);
    int count = 0;
    while (txm_trace_next(cursor, &e, NULL) == TXM_OK && e.kind != TXM_TRACE_EVENT_END) {
        if (e.kind != TXM_TRACE_EVENT_LOOKUP)
            continue;
        uint64_t mode = sample_random(&state) % 3;
        sample_random(&state), sample_random(&state);
        txm_lookup at = random_place(&state);
        ck_assert(memcmp(&at, &e.at, sizeof at) == 0);
        ck_assert_uint_eq(e.random, (uint32_t)sample_random(&state) | 1);
        ck_assert_uint_eq(e.how.mode, mode == 0   ? TXM_LEVEL_MODE_TRILINEAR
                                      : mode == 1 ? TXM_LEVEL_MODE_STOCHASTIC
                                                  : TXM_LEVEL_MODE_FLOOR);
        char name = strrchr(txm_trace_texture_at(both, e.texture)->path, '/')[1];
        ck_assert_int_eq(name, 'a' + (int)(sample_random(&state) % FILES));
        ck_assert_uint_eq(e.epoch, (unsigned)count / 500);
        count++;
    }
    ck_assert_int_eq(count, 3000);
    txm_trace_cursor_free(&cursor);
    txm_replay_counts a = replay(both, 2 << 20, TXM_CACHE_POLICY_LRU);
    txm_replay_counts b = replay(alone, 2 << 20, TXM_CACHE_POLICY_LRU);
    ck_assert_uint_eq(a.reads, b.reads);
    ck_assert_uint_eq(a.tile_bytes, b.tile_bytes);
    ck_assert_uint_eq(replay(both, 1 << 20, TXM_REPLAY_OPT).reads, replay(alone, 1 << 20, TXM_REPLAY_OPT).reads);
    FREED char *text = tiles_of(alone, TXM_TRACE_EVENT_LOOKUP);
    ck_assert_ptr_nonnull(strstr(text, "epoch\n"));
}

/* Lookups in prepared views are in the trace once each, in the order of lanes and launches, however often they
 * missed. */
TEST(waves_are_traced)
{
    enum { LANES = 4, LOOKUPS = 200 };
    char *path = strdup(temp_file("t.trace")), *texts[2];
    uint32_t ids[FILES];
    for (int run = 0; run < 2; run++) {
        txm_cache_options o = options(run ? 64 << 20 : 1 << 20, TXM_CACHE_POLICY_LRU);
        SCOPED(txm_cache_free) txm_cache *c = cache_of_files(&o, ids);
        ck_assert_int_eq(txm_cache_trace_start(c, path, TXM_TRACE_TILES | TXM_TRACE_LOOKUPS, NULL), TXM_OK);
        txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
        for (int lane = 0; lane < LANES; lane++)
            for (int i = 0; i < LOOKUPS; i++) {
                uint64_t state = (uint64_t)(lane * LOOKUPS + i) * 977 + 5;
                txm_lookup at = random_place(&state);
                uint32_t id = ids[sample_random(&state) % FILES], requests[16];
                for (txm_lookup_result look = TXM_LOOKUP_MISS; look == TXM_LOOKUP_MISS;) {
                    txm_view view;
                    txm_ticket *ticket;
                    txm_lookup_state missed = {.capacity = 16, .requests = requests}, *lanes[] = {&missed};
                    float out[4];
                    txm_cache_prepare(c, &view, NULL, NULL);
                    look = txm_sample(&view, id, &how, &at, &missed, out);
                    if (look != TXM_LOOKUP_MISS)
                        txm_cache_trace_lookup(c, (uint32_t)lane, id, &how, &at, 0);
                    ck_assert_int_eq(txm_cache_process(c, lanes, 1, &ticket, NULL), TXM_OK);
                    txm_ticket_wait(&ticket);
                }
            }
        ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
        SCOPED(txm_trace_free) txm_trace *trace = open_trace(path);
        texts[run] = tiles_of(trace, TXM_TRACE_EVENT_TILES);
        txm_trace_cursor *cursor;
        txm_trace_event e;
        unsigned lookups = 0, launches = 0;
        ck_assert_int_eq(txm_trace_cursor_new(trace, &cursor, NULL), TXM_OK);
        while (txm_trace_next(cursor, &e, NULL) == TXM_OK && e.kind != TXM_TRACE_EVENT_END) {
            launches += e.kind == TXM_TRACE_EVENT_LAUNCH;
            if (e.kind == TXM_TRACE_EVENT_LOOKUP)
                ck_assert_uint_eq(e.thread, 0x80000000u + lookups++ / LOOKUPS);
        }
        ck_assert_uint_eq(lookups, LANES * LOOKUPS);
        ck_assert_uint_eq(launches, LANES * LOOKUPS); /* one lookup each */
        txm_trace_cursor_free(&cursor);
        ck_assert_uint_gt(replay(trace, 1 << 20, TXM_CACHE_POLICY_LRU).reads, 500);
    }
    ck_assert_str_eq(texts[0], texts[1]); /* whatever the budget */
    free(texts[0]);
    free(texts[1]);
    free(path);
}

/* ---- failures ---- */

/* A texture of tiles in memory, whose reads of the finest level fail until `passes` is set. */
typedef struct failing {
    txm_status status;
    bool passes;
} failing;

static txm_status describe_failing(void *user, txm_tile_shape *shape, txm_error *err)
{
    (void)user, (void)err;
    shape->width = shape->height = 256;
    shape->levels = 2;
    shape->tile_px = 64;
    shape->channels = 1;
    shape->type = TXM_TYPE_FLOAT;
    return TXM_OK;
}

static txm_status read_failing(void *user, uint32_t level, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                               void *pixels, size_t row_stride_bytes, txm_error *err)
{
    const failing *f = user;
    (void)err;
    for (uint32_t row = 0; row < height; row++)
        for (uint32_t i = 0; i < width; i++)
            ((float *)(void *)((uint8_t *)pixels + row * row_stride_bytes))[i] = (float)((x + i) * 1000 + y + row);
    return level || f->passes ? TXM_OK : f->status;
}

/* A tile that could not be read was not used: replays and the optimum count what the cache has read. If a later attempt
 * succeeds, the lookup of that attempt has used it. */
TESTS(failed_tiles_are_not_used, 2)
{
    static const txm_status causes[] = {TXM_STATUS_CORRUPT, TXM_STATUS_IO};
    FREED char *path = strdup(temp_file("t.trace"));
    failing f = {.status = causes[_i]};
    const bool passes = f.status == TXM_STATUS_IO;
    const txm_tile_source source = {sizeof source, &f, describe_failing, read_failing, NULL};
    const txm_cache_options o = options(0, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    const txm_lookup both = {0.1f, 0.9f, 1.5f / 256, 0, 0, 1.5f / 256},
                     coarse = {0.6f, 0.1f, 2.0f / 256, 0, 0, 2.0f / 256};
    uint32_t id;
    float out[4];
    ck_assert_int_eq(txm_cache_add_source(c, "failing", &source, TXM_EXTENSION_REPEAT, &id, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_trace_start(c, path, TXM_TRACE_TILES, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_sample(t, id, &how, &both, NULL, out), TXM_LOOKUP_FAILURE);
    ck_assert_int_eq(txm_cache_sample(t, id, &how, &coarse, NULL, out), TXM_LOOKUP_HIT);
    f.passes = true;
    txm_lookup_result again = TXM_LOOKUP_FAILURE;
    for (int i = 0; i < 10000 && again == TXM_LOOKUP_FAILURE; i++)
        again = txm_cache_sample(t, id, &how, &both, NULL, out);
    ck_assert_int_eq(again, passes ? TXM_LOOKUP_HIT : TXM_LOOKUP_FAILURE);
    ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
    const txm_cache_stats s = stats_of(c);
    SCOPED(txm_trace_free) txm_trace *trace = open_trace(path);
    char *text = tiles_of(trace, TXM_TRACE_EVENT_TILES);
    ck_assert_str_eq(text, passes ? "0.1.0\n0.1.3\n0.0.0 0.1.0\n" : "0.1.0\n0.1.3\n0.1.0\n");
    free(text);
    ck_assert_uint_eq(s.tiles_loaded, passes ? 3 : 2);
    ck_assert_uint_eq(replay(trace, 0, TXM_CACHE_POLICY_LRU).reads, s.tiles_loaded);
    ck_assert_uint_eq(replay(trace, 0, TXM_REPLAY_OPT).reads, s.tiles_loaded);
}

/* When a number is reused for another file, it is a different texture, and the old one's tiles are dropped. */
TEST(replaced_files_are_other_textures)
{
    char *path = strdup(temp_file("t.trace")), *tx[] = {write_cached("a.tx", 256, 256, 4, TXM_TYPE_U8, MADE_NOISE, 1),
                                                        write_cached("b.tx", 128, 128, 4, TXM_TYPE_U8, MADE_NOISE, 2)};
    txm_cache *c = new_cache(NULL);
    txm_cache_thread *t = new_thread(c);
    uint32_t id = add_texture(c, tx[0], TXM_EXTENSION_REPEAT);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = {0.1f, 0.9f, 1e-5f, 0, 0, 1e-5f};
    float out[4];
    txm_cache_trace_start(c, path, TXM_TRACE_TILES, NULL);
    for (int i = 0; i < 3; i++) {
        if (i)
            ck_assert_int_eq(txm_cache_replace(c, id, tx[i % 2], NULL), TXM_OK);
        txm_cache_sample(t, id, &how, &at, NULL, out);
    }
    ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
    txm_trace *trace = open_trace(path);
    ck_assert_uint_eq(txm_trace_info_of(trace)->textures, 3);
    ck_assert_uint_eq(txm_trace_texture_at(trace, 1)->width, 128);
    ck_assert_ptr_null(txm_trace_texture_at(trace, 3));
    char *text = tiles_of(trace, TXM_TRACE_EVENT_TILES);
    ck_assert_str_eq(text, "0.0.0\n1.0.0\n2.0.0\n");
    free(text);
    txm_replay_counts r = replay(trace, 0, TXM_CACHE_POLICY_LRU);
    ck_assert_uint_eq(r.reads, 3);
    ck_assert_uint_eq(r.evicted, 2);
    ck_assert_uint_eq(r.peak_bytes, 68 * 68 * 4);
    txm_trace_free(&trace);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    for (int i = 0; i < 2; i++)
        free(tx[i]);
    free(path);
}

/* ---- damage ---- */

/* Reads a whole file, whatever it contains. Returns TXM_OK, or the failure, which has a message. */
static txm_status read_through(const char *path)
{
    SCOPED(txm_trace_free) txm_trace *trace = NULL;
    SCOPED(txm_trace_cursor_free) txm_trace_cursor *cursor = NULL;
    txm_trace_event e;
    txm_error err = {0};
    txm_status status = txm_trace_open(path, &trace, &err);
    if (status == TXM_OK)
        status = txm_trace_cursor_new(trace, &cursor, &err);
    while (status == TXM_OK && (status = txm_trace_next(cursor, &e, &err)) == TXM_OK && e.kind != TXM_TRACE_EVENT_END)
        ;
    if (status != TXM_OK) {
        ck_assert_str_ne(err.message, "");
        ck_assert(!cursor || (e.kind == TXM_TRACE_EVENT_END && !e.tiles && !e.tile_count && !e.thread));
    }
    return status;
}

static void write_file(const char *path, const uint8_t *data, size_t bytes)
{
    SCOPED(close_descriptor) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert(write(fd, data, bytes) == (ssize_t)bytes);
}

TEST(partial_traces_say_why)
{
    FREED char *path = strdup(temp_file("p.trace"));
    const char *reasons[] = {"stopped on request", "", NULL};
    for (size_t i = 0; i < 3; i++) {
        SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
        ck_assert_int_eq(txm_cache_trace_start(c, path, TXM_TRACE_TILES, NULL), TXM_OK);
        ck_assert_int_eq(txm_cache_trace_stop_partial(c, reasons[i], NULL), TXM_OK);
        SCOPED(txm_trace_free) txm_trace *trace = open_trace(path);
        ck_assert_ptr_nonnull(txm_trace_info_of(trace)->partial);
        ck_assert_str_eq(txm_trace_info_of(trace)->partial, i ? "the work was not finished" : reasons[0]);
    }
    ck_assert_int_eq(read_through(path), TXM_OK);
}

TEST(damage_is_found)
{
    FREED char *path = strdup(temp_file("t.trace")), *spoiled = strdup(temp_file("u.trace"));
    uint32_t ids[FILES];
    size_t bytes;
    txm_cache_options o = options(2 << 20, TXM_CACHE_POLICY_LRU);
    txm_cache *c = cache_of_files(&o, ids);
    walk(c, ids, path, TXM_TRACE_TILES | TXM_TRACE_LOOKUPS);
    txm_cache_free(&c);
    FREED uint8_t *data = load_file(path, &bytes);
    ck_assert_int_eq(read_through(path), TXM_OK);
    for (size_t i = 0; i < 400; i += i < 100 ? 1 : (case_part() + 1) / 2) { /* cut short, or a byte longer */
        size_t length = i < 200 ? i : i * bytes / 400;
        write_file(spoiled, data, length);
        ck_assert_int_eq(read_through(spoiled), TXM_STATUS_CORRUPT);
    }
    data = realloc(data, bytes + 1);
    data[bytes] = 0;
    write_file(spoiled, data, bytes + 1);
    ck_assert_int_eq(read_through(spoiled), TXM_STATUS_CORRUPT);
    for (size_t i = 0; i < 1000; i += i < 100 ? 1 : (case_part() + 1) / 2) {
        /* Every byte of the first block, and some of the others. */
        size_t at = i < 500 ? i : i * bytes / 1000;
        bool thread = false; /* every thread number is valid */
        for (size_t b = 16; b + 24 <= bytes;
             b += 24 + (data[b + 8] | (size_t)data[b + 9] << 8 | (size_t)data[b + 10] << 16))
            thread |= at >= b + 4 && at < b + 8;
        data[at] ^= 0x41;
        write_file(spoiled, data, bytes);
        if (read_through(spoiled) == TXM_OK && !thread)
            ck_abort_msg("a change of byte %zu was not seen", at);
        data[at] ^= 0x41;
    }
    ck_assert_int_eq(read_through("/nowhere/t.trace"), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(read_through("/"), TXM_STATUS_NOT_A_FILE);
}

TEST(options_are_checked)
{
    FREED char *path = strdup(temp_file("t.trace"));
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    txm_replay_counts counts;
    ck_assert_int_eq(txm_cache_trace_start(c, path, 0, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_trace_start(c, path, 4, NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_cache_trace_start(c, path, TXM_TRACE_TILES, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
    SCOPED(txm_trace_free) txm_trace *trace = open_trace(path); /* an empty trace */
    txm_replay_options o;
    txm_replay_options_init(&o);
    for (uint32_t i = 0; i <= POLICIES; i++) {
        o.policy = i < POLICIES ? i : TXM_REPLAY_OPT;
        ck_assert_int_eq(txm_replay(trace, &o, &counts, NULL), TXM_OK);
        ck_assert_uint_eq(counts.reads, 0);
    }
    o.policy = POLICIES;
    ck_assert_int_eq(txm_replay(trace, &o, &counts, NULL), TXM_STATUS_USAGE);
    o.struct_size = 0;
    ck_assert_int_eq(txm_replay(trace, &o, &counts, NULL), TXM_STATUS_USAGE);
}

/* ---- the recorder ------------------------------------------------------------------------------------------------ */

/* Whether the tile has the number that `user` points to; it counts as failed then. */
static bool is_tile(const void *user, const txm_tile_name *tile)
{
    return tile->level == 0 && tile->tile == *(const uint32_t *)user;
}

/* Without a cache: two lanes, a tile that failed, a launch without lookups, which leaves nothing, and the end. */
TEST(traces_are_recorded_without_a_cache)
{
    const uint64_t numbers[TXM_TRACE_END_NUMBERS] = {TXM_CACHE_POLICY_LRU, 1, 5 << 20, 7, 8, 9, 1500000000, 10};
    const uint32_t failed = 2;
    const uint8_t pixel[4] = {1, 2, 3, 4};
    txm_view_texture shape;
    txm_sampler how;
    txm_recorder *r;
    txm_trace *trace;
    txm_trace_cursor *cursor;
    txm_trace_event e;
    FREED char *path = strdup(temp_file("alone.trace"));
    txm_view_shape(256, 256, 9, 64, TXM_TYPE_U8, 4, TXM_EXTENSION_REPEAT, &shape);
    txm_sampler_init(&how);
    how.filter = TXM_FILTER_CLOSEST;
    how.mode = TXM_LEVEL_MODE_FLOOR;
    ck_assert_int_eq(txm_recorder_new(path, TXM_TRACE_HAS_TILES, &r, NULL), TXM_OK);
    ck_assert_str_eq(txm_recorder_path(r), path);
    txm_recorder_texture(r, 3, &shape, true, "any.tx");
    txm_recorder_constant(r, (txm_tile_name){3, 0, 0, 1}, pixel, sizeof pixel);
    for (uint32_t tile = 0; tile < 4; tile++) {
        const txm_lookup at = {((float)tile + 0.5f) / 4, 0.9f, 0, 0, 0, 0};
        txm_recorder_lookup(r, &(txm_recorded){5 + tile / 2, 3, &shape, "any.tx", &how, &at, 0, is_tile, &failed});
    }
    txm_recorder_launch(r);
    txm_recorder_launch(r);
    txm_recorder_epoch(r);
    txm_recorder_end(r, numbers, "stopped");
    ck_assert_int_eq(txm_recorder_close(r, true, NULL), TXM_OK);

    ck_assert_int_eq(txm_trace_open(path, &trace, NULL), TXM_OK);
    const txm_trace_info *info = txm_trace_info_of(trace);
    ck_assert_uint_eq(info->lanes, 2);
    ck_assert_uint_eq(info->constants, 1);
    ck_assert_uint_eq(info->tiles_loaded, 7);
    ck_assert_uint_eq(info->lookups, 10);
    ck_assert_double_eq(info->load_seconds, 1.5);
    ck_assert_str_eq(info->partial, "stopped");
    ck_assert_str_eq(txm_trace_texture_at(trace, 0)->path, "any.tx");
    ck_assert(txm_trace_texture_at(trace, 0)->widened);
    ck_assert_int_eq(txm_trace_cursor_new(trace, &cursor, NULL), TXM_OK);
    static const struct {
        txm_trace_event_kind kind;
        uint32_t thread, tile;
    } expected[] = {{TXM_TRACE_EVENT_TILES, 5, 0},  {TXM_TRACE_EVENT_TILES, 5, 1}, {TXM_TRACE_EVENT_TILES, 6, 3},
                    {TXM_TRACE_EVENT_LAUNCH, 0, 0}, {TXM_TRACE_EVENT_EPOCH, 0, 0}, {TXM_TRACE_EVENT_END, 0, 0}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        ck_assert_int_eq(txm_trace_next(cursor, &e, NULL), TXM_OK);
        ck_assert_int_eq(e.kind, expected[i].kind);
        if (e.kind != TXM_TRACE_EVENT_TILES)
            continue;
        ck_assert_uint_eq(e.thread, expected[i].thread);
        ck_assert_uint_eq(e.tile_count, 1);
        ck_assert_uint_eq(e.tiles[0].tile, expected[i].tile);
    }
    txm_trace_cursor_free(&cursor);
    txm_trace_free(&trace);

    /* What is not kept leaves no file, not even a temporary one. */
    FREED char *gone = strdup(temp_file("gone.trace"));
    ck_assert_int_eq(txm_recorder_new(gone, TXM_TRACE_HAS_TILES, &r, NULL), TXM_OK);
    ck_assert_int_eq(txm_recorder_close(r, false, NULL), TXM_OK);
    ck_assert_int_ne(access(gone, F_OK), 0);
}
