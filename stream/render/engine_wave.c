/* SPDX-License-Identifier: Apache-2.0
 *
 * Wavefront: many paths take a step together. The tiles that they miss are collected and loaded in one batch, and the
 * steps that missed are run again until none does, so that rays wait for tiles together, as on a GPU.
 */
#include <stdlib.h>

#include "base/base.h"
#include "render/engine.h"
#include "render/lookup_queue.h"

/* Paths whose lookups are served together stay in a processor's cache. */
enum { PATHS_PER_JOB = 2048, PATHS_AT_ONCE = 512, REQUESTS_PER_JOB = 4096 };

/* A run of the list of pending paths, which one thread handles. */
typedef struct span {
    struct wave *wave;
    uint32_t first, count;
    stm_lookup_source source;
    stm_lookup_list noted; /* lookups for devices */
    uint32_t *heads;       /* see stm_lookup_serve */
} span;

typedef struct wave {
    stm_render_job *job;
    stm_path *paths;
    uint8_t *steps;    /* stm_step of each path */
    uint32_t *pending; /* paths that have not taken this step yet */
    uint32_t *active;  /* paths that have not ended */
    uint32_t *requests;
    span *spans;
    txm_lookup_state **states;
    stm_lookup_queue *queue; /* NULL: lookups use a view */
    stm_lookup_list **noted;
    txm_sampler *samplers; /* of each image; NULL: lookups are made one by one */
    uint32_t *heads;
    uint32_t lanes_max, spans_max;
    stm_render_rect rect;
    uint64_t first; /* sample of the rectangle that path 0 traces */
} wave;

/* ---- jobs ---- */

/* Path i of the wave is sample first + i of the rectangle. Samples of one pixel are neighbours, since neighbours in the
 * wave use the same tiles. */
static void start_span(void *arg)
{
    span *s = arg;
    wave *w = s->wave;
    const stm_render_options *o = w->job->options;
    for (uint32_t i = s->first; i < s->first + s->count; i++) {
        uint64_t sample = w->first + i;
        uint32_t pixel = stm_rect_pixel(&w->rect, w->job->world.width, sample / o->samples);
        stm_path_start(&w->job->world, pixel, (uint32_t)(sample % o->samples), &w->paths[i]);
    }
}

/* It is separate from shading, because a step that missed is shaded again but need not be intersected again. */
static void intersect_span(void *arg)
{
    span *s = arg;
    const volatile int *cancel = s->wave->job->options->cancel;
    for (uint32_t i = s->first; i < s->first + s->count && !stm_is_cancelled(cancel); i++)
        stm_path_intersect(&s->wave->job->world, &s->wave->paths[s->wave->active[i]]);
}

/* Threads write `steps` of different paths, and each has its own lookup state, so that no lock is needed. */
static void shade_span(void *arg)
{
    span *s = arg;
    const volatile int *cancel = s->wave->job->options->cancel;
    for (uint32_t i = s->first; i < s->first + s->count && !stm_is_cancelled(cancel); i++) {
        uint32_t path = s->wave->pending[i];
        s->source.path = path;
        s->wave->steps[path] = (uint8_t)stm_path_shade(&s->wave->job->world, &s->source, &s->wave->paths[path]);
    }
}

/* The same for lookups that are served together. */
static void shade_span_together(void *arg)
{
    span *s = arg;
    wave *w = s->wave;
    const stm_path_world *world = &w->job->world;
    stm_path_step steps[PATHS_AT_ONCE];
    stm_lookup_batch batch;
    batch.samplers = w->samplers;
    batch.moves = false;
    s->source.batch = &batch;
    for (uint32_t first = s->first, end = s->first + s->count; first < end; first += PATHS_AT_ONCE) {
        const uint32_t count = end - first < PATHS_AT_ONCE ? end - first : PATHS_AT_ONCE;
        if (stm_is_cancelled(w->job->options->cancel))
            break;
        batch.count = 0;
        for (uint32_t i = 0; i < count; i++)
            stm_path_record(world, &s->source, &w->paths[w->pending[first + i]], &steps[i]);
        stm_lookup_serve(&s->source, s->heads);
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t path = w->pending[first + i];
            w->steps[path] = (uint8_t)stm_path_take(world, &s->source, &w->paths[path], &steps[i]);
        }
    }
    s->source.batch = NULL;
}

/* Runs `fn` over `count` items in spans. Returns when all of them are done, or CANCELLED with some not done. Spans are
 * numbered in the order of the list, so that the state of a span collects from neighbouring paths. */
static txm_status over(wave *w, uint32_t count, void (*fn)(void *), uint32_t *spans, txm_error *err)
{
    stm_group *group = stm_group_new(w->job->pool);
    txm_status status = group ? TXM_OK : stm_no_memory(err, NULL);
    *spans = 0;
    for (uint32_t first = 0; status == TXM_OK && first < count; first += PATHS_PER_JOB) {
        span *s = &w->spans[(*spans)++];
        s->first = first;
        s->count = count - first < PATHS_PER_JOB ? count - first : PATHS_PER_JOB;
        if (!stm_group_submit(group, fn, s))
            status = stm_no_memory(err, NULL);
    }
    stm_group_free(group);
    if (status == TXM_OK && stm_is_cancelled(w->job->options->cancel))
        status = stm_fail(err, TXM_STATUS_CANCELLED, "stopped");
    return status;
}

/* ---- a launch ---- */

/* Loads what the spans missed while the wave waits: other work for this time, such as the next wave, would need paths
 * of its own and so more memory. Devices that look up run all collected lookups, in as many launches as needed. */
static txm_status load(wave *w, uint32_t spans, txm_error *err)
{
    txm_ticket *ticket = NULL;
    double begin = stm_clock_seconds();
    txm_status status = w->queue ? stm_lookup_queue_run(w->queue, w->noted, spans, err)
                                 : txm_cache_process(w->job->textures.cache, w->states, spans, &ticket, err);
    txm_ticket_wait(&ticket);
    w->job->counts.load_seconds += stm_clock_seconds() - begin;
    stm_moments_note(&w->job->moments, w->job->textures.cache, w->job->samples_done);
    return status;
}

/* Lets `count` pending paths take their step; *left of them missed and stay at the front of the list. */
static txm_status launch(wave *w, uint32_t count, uint32_t *left, txm_error *err)
{
    txm_view view;
    uint32_t spans = 0;
    stm_render_job *job = w->job;
    txm_status status = w->queue ? TXM_OK : txm_cache_prepare(job->textures.cache, &view, NULL, err);
    if (status)
        return status;
    for (uint32_t i = 0; !w->queue && i < w->spans_max; i++) {
        w->spans[i].source.view = &view;
        w->spans[i].source.state.count = 0;
    }
    double begin = stm_clock_seconds();
    status = over(w, count, w->samplers ? shade_span_together : shade_span, &spans, err);
    job->counts.trace_seconds += stm_clock_seconds() - begin;
    job->counts.steps += count;
    job->counts.launches++;
    *left = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t path = w->pending[i];
        if (w->steps[path] != STM_STEP_MISSED)
            continue;
        w->pending[(*left)++] = path;
        if (job->film.misses)
            job->film.misses[w->paths[path].pixel] += 1.0f;
    }
    job->counts.relaunches += *left;
    if (status || !*left)
        return status;
    return load(w, spans, err);
}

/* Takes a step of a path whose tiles are never in memory together: if lookups depend on others, the tile of the last
 * may evict that of the first. It waits for one tile after the other. */
static txm_status take_alone(wave *w, uint32_t path, txm_error *err)
{
    stm_render_job *job = w->job;
    txm_cache_thread *thread = NULL;
    double begin = stm_clock_seconds();
    txm_status status = txm_cache_thread_new(job->textures.cache, &thread, err);
    stm_lookup_source source = stm_lookup_source_waiting(thread);
    if (status == TXM_OK)
        w->steps[path] = (uint8_t)stm_path_shade(&job->world, &source, &w->paths[path]);
    txm_cache_thread_free(&thread);
    job->counts.load_seconds += stm_clock_seconds() - begin;
    job->counts.steps++;
    return status;
}

/* One step of all active paths. If memory has room for too few tiles, fewer paths are launched at once, down to one,
 * and then take_alone is used. A launch that completes no path indicates this only after the launches that open files
 * and load tiles, for each lookup that waits for another. */
static txm_status step(wave *w, uint32_t active, uint32_t *next, txm_error *err)
{
    stm_render_job *job = w->job;
    uint32_t width = active, pending = active, passes = 0, patience = 1 + 3 * job->depth;
    txm_status status = TXM_OK;
    if (w->queue)
        stm_lookup_queue_forget(w->queue, w->lanes_max);
    for (uint32_t i = 0; i < active; i++)
        w->pending[i] = w->active[i];
    while (status == TXM_OK && pending) {
        uint32_t count = width < pending ? width : pending, left = count;
        status = launch(w, count, &left, err);
        if (left < count) {
            width = width < active / 2 ? width * 2 : active;
        } else if (passes > patience && count > 1) {
            width = count / 2;
        } else if (passes > patience && status == TXM_OK) {
            status = take_alone(w, w->pending[0], err);
            left = 0;
            patience = 0;
        }
        /* Paths that were not launched move up after those that missed. */
        for (uint32_t i = count; i < pending; i++)
            w->pending[left + i - count] = w->pending[i];
        pending = left + (pending - count);
        passes++;
    }
    job->counts.passes += passes ? passes - 1 : 0;
    job->counts.longest = passes > job->counts.longest ? passes : job->counts.longest;
    *next = 0;
    for (uint32_t i = 0; i < active; i++) {
        uint32_t path = w->active[i];
        if (job->film.passes)
            job->film.passes[w->paths[path].pixel] += (float)passes;
        if (w->steps[path] == STM_STEP_ON)
            w->active[(*next)++] = path;
    }
    return status;
}

/* Paths that have ended leave the list of active ones; they are added to the film only when all are done, in their
 * order. */
static txm_status run_wave(wave *w, uint32_t count, txm_error *err)
{
    uint32_t spans, active = count;
    txm_status status = over(w, count, start_span, &spans, err);
    for (uint32_t i = 0; i < count; i++)
        w->active[i] = i;
    while (status == TXM_OK && active) {
        status = over(w, active, intersect_span, &spans, err);
        w->job->counts.rays += active;
        if (status == TXM_OK)
            status = step(w, active, &active, err);
    }
    for (uint32_t i = 0; status == TXM_OK && i < count; i++)
        stm_film_add(&w->job->film, &w->paths[i]);
    w->job->counts.paths += count;
    return status;
}

/* ---- a rectangle ---- */

/* It also frees a wave that could not be created. */
static void wave_free(wave *w)
{
    free(w->paths);
    free(w->steps);
    free(w->pending);
    free(w->active);
    free(w->requests);
    for (uint32_t i = 0; w->spans && i < w->spans_max; i++)
        free(w->spans[i].noted.items);
    free(w->noted);
    free(w->samplers);
    free(w->heads);
    stm_lookup_queue_free(&w->queue);
    free(w->spans);
    free(w->states);
}

/* Allocates everything that a wave needs, once per rectangle, so that nothing is allocated while paths run. Each span
 * has a lookup state with a list of its own for what it misses. */
static bool wave_new(wave *w, stm_render_job *job, stm_render_rect rect, uint64_t samples)
{
    uint32_t lanes = samples < job->options->lanes ? (uint32_t)samples : job->options->lanes;
    *w = (wave){.job = job, .rect = rect, .lanes_max = lanes, .spans_max = (lanes + PATHS_PER_JOB - 1) / PATHS_PER_JOB};
    w->paths = stm_calloc(lanes, sizeof *w->paths);
    w->steps = stm_calloc(lanes, 1);
    w->pending = stm_calloc(lanes, sizeof *w->pending);
    w->active = stm_calloc(lanes, sizeof *w->active);
    w->spans = stm_calloc(w->spans_max, sizeof *w->spans);
    w->states = stm_calloc(w->spans_max, sizeof(txm_lookup_state *));
    w->requests = stm_calloc(w->spans_max, REQUESTS_PER_JOB * sizeof *w->requests);
    w->noted = stm_calloc(w->spans_max, sizeof *w->noted);
    const size_t images = job->world.scene->image_count;
    if (job->devices.count && !job->options->untextured)
        w->queue = stm_lookup_queue_new(&job->devices, job->textures.bound, images, images, lanes, job->depth > 0);
    const bool together = !job->options->untextured && !w->queue && !job->options->trace;
    if (together) {
        w->samplers = stm_calloc(images + 1, sizeof *w->samplers);
        w->heads = stm_calloc(w->spans_max, (images + 1) * sizeof *w->heads);
    }
    if (together && (!w->samplers || !w->heads))
        return false;
    for (size_t i = 0; together && i < images; i++)
        w->samplers[i] = job->textures.bound[i].how;
    if (!w->paths || !w->steps || !w->pending || !w->active || !w->spans || !w->states || !w->requests || !w->noted ||
        (job->devices.count && !job->options->untextured && !w->queue))
        return false;
    for (uint32_t i = 0; i < w->spans_max; i++) {
        w->spans[i].wave = w;
        w->spans[i].heads = together ? w->heads + i * (images + 1) : NULL;
        const txm_lookup_state state = {.capacity = REQUESTS_PER_JOB,
                                        .requests = w->requests + (size_t)i * REQUESTS_PER_JOB};
        w->spans[i].source =
            job->options->untextured ? stm_lookup_source_untextured()
            : w->queue               ? stm_lookup_source_of_devices(w->queue, &w->spans[i].noted, job->textures.cache,
                                                                    job->options->trace != NULL, i)
                       : stm_lookup_source_viewing(NULL, job->textures.cache, state, job->options->trace != NULL, i);
        w->states[i] = &w->spans[i].source.state;
        w->noted[i] = &w->spans[i].noted;
    }
    return true;
}

/* Runs as many waves as the rectangle needs. The last may be shorter; its arrays are not. */
txm_status stm_engine_wave(stm_render_job *job, stm_render_rect rect, txm_error *err)
{
    const stm_render_options *o = job->options;
    uint64_t samples = (uint64_t)rect.w * rect.h * o->samples;
    wave w;
    txm_status status = wave_new(&w, job, rect, samples) ? TXM_OK : stm_no_memory(err, NULL);
    for (w.first = 0; status == TXM_OK && w.first < samples; w.first += w.lanes_max) {
        uint64_t left = samples - w.first;
        uint32_t count = left < w.lanes_max ? (uint32_t)left : w.lanes_max;
        status = run_wave(&w, count, err);
        job->samples_done += count;
        stm_moments_note(&job->moments, job->textures.cache, job->samples_done);
        if (o->progress)
            o->progress(o->progress_user, job->samples_done, job->samples_all);
    }
    wave_free(&w);
    return status;
}
