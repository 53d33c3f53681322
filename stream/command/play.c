/* SPDX-License-Identifier: Apache-2.0
 *
 * Plays a scene: renders frames along a camera path and records the cost of each.
 *
 * A path is an orbit, the keyframes of the scene, or a resting camera; at its end the camera may rest for more frames.
 * Warm-up frames precede the first one and are not counted. If the run is stopped, all complete frames are kept.
 */
#include "command/play.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/options.h"
#include "render/camera_path.h"
#include "txtile/status.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

#define AT(member) .offset = offsetof(stm_play_args, member)
const stm_option stm_play_options[] = {
    STM_OPTION(UINT, "frames", .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(frames), .arg = "N", .min = 1,
               .max = 1 << 20,
               .help = "Number of frames of the path (default: up to the last keyframe, at most 65536, else 120)"),
    STM_OPTION(
        CHOICE, "path", .rare = true, .verbs = STM_STREAM_PLAY, AT(path), .arg = "PATH",
        .values = "auto orbit keyframes rest",
        .help = "Path of the camera (default: auto, the scene's keyframes or else an orbit)",
        .more =
            "An orbit is one turn around what is in the middle of the picture. With rest the camera does not move."),
    STM_OPTION(UINT, "rest", .rare = true, .verbs = STM_STREAM_PLAY, AT(rest), .arg = "N", .max = 1 << 20,
               .help = "Number of frames with the camera at rest at the end of the path (default: 0)"),
    STM_OPTION(UINT, "warm-up", .rare = true, .verbs = STM_STREAM_PLAY, AT(warm_up), .arg = "N", .max = 1 << 20,
               .help = "Number of frames before the first one, which are not counted (default: 0)"),
    STM_OPTION(CHOICE, "texturing", .rare = true, .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(texturing),
               .arg = "KIND", .values = "streamed coarsest untextured",
               .help = "Colours of textures: streamed tiles, a single colour per texture, or grey (default: streamed)"),
    STM_OPTION(CHOICE, "show", .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(show), .arg = "WHAT",
               .values = "picture missing levels",
               .help = "Show missing texels in magenta, or levels as colours (default: picture)"),
    STM_OPTION(CHOICE, "sampling", .rare = true, .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(sampling),
               .arg = "KIND", .values = "point scene",
               .help = "Texels of a lookup: one of each level, chosen at random, or as in render (default: point)"),
    STM_OPTION(UINT, "requests", .rare = true, .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(requests), .arg = "N",
               .min = 1, .max = STM_FRAMES_MAX_REQUESTS,
               .help = "Size of the list of requests of a frame (default: 4096)"),
    STM_OPTION(
        CHOICE, "reject", .rare = true, .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(reject), .arg = "HOW",
        .values = "spread unique none",
        .help = "Which requests are left out if the list is too short (default: spread)",
        .more = "With spread, as many as do not fit are left out at random. With unique, a share of 1 - unique/total "
                "of the previous frame is left out, as in Disney's streamer. With none, the last ones are left out."),
    STM_OPTION(
        UINT, "wave", .rare = true, .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(wave), .arg = "LANES",
        .max = STM_FRAMES_MAX_WAVE,
        .help =
            "Number of lanes of which only one writes the same request: 1, 2, 4 ... 32; 0: all write (default: 16)"),
    STM_OPTION(UINT, "batch", .rare = true, .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(batch), .arg = "N",
               .max = STM_FRAMES_MAX_REQUESTS,
               .help = "Largest number of tiles in a batch (default: 0, as many as fit half of the cache)"),
    STM_OPTION(UINT, "loaders", .rare = true, .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(loaders), .arg = "N",
               .min = 1, .max = 1024,
               .help = "Number of threads that load tiles, besides those that trace (default: 1)",
               .more = "They have a low priority, and may use 5 % of the processor time of a frame, and what is idle."),
    STM_OPTION(PERCENT, "marks", .rare = true, .verbs = STM_STREAM_PLAY | STM_STREAM_VIEW, AT(marks), .arg = "PERCENT",
               .most = 100.0,
               .help = "How full the cache is when lookups begin to mark the tiles that they use (default: 90)"),
    STM_OPTION(FLAG, "compare", .rare = true, .verbs = STM_STREAM_PLAY, AT(compares),
               .help = "Trace each frame once more without textures, and compare the processor time of both",
               .more = "Virtual time has no such figures."),
    STM_OPTION(FLAG, "virtual", .rare = true, .verbs = STM_STREAM_PLAY, AT(is_virtual),
               .help = "Compute time from costs instead of the clock",
               .more = "Pictures and figures are then the same on every machine and for any number of threads. Each "
                       "of the costs below implies it."),
    STM_OPTION(NUMBER, "frame-ms", .rare = true, .verbs = STM_STREAM_PLAY, AT(frame_ms), .arg = "MS", .most = 1e9,
               .help = "Cost of the rays of a frame (default: 33)"),
    STM_OPTION(NUMBER, "tile-ms", .rare = true, .verbs = STM_STREAM_PLAY, AT(tile_ms), .arg = "MS", .most = 1e9,
               .help = "Cost of loading a tile (default: 0.05)"),
    STM_OPTION(NUMBER, "texel-ns", .rare = true, .verbs = STM_STREAM_PLAY, AT(texel_ns), .arg = "NS", .most = 1e9,
               .help = "Cost of looking up a texel (default: 2)"),
    STM_OPTION(NUMBER, "request-ns", .rare = true, .verbs = STM_STREAM_PLAY, AT(request_ns), .arg = "NS", .most = 1e9,
               .help = "Cost of writing a request (default: 20)"),
    STM_OPTION(NUMBER, "latency-ms", .rare = true, .verbs = STM_STREAM_PLAY, AT(latency_ms), .arg = "MS", .most = 1e9,
               .help = "Time from the end of a frame until its requests can be loaded (default: 0)"),
    STM_OPTION(UINT, "keys", .rare = true, .verbs = STM_STREAM_PLAY, AT(keys), .arg = "N", .max = 65536,
               .help = "Number of keys of requested tiles in the JSON of each frame (default: 0)"),
    STM_OPTION(STRING, "strip", .rare = true, .verbs = STM_STREAM_PLAY, AT(strip), .arg = "FILE",
               .values = STM_VALUES_FILE,
               .help = "Write five pictures side by side: untextured, a single colour per texture, and streamed after "
                       "1, 8 and 64 frames"),
    {0},
};
#undef AT

stm_play_args stm_play_defaults(void)
{
    txm_cache_options cache;
    stm_frames_options o;
    stm_frames_options_init(&o, &cache);
    return (stm_play_args){.requests = o.requests,
                           .wave = o.wave,
                           .loaders = o.loaders,
                           .marks = (double)o.mark_share,
                           .frame_ms = -1.0,
                           .tile_ms = -1.0,
                           .texel_ns = -1.0,
                           .request_ns = -1.0,
                           .latency_ms = -1.0};
}

void stm_play_options_of(const stm_play_args *a, stm_frames_options *o)
{
    const struct {
        double given;
        double *cost;
    } costs[] = {{a->frame_ms, &o->cost_model.frame_ms},
                 {a->tile_ms, &o->cost_model.tile_ms},
                 {a->texel_ns, &o->cost_model.texel_ns},
                 {a->request_ns, &o->cost_model.request_ns},
                 {a->latency_ms, &o->cost_model.latency_ms}};
    o->is_virtual = a->is_virtual;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        if (costs[i].given >= 0.0) {
            *costs[i].cost = costs[i].given;
            o->is_virtual = true;
        }
    o->compares = a->compares;
    o->requests = a->requests;
    o->batch = a->batch;
    o->wave = a->wave;
    o->loaders = a->loaders;
    o->textures = (uint32_t)a->texturing;
    o->show = (uint32_t)a->show;
    o->filter = (uint32_t)a->sampling;
    o->reject = (uint32_t)a->reject;
    o->mark_share = (float)a->marks;
}

/* ---- the camera -------------------------------------------------------------------------------------------------- */

enum { PATH_AUTO, PATH_ORBIT, PATH_KEYFRAMES, PATH_REST };

/* A scene decides by itself on at most as many frames as 18 minutes have at 60 frames per second. */
enum { USUAL_FRAMES = 120, MOST_FRAMES = 65536 };

typedef struct camera_path {
    int kind;
    uint32_t frames; /* frames in which the camera moves */
} camera_path;

static txm_status choose_path(const stm_render_scene *scene, const stm_play_args *a, camera_path *out, txm_error *err)
{
    uint32_t last;
    const bool has_keys = stm_camera_has_keys(scene, &last);
    *out = (camera_path){a->path, a->frames};
    if (a->path == PATH_KEYFRAMES && !has_keys)
        return stm_fail(err, TXM_STATUS_USAGE, "the scene has no keyframes: use --path orbit or --path rest");
    if (a->path == PATH_AUTO)
        out->kind = has_keys ? PATH_KEYFRAMES : PATH_ORBIT;
    if (!a->frames)
        out->frames = out->kind == PATH_KEYFRAMES ? last + 1 : USUAL_FRAMES;
    if (!a->frames && out->frames > MOST_FRAMES)
        return stm_fail(err, TXM_STATUS_TOO_LARGE,
                        "the scene's last keyframe is frame %u, and more than %d frames are played only if --frames "
                        "says how many",
                        last, MOST_FRAMES);
    return TXM_OK;
}

/* The camera at a frame of the path; beyond the end, that of the last frame. */
static stm_scene_camera camera_at(const stm_frames *frames, const stm_render_scene *scene, camera_path path,
                                  uint32_t frame, bool *is_cut)
{
    const uint32_t at = frame < path.frames ? frame : path.frames - 1;
    *is_cut = false;
    if (path.kind == PATH_ORBIT)
        return stm_camera_orbit(frames, (float)at / (float)path.frames);
    if (path.kind == PATH_REST)
        return stm_frames_camera(scene);
    const stm_scene_camera camera = stm_camera_at(scene, at, is_cut);
    *is_cut = *is_cut && at == frame && frame;
    return camera;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static txm_status play_frames(stm_frames *frames, const stm_render_scene *scene, camera_path path,
                              void (*progress)(size_t done, size_t all), stm_play_run *run, txm_error *err)
{
    const stm_play_args *a = run->args;
    const size_t count = (size_t)path.frames + a->rest;
    txm_status status = TXM_OK;
    bool is_cut;
    for (uint32_t i = 0; status == TXM_OK && i < a->warm_up; i++) {
        const stm_scene_camera camera = camera_at(frames, scene, path, 0, &is_cut);
        status = stm_frames_advance(frames, &camera, err);
    }
    if (status == TXM_OK && a->warm_up)
        stm_frames_restart(frames);
    for (size_t i = 0; status == TXM_OK && i < count; i++) {
        const stm_scene_camera camera = camera_at(frames, scene, path, (uint32_t)i, &is_cut);
        if (is_cut)
            stm_frames_cut(frames);
        if (progress)
            progress(i, count);
        status = stm_frames_advance(frames, &camera, err);
        if (status)
            break;
        run->frames[run->frame_count++] = *stm_frames_last(frames);
        stm_frames_wanted(frames, run->keys + i * a->keys, a->keys);
        if (a->json)
            stm_play_add_json(run);
    }
    return status;
}

txm_status stm_play_collect(const stm_frames *frames, stm_play_run *run, txm_error *err)
{
    const stm_render_scene *scene = stm_frames_scene(frames);
    stm_render_scene_info info;
    stm_render_scene_describe(scene, &info);
    stm_frames_size(frames, &run->width, &run->height);
    run->rgb = stm_calloc((size_t)run->width * run->height, 3 * sizeof *run->rgb);
    run->images = stm_calloc(info.images + 1, sizeof *run->images);
    if (!run->rgb || !run->images)
        return stm_no_memory(err, NULL);
    run->image_count = info.images;
    for (size_t i = 0; i < info.images; i++)
        run->images[i] = stm_render_image_path(scene, i);
    stm_frames_picture(frames, run->rgb);
    run->totals = stm_frames_totals_of(frames);
    stm_frames_cache_stats(frames, &run->cache);
    txm_status status = stm_frames_costs(frames, &run->costs, err);
    return status ? status : stm_frames_devices(frames, &run->devices, &run->device_count, err);
}

/* ---- pictures side by side --------------------------------------------------------------------------------------- */

enum { PANELS = 5, GAP_PX = 4 };

/* Each panel starts with an empty cache. The panels without textures have as many frames as the longest one, so that
 * they have as little noise. */
static txm_status draw_strip(const stm_render_scene *scene, const stm_frames_options *options, stm_play_run *run,
                             txm_error *err)
{
    static const struct {
        stm_frames_textures textures;
        uint32_t frames;
    } panels[PANELS] = {{STM_FRAMES_UNTEXTURED, 64},
                        {STM_FRAMES_COARSEST, 64},
                        {STM_FRAMES_STREAMED, 1},
                        {STM_FRAMES_STREAMED, 8},
                        {STM_FRAMES_STREAMED, 64}};
    const uint32_t w = run->width, h = run->height, across = PANELS * (w + GAP_PX) - GAP_PX;
    float *panel = stm_calloc((size_t)w * h, 3 * sizeof *panel);
    txm_status status = panel ? TXM_OK : stm_no_memory(err, NULL);
    run->strip = status == TXM_OK ? stm_calloc((size_t)across * h, 3 * sizeof *run->strip) : NULL;
    if (status == TXM_OK && !run->strip)
        status = stm_no_memory(err, NULL);
    for (uint32_t i = 0; status == TXM_OK && i < PANELS; i++) {
        stm_frames_options o = *options;
        o.textures = (uint32_t)panels[i].textures;
        /* The scene's camera rests for some frames. */
        stm_frames *f = NULL;
        status = stm_frames_open(scene, &o, &f, err);
        for (uint32_t k = 0; status == TXM_OK && k < panels[i].frames; k++)
            status = stm_frames_advance(f, NULL, err);
        if (status == TXM_OK)
            stm_frames_picture(f, panel);
        stm_frames_close(&f);
        for (uint32_t y = 0; status == TXM_OK && y < h; y++)
            memcpy(run->strip + 3 * ((size_t)y * across + (size_t)i * (w + GAP_PX)), panel + 3 * (size_t)y * w,
                   3 * (size_t)w * sizeof *panel);
    }
    free(panel);
    if (status == TXM_OK) {
        run->strip_width = across;
        run->strip_height = h;
    }
    return status;
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

txm_status stm_play(const char *name, const stm_render_scene *scene, const stm_play_args *args,
                    const stm_frames_options *options, void (*progress)(size_t done, size_t all), stm_play_run *run,
                    txm_error *err)
{
    static const char *const paths[] = {"auto", "orbit", "keyframes", "rest"};
    stm_frames *frames = NULL;
    camera_path path;
    *run = (stm_play_run){.action = "play", .scene = name, .options = options, .args = args};
    txm_status status = choose_path(scene, args, &path, err);
    if (status == TXM_OK) {
        const size_t count = (size_t)path.frames + args->rest;
        run->frames = stm_calloc(count, sizeof *run->frames);
        run->keys = stm_calloc(count * args->keys + 1, sizeof *run->keys);
        status = run->frames && run->keys ? TXM_OK : stm_no_memory(err, NULL);
    }
    if (status == TXM_OK)
        status = stm_frames_open(scene, options, &frames, err);
    if (status == TXM_OK) {
        run->path = paths[path.kind];
        status = play_frames(frames, scene, path, progress, run, err);
        run->stopped = status == TXM_STATUS_CANCELLED;
    }
    if (status == TXM_OK || run->stopped) {
        txm_error own = {0};
        const txm_status collected = stm_play_collect(frames, run, &own);
        if (collected) {
            run->stopped = false;
            status = stm_fail_as(err, &own);
        }
    }
    stm_frames_close(&frames);
    if (status == TXM_OK && args->strip)
        status = draw_strip(scene, options, run, err);
    run->stopped |= status == TXM_STATUS_CANCELLED;
    return status;
}

void stm_play_clear(stm_play_run *run)
{
    free(run->rgb);
    free(run->strip);
    free(run->frames);
    free(run->keys);
    free(run->costs);
    free(run->images);
    free(run->devices);
    stm_bytes_free(&run->frames_json);
    *run = (stm_play_run){0};
}
