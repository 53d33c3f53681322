/* SPDX-License-Identifier: Apache-2.0
 *
 * `txmill stream play`: its options, its run, and its output. cmd_stream.c opens the scene; stream/frames.h renders the
 * frames.
 */
#ifndef STM_TOOLS_STREAM_PLAY_H
#define STM_TOOLS_STREAM_PLAY_H
#include <cjson/cJSON.h>

#include "base/base.h"
#include "cli/options.h"
#include "render/frames.h"

/* The first operand, as a bit. */
typedef enum stm_stream_verb {
    STM_STREAM_RENDER = 1,
    STM_STREAM_BUDGET = 2,
    STM_STREAM_PLAY = 4,
    STM_STREAM_VIEW = 8
} stm_stream_verb;

/* Options that only frames have. */
typedef struct stm_play_args {
    uint32_t frames, warm_up, rest, requests, batch, wave, loaders, keys;
    int path, texturing, show, sampling, reject;
    bool is_virtual, compares;
    bool json; /* the frames will be printed as JSON */
    double marks;
    double frame_ms, tile_ms, texel_ns, request_ns, latency_ms; /* below 0: not given */
    const char *strip;
} stm_play_args;

extern const stm_option stm_play_options[];
/* The defaults. */
stm_play_args stm_play_defaults(void);

/* The frames that were played, with the requests of each. */
typedef struct stm_play_run {
    const char *action, *scene;
    const stm_frames_options *options;
    const stm_play_args *args;
    const char *path; /* the name of the camera path */
    uint32_t width, height;
    float *rgb; /* the last picture */
    float *strip;
    uint32_t strip_width, strip_height; /* 0: none */
    stm_frame_stats *frames;
    size_t frame_count;
    stm_bytes
        frames_json;    /* the frames so far, with commas: so a run that is stopped need not print them all at once */
    txm_tile_key *keys; /* args->keys per frame; 0: no more */
    stm_frames_totals totals;
    txm_cache_stats cache;
    stm_render_image_cost *costs;
    const char **images; /* their paths */
    size_t image_count;
    stm_render_device *devices; /* devices that ran lookups; NULL: none */
    size_t device_count;
    bool stopped; /* it was stopped before its end */
} stm_play_run;

/* Plays the frames. If the run is stopped, *out has those that were complete; free it with stm_play_clear. */
txm_status stm_play(const char *name, const stm_render_scene *scene, const stm_play_args *args,
                    const stm_frames_options *options, void (*progress)(size_t done, size_t all), stm_play_run *out,
                    txm_error *err);
/* Collects the results of the frames: picture, totals, cache and images. */
txm_status stm_play_collect(const stm_frames *frames, stm_play_run *run, txm_error *err);
void stm_play_clear(stm_play_run *run);
/* Sets the options of the frames from the arguments; the caller sets those of the render. */
void stm_play_options_of(const stm_play_args *args, stm_frames_options *options);

void stm_play_print(const stm_play_run *run);
/* The object that --json prints. */
cJSON *stm_play_json(const stm_play_run *run);
/* Adds the last frame to frames_json. */
void stm_play_add_json(stm_play_run *run);
txm_status stm_play_page(const char *path, const stm_play_run *run, txm_error *err);
#endif
