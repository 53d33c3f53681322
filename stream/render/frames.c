/* SPDX-License-Identifier: Apache-2.0
 *
 * Renders frames one after the other: combines the textures, the rays (frame_trace.c) and the batches (frame_loads.c),
 * and records what each frame cost. See frames.h.
 */
#include "render/frames.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "render/frame_loads.h"
#include "render/frame_trace.h"
#include "render/light.h"
#include "render/use.h"

/* What threads that load may use of the processor time of a frame, if no processor is idle. */
static const double LOADING_SHARE = 0.05;

enum { KEPT_TIMES = 1 << 16 /* number of last frames whose median time is computed */ };

struct stm_frames {
    const stm_render_scene *scene;
    stm_frames_options options;
    txm_cache_options cache;
    stm_render_textures textures;
    stm_scene_geometry geometry;
    stm_world_map *map;
    stm_path_world world;
    float filter[STM_FILTER_TABLE], decoded[256];
    txm_sampler *samplers; /* for point samples, of each image */
    stm_scene_camera camera;
    stm_pool *pool;
    stm_frame_film film;
    stm_frame_trace trace;
    stm_frame_loads loads;
    stm_render_devices devices;
    stm_lookup_queue *queue; /* the devices' lookups; NULL: none yet */
    uint32_t waiting_paths;
    stm_request_list list;
    uint32_t rejection, frame;
    bool keeps_requests; /* those of the last frame are not handed over yet */
    bool changed;        /* accumulation starts again */
    double begin_seconds, virtual_ms;
    double process_seconds; /* the process's processor time at the end of the last frame */
    stm_frame_stats last;
    stm_frames_totals totals;
    txm_cache_stats first; /* the cache's counts when counting started */
    uint32_t cut_frame;    /* the first frame after the last cut */
    float *times;          /* times of the last KEPT_TIMES frames, ms */
    size_t times_room;
};

/* ---- options ----------------------------------------------------------------------------------------------------- */

void stm_frames_options_init(stm_frames_options *o, txm_cache_options *cache)
{
    *o = (stm_frames_options){.loaders = 1,
                              .requests = 4096,
                              .wave = 16,
                              .mark_share = 0.9f,
                              .cost_model = {.frame_ms = 33.0, .texel_ns = 2.0, .request_ns = 20.0, .tile_ms = 0.05}};
    txm_cache_options_init(cache);
    stm_render_options_init(&o->render);
    o->render.samples = 1;
    o->render.bounces = 0;
    o->render.mode = TXM_LEVEL_MODE_TRILINEAR;
    o->render.cache = cache;
}

static const char *name_in(const char *const *names, size_t count, unsigned index)
{
    return index < count ? names[index] : NULL;
}

#define NAME_IN(names, index) name_in(names, sizeof(names) / sizeof *(names), (unsigned)(index))

const char *stm_frames_textures_name(stm_frames_textures textures)
{
    static const char *const names[] = {"streamed", "coarsest", "untextured"};
    return NAME_IN(names, textures);
}

const char *stm_frames_show_name(stm_frames_show show)
{
    static const char *const names[] = {"picture", "missing", "levels"};
    return NAME_IN(names, show);
}

const char *stm_frames_filter_name(stm_frames_filter filter)
{
    static const char *const names[] = {"point", "scene"};
    return NAME_IN(names, filter);
}

const char *stm_frames_reject_name(stm_frames_reject reject)
{
    static const char *const names[] = {"spread", "unique", "none"};
    return NAME_IN(names, reject);
}

static bool is_cost(double cost)
{
    return cost >= 0.0 && cost <= 1e9;
}

/* The bounds are in a table, each next to its message. */
static txm_status check_options(const stm_frames_options *o, txm_error *err)
{
    const stm_cost_model *p = &o->cost_model;
    const struct {
        bool wrong;
        const char *why;
    } checks[] = {
        {!o->render.samples, "a frame needs at least 1 sample"},
        {!o->loaders || o->loaders > 1024, "the number of loading threads must be from 1 to 1024"},
        {!o->requests || o->requests > STM_FRAMES_MAX_REQUESTS, "the list can hold 1 to 1048576 requests"},
        {o->wave > STM_FRAMES_MAX_WAVE, "waves can have 0 to 32 lanes"},
        {o->wave && STM_BLOCK_LANES % o->wave, "the lanes of a wave must divide 32"},
        {!stm_frames_textures_name((stm_frames_textures)o->textures), "unknown kind of textures"},
        {!stm_frames_show_name((stm_frames_show)o->show), "unknown kind of picture"},
        {!stm_frames_filter_name((stm_frames_filter)o->filter), "unknown filter"},
        {!stm_frames_reject_name((stm_frames_reject)o->reject), "unknown kind of rejection"},
        {!(o->mark_share >= 0.0f && o->mark_share <= 1.0f),
         "the share of the budget from which lookups mark tiles must be from 0 to 1"},
        {!is_cost(p->frame_ms) || !is_cost(p->texel_ns) || !is_cost(p->request_ns) || !is_cost(p->tile_ms) ||
             !is_cost(p->latency_ms),
         "costs must be from 0 to 1e9"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i].wrong)
            return stm_fail(err, TXM_STATUS_USAGE, "%s", checks[i].why);
    return TXM_OK;
}

/* Each frame shows what has been loaded until it begins. */
static const float SHOWN_SECONDS = 1e-4f;

/* Requests and rejection are handled here and not by the cache; tiles of one colour are not shared, since the shared
 * one would depend on which came first. */
static void set_cache_options(stm_frames *f)
{
    const uint32_t most =
        f->options.batch && f->options.batch < f->options.requests ? f->options.batch : f->options.requests;
    f->cache = *f->options.render.cache;
    f->options.render.cache = &f->cache;
    /* In virtual time, batches are waited for. */
    f->cache.threads = f->options.is_virtual ? f->options.loaders + 1 : 1;
    f->cache.max_requests = most;
    f->cache.max_queued = most;
    f->cache.reject = 0;
    f->cache.launch_bytes = 0;
    f->cache.launch_seconds = 0.0f;
    f->cache.coalesce &= ~(uint32_t)TXM_COALESCE_CONSTANT;
    f->cache.stand_in = TXM_STAND_IN_KIND_AVERAGE;
    f->cache.show_seconds = f->options.is_virtual ? 0.0f : SHOWN_SECONDS;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

static void close_textures(stm_frames *f)
{
    stm_lookup_queue_free(&f->queue);
    stm_render_devices_close(&f->devices);
    stm_frame_loads_free(&f->loads);
    stm_render_textures_free(&f->textures);
}

/* Figures in virtual time do not depend on where the files are: the names of files, which the cache counts, are no part
 * of the budget. */
static txm_status set_budget(stm_frames *f, uint64_t bytes, txm_error *err)
{
    const uint64_t names = f->options.is_virtual ? f->textures.name_bytes : 0;
    return txm_cache_set_max_bytes(f->textures.cache, bytes ? bytes + names : 0, err);
}

/* Opens a cache with the current options and without tiles. */
static txm_status open_textures(stm_frames *f, txm_error *err)
{
    txm_status status = stm_render_textures_new(f->scene, &f->options.render, false, false, &f->textures, err);
    if (status == TXM_OK)
        status = stm_frame_loads_new(&f->loads, f->textures.cache, f->options.requests, f->options.is_virtual,
                                     f->options.is_virtual ? 0 : f->options.loaders, err);
    if (status == TXM_OK && f->options.is_virtual)
        status = set_budget(f, f->cache.max_bytes, err);
    if (status == TXM_OK)
        status = stm_render_devices_open(&f->devices, f->options.render.devices, f->options.render.device_memory,
                                         f->textures.cache, err);
    f->world.images = f->textures.bound;
    return status;
}

static txm_status new_picture(stm_frames *f, uint32_t width, uint32_t height, txm_error *err)
{
    stm_frame_film film;
    stm_frame_trace trace = {0};
    if (!stm_frame_film_new(&film, width, height) || !stm_frame_trace_new(&trace, width, height, f->options.requests)) {
        stm_frame_film_free(&film);
        return stm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a picture of %u x %u px", width, height);
    }
    stm_frame_film_free(&f->film);
    stm_frame_trace_free(&f->trace);
    f->film = film;
    f->trace = trace;
    f->changed = true;
    return TXM_OK;
}

static txm_status open_all(stm_frames *f, txm_error *err)
{
    const stm_render_scene *scene = f->scene;
    const stm_render_options *o = &f->options.render;
    const uint32_t threads = o->threads ? o->threads : stm_cpu_count();
    stm_path_filter(o->filter_width, f->filter);
    txm_texel_decode(f->decoded);
    f->pool = stm_pool_new(threads);
    if (!f->pool)
        return stm_fail_errno(err, errno, "threads cannot be started");
    f->samplers = stm_calloc(scene->image_count + 1, sizeof *f->samplers);
    if (!f->samplers || !stm_request_list_new(&f->list, f->options.requests))
        return stm_no_memory(err, NULL);
    txm_status status = new_picture(f, o->width ? o->width : scene->width, o->height ? o->height : scene->height, err);
    if (status == TXM_OK)
        status = open_textures(f, err);
    if (status == TXM_OK)
        status = stm_scene_geometry_new(scene, threads, o->cancel, &f->geometry, err);
    if (status == TXM_OK && scene->world.image != STM_SCENE_NONE)
        status = stm_world_map_new(scene, &f->textures.bound[scene->world.image], f->textures.world, &f->map, err);
    if (status)
        return status;
    f->world = stm_path_world_of(scene, &f->geometry, o, f->film.width, f->film.height);
    f->world.map = f->map;
    f->world.images = f->textures.bound;
    f->world.filter = f->filter;
    return TXM_OK;
}

txm_status stm_frames_open(const stm_render_scene *scene, const stm_frames_options *options, stm_frames **out,
                           txm_error *err)
{
    txm_error_clear(err);
    *out = NULL;
    txm_status status = check_options(options, err);
    stm_frames *f = status == TXM_OK ? stm_calloc(1, sizeof *f) : NULL;
    if (status)
        return status;
    if (!f)
        return stm_no_memory(err, NULL);
    f->scene = scene;
    f->options = *options;
    f->camera = scene->camera;
    f->begin_seconds = stm_clock_seconds();
    f->process_seconds = stm_process_seconds();
    f->totals.until_half = f->totals.until_most = f->totals.until_all = UINT32_MAX;
    set_cache_options(f);
    const stm_render_options given = f->options.render;
    status = stm_render_options_take(&given, &f->options.render, err);
    if (status == TXM_OK)
        status = open_all(f, err);
    if (status)
        stm_frames_close(&f);
    else
        f->process_seconds = stm_process_seconds();
    *out = f;
    return status;
}

void stm_frames_close(stm_frames **frames)
{
    stm_frames *f = frames ? *frames : NULL;
    if (!f)
        return;
    close_textures(f);
    stm_scene_geometry_free(&f->geometry);
    stm_world_map_free(&f->map);
    stm_pool_free(f->pool);
    stm_frame_film_free(&f->film);
    stm_frame_trace_free(&f->trace);
    stm_request_list_free(&f->list);
    free(f->times);
    free(f->samplers);
    free(f);
    *frames = NULL;
}

/* ---- a frame ----------------------------------------------------------------------------------------------------- */

/* Time since the frames were opened, on the machine's clock or the virtual one. */
static double now_ms(const stm_frames *f)
{
    return f->options.is_virtual ? f->virtual_ms : 1e3 * (stm_clock_seconds() - f->begin_seconds);
}

static void add_parts(const stm_frames *f, stm_frame_stats *s)
{
    for (uint32_t i = 0; i < f->trace.part_count; i++) {
        const stm_frame_part *p = &f->trace.parts[i];
        s->rays += p->rays;
        s->texels += p->source.lookups.texels;
        s->sharp += p->source.lookups.sharp;
        s->coarser += p->source.lookups.coarser;
        s->stand_ins += p->source.lookups.stand_ins;
        s->failed += p->source.lookups.failed;
        s->missed += p->requests.missed;
        s->requested += p->requests.requested;
        s->rejected += p->requests.rejected;
        s->full += p->requests.full;
    }
}

static void add_to_totals(stm_frames *f, const stm_frame_stats *s)
{
    stm_frames_totals *t = &f->totals;
    /* Without memory for it, a frame's time is not part of the median. */
    if (t->frames >= KEPT_TIMES || STM_GROW(f->times, f->times_room, (size_t)t->frames))
        f->times[t->frames % KEPT_TIMES] = (float)s->ms;
    t->frames++;
    t->ms += s->ms;
    t->longest_ms = s->ms > t->longest_ms ? s->ms : t->longest_ms;
    t->trace_cpu_ms += s->trace_cpu_ms;
    t->load_cpu_ms += s->load_cpu_ms;
    t->untextured_cpu_ms += s->untextured_cpu_ms;
    t->rays += s->rays;
    t->texels += s->texels;
    t->sharp += s->sharp;
    t->missed += s->missed;
    t->requested += s->requested;
    t->rejected += s->rejected;
    t->full += s->full;
    t->accepted += s->accepted;
    t->unique += s->unique;
    t->cut += s->cut;
    t->shown += s->shown;
    t->batches += s->batch != 0;
    /* When a fraction of the texels was in memory, counted from the last cut. */
    const double share = s->texels ? (double)s->sharp / (double)s->texels : 1.0;
    const struct {
        uint32_t *until;
        double share;
    } goals[] = {{&t->until_half, 0.5}, {&t->until_most, 0.95}, {&t->until_all, 1.0}};
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        if (*goals[i].until == UINT32_MAX && share >= goals[i].share)
            *goals[i].until = s->number - f->cut_frame;
}

/* Passes the frame's list to the threads that load, and decides which fraction of the next frame's requests is
 * rejected. */
static txm_status end_frame(stm_frames *f, stm_frame_stats *s, txm_error *err)
{
    const stm_frames_options *o = &f->options;
    const stm_cost_model *p = &o->cost_model;
    if (o->textures != STM_FRAMES_STREAMED) {
        stm_frame_loads_skip(&f->loads);
        add_parts(f, s);
        s->ms = o->is_virtual ? p->frame_ms : now_ms(f) - s->begin_ms;
        f->virtual_ms += s->ms;
        return TXM_OK;
    }
    if (!f->keeps_requests)
        stm_request_list_clear(&f->list);
    for (uint32_t i = 0; i < f->trace.part_count; i++)
        stm_request_list_add(&f->list, &f->trace.parts[i].requests);
    add_parts(f, s);
    s->accepted = f->list.accepted;
    s->unique = f->list.unique;
    s->busy = f->loads.loading;
    /* Requests of frames that end while a batch loads wait for the next one. Virtual time has its figures without. */
    f->keeps_requests = s->busy && !o->is_virtual;
    f->rejection = stm_request_rejection((stm_frames_reject)o->reject, s->requested, s->unique, o->requests);
    f->virtual_ms += p->frame_ms + 1e-6 * (p->texel_ns * (double)s->texels + p->request_ns * (double)s->requested);
    txm_status status =
        stm_frame_loads_end(&f->loads, &f->list, s->number, f->virtual_ms, p, o->render.cancel, &s->cut, err);
    s->batch = status == TXM_OK && !s->busy && f->loads.loading ? f->loads.batch : 0;
    s->ms = now_ms(f) - s->begin_ms;
    return status;
}

/* The average light on surfaces from other surfaces, for frames that do not follow it. */
static void note_ambient(stm_frames *f)
{
    for (int c = 0; c < 3 && !f->world.direct; c++) {
        double arrived = 0.0, spread = 0.0;
        for (uint32_t i = 0; i < f->trace.part_count; i++) {
            arrived += f->trace.parts[i].arrived[c];
            spread += f->trace.parts[i].spread[c];
        }
        const float ambient = spread > 0.0 ? (float)(arrived / spread) : 0.0f;
        f->world.ambient[c] = isfinite(ambient) ? ambient : 0.0f;
    }
}

/* If there are devices, prepares an empty list of results with the current samplers and view. */
static txm_status prepare_queue(stm_frames *f, txm_error *err)
{
    const size_t images = f->scene->image_count;
    const uint32_t paths = stm_frame_trace_paths(f->film.width, f->film.height);
    f->trace.queue = NULL;
    if (!f->devices.count || f->options.textures != STM_FRAMES_STREAMED)
        return TXM_OK;
    if (!f->queue || f->waiting_paths != paths) {
        stm_lookup_queue_free(&f->queue);
        f->queue = stm_lookup_queue_new(&f->devices, f->textures.bound, images, 2 * images, paths,
                                        stm_scene_depth(f->scene) > 0);
        f->waiting_paths = paths;
    }
    if (!f->queue)
        return stm_no_memory(err, NULL);
    stm_lookup_queue_forget(f->queue, paths);
    stm_frame_samplers(f->textures.bound, images, f->queue->samplers);
    f->queue->view = &f->loads.view;
    f->queue->extent = f->loads.extent;
    f->trace.queue = f->queue;
    return TXM_OK;
}

/* Processor time of the calling thread since `begin`, and of the others that traced, in seconds. */
static double trace_seconds_since(const stm_frames *f, double begin)
{
    double seconds = stm_thread_seconds() - begin;
    for (uint32_t i = 0; i < f->trace.part_count; i++)
        seconds += f->trace.parts[i].others_seconds;
    return seconds;
}

/* Traces the frame once more without textures, into the film that the next frame overwrites. */
static txm_status trace_untextured(stm_frames *f, double *seconds, txm_error *err)
{
    stm_frames_options plain = f->options;
    const double begin = stm_thread_seconds();
    plain.textures = STM_FRAMES_UNTEXTURED;
    f->trace.options = &plain;
    f->trace.queue = NULL;
    f->trace.samplers = NULL;
    const txm_status status = stm_frame_trace_run(&f->trace, f->pool, f->frame, 0, err);
    f->trace.options = &f->options;
    *seconds = trace_seconds_since(f, begin);
    return status;
}

/* NULL: lookups are not served together. */
static const txm_sampler *prepare_samplers(stm_frames *f)
{
    for (size_t i = 0; i < f->scene->image_count; i++)
        f->samplers[i] = stm_frame_sampler(&f->textures.bound[i], f->world.direct);
    return stm_frame_has_batches(&f->options) && !f->devices.count ? f->samplers : NULL;
}

txm_status stm_frames_advance(stm_frames *f, const stm_scene_camera *camera, txm_error *err)
{
    stm_frame_stats s = {.number = f->frame};
    uint32_t waited = f->loads.requested_frame;
    txm_error_clear(err);
    if (camera && memcmp(camera, &f->camera, sizeof *camera) != 0) {
        f->camera = *camera;
        f->changed = true;
    }
    const double begin_seconds = stm_thread_seconds();
    s.begin_ms = now_ms(f);
    /* If the camera rests for longer than counters can count, accumulation starts again. */
    f->trace.begins_anew = f->changed || !f->film.accumulated ||
                           (uint64_t)(f->film.accumulated + 1) * f->options.render.samples > 1u << 24;
    txm_status status = stm_frame_loads_begin(&f->loads, s.begin_ms, f->cache.max_bytes, f->options.mark_share,
                                              f->trace.begins_anew, &s.shown, err);
    if (status)
        return status;
    stm_path_aim(&f->world, &f->camera, f->film.width, f->film.height);
    f->trace.world = &f->world;
    f->trace.options = &f->options;
    f->trace.view = &f->loads.view;
    f->trace.decoded = f->decoded;
    f->trace.samplers = prepare_samplers(f);
    f->trace.film = &f->film;
    s.marks = f->loads.view.epoch != 0;
    s.waited = s.shown ? f->frame - waited : 0;
    const txm_cache_stats *now = &f->loads.now, *before = &f->loads.before;
    s.loaded = now->tiles_loaded - before->tiles_loaded;
    s.evicted = now->tiles_evicted - before->tiles_evicted;
    s.load_failures = now->tiles_failed - before->tiles_failed;
    s.resident_tiles = now->tiles;
    s.resident_bytes = now->tile_bytes;
    s.allocated_bytes = now->slab_bytes;
    status = prepare_queue(f, err);
    if (status == TXM_OK)
        status = stm_frame_trace_run(&f->trace, f->pool, f->frame, f->rejection, err);
    if (status == TXM_OK)
        status = end_frame(f, &s, err);
    if (status) {
        stm_frame_loads_skip(&f->loads);
        return status;
    }
    note_ambient(f);
    const double traced = trace_seconds_since(f, begin_seconds);
    double plain = 0.0;
    if (f->options.compares && !f->options.is_virtual)
        status = trace_untextured(f, &plain, err);
    if (status)
        return status;
    if (!f->options.is_virtual) {
        const double process = stm_process_seconds();
        s.trace_cpu_ms = 1e3 * traced;
        s.untextured_cpu_ms = 1e3 * plain;
        s.load_cpu_ms = 1e3 * fmax(process - f->process_seconds - traced - plain, 0.0);
        f->process_seconds = process;
        const double idle = 1e-3 * s.ms * stm_cpu_count() - traced;
        stm_frame_loads_allow(&f->loads, fmax(LOADING_SHARE * traced, idle));
    }
    /* The frame's samples become the picture. */
    float *const shown = f->film.shown;
    f->film.shown = f->film.next;
    f->film.next = shown;
    f->film.accumulated = f->trace.begins_anew ? 1 : f->film.accumulated + 1;
    f->changed = false;
    s.accumulated = f->film.accumulated;
    f->last = s;
    f->frame++;
    add_to_totals(f, &s);
    return TXM_OK;
}

void stm_frames_cut(stm_frames *f)
{
    f->changed = true;
    f->cut_frame = f->frame;
    f->totals.until_half = f->totals.until_most = f->totals.until_all = UINT32_MAX;
}

void stm_frames_restart(stm_frames *f)
{
    txm_cache_stats_of(f->textures.cache, &f->loads.now);
    f->first = f->loads.now;
    f->loads.requested_frame -= f->frame; /* a batch in progress was requested before frame 0 */
    f->frame = 0;
    f->totals = (stm_frames_totals){0};
    f->last = (stm_frame_stats){0};
    stm_frames_cut(f);
    f->loads.due_ms -= now_ms(f);
    f->begin_seconds = stm_clock_seconds();
    f->virtual_ms = 0.0;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

void stm_frames_picture(const stm_frames *f, float *rgb)
{
    const size_t count = (size_t)f->film.width * f->film.height * 3;
    const uint32_t samples = f->film.accumulated * f->options.render.samples;
    const float share = samples ? 1.0f / (float)samples : 0.0f;
    for (size_t i = 0; i < count; i++)
        rgb[i] = f->film.shown[i] * share;
}

void stm_frames_size(const stm_frames *f, uint32_t *width, uint32_t *height)
{
    *width = f->film.width;
    *height = f->film.height;
}

const stm_frame_stats *stm_frames_last(const stm_frames *f)
{
    return &f->last;
}

static int by_time(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Without memory for sorting, the mean replaces the median. */
stm_frames_totals stm_frames_totals_of(const stm_frames *f)
{
    stm_frames_totals t = f->totals;
    const size_t count = t.frames < KEPT_TIMES ? t.frames : KEPT_TIMES;
    float *sorted = count ? malloc(count * sizeof *sorted) : NULL;
    t.median_ms = count ? t.ms / t.frames : 0.0;
    t.within_ms = t.longest_ms;
    if (sorted && f->times) {
        memcpy(sorted, f->times, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, by_time);
        t.median_ms = (double)(sorted[count / 2] + sorted[(count - 1) / 2]) / 2.0;
        t.within_ms = (double)sorted[(99 * count + 99) / 100 - 1];
    }
    free(sorted);
    const txm_cache_stats *c = &f->loads.now;
    t.loaded = c->tiles_loaded - f->first.tiles_loaded;
    t.reloaded = c->tiles_reloaded - f->first.tiles_reloaded;
    t.evicted = c->tiles_evicted - f->first.tiles_evicted;
    t.load_failures = c->tiles_failed - f->first.tiles_failed;
    return t;
}

void stm_frames_cache_stats(const stm_frames *f, txm_cache_stats *stats)
{
    txm_cache_stats_of(f->textures.cache, stats);
}

size_t stm_frames_wanted(const stm_frames *f, txm_tile_key *keys, size_t room)
{
    const size_t count = f->list.unique < room ? f->list.unique : room;
    if (count)
        memcpy(keys, f->list.keys, count * sizeof *keys);
    return f->list.unique;
}

txm_status stm_frames_costs(const stm_frames *f, stm_render_image_cost **out, txm_error *err)
{
    return stm_render_costs_of(f->scene, &f->textures, out, err);
}

/* ---- while frames run -------------------------------------------------------------------------------------------- */

txm_status stm_frames_set_budget(stm_frames *f, uint64_t bytes, txm_error *err)
{
    txm_status status = set_budget(f, bytes, err);
    if (status == TXM_OK) {
        f->cache.max_bytes = bytes;
        stm_frame_loads_resized(&f->loads);
    }
    return status;
}

txm_status stm_frames_set_resolution(stm_frames *f, float share, txm_error *err)
{
    txm_error_clear(err);
    if (!(share > 0.0f && share <= 1.0f))
        return stm_fail(err, TXM_STATUS_USAGE, "the texture resolution must be above 0 and at most 1");
    for (size_t i = 0; i < f->scene->image_count; i++)
        f->textures.bound[i].how.mip_bias = share < 1.0f ? -log2f(share) : 0.0f;
    f->cache.resolution = share;
    f->changed = true;
    return TXM_OK;
}

/* Tx files that existed when the frames were opened may have been removed: then the old cache is kept. */
txm_status stm_frames_set_policy(stm_frames *f, uint32_t policy, txm_error *err)
{
    stm_frame_loads loads = f->loads;
    const stm_render_textures textures = f->textures;
    const uint32_t before = f->cache.policy;
    stm_render_devices devices = f->devices;
    txm_error_clear(err);
    stm_lookup_queue_free(&f->queue);
    f->devices.count = 0;
    f->loads = (stm_frame_loads){0};
    f->textures = (stm_render_textures){0};
    f->cache.policy = policy;
    txm_status status = open_textures(f, err);
    if (status) {
        close_textures(f);
        f->cache.policy = before;
        f->devices = devices;
        f->loads = loads;
        f->textures = textures;
        f->world.images = textures.bound;
        return status;
    }
    /* The new cache continues the counts of the old one. */
    f->first.tiles_loaded -= loads.now.tiles_loaded;
    f->first.tiles_reloaded -= loads.now.tiles_reloaded;
    f->first.tiles_evicted -= loads.now.tiles_evicted;
    f->first.tiles_failed -= loads.now.tiles_failed;
    stm_render_textures old = textures;
    stm_render_devices_close(&devices);
    stm_frame_loads_free(&loads);
    stm_render_textures_free(&old);
    return TXM_OK;
}

txm_status stm_frames_set_size(stm_frames *f, uint32_t width, uint32_t height, txm_error *err)
{
    txm_error_clear(err);
    if (!width || !height || width > 65536 || height > 65536)
        return stm_fail(err, TXM_STATUS_USAGE, "a picture can have 1 x 1 to 65536 x 65536 px");
    return new_picture(f, width, height, err);
}

void stm_frames_set_show(stm_frames *f, stm_frames_show show)
{
    f->options.show = (uint32_t)show;
    f->changed = true;
}

void stm_frames_set_textures(stm_frames *f, stm_frames_textures textures)
{
    f->options.textures = (uint32_t)textures;
    f->changed = true;
}

void stm_frames_set_direct(stm_frames *f, bool direct)
{
    f->changed |= f->world.direct != direct;
    f->world.direct = direct;
}

stm_scene_camera stm_frames_camera(const stm_render_scene *scene)
{
    return scene->camera;
}

/* The distance to the surface in the middle of the picture, or behind the camera. */
float stm_frames_distance(const stm_frames *f, bool backwards)
{
    const stm_scene_camera *c = &f->scene->camera;
    const txm_vec3 from = stm_matrix_point(&c->to_world, txm_vec_make(0.0f, 0.0f, 0.0f));
    txm_vec3 to = stm_matrix_vector(&c->to_world, txm_vec_make(0.0f, 0.0f, backwards ? 1.0f : -1.0f));
    to = txm_vec_scale(to, 1.0f / txm_vec_length(to));
    stm_ray ray = {{from.x, from.y, from.z}, {to.x, to.y, to.z}, 1e-4f, INFINITY};
    stm_ray_hit hit;
    stm_rays_intersect(f->geometry.rays, &ray, &hit);
    return hit.object == UINT32_MAX ? INFINITY : hit.t;
}

txm_status stm_frames_devices(const stm_frames *f, stm_render_device **out, size_t *count, txm_error *err)
{
    *count = f->devices.count;
    return stm_render_devices_note(&f->devices, out, err);
}

const stm_render_scene *stm_frames_scene(const stm_frames *f)
{
    return f->scene;
}
