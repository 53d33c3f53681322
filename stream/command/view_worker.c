/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread with one job at a time, handed over under a lock. See view_worker.h.
 */
#include "command/view_worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "command/stream_args.h"

enum { CODES = 1 << 14 };

/* A picture in sRGB codes of 8 bits. */
typedef struct picture_codes {
    uint8_t *rgba;
    size_t room; /* px */
} picture_codes;

typedef enum job_state { NO_JOB, STARTED, ENDED } job_state;

struct stm_view_worker {
    const stm_render_scene *scene;
    stm_frames_options options;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* It is protected by the lock. */
    job_state state;
    bool ends;
    /* It is owned by the thread that has the job. */
    stm_view_request request;
    stm_view_result result;
    stm_frames *frames;
    float *rgb;
    size_t rgb_room;        /* px */
    picture_codes codes[2]; /* the caller shows one while the next frame is written to the other */
    int back;
    uint8_t *ramp; /* sRGB codes of linear values from 0 to 1, in CODES steps */
    volatile int cancel;
};

/* ---- jobs ---- */

/* A step of the table is at most a fifth of a code, at the steepest part of the curve. */
static bool make_ramp(stm_view_worker *w)
{
    float *ramp = stm_calloc(CODES, sizeof *ramp);
    for (size_t i = 0; ramp && i < CODES; i++)
        ramp[i] = (float)i / (float)(CODES - 1);
    w->ramp = ramp ? stm_srgb_codes(ramp, CODES) : NULL;
    free(ramp);
    return w->ramp;
}

/* Does not keep the content. */
static bool make_room(void **items, size_t *room, size_t count, size_t bytes)
{
    if (count <= *room)
        return true;
    free(*items);
    *items = stm_calloc(count, bytes);
    *room = *items ? count : 0;
    return *items;
}

/* Converts the picture for the window into the buffer that the caller is not showing. */
static txm_status take_picture(stm_view_worker *w, txm_error *err)
{
    picture_codes *p = &w->codes[w->back];
    uint32_t width, height;
    stm_frames_size(w->frames, &width, &height);
    const size_t pixels = (size_t)width * height;
    if (!make_room((void **)&w->rgb, &w->rgb_room, pixels, 3 * sizeof *w->rgb) ||
        !make_room((void **)&p->rgba, &p->room, pixels, 4))
        return stm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a picture of %u x %u px", width, height);
    stm_frames_picture(w->frames, w->rgb);
    for (size_t i = 0; i < pixels; i++) {
        for (size_t c = 0; c < 3; c++) {
            const float v = w->rgb[3 * i + c];
            p->rgba[4 * i + c] = v > 0.0f ? w->ramp[v < 1.0f ? (size_t)(v * (float)(CODES - 1) + 0.5f) : CODES - 1] : 0;
        }
        p->rgba[4 * i + 3] = 255;
    }
    w->result.rgba = p->rgba;
    w->result.width = width;
    w->result.height = height;
    w->back = !w->back;
    return TXM_OK;
}

/* Applies the differences from the previous job; a refused value keeps its old setting. */
static void change_settings(stm_view_worker *w, stm_view_request *has, const stm_view_request *request)
{
    stm_view_result *r = &w->result;
    r->setting = TXM_OK;
    if (request->budget != has->budget &&
        !(r->setting = stm_frames_set_budget(w->frames, request->budget, &r->setting_err)))
        has->budget = request->budget;
    if (request->resolution != has->resolution && !r->setting &&
        !(r->setting = stm_frames_set_resolution(w->frames, request->resolution, &r->setting_err)))
        has->resolution = request->resolution;
    if (request->policy != has->policy && !r->setting &&
        !(r->setting = stm_frames_set_policy(w->frames, request->policy, &r->setting_err)))
        has->policy = request->policy;
    if ((request->width != has->width || request->height != has->height) && !r->setting &&
        !(r->setting = stm_frames_set_size(w->frames, request->width, request->height, &r->setting_err))) {
        has->width = request->width;
        has->height = request->height;
    }
    if (request->show != has->show)
        stm_frames_set_show(w->frames, (stm_frames_show)request->show);
    if (request->textures != has->textures)
        stm_frames_set_textures(w->frames, (stm_frames_textures)request->textures);
    stm_frames_set_direct(w->frames, request->direct);
    has->direct = request->direct;
    has->show = request->show;
    has->textures = request->textures;
    has->camera = request->camera;
}

static void make_frame(stm_view_worker *w)
{
    stm_view_result *r = &w->result;
    r->shot = TXM_OK;
    r->status = TXM_OK;
    if (w->request.shot)
        r->shot = stm_stream_write_rgb(w->request.shot, w->rgb, r->width, r->height, &r->shot_err);
    if (w->request.still)
        return;
    const double begin = stm_clock_seconds();
    change_settings(w, &r->request, &w->request);
    r->status = stm_frames_advance(w->frames, &w->request.camera, &r->err);
    if (r->status)
        return;
    r->frame = *stm_frames_last(w->frames);
    r->status = take_picture(w, &r->err);
    r->ms = 1e3 * (stm_clock_seconds() - begin);
}

static void *work(void *user)
{
    stm_view_worker *w = user;
    pthread_mutex_lock(&w->lock);
    while (!w->ends) {
        if (w->state != STARTED) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        if (w->frames)
            make_frame(w);
        else {
            stm_view_result *r = &w->result;
            const stm_frames_options *o = &w->options;
            r->status = stm_frames_open(w->scene, o, &w->frames, &r->err);
            if (!r->status) {
                r->request = (stm_view_request){.budget = o->render.cache->max_bytes,
                                                .resolution = o->render.cache->resolution,
                                                .policy = o->render.cache->policy,
                                                .textures = o->textures,
                                                .show = o->show,
                                                .camera = w->scene->camera};
                stm_frames_size(w->frames, &r->request.width, &r->request.height);
            }
        }
        pthread_mutex_lock(&w->lock);
        w->state = ENDED;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* ---- beginning and end ---- */

txm_status stm_view_worker_new(const stm_render_scene *scene, const stm_frames_options *options, stm_view_worker **out,
                               txm_error *err)
{
    stm_view_worker *w = stm_calloc(1, sizeof *w);
    *out = NULL;
    if (!w || !make_ramp(w)) {
        free(w);
        return stm_no_memory(err, NULL);
    }
    w->scene = scene;
    w->options = *options;
    w->options.render.cancel = &w->cancel;
    w->state = STARTED;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    const int failed = pthread_create(&w->thread, NULL, work, w);
    if (failed) {
        free(w->ramp);
        free(w);
        return stm_fail_errno(err, failed, "a thread cannot be started");
    }
    *out = w;
    return TXM_OK;
}

void stm_view_worker_free(stm_view_worker **worker)
{
    stm_view_worker *w = worker ? *worker : NULL;
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ends = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    stm_view_worker_stop(w);
    pthread_join(w->thread, NULL);
    stm_frames_close(&w->frames);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
    free(w->ramp);
    free(w->rgb);
    free(w->codes[0].rgba);
    free(w->codes[1].rgba);
    free(w);
    *worker = NULL;
}

/* ---- handing over ---- */

void stm_view_worker_start(stm_view_worker *w, const stm_view_request *request)
{
    pthread_mutex_lock(&w->lock);
    w->request = *request;
    __atomic_store_n(&w->cancel, 0, __ATOMIC_RELEASE);
    w->state = STARTED;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

void stm_view_worker_stop(stm_view_worker *w)
{
    __atomic_store_n(&w->cancel, 1, __ATOMIC_RELEASE);
}

bool stm_view_worker_take(stm_view_worker *w, unsigned milliseconds, stm_view_result *result)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&w->lock);
    while (w->state == STARTED && pthread_cond_timedwait(&w->changed, &w->lock, &until) == 0)
        continue;
    const bool ended = w->state == ENDED;
    if (ended) {
        w->state = NO_JOB;
        *result = w->result;
    }
    pthread_mutex_unlock(&w->lock);
    return ended;
}

bool stm_view_worker_busy(const stm_view_worker *w)
{
    stm_view_worker *lockable = (stm_view_worker *)w;
    pthread_mutex_lock(&lockable->lock);
    const bool busy = w->state != NO_JOB;
    pthread_mutex_unlock(&lockable->lock);
    return busy;
}

stm_frames *stm_view_worker_frames(const stm_view_worker *w)
{
    return w->frames;
}
