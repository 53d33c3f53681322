/* SPDX-License-Identifier: Apache-2.0
 *
 * A camera that flies, the size of its pictures, and the text over them: the effects of keys and mouse, without a
 * window. */
#include <math.h>

#include "command/view_overlay.h"
#include "render/flight.h"
#include "util_check.h"

/* The camera is at (1, 2, 3) and looks along y; the picture is twice as wide as high. */
static stm_scene_camera camera_along_y(void)
{
    return (stm_scene_camera){.kind = STM_CAMERA_PERSPECTIVE,
                              .half = {1.0f, 0.5f},
                              .clip = {0.1f, 100.0f},
                              .to_world = {{{1, 0, 0, 1}, {0, 0, -1, 2}, {0, 1, 0, 3}}}};
}

static stm_flight flight_along_y(void)
{
    const stm_scene_camera c = camera_along_y();
    stm_flight f;
    stm_flight_begin(&f, &c, 8.0f);
    return f;
}

static void press(stm_flight *f, uint32_t kind, int32_t key, int32_t place)
{
    const stm_window_event e = {.kind = kind, .key = key, .place = place};
    ck_assert(stm_flight_take(f, &e, 100));
}

static void drag(stm_flight *f, float x, float y)
{
    const stm_window_event e = {.kind = STM_WINDOW_DRAG, .x = x, .y = y};
    ck_assert(stm_flight_take(f, &e, 100));
}

static void is_at(const stm_flight *f, float x, float y, float z)
{
    const stm_scene_camera c = stm_flight_camera(f, 200, 100);
    ck_assert_float_eq_tol(c.to_world.m[0][3], x, 1e-4f);
    ck_assert_float_eq_tol(c.to_world.m[1][3], y, 1e-4f);
    ck_assert_float_eq_tol(c.to_world.m[2][3], z, 1e-4f);
}

/* ---- the camera ---- */

TEST(nothing_moves_by_itself)
{
    stm_flight f = flight_along_y();
    const stm_scene_camera c = camera_along_y();
    ck_assert(!stm_flight_step(&f, 10.0));
    const stm_scene_camera now = stm_flight_camera(&f, 960, 480);
    ck_assert_mem_eq(&now, &c, sizeof c);
}

/* 8 m ahead is four seconds away. */
TEST(keys_move)
{
    static const struct {
        int32_t key, place;
        float x, y, z;
    } keys[] = {
        {'w', 'w', 1, 4, 3},      {'s', 's', 1, 0, 3},        {'a', 'a', -1, 2, 3},        {'d', 'd', 3, 2, 3},
        {'e', 'e', 1, 2, 5},      {'q', 'q', 1, 2, 1},        {'z', 'w', 1, 4, 3}, /* a French keyboard */
        {STM_KEY_UP, 0, 1, 4, 3}, {STM_KEY_DOWN, 0, 1, 0, 3}, {STM_KEY_LEFT, 0, -1, 2, 3}, {STM_KEY_RIGHT, 0, 3, 2, 3}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        stm_flight f = flight_along_y();
        press(&f, STM_WINDOW_KEY_DOWN, keys[i].key, keys[i].place);
        ck_assert(stm_flight_step(&f, 0.5));
        ck_assert(stm_flight_step(&f, 0.5));
        press(&f, STM_WINDOW_KEY_UP, keys[i].key, keys[i].place);
        ck_assert(!stm_flight_step(&f, 1.0));
        is_at(&f, keys[i].x, keys[i].y, keys[i].z);
    }
}

TEST(opposite_keys_hold_still_and_focus_lets_go)
{
    stm_flight f = flight_along_y();
    const stm_window_event lost = {.kind = STM_WINDOW_FOCUS_LOST};
    press(&f, STM_WINDOW_KEY_DOWN, 'w', 'w');
    press(&f, STM_WINDOW_KEY_DOWN, 's', 's');
    ck_assert(!stm_flight_step(&f, 1.0));
    press(&f, STM_WINDOW_KEY_UP, 's', 's');
    ck_assert(stm_flight_take(&f, &lost, 100));
    ck_assert(!stm_flight_step(&f, 1.0));
    is_at(&f, 1, 2, 3);
    const stm_window_event other = {.kind = STM_WINDOW_KEY_DOWN, .key = 'm', .place = 'm'};
    ck_assert(!stm_flight_take(&f, &other, 100));
}

/* A mouse move by the window's width is half a turn to the right, after which forward is back. Heights stay. */
TEST(the_mouse_turns)
{
    stm_flight f = flight_along_y();
    drag(&f, 100.0f, 0.0f);
    ck_assert(stm_flight_step(&f, 0.0));
    press(&f, STM_WINDOW_KEY_DOWN, 'w', 'w');
    stm_flight_step(&f, 1.0);
    is_at(&f, 1, 0, 3);
    /* This is a quarter turn to the right of the present direction: its right is along -x. */
    press(&f, STM_WINDOW_KEY_UP, 'w', 'w');
    press(&f, STM_WINDOW_KEY_DOWN, 'd', 'd');
    stm_flight_step(&f, 1.0);
    is_at(&f, -1, 0, 3);
    press(&f, STM_WINDOW_KEY_UP, 'd', 'd');
    press(&f, STM_WINDOW_KEY_DOWN, STM_KEY_HOME, 0);
    ck_assert(stm_flight_step(&f, 0.0));
    const stm_scene_camera start = camera_along_y(), now = stm_flight_camera(&f, 200, 100);
    ck_assert_mem_eq(&now, &start, sizeof now);
}

static txm_vec3 axis(const stm_scene_camera *c, int k)
{
    return txm_vec_make(c->to_world.m[0][k], c->to_world.m[1][k], c->to_world.m[2][k]);
}

/* However far the mouse moves, the camera at most looks nearly straight up or down, and its axes stay perpendicular and
 * of length 1. */
TEST(it_never_looks_over_its_head)
{
    stm_flight f = flight_along_y();
    for (int i = 0; i < 10000; i++) {
        drag(&f, 13.0f, i % 3 ? -7.0f : 5.0f);
        stm_flight_step(&f, 0.01);
    }
    for (int up = 0; up < 2; up++) {
        drag(&f, 0.0f, up ? -1e6f : 1e6f);
        const stm_scene_camera c = stm_flight_camera(&f, 200, 100);
        const float height = -c.to_world.m[2][2];
        ck_assert(up ? height > 0.99f && height < 1.0f : height < -0.99f && height > -1.0f);
        ck_assert_float_eq_tol(c.to_world.m[2][0], 0.0f, 1e-5f);
        for (int k = 0; k < 3; k++) {
            const txm_vec3 a = axis(&c, k), b = axis(&c, (k + 1) % 3);
            ck_assert_float_eq_tol(txm_vec_length(a), 1.0f, 1e-5f);
            ck_assert_float_eq_tol(txm_vec_dot(a, b), 0.0f, 1e-5f);
        }
    }
}

TEST(the_wheel_changes_the_speed)
{
    stm_flight f = flight_along_y();
    stm_window_event e = {.kind = STM_WINDOW_WHEEL, .y = 1.0f};
    ck_assert_float_eq_tol(f.speed, 2.0f, 1e-6f);
    stm_flight_take(&f, &e, 100);
    ck_assert_float_eq_tol(f.speed, 2.5f, 1e-5f);
    e.y = 1e6f;
    stm_flight_take(&f, &e, 100);
    ck_assert_float_eq_tol(f.speed, 2e4f, 1.0f);
    press(&f, STM_WINDOW_KEY_DOWN, 'w', 'w');
    for (int i = 0; i < 1000000; i++)
        stm_flight_step(&f, 0.1);
    const stm_scene_camera c = stm_flight_camera(&f, 200, 100);
    ck_assert(isfinite(c.to_world.m[1][3]));
    e.y = -1e6f;
    stm_flight_take(&f, &e, 100);
    ck_assert_float_eq_tol(f.speed, 2e-4f, 1e-8f);
    const stm_scene_camera nothing_ahead = camera_along_y();
    stm_flight_begin(&f, &nothing_ahead, INFINITY);
    ck_assert(isfinite(f.speed) && f.speed > 0.0f);
}

/* Wider windows show more at the sides, and higher ones more above and below. The middle of a shifted picture stays in
 * place. */
TEST(windows_of_any_proportions_show_the_scene)
{
    stm_flight f = flight_along_y();
    f.start.shift[0] = 0.25f;
    stm_scene_camera c = stm_flight_camera(&f, 400, 100);
    ck_assert_float_eq_tol(c.half[0], 2.0f, 1e-5f);
    ck_assert_float_eq(c.half[1], 0.5f);
    ck_assert_float_eq_tol(c.shift[0] * c.half[0], 0.25f, 1e-6f);
    c = stm_flight_camera(&f, 100, 100);
    ck_assert_float_eq(c.half[0], 1.0f);
    ck_assert_float_eq_tol(c.half[1], 1.0f, 1e-5f);
    c = stm_flight_camera(&f, 201, 100); /* a single pixel does not change the proportions */
    ck_assert_float_eq(c.half[0], 1.0f);
    ck_assert_float_eq(c.half[1], 0.5f);
}

/* ---- the size of pictures ---- */

TEST(pictures_fit_a_frame)
{
    stm_pace p = {0};
    uint32_t w, h;
    stm_pace_size(&p, 33.3, 480, 270, &w, &h);
    ck_assert_uint_eq(w, 480); /* until the first frame was measured */
    ck_assert(!stm_pace_fits(&p, 33.3, 480, 270));
    stm_pace_note(&p, 480 * 270, 100.0);
    stm_pace_size(&p, 33.3, 480, 270, &w, &h);
    ck_assert(100.0 * w * h / (480 * 270) <= 33.3);
    ck_assert(100.0 * w * h / (480 * 270) > 10.0);
    ck_assert_float_eq_tol((float)w / (float)h, 480.0f / 270.0f, 0.03f);
    /* When frames become fast, the picture grows again to all pixels. */
    for (int i = 0; i < 60; i++) {
        stm_pace_note(&p, (uint64_t)w * h, 5.0 * w * h / (480 * 270));
        stm_pace_size(&p, 33.3, 480, 270, &w, &h);
    }
    ck_assert_uint_eq(w, 480);
    ck_assert_uint_eq(h, 270);
    ck_assert(stm_pace_fits(&p, 33.3, 480, 270) && !stm_pace_fits(&p, 33.3, 4800, 2700));
    /* Single slow frames, while another program has the processor, do not make the picture smaller. */
    for (int i = 0; i < 2; i++) {
        stm_pace_note(&p, 480 * 270, 200.0);
        stm_pace_note(&p, 480 * 270, 5.0);
        stm_pace_note(&p, 480 * 270, 5.0);
        stm_pace_size(&p, 33.3, 480, 270, &w, &h);
        ck_assert_uint_eq(w, 480);
    }
    /* There is always at least one pixel. */
    for (int i = 0; i < 2; i++)
        stm_pace_note(&p, 1, 1e12);
    stm_pace_note(&p, 1, 1e12);
    stm_pace_size(&p, 33.3, 1, 1, &w, &h);
    ck_assert_uint_eq(w, 1);
    ck_assert_uint_eq(h, 1);
}

/* If the time for a pixel is constant, the size is, too, whatever it is. */
TEST(pictures_keep_their_size)
{
    for (double full = 20.0; full < 400.0; full *= 1.07) {
        stm_pace p = {0};
        uint32_t w, h, before = 0, changes = 0;
        for (int i = 0; i < 200; i++) {
            stm_pace_note(&p, 480 * 270, full * (i % 2 ? 1.05 : 0.95));
            stm_pace_size(&p, 33.3, 480, 270, &w, &h);
            changes += i > 100 && w != before;
            before = w;
        }
        ck_assert_uint_eq(changes, 0);
    }
}

/* ---- the overlay ---- */

static bool has_line(const stm_view_lines *l, const char *text)
{
    for (size_t i = 0; i < l->count; i++)
        if (strstr(l->text[i], text))
            return true;
    return false;
}

TEST(the_overlay_has_the_figures)
{
    stm_view_overlay o = {0};
    stm_view_lines l;
    stm_view_result r = {.request = {.budget = 64 << 20, .resolution = 0.5f, .policy = TXM_CACHE_POLICY_LRU},
                         .width = 480,
                         .height = 270};
    r.frame = (stm_frame_stats){
        .ms = 25.04, .accumulated = 7, .texels = 2000, .sharp = 1500, .requested = 321, .unique = 45, .batch = 40};
    r.frame.resident_bytes = 3000000;
    for (int i = 0; i < 200; i++)
        stm_view_overlay_note(&o, 0.04);
    stm_view_overlay_write(&o, &r, 2.0f, false, &l);
    ck_assert(has_line(&l, "25 frames/s, 480 x 270 px, frame 7"));
    ck_assert(has_line(&l, "sharp 75 %, 3.0 MB of 67.1 MB"));
    ck_assert(has_line(&l, "textures at 50 % of their size"));
    ck_assert(!has_line(&l, "requests"));
    r.frame.sharp = 1999; /* not yet all */
    stm_view_overlay_write(&o, &r, 2.0f, false, &l);
    ck_assert(has_line(&l, "sharp 99 %"));
    ck_assert(!has_line(&l, "screenshot"));
    r.request.show = STM_FRAMES_SHOW_MISSING;
    stm_view_overlay_write(&o, &r, 2.0f, true, &l);
    ck_assert(has_line(&l, "magenta"));
    ck_assert(has_line(&l, "paused"));
    r.request.textures = STM_FRAMES_COARSEST;
    o.with_keys = true;
    stm_view_overlay_write(&o, &r, 2.0f, true, &l);
    ck_assert(has_line(&l, "one colour per texture"));
    ck_assert(has_line(&l, "25.0 ms; lru; requests 321 of 45 tiles, 40 load"));
    ck_assert(has_line(&l, "screenshot"));
    ck_assert_uint_lt(l.count, STM_VIEW_LINES);
    o = (stm_view_overlay){.is_hidden = true};
    stm_view_overlay_write(&o, &r, 2.0f, false, &l);
    ck_assert_uint_eq(l.count, 0);
    stm_view_overlay_write(&o, NULL, 2.0f, false, &l);
    ck_assert(has_line(&l, "opening the scene"));
}

/* The window's font has only these characters, and there is limited space. */
TEST(the_overlay_is_ascii_and_short)
{
    stm_view_overlay o = {.with_keys = true, .message_until = 1.0};
    stm_view_lines l;
    stm_view_result r = {.request = {.budget = UINT64_MAX, .resolution = 1e-9f, .policy = 12345}};
    memset(o.message, 0xC3, sizeof o.message - 1);
    memset(&r.frame, 0xFF, sizeof r.frame);
    stm_view_overlay_write(&o, &r, 3.4e38f, true, &l);
    for (size_t i = 0; i < l.count; i++) {
        ck_assert_uint_lt(strlen(l.text[i]), STM_VIEW_LINE);
        for (const char *c = l.text[i]; *c; c++)
            ck_assert(*c >= ' ' && *c <= '~');
    }
    stm_view_overlay_note(&o, 0.02);
    stm_view_overlay_note(&o, 30.0); /* after a pause */
    ck_assert(o.seconds_a_frame <= 0.0);
}
