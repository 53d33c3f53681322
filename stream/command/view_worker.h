/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread that renders frames for a window, so that the window responds while a frame is traced, a scene is opened
 * or a screenshot is written. It has one job at a time; between two jobs the frames belong to the caller's thread.
 */
#ifndef STM_TOOLS_STREAM_VIEW_WORKER_H
#define STM_TOOLS_STREAM_VIEW_WORKER_H
#include "render/frames.h"

/* The settings that can change while frames run, and the camera. */
typedef struct stm_view_request {
    uint64_t budget;
    float resolution;
    uint32_t policy, textures, show; /* as in stm_frames_options */
    uint32_t width, height;          /* of the picture */
    stm_scene_camera camera;
    bool direct;      /* see stm_frames_set_direct */
    bool still;       /* render no frame, only write a screenshot */
    const char *shot; /* first write the last picture shown to this file; NULL: none */
} stm_view_request;

/* The result of a job. */
typedef struct stm_view_result {
    txm_status status; /* CANCELLED: no frame */
    txm_error err;
    txm_status setting; /* of a setting that could not be changed; the old value is kept, also in `request` */
    txm_error setting_err;
    txm_status shot;
    txm_error shot_err;
    stm_view_request request; /* the current settings */
    stm_frame_stats frame;
    double ms;           /* time of the frame and of its conversion for the window */
    const uint8_t *rgba; /* of the picture, valid until the next job; NULL: none yet */
    uint32_t width, height;
} stm_view_result;

typedef struct stm_view_worker stm_view_worker;

/* Starts the thread with its first job, which opens the scene; options and scene must outlive it. Its `cancel` is
 * replaced by one of the worker's own. */
txm_status stm_view_worker_new(const stm_render_scene *scene, const stm_frames_options *options, stm_view_worker **out,
                               txm_error *err);
/* Stops the job in progress and waits for it; NULL-safe. */
void stm_view_worker_free(stm_view_worker **worker);

/* Starts the next job, after the last one's result was taken. */
void stm_view_worker_start(stm_view_worker *worker, const stm_view_request *request);
/* Makes the job in progress end soon, with CANCELLED unless it is complete by then. */
void stm_view_worker_stop(stm_view_worker *worker);
/* Waits at most this long for the end of the job in progress; returns true once when it has ended. */
bool stm_view_worker_take(stm_view_worker *worker, unsigned milliseconds, stm_view_result *result);
/* Whether there is a job whose result was not taken yet. */
bool stm_view_worker_busy(const stm_view_worker *worker);
/* NULL until the scene is open. Must not be called while a job is in progress. */
stm_frames *stm_view_worker_frames(const stm_view_worker *worker);
#endif
