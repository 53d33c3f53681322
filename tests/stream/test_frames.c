/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames whose textures stream: the same bits and figures with any number of threads, what is shown while tiles are
 * missing, and where it ends: in the picture of a render. */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream/camera_path.h"
#include "stream/frame_requests.h"
#include "stream/frames.h"
#include "util_check.h"
#include "util_tx.h"

static txm_error err;

enum { IMAGES = 3, WIDTH = 96, HEIGHT = 54, FLOATS = 3 * WIDTH * HEIGHT };
static char images[IMAGES][512];
static const char *paths[IMAGES];

/* RGBA, so that no thread needs memory to widen tiles in. */
static void make_images(void)
{
    for (int i = 0; i < IMAGES; i++) {
        char name[16];
        snprintf(name, sizeof name, "frames%d.tx", i);
        snprintf(images[i], sizeof images[i], "%s", temp_file(name));
        paths[i] = images[i];
        made_image image = make_image(700 + 300 * (uint32_t)i, 500 + 200 * (uint32_t)i, 4, TXM_TYPE_U8, 64,
                                      (txm_compression){TXM_CODEC_ZIP, 4}, MADE_NOISE);
        const txm_tx_metadata metadata = made_metadata();
        const txm_tx_summary summary = made_summary();
        uint64_t bytes;
        int fd = open(images[i], O_RDWR | O_CREAT | O_TRUNC, 0644);
        if (fd < 0 || write_image(fd, &image, &metadata, &summary, &bytes, &err) != TXM_OK) {
            fprintf(stderr, "%s: %s\n", images[i], err.message);
            exit(1);
        }
        close(fd);
        free_image(&image);
    }
}

static txm_render_scene *scene_of(const char *name)
{
    txm_render_scene *scene = NULL;
    ck_assert_msg(txm_render_scene_builtin(name, paths, IMAGES, 0.0f, &scene, &err) == TXM_OK, "%s", err.message);
    return scene;
}

static txm_cache_options cache; /* of options_of() */

static txm_frames_options options_of(void)
{
    txm_frames_options o;
    txm_frames_options_init(&o, &cache);
    o.render.width = WIDTH;
    o.render.height = HEIGHT;
    o.render.threads = 2;
    o.is_virtual = true;
    o.prices = (txm_frames_prices){.frame_ms = 10, .tile_ms = 0.2, .texel_ns = 10, .request_ns = 20};
    cache.max_bytes = 64 << 20;
    return o;
}

/* NULL where there is no module for rays. */
static txm_frames *frames_of(const txm_render_scene *scene, const txm_frames_options *o)
{
    txm_frames *frames = NULL;
    err = (txm_error){0};
    txm_status status = txm_frames_open(scene, o, &frames, &err);
    if (status == TXM_STATUS_UNSUPPORTED)
        return NULL;
    ck_assert_msg(status == TXM_OK, "%s", err.message);
    return frames;
}

static void advance(txm_frames *frames, const txm_scene_camera *camera)
{
    ck_assert_msg(txm_frames_advance(frames, camera, &err) == TXM_OK, "%s", err.message);
}

/* ---- requests ---- */

START_TEST(one_lane_of_a_wave_writes)
{
    txm_step_misses step = {0};
    txm_part_requests part = {.most = 100};
    /* Keys that differ in their upper half alone are not equal. */
    const txm_tile_key a = 1 << 23 | 5, b = a | (txm_tile_key)1 << 44;
    static const struct {
        uint32_t wave, written;
    } waves[] = {{0, 32}, {1, 32}, {8, 8}, {16, 4}, {32, 2}};
    for (size_t i = 0; i < sizeof waves / sizeof *waves; i++) {
        part.count = part.requested = part.missed = 0;
        for (uint32_t lane = 0; lane < TXM_BLOCK_LANES; lane++)
            txm_request_note(&step, &part, lane, lane % 2 ? a : b);
        ck_assert_uint_eq(part.requested, 0);
        txm_request_write(&step, &part, waves[i].wave);
        ck_assert_uint_eq(part.missed, 32);
        ck_assert_uint_eq(part.requested, waves[i].written);
        ck_assert_uint_eq(part.count, waves[i].written);
    }
    free(part.keys);
}
END_TEST

START_TEST(lists_are_bounded_and_rejected_at_random)
{
    txm_request_list list;
    txm_part_requests part = {.most = 64};
    txm_step_misses step = {0};
    ck_assert(txm_request_list_new(&list, 64));
    for (uint32_t i = 0; i < 1000; i++) {
        txm_request_note(&step, &part, i % 32, (1 << 23) | (i % 100));
        txm_request_write(&step, &part, 0);
    }
    ck_assert_uint_eq(part.requested, 1000);
    ck_assert_uint_eq(part.full, 936);
    txm_request_list_clear(&list);
    txm_request_list_add(&list, &part);
    txm_request_list_add(&list, &part);
    ck_assert_uint_eq(list.accepted, 64);
    ck_assert_uint_eq(list.unique, 64);
    ck_assert_uint_eq(part.full, 936 + 64);
    /* Half is left out, wherever in the frame it comes. */
    part.count = part.requested = part.full = 0;
    part.rejection = 1u << 31;
    part.most = 1000;
    for (uint32_t i = 0; i < 1000; i++) {
        txm_request_note(&step, &part, i % 32, (1 << 23) | (i % 100));
        txm_request_write(&step, &part, 0);
    }
    ck_assert_uint_eq(part.count + part.rejected, 1000);
    ck_assert_uint_gt(part.rejected, 420);
    ck_assert_uint_lt(part.rejected, 580);
    ck_assert_uint_eq(txm_request_rejection(TXM_FRAMES_REJECT_NONE, 1000, 10, 100), 0);
    ck_assert_uint_eq(txm_request_rejection(TXM_FRAMES_REJECT_SPREAD, 100, 10, 100), 0);
    ck_assert_uint_eq(txm_request_rejection(TXM_FRAMES_REJECT_SPREAD, 200, 10, 100), UINT32_MAX / 2);
    ck_assert_uint_eq(txm_request_rejection(TXM_FRAMES_REJECT_UNIQUE, 200, 50, 100), UINT32_MAX / 4 * 3 + 2);
    free(part.keys);
    txm_request_list_free(&list);
}
END_TEST

/* ---- determinism ---- */

enum { PLAYED = 24 };
typedef struct played {
    float rgb[FLOATS];
    txm_frame_stats stats[PLAYED];
    txm_tile_key keys[PLAYED][8];
} played;

/* A camera that moves, rests, and moves on, in a cache that is too small. */
static bool play(const txm_render_scene *scene, const txm_frames_options *o, played *out)
{
    txm_frames *frames = frames_of(scene, o);
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; frames && i < PLAYED; i++) {
        bool is_cut;
        const txm_scene_camera camera = txm_camera_at(scene, i < 8 ? 10 * i : i < 16 ? 80 : 10 * (i - 8), &is_cut);
        advance(frames, &camera);
        out->stats[i] = *txm_frames_last(frames);
        txm_frames_wanted(frames, out->keys[i], 8);
    }
    if (!frames)
        return false;
    txm_frames_picture(frames, out->rgb);
    txm_frames_close(&frames);
    ck_assert_ptr_null(frames);
    return true;
}

START_TEST(virtual_time_is_the_same_with_any_number_of_threads)
{
    static played expected, found;
    static const struct {
        uint32_t loaders, threads;
    } runs[] = {{1, 1}, {2, 3}, {7, 1}, {64, 2}};
    txm_render_scene *scene = scene_of("fly");
    static const uint64_t budgets[] = {64 << 20, 3 << 20, 1 << 20};
    for (size_t b = 0; b < 3; b++) {
        txm_frames_options o = options_of();
        cache.max_bytes = budgets[b];
        o.requests = b ? 64 : 4096;
        o.render.bounces = 1;
        bool missed = false;
        for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
            o.loaders = runs[i].loaders;
            o.render.threads = runs[i].threads;
            if (!play(scene, &o, i ? &found : &expected)) {
                puts("skip frames (no module for rays)");
                txm_render_scene_free(&scene);
                return;
            }
            if (!i)
                continue;
            for (int k = 0; k < PLAYED; k++)
                ck_assert_msg(!memcmp(&found.stats[k], &expected.stats[k], sizeof *found.stats),
                              "budget %zu, run %zu, frame %d: %llu and %llu evicted, %llu and %llu sharp", b, i, k,
                              (unsigned long long)found.stats[k].evicted, (unsigned long long)expected.stats[k].evicted,
                              (unsigned long long)found.stats[k].sharp, (unsigned long long)expected.stats[k].sharp);
            ck_assert_mem_eq(found.keys, expected.keys, sizeof found.keys);
            ck_assert_mem_eq(found.rgb, expected.rgb, sizeof found.rgb);
        }
        for (int k = 0; k < PLAYED; k++)
            missed |= expected.stats[k].missed != 0;
        ck_assert(missed);
    }
    txm_render_scene_free(&scene);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frames");
    temp_file(""); /* the folder belongs to this process, not to a test's */
    make_images();
    TCase *t = add_case(suite, "frames");
    tcase_set_timeout(t, 300);
    add_tests(t, one_lane_of_a_wave_writes, lists_are_bounded_and_rejected_at_random,
              virtual_time_is_the_same_with_any_number_of_threads);
    return run_suite(suite);
}
