/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames: textures of a scene stream while the picture moves. The other engines wait for tiles; a frame never does.
 * Every frame traces the same number of samples per pixel into a film that accumulates while the camera rests. A
 * lookup uses what is in memory: it blends a texel of each of the two levels around its footprint, drawn at random
 * around the place; a missing texel is replaced by the same place in the best coarser level, or else by the 1x1
 * colour. Missing tiles are added to a list of requests of fixed size. Between two frames, threads start to load a
 * batch of tiles at their own pace; the first frame after its last tile has arrived shows all of it. So frames take
 * the same time whatever is missing, and textures sharpen over frames.
 *
 * Time is that of the clock, or virtual: then rays, texels, requests and tiles have costs, a frame takes their sum,
 * and a batch is shown by the first frame that begins after its tiles have been paid for. The threads still load, but
 * their speed does not matter: pictures have the same bits, and statistics the same figures, on every machine and with
 * any number of threads. The cost of one frame is in stm_frame_stats, that of all frames together in
 * stm_frames_totals.
 *
 * The functions of one stm_frames are called from one thread at a time.
 */
#ifndef STM_STREAM_FRAMES_H
#define STM_STREAM_FRAMES_H
#include "render/render.h"
#include "render/scene.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* The use of textures in a frame. */
typedef enum stm_frames_textures {
    STM_FRAMES_STREAMED = 0,
    STM_FRAMES_COARSEST,  /* shows only the 1x1 colour of each texture: what fits without streaming */
    STM_FRAMES_UNTEXTURED /* grey: the cost of rays without textures */
} stm_frames_textures;

/* The colours of the picture: the textures', or a display for debugging. */
typedef enum stm_frames_show {
    STM_FRAMES_SHOW_PICTURE = 0,
    STM_FRAMES_SHOW_MISSING, /* lookups that miss a texel are magenta */
    STM_FRAMES_SHOW_LEVELS   /* lookups are coloured by the level that was found */
} stm_frames_show;

/* The filter of a level. */
typedef enum stm_frames_filter {
    STM_FRAMES_FILTER_POINT = 0, /* one texel, drawn with the weights of the linear filter: linear on average */
    STM_FRAMES_FILTER_SCENE      /* the scene's filter, as in render */
} stm_frames_filter;

/* Which requests are left out if there are more than fit into the list. */
typedef enum stm_frames_reject {
    STM_FRAMES_REJECT_SPREAD =
        0, /* leaves requests out at random, with a probability such that the whole picture just fills the list */
    STM_FRAMES_REJECT_UNIQUE, /* leaves them out with a probability of 1 - unique/total of the last frame, as Disney's
                                 streamer does */
    STM_FRAMES_REJECT_NONE    /* the last ones */
} stm_frames_reject;

/* Names of the above; NULL outside the range. */
const char *stm_frames_textures_name(stm_frames_textures textures);
const char *stm_frames_show_name(stm_frames_show show);
const char *stm_frames_filter_name(stm_frames_filter filter);
const char *stm_frames_reject_name(stm_frames_reject reject);

/* The costs of work if time is virtual. */
typedef struct stm_cost_model {
    double frame_ms;   /* the rays of a frame, which always has the same amount of work */
    double texel_ns;   /* a texel that is fetched, in memory or not */
    double request_ns; /* a request that is written */
    double tile_ms;    /* a tile that is loaded; those of a batch one after the other */
    double latency_ms; /* time between the end of a frame and the arrival of its requests where tiles are loaded */
} stm_cost_model;

enum { STM_FRAMES_MAX_WAVE = 32, STM_FRAMES_MAX_REQUESTS = 1 << 20 };

typedef struct stm_frames_options {
    /* Picture, rays, tx files and rendering threads, as in a render. Used are: width, height, samples (per frame),
     * bounces, seed, threads, differentials, widen, filter_glossy, rule, mode, filter_width, context, cache_dir,
     * cancel, missing, devices, device_memory, and of `render.cache`, which must not be NULL, the budget, policy,
     * resolution and open files. All other members are ignored. */
    stm_render_options render;
    uint32_t loaders;  /* number of threads that load, 1 or more */
    uint32_t requests; /* length of the list, 1 to STM_FRAMES_MAX_REQUESTS */
    uint32_t batch;    /* most tiles in a batch; 0: as many as fit into half of the budget */
    uint32_t wave;     /* lanes in a wave, which writes each request only once: 1 to 32; 0: each lane writes its own */
    uint32_t textures; /* stm_frames_textures */
    uint32_t show;     /* stm_frames_show */
    uint32_t filter;   /* stm_frames_filter */
    uint32_t reject;   /* stm_frames_reject */
    float mark_share;  /* fraction of the budget from which on lookups mark what they use; 0: always */
    bool compares;     /* each frame is then traced once more without textures, to compare its processor time */
    bool is_virtual;
    stm_cost_model cost_model;
} stm_frames_options;

/* Initialises options with the defaults: one sample, no bounces, levels trilinear, requests 4096, wave 16, marks from
 * 0.9 on, the machine's clock; 1 GiB with LRU. `cache` must live as long as the options, and is initialised too. */
void stm_frames_options_init(stm_frames_options *options, txm_cache_options *cache);

/* ---- statistics -------------------------------------------------------------------------------------------------- */

/* Statistics of one frame. Times are those of the clock or virtual ones. */
typedef struct stm_frame_stats {
    uint32_t number;      /* counted from 0 */
    uint32_t accumulated; /* number of frames in the picture, including this one: 1 if the camera has moved */
    double begin_ms, ms;
    /* Processor time since the previous frame: of this frame in the threads that trace, of the rest of the process,
     * which loads, and of the same frame without textures, 0 unless `compares` is set. All are 0 in virtual time. */
    double trace_cpu_ms, load_cpu_ms, untextured_cpu_ms;
    uint64_t rays;
    uint64_t texels, sharp;      /* texels that lookups needed; of these, texels that were in memory */
    uint64_t coarser, stand_ins; /* those of the others that come from a coarser level, and from the 1x1 colour */
    uint64_t failed;             /* texels of files that cannot be read: magenta */
    uint64_t missed;           /* lookups for which a texel was missing, counted per lane, before waves are compacted */
    uint64_t requested;        /* requests that lanes wrote, before rejection */
    uint64_t rejected, full;   /* requests left out: at random, and because the list was full */
    uint64_t accepted, unique; /* requests on the list, and distinct ones among them */
    /* For the batch that this frame's list started: tiles that are loaded, and tiles that were left for later because
     * they do not fit. Both are 0 if an earlier batch was still being loaded, or nothing was missing. */
    uint32_t batch, cut;
    bool busy;                               /* an earlier batch was still being loaded when the frame ended */
    uint32_t shown;                          /* tiles of a batch that this frame shows for the first time */
    uint32_t waited;                         /* number of frames from requesting that batch to showing it */
    uint64_t loaded, evicted, load_failures; /* tiles, since the previous frame */
    uint64_t resident_tiles, resident_bytes, allocated_bytes;
    bool marks; /* lookups marked what they used */
} stm_frame_stats;

/* Totals of all frames so far. */
typedef struct stm_frames_totals {
    uint32_t frames;
    double ms, longest_ms, median_ms, within_ms; /* 99 of 100 frames take at most this long */
    double trace_cpu_ms, load_cpu_ms, untextured_cpu_ms;
    uint64_t rays, texels, sharp, missed, requested, rejected, full, accepted, unique, cut, shown, loaded, reloaded,
        evicted, load_failures;
    uint32_t batches;
    /* Frames since the last cut until this fraction of the texels was in memory: 50, 95, 100 %; UINT32_MAX: not yet. */
    uint32_t until_half, until_most, until_all;
} stm_frames_totals;

/* ---- frames ------------------------------------------------------------------------------------------------------ */

typedef struct stm_frames stm_frames;

/* Opens the scene, which must outlive the frames, and its tx files. Fails as stm_render does before its first ray. */
txm_status stm_frames_open(const stm_render_scene *scene, const stm_frames_options *options, stm_frames **out,
                           txm_error *err);
/* Stops loading; waits only for tiles that threads are reading. NULL-safe; sets *frames to NULL. */
void stm_frames_close(stm_frames **frames);

/* Renders one frame from `camera` (NULL: as before; at first the scene's). If the camera is another one, or anything on
 * which the picture depends was changed, accumulation starts again. CANCELLED, with the film unchanged, if the options'
 * flag was set; NO_MEMORY. */
txm_status stm_frames_advance(stm_frames *frames, const stm_scene_camera *camera, txm_error *err);

/* The next frame starts a new picture even if the camera is the same, and `until_half` and the like count from it. */
void stm_frames_cut(stm_frames *frames);

/* Starts counting again: frames are numbered from 0, and time starts at 0. Tiles are kept. */
void stm_frames_restart(stm_frames *frames);

/* The picture of the last complete frame: `rgb` receives three floats per pixel, rows from the top, linear. */
void stm_frames_picture(const stm_frames *frames, float *rgb);
void stm_frames_size(const stm_frames *frames, uint32_t *width, uint32_t *height);

/* Statistics of the last complete frame; valid until the next one. Zero before the first. */
const stm_frame_stats *stm_frames_last(const stm_frames *frames);
stm_frames_totals stm_frames_totals_of(const stm_frames *frames);
void stm_frames_cache_stats(const stm_frames *frames, txm_cache_stats *stats);
/* Copies the distinct tiles that the last frame requested, in the order of the list, at most `room` of them. Returns
 * their total number. */
size_t stm_frames_wanted(const stm_frames *frames, txm_tile_key *keys, size_t room);
/* The cost of loading each image of the scene, and any errors; one element per image: free() it. */
txm_status stm_frames_costs(const stm_frames *frames, stm_render_image_cost **out, txm_error *err);
/* Statistics of the devices that run lookups: *out has *count elements, NULL if there are none; free() it. */
txm_status stm_frames_devices(const stm_frames *frames, stm_render_device **out, size_t *count, txm_error *err);
const stm_render_scene *stm_frames_scene(const stm_frames *frames);

/* ---- while frames run ---------------------------------------------------------------------------------------------
 */

/* Changes that take effect with the next frame. */
txm_status stm_frames_set_budget(stm_frames *frames, uint64_t bytes, txm_error *err);
/* Fraction of the texture resolution, above 0 and up to 1. USAGE. */
txm_status stm_frames_set_resolution(stm_frames *frames, float share, txm_error *err);
/* Another policy needs another cache: tiles are loaded again. */
txm_status stm_frames_set_policy(stm_frames *frames, uint32_t policy, txm_error *err);
/* Sets the size of the picture in px. On failure the old one is kept. USAGE, NO_MEMORY. */
txm_status stm_frames_set_size(stm_frames *frames, uint32_t width, uint32_t height, txm_error *err);
void stm_frames_set_show(stm_frames *frames, stm_frames_show show);
void stm_frames_set_textures(stm_frames *frames, stm_frames_textures textures);
/* Whether paths end at the first surface that scatters light in all directions: a cheaper picture while the camera
 * moves. The light that such surfaces receive from others is then the same everywhere, its average in the last frame
 * that followed it, so that the picture stays as bright; and single texels are read from one level, drawn at random. At
 * first, none of this is done. */
void stm_frames_set_direct(stm_frames *frames, bool direct);

/* The camera of the scene. */
stm_scene_camera stm_frames_camera(const stm_render_scene *scene);
/* The distance from the scene's camera to the surface in the middle of its picture, or to the one behind the camera;
 * INFINITY if nothing is there. */
float stm_frames_distance(const stm_frames *frames, bool backwards);
#endif
