/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread that renders frames for a window: jobs one after the other, settings that change between them, cancelled
 * frames, and an end at any moment. */
#include <fcntl.h>

#include "command/view_worker.h"
#include "util_check.h"
#include "util_tx.h"

enum { WIDTH = 64, HEIGHT = 36, WAIT_MS = 60000 };

static txm_error err;
static char image[512];
static const char *const paths[] = {image};
static txm_cache_options cache;

static void make_one_image(void)
{
    snprintf(image, sizeof image, "%s", temp_file("viewed.tx"));
    SCOPED(free_image)
    made_image made = make_image(1000, 700, 4, TXM_TYPE_U8, 64, (txm_compression){TXM_CODEC_ZIP, 4}, MADE_NOISE);
    txm_tx_metadata metadata = made_metadata();
    metadata.detected_colorspace = "data";
    const txm_tx_summary summary = made_summary();
    uint64_t bytes;
    SCOPED(close_descriptor) int fd = open(image, O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write_image(fd, &made, &metadata, &summary, &bytes, &err) != TXM_OK) {
        fprintf(stderr, "%s: %s\n", image, err.message);
        exit(1);
    }
}

static stm_frames_options options_of_view(void)
{
    stm_frames_options o;
    stm_frames_options_init(&o, &cache);
    o.render.width = WIDTH;
    o.render.height = HEIGHT;
    o.render.threads = 2;
    return o;
}

/* For the job that is running. */
static stm_view_result result_of(stm_view_worker *w)
{
    stm_view_result r = {0};
    ck_assert(stm_view_worker_busy(w));
    ck_assert(stm_view_worker_take(w, WAIT_MS, &r));
    ck_assert(!stm_view_worker_busy(w));
    ck_assert(!stm_view_worker_take(w, 0, &r)); /* once */
    return r;
}

/* Opens a worker with a scene. */
static stm_view_worker *open_worker(const stm_render_scene *scene, stm_view_result *opened)
{
    const stm_frames_options o = options_of_view();
    stm_view_worker *w = NULL;
    ck_assert_msg(stm_view_worker_new(scene, &o, &w, &err) == TXM_OK, "%s", err.message);
    *opened = result_of(w);
    ck_assert_msg(opened->status == TXM_OK, "%s", opened->err.message);
    return w;
}

static stm_render_scene *room(void)
{
    stm_render_scene *scene = NULL;
    ck_assert_msg(stm_render_scene_builtin("room", paths, 1, 0.0f, &scene, &err) == TXM_OK, "%s", err.message);
    return scene;
}

TEST(settings_change_between_frames)
{
    SCOPED(stm_render_scene_free) stm_render_scene *scene = room();
    stm_view_result r;
    SCOPED(stm_view_worker_free) stm_view_worker *w = open_worker(scene, &r);
    stm_view_request request = r.request;
    ck_assert(request.width == WIDTH && request.height == HEIGHT && !r.rgba);
    const uint8_t *shown = NULL;
    for (uint32_t i = 0; i < 40; i++) {
        /* Every frame changes something, most often the budget. */
        request.budget = i % 3 ? 64 << 20 : 400 << 10;
        request.resolution = i % 5 ? 1.0f : 0.5f;
        request.policy = i % 7 ? TXM_CACHE_POLICY_LRU : TXM_CACHE_POLICY_NONE;
        request.show = i % 3;
        request.textures = i % 11 == 10 ? STM_FRAMES_COARSEST : STM_FRAMES_STREAMED;
        request.width = WIDTH + i % 4;
        stm_view_worker_start(w, &request);
        r = result_of(w);
        ck_assert_msg(r.status == TXM_OK && r.setting == TXM_OK, "%s", r.err.message);
        ck_assert(r.width == WIDTH + i % 4 && r.height == HEIGHT && r.rgba && r.rgba != shown);
        ck_assert(r.request.budget == request.budget && r.request.policy == request.policy);
        ck_assert_uint_eq(r.frame.number, i);
        ck_assert_uint_eq(r.rgba[4 * (size_t)r.width * r.height - 1], 255);
        shown = r.rgba;
    }
    /* If a value is refused, the old one stays, and the frame is rendered. */
    request.policy = TXM_CACHE_POLICY_NONE + 1;
    stm_view_worker_start(w, &request);
    r = result_of(w);
    ck_assert_int_eq(r.setting, TXM_STATUS_USAGE);
    ck_assert_int_eq(r.status, TXM_OK);
    ck_assert_uint_le(r.request.policy, TXM_CACHE_POLICY_NONE);
}

/* The picture that is shown is not written to while the next one is rendered. */
TEST(a_picture_stays_while_the_next_is_made)
{
    static uint8_t copy[4 * WIDTH * HEIGHT];
    SCOPED(stm_render_scene_free) stm_render_scene *scene = room();
    stm_view_result r;
    SCOPED(stm_view_worker_free) stm_view_worker *w = open_worker(scene, &r);
    stm_view_request request = r.request;
    for (int i = 0; i < 20; i++) {
        stm_view_worker_start(w, &request);
        if (i) {
            memcpy(copy, r.rgba, sizeof copy);
            while (!stm_view_worker_take(w, 0, &r))
                ck_assert_mem_eq(copy, r.rgba, sizeof copy);
        } else {
            r = result_of(w);
        }
        request.camera.to_world.m[0][3] += 0.01f;
    }
}

/* The picture of some frames at rest, after all texels of them have come, and the camera has been elsewhere, with
 * direct light and fewer pixels if `direct`. */
static void rest_after_flight(stm_view_worker *w, stm_view_request request, bool direct,
                              uint8_t rgba[4 * WIDTH * HEIGHT])
{
    const stm_view_request still = request;
    stm_view_result r = {0};
    for (int i = 0; i < 1000 && (!i || r.frame.sharp < r.frame.texels); i++) {
        stm_view_worker_start(w, &request);
        r = result_of(w);
    }
    ck_assert_uint_eq(r.frame.sharp, r.frame.texels);
    for (int i = 0; i < 3; i++) {
        request.camera.to_world.m[0][3] += 1e-4f;
        request.direct = direct;
        request.width = direct ? WIDTH / 2 : WIDTH;
        stm_view_worker_start(w, &request);
        r = result_of(w);
        ck_assert_uint_eq(r.frame.accumulated, 1);
        /* Mirrors are followed, but no light from surface to surface. */
        ck_assert(r.frame.rays > r.width * r.height && (!direct || r.frame.rays < 2 * r.width * r.height));
    }
    for (uint32_t i = 0; i < 5; i++) {
        stm_view_worker_start(w, &still);
        r = result_of(w);
        ck_assert_uint_eq(r.frame.accumulated, i + 1);
    }
    ck_assert_uint_eq(r.frame.sharp, r.frame.texels);
    memcpy(rgba, r.rgba, 4 * (size_t)WIDTH * HEIGHT);
}

/* Whatever is left out while the camera moves: when it rests, the picture has the same bits. */
TEST(a_picture_at_rest_is_exact)
{
    static uint8_t pictures[2][4 * WIDTH * HEIGHT];
    SCOPED(stm_render_scene_free) stm_render_scene *scene = room();
    bool is_open = false;
    for (int direct = 0; direct < 2; direct++) {
        stm_frames_options o = options_of_view();
        SCOPED(stm_view_worker_free) stm_view_worker *w = NULL;
        o.render.bounces = 3;
        ck_assert_int_eq(stm_view_worker_new(scene, &o, &w, &err), TXM_OK);
        const stm_view_result r = result_of(w);
        is_open = r.status == TXM_OK;
        if (is_open)
            rest_after_flight(w, r.request, direct, pictures[direct]);
    }
    if (is_open)
        ck_assert_mem_eq(pictures[0], pictures[1], sizeof *pictures);
}

TEST(frames_are_given_up_and_go_on)
{
    SCOPED(stm_render_scene_free) stm_render_scene *scene = room();
    stm_view_result r;
    SCOPED(stm_view_worker_free) stm_view_worker *w = open_worker(scene, &r);
    stm_view_request request = r.request;
    uint32_t complete = 0;
    request.width = 640;
    request.height = 360;
    for (int i = 0; i < 20; i++) {
        stm_view_worker_start(w, &request);
        if (i % 4)
            stm_view_worker_stop(w);
        r = result_of(w);
        ck_assert(r.status == TXM_OK || r.status == TXM_STATUS_CANCELLED);
        ck_assert(i % 4 || r.status == TXM_OK);
        complete += r.status == TXM_OK;
        request.camera.to_world.m[0][3] += 0.01f;
    }
    if (w) {
        ck_assert_uint_eq(stm_frames_totals_of(stm_view_worker_frames(w)).frames, complete);
        ck_assert_uint_lt(complete, 20);
    }
}

TEST(pictures_are_saved)
{
    SCOPED(stm_render_scene_free) stm_render_scene *scene = room();
    stm_view_result r;
    SCOPED(stm_view_worker_free) stm_view_worker *w = open_worker(scene, &r);
    stm_view_request request = r.request;
    char name[512];
    snprintf(name, sizeof name, "%s", temp_file("shot.exr"));
    if (w) {
        stm_view_worker_start(w, &request);
        r = result_of(w);
        request.shot = name;
        request.still = true;
        stm_view_worker_start(w, &request);
        r = result_of(w);
        ck_assert_msg(r.shot == TXM_OK, "%s", r.shot_err.message);
        ck_assert_int_eq(access(name, R_OK), 0);
        ck_assert_uint_eq(stm_frames_totals_of(stm_view_worker_frames(w)).frames, 1);
        request.shot = "/no folder/shot.exr";
        stm_view_worker_start(w, &request);
        r = result_of(w);
        ck_assert_int_ne(r.shot, TXM_OK);
        ck_assert_int_eq(r.status, TXM_OK);
    }
}

/* Whatever is running, nothing is waited for except reads that have begun. */
TEST(it_ends_at_any_moment)
{
    SCOPED(stm_render_scene_free) stm_render_scene *scene = room();
    const stm_frames_options o = options_of_view();
    for (int i = 0; i < 12; i++) {
        stm_view_worker *w = NULL;
        stm_view_result r = {0};
        ck_assert_int_eq(stm_view_worker_new(scene, &o, &w, &err), TXM_OK);
        if (i % 2 && stm_view_worker_take(w, WAIT_MS, &r) && r.status == TXM_OK) {
            r.request.width = 800;
            r.request.height = 450;
            stm_view_worker_start(w, &r.request);
        }
        usleep((useconds_t)i * 1000);
        stm_view_worker_free(&w);
        ck_assert_ptr_null(w);
    }
}

/* A scene without its tx files does not open, and the worker gives the reason. */
TEST(what_cannot_be_opened_is_said)
{
    static const char *const missing[] = {"missing.tx"};
    SCOPED(stm_render_scene_free) stm_render_scene *scene = NULL;
    SCOPED(stm_view_worker_free) stm_view_worker *w = NULL;
    const stm_frames_options o = options_of_view();
    ck_assert_int_eq(stm_render_scene_builtin("room", missing, 1, 0.0f, &scene, &err), TXM_OK);
    ck_assert_int_eq(stm_view_worker_new(scene, &o, &w, &err), TXM_OK);
    const stm_view_result r = result_of(w);
    ck_assert_int_ne(r.status, TXM_OK);
    ck_assert_ptr_nonnull(strstr(r.err.message, "missing.tx"));
    ck_assert_ptr_null(stm_view_worker_frames(w));
}

int main(void)
{
    make_one_image();
    return run_tests();
}
