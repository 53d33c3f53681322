/* SPDX-License-Identifier: Apache-2.0
 *
 * `txmill stream play`: its options, its run, and its output. cmd_stream.c opens the scene; stream/frames.h renders the
 * frames.
 */
#ifndef TXM_TOOLS_STREAM_PLAY_H
#define TXM_TOOLS_STREAM_PLAY_H
#include "base/base.h"
#include "cli/options.h"
#include "render/frames.h"

/* The first operand, as a bit. */
typedef enum txm_stream_verb {
    TXM_STREAM_RENDER = 1,
    TXM_STREAM_BUDGET = 2,
    TXM_STREAM_PLAY = 4,
    TXM_STREAM_VIEW = 8
} txm_stream_verb;

/* Options that only frames have. */
typedef struct txm_play_args {
    uint32_t frames, warm_up, rest, requests, batch, wave, loaders, keys;
    int path, texturing, show, sampling, reject;
    bool is_virtual;
    bool json; /* the frames will be printed as JSON */
    double marks;
    double frame_ms, tile_ms, texel_ns, request_ns, latency_ms; /* below 0: not given */
    const char *strip;
} txm_play_args;

extern const stm_option txm_play_options[];
/* The defaults. */
txm_play_args txm_play_defaults(void);

/* The frames that were played, with the requests of each. */
typedef struct txm_play_run {
    const char *action, *scene;
    const txm_frames_options *options;
    const txm_play_args *args;
    const char *path; /* the name of the camera path */
    uint32_t width, height;
    float *rgb; /* the last picture */
    float *strip;
    uint32_t strip_width, strip_height; /* 0: none */
    txm_frame_stats *frames;
    size_t frame_count;
    stm_bytes
        frames_json;    /* the frames so far, with commas: so a run that is stopped need not print them all at once */
    txm_tile_key *keys; /* args->keys per frame; 0: no more */
    txm_frames_totals totals;
    txm_cache_stats cache;
    txm_render_image_cost *costs;
    const char **images; /* their paths */
    size_t image_count;
    txm_render_device *devices; /* devices that ran lookups; NULL: none */
    size_t device_count;
    bool stopped; /* it was stopped before its end */
} txm_play_run;

/* Plays the frames. If the run is stopped, *out has those that were complete; free it with txm_play_clear. */
txm_status txm_play(const char *name, const txm_render_scene *scene, const txm_play_args *args,
                    const txm_frames_options *options, void (*progress)(size_t done, size_t all), txm_play_run *out,
                    txm_error *err);
/* Collects the results of the frames: picture, totals, cache and images. */
txm_status txm_play_collect(const txm_frames *frames, txm_play_run *run, txm_error *err);
void txm_play_clear(txm_play_run *run);
/* Sets the options of the frames from the arguments; the caller sets those of the render. */
void txm_play_options_of(const txm_play_args *args, txm_frames_options *options);

void txm_play_print(const txm_play_run *run);
void txm_play_json(const txm_play_run *run);
/* Adds the last frame to frames_json. */
void txm_play_add_json(txm_play_run *run);
txm_status txm_play_page(const char *path, const txm_play_run *run, txm_error *err);
#endif
