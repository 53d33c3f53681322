/* SPDX-License-Identifier: Apache-2.0
 *
 * Follows one path at a time in each thread. Over a cache, a thread waits for each tile that it misses; over a set
 * with all tiles in memory nothing is missed, and the picture is the reference; over page tables only requests are
 * recorded.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/base.h"
#include "render/engine.h"

enum { PIXELS_PER_TURN = 256 };

/* State that all workers share. They write together only to the counters. */
typedef struct shared {
    stm_render_job *job;
    stm_render_rect rect;
    txm_view view; /* the set's view */
    atomic_ullong next, done, rays, steps;
} shared;

typedef struct worker {
    shared *shared;
    bool is_caller; /* the thread that reports progress */
    stm_lookup_source source;
    txm_cache_thread *thread;
    uint32_t requests[STM_PATH_REQUESTS]; /* requests of a budget */
} worker;

/* One thread traces all samples of a pixel in order, so that the sum does not depend on the number of threads. If all
 * objects of a scene are in one place, a ray takes milliseconds, so cancellation does not wait for the pixel's end. */
static void trace_pixel(worker *t, uint32_t pixel, uint64_t *rays)
{
    stm_render_job *job = t->shared->job;
    const volatile int *cancel = job->options->cancel;
    for (uint32_t sample = 0; sample < job->options->samples && !stm_is_cancelled(cancel); sample++) {
        stm_path path;
        stm_path_start(&job->world, pixel, job->first_sample + sample, &path);
        do {
            stm_path_intersect(&job->world, &path);
            ++*rays;
        } while (stm_path_shade(&job->world, &t->source, &path) == STM_STEP_ON && !stm_is_cancelled(cancel));
        stm_film_add(&job->film, &path);
    }
}

/* Threads take 256 pixels at a time from a counter, which balances expensive parts of the picture. Only the calling
 * thread reports progress, so that callbacks need no lock. */
static void work(void *arg)
{
    worker *t = arg;
    shared *s = t->shared;
    const stm_render_options *o = s->job->options;
    uint64_t pixels = (uint64_t)s->rect.w * s->rect.h, rays = 0;
    for (uint64_t first; (first = atomic_fetch_add(&s->next, PIXELS_PER_TURN)) < pixels;) {
        uint64_t end = first + PIXELS_PER_TURN < pixels ? first + PIXELS_PER_TURN : pixels;
        if (stm_is_cancelled(o->cancel))
            break;
        for (uint64_t i = first; i < end; i++)
            trace_pixel(t, stm_rect_pixel(&s->rect, s->job->world.width, i), &rays);
        uint64_t done = atomic_fetch_add(&s->done, end - first) + (end - first);
        if (t->is_caller && s->job->textures.cache)
            stm_moments_note(&s->job->moments, s->job->textures.cache, s->job->samples_done + done * o->samples);
        if (o->progress && t->is_caller)
            o->progress(o->progress_user, s->job->samples_done + done * o->samples, s->job->samples_all);
    }
    atomic_fetch_add(&s->rays, rays);
}

/* The source for the cache, the set, or a budget's page tables. */
static stm_lookup_source source_of(const stm_render_job *job, worker *of)
{
    const txm_lookup_state state = {.capacity = job->biased ? STM_PATH_REQUESTS : 0, .requests = of->requests};
    if (job->options->untextured)
        return stm_lookup_source_untextured();
    if (job->biased)
        return stm_lookup_source_requesting(job->biased, STM_BUDGET_RESOLUTIONS, of->thread, state);
    return of->thread ? stm_lookup_source_waiting(of->thread)
                      : stm_lookup_source_viewing(&of->shared->view, NULL, state, false, 0);
}

/* Each worker has a cache thread, which remembers its last tiles; without a cache, the view is used. */
txm_status stm_engine_paths(stm_render_job *job, stm_render_rect rect, txm_error *err)
{
    shared s = {.job = job, .rect = rect};
    worker *workers = stm_calloc(job->threads, sizeof *workers);
    txm_status status = workers ? TXM_OK : stm_no_memory(err, NULL);
    if (job->textures.set) {
        s.view = *txm_texture_set_view(job->textures.set);
        s.view.epoch = 1; /* counts what is used */
    }
    for (uint32_t i = 0; status == TXM_OK && i < job->threads; i++) {
        workers[i].shared = &s;
        workers[i].is_caller = i == 0;
        txm_cache *waits = job->biased ? job->warps : job->textures.cache;
        if (waits)
            status = txm_cache_thread_new(waits, &workers[i].thread, err);
        workers[i].source = source_of(job, &workers[i]);
    }
    double begin = stm_clock_seconds();
    stm_group *group = status == TXM_OK ? stm_group_new(job->pool) : NULL;
    if (status == TXM_OK && !group)
        status = stm_no_memory(err, NULL);
    /* The caller works too. If a job cannot be queued, the running ones do all the work, and the failure is reported
     * afterwards. */
    for (uint32_t i = 1; status == TXM_OK && i < job->threads; i++)
        if (!stm_group_submit(group, work, &workers[i]))
            status = stm_no_memory(err, NULL);
    if (status == TXM_OK)
        work(&workers[0]);
    stm_group_free(group);
    job->counts.trace_seconds += stm_clock_seconds() - begin;
    for (uint32_t i = 0; workers && i < job->threads; i++)
        txm_cache_thread_free(&workers[i].thread);
    free(workers);
    uint64_t samples = (uint64_t)rect.w * rect.h * job->options->samples;
    job->counts.paths += samples;
    job->counts.rays += s.rays;
    job->counts.steps += s.rays;
    job->samples_done += samples;
    if (status == TXM_OK && stm_is_cancelled(job->options->cancel))
        status = stm_fail(err, TXM_STATUS_CANCELLED, "stopped");
    return status;
}
