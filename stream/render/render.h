/* SPDX-License-Identifier: Apache-2.0
 *
 * A small path tracer over tx files: just enough of a renderer to prove the texture cache (cache.h) and to find out
 * which textures a scene will need. Scenes are folders as described in txmill-scene(5), or built in.
 *
 * Pictures are exact: they have the same bits for every engine, number of threads and lanes, budget and policy,
 * because a step of a path that misses a tile does nothing, and is run again with the same random numbers once the
 * tile is in memory.
 */
#ifndef STM_STREAM_RENDER_H
#define STM_STREAM_RENDER_H

#include <stdbool.h>

#include "txmill/convert.h"
#include "txmill/scene.h"
#include "txtile/cache.h"
#include "txtile/device.h"
#include "txtile/sampler.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- scenes ----------------------------------------------------------------------------------------------------- */

/* A scene in memory. It is constant, and any number of renders may share it. */
typedef struct stm_render_scene stm_render_scene;

/* Reads a folder with scene.txt and its meshes, whose paths may be those of another machine: `count` maps say where
 * they are here, and may be freed afterwards. Messages name the line. */
txm_status stm_render_scene_open(const char *folder, const txm_path_map *maps, size_t count, stm_render_scene **out,
                                 txm_error *err);

/* Makes a built-in scene: "plane" (a floor to the horizon), "room" (walls and spheres: diffuse, glossy, mirror), "grid"
 * (quads, each with its own texture), "udim" (a wall of UDIM tiles; `images` is one pattern with <UDIM>), "sphere"
 * (inside a lat-long image), "fly" (plane and grid, seen by a camera that moves with `frame`, 0 to 1). Images are taken
 * in turn and looked up as sRGB with straight alpha. */
txm_status stm_render_scene_builtin(const char *name, const char *const *images, size_t count, float frame,
                                    stm_render_scene **out, txm_error *err);
/* The name of a built-in scene; NULL beyond the last. */
const char *stm_render_builtin_name(size_t index);

void stm_render_scene_free(stm_render_scene **scene); /* NULL-safe; sets *scene to NULL */

/* The size of a scene; width and height are those of its picture, px. */
typedef struct stm_render_scene_info {
    const char *title; /* NULL: none */
    uint32_t width, height;
    size_t images, materials, meshes, objects, lights;
    uint64_t triangles; /* counted per instance */
} stm_render_scene_info;

/* Fills in size and images of a scene. Texts live as long as the scene. */
void stm_render_scene_describe(const stm_render_scene *scene, stm_render_scene_info *out);
const char *stm_render_image_path(const stm_render_scene *scene, size_t image); /* NULL beyond the last */

/* A file that a scene loads; valid during the call. */
typedef struct stm_render_scene_file {
    const char *path;
    const char *pattern; /* path of the UDIM set that it is a tile of; NULL: none */
    const char *colorspace;
    txm_alpha alpha;
} stm_render_scene_file;

/* Calls `call` for each file of the scene, in its order; a file of several images with the same settings comes once.
 * Ends at the first call that does not return TXM_OK, and returns its status. */
txm_status stm_render_scene_files(const stm_render_scene *scene,
                                  txm_status (*call)(void *user, const stm_render_scene_file *file, txm_error *err),
                                  void *user, txm_error *err);

/* ---- rendering --------------------------------------------------------------------------------------------------- */

/* The engine decides how paths are traced, and what happens if they miss a tile. */
typedef enum stm_render_engine {
    /* Many paths per launch; what they miss is loaded in a batch, and those that missed are run again. */
    STM_RENDER_ENGINE_WAVE = 0,
    /* Each thread follows one path at a time and waits for what it misses. */
    STM_RENDER_ENGINE_BLOCKING,
    /* All tiles of all levels are in memory before the first ray; the others must give the same picture. */
    STM_RENDER_ENGINE_REFERENCE
} stm_render_engine;

/* The way in which rays carry the size of a pixel: see ray.h. */
typedef enum stm_render_differentials {
    STM_RENDER_DIFFERENTIALS_COMPACT = 0, /* as in Cycles */
    STM_RENDER_DIFFERENTIALS_FULL,
    STM_RENDER_DIFFERENTIALS_CONE
} stm_render_differentials;

/* Names of the above; NULL outside the range. */
const char *stm_render_engine_name(stm_render_engine engine);
const char *stm_render_differentials_name(stm_render_differentials differentials);

/* Options of a render. They are read during the call only. */
typedef struct stm_render_options {
    uint32_t width, height; /* px; 0: the scene's */
    uint32_t samples;       /* per pixel; 0: as many as a budget needs */
    uint32_t bounces;       /* 0: camera rays only */
    uint32_t seed;
    uint32_t render_tile; /* px; each is an epoch of the cache. 0: the whole picture */
    uint32_t engine;      /* stm_render_engine */
    uint32_t lanes;       /* paths per launch, 1 to 2^20 */
    uint32_t threads;     /* 0: one per processor */
    uint32_t differentials;
    bool widen;                     /* widen differentials when rays are scattered, as Cycles does */
    uint32_t rule, mode;            /* txm_level_rule, txm_level_mode */
    float filter_width;             /* px, of the Blackman-Harris pixel filter; 0: pixel centres */
    bool untextured;                /* every lookup gives the image's average, to measure the cost of textures */
    const txm_cache_options *cache; /* budget, policy, resolution and so on; NULL: the defaults */
    const char *trace;              /* a file for txm_cache_trace_start; not for REFERENCE. NULL: none */
    bool heat;                      /* collect the maps below */
    /* Finds tx files by names and colour spaces. May be NULL if all images of the scene are tx files. */
    txm_context *context;
    const volatile int *cancel; /* may be NULL; see txm_context_options */
    /* Reports how many samples of all are finished. Called on the calling thread; may be NULL. */
    void (*progress)(void *user, uint64_t done, uint64_t all);
    void *progress_user;
    const char *cache_dir;  /* the folder of the tx files, as in txm_settings; NULL: blender_tx beside each image */
    uint32_t trace_records; /* what a trace holds: TXM_TRACE_TILES, TXM_TRACE_LOOKUPS */
    /* Not 0: all files are opened and all of their levels get entries in the page table before the first ray, as in
     * Cycles. 0: lookups request them, as they request tiles. */
    uint32_t open_first;
    /* Blender's setting, above 0: rays are widened by min(1, filter_glossy) times the roughness. 0: the scene's, or
     * else 1. Ignored unless `widen` is set. */
    float filter_glossy;
    /* Not 0: the trace of a render that was stopped or failed is published too, marked as partial. 0: such a render
     * writes no trace, and leaves an earlier one of that name. */
    uint32_t keep_partial;
    /* Called with a message for each tx file that is missing or outdated, before the render fails. May be NULL: the
     * first one is then named in the failure. */
    void (*missing)(void *user, const char *message);
    void *missing_user;
    /* Devices on which the wave engine looks up: names such as "opencl:0", separated by commas. NULL: on the CPU. */
    const char *devices;
    uint64_t device_memory; /* memory for tiles on each device; 0: as much as the cache's budget */
} stm_render_options;

/* Copies the scene's settings of bounces to options; those that the scene lacks are not changed. */
void stm_render_scene_bounces(const stm_render_scene *scene, stm_render_options *options);

/* Initialises options with the defaults: 4 samples, 3 bounces, seed 1, one render tile, wave of
 * 65536 lanes, compact differentials that are widened, Cycles' levels, filter 1.5 px, the cache's defaults, traces of
 * tiles. */
void stm_render_options_init(stm_render_options *options);

/* Counts and times of a render. */
typedef struct stm_render_counts {
    uint64_t paths, rays;
    uint64_t steps;                              /* steps of paths, including repeated ones */
    uint64_t relaunches;                         /* steps that were run again */
    uint64_t launches, passes;                   /* waves stepped; of these, repeated ones */
    uint32_t longest;                            /* the most passes of a launch */
    double seconds, load_seconds, trace_seconds; /* wall: in all; waiting for tiles; stepping paths */
} stm_render_counts;

/* The used part of an image of the scene. */
typedef struct stm_render_image_use {
    const char *path; /* path of the scene's image; lives as long as the scene */
    uint32_t width, height, levels;
    uint64_t virtual_bytes; /* size of all tiles of all levels */
    uint64_t level_tiles[TXM_MAX_LOOKUP_LEVELS], level_used[TXM_MAX_LOOKUP_LEVELS];
    uint64_t used_bytes; /* size of tiles that were used at least once */
} stm_render_image_use;

/* The cost of loading an image of the scene; for a UDIM set, all its tiles together. Images whose files have the same
 * pixels share tiles, and each counts all of them. */
typedef struct stm_render_image_cost {
    uint64_t loads, reloads, failures; /* numbers of tiles; loads include reloads */
    uint64_t loaded_bytes;             /* size in memory, reloads included */
    uint64_t opens;                    /* how often its files were opened */
    double load_seconds;               /* decoding and reading, summed over all threads */
    uint32_t failure;                  /* txm_status of the first failure; TXM_OK: none */
    char message[256];                 /* message of the first failure */
} stm_render_image_cost;

/* A tile that was used: the index of the scene's image, and its part for a UDIM set (0 otherwise). */
typedef struct stm_render_tile {
    uint32_t image, part, level, x, y;
} stm_render_tile;

/* A file of an image, to which its tiles belong. */
typedef struct stm_render_part {
    uint32_t image, part;   /* as in stm_render_tile */
    uint32_t width, height; /* size of level 0, px */
    uint32_t levels, tile_px;
} stm_render_part;

/* The memory at one moment of a render. */
typedef struct stm_render_moment {
    double seconds;           /* time since the render began */
    uint64_t samples;         /* finished */
    uint64_t tile_bytes;      /* the most that tiles in memory took since the previous moment */
    uint64_t allocated_bytes; /* the most that the cache took, with its tables, since the previous moment */
    uint64_t tiles_loaded;    /* tiles loaded so far */
} stm_render_moment;

/* Statistics of a device. */
typedef struct stm_render_device {
    char name[32], title[256];
    char problem[TXM_MESSAGE_BYTES]; /* why it was lost; "": it was not */
    txm_device_stats stats;
} stm_render_device;

/* A picture and its statistics. Its arrays and its report are owned. */
typedef struct stm_render_picture {
    uint32_t width, height;
    float *rgb; /* three per pixel, rows from the top */
    /* Heat maps, one float per pixel; NULL unless requested: mean level of what the camera sees (-1: no texture), steps
     * that were run again, launches until all samples of the pixel were complete. */
    float *level, *misses, *passes;
    stm_render_counts counts;
    txm_cache_stats cache;             /* zero for REFERENCE */
    char *verdict;                     /* of txm_cache_report; NULL for REFERENCE */
    txm_cache_texture_stats *textures; /* of the cache; NULL for REFERENCE. Their paths are owned */
    uint32_t texture_count;
    stm_render_image_use *images;
    size_t image_count;
    stm_render_tile *tiles; /* the used tiles, by image, part, level and row */
    size_t tile_count;
    stm_render_part *parts; /* in the same order */
    size_t part_count;
    stm_render_moment *moments; /* some hundreds at most; NULL for REFERENCE */
    size_t moment_count;
    stm_render_image_cost *costs; /* as many as images; zero for REFERENCE */
    stm_render_device *devices;   /* those that looked up; NULL: none */
    size_t device_count;
    uint64_t reserved[1];
} stm_render_picture;

/* Renders. NOT_FOUND, with the image and what to do, if a tx file is missing. Free the picture with
 * stm_render_picture_clear. */
txm_status stm_render(const stm_render_scene *scene, const stm_render_options *options, stm_render_picture *out,
                      txm_error *err);
void stm_render_picture_clear(stm_render_picture *picture); /* NULL-safe; zeroes */

/* ---- budgets ----------------------------------------------------------------------------------------------------- */

/* The number of sizes of render tiles, and of texture resolutions, that a budget compares. */
enum { STM_BUDGET_TILES = 4, STM_BUDGET_RESOLUTIONS = 3 };

/* Which textures a render will use, found by tracing its rays without loading tiles. Two kinds of tiles are loaded,
 * because rays depend on them: some of a coarse level of the world's image, whose brightness decides where light is
 * sampled; and those of textures that warp others, in a cache of the default size. */
typedef struct stm_render_budget {
    uint32_t width, height, samples;
    uint64_t all_bytes;     /* size of level 0 of every image, which is what loading whole images takes */
    uint64_t virtual_bytes; /* size of all tiles of all levels */
    uint64_t touched_bytes; /* size of tiles that are used: what is loaded if no tile is loaded twice */
    /* Render tiles of these sizes, 0: the whole picture; for each the most memory at once, if tiles that the previous
     * render tile did not use are evicted, and the bytes loaded in all. */
    uint32_t tile_px[STM_BUDGET_TILES];
    uint64_t tile_peak[STM_BUDGET_TILES], tile_loaded[STM_BUDGET_TILES];
    /* For the texture resolution of the options' cache, half and a quarter of it (100, 50, 25 %): bytes used, and the
     * peak with the requested render tile. Images never take more than at the resolution above, although Cycles may
     * load some more tiles of those that the picture magnifies. */
    float resolution[STM_BUDGET_RESOLUTIONS];
    uint64_t resolution_bytes[STM_BUDGET_RESOLUTIONS], resolution_peak[STM_BUDGET_RESOLUTIONS];
    double seconds;
    stm_render_image_use *images; /* images at the resolution of the options' cache */
    size_t image_count;
    stm_render_tile *tiles; /* tiles at the same resolution, by image, level and row */
    size_t tile_count;
    /* Cycles samples the light of a world's image with a map of this many directions; 0: it makes none. For the map it
     * loads tiles before the first ray, and keeps them until the third render tile begins: their number, their bytes,
     * and the bytes of those that the picture does not use. The other figures do not include them. */
    uint32_t map_columns, map_rows;
    uint64_t map_tiles, map_bytes, map_extra_bytes;
    /* Bytes of used tiles of each image at each resolution: image_resolution[i * STM_BUDGET_RESOLUTIONS + r]. */
    uint64_t *image_resolution;
    /* How reliable the figures are: the fraction of tiles that only the second half of the samples found (negative for
     * 1 sample, which gives no information), and the tiles and bytes that a render with the scene's number of samples
     * is expected to use in addition; with any number, if the scene does not specify one. */
    float growth;
    uint32_t scene_samples; /* 0: the scene does not specify it */
    uint64_t missing_tiles, missing_bytes;
} stm_render_budget;

/* Computes a budget. Uses of `options`: size, samples, bounces, render_tile, differentials, widening, levels, threads,
 * context, cancel, progress. With 0 samples it continues until the doublings that are left, up to the scene's number or
 * at least 32, are expected to find less than 3 % more tiles, or until 64. */
txm_status stm_render_budget_of(const stm_render_scene *scene, const stm_render_options *options,
                                stm_render_budget *out, txm_error *err);
void stm_render_budget_clear(stm_render_budget *budget); /* NULL-safe; zeroes */

#ifdef __cplusplus
}
#endif
#endif
