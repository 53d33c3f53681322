/* SPDX-License-Identifier: Apache-2.0
 *
 * The arguments of `txmill stream`, and its output.
 *
 * cmd_stream.c renders; stream_options.c and stream_outputs.c have the options and the list of files that are written;
 * stream_report.c prints the measurements of stream/render.h; stream_maps.c and pages.c draw them.
 * Everything they use is available to any caller of the library.
 */
#ifndef STM_TOOLS_STREAM_ARGS_H
#define STM_TOOLS_STREAM_ARGS_H
#include <cjson/cJSON.h>

#include "cli/settings.h"
#include "command/play.h"
#include "render/render.h"
#include "replay/replay_table.h"

/* This value in the arguments says that an option whose default depends on the verb or the scene was not given. */
enum { STM_STREAM_NOT_GIVEN = 1 << 16 };

typedef struct stm_stream_args {
    stm_pixel_size size;
    uint32_t samples, bounces, seed, tile, lanes, keep_epochs, max_open;
    uint64_t cache_bytes, device_memory;
    const char *device;
    double resolution, frame, filter_glossy; /* filter_glossy below 0: not given */
    int engine, policy, differentials, rule, mode;
    bool narrow, untextured, apart, open_first, trace_lookups, keep_partial, overwrite, json, quiet;
    const char *output, *heat_level, *heat_misses, *heat_passes, *heat_tiles, *html, *trace, *tiles;
    stm_opt_list include, exclude; /* of the images for a built-in scene */
    stm_project_args project;
    stm_settings settings; /* of the command line and the project; set before the scene is opened */
    stm_play_args play;
} stm_stream_args;

extern const stm_option stm_stream_picture_options[], stm_stream_image_options[], stm_stream_texture_options[],
    stm_stream_engine_options[], stm_stream_output_options[];
/* The library's defaults, so that documentation and program agree; only the render tile has Blender's. */
void stm_stream_defaults(void *args);
/* The options of the cache; `plays` if frames do not wait for tiles. */
txm_cache_options stm_stream_cache_options(const stm_stream_args *args, bool plays);
/* The options of a render, without cancel, missing and progress; a budget chooses its own number of samples. `cache`
 * must outlive them. */
stm_render_options stm_stream_render_options(const stm_stream_args *args, bool budget, const stm_render_scene *scene,
                                             txm_context *context, const txm_cache_options *cache);

/* USAGE if the verb does not write a file that was named, or if two have the same name. Names are compared as given,
 * because the usual mistake is to give the same one twice. */
txm_status stm_stream_check_outputs(const stm_stream_args *args, stm_stream_verb verb, txm_error *err);
/* Checks that no output replaces a file that must be kept; the scene is open, because its images are such files. */
txm_status stm_stream_guard_outputs(const stm_stream_args *args, const stm_render_scene *scene, txm_error *err);
/* Prints the names of written files on standard error, after success. */
void stm_stream_say_written(const stm_stream_args *args);

/* Opens the scene of the second operand; images that follow it belong to a built-in scene. */
txm_status stm_stream_open_scene(const stm_stream_args *args, const stm_operands *operands, stm_render_scene **scene,
                                 txm_error *err);
/* Writes linear colours in the format given by the extension of `path`. NULL: does nothing. */
txm_status stm_stream_write_rgb(const char *path, const float *rgb, uint32_t width, uint32_t height, txm_error *err);

/* The heat of a map as colours: dark blue is 0, white is `most`, black is negative. RGB floats; free() them. NULL: out
 * of memory. */
float *stm_heat_colors(const float *map, size_t count, float most);
/* The largest value of a map; 0 if none is positive. */
float stm_heat_most(const float *map, size_t count);

/* Converts linear values to sRGB codes of 8 bits; free() them. NULL: out of memory. */
uint8_t *stm_srgb_codes(const float *linear, size_t count);

/* Adds the member "cache". */
void stm_stream_json_cache(cJSON *object, const txm_cache_options *options, const stm_render_picture *picture);
void stm_stream_print_picture(const char *scene, const stm_render_options *options, const stm_render_picture *picture);
void stm_stream_print_budget(const char *scene, const stm_render_budget *budget);
/* The objects that --json prints. */
cJSON *stm_stream_picture_json(const char *scene, const stm_render_options *options, const stm_render_picture *picture);
cJSON *stm_stream_budget_json(const char *scene, const stm_render_budget *budget);

/* Prints the lookups, launches and copies of devices; labels are padded to the given number of columns. */
void stm_stream_print_devices(const stm_render_device *devices, size_t count, int column);
void stm_stream_json_devices(cJSON *object, const stm_render_device *devices, size_t count);

/* Writes the tiles of a budget as a tab-separated table. */
txm_status stm_stream_tiles(const char *path, const stm_render_budget *budget, txm_error *err);

/* The tiles of a file that were used: the finest level at each place, as 1 for level 0, 0 for level 6 and coarser, and
 * -1 for none. */
typedef struct stm_stream_map {
    uint32_t width, height; /* px */
    double scale;           /* px of the map per px of level 0 */
    float *heat;            /* free() it */
    uint32_t finest;        /* finest level used; the number of levels: none */
    uint64_t tiles;
} stm_stream_map;

/* Makes the map of a part, at most `edge` px wide and high. Parts must be given in order; *first, 0 at the beginning,
 * is carried from one call to the next. False: out of memory. */
bool stm_stream_map_new(const stm_render_picture *picture, size_t part, size_t *first, uint32_t edge,
                        stm_stream_map *map);
/* The maps of all parts in one picture, linear RGB; free() it. */
txm_status stm_stream_sheet(const stm_render_picture *picture, float **rgb, uint32_t *width, uint32_t *height,
                            txm_error *err);

/* Writes a page with the picture, its heat maps, the cost of each texture and, unless it is NULL, the reads of other
 * caches. */
txm_status stm_stream_page(const char *path, const char *scene, const stm_render_options *options,
                           const stm_render_picture *picture, const stm_replay_table *replay, txm_error *err);
/* Writes a page with a budget: a verdict, the textures by memory, and the saving of each at half its size. */
txm_status stm_stream_budget_page(const char *path, const char *scene, const stm_render_options *options,
                                  const stm_render_budget *budget, txm_error *err);
#endif
