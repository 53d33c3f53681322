/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames: a scene whose textures stream while the picture moves. The other engines wait for tiles; a frame never does.
 *
 * Every frame traces the same number of samples a pixel into a film that accumulates while the camera rests. A lookup
 * takes what is in memory: a texel of each of the two levels that bracket its footprint, drawn at random about the
 * place, blended; where one is missing, the same place of the best coarser level, or else the 1x1 colour. What was
 * missing goes onto a list of requests of fixed size. Between two frames a batch of tiles is loaded by threads at their
 * own pace; the first frame after its last tile came shows all of it. So frames take the same time whatever is missing,
 * and textures sharpen over frames.
 *
 * Time is the clock's, or virtual: then rays, texels, requests and tiles have prices, a frame takes the sum, and a
 * batch is shown by the first frame that begins after its tiles have been paid for. The threads load all the same, but
 * how fast they are does not matter: pictures have the same bits, and statistics the same figures, on every machine and
 * with any number of threads.
 *
 * What one frame costs is in txm_frame_stats, of all frames together in txm_frames_totals. The functions of one
 * txm_frames are called from one thread at a time.
 */
#ifndef TXM_STREAM_FRAMES_H
#define TXM_STREAM_FRAMES_H
#include "stream/render.h"
#include "stream/scene.h"

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* What a frame does with textures. */
typedef enum txm_frames_textures {
    TXM_FRAMES_STREAMED = 0,
    TXM_FRAMES_COARSEST,  /* only the 1x1 colour of each: what fits without streaming */
    TXM_FRAMES_UNTEXTURED /* grey: the price of rays alone */
} txm_frames_textures;

/* What the picture shows. */
typedef enum txm_frames_show {
    TXM_FRAMES_SHOW_PICTURE = 0,
    TXM_FRAMES_SHOW_MISSING, /* lookups that miss a texel are magenta */
    TXM_FRAMES_SHOW_LEVELS   /* lookups are coloured by the level that was found */
} txm_frames_show;

/* How a level is read. */
typedef enum txm_frames_filter {
    TXM_FRAMES_FILTER_POINT = 0, /* one texel, drawn as the linear filter weights them: linear on average */
    TXM_FRAMES_FILTER_SCENE      /* as the scene says and render does */
} txm_frames_filter;

/* Which requests are left out when there are more than the list holds. */
typedef enum txm_frames_reject {
    TXM_FRAMES_REJECT_SPREAD = 0, /* at random, so many that the list is just filled from the whole picture */
    TXM_FRAMES_REJECT_UNIQUE,     /* at random, a share of 1 - unique/total of the last frame, as Disney's streamer */
    TXM_FRAMES_REJECT_NONE        /* those that come last */
} txm_frames_reject;

/* Names of the above; NULL outside the range. */
const char *txm_frames_textures_name(txm_frames_textures textures);
const char *txm_frames_show_name(txm_frames_show show);
const char *txm_frames_filter_name(txm_frames_filter filter);
const char *txm_frames_reject_name(txm_frames_reject reject);

/* What things cost where time is virtual. */
typedef struct txm_frames_prices {
    double frame_ms;   /* the rays of a frame, whatever their number: it has a fixed amount of work */
    double texel_ns;   /* a texel that is fetched, there or not */
    double request_ns; /* a request that is written */
    double tile_ms;    /* a tile that is loaded; those of a batch one after the other */
    double latency_ms; /* from the end of a frame until its requests are where tiles are loaded */
} txm_frames_prices;

enum { TXM_FRAMES_MAX_WAVE = 32, TXM_FRAMES_MAX_REQUESTS = 1 << 20 };

typedef struct txm_frames_options {
    /* Picture, rays, tx files and threads that render as in a render: width, height, samples (of a frame), bounces,
     * seed, threads, differentials, widen, filter_glossy, rule, mode, filter_width, context, cache_dir, cancel,
     * missing, devices and their memory, and the budget, policy, resolution, open files of `render.cache`, which must
     * not be NULL; all else of both is left alone. */
    txm_render_options render;
    uint32_t loaders;  /* threads that load, 1 or more */
    uint32_t requests; /* that the list holds, 1 to TXM_FRAMES_MAX_REQUESTS */
    uint32_t batch;    /* tiles of a batch at most; 0: as many as fit half of the budget */
    uint32_t wave;     /* lanes of which one writes a request that several make: 1 to 32; 0: each writes its own */
    uint32_t textures; /* txm_frames_textures */
    uint32_t show;     /* txm_frames_show */
    uint32_t filter;   /* txm_frames_filter */
    uint32_t reject;   /* txm_frames_reject */
    float mark_share;  /* of the budget, from which on lookups mark what they use; 0: always */
    bool is_virtual;
    txm_frames_prices prices;
} txm_frames_options;

/* One sample, no bounces, levels trilinear, requests 4096, wave 16, marks from 0.9 on, the machine's clock; 1 GiB that
 * the least recently used leaves. `cache` must live as long as the options, and is opened as well. */
void txm_frames_options_init(txm_frames_options *options, txm_cache_options *cache);

/* ---- statistics -------------------------------------------------------------------------------------------------- */

/* One frame. Times are the clock's or virtual ones. */
typedef struct txm_frame_stats {
    uint32_t number;      /* from 0 */
    uint32_t accumulated; /* frames in the picture, this one included: 1 where the camera has moved */
    double begin_ms, ms;
    uint64_t rays;
    uint64_t texels, sharp;      /* that lookups wanted; of these those that were there */
    uint64_t coarser, stand_ins; /* of the others: from a coarser level, from the 1x1 colour */
    uint64_t failed;             /* texels of files that cannot be read: magenta */
    uint64_t missed;         /* lookups for which a texel was missing, as each lane asked: before waves are compacted */
    uint64_t requested;      /* that lanes wrote, before rejection */
    uint64_t rejected, full; /* left out: at random, and since the list was full */
    uint64_t accepted, unique; /* on the list, and different ones among them */
    /* Of the batch that this frame's list began: tiles that load, and those that were left for later since they do not
     * fit. Both 0 where an earlier batch was still being loaded, or nothing was missing. */
    uint32_t batch, cut;
    bool busy;                               /* an earlier batch was still being loaded when the frame ended */
    uint32_t shown;                          /* tiles of the batch that this frame shows for the first time */
    uint32_t waited;                         /* frames between asking for that batch and showing it */
    uint64_t loaded, evicted, load_failures; /* tiles, since the frame before */
    uint64_t resident_tiles, resident_bytes, allocated_bytes;
    bool marks; /* lookups marked what they used */
} txm_frame_stats;

/* All frames so far. */
typedef struct txm_frames_totals {
    uint32_t frames;
    double ms, longest_ms, median_ms;
    uint64_t rays, texels, sharp, missed, requested, rejected, full, accepted, unique, cut, shown, loaded, reloaded,
        evicted, load_failures;
    uint32_t batches;
    /* Frames, from the last cut on, until such a share of the texels was there: 50, 95, 100 %; UINT32_MAX: not yet. */
    uint32_t until_half, until_most, until_all;
} txm_frames_totals;

/* ---- frames ------------------------------------------------------------------------------------------------------ */

typedef struct txm_frames txm_frames;

/* Opens the scene, which must live as long, and its tx files. What txm_render returns before its first ray. */
txm_status txm_frames_open(const txm_render_scene *scene, const txm_frames_options *options, txm_frames **out,
                           txm_error *err);
/* Gives up what is being loaded; waits for no more than the tiles that threads are reading. NULL-safe; sets *frames to
 * NULL. */
void txm_frames_close(txm_frames **frames);

/* One frame, seen by `camera` (NULL: as before; at first the scene's). Where the camera is another one, or anything
 * that the picture depends on was changed, accumulating begins anew. CANCELLED, with the film as it was, where the
 * options' flag was set; NO_MEMORY. */
txm_status txm_frames_advance(txm_frames *frames, const txm_scene_camera *camera, txm_error *err);

/* The next frame begins a new picture even if the camera is the same, and `until_half` and the like count from it. */
void txm_frames_cut(txm_frames *frames);

/* What was played so far counts no more: frames are numbered from 0 again, and time begins. Tiles stay. */
void txm_frames_restart(txm_frames *frames);

/* The picture so far: `rgb` receives three floats a pixel, rows from the top, linear; of the last complete frame. */
void txm_frames_picture(const txm_frames *frames, float *rgb);
void txm_frames_size(const txm_frames *frames, uint32_t *width, uint32_t *height);

/* Of the last complete frame; valid until the next one. Zero before the first. */
const txm_frame_stats *txm_frames_last(const txm_frames *frames);
txm_frames_totals txm_frames_totals_of(const txm_frames *frames);
void txm_frames_cache_stats(const txm_frames *frames, txm_cache_stats *stats);
/* The different tiles that the last frame asked for, in the order of the list; at most `room` of them are copied. How
 * many there are. */
size_t txm_frames_wanted(const txm_frames *frames, txm_tile_key *keys, size_t room);
/* What loading each image of the scene cost, and what went wrong with it; as many as images: free() it. */
txm_status txm_frames_costs(const txm_frames *frames, txm_render_image_cost **out, txm_error *err);
/* What the devices that look up did: *out has *count of them, NULL where there is none; free() it. */
txm_status txm_frames_devices(const txm_frames *frames, txm_render_device **out, size_t *count, txm_error *err);
const txm_render_scene *txm_frames_scene(const txm_frames *frames);

/* ---- while frames run ---------------------------------------------------------------------------------------------
 */

/* Each holds from the next frame on. */
txm_status txm_frames_set_budget(txm_frames *frames, uint64_t bytes, txm_error *err);
/* Share of the texture resolution, above 0 to 1. USAGE. */
txm_status txm_frames_set_resolution(txm_frames *frames, float share, txm_error *err);
/* Another policy means another cache: its tiles are loaded again. */
txm_status txm_frames_set_policy(txm_frames *frames, uint32_t policy, txm_error *err);
/* Size of the picture in px. Where it fails the old one stays. USAGE, NO_MEMORY. */
txm_status txm_frames_set_size(txm_frames *frames, uint32_t width, uint32_t height, txm_error *err);
void txm_frames_set_show(txm_frames *frames, txm_frames_show show);
void txm_frames_set_textures(txm_frames *frames, txm_frames_textures textures);

/* The camera of the scene. */
txm_scene_camera txm_frames_camera(const txm_render_scene *scene);
/* How far from the scene's camera the middle of its picture is, or what is behind it; INFINITY: nothing is there. */
float txm_frames_distance(const txm_frames *frames, bool backwards);
#endif
