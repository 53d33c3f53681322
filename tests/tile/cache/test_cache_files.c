/* SPDX-License-Identifier: Apache-2.0
 *
 * The texture cache and its files: files that disappear, change, are many or huge; UDIM sets, duplicates, shared
 * colours; batches; statistics and reports.
 */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "txtile/trace.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_sample.h"
#include "util_tx.h"

/* ---- files that change ---- */

static txm_lookup_result look(txm_cache_thread *t, uint32_t id, float u, float v, float out[4])
{
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    txm_lookup at = at_level(u, v, 0, 512);
    return txm_cache_sample(t, id, &how, &at, NULL, out);
}

/* Holds a cache with two files, of which a test damages the first. */
typedef struct two_files {
    char *victim, *other;
    txm_cache *c;
    txm_cache_thread *t;
    uint32_t a, b; /* the file that is damaged, and the other */
} two_files;

static two_files two_files_open(uint32_t max_open, made_content other)
{
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    two_files f = {.victim = write_cached("victim.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1),
                   .other = write_cached("other.tx", 512, 512, 4, TXM_TYPE_U8, other, 2)};
    o.max_open = max_open;
    f.c = new_cache(&o);
    f.t = new_thread(f.c);
    f.a = add_texture(f.c, f.victim, TXM_EXTENSION_REPEAT);
    f.b = add_texture(f.c, f.other, TXM_EXTENSION_REPEAT);
    return f;
}

static void two_files_close(two_files *f)
{
    txm_cache_thread_free(&f->t);
    txm_cache_free(&f->c);
    free(f->victim);
    free(f->other);
}

/* The cache checks an open file again after a tenth of a second. */
static void wait_for_a_look(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 120000000}, NULL);
}

/* A file that is shorter, or a different one, when it is opened again fails from then on, once for each tile, until
 * txm_cache_replace is called. A file that is missing is looked for again. */
TESTS(files_that_vanish_cost_their_tiles, 3)
{
    SCOPED(two_files_close) two_files f = two_files_open(1, MADE_NOISE);
    txm_cache *c = f.c;
    txm_cache_thread *t = f.t;
    const uint32_t a = f.a, b = f.b;
    float first[4], out[4];
    ck_assert_int_eq(look(t, a, 0.1f, 0.1f, first), TXM_LOOKUP_HIT);
    ck_assert_int_eq(look(t, b, 0.1f, 0.1f, out), TXM_LOOKUP_HIT); /* this closes the other file */
    if (_i == 0) {
        unlink(f.victim);
    } else if (_i == 1) {
        free(write_cached("victim.tx", 512, 512, 4, TXM_TYPE_U8, MADE_SMOOTH, 3));
    } else {
        ck_assert_int_eq(truncate(f.victim, 3000), 0);
    }
    ck_assert_int_eq(look(t, a, 0.1f, 0.1f, out), TXM_LOOKUP_HIT); /* this tile is in memory */
    ck_assert(memcmp(out, first, sizeof out) == 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(look(t, a, 0.9f, 0.9f, out), TXM_LOOKUP_FAILURE);
        ck_assert(magenta(out));
        ck_assert_int_eq(look(t, b, 0.9f, 0.1f + 0.3f * (float)i, out), TXM_LOOKUP_HIT);
    }
    txm_cache_texture_stats s;
    ck_assert_int_eq(txm_cache_texture_stats_of(c, a, &s, NULL), TXM_OK);
    if (_i == 0)
        ck_assert(s.failures >= 1 && s.failures <= 3);
    else
        ck_assert_uint_eq(s.failures, 1);
    ck_assert_str_ne(s.message, "");
    ck_assert(strstr(s.message, "victim.tx"));
    static const char *const causes[] = {"cannot open", "is a different file than",
                                         "became shorter after it was first opened"};
    ck_assert_msg(strstr(s.message, causes[_i]), "%s", s.message);
    ck_assert_uint_eq(stats_of(c).tiles_failed, s.failures);
    free(write_cached("victim.tx", 512, 512, 4, TXM_TYPE_U8, MADE_CONSTANT, 4));
    ck_assert_int_eq(txm_cache_replace(c, a, NULL, NULL), TXM_OK);
    ck_assert_int_eq(look(t, a, 0.9f, 0.9f, out), TXM_LOOKUP_HIT);
    ck_assert(!magenta(out));
    ck_assert_int_eq(txm_cache_replace(c, a, f.other, NULL), TXM_OK);
    ck_assert_int_eq(look(t, a, 0.1f, 0.1f, out), TXM_LOOKUP_HIT);
    look(t, b, 0.1f, 0.1f, first);
    ck_assert(memcmp(out, first, sizeof out) == 0);
    ck_assert_int_eq(txm_cache_replace(c, a, "/nowhere/x.tx", NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(look(t, a, 0.5f, 0.1f, out), TXM_LOOKUP_HIT);
}

/* Another image of the same size is written into the open file: mixing tiles of the two images would show a seam. A
 * file that is renamed into its place does not disturb readers of the old one. */
TESTS(open_files_that_are_written_to_are_left, 2)
{
    SCOPED(two_files_close) two_files f = two_files_open(2, MADE_SMOOTH);
    txm_cache *c = f.c;
    txm_cache_thread *t = f.t;
    const uint32_t a = f.a;
    float first[4], out[4];
    ck_assert_int_eq(look(t, a, 0.1f, 0.1f, first), TXM_LOOKUP_HIT);
    size_t bytes;
    FREED uint8_t *image = load_file(f.other, &bytes);
    wait_for_a_look();
    if (_i) {
        ck_assert_int_eq(rename(f.other, f.victim), 0);
        ck_assert_int_eq(look(t, a, 0.9f, 0.9f, out), TXM_LOOKUP_HIT);
    } else {
        int fd = open(f.victim, O_WRONLY);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(pwrite(fd, image, bytes, 0), (ssize_t)bytes);
        close(fd);
        ck_assert_int_eq(look(t, a, 0.9f, 0.9f, out), TXM_LOOKUP_FAILURE);
        ck_assert_int_eq(look(t, a, 0.9f, 0.1f, out), TXM_LOOKUP_FAILURE);
        txm_cache_texture_stats s;
        ck_assert_int_eq(txm_cache_texture_stats_of(c, a, &s, NULL), TXM_OK);
        ck_assert_msg(strstr(s.message, "victim.tx: was written to"), "%s", s.message);
        ck_assert_uint_eq(stats_of(c).files_open, 0);
        ck_assert_int_eq(txm_cache_replace(c, a, NULL, NULL), TXM_OK);
        ck_assert_int_eq(look(t, a, 0.9f, 0.9f, out), TXM_LOOKUP_HIT);
    }
    ck_assert_int_eq(look(t, a, 0.1f, 0.1f, out), TXM_LOOKUP_HIT);
    ck_assert((memcmp(out, first, sizeof out) == 0) == _i);
}

/* Neither a new time stamp nor an identical copy in its place makes a file a different image, whether it is open or
 * opened again. */
TESTS(files_that_are_touched_stay, 2)
{
    SCOPED(two_files_close) two_files f = two_files_open(1, MADE_NOISE);
    txm_cache *c = f.c;
    txm_cache_thread *t = f.t;
    const uint32_t a = f.a, b = f.b;
    const struct timespec past[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    float out[4];
    ck_assert_int_eq(look(t, a, 0.1f, 0.1f, out), TXM_LOOKUP_HIT);
    if (_i == 0) {
        ck_assert_int_eq(utimensat(AT_FDCWD, f.victim, past, 0), 0);
    } else {
        size_t bytes;
        FREED uint8_t *copy = load_file(f.victim, &bytes);
        unlink(f.victim);
        save_file(f.victim, copy, bytes);
    }
    wait_for_a_look();
    ck_assert_int_eq(look(t, a, 0.9f, 0.1f, out), TXM_LOOKUP_HIT);
    ck_assert_int_eq(look(t, b, 0.1f, 0.1f, out), TXM_LOOKUP_HIT); /* this closes the first file */
    ck_assert_int_eq(look(t, a, 0.9f, 0.9f, out), TXM_LOOKUP_HIT);
    ck_assert_uint_eq(stats_of(c).files_opened, 3);
    ck_assert_uint_eq(stats_of(c).tiles_failed, 0);
}

TEST(what_is_no_tx_file_is_magenta)
{
    FREED char *path = strdup(temp_file("text.tx"));
    save_file(path, "no image at all, but long enough", 32);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT), none;
    txm_error err = {0};
    float out[4];
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(look(t, id, 0.3f, 0.3f, out), TXM_LOOKUP_FAILURE);
        ck_assert(magenta(out));
    }
    ck_assert_int_ne(txm_cache_open(c, id, NULL, &err), TXM_OK);
    ck_assert(strstr(err.message, "text.tx"));
    ck_assert_uint_eq(stats_of(c).textures_failed, 1);
    ck_assert_int_eq(look(t, 99, 0.3f, 0.3f, out), TXM_LOOKUP_FAILURE);
    ck_assert_int_eq(txm_cache_add(c, "/nowhere/a.tx", TXM_EXTENSION_REPEAT, &none, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_cache_add(c, "/", TXM_EXTENSION_REPEAT, &none, &err), TXM_STATUS_NOT_A_FILE);
    ck_assert_int_eq(txm_cache_unload(c, 99, &err), TXM_STATUS_USAGE);
}

/* ---- what textures share ---- */

TESTS(duplicates_and_colours_are_shared, 2)
{
    FREED char *a = write_cached("a.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    FREED char *b = write_cached("b.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1); /* with the same hash */
    char *flat = write_cached("flat.tx", 1024, 1024, 4, TXM_TYPE_U8, MADE_CONSTANT, 3);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    if (_i)
        o.coalesce = 0;
    txm_cache *c = new_cache(&o);
    uint32_t ids[] = {add_texture(c, a, TXM_EXTENSION_REPEAT), add_texture(c, b, TXM_EXTENSION_REPEAT),
                      add_texture(c, a, TXM_EXTENSION_MIRROR)};
    uint32_t constant = add_texture(c, flat, TXM_EXTENSION_REPEAT);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(txm_cache_preload(c, ids[i], NULL, NULL), TXM_OK);
    txm_cache_stats s = stats_of(c);
    uint32_t tiles = 64 + 16 + 4 + 1 + 1 + 1 + 1 + 1 + 1 + 1;
    ck_assert_uint_eq(s.duplicates, _i ? 0 : 1);
    ck_assert_uint_eq(s.tiles_loaded, _i ? 3 * tiles : 2 * tiles);
    ck_assert_int_eq(txm_cache_preload(c, constant, NULL, NULL), TXM_OK);
    txm_cache_stats after = stats_of(c);
    ck_assert_uint_ge(after.tiles_loaded - s.tiles_loaded, 256 + 64 + 16 + 4 + 1);
    /* Each level of a made image has its own colour. */
    if (!_i)
        ck_assert_uint_le(after.tiles - s.tiles, 11);
    ck_assert_int_eq(txm_cache_unload(c, constant, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_unload(c, ids[0], NULL), TXM_OK);
    txm_cache_thread *t = new_thread(c);
    float out[4];
    ck_assert_int_eq(look(t, constant, 0.2f, 0.2f, out), TXM_LOOKUP_HIT);
    ck_assert_int_eq(look(t, ids[1], 0.2f, 0.2f, out), TXM_LOOKUP_HIT);
    ck_assert_int_eq(txm_cache_replace(c, ids[0], flat, NULL), TXM_OK);
    ck_assert_int_eq(look(t, ids[0], 0.2f, 0.2f, out), TXM_LOOKUP_HIT);
    ck_assert_int_eq(look(t, ids[1], 0.7f, 0.2f, out), TXM_LOOKUP_HIT);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    free(flat);
}

/* Shared colours are dropped last. By then no page table entry that a texture has left may point to them. */
TEST(colours_go_when_nothing_else_is_left)
{
    FREED char *fine = write_cached("fine.tx", 512, 512, 4, TXM_TYPE_U16, MADE_NOISE, 1);
    FREED char *flat = write_cached("flat.tx", 512, 512, 4, TXM_TYPE_U8, MADE_CONSTANT, 3);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const uint32_t a = add_texture(c, fine, TXM_EXTENSION_REPEAT), b = add_texture(c, flat, TXM_EXTENSION_REPEAT);
    const txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    float out[4], first[4];
    for (int level = 2; level >= 0; level--) { /* from coarse to fine, so that its entries move twice */
        const txm_lookup at = at_level(0.3f, 0.3f, (float)level, 512);
        ck_assert_int_eq(txm_cache_sample(t, a, &how, &at, NULL, first), TXM_LOOKUP_HIT);
        ck_assert_int_eq(txm_cache_sample(t, b, &how, &at, NULL, out), TXM_LOOKUP_HIT);
    }
    ck_assert_int_eq(txm_cache_unload(c, a, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_set_max_bytes(c, 1, NULL), TXM_OK);
    ck_assert_uint_eq(stats_of(c).tiles, 0);
    const txm_lookup at = at_level(0.3f, 0.3f, 0, 512);
    float again[4];
    ck_assert_int_eq(txm_cache_sample(t, b, &how, &at, NULL, again), TXM_LOOKUP_HIT);
    ck_assert(memcmp(out, again, sizeof out) == 0);
    ck_assert_int_eq(txm_cache_sample(t, a, &how, &at, NULL, again), TXM_LOOKUP_HIT);
    ck_assert(memcmp(first, again, sizeof first) == 0);
}

/* Lookups that hit at once take another path than the rest. Both must find the tiles of each set. */
TEST(udim_sets_beside_one_with_a_base)
{
    FREED char *one = write_cached("one.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    FREED char *base = write_cached("base.tx", 64, 64, 4, TXM_TYPE_U8, MADE_NOISE, 3);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    const uint32_t number = 1012, id = add_texture(c, one, TXM_EXTENSION_EXTEND);
    const uint32_t whole = add_texture(c, base, TXM_EXTENSION_EXTEND);
    const txm_cache_udim plain = {&number, &id, 1, TXM_NO_TEXTURE, 0, 0}, based = {&number, &id, 1, whole, 2, 2};
    const txm_lookup far = {1.3f, 1.6f, 0.05f, 0, 0, 0.05f}, of_tile = {1.3f - 1.0f, 1.6f - 1.0f, 0.05f, 0, 0, 0.05f};
    const txm_lookup of_base = {0.65f, 0.8f, 0.025f, 0, 0, 0.025f};
    txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    float from_tile[4], from_base[4], out[4];
    txm_cache_sample(t, id, &how, &of_tile, NULL, from_tile);
    txm_cache_sample(t, whole, &how, &of_base, NULL, from_base);
    ck_assert(memcmp(from_tile, from_base, sizeof out) != 0);
    const uint64_t locks = stats_of(c).locks;
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t set;
        ck_assert_int_eq(txm_cache_add_udim(c, i % 3 == 1 ? &based : &plain, &set, NULL), TXM_OK);
        for (uint32_t k = set - i; k < 3 * (set + 1); k++) { /* each set three times */
            const uint32_t asked = set - i + k % (i + 1);
            ck_assert_int_eq(txm_cache_sample(t, asked, &how, &far, NULL, out), TXM_LOOKUP_HIT);
            ck_assert(memcmp(out, (asked - 2) % 3 == 1 ? from_base : from_tile, sizeof out) == 0);
        }
    }
    ck_assert_uint_eq(stats_of(c).locks, locks);
}

TEST(udim_sets_use_their_base_from_afar)
{
    FREED char *one = write_cached("one.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    FREED char *two = write_cached("two.tx", 256, 256, 4, TXM_TYPE_U8, MADE_NOISE, 2);
    FREED char *base = write_cached("base.tx", 64, 64, 4, TXM_TYPE_U8, MADE_NOISE, 3);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    SCOPED(txm_cache_thread_free) txm_cache_thread *t = new_thread(c);
    uint32_t numbers[] = {1001, 1012}, set, plain;
    uint32_t ids[] = {add_texture(c, one, TXM_EXTENSION_EXTEND), add_texture(c, two, TXM_EXTENSION_EXTEND)};
    uint32_t whole = add_texture(c, base, TXM_EXTENSION_EXTEND);
    txm_cache_udim udim = {numbers, ids, 2, whole, 2, 2};
    ck_assert_int_eq(txm_cache_add_udim(c, &udim, &set, NULL), TXM_OK);
    udim.base = TXM_NO_TEXTURE;
    ck_assert_int_eq(txm_cache_add_udim(c, &udim, &plain, NULL), TXM_OK);
    txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    float out[4], want[4];
    txm_lookup far = {1.3f, 1.6f, 0.05f, 0, 0, 0.05f}, there = {0.65f, 0.8f, 0.025f, 0, 0, 0.025f};
    ck_assert_int_eq(txm_cache_sample(t, set, &how, &far, NULL, out), TXM_LOOKUP_HIT);
    ck_assert_uint_eq(stats_of(c).textures_opened, 1);
    txm_cache_sample(t, whole, &how, &there, NULL, want);
    ck_assert(memcmp(out, want, sizeof out) == 0);
    txm_lookup near = {1.25f, 1.5f, 0.004f, 0, 0, 0.004f}, inner = {0.25f, 0.5f, 0.004f, 0, 0, 0.004f};
    ck_assert_int_eq(txm_cache_sample(t, set, &how, &near, NULL, out), TXM_LOOKUP_HIT);
    txm_cache_sample(t, ids[1], &how, &inner, NULL, want);
    ck_assert(memcmp(out, want, sizeof out) == 0);
    ck_assert_uint_eq(stats_of(c).textures_opened, 2);
    ck_assert_int_eq(txm_cache_sample(t, plain, &how, &far, NULL, out), TXM_LOOKUP_HIT);
    /* Lookups that blend across edges use it too; elsewhere they read the tile and its neighbours. */
    ck_assert_int_eq(txm_cache_sample_udim_blend(t, set, &how, &far, NULL, out), TXM_LOOKUP_HIT);
    txm_cache_sample(t, whole, &how, &there, NULL, want);
    ck_assert(memcmp(out, want, sizeof out) == 0);
    txm_lookup inside_edge = {1.999f, 1.999f, 0.004f, 0, 0, 0.004f}, edge = {0.999f, 0.999f, 0.004f, 0, 0, 0.004f};
    ck_assert_int_eq(txm_cache_sample_udim_blend(t, set, &how, &inside_edge, NULL, out), TXM_LOOKUP_HIT);
    txm_cache_sample(t, ids[1], &how, &edge, NULL, want);
    for (int k = 0; k < 4; k++)
        ck_assert(fabsf(out[k] - want[k]) < 1e-5f);
    txm_lookup hole = {1.25f, 0.5f, 0.004f, 0, 0, 0.004f};
    ck_assert_int_eq(txm_cache_sample(t, set, &how, &hole, NULL, out), TXM_LOOKUP_FAILURE);
    ck_assert(magenta(out));
    txm_lookup outside = {-1.5f, 0.5f, 0.004f, 0, 0, 0.004f};
    ck_assert_int_eq(txm_cache_sample(t, set, &how, &outside, NULL, out), TXM_LOOKUP_FAILURE);
    numbers[0] = 9999; /* 9999 is the last number */
    ck_assert_int_eq(txm_cache_add_udim(c, &udim, &plain, NULL), TXM_OK);
    txm_lookup last = {8.25f, 899.5f, 0.004f, 0, 0, 0.004f}, beyond = {9.25f, 899.5f, 0.004f, 0, 0, 0.004f};
    ck_assert_int_eq(txm_cache_sample(t, plain, &how, &last, NULL, out), TXM_LOOKUP_HIT);
    txm_cache_sample(t, ids[0], &how, &inner, NULL, want);
    ck_assert(memcmp(out, want, sizeof out) == 0);
    ck_assert_int_eq(txm_cache_sample(t, plain, &how, &beyond, NULL, out), TXM_LOOKUP_FAILURE);
    numbers[0] = 17;
    ck_assert_int_eq(txm_cache_add_udim(c, &udim, &plain, NULL), TXM_STATUS_USAGE);
    numbers[0] = numbers[1];
    txm_error err;
    ck_assert_int_eq(txm_cache_add_udim(c, &udim, &plain, &err), TXM_STATUS_USAGE);
    ck_assert_str_eq(err.message, "UDIM tile 1012 is given twice");
}

TEST(resolution_and_limits_drop_levels)
{
    FREED char *path = write_cached("a.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    o.resolution = 0.25f;
    txm_cache *quarter = new_cache(&o);
    o.resolution = 1.0f;
    txm_cache *full = new_cache(&o);
    o.limit_px = 128;
    txm_cache *limited = new_cache(&o);
    txm_cache *all[] = {quarter, full, limited};
    float out[3][4];
    for (int i = 0; i < 3; i++) {
        txm_cache_thread *t = new_thread(all[i]);
        uint32_t id = add_texture(all[i], path, TXM_EXTENSION_REPEAT);
        txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
        txm_lookup at = at_level(0.3f, 0.6f, i == 1 ? 2 : 0, 512);
        ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out[i]), TXM_LOOKUP_HIT);
        txm_view_texture v;
        ck_assert_int_eq(txm_cache_open(all[i], id, &v, NULL), TXM_OK);
        ck_assert_uint_eq(v.width, i == 2 ? 128 : 512);
        txm_cache_texture_stats s;
        txm_cache_texture_stats_of(all[i], id, &s, NULL);
        ck_assert_uint_eq(s.level[0].loaded_once, i == 2 ? 1 : 0);
        txm_cache_thread_free(&t);
        txm_cache_free(&all[i]);
    }
    ck_assert(memcmp(out[0], out[1], sizeof out[0]) == 0);
    ck_assert(memcmp(out[0], out[2], sizeof out[0]) == 0);
}

/* Several samplers take turns, with missing tiles and without. A resolution gives the same bits as the equivalent bias,
 * and takes no lock if nothing is missing. */
TEST(a_resolution_is_a_bias)
{
    FREED char *path = write_cached("a.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *plain = new_cache(&o);
    o.resolution = 0.3f;
    SCOPED(txm_cache_free) txm_cache *less = new_cache(&o);
    SCOPED(txm_cache_thread_free) txm_cache_thread *p = new_thread(plain), *l = new_thread(less);
    uint32_t id = add_texture(plain, path, TXM_EXTENSION_REPEAT), same = add_texture(less, path, TXM_EXTENSION_REPEAT);
    for (int round = 0; round < 2; round++) {
        uint64_t seed = 5, locks = stats_of(less).locks;
        for (int i = 0; i < 500; i++) {
            txm_sampler how = sampler((txm_level_mode)(i / 3 % 4)), biased;
            how.mip_bias = (float)(i / 7 % 2);
            biased = how;
            biased.mip_bias += txm_cache_bias(less);
            txm_lookup at = at_level(unit(&seed), unit(&seed), (float)(i % 4), 512);
            uint32_t random[2] = {(uint32_t)i * 77 + 1, (uint32_t)i * 77 + 1};
            float want[4], out[4];
            ck_assert_int_eq(txm_cache_sample(p, id, &biased, &at, &random[0], want), TXM_LOOKUP_HIT);
            ck_assert_int_eq(txm_cache_sample(l, same, &how, &at, &random[1], out), TXM_LOOKUP_HIT);
            ck_assert(memcmp(out, want, sizeof out) == 0 && random[0] == random[1]);
        }
        ck_assert(!round || stats_of(less).locks == locks);
    }
    ck_assert_uint_eq(stats_of(less).lookups, 1000);
}

/* Only the part that was requested is loaded, and a level gets entries when a lookup needs them. */
TEST(preloading_a_part)
{
    FREED char *path = write_cached("a.tx", 1024, 1024, 1, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    const txm_cache_part part = {1, 1, 0.0f, 0.5f, 0.49f, 1.0f}; /* the upper left quarter */
    ck_assert_int_eq(txm_cache_preload(c, id, &part, NULL), TXM_OK);
    txm_cache_texture_stats s;
    txm_cache_texture_stats_of(c, id, &s, NULL);
    ck_assert_uint_eq(s.level[1].resident, 16);
    ck_assert_uint_eq(s.level[0].resident + s.level[2].resident, 0);
    txm_view view;
    txm_cache_extent extent;
    ck_assert_int_eq(txm_cache_prepare(c, &view, &extent, NULL), TXM_OK);
    ck_assert_uint_eq(extent.textures, 1);
    /* The leaf of the texture before it was opened, and those of 16 of the 64 tiles of level 1. */
    ck_assert_uint_le(extent.tiles, 3 * TXM_LEAF_TILES);
}

/* If files are opened beforehand, lookups request tiles at once. */
TEST(registering_all_levels)
{
    FREED char *path = write_cached("a.tx", 1024, 512, 1, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    for (int registered = 0; registered < 2; registered++) {
        SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
        uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT), requests[64], launches = 0;
        if (registered)
            ck_assert_int_eq(txm_cache_register(c, id, NULL), TXM_OK);
        txm_cache_stats stats;
        txm_cache_stats_of(c, &stats);
        ck_assert_uint_eq(stats.tiles_loaded, 0);
        txm_sampler how;
        txm_sampler_init(&how);
        const txm_lookup at = {0.3f, 0.6f, 1e-6f, 0, 0, 1e-6f};
        txm_lookup_state lane = {.capacity = 64, .requests = requests}, *lanes[] = {&lane};
        for (txm_lookup_result look = TXM_LOOKUP_MISS; look == TXM_LOOKUP_MISS; launches++) {
            txm_view view;
            txm_ticket *ticket;
            float out[4];
            ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
            look = txm_sample(&view, id, &how, &at, &lane, out);
            ck_assert_int_eq(txm_cache_process(c, lanes, 1, &ticket, NULL), TXM_OK);
            txm_ticket_wait(&ticket);
        }
        ck_assert_uint_eq(launches, registered ? 2 : 3);
        ck_assert_int_eq(txm_cache_register(c, id + 1, NULL), TXM_STATUS_USAGE);
    }
}

/* ---- many, and huge ---- */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Fewer descriptors than files that may be open: mapped files need none, and others are closed for those that follow.
 * Of a thousand files some vanish, grow or are replaced while they are closed. */
TESTS(a_thousand_files_with_few_open, 2)
{
    enum { FILES = 1000, KINDS = 3, EACH = 10, WHOLE = FILES - KINDS * EACH };
    static const txm_status ends[KINDS] = {TXM_STATUS_NOT_FOUND, TXM_STATUS_CHANGED, TXM_STATUS_CHANGED};
    char *path = write_cached("a.tx", 256, 256, 4, TXM_TYPE_U8, MADE_NOISE, 1), names[FILES][256];
    FREED char *other = write_cached("b.tx", 256, 256, 4, TXM_TYPE_U8, MADE_NOISE, 2);
    size_t bytes;
    FREED uint8_t *file = load_file(path, &bytes);
    txm_cache_options o = budget_options(8 << 20, TXM_CACHE_POLICY_LRU);
    o.read_files = (uint32_t)_i;
    o.coalesce = 0;
    txm_cache *c = new_cache(&o);
    txm_cache_thread *t = new_thread(c);
    uint32_t ids[FILES];
    struct rlimit before;
    for (int i = 0; i < FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "few%d-%d.tx", _i, i);
        snprintf(names[i], sizeof names[i], "%s", temp_file(name));
        if (i < WHOLE)
            ck_assert_int_eq(symlink(path, names[i]), 0);
        else
            save_file(names[i], file, bytes);
        ids[i] = add_texture(c, names[i], TXM_EXTENSION_REPEAT);
    }
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, before.rlim_max}), 0);
    uint64_t seed = 4;
    float out[4];
    for (int n = 0; n < FILES + FILES / 2; n++)
        ck_assert_int_eq(
            look(t, ids[n < FILES ? n : (int)(sample_random(&seed) % WHOLE)], unit(&seed), unit(&seed), out),
            TXM_LOOKUP_HIT);
    txm_cache_stats s = stats_of(c);
    ck_assert_uint_eq(s.textures_opened, FILES);
    ck_assert_uint_le(s.files_open_peak, _i ? 64 : o.max_open);
    for (int i = WHOLE; i < FILES; i++) {
        const int kind = (i - WHOLE) / EACH;
        if (kind == 1)
            ck_assert_int_eq(truncate(names[i], (off_t)bytes + 1), 0);
        else
            unlink(names[i]);
        if (kind == 2)
            ck_assert_int_eq(symlink(other, names[i]), 0);
        ck_assert_int_eq(txm_cache_unload(c, ids[i], NULL), TXM_OK);
    }
    for (int i = 0; i < FILES; i++) {
        txm_cache_texture_stats of;
        ck_assert_int_eq(look(t, ids[i], unit(&seed), unit(&seed), out),
                         i < WHOLE ? TXM_LOOKUP_HIT : TXM_LOOKUP_FAILURE);
        ck_assert_int_eq(txm_cache_texture_stats_of(c, ids[i], &of, NULL), TXM_OK);
        ck_assert_int_eq(of.failure, i < WHOLE ? TXM_OK : ends[(i - WHOLE) / EACH]);
    }
    ck_assert_uint_eq(stats_of(c).tiles_failed, KINDS * EACH);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    free(path);
}

TEST(many_textures_cost_little)
{
    enum { TEXTURES = 64000 };
    FREED char *path = write_cached("a.tx", 64, 64, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    double begin = seconds();
    for (int i = 0; i < TEXTURES; i++)
        add_texture(c, path, TXM_EXTENSION_REPEAT);
    double took = seconds() - begin;
    txm_cache_stats s = stats_of(c);
    printf("note 64,000 textures: %.2f s, %.1f MB\n", took, (double)s.allocated_bytes_peak / 1048576);
    ck_assert_uint_lt(s.allocated_bytes_peak, 64 << 20);
    ck_assert(took < 20); /* holds on every machine, also with sanitizers */
}

/* ---- batches ---- */

/* Looks up in waves and repeats the lookups that missed. The bits are those of a cache that holds everything. */
TESTS(waves_have_the_same_bits, 9)
{
    enum { LOOKUPS = 1500 };
    static const uint64_t budgets[] = {0, 4 << 20, 1200000};
    FREED char *path = write_cached("a.tx", 1500, 900, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    SCOPED(txm_texture_set_free) txm_texture_set *set = NULL;
    uint32_t whole, requests[512];
    txm_texture_set_new(&set, NULL);
    ck_assert_int_eq(txm_texture_set_add(set, path, TXM_EXTENSION_MIRROR, &whole, NULL), TXM_OK);
    ck_assert_int_eq(txm_texture_set_load_all(set, whole, NULL), TXM_OK);
    txm_cache_options o = budget_options(budgets[_i % 3], (uint32_t)_i / 3);
    o.max_requests = _i % 2 ? 40 : 8192;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    uint32_t id = add_texture(c, path, TXM_EXTENSION_MIRROR);
    txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    static txm_lookup at[LOOKUPS];
    static bool done[LOOKUPS];
    uint64_t seed = 3;
    for (int n = 0; n < LOOKUPS; n++) {
        at[n] = at_level(2 * unit(&seed), unit(&seed), 5 * unit(&seed), 1500);
        done[n] = false;
    }
    int left = LOOKUPS, launches = 0, different = 0;
    for (txm_ticket *ticket = NULL; left && launches < 400; launches++) {
        txm_view view;
        txm_lookup_state lane = {.capacity = 512, .requests = requests}, *lanes[] = {&lane};
        txm_ticket_wait(&ticket);
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        for (int n = 0; n < LOOKUPS; n++) {
            float out[4], want[4];
            txm_lookup_state nobody = {0};
            if (done[n] || txm_sample(&view, id, &how, &at[n], &lane, out) != TXM_LOOKUP_HIT)
                continue;
            txm_sample(txm_texture_set_view(set), whole, &how, &at[n], &nobody, want);
            different += memcmp(out, want, sizeof out) != 0;
            done[n] = true;
            left--;
        }
        ck_assert_int_eq(txm_cache_process(c, lanes, 1, &ticket, NULL), TXM_OK);
        ck_assert_uint_le(txm_ticket_remaining(ticket), txm_ticket_total(ticket));
        ck_assert_uint_le(txm_ticket_total(ticket), o.max_requests);
        if (!left)
            txm_ticket_wait(&ticket);
    }
    ck_assert_int_eq(left, 0);
    ck_assert_int_eq(different, 0);
}

/* If the owner drops a lane's list, or a batch is cancelled, the next launch requests the tiles again, and so do
 * lookups that load by themselves. */
TEST(dropped_requests_lose_nothing)
{
    FREED char *path = write_cached("a.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    o.threads = 1; /* with one thread, nothing is read until somebody waits */
    txm_cache *c = new_cache(&o);
    uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT), requests[16];
    ck_assert_int_eq(txm_cache_register(c, id, NULL), TXM_OK);
    txm_cache_thread *t = new_thread(c);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    const txm_lookup at = {0.5f, 0.5f, 0, 0, 0, 0};
    float out[4];
    for (int i = 0; i < 3; i++) {
        txm_view view;
        txm_lookup_state lane = {.capacity = 16, .requests = requests}, *lanes[] = {&lane};
        txm_ticket *ticket = NULL;
        ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
        ck_assert_int_eq(txm_sample(&view, id, &how, &at, &lane, out), TXM_LOOKUP_MISS);
        ck_assert_uint_eq(lane.count, 1);
        if (i == 0)
            continue;
        ck_assert_int_eq(txm_cache_process(c, lanes, 1, &ticket, NULL), TXM_OK);
        ck_assert_uint_eq(txm_ticket_remaining(ticket), 1);
        txm_ticket_cancel(&ticket);
        ck_assert_ptr_null(ticket);
    }
    ck_assert_int_eq(txm_cache_sample(t, id, &how, &at, NULL, out), TXM_LOOKUP_HIT);
    ck_assert_uint_eq(stats_of(c).tiles_loaded, 1);
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
}

/* Launches the first `count` of 256 lookups, which are scattered over a texture of 16 x 16 tiles. Each needs a tile of
 * level 0 and the tile of level 1 that covers it. Returns how many were complete, and in *first whether the first one
 * was. */
static int launch_scattered(txm_cache *c, uint32_t id, int count, bool *first)
{
    uint32_t requests[512];
    int complete = 0;
    txm_view view;
    txm_ticket *ticket = NULL;
    txm_sampler how = sampler(TXM_LEVEL_MODE_TRILINEAR);
    txm_lookup_state lane = {.capacity = 512, .requests = requests}, *lanes[] = {&lane};
    ck_assert_int_eq(txm_cache_prepare(c, &view, NULL, NULL), TXM_OK);
    for (int n = 0; n < count; n++) {
        float out[4];
        const int tile = (n * 97 + 37) % 256;
        const txm_lookup at = at_level(((float)(tile % 16) + 0.5f) / 16, ((float)(tile / 16) + 0.5f) / 16, 0.5f, 1024);
        const bool there = txm_sample(&view, id, &how, &at, &lane, out) == TXM_LOOKUP_HIT;
        complete += there;
        *first = n ? *first : there;
    }
    ck_assert_int_eq(txm_cache_process(c, lanes, 1, &ticket, NULL), TXM_OK);
    txm_ticket_wait(&ticket);
    return complete;
}

/* The lookups need 256 tiles of level 0 and 64 of level 1, and 160 may be loaded. The first one to ask is served, and
 * of the others those that share a tile of level 1: 124 lookups. In the order of requests there would be 105. */
TEST(small_batches_are_of_whole_areas)
{
    FREED char *path = write_cached("a.tx", 1024, 1024, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
    o.max_requests = 160;
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    bool first = false;
    for (int n = 0; n < 9 && !launch_scattered(c, id, 1, &first);) /* until the texture is open */
        n++;
    ck_assert_int_eq(txm_cache_unload(c, id, NULL), TXM_OK);
    ck_assert_int_eq(launch_scattered(c, id, 256, &first), 0);
    ck_assert_uint_eq(stats_of(c).tiles, 160);
    ck_assert_int_ge(launch_scattered(c, id, 256, &first), 115);
    ck_assert(first);
}

/* ---- reports, traces ---- */

TESTS(reports_say_what_was_read_again, 2)
{
    FREED char *path = write_cached("a.tx", 1024, 1024, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(_i ? 0 : 1 << 20, TXM_CACHE_POLICY_LRU);
    SCOPED(txm_cache_free) txm_cache *c = new_cache(&o);
    uint32_t ids[4];
    for (int i = 0; i < 4; i++)
        ids[i] = add_texture(c, path, TXM_EXTENSION_REPEAT);
    walker w = {.cache = c, .ids = ids, .seed = 5, .count = 1000};
    walk_four(&w);
    FREED char *text = txm_cache_report(c, TXM_CACHE_REPORT_FORMAT_TEXT),
               *verdict = txm_cache_report(c, TXM_CACHE_REPORT_FORMAT_VERDICT);
    static const char *const names[] = {"Full Images:",
                                        "Tiled Images:",
                                        "Full image memory",
                                        "Peak tiled image memory",
                                        "Overhead image memory",
                                        "Total image memory",
                                        "Evicted",
                                        "Reloaded",
                                        "Main cache misses",
                                        "Redundant reads",
                                        "Micro-cache misses",
                                        "Peak cache memory",
                                        "MIP-COUNT [",
                                        "I/O time",
                                        "1024x1024: ",
                                        "Total tile requests",
                                        "Verdict: "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ck_assert_msg(strstr(text, names[i]), "%s: %s", names[i], text);
    ck_assert(strstr(text, _i ? "working set is about" : "cache too small: "));
    ck_assert_ptr_nonnull(strstr(text, "Lookups                    1000\n"));
    ck_assert_ptr_nonnull(strstr(text, path));
    ck_assert_ptr_nonnull(strstr(text, verdict));
}

static void ck_verdict(txm_cache *c, const char *want)
{
    FREED char *verdict = txm_cache_report(c, TXM_CACHE_REPORT_FORMAT_VERDICT);
    ck_assert_msg(verdict && strstr(verdict, want), "%s: %s", want, verdict);
}

/* A larger cache does not help if tiles were evicted while there was memory to spare. */
TEST(verdicts_name_the_cause)
{
    FREED char *path = write_cached("a.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_RENDER_TILES);
    txm_cache *c = new_cache(&o);
    txm_cache_thread *t = new_thread(c);
    const uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT);
    float out[4];
    ck_verdict(c, "nothing was loaded");
    look(t, id, 0.3f, 0.3f, out);
    ck_assert_int_eq(txm_cache_unload(c, id, NULL), TXM_OK);
    look(t, id, 0.3f, 0.3f, out);
    ck_verdict(c, "50.0 % of tiles read again, none for lack of memory: they had been unloaded");
    for (int i = 0; i < 3; i++)
        txm_cache_end_epoch(c);
    look(t, id, 0.3f, 0.3f, out);
    ck_verdict(c, "none for lack of memory: whole render tiles had not used them");
    ck_assert_int_eq(txm_cache_set_max_bytes(c, 1, NULL), TXM_OK);
    look(t, id, 0.3f, 0.3f, out);
    ck_verdict(c, "cache too small: ");
    char *none = strdup(temp_file("none.tx"));
    save_file(none, "no image at all, but long enough", 32);
    look(t, add_texture(c, none, TXM_EXTENSION_REPEAT), 0.3f, 0.3f, out);
    ck_verdict(c, "1 tile could not be read and is magenta");
    txm_cache_thread_free(&t);
    txm_cache_free(&c);
    free(none);
}

TEST(traces_are_complete_or_not_there)
{
    FREED char *path = write_cached("a.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1),
               *trace = strdup(temp_file("t.trace"));
    SCOPED(txm_cache_free) txm_cache *c = new_cache(NULL);
    uint32_t id = add_texture(c, path, TXM_EXTENSION_REPEAT), ids[] = {id, id, id, id};
    ck_assert_int_eq(txm_cache_trace_start(c, trace, TXM_TRACE_TILES, NULL), TXM_OK);
    ck_assert_int_eq(txm_cache_trace_start(c, trace, TXM_TRACE_TILES, NULL), TXM_STATUS_USAGE);
    walker w = {.cache = c, .ids = ids, .seed = 5, .count = 1000};
    walk_four(&w);
    txm_cache_end_epoch(c);
    ck_assert_int_ne(access(trace, F_OK), 0);
    ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
    size_t bytes;
    uint8_t *data = load_file(trace, &bytes);
    ck_assert(memcmp(data, "TXMTRACE\1\0\0\0", 12) == 0);
    ck_assert_uint_eq(data[16], 1); /* the texture comes first */
    free(data);
    txm_trace *read;
    ck_assert_int_eq(txm_trace_open(trace, &read, NULL), TXM_OK);
    ck_assert_uint_eq(txm_trace_info_of(read)->lookups, 1000);
    txm_trace_free(&read);
    ck_assert_int_ne(txm_cache_trace_start(c, "/nowhere/t.trace", TXM_TRACE_TILES, NULL), TXM_OK);
}

TEST(options_are_checked)
{
    txm_cache *c = NULL;
    for (int i = 0; i < 11; i++) {
        txm_cache_options o = budget_options(0, TXM_CACHE_POLICY_LRU);
        uint32_t *const numbers[] = {&o.policy, &o.keep_epochs, &o.coalesce};
        if (i < 3)
            *numbers[i] = 99;
        o.struct_size = i == 3 ? 0 : o.struct_size;
        o.resolution = i == 4 ? 0.0f : o.resolution;
        o.launch_seconds = i == 5 ? -1.0f : o.launch_seconds;
        o.max_open = i == 6 ? 0 : o.max_open;
        o.max_requests = i == 7 ? 0 : o.max_requests;
        o.threads = i == 8 ? 1025 : o.threads;
        o.reject = i == 9 ? 3 : o.reject;
        o.show_seconds = i == 10 ? NAN : o.show_seconds;
        txm_error err = {0};
        ck_assert_int_eq(txm_cache_new(&o, &c, &err), TXM_STATUS_USAGE);
        ck_assert_str_ne(err.message, "");
    }
    ck_assert_str_eq(txm_cache_policy_name(TXM_CACHE_POLICY_NONE), "none");
    ck_assert_ptr_null(txm_cache_policy_name((txm_cache_policy)POLICIES));
}

int main(void)
{
    return run_tests_in_one_process();
}
