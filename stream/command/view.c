/* SPDX-License-Identifier: Apache-2.0
 *
 * `txmill stream view`: a window for flying through a scene while its textures stream.
 *
 * This thread handles keys and mouse and shows pictures, but never computes them; the worker's thread (view_worker.c)
 * renders the frames. While the camera moves, 30 frames per second are the goal: if frames at rest take longer, paths
 * end at the first diffuse surface, and if that is not enough, pictures become smaller, and the window scales them up.
 * When it rests, pictures have all light and all of the window's pixels, and accumulate. A frame at rest is cancelled
 * when the camera moves again.
 */
#include "command/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "cli/say.h"
#include "command/stream_args.h"
#include "command/view_overlay.h"
#include "command/view_worker.h"
#include "render/flight.h"
#include "render/window.h"

static const double frame_ms = 1000.0 / 30.0;
static const double rest_seconds =
    0.15; /* seconds without motion before pictures have all pixels, because a hand on the mouse pauses and continues */
static const double longest_step = 0.1;    /* seconds; longer pauses do not move the camera further */
static const double message_seconds = 4.0; /* seconds for which the overlay shows a message */
enum { ENOUGH = 4096 /* frames at rest after which the picture no longer changes visibly */, SHOT_NAMES = 10000 };

typedef struct view_loop {
    const stm_frames_options *options;
    uint32_t frames_wanted; /* 0: until the window is closed */
    stm_screen screen;
    stm_view_worker *worker;
    stm_flight flight;
    stm_pace pace[2]; /* pace with all light, and with direct light */
    stm_view_request request;
    stm_view_result last;
    stm_view_overlay overlay;
    bool is_open, is_closed, is_dirty, is_paused, is_hidden, moves;
    bool full; /* the job in progress renders all pixels */
    uint32_t width, height;
    double now, stepped, moved, shown; /* seconds: this round, the last step, the last motion, the last picture */
    char shot[32];
    bool wants_shot;
} view_loop;

/* ---- keys ---- */

static void say_in_window(view_loop *v, const char *text)
{
    snprintf(v->overlay.message, sizeof v->overlay.message, "%.*s", STM_VIEW_LINE - 1, text);
    v->overlay.message_until = v->now + message_seconds;
    v->is_dirty = true;
}

static void press_key(view_loop *v, int32_t key)
{
    stm_view_request *w = &v->request;
    switch (key) {
    case STM_KEY_ESCAPE:
        v->is_closed = true;
        break;
    case '-':
    case '+':
    case '=': {
        /* Without a limit, half means half of the memory in use. */
        bool more = key != '-';
        const uint64_t least = 1 << 18, most = (uint64_t)1 << 50;
        const uint64_t held = v->request.budget ? v->request.budget : v->last.frame.allocated_bytes;
        if (more ? held <= most : held >= least)
            v->request.budget = more ? held * 2 : held / 2;
    } break;
    case 'r':
        w->resolution = w->resolution > 0.2f ? w->resolution / 2.0f : 1.0f;
        break;
    case 'p':
        v->request.policy++;
        if (!txm_cache_policy_name((txm_cache_policy)v->request.policy))
            v->request.policy = 0;
        break;
    case 'm':
        w->show = w->show == STM_FRAMES_SHOW_MISSING ? STM_FRAMES_SHOW_PICTURE : STM_FRAMES_SHOW_MISSING;
        break;
    case 'l':
        w->show = w->show == STM_FRAMES_SHOW_LEVELS ? STM_FRAMES_SHOW_PICTURE : STM_FRAMES_SHOW_LEVELS;
        break;
    case 't':
        w->textures = w->textures == STM_FRAMES_UNTEXTURED ? STM_FRAMES_STREAMED : w->textures + 1;
        break;
    case ' ':
        v->is_paused = !v->is_paused;
        break;
    case 'h':
        v->overlay.is_hidden = !v->overlay.is_hidden;
        break;
    case STM_KEY_F1:
        v->overlay.with_keys = !v->overlay.with_keys;
        break;
    case STM_KEY_F12:
        if (!v->last.rgba || v->wants_shot)
            break;
        /* Takes the first number for which there is no file. */
        for (unsigned i = 1; i < SHOT_NAMES && !v->wants_shot; i++) {
            snprintf(v->shot, sizeof v->shot, "txmill-view-%04u.png", i);
            v->wants_shot = access(v->shot, F_OK) != 0;
        }
        if (!v->wants_shot)
            say_in_window(v, "no screenshot: all of its names are taken");
        break;
    default:
        return;
    }
    v->is_dirty = true;
}

static void take_event(view_loop *v, const stm_window_event *event)
{
    if (v->is_open && stm_flight_take(&v->flight, event, v->width))
        return;
    switch (event->kind) {
    case STM_WINDOW_CLOSE:
        v->is_closed = true;
        break;
    case STM_WINDOW_RESIZED:
        v->width = (uint32_t)event->x;
        v->height = (uint32_t)event->y;
        v->is_dirty = true;
        break;
    case STM_WINDOW_KEY_DOWN:
        if (v->is_open || event->key == STM_KEY_ESCAPE)
            press_key(v, event->key);
        break;
    case STM_WINDOW_HIDDEN:
        v->is_hidden = true;
        break;
    case STM_WINDOW_SHOWN:
    case STM_WINDOW_EXPOSED:
        v->is_hidden = false;
        v->is_dirty = true;
        break;
    default:
        break;
    }
}

/* ---- frames ---- */

/* A frame that was cancelled because the camera moved is not a failure. */
static txm_status take_result(view_loop *v, const stm_view_result *r, txm_error *err)
{
    if (!v->is_open) {
        if (r->status != TXM_OK)
            return v->is_closed ? TXM_OK : stm_fail_as(err, &r->err);
        /* The scene is open: the camera becomes the scene's, and the overlay gets figures. */
        v->is_open = true;
        v->last = *r;
        v->request = r->request;
        v->stepped = v->now;
        stm_flight_begin(&v->flight, &r->request.camera, stm_frames_distance(stm_view_worker_frames(v->worker), false));
        return TXM_OK;
    }
    /* Handles results that only matter if they changed since the previous job. */
    char text[sizeof v->overlay.message];
    if (r->setting) {
        v->request.budget = r->request.budget;
        v->request.policy = r->request.policy;
        v->request.resolution = r->request.resolution;
        say_in_window(v, r->setting_err.message);
    }
    if (v->request.shot && r->shot)
        say_in_window(v, r->shot_err.message);
    if (v->request.shot) {
        if (!r->shot) {
            snprintf(text, sizeof text, "wrote %s", v->shot);
            say_in_window(v, text);
        }
        stm_say(r->shot ? STM_SAY_ERROR : STM_SAY_INFO, "%s", r->shot ? r->shot_err.message : v->overlay.message);
    }
    if (r->status && r->status != TXM_STATUS_CANCELLED)
        return stm_fail_as(err, &r->err);
    const bool is_new = r->status == TXM_OK && !v->request.still;
    v->last = *r;
    if (!is_new)
        return TXM_OK;
    stm_pace_note(&v->pace[r->request.direct], (uint64_t)r->width * r->height, r->ms);
    stm_view_overlay_note(&v->overlay, v->now - v->shown);
    v->shown = v->now;
    v->is_dirty = true;
    if (v->frames_wanted && r->frame.number + 1 >= v->frames_wanted)
        v->is_closed = true;
    return TXM_OK;
}

static txm_status show(view_loop *v, txm_error *err)
{
    stm_view_lines lines;
    if (v->overlay.message_until > 0.0 && v->now > v->overlay.message_until) {
        v->overlay.message_until = 0.0;
        v->is_dirty = true;
    }
    if (!v->is_dirty || v->is_hidden)
        return TXM_OK;
    stm_view_overlay_write(&v->overlay, v->is_open ? &v->last : NULL, v->flight.speed, v->is_paused, &lines);
    const stm_window_image image = {.rgba = v->last.rgba,
                                    .width = v->last.width,
                                    .height = v->last.height,
                                    .lines = lines.text,
                                    .line_count = lines.count};
    v->is_dirty = false;
    if (v->screen.call->show(v->screen.data, &image))
        return TXM_OK;
    return stm_fail(err, TXM_STATUS_IO, "the window cannot show the picture: %s",
                    v->screen.call->message(v->screen.data));
}

/* ---- a run ---- */

txm_status stm_stream_view_check(const stm_play_args *a, txm_error *err)
{
    const struct {
        bool given;
        const char *option;
    } options[] = {{a->path != 0, "--path"},
                   {a->rest != 0, "--rest"},
                   {a->warm_up != 0, "--warm-up"},
                   {a->keys != 0, "--keys"},
                   {a->is_virtual || a->frame_ms >= 0.0 || a->tile_ms >= 0.0 || a->texel_ns >= 0.0 ||
                        a->request_ns >= 0.0 || a->latency_ms >= 0.0,
                    "--virtual, or a cost"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].given)
            return stm_fail(err, TXM_STATUS_USAGE, "%s: use 'txmill stream play'", options[i].option);
    return TXM_OK;
}

/* A size that fits any screen, in the scene's proportions, unless a size was given. */
static void choose_window_size(view_loop *v, const stm_render_scene *scene)
{
    const double most_width = 1280.0, most_height = 720.0;
    stm_render_scene_info info;
    stm_render_scene_describe(scene, &info);
    v->width = v->options->render.width ? v->options->render.width : info.width;
    v->height = v->options->render.height ? v->options->render.height : info.height;
    if (v->options->render.width)
        return;
    double share = most_width / v->width < most_height / v->height ? most_width / v->width : most_height / v->height;
    share = share < 1.0 ? share : 1.0;
    v->width = (uint32_t)(share * v->width) > 0 ? (uint32_t)(share * v->width) : 1;
    v->height = (uint32_t)(share * v->height) > 0 ? (uint32_t)(share * v->height) : 1;
}

/* One round: events, the worker's result, the next job, the picture. It waits for the worker only a few milliseconds,
 * and so delays events no longer. */
static txm_status run_round(view_loop *v, txm_error *err)
{
    enum { EVENTS_MS = 5, IDLE_MS = 20 };
    stm_window_event event;
    stm_view_result result;
    txm_status status = TXM_OK;
    v->now = stm_clock_seconds();
    while (v->screen.call->next_event(v->screen.data, &event))
        take_event(v, &event);
    const bool is_busy = stm_view_worker_busy(v->worker);
    if (is_busy && v->is_open && v->full && (v->flight.held || v->flight.turned))
        stm_view_worker_stop(v->worker);
    if (v->is_closed || stm_signal_caught())
        return TXM_OK;
    if (!is_busy) {
        /* Moves the camera to its current place, and chooses the light and the size of its picture. The light stays the
         * same until the camera rests, because otherwise it would flicker. */
        const double seconds = v->now - v->stepped;
        v->stepped = v->now;
        if (stm_flight_step(&v->flight, seconds < longest_step ? seconds : longest_step))
            v->moved = v->now;
        const bool moved = v->moves;
        v->moves = v->now - v->moved < rest_seconds;
        if (!v->moves)
            v->request.direct = false;
        else if (!moved)
            v->request.direct = !stm_pace_fits(&v->pace[0], frame_ms, v->width, v->height);
        if (v->moves) {
            stm_pace_size(&v->pace[v->request.direct], frame_ms, v->width, v->height, &v->request.width,
                          &v->request.height);
        } else {
            v->request.width = v->width;
            v->request.height = v->height;
        }
        v->request.camera = stm_flight_camera(&v->flight, v->width, v->height);
        /* Whether no frame has to be rendered: the window is hidden, the view is paused, or nothing was changed and the
         * picture has accumulated long enough. */
        const stm_view_request *has = &v->last.request;
        const bool same = memcmp(&has->camera, &v->request.camera, sizeof has->camera) == 0 &&
                          has->width == v->request.width && has->height == v->request.height &&
                          has->budget == v->request.budget && has->show == v->request.show &&
                          has->policy == v->request.policy && has->textures == v->request.textures &&
                          has->resolution == v->request.resolution && has->direct == v->request.direct;
        v->request.still =
            v->is_hidden || v->is_paused || (same && !v->frames_wanted && v->last.frame.accumulated >= ENOUGH);
        v->request.shot = v->wants_shot ? v->shot : NULL;
        if (!v->request.still || v->wants_shot) {
            v->wants_shot = false;
            v->full = !v->moves;
            stm_view_worker_start(v->worker, &v->request);
        }
    }
    status = show(v, err);
    if (status == TXM_OK &&
        stm_view_worker_take(v->worker, stm_view_worker_busy(v->worker) ? EVENTS_MS : IDLE_MS, &result)) {
        v->now = stm_clock_seconds();
        status = take_result(v, &result, err);
    }
    return status;
}

/* The results of the frames, in the form of a play. */
static txm_status collect_view(view_loop *v, stm_play_run *run, txm_error *err)
{
    stm_frames *frames = stm_view_worker_frames(v->worker);
    run->width = v->width;
    run->height = v->height;
    if (!frames)
        return TXM_OK;
    run->frames = stm_calloc(1, sizeof *run->frames);
    if (!run->frames)
        return stm_no_memory(err, NULL);
    run->totals = stm_frames_totals_of(frames);
    run->frame_count = run->totals.frames ? 1 : 0;
    *run->frames = *stm_frames_last(frames);
    return stm_play_collect(frames, run, err);
}

txm_status stm_stream_view(const char *name, const stm_render_scene *scene, const stm_play_args *args,
                           const stm_frames_options *options, stm_play_run *run, txm_error *err)
{
    char title[256];
    view_loop v = {.options = options, .frames_wanted = args->frames, .is_dirty = true};
    stm_frames_options o = *options;
    *run = (stm_play_run){.action = "view", .scene = name, .options = options, .args = args, .path = "flight"};
    choose_window_size(&v, scene);
    snprintf(title, sizeof title, "%s - txmill stream view", name);
    txm_status status = stm_screen_open(title, v.width, v.height, &v.screen, err);
    if (status)
        return status;
    v.screen.call->size(v.screen.data, &v.width, &v.height);
    o.render.width = v.width;
    o.render.height = v.height;
    status = stm_view_worker_new(scene, &o, &v.worker, err);
    while (status == TXM_OK && !v.is_closed && !stm_signal_caught())
        status = run_round(&v, err);
    stm_screen_close(&v.screen);
    if (v.worker) {
        stm_view_result unused;
        stm_view_worker_stop(v.worker);
        while (stm_view_worker_busy(v.worker))
            stm_view_worker_take(v.worker, 1000, &unused);
    }
    if (status == TXM_OK)
        status = collect_view(&v, run, err);
    stm_view_worker_free(&v.worker);
    run->stopped = stm_signal_caught();
    return status == TXM_OK && run->stopped ? stm_fail(err, TXM_STATUS_CANCELLED, "stopped") : status;
}
